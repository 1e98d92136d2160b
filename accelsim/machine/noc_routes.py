"""Routes over a network: a table for single packets, with the VCs they may take; trees for copied ones and for reductions.

A packet that passes a torus's dateline has VCs of its own all the way through that dimension, and so no ring of waiting packets
can close (Dally and Seitz, IEEE ToC 1987). Which way packets go is in ``spec.routing``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.noc_layout import ANY, CLASS_BITS, LOWER, UPPER
from accelsim.spec.network import Kind, Network, Topology, Wire
from accelsim.spec.routing import Routing, costs, price

Ints = NDArray[np.int64]
_CLASS = (1 << CLASS_BITS) - 1


@dataclass(frozen=True)
class Leg:
    """An output that a copied packet takes where it comes into a router by an input port, and which VCs."""

    router: int
    input: int
    output: int
    vcs: int


class Routes:
    """``table``: int64[routers, 2, nodes], output x 4 + VCs; which of the two rows holds: of a torus as the packet's coins say,
    of an edge list the second after a wire that leads down.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self._routing = Routing(network)
        self.by_wire = self._routing.by_wire
        self.table = (self._routing.outputs << CLASS_BITS) + _classes(network.topology)
        self.wires = self._routing.wires
        self._leaves = list(network.topology.leaves)

    def output(self, router: int, row: int, node: int) -> int:
        """The output port towards a node."""
        return int(self.table[router, row, node]) >> CLASS_BITS

    def walk(self, source: int, node: int, row: int = 0) -> list[tuple[int, int, int]]:
        """The routers on the way from a node to another, each with its input and output port."""
        return self._routing.walk(source, node, row)

    def routers(self, sources: Ints, nodes: Ints) -> Ints:
        """How many routers each way leads through: int64[n]."""
        topology = self.network.topology
        target = np.full((topology.routers, topology.ports), -1, dtype=np.int64)
        down = np.zeros((topology.routers, topology.ports), dtype=np.int64)
        for wire in topology.wires:
            target[wire.source, wire.output], down[wire.source, wire.output] = wire.target, wire.down
        at = np.array([router for router, _ in topology.enters], dtype=np.int64)[sources]
        leaves = np.array(topology.leaves, dtype=np.int64)[nodes]
        row, count = np.zeros(len(nodes), dtype=np.int64), np.ones(len(nodes), dtype=np.int64)
        while True:
            output = self.table[at, row, nodes] >> CLASS_BITS
            going = np.flatnonzero((at != leaves[:, 0]) | (output != leaves[:, 1]))
            if not len(going):
                return count
            count[going] += 1
            if self.by_wire:
                row[going] = down[at[going], output[going]]
            at[going] = target[at[going], output[going]]

    def copies(self, source: int, nodes: Sequence[int]) -> list[Leg]:
        """The tree of a copied packet: the ways to its nodes laid over each other.

        On a torus it changes its VCs with the wire that passes the dateline, as one way may lead past it and another not.
        """
        found: dict[tuple[int, int, int], Leg] = {}
        for node in nodes:
            dimension, past = -1, False
            for router, came, output in self.walk(source, node):
                wire = self.wires.get((router, output))
                vcs = ANY
                if wire is not None and int(self.table[router, 0, node]) & _CLASS != ANY:
                    past = _passes(wire) or (past and wire.dimension == dimension)
                    dimension = wire.dimension
                    vcs = UPPER if past != bool(output % 2) else LOWER
                found[router, came, output] = Leg(router, came, output, vcs)
        return list(found.values())

    def reduction(self, sources: Sequence[int], node: int) -> dict[int, tuple[int, int]]:
        """By router: how many packets join there, and the output; the nodes' ways to one node laid over each other."""
        towards = self._in_tree(node)
        joining: dict[int, int] = defaultdict(int)
        for source in sources:
            joining[self.network.topology.enters[source][0]] += 1
        outputs: dict[int, int] = {}
        # children first: a router's turn comes when all that lead to it have had theirs
        depths = self._depths(joining, towards, node)
        for router in sorted(depths, key=lambda one: -depths[one]):
            outputs[router] = towards[router]
            wire = self.wires.get((router, towards[router]))
            if wire is not None and (router, towards[router]) != self._leaves[node]:
                joining[wire.target] += 1
        return {router: (joining[router], output) for router, output in outputs.items()}

    def _depths(self, starts: dict[int, int], towards: dict[int, int], node: int) -> dict[int, int]:
        """Links from each router on the way to the node's own."""
        depths: dict[int, int] = {}
        for start in starts:
            way = [start]
            while (way[-1], towards[way[-1]]) != self._leaves[node]:
                way.append(self.wires[way[-1], towards[way[-1]]].target)
            depths |= {router: len(way) - 1 - i for i, router in enumerate(way)}
        return depths

    def _in_tree(self, node: int) -> dict[int, int]:
        """From each router the output towards a node, the same whatever came before."""
        if not self.by_wire:
            return {router: self.output(router, 0, node) for router in range(self.network.topology.routers)}
        home, port = self._leaves[node]
        cost = costs(self.network.topology, home, self.network.hop_cycles(), free=True)
        found = {home: port}
        for wire in self.network.topology.wires:
            ahead = cost.get((wire.target, 0))
            if wire.source != home and ahead is not None:
                own = ahead + price(wire, self.network.hop_cycles())
                if own == cost.get((wire.source, 0)) and wire.source not in found:
                    found[wire.source] = wire.output
        return found


def _passes(wire: Wire) -> bool:
    """Whether a wire of a torus passes the dateline: up to a lower place, or down to a higher one."""
    return (wire.target < wire.source) != bool(wire.output % 2)


def _classes(topology: Topology) -> Ints:
    """The VCs that a packet for each node may take behind each router: int64[routers, 1, nodes]; all but on a torus."""
    classes = np.full((topology.routers, topology.nodes), ANY, dtype=np.int64)
    here, there = np.arange(topology.routers)[:, None], np.arange(topology.nodes)[None, :]
    undecided, step = np.ones(classes.shape, dtype=np.bool_), 1
    for size in topology.sizes if topology.kind in {Kind.TORUS, Kind.RING} else ():
        own, other = here // step % size, there // step % size
        turns = undecided & (own != other)
        classes[turns] = np.where(own > other, UPPER, LOWER)[turns]
        undecided &= own == other
        step *= size
    return classes[:, None, :]
