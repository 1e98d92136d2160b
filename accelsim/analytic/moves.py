"""What each step of a level shares with the step before: the closed form of the walk of the nest.

A tile is a product of its axes and a step is a product of its lines, so between two steps the size of the tile and of
what it shares with the one before are products of *factors*, one for each group of lines and axes that depend on each
other. Each factor is counted over its own loops only and the counts multiply:

    moved = sum over the loop that advances of (product of sizes - product of shared sizes)

kept as a table of (size, shared) -> how often, so that transfers can be counted, and rounded one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple, Protocol

from accelsim.analytic.frame import Frame
from accelsim.analytic.images import Part, Run, runs, window_pairs
from accelsim.analytic.lines import Pairs, Steps, plain_pairs, positions, steps_of
from accelsim.spec.nest import Line, Nest
from accelsim.spec.operator import Axis, Operator, Tensor
from accelsim.spec.tiles import flattened_box


class Factor(Protocol):
    """A group of lines whose part of (size, shared) depends on no other line."""

    def pairs(self, advancing: int) -> Pairs:
        """(size, shared with the step before) each time the loop at that place advances, and how often."""
        ...


class Repeated(NamedTuple):
    """A line that the tensor does not depend on: it only repeats."""

    steps: Steps

    def pairs(self, advancing: int) -> Pairs:
        """Everything is shared."""
        return {(1, 1): steps_of(self.steps, advancing)}


class Plain(NamedTuple):
    """A line indexed one to one: a plain axis, or a flattened list that the tensor indexes in full."""

    steps: Steps

    def pairs(self, advancing: int) -> Pairs:
        """Tiles are equal or disjoint."""
        return plain_pairs(self.steps, advancing)


class Window(NamedTuple):
    """An axis whose image overlaps, has gaps or is clipped."""

    axis: Axis
    lines: tuple[Steps, ...]

    def pairs(self, advancing: int) -> Pairs:
        """Exact images over the axis' own loops."""
        form = self.axis.form
        parts = tuple(Part(coefficient, runs(steps, advancing, True))
                      for (_, coefficient), steps in zip(form.terms, self.lines, strict=True))
        return window_pairs(parts, form.offset, 0, self.axis.extent)


class FoldedAxis(NamedTuple):
    """An axis some of whose dimensions are members of flattened lists.

    ``members``: per term (number of the list, unit) or None. ``injective``: one index per position, none clipped.
    """

    axis: Axis
    lines: tuple[Steps, ...]
    members: tuple[tuple[int, int] | None, ...]
    injective: bool


class Folded(NamedTuple):
    """Axes tied together by flattened lists whose runs are boxes: for each position of the lists a product of axes."""

    lists: tuple[Steps, ...]
    counts: tuple[tuple[int, ...], ...]
    dims: tuple[tuple[str, ...], ...]
    axes: tuple[FoldedAxis, ...]

    def pairs(self, advancing: int) -> Pairs:
        """Sum over the lists' positions, equal ones taken once."""
        return _folded_pairs(self, advancing)


class _Box(NamedTuple):
    """A run of a flattened list: first index and length of each member."""

    first: tuple[int, ...]
    length: tuple[int, ...]


def factors(nest: Nest, operator: Operator, tensor: Tensor, frame: Frame) -> tuple[Factor, ...]:
    """The factors of a tensor's tiles in a frame: every line is in exactly one."""
    place = {line.dims[0]: i for i, line in enumerate(nest.lines) if not line.flattened}
    found: list[Factor] = []
    folded = [i for i, line in enumerate(nest.lines) if line.flattened and set(line.dims) & tensor.dims
              and not _in_full(operator, tensor, line)]
    tied = {dim for i in folded for dim in nest.lines[i].dims}
    knots = [axis for axis in tensor.axes if set(axis.dims) & tied]
    used: set[int] = set(folded)
    for axis in tensor.axes:
        lines = [place[dim] for dim in axis.dims]
        if axis in knots:
            used.update(lines)
        elif not injective(axis, operator):
            used.update(lines)
            found.append(Window(axis, tuple(frame.steps[i] for i in lines)))
    for i, line in enumerate(nest.lines):
        if i not in used:
            relevant = bool(set(line.dims) & tensor.dims)
            found.append(Plain(frame.steps[i]) if relevant else Repeated(frame.steps[i]))
    if folded:
        axes = tuple(_folded_axis(nest, operator, axis, folded, place, frame) for axis in knots)
        found.append(Folded(tuple(frame.steps[i] for i in folded),
                            tuple(tuple(m.count for m in nest.lines[i].members) for i in folded),
                            tuple(nest.lines[i].dims for i in folded), axes))
    return tuple(found)


def injective(axis: Axis, operator: Operator) -> bool:
    """Whether each position of one dimension has an index of its own, inside the tensor."""
    if not axis.form.terms:
        return axis.form.offset in range(axis.extent)
    if len(axis.form.terms) > 1:
        return False
    dim, coefficient = axis.form.terms[0]
    return axis.form.offset >= 0 and coefficient * (operator.dims[dim] - 1) + axis.form.offset < axis.extent


def _in_full(operator: Operator, tensor: Tensor, line: Line) -> bool:
    """Whether each position of a flattened list has an element of its own: the list is one plain axis."""
    axes = [axis for axis in tensor.axes if set(axis.dims) & set(line.dims)]
    return len(axes) == len(line.dims) and all(injective(axis, operator) for axis in axes)


