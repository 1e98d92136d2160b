"""Traffic of every tensor at every level, exactly as a walk of the nest would count it."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from accelsim.analytic.arrays import first_updates, touched
from accelsim.analytic.frame import Choose, Frame, every_instance, frame_of
from accelsim.analytic.lines import Pairs
from accelsim.analytic.moves import Factor, changes, every, factors, joint
from accelsim.analytic.result import Traffic
from accelsim.spec.case import Case
from accelsim.spec.chip import Access
from accelsim.spec.nest import NestLoop
from accelsim.spec.operator import Role, Tensor
from accelsim.units import DType

Sizes = dict[int, int]
"""How many transfers have that many elements."""


def traffic(case: Case) -> Mapping[tuple[int, str], Traffic]:
    """What each tensor moves at each entry of its path."""
    found: dict[tuple[int, str], Traffic] = {}
    for tensor in case.operator.tensors:
        for entry in case.paths[tensor.name]:
            found[entry, tensor.name] = _traffic(case, entry, tensor)
    return found


def _traffic(case: Case, entry: int, tensor: Tensor) -> Traffic:
    takes, gives = _array_bytes(case, entry, tensor)
    if entry == case.paths[tensor.name][0]:
        return Traffic(array_read_bytes=takes, array_write_bytes=gives)
    if tensor.role is not Role.OUTPUT:
        moved = fills(case, entry, tensor)
        return Traffic(fill_elements=_elements(moved), fill_bytes=_bytes(moved, tensor.dtype),
                       array_read_bytes=takes, array_write_bytes=gives)
    partial, done = drains(case, entry, tensor)
    back = refills(case, entry, tensor)
    accumulator = case.operator.accumulator
    return Traffic(
        drain_elements=_elements(partial) + _elements(done), refill_elements=_elements(back),
        drain_bytes=_bytes(partial, accumulator) + _bytes(done, tensor.dtype), refill_bytes=_bytes(back, accumulator),
        array_read_bytes=takes, array_write_bytes=gives)


def fills(case: Case, entry: int, tensor: Tensor, summed: Choose = every_instance, merged: Choose | None = None) -> Sizes:
    """Fills of an input by their new elements; a tile inside the one before moves nothing."""
    parts, pairs = _changes(case, entry, tensor, summed, merged)
    moved: Sizes = {}
    for (size, kept), count in pairs.items():
        if size > kept:
            moved[size - kept] = moved.get(size - kept, 0) + count
    return moved


def visits(case: Case, entry: int, tensor: Tensor, summed: Choose = every_instance) -> Sizes:
    """Stays of the output's tiles, by size: each ends in a drain."""
    _, pairs = _changes(case, entry, tensor, summed, None)
    found: Sizes = {}
    for (size, _), count in pairs.items():
        if size:
            found[size] = found.get(size, 0) + count
    return found


def first_visits(case: Case, entry: int, tensor: Tensor, summed: Choose = every_instance) -> Sizes:
    """The output's different tiles in each instance, by size: all steps with the reduction loops at 0."""
    parts = factors(case.nest, case.operator, tensor, _without_reductions(case, entry, summed))
    return {size: count for size, count in every(parts).items() if size}


def drains(case: Case, entry: int, tensor: Tensor, summed: Choose = every_instance) -> tuple[Sizes, Sizes]:
    """Drains of unfinished and of finished tiles, by size.

    Each tile's last stay ends finished, unless instances share its sum. A parent that accumulates gets finished
    tiles only where one stay did all the work, since it adds at the accumulator's width.
    """
    stays = visits(case, entry, tensor, summed)
    if any(case.reduces(loop) for loop in case.nest.spatial_above(entry)):
        return stays, {}
    done = _single_visits(case, entry, tensor, summed) if _accumulates(case, entry, tensor) else \
        first_visits(case, entry, tensor, summed)
    return _less(stays, done), done


