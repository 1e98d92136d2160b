"""Where a burst lies in a memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.dram_layout import F_BITS, F_PART, F_WEIGHT, F_WIDTH, PLACE_WIDTH, Q_CHANNEL
from accelsim.kernels.jit import small_part

Ints = NDArray[np.int64]


@small_part
def locate(fields: Ints, count: int, burst: int, q: Ints) -> int:
    """Write the place of a burst; returns its channel.

    ``fields``: int64[count x F_WIDTH], from the lowest bits of a burst's number up. ``q``: int64[PLACE_WIDTH].
    """
    for i in range(PLACE_WIDTH):
        q[i] = 0
    for f in range(0, count * F_WIDTH, F_WIDTH):
        bits = fields[f + F_BITS]
        q[fields[f + F_PART]] += (burst & (1 << bits) - 1) * fields[f + F_WEIGHT]
        burst >>= bits
    return int(q[Q_CHANNEL])
