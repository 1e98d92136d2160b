"""What happened again and again: rows of a record, and stretches of it that were repeated, without writing them out.

A stretch is a tree: rows, and repeats of shorter stretches in between. How much of it lies before a tick is found by going
down only where copies straddle that tick, so that the profile of a repeat is exact and costs no more than a few copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

BLOCK_ROWS = 1 << 18


@dataclass(frozen=True)
class Repeat:
    """Copies of a stretch, ``times`` of them, each ``shift`` ticks after the one before, the first so much after the stretch."""

    stretch: Stretch
    shift: int
    times: int

    @cached_property
    def totals(self) -> Ints:
        """Ticks per lane and state."""
        return self.stretch.totals * self.times

    @property
    def rows(self) -> int:
        """Rows of all copies."""
        return self.stretch.rows * self.times

    @property
    def low(self) -> int:
        """First tick."""
        return self.stretch.low + self.shift

    @property
    def high(self) -> int:
        """Last tick."""
        return self.stretch.high + self.shift * self.times


class Stretch:
    """Rows and repeats in order. ``totals``: int64[lanes, states] ticks; ``low``, ``high``: where its first row begins, its last
    ends.
    """

    def __init__(self, items: Sequence[Ints | Repeat], shape: tuple[int, int]) -> None:
        self.items = _joined(items)
        self.rows = sum(item.rows if isinstance(item, Repeat) else len(item) for item in self.items)
        self.low = min((item.low if isinstance(item, Repeat) else int(item[:, 1].min()) for item in self.items), default=0)
        self.high = max((item.high if isinstance(item, Repeat) else int(item[:, 2].max()) for item in self.items), default=0)
        self.totals: Ints = np.zeros(shape, dtype=np.int64)
        for item in self.items:
            if isinstance(item, Repeat):
                self.totals += item.totals
            else:
                np.add.at(self.totals, (item[:, 0], item[:, 3]), item[:, 2] - item[:, 1])


def _joined(items: Sequence[Ints | Repeat]) -> tuple[Ints | Repeat, ...]:
    """Items with rows that follow rows put together."""
    made: list[Ints | Repeat] = []
    loose: list[Ints] = []
    for item in items:
        if not isinstance(item, Repeat):
            loose.append(item)
            continue
        if loose:
            made.append(np.concatenate(loose))
            loose = []
        made.append(item)
    return (*made, np.concatenate(loose)) if loose else tuple(made)


def before(repeat: Repeat, ticks: Ints) -> Ints:
    """How much of a repeat lies before each of these ticks (ascending): int64[ticks, lanes, states]."""
    sums: Ints = np.zeros((len(ticks), *repeat.stretch.totals.shape), dtype=np.int64)
    _add_before(repeat, ticks, np.arange(len(ticks), dtype=np.int64), sums)
    return sums


def _add_before(repeat: Repeat, ticks: Ints, places: Ints, sums: Ints) -> None:
    from accelsim.kernels.record import add_before  # brings the compiler along, which readers of records do without

    stretch, shift, times = repeat.stretch, repeat.shift, repeat.times
    # copy c lies wholly before a tick where high + c * shift <= tick, and has begun where low + c * shift < tick
    whole = np.clip((ticks - stretch.high) // shift, 0, times)
    begun = np.clip(-((stretch.low - ticks) // shift) - 1, 0, times)
    counts: Ints = np.zeros(len(sums), dtype=np.int64)
    np.add.at(counts, places, whole)
    some = np.flatnonzero(counts)
    sums[some] += counts[some, None, None] * stretch.totals
    open_copies = np.maximum(begun - whole, 0)
    if not open_copies.any():
        return
    which = np.repeat(np.arange(len(ticks)), open_copies)
    copy = np.arange(len(which)) - np.repeat(np.cumsum(open_copies) - open_copies, open_copies) + whole[which] + 1
    own = ticks[which] - copy * shift
    order = np.argsort(own, kind="stable")
    own, own_places = own[order], places[which][order]
    for item in stretch.items:
        if isinstance(item, Repeat):
            _add_before(item, own, own_places, sums)
        else:
            add_before(item, np.argsort(item[:, 2]), own, own_places, np.zeros(sums.shape[1:], dtype=np.int64), sums)


@dataclass(frozen=True)
class FirstRows:
    """The first rows of a repeat, ``count`` of those it has; written out where they are asked for, which takes longer than to
    run what is repeated.
    """

    repeat: Repeat
    count: int

    def __len__(self) -> int:
        return self.count

    def written_out(self) -> Ints:
        """int64[count, 5]."""
        return written_out(self.repeat, self.count)


def written_out(repeat: Repeat, most: int) -> Ints:
    """The rows of a repeat in order, at most so many: int64[n, 5]."""
    one = _rows(repeat.stretch, most)
    copies = min(repeat.times, -(-most // max(1, len(one))))
    made: Ints = np.empty((copies, *one.shape), dtype=np.int64)
    made[:] = one
    made[:, :, 1:3] += np.arange(1, copies + 1, dtype=np.int64)[:, None, None] * repeat.shift
    return made.reshape(-1, one.shape[1])[:most]


def _rows(stretch: Stretch, most: int) -> Ints:
    """The rows of a stretch in order, at most so many."""
    found: list[Ints] = [np.zeros((0, 5), dtype=np.int64)]
    for item in stretch.items:
        found.append(written_out(item, most) if isinstance(item, Repeat) else item[:most])
        most -= len(found[-1])
    return np.concatenate(found)


def begin_behind(repeat: Repeat, rows: int) -> int:
    """The first tick of what is left of a repeat without its first so many rows, of which it has more."""
    copy, rows = divmod(rows, repeat.stretch.rows)
    begins = [repeat.low + (copy + 1) * repeat.shift] if copy + 1 < repeat.times else []
    for item in repeat.stretch.items:
        own = item.rows if isinstance(item, Repeat) else len(item)
        if rows < own:
            begin = begin_behind(item, rows) if isinstance(item, Repeat) else int(item[rows:, 1].min())
            begins.append(begin + (copy + 1) * repeat.shift)
        rows = max(0, rows - own)
    return min(begins)


class Copies:
    """Copies of rows, one behind the other in large blocks: memory that comes in small pieces is dear, page by page."""

    def __init__(self) -> None:
        self._left: Ints = np.zeros((0, 5), dtype=np.int64)

    def of(self, rows: Ints) -> Ints:
        """A copy, int64[n, 5]."""
        if len(rows) > len(self._left):
            self._left = np.empty((max(len(rows), BLOCK_ROWS), 5), dtype=np.int64)
        made, self._left = self._left[:len(rows)], self._left[len(rows):]
        made[:] = rows
        return made


class RowLog:
    """What was recorded since the oldest place that may still be wanted. Places count from the start of the run."""

    def __init__(self, most_rows: int) -> None:
        self._most = most_rows
        self._items: list[Ints | Repeat] = []
        self._gone = 0
        self._rows = 0

    @property
    def place(self) -> int:
        """Where what is added next will be."""
        return self._gone + len(self._items)

    @property
    def first(self) -> int:
        """The first place that is still there: what is too long ago is not kept."""
        return self._gone

    def add(self, item: Ints | Repeat) -> None:
        """Add rows or a repeat."""
        self._items.append(item)
        self._rows += 1 if isinstance(item, Repeat) else len(item)
        while self._rows > self._most:
            self.forget(self._gone + 1)

    def since(self, place: int) -> list[Ints | Repeat]:
        """Everything from a place on."""
        return self._items[place - self._gone:]

    def forget(self, place: int) -> None:
        """Nothing before a place will be wanted; what was before it may be gone already."""
        gone = self._items[:max(0, place - self._gone)]
        self._rows -= sum(1 if isinstance(item, Repeat) else len(item) for item in gone)
        del self._items[:len(gone)]
        self._gone += len(gone)
