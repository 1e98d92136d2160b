"""A network on chip as a file gives it, validated key by key, and worked out in cycles of its clock."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, prod
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from accelsim.spec.names import Title
from accelsim.spec.network import LARGEST_NODES, LARGEST_PORTS, LARGEST_VCS, Kind, Network, Router, Topology
from accelsim.spec.quantities import Bytes, Clock, Latency, RateLimit
from accelsim.spec.topologies import Edge, crossbar, fly, from_edges, grid, tree
from accelsim.units import Duration, Rate

Place = Annotated[int, Field(ge=0, lt=LARGEST_NODES, strict=True)]
Count = Annotated[int, Field(ge=1, le=LARGEST_NODES, strict=True)]
_ONE = Duration(Fraction(1), "cycle")
LONGEST_CYCLES = 1 << 16
MOST_EDGES = 4 * LARGEST_NODES


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class LinkFile(_Strict):
    """Links: a flit arrives its latency after the cycle in which it was put on the link."""

    latency: Latency = _ONE
    width: RateLimit = Field(default="unlimited", description="a flit takes flit / width cycles, rounded up; default one cycle")


class EdgeFile(_Strict):
    """One edge of a list: what it does not say is the network's ``link``."""

    from_: Place = Field(alias="from", description="a router's number")
    to: Place
    latency: Latency | None = None
    width: RateLimit | None = None
    one_way: bool = Field(default=False, strict=True)


class TopologyFile(_Strict):
    """How routers are connected: by kind and sizes, or edge by edge."""

    kind: Literal["mesh", "torus", "ring", "crossbar", "fly", "tree", "edges"]
    sizes: Annotated[list[Count], Field(min_length=1, max_length=6)] | None = Field(
        default=None, description="mesh, torus: routers in each dimension; ring, crossbar: one number; fly: arity, stages; "
        "tree: arity, levels; edges: one number, the routers")
    edges: list[EdgeFile] | None = Field(default=None, max_length=MOST_EDGES, description="edges: the list")
    nodes: list[Place] | None = Field(default=None, max_length=LARGEST_NODES,
                                      description="edges: the router that each node is at; default one node at each")


class RouterFile(_Strict):
    """The routers: input-queued, with virtual channels and credits."""

    routing: Latency = Field(_ONE, description="the routing stage; 0 cycles where the route is looked up one router ahead")
    traversal: Latency = Field(_ONE, description="through the crossbar")
    vcs: Annotated[int, Field(ge=1, le=LARGEST_VCS, strict=True)]
    reduction_vcs: Annotated[int, Field(ge=0, le=LARGEST_VCS, strict=True)] = Field(
        default=0, description="of them, for reductions alone")
    buffer: Annotated[int, Field(ge=1, le=1 << 16, strict=True)] = Field(description="flits of each VC of an input port")
    speculative: bool = Field(default=False, strict=True, description="heads ask for the switch in the cycle in which they ask "
                              "for a VC")
    combine: Latency = Field(_ONE, description="what joining packets of a reduction takes")


class NetworkFile(_Strict):
    """A network on chip."""

    name: Title
    description: str = ""
    clock: Clock
    flit: Bytes
    topology: TopologyFile
    link: LinkFile = LinkFile()
    endpoint: LinkFile = Field(default=LinkFile(), description="the links between nodes and routers")
    router: RouterFile


Problem = tuple[tuple[str | int, ...], str, str]
"""Where in the file, what is wrong, what is allowed."""
_SIZES = {Kind.RING: 1, Kind.CROSSBAR: 1, Kind.FLY: 2, Kind.TREE: 2, Kind.EDGES: 1}


def resolve_network(file: NetworkFile) -> tuple[Network | None, list[Problem]]:
    """The network of a file and all that is wrong with it."""
    problems: list[Problem] = []
    cycles = _Cycles(file, problems)
    given = file.router
    router = Router(cycles.of(given.routing, ("router", "routing"), 0), cycles.of(given.traversal, ("router", "traversal"), 1),
                    given.vcs, given.reduction_vcs, given.buffer, given.speculative,
                    cycles.of(given.combine, ("router", "combine"), 0))
    kind = Kind(file.topology.kind)
    common = given.vcs - given.reduction_vcs
    least = 2 if kind in {Kind.TORUS, Kind.RING} else 1
    if common < least:
        problems.append((("router", "vcs"), f"{common} VCs for packets", f"{least} or more besides those for reductions"
                         + (": a torus keeps what passes its dateline apart" if least == 2 else "")))
    link = cycles.link(file.link, ("link",))
    endpoint = cycles.link(file.endpoint, ("endpoint",))
    topology = _topology(file, kind, link, cycles, problems)
    if topology is None or problems:
        return None, problems
    if topology.ports > LARGEST_PORTS:
        problems.append((("topology",), f"a router of {topology.ports} ports", f"up to {LARGEST_PORTS}"))
    return Network(file.name, file.description, 1 / file.clock, file.flit, router, topology, *endpoint), problems


class _Cycles:
    """Times and widths of a file in cycles of its clock."""

    def __init__(self, file: NetworkFile, problems: list[Problem]) -> None:
        self._clock, self._flit, self._problems = file.clock, file.flit, problems

    def of(self, duration: Duration, path: tuple[str | int, ...], least: int) -> int:
        found = duration.cycles(self._clock)
        if not least <= found <= LONGEST_CYCLES:
            self._problems.append((path, f"{found:,} cycles", f"{least} to {LONGEST_CYCLES:,} cycles"))
        return found

    def width(self, rate: Rate | str, path: tuple[str | int, ...]) -> int:
        """Cycles that a flit takes."""
        found = ceil(self._flit / rate.per_cycle(self._clock)) if isinstance(rate, Rate) else 1
        if found > LONGEST_CYCLES:
            self._problems.append((path, f"{found:,} cycles for a flit", f"up to {LONGEST_CYCLES:,}"))
        return found

    def link(self, file: LinkFile, path: tuple[str | int, ...]) -> tuple[int, int]:
        return self.of(file.latency, (*path, "latency"), 1), self.width(file.width, (*path, "width"))


