"""What the array does in one step of the innermost level that feeds it: MACs, cycles' worth of iterations, operands.

Everything factorises over the lines of the nest: the iterations are a product over lines, and a tensor's axes depend
on disjoint lines. So per-line tables are made once and multiplied.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.walk import STEP_WIDTH, walk_steps
from accelsim.plan.images import DimRange, image
from accelsim.plan.walk import Walk
from accelsim.spec.case import Case
from accelsim.spec.chip import Access
from accelsim.spec.nest import NestLoop
from accelsim.spec.operator import Axis, Role, Tensor

Ints = NDArray[np.int64]


class Amounts(NamedTuple):
    """Work of a step. ``hold``: cycles of the fullest instance for its ``passes`` (array steps); MACs of all; per tensor the
    elements read (or, for the output, updated) by all that the fullest feeding memory sees beside each other, and by all; and of
    the output's those that find nothing to add to.
    """

    hold: int
    passes: int
    macs: int
    beside: tuple[int, ...]
    every: tuple[int, ...]
    beside_first: int
    every_first: int


Runs = tuple[tuple[int, int], ...]


def _reached(starts: list[int], loops: Sequence[NestLoop], left: int) -> list[int]:
    """Where the iterations of some loops begin, from each of these places on, before ``left``."""
    for loop in loops:
        starts = [start + i * loop.stride for start in starts for i in range(loop.bound) if start + i * loop.stride < left]
    return starts


class LineTable:
    """Iterations along one line inside the feeding entry: offsets and lengths of the array's spatial runs."""

    def __init__(self, case: Case, line: int) -> None:
        entry, array = case.deepest_feeding, case.array_entry
        loops = [loop for loop in case.nest.loops if loop.line == line]
        temporal = [loop for loop in loops if loop.axis is None and loop.entry >= entry]
        self.above = [loop for loop in temporal if loop.entry < array]
        self.own = [loop for loop in temporal if loop.entry == array]
        self.spatial = prod(loop.bound for loop in loops if loop.axis is not None and loop.entry == array)
        self.together = [loop for loop in loops
                         if loop.axis is not None and loop.entry < array and case.lockstep(loop.entry + 1)]
        self.reach = case.nest.tiles[entry][line] + sum((loop.bound - 1) * loop.stride for loop in self.together)
        self._made: dict[int, tuple[Runs, int]] = {}
        self._spread: dict[tuple[int, int, int], tuple[Runs, int]] = {}

    def at(self, left: int) -> tuple[Runs, int]:
        """((offset, length) of each iteration's run, array passes) where ``left`` units remain to the edge."""
        left = min(left, self.reach)
        found = self._made.get(left)
        if found is None:
            starts = _reached([0], self.above, left)
            offsets = _reached(starts, self.own, left)
            found = tuple((offset, min(self.spatial, left - offset)) for offset in offsets), len(starts)
            self._made[left] = found
        return found

    def passes(self, left: int) -> Counter[int]:
        """How often a pass has how many iterations along the line, where ``left`` units remain to the edge."""
        return Counter(len(_reached([start], self.own, left)) for start in _reached([0], self.above, left))

    def spread(self, left: int, first: int, last: int) -> tuple[Runs, int]:
        """((offset, length) of the runs of lockstep instances, how many have any): those that differ in the splits of
        entries ``first`` to ``last`` (not included), at coordinate 0 in the others.
        """
        key = min(left, self.reach), first, last
        found = self._spread.get(key)
        if found is None:
            shifts = [0]
            for loop in self.together:
                if first <= loop.entry < last:
                    shifts = [shift + i * loop.stride for shift in shifts for i in range(loop.bound)]
            active = [shift for shift in shifts if shift < key[0]]
            runs = tuple((shift + offset, length) for shift in active for offset, length in self.at(key[0] - shift)[0])
            found = self._spread[key] = runs, len(active)
        return found


class Span(NamedTuple):
    """Which lockstep instances a sum is over, along lines the tensor depends on and along the others: entries (first,
    last) whose splits count; the others are at coordinate 0.
    """

    own: tuple[int, int]
    free: tuple[int, int]


