"""Steps along a line by its digits: the last position in the mixed radix of the line's bounds says what exists.

A *line* is a dimension, a *column* a loop. Iterations of the loops above a tile are digits, outermost first, and a tile
exists where its digits come no later in the dictionary than those of the last position. Every count below is a walk
over the digits. Mappings share few *settings* (bounds of one line's loops), so each is walked once and looked up afterwards.
All tables are C-contiguous int64; -1 fills what a shorter row leaves.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numpy.typing import NDArray

from accelsim.kernels.estimate_layout import CALM, CUT, EDGE, SIZE, STEP_WIDTH, STEPS, TILES
from accelsim.kernels.jit import INT, kernel, part

Ints = NDArray[np.int64]

VOID = types.void
ROW = types.Array(types.int64, 1, "C")
TABLE = types.Array(types.int64, 2, "C")
CUBE = types.Array(types.int64, 3, "C")

LEGAL, EVEN, ILLEGAL, TOO_LARGE = 0, 1, 2, 3
"""What a row of bounds is: legal, legal and without an edge, no mapping of the chip, past the limits of the integers."""

MOST_PRODUCT = 1 << 31
"""Largest product of the bounds of one line: positions and strides stay far from 2**63."""


@part
def line_state(extent: int, loops: Ints, length: int, bounds: Ints) -> int:
    """LEGAL to TOO_LARGE, by the bounds of one line's ``loops`` (``length`` of them)."""
    total = 1
    for i in range(length):
        total *= bounds[loops[i]]
        if total > MOST_PRODUCT:
            return TOO_LARGE
    return ILLEGAL if total < extent else EVEN if total == extent else LEGAL


@kernel(INT(ROW, CUBE, ROW, ROW, ROW, ROW, ROW, TABLE, ROW, ROW, TABLE, TABLE, ROW, ROW, ROW, ROW))
def lay_out(extent: Ints, loops: Ints, length: Ints, temporal: Ints, axis: Ints, room: Ints, unsplit: Ints, bounds: Ints,
            order: Ints, used: Ints, seen: Ints, setting: Ints, line_of: Ints, row_of: Ints, kind: Ints, states: Ints) -> int:
    """Groups the lines of rows into settings; returns how many there are, and fills ``states[row]``: LEGAL to TOO_LARGE.

    ``extent[line]``; ``loops[order, line, i]``: the line's columns, outermost first, ``length[line]`` of them; ``temporal``
    [column]: 0 or 1; ``axis`` [column] of a spatial loop, ``room`` [axis] instances or PEs; ``unsplit`` [column]: 1 where no
    bound but 1 is legal; ``bounds`` [row, column]; ``order`` [row]. Illegal: a bound below 1, bounds that do not cover an
    extent, more instances than an axis has, and a bound where none may be.

    Fills ``setting[row, line]`` of legal rows and, per setting, ``line_of``, ``row_of`` (one that has it) and ``kind``, its
    state; there is room for rows x lines. ``used`` [axis]: scratch. ``seen`` [line, slot]: -1 everywhere, a power of two of
    slots; each remembers the last setting of its kind, so that a few settings may be found twice.
    """
    number, lines, slots = 0, extent.shape[0], seen.shape[1]
    for row in range(bounds.shape[0]):
        state = EVEN
        for i in range(room.shape[0]):
            used[i] = 1
        for loop in range(bounds.shape[1]):
            bound = bounds[row, loop]
            if bound < 1 or (unsplit[loop] == 1 and bound > 1):
                state = max(state, ILLEGAL)
            elif bound > MOST_PRODUCT:
                state = TOO_LARGE
            elif temporal[loop] == 0:
                used[axis[loop]] *= bound
                if used[axis[loop]] > room[axis[loop]]:
                    state, used[axis[loop]] = max(state, ILLEGAL), 1
        for line in range(lines if state == EVEN else 0):
            own, mixed = loops[order[row], line], 0
            for i in range(length[line]):
                mixed = (mixed * 1_000_003 + bounds[row, own[i]]) & 0x1FF_FFFF_FFFF
            slot = (mixed ^ (mixed >> 17)) & (slots - 1)
            last = seen[line, slot]
            same = last >= 0
            if same:
                other = row_of[last]
                before = loops[order[other], line]
                for i in range(length[line]):
                    same = same and own[i] == before[i] and bounds[row, own[i]] == bounds[other, own[i]]
            if not same:
                last, number = number, number + 1
                seen[line, slot] = last
                line_of[last], row_of[last] = line, row
                kind[last] = line_state(extent[line], own, length[line], bounds[row])
            setting[row, line] = last
            if kind[last] != EVEN:
                state = kind[last]
                if state != LEGAL:
                    break
        states[row] = state
    return number


