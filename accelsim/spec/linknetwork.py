"""A network on chip in a link's place: its channels at the chip's clock, and the way from the outer level to each instance.

Every directed channel is a resource of its own: that of a node into its router (injection), each wire between two routers, that
of a router to its node (ejection). A flit takes a wire's flit cycles of it; the head asks for the next channel after the link's
latency and the router's stages, as in `accelsim noc`: alone, a packet of L flits over n links of a mesh of 4-stage routers has
arrived 6 + 5 n + L cycles after it was asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from accelsim.spec.network import Network, Topology
from accelsim.spec.routing import Routing
from accelsim.units import cross_domain

Fanout = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Channel:
    """A directed channel: its rate in bytes per cycle of the chip, and the chip's cycles from when a transfer's service begins
    here until its head asks for the next channel, or is at its node.
    """

    name: str
    rate: Fraction
    latency_cycles: int


Way = tuple[Channel, ...]


@dataclass(frozen=True)
class LinkNetwork:
    """A network between an outer level, at ``outer_node``, and the instances of an inner one, at ``inner_nodes`` in their order.

    ``inward``, ``outward``: the way of a fill to each instance, of a drain from each, injection first and ejection last.
    """

    network: Network
    outer_node: int
    inner_nodes: tuple[int, ...]
    inward: tuple[Way, ...]
    outward: tuple[Way, ...]

    @property
    def least_cycles(self) -> int:
        """What the head of a fill to the nearest instance needs."""
        return min(sum(channel.latency_cycles for channel in way) for way in self.inward)


def link_network(network: Network, outer_node: int, inner_nodes: Sequence[int], clock_hz: Fraction) -> LinkNetwork:
    """A network's ways at a chip's clock. Each channel's latency is rounded up to the chip's cycles.

    On a torus, of two ways that are equally long the one upwards is taken, in each dimension.
    """
    channels = _Channels(network, clock_hz)
    return LinkNetwork(network, outer_node, tuple(inner_nodes), tuple([channels.way(outer_node, node) for node in inner_nodes]),
                       tuple([channels.way(node, outer_node) for node in inner_nodes]))


@dataclass(frozen=True)
class ChannelNames:
    """Names of a topology's channels: of each wire, and into and out of the network at each node."""

    wires: tuple[str, ...]
    into: tuple[str, ...]
    out: tuple[str, ...]


def channel_names(topology: Topology) -> ChannelNames:
    """The names under which channels are reported; of several wires between two routers, the second and on have a number."""
    beside: Counter[tuple[int, int]] = Counter()
    wires = []
    for wire in topology.wires:
        beside[wire.source, wire.target] += 1
        count = beside[wire.source, wire.target]
        wires.append(f"{wire.source}>{wire.target}" + (f" ({count})" if count > 1 else ""))
    nodes = range(topology.nodes)
    return ChannelNames(tuple(wires), tuple(f"in {node}" for node in nodes), tuple(f"out {node}" for node in nodes))


class _Channels:
    def __init__(self, network: Network, clock_hz: Fraction) -> None:
        self._network, self._clock_hz = network, clock_hz
        self._routing = Routing(network)
        names = channel_names(network.topology)
        self._wires = {(wire.source, wire.output): self._channel(
            name, wire.flit_cycles, wire.latency + wire.flit_cycles - 1 + network.hop_cycles())
            for wire, name in zip(network.topology.wires, names.wires, strict=True)}
        cycles, latency = network.endpoint_flit_cycles, network.endpoint_latency
        self._into = [self._channel(name, cycles, latency + cycles - 1 + network.hop_cycles()) for name in names.into]
        self._out = [self._channel(name, cycles, latency) for name in names.out]

    def _channel(self, name: str, flit_cycles: int, latency: int) -> Channel:
        network = self._network
        rate = Fraction(network.flit_bytes) / (flit_cycles * network.cycle_s * self._clock_hz)
        return Channel(name, rate, cross_domain(latency, 1 / network.cycle_s, self._clock_hz))

    def way(self, source: int, node: int) -> Way:
        """The channels from a node to another."""
        wires = [self._wires[router, output] for router, _, output in self._routing.walk(source, node)[:-1]]
        return (self._into[source], *wires, self._out[node])


def instances(fanouts: Iterable[Fanout]) -> int:
    """How many instances of the last of some levels there are in one of the level above the first."""
    return prod(count for fanout in fanouts for _, count in fanout)


def instance_number(fanouts: Sequence[Fanout], places: Sequence[dict[str, int]]) -> int:
    """Which of those instances stands at a place along each axis of each level: 0 where none is said.

    The innermost level's instances run fastest, and within a level the first axis, as node numbers of a mesh do.
    """
    number = 0
    for fanout, place in zip(fanouts, places, strict=True):
        own, step = 0, 1
        for axis, count in fanout:
            own += place.get(axis, 0) * step
            step *= count
        number = number * step + own
    return number
