"""Fast-forward: where the state of a run equals that of an iteration before, whole periods are added, not simulated.

Now and then the run comes back between two cycles, where an iteration of a loop has begun. Its state is told (see
``kernels.event_snapshot``) and compared with a state kept from an earlier iteration of the same loop. Equal but for what
moves along, and with alike iterations ahead (see ``plan.recurrence``), the run would do the same again and again: so what
it did in between is added as often as that holds, and everything is moved to where it would be then. Nothing is approximate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels import event_layout as at
from accelsim.kernels.columns import STAY_FIRST, STAY_WIDTH
from accelsim.kernels.event_snapshot import snapshot
from accelsim.kernels.event_told import (
    EXACT,
    IN_BLOCKS,
    IN_CYCLES,
    IN_RESIDENCIES,
    IN_STEPS,
    IN_TICKS,
    KINDS,
    LEG_ROOM,
    NAMES_HEAD,
    OUT_HEAD,
    ROOM,
)
from accelsim.machine.network import Network
from accelsim.machine.sections import Sections
from accelsim.plan.recurrence import Recurrence
from accelsim.timeline import TICKS, Period, Skipped

Ints = NDArray[np.int64]

APART = 64
"""Array steps between two looks at a loop, at least."""
WORTH = 1000
"""Array steps that are worth a jump: so many are simulated in the time of one."""
LOOK = 100
"""Array steps that could be simulated instead of a look."""
ALLOWED = 32 * LOOK
"""What a loop may spend on looks, in array steps, before it has shown anything."""
SHARE = 16
"""A loop may spend one in so many array steps on looks, as long as they show nothing."""


class Uses(NamedTuple):
    """Counts of all owners, and where each owner's are: first and how many."""

    counts: Ints
    places: Mapping[tuple[str, int], tuple[int, int]]


@dataclass(frozen=True)
class Counted:
    """What a run has counted so far. ``uses``: of loads and kinds of work; ``culprits``: int64[n, CULPRIT_WIDTH]."""

    uses: Uses
    culprits: Ints
    head: Ints
    held: Ints


class Told(NamedTuple):
    """The state of a run at a cycle, as told; how many residencies each station has claimed, and where its next stay begins."""

    cycle: int
    claims: Ints
    following: Ints
    values: Ints
    kinds: Ints


@dataclass(frozen=True, eq=False)
class State:
    """The state of a run where an iteration of a loop begins, what had been counted then, and where that is in the record."""

    iteration: int
    told: Told
    counted: Counted
    log: int


