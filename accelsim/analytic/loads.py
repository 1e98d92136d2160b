"""What every port, link and array has to carry: each is a bound, since it serves one transfer at a time."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil
from typing import NamedTuple

from accelsim.analytic.frame import Choose, every_instance, first_instance, instances
from accelsim.analytic.moves import injective
from accelsim.analytic.path import Path
from accelsim.analytic.result import Bound, Traffic
from accelsim.analytic.routes import CHILD, Route, Station, port_name, route
from accelsim.analytic.traffic import Sizes, drains, fills, reduced_once, refills
from accelsim.spec.case import Case
from accelsim.spec.chip import Access
from accelsim.spec.nest import NestLoop
from accelsim.spec.operator import Role, Tensor


class _Load(NamedTuple):
    """Cycles of service that one kind of transfer brings to a station; ``head`` before it, ``tail`` after it at least."""

    station: str
    first: Fraction
    mean: Fraction
    head: int
    tail: int


def resource_bounds(case: Case, moved: dict[tuple[int, str], Traffic], path: Path) -> Iterator[Bound]:
    """Per station: work / rate of its busiest instance, after the least it waits and before the least that follows.

    The busiest instance is at least the mean of all and at least the first one (which has the most steps).
    """
    loads: dict[str, list[_Load]] = {}
    for load in [*_transfer_loads(case, path), *_array_loads(case, moved, path)]:
        loads.setdefault(load.station, []).append(load)
    for name, own in loads.items():
        busy = max(sum(load.first for load in own), sum(load.mean for load in own))
        if busy:
            ends = min(load.head for load in own) + min(load.tail for load in own)
            yield Bound(name, "resource", ceil(busy) + ends, f"{name} is in service for {ceil(busy):,} cycles")
    yield Bound(f"{case.chip.array.name} hold", "resource", path.work_cycles,
                f"{case.chip.array.name} computes for {path.work_cycles:,} cycles")


def _transfer_loads(case: Case, path: Path) -> Iterator[_Load]:
    for tensor in case.operator.tensors:
        bound_at = case.paths[tensor.name]
        routes = {entry: route(case, entry, tensor, Access.FILL) for entry in bound_at[1:]}
        for number, entry in enumerate(bound_at[1:], 1):
            before = sum(routes[outer].latency_cycles for outer in bound_at[1:number])
            if tensor.role is Role.OUTPUT:
                outward = route(case, entry, tensor, Access.DRAIN)
                after = sum(route(case, outer, tensor, Access.DRAIN).latency_cycles for outer in bound_at[1:number])
                yield from _loads(case, entry, tensor, outward, Access.DRAIN, path.first_drain_cycles, after)
                yield from _loads(case, entry, tensor, routes[entry], Access.FILL, 0, path.least_after_fill)
            else:
                yield from _loads(case, entry, tensor, routes[entry], Access.FILL, before, path.least_after_fill)


def _loads(case: Case, entry: int, tensor: Tensor, way: Route, access: Access, head: int, tail: int) -> Iterator[_Load]:
    done = 0
    for station in way.stations:
        if station.rate is not None:
            at = CHILD if station.side == CHILD else case.parent(entry, tensor.name)
            above = case.nest.spatial_above(entry if at == CHILD else int(at or 0))
            count = instances(tuple(above))
            shared = way if station.side != CHILD else None
            own = _service(case, entry, tensor, access, station, shared,
                           first_instance if shared is None else _within(case, entry, tensor))
            all_of_them = _service(case, entry, tensor, access, station, shared, every_instance)
            yield _Load(station.name, own, all_of_them / count, head + done, tail + way.latency_cycles - done)
        done += station.latency_cycles


def _service(case: Case, entry: int, tensor: Tensor, access: Access, station: Station, shared: Route | None,
             summed: Choose) -> Fraction:
    """Cycles of service of all transfers of the instances chosen; what a link shares counts once."""
    accumulator, dtype = case.operator.accumulator.bits, tensor.dtype.bits
    if tensor.role is not Role.OUTPUT:
        chosen, merged = (summed, first_instance) if shared is None or not shared.multicast else \
            _distinct(case, entry, tensor, summed)
        return _total(station, fills(case, entry, tensor, chosen, merged), dtype)
    if access is Access.FILL:
        return _total(station, refills(case, entry, tensor, summed), accumulator)
    if shared is not None and shared.reduces:
        summed = reduced_once(case, entry, tensor, summed)
    partial, finished = drains(case, entry, tensor, summed)
    return _total(station, partial, accumulator) + _total(station, finished, dtype)


def _total(station: Station, sizes: Sizes, bits: int) -> Fraction:
    return sum((station.service(-(-size * bits // 8)) * count for size, count in sizes.items()), Fraction(0))


def _within(case: Case, entry: int, tensor: Tensor) -> Choose:
    """The instances inside the first instance of the parent."""
    parent = case.parent(entry, tensor.name) or 0
    return lambda loop: loop.entry >= parent


def _distinct(case: Case, entry: int, tensor: Tensor, summed: Choose) -> tuple[Choose, Choose]:
    """Which instances hold sets of their own, and which are counted by the union of their sets.

    Along plain dimensions sets are disjoint; along windows they may overlap or be equal, so that only their union is
    certain to be read. Where the union is no box of the nest, the first instance stands for all.
    """
    parent = case.parent(entry, tensor.name) or 0
    plain = {dim for axis in tensor.axes if injective(axis, case.operator) for dim in axis.dims}

    def between(loop: NestLoop) -> bool:
        return parent <= loop.entry < entry

    def chosen(loop: NestLoop) -> bool:
        return summed(loop) and (not between(loop) or set(case.nest.lines[loop.line].dims) <= plain)

    def merged(loop: NestLoop) -> bool:
        line = case.nest.lines[loop.line]
        return (summed(loop) and loop.entry == entry - 1 and between(loop) and not line.flattened
                and bool(set(line.dims) & tensor.dims - plain) and not line.extent % (loop.stride * loop.bound))
    return chosen, merged


def _array_loads(case: Case, moved: dict[tuple[int, str], Traffic], path: Path) -> Iterator[_Load]:
    """Operands and results that the array takes from and gives to memories, on the mean of the memory's instances."""
    for tensor in case.operator.tensors:
        entry = case.feeding(tensor.name)
        memory = case.memory(entry, tensor)
        if memory is None:
            continue
        own = moved[entry, tensor.name]
        lockstep = case.lockstep(case.array_entry)
        count = instances(tuple(case.nest.spatial_above(case.array_entry if lockstep else entry)))
        for access, size in ((Access.ARRAY_READ, own.array_read_bytes), (Access.ARRAY_WRITE, own.array_write_bytes)):
            port = memory.port(access, tensor)
            if port is not None and port.rate is not None and size:
                cycles = Fraction(size) / port.rate / count
                yield _Load(port_name(case, entry, tensor, access), cycles, cycles, 0, path.least_after_step)


