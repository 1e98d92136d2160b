"""How the array of a compiled run is laid out: the network in the kernel's columns, and pools for what moves through it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels import event_layout as at
from accelsim.kernels.columns import BLOCK_OPERANDS
from accelsim.machine.blame import MIXED
from accelsim.machine.network import Hop, Network
from accelsim.machine.sections import Sections
from accelsim.machine.tally import routes
from accelsim.stalls import StallCause
from accelsim.timeline import CAUSES

Ints = NDArray[np.int64]


SPARE = 4
"""Records of each kind to begin with, for each slot or array; there is made room for more when it runs short."""


class Pool(NamedTuple):
    """A section of records that come and go; ``width``: of a record, or minus the place of the head that says it."""

    base: int
    width: int
    link: int
    first_free: int
    free: int

    def width_in(self, s: Sections) -> int:
        """Integers in a record."""
        return self.width if self.width > 0 else int(s.data[-self.width])

    def free_from(self, s: Sections, before: int) -> None:
        """The records behind the first ``before`` are new, and free."""
        s.free_records(self.base, self.width_in(s), self.link, self.first_free, self.free, before)


POOLS = (
    Pool(at.B_RESIDENCY, at.RESIDENCY_WIDTH, at.N_NEXT_DRAINING, at.FREE_RESIDENCY, at.FREE_RESIDENCIES),
    Pool(at.B_LEG, -at.LEG_WIDTH, at.L_KEY, at.FREE_LEG, at.FREE_LEGS),
    Pool(at.B_AHEAD, at.AHEAD_WIDTH, at.AHEAD_NEXT, at.FREE_AHEAD, at.FREE_AHEADS),
    Pool(at.B_GROUP, at.GROUP_WIDTH, at.G_NUMBER, at.FREE_GROUP, at.FREE_GROUPS),
    Pool(at.B_RUN, -at.RUN_WIDTH, at.RUN_ARRAY, at.FREE_RUN, at.FREE_RUNS),
)


class Names:
    """Numbers for where and whose, which the kernel counts by."""

    def __init__(self, network: Network) -> None:
        self._tensors = network.tensors
        named = [f"array {number}" for number in range(len(network.arrays))]
        named += sorted({spec.level for spec in network.stations} | {
            hop.name for spec in network.stations for route in routes(spec) for hop in route})
        self._where = ["", "array", "reduction", *named]
        first = at.WHERE_FIRST + len(network.arrays)
        self._numbers = {name: first + i for i, name in enumerate(self._where[first:])}

    def number(self, name: str) -> int:
        """The number of a hop's or a level's name."""
        return self._numbers[name]

    def where(self, number: int) -> str:
        """A place by its number."""
        return self._where[number]

    def whose(self, number: int) -> str:
        """An owner by its number."""
        return ("", "other core", "others", "multicast", *self._tensors)[number]


def laid_out(network: Network, names: Names, *, log: bool, feeds: bool) -> Sections:
    """The array of a run at its beginning; ``log``: with room to note the events of residencies; ``feeds``: it is told which
    transfers bring what steps use.
    """
    stations, arrays, tensors = len(network.stations), len(network.arrays), len(network.tensors)
    buffers = sum(spec.buffers for spec in network.stations)
    places = sum(_ring(spec.buffers) for spec in network.stations)
    depth = network.depth
    hops = _hops(network)
    longest = max(len(route) for spec in network.stations for route in routes(spec))
    widths = {at.LEG_WIDTH: at.LEG_HEAD + at.BOOKING_WIDTH * longest, at.RUN_WIDTH: at.RUN_HEAD + tensors}
    residencies, runs = stations + SPARE * (1 + buffers), 1 + SPARE * arrays
    legs, aheads = 8 * residencies + 64, depth * (1 + SPARE)
    channels = len(network.memories) > 0
    noted = max(at.MOVED_WIDTH, at.BLOCK_NOTE_HEAD + tensors)
    events = (4 if channels else 2) * (residencies + legs + runs)
    # a wait is told in stretches: those who were ahead at each hop on the way from the home
    spare_rows = 4096 + 4 * longest * len(network.tensors) * depth
    lists: list[int] = []
    s = Sections({
        at.B_STATION: stations * at.STATION_WIDTH, at.B_RING: places,
        at.B_LIST: sum(len(spec.children) + len(spec.arrays) + 2 * len(spec.follows) for spec in network.stations)
        + 3 * tensors * arrays
        + sum(len(route) for spec in network.stations for route in routes(spec)),
        at.B_HOP: len(hops) * at.HOP_WIDTH, at.B_ROUTE: stations * at.WAYS * at.ROUTE_WIDTH,
        at.B_RESOURCE: len(network.resources) * at.RESOURCE_WIDTH,
        at.B_RECENT: len(network.resources) * depth * at.RECENT_WIDTH, at.B_ARRAY: arrays * at.ARRAY_WIDTH,
        at.B_RESIDENCY: residencies * at.RESIDENCY_WIDTH, at.B_LEG: legs * widths[at.LEG_WIDTH],
        at.B_AHEAD: aheads * at.AHEAD_WIDTH, at.B_GROUP: residencies * at.GROUP_WIDTH,
        at.B_RUN: runs * widths[at.RUN_WIDTH], at.B_HEAP: events * at.EVENT_WIDTH, at.B_NEXT: events * at.NEXT_WIDTH,
        at.B_BANKED: (16 * residencies + 4096) * noted if network.banked else 0,
        at.B_ASKED: legs if channels else 0, at.B_MIX: legs * at.MIX_WIDTH if channels else 0,
        at.B_REQUEST: legs, at.B_CLAIM: stations, at.B_START: arrays, at.B_ROW: 2 * spare_rows * at.ROW_WIDTH,
        at.B_CULPRIT: 4 * at.MOST_CULPRITS_AT_ONCE * at.CULPRIT_WIDTH,
        at.B_LOG: (16 * residencies + 4096) * at.LOG_WIDTH if log else 0,
        # these grow with what the plan supplies
        at.B_STAY: 1 << 12, at.B_BLOCK: 1 << 10, at.B_TABLE: 1 << 10, at.B_USES: 1 << 10, at.B_WORK: 1 << 8,
    })
    head = s.data
    head[at.STATIONS], head[at.ARRAYS], head[at.TENSORS], head[at.OUTPUT] = stations, arrays, tensors, network.output
    head[at.DEPTH], head[at.DUE], head[at.MARK] = depth, 1, at.NO_MARK
    for place, width in widths.items():
        head[place] = width
    head[at.WORK_WIDTH], head[at.BLOCK_WIDTH] = at.WORK_HEAD + 2 * tensors, BLOCK_OPERANDS + tensors
    head[at.ROW_ROOM], head[at.ROW_SPARE], head[at.LOG_ROOM] = 2 * spare_rows, spare_rows, s.lengths[at.B_LOG] // at.LOG_WIDTH
    head[at.RESIDENCIES], head[at.CULPRIT_ROOM] = residencies, s.lengths[at.B_CULPRIT] // at.CULPRIT_WIDTH
    for place, cause in ((at.WRITEBACK, StallCause.WRITEBACK), (at.SYNC, StallCause.SYNC), (at.ISSUE, StallCause.ISSUE),
                         (at.FILL_DRAIN, StallCause.ARRAY_FILL_DRAIN), (at.CONTENTION, StallCause.CONTENTION)):
        head[place] = CAUSES.index(cause)
    head[at.MIXED:at.MIXED + 6] = [CAUSES.index(cause) for cause in (StallCause.DRAM_LATENCY, *MIXED)]
    head[at.MEMORIES], head[at.FEEDS] = channels, feeds
    head[at.BANKED], head[at.BANKED_WIDTH], head[at.HELD_KIND] = network.array_entry if network.banked else 0, noted, at.NEVER
    head[at.BANKED_ROOM] = s.lengths[at.B_BANKED] // noted
    s.of(at.B_HOP)[:] = [number for hop in hops for number in (
        hop.resource, hop.latency_cycles, CAUSES.index(hop.latency_cause), hop.setup_cycles, names.number(hop.name),
        hop.memory, hop.banked, network.banked[hop.banked].entry if hop.banked >= 0 else at.NEVER, hop.cached)]
    s.table(at.B_RESOURCE, at.RESOURCE_WIDTH)[:] = [
        (0, 0, arrays + i, CAUSES.index(resource.cause)) for i, resource in enumerate(network.resources)] or 0
    s.table(at.B_CULPRIT, at.CULPRIT_WIDTH)[:, at.CULPRIT_KEY] = at.NEVER
    _lay_stations(s, network, names, lists, hops)
    _lay_arrays(s, network, lists)
    s.of(at.B_LIST)[:] = lists
    for pool in POOLS:
        pool.free_from(s, 0)
    _lay_homes(s, network)
    return s


def _lay_stations(s: Sections, network: Network, names: Names, lists: list[int], numbers: dict[Hop, int]) -> None:
    ring = 0
    rows = s.table(at.B_STATION, at.STATION_WIDTH)
    ways = s.table(at.B_ROUTE, at.ROUTE_WIDTH)
    for number, spec in enumerate(network.stations):
        row = rows[number]
        row[at.S_PARENT], row[at.S_ENTRY], row[at.S_TENSOR], row[at.S_UNIT] = spec.parent, spec.entry, spec.tensor, spec.unit
        row[at.S_LEVEL], row[at.S_BUFFERS], row[at.S_LATE] = names.number(spec.level), spec.buffers, spec.late_release
        row[at.S_CHILDREN], row[at.S_CHILD_COUNT] = _listed(lists, spec.children)
        row[at.S_ARRAYS], row[at.S_ARRAY_COUNT] = _listed(lists, spec.arrays)
        row[at.S_FOLLOWS], row[at.S_FOLLOW_COUNT] = _listed(lists, spec.follows)
        row[at.S_FOLLOWERS], row[at.S_FOLLOWER_COUNT] = _listed(
            lists, [other for other, one in enumerate(network.stations) if number in one.follows])
        row[at.S_RING], row[at.S_ROUND] = ring, _ring(spec.buffers) - 1
        ring += _ring(spec.buffers)
        row[at.S_ROUTES] = number * at.WAYS
        ticks = at.TABLE_HEAD
        for way, route in enumerate(routes(spec)):
            first, count = _listed(lists, [numbers[hop] for hop in route])
            ways[number * at.WAYS + way] = (first, count, ticks)
            ticks += len(route)
        row[at.S_QUEUED] = 1
        for field in (at.S_LAST, at.S_AWAITED, at.S_AFTER, at.S_DRAINING, at.S_DRAINING_LAST, at.S_LAST_DRAINED):
            row[field] = at.NEVER
    s.of(at.B_RING)[:] = at.NEVER
    s.of(at.B_CLAIM)[:] = np.arange(len(rows))
    s.data[at.CLAIM_COUNT] = len(rows)


def _ring(buffers: int) -> int:
    """Places of a ring with room for so many: a power of two, so that the kernel need not divide."""
    return 1 << (buffers - 1).bit_length()


def _lay_arrays(s: Sections, network: Network, lists: list[int]) -> None:
    rows = s.table(at.B_ARRAY, at.ARRAY_WIDTH)
    for row, node in zip(rows, network.arrays, strict=True):
        row[at.A_LATENCY], row[at.A_FIRST_START], row[at.A_STARTING] = node.latency_cycles, at.NEVER, 1
        row[at.A_FEEDS], _ = _listed(lists, node.feeds)
        row[at.A_READS], _ = _listed(lists, node.read_resources)
        row[at.A_WRITES], _ = _listed(lists, node.write_resources)
        row[at.A_PORTED] = any(number >= 0 for number in (*node.read_resources, *node.write_resources))
    s.of(at.B_START)[:] = np.arange(len(rows))
    s.data[at.START_COUNT] = len(rows)


def _lay_homes(s: Sections, network: Network) -> None:
    """A home has one residency, of everything, from the start on."""
    for number, spec in enumerate(network.stations):
        if spec.parent >= 0:
            continue
        r = int(s.data[at.FREE_RESIDENCY])
        record = s.table(at.B_RESIDENCY, at.RESIDENCY_WIDTH)[r]
        s.data[at.FREE_RESIDENCY] = record[at.N_NEXT_DRAINING]
        s.data[at.FREE_RESIDENCIES] -= 1
        record[:] = at.NEVER
        record[at.N_STATION], record[at.N_SEQ], record[at.N_READY], record[at.N_PENDING] = number, 0, 0, 1
        record[at.N_CLAIMED] = record[at.N_READERS] = record[at.N_WHY] = record[at.N_FREED_BY] = 0
        record[at.N_FILL_LOAD] = record[at.N_DRAIN_LOAD] = 0
        record[at.N_REFERENCES] = 2
        station = s.table(at.B_STATION, at.STATION_WIDTH)[number]
        station[at.S_CLAIMS], station[at.S_LAST] = 1, r
        s.of(at.B_RING)[station[at.S_RING]] = r


def _listed(lists: list[int], values: Sequence[int]) -> tuple[int, int]:
    """Put values at the end of a list; where they begin, and how many they are."""
    lists += values
    return len(lists) - len(values), len(values)


def _hops(network: Network) -> dict[Hop, int]:
    """All hops, numbered."""
    found: dict[Hop, int] = {}
    for spec in network.stations:
        for route in routes(spec):
            for hop in route:
                found.setdefault(hop, len(found))
    return found
