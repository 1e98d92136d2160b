"""The estimate of many mappings of one chip and operator at once: what a search prunes with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from accelsim.errors import LimitExceeded
from accelsim.kernels.estimate_layout import IMAGE_WIDTH, TILE_WIDTH
from accelsim.kernels.estimate_rows import estimate_rows
from accelsim.kernels.estimate_steps import EVEN, MOST_PRODUCT, TOO_LARGE, count_steps, lay_out
from accelsim.search.mapspace import Column, Mapspace, mapspace
from accelsim.search.model import Model
from accelsim.search.packed import Packed
from accelsim.spec.chip import Chip
from accelsim.spec.mapping import Mapping
from accelsim.spec.operator import Operator

Ints = NDArray[np.int64]

KINDS = ("fill_elements", "drain_elements", "refill_elements", "fill_bytes", "drain_bytes", "refill_bytes",
         "array_read_bytes", "array_write_bytes")
"""Last axis of ``BatchEstimate.traffic``: the fields of ``analytic.result.Traffic``."""

NO_CYCLES = 2**63 - 1
"""Cycles of a row that is no mapping of the chip: more than any mapping's."""

SETTINGS = 1 << 16
"""Rows among which the tables of lines and windows are shared."""

SLOTS = 1 << 12
"""Settings of a line that are remembered at a time, a power of two."""

WINDOW_SIZES = 64
"""Room for different tiles of a windowed tensor, at first; half of it may be used."""


@dataclass(frozen=True)
class BatchEstimate:
    """The estimate of every row, each equal to that of its mapping alone.

    ``legal``: bool[rows], whether the row is a mapping of the chip: its bounds cover the extents and fill no axis twice.
    ``fits``: bool[rows], whether the tiles of a legal row fit all memories and registers as well. ``cycles``: int64[rows];
    NO_CYCLES where a row is not legal, and as if there were room where its tiles do not fit. ``bound_by``: int64[rows],
    the place in ``bound_names`` of the bound that ``cycles`` is (-1 where a row is not legal). ``traffic``: int64[rows,
    entries, tensors, KINDS], summed over all instances, or no rows if it was not asked for; entries outermost first, the
    array last, tensors as in the operator.
    """

    legal: NDArray[np.bool_]
    fits: NDArray[np.bool_]
    cycles: NDArray[np.int64]
    bound_by: NDArray[np.int64]
    bound_names: tuple[str, ...]
    traffic: NDArray[np.int64]


