"""Making a case: every cross-check between chip, operator and mapping, all faults collected, then raised once."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from accelsim.errors import DoesNotFit, Fault, SpecError, nearest
from accelsim.spec.banks import LayoutKind
from accelsim.spec.case import Case
from accelsim.spec.chip import Access, ArrayModel, Chip
from accelsim.spec.flattened import flattened_problems
from accelsim.spec.mapping import Loop, Mapping, MappingLevel
from accelsim.spec.nest import build_nest
from accelsim.spec.operator import Operator, Role
from accelsim.units import human_bytes

Path = tuple[str | int | tuple[str, ...], ...]
Locate = Callable[[Path, str, str, str], Fault]


class _Problem(NamedTuple):
    path: Path
    message: str
    allowed: str = ""
    hint: str = ""
    remedy: str = ""

    def fault(self, locate: Locate) -> Fault:
        """Where it stands; what to do about it ends the sentence."""
        message = f"{self.message}; {self.remedy}" if self.remedy else self.message
        return locate(self.path, message, self.allowed, self.hint)


def unlocated(path: Path, message: str, allowed: str = "", hint: str = "") -> Fault:
    """A fault of a mapping that came from no file."""
    return Fault("mapping", 0, 0, ".".join(map(str, path)), message, allowed, hint)


def make_case(chip: Chip, operator: Operator, mapping: Mapping, locate: Locate = unlocated) -> Case:
    """Prove that the three fit together.

    Raises SpecError with every fault of the mapping, or DoesNotFit (exit 3) when tiles exceed a memory.
    """
    mapping = with_native_step(chip, operator, mapping)
    problems: list[_Problem] = []
    entry_of = _entries(chip, mapping, problems)
    problems += type_problems(chip, operator)
    if problems:
        raise SpecError([problem.fault(locate) for problem in problems])
    spatial_entry_of = _spatial_entries(chip, mapping, entry_of, problems)
    paths = _paths(chip, operator, mapping, entry_of, problems)
    nest, resolved, faults = build_nest(mapping, operator.dims, entry_of, len(chip.levels) + 1, spatial_entry_of)
    for fault in faults:
        part: Path = ("loops", fault.index) if fault.part == "loops" else ("spatial", fault.part, fault.index)
        problems.append(_Problem(("levels", fault.entry, *part), fault.message, "", fault.hint, fault.remedy))
    if problems or nest is None or resolved is None:
        raise SpecError([problem.fault(locate) for problem in problems])
    slots = _slots(chip, operator, mapping, entry_of, paths, problems)
    case = Case(chip, operator, resolved, nest, paths, slots)
    problems += _spatial_problems(case, entry_of) + _box_problems(case) + _reduction_problems(case)
    problems += _port_problems(case) + _channel_problems(case) + _layout_problems(case, entry_of) + _bank_problems(case)
    problems += _follow_problems(case) + _cache_problems(case)
    if problems:
        raise SpecError([problem.fault(locate) for problem in problems])
    tight = _capacity_problems(case)
    if tight:
        raise DoesNotFit([problem.fault(locate) for problem in tight])
    return case


def with_native_step(chip: Chip, operator: Operator, mapping: Mapping) -> Mapping:
    """Without an entry for the array a step is one native operation: a matrix unit's m x n x k, where it has one."""
    array = chip.array
    if array.model is not ArrayModel.MATRIX or any(entry.level == array.name for entry in mapping.levels):
        return mapping
    spatial = tuple((axis, (Loop((axis,), count),)) for axis, count in array.pes if axis in operator.dims and count > 1)
    if not spatial:
        return mapping
    return Mapping((*mapping.levels, MappingLevel(array.name, (), spatial)), mapping.origin)


