"""Steps along a line by its digits: the last position in the mixed radix of the line's bounds says what exists.

A *line* is a dimension, a *column* a loop. Iterations of the loops above a tile are digits, outermost first, and a tile
exists where its digits come no later in the dictionary than those of the last position. Every count below is a walk
over the digits. All tables are C-contiguous int64; -1 fills what a shorter row leaves.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numpy.typing import NDArray

from accelsim.kernels.jit import INT, kernel

Ints = NDArray[np.int64]

VOID = types.void
ROW = types.Array(types.int64, 1, "C")
TABLE = types.Array(types.int64, 2, "C")
CUBE = types.Array(types.int64, 3, "C")

LEGAL, EVEN, ILLEGAL, TOO_LARGE = 0, 1, 2, 3
"""What a row of bounds is: legal, legal and without an edge, no mapping of the chip, past the limits of the integers."""

MOST_PRODUCT = 1 << 31
"""Largest product of the bounds of one line: positions and strides stay far from 2**63."""


@kernel(VOID(ROW, CUBE, ROW, ROW, ROW, ROW, ROW, TABLE, ROW, ROW, TABLE, TABLE, ROW))
def lay_out(extent: Ints, loops: Ints, length: Ints, temporal: Ints, axis: Ints, room: Ints, unsplit: Ints, bounds: Ints,
            order: Ints, used: Ints, stride: Ints, digit: Ints, states: Ints) -> None:
    """Fills ``stride`` and ``digit`` of the last position, both [row, column], and ``states[row]``: LEGAL to TOO_LARGE.

    ``extent[line]``; ``loops[order, line, i]``: the line's columns, outermost first, ``length[line]`` of them; ``temporal``
    [column]: 0 or 1; ``axis`` [column] of a spatial loop, ``room`` [axis] instances or PEs; ``unsplit`` [column]: 1 where no
    bound but 1 is legal; ``bounds`` [row, column]; ``order`` [row]; ``used`` [axis]: scratch. Illegal: a bound below 1, bounds
    that do not cover an extent, more instances than an axis has, and a bound where none may be.
    """
    for row in range(bounds.shape[0]):
        found = EVEN
        for i in range(room.shape[0]):
            used[i] = 1
        for loop in range(bounds.shape[1]):
            bound = bounds[row, loop]
            if bound < 1 or (unsplit[loop] == 1 and bound > 1):
                found = max(found, ILLEGAL)
            elif bound > MOST_PRODUCT:
                found = TOO_LARGE
            elif temporal[loop] == 0:
                used[axis[loop]] *= bound
                if used[axis[loop]] > room[axis[loop]]:
                    found, used[axis[loop]] = max(found, ILLEGAL), 1
        for line in range(extent.shape[0] if found == EVEN else 0):
            total = 1
            for i in range(length[line] - 1, -1, -1):
                loop = loops[order[row], line, i]
                stride[row, loop] = total
                total *= bounds[row, loop]
                if total > MOST_PRODUCT:
                    found, total = TOO_LARGE, 1
            if found == TOO_LARGE or total < extent[line]:
                found = max(found, ILLEGAL)
                break
            rest = extent[line] - 1
            for i in range(length[line]):
                loop = loops[order[row], line, i]
                if total == extent[line]:
                    digit[row, loop] = bounds[row, loop] - 1
                else:
                    found = LEGAL
                    digit[row, loop] = rest // stride[row, loop]
                    rest -= digit[row, loop] * stride[row, loop]
        states[row] = found


@kernel(VOID(ROW, CUBE, ROW, ROW, TABLE, TABLE, TABLE, TABLE, ROW, TABLE, TABLE, INT, TABLE, TABLE, TABLE, TABLE, TABLE))
def count_steps(extent: Ints, loops: Ints, length: Ints, temporal: Ints, above: Ints, temporals: Ints, counted: Ints,
                bounds: Ints, order: Ints, stride: Ints, digit: Ints, depth: int, tiles: Ints, cut: Ints, wrapping: Ints,
                size: Ints, edge: Ints) -> None:
    """Tiles per row, frame and line, for i temporal loops of the line that keep their iterations (the others are at 0).

    A *frame* says where tiles are looked at: ``above[frame, line]`` loops of the line are above, ``temporals[frame, line]``
    of them temporal, and the spatial ones with ``counted[frame, column]`` 1 are summed over (of the others only iteration
    0 counts). With ``at`` = frame x lines + line: ``tiles[row, at x depth + i]`` that exist; ``cut``: how many of them the
    edge cuts; ``wrapping``: of how many an inner temporal loop has a second iteration. ``size``, ``edge`` [row, at]: elements
    of a whole tile and of the one that is cut (0: none). The others as in ``lay_out``.
    """
    lines = extent.shape[0]
    for row in range(bounds.shape[0]):
        for frame in range(above.shape[0]):
            for line in range(lines):
                at, number, outermost, rest = frame * lines + line, above[frame, line], temporals[frame, line], 0
                inner, innermost, seen, last, begin = -1, -1, 0, -1, at * depth
                for i in range(number):  # the innermost temporal loop that iterates, the innermost digit that is not 0
                    loop = loops[order[row], line, i]
                    if temporal[loop] == 1 and bounds[row, loop] > 1:
                        inner, innermost = i, seen
                    if digit[row, loop] > 0:
                        last = i
                    seen += temporal[loop]
                for i in range(number, length[line]):
                    loop = loops[order[row], line, i]
                    rest += digit[row, loop] * stride[row, loop]
                tile = 1
                if number > 0:
                    tile = stride[row, loops[order[row], line, number - 1]]
                elif length[line] > 0:
                    tile = stride[row, loops[order[row], line, 0]] * bounds[row, loops[order[row], line, 0]]
                size[row, at] = min(tile, extent[line])
                edge[row, at] = rest + 1 if rest + 1 < size[row, at] else 0
                if number == outermost:  # without instances tiles before the last one are the value of the outer digits
                    value = 0
                    for i in range(number + 1):
                        tiles[row, begin + i] = value + 1
                        cut[row, begin + i] = 1 if i > last and edge[row, at] > 0 else 0
                        wrapping[row, begin + i] = (value + 1 if i <= last else value) if i <= inner else 0
                        if i < number:
                            loop = loops[order[row], line, i]
                            value = value * bounds[row, loop] + digit[row, loop]
                    continue
                for outer in range(outermost + 1):  # with them some digits are free, others held at 0 (or at 1)
                    free, reached, second, whole, seen = 1, 1, 1, 1, outermost
                    for i in range(number - 1, -1, -1):
                        loop = loops[order[row], line, i]
                        own = digit[row, loop]
                        seen -= temporal[loop]
                        if (seen < outer) if temporal[loop] == 1 else (counted[frame, loop] == 1):
                            reached += own * free
                            second += own * free
                            free *= bounds[row, loop]
                            continue
                        if i == inner:
                            second = free if own > 1 else second if own == 1 else 0
                        elif own > 0:
                            second = free
                        if own > 0:
                            reached, whole = free, 0
                    tiles[row, begin + outer] = reached
                    cut[row, begin + outer] = whole if edge[row, at] > 0 else 0
                    wrapping[row, begin + outer] = second if innermost >= outer else 0