class StepWork:
    """Work of a unit of the array per step of the feeding entry, from its positions along the lines.

    ``merged``: tensors whose elements pass once however many lockstep instances inside one feeding memory share them.
    """

    def __init__(self, case: Case, merged: Sequence[bool]) -> None:
        self.case = case
        nest = case.nest
        entry = case.deepest_feeding
        self.tables = [LineTable(case, line) for line in range(len(nest.lines))]
        self.extents = [line.extent for line in nest.lines]
        flat = [line for line, own in enumerate(nest.lines) if own.flattened]
        self.inside = {line for line in flat if nest.tiles[entry][line] > 1}
        self.dealt = {line for line in flat if self.tables[line].together} - self.inside
        members = {nest.line_of(dim)[0] for line in self.inside for dim in nest.lines[line].dims}
        self.counted = [line for line in range(len(nest.lines)) if line not in members]
        self.ranges = {dim: DimRange(nest, entry, dim, extent) for dim, extent in case.operator.dims.items()}
        reduced = case.operator.reduction_dims
        self.reduction = [line for line, own in enumerate(nest.lines) if set(own.dims) & reduced]
        self.sums = [TensorSum(self, tensor) for tensor in case.operator.tensors]
        self.output = next(i for i, tensor in enumerate(case.operator.tensors) if tensor is case.operator.output)
        every = (0, case.array_entry)
        none = (0, 0)
        feeds = [case.feeding(tensor.name) for tensor in case.operator.tensors]
        # one memory sees the instances below it, once for each set where a link merges them; all memories see all
        self.beside = [Span((feed, every[1]), none if once else (feed, every[1]))
                       for feed, once in zip(feeds, merged, strict=True)]
        self.every = [Span(every, (0, feed) if once else every) for feed, once in zip(feeds, merged, strict=True)]
        self.alone = all(not table.together for table in self.tables)
        self.moved = [self._moved(part, feed) for part, feed in zip(self.sums, feeds, strict=True)]
        self.padded = [one for one in self.sums if one.padded]
        self.loops = nest.temporal_above(entry)
        self.grid = nest.grid((*self.loops, *nest.spatial_above(case.array_entry)))
        self.kinds = [self._line_kinds(line) for line in range(len(nest.lines))]

    def _moved(self, part: TensorSum, feed: int) -> dict[int, list[int]]:
        """Along which lines lockstep memories stand, and where, if the first may not be the fullest, since padding comes first;
        where a memory gives in no time, it does not matter.
        """
        memory = self.case.memory(feed, part.tensor)
        port = None if memory is None else memory.port(Access.ARRAY_READ, part.tensor)
        if part.tensor.role is Role.OUTPUT or port is None or port.rate is None:
            return {}
        found = {line: _reached([0], [loop for loop in self.tables[line].together if loop.entry < feed], self.extents[line])
                 for line in sorted(part.placed)}
        return {line: places for line, places in found.items() if len(places) > 1}

    def _line_kinds(self, line: int) -> Ints:
        """Per position along a line, in multiples of its grid, a number for all that the amounts depend on there: how far it
        is to the edge, or the position itself where padded windows stand along it.
        """
        positions = np.arange(0, self.extents[line], self.grid[line], dtype=np.int64)
        if any(line in one.placed for one in self.padded):
            return np.arange(len(positions), dtype=np.int64)
        left = np.minimum(self.tables[line].reach, self.extents[line] - positions)
        return np.unique(left, return_inverse=True)[1].astype(np.int64)

    def amounts(self, position: Sequence[int], *, fresh: bool) -> Amounts:
        """Amounts of the step at these positions; ``fresh``: it is the first of its reduction, and finds nothing to add to."""
        left = [extent - start for extent, start in zip(self.extents, position, strict=True)]
        return self._amounts(left, position, fresh)

    def _amounts(self, left: Sequence[int], position: Sequence[int], fresh: bool) -> Amounts:
        macs = prod(sum(length for _, length in self.tables[line].spread(left[line], 0, self.case.array_entry)[0])
                    for line in self.counted)
        passes = prod(self.tables[line].at(left[line])[1] for line in self.counted)
        beside, beside_first = self._touched(left, position, self.beside)
        every, every_first = (beside, beside_first) if self.alone else self._touched(left, position, self.every)
        fullest = tuple([self._fullest(number, left, position) if moved else own
                         for number, (own, moved) in enumerate(zip(beside, self.moved, strict=True))])
        return Amounts(self._hold(left), passes, macs, fullest, every, beside_first if fresh else 0, every_first if fresh else 0)

    def _fullest(self, number: int, left: Sequence[int], position: Sequence[int]) -> int:
        """Elements touched of an operand from the memory that has most to give, of those in lockstep."""
        most, moved = 0, self.moved[number]
        for places in product(*moved.values()):
            rest, at = list(left), list(position)
            for line, place in zip(moved, places, strict=True):
                rest[line] -= place
                at[line] += place
            if min(rest) > 0:
                most = max(most, self._total(number, self.beside[number], rest, at))
        return most

    def _hold(self, left: Sequence[int]) -> int:
        """Cycles of the array alone, pass by pass."""
        if not self.case.chip.array.least_cycles:
            return self.case.interval_cycles * prod(len(self.tables[line].at(left[line])[0]) for line in self.counted)
        found = Counter({1: 1})
        for line in self.counted:
            own, before, found = self.tables[line].passes(min(left[line], self.tables[line].reach)), found, Counter()
            for (one, times), (other, more) in product(before.items(), own.items()):
                found[one * other] += times * more
        return sum(self.case.pass_cycles(iterations) * times for iterations, times in found.items())

    def _touched(self, left: Sequence[int], position: Sequence[int], spans: Sequence[Span]) -> tuple[tuple[int, ...], int]:
        """Elements touched per tensor over the instances of its span, and the output's share that finds nothing to add to:
        one iteration of the reduction in each instance.
        """
        totals = []
        share, parts = 1, 1
        for number, span in enumerate(spans):
            totals.append(self._total(number, span, left, position))
            if number == self.output:
                free = {line: self.tables[line].spread(left[line], *span.free) for line in self.counted}
                lines = [line for line in self.reduction if line in free]
                share = prod(free[line][1] for line in lines)
                parts = prod(len(free[line][0]) for line in lines)
        return tuple(totals), totals[self.output] * share // parts

    def _total(self, number: int, span: Span, left: Sequence[int], position: Sequence[int]) -> int:
        own = {line: self.tables[line].spread(left[line], *span.own)[0] for line in self.counted}
        free = {line: self.tables[line].spread(left[line], *span.free)[0] for line in self.counted}
        return self.sums[number].total(own, free, position)


