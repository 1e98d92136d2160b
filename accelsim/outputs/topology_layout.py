"""Where routers and nodes of a network stand in a picture, by its topology; x to the right, y downwards, neighbours 1 apart."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin

from accelsim.spec.network import Kind, Topology, Wire

Spot = tuple[float, float]
_PLANE_GAP, _PLANE_DROP = 0.8, 0.35
STUB = 0.62
"""How far a wire that leads around a torus reaches beyond its ends."""


@dataclass(frozen=True)
class NodeSpot:
    """A node beside the network: its number, its place, its routers, and whether it is drawn as what sends, receives, or both."""

    node: int
    at: Spot
    router: int
    sends: bool
    receives: bool


@dataclass(frozen=True)
class TopologyLayout:
    """``nodes``: those that have a place of their own, none where each stands at its router. ``square``: both directions have
    the same scale. ``around``: for each wire the direction in which it leaves the picture and comes back on the other side.
    """

    routers: tuple[Spot, ...]
    nodes: tuple[NodeSpot, ...]
    around: tuple[Spot | None, ...]
    square: bool

    @property
    def spots(self) -> list[Spot]:
        """All places, the ends of what leads around among them."""
        return [*self.routers, *(node.at for node in self.nodes)]


def lay_out(topology: Topology) -> TopologyLayout:
    """A place for everything, the same for the same topology."""
    nowhere: tuple[Spot | None, ...] = (None,) * len(topology.wires)
    if topology.kind in (Kind.MESH, Kind.TORUS):
        return TopologyLayout(tuple(_in_grid(topology, router) for router in range(topology.routers)), (),
                              tuple(_around(topology, wire) for wire in topology.wires), True)
    if topology.kind is Kind.TREE:
        return _tree(topology, nowhere)
    if topology.kind is Kind.FLY:
        return _fly(topology, nowhere)
    if topology.kind is Kind.CROSSBAR:
        nodes = tuple(NodeSpot(node, at, 0, True, True) for node, at in enumerate(_circle(topology.nodes, 0.0)))
        return TopologyLayout(((0.0, 0.0),), nodes, nowhere, True)
    routers = tuple(_circle(topology.routers, 0.0))
    return TopologyLayout(routers, () if _one_each(topology) else _outside(topology), nowhere, True)


def _one_each(topology: Topology) -> bool:
    """Whether no router has more than one node, and each comes in where it goes out."""
    at = [router for router, _ in topology.enters]
    return at == [router for router, _ in topology.leaves] and len(set(at)) == len(at)


def _places(topology: Topology, router: int) -> list[int]:
    places = []
    for size in topology.sizes:
        places.append(router % size)
        router //= size
    return places


def _in_grid(topology: Topology, router: int) -> Spot:
    """Rows downwards; planes of a third and further dimension side by side, each a little lower than the one before."""
    x, y, *further = [*_places(topology, router), 0][:max(2, len(topology.sizes))]
    plane, step = 0, 1
    for place, size in zip(further, topology.sizes[2:], strict=True):
        plane += place * step
        step *= size
    return x + plane * (topology.sizes[0] + _PLANE_GAP), y + plane * _PLANE_DROP


def _around(topology: Topology, wire: Wire) -> Spot | None:
    """The way a wire leaves the grid, if it does; in further dimensions all are drawn straight."""
    way = 1 if wire.output % 2 == 0 else -1
    place = _places(topology, wire.source)[wire.dimension]
    if topology.kind is Kind.MESH or wire.dimension > 1 or 0 <= place + way < topology.sizes[wire.dimension]:
        return None
    return (float(way), 0.0) if wire.dimension == 0 else (0.0, float(way))


def _circle(count: int, outwards: float) -> list[Spot]:
    """Clockwise from the top, neighbours 1 apart on a circle that is so much larger."""
    radius = (0.0 if count < 2 else max(0.8, 0.5 / sin(pi / count))) + outwards
    return [(radius * sin(2 * pi * number / count), -radius * cos(2 * pi * number / count)) for number in range(count)]


def _outside(topology: Topology) -> tuple[NodeSpot, ...]:
    """Nodes on a larger circle, side by side at their routers; twice where a node goes in and out at different ones."""
    ends = [(node, enter, True, enter == leave) for node, ((enter, _), (leave, _)) in
            enumerate(zip(topology.enters, topology.leaves, strict=True))]
    ends += [(node, leave, False, True) for node, ((enter, _), (leave, _)) in
             enumerate(zip(topology.enters, topology.leaves, strict=True)) if enter != leave]
    found = []
    for router in range(topology.routers):
        own = [end for end in ends if end[1] == router]
        for place, (node, _, sends, receives) in enumerate(own):
            angle = 2 * pi * (router + 0.8 * ((place + 0.5) / len(own) - 0.5)) / topology.routers
            radius = (0.0 if topology.routers < 2 else max(0.8, 0.5 / sin(pi / topology.routers))) + 0.9
            found.append(NodeSpot(node, (radius * sin(angle), -radius * cos(angle)), router, sends, receives))
    return tuple(found)


def _tree(topology: Topology, nowhere: tuple[Spot | None, ...]) -> TopologyLayout:
    """The root above, routers over the middle of what hangs below them, the nodes in the lowest row."""
    arity, levels = topology.sizes
    routers = []
    for level in range(levels):
        wide = arity**(levels - level)
        routers += [((number + 0.5) * wide - 0.5, float(level)) for number in range(arity**level)]
    nodes = tuple(NodeSpot(node, (float(node), float(levels)), router, True, True)
                  for node, (router, _) in enumerate(topology.enters))
    return TopologyLayout(tuple(routers), nodes, nowhere, False)


def _fly(topology: Topology, nowhere: tuple[Spot | None, ...]) -> TopologyLayout:
    """Stages from left to right, those that send at the left, those that receive at the right."""
    arity, stages = topology.sizes
    each = arity**(stages - 1)
    across = max(2.0, topology.nodes / (stages + 1))
    routers = tuple((across * (1 + number // each), (number % each + 0.5) * arity - 0.5) for number in range(topology.routers))
    nodes = [NodeSpot(node, (0.0, float(node)), router, True, False) for node, (router, _) in enumerate(topology.enters)]
    nodes += [NodeSpot(node, (across * (stages + 1), float(node)), router, False, True)
              for node, (router, _) in enumerate(topology.leaves)]
    return TopologyLayout(routers, tuple(nodes), nowhere, False)
