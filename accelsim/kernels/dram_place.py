"""Where an address lies in a memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.dram_layout import F_BITS, F_PART, F_WEIGHT, PLACE_WIDTH, Q_CHANNEL
from accelsim.kernels.jit import part

Ints = NDArray[np.int64]


@part
def locate(fields: Ints, burst: int, q: Ints) -> int:
    """Write the place of a burst; returns its channel.

    ``fields``: int64[f, F_WIDTH], from the lowest bits of a burst's number up. ``q``: int64[PLACE_WIDTH].
    """
    for i in range(PLACE_WIDTH):
        q[i] = 0
    for f in range(fields.shape[0]):
        bits = fields[f, F_BITS]
        q[fields[f, F_PART]] += (burst & ((1 << bits) - 1)) * fields[f, F_WEIGHT]
        burst >>= bits
    return int(q[Q_CHANNEL])
