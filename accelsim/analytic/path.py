"""What must happen one after another: the first tiles in, all the array's work, the last tile out."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import NamedTuple

from accelsim.analytic.arrays import iterations, passes
from accelsim.analytic.frame import FIRST_INSTANCE
from accelsim.analytic.lines import FIRST, Steps
from accelsim.analytic.moves import Plain, Repeated, injective, joint
from accelsim.analytic.routes import Route, route
from accelsim.analytic.tables import Look, Tables, every
from accelsim.spec.case import Case
from accelsim.spec.chip import Access
from accelsim.spec.operator import Role, Tensor


class Path(NamedTuple):
    """Prologue, work and epilogue of the first array instance, and what surely precedes or follows other events.

    ``least_after_step``: from the end of any step's hold to the end of the run. ``least_after_fill``: from the arrival
    of any fill. ``first_drain_cycles``: no drain starts earlier. ``arrivals``: per tensor when its first tile can be at
    each entry.
    """

    prologue_cycles: int
    work_cycles: int
    epilogue_cycles: int
    least_after_step: int
    least_after_fill: int
    first_drain_cycles: int
    arrivals: dict[tuple[int, str], int]

    @property
    def cycles(self) -> int:
        """All of it."""
        return self.prologue_cycles + self.work_cycles + self.epilogue_cycles


def critical_path(tables: Tables) -> Path:
    """The chain through the instance whose spatial iterations are all 0: it exists whenever any does."""
    case = tables.case
    output = case.operator.output
    inner = case.paths[output.name][1:] if always_drains(case) else ()
    outward = [route(case, entry, output, Access.DRAIN) for entry in inner]
    skew = case.chip.array.skew_cycles if outward else 0
    prologue, arrivals = _prologue(tables)
    # passes take their iterations or the least: no less than either of all
    work = max(iterations(tables, FIRST_INSTANCE) * case.interval_cycles,
               passes(tables, FIRST_INSTANCE) * case.chip.array.least_cycles)
    after = skew + sum(way.latency_cycles for way in outward)
    split = any(loop.axis is not None and loop.bound > 1 for loop in case.nest.loops if loop.entry < case.array_entry)
    first_drain = (0 if split else prologue) + case.interval_cycles + skew
    epilogue = skew + _epilogue(tables, output) if outward else 0
    return Path(prologue, work, epilogue, after, after + case.interval_cycles, first_drain, arrivals)


def _prologue(tables: Tables) -> tuple[int, dict[tuple[int, str], int]]:
    """When the first array step can start: every operand's first tile has come down its path.

    Per station the services add up, and something precedes the first and follows the last of them.
    """
    case = tables.case
    arrivals: dict[tuple[int, str], int] = {}
    served: dict[str, list[tuple[int, Fraction, int]]] = {}
    latest = 0
    for tensor in case.operator.tensors:
        if tensor.role is Role.OUTPUT:
            continue
        inner = case.paths[tensor.name][1:]
        ways = [(route(case, entry, tensor, Access.FILL), _first_tile_bytes(tables, entry, tensor)) for entry in inner]
        arrival = 0
        for i, (way, size) in enumerate(ways):
            arrivals[inner[i], tensor.name] = arrival
            if size:
                later = sum(other.alone_cycles(more) for other, more in ways[i + 1:])
                _pass(served, way, size, arrival, later)
            arrival += way.alone_cycles(size)
        latest = max(latest, arrival)
    for own in served.values():
        heads, services, tails = zip(*own, strict=True)
        latest = max(latest, min(heads) + ceil(sum(services)) + min(tails))
    return latest, arrivals


def _pass(served: dict[str, list[tuple[int, Fraction, int]]], way: Route, size: int, head: int, later: int) -> None:
    done = 0
    for station in way.stations:
        tail = way.latency_cycles - done + later
        served.setdefault(station.name, []).append((head + done, station.service(size), tail))
        done += station.latency_cycles


def always_drains(case: Case) -> bool:
    """Whether every output tile drains: an output smaller than its dimensions has tiles that hold nothing."""
    return all(injective(axis, case.operator) for axis in case.operator.output.axes)


def _first_tile_bytes(tables: Tables, entry: int, tensor: Tensor) -> int:
    """Bytes of the first tile of the first instance."""
    ((size, _),) = joint(tables.factors(Look(entry, FIRST_INSTANCE), tensor), FIRST)
    return -(-size * tensor.dtype.bits // 8)


def _epilogue(tables: Tables, output: Tensor) -> int:
    """The last tile's drains, one level after the other."""
    case = tables.case
    bits = min(output.dtype.bits, case.operator.accumulator.bits)
    return sum(route(case, entry, output, Access.DRAIN).alone_cycles(-(-_last_tile(tables, entry, output) * bits // 8))
               for entry in case.paths[output.name][1:])


def _last_tile(tables: Tables, entry: int, output: Tensor) -> int:
    """Elements of the last tile of the first instance (the smallest tile where an axis is not plain)."""
    size = 1
    for part in tables.factors(Look(entry, FIRST_INSTANCE), output):
        if isinstance(part, Plain):
            size *= min(part.steps.tile, part.steps.extent - _last_position(part.steps))
        elif not isinstance(part, Repeated):
            size *= min(every((part,)))
    return size


def _last_position(steps: Steps) -> int:
    position = 0
    for loop in steps.loops:
        position += min(loop.bound - 1, (steps.extent - 1 - position) // loop.stride) * loop.stride
    return position
