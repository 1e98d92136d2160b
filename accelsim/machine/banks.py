"""What the drivers share of banks that are simulated: an array's own clock, which stands still while it waits for them.

Transfers come first at a bank: they take their words in the time that their ports and links give them, and the array waits.
When a block would end is known once all transfers that can meet it are booked: a driver asks at the end that it knows of, and
again at the later one that it is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from accelsim.errors import SimulatorBug
from accelsim.kernels import bank_layout as at
from accelsim.kernels.bank_clock import go_on_to
from accelsim.machine.network import Network
from accelsim.machine.outcomes import Moved
from accelsim.machine.state import Piece
from accelsim.plan.banking import NOTHING, BankAccess, Held, in_order
from accelsim.plan.schedule import Schedule
from accelsim.recorder import Recorder
from accelsim.stalls import Phase, StallCause
from accelsim.timeline import BUSY_STATE, TICKS, stall_state

Ints = NDArray[np.int64]


class _Lost(NamedTuple):
    """Cycles that an array stood still: for its own accesses and for transfers, by memory."""

    own: int
    transfers: int
    memory: int


class _Load(NamedTuple):
    """A load of registers: its start in the array's own time, the cycle that was booked for it, and how many it takes."""

    own: int
    begin: int
    takes: int


class BankClock:
    """One array's own clock, which stands still as a whole, with what loads its registers. ``reached`` says when it shows a time;
    ``lost`` what it stood still for since that was asked last.
    """

    def __init__(self, access: BankAccess) -> None:
        self.access = access
        self._accesses = NOTHING
        self._booked = NOTHING
        self._coming: list[Ints] = []
        self._load = _Load(0, 0, 0)
        self._state = _state(access)
        memories = len(access.memories)
        self._lost = self._state[self._state[at.B_LOST]:][:memories * at.LOST_WIDTH].reshape(memories, at.LOST_WIDTH)
        self._told = self._lost.copy()

    def book(self, words: Ints) -> None:
        """Words of a transfer, by cycle, none before the present one."""
        if len(words):
            self._coming.append(words)

    def begin(self, cycle: int, accesses: Ints, ends: Sequence[int]) -> int:
        """A block begins; returns its start in the array's own time. ``accesses``: what it touches, from its start on; ``ends``:
        times from then that are asked for.
        """
        own = self._to(cycle)
        new: Ints = np.empty((len(accesses) + len(ends), at.ACCESS_WIDTH), dtype=np.int64)
        new[:len(accesses)] = accesses
        new[len(accesses):, at.X_CYCLE] = ends
        new[len(accesses):, at.X_CODE] = at.NEVER
        self._ask(own, new)
        return own

    def load(self, cycle: int, begin: int, ticks: int, accesses: Ints) -> int:
        """Registers are to be loaded from a cycle on, in the array's own time, behind loads before; returns its start there."""
        last = self._load
        # as far behind the one before as it was booked, or as that one takes: the clock may have stood still since
        own = max(self._to(cycle) + begin - cycle, last.own + min(begin - last.begin, last.takes))
        self._load = _Load(own, begin, -(-ticks // TICKS))
        self._ask(own, accesses)
        return own

    def _ask(self, own: int, new: Ints) -> None:
        """The array asks for more, from a time of its own on that is not past."""
        s = self._state
        new = new.copy()
        new[:, at.X_CYCLE] += own
        self._accesses = in_order(np.concatenate([self._accesses[s[at.NEXT]:], new]))
        s[at.NEXT], s[at.COUNT] = 0, len(self._accesses)
        self._make_room()

    def reached(self, cycle: int, own: int) -> int:
        """The present cycle where the clock shows ``own`` by now, else the first in which it may."""
        shows = self._to(cycle)
        waits = self._state[at.PENDING] > 0
        if shows > own or (shows == own and not waits):
            return cycle
        return cycle + max(own - shows, int(waits))

    def lost(self) -> list[_Lost]:
        """What it stood still for since this was asked last."""
        new, self._told = self._lost - self._told, self._lost.copy()
        return [_Lost(int(row[at.LOST_TO_OWN]), int(row[at.LOST_TO_TRANSFERS]), number) for number, row in enumerate(new)]

    @property
    def totals(self) -> list[_Lost]:
        """The same of all the run."""
        return [_Lost(int(row[at.LOST_TO_OWN]), int(row[at.LOST_TO_TRANSFERS]), number) for number, row in enumerate(self._lost)]

    def _to(self, cycle: int) -> int:
        s = self._state
        if self._coming:
            self._booked = in_order(np.concatenate([self._booked[s[at.BOOKED]:], *self._coming]))
            self._coming = []
            s[at.BOOKED], s[at.BOOKED_COUNT] = 0, len(self._booked)
        return go_on_to(s, self._accesses.ravel(), self._booked.ravel(), cycle)

    def _make_room(self) -> None:
        """All that it asks for could be pending at once."""
        s = self._state
        if len(self._accesses) > len(s) - s[at.B_PENDING]:
            self._state = np.concatenate([s, np.zeros(2 * len(self._accesses), dtype=np.int64)])
            start = self._state[at.B_LOST]
            self._lost = self._state[start:start + self._lost.size].reshape(self._lost.shape)


def _state(access: BankAccess) -> Ints:
    """A clock at the beginning: banks, what waits, what is lost; at the end what is pending."""
    banks = [held for memory in access.memories if (held := memory.banked) is not None]
    count = sum(one.count for one in banks)
    b_wait = at.HEAD + count * at.BANK_WIDTH
    b_lost = b_wait + count
    b_pending = b_lost + len(banks) * at.LOST_WIDTH
    state: Ints = np.zeros(b_pending + 64, dtype=np.int64)
    for field, value in ((at.B_BANK, at.HEAD), (at.B_WAIT, b_wait), (at.B_LOST, b_lost), (at.B_PENDING, b_pending)):
        state[field] = value
    rows = state[at.HEAD:b_wait].reshape(count, at.BANK_WIDTH)
    first = 0
    for number, one in enumerate(banks):
        own = rows[first:first + one.count]
        own[:, at.K_READS], own[:, at.K_WRITES], own[:, at.K_BOTH] = one.ports.reads, one.ports.writes, one.ports.both
        own[:, at.K_MEMORY], own[:, at.K_CYCLE], own[:, at.K_ASKED] = number, at.NEVER, at.NEVER
        first += one.count
    return state


class Banks:
    """The clocks of a run's arrays, each beside the banked memories that feed it."""

    def __init__(self, network: Network, schedule: Schedule, recorder: Recorder) -> None:
        self._network = network
        self._schedule = schedule
        self._recorder = recorder
        units = schedule.units[schedule.case.array_entry]
        self._clocks = [BankClock(BankAccess(schedule.case, units[node.unit])) for node in network.arrays]
        self._begun = [0] * len(self._clocks)

    def move(self, moved: Moved) -> int | None:
        """A transfer is booked at a banked memory. Returns the array's own time of its first word where it fills registers: what
        they wait for stands still with the array.
        """
        place = self._network.banked[moved.place]
        clock = self._clocks[place.array]
        spec = self._network.stations[moved.station]
        tensor = self._network.tensors[spec.tensor]
        held: Held = clock.access.held[place.entry, tensor]
        inner = spec.entry == place.entry
        write = inner != moved.outward
        if not inner and held.own is not None and spec.entry == self._schedule.case.array_entry:
            words = clock.access.registers(held, moved.step, moved.seq, moved.ticks, (moved.piece, moved.pieces), write=write)
            if not write:
                return clock.load(moved.cycle, moved.begin, moved.ticks, words)
            words[:, 0] += moved.begin
            clock.book(words)
            return None
        load = self._schedule.loads(spec.entry, tensor)[moved.load]
        assert load is not None, "what moves nothing is not booked"
        size = load.inner_bytes(1) if inner else load.outer_bytes(1)
        clock.book(clock.access.words(held, moved.seq, size, (moved.piece, moved.pieces), moved.begin, moved.ticks, write=write))
        return None

    def begin(self, array: int, cycle: int, step: int, seqs: Sequence[int], kind: int, ends: Sequence[int]) -> int:
        """A block of a kind of work begins at a step; returns its start in the array's own time. ``ends``: times from then that
        are asked for.
        """
        clock = self._clocks[array]
        own = clock.begin(cycle, clock.access.block(step, seqs, self._schedule.works[kind].hold), ends)
        clock.lost()  # what it lost since its last block, beside the results of that one, is no part of this
        self._begun[array] = cycle
        return own

    def reached(self, array: int, cycle: int, own: int) -> int:
        """The present cycle where an array's clock shows ``own`` by now, else the first in which it may."""
        return self._clocks[array].reached(cycle, own)

    def over(self, array: int, cycle: int, hold: int) -> list[Piece]:
        """A block is over: record how its cycles were spent, those in which it stood still before its last busy one.

        Returns why it stood still, latest first.
        """
        network, recorder = self._network, self._recorder
        clock, start = self._clocks[array], self._begun[array]
        lane = network.array_lanes[array].name
        stood = cycle - start - hold
        last = (cycle - 1 if stood else cycle) * TICKS
        recorder.row(array, start * TICKS, last - stood * TICKS, BUSY_STATE, network.output)
        recorder.row(array, last - stood * TICKS, last, stall_state(StallCause.BANK_CONFLICT, Phase.STEADY), network.output)
        recorder.row(array, last, cycle * TICKS, BUSY_STATE, network.output)
        at, still = last // TICKS, list[Piece]()
        for lost in clock.lost():
            where = clock.access.memories[lost.memory].name
            for whose, cycles in (("", lost.own), ("transfers", lost.transfers)):
                if cycles:
                    recorder.blame(StallCause.BANK_CONFLICT, where, whose, lane, cycles)
                    still.append(Piece(StallCause.BANK_CONFLICT, at - cycles, at, where, whose))
                    at -= cycles
        told = last // TICKS - at
        if told != stood:
            raise SimulatorBug(f"array {lane} ended a block of {hold:,} cycles at {cycle:,}, begun at {start:,}, but stood still "
                               f"for {told:,}")
        return still

    def finish(self) -> None:
        """Record the sums."""
        for clock in self._clocks:
            for lost in clock.totals:
                self._recorder.count("bank_own_cycles", lost.own)
                self._recorder.count("bank_transfer_cycles", lost.transfers)
