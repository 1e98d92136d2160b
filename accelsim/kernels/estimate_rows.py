"""The batch estimate of rows of bounds, each from its settings to its cycles in one pass."""

from __future__ import annotations

import numpy as np
from numba import types
from numpy.typing import NDArray

from accelsim.kernels.estimate_bounds import bounds_of, load_array, work_cycles
from accelsim.kernels.estimate_capacity import fits
from accelsim.kernels.estimate_holds import count_hold
from accelsim.kernels.estimate_layout import (
    B_HOLD,
    B_SPATIAL,
    ENTRIES,
    FIRST_LOAD,
    H_JOBS,
    HOLD_WIDTH,
    HOLDS,
    IMAGES,
    LINES,
    MEAN_LOAD,
    NO_ROOM,
    SETTING_WIDTH,
    SHARES,
    SPATIALS,
    STATIONS,
    TAKEN,
)
from accelsim.kernels.estimate_steps import EVEN, ROW, TABLE, Ints
from accelsim.kernels.jit import INT, flat, kernel, small_part

FLAGS = types.Array(types.boolean, 1, "C")


@small_part
def begin_row(m: Ints, s: Ints, setting: Ints, image: Ints, windows: int, bound: Ints) -> None:
    """Looks up the settings of a row, and sets its loads to 0.

    ``setting[line]``; ``image``: where the setting of each of so many ``windows`` begins; ``bound[column]``.
    """
    for line in range(m[LINES]):
        s[line] = setting[line] * m[SETTING_WIDTH]
    for window in range(windows):
        s[m[IMAGES] + window] = image[window]
    for entry in range(m[ENTRIES]):
        s[m[SHARES] + entry] = 1
    for i in range(m[SPATIALS]):  # of the array's instances, how many there are to one of an entry
        loop = m[B_SPATIAL] + 2 * i
        for entry in range(m[loop + 1] + 1):
            s[m[SHARES] + entry] *= bound[m[loop]]
    for station in range(m[STATIONS]):
        s[m[FIRST_LOAD] + station] = s[m[MEAN_LOAD] + station] = s[m[TAKEN] + station] = 0


@kernel(INT(ROW, TABLE, ROW, ROW, TABLE, ROW, TABLE, ROW, INT, ROW, ROW, ROW, ROW, ROW, INT, ROW, ROW, ROW, FLAGS))
def estimate_rows(model: Ints, bounds: Ints, order: Ints, states: Ints, setting: Ints, steps: Ints, image: Ints, images: Ints,
                  begin: int, scratch: Ints, tiles: Ints, slots: Ints, pairs: Ints, traffic: Ints, rows: int, place: Ints,
                  cycles: Ints, bound_by: Ints, fitting: NDArray[np.bool_]) -> int:
    """Estimates rows from ``begin`` on; returns the row where ``tiles`` have no room, or how many rows there are.

    ``model``, ``scratch``: as ``estimate_layout`` says. Per row ``bounds`` [row, column], ``order``, ``states`` (LEGAL or EVEN),
    ``setting`` [row, line] in ``steps`` (of ``estimate_steps.count_steps``), ``image`` [row, window] in ``images``.
    ``tiles``: room for half as many different ones as ``slots``, a power of two, or for all masks; ``pairs``: for the
    images of a step.

    ``place[row]``: where its ``cycles``, ``bound_by`` and ``fitting`` are written, and its ``traffic`` [entry, tensor, kind,
    place], which has ``rows`` places, 0 if it is not asked for.
    """
    m, s, t = flat(model), flat(scratch), flat(traffic)
    all_steps, all_images, found, table, joined = flat(steps), flat(images), flat(tiles), flat(slots), flat(pairs)
    for row in range(begin, bounds.shape[0]):
        bound, own = flat(bounds[row]), place[row]
        begin_row(m, s, flat(setting[row]), flat(image[row]), image.shape[1], bound)
        for i in range(m[HOLDS]):
            hold = m[B_HOLD] + i * HOLD_WIDTH
            if m[hold + H_JOBS] > 0 and count_hold(
                    m, s, all_steps, all_images, hold, bound, order[row], found, table, slots.shape[0], joined, t, own,
                    rows) == NO_ROOM:
                return row
        load_array(m, s, all_steps, all_images, bound, t, own, rows)
        work = work_cycles(m, s, all_steps)
        cycles[own], bound_by[own] = bounds_of(m, s, work, 1 if states[row] == EVEN else 0)
        fitting[own] = fits(m, s, all_images, bound)
    return int(bounds.shape[0])
