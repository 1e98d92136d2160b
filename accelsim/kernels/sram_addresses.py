"""Which element of a tensor each PE needs in each iteration: from positions along the nest's lines to places in a tile."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.jit import INT, READ_1, READ_2, WRITE_2, kernel

Ints = NDArray[np.int64]

D_PLAIN, D_FLAT, D_DIVISOR, D_COUNT, D_UNIT, D_EXTENT, DIM_WIDTH = range(7)
"""A dimension: its plain line; its flattened line (-1: none) with the members inside it, its own positions and its unit there;
its extent.
"""
X_FIRST, X_TERMS, X_OFFSET, X_EXTENT, X_RANKS, X_STRIDE, AXIS_WIDTH = range(7)
"""An axis of a tensor: its first term and how many, its offset and extent, where its ranks begin, and how far apart two indices
next to each other lie in the tile.
"""
T_DIM, T_COEFFICIENT, TERM_WIDTH = range(3)


@kernel(INT(READ_2, READ_2, READ_1, READ_2, READ_2, READ_2, READ_1, WRITE_2))
def touched(positions: Ints, lanes: Ints, extents: Ints, dims: Ints, axes: Ints, terms: Ints, ranks: Ints, places: Ints) -> int:
    """Write the place in the tile of the element that each lane needs in each iteration; returns how many need one.

    ``positions``: int64[n, lines] of the iterations. ``lanes``: int64[m, lines], added to them. ``extents``: int64[lines].
    ``dims``: int64[d, DIM_WIDTH]; ``axes``: int64[a, AXIS_WIDTH]; ``terms``: int64[t, TERM_WIDTH]; ``ranks``: for each axis and
    index within its extent the place in the tile along the axis, -1 where the tile has it not. ``places``: int64[n, m], -1 where
    a lane has nothing to do, or reads padding.
    """
    found = 0
    for n in range(positions.shape[0]):
        for m in range(lanes.shape[0]):
            places[n, m] = -1
            inside = True
            for line in range(extents.shape[0]):
                if positions[n, line] + lanes[m, line] >= extents[line]:
                    inside = False
            place = 0
            for x in range(axes.shape[0]):
                if not inside:
                    break
                index = axes[x, X_OFFSET]
                for t in range(axes[x, X_FIRST], axes[x, X_FIRST] + axes[x, X_TERMS]):
                    d = terms[t, T_DIM]
                    value = positions[n, dims[d, D_PLAIN]] + lanes[m, dims[d, D_PLAIN]]
                    flat = dims[d, D_FLAT]
                    if flat >= 0:
                        whole = positions[n, flat] + lanes[m, flat]
                        value += whole // dims[d, D_DIVISOR] % dims[d, D_COUNT] * dims[d, D_UNIT]
                    if value >= dims[d, D_EXTENT]:
                        inside = False
                    index += terms[t, T_COEFFICIENT] * value
                if not inside or index < 0 or index >= axes[x, X_EXTENT] or ranks[axes[x, X_RANKS] + index] < 0:
                    inside = False
                    break
                place += ranks[axes[x, X_RANKS] + index] * axes[x, X_STRIDE]
            if inside:
                places[n, m] = place
                found += 1
    return found
