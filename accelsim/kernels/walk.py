"""Walking loops: where tiles change and what each step is, from tables that number tiles and kinds by position.

A walk is resumed where it stopped, so that a nest of any length is read in pieces. What it keeps between calls is one
row of integers: the head, then each loop's index and its iterations here, positions along the lines, a place in the
table for each axis (or line), and the tile of the open visit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.jit import INT, READ_1, READ_2, WRITE_1, WRITE_2, kernel, part, small_part

Ints = NDArray[np.int64]

LINE, STRIDE, BOUND, RAGGED, FIXED, WEIGHT, LOOP_WIDTH = range(7)
"""Columns of a loop: the line it steps along and by how much, its iterations, whether some start past the edge, whether
it is fixed (does not move the tile, though loops inside it do), and the steps in one iteration of it."""

STATUS, NUMBER, HELD, FIRST, LAST, RETURNS, COMPLETE, MISSED, WALK_HEAD = range(9)
"""Head of a walk: its status, the step it stands at, whether a visit is open, that one's first and last step and whether
it returns and is complete, and the axis whose tile is not numbered yet (-1: none)."""

FRESH, RUNNING, DONE = range(3)

VISIT_FIRST, VISIT_LAST, VISIT_RETURNS, VISIT_COMPLETE, VISIT_TILE = range(5)
"""Columns of a visit; the tile's numbers, an axis each, follow."""

STEP_NUMBER, STEP_CODE, STEP_WIDTH = range(3)
"""Columns of a step."""


