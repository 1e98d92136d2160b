"""The way of a transfer: its stations (ports and links) in order, and how long it takes alone."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, prod
from typing import NamedTuple

from accelsim.spec.case import Case
from accelsim.spec.chip import Access, Array, ArrayModel, Link, Multicast, Port
from accelsim.spec.dram import Dram
from accelsim.spec.linknetwork import LinkNetwork
from accelsim.spec.operator import Role, Tensor


class Station(NamedTuple):
    """A port or a link that a transfer passes. ``side``: whose load it carries. ``least_bytes``: what passes if anything
    does: a systolic array shifts all its registers, however ragged the tile. ``rounds``: whether it is booked in whole
    sixteenths of a cycle. ``takes_cycles``: so long a transfer may still be served after it has left where it came from.
    ``pooled``: one transfer carries what all lockstep instances get, so that the shares of each are not rounded to sixteenths.
    ``joined``: nor to granules and bytes, since an overlapping multicast reads their union, which may be one run.
    """

    name: str
    side: str
    rate: Fraction | None
    latency_cycles: int
    granularity_bytes: int = 1
    setup_cycles: int = 0
    least_bytes: int = 0
    rounds: bool = True
    takes_cycles: int = 0
    pooled: bool = False
    joined: bool = False

    def carried(self, size_bytes: int) -> int:
        """Bytes that pass for so many: rounded up to granules."""
        return -(-max(size_bytes, self.least_bytes) // self.granularity_bytes) * self.granularity_bytes if size_bytes else 0

    def service(self, size_bytes: int) -> Fraction:
        """Cycles that the station is busy with so many bytes: rounded up to granules, then to sixteenths of a cycle.

        Channels of a DRAM that are simulated are not booked: they carry so much in no less, rounded down.
        """
        if self.rate is None or not size_bytes:
            return Fraction(0)
        ticks = self.carried(size_bytes) * 16 / self.rate
        return Fraction(ceil(ticks) if self.rounds else int(ticks), 16)


PARENT, CHILD = "parent", "child"


class Route(NamedTuple):
    """All stations from source to destination."""

    stations: tuple[Station, ...]
    multicast: bool
    reduces: bool

    @property
    def latency_cycles(self) -> int:
        """Latencies that every transfer pays one after another."""
        return sum(station.latency_cycles for station in self.stations)

    def held_cycles(self, size_bytes: int) -> int:
        """Service at the slowest station: the stations pass a transfer through, so that only one shows."""
        return ceil(max(station.service(size_bytes) + station.setup_cycles for station in self.stations))

    def alone_cycles(self, size_bytes: int) -> int:
        """From the request to the arrival when nothing else moves; nothing moves in no time."""
        return self.latency_cycles + self.held_cycles(size_bytes) if size_bytes else 0

    @property
    def last_cycles(self) -> int:
        """What is left, at most, when a transfer has left where it came from: the destination's latency, and what it takes up."""
        return self.stations[-1].latency_cycles + self.stations[-1].takes_cycles

    def through_cycles(self, size_bytes: int) -> int:
        """From the request until it has left where it came from, at least; summed up over transfers it is a lower bound."""
        return self.alone_cycles(size_bytes) - self.last_cycles if size_bytes else 0


def route(case: Case, entry: int, tensor: Tensor, access: Access) -> Route:
    """The way between an entry and its parent: inward for fills and refills, outward for drains."""
    parent = case.parent(entry, tensor.name)
    assert parent is not None, "asked away from home only"
    outer, inner = case.chip.names[parent], case.chip.names[entry]
    links = case.chip.links_between(outer, inner, access, tensor)
    ends = [_memory(case, parent, tensor, access, PARENT), *(station for link in links for station in _link(case, link, access)),
            _memory(case, entry, tensor, access, CHILD)]
    if any(case.lockstep(place) and prod(count for _, count in case.chip.fanout(place)) > 1
           for place in range(parent + 1, entry + 1)):
        union = access is Access.FILL and any(link.multicast is Multicast.OVERLAP for link in links)
        ends = [station._replace(pooled=True, joined=union) if station.side == PARENT else station for station in ends]
    if access is Access.DRAIN:
        ends.reverse()
    return Route(tuple(ends), any(link.multicast is not Multicast.NONE for link in links),
                 any(link.reduce for link in case.chip.links_between(outer, inner, Access.DRAIN, tensor)))


