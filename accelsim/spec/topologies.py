"""From a topology's kind and sizes to routers and wires.

Ports are numbered so that requests take turns as in BookSim's networks (Jiang et al., ISPASS 2013): in dimension d of a mesh or
torus the output 2d leads up and 2d + 1 down, the input 2d comes from above and 2d + 1 from below; the node's own comes last.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from accelsim.spec.network import Kind, Topology, Wire


@dataclass(frozen=True)
class Edge:
    """One of a list of edges: both ways unless ``one_way``."""

    source: int
    target: int
    latency: int
    flit_cycles: int
    one_way: bool


def grid(kind: Kind, sizes: Sequence[int], latency: int, flit_cycles: int) -> Topology:
    """A mesh, torus or ring: router = x + size_x x (y + size_y x ...), a node at each."""
    count, wires = prod(sizes), []
    around = kind is not Kind.MESH
    for router in range(count):
        step = 1
        for dimension, size in enumerate(sizes):
            place = router // step % size
            for output, way in ((2 * dimension, 1), (2 * dimension + 1, -1)):
                if size > 1 and (around or 0 <= place + way < size):
                    target = router + ((place + way) % size - place) * step
                    wires.append(Wire(router, output, target, output ^ 1, latency, flit_cycles, dimension))
            step *= size
    own = tuple((router, 2 * len(sizes)) for router in range(count))
    return Topology(kind, tuple(sizes), count, tuple(wires), own, own)


def crossbar(nodes: int) -> Topology:
    """One router with a port for each node."""
    own = tuple((0, node) for node in range(nodes))
    return Topology(Kind.CROSSBAR, (nodes,), 1, (), own, own)


def fly(arity: int, stages: int, latency: int, flit_cycles: int) -> Topology:
    """A k-ary n-fly: n stages of k^(n-1) routers; a packet goes once through all stages."""
    nodes, each = arity**stages, arity**(stages - 1)
    wires = []
    for stage in range(stages - 1):
        step = arity**(stages - 2 - stage)
        for address in range(each):
            digit = address // step % arity
            for output in range(arity):
                target = address + (output - digit) * step
                wires.append(Wire(stage * each + address, output, (stage + 1) * each + target, digit, latency, flit_cycles))
    last = (stages - 1) * each
    return Topology(Kind.FLY, (arity, stages), stages * each, tuple(wires),
                    tuple((node // arity, node % arity) for node in range(nodes)),
                    tuple((last + node // arity, node % arity) for node in range(nodes)))


def tree(arity: int, levels: int, latency: int, flit_cycles: int) -> Topology:
    """A complete tree of routers, the root first, level by level; the lowest have ``arity`` nodes each.

    Ports 0 to arity - 1 lead down, port ``arity`` up.
    """
    wires, first = [], 0
    for level in range(levels - 1):
        width = arity**level
        for i in range(width):
            for child in range(arity):
                below = first + width + i * arity + child
                wires.append(Wire(first + i, child, below, arity, latency, flit_cycles, down=True))
                wires.append(Wire(below, arity, first + i, child, latency, flit_cycles))
        first += width
    own = tuple((first + node // arity, node % arity) for node in range(arity**levels))
    return Topology(Kind.TREE, (arity, levels), first + arity**(levels - 1), tuple(wires), own, own)


def from_edges(routers: int, edges: Sequence[Edge], nodes: Sequence[int]) -> Topology:
    """Any graph: ports in the order of the list, the nodes' own behind them.

    A wire leads down where its target comes later, by distance from router 0 over the edges and then by number.
    """
    rank = {router: i for i, router in enumerate(sorted(range(routers), key=_distance(routers, edges)))}
    outputs: dict[int, int] = defaultdict(int)
    inputs: dict[int, int] = defaultdict(int)
    wires = []
    for number, edge in enumerate(edges):
        for source, target in ((edge.source, edge.target), *([] if edge.one_way else [(edge.target, edge.source)])):
            wires.append(Wire(source, outputs[source], target, inputs[target], edge.latency, edge.flit_cycles,
                              down=rank[source] < rank[target], edge=number))
            outputs[source] += 1
            inputs[target] += 1
    enters, leaves = [], []
    for router in nodes:
        enters.append((router, inputs[router]))
        leaves.append((router, outputs[router]))
        inputs[router] += 1
        outputs[router] += 1
    return Topology(Kind.EDGES, (routers,), routers, tuple(wires), tuple(enters), tuple(leaves))


def _distance(routers: int, edges: Sequence[Edge]) -> Callable[[int], tuple[int, int]]:
    """The order of routers: by links from router 0, whichever way they lead, then by number."""
    beside: dict[int, set[int]] = defaultdict(set)
    for edge in edges:
        beside[edge.source].add(edge.target)
        beside[edge.target].add(edge.source)
    far = {0: 0}
    waiting = deque([0])
    while waiting:
        router = waiting.popleft()
        for other in sorted(beside[router]):
            if other not in far:
                far[other] = far[router] + 1
                waiting.append(other)
    return lambda router: (far.get(router, routers), router)