class StepWalk(Walk):
    """The steps of the feeding entry for a unit at these base positions, each with the code of its kind."""

    def __init__(self, work: StepWork, base: Sequence[int]) -> None:
        self._base = base
        self._loops = work.loops
        lines = range(len(base))
        first = [sum(len(own) for own in work.kinds[:line]) for line in lines]
        deltas = [[loop.stride // work.grid[line] * (loop.line == line) for line in lines] for loop in self._loops]
        places = [first[line] + base[line] // work.grid[line] for line in lines]
        super().__init__(work.case.nest, self._loops, base, deltas, places, [False] * len(self._loops))
        radix = [prod(int(own.max()) + 1 for own in work.kinds[:line]) for line in lines]
        self._codes: Ints = np.concatenate([own * scale for own, scale in zip(work.kinds, radix, strict=True)])
        self._moved: Ints = np.zeros(len(self._codes), dtype=np.int64)
        for line in work.reduction:
            self._moved[first[line]:first[line] + len(work.kinds[line])] = 1
            self._moved[places[line]] = 0

    def rows(self) -> Ints:
        """The next steps, int64[n, STEP_WIDTH]; none at the end. An odd code: the first of its reduction."""
        made: Ints = np.empty((self.pace.most(), STEP_WIDTH), dtype=np.int64)
        return made[:walk_steps(self.loops, self.extents, self.deltas, self._codes, self._moved, self.state, made)]

    def go_to(self, step: int) -> None:
        """Go on from a step (see ``seek``)."""
        self.seek(step, len(self._loops))

    def position(self, step: int) -> list[int]:
        """Positions along the lines at a step."""
        position = list(self._base)
        for loop in reversed(self._loops):
            step, index = divmod(step, loop.bound)
            position[loop.line] += index * loop.stride
        return position


Cells = dict[int, Runs]


class TensorSum:
    """Elements of a tensor that the PEs touch, summed over the iterations of a step; each once per iteration."""

    def __init__(self, work: StepWork, tensor: Tensor) -> None:
        nest = work.case.nest
        self.work = work
        self.tensor = tensor
        dims = work.case.operator.dims
        self.flat = sorted({line for dim in tensor.dims if (line := nest.line_of(dim)[1]) is not None
                            and line in work.inside})
        own = {nest.line_of(dim)[0] for dim in tensor.dims} | set(self.flat)
        self.irrelevant = [line for line in work.counted if line not in own
                           and not (nest.lines[line].flattened and set(nest.lines[line].dims) & tensor.dims)]
        self.padded = {axis for axis in tensor.axes if axis.form.offset < 0 or axis.extent <= axis.form.offset + sum(
            coefficient * (dims[dim] - 1) for dim, coefficient in axis.form.terms)}
        # lists dealt to lockstep instances position by position: each has a tile of its own, of equal size (units divide)
        self.dealt = sorted(line for line in work.dealt if set(nest.lines[line].dims) & tensor.dims)
        self._sums: dict[tuple[object, ...], int] = {}

    @property
    def placed(self) -> set[int]:
        """The lines along which it matters where a step stands: those that move padded windows."""
        if not self.padded:
            return set()
        return {line for axis in self.tensor.axes if axis in self.padded for dim in axis.dims
                for line in self.work.ranges[dim].lines} | set(self.flat)

    def total(self, cells: Cells, free: Cells, position: Sequence[int]) -> int:
        """The sum at these positions: ``cells`` has the iterations along each line, ``free`` those along lines that the
        tensor does not depend on.
        """
        count = prod(len(free[line]) for line in self.irrelevant) * prod(len(cells[line]) for line in self.dealt)
        if not self.flat:
            for axis in self.tensor.axes:
                count *= self._axis(axis, cells, position)
            return count
        if self.padded:
            return count * self._points(cells, position)
        lines = {self.work.case.nest.line_of(dim)[0] for dim in self.tensor.dims} & set(cells)
        for line in [*self.flat, *sorted(lines)]:
            count *= sum(length for _, length in cells[line])
        return count

    def _axis(self, axis: Axis, cells: Cells, position: Sequence[int]) -> int:
        nest = self.work.case.nest
        runs = [cells[nest.line_of(dim)[0]] for dim in axis.dims]
        if len(runs) == 1 and axis not in self.padded:
            return sum(length for _, length in runs[0])
        starts = [self.work.ranges[dim].at(position)[0] if axis in self.padded else 0 for dim in axis.dims]
        key = (axis, tuple(starts), *runs)
        found = self._sums.get(key)
        if found is None:
            found = self._sums[key] = _images(axis, starts, runs) if axis in self.padded else _unclipped(axis, runs)
        return found

    def _points(self, cells: Cells, position: Sequence[int]) -> int:
        """Iterations x PEs whose element lies inside the tensor, where flattened lists meet padding.

        In one iteration at most one dimension of an axis moves over the PEs (checked with the case), so no element
        is touched twice in it and points can be counted instead of sets.
        """
        nest = self.work.case.nest
        values: dict[str, Ints] = {}
        for place, line in enumerate(self.flat):
            points = np.concatenate([np.arange(start, start + length) for start, length in cells[line]]) + position[line]
            shape = [1] * len(self.flat)
            shape[place] = points.size
            stride = 1
            for member in reversed(nest.lines[line].members):
                start = position[nest.line_of(member.dim)[0]]
                values[member.dim] = (points // stride % member.count + start).reshape(shape)
                stride *= member.count
        inside: Ints = np.ones([1] * len(self.flat), dtype=np.int64)
        for axis in self.tensor.axes:
            index: Ints = np.zeros([1] * len(self.flat), dtype=np.int64) + axis.form.offset
            plain: list[tuple[int, Ints]] = []
            for dim, coefficient in axis.form.terms:
                if dim in values:
                    index = index + coefficient * values[dim]
                else:
                    start = self.work.ranges[dim].at(position)[0]
                    own = np.concatenate([np.arange(offset, offset + length)
                                          for offset, length in cells[nest.line_of(dim)[0]]]) + start
                    plain.append((coefficient, own))
            spread: Ints = np.zeros(1, dtype=np.int64)
            for coefficient, own in plain:
                spread = (spread[:, None] + coefficient * own[None, :]).ravel()
            reach = index[..., None] + spread
            inside = inside * ((reach >= 0) & (reach < axis.extent)).sum(axis=-1)
        return int(np.broadcast_to(inside, [sum(length for _, length in cells[line]) for line in self.flat]).sum())


def _images(axis: Axis, starts: Sequence[int], runs: Sequence[tuple[tuple[int, int], ...]]) -> int:
    """Sum over the product of runs of the size of the axis' image."""
    coefficients = [coefficient for _, coefficient in axis.form.terms]
    chosen: list[list[tuple[int, int]]] = [[]]
    for start, own in zip(starts, runs, strict=True):
        chosen = [[*before, (start + offset, length)] for before in chosen for offset, length in own]
    return sum(image(axis, coefficients, ranges).count for ranges in chosen)


def _unclipped(axis: Axis, runs: Sequence[tuple[tuple[int, int], ...]]) -> int:
    """As ``_images`` where nothing can be clipped: the size depends on the lengths alone."""
    lengths: list[dict[int, int]] = []
    for own in runs:
        found: dict[int, int] = {}
        for _, length in own:
            found[length] = found.get(length, 0) + 1
        lengths.append(found)
    coefficients = [coefficient for _, coefficient in axis.form.terms]
    chosen: list[tuple[list[tuple[int, int]], int]] = [([], 1)]
    for found in lengths:
        chosen = [([*before, (0, length)], times * count) for before, times in chosen for length, count in found.items()]
    free = Axis(type(axis.form)(axis.form.terms, 0), 1 + sum(
        coefficient * max(found) for coefficient, found in zip(coefficients, lengths, strict=True)))
    return sum(image(free, coefficients, ranges).count * times for ranges, times in chosen)
