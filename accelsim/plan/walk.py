"""Walking the step loops of a level for one instance: where its tile of a tensor changes, and what that moves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels import walk as kernel
from accelsim.spec.nest import Nest, NestLoop

Ints = NDArray[np.int64]
ROWS = 1024
"""Most rows that are walked at once: more would leave the fast caches before they are read."""


DEAR = 16
"""Rows that are made one by one are made so many times fewer at once."""


class Pace:
    """How many rows are made at once: few where a walk begins, since it may be led elsewhere soon, then more and more."""

    def __init__(self, share: int = 1) -> None:
        self._share = share
        self.begin()

    def begin(self) -> None:
        """A walk begins."""
        self._next = 64

    def most(self) -> int:
        """How many to make now. ``share``: what divides that where rows are dear."""
        most = min(self._next, ROWS)
        self._next = 4 * most
        return max(1, most // self._share)


Set_co = TypeVar("Set_co", covariant=True)
"""A tile along one axis: an index set, or a group of them; equal ones are the same object."""


class Axis(Protocol[Set_co]):
    """What gives one axis of a tile for positions along the lines, and the lines it depends on."""

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines it depends on."""
        ...

    def at(self, position: Sequence[int]) -> Set_co:
        """The axis' set for positions along all lines."""
        ...


class Image(Protocol[Set_co]):
    """Whatever gives a tile: its axes, the lines it depends on, what positions along each line are multiples of, and the
    empty tile, which one without an index along one axis is (None: there is no such rule).
    """

    @property
    def axes(self) -> Sequence[Axis[Set_co]]:
        """One for each axis of a tile."""
        ...

    @property
    def lines(self) -> frozenset[int]:
        """The lines that move a tile."""
        ...

    @property
    def grid(self) -> tuple[int, ...]:
        """Per line what all positions are multiples of."""
        ...

    @property
    def nothing(self) -> tuple[Set_co, ...] | None:
        """The empty tile."""
        ...


Set = TypeVar("Set")


