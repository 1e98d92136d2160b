"""Which tiles are counted for what: the looks of each hold, as the model of one mapping takes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from accelsim.analytic.moves import injective
from accelsim.analytic.routes import CHILD, Route
from accelsim.spec.case import Case
from accelsim.spec.operator import Role, Tensor

Columns = frozenset[int]
"""Numbers of spatial loops."""

INWARD, OUTWARD = 0, 1
"""Directions of a way: fills and refills, drains."""


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
"""The instance whose spatial iterations are all 0."""


@dataclass
class Job:
    """What a look is counted for: the traffic (``fills`` and drains, ``refills``) of all instances, and loads of stations.

    ``first``, ``mean``: (direction, place on the way) of the stations whose first instance bears this load, and of those
    whose instances share it.
    """

    fills: bool = False
    refills: bool = False
    first: list[tuple[int, int]] = field(default_factory=list)
    mean: list[tuple[int, int]] = field(default_factory=list)

    def counts(self, direction: int) -> bool:
        """Whether anything of a direction is asked for."""
        return any(own == direction for own, _ in (*self.first, *self.mean))


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


def jobs_of(case: Case, hold: Hold, ways: tuple[Route, ...]) -> dict[Look, Job]:
    """The looks of a hold away from home and what each is for; the first instance's comes first.

    ``ways``: inward, and of an output outward.
    """
    jobs: dict[Look, Job] = {FIRST_INSTANCE: Job()}
    everywhere = spatial_above(case, hold.entry)
    inside = frozenset(place for place in everywhere if case.nest.loops[place].entry >= (hold.before or 0))
    if hold.tensor.role is not Role.OUTPUT:
        jobs.setdefault(Look(everywhere), Job()).fills = True
        _add_loads(jobs, ways[INWARD], INWARD, inside, everywhere, lambda counted, own: (
            _distinct(case, hold, counted) if ways[INWARD].multicast and not own else Look(counted)))
        return jobs
    added = inside & reducing(case) if ways[INWARD].reduces else frozenset()
    jobs.setdefault(Look(everywhere), Job()).fills = True
    jobs.setdefault(Look(everywhere - added), Job()).refills = True
    _add_loads(jobs, ways[OUTWARD], OUTWARD, inside, everywhere, lambda counted, own: Look(counted if own else counted - added))
    _add_loads(jobs, ways[INWARD], INWARD, inside, everywhere, lambda counted, _: Look(counted - added))
    return jobs


def _add_loads(jobs: dict[Look, Job], way: Route, direction: int, inside: Columns, everywhere: Columns,
               look_of: Callable[[Columns, bool], Look]) -> None:
    """The loads of a way's stations: of the child's instances its first one, of the parent's all inside its first one."""
    for place, station in enumerate(way.stations):
        if station.rate is not None:
            own = station.side == CHILD
            jobs.setdefault(look_of(frozenset() if own else inside, own), Job()).first.append((direction, place))
            jobs.setdefault(look_of(everywhere, own), Job()).mean.append((direction, place))


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
