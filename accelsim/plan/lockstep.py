"""Lockstep instances run as one: their tiles as products of per-axis sets, so that traffic is summed exactly and fast.

Instances are split into lanes that are idle at the same steps. Within a lane every instance takes the same steps, and
the instances are a product over the lines of the nest; a tensor's axes depend on disjoint lines, so sums over the
instances are products over the axes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

from accelsim.plan.images import AxisImage, IndexSet, JointImage, TensorImage, Tile, shared
from accelsim.plan.moves import Load, Move, union_elements
from accelsim.plan.walk import Visit, visits
from accelsim.spec.case import Case
from accelsim.spec.chip import Multicast
from accelsim.spec.nest import NestLoop


class AxisGroup:
    """The index sets of one axis over a lane's instances, in coordinate order. Equal groups are the same object."""

    __slots__ = ("_masks", "sets", "total")

    def __init__(self, sets: tuple[IndexSet, ...]) -> None:
        self.sets = sets
        self.total = sum([one.count for one in sets])
        self._masks: tuple[int, ...] = ()

    @property
    def masks(self) -> tuple[int, ...]:
        """The sets' bits, index by index."""
        if not self._masks:
            self._masks = tuple([one.mask for one in self.sets])
        return self._masks


class GroupImage:
    """Tiles of a lane's instances: one group of index sets for each axis."""

    def __init__(self, image: TensorImage, offsets: Sequence[Sequence[int]]) -> None:
        self.lines = image.lines
        self._axes = [(axis, list(product(*(offsets[line] for line in axis.lines)))) for axis in image.axes]
        self._made: list[dict[tuple[int, ...], AxisGroup]] = [{} for _ in self._axes]
        self._interned: list[dict[tuple[tuple[int, int], ...], AxisGroup]] = [{} for _ in self._axes]

    def at(self, position: Sequence[int]) -> tuple[AxisGroup, ...]:
        """The groups for positions along all lines."""
        found = []
        for place, (axis, offsets) in enumerate(self._axes):
            key = tuple([position[line] for line in axis.lines])
            group = self._made[place].get(key)
            if group is None:
                group = self._made[place][key] = self._group(place, axis, offsets, position)
            found.append(group)
        return tuple(found)

    def _group(self, place: int, axis: AxisImage | JointImage, offsets: list[tuple[int, ...]],
               position: Sequence[int]) -> AxisGroup:
        moved = list(position)
        sets = []
        for offset in offsets:
            for line, step in zip(axis.lines, offset, strict=True):
                moved[line] = position[line] + step
            sets.append(axis.at(moved))
        return self._interned[place].setdefault(tuple([(one.low, one.bits) for one in sets]), AxisGroup(tuple(sets)))


Groups = tuple[AxisGroup, ...]


Part = tuple[Groups, Groups | None, int]
"""Tiles of a lane's instances now and before, and how often each counts."""


class GroupLoad(Load):
    """A load of lockstep instances: sums are products over the axes; single moves are made only where rounding needs them."""

    __slots__ = ("_bits", "_elements", "_explicit", "_largest", "_mode", "_parts", "_shared")

    def __init__(self, parts: list[Part], bits: int, mode: Multicast) -> None:
        self._parts, self._bits, self._mode = parts, bits, mode
        self._elements = sum(times * (prod([group.total for group in now]) - _overlap(now, old)) for now, old, times in parts)
        self._largest = max(_largest(now, old) for now, old, _ in parts)
        self._explicit: Load | None = None
        self._shared = self._elements if mode is Multicast.NONE else _shared(parts, mode)

    def _simple(self, granularity_bytes: int) -> bool:
        return granularity_bytes == 1 and not self._bits % 8

    def moves(self) -> Load:
        """The same load move by move."""
        if self._explicit is None:
            self._explicit = _explicit(self._parts, self._bits, self._mode)
        return self._explicit

    @property
    def elements(self) -> int:
        """Elements entering or leaving all instances."""
        return self._elements

    @property
    def payload_bytes(self) -> int:
        """Bytes entering or leaving all instances, before granularity."""
        return self._elements * self._bits // 8 if self._simple(1) else self.moves().payload_bytes

    def outer_bytes(self, granularity_bytes: int) -> int:
        """Bytes through a port that all instances share."""
        if self._shared is not None and self._simple(granularity_bytes):
            return self._shared * self._bits // 8
        return self.moves().outer_bytes(granularity_bytes)

    def inner_bytes(self, granularity_bytes: int) -> int:
        """Bytes through the port of the fullest instance."""
        if self._simple(granularity_bytes):
            return self._largest * self._bits // 8
        return self.moves().inner_bytes(granularity_bytes)

    def all_inner_bytes(self, granularity_bytes: int) -> int:
        """Bytes through the instances' own ports, summed."""
        if self._simple(granularity_bytes):
            return self.payload_bytes
        return self.moves().all_inner_bytes(granularity_bytes)


