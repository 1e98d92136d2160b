"""Axes of an input whose images overlap, have gaps or are clipped, as integer tables; their tiles under many bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accelsim.analytic.moves import injective
from accelsim.kernels.estimate_layout import I_LOOKS, I_TOUCHED, IMAGE_WIDTH
from accelsim.kernels.estimate_windows import SCRATCH, images, settings
from accelsim.search.looks import FIRST_INSTANCE, Look
from accelsim.search.nest_tables import NestTables, listed, table
from accelsim.spec.case import Case
from accelsim.spec.operator import Axis, Tensor

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Images:
    """Settings of a tensor's windows: ``setting[row, window]`` begins in ``words``, laid out as in ``kernels.estimate_layout``.

    ``most``: images that the windows of one step can have together.
    """

    setting: Ints
    words: Ints
    most: int


class Windows:
    """The windows of one tensor: ``lines`` of each, ``along[order, place, window]``: temporal loops of its axis before a place;
    ``member[window, line]``: 1 for its lines.

    ``looks``: (frame, look) in the order of the tensor's jobs; ``touching``: the frame of one iteration of the array.
    """

    def __init__(self, case: Case, tensor: Tensor, nest: NestTables, looks: Sequence[tuple[int, Look]], touching: int) -> None:
        self.nest, self.axes = nest, [axis for axis in tensor.axes if axis.dims and not injective(axis, case.operator)]
        self._line = {line.dims[0]: number for number, line in enumerate(case.nest.lines)}
        self.lines = [sorted(self._line[dim] for dim in axis.dims) for axis in self.axes]
        self.along = np.stack([nest.outside[:, :, own].sum(axis=2) for own in self.lines], axis=2) if self.axes else (
            np.zeros((*nest.outside.shape[:2], 0), dtype=np.int64))
        self.member = table([[int(line in own) for line in range(len(nest.extent))] for own in self.lines])
        self._frame = listed([*(frame for frame, _ in looks), touching])
        self.looks = len(self._frame)
        self._temporals = [listed([int(nest.temporals[frame, own].sum()) for frame in self._frame]) for own in self.lines]
        self.states = 2 * max((1, *(int(own.max()) for own in self._temporals))) + 1
        self._asked = listed([*(look == FIRST_INSTANCE for _, look in looks), False])
        self._merged = table([*([place in look.merged for place in range(len(nest.line_of))] for _, look in looks),
                              [False] * len(nest.line_of)])

    def images(self, bounds: Ints, order: Ints, begin: int) -> Images:
        """Tiles under each row of ``bounds``, which must be legal; rows that share the loops of an axis share its tables.

        ``begin``: how many words of other tensors come before.
        """
        rows, made, columns = len(bounds), 0, self.looks * self.states
        setting = np.zeros((rows, len(self.axes)), dtype=np.int64)
        first_rows = []
        for number, lines in enumerate(self.lines):
            chosen, first_row = np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int64)
            slots = np.full(1 << max(4, (2 * rows).bit_length()), -1, dtype=np.int64)
            here = settings(bounds, order, np.flatnonzero(np.isin(self.nest.line_of, lines)), slots, chosen, first_row)
            setting[:, number] = chosen + made
            first_rows.append(first_row[:here])
            made += here
        first, count = np.zeros((made, columns), dtype=np.int64), np.zeros((made, columns), dtype=np.int64)
        largest, touched = np.zeros((made, self.looks), dtype=np.int64), np.zeros(made, dtype=np.int64)
        record = np.zeros((64 + 8 * made, 3), dtype=np.int64)
        used = made_before = 0
        for axis, temporals, own_rows in zip(self.axes, self._temporals, first_rows, strict=True):
            until = -1
            while until < 0:
                own = slice(made_before, made_before + len(own_rows))
                touched[own] = 0
                until = self._walk(axis, temporals, bounds, order, own_rows, used, first[own], count[own], record, largest[own],
                                   touched[own])
                if until < 0:
                    record = np.concatenate([record, np.zeros_like(record)])
            used, made_before = until, made_before + len(own_rows)
        width, state = I_LOOKS + self.looks + 2 * columns, I_LOOKS + self.looks
        words = np.empty((made, width), dtype=np.int64)
        words[:, I_TOUCHED], words[:, I_LOOKS:state] = touched, largest
        words[:, state::2], words[:, state + 1::2] = first * IMAGE_WIDTH + begin + words.size, count
        return Images(setting * width + begin, np.concatenate([words.ravel(), record[:used].ravel()]),
                      int(count.max(initial=1)) ** len(self.axes))

    def _walk(self, axis: Axis, temporals: Ints, bounds: Ints, order: Ints, rows: Ints, used: int, first: Ints, number: Ints,
              record: Ints, largest: Ints, touched: Ints) -> int:
        nest = self.nest
        terms = sorted((coefficient, self._line[dim]) for dim, coefficient in axis.form.terms)
        lines = {line for _, line in terms}
        rank = np.full((len(nest.advancing), len(nest.line_of)), -1, dtype=np.int64)
        for own, advancing in zip(rank, nest.advancing, strict=True):
            inside = [place for place in advancing if place >= 0 and nest.line_of[place] in lines]
            own[inside] = range(len(inside))
        return images(nest.extent, nest.loops, nest.length, nest.temporal, nest.above, nest.counted, bounds, order, rows,
                      axis.form.offset, axis.extent, listed([line for _, line in terms]),
                      listed([coefficient for coefficient, _ in terms]), rank, self._frame, temporals, self._merged,
                      self._asked, used, first, number, record, largest, touched,
                      np.empty((len(terms), int(nest.extent.max()), SCRATCH + 1), dtype=np.int64),
                      np.empty((len(terms), SCRATCH), dtype=np.int64),
                      np.empty((4, max(len(terms), bounds.shape[1], axis.extent)), dtype=np.int64))
