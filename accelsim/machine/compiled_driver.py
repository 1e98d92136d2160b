"""The compiled driver: the same network and the same rules as the SimPy driver's, run by a kernel over one array.

This file runs the kernel, gives it what it comes back for, and reads the record.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from accelsim.errors import SimulatorBug
from accelsim.kernels import event_layout as at
from accelsim.kernels.codes import put_code
from accelsim.kernels.event_loop import post, run
from accelsim.machine.compiled_layout import POOLS, Names, laid_out
from accelsim.machine.fast_forward import FastForward, Jump
from accelsim.machine.jumps import add_again, counted, move_on
from accelsim.machine.network import Network
from accelsim.machine.outcomes import Come, Moved
from accelsim.machine.state import Observer
from accelsim.machine.supply import Supply
from accelsim.machine.tally import tally, tally_array
from accelsim.plan.schedule import Schedule
from accelsim.recorder import Recorder
from accelsim.repeats import RowLog
from accelsim.timeline import CAUSES, TICKS

if TYPE_CHECKING:
    from accelsim.machine.banks import Banks
    from accelsim.machine.channels import Channels

Ints = NDArray[np.int64]
TOLD = {at.CLAIMED: "claimed", at.READY: "ready", at.RELEASED: "released", at.FREED: "freed", at.DRAINED: "drained"}


_HAPPENS = {Come.STARTS: at.MEMORY_STARTS, Come.ENTERED: at.MEMORY_ENTERED, Come.ENDS: at.MEMORY_ENDS}


class Stuck(SimulatorBug):
    """Nothing can go on."""


class CompiledMachine:
    """One run of a network. ``run`` returns the cycle in which the last drain arrived."""

    def __init__(self, network: Network, schedule: Schedule, recorder: Recorder,
                 progress: Callable[[int], None] | None = None, observer: Observer | None = None,
                 forward: FastForward | None = None) -> None:
        self.network = network
        self._schedule = schedule
        self._recorder = recorder
        self._progress = progress
        self._observer = observer
        self._names = Names(network)
        self._s = laid_out(network, self._names, log=observer is not None, feeds=recorder.options.feeds)
        self._supply = Supply(network, schedule, self._s)
        for number in sorted({other for spec in network.stations for other in spec.follows}):
            self._supply.stays(number)  # those that follow look at the next stay of these, which nobody else has asked for yet
        self._forward = forward
        self._channels: Channels[int] | None = None
        self._banks: Banks | None = None
        # each brings kernels along, which are compiled where there is such a memory
        if network.memories:
            from accelsim.machine.channels import Channels
            self._channels = Channels(network, schedule, recorder)
        if network.banked:
            from accelsim.machine.banks import Banks
            self._banks = Banks(network, schedule, recorder)
        self._begun: dict[int, tuple[int, int]] = {}
        self._loaded: dict[int, tuple[int, int, int]] = {}
        self._log: RowLog | None = None
        if forward is not None:
            self._log = recorder.keep_log()
            self._s.data[at.MARK] = forward.next_mark(0)

    # -- room ---------------------------------------------------------------------------------------------------

    def _more(self, wanted: int) -> None:
        """Make room: twice as much as there was, of what is wanted and of what that may have under way."""
        s = self._s
        before = {pool.base: s.lengths[pool.base] for pool in POOLS}
        bases = {at.WANTS_RESIDENCIES: (at.B_RESIDENCY, at.B_GROUP, at.B_LEG), at.WANTS_LEGS: (at.B_LEG,),
                 at.WANTS_AHEADS: (at.B_AHEAD,), at.WANTS_RUNS: (at.B_RUN,)}[wanted]
        lengths = {base: 2 * s.lengths[base] for base in bases}
        if at.B_LEG in lengths:
            lengths |= {base: 2 * s.lengths[base] for base in (at.B_ASKED, at.B_MIX)}
        if wanted != at.WANTS_AHEADS:
            lengths |= {base: 2 * s.lengths[base] for base in (at.B_HEAP, at.B_NEXT, at.B_REQUEST)}
        s.enlarge(lengths)
        for pool in POOLS:
            if pool.base in bases:
                pool.free_from(s, before[pool.base] // pool.width_in(s))
        s.data[at.RESIDENCIES] = s.lengths[at.B_RESIDENCY] // at.RESIDENCY_WIDTH

    def _more_culprits(self) -> None:
        s = self._s
        held = s.table(at.B_CULPRIT, at.CULPRIT_WIDTH).copy()
        room = 2 * len(held)
        s.enlarge({at.B_CULPRIT: room * at.CULPRIT_WIDTH})
        s.data[at.CULPRIT_ROOM] = room
        keys, values = np.full(room, at.NEVER, dtype=np.int64), np.zeros(room, dtype=np.int64)
        for key, cycles in held[held[:, at.CULPRIT_KEY] >= 0].tolist():
            put_code(key, cycles, keys, values)
        table = s.table(at.B_CULPRIT, at.CULPRIT_WIDTH)
        table[:, at.CULPRIT_KEY], table[:, at.CULPRIT_CYCLES] = keys, values

    # -- the run ------------------------------------------------------------------------------------------------

    def run(self) -> int:
        """Run to the end. Raises SimulatorBug when nothing can go on, or a law is broken."""
        s = self._s
        while (wanted := run(s.data)) != at.RAN:
            stopped = int(s.data[at.STOPPED_AT])
            if wanted == at.WANTS_STAYS:
                self._supply.stays(stopped)
            elif wanted == at.WANTS_BLOCKS:
                self._supply.blocks(stopped)
            elif wanted == at.WANTS_ROWS:
                self._take_rows()
            elif wanted == at.WANTS_MEMORY:
                self._look_at_memories()
            elif wanted == at.WANTS_BANKS:
                self._look_at_banks()
            elif wanted == at.WANTS_LOG:
                self._tell()
            elif wanted == at.WANTS_CULPRITS:
                self._more_culprits()
            elif wanted == at.WANTS_MARK:
                self._at_mark(stopped)
            elif wanted == at.STUCK:
                raise Stuck(f"deadlock at cycle {int(s.data[at.NOW]):,}")
            elif wanted in (at.UNEXPLAINED, at.WAITED_FOR_NOTHING, at.TOO_MUCH_AT_ONCE):
                raise SimulatorBug(self._fault(wanted))
            else:
                self._more(wanted)
        self._take_rows()
        if self._channels is not None:
            self._channels.finish()
        if self._banks is not None:
            self._banks.finish()
        if self._observer is not None:
            self._tell()
        lost = [f"{spec.level} {self.network.tensors[spec.tensor]}: {under_way:,} B" for number, spec in enumerate(
            self.network.stations) if (under_way := int(self._supply.station(number)[at.S_UNDER_WAY]))]
        if lost:
            raise SimulatorBug(f"bytes that left are not bytes that arrived: {'; '.join(lost)}")
        self._read_counts()
        if self._forward is not None:
            self._recorder.skipped = self._forward.skipped
        return int(s.data[at.FINISHED])

    # -- memories whose channels are simulated ------------------------------------------------------------------

    def _look_at_memories(self) -> None:
        """Before time goes on: ask for what legs asked for in this cycle, and let what comes out before the next event happen."""
        head, channels = self._s.data, self._channels
        assert channels is not None
        for leg in self._s.of(at.B_ASKED)[:int(head[at.ASKED_COUNT])].tolist():
            self._ask(channels, leg)
        head[at.ASKED_COUNT] = 0
        upcoming = int(self._s.of(at.B_HEAP)[at.EVENT_TIME]) if head[at.HEAP_COUNT] else None
        mixes = self._s.table(at.B_MIX, at.MIX_WIDTH)
        for outcome in channels.until(upcoming):
            mixes[outcome.owner] = [*outcome.mixes[0], *outcome.mixes[1]]
            post(head, outcome.cycle, _HAPPENS[outcome.come], outcome.owner)
        head[at.MEMORY_BUSY], head[at.MEMORY_LOOKED] = channels.busy, 1

    def _ask(self, channels: Channels[int], leg: int) -> None:
        s = self._s
        record = s.table(at.B_LEG, int(s.data[at.LEG_WIDTH]))[leg]
        residency = s.table(at.B_RESIDENCY, at.RESIDENCY_WIDTH)[int(record[at.L_RESIDENCY])]
        station = int(residency[at.N_STATION])
        hop = s.table(at.B_HOP, at.HOP_WIDTH)[int(s.of(at.B_LIST)[int(record[at.L_ROUTE] + record[at.L_BOOKED])])]
        write = bool(int(record[at.L_TIE]) >> 40)
        load = int(residency[at.N_DRAIN_LOAD if write else at.N_FILL_LOAD])
        piece, pieces = int(record[at.L_PIECE]), int(record[at.L_PIECES])
        channels.ask(int(s.data[at.NOW]), leg, int(hop[at.H_MEMORY]), station, int(s.of(at.B_TABLE)[load + at.T_NUMBER]),
                     int(residency[at.N_TILE]), int(residency[at.N_HELD]), write=write,
                     tells=write or (record[at.L_SERVED] < 0 and piece + 1 < pieces), piece=piece, pieces=pieces)

    # -- memories whose banks are simulated ---------------------------------------------------------------------

    def _look_at_banks(self) -> None:
        """Tell the banks what has been noted; and let what is held happen, or look at it again when it first may."""
        head, banks = self._s.data, self._banks
        assert banks is not None
        for note in self._s.table(at.B_BANKED, int(head[at.BANKED_WIDTH]))[:int(head[at.BANKED_COUNT])].tolist():
            self._note(banks, note)
        head[at.BANKED_COUNT] = 0
        needed = 16 * int(head[at.RESIDENCIES]) + 4096
        if needed > head[at.BANKED_ROOM]:
            self._s.enlarge({at.B_BANKED: needed * int(head[at.BANKED_WIDTH])})
            head = self._s.data
            head[at.BANKED_ROOM] = needed
        kind, who, now = int(head[at.HELD_KIND]), int(head[at.HELD_WHO]), int(head[at.NOW])
        if kind == at.NEVER or head[at.HELD_SURE]:
            return
        cycle = self._loads(banks, who, now) if kind == at.FILL_ARRIVES else self._ends(banks, kind, who, now)
        if cycle > now:
            head[at.HELD_KIND] = at.NEVER
            post(head, cycle, kind, who)
        else:
            head[at.HELD_SURE] = 1

    def _note(self, banks: Banks, note: list[int]) -> None:
        if note[at.O_PLACE] == at.BANKED_BLOCK:
            array, hold, latency = note[at.O_ARRAY], note[at.O_HOLD], self.network.arrays[note[at.O_ARRAY]].latency_cycles
            seqs = note[at.BLOCK_NOTE_HEAD:at.BLOCK_NOTE_HEAD + len(self.network.tensors)]
            own = banks.begin(array, note[at.O_CYCLE], note[at.O_STEP], seqs, note[at.O_KIND],
                              [hold, hold + latency] if latency else [hold])
            self._begun[note[at.O_RUN]] = own, hold
            return
        begin = note[at.M_BEGIN]
        first = banks.move(Moved(note[at.M_CYCLE], note[at.M_PLACE], note[at.M_STATION], note[at.M_LOAD], note[at.M_STEP],
                                 note[at.M_SEQ], begin, note[at.M_TICKS], bool(note[at.M_OUTWARD]), note[at.M_PIECE],
                                 note[at.M_PIECES]))
        if first is not None:
            self._loaded[note[at.M_RESIDENCY]] = self.network.banked[note[at.M_PLACE]].array, first, begin

    def _loads(self, banks: Banks, residency: int, now: int) -> int:
        """The present cycle where registers are filled, in the array's own time; else the first in which they may be."""
        array, own, begin = self._loaded[residency]
        cycle = banks.reached(array, now, own + now - begin)
        self._loaded[residency] = array, own, begin + cycle - now
        return cycle

    def _ends(self, banks: Banks, kind: int, number: int, now: int) -> int:
        """The same of a block, or of its last results."""
        head = self._s.data
        record = self._s.table(at.B_RUN, int(head[at.RUN_WIDTH]))[number]
        array = int(record[at.RUN_ARRAY])
        own, hold = self._begun[number]
        row, latency = self._supply.array(array), self.network.arrays[array].latency_cycles
        if kind == at.OUTPUT_ENDS:
            cycle = banks.reached(array, now, own + hold + latency)
            row[at.A_LEFT] = cycle
            head[at.FINISHED] = max(int(head[at.FINISHED]), cycle)
            return cycle
        cycle = banks.reached(array, now, own + hold)
        record[at.RUN_END] = row[at.A_FREE] = cycle
        head[at.FINISHED] = max(int(head[at.FINISHED]), cycle + latency)
        if cycle == now:
            banks.over(array, cycle, hold)
        return cycle

    # -- fast-forward -------------------------------------------------------------------------------------------

    def _at_mark(self, step: int) -> None:
        """An iteration of a loop that is watched has begun: look whether it repeats an earlier one, and jump if it does."""
        forward, s = self._forward, self._s
        assert forward is not None
        assert self._log is not None
        depths = forward.due(step)
        if depths:
            told = forward.tell(s)
            jump = forward.look(s, told, depths, step)
            if jump is not None:
                self._take_rows()
                forward.forget(self._log.first)
                times = 0 if jump.before.log < self._log.first else self._recorder.times_outside_window(
                    jump.before.log, jump.cycles * TICKS, jump.times)
                if jump.of(times).worthwhile:
                    step = self._jump(jump.of(times), step)
                    depths = []
            if depths:
                self._take_rows()
                forward.keep(told, depths, step, counted(s, self._supply), self._log.place)
                oldest = forward.oldest_log
                self._log.forget(oldest if oldest is not None else self._log.place)
        s.data[at.MARK] = forward.next_mark(step)

    def _jump(self, jump: Jump, step: int) -> int:
        """Add whole periods; returns the step at which the run goes on."""
        forward = self._forward
        assert forward is not None
        self._recorder.repeat(jump.before.log, jump.cycles * TICKS, jump.times)
        add_again(self._s, self._supply, jump.before.counted, jump.times)
        move_on(self._s, self._supply, self.network, forward.recurrence, jump)
        step += jump.steps_added
        forward.jumped(jump, step)
        return step

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
        return [int(row[at.A_FIRST_START]) for row in self._s.table(at.B_ARRAY, at.ARRAY_WIDTH)]

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
        for cycle, what, station, seq in s.table(at.B_LOG, at.LOG_WIDTH)[:count].tolist():
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
        for number, spec in enumerate(network.stations):
            if spec.parent >= 0:
                loads = self._schedule.loads(spec.entry, network.tensors[spec.tensor])
                tally(recorder, network, number, loads, self._supply.uses(number).T.tolist())
        for number in range(len(network.arrays)):
            recorder.count("hold_cycles", int(self._supply.array(number)[at.A_HELD]))
            done = self._supply.done(number)
            tally_array(recorder, network, number, self._schedule.works,
                        {kind: int(done[kind]) for kind in np.flatnonzero(done).tolist()})
        for key, cycles in s.table(at.B_CULPRIT, at.CULPRIT_WIDTH).tolist():
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
