"""The record of a run: rows added up lane by lane and state by state, in all and bin by bin."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.jit import INT, READ_1, READ_2, WRITE_2, WRITE_3, kernel, part

Ints = NDArray[np.int64]


@part
def fitted(bins: Ints, width: int, end: int) -> int:
    """Double the width of the bins until they reach a tick; returns it."""
    count = bins.shape[2]
    while end > count * width:
        for a in range(bins.shape[0]):
            for b in range(bins.shape[1]):
                for k in range(count // 2):
                    bins[a, b, k] = bins[a, b, 2 * k] + bins[a, b, 2 * k + 1]
                for k in range(count // 2, count):
                    bins[a, b, k] = 0
        width *= 2
    return width


@kernel(INT(READ_2, WRITE_2, WRITE_3, INT))
def record(rows: Ints, totals: Ints, bins: Ints, width: int) -> int:
    """Add rows to the totals and the profile; returns the width of a bin in ticks, doubled as often as the rows need.

    ``rows``: int64[n, 5]: lane, first tick, end tick (behind the first), state, label. ``totals``: int64[lanes, states]
    ticks. ``bins``: int64[lanes, states, bins] ticks, an even number of bins.
    """
    for i in range(rows.shape[0]):
        lane, start, end, state = rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3]
        totals[lane, state] += end - start
        width = fitted(bins, width, end)
        k = start // width
        while start < end:
            border = min(end, (k + 1) * width)
            bins[lane, state, k] += border - start
            start = border
            k += 1
    return width


@kernel(INT(WRITE_3, INT, INT))
def reach(bins: Ints, width: int, end: int) -> int:
    """Double the width of the bins of a profile until they reach a tick; returns it."""
    return int(fitted(bins, width, end))


@part
def first_behind(ticks: Ints, tick: int) -> int:
    """The place of the first of ascending ticks that is behind one."""
    first, last = 0, ticks.shape[0]
    while first < last:
        middle = (first + last) // 2
        if ticks[middle] > tick:
            last = middle
        else:
            first = middle + 1
    return int(first)


@kernel(INT(READ_2, READ_1, READ_1, READ_1, WRITE_2, WRITE_3))
def add_before(rows: Ints, order: Ints, ticks: Ints, places: Ints, over: Ints, sums: Ints) -> int:
    """Add to ``sums[place]`` what rows hold before a tick, for each tick (ascending) and its place.

    ``rows``: as for ``record``; ``order``: int64[rows], their places by when they end. ``ticks``, ``places``: int64[n]. ``over``:
    int64[lanes, states], zeros, to add up rows that have ended. ``sums``: int64[places, lanes, states] ticks.
    """
    ended = 0
    for k in range(ticks.shape[0]):
        while ended < rows.shape[0] and rows[order[ended], 2] <= ticks[k]:
            i = order[ended]
            over[rows[i, 0], rows[i, 3]] += rows[i, 2] - rows[i, 1]
            ended += 1
        for lane in range(over.shape[0]):
            for state in range(over.shape[1]):
                sums[places[k], lane, state] += over[lane, state]
    for i in range(rows.shape[0]):
        for k in range(first_behind(ticks, rows[i, 1]), first_behind(ticks, rows[i, 2] - 1)):
            sums[places[k], rows[i, 0], rows[i, 3]] += ticks[k] - rows[i, 1]
    return 0