@part
def digits(extent: int, loops: Ints, length: int, bounds: Ints, stride: Ints, digit: Ints) -> None:
    """Fills ``stride[i]`` of each of a line's loops and ``digit[i]`` of its last position."""
    total = 1
    for i in range(length - 1, -1, -1):
        stride[i] = total
        total *= bounds[loops[i]]
    rest = extent - 1
    for i in range(length):
        digit[i] = rest // stride[i]
        rest -= digit[i] * stride[i]


@kernel(VOID(ROW, CUBE, ROW, ROW, TABLE, TABLE, TABLE, TABLE, ROW, ROW, ROW, ROW, TABLE, CUBE))
def count_steps(extent: Ints, loops: Ints, length: Ints, temporal: Ints, above: Ints, temporals: Ints, counted: Ints,
                bounds: Ints, order: Ints, line_of: Ints, row_of: Ints, kind: Ints, scratch: Ints, steps: Ints) -> None:
    """Tiles per setting and frame, for i temporal loops of the line that keep their iterations (the others are at 0).

    A *frame* says where tiles are looked at: ``above[frame, line]`` loops of the line are above, ``temporals[frame, line]``
    of them temporal, and the spatial ones with ``counted[frame, column]`` 1 are summed over (of the others only iteration
    0 counts). Fills ``steps[setting, frame]``: SIZE, EDGE and, from STEPS on, for each i TILES, CUT and CALM, of
    ``estimate_layout``. ``line_of``, ``row_of``, ``kind`` [setting]
    and the others as in ``lay_out``; what is no mapping is left out. ``scratch`` [2, columns].
    """
    stride, digit = scratch[0], scratch[1]
    for setting in range(steps.shape[0]):
        if kind[setting] > EVEN:
            continue
        line, row = line_of[setting], row_of[setting]
        own, bound = loops[order[row], line], bounds[row]
        digits(extent[line], own, length[line], bound, stride, digit)
        for frame in range(above.shape[0]):
            number, outermost, rest = above[frame, line], temporals[frame, line], 0
            inner, innermost, passed = -1, -1, 0
            for i in range(number):  # the innermost temporal loop that iterates
                if temporal[own[i]] == 1 and bound[own[i]] > 1:
                    inner, innermost = i, passed
                passed += temporal[own[i]]
            for i in range(number, length[line]):
                rest += digit[i] * stride[i]
            tile = 1
            if number > 0:
                tile = stride[number - 1]
            elif length[line] > 0:
                tile = stride[0] * bound[own[0]]
            size = min(tile, extent[line])
            edge = rest + 1 if rest + 1 < size else 0
            steps[setting, frame, SIZE], steps[setting, frame, EDGE] = size, edge
            for outer in range(outermost + 1):  # some digits are free, others held at 0 (or at 1)
                free, reached, second, whole, passed = 1, 1, 1, 1, outermost
                for i in range(number - 1, -1, -1):
                    passed -= temporal[own[i]]
                    if (passed < outer) if temporal[own[i]] == 1 else (counted[frame, own[i]] == 1):
                        reached += digit[i] * free
                        second += digit[i] * free
                        free *= bound[own[i]]
                        continue
                    if i == inner:
                        second = free if digit[i] > 1 else second if digit[i] == 1 else 0
                    elif digit[i] > 0:
                        second = free
                    if digit[i] > 0:
                        reached, whole = free, 0
                cut, at = whole if edge > 0 else 0, STEPS + outer * STEP_WIDTH
                steps[setting, frame, at + TILES], steps[setting, frame, at + CUT] = reached, cut
                steps[setting, frame, at + CALM] = reached - cut - (second if innermost >= outer else 0)
