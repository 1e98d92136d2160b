"""The mapping's loops laid out as one nest: which line each loop steps along, and by how much.

A *line* is what loops step along: one dimension, or a flattened list of dimensions. Along a dimension a level's
tile is the product of all bounds inside it; the loops of a flattened list stand together, so that plain loops over
its members are either all outside it (they cut the members) or all inside it (they make up its unit).
"""

from __future__ import annotations

from collections.abc import Mapping as MappingABC
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd, prod

from accelsim.errors import nearest
from accelsim.spec.mapping import Loop, Mapping, MappingLevel


@dataclass(frozen=True)
class Member:
    """One dimension of a flattened line: how many units of how many elements."""

    dim: str
    count: int
    unit: int


@dataclass(frozen=True)
class Line:
    """What loops step along. ``extent`` is in units: elements of a plain dimension, positions of a flattened list."""

    dims: tuple[str, ...]
    extent: int
    members: tuple[Member, ...] = ()

    @property
    def flattened(self) -> bool:
        """Whether it is a flattened list."""
        return bool(self.members)


@dataclass(frozen=True)
class NestLoop:
    """A loop of the nest: ``stride`` is its step along the line; ``axis`` None for a temporal loop."""

    line: int
    bound: int
    stride: int
    entry: int
    axis: str | None


@dataclass(frozen=True)
class Nest:
    """All loops, outermost first: of each entry the temporal ones, then its spatial ones.

    ``entries`` counts the chip's levels plus the array. ``tiles[e][l]``: the tile of entry e along line l, in units.
    """

    lines: tuple[Line, ...]
    loops: tuple[NestLoop, ...]
    entries: int

    @cached_property
    def tiles(self) -> tuple[tuple[int, ...], ...]:
        """Products of the bounds inside each entry, per line."""
        return tuple(tuple(prod(loop.bound for loop in self.loops if loop.line == line and loop.entry >= entry)
                           for line in range(len(self.lines))) for entry in range(self.entries))

    def temporal_above(self, entry: int) -> tuple[NestLoop, ...]:
        """The step loops of an entry: the temporal loops of all entries above it, outermost first."""
        return tuple(loop for loop in self.loops if loop.axis is None and loop.entry < entry)

    def spatial_above(self, entry: int) -> tuple[NestLoop, ...]:
        """The spatial loops that choose an instance of the entry."""
        return tuple(loop for loop in self.loops if loop.axis is not None and loop.entry < entry)

    def own(self, entry: int) -> tuple[NestLoop, ...]:
        """The entry's own loops."""
        return tuple(loop for loop in self.loops if loop.entry == entry)

    def steps_between(self, outer: int, inner: int) -> int:
        """Steps of an inner entry in one step of an outer one."""
        return prod(loop.bound for loop in self.loops if loop.axis is None and outer <= loop.entry < inner)

    def grid(self, loops: Sequence[NestLoop]) -> tuple[int, ...]:
        """Per line, what every position that these loops reach is a multiple of; its extent where none moves along it."""
        return tuple(gcd(*(loop.stride for loop in loops if loop.line == line and loop.bound > 1)) or own.extent
                     for line, own in enumerate(self.lines))

    def line_of(self, dim: str) -> tuple[int, int | None]:
        """(plain line, flattened line or None) of a dimension."""
        plain = next(i for i, line in enumerate(self.lines) if not line.flattened and line.dims == (dim,))
        flat = next((i for i, line in enumerate(self.lines) if line.flattened and dim in line.dims), None)
        return plain, flat


@dataclass(frozen=True)
class NestFault:
    """What is wrong with a mapping's loops and where: (entry index in the mapping, "loops" or an axis, loop index)."""

    entry: int
    part: str
    index: int
    message: str
    hint: str = ""
    remedy: str = ""


