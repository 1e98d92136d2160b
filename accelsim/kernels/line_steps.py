"""Steps along a line by its digits: the last position in the mixed radix of the line's bounds says what exists.

Iterations of the loops above a tile are digits, outermost first, and a tile exists where its digits come no later in
the dictionary than those of the last position. Every count below is a walk over the digits.
"""

from __future__ import annotations

from accelsim.kernels.jit import kernel
from accelsim.kernels.mapspace import CUBE, INT, ROW, TABLE, VOID, Ints

LEGAL, EVEN, ILLEGAL, TOO_LARGE = 0, 1, 2, 3
"""What a row of bounds is: legal, legal and without an edge, no mapping of the chip, past the limits of the integers."""

MOST_PRODUCT = 1 << 31
"""Largest product of the bounds of one line: positions and strides stay far from 2**63."""


@kernel(INT(ROW, TABLE, ROW, ROW, ROW, ROW))
def lay_out(extent: Ints, loops: Ints, length: Ints, bounds: Ints, stride: Ints, digit: Ints) -> int:
    """Fills stride and digit of the last position, both [column]; returns LEGAL, EVEN, ILLEGAL or TOO_LARGE.

    ``extent``, ``length`` [line] and ``loops`` [line, i] as in ``Nest``; ``bounds`` [column]. Illegal: a bound below 1, or
    bounds that do not cover an extent.
    """
    found = EVEN
    for line in range(extent.shape[0]):
        total = 1
        for i in range(length[line] - 1, -1, -1):
            loop = loops[line, i]
            bound = bounds[loop]
            if bound < 1:
                return ILLEGAL
            stride[loop] = total
            if bound > MOST_PRODUCT or total * bound > MOST_PRODUCT:
                return TOO_LARGE
            total *= bound
        if total < extent[line]:
            return ILLEGAL
        rest = extent[line] - 1
        for i in range(length[line]):
            loop = loops[line, i]
            if total == extent[line]:
                digit[loop] = bounds[loop] - 1
            else:
                found = LEGAL
                digit[loop] = rest // stride[loop]
                rest -= digit[loop] * stride[loop]
    return found


@kernel(INT(ROW, ROW, ROW, ROW, ROW, ROW))
def check_instances(bounds: Ints, temporal: Ints, axis: Ints, room: Ints, unsplit: Ints, used: Ints) -> int:
    """LEGAL, or ILLEGAL: more instances or PEs than an axis has, or a reduction split where nothing adds it up.

    ``bounds``, ``temporal``, ``axis``, ``unsplit`` [column], ``room`` [axis] as in ``Nest``; ``used`` [axis]: scratch.
    """
    for i in range(used.shape[0]):
        used[i] = 1
    for loop in range(bounds.shape[0]):
        if temporal[loop] == 0:
            used[axis[loop]] *= bounds[loop]
            if used[axis[loop]] > room[axis[loop]] or (unsplit[loop] == 1 and bounds[loop] > 1):
                return ILLEGAL
    return LEGAL


@kernel(VOID(ROW, INT, ROW, ROW, ROW, ROW, ROW, INT))
def _in_time(loops: Ints, above: int, bounds: Ints, digit: Ints, tiles: Ints, cut: Ints, wrapping: Ints, edge: int) -> None:
    """Without instances: the number of tiles before the last one is the value of the outer digits."""
    inner, last = -1, -1  # the innermost loop that iterates, and the one whose digit is not 0
    for i in range(above):
        if bounds[loops[i]] > 1:
            inner = i
        if digit[loops[i]] > 0:
            last = i
    value = 0
    for i in range(above + 1):
        tiles[i] = value + 1
        cut[i] = 1 if i > last and edge > 0 else 0
        wrapping[i] = (value + 1 if i <= last else value) if i <= inner else 0
        if i < above:
            value = value * bounds[loops[i]] + digit[loops[i]]


@kernel(VOID(ROW, INT, INT, ROW, ROW, ROW, ROW, ROW, ROW, ROW, INT))
def _with_instances(loops: Ints, above: int, temporals: int, temporal: Ints, counted: Ints, bounds: Ints, digit: Ints,
                    tiles: Ints, cut: Ints, wrapping: Ints, edge: int) -> None:
    """With spatial loops above: the digits are walked from the innermost, some free, some held at 0 (or at 1)."""
    inner, innermost, seen = -1, -1, 0  # the innermost temporal loop that iterates, and its number among temporal ones
    for i in range(above):
        if temporal[loops[i]] == 1 and bounds[loops[i]] > 1:
            inner, innermost = i, seen
        seen += temporal[loops[i]]
    for outer in range(temporals + 1):
        free, reached, second, whole = 1, 1, 1, True
        seen = temporals
        for i in range(above - 1, -1, -1):
            loop = loops[i]
            own = digit[loop]
            seen -= temporal[loop]
            if (seen < outer) if temporal[loop] == 1 else (counted[loop] == 1):
                reached += own * free
                second += own * free
                free *= bounds[loop]
                continue
            if i == inner:
                second = free if own > 1 else second if own == 1 else 0
            elif own > 0:
                second = free
            if own > 0:
                reached = free
                whole = False
        tiles[outer] = reached
        cut[outer] = 1 if whole and edge > 0 else 0
        wrapping[outer] = second if innermost >= outer else 0


@kernel(VOID(ROW, TABLE, ROW, ROW, TABLE, TABLE, TABLE, ROW, ROW, ROW, CUBE, CUBE, CUBE, TABLE, TABLE))
def count_steps(extent: Ints, loops: Ints, length: Ints, temporal: Ints, above: Ints, temporals: Ints, counted: Ints,
                bounds: Ints, stride: Ints, digit: Ints, tiles: Ints, cut: Ints, wrapping: Ints, size: Ints,
                edge: Ints) -> None:
    """Tiles per frame and line, for i temporal loops of the line that keep their iterations (the others are at 0).

    ``tiles[frame, line, i]``: tiles that exist; ``cut``: how many of them the edge cuts; ``wrapping``: of how many an
    inner temporal loop has a second iteration. ``size``, ``edge`` [frame, line]: elements of a whole tile and of the one
    that is cut (0: none). The others as in ``Nest`` and ``lay_out``.
    """
    for frame in range(above.shape[0]):
        for line in range(extent.shape[0]):
            number, tile = above[frame, line], 1
            if number > 0:
                tile = stride[loops[line, number - 1]]
            elif length[line] > 0:
                tile = stride[loops[line, 0]] * bounds[loops[line, 0]]
            size[frame, line] = min(tile, extent[line])
            edge[frame, line] = extent[line] % tile if tile < extent[line] else 0
            if number > temporals[frame, line]:
                _with_instances(loops[line], number, temporals[frame, line], temporal, counted[frame], bounds, digit,
                                tiles[frame, line], cut[frame, line], wrapping[frame, line], edge[frame, line])
            else:
                _in_time(loops[line], number, bounds, digit, tiles[frame, line], cut[frame, line], wrapping[frame, line],
                         edge[frame, line])