@dataclass(frozen=True)
class Jump:
    """Whole periods of a loop that are alike: from one state to another, so many times."""

    depth: int
    before: State
    now: Told
    cycles: int
    iterations: int
    claims: Ints
    steps: Ints
    times: int
    steps_added: int
    """Array steps in all."""

    @property
    def worthwhile(self) -> bool:
        """Whether simulating would take longer."""
        return self.steps_added >= WORTH

    def of(self, times: int) -> Jump:
        """The same jump over fewer periods."""
        return replace(self, times=times, steps_added=self.steps_added // self.times * times)


class Watch:
    """One loop as it runs, looked at every so many iterations: two of its states, and what looking has cost and brought.

    The states are the one looked at last, since most periods are short, and the first, second, fourth, eighth and so on, so that
    a period of any length is found.
    """

    def __init__(self, every: int) -> None:
        self.every = every
        self.run = -1
        self.place = 0
        self.brought = ALLOWED
        self._latest: State | None = None
        self._anchor: State | None = None
        self._looks = 0
        self._next = 1

    @property
    def states(self) -> list[State]:
        """The states kept, the latest first."""
        return [state for state in dict.fromkeys((self._latest, self._anchor)) if state is not None]

    def begin(self, run: int) -> None:
        """The loop begins anew."""
        self.run, self.place = run, 0
        self._latest = self._anchor = None
        self._looks, self._next = 0, 1

    def keep(self, state: State) -> None:
        """Keep a state."""
        self.brought -= LOOK
        self._looks += 1
        self._latest = state
        if self._looks >= self._next:
            self._anchor = state
            self._next *= 2

    def forget(self, before: int) -> None:
        """Drop states that want of the record what is no longer there."""
        if self._latest is not None and self._latest.log < before:
            self._latest = None
        if self._anchor is not None and self._anchor.log < before:
            self._anchor = None

    def wait(self, simulated: int) -> int:
        """How many more steps to simulate before looking is worth its time, after so many."""
        return max(0, 1 - self.brought - simulated // SHARE) * SHARE


class FastForward:
    """Looks for recurrences of one run."""

    def __init__(self, recurrence: Recurrence, network: Network) -> None:
        self.recurrence = recurrence
        self._network = network
        self._told: Ints = np.zeros(0, dtype=np.int64)
        self._met: Ints = np.zeros(0, dtype=np.int64)
        self._periods: dict[tuple[str, int, int], int] = {}
        self.added = 0
        loops = recurrence.loops
        self._watches = {depth: Watch(-(-APART // weight)) for depth, (loop, weight) in enumerate(
            zip(loops, recurrence.weights, strict=True)) if loop.bound >= 5 * -(-APART // weight) and loop.bound * weight > WORTH}

    @property
    def skipped(self) -> Skipped:
        """What was added, for the record."""
        return Skipped(self.added, tuple(Period(*name, times) for name, times in self._periods.items()))

    @property
    def oldest_log(self) -> int | None:
        """The first place of the record that a kept state may want; None: none does."""
        return min((state.log for watch in self._watches.values() for state in watch.states), default=None)

    def next_mark(self, step: int) -> int:
        """The step at which to look again, after one."""
        recurrence = self.recurrence
        found = at.NO_MARK
        for depth, watch in self._watches.items():
            least = step + watch.wait(step - self.added)
            begin, every = recurrence.outer(depth, least), watch.every * recurrence.weights[depth]
            end = begin + recurrence.weights[depth] * recurrence.loops[depth].bound
            found = min(found, end, begin + ((least - begin) // every + 1) * every)
        return found

    def due(self, step: int) -> list[int]:
        """The loops, outermost first, of which an iteration to look at has begun by this step."""
        found = []
        for depth, watch in self._watches.items():
            run = self.recurrence.outer(depth, step)
            place = self.recurrence.iteration(depth, step) // watch.every
            if run != watch.run:
                watch.begin(run)
            elif place > watch.place and not watch.wait(step - self.added):
                found.append(depth)
            watch.place = place
        return found

    def look(self, s: Sections, told: Told, depths: list[int], step: int) -> Jump | None:
        """The jump that can be made from the present state, of the outermost loop that can."""
        for depth in depths:
            for kept in self._watches[depth].states:
                if np.array_equal(kept.told.kinds, told.kinds):
                    jump = self._jump(s, told, depth, step, kept)
                    if jump is not None:
                        return jump
        return None

    def keep(self, told: Told, depths: list[int], step: int, counted: Counted, log: int) -> None:
        """Keep the present state."""
        for depth in depths:
            self._watches[depth].keep(State(self.recurrence.iteration(depth, step), told, counted, log))

    def jumped(self, jump: Jump, step: int) -> None:
        """The run has been moved on to this step: the loop and those inside it begin anew."""
        self.added += jump.steps_added
        self._watches[jump.depth].brought += jump.steps_added
        name = self.recurrence.name(jump.depth), jump.iterations, jump.cycles
        self._periods[name] = self._periods.get(name, 0) + jump.times
        for own, watch in self._watches.items():
            if own >= jump.depth:
                watch.begin(self.recurrence.outer(own, step))
                watch.place = self.recurrence.iteration(own, step) // watch.every

    def forget(self, before: int) -> None:
        """Drop states that want of the record what is no longer there."""
        for watch in self._watches.values():
            watch.forget(before)

    def tell(self, s: Sections) -> Told:
        """The present state."""
        width = int(s.data[at.LEG_WIDTH])
        legs = s.lengths[at.B_LEG] // width
        names = NAMES_HEAD + 2 * int(s.data[at.RESIDENCIES]) + 2 * legs
        if len(self._met) < names:
            self._met = np.full(names, at.NEVER, dtype=np.int64)
        self._met[LEG_ROOM] = legs
        while True:
            count = snapshot(s.data, self._told, self._met, len(self._network.resources)) if len(self._told) else 1024
            if OUT_HEAD + 2 * count <= len(self._told):
                break
            self._told = np.zeros(OUT_HEAD + 4 * count, dtype=np.int64)
            self._told[ROOM] = 2 * count
        pairs = self._told[OUT_HEAD:OUT_HEAD + 2 * count].reshape(-1, 2)
        claims = s.table(at.B_STATION, at.STATION_WIDTH)[:, at.S_CLAIMS].copy()
        return Told(int(s.data[at.NOW]), claims, self._following(s), pairs[:, 0].copy(), pairs[:, 1].copy())

    def _following(self, s: Sections) -> Ints:
        """The step at which the next stay of each station begins; NEVER where it has none."""
        rows = s.table(at.B_STATION, at.STATION_WIDTH)[:len(self._network.stations)]
        firsts = s.table(at.B_STAY, STAY_WIDTH)[:, STAY_FIRST]
        found: Ints = np.full(len(rows), at.NEVER, dtype=np.int64)
        some = rows[:, at.S_STAY] < rows[:, at.S_STAY_COUNT]
        found[some] = firsts[rows[some, at.S_STAYS] + rows[some, at.S_STAY]]
        return found

    def _jump(self, s: Sections, told: Told, depth: int, step: int, kept: State) -> Jump | None:
        """The jump from a state that equals one kept; None where it does not, or nothing alike is ahead."""
        recurrence, stations = self.recurrence, self._network.stations
        cycles = told.cycle - kept.told.cycle
        iterations = recurrence.iteration(depth, step) - kept.iteration
        more = told.claims - kept.told.claims
        width = np.array([recurrence.weight(depth, spec.entry) * iterations for spec in stations], dtype=np.int64)
        if (more[width == 0] > 0).any():
            return None
        steps = np.where(more > 0, width, 0)
        moved: Ints = np.zeros(KINDS * max(len(stations), len(self._network.arrays)), dtype=np.int64)
        moved[EXACT], moved[IN_CYCLES], moved[IN_TICKS] = 0, cycles, cycles * TICKS
        moved[IN_RESIDENCIES:IN_RESIDENCIES + KINDS * len(stations):KINDS] = more
        moved[IN_STEPS:IN_STEPS + KINDS * len(stations):KINDS] = steps
        moved[IN_BLOCKS::KINDS] = iterations * recurrence.weights[depth]
        if not np.array_equal(told.values - kept.told.values, moved[told.kinds]):
            return None
        times = self._times(s, told, depth, step, kept, more, iterations)
        jump = Jump(depth, kept, told, cycles, iterations, more, steps, times, times * iterations * recurrence.weights[depth])
        return jump if jump.worthwhile else None

    def _times(self, s: Sections, told: Told, depth: int, step: int, kept: State, more: Ints, iterations: int) -> int:
        """How many whole periods are alike ahead of everything that reads the plan."""
        recurrence = self.recurrence
        alike = recurrence.alike(depth, step)
        last = at.NO_MARK
        for number in np.flatnonzero(more > 0).tolist():
            entry = self._network.stations[number].entry
            weight, begin = recurrence.weight(depth, entry), recurrence.outer(depth, step) // recurrence.steps_inside[entry]
            oldest = kept.told.values[kept.told.kinds == IN_STEPS + KINDS * number].min()
            if oldest < begin + alike.uncut * weight or kept.told.following[number] < begin + alike.first * weight:
                return 0
            last = min(last, alike.last - (int(told.following[number]) - begin) // weight)
        block_width = int(s.data[at.BLOCK_WIDTH])
        blocks, begin, weight = s.of(at.B_BLOCK), recurrence.outer(depth, step), recurrence.weights[depth]
        for number, row in enumerate(s.table(at.B_ARRAY, at.ARRAY_WIDTH).tolist()):
            # what an array did since then, it did in iterations that are not cut, and not the first; one at its end stays there
            (since,) = kept.told.values[kept.told.kinds == IN_BLOCKS + KINDS * number].tolist() or [at.NEVER]
            if since < begin + max(1, alike.uncut) * weight:
                return 0
            following = blocks[(row[at.A_BLOCKS] + row[at.A_BLOCK]) * block_width]
            last = min(last, alike.last - (int(following) - begin) // weight)
        return max(0, last // iterations)
