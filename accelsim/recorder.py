"""Collects the record of a run while the machine runs. It only watches: leaving it out changes no cycle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from accelsim.feeds import Feeds
from accelsim.repeats import Copies, FirstRows, Repeat, RowLog, Stretch, before, begin_behind
from accelsim.stalls import Phase, StallCause
from accelsim.timeline import NO_LABEL, STATES, TICKS, Lane, LaneKind, Profile, Skipped, Timeline, Traffic, stall_state

Ints = NDArray[np.int64]

PENDING_ROWS = 8192
"""Rows that are worked up at once."""
LOGGED_ROWS = 1 << 18
"""Most rows between two states of a run that are compared."""


@dataclass(frozen=True)
class RecordOptions:
    """What to keep: the window in cycles (None: all), at most so many rows in it, and the bins of the profile.

    ``lead_cycles``: what goes before the first event, in which array lanes wait for the operator to be launched. ``feeds``: also
    tell by which transfers came what steps use, for which no periods are added before the end of what is kept.
    """

    window: tuple[int, int] | None = None
    most_rows: int = 400_000
    bins: int = 256
    lead_cycles: int = 0
    feeds: bool = False


@dataclass
class Recorder:
    """Collects a timeline while the machine runs; rows are worked up in batches.

    ``pending``: rows not worked up yet: (lane, first tick, end tick, state, label), none of them empty.
    """

    lanes: Sequence[Lane]
    labels: Sequence[str]
    options: RecordOptions = field(default_factory=RecordOptions)

    def __post_init__(self) -> None:
        from accelsim.kernels.record import reach, record  # brings the compiler along, which readers of records do without
        self._record, self._reach = record, reach
        self.pending: list[tuple[int, int, int, int, int]] = []
        self._totals: Ints = np.zeros((len(self.lanes), STATES), dtype=np.int64)
        self._bins: Ints = np.zeros((len(self.lanes), STATES, self.options.bins), dtype=np.int64)
        self._width = TICKS
        self._kept: list[Ints | FirstRows] = []
        self._kept_rows = 0
        self._copies = Copies()
        self._dropped = 0
        self._dropped_from: int | None = None
        self.traffic: dict[tuple[str, str], Traffic] = {}
        self.link_bytes: dict[str, int] = {}
        self.port_bytes: dict[str, int] = {}
        self.culprits: dict[tuple[str, str, str, str], int] = {}
        self.counts: dict[str, int] = {}
        self.skipped = Skipped()
        self._log: RowLog | None = None
        first, last = self.options.window or (0, None)
        self._feeds = Feeds(first * TICKS, None if last is None else last * TICKS)
        launched = self.options.lead_cycles * TICKS
        waiting = stall_state(StallCause.ISSUE, Phase.START)
        self._book(np.array([(number, 0, launched, waiting, NO_LABEL) for number, lane in enumerate(self.lanes)
                             if lane.kind is LaneKind.ARRAY and launched], dtype=np.int64).reshape(-1, 5))

    def keep_log(self) -> RowLog:
        """From now on keep what may be repeated; returns it."""
        self._log = RowLog(LOGGED_ROWS)
        return self._log

    def row(self, lane: int, start: int, end: int, state: int, label: int) -> None:
        """A lane was in a state from one tick to another, for a tensor's sake (``label``)."""
        if end > start:
            self.pending.append((lane, start, end, state, label))
            if len(self.pending) >= PENDING_ROWS:
                self.work_up()

    def count(self, name: str, amount: int = 1) -> None:
        """Add to a counter of the run."""
        self.counts[name] = self.counts.get(name, 0) + amount

    def blame(self, cause: StallCause, where: str, whose: str, lane: str, cycles: int) -> None:
        """Keep whose transfer, at which port, a stall of a lane waited behind."""
        key = (cause.code, where, whose, lane)
        self.culprits[key] = self.culprits.get(key, 0) + cycles

    def work_up(self) -> None:
        """Add the pending rows."""
        rows: Ints = np.array(self.pending, dtype=np.int64).reshape(-1, 5)
        self.pending.clear()
        self.add(rows)

    def add(self, rows: Ints) -> None:
        """Add rows, int64[n, 5], to totals and profile, and keep those of the window while there is room."""
        if not len(rows):
            return
        rows = self._copies.of(rows)
        if self.options.lead_cycles:
            rows[:, 1:3] += self.options.lead_cycles * TICKS
        if self.options.feeds:
            rows = self._feeds.take(rows, self._dropped_from)
        self._book(rows)

    def _book(self, rows: Ints) -> None:
        self._width = self._record(rows, self._totals, self._bins, self._width)
        if self._log is not None:
            self._log.add(rows)
        self._keep(rows)

    def _keep(self, rows: Ints) -> None:
        if self.options.window is not None:
            first, last = self.options.window
            rows = rows[(rows[:, 2] > first * TICKS) & (rows[:, 1] < last * TICKS)]
        room = self.options.most_rows - self._kept_rows
        if len(rows) > room:
            self._drop(len(rows) - room, int(rows[room:, 1].min()))
            rows = rows[:room]
        if len(rows):
            self._kept.append(rows)
            self._kept_rows += len(rows)

    def times_outside_window(self, place: int, shift: int, times: int) -> int:
        """How often, at most ``times``, what is logged from a place on can be repeated: not where every row is wanted."""
        if self.options.window is None:
            return 0 if self.options.feeds and self._dropped_from is None else times
        first, last = self.options.window
        stretch = self._stretch(place)
        if stretch.low + shift >= last * TICKS:
            return times
        # what steps of the window use may have come long before it
        return 0 if self.options.feeds else max(0, min(times, (first * TICKS - stretch.high) // shift))

    def repeat(self, place: int, shift: int, times: int) -> None:
        """What is logged from a place on happened again, so many times, each time so many ticks later."""
        again = Repeat(self._stretch(place), shift, times)
        assert self._log is not None, "only what is logged can be repeated"
        self._log.add(again)
        if not again.rows:
            return
        self._totals += again.totals
        self._width = self._reach(self._bins, self._width, again.high)
        first, last = again.low // self._width, (again.high - 1) // self._width
        sums: Ints = np.zeros((last - first + 2, *self._totals.shape), dtype=np.int64)
        sums[1:-1] = before(again, np.arange(first + 1, last + 1, dtype=np.int64) * self._width)
        sums[-1] = again.totals
        self._bins[:, :, first:last + 1] += np.moveaxis(np.diff(sums, axis=0), 0, 2)
        if self.options.window is None:
            kept = FirstRows(again, min(again.rows, self.options.most_rows - self._kept_rows))
            self._kept.append(kept)
            self._kept_rows += len(kept)
            if len(kept) < again.rows:
                self._drop(again.rows - len(kept), begin_behind(again, len(kept)))

    def _drop(self, rows: int, begin: int) -> None:
        """So many rows are not kept; none of them begins before a tick."""
        self._dropped += rows
        self._dropped_from = begin if self._dropped_from is None else min(self._dropped_from, begin)

    def _stretch(self, place: int) -> Stretch:
        assert self._log is not None, "only what is logged can be repeated"
        return Stretch(self._log.since(place), (len(self.lanes), STATES))

    def finish(self, cycles: int, first_starts: Sequence[int]) -> Timeline:
        """The record of a run whose last event was at a cycle; ``first_starts``: when each array lane began its first step."""
        self.work_up()
        lead = self.options.lead_cycles
        cycles, first_starts = cycles + lead, [start if start < 0 else start + lead for start in first_starts]
        window = self.options.window or (0, cycles)
        whole_until = window[1] * TICKS if self._dropped_from is None else self._dropped_from
        return Timeline(cycles, tuple(self.lanes), self._totals, Profile(max(1, self._width // TICKS), self._bins),
                        tuple(self._kept), window, self._dropped, tuple(self.labels), self.traffic,
                        self.link_bytes, self.port_bytes, dict(sorted(self.culprits.items())), self.counts, tuple(first_starts),
                        self.skipped, whole_until, self._feeds.table(whole_until))
