"""A mapspace as integer tables: what the kernels of the batch estimate take, besides the bounds of each mapping.

A *column* is a loop of the mapspace; its bounds are what varies. A *line* is a dimension; its loops above a tile, and
which of its instances are counted, make a *frame*. Tables are C-contiguous int64; -1 fills what a shorter row leaves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

Ints = NDArray[np.int64]

INT = types.int64
VOID = types.void
ROW = types.Array(types.int64, 1, "C")
TABLE = types.Array(types.int64, 2, "C")
CUBE = types.Array(types.int64, 3, "C")


class Nest(NamedTuple):
    """Loops and frames.

    ``extent[line]``; ``loops[order, line, i]``: the line's columns, outermost first, ``length[line]`` of them;
    ``line[column]``; ``temporal[column]`` (0 or 1); ``advancing[order, place]``: all temporal columns, outermost first;
    ``outside[order, place, line]``: how many temporal loops of the line stand before that place (one place more: all of
    them). ``axis[column]`` of a
    spatial loop (else -1), ``room[axis]`` instances or PEs; ``unsplit[column]``: 1 where no bound but 1 is legal.

    Frames: ``above[frame, line]`` loops of the line stand above the tile, ``temporals[frame, line]`` of them temporal;
    ``counted[frame, column]``: 1 for spatial loops whose instances are all counted; ``steps[frame]`` places of
    ``advancing`` are above.
    """

    extent: Ints
    loops: Ints
    length: Ints
    line: Ints
    temporal: Ints
    advancing: Ints
    outside: Ints
    axis: Ints
    room: Ints
    unsplit: Ints
    above: Ints
    temporals: Ints
    counted: Ints
    steps: Ints


NEST = types.NamedTuple((ROW, CUBE, ROW, ROW, ROW, TABLE, CUBE, ROW, ROW, ROW, TABLE, TABLE, TABLE, ROW), Nest)


class Windows(NamedTuple):
    """Axes whose images overlap, have gaps or are clipped: one window for each such axis of each input.

    ``terms[window]`` dimensions with ``line[window, term]`` and ``coefficient[window, term]`` (smallest first),
    ``offset[window]``, ``extent[window]`` of the tensor. ``rank[order, window, column]``: place of a temporal loop among
    those of the axis, outermost first, else -1.

    Looks: ``looks[window]`` of them with ``frame[window, look]``, ``temporals[window, look]`` loops of the axis above,
    and ``merged[window, look, column]``: 1 for a spatial loop whose instances are taken as one tile where they divide the
    line, and left at 0 elsewhere. ``largest[window, look]``: 1 where the largest tile is asked for. The last look is
    one iteration of the array.
    """

    terms: Ints
    line: Ints
    coefficient: Ints
    offset: Ints
    extent: Ints
    rank: Ints
    looks: Ints
    frame: Ints
    temporals: Ints
    merged: Ints
    largest: Ints


WINDOWS = types.NamedTuple((ROW, TABLE, TABLE, ROW, ROW, CUBE, ROW, TABLE, TABLE, CUBE, TABLE), Windows)


class Images(NamedTuple):
    """Tables of windows, one for each different *setting* of the bounds of their loops.

    The records of a setting, look and state are ``record[first .. first + number - 1]`` with columns (size, shared with
    the step before, how often); ``first`` and ``number``: [setting, look, state]. State 2 i: a loop of another line
    advances that has i temporal loops of the axis outside it (0: the first step); 2 i + 1: loop i of the axis does.
    ``largest[setting, look]``: elements of the largest tile; ``touched[setting]``: elements touched, over all iterations.
    """

    first: Ints
    number: Ints
    record: Ints
    largest: Ints
    touched: Ints


IMAGES = types.NamedTuple((CUBE, CUBE, TABLE, TABLE, ROW), Images)