def type_problems(chip: Chip, operator: Operator) -> list[_Problem]:
    """Operand types that the array does not compute, whatever the mapping."""
    known = ", ".join(name for name, _ in chip.array.intervals)
    return [_Problem((), f"{chip.array.name} of {chip.name} does not compute {tensor.dtype.name} (operand {tensor.name})", known)
            for tensor in operator.tensors
            if tensor.role is not Role.OUTPUT and not chip.array.computes(tensor.dtype)]


def _entries(chip: Chip, mapping: Mapping, problems: list[_Problem]) -> list[int]:
    places: list[int] = []
    for i, entry in enumerate(mapping.levels):
        if entry.level not in chip.names:
            problems.append(_Problem(("levels", i, "level"), f"no level named '{entry.level}' on {chip.name}",
                                     ", ".join(chip.names), nearest(entry.level, chip.names)))
            continue
        place = chip.names.index(entry.level)
        if places and place <= places[-1]:
            problems.append(_Problem(("levels", i, "level"), f"{entry.level} stands out of order; entries go outermost "
                                     "first, each level once", ", ".join(chip.names)))
        places.append(place)
    return places


def _spatial_entries(chip: Chip, mapping: Mapping, entry_of: list[int], problems: list[_Problem],
                     ) -> dict[tuple[int, str], int]:
    """For each spatial axis the entry just above the instances it spans; the array's own span its PEs."""
    found: dict[tuple[int, str], int] = {}
    array = len(chip.levels)
    for i, entry in enumerate(mapping.levels):
        place = entry_of[i]
        until = entry_of[i + 1] if i + 1 < len(entry_of) else array
        for axis, _ in entry.spatial:
            if place == array:
                axes = dict(chip.array.pes)
                if axis in axes:
                    found[i, axis] = array
                    continue
            else:
                inner = next((e for e in range(place + 1, until + 1) if axis in dict(chip.fanout(e))), None)
                if inner is not None:
                    found[i, axis] = inner - 1
                    continue
                axes = {name: count for e in range(place + 1, until + 1) for name, count in chip.fanout(e)}
            found[i, axis] = place
            what = "PEs" if place == array else f"instances of {chip.names[until]}"
            problems.append(_Problem(("levels", i, "spatial", axis), f"{entry.level}: no axis '{axis}' of {what}",
                                     ", ".join(axes) or "none", nearest(axis, list(axes))))
    return found


def _paths(chip: Chip, operator: Operator, mapping: Mapping, entry_of: list[int], problems: list[_Problem],
           ) -> dict[str, tuple[int, ...]]:
    array = len(chip.levels)
    names = [tensor.name for tensor in operator.tensors]
    paths: dict[str, list[int]] = {name: [] for name in names}
    entries = {place: (i, mapping.levels[i]) for i, place in enumerate(entry_of)}
    for place in range(array + 1):
        number, entry = entries.get(place, (None, None))
        binding = entry.binding if entry is not None else None
        for i, name in enumerate(binding or ()):
            if name not in names:
                problems.append(_Problem(("levels", number or 0, "binding", i), f"no tensor named '{name}'",
                                         ", ".join(names), nearest(name, names)))
            elif place < array and chip.levels[place].memory_of(operator.tensor(name)) is None:
                problems.append(_Problem(("levels", number or 0, "binding", i),
                                         f"no memory of {chip.names[place]} serves {name}"))
            elif place == array and not chip.array.holds(operator.tensor(name)):
                why = "has no stationary registers" if chip.array.registers == 0 else "holds other tensors stationary"
                problems.append(_Problem(("levels", number or 0, "binding", i),
                                         f"{chip.array.name} {why}; {name} cannot be bound there"))
        for tensor in operator.tensors:
            default = binding is None and place < array and chip.levels[place].memory_of(tensor) is not None
            if default or (binding is not None and tensor.name in binding):
                paths[tensor.name].append(place)
    for name, path in paths.items():
        if not path or path == [array]:
            problems.append(_Problem(("levels",), f"{name} is bound at no memory", remedy="add it to a level's binding"))
    return {name: tuple(path) for name, path in paths.items()}


