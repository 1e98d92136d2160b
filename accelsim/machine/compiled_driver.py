"""The compiled driver: the same network and the same rules as the SimPy driver's, run by a kernel over one array.

This file supplies the kernel with stays and blocks of the plan and with room, and reads the record.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from accelsim.errors import SimulatorBug
from accelsim.kernels import event_layout as at
from accelsim.kernels.codes import put_code
from accelsim.kernels.columns import STAY_DRAIN, STAY_FILL, STAY_WIDTH
from accelsim.kernels.event_loop import run
from accelsim.machine.compiled_layout import POOLS, Names, laid_out
from accelsim.machine.compiled_loads import LoadTables
from accelsim.machine.network import Network
from accelsim.machine.state import Observer, service_ticks
from accelsim.machine.tally import tally, tally_array
from accelsim.plan.schedule import Schedule
from accelsim.timeline import CAUSES, Recorder

Ints = NDArray[np.int64]
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
        self._names = Names(network)
        self._areas: dict[tuple[str, int], int] = {}
        self._tables = LoadTables(network, schedule)
        self._streams = [schedule.stays(spec.entry, network.tensors[spec.tensor], spec.unit) for spec in network.stations]
        self._blocks = [schedule.blocks(node.unit) for node in network.arrays]
        self._works = 0
        self._s = laid_out(network, self._names, log=observer is not None)
        for number in range(len(network.stations)):
            self._supply_stays(number)
        for number in range(len(network.arrays)):
            self._supply_blocks(number)

    # -- room ---------------------------------------------------------------------------------------------------

    def _more(self, wanted: int) -> None:
        """Make room: twice as much as there was, of what is wanted and of what that may have under way."""
        s = self._s
        before = {pool.base: s.lengths[pool.base] for pool in POOLS}
        bases = {at.WANTS_RESIDENCIES: (at.B_RESIDENCY, at.B_GROUP, at.B_LEG), at.WANTS_LEGS: (at.B_LEG,),
                 at.WANTS_AHEADS: (at.B_AHEAD,), at.WANTS_RUNS: (at.B_RUN,)}[wanted]
        lengths = {base: 2 * s.lengths[base] for base in bases}
        if wanted != at.WANTS_AHEADS:
            lengths |= {base: 2 * s.lengths[base] for base in (at.B_HEAP, at.B_NEXT, at.B_REQUEST)}
        s.enlarge(lengths)
        for pool in POOLS:
            if pool.base in bases:
                pool.free_from(s, before[pool.base] // pool.width_in(s))
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
            elif wanted in (at.UNEXPLAINED, at.WAITED_FOR_NOTHING, at.TOO_MUCH_AT_ONCE):
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
        if wanted == at.TOO_MUCH_AT_ONCE:
            return f"one wait at cycle {int(head[at.NOW]):,} has more stretches than there is room for"
        lane = self.network.array_lanes[int(head[at.FAULT_LANE])].name
        since, until = int(head[at.FAULT_FROM]), int(head[at.FAULT_TO])
        if wanted == at.UNEXPLAINED:
            return f"blame of {lane} leaves {since:,} to {until:,} unexplained"
        return f"array {lane} waited until {until:,} though all was ready at {since:,}"