@small_part
def iterations(loops: Ints, extents: Ints, state: Ints, j: int) -> int:
    """Iterations of loop ``j`` that start inside the edge, from a position with its own and inner indices at 0."""
    line = loops[j, LINE]
    left = extents[line] - state[WALK_HEAD + 2 * loops.shape[0] + line]
    most: int = min(loops[j, BOUND], -(-left // loops[j, STRIDE]))
    return most


@small_part
def begin(loops: Ints, depth: int, extents: Ints, state: Ints) -> int:
    """Set the limits of the first ``depth`` loops where a walk starts."""
    for j in range(depth):
        state[WALK_HEAD + loops.shape[0] + j] = iterations(loops, extents, state, j)
    state[STATUS] = RUNNING
    return depth


@part
def advance(loops: Ints, depth: int, extents: Ints, deltas: Ints, state: Ints) -> int:
    """Take the next step of the first ``depth`` loops; returns the loop that moved on, -1 at the end."""
    count, lines = loops.shape[0], extents.shape[0]
    index, limit = WALK_HEAD, WALK_HEAD + count
    position = limit + count
    place = position + lines
    j = depth - 1
    while j >= 0 and state[index + j] + 1 >= state[limit + j]:
        gone = state[index + j]
        if gone:
            state[position + loops[j, LINE]] -= gone * loops[j, STRIDE]
            state[NUMBER] -= gone * loops[j, WEIGHT]
            for a in range(deltas.shape[1]):
                state[place + a] -= gone * deltas[j, a]
            state[index + j] = 0
        j -= 1
    if j < 0:
        state[STATUS] = DONE
        return -1
    state[index + j] += 1
    state[position + loops[j, LINE]] += loops[j, STRIDE]
    state[NUMBER] += loops[j, WEIGHT]
    for a in range(deltas.shape[1]):
        state[place + a] += deltas[j, a]
    for i in range(j + 1, depth):
        if loops[i, RAGGED]:
            state[limit + i] = iterations(loops, extents, state, i)
    return j


@part
def last_inside(loops: Ints, depth: int, extents: Ints, state: Ints) -> int:
    """Number of the last step that is not skipped inside one iteration of the first ``depth`` loops, from its first."""
    count = loops.shape[0]
    position = WALK_HEAD + 2 * count
    total = 0
    for j in range(depth, count):
        last = iterations(loops, extents, state, j) - 1
        state[WALK_HEAD + j] = last
        state[position + loops[j, LINE]] += last * loops[j, STRIDE]
        total += last * loops[j, WEIGHT]
    for j in range(depth, count):
        state[position + loops[j, LINE]] -= state[WALK_HEAD + j] * loops[j, STRIDE]
        state[WALK_HEAD + j] = 0
    return total


@small_part
def close_visit(tile: int, made: int, state: Ints, rows: Ints) -> int:
    """Write the open visit as row ``made``; returns the rows there are now."""
    rows[made, VISIT_FIRST], rows[made, VISIT_LAST] = state[FIRST], state[LAST]
    rows[made, VISIT_RETURNS], rows[made, VISIT_COMPLETE] = state[RETURNS], state[COMPLETE]
    for a in range(rows.shape[1] - VISIT_TILE):
        rows[made, VISIT_TILE + a] = state[tile + a]
    state[HELD] = 0
    return made + 1


@kernel(INT(READ_2, INT, INT, READ_1, READ_2, READ_1, INT, WRITE_1, WRITE_2))
def walk_visits(loops: Ints, depth: int, inside: int, extents: Ints, deltas: Ints, table: Ints, collapse: int, state: Ints,
                rows: Ints) -> int:
    """Write the next visits to ``rows`` and return how many: fewer than there is room for at the end, or at a miss.

    ``loops``: int64[L, LOOP_WIDTH]; the first ``depth`` move the tile, the others run inside its visits. ``inside``:
    number of the last step inside one iteration of the former, -1 where that depends on the position. ``extents``:
    int64[lines]. ``deltas``: int64[L, A], how far an iteration of a loop moves each axis' place in ``table``, which holds
    the tiles' numbers (-1: not numbered yet; 0: empty). ``collapse``: a tile empty along one axis is empty along all.
    At a miss state[MISSED] is the axis: number the tile at its place, then call again.
    """
    count, lines, axes = loops.shape[0], extents.shape[0], deltas.shape[1]
    index, limit = WALK_HEAD, WALK_HEAD + count
    place = limit + count + lines
    tile = place + axes
    state[MISSED] = -1
    if state[STATUS] == FRESH:
        begin(loops, depth, extents, state)
    made = 0
    while state[STATUS] == RUNNING and made < rows.shape[0]:
        nothing = False
        for a in range(axes):
            number = table[state[place + a]]
            if number < 0:
                state[MISSED] = a
                return made
            if number == 0 and collapse:
                nothing = True
        changed = state[HELD] == 0
        for a in range(axes):
            if state[tile + a] != (0 if nothing else table[state[place + a]]):
                changed = True
        whole, back = 1, 0
        for j in range(depth):
            if loops[j, FIXED]:
                if state[index + j] + 1 != state[limit + j]:
                    whole = 0
                if state[index + j]:
                    back = 1
        if changed:
            if state[HELD]:
                made = close_visit(tile, made, state, rows)
            state[HELD], state[FIRST], state[RETURNS] = 1, state[NUMBER], back
            for a in range(axes):
                state[tile + a] = 0 if nothing else table[state[place + a]]
        state[LAST] = state[NUMBER] + (inside if inside >= 0 else last_inside(loops, depth, extents, state))
        state[COMPLETE] = whole
        advance(loops, depth, extents, deltas, state)
    if state[STATUS] == DONE and state[HELD] and made < rows.shape[0]:
        made = close_visit(tile, made, state, rows)
    return made


@kernel(INT(READ_2, READ_1, READ_2, READ_1, READ_1, WRITE_1, WRITE_2))
def walk_steps(loops: Ints, extents: Ints, deltas: Ints, codes: Ints, moved: Ints, state: Ints, rows: Ints) -> int:
    """Write the next steps to ``rows`` and return how many: fewer than there is room for at the end.

    ``loops``, ``extents``, ``deltas``, ``state``: as for visits, with a place in the tables for each line. A step's code
    is twice the sum of its places' ``codes``, and one more where none of them is ``moved``.
    """
    lines = extents.shape[0]
    place = WALK_HEAD + 2 * loops.shape[0] + lines
    if state[STATUS] == FRESH:
        begin(loops, loops.shape[0], extents, state)
    made = 0
    while state[STATUS] == RUNNING and made < rows.shape[0]:
        code, away = 0, 0
        for line in range(lines):
            code += codes[state[place + line]]
            away += moved[state[place + line]]
        rows[made, STEP_NUMBER] = state[NUMBER]
        rows[made, STEP_CODE] = 2 * code + (1 if away == 0 else 0)
        made += 1
        advance(loops, loops.shape[0], extents, deltas, state)
    return made
