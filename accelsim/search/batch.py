"""The estimate of many mappings of one chip and operator at once: what a search prunes with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from accelsim.errors import LimitExceeded
from accelsim.kernels.line_steps import EVEN, MOST_PRODUCT, TOO_LARGE, lay_out
from accelsim.search.bounds import Bounds, fits
from accelsim.search.counted import Counted
from accelsim.search.mapspace import Column, Mapspace, mapspace
from accelsim.search.model import Model
from accelsim.spec.chip import Chip
from accelsim.spec.mapping import Mapping
from accelsim.spec.operator import Operator

KINDS = ("fill_elements", "drain_elements", "refill_elements", "fill_bytes", "drain_bytes", "refill_bytes",
         "array_read_bytes", "array_write_bytes")
"""Last axis of ``BatchEstimate.traffic``: the fields of ``analytic.result.Traffic``."""

NO_CYCLES = 2**63 - 1
"""Cycles of a row that is no mapping of the chip: more than any mapping's."""

SETTINGS = 1 << 16
"""Rows among which the tables of windows are shared."""

CHUNK = 1 << 11
"""Rows that are taken through all sums at once: few enough to stay in a core's cache."""


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
        return found

    def _fill(self, found: BatchEstimate, table: NDArray[np.int64], order: NDArray[np.int64], begin: int) -> None:
        """Estimates rows from ``begin`` on: those that are mappings, in chunks."""
        stride, digit, states = self._lay_out(table, order)
        large = np.flatnonzero(states == TOO_LARGE)
        if len(large):
            raise LimitExceeded(f"row {begin + large[0]}: the bounds of one dimension multiply to more than {MOST_PRODUCT:,}")
        rows, many = np.flatnonzero(states <= EVEN), len(table)
        if len(rows) < many:
            table, order, stride, digit, states = table[rows], order[rows], stride[rows], digit[rows], states[rows]
        images = [tensor.windows.images(table, order) for tensor in self._model.tensors]
        for first in range(0, len(rows), CHUNK):
            part = slice(first, first + CHUNK)
            own = slice(begin + first, begin + min(first + CHUNK, many)) if len(rows) == many else begin + rows[part]
            moved = found.traffic[own] if len(found.traffic) else None  # where all are legal, the rows themselves
            counted = Counted(self._model, table[part], order[part], stride[part], digit[part],
                              [one.part(part) for one in images], moved)
            limits = Bounds(self._model, counted, states[part] == EVEN)
            found.legal[own], found.fits[own] = True, fits(self._model, counted)
            found.cycles[own], found.bound_by[own] = limits.cycles, limits.bound_by
            if moved is not None and len(rows) < many:
                found.traffic[own] = moved

    def _lay_out(self, bounds: NDArray[np.int64], order: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
        """Strides and digits of the last position, and what each row is (``kernels.line_steps``)."""
        nest = self._model.nest
        stride, digit, states = np.zeros_like(bounds), np.zeros_like(bounds), np.zeros(len(bounds), dtype=np.int64)
        lay_out(nest.extent, nest.loops, nest.length, nest.temporal, nest.axis, nest.room, nest.unsplit, bounds, order,
                np.zeros_like(nest.room), stride, digit, states)
        return stride, digit, states

    def _table(self, bounds: ArrayLike) -> NDArray[np.int64]:
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