def _shared(parts: list[Part], mode: Multicast) -> int | None:
    """Elements that the instances need together, read once; None where only counting set by set can tell.

    Where the parts are a full product of what their axes do, the sets of each axis are pooled and multiplied.
    """
    if len({old is None for _, old, _ in parts}) > 1:
        return None
    depth = len(parts[0][0])
    pooled: list[dict[object, list[tuple[int, int]]]] = [{} for _ in range(depth)]
    kinds = set()
    for now, old, _ in parts:
        kind = tuple([(group.masks, () if old is None else old[place].masks) for place, group in enumerate(now)])
        kinds.add(kind)
        for place, (masks, before) in enumerate(kind):
            pooled[place][masks, before] = list(zip(masks, before or (0,) * len(masks), strict=True))
    if len(kinds) != prod([len(variants) for variants in pooled]):
        return None
    whole = kept = 1
    for variants in pooled:
        pairs = {pair for variant in variants.values() for pair in variant}
        if mode is Multicast.EQUAL:
            whole *= sum([a.bit_count() for a, _ in pairs])
            kept *= sum([(a & b).bit_count() for a, b in pairs])
            continue
        union = fresh = 0
        for a, b in pairs:
            union |= a
            fresh |= a & ~b
        whole *= union.bit_count()
        kept *= (union & ~fresh).bit_count()
    return whole if parts[0][1] is None else whole - kept


def _overlap(now: Groups, old: Groups | None) -> int:
    """Sum over the instances of the elements that their tile shares with the one before."""
    if old is None:
        return 0
    count = 1
    for group, before in zip(now, old, strict=True):
        both = group.total if group is before else sum(
            [shared(a, b) for a, b in zip(group.sets, before.sets, strict=True)])
        if not both:
            return 0
        count *= both
    return count


def _largest(now: Groups, old: Groups | None) -> int:
    """New elements of the fullest instance."""
    if old is None:
        return prod(max(one.count for one in group.sets) for group in now)
    choices = [{(a.count, shared(a, b)) for a, b in zip(group.sets, before.sets, strict=True)}
               for group, before in zip(now, old, strict=True)]
    return max(prod(a for a, _ in chosen) - prod(b for _, b in chosen) for chosen in product(*choices))


def _explicit(parts: list[Part], bits: int, mode: Multicast) -> Load:
    """Move by move: every instance's tile and the one before."""
    each: list[tuple[Move, int]] = []
    pairs: dict[tuple[Tile, Tile | None], Move] = {}
    once: list[tuple[Move, int]] = []
    for now, old, times in parts:
        for place in product(*(range(len(group.sets)) for group in now)):
            tile = tuple(group.sets[i] for group, i in zip(now, place, strict=True))
            held = None if old is None else tuple(group.sets[i] for group, i in zip(old, place, strict=True))
            count = prod(a.count for a in tile)
            if held is not None:
                count -= prod(shared(a, b) for a, b in zip(tile, held, strict=True))
            if not count:
                continue
            move = Move(count, bits, tile, held)
            each.append((move, times))
            pairs[tile, held] = move
            once.append((move, times))
    if mode is Multicast.EQUAL:
        once = [(move, 1) for move in {
            (tuple(a.mask for a in tile), None if held is None else tuple(a.mask for a in held)): move
            for (tile, held), move in pairs.items()}.values()]
    elif mode is Multicast.OVERLAP and pairs:
        once = [(Move(union_elements(list(pairs)), bits, None, None), 1)]
    return Load(tuple(once), tuple(each)) if each else Load((), ((Move(0, bits, None, None), 1),))


def merged(parts: list[Part], bits: int, mode: Multicast) -> Load | None:
    """One load of the lanes that change at the same step; None where nothing moves."""
    if not parts:
        return None
    load = GroupLoad(parts, bits, mode)
    return load if load.elements else None


class Lane:
    """Instances that are active at the same steps. ``times``: how many share each set of relevant coordinates;
    ``lead_times``: how many of those take the partial sums that come back.
    """

    def __init__(self, case: Case, image: TensorImage, loops: Sequence[NestLoop], base: Sequence[int],
                 classes: Sequence[Sequence[int]]) -> None:
        start = [at + chosen[0] for at, chosen in zip(base, classes, strict=True)]
        offsets = [[one - chosen[0] for one in chosen] for chosen in classes]
        reduced = [bool(set(line.dims)) and not set(line.dims) & case.operator.output.dims for line in case.nest.lines]
        free = [line for line in range(len(classes)) if line not in image.lines]
        self.times = prod(len(classes[line]) for line in free)
        self.lead_times = prod((1 if classes[line][0] == 0 else 0) if reduced[line] and len(classes[line]) + classes[line][0] > 1
                               else len(classes[line]) for line in free)
        self.walk: Iterator[Visit[AxisGroup]] = visits(case.nest, GroupImage(image, offsets), loops, start)
        self.now: Visit[AxisGroup] | None = None
        self.next: Visit[AxisGroup] | None = next(self.walk, None)
        self.drained: dict[object, int] = {}


def lanes(case: Case, image: TensorImage, loops: Sequence[NestLoop], base: Sequence[int],
          together: Sequence[NestLoop]) -> list[Lane]:
    """The lanes of a unit whose lockstep loops are ``together``."""
    choices: list[list[list[int]]] = []
    for number, line in enumerate(case.nest.lines):
        offsets = [0]
        for loop in together:
            if loop.line == number:
                offsets = [offset + i * loop.stride for offset in offsets for i in range(loop.bound)]
        starts = _starts(loops, number, base[number], line.extent)
        classes: dict[int, list[int]] = {}
        for offset in sorted(offsets):
            active = sum(1 for start in starts if start + offset < line.extent)
            if active:
                classes.setdefault(active, []).append(offset)
        choices.append(list(classes.values()))
    return [Lane(case, image, loops, base, chosen) for chosen in product(*choices)]


def _starts(loops: Sequence[NestLoop], line: int, base: int, extent: int) -> list[int]:
    """Positions along a line at which steps begin."""
    starts = [base]
    for loop in loops:
        if loop.line == line:
            starts = [start + i * loop.stride for start in starts for i in range(loop.bound)
                      if start + i * loop.stride < extent]
    return starts
