"""The loops of a mapspace as the integer tables that the kernels walk: lines, orders and frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accelsim.search.looks import Columns
from accelsim.search.mapspace import Mapspace, unsplit

Ints = NDArray[np.int64]


def table(rows: Sequence[Sequence[int]], fill: int = 0) -> Ints:
    """Rows of unlike lengths as a table of one column at least."""
    found = np.full((len(rows), max((1, *(len(row) for row in rows)))), fill, dtype=np.int64)
    for number, row in enumerate(rows):
        found[number, :len(row)] = row
    return found


def listed(values: Sequence[int]) -> Ints:
    """A list as an array."""
    return np.array(values, dtype=np.int64)


class Frames:
    """Different (entry, one iteration of the array, spatial loops counted), numbered as they are asked for."""

    def __init__(self) -> None:
        self.found: dict[tuple[int, bool, Columns], int] = {}

    def number(self, entry: int, counted: Columns, *, iterations: bool = False) -> int:
        """The number of a frame; ``iterations``: each iteration of the array's own temporal loops is a step."""
        return self.found.setdefault((entry, iterations, counted), len(self.found))


@dataclass(frozen=True)
class NestTables:
    """Arguments of the kernels, named as in ``kernels.estimate_steps``.

    ``line_of[column]``; ``advancing[order, place]``: all temporal loops, outermost first; ``outside[order, place, line]``: how
    many of the line stand before the place; ``steps[frame]``: places above the tile.
    """

    extent: Ints
    loops: Ints
    length: Ints
    line_of: Ints
    temporal: Ints
    axis: Ints
    room: Ints
    unsplit: Ints
    advancing: Ints
    outside: Ints
    above: Ints
    temporals: Ints
    counted: Ints
    steps: Ints


def nest_tables(space: Mapspace, frames: Frames) -> NestTables:
    """The tables of a mapspace; its own columns come first, then the loops of the native step."""
    case, loops = space.case, space.case.nest.loops
    lines, places = range(len(case.nest.lines)), range(len(loops))
    orders = [(*order, *places[len(space.columns):]) for order in space.orders]
    own = [[[place for place in order if loops[place].line == line] for line in lines] for order in orders]
    advancing = [[place for place in order if loops[place].axis is None] for order in orders]
    outside = [[[sum(loops[place].line == line for place in order[:number]) for line in lines]
                for number in range(len(order) + 1)] for order in advancing]
    axes: dict[tuple[int, str], int] = {}
    rooms: list[int] = []
    axis_of: list[int] = []
    for loop in loops:
        if loop.axis is None:
            axis_of.append(-1)
            continue
        if (loop.entry, loop.axis) not in axes:
            axes[loop.entry, loop.axis] = len(rooms)
            rooms.append(space.chip.array.extent(loop.axis) if loop.entry == case.array_entry
                         else dict(space.chip.fanout(loop.entry + 1))[loop.axis])
        axis_of.append(axes[loop.entry, loop.axis])
    over = [[loop for loop in loops if loop.entry < entry or (iterations and loop.axis is None)]
            for entry, iterations, _ in frames.found]
    return NestTables(
        extent=listed([line.extent for line in case.nest.lines]),
        loops=np.stack([table([*by_line, [0] * len(loops)], -1)[:-1] for by_line in own]),
        length=listed([len(one) for one in own[0]]), line_of=listed([loop.line for loop in loops]),
        temporal=listed([loop.axis is None for loop in loops]), axis=listed(axis_of), room=listed(rooms),
        unsplit=listed(unsplit(space)), advancing=table(advancing, -1), outside=np.array(outside, dtype=np.int64),
        above=table([[sum(loop.line == line for loop in one) for line in lines] for one in over]),
        temporals=table([[sum(loop.line == line and loop.axis is None for loop in one) for line in lines] for one in over]),
        counted=table([[place in counted for place in places] for _, _, counted in frames.found]),
        steps=listed([sum(loop.axis is None for loop in one) for one in over]))