def _slots(chip: Chip, operator: Operator, mapping: Mapping, entry_of: list[int], paths: dict[str, tuple[int, ...]],
           problems: list[_Problem]) -> dict[tuple[int, str], int]:
    slots: dict[tuple[int, str], int] = {}
    for name, path in paths.items():
        tensor = operator.tensor(name)
        for entry in path:
            memory = None if entry == len(chip.levels) else chip.levels[entry].memory_of(tensor)
            slots[entry, name] = chip.array.buffers if memory is None else memory.default_buffers(tensor)
    for i, level in enumerate(mapping.levels):
        for name, count in level.buffers:
            path_here: Path = ("levels", i, "buffers", name)
            if name not in paths:
                problems.append(_Problem(path_here, f"no tensor named '{name}'", ", ".join(paths),
                                         nearest(name, list(paths))))
            elif entry_of[i] not in paths[name]:
                problems.append(_Problem(path_here, f"{name} is not bound at {level.level}"))
            elif count < 1:
                problems.append(_Problem(path_here, f"buffers {count}; allowed: 1 and more"))
            else:
                slots[entry_of[i], name] = count
    return slots


def _at(case: Case, entry: int, *rest: str) -> Path:
    """Where the mapping speaks of an entry."""
    name = case.chip.names[entry]
    index = next((i for i, level in enumerate(case.mapping.levels) if level.level == name), None)
    return ("levels",) if index is None else ("levels", index, *rest)


def _spatial_problems(case: Case, entry_of: list[int]) -> list[_Problem]:
    problems = []
    for i, entry in enumerate(case.mapping.levels):
        for axis, loops in entry.spatial:
            used = 1
            for loop in loops:
                used *= loop.bound or 1
            array = entry_of[i] == case.array_entry
            inner = next((e for e in range(entry_of[i] + 1, case.array_entry + 1) if axis in dict(case.chip.fanout(e))), 0)
            have = case.chip.array.extent(axis) if array else dict(case.chip.fanout(inner))[axis]
            if used > have:
                what = "PEs" if array else f"instances of {case.chip.names[inner]}"
                problems.append(_Problem(("levels", i, "spatial", axis),
                                         f"{used} along {axis}, but there are {have} {what}",
                                         remedy=f"shrink a factor by {-(-used // have)} or more"))
    return problems


def _box_problems(case: Case) -> list[_Problem]:
    return [_Problem(_at(case, entry, key), message, remedy=remedy)
            for entry, key, message, remedy in flattened_problems(case)]


def _reduction_problems(case: Case) -> list[_Problem]:
    """A reduction split over instances needs a link that sums or a memory that adds what arrives."""
    problems = []
    output = case.operator.output
    path = case.paths[output.name]
    for loop in case.nest.loops:
        if loop.axis is None or loop.entry == case.array_entry or not case.reduces(loop):
            continue
        outside = [entry for entry in path if entry <= loop.entry]
        inside = [entry for entry in path if entry > loop.entry]
        line = case.nest.lines[loop.line].dims
        if not outside:
            problems.append(_Problem(_at(case, loop.entry, "spatial"), f"{'/'.join(line)} is split over instances, but "
                                     f"{output.name} lives only inside them; bind it at an outer memory too"))
            continue
        outer, inner = outside[-1], inside[0] if inside else case.array_entry
        memory = case.memory(outer, output)
        links = case.chip.links_between(case.chip.names[outer], case.chip.names[inner], Access.DRAIN, output)
        if not any(link.reduce for link in links) and not (memory is not None and memory.accumulate):
            problems.append(_Problem(
                _at(case, loop.entry, "spatial"),
                f"the reduction {'/'.join(line)} is split over instances of {case.chip.names[loop.entry + 1]}, but no link "
                f"from {case.chip.names[outer]} to {case.chip.names[inner]} reduces and {case.chip.names[outer]} does not "
                "accumulate", remedy="give the link `reduce: true` or the memory `accumulate: true`"))
    return problems


