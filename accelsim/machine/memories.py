"""Memories whose channels are simulated, as both drivers use them: transfers ask, and what comes of them is an event.

A memory goes on no further than the network's next event, or than that in which something that came out of it is known: until
then nothing new can be asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Generic, NamedTuple

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels import dram_layout, memory_loop
from accelsim.kernels import memory_layout as at
from accelsim.machine.dram import address_fields, channel_at_rest, distances
from accelsim.machine.outcomes import Come, Mix, Outcome, Owner
from accelsim.spec.dram import Dram

Ints = NDArray[np.int64]
Row = tuple[int, int, int, int]
"""A data bus of a memory was busy: which, from one tick to another, for which tensor."""
OUTCOMES, ROWS = 64, 1 << 12


class Counts(NamedTuple):
    """What a memory did. ``bytes``: of whole bursts. ``turnarounds``: changes of a bus's direction or rank."""

    bursts: int
    bytes: int
    row_hits: int
    row_misses: int
    row_conflicts: int
    refreshes: int
    turnarounds: int


class MemoryState(Generic[Owner]):
    """One memory. ``clock``: cycles of the chip in a second. ``keep``: is given the rows of its data buses."""

    def __init__(self, dram: Dram, clock: Fraction, keep: Callable[[Ints], None]) -> None:
        ratio = dram.cycle_s * clock
        channels, pseudo = dram.counts["channel"], dram.counts["pseudo_channel"]
        self._dram = dram
        self._keep = keep
        self._ratio = ratio
        self._channels = channels
        self._state: Ints = np.tile(channel_at_rest(dram), channels)
        # whoever waits for the last writes may be the one to ask for more: none are held back
        self._state.reshape(channels, -1)[:, dram_layout.ALONE] = 1
        self._fields = address_fields(dram)
        self._m: Ints = np.zeros(at.HEAD + channels * (1 + pseudo * at.BUS_WIDTH), dtype=np.int64)
        away = distances(dram)
        for field, value in (
                (at.NUMERATOR, ratio.numerator), (at.DENOMINATOR, ratio.denominator),
                (at.BURST_CYCLES, dram.timing.BL), (at.RANKS, dram.counts["rank"]), (at.PSEUDO_CHANNELS, pseudo),
                (at.BANKS_PER_UNIT, dram.counts["bank_group"] * dram.counts["bank"]),
                (at.LATENCY_CYCLES, int(dram.timing.CL * ratio)),
                (at.LATENCY_CYCLES + 1, int(away[dram_layout.WRITE_LATENCY] * ratio))):
            self._m[field] = value
        self._m[[at.FIRST, at.FIRST_WRITE, at.LAST, at.LAST_WRITE]] = at.NEVER
        every = int(self._state[dram_layout.NEXT_REF]) or dram_layout.FAR
        self._m[at.HEAD:at.HEAD + channels] = every
        buses = self._m[at.HEAD + channels:].reshape(-1, at.BUS_WIDTH)
        buses[:, at.B_UNIT] = buses[:, at.B_LABEL] = at.NEVER
        self._jobs: Ints = np.zeros((0, at.JOB_WIDTH), dtype=np.int64)
        self._answers: Ints = np.zeros(0, dtype=np.int64)
        self._owners: list[Owner | None] = []
        self._free: list[int] = []
        self._runs: Ints = np.zeros((1024, at.RUN_WIDTH), dtype=np.int64)
        self._used = 0
        self._request: Ints = np.zeros(dram_layout.PLACE_WIDTH, dtype=np.int64)
        self._outcomes: Ints = np.zeros((OUTCOMES + at.MOST_AT_ONCE * channels, at.OUTCOME_WIDTH), dtype=np.int64)
        self._rows: Ints = np.zeros((ROWS + 2 * channels * pseudo, at.ROW_WIDTH), dtype=np.int64)

    @property
    def busy(self) -> bool:
        """Whether something is under way."""
        return bool(self._m[at.UNFINISHED])

    @property
    def next_look(self) -> Fraction:
        """When it looks at something next, in cycles of the chip."""
        return int(self._m[at.HEAD:at.HEAD + self._channels].min()) * self._ratio

    def ask(self, cycle: int, owner: Owner, label: int, *, write: bool, tells: bool, starts: Ints, lengths: Ints) -> None:
        """Ask for bytes in a cycle of the chip, in whole bursts.

        ``starts``, ``lengths``: ascending byte runs, int64[n]. ``tells``: whether it comes out when all bursts are queued.
        """
        own = self._own_cycle(cycle)
        if not self.busy:
            # its refreshes went on meanwhile; one that is busy has come to this cycle
            self._go(own, idle=True)
        firsts = starts // self._dram.burst_bytes
        ends = -(-(starts + lengths) // self._dram.burst_bytes)
        firsts[1:] = np.maximum(firsts[1:], ends[:-1])
        some = ends > firsts
        firsts, counts = firsts[some], (ends - firsts)[some]
        job = self._new_job(owner)
        run = self._put_runs(firsts, counts)
        record = self._jobs[job]
        record[:] = 0
        record[at.J_WRITE], record[at.J_LABEL], record[at.J_TELLS] = write, label, tells
        record[at.J_RUN], record[at.J_RUN_END], record[at.J_LEFT] = run, run + len(firsts), counts.sum()
        record[at.J_FIRST] = record[at.J_NEXT] = at.NEVER
        memory_loop.begin(self._m, self._jobs, job, own)

    def rests(self, cycle: int) -> bool:
        """Whether it has nothing left to look at up to a cycle of the chip."""
        return int(self._m[at.HEAD:at.HEAD + self._channels].min()) > self._own_cycle(cycle)

    def until(self, cycle: int | None, other: Fraction | None = None) -> list[Outcome[Owner]]:
        """Go on to a cycle of the chip (None: until something comes out), and no further than when another memory looks at
        something; what came out, in the order in which it did.
        """
        own = dram_layout.FAR if cycle is None else self._own_cycle(cycle)
        return self._go(own if other is None else min(own, int(other / self._ratio)), idle=False)

    def finish(self) -> Counts:
        """Hand over the last rows; what it did in all."""
        self._take_rows(memory_loop.end_rows(self._m, self._rows))
        heads = self._state.reshape(self._channels, -1)
        total = {field: int(heads[:, field].sum()) for field in (
            dram_layout.N_ACT, dram_layout.N_PRE, dram_layout.N_REF, dram_layout.N_RD, dram_layout.N_WR)}
        bursts, opened = total[dram_layout.N_RD] + total[dram_layout.N_WR], total[dram_layout.N_ACT]
        conflicts = total[dram_layout.N_PRE]
        return Counts(bursts, bursts * self._dram.burst_bytes, bursts - opened, opened - conflicts, conflicts,
                      total[dram_layout.N_REF], int(self._m[at.TURNS]))

    # -- inside -------------------------------------------------------------------------------------------------

    def _own_cycle(self, cycle: int) -> int:
        """The first of the memory's cycles that begins no earlier than one of the chip's."""
        return -(-cycle * self._ratio.denominator // self._ratio.numerator)

    def _go(self, until: int, *, idle: bool) -> list[Outcome[Owner]]:
        found: list[Outcome[Owner]] = []
        while True:
            ended = memory_loop.advance(self._state, self._m, self._jobs, self._runs[:max(1, self._used)], self._fields, until,
                                        int(idle), self._answers, self._request, self._outcomes, self._rows)
            for cycle, kind, job in self._outcomes[:int(self._m[at.OUTCOMES])].tolist():
                found.append(self._outcome(cycle, Come(kind), job))
                # it may go on as far as the network's cycle in which this is known
                until = min(until, self._own_cycle(cycle))
            self._m[at.OUTCOMES] = 0
            if ended == memory_loop.REACHED:
                return found
            self._take_rows(int(self._m[at.ROWS]))

    def _outcome(self, cycle: int, come: Come, job: int) -> Outcome[Owner]:
        owner = self._owners[job]
        assert owner is not None, "it is let go of at its end"
        record = self._jobs[job].tolist()
        mixes = Mix(*record[at.J_BEFORE:at.J_BEFORE + at.MIX]), Mix(*record[at.J_AFTER:at.J_AFTER + at.MIX])
        if come is Come.ENDS:
            self._owners[job] = None
            self._free.append(job)
        return Outcome(cycle, come, owner, mixes)

    def _new_job(self, owner: Owner) -> int:
        if not self._free:
            have = len(self._jobs)
            more = max(16, have)
            self._jobs = np.concatenate([self._jobs, np.zeros((more, at.JOB_WIDTH), dtype=np.int64)])
            self._answers = np.zeros((have + more) * dram_layout.ANSWER_WIDTH, dtype=np.int64)
            self._owners += [None] * more
            self._free += range(have + more - 1, have - 1, -1)
        job = self._free.pop()
        self._owners[job] = owner
        return job

    def _put_runs(self, firsts: Ints, counts: Ints) -> int:
        """Put runs behind those that are still needed; where they begin."""
        if self._used + len(firsts) > len(self._runs):
            needed = [job for job, owner in enumerate(self._owners) if owner is not None
                      and self._jobs[job, at.J_RUN] < self._jobs[job, at.J_RUN_END]]
            gone = min((int(self._jobs[job, at.J_RUN]) for job in needed), default=self._used)
            left = self._runs[gone:self._used].copy()
            self._jobs[:, at.J_RUN] -= gone
            self._jobs[:, at.J_RUN_END] -= gone
            self._used = len(left)
            room = len(self._runs)
            while room < 2 * (len(left) + len(firsts)):
                room *= 2
            self._runs = np.zeros((room, at.RUN_WIDTH), dtype=np.int64)
            self._runs[:len(left)] = left
        begin = self._used
        self._used += len(firsts)
        self._runs[begin:self._used, at.RUN_FIRST], self._runs[begin:self._used, at.RUN_COUNT] = firsts, counts
        return begin

    def _take_rows(self, count: int) -> None:
        if count:
            self._keep(self._rows[:count].copy())
        self._m[at.ROWS] = 0


def earliest(memories: Sequence[MemoryState[Owner]], cycle: int | None) -> list[Outcome[Owner]]:
    """Let memories go on to a cycle (None: there is none), or to the first in which something that came out is known.

    Of several the one that is furthest behind goes on, no further than to the next one's turn: what comes of one may ask
    another.
    """
    found: list[Outcome[Owner]] = []
    while busy := [memory for memory in memories if memory.busy]:
        if len(busy) == 1:
            return found + busy[0].until(cycle)
        if cycle is not None and all(memory.rests(cycle) for memory in busy):
            break
        first, second, *_ = sorted(busy, key=lambda memory: memory.next_look)
        new = first.until(cycle, second.next_look)
        found += new
        cycle = min([one.cycle for one in new] + ([] if cycle is None else [cycle]), default=None)
    return found