def _topology(file: NetworkFile, kind: Kind, link: tuple[int, int], cycles: _Cycles, problems: list[Problem]) -> Topology | None:
    given = file.topology
    sizes = given.sizes or []
    if kind is not Kind.EDGES:
        problems += [(("topology", key), f"{key} with kind {kind.value}", "only with kind edges")
                     for key in ("edges", "nodes") if getattr(given, key) is not None]
    wanted = _SIZES.get(kind, 0)
    if not sizes or (wanted and len(sizes) != wanted):
        problems.append((("topology", "sizes"), f"{len(sizes)} numbers", {
            Kind.FLY: "two: arity and stages", Kind.TREE: "two: arity and levels"}.get(kind, "one" if wanted else "one or more")))
        return None
    nodes = prod(sizes)
    if kind in {Kind.FLY, Kind.TREE}:
        if sizes[0] < 2 or sizes[1] > 12:
            problems.append((("topology", "sizes"), f"arity {sizes[0]}, {sizes[1]} after it",
                             "an arity of 2 or more, up to 12 after it"))
            return None
        nodes = sizes[0]**sizes[1]
    if nodes > LARGEST_NODES:
        problems.append((("topology", "sizes"), f"{nodes:,} nodes", f"up to {LARGEST_NODES:,}"))
        return None
    if kind in {Kind.MESH, Kind.TORUS, Kind.RING}:
        return grid(kind, sizes, *link)
    if kind is Kind.CROSSBAR:
        return crossbar(sizes[0])
    if kind is Kind.FLY:
        return fly(sizes[0], sizes[1], *link)
    if kind is Kind.TREE:
        return tree(sizes[0], sizes[1], *link)
    return _edges(given, sizes[0], link, cycles, problems)


def _edges(given: TopologyFile, routers: int, link: tuple[int, int], cycles: _Cycles, problems: list[Problem]) -> Topology | None:
    edges: list[Edge] = []
    for place, edge in enumerate(given.edges or []):
        path = ("topology", "edges", place)
        if max(edge.from_, edge.to) >= routers or edge.from_ == edge.to:
            problems.append((path, f"from {edge.from_} to {edge.to}", f"two routers of 0 to {routers - 1}"))
        edges.append(Edge(edge.from_, edge.to,
                          link[0] if edge.latency is None else cycles.of(edge.latency, (*path, "latency"), 1),
                          link[1] if edge.width is None else cycles.width(edge.width, (*path, "width")), edge.one_way))
    nodes = list(range(routers)) if given.nodes is None else given.nodes
    if not nodes:
        problems.append((("topology", "nodes"), "no nodes", "the router that each node is at"))
    problems += [(("topology", "nodes", place), f"router {router}", f"0 to {routers - 1}")
                 for place, router in enumerate(nodes) if router >= routers]
    if problems:
        return None
    topology = from_edges(routers, edges, nodes)
    apart = _unreachable(topology, nodes)
    if apart is not None:
        problems.append((("topology", "edges"), f"no way from router {apart[0]} to router {apart[1]} that goes up first and "
                         "then down",
                         "edges that join all routers that have nodes; up is towards router 0"))
    return topology


def _unreachable(topology: Topology, nodes: Sequence[int]) -> tuple[int, int] | None:
    """Two routers of nodes between which no route goes up and then down.

    What a router reaches is a whole number, a bit for each router: downwards first, from the lowest up, then with the ways up.
    """
    downwards, upwards = _by_source(topology, down=True), _by_source(topology, down=False)
    order = _highest_first(topology)
    below, reached = [0] * topology.routers, [0] * topology.routers
    for router in reversed(order):
        below[router] = 1 << router
        for other in downwards[router]:
            below[router] |= below[other]
    for router in order:
        reached[router] = below[router]
        for other in upwards[router]:
            reached[router] |= reached[other]
    wanted = sorted(set(nodes))
    all_wanted = sum(1 << router for router in wanted)
    for router in wanted:
        missing = all_wanted & ~reached[router]
        if missing:
            return router, (missing & -missing).bit_length() - 1
    return None


def _by_source(topology: Topology, *, down: bool) -> list[list[int]]:
    """The routers that wires of a direction lead to, by the router that they come from."""
    found: list[list[int]] = [[] for _ in range(topology.routers)]
    for wire in topology.wires:
        if wire.down == down:
            found[wire.source].append(wire.target)
    return found


def _highest_first(topology: Topology) -> list[int]:
    """The routers in an order in which of two that a wire joins the higher one comes first."""
    lower: list[list[int]] = [[] for _ in range(topology.routers)]
    waits = [0] * topology.routers
    for wire in topology.wires:
        high, low = (wire.source, wire.target) if wire.down else (wire.target, wire.source)
        lower[high].append(low)
        waits[low] += 1
    order = [router for router in range(topology.routers) if not waits[router]]
    for router in order:  # grows on the way
        for low in lower[router]:
            waits[low] -= 1
            if not waits[low]:
                order.append(low)
    return order
