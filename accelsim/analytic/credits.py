"""Credit loops: a slot takes a tile in, serves the array, (drains,) and only then takes the next tile."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil

from accelsim.analytic.frame import Frame, first_instance, frame_of
from accelsim.analytic.moves import Factor, Plain, Repeated, changes, factors
from accelsim.analytic.path import Path, always_drains
from accelsim.analytic.result import Bound
from accelsim.analytic.routes import Route, route
from accelsim.analytic.traffic import Sizes, drains, refills
from accelsim.spec.case import Case
from accelsim.spec.chip import Access
from accelsim.spec.operator import Role, Tensor


def credit_bounds(case: Case, path: Path) -> Iterator[Bound]:
    """Per tensor and entry away from home: with b slots, residency r claims after r - b was released.

    The residencies fall into b chains, each one after another; together they take the sum of all loops, so the longest
    chain takes a b-th of it at least. The first claim comes after the first source tile, and after the last release
    the last outputs still have to drain.
    """
    for tensor in case.operator.tensors:
        for entry in case.paths[tensor.name][1:]:
            loop = _output_loop if tensor.role is Role.OUTPUT else _input_loop
            slots = case.slot_count(entry, tensor)
            busy, ends = loop(case, entry, tensor, path, slots)
            name = f"{case.chip.names[entry]} {tensor.name} slots"
            yield Bound(name, "credit", ceil(busy) + ends,
                        f"{slots} slot{'s' * (slots > 1)} for tiles of {tensor.name} at {case.chip.names[entry]} "
                        f"come free no faster: {ceil(busy):,} cycles")


def _input_loop(case: Case, entry: int, tensor: Tensor, path: Path, slots: int) -> tuple[Fraction, int]:
    """Claim, fill, the inner levels' first fills, the array's holds; released at the end of the last hold."""
    way = route(case, entry, tensor, Access.FILL)
    frame = frame_of(case.nest, entry, first_instance)
    parts = factors(case.nest, case.operator, tensor, frame)
    pairs = changes(parts, frame)
    stays = sum(pairs.values())
    total = path.work_cycles + sum(way.alone_cycles(-(-(size - kept) * tensor.dtype.bits // 8)) * count
                                   for (size, kept), count in pairs.items())
    plain = all(isinstance(part, Plain | Repeated) for part in parts)
    if plain:  # the inner tiles change wholly when this one does
        total += stays * _inner_fills(case, entry, tensor)
    late = case.chip.array.skew_cycles if entry == case.array_entry and slots == 1 else 0
    total += late * stays
    busy = Fraction(total, slots)
    if plain and len(pairs) == 1 and _even(case, frame):  # all loops are alike: the longest chain has whole ones
        busy = Fraction(-(-stays // slots) * total, stays)
    return busy, path.arrivals[entry, tensor.name] + path.epilogue_cycles - late


def _output_loop(case: Case, entry: int, tensor: Tensor, path: Path, slots: int) -> tuple[Fraction, int]:
    """Claim, refill, holds, latency, the inner levels' last drains, and its own drain until it is through."""
    inward, outward = route(case, entry, tensor, Access.FILL), route(case, entry, tensor, Access.DRAIN)
    accumulator = case.operator.accumulator.bits
    partial, finished = drains(case, entry, tensor, first_instance)
    stays = sum(partial.values()) + sum(finished.values())
    total = path.work_cycles
    if always_drains(case):
        total += stays * (case.chip.array.skew_cycles + _inner_drains(case, entry, tensor))
    total += sum(inward.alone_cycles(-(-size * accumulator // 8)) * count
                 for size, count in refills(case, entry, tensor, first_instance).items())
    total += _through(outward, partial, accumulator) + _through(outward, finished, tensor.dtype.bits)
    outer = [place for place in case.paths[tensor.name][1:] if place < entry]
    after = outward.stations[-1].latency_cycles + sum(
        route(case, place, tensor, Access.DRAIN).latency_cycles for place in outer)
    return Fraction(total, slots), after


def _through(way: Route, sizes: Sizes, bits: int) -> int:
    return sum(way.through_cycles(-(-size * bits // 8)) * count for size, count in sizes.items())


def _inner_fills(case: Case, entry: int, tensor: Tensor) -> int:
    """Before the array can start on a new plain tile, its first part has to come down the inner levels."""
    cycles = 0
    for inner in case.paths[tensor.name]:
        if inner > entry:
            frame = frame_of(case.nest, inner, first_instance)
            least = min(size - kept for size, kept in changes(_factors(case, tensor, frame), frame))
            cycles += route(case, inner, tensor, Access.FILL).alone_cycles(-(-least * tensor.dtype.bits // 8))
    return cycles


def _inner_drains(case: Case, entry: int, tensor: Tensor) -> int:
    """A tile is released when the last inner tile has arrived: output tiles of different residencies are disjoint."""
    cycles = 0
    bits = min(tensor.dtype.bits, case.operator.accumulator.bits)
    for inner in case.paths[tensor.name]:
        if inner > entry:
            partial, finished = drains(case, inner, tensor, first_instance)
            least = min([*partial, *finished], default=0)
            cycles += route(case, inner, tensor, Access.DRAIN).alone_cycles(-(-least * bits // 8))
    return cycles


def _factors(case: Case, tensor: Tensor, frame: Frame) -> tuple[Factor, ...]:
    return factors(case.nest, case.operator, tensor, frame)


def _even(case: Case, frame: Frame) -> bool:
    """Whether no edge cuts anything: every residency sees the same work."""
    covered = [1] * len(case.nest.lines)
    for loop in case.nest.loops:
        covered[loop.line] *= loop.bound
    return all(bounds == line.extent or line.extent == 1 for bounds, line in zip(covered, case.nest.lines, strict=True)
               if not line.flattened and not _member(case, line.dims[0])) and not any(
                   line.flattened and bounds != line.extent for bounds, line in zip(covered, case.nest.lines, strict=True))


def _member(case: Case, dim: str) -> bool:
    return case.nest.line_of(dim)[1] is not None
