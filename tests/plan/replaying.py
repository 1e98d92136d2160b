"""The nest once more, by brute force: steps decoded from their numbers, tiles as Python sets."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod

from accelsim.plan.units import Unit
from accelsim.spec.case import Case
from accelsim.spec.nest import NestLoop
from accelsim.spec.operator import Tensor

Element = tuple[int, ...]
Box = dict[str, list[int]]


def indices(loops: tuple[NestLoop, ...], step: int) -> list[int]:
    """The iterations of a global step number, which counts skipped ones too."""
    found = []
    for loop in reversed(loops):
        step, index = divmod(step, loop.bound)
        found.append(index)
    assert step == 0
    return found[::-1]


def box(case: Case, entry: int, step: int, base: tuple[int, ...]) -> Box:
    """Per dimension the values that one instance of an entry works through in a step (plain loops only)."""
    above = case.nest.temporal_above(entry)
    start = list(base)
    for loop, index in zip(above, indices(above, step), strict=True):
        start[loop.line] += index * loop.stride
    values: Box = {}
    for line, one in enumerate(case.nest.lines):
        inner = [loop for loop in case.nest.loops if loop.line == line and loop.entry >= entry]
        own = [loop for loop in inner if loop.axis is None or loop.entry == case.array_entry or entry < case.array_entry]
        reached = {
            start[line] + sum(i * loop.stride for i, loop in zip(point, own, strict=True))
            for point in product(*(range(loop.bound) for loop in own))
        }
        values[one.dims[0]] = sorted(value for value in reached if value < one.extent)
    return values


def work(case: Case, unit: Unit, step: int) -> Iterator[Box]:
    """What each instance of an array unit works through in a step of the innermost level that feeds it."""
    entry = case.deepest_feeding
    above = case.nest.temporal_above(entry)
    moved = [0] * len(case.nest.lines)
    for loop, index in zip(above, indices(above, step), strict=True):
        moved[loop.line] += index * loop.stride
    inside = [loop for loop in case.nest.loops if loop.entry >= entry and (loop.axis is None or loop.entry == case.array_entry)]
    for base in unit.bases:
        values: Box = {}
        for line, one in enumerate(case.nest.lines):
            own = [loop for loop in inside if loop.line == line]
            reached = {
                base[line] + moved[line] + sum(i * loop.stride for i, loop in zip(point, own, strict=True))
                for point in product(*(range(loop.bound) for loop in own))
            }
            values[one.dims[0]] = sorted(value for value in reached if value < one.extent)
        yield values


def image(tensor: Tensor, values: Box) -> set[Element]:
    """The elements of a tensor that a box touches."""
    axes = []
    for axis in tensor.axes:
        reached = {
            sum(c * v for (_, c), v in zip(axis.form.terms, point, strict=True)) + axis.form.offset
            for point in product(*(values[dim] for dim in axis.dims))
        }
        axes.append(sorted(i for i in reached if 0 <= i < axis.extent))
    if any(not values[dim] for dim in values):
        return set()
    return set(product(*axes))


def volume(values: Box) -> int:
    return prod(len(own) for own in values.values())
