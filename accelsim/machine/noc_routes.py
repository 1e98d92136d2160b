"""Routes over a network: a table for single packets, trees for copied ones and for reductions.

Meshes and tori go dimension by dimension, the first one first (dimension-order routing); on a torus the shorter way, and where
both are as long the one that the row says. A packet that passes a torus's dateline has VCs of its own all the way through that
dimension, and so no ring of waiting packets can close (Dally and Seitz, IEEE ToC 1987). Other graphs go up and then down
(Schroeder et al., IEEE JSAC 1991).
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.noc_layout import ANY, CLASS_BITS, LOWER, UPPER
from accelsim.spec.network import Kind, Network, Topology, Wire

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
        topology = network.topology
        self.by_wire = topology.kind is Kind.EDGES
        self.table = _table(network)
        self.wires = {(wire.source, wire.output): wire for wire in topology.wires}
        self._leaves = list(topology.leaves)

    def output(self, router: int, row: int, node: int) -> int:
        """The output port towards a node."""
        return int(self.table[router, row, node]) >> CLASS_BITS

    def walk(self, source: int, node: int, row: int = 0) -> list[tuple[int, int, int]]:
        """The routers on the way from a node to another, each with its input and output port."""
        router, came = self.network.topology.enters[source]
        found = []
        while True:
            output = self.output(router, row, node)
            found.append((router, came, output))
            if (router, output) == self._leaves[node]:
                return found
            wire = self.wires[router, output]
            router, came = wire.target, wire.input
            if self.by_wire:
                row = int(wire.down)

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
        cost = _costs(self.network.topology, home, self.network.hop_cycles(), free=True)
        found = {home: port}
        for wire in self.network.topology.wires:
            ahead = cost.get((wire.target, 0))
            if wire.source != home and ahead is not None:
                own = ahead + _price(wire, self.network.hop_cycles())
                if own == cost.get((wire.source, 0)) and wire.source not in found:
                    found[wire.source] = wire.output
        return found


def _passes(wire: Wire) -> bool:
    """Whether a wire of a torus passes the dateline: up to a lower place, or down to a higher one."""
    return (wire.target < wire.source) != bool(wire.output % 2)


def _table(network: Network) -> Ints:
    topology = network.topology
    if topology.kind in {Kind.MESH, Kind.TORUS, Kind.RING}:
        return _grid(topology)
    nodes = np.arange(topology.nodes, dtype=np.int64)
    if topology.kind is Kind.CROSSBAR:
        return np.tile(nodes << CLASS_BITS, (1, 2, 1))
    if topology.kind is Kind.FLY:
        arity, stages = topology.sizes
        rows = [nodes // arity**(stages - 1 - stage) % arity << CLASS_BITS for stage in range(stages)]
        each = topology.routers // stages
        return np.stack([np.stack([rows[router // each]] * 2) for router in range(topology.routers)])
    if topology.kind is Kind.TREE:
        return _tree(topology)
    return _up_and_down(network)


def _grid(topology: Topology) -> Ints:
    table = np.full((topology.routers, 2, topology.nodes), 2 * len(topology.sizes) << CLASS_BITS, dtype=np.int64)
    here, there = np.arange(topology.routers)[:, None], np.arange(topology.nodes)[None, :]
    around = topology.kind is not Kind.MESH
    undecided = np.ones((topology.routers, topology.nodes), dtype=np.bool_)
    step = 1
    for dimension, size in enumerate(topology.sizes):
        own, other = here // step % size, there // step % size
        turns = undecided & (own != other)
        undecided &= own == other
        step *= size
        for row in range(2):
            ahead = (other - own) % size
            down = (2 * ahead > size) | ((2 * ahead == size) & bool(row)) if around else own > other
            vcs = np.where(own > other, UPPER, LOWER) if around else ANY
            table[:, row][turns] = (((2 * dimension + down) << CLASS_BITS) + vcs)[turns]
    return table


def _tree(topology: Topology) -> Ints:
    arity, levels = topology.sizes
    nodes = np.arange(topology.nodes, dtype=np.int64)
    rows = []
    for level in range(levels):
        below = arity**(levels - level)
        for i in range(arity**level):
            rows.append(np.where(nodes // below == i, nodes % below // (below // arity), arity) << CLASS_BITS)
    return np.stack([np.stack([row, row]) for row in rows])


def _price(wire: Wire, hop: int) -> int:
    """What a way over a wire costs: the cycles of a single flit."""
    return hop + wire.latency + wire.flit_cycles


def _costs(topology: Topology, home: int, hop: int, *, free: bool) -> dict[tuple[int, int], int]:
    """Least costs from (router, whether it was come to by a wire that leads down) to a router; ``free``: in any order of up and
    down.
    """
    into: dict[int, list[Wire]] = defaultdict(list)
    for wire in topology.wires:
        into[wire.target].append(wire)
    cost: dict[tuple[int, int], int] = {}
    waiting = [(0, home, 0), (0, home, 1)]
    while waiting:
        spent, router, row = heapq.heappop(waiting)
        if (router, row) in cost:
            continue
        cost[router, row] = spent
        for wire in into[router]:
            if free:
                heapq.heappush(waiting, (spent + _price(wire, hop), wire.source, row))
            elif row == wire.down:
                for before in (0, 1) if wire.down else (0,):
                    heapq.heappush(waiting, (spent + _price(wire, hop), wire.source, before))
    return cost


def _up_and_down(network: Network) -> Ints:
    topology, hop = network.topology, network.hop_cycles()
    table = np.full((topology.routers, 2, topology.nodes), 0, dtype=np.int64)
    for node, (home, port) in enumerate(topology.leaves):
        cost = _costs(topology, home, hop, free=False)
        best: dict[tuple[int, int], int] = {}
        for wire in topology.wires:
            ahead = cost.get((wire.target, int(wire.down)))
            for row in (0, 1) if wire.down else (0,):
                if ahead is not None and wire.source != home and ahead + _price(wire, hop) == cost.get((wire.source, row)):
                    best.setdefault((wire.source, row), wire.output)
        for (router, row), output in best.items():
            table[router, row, node] = output << CLASS_BITS
        table[home, :, node] = port << CLASS_BITS
    return table
