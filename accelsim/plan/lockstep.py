"""Lockstep instances run as one: their tiles as products of per-axis sets, so that traffic is summed exactly and fast.

Instances are split into lanes that are idle at the same steps. Within a lane every instance takes the same steps, and
the instances are a product over the lines of the nest; a tensor's axes depend on disjoint lines, so sums over the
instances are products over the axes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

from accelsim.plan.images import AxisImage, IndexSet, JointImage, TensorImage, Tile, shared
from accelsim.plan.moves import Load, Move, union_elements
from accelsim.plan.walk import Numbers, Visit, VisitWalk, visits
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
        self.grid = image.grid
        self.nothing = None
        self.axes = [GroupAxis(axis, list(product(*(offsets[line] for line in axis.lines)))) for axis in image.axes]


class GroupAxis:
    """One axis of a lane's instances, which stand at these offsets along the axis' lines."""

    def __init__(self, axis: AxisImage | JointImage, offsets: list[tuple[int, ...]]) -> None:
        self.lines = axis.lines
        self._axis = axis
        self._offsets = offsets
        self._interned: dict[tuple[tuple[int, int], ...], AxisGroup] = {}

    def at(self, position: Sequence[int]) -> AxisGroup:
        """The group for positions along all lines."""
        moved = list(position)
        sets = []
        for offset in self._offsets:
            for line, step in zip(self.lines, offset, strict=True):
                moved[line] = position[line] + step
            sets.append(self._axis.at(moved))
        return self._interned.setdefault(tuple([(one.low, one.bits) for one in sets]), AxisGroup(tuple(sets)))


Groups = tuple[AxisGroup, ...]


class Part(NamedTuple):
    """Tiles of a lane's instances now and before, and how often each counts.

    ``near``: per axis the places of the instances inside one instance of the parent (None: all are), ``near_times`` how
    often each of those counts (0: the lane has none in the parent's first instance, which is its fullest). ``parents``: how
    many instances of the parent there are in the unit.
    """

    now: Groups
    old: Groups | None
    times: int
    near: tuple[tuple[int, ...], ...] | None
    near_times: int
    parents: int

    def inside_one_parent(self) -> Part | None:
        """The part of it that passes one parent's ports."""
        if not self.near_times:
            return None
        if self.near is None:
            return self
        return Part(_chosen(self.now, self.near), None if self.old is None else _chosen(self.old, self.near),
                    self.near_times, None, self.near_times, self.parents)


def _chosen(groups: Groups, places: tuple[tuple[int, ...], ...]) -> Groups:
    return tuple([AxisGroup(tuple([group.sets[i] for i in own])) for group, own in zip(groups, places, strict=True)])


class GroupLoad(Load):
    """A load of lockstep instances: sums are products over the axes; single moves are made only where rounding needs them."""

    __slots__ = ("_bits", "_bridge", "_elements", "_explicit", "_largest", "_mode", "_parts", "_shared")

    def __init__(self, parts: list[Part], bits: int, mode: Multicast, bridge_bytes: int) -> None:
        self._parts, self._bits, self._mode, self._bridge = parts, bits, mode, bridge_bytes
        self._elements = _sum(parts)
        self._largest = max(_largest(part.now, part.old) for part in parts)
        self._explicit: Load | None = None
        near = [own for part in parts if (own := part.inside_one_parent()) is not None]
        self._shared = 0 if not near else _sum(near) if mode is Multicast.NONE else _shared(near, mode)

    def _simple(self, granularity_bytes: int) -> bool:
        return granularity_bytes == 1 and not self._bits % 8

    def moves(self) -> Load:
        """The same load move by move."""
        if self._explicit is None:
            self._explicit = _explicit(self._parts, self._bits, self._mode, self._bridge)
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

    def all_outer_bytes(self, granularity_bytes: int) -> int:
        """Bytes through what instances share, summed over the parents (each as the fullest)."""
        return self.outer_bytes(granularity_bytes) * max(part.parents for part in self._parts)

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


def _sum(parts: list[Part]) -> int:
    """New elements of all instances."""
    return sum([part.times * (prod([group.total for group in part.now]) - _overlap(part.now, part.old)) for part in parts])


def _shared(parts: list[Part], mode: Multicast) -> int | None:
    """Elements that the instances need together, read once; None where only counting set by set can tell.

    Where the parts are a full product of what their axes do, the sets of each axis are pooled and multiplied.
    """
    if len({part.old is None for part in parts}) > 1:
        return None
    depth = len(parts[0].now)
    pooled: list[dict[object, list[tuple[int, int]]]] = [{} for _ in range(depth)]
    kinds = set()
    for now, old, *_ in parts:
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
    return whole if parts[0].old is None else whole - kept


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


def _explicit(parts: list[Part], bits: int, mode: Multicast, bridge_bytes: int) -> Load:
    """Move by move: every instance's tile and the one before."""
    each = _moves(parts, bits, bridge_bytes)
    near = _moves([own for part in parts if (own := part.inside_one_parent()) is not None], bits,
                  bridge_bytes)
    once = [(move, times) for move, times, _ in near]
    if mode is Multicast.EQUAL:
        once = [(move, 1) for move in {
            (tuple(a.mask for a in tile), None if held is None else tuple(a.mask for a in held)): move
            for move, _, (tile, held) in near}.values()]
    elif mode is Multicast.OVERLAP and near:
        once = [(Move(union_elements([pair for _, _, pair in near]), bits, None, None), 1)]
    nothing = ((Move(0, bits, None, None), 1),)
    return Load(tuple(once), tuple((move, times) for move, times, _ in each) or nothing)


def _moves(parts: list[Part], bits: int, bridge_bytes: int) -> list[tuple[Move, int, tuple[Tile, Tile | None]]]:
    """(move, times, (tile, held)) of every instance that moves something."""
    found = []
    for now, old, times, *_ in parts:
        for place in product(*(range(len(group.sets)) for group in now)):
            tile = tuple(group.sets[i] for group, i in zip(now, place, strict=True))
            held = None if old is None else tuple(group.sets[i] for group, i in zip(old, place, strict=True))
            count = prod(a.count for a in tile)
            if held is not None:
                count -= prod(shared(a, b) for a, b in zip(tile, held, strict=True))
            if count:
                found.append((Move(count, bits, tile, held, bridge_bytes), times, (tile, held)))
    return found


def merged(parts: list[tuple[Part, int]], mode: Multicast, bridge_bytes: int = 0) -> Load | None:
    """One load of the lanes that change at the same step, each with its width in bits; None where nothing moves."""
    widths: dict[int, list[Part]] = {}
    for part, bits in parts:
        widths.setdefault(bits, []).append(part)
    loads = [load for bits, own in sorted(widths.items()) if (load := GroupLoad(own, bits, mode, bridge_bytes)).elements]
    return None if not loads else loads[0] if len(loads) == 1 else MixedLoad(loads)


class MixedLoad(Load):
    """Loads of several widths that move together: finished outputs of some instances, unfinished ones of others."""

    __slots__ = ("_loads",)

    def __init__(self, loads: Sequence[Load]) -> None:
        self._loads = loads

    @property
    def elements(self) -> int:
        """Elements entering or leaving all instances."""
        return sum(load.elements for load in self._loads)

    @property
    def payload_bytes(self) -> int:
        """Bytes entering or leaving all instances, before granularity."""
        return sum(load.payload_bytes for load in self._loads)

    def outer_bytes(self, granularity_bytes: int) -> int:
        """Bytes through a port that all instances share."""
        return sum(load.outer_bytes(granularity_bytes) for load in self._loads)

    def all_outer_bytes(self, granularity_bytes: int) -> int:
        """Bytes through what instances share, summed over the parents (each as the fullest)."""
        return sum(load.all_outer_bytes(granularity_bytes) for load in self._loads)

    def inner_bytes(self, granularity_bytes: int) -> int:
        """Bytes through the port of the fullest instance."""
        return max(load.inner_bytes(granularity_bytes) for load in self._loads)

    def all_inner_bytes(self, granularity_bytes: int) -> int:
        """Bytes through the instances' own ports, summed."""
        return sum(load.all_inner_bytes(granularity_bytes) for load in self._loads)


class Lane:
    """Instances that are active at the same steps. ``times``: how many share each set of relevant coordinates;
    ``lead_times``: how many of those take the partial sums that come back. ``near`` and ``near_times``: as in ``Part``.
    """

    def __init__(self, case: Case, image: TensorImage, loops: Sequence[NestLoop], base: Sequence[int],
                 classes: Sequence[Sequence[int]], nearby: Sequence[frozenset[int]],
                 leading: Sequence[frozenset[int]], parents: int) -> None:
        self.parents = parents
        start = [at + chosen[0] for at, chosen in zip(base, classes, strict=True)]
        offsets = [[one - chosen[0] for one in chosen] for chosen in classes]
        reduced = [bool(set(line.dims)) and not set(line.dims) & case.operator.output.dims for line in case.nest.lines]
        free = [line for line in range(len(classes)) if line not in image.lines]
        self.times = prod(len(classes[line]) for line in free)
        self.lead_times = prod(sum(one in leading[line] for one in classes[line]) if reduced[line] else len(classes[line])
                               for line in free)
        near = [[one - chosen[0] for one in chosen if one in own] for chosen, own in zip(classes, nearby, strict=True)]
        self.near_times = prod(len(near[line]) for line in free)
        self.near: tuple[tuple[int, ...], ...] | None = None
        if any(len(own) < len(every) for own, every in zip(near, offsets, strict=True)):
            self.near = tuple(
                tuple(i for i, place in enumerate(product(*(offsets[line] for line in axis.lines)))
                      if all(step in near[line] for line, step in zip(axis.lines, place, strict=True)))
                for axis in image.axes)
            if not all(self.near):
                self.near_times = 0
        self._numbers = Numbers(case.nest, GroupImage(image, offsets))
        self._steps = VisitWalk(case.nest, self._numbers, loops, start)
        self.begin()

    def begin(self, step: int = 0) -> None:
        """Begin at a step (see ``Walk.seek``); all lanes are told to, also those that are idle then."""
        if step:
            self._steps.go_to(step)
        self.walk: Iterator[Visit[AxisGroup]] = visits(self._steps, self._numbers)
        self.now: Visit[AxisGroup] | None = None
        self.next: Visit[AxisGroup] | None = next(self.walk, None)
        if step and self.next is not None:
            self.next.first, self.next.last = step, max(step, self.next.last)
        self.drained: dict[object, int] = {}


def lanes(case: Case, image: TensorImage, loops: Sequence[NestLoop], base: Sequence[int],
          together: Sequence[NestLoop], parent: int) -> list[Lane]:
    """The lanes of a unit whose lockstep loops are ``together``; those at or inside ``parent`` share its ports."""
    choices: list[list[list[int]]] = []
    nearby: list[frozenset[int]] = []
    leading: list[frozenset[int]] = []
    for number, line in enumerate(case.nest.lines):
        offsets, inner, outer = [0], [0], [0]
        for loop in together:
            if loop.line == number:
                offsets = [offset + i * loop.stride for offset in offsets for i in range(loop.bound)]
                if loop.entry >= parent:
                    inner = [offset + i * loop.stride for offset in inner for i in range(loop.bound)]
                else:
                    outer = [offset + i * loop.stride for offset in outer for i in range(loop.bound)]
        nearby.append(frozenset(inner))
        leading.append(frozenset(outer))
        starts = _starts(loops, number, base[number], line.extent)
        classes: dict[int, list[int]] = {}
        for offset in sorted(offsets):
            active = sum(1 for start in starts if start + offset < line.extent)
            if active:
                classes.setdefault(active, []).append(offset)
        # a flattened list that two axes depend on ties them together: its instances are no product over the axes
        apart = sum(number in axis.lines for axis in image.axes) > 1
        choices.append([[one] for own in classes.values() for one in own] if apart else list(classes.values()))
    parents = prod(loop.bound for loop in together if loop.entry < parent)
    return [Lane(case, image, loops, base, chosen, nearby, leading, parents) for chosen in product(*choices)]


def _starts(loops: Sequence[NestLoop], line: int, base: int, extent: int) -> list[int]:
    """Positions along a line at which steps begin."""
    starts = [base]
    for loop in loops:
        if loop.line == line:
            starts = [start + i * loop.stride for start in starts for i in range(loop.bound)
                      if start + i * loop.stride < extent]
    return starts