def _folded_axis(nest: Nest, operator: Operator, axis: Axis, folded: list[int], place: dict[str, int],
                 frame: Frame) -> FoldedAxis:
    members: list[tuple[int, int] | None] = []
    for dim in axis.dims:
        home = next((n for n, i in enumerate(folded) if dim in nest.lines[i].dims), None)
        unit = next((m.unit for m in nest.lines[folded[home]].members if m.dim == dim), 1) if home is not None else 1
        members.append(None if home is None else (home, unit))
    return FoldedAxis(axis, tuple(frame.steps[place[dim]] for dim in axis.dims), tuple(members),
                      injective(axis, operator))


def multiply(one: Pairs, other: Pairs) -> Pairs:
    """The table of the product of two independent factors."""
    result: Pairs = {}
    for (size, shared), count in one.items():
        for (size_too, shared_too), count_too in other.items():
            key = (size * size_too, shared * shared_too)
            result[key] = result.get(key, 0) + count * count_too
    return result


def joint(parts: Sequence[Factor], advancing: int) -> Pairs:
    """The table of all factors together; factors with one entry only scale the others."""
    size = shared = count = 1
    tables = []
    for part in parts:
        pairs = part.pairs(advancing)
        if not pairs:
            return {}
        if len(pairs) > 1:
            tables.append(pairs)
            continue
        for (own_size, own_shared), own_count in pairs.items():
            size, shared, count = size * own_size, shared * own_shared, count * own_count
    result: Pairs = {(size, shared): count}
    for pairs in tables:
        result = multiply(result, pairs)
    return result


@lru_cache(maxsize=1 << 10)
def _folded_pairs(knot: Folded, advancing: int) -> Pairs:
    """Positions of the lists are walked; what they mean for an axis (a few places) is counted once."""
    boxes = [[(_box(counts, steps, now), _box(counts, steps, before)) for now, before in positions(steps, advancing)]
             for steps, counts in zip(knot.lists, knot.counts, strict=True)]
    keys: dict[tuple[tuple[int, ...], ...], int] = {}
    for chosen in product(*boxes):
        key = tuple(_placed(knot, axis, chosen) for axis in knot.axes)
        keys[key] = keys.get(key, 0) + 1
    pairs: Pairs = {}
    for key, count in keys.items():
        term: Pairs = {(1, 1): count}
        for axis, placed in zip(knot.axes, key, strict=True):
            term = multiply(term, _axis_pairs(axis, placed, advancing))
        for sizes, times in term.items():
            pairs[sizes] = pairs.get(sizes, 0) + times
    return pairs


def _box(counts: tuple[int, ...], steps: Steps, position: int) -> _Box:
    """Member indices of a run: the last dimension runs fastest."""
    box = counts if steps.tile >= steps.extent else flattened_box(counts, steps.tile)
    assert box is not None, "checked when the case was made"
    first = []
    for count in reversed(counts):
        position, index = divmod(position, count)
        first.append(index)
    first.reverse()
    lengths = tuple(min(size, count - index) for size, count, index in zip(box, counts, first, strict=True))
    return _Box(tuple(first), lengths)


def _placed(knot: Folded, axis: FoldedAxis, chosen: tuple[tuple[_Box, _Box], ...]) -> tuple[int, ...]:
    """What the lists' positions mean for one axis: (offset, shift, then length and length before of each term)."""
    offset = shift = 0
    lengths: list[int] = []
    for (dim, coefficient), member in zip(axis.axis.form.terms, axis.members, strict=True):
        if member is None:
            lengths += (1, 1)
            continue
        number, unit = member
        index = knot.dims[number].index(dim)
        now, before = chosen[number]
        offset += coefficient * unit * now.first[index]
        shift += coefficient * unit * (before.first[index] - now.first[index])
        lengths += (now.length[index], before.length[index])
    if axis.injective:
        return 0, int(shift != 0), *lengths
    return offset, shift, *lengths


@lru_cache(maxsize=1 << 12)
def _axis_pairs(folded: FoldedAxis, placed: tuple[int, ...], advancing: int) -> Pairs:
    """The table of one axis for one placement of the lists; its plain loops outside and inside the lists still run."""
    offset, shift, *lengths = placed
    if folded.injective:
        return {(size * lengths[0], shared * lengths[0]): count
                for (size, shared), count in _added(plain_pairs(folded.lines[0], advancing), bool(shift)).items()}
    parts = []
    for i, ((_, coefficient), steps, member) in enumerate(
            zip(folded.axis.form.terms, folded.lines, folded.members, strict=True)):
        found = runs(steps, advancing, member is None)
        if member is not None:
            found = tuple(Run(run.length * lengths[2 * i], run.before * lengths[2 * i + 1], run.distance, run.starts)
                          for run in found)
        parts.append(Part(coefficient, found))
    return window_pairs(tuple(parts), folded.axis.form.offset + offset, shift, folded.axis.extent)


def _added(pairs: Pairs, moved: bool) -> Pairs:
    """Where the list has moved nothing is shared, whatever the plain loops do: equal keys are added up."""
    if not moved:
        return pairs
    found: Pairs = {}
    for (size, _), count in pairs.items():
        found[size, 0] = found.get((size, 0), 0) + count
    return found
