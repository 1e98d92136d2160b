"""The timelines of a report page as numbers: intervals where all were kept, bins where not, both small enough to embed.

Of each timeline the distinct intervals (gap, length, state, label) are listed once and numbered, the most frequent first; a
row is the numbers of its intervals one after another. Runs repeat themselves, so that most intervals take a byte. All
numbers are written seven bits a byte, lowest first, the top bit set in all but the last byte of each (LEB128), in base64.
"""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.raster import raster
from accelsim.outputs.raster_lanes import Row, arrange_rows
from accelsim.timeline import NO_LABEL, STATES, TICKS, Timeline

Ints = NDArray[np.int64]
Json = dict[str, Any]
MOST_ROWS = 96
"""Lanes of one timeline that are shown one by one."""
MOST_INTERVAL_BYTES = 3_000_000
"""Of all intervals of a page together, as they are embedded."""
MOST_BIN_BYTES = 1_000_000
"""Of the bins of those timelines that are not embedded interval by interval."""
_FEWEST_BINS = 16


@dataclass(frozen=True)
class _Intervals:
    """Rows one after another, as numbers of words; ``first`` to ``last`` [cycles] is what they tell all of."""

    first: int
    last: int
    counts: tuple[int, ...]
    words: str
    codes: str

    @property
    def size(self) -> int:
        """Bytes in the page."""
        return len(self.words) + len(self.codes)


