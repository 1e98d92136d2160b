"""The network: a schedule wired to a chip. Stations with slots, routes of hops, resources, arrays: plain data.

A *station* is a tensor at a unit of a level; its residencies claim slots there. A *hop* is one port or link that a
transfer passes; a *resource* is what hops share and book. The drivers give it time; this file has none.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from accelsim.machine.link_network import split_ways
from accelsim.plan.banking import fed
from accelsim.plan.schedule import Schedule
from accelsim.plan.units import owner
from accelsim.spec.case import Case
from accelsim.spec.chip import Access, ArrayModel, Link, Memory, MemoryKind, Port
from accelsim.spec.dram import Dram
from accelsim.spec.linknetwork import Channel, Way
from accelsim.spec.operator import Role, Tensor
from accelsim.stalls import StallCause
from accelsim.timeline import Lane, LaneKind


@dataclass(frozen=True)
class Resource:
    """What transfers book, first come first served: a rate in bytes per cycle (exact) and the stall it causes."""

    lane: Lane
    numerator: int
    denominator: int
    cause: StallCause


@dataclass(frozen=True)
class Hop:
    """One port or link on a route. ``resource`` is -1 where the rate is unlimited.

    ``latency_cycles``: until the first byte is at the next hop. ``shared``: all lockstep instances' bytes pass here;
    else each instance has its own. ``name`` is for reports. ``whole_bytes``: what passes whatever the load is (0: the
    load): a systolic array shifts all its rows in or out, ragged folds too. ``memory``: the simulated channels that are asked
    (-1: none); its resource is the first of their data buses. ``banked``: the simulated banks whose words it touches (-1: none).
    ``cached``: what a cache before it has passes it by, in no time.
    """

    name: str
    resource: int
    latency_cycles: int
    latency_cause: StallCause
    granularity_bytes: int
    setup_cycles: int = 0
    chunk_bytes: int = 0
    shared: bool = True
    kind: LaneKind = LaneKind.PORT
    whole_bytes: int = 0
    memory: int = -1
    banked: int = -1
    cached: bool = False


Route = tuple[Hop, ...]


@dataclass(frozen=True)
class Station:
    """A tensor at a unit of a level. ``parent``: the station that feeds it, -1 at its home.

    ``fill_trunk`` and ``drain_trunk`` are the hops that units sharing a multicast or a reduction pass once,
    ``fill_leg`` and ``drain_leg`` those each passes alone (fills: trunk then leg; drains: leg then trunk).
    ``children``: stations fed from here. ``follows``: stations that must have the tile of a step before one is claimed for it.
    ``late_release``: it is done with when the results of its last step have left.
    """

    entry: int
    tensor: int
    unit: int
    level: str
    buffers: int
    parent: int
    children: tuple[int, ...]
    arrays: tuple[int, ...]
    fill_trunk: Route
    fill_leg: Route
    drain_leg: Route
    drain_trunk: Route
    late_release: bool
    follows: tuple[int, ...] = ()


@dataclass(frozen=True)
class ArrayNode:
    """A unit of the PE array: the stations that feed it and the resources its reads and writes book (-1: none)."""

    unit: int
    feeds: tuple[int, ...]
    read_resources: tuple[int, ...]
    write_resources: tuple[int, ...]
    latency_cycles: int
    instances: int


@dataclass(frozen=True)
class Channels:
    """A memory whose channels are simulated: its data buses are resources, from ``first`` on. ``clock``: the chip's, in Hz.

    ``tiled``: tensors lie there tile by tile.
    """

    dram: Dram
    clock: Fraction
    first: int
    tiled: bool

    @property
    def buses(self) -> int:
        """Its data buses."""
        return self.dram.counts["channel"] * self.dram.counts["pseudo_channel"]


@dataclass(frozen=True)
class Banked:
    """A memory whose banks are simulated, at a unit of an entry: which array it feeds."""

    array: int
    entry: int


@dataclass(frozen=True)
class Network:
    """All of it. Lanes of the timeline: the arrays first, then the resources."""

    tensors: tuple[str, ...]
    output: int
    resources: tuple[Resource, ...]
    stations: tuple[Station, ...]
    arrays: tuple[ArrayNode, ...]
    array_lanes: tuple[Lane, ...]
    memories: tuple[Channels, ...] = ()
    banked: tuple[Banked, ...] = ()
    array_entry: int = -1

    @property
    def depth(self) -> int:
        """The last bookings of a resource that can still matter to one that arrives: all that may be under way at once."""
        return 4 + 2 * sum(station.buffers for station in self.stations) + 4 * len(self.arrays)

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """Rows of the timeline."""
        return self.array_lanes + tuple(resource.lane for resource in self.resources)


_BANDWIDTH = {MemoryKind.DRAM: StallCause.DRAM_BANDWIDTH, MemoryKind.SRAM: StallCause.SRAM_BANDWIDTH}
_LATENCY = {MemoryKind.DRAM: StallCause.DRAM_LATENCY, MemoryKind.SRAM: StallCause.SRAM_LATENCY}


def build_network(schedule: Schedule) -> Network:
    """Wire a schedule to its chip."""
    return _Wiring(schedule).network()


class _Wiring:
    def __init__(self, schedule: Schedule) -> None:
        self.case: Case = schedule.case
        self.units = schedule.units
        self.resources: list[Resource] = []
        self.numbers: dict[tuple[object, ...], int] = {}
        self.ways: dict[tuple[str, int, Access], list[tuple[Way, Way]]] = {}
        self.memories: list[Channels] = []
        self.memory_numbers: dict[tuple[object, ...], int] = {}
        self.fed = fed(self.case)
        self.banked: dict[tuple[int, str, int], int] = {}
        self.banked_places: list[Banked] = []
        self.places = {(entry, index, unit.index): number for number, (entry, index, unit) in enumerate(
            (entry, index, unit) for index, tensor in enumerate(self.case.operator.tensors)
            for entry in self.case.paths[tensor.name] for unit in self.units[entry])}

    def network(self) -> Network:
        tensors = self.case.operator.tensors
        stations = [self._station(entry, index, unit) for entry, index, unit in self.places]
        nested: dict[int, list[int]] = {}
        for number, station in enumerate(stations):
            nested.setdefault(station.parent, []).append(number)
        arrays = tuple(self._array(unit.index) for unit in self.units[self.case.array_entry])
        readers: dict[int, list[int]] = {}
        for number, array in enumerate(arrays):
            for feed in array.feeds:
                readers.setdefault(feed, []).append(number)
        stations = [Station(**{**vars(station), "children": tuple(nested.get(number, ())),
                               "arrays": tuple(readers.get(number, ()))}) for number, station in enumerate(stations)]
        name = self.case.chip.array.name
        lanes = tuple(Lane(name if len(arrays) == 1 else f"{name}[{array.unit}]", LaneKind.ARRAY, name)
                      for array in arrays)
        output = next(i for i, tensor in enumerate(tensors) if tensor.role is Role.OUTPUT)
        return Network(tuple(tensor.name for tensor in tensors), output, tuple(self.resources), tuple(stations), arrays,
                       lanes, tuple(self.memories), tuple(self.banked_places), self.case.array_entry)

    def _station(self, entry: int, index: int, unit: int) -> Station:
        case = self.case
        tensor = case.operator.tensors[index]
        parent = case.parent(entry, tensor.name)
        level = case.chip.names[entry]
        late = entry == case.array_entry and (tensor.role is Role.OUTPUT or case.slot_count(entry, tensor) == 1)
        if parent is None:
            return Station(entry, index, unit, level, 1, -1, (), (), (), (), (), (), late)
        above = owner(self.units[entry][unit], self.units[parent])
        trunk_in, leg_in = self._fill_route(entry, parent, unit, above, tensor)
        leg_out, trunk_out = self._drain_route(entry, parent, unit, above, tensor)
        return Station(entry, index, unit, level, case.slot_count(entry, tensor), self.places[parent, index, above],
                       (), (), trunk_in, leg_in, leg_out, trunk_out, late, self._follows(entry, tensor, unit))

    def _follows(self, entry: int, tensor: Tensor, unit: int) -> tuple[int, ...]:
        names = [one.name for one in self.case.operator.tensors]
        return tuple([self.places[entry, names.index(name), unit] for name in self.case.follows(entry, tensor)])

    def _fill_route(self, entry: int, parent: int, unit: int, above: int, tensor: Tensor) -> tuple[Route, Route]:
        shared, own = self._links(entry, parent, unit, above, Access.FILL, tensor)
        outer = self._memory_hop(parent, above, Access.FILL, tensor, shared=True)
        return (outer, *shared), (*own, self._inner_hop(entry, unit, Access.FILL, tensor))

    def _drain_route(self, entry: int, parent: int, unit: int, above: int, tensor: Tensor) -> tuple[Route, Route]:
        if tensor.role is not Role.OUTPUT:
            return (), ()
        shared, own = self._links(entry, parent, unit, above, Access.DRAIN, tensor)
        outer = self._memory_hop(parent, above, Access.DRAIN, tensor, shared=True)
        return (self._inner_hop(entry, unit, Access.DRAIN, tensor), *reversed(own)), (*reversed(shared), outer)

    def _inner_hop(self, entry: int, unit: int, access: Access, tensor: Tensor) -> Hop:
        if entry < self.case.array_entry:
            return self._memory_hop(entry, unit, access, tensor, shared=False)
        array = self.case.chip.array
        rate = array.preload if access is Access.FILL else array.results
        if access is Access.FILL and array.preload_row:
            rate = Fraction(array.extent("x") * tensor.dtype.bits, 8)
        what = "preload" if access is Access.FILL else "results"
        number = self._resource((array.name, unit, what), f"{array.name}.{what}", array.name, unit, entry, rate,
                                StallCause.ARRAY_FILL_DRAIN, LaneKind.PORT)
        dtype = self.case.operator.accumulator if tensor.role is Role.OUTPUT else tensor.dtype
        whole = -(-array.pe_count * dtype.bits // 8) if array.model is ArrayModel.SYSTOLIC else 0
        return Hop(f"{array.name}.{what}", number, 0, StallCause.ARRAY_FILL_DRAIN, 1, shared=False, whole_bytes=whole)

    def _memory_hop(self, entry: int, unit: int, access: Access, tensor: Tensor, *, shared: bool) -> Hop:
        memory, port = self._port(entry, access, tensor)
        if memory.dram is not None:
            number = self._channels(entry, unit, memory, memory.dram)
            return Hop(f"{memory.name}.{port.name}", self.memories[number].first, memory.beyond_cycles,
                       StallCause.DRAM_LATENCY, 1, shared=shared, memory=number)
        banked = self._banks(entry, unit, memory) if (entry, memory) in self.fed else -1
        return Hop(f"{memory.name}.{port.name}", self._memory_resource(entry, unit, memory, port), memory.latency_cycles,
                   _LATENCY[memory.kind], memory.granularity_bytes, shared=shared, banked=banked,
                   cached=memory.cache_bytes is not None)

    def _banks(self, entry: int, unit: int, memory: Memory) -> int:
        """The number of a memory's banks at a unit, made at first mention; -1 where no array of it has work."""
        arrays = [one.index for one in self.units[self.case.array_entry] if owner(one, self.units[entry]) == unit]
        if not arrays:
            return -1
        key = entry, memory.name, unit
        if key not in self.banked:
            self.banked[key] = len(self.banked_places)
            self.banked_places.append(Banked(arrays[0], entry))
        return self.banked[key]

    def _channels(self, entry: int, unit: int, memory: Memory, dram: Dram) -> int:
        """The number of a memory's channels, made at first mention with a resource for each data bus."""
        key = entry, memory.name, unit
        if key not in self.memory_numbers:
            self.memory_numbers[key] = len(self.memories)
            self.memories.append(Channels(dram, self.case.chip.clock_hz, len(self.resources), memory.tiled))
            buses = dram.counts["channel"] * dram.counts["pseudo_channel"]
            rate = dram.peak_bytes_per_s / self.case.chip.clock_hz / buses
            for bus in range(buses):
                channel, pseudo = divmod(bus, dram.counts["pseudo_channel"])
                name = f"{memory.name}.channel{channel}" + (f".{pseudo}" if dram.counts["pseudo_channel"] > 1 else "")
                self._resource((*key, bus), name, memory.name, unit, entry, rate, StallCause.DRAM_BANDWIDTH, LaneKind.PORT)
        return self.memory_numbers[key]

    def _port(self, entry: int, access: Access, tensor: Tensor) -> tuple[Memory, Port]:
        memory = self.case.memory(entry, tensor)
        assert memory is not None
        port = memory.port(access, tensor)
        assert port is not None, "checked when the case was made"
        return memory, port

    def _memory_resource(self, entry: int, unit: int, memory: Memory, port: Port) -> int:
        return self._resource((entry, memory.name, port.name, unit), f"{memory.name}.{port.name}", memory.name, unit,
                              entry, port.rate, _BANDWIDTH[memory.kind], LaneKind.PORT)

    def _resource(self, key: tuple[object, ...], name: str, level: str, unit: int, entry: int, rate: Fraction | None,
                  cause: StallCause, kind: LaneKind, *, setup: bool = False) -> int:
        """The number of a resource, made at first mention; -1 where nothing takes time: no set-up, an unlimited rate."""
        if rate is None and not setup:
            return -1
        if key not in self.numbers:
            self.numbers[key] = len(self.resources)
            shown = name if len(self.units[entry]) == 1 else f"{name}[{unit}]"
            numerator, denominator = (1, 0) if rate is None else (rate.numerator, rate.denominator)
            self.resources.append(Resource(Lane(shown, kind, level), numerator, denominator, cause))
        return self.numbers[key]

    def _links(self, entry: int, parent: int, unit: int, above: int, access: Access, tensor: Tensor,
               ) -> tuple[list[Hop], list[Hop]]:
        names = self.case.chip.names
        shared: list[Hop] = []
        own: list[Hop] = []
        for link in self.case.chip.links_between(names[parent], names[entry], access, tensor):
            if link.network is not None:
                trunk, leg = self._ways(link, entry, access)[unit]
                first = (*trunk, *leg)[0] if access is Access.FILL else (*leg, *trunk)[0]
                for found, part in ((shared, trunk), (own, leg)):
                    # drains pass what is listed from the last to the first
                    found += [self._channel_hop(link, channel, parent, setup=channel is first)
                              for channel in (part if access is Access.FILL else part[::-1])]
                continue
            owner_unit, owner_entry = (unit, entry) if link.per_instance else (above, parent)
            rate = self.case.chip.link_rate(link)
            cause = StallCause.LINK_BANDWIDTH if rate == link.rate else StallCause.ISSUE  # too few requests outstanding
            number = self._resource(("link", link.name, owner_unit), link.name, link.name, owner_unit, owner_entry,
                                    rate, cause, LaneKind.LINK, setup=link.setup_cycles > 0)
            hop = Hop(link.name, number, link.latency_cycles, StallCause.LINK_LATENCY, link.granularity_bytes,
                      link.setup_cycles, link.chunk_bytes or 0, not link.per_instance, LaneKind.LINK)
            (own if link.per_instance else shared).append(hop)
        return shared, own

    def _ways(self, link: Link, entry: int, access: Access) -> list[tuple[Way, Way]]:
        """Trunk and leg of each unit of an entry through a network, worked out at first mention."""
        key = link.name, entry, access
        if key not in self.ways:
            self.ways[key] = split_ways(self.case, link, entry, self.units[entry], access)
        return self.ways[key]

    def _channel_hop(self, link: Link, channel: Channel, parent: int, *, setup: bool) -> Hop:
        """A channel of a network, shared by all that pass it; a transfer is set up where it comes in."""
        name = f"{link.name} {channel.name}"
        number = self._resource(("channel", name), name, link.name, 0, parent, channel.rate, StallCause.LINK_BANDWIDTH,
                                LaneKind.LINK)
        return Hop(name, number, channel.latency_cycles, StallCause.LINK_LATENCY, link.granularity_bytes,
                   link.setup_cycles if setup else 0, link.chunk_bytes or 0, kind=LaneKind.LINK)

    def _array(self, unit: int) -> ArrayNode:
        case = self.case
        own = self.units[case.array_entry][unit]
        feeds, reads, writes = [], [], []
        for index, tensor in enumerate(case.operator.tensors):
            entry = case.feeding(tensor.name)
            above = owner(own, self.units[entry])
            feeds.append(self.places[entry, index, above])
            memory = case.memory(entry, tensor)
            if memory is not None and (entry, memory) in self.fed:
                self._banks(entry, above, memory)
            read = write = -1
            if entry < case.array_entry:
                read = self._memory_resource(entry, above, *self._port(entry, Access.ARRAY_READ, tensor))
                if tensor.role is Role.OUTPUT:
                    write = self._memory_resource(entry, above, *self._port(entry, Access.ARRAY_WRITE, tensor))
            reads.append(read)
            writes.append(write)
        return ArrayNode(unit, tuple(feeds), tuple(reads), tuple(writes), case.chip.array.skew_cycles, len(own.bases))