def _port_problems(case: Case) -> list[_Problem]:
    problems = []
    for tensor in case.operator.tensors:
        path = case.paths[tensor.name]
        output = tensor is case.operator.output
        for entry in path:
            memory = case.memory(entry, tensor)
            if memory is None:
                continue
            needed = [Access.FILL, *([Access.DRAIN] if output else [])] if len(path) > 1 else []
            if entry == path[-1]:
                needed += [Access.ARRAY_READ, *([Access.ARRAY_WRITE] if output else [])]
            problems += [_Problem(_at(case, entry), f"memory {memory.name} has no port that serves {access.value} of "
                                  f"{tensor.name}", remedy="add it to a port's `serves` in the chip")
                         for access in needed if memory.port(access, tensor) is None]
    return problems


def _channel_problems(case: Case) -> list[_Problem]:
    """What is kept in simulated channels has to have an address there, and one transfer at a time to it."""
    problems = []
    for tensor in case.operator.tensors:
        home, *inside = case.paths[tensor.name]
        for entry in inside:
            memory = case.memory(entry, tensor)
            if memory is not None and memory.dram is not None:
                problems.append(_Problem(_at(case, entry, "binding"), f"{memory.name} has channels that are simulated, and "
                                         f"holds only tensors that are at home there; {tensor.name} is at home in "
                                         f"{case.chip.names[home]}", remedy=f"take {tensor.name} out of either"))
        memory = case.memory(home, tensor)
        if memory is not None and memory.dram is not None and inside and any(
                case.lockstep(loop.entry + 1) for loop in case.nest.spatial_above(inside[0])):
            problems.append(_Problem(_at(case, inside[0]), f"{case.chip.names[inside[0]]} runs in lockstep, and is fed from "
                                     f"{memory.name}, whose channels are simulated", remedy="give the level `lockstep: false`, "
                                     f"or {memory.name} a bandwidth"))
    return problems


def _cache_problems(case: Case) -> list[_Problem]:
    """A cache sees transfers: what the array takes from it itself has none."""
    problems = []
    for tensor in case.operator.tensors:
        memory = case.memory(case.paths[tensor.name][0], tensor)
        if memory is not None and memory.cache_bytes is not None and len(case.paths[tensor.name]) == 1:
            problems.append(_Problem(_at(case, case.paths[tensor.name][0], "binding"), f"the array would take {tensor.name} from "
                                     f"{memory.name} itself, past its cache", remedy=f"bind {tensor.name} at an inner level too, "
                                     f"or take `cache` out of {memory.name}"))
    return problems


def _layout_problems(case: Case, entry_of: list[int]) -> list[_Problem]:
    """Layouts of what is there, over banks that are simulated."""
    problems = []
    for i, level in enumerate(case.mapping.levels):
        for name, layout in level.layouts:
            path: Path = ("levels", i, "layout", name)
            if name not in case.paths:
                problems.append(_Problem(path, f"no tensor named '{name}'", ", ".join(case.paths),
                                         nearest(name, list(case.paths))))
                continue
            memory = case.memory(entry_of[i], case.operator.tensor(name)) if entry_of[i] in case.paths[name] else None
            if memory is None:
                problems.append(_Problem(path, f"{name} is not held by a memory of {level.level}"))
            elif memory.banked is None:
                problems.append(_Problem(path, f"{memory.name} has no banks that are simulated, so a layout changes nothing",
                                         remedy="give the memory `banks` and a `bank_width`"))
            elif layout.kind is LayoutKind.SWIZZLED and memory.banked.count & (memory.banked.count - 1):
                problems.append(_Problem(path, f"swizzled: {memory.banked.count} banks of {memory.name} are no power of two",
                                         remedy="take another layout, or 2, 4, 8 .. banks"))
    return problems


