"""The estimate of many mappings of one chip and operator at once: what a search prunes with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from accelsim.errors import LimitExceeded
from accelsim.kernels.estimate_batch import estimate_batch
from accelsim.kernels.line_steps import EVEN, MOST_PRODUCT, TOO_LARGE
from accelsim.search.lowering import Lowered, lower
from accelsim.search.mapspace import Column, Mapspace, mapspace
from accelsim.spec.chip import Chip
from accelsim.spec.mapping import Mapping
from accelsim.spec.operator import Operator

KINDS = ("fill_elements", "drain_elements", "refill_elements", "fill_bytes", "drain_bytes", "refill_bytes",
         "array_read_bytes", "array_write_bytes")
"""Last axis of ``BatchEstimate.traffic``: the fields of ``analytic.result.Traffic``."""


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
        self._lowered: Lowered = lower(self.space)

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
        table = self._table(bounds)
        chosen = np.ascontiguousarray(np.broadcast_to(np.asarray(order), len(table)), dtype=np.int64)
        if len(table) and not 0 <= int(chosen.min()) <= int(chosen.max()) < len(self.space.orders):
            raise ValueError(f"orders {chosen.min()} to {chosen.max()}; there are {len(self.space.orders)}, counted from 0")
        found = estimate_batch(self._lowered.nest, self._lowered.windows, self._lowered.flows, table, chosen, traffic=traffic)
        large = np.flatnonzero(found.states == TOO_LARGE)
        if len(large):
            raise LimitExceeded(f"row {large[0]}: the bounds of one dimension multiply to more than {MOST_PRODUCT:,}")
        legal = found.states <= EVEN
        return BatchEstimate(legal, legal & (found.fitting == 1), found.cycles, found.bound_by, self._lowered.bound_names,
                             found.traffic)

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
