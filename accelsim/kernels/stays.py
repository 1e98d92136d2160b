"""From visits to stays, and which stay is under way at a step.

What each stay moves in and out is looked up in tables that whoever reads the plan fills.
What a visit moves depends, axis by axis, on its tile and the one before. There are three stages of tables: pairs of tiles of
an axis to kinds of pairs, kinds of pairs of all axes so far to kinds of moves, and kinds of moves at a width to loads.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.codes import find
from accelsim.kernels.columns import (
    STAY_AFTER,
    STAY_DRAIN,
    STAY_FILL,
    STAY_FIRST,
    STAY_HELD,
    STAY_LAST,
    STAY_REFILL,
    STAY_TILE,
    STAY_WIDTH,
)
from accelsim.kernels.jit import INT, INTS, READ_1, READ_2, WRITABLE, WRITE_2, kernel, part
from accelsim.kernels.walk import VISIT_COMPLETE, VISIT_FIRST, VISIT_LAST, VISIT_RETURNS, VISIT_TILE

Ints = NDArray[np.int64]

FIELD = 32
"""Bits of a code for its newest part, which is a small number."""

TERM_OUTPUT, TERM_NARROW, TERM_WIDE, TERM_FINISHES, TERM_ACCUMULATES, TERM_REFILLS, TERM_TELLS, TERMS = range(8)
"""How a tensor moves: whether it is written; bits of an element, and of a partial sum; whether a complete visit finishes its
elements; whether the parent adds what drains to it; whether partial sums come back; whether tiles of inputs are told too."""


@part
def load_of(visits: Ints, i: int, before: Ints, j: int, bits: int, keys: Ints, values: Ints, slots: int) -> int:
    """The load that moves what the tile of visit ``i`` has and that of row ``j`` of ``before`` has not; -1: not numbered yet.

    ``j`` -1: nothing came before.
    """
    axes = visits.shape[1] - VISIT_TILE
    code = 0
    for axis in range(axes):
        was = 1 + before[j, VISIT_TILE + axis] if j >= 0 else 0
        kind = find((visits[i, VISIT_TILE + axis] << FIELD) + was, keys, values, axis * slots, slots)
        if kind < 0:
            return -1
        code = find((code << FIELD) + kind, keys, values, (axes + axis) * slots, slots)
        if code < 0:
            return -1
    return find((code << FIELD) + bits, keys, values, 2 * axes * slots, slots)


@part
def number_of(visits: Ints, i: int, radix: Ints) -> int:
    """The number of a visit's tile."""
    tile = 0
    for axis in range(radix.shape[0]):
        tile += visits[i, VISIT_TILE + axis] * radix[axis]
    return int(tile)


@kernel(INT(READ_2, READ_2, READ_1, READ_1, READ_1, READ_1, INT, WRITE_2))
def write_stays(visits: Ints, last: Ints, terms: Ints, radix: Ints, keys: Ints, values: Ints, first: int, rows: Ints) -> int:
    """Write the stays of visits from the one numbered ``first`` on; returns the visit of which a load is not numbered yet, or
    how many visits there are.

    ``visits``: int64[n, VISIT_TILE + axes]. ``last``: the visit before them, one row or none. ``terms``: int64[TERMS].
    ``radix``: int64[axes], to number tiles by. ``keys``, ``values``: int64[(2 axes + 1) x slots], tables as of ``codes``: by axis
    the pairs, then the kinds of pairs so far, then the moves. ``rows``: int64[n, STAY_WIDTH].
    """
    slots = keys.shape[0] // (2 * radix.shape[0] + 1)
    for i in range(first, visits.shape[0]):
        for column in range(STAY_WIDTH):
            rows[i, column] = 0
        rows[i, STAY_FIRST], rows[i, STAY_LAST] = visits[i, VISIT_FIRST], visits[i, VISIT_LAST]
        rows[i, STAY_TILE] = rows[i, STAY_AFTER] = rows[i, STAY_HELD] = -1
        if terms[TERM_OUTPUT] == 0:
            if i > 0:
                load = load_of(visits, i, visits, i - 1, terms[TERM_NARROW], keys, values, slots)
            else:
                load = load_of(visits, i, last, last.shape[0] - 1, terms[TERM_NARROW], keys, values, slots)
            if load < 0:
                return i
            rows[i, STAY_FILL] = load
            if terms[TERM_TELLS]:
                rows[i, STAY_TILE] = number_of(visits, i, radix)
                if i > 0:
                    rows[i, STAY_HELD] = rows[i - 1, STAY_TILE]
                elif last.shape[0] > 0:
                    rows[i, STAY_HELD] = number_of(last, last.shape[0] - 1, radix)
            continue
        returns = visits[i, VISIT_RETURNS] > 0
        finished = visits[i, VISIT_COMPLETE] > 0 and terms[TERM_FINISHES] and not (terms[TERM_ACCUMULATES] and returns)
        load = load_of(visits, i, visits, -1, terms[TERM_NARROW] if finished else terms[TERM_WIDE], keys, values, slots)
        if load < 0:
            return i
        rows[i, STAY_DRAIN] = load
        if returns and terms[TERM_REFILLS]:
            if finished:  # what comes in is wider than what leaves
                load = load_of(visits, i, visits, -1, terms[TERM_WIDE], keys, values, slots)
                if load < 0:
                    return i
            rows[i, STAY_FILL], rows[i, STAY_REFILL] = load, 1 if load else 0
        rows[i, STAY_TILE] = number_of(visits, i, radix)
    return int(visits.shape[0])


@kernel(INT(INTS, INT, READ_1, INT, WRITABLE))
def under_way(steps: Ints, inside: int, starts: Ints, first: int, found: Ints) -> int:
    """Write the stay that is under way at each step; returns how many steps there are.

    ``steps``: int64[n], ascending, ``inside`` of them in one of the steps that stays are counted in. ``starts``: int64[m],
    when stays begin, the first of them no later than the first step; that one is numbered ``first``. ``found``: int64[n].
    """
    last, place, beyond = starts.shape[0] - 1, 0, starts.shape[0]
    for i in range(steps.shape[0]):
        step = steps[i] // inside if inside > 1 else steps[i]
        while i == 0 and beyond - place > 1:
            middle = (place + beyond) // 2
            if starts[middle] <= step:
                place = middle
            else:
                beyond = middle
        while place < last and starts[place + 1] <= step:
            place += 1
        found[i] = place + first
    return int(steps.shape[0])