def _bank_problems(case: Case) -> list[_Problem]:
    """Banks that are simulated serve one array, or arrays in step."""
    problems = []
    arrays = [loop for loop in case.nest.spatial_above(case.array_entry) if not case.lockstep(loop.entry + 1)]
    for tensor in case.operator.tensors:
        entry = case.feeding(tensor.name)
        if entry == case.array_entry:
            entry = case.parent(entry, tensor.name) or 0
        memory = case.memory(entry, tensor)
        if memory is None or memory.banked is None:
            continue
        if any(loop.entry >= entry and loop.bound > 1 for loop in arrays):
            problems.append(_Problem(_at(case, entry, "spatial"), f"several arrays, not in lockstep, take {tensor.name} from "
                                     f"{memory.name}, whose banks are simulated for one",
                                     remedy=f"map to one of them, or take `bank_width` out of {memory.name}"))
    return problems


def _follow_problems(case: Case) -> list[_Problem]:
    """No tensor follows itself, through others either: neither would ever come."""
    problems = []
    for entry in range(1, case.array_entry):
        for tensor in case.operator.tensors:
            reached, beyond = set(case.follows(entry, tensor)), list(case.follows(entry, tensor))
            while beyond:
                new = [name for name in case.follows(entry, case.operator.tensor(beyond.pop())) if name not in reached]
                reached |= set(new)
                beyond += new
            if tensor.name in reached:
                problems.append(_Problem(_at(case, entry, "binding"), f"{tensor.name} at {case.chip.names[entry]} follows "
                                         "itself, so none of its tiles could ever come", remedy="take it out of `follows`"))
    return problems


def _capacity_problems(case: Case) -> list[_Problem]:
    problems = []
    for entry, level in enumerate(case.chip.levels):
        for memory in level.memories:
            held = [tensor for tensor in case.operator.tensors
                    if entry in case.paths[tensor.name] and case.memory(entry, tensor) is memory]
            sizes = {tensor.name: case.slot_bytes(entry, tensor) * case.slot_count(entry, tensor) for tensor in held}
            needed = sum(sizes.values())
            if memory.capacity_bytes is not None and needed > memory.capacity_bytes:
                problems.append(_too_large(case, entry, memory.name, sizes, memory.capacity_bytes))
    array = case.array_entry
    stationary = [tensor for tensor in case.operator.tensors if array in case.paths[tensor.name]]
    for tensor in stationary:
        words, have = case.tile_elements(array, tensor), case.chip.array.registers * case.chip.array.pe_count
        if words > have:
            problems.append(_Problem(_at(case, array, "loops"), f"{case.chip.array.name}: {tensor.name} needs {words:,} "
                                     f"stationary words, {have:,} available", remedy="shrink a factor of "
                                     f"{' or '.join(sorted(tensor.dims))} by {-(-words // have)}"))
    return problems


def _too_large(case: Case, entry: int, memory: str, sizes: dict[str, int], capacity: int) -> _Problem:
    largest = max(sizes, key=lambda name: sizes[name])
    needed = sum(sizes.values())
    parts = ", ".join(f"{name} {human_bytes(size)} ({case.slot_count(entry, case.operator.tensor(name))} x "
                      f"{human_bytes(case.slot_bytes(entry, case.operator.tensor(name)))})" for name, size in sizes.items())
    if entry == case.paths[largest][0]:
        hint = f"{memory} is the home of {largest} and must hold all of it; bind {largest} at an outer level"
    else:
        dims = case.operator.tensor(largest).dims
        hint = (f"shrink a factor of {' or '.join(sorted(dims))} at or inside {case.chip.names[entry]} by "
                f"{needed / capacity:.2f} x")
    return _Problem(_at(case, entry, "loops"), f"{memory}: the tiles need {needed:,} B, {capacity:,} B available: {parts}",
                    remedy=hint)
