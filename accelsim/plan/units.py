"""Instances: which of them run on their own, which run in lockstep as one, and where their coordinates put them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from accelsim.spec.case import Case
from accelsim.spec.nest import NestLoop


@dataclass(frozen=True)
class Unit:
    """What runs as one: an instance, or all lockstep instances inside one of the level above.

    ``coordinates`` of the asynchronous spatial loops above it, in nest order. ``bases``: for each of its instances
    that has work, the positions along the lines with every temporal loop at 0. ``leads``: for each, the outermost entry
    from which inward it has coordinate 0 in every split of a reduction: of the instances inside one instance of that
    entry, or of one further in, it is the one that takes the partial sums that come back.
    """

    index: int
    coordinates: tuple[int, ...]
    bases: tuple[tuple[int, ...], ...]
    leads: tuple[int, ...]


def units(case: Case, entry: int) -> tuple[Unit, ...]:
    """The units of an entry in core order (the outermost spatial loop slowest); instances without work left out."""
    loops = case.nest.spatial_above(entry)
    apart = [loop for loop in loops if not case.lockstep(loop.entry + 1)]
    together = [loop for loop in loops if case.lockstep(loop.entry + 1)]
    made: list[Unit] = []
    for coordinates in product(*(range(loop.bound) for loop in apart)):
        bases, leads = [], []
        for inner in product(*(range(loop.bound) for loop in together)):
            placed = [*zip(apart, coordinates, strict=True), *zip(together, inner, strict=True)]
            base = _base(case, placed)
            if all(start < line.extent for start, line in zip(base, case.nest.lines, strict=True)):
                bases.append(base)
                leads.append(max((loop.entry + 1 for loop, place in placed if place and case.reduces(loop)), default=0))
        if bases:
            made.append(Unit(len(made), coordinates, tuple(bases), tuple(leads)))
    return tuple(made)


def _base(case: Case, placed: list[tuple[NestLoop, int]]) -> tuple[int, ...]:
    base = [0] * len(case.nest.lines)
    for loop, coordinate in placed:
        base[loop.line] += coordinate * loop.stride
    return tuple(base)


def owner(unit: Unit, of: tuple[Unit, ...]) -> int:
    """Index of the unit of an outer entry that contains a unit."""
    depth = len(of[0].coordinates)
    return next(outer.index for outer in of if outer.coordinates == unit.coordinates[:depth])


def children(outer: Unit, of: tuple[Unit, ...]) -> Iterator[Unit]:
    """The units of an inner entry that lie in a unit."""
    depth = len(outer.coordinates)
    return (unit for unit in of if unit.coordinates[:depth] == outer.coordinates)
