"""The loads of one tensor between one entry and its parent, numbered: what visits of tiles move, kind by kind.

What a visit moves depends on how many indices its tile has along each axis, how many of them it shares with the tile
before, and, where runs are rounded up, how they lie. Few of these occur, so each is worked out once.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from accelsim.plan.codes import CodeTable
from accelsim.plan.images import IndexSet, shared
from accelsim.plan.layout import shape
from accelsim.plan.lockstep import AxisGroup, Part, merged
from accelsim.plan.moves import Load, Move, SingleLoad
from accelsim.plan.walk import Numbers
from accelsim.spec.chip import Multicast

Ints = NDArray[np.int64]
_FIELD = 32
"""Bits of a code for the newest part, which is a small number."""


class Loads:
    """Loads by number; 0 is none. ``granular``: some port rounds runs up, so that their lengths matter."""

    def __init__(self, numbers: Numbers[IndexSet], *, granular: bool) -> None:
        self.all: list[Load | None] = [None]
        self._numbers = numbers
        self._granular = granular
        self._classes: list[dict[object, int]] = [{} for _ in numbers.sets]
        self._pairs = [CodeTable() for _ in numbers.sets]
        self._joined = [CodeTable() for _ in numbers.sets]
        self._joints = [0 for _ in numbers.sets]
        self._kinds = CodeTable()

    def add(self, load: Load | None) -> int:
        """The number of a load made elsewhere."""
        if load is None:
            return 0
        self.all.append(load)
        return len(self.all) - 1

    def moved(self, tiles: Ints, held: Ints, bits: Ints) -> Ints:
        """The load that moves, at these widths, what each tile has that the held one has not.

        ``tiles``, ``held``: int64[n, axes], numbers of sets; held ones are -1 where there is none. ``bits``: int64[n].
        """
        code: Ints = np.zeros(len(tiles), dtype=np.int64)
        for axis in range(tiles.shape[1]):
            pairs = (tiles[:, axis] << _FIELD) + held[:, axis] + 1
            classes = self._pairs[axis].numbers(pairs, partial(self._class, axis))
            code = self._joined[axis].numbers((code << _FIELD) + classes, partial(self._joint, axis))
        return self._kinds.numbers((code << _FIELD) + bits, partial(self._made, tiles, held, bits))

    def _sets(self, axis: int, number: int, held: int) -> tuple[IndexSet, IndexSet | None]:
        now = self._numbers.sets[axis][number]
        assert now is not None, "tensor images have an empty set"
        return now, None if held < 0 else self._numbers.sets[axis][held]

    def _class(self, axis: int, _: int, pair: int) -> int:
        now, before = self._sets(axis, pair >> _FIELD, (pair & ((1 << _FIELD) - 1)) - 1)
        kept = before if before is not None else IndexSet(0, 0, now.extent)
        lies = shape(now.mask, kept.mask, now.extent) if self._granular else None
        return self._classes[axis].setdefault((now.count, shared(now, kept), lies), len(self._classes[axis]))

    def _joint(self, axis: int, _: int, __: int) -> int:
        self._joints[axis] += 1
        return self._joints[axis] - 1

    def _made(self, tiles: Ints, held: Ints, bits: Ints, place: int, _: int) -> int:
        pairs = [self._sets(axis, number, before) for axis, (number, before)
                 in enumerate(zip(tiles[place].tolist(), held[place].tolist(), strict=True))]
        tile = tuple([now for now, _ in pairs])
        before = [kept for _, kept in pairs if kept is not None]
        whole = kept_count = 1
        for now, kept in pairs:
            whole *= now.count
            kept_count *= shared(now, kept) if kept is not None else 0
        count = whole - kept_count
        if not count:
            return 0
        return self.add(SingleLoad(Move(count, int(bits[place]), tile, tuple(before) if before else None)))


class GroupKinds:
    """Loads of lockstep instances by kind: how their tiles and those before lie to each other, wherever they stand."""

    def __init__(self, loads: Loads) -> None:
        self._loads = loads
        self._met: dict[tuple[int, ...], int] = {}
        self._shapes: dict[object, int] = {}
        self._numbers: dict[object, int] = {}

    def number(self, parts: list[tuple[Part, int]], mode: Multicast) -> int:
        """The number of the load of these parts, each with its width in bits; made where its kind is first met."""
        if not parts:
            return 0
        axes = [self._shape([(part.now[axis], None if part.old is None else part.old[axis]) for part, _ in parts])
                for axis in range(len(parts[0][0].now))]
        kind = mode, tuple(axes), tuple([(part.times, part.near, part.near_times, part.parents, bits) for part, bits in parts])
        found = self._numbers.get(kind)
        if found is None:
            found = self._numbers[kind] = self._loads.add(merged(parts, mode))
        return found

    def _shape(self, groups: list[tuple[AxisGroup, AxisGroup | None]]) -> int:
        """How the sets of one axis lie to each other and to the ends of the axis. Equal groups are the same object."""
        key = tuple([id(group) for pair in groups for group in pair])
        met = self._met.get(key)
        if met is None:
            masks = [() if group is None else group.masks for pair in groups for group in pair]
            every = 0
            for mask in (mask for own in masks for mask in own):
                every |= mask
            low = max(0, (every & -every).bit_length() - 1)
            extent = groups[0][0].sets[0].extent
            lies = tuple([tuple([mask >> low for mask in own]) for own in masks]), low > 0, every.bit_length() < extent
            met = self._met[key] = self._shapes.setdefault(lies, len(self._shapes))
        return met
