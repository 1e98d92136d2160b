"""A network on chip: routers, the links between them, and the nodes that send and receive."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

LARGEST_PORTS = 64
"""Ports of a router."""
LARGEST_VCS = 32
LARGEST_NODES = 4096


class Kind(Enum):
    """How routers are connected."""

    MESH = "mesh"
    TORUS = "torus"
    RING = "ring"
    CROSSBAR = "crossbar"
    FLY = "fly"
    TREE = "tree"
    EDGES = "edges"


@dataclass(frozen=True)
class Wire:
    """A link from an output port of one router to an input port of another.

    ``latency``: cycles; ``flit_cycles``: cycles that a flit takes of it. ``dimension``: that of a mesh or torus it lies in,
    else -1.
    ``down``: it leads away from the root (of a tree, or of the order in which routers of an edge list are taken). ``edge``: which
    of the file's edges it is, else -1.
    """

    source: int
    output: int
    target: int
    input: int
    latency: int
    flit_cycles: int
    dimension: int = -1
    down: bool = False
    edge: int = -1


@dataclass(frozen=True)
class Topology:
    """Routers and their wires. ``enters``, ``leaves``: the router and the port at which each node's flits come in and go out.

    ``sizes``: routers in each dimension of a mesh, torus or ring; arity and stages of a fly; arity and levels of a tree.
    """

    kind: Kind
    sizes: tuple[int, ...]
    routers: int
    wires: tuple[Wire, ...]
    enters: tuple[tuple[int, int], ...]
    leaves: tuple[tuple[int, int], ...]

    @property
    def nodes(self) -> int:
        """How many send and receive."""
        return len(self.enters)

    @property
    def ports(self) -> int:
        """One more than the highest port of any router."""
        return 1 + max(port for ports in (
            (wire.output for wire in self.wires), (wire.input for wire in self.wires), (port for _, port in self.enters),
            (port for _, port in self.leaves)) for port in ports)


@dataclass(frozen=True)
class Router:
    """What all routers are like. ``routing``: cycles of the routing stage, 0 with lookahead; VCs and the switch are allocated
    in a cycle each, or in the same one where ``speculative``; ``traversal``: cycles through the crossbar.

    ``buffer``: flits of each input VC. ``vcs``: per port, of which the last ``reduction_vcs`` serve reductions alone.
    ``combine``:
    cycles by which a router in which packets of a reduction join holds up their head.
    """

    routing: int
    traversal: int
    vcs: int
    reduction_vcs: int
    buffer: int
    speculative: bool
    combine: int


@dataclass(frozen=True)
class Network:
    """A network on chip. ``endpoint_latency``, ``endpoint_flit_cycles``: of the links between nodes and routers."""

    name: str
    description: str
    cycle_s: Fraction
    flit_bytes: int
    router: Router
    topology: Topology
    endpoint_latency: int
    endpoint_flit_cycles: int

    def hop_cycles(self) -> int:
        """Cycles from a flit's arrival in a router to the end of its traversal, where nothing is in its way."""
        return self.router.routing + (1 if self.router.speculative else 2) + self.router.traversal
