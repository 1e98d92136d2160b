"""A network on chip in a run: which of its channels a transfer passes, with others or alone."""

from __future__ import annotations

from collections.abc import Sequence

from accelsim.plan.units import Unit
from accelsim.spec.case import Case
from accelsim.spec.chip import Access, Link, Multicast
from accelsim.spec.linknetwork import Way, instance_number


def split_ways(case: Case, link: Link, entry: int, units: Sequence[Unit], access: Access) -> list[tuple[Way, Way]]:
    """The way between the outer level and each unit of an entry: what units that share a transfer pass once, and the rest.

    A fill passes the shared part first, a drain last; it is what the ways of all units that have work have in common there.
    """
    assert link.network is not None, "asked of networks only"
    ways = link.network.inward if access is Access.FILL else link.network.outward
    used = [ways[_number(case, link, entry, unit)] for unit in units]
    if access is Access.FILL:
        count = _common(used) if link.multicast is not Multicast.NONE else 0
        return [(way[:count], way[count:]) for way in used]
    count = _common([way[::-1] for way in used]) if link.reduce else 0
    return [(way[len(way) - count:], way[:len(way) - count]) for way in used]


def _common(ways: Sequence[Way]) -> int:
    """How many channels all ways begin with alike."""
    return next((place for place, channels in enumerate(zip(*ways, strict=False)) if len(set(channels)) > 1),
                min(len(way) for way in ways))


def _number(case: Case, link: Link, entry: int, unit: Unit) -> int:
    """Which of the inner level's instances a unit is: by its place along the axes of each level's fan-out."""
    first = case.chip.names.index(link.outer) + 1
    places: list[dict[str, int]] = [{} for _ in range(entry + 1)]
    for loop, coordinate in zip(case.nest.spatial_above(entry), unit.coordinates, strict=True):
        assert loop.axis is not None, "spatial loops have one"
        along = places[loop.entry + 1]
        along[loop.axis] = along.get(loop.axis, 0) * loop.bound + coordinate
    return instance_number([case.chip.fanout(level) for level in range(first, entry + 1)], places[first:])
