"""A mapspace: a mapping whose bounds are left open, proven consistent with its chip and operator once for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from accelsim.analytic.moves import injective
from accelsim.errors import Fault, SpecError
from accelsim.spec.build import make_case, unlocated, with_native_step
from accelsim.spec.case import Case
from accelsim.spec.chip import Chip
from accelsim.spec.mapping import Loop, Mapping, MappingLevel
from accelsim.spec.operator import Operator

ROOM = 1 << 31
"""Instances of every axis and words of every register file of the chip that structure alone is checked on."""


@dataclass(frozen=True)
class Column:
    """A loop of the mapspace, its bounds one column of a table; ``axis`` None for a temporal loop."""

    level: str
    axis: str | None
    dim: str


@dataclass(frozen=True)
class Mapspace:
    """Mappings that differ in their bounds and in the order of each level's temporal loops.

    ``template``: the bounds in it count for nothing. ``columns``: its loops, entry by entry, the temporal ones first, then
    each axis. ``orders``: permutations of the columns' numbers: at place i stands column ``orders[o][i]``. ``case``: one
    mapping of them, its places in the nest the columns and after them those of the native step; its capacities may be
    exceeded.
    """

    chip: Chip
    operator: Operator
    template: Mapping
    columns: tuple[Column, ...]
    orders: tuple[tuple[int, ...], ...]
    case: Case

    def mapping(self, bounds: Sequence[int], order: int = 0) -> Mapping:
        """The mapping of one row of bounds; what a simulation or the estimate of one mapping takes.

        Raises IndexError where the row is short.
        """
        return _with_bounds(self.template, [self.orders[order][place] for place in range(len(self.columns))], bounds)

    @cached_property
    def native(self) -> tuple[int, ...]:
        """Bounds of the loops of a matrix unit's native step, which stand after the columns and do not vary."""
        return tuple(loop.bound for loop in self.case.nest.loops[len(self.columns):])


def mapspace(chip: Chip, operator: Operator, template: Mapping, orders: Sequence[Sequence[int]] = ()) -> Mapspace:
    """Prove the template; ``orders`` are further orders of the columns beside their own, which is order 0.

    Raises SpecError with every fault: those of the mapping whatever its bounds, flattened lists, outputs smaller than
    their dimensions, and orders that move a loop out of its level or a spatial loop at all.
    """
    whole = with_native_step(chip, operator, template)
    columns = tuple(Column(level.level, axis, " ".join(loop.dims)) for level in template.levels
                    for axis, loops in ((None, level.loops), *level.spatial) for loop in loops)
    faults = [unlocated((column.level,), f"[{column.dim}]: a flattened list has no table of tiles; give each dimension a loop")
              for column in columns if " " in column.dim]
    faults += [unlocated(("operator", tensor.name), f"the axis '{axis.form}' is outside {tensor.name}: nothing to count")
               for tensor in operator.tensors for axis in tensor.axes if not axis.dims and not injective(axis, operator)]
    faults += [unlocated(("operator", operator.output.name), f"the axis '{axis.form}' of the output has fewer indices "
                         f"({axis.extent}) than its dimension") for axis in operator.output.axes
               if not injective(axis, operator)]
    every = (tuple(range(len(columns))), *(tuple(order) for order in orders))
    faults += [fault for number, order in enumerate(every) for fault in _order_faults(columns, order, number)]
    if faults:
        raise SpecError(faults)
    loose = _loosened(chip)
    case = make_case(loose, operator, _witness(whole, operator, columns))
    return Mapspace(chip, operator, template, columns, every, replace(case, chip=chip))


def unsplit(space: Mapspace) -> tuple[bool, ...]:
    """Per loop of the nest whether it must not iterate: a reduction split over instances that nothing adds up."""
    loose, whole = _loosened(space.chip), with_native_step(space.chip, space.operator, space.template)
    bounds = [loop.bound or 1 for loop in _loops(_witness(whole, space.operator, space.columns))]
    found = []
    for place, loop in enumerate(space.case.nest.loops):
        bad = False
        if loop.axis is not None and loop.entry < space.case.array_entry:
            tried = [*bounds[:place], max(2, bounds[place]), *bounds[place + 1:]]
            try:
                make_case(loose, space.operator, _with_bounds(whole, range(len(tried)), tried))
            except SpecError:
                bad = True
        found.append(bad)
    return tuple(found)


def _loosened(chip: Chip) -> Chip:
    """The chip with room for everything, so that only the structure of a mapping can be wrong."""
    def wide(axes: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
        return tuple((axis, ROOM) for axis, _ in axes)
    levels = tuple(replace(level, fanout=wide(level.fanout), memories=tuple(
        replace(memory, capacity_bytes=None) for memory in level.memories)) for level in chip.levels)
    array = replace(chip.array, fanout=wide(chip.array.fanout), pes=wide(chip.array.pes),
                    registers=ROOM if chip.array.registers else 0)
    return replace(chip, levels=levels, array=array)


def _loops(mapping: Mapping) -> list[Loop]:
    return [loop for level in mapping.levels for loops in (level.loops, *(own for _, own in level.spatial)) for loop in loops]


def _witness(whole: Mapping, operator: Operator, columns: tuple[Column, ...]) -> Mapping:
    """The mapping whose first loop of each dimension takes all of it, a temporal one if there is any; a native step stays."""
    first: dict[str, int] = {}
    for place in sorted(range(len(columns)), key=lambda place: columns[place].axis is not None):
        first.setdefault(columns[place].dim, place)
    given = _loops(whole)
    bounds = [operator.dims.get(column.dim, 1) if first[column.dim] == place else 1 for place, column in enumerate(columns)]
    return _with_bounds(whole, range(len(given)), [*bounds, *(loop.bound or 1 for loop in given[len(columns):])])


def _with_bounds(template: Mapping, order: Sequence[int], bounds: Sequence[int]) -> Mapping:
    """The template with the loop at each place replaced by that of column ``order[place]`` and its bound."""
    given = _loops(template)
    loops = iter([Loop(given[column].dims, int(bounds[column])) for column in order])
    levels = []
    for level in template.levels:
        temporal = tuple(next(loops) for _ in level.loops)
        spatial = tuple((axis, tuple(next(loops) for _ in own)) for axis, own in level.spatial)
        levels.append(MappingLevel(level.level, temporal, spatial, level.binding, level.buffers,
                                   level.layouts))
    return Mapping(tuple(levels), template.origin)


def _order_faults(columns: tuple[Column, ...], order: tuple[int, ...], number: int) -> list[Fault]:
    if sorted(order) != list(range(len(columns))):
        return [unlocated(("orders", number), f"{list(order)} is no permutation of the {len(columns)} columns")]
    return [unlocated(("orders", number, place), f"column {column} ({columns[column].dim} at {columns[column].level}) cannot "
                      f"stand in place {place}: temporal loops stay in their level, spatial ones where they are")
            for place, column in enumerate(order) if place != column and (
                columns[column].axis is not None or columns[place].axis is not None
                or columns[column].level != columns[place].level)]