class Numbers(Generic[Set]):
    """The sets of an image's axes, numbered where they are first met. ``sets[axis][number]``; 0 is the empty one.

    ``table`` holds for each axis, from ``first[axis]`` on, the number at every position of its lines (-1: not met).
    """

    def __init__(self, nest: Nest, image: Image[Set]) -> None:
        self.image = image
        self.spans = [-(-line.extent // grid) for line, grid in zip(nest.lines, image.grid, strict=True)]
        self.sets: list[list[Set | None]] = [[None if image.nothing is None else image.nothing[a]]
                                             for a in range(len(image.axes))]
        self._known: list[dict[int, int]] = [{} for _ in image.axes]
        self.places = [prod(self.spans[line] for line in axis.lines) for axis in image.axes]
        self.first = [sum(self.places[:a]) for a in range(len(self.places))]
        self.table: Ints = np.full(sum(self.places), -1, dtype=np.int64)

    def moves(self, axis: int, line: int) -> int:
        """How far in the table one multiple of the grid along a line goes."""
        lines = self.image.axes[axis].lines
        if line not in lines:
            return 0
        return prod([self.spans[own] for own in lines[lines.index(line) + 1:]])

    def meet(self, axis: int, place: int, position: Sequence[int]) -> None:
        """Number the set at a position, which has this place in the table."""
        found = self.image.axes[axis].at(position)
        nothing = self.image.nothing
        if nothing is not None and not getattr(found, "count", 1):
            self.table[place] = 0
            return
        known = self._known[axis]
        number = known.get(id(found))
        if number is None:
            number = known[id(found)] = len(self.sets[axis])
            self.sets[axis].append(found)
        self.table[place] = number

    def tile(self, numbers: Sequence[int]) -> tuple[Set, ...]:
        """The tile of these numbers."""
        made = [own[number] for own, number in zip(self.sets, numbers, strict=True)]
        assert all(one is not None for one in made), "numbers come from tiles that were met"
        return tuple(made)  # type: ignore[arg-type]  # asserted


def radix(numbers: Numbers[Set]) -> Ints:
    """What the number of an axis' set counts in the number of a tile, int64[axes]."""
    places = numbers.places
    return np.array([prod(one + 1 for one in places[:a]) for a in range(len(places))], dtype=np.int64)


@dataclass(slots=True)
class Visit(Generic[Set_co]):
    """A tile's stay: from its first step to the last before it changes, in the level's global step numbers.

    ``held`` is the tile before it. ``returns``: a reduction has come back to it (outputs: partial sums exist).
    ``complete``: no later step of this instance comes back to it.
    """

    first: int
    last: int
    tile: tuple[Set_co, ...]
    held: tuple[Set_co, ...] | None
    returns: bool
    complete: bool


def weights(loops: Sequence[NestLoop]) -> list[int]:
    """Steps of one iteration of each loop, in the numbering that counts skipped iterations too."""
    made = [1] * len(loops)
    for i in reversed(range(len(loops) - 1)):
        made[i] = made[i + 1] * loops[i + 1].bound
    return made


def ragged(loops: Sequence[NestLoop], base: Sequence[int], extents: Sequence[int]) -> list[bool]:
    """Whether some iteration along a loop's line would start past the edge, for each loop: only theirs can be cut."""
    furthest = list(base)
    for loop in loops:
        furthest[loop.line] += (loop.bound - 1) * loop.stride
    return [furthest[loop.line] >= extents[loop.line] for loop in loops]


class Walk:
    """What walks of visits and of steps have in common: loops, extents and state in the kernels' layout."""

    def __init__(self, nest: Nest, loops: Sequence[NestLoop], base: Sequence[int], deltas: Sequence[Sequence[int]],
                 places: Sequence[int], fixed: Sequence[bool]) -> None:
        extents = [line.extent for line in nest.lines]
        self.cut = ragged(loops, base, extents)
        self.loops: Ints = np.array([
            (loop.line, loop.stride, loop.bound, cut, stays, weight)
            for loop, cut, stays, weight in zip(loops, self.cut, fixed, weights(loops), strict=True)
        ], dtype=np.int64).reshape(len(loops), kernel.LOOP_WIDTH)
        self.extents: Ints = np.array(extents, dtype=np.int64)
        self.deltas: Ints = np.array(deltas, dtype=np.int64).reshape(len(loops), len(places))
        self.stand = slice(kernel.WALK_HEAD + 2 * len(loops), kernel.WALK_HEAD + 2 * len(loops) + len(extents))
        self.state: Ints = np.zeros(self.stand.stop + 2 * len(places), dtype=np.int64)
        self.state[self.stand] = base
        self.state[self.stand.stop:self.stand.stop + len(places)] = places
        if any(start >= extent for start, extent in zip(base, extents, strict=True)):
            self.state[kernel.STATUS] = kernel.DONE
        self._begin = self.state.copy()
        self.pace = Pace()

    def seek(self, step: int, depth: int) -> None:
        """Go to a step; or, where that is one which is left out, to the last before it that is not.

        The walk stands there as if it began there: what came before is not known. ``depth``: how many loops are walked; of the
        others all iterations are inside one step of it, so that it stands at the first of them.
        """
        state, count = self.state, len(self.loops)
        state[:] = self._begin
        self.pace.begin()
        if state[kernel.STATUS] == kernel.DONE:
            return
        place = self.stand.stop
        axes = self.deltas.shape[1]
        position = state[self.stand]
        beyond = False
        for j in range(depth):
            line, stride, bound, weight = self.loops[j, [kernel.LINE, kernel.STRIDE, kernel.BOUND, kernel.WEIGHT]].tolist()
            limit = min(bound, -(-(int(self.extents[line]) - int(position[line])) // stride))
            index, step = divmod(step, weight)
            beyond = beyond or index >= limit
            index = limit - 1 if beyond else index
            state[kernel.WALK_HEAD + j], state[kernel.WALK_HEAD + count + j] = index, limit
            position[line] += index * stride
            state[kernel.NUMBER] += index * weight
            state[place:place + axes] += index * self.deltas[j]
        state[kernel.STATUS] = kernel.RUNNING


class VisitWalk(Walk, Generic[Set]):
    """The stays of a tensor's tiles at a level, for the instance whose spatial coordinates put it at ``base``.

    ``loops``: the level's step loops. Loops inside the last one that moves the tile are passed over at once.
    """

    def __init__(self, nest: Nest, numbers: Numbers[Set], loops: Sequence[NestLoop], base: Sequence[int]) -> None:
        image = numbers.image
        moving = [i for i, loop in enumerate(loops) if loop.line in image.lines and loop.bound > 1]
        self._depth = moving[-1] + 1 if moving else 0
        fixed = [i < self._depth and loop.line not in image.lines and loop.bound > 1 for i, loop in enumerate(loops)]
        axes = range(len(image.axes))
        deltas = [[loop.stride // image.grid[loop.line] * numbers.moves(a, loop.line) for a in axes] for loop in loops]
        places = [numbers.first[a] + sum(base[line] // image.grid[line] * numbers.moves(a, line)
                                         for line in image.axes[a].lines) for a in axes]
        super().__init__(nest, loops, base, deltas, places, fixed)
        self._numbers = numbers
        self._inside = -1 if any(self.cut) else prod(loop.bound for loop in loops[self._depth:]) - 1
        self._collapse = int(image.nothing is not None)

    def go_to(self, step: int) -> None:
        """Go on from a step, as if the walk began there (see ``seek``)."""
        self.seek(step, self._depth)

    def rows(self, most: int | None = None) -> Ints:
        """The next visits, at most so many, int64[n, VISIT_TILE + axes]; none at the end."""
        made: Ints = np.empty((most or self.pace.most(), kernel.VISIT_TILE + self.deltas.shape[1]), dtype=np.int64)
        have = 0
        while True:
            have += kernel.walk_visits(self.loops, self._depth, self._inside, self.extents, self.deltas, self._numbers.table,
                                       self._collapse, self.state, made[have:])
            missed = int(self.state[kernel.MISSED])
            if missed < 0:
                return made[:have]
            self._numbers.meet(missed, int(self.state[self.stand.stop + missed]), self.state[self.stand].tolist())


def visits(walk: VisitWalk[Set], numbers: Numbers[Set]) -> Iterator[Visit[Set]]:
    """The visits one by one, with their tiles."""
    held: tuple[Set, ...] | None = None
    pace = Pace(DEAR)
    while True:
        rows = walk.rows(pace.most()).tolist()
        if not rows:
            return
        for first, last, returns, complete, *tile in rows:
            now = numbers.tile(tile)
            yield Visit(first, last, now, held, bool(returns), bool(complete))
            held = now
