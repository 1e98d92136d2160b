"""Credit loops: a slot takes a tile in, serves the array, (drains,) and only then takes the next tile."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil

from accelsim.analytic.frame import FIRST_INSTANCE
from accelsim.analytic.moves import Plain, Repeated
from accelsim.analytic.path import Path, always_drains
from accelsim.analytic.result import Bound
from accelsim.analytic.routes import Route, route
from accelsim.analytic.tables import Look, Sizes, Tables
from accelsim.analytic.traffic import drains, refills
from accelsim.spec.case import Case
from accelsim.spec.chip import Access
from accelsim.spec.operator import Role, Tensor


def credit_bounds(tables: Tables, path: Path) -> Iterator[Bound]:
    """Per tensor and entry away from home: with b slots, residency r claims after r - b was released.

    The residencies fall into b chains, each one after another; together they take the sum of all loops, so the longest
    chain takes a b-th of it at least. The first claim comes after the first source tile, and after the last release
    the last outputs still have to drain.
    """
    case = tables.case
    for tensor in case.operator.tensors:
        for entry in case.paths[tensor.name][1:]:
            loop = _output_loop if tensor.role is Role.OUTPUT else _input_loop
            slots = case.slot_count(entry, tensor)
            busy, ends = loop(tables, entry, tensor, path, slots)
            name = f"{case.chip.names[entry]} {tensor.name} slots"
            yield Bound(name, "credit", ceil(busy) + ends,
                        f"{slots} slot{'s' * (slots > 1)} for tiles of {tensor.name} at {case.chip.names[entry]} "
                        f"come free no faster: {ceil(busy):,} cycles")


def _input_loop(tables: Tables, entry: int, tensor: Tensor, path: Path, slots: int) -> tuple[Fraction, int]:
    """Claim, fill, the inner levels' first fills, the array's holds; released at the end of the last hold."""
    case, look = tables.case, Look(entry, FIRST_INSTANCE)
    way = route(case, entry, tensor, Access.FILL)
    parts, pairs = tables.factors(look, tensor), tables.changes(look, tensor)
    stays = sum(pairs.values())
    total = sum(way.alone_cycles(-(-(size - kept) * tensor.dtype.bits // 8)) * count for (size, kept), count in pairs.items())
    plain = all(isinstance(part, Plain | Repeated) for part in parts)
    if plain:  # the inner tiles change wholly when this one does
        total += path.work_cycles + stays * _inner_fills(tables, entry, tensor)
    elif entry == case.paths[tensor.name][-1]:
        total += path.work_cycles
    # else a copy further in may outlive this tile, which then is released as soon as that is ready: no hold is certain
    late = case.chip.array.skew_cycles if entry == case.array_entry and slots == 1 else 0
    total += late * stays
    busy = Fraction(total, slots)
    if plain and len(pairs) == 1 and _even(case):  # all loops are alike: the longest chain has whole ones
        busy = Fraction(-(-stays // slots) * total, stays)
    return busy, path.arrivals[entry, tensor.name] + path.epilogue_cycles - late


def _output_loop(tables: Tables, entry: int, tensor: Tensor, path: Path, slots: int) -> tuple[Fraction, int]:
    """Claim, refill, holds, latency, the inner levels' last drains, and its own drain until it is through."""
    case, look = tables.case, Look(entry, FIRST_INSTANCE)
    inward, outward = route(case, entry, tensor, Access.FILL), route(case, entry, tensor, Access.DRAIN)
    accumulator = case.operator.accumulator.bits
    partial, finished = drains(tables, tensor, look)
    stays = sum(partial.values()) + sum(finished.values())
    total = path.work_cycles
    if always_drains(case):
        total += stays * (case.chip.array.skew_cycles + _inner_drains(tables, entry, tensor))
    total += sum(inward.alone_cycles(-(-size * accumulator // 8)) * count
                 for size, count in refills(tables, tensor, look).items())
    total += _through(outward, partial, accumulator) + _through(outward, finished, tensor.dtype.bits)
    outer = [place for place in case.paths[tensor.name][1:] if place < entry]
    after = outward.stations[-1].latency_cycles + sum(
        route(case, place, tensor, Access.DRAIN).latency_cycles for place in outer)
    return Fraction(total, slots), after


def _through(way: Route, sizes: Sizes, bits: int) -> int:
    return sum(way.through_cycles(-(-size * bits // 8)) * count for size, count in sizes.items())


def _inner_fills(tables: Tables, entry: int, tensor: Tensor) -> int:
    """Before the array can start on a new plain tile, its first part has to come down the inner levels."""
    cycles = 0
    for inner in tables.case.paths[tensor.name]:
        if inner > entry:
            least = min(size - kept for size, kept in tables.changes(Look(inner, FIRST_INSTANCE), tensor))
            cycles += route(tables.case, inner, tensor, Access.FILL).alone_cycles(-(-least * tensor.dtype.bits // 8))
    return cycles


def _inner_drains(tables: Tables, entry: int, tensor: Tensor) -> int:
    """A tile is released when the last inner tile has arrived: output tiles of different residencies are disjoint."""
    case, cycles = tables.case, 0
    bits = min(tensor.dtype.bits, case.operator.accumulator.bits)
    for inner in case.paths[tensor.name]:
        if inner > entry:
            partial, finished = drains(tables, tensor, Look(inner, FIRST_INSTANCE))
            least = min([*partial, *finished], default=0)
            cycles += route(case, inner, tensor, Access.DRAIN).alone_cycles(-(-least * bits // 8))
    return cycles


def _even(case: Case) -> bool:
    """Whether no edge cuts anything: every residency sees the same work."""
    covered = [1] * len(case.nest.lines)
    for loop in case.nest.loops:
        covered[loop.line] *= loop.bound
    members = {dim for line in case.nest.lines if line.flattened for dim in line.dims}  # always even by themselves
    return all(bounds == line.extent or (not line.flattened and line.dims[0] in members)
               for bounds, line in zip(covered, case.nest.lines, strict=True))
