"""The record of a run: rows added up lane by lane and state by state, in all and bin by bin."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.jit import INT, READ_2, WRITE_2, WRITE_3, kernel

Ints = NDArray[np.int64]


@kernel(INT(READ_2, WRITE_2, WRITE_3, INT))
def record(rows: Ints, totals: Ints, bins: Ints, width: int) -> int:
    """Add rows to the totals and the profile; returns the width of a bin in ticks, doubled as often as the rows need.

    ``rows``: int64[n, 5]: lane, first tick, end tick (behind the first), state, label. ``totals``: int64[lanes, states]
    ticks. ``bins``: int64[lanes, states, bins] ticks, an even number of bins.
    """
    count = bins.shape[2]
    for i in range(rows.shape[0]):
        lane, start, end, state = rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3]
        totals[lane, state] += end - start
        while end > count * width:
            for a in range(bins.shape[0]):
                for b in range(bins.shape[1]):
                    for k in range(count // 2):
                        bins[a, b, k] = bins[a, b, 2 * k] + bins[a, b, 2 * k + 1]
                    for k in range(count // 2, count):
                        bins[a, b, k] = 0
            width *= 2
        k = start // width
        while start < end:
            border = min(end, (k + 1) * width)
            bins[lane, state, k] += border - start
            start = border
            k += 1
    return width