def build_nest(mapping: Mapping, dims: MappingABC[str, int], entry_of: Sequence[int], entries: int,
               spatial_entry_of: MappingABC[tuple[int, str], int]) -> tuple[Nest | None, Mapping | None, list[NestFault]]:
    """Lay the mapping out; returns the nest, the mapping with every ``"*"`` resolved, and all faults found.

    ``entry_of[i]`` is the position (0 is outermost) on the chip of the mapping's entry i, ``spatial_entry_of[i, axis]``
    the position just above the instances that its spatial axis spans.
    """
    places = list(_places(mapping))
    faults = [fault for place in places for fault in _loop_faults(place, dims)]
    groups = _groups(places, faults)
    if faults:
        return None, None, faults
    bounds: dict[int, int] = {}
    lines: list[Line] = []
    strides: dict[int, int] = {}
    line_of: dict[int, int] = {}
    grouped = {dim for group in groups for dim in group}
    spans = {dim: _outer_span(places, dim, groups, dims, faults) for dim in grouped}
    for dim, extent in dims.items():
        own = [i for i, place in enumerate(places) if place.loop.dims == (dim,)]
        if dim in grouped:
            first = next(i for i, place in enumerate(places) if dim in place.loop.dims and len(place.loop.dims) > 1)
            outer, inner = [i for i in own if i < first], [i for i in own if i > first]
            _resolve(places, inner, spans[dim], bounds, faults, dim, covers=False)
            _resolve(places, outer, extent, bounds, faults, dim, covers=False)
            _stride(inner, bounds, strides, 1)
            _stride(outer, bounds, strides, spans[dim])
        else:
            _resolve(places, own, extent, bounds, faults, dim, covers=True)
            _stride(own, bounds, strides, 1)
        for i in own:
            line_of[i] = len(lines)
        lines.append(Line((dim,), extent))
    for group in groups:
        members = []
        for dim in group:
            unit = prod(bounds.get(i, 1) for i, place in enumerate(places)
                        if place.loop.dims == (dim,) and i > _first_of(places, group))
            if spans[dim] % unit:
                index = _first_of(places, group)
                faults.append(places[index].fault(f"{unit} elements of {dim} inside the flattened list must divide "
                                                  f"the {spans[dim]} it runs over"))
            members.append(Member(dim, -(-spans[dim] // unit), unit))
        own = [i for i, place in enumerate(places) if place.loop.dims == group]
        extent = prod(member.count for member in members)
        _resolve(places, own, extent, bounds, faults, f"[{', '.join(group)}]", covers=True)
        _stride(own, bounds, strides, 1)
        for i in own:
            line_of[i] = len(lines)
        lines.append(Line(group, extent, tuple(members)))
    if faults:
        return None, None, faults
    loops = tuple(NestLoop(line_of[i], bounds[i], strides[i], entry_of[place.entry] if place.axis is None
                           else spatial_entry_of[place.entry, place.axis], place.axis)
                  for i, place in enumerate(places))
    return Nest(tuple(lines), loops, entries), _resolved(mapping, places, bounds), []


@dataclass(frozen=True)
class _Place:
    """A loop and where it stands in the file."""

    entry: int
    axis: str | None
    index: int
    loop: Loop

    def fault(self, message: str, hint: str = "", remedy: str = "") -> NestFault:
        return NestFault(self.entry, self.axis or "loops", self.index, message, hint, remedy)


def _places(mapping: Mapping) -> list[_Place]:
    places = []
    for number, entry in enumerate(mapping.levels):
        places += [_Place(number, None, i, loop) for i, loop in enumerate(entry.loops)]
        for axis, loops in entry.spatial:
            places += [_Place(number, axis, i, loop) for i, loop in enumerate(loops)]
    return places


def _loop_faults(place: _Place, dims: MappingABC[str, int]) -> list[NestFault]:
    faults = []
    for dim in place.loop.dims:
        if dim not in dims:
            faults.append(place.fault(f"'{dim}' is no dimension of the operator; allowed: {', '.join(dims)}",
                                      nearest(dim, list(dims))))
    if len(set(place.loop.dims)) != len(place.loop.dims):
        faults.append(place.fault("a dimension stands twice in the flattened list"))
    if place.loop.bound is not None and place.loop.bound < 1:
        faults.append(place.fault(f"bound {place.loop.bound}; allowed: 1 and more, or \"*\""))
    return faults


def _groups(places: list[_Place], faults: list[NestFault]) -> list[tuple[str, ...]]:
    """The flattened lists, each with its members in one order, disjoint, and no plain loop between its loops."""
    groups: list[tuple[str, ...]] = []
    for place in places:
        dims = place.loop.dims
        if len(dims) < 2 or dims in groups:
            continue
        clash = next((group for group in groups if set(group) & set(dims)), None)
        if clash is not None:
            faults.append(place.fault(f"[{', '.join(dims)}] overlaps the flattened list [{', '.join(clash)}]; "
                                      "write each list the same way everywhere"))
            continue
        groups.append(dims)
    for group in groups:
        indices = [i for i, place in enumerate(places) if place.loop.dims == group]
        for i in range(indices[0], indices[-1]):
            dims = places[i].loop.dims
            if len(dims) == 1 and dims[0] in group and places[i].loop.bound != 1:
                faults.append(places[i].fault(f"a loop over {dims[0]} stands between loops over "
                                              f"[{', '.join(group)}]; put it outside or inside all of them"))
    return groups


def _first_of(places: list[_Place], group: tuple[str, ...]) -> int:
    return next(i for i, place in enumerate(places) if place.loop.dims == group)


def _outer_span(places: list[_Place], dim: str, groups: list[tuple[str, ...]], dims: MappingABC[str, int],
                faults: list[NestFault]) -> int:
    """Elements of ``dim`` that its flattened list runs over: the extent cut by the plain loops outside it."""
    first = _first_of(places, next(group for group in groups if dim in group))
    outer = 1
    for place in places[:first]:
        if place.loop.dims == (dim,):
            if place.loop.bound is None:
                faults.append(place.fault(f"\"*\" cannot be resolved outside a flattened list over {dim}; "
                                          "write the number"))
            else:
                outer *= place.loop.bound
    if dims[dim] % outer:
        faults.append(places[first].fault(f"the loops over {dim} outside the flattened list ({outer}) must divide "
                                          f"its extent {dims[dim]}"))
    return -(-dims[dim] // outer)


def _resolve(places: list[_Place], indices: list[int], extent: int, bounds: dict[int, int], faults: list[NestFault],
             name: str, *, covers: bool) -> None:
    rests = [i for i in indices if places[i].loop.bound is None]
    fixed = 1
    for i in indices:
        bound = places[i].loop.bound
        if bound is not None:
            bounds[i] = bound
            fixed *= bound
    for i in rests[1:]:
        faults.append(places[i].fault(f"\"*\" stands twice for {name}; allowed: once per dimension"))
    for i in rests:
        bounds[i] = max(1, -(-extent // fixed))
    if covers and not rests and fixed < extent:
        entry = places[indices[-1]] if indices else _Place(0, None, 0, Loop((name,), 1))
        what = f"the bounds of {name} cover {fixed} of {extent}" if indices else f"no loop over {name} (extent {extent})"
        faults.append(entry.fault(f"{what}; the product of all bounds must cover the extent",
                                  remedy=f'add {{{name}: "*"}} where the rest should run'))


def _stride(indices: list[int], bounds: dict[int, int], strides: dict[int, int], unit: int) -> None:
    for i in reversed(indices):
        strides[i] = unit
        unit *= bounds.get(i, 1)


def _resolved(mapping: Mapping, places: list[_Place], bounds: dict[int, int]) -> Mapping:
    found = {(place.entry, place.axis, place.index): Loop(place.loop.dims, bounds[i]) for i, place in enumerate(places)}
    levels = []
    for number, entry in enumerate(mapping.levels):
        loops = tuple(found[number, None, i] for i in range(len(entry.loops)))
        spatial = tuple((axis, tuple(found[number, axis, i] for i in range(len(own)))) for axis, own in entry.spatial)
        levels.append(MappingLevel(entry.level, loops, spatial, entry.binding, entry.buffers, entry.layouts))
    return Mapping(tuple(levels), mapping.origin)