def port_name(case: Case, entry: int, tensor: Tensor, access: Access) -> str:
    """Level, memory (where it is not the level's only one) and port."""
    memory = case.memory(entry, tensor)
    level = case.chip.names[entry]
    if memory is None:
        return f"{level} {'preload' if access is Access.FILL else 'results'}"
    port = memory.port(access, tensor)
    return f"{level if memory.name == level else f'{level}.{memory.name}'} {port.name if port else access.value} port"


def _memory(case: Case, entry: int, tensor: Tensor, access: Access, side: str) -> Station:
    memory = case.memory(entry, tensor)
    name = port_name(case, entry, tensor, access)
    if memory is None:
        array = case.chip.array
        rate = _preload(array, tensor) if access is Access.FILL else array.results
        dtype = case.operator.accumulator if tensor.role is Role.OUTPUT else tensor.dtype
        least = -(-array.pe_count * dtype.bits // 8) if array.model is ArrayModel.SYSTOLIC else 0
        return Station(name, side, rate, 0, least_bytes=least)
    port = memory.port(access, tensor)
    if memory.cache_bytes is not None:
        # what the cache has passes at once; what it cannot have is a bound of its own (``loads.cold_bounds``)
        return Station(name, side, None, 0)
    if memory.dram is not None and access is Access.DRAIN and port is not None:
        # commands go ahead while data still come: only what lies beyond the channels follows these for certain
        return Station(name, side, port.rate, memory.beyond_cycles, memory.granularity_bytes, rounds=False,
                       takes_cycles=_queued_cycles(memory.dram, port))
    return Station(name, side, port.rate if port else None, memory.latency_cycles, memory.granularity_bytes,
                   rounds=memory.dram is None)


def _queued_cycles(dram: Dram, port: Port) -> int:
    """How long the channels take for what their queues hold, which has left where it came from."""
    return 0 if port.rate is None else ceil(dram.controller.queue * dram.counts["channel"] * dram.burst_bytes / port.rate)


def _preload(array: Array, tensor: Tensor) -> Fraction | None:
    """Rate into the stationary registers; by rows it is one word for each column and cycle."""
    if not array.preload_row:
        return array.preload
    return Fraction(array.extent("x") * tensor.dtype.bits, 8)


def _link(case: Case, link: Link, access: Access) -> tuple[Station, ...]:
    if link.network is not None:
        return _network(link, link.network, access)
    return (Station(f"{link.name} link", CHILD if link.per_instance else PARENT, case.chip.link_rate(link),
                    link.latency_cycles, link.granularity_bytes, link.setup_cycles),)


def _network(link: Link, network: LinkNetwork, access: Access) -> tuple[Station, ...]:
    """Of a network the channels at its ends, the outer level's first: all pass that one, each instance that of its own node.

    What heads need between is that of the nearest instance; wires, which only some pass, are left out.
    """
    fill = access is Access.FILL
    ways = network.inward if fill else network.outward
    least = min(sum(channel.latency_cycles for channel in way[:-1]) for way in ways)
    ends = []
    for side, node in ((PARENT, f"node {network.outer_node}"), (CHILD, f"{link.inner} nodes")):
        enters = fill is (side == PARENT)
        channel = ways[0][0 if enters else -1]
        ends.append(Station(f"{link.name} {f'in from {node}' if enters else f'out to {node}'}", side, channel.rate,
                            least if enters else channel.latency_cycles, link.granularity_bytes,
                            link.setup_cycles if enters else 0))
    return tuple(ends)
