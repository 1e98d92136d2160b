"""The PE array as it runs: blocks of array steps in order, and where its cycles went (rule 4)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from accelsim.errors import SimulatorBug
from accelsim.feeds import told
from accelsim.kernels.columns import BLOCK_KIND, BLOCK_OPERANDS, BLOCK_STEP
from accelsim.machine.state import Piece, Residency, Run, Watcher, parts_of, service_ticks
from accelsim.machine.tally import tally_array
from accelsim.plan.schedule import Schedule, Work
from accelsim.plan.streams import singly
from accelsim.stalls import Phase, StallCause
from accelsim.timeline import BUSY_STATE, TICKS, stall_state

if TYPE_CHECKING:
    from accelsim.machine.banks import Banks
    from accelsim.machine.simpy_driver import Machine


class ArrayState:
    """One unit of the array. ``block`` is the next to run, in the plan's columns, None at the end."""

    def __init__(self, machine: Machine, number: int, schedule: Schedule) -> None:
        self.machine = machine
        self.number = number
        self.node = machine.network.arrays[number]
        self.lane = machine.network.array_lanes[number].name
        self._works = schedule.works
        self._blocks: Iterator[list[int]] = singly(schedule.blocks(self.node.unit))
        self.block: list[int] | None = next(self._blocks, None)
        self.free = 0
        self.left = 0
        self.running = False
        self.first_start = -1
        self._done: dict[int, int] = {}
        self._held_cycles = 0
        self._ported = any(number >= 0 for number in (*self.node.read_resources, *self.node.write_resources))
        self._columns = {station: BLOCK_OPERANDS + place for place, station in enumerate(self.node.feeds)}
        self._feeds = [(machine.stations[station], BLOCK_OPERANDS + place) for place, station in enumerate(self.node.feeds)]

    def reads(self, station: int, seq: int) -> int:
        """Whether a block to come reads a residency of a station, or one before it (1 or 0)."""
        if self.block is None:
            return 0
        return int(self.block[self._columns[station]] <= seq)

    def try_start(self) -> bool:
        """Start the next block when the array is free and every operand's residency is ready; whether it did."""
        block = self.block
        if block is None or self.running:
            return False
        operands = []
        for station, column in self._feeds:
            residency = station.live.get(block[column])
            if residency is None or residency.ready < 0:
                return False
            operands.append(residency)
        self._start(block, operands)
        return True

    def _start(self, block: list[int], operands: list[Residency]) -> None:
        machine, now = self.machine, self.machine.now
        if now > self.free:
            self._waited(operands, now)
        if self.first_start < 0:
            self.first_start = now
        kind = block[BLOCK_KIND]
        work = self._works[kind]
        hold = self._book_ports(work, now) if self._ported else work.hold
        self._done[kind] = self._done.get(kind, 0) + 1
        self._held_cycles += hold
        machine.macs += work.macs
        early: list[Residency] = []
        late: list[Residency] = []
        for residency in operands:
            residency.readers += 1
            station = residency.station
            (late if station.output or station.spec.late_release else early).append(residency)
        end = now + hold
        run = Run(self.number, end, early, late)
        self.running = True
        self.free = end
        if machine.watcher is not None and machine.banks is None:
            machine.watcher.ran(self.number, now, end)
        latency = self.node.latency_cycles
        machine.finished = max(machine.finished, end + latency)  # where the array writes the home, nothing drains
        self._advance(block)
        if machine.recorder.options.feeds:
            self._tell_feeds(operands, now)
        if machine.banks is not None:
            self._beside_banks(machine.banks, block, run, hold)
            return
        machine.recorder.row(self.number, now * TICKS, end * TICKS, BUSY_STATE, machine.network.output)
        if latency:
            machine.at(end, partial(self._held, run))
            machine.at(end + latency, partial(self._release, run))
        else:
            machine.at(end, partial(self._ended, run))

    def _tell_feeds(self, operands: list[Residency], now: int) -> None:
        """Say by which transfers the operands of a step that begins have come."""
        for residency in operands:
            if residency.fill is not None:
                row = next((part.row for part in reversed(parts_of(residency.fill)) if part.row is not None), None)
                if row is not None:
                    self.machine.recorder.pending.append(told(self.number, now * TICKS, row, residency.station.spec.tensor))

    def _book_ports(self, work: Work, now: int) -> int:
        """Book operand and result ports at the start; the hold is the array's, or that of the slowest port."""
        machine = self.machine
        end = (now + work.hold) * TICKS
        both = (False, self.node.read_resources, work.reads), (True, self.node.write_resources, work.writes)
        for writes, resources, sizes in both:
            for label, (number, size) in enumerate(zip(resources, sizes, strict=True)):
                if number >= 0 and size:
                    resource = machine.transfers.resources[number]
                    start = max(now * TICKS, resource.free)
                    resource.free = stop = start + service_ticks(machine.network.resources[number], size, 0)
                    begins, ends = -(-start // TICKS), -(-stop // TICKS)
                    resource.recent.append((begins, ends, label, -1))
                    if machine.watcher is not None:
                        machine.watcher.stepped(resource.lane, self.number, label, writes, now, begins, ends)
                    machine.recorder.row(resource.lane, start, stop, BUSY_STATE, label)
                    end = max(end, stop)
        return -(-end // TICKS) - now

    def _advance(self, block: list[int]) -> None:
        self.block = following = next(self._blocks, None)
        for station, column in self._feeds:
            left = block[column]
            reading = following[column] if following is not None else None
            if reading != left:
                station.pass_by(left, reading)

    def _held(self, run: Run, _: object) -> None:
        self.running = False
        early, run.early = run.early, []
        for residency in early:
            residency.station.reader_done(residency, run)
        self.machine.wake_array(self)

    # -- beside banks that are simulated ------------------------------------------------------------------------

    def _beside_banks(self, banks: Banks, block: list[int], run: Run, hold: int) -> None:
        """The block ends when the array's own clock says so, and its results have left when it does; look when it first may."""
        machine, now, latency = self.machine, self.machine.now, self.node.latency_cycles
        ends = [hold, hold + latency] if latency else [hold]
        seqs = [block[column] for _, column in self._feeds]
        own = banks.begin(self.number, now, block[BLOCK_STEP], seqs, block[BLOCK_KIND], ends)
        machine.at(now + hold, partial(self._may_end, banks, run, own + hold, hold))
        if latency:
            machine.at(now + hold + latency, partial(self._may_have_left, banks, run, own + hold + latency))

    def _may_end(self, banks: Banks, run: Run, own: int, hold: int, _: object) -> None:
        machine = self.machine
        cycle = banks.reached(self.number, machine.now, own)
        self.free = run.hold_end = cycle
        machine.finished = max(machine.finished, cycle + self.node.latency_cycles)
        if cycle > machine.now:
            machine.at(cycle, partial(self._may_end, banks, run, own, hold))
            return
        still = banks.over(self.number, cycle, hold)
        if machine.watcher is not None:
            self._tell_spent(machine.watcher, cycle, hold, still)
        if self.node.latency_cycles:
            self._held(run, None)
        else:
            self._ended(run, None)

    def _tell_spent(self, watcher: Watcher, cycle: int, hold: int, still: list[Piece]) -> None:
        """A block that held the array for so long is over, and stood still in between."""
        since, until = (still[-1].start, still[0].end) if still else (cycle, cycle)
        watcher.ran(self.number, cycle - hold - (until - since), since)
        if still:
            watcher.waited(self.number, still, since, until, self.machine.network.output, None)
            watcher.ran(self.number, until, cycle)

    def _may_have_left(self, banks: Banks, run: Run, own: int, _: object) -> None:
        machine = self.machine
        cycle = banks.reached(self.number, machine.now, own)
        machine.finished = max(machine.finished, cycle)
        self.left = cycle
        if cycle > machine.now:
            machine.at(cycle, partial(self._may_have_left, banks, run, own))
            return
        self._release(run, None)

    @staticmethod
    def _release(run: Run, _: object) -> None:
        late, run.late = run.late, []
        for residency in late:
            residency.station.reader_done(residency, run)

    def _ended(self, run: Run, _: object) -> None:
        """The hold is over, and nothing comes after it."""
        self._held(run, None)
        self._release(run, None)

    # -- where the cycles went ----------------------------------------------------------------------------------

    def _waited(self, operands: list[Residency], now: int) -> None:
        """The array was free before: blame the operand that came last."""
        last = max(operands, key=lambda residency: residency.ready)
        if last.ready != now:
            raise SimulatorBug(f"array {self.lane} waited until {now:,} though all was ready at {last.ready:,}")
        phase = Phase.START if self.first_start < 0 else Phase.STEADY
        self._record(self.machine.blame.ready(last, self.free, now, self.number), self.free, now, phase, last)

    def close(self) -> None:
        """The run is over: how the array spent the time from its last step to the arrival of its last results."""
        self._settle()
        final: Residency | None = None
        station = self.node.feeds[self.machine.network.output]
        while station >= 0:
            final = self.machine.stations[station].last_drained or final
            station = self.machine.network.stations[station].parent
        if final is None and self.free and self.node.latency_cycles:
            done = max(self.free + self.node.latency_cycles, self.left)
            piece = Piece(StallCause.ARRAY_FILL_DRAIN, self.free, done, "array", "")
            self._record([piece], self.free, done, Phase.FINISH, None)
        if final is None or final.drained <= self.free:
            return
        pieces = self.machine.blame.drained(final, self.free, final.drained, self.number)
        self._record(pieces, self.free, final.drained, Phase.FINISH, final)

    def _record(self, pieces: list[Piece], since: int, until: int, phase: Phase, awaited: Residency | None) -> None:
        """Write stalls; they must cover the wait without gap or overlap. ``awaited``: None for the array's own results."""
        recorder, watcher = self.machine.recorder, self.machine.watcher
        label = self.machine.network.output if awaited is None else awaited.station.spec.tensor
        at = until
        for piece in pieces:
            if piece.end != at or piece.start >= piece.end:
                raise SimulatorBug(f"blame of {self.lane} leaves {piece.end:,} to {at:,} unexplained")
            recorder.row(self.number, piece.start * TICKS, piece.end * TICKS, stall_state(piece.cause, phase), label)
            recorder.blame(piece.cause, piece.where, piece.whose, self.lane, piece.end - piece.start)
            at = piece.start
        if at != since:
            raise SimulatorBug(f"blame of {self.lane} leaves {since:,} to {at:,} unexplained")
        if watcher is not None:
            watcher.waited(self.number, pieces, since, until, label, awaited)

    def _settle(self) -> None:
        """Hand what was done to the recorder, once."""
        self.machine.recorder.count("hold_cycles", self._held_cycles)
        tally_array(self.machine.recorder, self.machine.network, self.number, self._works, self._done)
