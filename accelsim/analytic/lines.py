"""Steps along one line, in closed form: where tiles start, which iterations exist, what wraps when a loop advances.

A line is one dimension or a flattened list (``spec.nest``). The loops above a tile place it at the sum of
iteration x stride; strides nest, so iterations run in the order of their positions and those that exist (start inside
the edge) are a prefix. Between two steps exactly one loop *advances* by one: the loops outside it keep their
iterations, those inside it go from their last existing iteration back to 0. Lines are independent of each other, so
every sum over the steps is a sum over the loop that advances of products over the lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

FIRST = -1
"""In place of the loop that advances: the first step, all temporal loops at 0."""

EVERY = 1 << 30
"""In place of the loop that advances: every step (no loop is inside)."""

Pairs = dict[tuple[int, int], int]
"""How often a tile (or a factor of it) has this size and shares that many elements with the step before."""


class StepLoop(NamedTuple):
    """A loop above a tile: its place in the nest, bound and stride; spatial loops choose the instance."""

    place: int
    bound: int
    stride: int
    temporal: bool


class Steps(NamedTuple):
    """A line of ``extent`` positions cut into tiles of ``tile`` by the loops above, outermost first (bounds > 1)."""

    extent: int
    tile: int
    loops: tuple[StepLoop, ...]

    def outside(self, advancing: int) -> tuple[StepLoop, ...]:
        """The loops that keep their iterations when the loop at that place advances: outer ones, and instances."""
        return tuple(loop for loop in self.loops if not loop.temporal or loop.place < advancing)

    def inside(self, advancing: int) -> tuple[StepLoop, ...]:
        """The temporal loops that wrap when the loop at that place advances."""
        return tuple(loop for loop in self.loops if loop.temporal and loop.place > advancing)

    def own(self, advancing: int) -> StepLoop | None:
        """The advancing loop, if it is one of this line."""
        return next((loop for loop in self.loops if loop.temporal and loop.place == advancing), None)


def below(loops: tuple[StepLoop, ...], limit: int) -> int:
    """How many combinations of iterations start below ``limit``.

    Strides nest: every combination whose outermost iteration is not the last one reached lies below the limit, so
    only that one iteration needs a closer look.
    """
    count = 0
    for i, loop in enumerate(loops):
        if limit <= 0:
            return count
        inner = 1
        for other in loops[i + 1:]:
            inner *= other.bound
        last = (limit - 1) // loop.stride
        if last >= loop.bound:
            return count + loop.bound * inner
        count += last * inner
        limit -= last * loop.stride
    return count + (limit > 0)


@lru_cache(maxsize=1 << 14)
def steps_of(steps: Steps, advancing: int) -> int:
    """How many times the loop at that place advances, as far as this line says (it may be another line's loop)."""
    outside = steps.outside(advancing)
    own = steps.own(advancing)
    if own is None:
        return below(outside, steps.extent)
    return below(_with(outside, own), steps.extent) - below(outside, steps.extent)


@lru_cache(maxsize=1 << 14)
def plain_pairs(steps: Steps, advancing: int) -> Pairs:
    """(size, shared with the step before) of a plain line's tiles, and how often.

    Tiles of a line are equal or disjoint. They are equal when another line's loop advances and no loop of this line
    inside it has a second iteration, that is, when the next tile already starts past the edge. One tile at most is
    cut by the edge: the last one.
    """
    size, edge = min(steps.tile, steps.extent), steps.extent % steps.tile if steps.tile < steps.extent else 0
    last = steps.extent - edge
    outside, own = steps.outside(advancing), steps.own(advancing)
    count = below(outside, steps.extent)
    cut = _starts_at(outside, last) if edge else 0
    pairs: Pairs = {}
    if own is not None:
        reached = _with(outside, own)
        cut = _starts_at(reached, last) - cut if edge else 0
        _add(pairs, (size, 0), below(reached, steps.extent) - count - cut)
        _add(pairs, (edge, 0), cut)
        return pairs
    inside = steps.inside(advancing)
    wrapping = below(outside, steps.extent - inside[-1].stride) if inside else 0
    _add(pairs, (size, 0), wrapping)
    _add(pairs, (size, size), count - wrapping - cut)
    _add(pairs, (edge, edge), cut)
    return pairs


def positions(steps: Steps, advancing: int) -> Iterator[tuple[int, int]]:
    """(position, position at the step before) each time the loop advances; a walk of this line alone."""
    own, inside = steps.own(advancing), steps.inside(advancing)
    iterations = range(1, own.bound) if own is not None else range(1)
    stride = own.stride if own is not None else 0
    for base in _bases(steps.outside(advancing), steps.extent):
        for iteration in iterations:
            position = base + iteration * stride
            if position >= steps.extent:
                break
            before = position - stride
            for loop in inside:
                before += min(loop.bound - 1, (steps.extent - 1 - before) // loop.stride) * loop.stride
            yield position, before


def _bases(loops: tuple[StepLoop, ...], extent: int) -> list[int]:
    bases = [0]
    for loop in loops:
        bases = [base + start for base in bases for start in range(0, loop.bound * loop.stride, loop.stride)
                 if base + start < extent]
    return bases


def _with(outside: tuple[StepLoop, ...], own: StepLoop) -> tuple[StepLoop, ...]:
    return tuple(sorted((*outside, own)))


def _starts_at(loops: tuple[StepLoop, ...], position: int) -> int:
    return below(loops, position + 1) - below(loops, position)


def _add(pairs: Pairs, key: tuple[int, int], count: int) -> None:
    if count:
        pairs[key] = pairs.get(key, 0) + count
