"""What every port, link and array has to carry: each is a bound, since it serves one transfer at a time."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil, prod
from typing import NamedTuple

from accelsim.analytic.frame import FIRST_INSTANCE, instances
from accelsim.analytic.images import reached
from accelsim.analytic.moves import injective
from accelsim.analytic.path import Path
from accelsim.analytic.result import Bound
from accelsim.analytic.routes import CHILD, Route, Station, port_name, route
from accelsim.analytic.tables import Look, Sizes, Tables
from accelsim.analytic.traffic import TrafficTable, drains, fills, reduced_once, refills
from accelsim.spec.case import Case
from accelsim.spec.chip import Access
from accelsim.spec.operator import Role, Tensor


class _Load(NamedTuple):
    """Cycles of service that one kind of transfer brings to a station; at least ``head`` before, ``tail`` after it."""

    station: str
    first: Fraction
    mean: Fraction
    head: int
    tail: int


def resource_bounds(tables: Tables, moved: TrafficTable, path: Path) -> Iterator[Bound]:
    """Per station: work / rate of its busiest instance, after the least it waits and before the least that follows.

    The busiest instance is at least the mean of all and at least the first one (which has the most steps).
    """
    loads: dict[str, list[_Load]] = {}
    for load in [*_transfer_loads(tables, path), *_array_loads(tables.case, moved, path)]:
        loads.setdefault(load.station, []).append(load)
    for name, own in loads.items():
        busy = max(sum(load.first for load in own), sum(load.mean for load in own))
        if busy:
            ends = min(load.head for load in own) + min(load.tail for load in own)
            yield Bound(name, "resource", ceil(busy) + ends, f"{name} is in service for {ceil(busy):,} cycles")
    array = tables.case.chip.array.name
    yield Bound(f"{array} hold", "resource", path.work_cycles,
                f"{array} computes for {path.work_cycles:,} cycles")


def cold_bounds(case: Case) -> Iterator[Bound]:
    """Per port of a memory before which there is a cache: whatever is read comes through it once."""
    read: dict[str, Fraction] = {}
    for tensor in case.operator.tensors:
        home = case.paths[tensor.name][0]
        memory = case.memory(home, tensor)
        port = None if memory is None else memory.port(Access.FILL, tensor)
        if memory is None or memory.cache_bytes is None or port is None or port.rate is None or tensor.role is Role.OUTPUT:
            continue
        elements = prod(reached(axis, case.operator.dims) for axis in tensor.axes)
        name = port_name(case, home, tensor, Access.FILL)
        read[name] = read.get(name, Fraction(0)) + Fraction(-(-elements * tensor.dtype.bits // 8)) / port.rate
    for name, cycles in read.items():
        yield Bound(name, "resource", ceil(cycles), f"what comes through {name} once takes {ceil(cycles):,} cycles")


def _transfer_loads(tables: Tables, path: Path) -> Iterator[_Load]:
    case = tables.case
    for tensor in case.operator.tensors:
        bound_at = case.paths[tensor.name]
        routes = {entry: route(case, entry, tensor, Access.FILL) for entry in bound_at[1:]}
        for number, entry in enumerate(bound_at[1:], 1):
            before = sum(routes[outer].latency_cycles for outer in bound_at[1:number])
            if tensor.role is Role.OUTPUT:
                outward = route(case, entry, tensor, Access.DRAIN)
                after = sum(route(case, outer, tensor, Access.DRAIN).latency_cycles for outer in bound_at[1:number])
                yield from _loads(tables, entry, tensor, outward, Access.DRAIN, path.first_drain_cycles, after)
                yield from _loads(tables, entry, tensor, routes[entry], Access.FILL, 0, path.least_after_fill)
            else:
                yield from _loads(tables, entry, tensor, routes[entry], Access.FILL, before, path.least_after_fill)


def _loads(tables: Tables, entry: int, tensor: Tensor, way: Route, access: Access, head: int, tail: int,
           ) -> Iterator[_Load]:
    """The stations of a route, each with its instances: those of the child, or of the parent with all inside it."""
    nest = tables.case.nest
    parent = tables.case.parent(entry, tensor.name) or 0
    inside = frozenset(place for place in tables.everywhere if nest.loops[place].entry >= parent)
    done = 0
    for station in way.stations:
        if station.rate is not None:
            own = station.side == CHILD
            first = _service(tables, Look(entry, FIRST_INSTANCE if own else inside), tensor, access, station, way)
            total = _service(tables, Look(entry, tables.everywhere), tensor, access, station, way)
            count = instances(nest.spatial_above(entry if own else parent))
            yield _Load(station.name, first, total / count, head + done, tail + way.latency_cycles - done)
        done += station.latency_cycles


def _service(tables: Tables, look: Look, tensor: Tensor, access: Access, station: Station, way: Route) -> Fraction:
    """Cycles of service of all transfers of the instances looked at; what a link shares counts once."""
    accumulator, dtype = tables.case.operator.accumulator.bits, tensor.dtype.bits
    if tensor.role is not Role.OUTPUT:
        shared = station.side != CHILD and way.multicast
        return _total(station, fills(tables, tensor, _distinct(tables, tensor, look) if shared else look), dtype)
    if access is Access.FILL:
        return _total(station, refills(tables, tensor, look), accumulator)
    if station.side != CHILD and way.reduces:
        look = look._replace(summed=reduced_once(tables, look.entry, tensor, look.summed))
    partial, finished = drains(tables, tensor, look)
    return _total(station, partial, accumulator) + _total(station, finished, dtype)


def _total(station: Station, sizes: Sizes, bits: int) -> Fraction:
    if station.joined and station.rate is not None:
        return sum(size * bits * count for size, count in sizes.items()) / (8 * station.rate)
    payloads = [(-(-size * bits // 8), count) for size, count in sizes.items()]
    if station.pooled and station.rate is not None:
        return sum(station.carried(size) * count for size, count in payloads) / station.rate
    return sum((station.service(size) * count for size, count in payloads), Fraction(0))


def _distinct(tables: Tables, tensor: Tensor, look: Look) -> Look:
    """Count once what several instances inside one parent take: which of them are summed, which merged.

    Along plain dimensions sets are disjoint, and equal where the tensor does not depend on the loop; along windows they
    may overlap or be equal, so that only their union is certain to be read. Where the union is no box of the nest, the
    first instance stands for all.
    """
    case, nest = tables.case, tables.case.nest
    parent = case.parent(look.entry, tensor.name) or 0
    plain = {dim for axis in tensor.axes if injective(axis, case.operator) for dim in axis.dims}
    summed, merged = set(), set()
    for place in look.summed:
        loop = nest.loops[place]
        line = nest.lines[loop.line]
        if not parent <= loop.entry < look.entry or set(line.dims) <= plain:
            summed.add(place)
        elif (loop.entry == look.entry - 1 and not line.flattened and set(line.dims) & tensor.dims
              and not line.extent % (loop.stride * loop.bound)):
            merged.add(place)
    return look._replace(summed=frozenset(summed), merged=frozenset(merged))


def _array_loads(case: Case, moved: TrafficTable, path: Path) -> Iterator[_Load]:
    """Operands and results that the array takes from and gives to memories, on the mean of the memory's instances."""
    for tensor in case.operator.tensors:
        entry = case.feeding(tensor.name)
        memory = case.memory(entry, tensor)
        if memory is None:
            continue
        own = moved[entry, tensor.name]
        lockstep = case.lockstep(case.array_entry)
        count = instances(case.nest.spatial_above(case.array_entry if lockstep else entry))
        for access, size in ((Access.ARRAY_READ, own.array_read_bytes), (Access.ARRAY_WRITE, own.array_write_bytes)):
            port = memory.port(access, tensor)
            if port is not None and port.rate is not None and size:
                cycles = Fraction(size) / port.rate / count
                yield _Load(port_name(case, entry, tensor, access), cycles, cycles, 0, path.least_after_step)


