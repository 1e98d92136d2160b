"""The PE array as it runs: blocks of array steps in order, and where its cycles went (rule 4)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from accelsim.errors import SimulatorBug
from accelsim.machine.state import Ahead, Piece, Residency, Run, whole_cycle
from accelsim.plan.schedule import Block
from accelsim.stalls import Phase, StallCause
from accelsim.timeline import BUSY_STATE, TICKS, Traffic, stall_state

if TYPE_CHECKING:
    from accelsim.machine.simpy_driver import Machine


class ArrayState:
    """One unit of the array. ``block`` is the next to run, None at the end."""

    def __init__(self, machine: Machine, number: int, blocks: Iterator[Block]) -> None:
        self.machine = machine
        self.number = number
        self.node = machine.network.arrays[number]
        self.lane = machine.network.array_lanes[number].name
        self._blocks = blocks
        self.block: Block | None = next(blocks, None)
        self.free = 0
        self.running = False
        self.first_start = -1
        self._totals = [0, 0, 0, 0]
        self._read = [0] * len(self.node.feeds)
        self._written = [0] * len(self.node.feeds)
        self._ported = any(number >= 0 for number in (*self.node.read_resources, *self.node.write_resources))
        self._places = {station: place for place, station in enumerate(self.node.feeds)}

    def reads(self, station: int, seq: int) -> int:
        """Whether a block to come reads a residency of a station, or one before it (1 or 0)."""
        if self.block is None:
            return 0
        return int(self.block.operands[self._places[station]] <= seq)

    def try_start(self) -> bool:
        """Start the next block when the array is free and every operand's residency is ready; whether it did."""
        block = self.block
        if block is None or self.running:
            return False
        operands = []
        for station, seq in zip(self.node.feeds, block.operands, strict=True):
            residency = self.machine.stations[station].live.get(seq)
            if residency is None or residency.ready < 0:
                return False
            operands.append(residency)
        self._start(block, operands)
        return True

    def _start(self, block: Block, operands: list[Residency]) -> None:
        machine, now = self.machine, self.machine.now
        if now > self.free:
            self._waited(operands, now)
        if self.first_start < 0:
            self.first_start = now
        hold = self._book_ports(block, now)
        run = Run(self.number, now, now + hold, now + hold + self.node.latency_cycles)
        machine.recorder.row(self.number, now * TICKS, run.hold_end * TICKS, BUSY_STATE, machine.network.output)
        self._account(block, hold)
        early: list[Residency] = []
        late: list[Residency] = []
        for residency in operands:
            residency.readers += 1
            spec = machine.network.stations[residency.station]
            is_late = spec.tensor == machine.network.output or spec.late_release
            (late if is_late else early).append(residency)
        self.running = True
        self.free = run.hold_end
        machine.finished = max(machine.finished, run.output_end)  # where the array writes the home, nothing drains
        self._advance(block)
        if self.node.latency_cycles == 0:
            machine.at(run.hold_end, partial(self._held, run, early + late))
        else:
            machine.at(run.hold_end, partial(self._held, run, early))
            machine.at(run.output_end, partial(self._release, run, late))

    def _book_ports(self, block: Block, now: int) -> int:
        """Book operand and result ports at the start; the hold is the array's, or that of the slowest port."""
        if not self._ported:
            return block.hold
        machine = self.machine
        end = (now + block.hold) * TICKS
        for resources, sizes in ((self.node.read_resources, block.reads), (self.node.write_resources, block.writes)):
            for label, (number, size) in enumerate(zip(resources, sizes, strict=True)):
                if number >= 0 and size:
                    start, stop = machine.resources[number].book(now, size, 0)
                    machine.resources[number].recent.append(Ahead(whole_cycle(start), whole_cycle(stop), label, -1))
                    machine.recorder.row(len(machine.network.arrays) + number, start, stop, BUSY_STATE, label)
                    end = max(end, stop)
        return whole_cycle(end) - now

    def _advance(self, block: Block) -> None:
        self.block = next(self._blocks, None)
        for place, station in enumerate(self.node.feeds):
            left = block.operands[place]
            reading = self.block.operands[place] if self.block is not None else None
            if reading != left:
                self.machine.pass_by(station, left, reading)

    def _held(self, run: Run, operands: list[Residency], _: object = None) -> None:
        self.running = False
        self._release(run, operands)
        self.machine.wake_array(self.number)

    def _release(self, run: Run, operands: list[Residency], _: object = None) -> None:
        for residency in operands:
            self.machine.reader_done(residency, run)

    # -- where the cycles went ----------------------------------------------------------------------------------

    def _waited(self, operands: list[Residency], now: int) -> None:
        """The array was free before: blame the operand that came last."""
        last = max(operands, key=lambda residency: residency.ready)
        if last.ready != now:
            raise SimulatorBug(f"array {self.lane} waited until {now:,} though all was ready at {last.ready:,}")
        phase = Phase.START if self.first_start < 0 else Phase.STEADY
        label = self.machine.network.stations[last.station].tensor
        self._record(self.machine.blame.ready(last, self.free, now, self.number), self.free, now, phase, label)

    def close(self) -> None:
        """The run is over: how the array spent the time from its last step to the arrival of its last results."""
        self._settle()
        final: Residency | None = None
        station = self.node.feeds[self.machine.network.output]
        while station >= 0:
            final = self.machine.stations[station].last_drained or final
            station = self.machine.network.stations[station].parent
        if final is None and self.free and self.node.latency_cycles:
            done = self.free + self.node.latency_cycles
            piece = Piece(StallCause.ARRAY_FILL_DRAIN, self.free, done, "array", "")
            self._record([piece], self.free, done, Phase.FINISH, self.machine.network.output)
        if final is None or final.drained <= self.free:
            return
        pieces = self.machine.blame.drained(final, self.free, final.drained, self.number)
        self._record(pieces, self.free, final.drained, Phase.FINISH, self.machine.network.output)

    def _record(self, pieces: list[Piece], since: int, until: int, phase: Phase, label: int) -> None:
        """Write stalls; they must cover the wait without gap or overlap."""
        recorder = self.machine.recorder
        at = until
        for piece in pieces:
            if piece.end != at or piece.start >= piece.end:
                raise SimulatorBug(f"blame of {self.lane} leaves {piece.end:,} to {at:,} unexplained")
            recorder.row(self.number, piece.start * TICKS, piece.end * TICKS, stall_state(piece.cause, phase), label)
            recorder.blame(piece.cause, piece.where, piece.whose, self.lane, piece.end - piece.start)
            at = piece.start
        if at != since:
            raise SimulatorBug(f"blame of {self.lane} leaves {since:,} to {at:,} unexplained")

    def _account(self, block: Block, hold: int) -> None:
        self.machine.macs += block.macs
        self._totals[0] += 1
        self._totals[1] += block.passes
        self._totals[2] += hold
        self._totals[3] += block.hold
        for place, size in enumerate(block.all_reads):
            self._read[place] += size
        for place, size in enumerate(block.all_writes):
            self._written[place] += size

    def _settle(self) -> None:
        """Hand what was counted to the recorder, once."""
        machine = self.machine
        for name, amount in zip(("blocks", "passes", "hold_cycles", "array_cycles"), self._totals, strict=True):
            machine.recorder.count(name, amount)
        for station, reads, writes in zip(self.node.feeds, self._read, self._written, strict=True):
            if reads or writes:
                spec = machine.network.stations[station]
                traffic = machine.recorder.traffic.setdefault((spec.level, machine.network.tensors[spec.tensor]), Traffic())
                traffic.array_read_bytes += reads
                traffic.array_write_bytes += writes
