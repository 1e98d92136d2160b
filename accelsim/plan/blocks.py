"""A tensor cut into blocks that are always moved as a whole: along each axis indices that lie in the same tiles go together."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import NamedTuple

from accelsim.errors import LimitExceeded
from accelsim.plan.images import IndexSet
from accelsim.plan.layout import shape
from accelsim.plan.lockstep import AxisGroup
from accelsim.plan.moves import Move
from accelsim.plan.places import stretches
from accelsim.plan.walk import Numbers

MOST_PLACES = 1 << 20
"""Tiles along an axis, at most."""

Along = IndexSet | AxisGroup
"""Tiles along one axis: of one instance, or of all that run in lockstep. Equal ones are the same object."""


@dataclass(frozen=True)
class Touched:
    """Tiles of a tensor that are moved at a width, without what was held before."""

    now: Sequence[Along]
    old: Sequence[Along] | None
    bits: int


class Told(NamedTuple):
    """A stay as a row, and the tiles that its load and its drain touch."""

    row: list[int]
    fills: Sequence[Touched]
    drains: Sequence[Touched]


class Blocks:
    """The blocks of a tensor, numbered row-major over the parts of its axes.

    ``most_elements``: blocks are cut further until none has more. ``granule_bytes``: contiguous runs are rounded up to it. Raises
    LimitExceeded beyond ``MOST_PLACES``.
    """

    def __init__(self, numbers: Numbers[IndexSet], most_elements: int, granule_bytes: int) -> None:
        self._granule = granule_bytes
        self._axes = [_Parts(_sets(numbers, axis)) for axis in range(len(numbers.sets))]
        self._extents = [own.extent for own in self._axes]
        for place, own in enumerate(self._axes):
            others = prod(one.largest for one in [*self._axes[:place], *self._axes[place + 1:]])
            if own.largest * others > most_elements:
                own.cut(max(1, most_elements // others))
        counts = [len(own.masks) for own in self._axes]
        self._weights = [prod(counts[place + 1:]) for place in range(len(counts))]
        self._kinds: dict[object, int] = {}
        self._kind_of = [[self._kinds.setdefault(shape(mask, 0, extent), len(self._kinds)) for mask in own.masks]
                         for own, extent in zip(self._axes, self._extents, strict=True)]
        self._sizes: dict[tuple[object, ...], int] = {}
        self._size_of: dict[tuple[int, int], int] = {}

    def of(self, touched: Touched) -> list[int]:
        """The blocks of what is moved, in the order of their numbers."""
        found, chosen = [0], []
        for place, (own, weight) in enumerate(zip(self._axes, self._weights, strict=True)):
            parts = own.parts(touched.now[place])
            chosen.append(parts)
            found = [number + part * weight for number in found for part in parts]
        if touched.old is None or not found:
            return found
        fresh = [own.fresh(now, old) for own, now, old in zip(self._axes, touched.now, touched.old, strict=True)]
        if any(len(new) == len(parts) for new, parts in zip(fresh, chosen, strict=True)):
            return found
        # of several instances one may hold what another has not: new is what is new to any along some axis
        kept = [0]
        for parts, new, weight in zip(chosen, fresh, self._weights, strict=True):
            kept = [number + part * weight for number in kept for part in parts if part not in new]
        return sorted(set(found).difference(kept))

    def size_bytes(self, block: int, bits: int) -> int:
        """Bytes of a block at a width, in whole granules."""
        size = self._size_of.get((block, bits))
        if size is None:
            places, left = [], block
            for weight in self._weights:
                place, left = divmod(left, weight)
                places.append(place)
            key = (*(kinds[place] for kinds, place in zip(self._kind_of, places, strict=True)), bits)
            size = self._sizes.get(key)
            if size is None:
                tile = tuple([IndexSet(0, own.masks[place], extent)
                              for own, place, extent in zip(self._axes, places, self._extents, strict=True)])
                moved = Move(prod(one.count for one in tile), bits, tile, None)
                size = self._sizes[key] = moved.bytes_at(self._granule)
            self._size_of[block, bits] = size
        return size


class _Parts:
    """One axis: its parts as masks, and which of them each set of indices has."""

    def __init__(self, sets: list[IndexSet]) -> None:
        self.extent = sets[0].extent
        self.masks: list[int] = []
        self._parts: dict[int, tuple[int, ...]] = {}
        self._fresh: dict[tuple[int, int], frozenset[int]] = {}
        runs = [list(zip(*(part.tolist() for part in stretches(one.mask)), strict=True)) for one in sets]
        edges = sorted({edge for own in runs for first, count in own for edge in (first, first + count)})
        members: list[list[int]] = [[] for _ in edges]
        for number, own in enumerate(runs):
            for first, count in own:
                for place in range(bisect_left(edges, first), bisect_left(edges, first + count)):
                    members[place].append(number)
        number_of: dict[tuple[int, ...], int] = {}
        for place, own_members in enumerate(members):
            if own_members:
                part = number_of.setdefault(tuple(own_members), len(self.masks))
                if part == len(self.masks):
                    self.masks.append(0)
                self.masks[part] |= ((1 << edges[place + 1] - edges[place]) - 1) << edges[place]
        holds: list[list[int]] = [[] for _ in sets]
        for alike, part in number_of.items():
            for number in alike:
                holds[number].append(part)
        self._of: dict[int, tuple[int, ...]] = {one.mask: tuple(own) for one, own in zip(sets, holds, strict=True)}

    @property
    def largest(self) -> int:
        """Indices of the largest part."""
        return max((mask.bit_count() for mask in self.masks), default=1)

    def cut(self, most: int) -> None:
        """Cut parts so that none has more than so many indices."""
        masks: list[int] = []
        became: list[range] = []
        for mask in self.masks:
            first, left = len(masks), mask
            while left:
                masks.append(_lowest(left, most))
                left &= ~masks[-1]
            became.append(range(first, len(masks)))
        self.masks = masks
        self._of = {mask: tuple([new for part in parts for new in became[part]]) for mask, parts in self._of.items()}

    def parts(self, one: Along) -> tuple[int, ...]:
        """The parts of a set, or of all sets of a group, ascending."""
        found = self._parts.get(id(one))
        if found is None:
            found = self._parts[id(one)] = tuple(sorted({part for mask in _masks(one) for part in self._of[mask]}))
        return found

    def fresh(self, now: Along, old: Along) -> frozenset[int]:
        """Parts that a set has and the one before has not; of groups, those of any instance."""
        key = id(now), id(old)
        found = self._fresh.get(key)
        if found is None:
            found = self._fresh[key] = frozenset(part for mask, before in zip(_masks(now), _masks(old), strict=True)
                                                 for part in set(self._of[mask]).difference(self._of[before]))
        return found


def _masks(one: Along) -> tuple[int, ...]:
    return one.masks if isinstance(one, AxisGroup) else (one.mask,)


def _lowest(mask: int, most: int) -> int:
    """The lowest indices of a mask, at most so many."""
    piece = 0
    while mask and most:
        blank = (mask & -mask).bit_length() - 1
        ones = mask >> blank
        count = min(most, (~ones & (ones + 1)).bit_length() - 1)
        run = ((1 << count) - 1) << blank
        piece, mask, most = piece | run, mask & ~run, most - count
    return piece


def _sets(numbers: Numbers[IndexSet], axis: int) -> list[IndexSet]:
    """All sets that tiles may have along an axis, the empty one among them."""
    image = numbers.image
    own = image.axes[axis]
    if numbers.places[axis] > MOST_PLACES:
        raise LimitExceeded(f"{numbers.places[axis]:,} tiles along an axis before a cache exceed {MOST_PLACES:,}; "
                            "map larger tiles, or take `cache` out of the chip")
    position = [0] * len(image.grid)
    assert image.nothing is not None, "tensor images have an empty set"
    found = {image.nothing[axis].mask: image.nothing[axis]}
    for places in product(*(range(numbers.spans[line]) for line in own.lines)):
        for line, place in zip(own.lines, places, strict=True):
            position[line] = place * image.grid[line]
        one = own.at(position)
        found.setdefault(one.mask, one)
    return list(found.values())