class BatchEstimator:
    """A mapspace ready to be estimated: ``template`` fixes its loops, bindings and buffers, a table their bounds.

    Raises SpecError where no bounds make the template a mapping of the chip, or where it has what no table counts
    (flattened lists of loops, outputs smaller than their dimensions); LimitExceeded where sums could pass 64 bits.
    """

    def __init__(self, chip: Chip, operator: Operator, template: Mapping, orders: Sequence[Sequence[int]] = ()) -> None:
        """``orders``: further orders of the temporal loops of each level, permutations of the columns' numbers."""
        self.space: Mapspace = mapspace(chip, operator, template, orders)
        self._model = Model(self.space)
        self._packed = Packed(self._model)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The loops that the columns of ``bounds`` belong to."""
        return self.space.columns

    def mapping(self, bounds: Sequence[int], order: int = 0) -> Mapping:
        """The mapping of one row; ``order`` 0 is the template's own."""
        return self.space.mapping(bounds, order)

    def estimate(self, bounds: ArrayLike, order: ArrayLike = 0, *, traffic: bool = True) -> BatchEstimate:
        """The estimate of ``bounds``, integers [rows, columns], each row in its ``order`` (one number, or one for each row).

        Without ``traffic`` less memory is written (8 numbers a row, entry and tensor). Raises ValueError for another shape,
        numbers that are no integers or an order that does not exist, and LimitExceeded where the bounds of one dimension
        multiply to more than 2**31.
        """
        table, asked = self._table(bounds), np.asarray(order)
        if asked.dtype.kind not in "iu" and asked.size:
            raise ValueError(f"orders of type {asked.dtype}; wanted: integers")
        chosen = np.broadcast_to(asked, len(table)).astype(np.int64)
        if len(table) and not 0 <= int(chosen.min()) <= int(chosen.max()) < len(self.space.orders):
            raise ValueError(f"orders {chosen.min()} to {chosen.max()}; there are {len(self.space.orders)}, counted from 0")
        entries, tensors = self._model.case.array_entry + 1, len(self._model.tensors)
        found = BatchEstimate(np.zeros(len(table), dtype=np.bool_), np.zeros(len(table), dtype=np.bool_),
                              np.full(len(table), NO_CYCLES, dtype=np.int64), np.full(len(table), -1, dtype=np.int64),
                              self._model.bound_names,
                              np.zeros((entries, tensors, len(KINDS), len(table) if traffic else 0),
                                       dtype=np.int64).transpose(3, 0, 1, 2))  # stored column by column, as it is filled
        for begin in range(0, len(table), SETTINGS):
            part = slice(begin, begin + SETTINGS)
            self._fill(found, table[part], chosen[part], begin)
        for number, bound in enumerate(self._model.cold, len(found.bound_names) - len(self._model.cold)):
            low = found.legal & (found.cycles < bound.cycles)
            found.cycles[low], found.bound_by[low] = bound.cycles, number
        found.cycles[found.legal] += self.space.chip.launch_cycles
        return found

    def _fill(self, found: BatchEstimate, table: Ints, order: Ints, begin: int) -> None:
        """Estimates rows from ``begin`` on: those that are mappings."""
        states, setting, steps = self._settings(table, order)
        large = np.flatnonzero(states == TOO_LARGE)
        if len(large):
            raise LimitExceeded(f"row {begin + large[0]}: the bounds of one dimension multiply to more than {MOST_PRODUCT:,}")
        rows = np.flatnonzero(states <= EVEN)
        if len(rows) < len(table):
            table, order, states, setting = table[rows], order[rows], states[rows], setting[rows]
        place = begin + rows
        found.legal[place] = True
        image, images, most = self._images(table, order)
        scratch, room, traffic = np.empty(self._packed.scratch, dtype=np.int64), WINDOW_SIZES, found.traffic.transpose(1, 2, 3, 0)
        done = 0
        while done < len(rows):
            tiles = np.empty(TILE_WIDTH * max(room, self._packed.masks), dtype=np.int64)
            done = estimate_rows(
                self._packed.words, table, order, states, setting, steps, image, images, done, scratch, tiles,
                np.empty(room, dtype=np.int64), np.empty(most * IMAGE_WIDTH, dtype=np.int64), traffic.reshape(-1),
                len(found.traffic), place, found.cycles, found.bound_by, found.fits)
            room *= 4

    def _settings(self, bounds: Ints, order: Ints) -> tuple[Ints, Ints, Ints]:
        """What each row is, the settings of its lines, and the steps of each setting (``kernels.estimate_steps``)."""
        nest, lines = self._model.nest, len(self._model.nest.extent)
        setting, states = np.zeros((len(bounds), lines), dtype=np.int64), np.empty(len(bounds), dtype=np.int64)
        line_of, row_of, kind = (np.empty(setting.size, dtype=np.int64) for _ in range(3))
        number = lay_out(nest.extent, nest.loops, nest.length, nest.temporal, nest.axis, nest.room, nest.unsplit, bounds, order,
                         np.empty_like(nest.room), np.full((lines, SLOTS), -1, dtype=np.int64), setting, line_of, row_of, kind,
                         states)
        steps = np.empty((number, *self._packed.shape), dtype=np.int64)
        count_steps(nest.extent, nest.loops, nest.length, nest.temporal, nest.above, nest.temporals, nest.counted, bounds, order,
                    line_of, row_of, kind, np.empty((2, bounds.shape[1]), dtype=np.int64), steps)
        return states, setting, steps.reshape(-1)

    def _images(self, bounds: Ints, order: Ints) -> tuple[Ints, Ints, int]:
        """(where the setting of each row and window begins, the images of all, most of them of one step)."""
        setting, words, most = [np.zeros((len(bounds), 0), dtype=np.int64)], [np.zeros(0, dtype=np.int64)], 1
        for tensor in self._model.tensors:
            if tensor.windows.axes:
                found = tensor.windows.images(bounds, order, sum(map(len, words)))
                setting, words, most = [*setting, found.setting], [*words, found.words], max(most, found.most)
        return np.concatenate(setting, axis=1), np.concatenate(words), most

    def _table(self, bounds: ArrayLike) -> Ints:
        """The bounds with those of the native step after them."""
        given = np.asarray(bounds)
        if given.ndim != 2 or given.shape[1] != len(self.columns) or (given.size and given.dtype.kind not in "iu"):
            raise ValueError(f"bounds of shape {given.shape} and type {given.dtype}; wanted: integers, one column for each of "
                             f"{len(self.columns)} loops")
        native = self.space.native
        whole = np.empty((len(given), len(self.columns) + len(native)), dtype=np.int64)
        whole[:, :len(self.columns)] = given
        whole[:, len(self.columns):] = native
        return whole
