"""Which tiles are counted for what: the looks of each hold, as the model of one mapping takes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from accelsim.analytic.moves import injective
from accelsim.analytic.routes import CHILD, Route, route
from accelsim.kernels import columns as col
from accelsim.spec.case import Case
from accelsim.spec.chip import Access
from accelsim.spec.operator import Role, Tensor

Columns = frozenset[int]
"""Numbers of spatial loops."""

INWARD, OUTWARD = 0, 1
"""Directions, as in ``Flows.load``."""


@dataclass(frozen=True)
class Hold:
    """A tensor at an entry of its path; ``before`` is the entry it comes from, None at its home."""

    tensor: Tensor
    entry: int
    before: int | None


@dataclass(frozen=True)
class Look:
    """Spatial loops whose instances are all counted, and those whose instances are taken as one tile if they divide it."""

    counted: Columns
    merged: Columns = frozenset()


FIRST_INSTANCE = Look(frozenset())


@dataclass
class Job:
    """What is counted in a look: columns of ``Flows.job`` and, by direction and stop, bits of ``Flows.load``."""

    flags: set[int] = field(default_factory=set)
    loads: dict[tuple[int, int], int] = field(default_factory=dict)


def holds_of(case: Case) -> list[Hold]:
    """Every tensor at every entry of its path, tensor by tensor, homes first."""
    return [Hold(tensor, entry, case.parent(entry, tensor.name))
            for tensor in case.operator.tensors for entry in case.paths[tensor.name]]


def spatial_above(case: Case, entry: int) -> Columns:
    """The spatial loops that choose an instance of an entry."""
    return frozenset(place for place, loop in enumerate(case.nest.loops) if loop.axis is not None and loop.entry < entry)


def reducing(case: Case) -> Columns:
    """Loops over a reduction, whatever their bounds."""
    return frozenset(place for place, loop in enumerate(case.nest.loops)
                     if not set(case.nest.lines[loop.line].dims) & case.operator.output.dims)


def jobs_of(case: Case, hold: Hold) -> dict[Look, Job]:
    """The looks of a hold away from home and what each is for; the first instance's comes first."""
    jobs: dict[Look, Job] = {FIRST_INSTANCE: Job({col.CREDIT})}
    tensor, before = hold.tensor, hold.before
    assert before is not None, "asked away from home only"
    everywhere = spatial_above(case, hold.entry)
    inside = frozenset(place for place in everywhere if case.nest.loops[place].entry >= before)
    inward = route(case, hold.entry, tensor, Access.FILL)
    if tensor.role is not Role.OUTPUT:
        jobs[FIRST_INSTANCE].flags.add(col.INWARD)
        jobs.setdefault(Look(everywhere), Job()).flags |= {col.TRAFFIC, col.INWARD}
        _add_loads(jobs, inward, INWARD, inside, everywhere,
                   lambda counted, own: _distinct(case, hold, counted) if inward.multicast and not own else Look(counted))
        return jobs
    outward = route(case, hold.entry, tensor, Access.DRAIN)
    added = inside & reducing(case) if inward.reduces else frozenset()
    jobs.setdefault(Look(everywhere), Job()).flags.add(col.TRAFFIC)
    jobs.setdefault(Look(everywhere - added), Job()).flags.add(col.BACK)
    jobs[FIRST_INSTANCE].flags |= {col.INWARD, col.OUTWARD}
    jobs[Look(everywhere)].flags.add(col.OUTWARD)
    jobs[Look(everywhere - added)].flags.add(col.INWARD)
    _add_loads(jobs, outward, OUTWARD, inside, everywhere, lambda counted, own: Look(counted if own else counted - added))
    _add_loads(jobs, inward, INWARD, inside, everywhere, lambda counted, _: Look(counted - added))
    return jobs


def _add_loads(jobs: dict[Look, Job], way: Route, direction: int, inside: Columns, everywhere: Columns,
               look_of: Callable[[Columns, bool], Look]) -> None:
    """The loads of a way's stations: of the child's instances its first one, of the parent's all inside its first one."""
    for place, station in enumerate(way.stations):
        if station.rate is None:
            continue
        own = station.side == CHILD
        for counted, bit in ((frozenset() if own else inside, col.FIRST), (everywhere, col.MEAN)):
            job = jobs.setdefault(look_of(counted, own), Job())
            job.flags.add(col.OUTWARD if direction == OUTWARD else col.INWARD)
            job.loads[direction, place] = job.loads.get((direction, place), 0) | bit


def _distinct(case: Case, hold: Hold, counted: Columns) -> Look:
    """What a multicast reads once: plain sets are equal or disjoint, windows may overlap, so that their union counts.

    Where the union is no box of the nest the first instance stands for all.
    """
    plain = {dim for axis in hold.tensor.axes if injective(axis, case.operator) for dim in axis.dims}
    kept, merged = set(), set()
    for place in counted:
        loop = case.nest.loops[place]
        dims = set(case.nest.lines[loop.line].dims)
        if not (hold.before or 0) <= loop.entry < hold.entry or dims <= plain:
            kept.add(place)
        elif loop.entry == hold.entry - 1 and dims & hold.tensor.dims:
            merged.add(place)
    return Look(frozenset(kept), frozenset(merged))
