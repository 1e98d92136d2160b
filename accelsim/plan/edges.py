"""What an array asks a memory for: the elements that its PEs need, from loops and positions, by their places in tiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.sram_addresses import AXIS_WIDTH, DIM_WIDTH, TERM_WIDTH, touched
from accelsim.plan.images import TensorImage
from accelsim.spec.case import Case
from accelsim.spec.chip import ArrayModel
from accelsim.spec.nest import NestLoop
from accelsim.spec.operator import Tensor

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Lanes:
    """PEs that need elements of their own. ``offsets``: int64[m, lines] from the first PE's position. ``enter``, ``leave``:
    int64[m], cycles after the first that an element of a systolic array enters at its edge, and that a result leaves it.
    ``order``: int64[m], where a stationary word (which is a lane too) comes among those of its array, row by row. ``array``:
    int64[m], which array's.
    """

    offsets: Ints
    enter: Ints
    leave: Ints
    order: Ints
    array: Ints


def lanes(case: Case, entry: int, tensor: Tensor, *, stationary: bool) -> Lanes:
    """The PEs inside one instance of an entry over which a tensor's elements differ; for a stationary one, with its words."""
    nest, array = case.nest, case.array_entry
    own = {line for dim in tensor.dims for line in nest.line_of(dim) if line is not None}
    words = [loop for loop in nest.own(array) if loop.axis is None and loop.line in own] if stationary else []
    spatial = [loop for loop in nest.loops if loop.axis is not None and loop.entry >= entry and loop.line in own]
    # y before x, so that a row of the array stays together
    inner = sorted((loop for loop in spatial if loop.entry == array), key=lambda loop: loop.axis != "y")
    loops = [*words, *(loop for loop in spatial if loop.entry < array), *inner]
    bounds = [loop.bound for loop in loops]
    indices: Ints = np.indices(bounds, dtype=np.int64).reshape(len(bounds), prod(bounds)).T
    offsets: Ints = np.zeros((len(indices), len(nest.lines)), dtype=np.int64)
    for place, loop in enumerate(loops):
        offsets[:, loop.line] += indices[:, place] * loop.stride
    y, x = (_coordinate(case, loops, indices, axis) for axis in "yx")
    systolic = case.chip.array.model is ArrayModel.SYSTOLIC
    edge = {axis: case.chip.array.extent(axis) - 1 for axis in "xy"}
    moved = {axis: any(loop.axis == axis and loop.entry == array for loop in loops) for axis in "xy"}
    enter = y + x if systolic else np.zeros_like(x)
    leave = (y if moved["y"] else edge["y"]) + (x if moved["x"] else edge["x"]) if systolic else np.zeros_like(x)
    numbers: Ints = np.arange(len(indices), dtype=np.int64)
    each = prod(loop.bound for loop in inner)
    every = prod(loop.bound for loop in spatial)
    word = numbers // every
    order = ((word * (edge["y"] + 1) + y) * (edge["x"] + 1) + x) if systolic else word * each + numbers % each
    return Lanes(offsets, enter, leave + np.zeros_like(x), order, numbers % every // each)


def _coordinate(case: Case, loops: Sequence[NestLoop], indices: Ints, axis: str) -> Ints:
    """Where along an axis of the array each lane's PE is."""
    found: Ints = np.zeros(len(indices), dtype=np.int64)
    for place, loop in enumerate(loops):
        if loop.axis == axis and loop.entry == case.array_entry:
            inside = [later for later in case.nest.own(case.array_entry) if later.axis == axis]
            weight = prod(later.bound for later in inside[inside.index(loop) + 1:])
            found += indices[:, place] * weight
    return found


class Tile:
    """A tile of a tensor at an entry: which indices it has along each axis, and so where an element stands in it.

    ``whole``: all of the tensor (its home). ``counts``: indices along each axis.
    """

    def __init__(self, case: Case, entry: int, tensor: Tensor, position: Sequence[int], *, whole: bool) -> None:
        self.case = case
        self.tensor = tensor
        self.position = tuple(position)
        self.indices: list[Ints] = []
        images = [] if whole else TensorImage(case, entry, tensor).axes
        for number, axis in enumerate(tensor.axes):
            if whole:
                self.indices.append(np.arange(axis.extent, dtype=np.int64))
            else:
                found = images[number].at(position)
                self.indices.append(found.low + np.array([i for i in range(found.bits.bit_length()) if found.bits >> i & 1],
                                                         dtype=np.int64))
        self.counts = tuple(len(own) for own in self.indices)

    @property
    def elements(self) -> int:
        """All its elements."""
        return prod(self.counts)

    @cached_property
    def _tables(self) -> tuple[Ints, Ints, Ints, Ints]:
        """(dims, axes, terms, ranks) as the kernel takes them."""
        nest, dims = self.case.nest, list(self.case.operator.dims)
        table = []
        for dim in dims:
            plain, flat = nest.line_of(dim)
            divisor = count = unit = 1
            if flat is not None:
                line = nest.lines[flat]
                place = line.dims.index(dim)
                divisor = prod(member.count for member in line.members[place + 1:])
                count, unit = line.members[place].count, line.members[place].unit
            table.append((plain, -1 if flat is None else flat, divisor, count, unit, self.case.operator.dims[dim]))
        axes: list[tuple[int, ...]] = []
        terms: list[tuple[int, int]] = []
        ranks: list[Ints] = []
        begins = 0
        for number, axis in enumerate(self.tensor.axes):
            axes.append((len(terms), len(axis.form.terms), axis.form.offset, axis.extent, begins, prod(self.counts[number + 1:])))
            terms += [(dims.index(dim), coefficient) for dim, coefficient in axis.form.terms]
            rank: Ints = np.full(axis.extent, -1, dtype=np.int64)
            rank[self.indices[number]] = np.arange(self.counts[number])
            ranks.append(rank)
            begins += axis.extent
        return (np.array(table, dtype=np.int64).reshape(-1, DIM_WIDTH), np.array(axes, dtype=np.int64).reshape(-1, AXIS_WIDTH),
                np.array(terms, dtype=np.int64).reshape(-1, TERM_WIDTH), np.concatenate([*ranks, np.zeros(0, dtype=np.int64)]))

    def places(self, positions: Ints, own: Lanes) -> Ints:
        """int64[n, m], row-major places in the tile that the lanes need at n positions; -1: nothing to do, or padding."""
        found: Ints = np.empty((len(positions), len(own.offsets)), dtype=np.int64)
        extents: Ints = np.array([line.extent for line in self.case.nest.lines], dtype=np.int64)
        dims, axes, terms, ranks = self._tables
        touched(np.ascontiguousarray(positions), own.offsets, extents, dims, axes, terms, ranks, found)
        return found

    def without(self, held: Tile | None) -> Ints:
        """Places of its elements that another tile does not have, in order."""
        if held is None:
            return np.arange(self.elements, dtype=np.int64)
        kept: NDArray[np.bool_] = np.ones((1,), dtype=np.bool_)
        for own, other in zip(self.indices, held.indices, strict=True):
            kept = (kept[:, None] & np.isin(own, other)[None, :]).ravel()
        return np.flatnonzero(~kept).astype(np.int64)

    def same(self, other: Tile) -> bool:
        """Whether another tile has the same elements."""
        return all(np.array_equal(own, its) for own, its in zip(self.indices, other.indices, strict=True))


def new_lanes(tile: Tile, own: Lanes, position: Sequence[int], held: Sequence[int] | None) -> tuple[Ints, Ints]:
    """(lanes, their places in the tile) of the words that move into or out of registers at a position, in the lanes' order: of
    PEs of an array that need the same word the first, and none whose word its array holds from another position (None: none).
    """
    places = tile.places(np.array([position], dtype=np.int64), own)[0]
    keys = own.array * tile.elements + places
    moves = places >= 0
    if held is not None:
        before = tile.places(np.array([held], dtype=np.int64), own)[0]
        moves &= ~np.isin(keys, (own.array * tile.elements + before)[before >= 0])
    found = np.flatnonzero(moves)
    found = found[np.argsort(own.order[found], kind="stable")]
    found = found[np.sort(np.unique(keys[found], return_index=True)[1])]
    return found, places[found]


def turns(case: Case, own: Lanes, moved: Ints) -> Ints:
    """Which word of its array each of some lanes comes as: in a systolic array as its row is shifted in, else one by one."""
    if case.chip.array.model is ArrayModel.SYSTOLIC:
        return own.order[moved]
    found: Ints = np.zeros_like(moved)
    for number in np.unique(own.array[moved]):
        these = own.array[moved] == number
        found[these] = np.arange(np.count_nonzero(these))
    return found
