"""The loads of one tensor between one entry and its parent, numbered: what visits of tiles move, kind by kind.

What a visit moves depends on how many indices its tile has along each axis, how many of them it shares with the tile
before, and, where runs are rounded up, how they lie. Few of these occur, so each is worked out once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import count
from math import prod

from accelsim.kernels.stays import FIELD
from accelsim.plan.codes import CodeTables
from accelsim.plan.images import IndexSet, shared
from accelsim.plan.layout import shape
from accelsim.plan.lockstep import AxisGroup, Part, merged
from accelsim.plan.moves import Load, Move, SingleLoad
from accelsim.plan.walk import Numbers
from accelsim.spec.chip import Multicast


class Loads:
    """Loads by number; 0 is none. ``granular``: some port rounds runs up, so that their lengths matter. ``bridge_bytes``: gaps
    up to that are moved with the runs of inputs.

    ``codes``: the tables that ``kernels.stays`` looks loads up in.
    """

    def __init__(self, numbers: Numbers[IndexSet], *, granular: bool, bridge_bytes: int = 0) -> None:
        self.all: list[Load | None] = [None]
        self.codes = CodeTables(2 * len(numbers.sets) + 1)
        self._numbers = numbers
        self._granular = granular
        self.bridge_bytes = bridge_bytes
        self._classes: list[dict[object, int]] = [{} for _ in numbers.sets]
        self._joints = count()

    def add(self, load: Load | None) -> int:
        """The number of a load made elsewhere."""
        if load is None:
            return 0
        self.all.append(load)
        return len(self.all) - 1

    def meet(self, tile: Sequence[int], held: Sequence[int] | None, bits: int) -> int:
        """Number the load that moves, at a width, what a tile has that the held one (None: nothing) has not; returns it.

        ``tile``, ``held``: numbers of sets, an axis each.
        """
        code, axes = 0, len(tile)
        for axis, now in enumerate(tile):
            was = -1 if held is None else held[axis]
            kind = self.codes.number(axis, (now << FIELD) + was + 1, partial(self._class, axis, now, was))
            code = self.codes.number(axes + axis, (code << FIELD) + kind, partial(next, self._joints))
        return self.codes.number(2 * axes, (code << FIELD) + bits, partial(self._made, tile, held, bits))

    def _set(self, axis: int, number: int) -> IndexSet:
        found = self._numbers.sets[axis][number]
        assert found is not None, "tensor images have an empty set"
        return found

    def _class(self, axis: int, number: int, held: int) -> int:
        now = self._set(axis, number)
        kept = self._set(axis, held) if held >= 0 else IndexSet(0, 0, now.extent)
        lies = shape(now.mask, kept.mask, now.extent, gaps=self.bridge_bytes > 0) if self._granular else None
        return self._classes[axis].setdefault((now.count, shared(now, kept), lies), len(self._classes[axis]))

    def _made(self, numbers: Sequence[int], held: Sequence[int] | None, bits: int) -> int:
        tile = tuple([self._set(axis, number) for axis, number in enumerate(numbers)])
        before = None if held is None else tuple([self._set(axis, number) for axis, number in enumerate(held)])
        moved = prod(now.count for now in tile)
        if before is not None:
            moved -= prod(shared(now, kept) for now, kept in zip(tile, before, strict=True))
        return self.add(SingleLoad(Move(moved, bits, tile, before, self.bridge_bytes))) if moved else 0


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
            found = self._numbers[kind] = self._loads.add(merged(parts, mode, self._loads.bridge_bytes))
        return found

    def _shape(self, groups: list[tuple[AxisGroup, AxisGroup | None]]) -> int:
        """How the sets of one axis lie to each other, and whether from end to end. Equal groups are the same object."""
        key = tuple([id(group) for pair in groups for group in pair])
        met = self._met.get(key)
        if met is None:
            masks = [() if group is None else group.masks for pair in groups for group in pair]
            every = 0
            for mask in (mask for own in masks for mask in own):
                every |= mask
            low = max(0, (every & -every).bit_length() - 1)
            extent = groups[0][0].sets[0].extent
            lies = tuple([tuple([mask >> low for mask in own]) for own in masks]), low == 0 and every.bit_length() == extent
            met = self._met[key] = self._shapes.setdefault(lies, len(self._shapes))
        return met