def tracks(timelines: Sequence[Timeline | None], weights: Sequence[int]) -> list[Json | None]:
    """What a page embeds of each timeline.

    Intervals go to the timelines of the largest weights first, as long as they fit into `MOST_INTERVAL_BYTES`; the others
    share `MOST_BIN_BYTES` for bins, which are joined until they fit.
    """
    order = sorted((i for i, one in enumerate(timelines) if one is not None), key=lambda i: (-weights[i], i))
    found: list[Json | None] = [None] * len(timelines)
    room, binned = MOST_INTERVAL_BYTES, []
    for i in order:
        timeline = timelines[i]
        assert timeline is not None, "the others are not in the order"
        rows, note = arrange_rows(timeline, MOST_ROWS)
        intervals = _intervals(timeline, rows)
        fits = intervals is not None and intervals.size <= room
        if intervals is not None and fits:
            room -= intervals.size
        found[i] = _track(timeline, rows, note, intervals if fits else None, kept=intervals is not None)
        whole = intervals is not None and fits and (intervals.first, intervals.last) == (0, timeline.cycles)
        if not whole or any(len(row.lanes) > 1 for row in rows):
            binned.append((i, timeline, rows))
    left = MOST_BIN_BYTES
    for number, (i, timeline, rows) in enumerate(binned):
        bins = _bins(timeline, rows, left // (len(binned) - number))
        left -= len(bins["words"]) + len(bins["codes"])
        one = found[i]
        assert one is not None, "it was just made"
        one["bins"] = bins
    return found


def varints(values: Ints) -> bytes:
    """Numbers from 0 on, seven bits a byte, lowest first."""
    sizes = np.ones(len(values), dtype=np.int64)
    rest = values >> 7
    while rest.any():
        sizes += rest > 0
        rest = rest >> 7
    starts = np.cumsum(sizes) - sizes
    out = np.zeros(int(sizes.sum()), dtype=np.uint8)
    for place in range(int(sizes.max(initial=0))):
        there = sizes > place
        more = np.where(sizes[there] > place + 1, 128, 0)
        out[starts[there] + place] = (values[there] >> (7 * place)) & 127 | more
    return out.tobytes()


def _text(values: Ints) -> str:
    return b64encode(varints(values)).decode("ascii")


def _track(timeline: Timeline, rows: Sequence[Row], note: str, intervals: _Intervals | None, *, kept: bool) -> Json:
    lanes = timeline.lanes
    told: Json = {
        "cycles": timeline.cycles, "labels": list(timeline.labels), "rows_dropped": timeline.rows_dropped, "note": note,
        "rows": [{"name": row.name, "kind": lanes[row.lanes[0]].kind.value, "lanes": len(row.lanes)} for row in rows],
        "left_out": kept and intervals is None, "intervals": None, "bins": None}
    if intervals is not None:
        told["intervals"] = {"first": intervals.first, "last": intervals.last, "counts": list(intervals.counts),
                             "words": intervals.words, "codes": intervals.codes}
    return told


def _intervals(timeline: Timeline, rows: Sequence[Row]) -> _Intervals | None:
    """The intervals of all rows that are one lane, where all of them were kept; None where that is nowhere."""
    first, last = _told(timeline)
    if first >= last:
        return None
    table = timeline.rows
    table = table[(table[:, 2] > first * TICKS) & (table[:, 1] < last * TICKS)]
    place = np.full(len(timeline.lanes), len(rows), dtype=np.int64)
    for number, row in enumerate(rows):
        if len(row.lanes) == 1:
            place[row.lanes[0]] = number
    where = place[table[:, 0]]
    order = np.argsort(where, kind="stable")
    order = order[:int((where < len(rows)).sum())]
    table, where = table[order], where[order]
    start, end = np.maximum(table[:, 1], first * TICKS), np.minimum(table[:, 2], last * TICKS)
    begins = np.ones(len(table), dtype=bool)
    begins[1:] = where[1:] != where[:-1]
    before = np.concatenate([[0], end[:-1]])
    before[begins] = first * TICKS
    words = np.stack([start - before, end - start, table[:, 3], table[:, 4] - NO_LABEL], axis=1)
    listed, codes = _numbered(words)
    counts = np.bincount(where, minlength=len(rows))
    return _Intervals(first, last, tuple(counts.tolist()), _text(listed.reshape(-1)), _text(codes))


def _numbered(words: Ints) -> tuple[Ints, Ints]:
    """The distinct words, the most frequent first, and for each word its number."""
    listed, codes, counts = np.unique(words, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    return listed[order], number[codes.reshape(-1)]


def _told(timeline: Timeline) -> tuple[int, int]:
    """The cycles of which every interval was kept: whole bins of the profile that the kept ones account for to the tick."""
    if not len(timeline.rows) and timeline.rows_dropped:
        return 0, 0
    width, bins = timeline.profile.bin_cycles, timeline.profile.ticks.shape[2]
    first, last = max(0, timeline.window[0]), min(timeline.cycles, timeline.window[1])
    if (first, last) == (0, timeline.cycles) and not timeline.rows_dropped:
        return first, last
    low, high = -(-first // width), bins if last == timeline.cycles else last // width
    if timeline.rows_dropped and low < high:
        table = timeline.rows
        kept = raster(table[:, 0], table[:, 1], table[:, 2], table[:, 3], 0, bins * width * TICKS, len(timeline.lanes), STATES,
                      bins)
        differ = (kept != timeline.profile.ticks.transpose(0, 2, 1)).any(axis=(0, 2))[low:high]
        high = low + int(np.argmax(differ)) if differ.any() else high
    return low * width, min(high * width, timeline.cycles)


def _bins(timeline: Timeline, rows: Sequence[Row], most: int) -> Json:
    """The profile, its bins joined in pairs until it takes at most so many bytes (or few bins are left)."""
    ticks = np.stack([timeline.profile.ticks[list(row.lanes)].sum(axis=0) for row in rows])
    width = timeline.profile.bin_cycles
    while True:
        used = -(-timeline.cycles // width)
        told = _binned(ticks[:, :, :used], width)
        if len(told["words"]) + len(told["codes"]) <= most or used <= _FEWEST_BINS:
            return told
        ticks = np.concatenate([ticks, np.zeros((*ticks.shape[:2], ticks.shape[2] % 2), dtype=np.int64)], axis=2)
        ticks, width = ticks.reshape(*ticks.shape[:2], -1, 2).sum(axis=3), 2 * width


def _binned(ticks: Ints, width: int) -> Json:
    """``ticks[row, state, bin]`` as words: how many states, then each and its ticks."""
    contents: list[tuple[int, ...]] = []
    for row in ticks:
        for column in row.T:
            states = np.flatnonzero(column)
            contents.append((len(states), *np.stack([states, column[states]], axis=1).reshape(-1).tolist()))
    numbers = {word: i for i, (word, _) in enumerate(sorted(Counter(contents).items(), key=lambda item: (-item[1], item[0])))}
    return {"cycles": width, "count": ticks.shape[2],
            "words": _text(np.array([value for word in numbers for value in word], dtype=np.int64)),
            "codes": _text(np.array([numbers[word] for word in contents], dtype=np.int64))}