def refills(case: Case, entry: int, tensor: Tensor, summed: Choose = every_instance) -> Sizes:
    """Partial sums that come back in: every stay but a tile's first, unless the parent accumulates.

    Of instances whose sums a link adds up only the first gets them.
    """
    if _accumulates(case, entry, tensor):
        return {}
    chosen = reduced_once(case, entry, tensor, summed)
    return _less(visits(case, entry, tensor, chosen), first_visits(case, entry, tensor, chosen))


def reduced_once(case: Case, entry: int, tensor: Tensor, summed: Choose) -> Choose:
    """Leave out all but the first of the instances whose sums a link to the parent adds up."""
    parent = case.parent(entry, tensor.name)
    assert parent is not None, "asked away from home only"
    names = case.chip.names
    if not any(link.reduce for link in case.chip.links_between(names[parent], names[entry], Access.DRAIN, tensor)):
        return summed

    def chosen(loop: NestLoop) -> bool:
        return summed(loop) and not (parent <= loop.entry < entry and case.reduces(loop))
    return chosen


def _single_visits(case: Case, entry: int, tensor: Tensor, summed: Choose) -> Sizes:
    """Tiles that stay once: when the outermost reduction loop advances, no output loop inside it has to wrap."""
    frame = frame_of(case.nest, entry, summed)
    outermost = next((place for place in frame.advancing if case.reduces(case.nest.loops[place])
                      and case.nest.loops[place].stride < case.nest.lines[case.nest.loops[place].line].extent), None)
    if outermost is None:
        return first_visits(case, entry, tensor, summed)
    found: Sizes = {}
    reduced = {case.nest.loops[place].line for place in frame.advancing if case.reduces(case.nest.loops[place])}
    lines = {i: steps for i, steps in enumerate(frame.steps) if i not in reduced}
    bare = frame._replace(steps=tuple(lines.get(i, steps._replace(loops=())) for i, steps in enumerate(frame.steps)))
    for (size, kept), count in joint(factors(case.nest, case.operator, tensor, bare), outermost).items():
        if size and size == kept:
            found[size] = found.get(size, 0) + count
    return found


def _changes(case: Case, entry: int, tensor: Tensor, summed: Choose, merged: Choose | None,
             ) -> tuple[tuple[Factor, ...], Pairs]:
    frame = frame_of(case.nest, entry, summed) if merged is None else frame_of(case.nest, entry, summed, merged)
    parts = factors(case.nest, case.operator, tensor, frame)
    return parts, changes(parts, frame)


def _without_reductions(case: Case, entry: int, summed: Choose) -> Frame:
    frame = frame_of(case.nest, entry, summed)
    steps = []
    for line, own in zip(case.nest.lines, frame.steps, strict=True):
        reduced = not set(line.dims) & case.operator.output.dims
        steps.append(own._replace(loops=tuple(loop for loop in own.loops if not loop.temporal)) if reduced else own)
    return frame._replace(steps=tuple(steps))


def _accumulates(case: Case, entry: int, tensor: Tensor) -> bool:
    parent = case.parent(entry, tensor.name)
    memory = None if parent is None else case.memory(parent, tensor)
    return memory is not None and memory.accumulate


def _array_bytes(case: Case, entry: int, tensor: Tensor) -> tuple[int, int]:
    """(read, written) by the array at the entry that feeds it; an output is read back unless the memory adds."""
    if entry != case.feeding(tensor.name) or entry == case.array_entry:
        return 0, 0
    width = case.held_type(entry, tensor).bits
    elements = touched(case, tensor)
    if tensor.role is not Role.OUTPUT:
        return ceil(elements * width / 8), 0
    memory = case.memory(entry, tensor)
    again = 0 if memory is not None and memory.accumulate else elements - first_updates(case, tensor)
    return -(-again * width // 8), -(-elements * width // 8)


def _elements(sizes: Sizes) -> int:
    return sum(size * count for size, count in sizes.items())


def _bytes(sizes: Sizes, dtype: DType) -> int:
    """Each transfer is whole bytes."""
    return sum(-(-size * dtype.bits // 8) * count for size, count in sizes.items())


def _less(sizes: Sizes, taken: Sizes) -> Sizes:
    left = {size: count - taken.get(size, 0) for size, count in sizes.items()}
    return {size: count for size, count in left.items() if count}
