"""Which transfers brought what steps use, where a record is asked to tell.

It is told among the rows of the record: one whose state is below 0 is (lane of an array, first tick of its step, first tick of
the transfer's row, -1 - lane of that row, tensor).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

ARRAY, STEP, PORT, SERVICE, FEED_WIDTH = range(5)
"""Columns of a table of feeds: an array's lane, a step's first tick, a port's or link's lane, the first tick of a row there."""


def told(array: int, step: int, row: tuple[int, int], label: int) -> tuple[int, int, int, int, int]:
    """How a row of a record tells it. ``row``: lane and first tick of the transfer's."""
    lane, tick = row
    return array, step, tick, -1 - lane, label


class Feeds:
    """What is told of steps that begin from one tick on and before another (None: without end), in any order."""

    def __init__(self, first: int, last: int | None) -> None:
        self._first = first
        self._last = last
        self._found: list[Ints] = []

    def take(self, rows: Ints, before: int | None) -> Ints:
        """Take what tells of feeds out of rows; returns the others. ``before``: no step from that tick on is wanted."""
        tells = rows[:, 3] < 0
        if not tells.any():
            return rows
        found = rows[tells]
        found = found[found[:, 1] >= self._first]
        for last in (self._last, before):
            found = found if last is None else found[found[:, 1] < last]
        self._found.append(np.stack([found[:, 0], found[:, 1], -1 - found[:, 3], found[:, 2]], axis=1))
        return rows[~tells]

    def table(self, before: int) -> Ints:
        """Of each transfer and array the first step that uses what came by it, if that begins before a tick: int64[n, 4], in
        order of the steps.
        """
        found = np.concatenate([np.zeros((0, FEED_WIDTH), dtype=np.int64), *self._found])
        found = found[found[:, STEP] < before]
        found = found[np.lexsort((found[:, SERVICE], found[:, PORT], found[:, ARRAY], found[:, STEP]))]
        _, firsts = np.unique(found[:, [ARRAY, PORT, SERVICE]], axis=0, return_index=True)
        return found[np.sort(firsts)]
