"""A naive replay of the nest: every step walked, every tile a Python set; what the closed form must equal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import product
from math import ceil

from accelsim.analytic.result import Traffic
from accelsim.spec.case import Case
from accelsim.spec.chip import Access
from accelsim.spec.nest import NestLoop
from accelsim.spec.operator import Role, Tensor

Index = tuple[int, ...]
Iterations = dict[int, int]  # place of a loop in the nest -> its iteration


def replay(case: Case) -> dict[tuple[int, str], Traffic]:
    """Traffic of each tensor at each entry of its path."""
    found = {}
    for tensor in case.operator.tensors:
        for entry in case.paths[tensor.name]:
            counts: dict[str, int] = defaultdict(int)
            if entry != case.paths[tensor.name][0]:
                for instance in walk(spatial_above(case, entry)):
                    if tensor.role is Role.OUTPUT:
                        _stays(case, entry, tensor, instance, counts)
                    else:
                        _fills(case, entry, tensor, instance, counts)
            if entry == case.feeding(tensor.name) and entry != case.array_entry:
                _array(case, entry, tensor, counts)
            found[entry, tensor.name] = Traffic(**counts)
    return found


def walk(places: Sequence[tuple[int, NestLoop]]) -> Iterator[Iterations]:
    for point in product(*(range(loop.bound) for _, loop in places)):
        yield {place: i for (place, _), i in zip(places, point, strict=True)}


def spatial_above(case: Case, entry: int) -> list[tuple[int, NestLoop]]:
    return [(i, loop) for i, loop in enumerate(case.nest.loops) if loop.axis is not None and loop.entry < entry]


def temporal_above(case: Case, entry: int) -> list[tuple[int, NestLoop]]:
    return [(i, loop) for i, loop in enumerate(case.nest.loops) if loop.axis is None and loop.entry < entry]


def exists(case: Case, iterations: Iterations) -> bool:
    starts = [0] * len(case.nest.lines)
    for place, i in iterations.items():
        starts[case.nest.loops[place].line] += i * case.nest.loops[place].stride
    return all(start < line.extent for start, line in zip(starts, case.nest.lines, strict=True))


def point(case: Case, iterations: Iterations) -> dict[str, int] | None:
    """Values of the dimensions at one iteration of all loops, None past an edge."""
    if not exists(case, iterations):
        return None
    values: dict[str, int] = defaultdict(int)
    starts = [0] * len(case.nest.lines)
    for place, i in iterations.items():
        starts[case.nest.loops[place].line] += i * case.nest.loops[place].stride
    for start, line in zip(starts, case.nest.lines, strict=True):
        if not line.flattened:
            values[line.dims[0]] += start
            continue
        rest = start
        for member in reversed(line.members):
            rest, index = divmod(rest, member.count)
            values[member.dim] += index * member.unit
    if any(values[dim] >= extent for dim, extent in case.operator.dims.items()):
        return None
    return values


def image(case: Case, tensor: Tensor, fixed: Iterations, free: list[tuple[int, NestLoop]]) -> frozenset[Index]:
    elements = set()
    relevant = [i for i, line in enumerate(case.nest.lines) if set(line.dims) & tensor.dims]
    for inner in walk([(place, loop) for place, loop in free if loop.line in relevant]):
        values = point(case, fixed | inner)
        if values is None:
            continue
        index = tuple(sum(c * values[dim] for dim, c in axis.form.terms) + axis.form.offset for axis in tensor.axes)
        if all(0 <= i < axis.extent for i, axis in zip(index, tensor.axes, strict=True)):
            elements.add(index)
    return frozenset(elements)



def tiles(case: Case, entry: int, tensor: Tensor, instance: Iterations) -> list[tuple[Iterations, frozenset[Index]]]:
    inside = [(i, loop) for i, loop in enumerate(case.nest.loops) if loop.entry >= entry]
    found = []
    known: dict[object, frozenset[Index]] = {}
    relevant = [i for i, line in enumerate(case.nest.lines) if set(line.dims) & tensor.dims]
    for step in walk(temporal_above(case, entry)):
        if not exists(case, step | instance):
            continue
        key = tuple(i for place, i in step.items() if case.nest.loops[place].line in relevant)
        if key not in known:
            known[key] = image(case, tensor, step | instance, inside)
        found.append((step, known[key]))
    return found


def _bytes(elements: int, bits: int) -> int:
    return ceil(elements * bits / 8)


def _fills(case: Case, entry: int, tensor: Tensor, instance: Iterations, counts: dict[str, int]) -> None:
    held: frozenset[Index] = frozenset()
    for _, tile in tiles(case, entry, tensor, instance):
        new = len(tile - held)
        counts["fill_elements"] += new
        counts["fill_bytes"] += _bytes(new, tensor.dtype.bits)
        held = tile


def _stays(case: Case, entry: int, tensor: Tensor, instance: Iterations, counts: dict[str, int]) -> None:
    names, nest = case.chip.names, case.nest
    parent = case.parent(entry, tensor.name)
    assert parent is not None
    memory = case.memory(parent, tensor)
    adds = memory is not None and memory.accumulate
    links = case.chip.links_between(names[parent], names[entry], Access.DRAIN, tensor)
    summed = [place for place in instance if case.reduces(nest.loops[place]) and nest.loops[place].entry >= parent]
    first = not any(link.reduce for link in links) or all(instance[place] == 0 for place in summed)
    split = any(case.reduces(nest.loops[place]) for place in instance)
    steps = tiles(case, entry, tensor, instance)
    reductions = [place for place, loop in temporal_above(case, entry) if case.reduces(loop)]
    last: dict[int, tuple[int, ...]] = {}
    for step, _ in steps:
        for line in {nest.loops[place].line for place in reductions}:
            own = tuple(step[place] for place in reductions if nest.loops[place].line == line)
            last[line] = max(last.get(line, own), own)
    drained: set[frozenset[Index]] = set()
    for number, (step, tile) in enumerate(steps):
        changed = number == 0 or steps[number - 1][1] != tile
        if changed and tile in drained and first and not adds:
            counts["refill_elements"] += len(tile)
            counts["refill_bytes"] += _bytes(len(tile), case.operator.accumulator.bits)
        if number + 1 == len(steps) or steps[number + 1][1] != tile:
            finished = not split and not (adds and tile in drained) and all(
                tuple(step[place] for place in reductions if nest.loops[place].line == line) == own
                for line, own in last.items())
            drained.add(tile)
            counts["drain_elements"] += len(tile)
            counts["drain_bytes"] += _bytes(len(tile), (tensor.dtype if finished else case.operator.accumulator).bits)


def _array(case: Case, entry: int, tensor: Tensor, counts: dict[str, int]) -> None:
    nest = case.nest
    pes = [(i, loop) for i, loop in enumerate(nest.loops) if loop.axis is not None and loop.entry == case.array_entry]
    bits = case.held_type(entry, tensor).bits
    memory = case.memory(entry, tensor)
    total = first = 0
    known: dict[object, int] = {}
    relevant = [i for i, line in enumerate(nest.lines) if set(line.dims) & tensor.dims]
    for instance in walk(spatial_above(case, case.array_entry)):
        for step in walk(temporal_above(case, case.array_entry + 1)):
            now = step | instance
            if not exists(case, now):
                continue
            key = tuple(i for place, i in now.items() if nest.loops[place].line in relevant)
            if key not in known:
                known[key] = len(image(case, tensor, now, pes))
            total += known[key]
            if all(i == 0 for place, i in step.items() if case.reduces(nest.loops[place])):
                first += known[key]
    if tensor.role is Role.OUTPUT:
        counts["array_write_bytes"] = _bytes(total, bits)
        counts["array_read_bytes"] = 0 if memory is not None and memory.accumulate else _bytes(total - first, bits)
    else:
        counts["array_read_bytes"] = _bytes(total, bits)


def differences(estimated: dict[tuple[int, str], Traffic], walked: dict[tuple[int, str], Traffic]) -> list[str]:
    return [f"{key} {name}: estimated {asdict(estimated[key])[name]}, walked {value}" for key, counted in walked.items()
            for name, value in asdict(counted).items() if asdict(estimated[key])[name] != value]
