"""The compiled driver: the same network and the same rules as the SimPy driver's, run by a kernel over one array.

This file lays the array out, supplies the kernel with stays and blocks of the plan and with room, and reads the record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from accelsim.errors import SimulatorBug
from accelsim.kernels.codes import put_code
from accelsim.kernels.columns import BLOCK_OPERANDS, STAY_DRAIN, STAY_FILL, STAY_WIDTH
from accelsim.kernels.events import layout as at
from accelsim.kernels.events.loop import run
from accelsim.machine.network import Hop, Network, Route, Station
from accelsim.machine.sections import Sections
from accelsim.machine.state import service_ticks
from accelsim.machine.tally import ALONE_DRAIN, ALONE_FILL, pieces, routes, size_of, tally, tally_array
from accelsim.plan.moves import Load
from accelsim.plan.schedule import Schedule
from accelsim.stalls import StallCause
from accelsim.timeline import CAUSES, Recorder

Ints = NDArray[np.int64]
Observer = Callable[[int, str, int, str, int, int], None]
TOLD = {at.CLAIMED: "claimed", at.READY: "ready", at.RELEASED: "released", at.FREED: "freed", at.DRAINED: "drained"}


class Stuck(SimulatorBug):
    """Nothing can go on."""


class CompiledMachine:
    """One run of a network. ``run`` returns the cycle in which the last drain arrived."""

    def __init__(self, network: Network, schedule: Schedule, recorder: Recorder,
                 progress: Callable[[int], None] | None = None, observer: Observer | None = None) -> None:
        self.network = network
        self._schedule = schedule
        self._recorder = recorder
        self._progress = progress
        self._observer = observer
        self._names = _Names(network)
        self._areas: dict[tuple[str, int], int] = {}
        self._tables = _Tables(network, schedule)
        self._streams = [schedule.stays(spec.entry, network.tensors[spec.tensor], spec.unit) for spec in network.stations]
        self._blocks = [schedule.blocks(node.unit) for node in network.arrays]
        self._works = 0
        self._s = self._laid_out()
        for number in range(len(network.stations)):
            self._supply_stays(number)
        for number in range(len(network.arrays)):
            self._supply_blocks(number)

    # -- the array ----------------------------------------------------------------------------------------------

    def _laid_out(self) -> Sections:
        network = self.network
        stations, arrays, tensors = len(network.stations), len(network.arrays), len(network.tensors)
        buffers = sum(spec.buffers for spec in network.stations)
        depth = 4 + 2 * buffers + 4 * arrays
        hops = _hops(network)
        longest = max(len(route) for spec in network.stations for route in routes(spec))
        widths = {at.LEG_WIDTH: at.LEG_HEAD + at.BOOKING_WIDTH * longest, at.RUN_WIDTH: at.RUN_HEAD + tensors}
        residencies, runs = 64 + 2 * buffers, 8 + 4 * arrays
        legs, aheads = 8 * residencies + 64, 8 * depth
        events = 2 * (residencies + legs + runs)
        lists: list[int] = []
        s = Sections({
            at.B_STATION: stations * at.STATION_WIDTH, at.B_RING: buffers,
            at.B_LIST: sum(len(spec.children) + len(spec.arrays) for spec in network.stations) + 3 * tensors * arrays
            + sum(len(route) for spec in network.stations for route in routes(spec)),
            at.B_HOP: len(hops) * at.HOP_WIDTH, at.B_ROUTE: stations * at.WAYS * at.ROUTE_WIDTH,
            at.B_RESOURCE: len(network.resources) * at.RESOURCE_WIDTH,
            at.B_RECENT: len(network.resources) * depth * at.RECENT_WIDTH, at.B_ARRAY: arrays * at.ARRAY_WIDTH,
            at.B_RESIDENCY: residencies * at.RESIDENCY_WIDTH, at.B_LEG: legs * widths[at.LEG_WIDTH],
            at.B_AHEAD: aheads * at.AHEAD_WIDTH, at.B_GROUP: residencies * at.GROUP_WIDTH,
            at.B_RUN: runs * widths[at.RUN_WIDTH], at.B_HEAP: events * at.EVENT_WIDTH, at.B_NEXT: events * at.NEXT_WIDTH,
            at.B_REQUEST: legs, at.B_CLAIM: stations, at.B_START: arrays, at.B_ROW: 2 * at.MOST_ROWS_AT_ONCE * at.ROW_WIDTH,
            at.B_CULPRIT: 4 * at.MOST_CULPRITS_AT_ONCE * at.CULPRIT_WIDTH,
            at.B_LOG: (16 * residencies + 4096) * at.LOG_WIDTH if self._observer is not None else 0,
            # these grow with what the plan supplies
            at.B_STAY: 1 << 12, at.B_BLOCK: 1 << 10, at.B_TABLE: 1 << 10, at.B_USES: 1 << 10, at.B_WORK: 1 << 8,
        })
        head = s.data
        head[at.STATIONS], head[at.ARRAYS], head[at.TENSORS], head[at.OUTPUT] = stations, arrays, tensors, network.output
        head[at.DEPTH], head[at.DUE] = depth, 1
        for place, width in widths.items():
            head[place] = width
        head[at.WORK_WIDTH], head[at.BLOCK_WIDTH] = at.WORK_HEAD + 2 * tensors, BLOCK_OPERANDS + tensors
        head[at.ROW_ROOM], head[at.LOG_ROOM] = 2 * at.MOST_ROWS_AT_ONCE, s.lengths[at.B_LOG] // at.LOG_WIDTH
        head[at.RESIDENCIES], head[at.CULPRIT_ROOM] = residencies, s.lengths[at.B_CULPRIT] // at.CULPRIT_WIDTH
        for place, cause in ((at.WRITEBACK, StallCause.WRITEBACK), (at.SYNC, StallCause.SYNC), (at.ISSUE, StallCause.ISSUE),
                             (at.FILL_DRAIN, StallCause.ARRAY_FILL_DRAIN), (at.CONTENTION, StallCause.CONTENTION)):
            head[place] = CAUSES.index(cause)
        s.of(at.B_HOP)[:] = [number for hop in hops for number in (
            hop.resource, hop.latency_cycles, CAUSES.index(hop.latency_cause), hop.setup_cycles, self._names.number(hop.name))]
        s.of(at.B_RESOURCE).reshape(-1, at.RESOURCE_WIDTH)[:] = [
            (0, 0, arrays + i, CAUSES.index(resource.cause)) for i, resource in enumerate(network.resources)] or 0
        s.of(at.B_CULPRIT).reshape(-1, at.CULPRIT_WIDTH)[:, at.CULPRIT_KEY] = at.NEVER
        self._lay_stations(s, lists, hops)
        self._lay_arrays(s, lists)
        s.of(at.B_LIST)[:] = lists
        for pool in _POOLS:
            self._free(s, pool, 0)
        self._lay_homes(s)
        return s

    @staticmethod
    def _free(s: Sections, pool: _Pool, before: int) -> None:
        width = pool.width if pool.width > 0 else int(s.data[-pool.width])
        s.free_records(pool.base, width, pool.link, pool.first_free, pool.free, before)

    def _lay_stations(self, s: Sections, lists: list[int], numbers: dict[Hop, int]) -> None:
        ring = 0
        rows = s.of(at.B_STATION).reshape(-1, at.STATION_WIDTH)
        ways = s.of(at.B_ROUTE).reshape(-1, at.ROUTE_WIDTH)
        for number, spec in enumerate(self.network.stations):
            row = rows[number]
            row[at.S_PARENT], row[at.S_ENTRY], row[at.S_TENSOR], row[at.S_UNIT] = spec.parent, spec.entry, spec.tensor, spec.unit
            row[at.S_LEVEL], row[at.S_BUFFERS], row[at.S_LATE] = self._names.number(spec.level), spec.buffers, spec.late_release
            row[at.S_CHILDREN], row[at.S_CHILD_COUNT] = _listed(lists, spec.children)
            row[at.S_ARRAYS], row[at.S_ARRAY_COUNT] = _listed(lists, spec.arrays)
            row[at.S_RING] = ring
            ring += spec.buffers
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

    def _lay_arrays(self, s: Sections, lists: list[int]) -> None:
        rows = s.of(at.B_ARRAY).reshape(-1, at.ARRAY_WIDTH)
        for row, node in zip(rows, self.network.arrays, strict=True):
            row[at.A_LATENCY], row[at.A_FIRST_START], row[at.A_STARTING] = node.latency_cycles, at.NEVER, 1
            row[at.A_FEEDS], _ = _listed(lists, node.feeds)
            row[at.A_READS], _ = _listed(lists, node.read_resources)
            row[at.A_WRITES], _ = _listed(lists, node.write_resources)
            row[at.A_PORTED] = any(number >= 0 for number in (*node.read_resources, *node.write_resources))
        s.of(at.B_START)[:] = np.arange(len(rows))
        s.data[at.START_COUNT] = len(rows)

    def _lay_homes(self, s: Sections) -> None:
        """A home has one residency, of everything, from the start on."""
        for number, spec in enumerate(self.network.stations):
            if spec.parent >= 0:
                continue
            r = int(s.data[at.FREE_RESIDENCY])
            record = s.of(at.B_RESIDENCY).reshape(-1, at.RESIDENCY_WIDTH)[r]
            s.data[at.FREE_RESIDENCY] = record[at.N_NEXT_DRAINING]
            s.data[at.FREE_RESIDENCIES] -= 1
            record[:] = at.NEVER
            record[at.N_STATION], record[at.N_SEQ], record[at.N_READY], record[at.N_PENDING] = number, 0, 0, 1
            record[at.N_CLAIMED] = record[at.N_READERS] = record[at.N_WHY] = record[at.N_FREED_BY] = 0
            record[at.N_FILL_LOAD] = record[at.N_DRAIN_LOAD] = 0
            record[at.N_REFERENCES] = 2
            station = s.of(at.B_STATION).reshape(-1, at.STATION_WIDTH)[number]
            station[at.S_CLAIMS], station[at.S_LAST] = 1, r
            s.of(at.B_RING)[station[at.S_RING]] = r

    # -- room ---------------------------------------------------------------------------------------------------

    def _more(self, wanted: int) -> None:
        """Make room: twice as much as there was, of what is wanted and of what that may have under way."""
        s = self._s
        before = {pool.base: s.lengths[pool.base] for pool in _POOLS}
        bases = {at.WANTS_RESIDENCIES: (at.B_RESIDENCY, at.B_GROUP, at.B_LEG), at.WANTS_LEGS: (at.B_LEG,),
                 at.WANTS_AHEADS: (at.B_AHEAD,), at.WANTS_RUNS: (at.B_RUN,)}[wanted]
        lengths = {base: 2 * s.lengths[base] for base in bases}
        if wanted != at.WANTS_AHEADS:
            lengths |= {base: 2 * s.lengths[base] for base in (at.B_HEAP, at.B_NEXT, at.B_REQUEST)}
        s.enlarge(lengths)
        for pool in _POOLS:
            if pool.base in bases:
                width = pool.width if pool.width > 0 else int(s.data[-pool.width])
                self._free(s, pool, before[pool.base] // width)
        s.data[at.RESIDENCIES] = s.lengths[at.B_RESIDENCY] // at.RESIDENCY_WIDTH

    def _more_culprits(self) -> None:
        s = self._s
        held = s.of(at.B_CULPRIT).reshape(-1, at.CULPRIT_WIDTH).copy()
        room = 2 * len(held)
        s.enlarge({at.B_CULPRIT: room * at.CULPRIT_WIDTH})
        s.data[at.CULPRIT_ROOM] = room
        keys, values = np.full(room, at.NEVER, dtype=np.int64), np.zeros(room, dtype=np.int64)
        for key, cycles in held[held[:, at.CULPRIT_KEY] >= 0].tolist():
            put_code(key, cycles, keys, values)
        table = s.of(at.B_CULPRIT).reshape(-1, at.CULPRIT_WIDTH)
        table[:, at.CULPRIT_KEY], table[:, at.CULPRIT_CYCLES] = keys, values

    # -- what the plan supplies ---------------------------------------------------------------------------------

    def _supply_stays(self, number: int) -> None:
        """Give a station its next stays, behind the one or none that it has left."""
        spec, s = self.network.stations[number], self._s
        if spec.parent >= 0:
            fresh = self._streams[number].rows()
            offsets = self._tables.offsets(s, spec)
            fresh[:, STAY_FILL], fresh[:, STAY_DRAIN] = offsets[fresh[:, STAY_FILL]], offsets[fresh[:, STAY_DRAIN]]
            self._make_area(("uses", number), at.B_STATION, at.STATION_WIDTH, at.S_USES, at.WAYS * len(offsets))
        else:
            fresh = np.zeros((0, STAY_WIDTH), dtype=np.int64)
        self._supply(("stays", number), at.B_STATION, at.STATION_WIDTH, number, at.S_STAYS, at.B_STAY, fresh)

    def _supply_blocks(self, number: int) -> None:
        """Give an array its next blocks, behind the one or none that it has left."""
        s = self._s
        fresh = next(self._blocks[number], np.zeros((0, int(s.data[at.BLOCK_WIDTH])), dtype=np.int64))
        works = self._schedule.works
        width = int(s.data[at.WORK_WIDTH])
        for work in works[self._works:]:
            place = s.take(at.B_WORK, width)
            node = self.network.arrays[number]
            ticks = [service_ticks(self.network.resources[resource], size, 0) if resource >= 0 and size else at.NEVER
                     for resources, sizes in ((node.read_resources, work.reads), (node.write_resources, work.writes))
                     for resource, size in zip(resources, sizes, strict=True)]
            s.of(at.B_WORK)[place:place + width] = [work.hold, work.macs, *ticks]
        self._works = len(works)
        self._make_area(("done", number), at.B_ARRAY, at.ARRAY_WIDTH, at.A_DONE, len(works))
        self._supply(("blocks", number), at.B_ARRAY, at.ARRAY_WIDTH, number, at.A_BLOCKS, at.B_BLOCK, fresh)

    def _row(self, base: int, width: int, number: int) -> Ints:
        return self._s.of(base)[number * width:(number + 1) * width]

    def _make_area(self, name: tuple[str, int], owners: int, owner_width: int, field: int, length: int) -> None:
        """See to it that an owner (the number in the name) has counters for so much; those it had keep their counts."""
        have = self._areas.get(name, 0)
        if length <= have:
            return
        self._areas[name] = 2 * length
        fresh = self._s.take(at.B_USES, 2 * length)
        place = int(self._row(owners, owner_width, name[1])[field])
        section = self._s.of(at.B_USES)
        section[fresh:fresh + have] = section[place:place + have]
        self._row(owners, owner_width, name[1])[field] = fresh

    def _supply(self, name: tuple[str, int], owners: int, owner_width: int, number: int, field: int, base: int, fresh: Ints,
                ) -> None:
        """Put rows behind those that are left. Four fields of the owner: where its rows are, the next, how many, the end."""
        width = fresh.shape[1]
        rows, following, count, _ = self._row(owners, owner_width, number)[field:field + 4].tolist()
        left = self._s.of(base)[(rows + following) * width:(rows + count) * width].copy()
        needed = len(left) // width + len(fresh)
        if needed > self._areas.get(name, 0):
            self._areas[name] = needed
            rows = self._s.take(base, needed * width) // width
        section = self._s.of(base)
        section[rows * width:rows * width + len(left)] = left
        section[rows * width + len(left):(rows + needed) * width] = fresh.ravel()
        self._row(owners, owner_width, number)[field:field + 4] = rows, 0, needed, not len(fresh)

    # -- the run ------------------------------------------------------------------------------------------------

    def run(self) -> int:
        """Run to the end. Raises SimulatorBug when nothing can go on, or a law is broken."""
        s = self._s
        while (wanted := run(s.data)) != at.RAN:
            stopped = int(s.data[at.STOPPED_AT])
            if wanted == at.WANTS_STAYS:
                self._supply_stays(stopped)
            elif wanted == at.WANTS_BLOCKS:
                self._supply_blocks(stopped)
            elif wanted == at.WANTS_ROWS:
                self._take_rows()
            elif wanted == at.WANTS_LOG:
                self._tell()
            elif wanted == at.WANTS_CULPRITS:
                self._more_culprits()
            elif wanted == at.STUCK:
                raise Stuck(f"deadlock at cycle {int(s.data[at.NOW]):,}")
            elif wanted in (at.UNEXPLAINED, at.WAITED_FOR_NOTHING):
                raise SimulatorBug(self._fault(wanted))
            else:
                self._more(wanted)
        self._take_rows()
        if self._observer is not None:
            self._tell()
        lost = [f"{spec.level} {self.network.tensors[spec.tensor]}: {under_way:,} B" for number, spec in enumerate(
            self.network.stations) if (under_way := int(self._row(at.B_STATION, at.STATION_WIDTH, number)[at.S_UNDER_WAY]))]
        if lost:
            raise SimulatorBug(f"bytes that left are not bytes that arrived: {'; '.join(lost)}")
        self._read_counts()
        return int(s.data[at.FINISHED])

    @property
    def macs(self) -> int:
        """MACs done."""
        return int(self._s.data[at.MACS])

    @property
    def events(self) -> int:
        """Events that happened."""
        return int(self._s.data[at.EVENTS])

    @property
    def calls(self) -> int:
        """Calls of the kernel."""
        return int(self._s.data[at.CALLS])

    @property
    def first_starts(self) -> list[int]:
        """When each array began its first block; -1: never."""
        return [int(row[at.A_FIRST_START]) for row in self._s.of(at.B_ARRAY).reshape(-1, at.ARRAY_WIDTH)]

    def _take_rows(self) -> None:
        s = self._s
        count = int(s.data[at.ROW_COUNT])
        self._recorder.add(s.of(at.B_ROW)[:count * at.ROW_WIDTH].reshape(count, at.ROW_WIDTH))
        s.data[at.ROW_COUNT] = 0
        if self._progress is not None:
            self._progress(int(s.data[at.BLOCKS]))

    def _tell(self) -> None:
        """Tell the observer what was noted, and see to it that there is room to note as much as may happen at once."""
        s = self._s
        assert self._observer is not None
        count = int(s.data[at.LOG_COUNT])
        for cycle, what, station, seq in s.of(at.B_LOG).reshape(-1, at.LOG_WIDTH)[:count].tolist():
            spec = self.network.stations[station]
            self._observer(cycle, TOLD[what], spec.entry, self.network.tensors[spec.tensor], spec.unit, seq)
        s.data[at.LOG_COUNT] = 0
        needed = 16 * int(s.data[at.RESIDENCIES]) + 4096
        if needed > s.data[at.LOG_ROOM]:
            s.enlarge({at.B_LOG: needed * at.LOG_WIDTH})
            s.data[at.LOG_ROOM] = needed

    def _read_counts(self) -> None:
        """Hand what was counted to the recorder."""
        s, network, recorder = self._s, self.network, self._recorder
        uses = s.of(at.B_USES)
        for number, spec in enumerate(network.stations):
            if spec.parent >= 0:
                loads = self._schedule.loads(spec.entry, network.tensors[spec.tensor])
                first = int(self._row(at.B_STATION, at.STATION_WIDTH, number)[at.S_USES])
                own = uses[first:first + self._areas["uses", number]].reshape(-1, at.WAYS)
                tally(recorder, network, number, loads, own.T.tolist())
        for number in range(len(network.arrays)):
            row = self._row(at.B_ARRAY, at.ARRAY_WIDTH, number)
            recorder.count("hold_cycles", int(row[at.A_HELD]))
            done = uses[row[at.A_DONE]:row[at.A_DONE] + self._areas["done", number]]
            tally_array(recorder, network, number, self._schedule.works,
                        {kind: int(done[kind]) for kind in np.flatnonzero(done).tolist()})
        for key, cycles in s.of(at.B_CULPRIT).reshape(-1, at.CULPRIT_WIDTH).tolist():
            if key >= 0:
                lane = key & ((1 << at.LANE_BITS) - 1)
                whose = key >> at.LANE_BITS & ((1 << at.WHOSE_BITS) - 1)
                where = key >> at.LANE_BITS + at.WHOSE_BITS & ((1 << at.WHERE_BITS) - 1)
                cause = CAUSES[key >> at.LANE_BITS + at.WHOSE_BITS + at.WHERE_BITS]
                recorder.blame(cause, self._names.where(where), self._names.whose(whose), network.array_lanes[lane].name, cycles)

    def _fault(self, wanted: int) -> str:
        head = self._s.data
        lane = self.network.array_lanes[int(head[at.FAULT_LANE])].name
        since, until = int(head[at.FAULT_FROM]), int(head[at.FAULT_TO])
        if wanted == at.UNEXPLAINED:
            return f"blame of {lane} leaves {since:,} to {until:,} unexplained"
        return f"array {lane} waited until {until:,} though all was ready at {since:,}"


class _Pool(NamedTuple):
    """A section of records that come and go; ``width``: of a record, or minus the place of the head that says it."""

    base: int
    width: int
    link: int
    first_free: int
    free: int


_POOLS = (
    _Pool(at.B_RESIDENCY, at.RESIDENCY_WIDTH, at.N_NEXT_DRAINING, at.FREE_RESIDENCY, at.FREE_RESIDENCIES),
    _Pool(at.B_LEG, -at.LEG_WIDTH, at.L_KEY, at.FREE_LEG, at.FREE_LEGS),
    _Pool(at.B_AHEAD, at.AHEAD_WIDTH, at.AHEAD_NEXT, at.FREE_AHEAD, at.FREE_AHEADS),
    _Pool(at.B_GROUP, at.GROUP_WIDTH, at.G_NUMBER, at.FREE_GROUP, at.FREE_GROUPS),
    _Pool(at.B_RUN, -at.RUN_WIDTH, at.RUN_ARRAY, at.FREE_RUN, at.FREE_RUNS),
)


class _Names:
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


class _Tables:
    """The loads of every tensor at every entry in the kernel's layout; a load is named by where it stands."""

    def __init__(self, network: Network, schedule: Schedule) -> None:
        self._network = network
        self._schedule = schedule
        self._offsets: dict[tuple[int, int], list[int]] = {}

    def offsets(self, s: Sections, spec: Station) -> Ints:
        """Where each load of a station stands, by its number in the plan; 0: none. New ones are added."""
        if not self._offsets:
            s.take(at.B_TABLE, 1)
        made = self._offsets.setdefault((spec.entry, spec.tensor), [])
        for load in self._schedule.loads(spec.entry, self._network.tensors[spec.tensor])[len(made):]:
            made.append(0 if load is None else self._add(s, spec, len(made), load))
        return np.array(made, dtype=np.int64)

    def _add(self, s: Sections, spec: Station, number: int, load: Load) -> int:
        ways = routes(spec)
        ticks = [tick for route in ways for tick in self._ticks(route, [size_of(hop, load) for hop in route])]
        place = s.take(at.B_TABLE, at.TABLE_HEAD + len(ticks))
        head = [number, load.payload_bytes, *self._cut(s, ways[ALONE_FILL], load), *self._cut(s, ways[ALONE_DRAIN], load)]
        s.of(at.B_TABLE)[place:place + at.TABLE_HEAD + len(ticks)] = [*head, *ticks]
        return place

    def _ticks(self, route: Route, sizes: list[int]) -> list[int]:
        return [0 if hop.resource < 0 else service_ticks(self._network.resources[hop.resource], size, hop.setup_cycles)
                for hop, size in zip(route, sizes, strict=True)]

    def _cut(self, s: Sections, route: Route, load: Load) -> tuple[int, int]:
        """How many pieces a load is cut into on its way, and where the ticks of the pieces' hops stand."""
        parts = pieces(route, load)
        if len(parts) == 1:
            return 1, 0
        ticks = [tick for sizes in parts for tick in self._ticks(route, sizes)]
        place = s.take(at.B_TABLE, len(ticks))
        s.of(at.B_TABLE)[place:place + len(ticks)] = ticks
        return len(parts), place


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
