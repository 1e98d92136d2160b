"""Which way packets go through a network: the output of each router towards each node.

Meshes and tori go dimension by dimension, the first one first (dimension-order routing); on a torus the shorter way, and where
both are as long the one that the row says. Other graphs go up and then down (Schroeder et al., IEEE JSAC 1991).
"""

from __future__ import annotations

import heapq
from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from accelsim.spec.network import Kind, Network, Topology, Wire

Ints = NDArray[np.int64]


class Routing:
    """``outputs``: int64[routers, 2, nodes], output ports; which of the two rows holds: of a torus as the packet's coins say, of
    an edge list the second after a wire that leads down.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.by_wire = network.topology.kind is Kind.EDGES
        self.outputs = _outputs(network)
        self.wires = {(wire.source, wire.output): wire for wire in network.topology.wires}

    def walk(self, source: int, node: int, row: int = 0) -> list[tuple[int, int, int]]:
        """The routers on the way from a node to another, each with its input and output port."""
        router, came = self.network.topology.enters[source]
        found = []
        while True:
            output = int(self.outputs[router, row, node])
            found.append((router, came, output))
            if (router, output) == self.network.topology.leaves[node]:
                return found
            wire = self.wires[router, output]
            router, came = wire.target, wire.input
            if self.by_wire:
                row = int(wire.down)


def _outputs(network: Network) -> Ints:
    topology = network.topology
    if topology.kind in {Kind.MESH, Kind.TORUS, Kind.RING}:
        return _grid(topology)
    nodes = np.arange(topology.nodes, dtype=np.int64)
    if topology.kind is Kind.CROSSBAR:
        return np.tile(nodes, (1, 2, 1))
    if topology.kind is Kind.FLY:
        arity, stages = topology.sizes
        rows = [nodes // arity**(stages - 1 - stage) % arity for stage in range(stages)]
        each = topology.routers // stages
        return np.stack([np.stack([rows[router // each]] * 2) for router in range(topology.routers)])
    if topology.kind is Kind.TREE:
        return _tree(topology)
    return _up_and_down(network)


def _grid(topology: Topology) -> Ints:
    table = np.full((topology.routers, 2, topology.nodes), 2 * len(topology.sizes), dtype=np.int64)
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
            table[:, row][turns] = (2 * dimension + down)[turns]
    return table


def _tree(topology: Topology) -> Ints:
    arity, levels = topology.sizes
    nodes = np.arange(topology.nodes, dtype=np.int64)
    rows = []
    for level in range(levels):
        below = arity**(levels - level)
        for i in range(arity**level):
            rows.append(np.where(nodes // below == i, nodes % below // (below // arity), arity))
    return np.stack([np.stack([row, row]) for row in rows])


def price(wire: Wire, hop: int) -> int:
    """What a way over a wire costs: the cycles of a single flit."""
    return hop + wire.latency + wire.flit_cycles


def costs(topology: Topology, home: int, hop: int, *, free: bool) -> dict[tuple[int, int], int]:
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
                heapq.heappush(waiting, (spent + price(wire, hop), wire.source, row))
            elif row == wire.down:
                for before in (0, 1) if wire.down else (0,):
                    heapq.heappush(waiting, (spent + price(wire, hop), wire.source, before))
    return cost


def _up_and_down(network: Network) -> Ints:
    topology, hop = network.topology, network.hop_cycles()
    table = np.full((topology.routers, 2, topology.nodes), 0, dtype=np.int64)
    for node, (home, port) in enumerate(topology.leaves):
        cost = costs(topology, home, hop, free=False)
        best: dict[tuple[int, int], int] = {}
        for wire in topology.wires:
            ahead = cost.get((wire.target, int(wire.down)))
            for row in (0, 1) if wire.down else (0,):
                if ahead is not None and wire.source != home and ahead + price(wire, hop) == cost.get((wire.source, row)):
                    best.setdefault((wire.source, row), wire.output)
        for (router, row), output in best.items():
            table[router, row, node] = output
        table[home, :, node] = port
    return table
