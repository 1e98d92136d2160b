"""Walking the step loops of a level for one instance: where its tile of a tensor changes, and what that moves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Generic, Protocol, TypeVar

from accelsim.spec.nest import Nest, NestLoop

Sets_co = TypeVar("Sets_co", covariant=True)
"""A tile: a tuple of index sets, or of groups of them; equal parts are the same object."""


class Image(Protocol[Sets_co]):
    """Whatever gives a tile for positions along the lines, and the lines it depends on."""

    lines: frozenset[int]

    def at(self, position: Sequence[int]) -> tuple[Sets_co, ...]:
        """The tile for positions along all lines."""
        ...


@dataclass(slots=True)
class Visit(Generic[Sets_co]):
    """A tile's stay: from its first step to the last before it changes, in the level's global step numbers.

    ``held`` is the tile before it. ``returns``: a reduction has come back to it (outputs: partial sums exist).
    ``complete``: no later step of this instance comes back to it.
    """

    first: int
    last: int
    tile: tuple[Sets_co, ...]
    held: tuple[Sets_co, ...] | None
    returns: bool
    complete: bool


def weights(loops: Sequence[NestLoop]) -> list[int]:
    """Steps of one iteration of each loop, in the numbering that counts skipped iterations too."""
    made = [1] * len(loops)
    for i in reversed(range(len(loops) - 1)):
        made[i] = made[i + 1] * loops[i + 1].bound
    return made


class Step:
    """Where a walk stands: global step, positions along the lines, and each loop's index and its iterations here.

    It is the same object from step to step: read it, do not keep it.
    """

    __slots__ = ("index", "limit", "number", "position")

    def __init__(self, position: list[int], index: list[int], limit: list[int]) -> None:
        self.number = 0
        self.position = position
        self.index = index
        self.limit = limit


def steps(nest: Nest, loops: Sequence[NestLoop], base: Sequence[int]) -> Iterator[Step]:
    """Every step of the loops for an instance at ``base`` positions; iterations past an edge are skipped."""
    extents = [line.extent for line in nest.lines]
    if any(start >= extent for start, extent in zip(base, extents, strict=True)):
        return
    position = list(base)
    weight = weights(loops)
    count = len(loops)
    index = [0] * count
    limit = [_limit(loop, position, extents) for loop in loops]
    ragged = _ragged(loops, base, extents)
    step = Step(position, index, limit)
    while True:
        yield step
        j = count - 1
        while j >= 0 and index[j] + 1 >= limit[j]:
            position[loops[j].line] -= index[j] * loops[j].stride
            step.number -= index[j] * weight[j]
            index[j] = 0
            j -= 1
        if j < 0:
            return
        index[j] += 1
        position[loops[j].line] += loops[j].stride
        step.number += weight[j]
        for i in ragged:
            if i > j:
                limit[i] = _limit(loops[i], position, extents)


def _ragged(loops: Sequence[NestLoop], base: Sequence[int], extents: Sequence[int]) -> list[int]:
    """The loops along lines where some iteration would start past the edge: only theirs can be cut."""
    furthest = list(base)
    for loop in loops:
        furthest[loop.line] += (loop.bound - 1) * loop.stride
    return [i for i, loop in enumerate(loops) if furthest[loop.line] >= extents[loop.line]]


def _limit(loop: NestLoop, position: Sequence[int], extents: Sequence[int]) -> int:
    """Iterations of a loop that start inside the edge, from positions with its own and inner indices at 0."""
    left = extents[loop.line] - position[loop.line]
    return min(loop.bound, -(-left // loop.stride))


def visits(nest: Nest, image: Image[Sets_co], loops: Sequence[NestLoop], base: Sequence[int]) -> Iterator[Visit[Sets_co]]:
    """The stays of a tensor's tiles at a level, for the instance whose spatial coordinates put it at ``base``.

    ``loops``: the level's step loops. Loops inside the last one that moves the tile are passed over at once.
    """
    moving = [i for i, loop in enumerate(loops) if loop.line in image.lines and loop.bound > 1]
    depth = moving[-1] + 1 if moving else 0
    outer, inner = loops[:depth], loops[depth:]
    rest = weights(loops)
    scale = rest[depth - 1] if depth else 1
    extents = [line.extent for line in nest.lines]
    fixed = [i for i, loop in enumerate(outer) if loop.line not in image.lines and loop.bound > 1]
    first = last = 0
    tile: tuple[Sets_co, ...] | None = None
    held: tuple[Sets_co, ...] | None = None
    returns = complete = False
    inside = scale if depth else prod(loop.bound for loop in loops)
    last_inside = inside - 1 if not _ragged(loops, base, extents) else None
    for step in steps(nest, outer, base):
        position, index, limit = step.position, step.index, step.limit
        now = image.at(position)
        start = step.number * scale
        ending = start + (last_inside if last_inside is not None else _last_inside(inner, rest[depth:], position, extents))
        whole = all([index[i] + 1 == limit[i] for i in fixed])
        if tile is not None and _same(now, tile):
            last, complete = ending, whole
            continue
        if tile is not None:
            yield Visit(first, last, tile, held, returns, complete)
            held = tile
        first, last, tile = start, ending, now
        returns, complete = any([index[i] for i in fixed]), whole
    if tile is not None:
        yield Visit(first, last, tile, held, returns, complete)


def _same(tile: tuple[object, ...], other: tuple[object, ...]) -> bool:
    return all(a is b for a, b in zip(tile, other, strict=True))


def _last_inside(loops: Sequence[NestLoop], weight: Sequence[int], position: Sequence[int], extents: Sequence[int]) -> int:
    """Global number, within one iteration of the loops outside, of the last step that is not skipped."""
    if not loops:
        return 0
    moved = list(position)
    total = 0
    for loop, steps_each in zip(loops, weight, strict=True):
        last = _limit(loop, moved, extents) - 1
        moved[loop.line] += last * loop.stride
        total += last * steps_each
    return total
