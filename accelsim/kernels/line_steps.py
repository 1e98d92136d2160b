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


@kernel(INT(ROW, CUBE, ROW, INT, TABLE, INT, ROW, ROW))
def lay_out(extent: Ints, loops: Ints, length: Ints, order: int, bounds: Ints, row: int, stride: Ints, digit: Ints) -> int:
    """Fills stride and digit of the last position, both [column]; returns LEGAL, EVEN, ILLEGAL or TOO_LARGE.

    ``extent``, ``loops``, ``length`` as in ``Nest``; ``bounds`` [row, column]. Illegal: a bound below 1, or bounds that do
    not cover an extent.
    """
    found = EVEN
    for line in range(extent.shape[0]):
        total = 1
        for i in range(length[line] - 1, -1, -1):
            loop = loops[order, line, i]
            bound = bounds[row, loop]
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
            loop = loops[order, line, i]
            if total == extent[line]:
                digit[loop] = bounds[row, loop] - 1
            else:
                found = LEGAL
                digit[loop] = rest // stride[loop]
                rest -= digit[loop] * stride[loop]
    return found


@kernel(VOID(CUBE, INT, INT, INT, TABLE, INT, ROW, INT, TABLE, TABLE, TABLE, INT))
def _in_time(loops: Ints, order: int, line: int, above: int, bounds: Ints, row: int, digit: Ints, edge: int, tiles: Ints,
             cut: Ints, wrapping: Ints, at: int) -> None:
    """Without instances: the number of tiles before the last one is the value of the outer digits."""
    inner, last = -1, -1  # the innermost loop that iterates, and the one whose digit is not 0
    for i in range(above):
        loop = loops[order, line, i]
        if bounds[row, loop] > 1:
            inner = i
        if digit[loop] > 0:
            last = i
    value = 0
    for i in range(above + 1):
        tiles[at, i] = value + 1
        cut[at, i] = 1 if i > last and edge > 0 else 0
        wrapping[at, i] = (value + 1 if i <= last else value) if i <= inner else 0
        if i < above:
            loop = loops[order, line, i]
            value = value * bounds[row, loop] + digit[loop]


@kernel(VOID(CUBE, INT, INT, INT, INT, ROW, TABLE, INT, TABLE, INT, ROW, INT, TABLE, TABLE, TABLE, INT))
def _with_instances(loops: Ints, order: int, line: int, above: int, temporals: int, temporal: Ints, counted: Ints, frame: int,
                    bounds: Ints, row: int, digit: Ints, edge: int, tiles: Ints, cut: Ints, wrapping: Ints,
                    at: int) -> None:
    """With spatial loops above: the digits are walked from the innermost, some free, some held at 0 (or at 1)."""
    inner, innermost, seen = -1, -1, 0  # the innermost temporal loop that iterates, and its number among temporal ones
    for i in range(above):
        loop = loops[order, line, i]
        if temporal[loop] == 1 and bounds[row, loop] > 1:
            inner, innermost = i, seen
        seen += temporal[loop]
    for outer in range(temporals + 1):
        free, reached, second, whole = 1, 1, 1, True
        seen = temporals
        for i in range(above - 1, -1, -1):
            loop = loops[order, line, i]
            own = digit[loop]
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
                reached = free
                whole = False
        tiles[at, outer] = reached
        cut[at, outer] = 1 if whole and edge > 0 else 0
        wrapping[at, outer] = second if innermost >= outer else 0


@kernel(VOID(ROW, CUBE, ROW, ROW, TABLE, TABLE, TABLE, INT, TABLE, INT, ROW, ROW, TABLE, TABLE, TABLE, ROW, ROW))
def count_steps(extent: Ints, loops: Ints, length: Ints, temporal: Ints, above: Ints, temporals: Ints, counted: Ints,
                order: int, bounds: Ints, row: int, stride: Ints, digit: Ints, tiles: Ints, cut: Ints, wrapping: Ints,
                size: Ints, edge: Ints) -> None:
    """Tiles per frame and line, for i temporal loops of the line that keep their iterations (the others are at 0).

    With ``at`` = frame x lines + line: ``tiles[at, i]`` that exist; ``cut``: how many of them the edge cuts; ``wrapping``:
    of how many an inner temporal loop has a second iteration. ``size``, ``edge`` [at]: elements of a whole tile and of the
    one that is cut (0: none). The others as in ``Nest`` and ``lay_out``.
    """
    lines = extent.shape[0]
    for frame in range(above.shape[0]):
        for line in range(lines):
            at, number, tile = frame * lines + line, above[frame, line], 1
            if number > 0:
                tile = stride[loops[order, line, number - 1]]
            elif length[line] > 0:
                tile = stride[loops[order, line, 0]] * bounds[row, loops[order, line, 0]]
            size[at] = min(tile, extent[line])
            edge[at] = extent[line] % tile if tile < extent[line] else 0
            if number > temporals[frame, line]:
                _with_instances(loops, order, line, number, temporals[frame, line], temporal, counted, frame, bounds, row,
                                digit, edge[at], tiles, cut, wrapping, at)
            else:
                _in_time(loops, order, line, number, bounds, row, digit, edge[at], tiles, cut, wrapping, at)
