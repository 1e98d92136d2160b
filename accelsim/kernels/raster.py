"""Intervals to columns: how long each lane was in each state between the borders of equally wide columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.jit import INT, INTS, NEW_INTS_3, kernel

Ints = NDArray[np.int64]


@kernel(NEW_INTS_3(INTS, INTS, INTS, INTS, INT, INT, INT, INT, INT), allocates=True)
def raster(lane: Ints, start: Ints, end: Ints, state: Ints, first_tick: int, last_tick: int, lanes: int, states: int,
           columns: int) -> Ints:
    """Ticks of every lane, column and state, ``int64[lanes, columns, states]``; exact: nothing is rounded or lost.

    ``lane``, ``start`` [ticks], ``end`` [ticks], ``state``: int64[n], one interval ``start <= t < end`` each, in any
    order. ``first_tick <= t < last_tick`` is the window; what lies outside is left out, and so are lanes outside
    ``0 .. lanes - 1``. Column c begins at tick ``first_tick + c * span // columns``, where ``span`` is the window's
    length, so columns differ by at most one tick (and are empty where there are more columns than ticks);
    ``span * columns`` must stay below 2**63. Raises ValueError for a window without ticks, for no columns, and for a
    state outside ``0 .. states - 1``.
    """
    span = last_tick - first_tick
    if span <= 0 or columns <= 0:
        raise ValueError("the window has no ticks or no columns")
    ticks = np.zeros((lanes, columns, states), dtype=np.int64)
    for row in range(len(lane)):
        where, what = lane[row], state[row]
        if where < 0 or where >= lanes:
            continue
        if what < 0 or what >= states:
            raise ValueError("a state outside the given number of states")
        begin, stop = max(start[row], first_tick) - first_tick, min(end[row], last_tick) - first_tick
        if begin >= stop:
            continue
        column = ((begin + 1) * columns - 1) // span
        while begin < stop:
            border = min(stop, (column + 1) * span // columns)
            ticks[where, column, what] += border - begin
            begin = border
            column += 1
    return ticks
