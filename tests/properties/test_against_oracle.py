"""Is every cycle, byte and event what the rules of the run say? A naive interpreter of the rules is the judge."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings

from accelsim.spec.case import Case
from accelsim.timeline import BUSY_STATE, TICKS

from ..helpers import Ran, brief, run
from ..oracle import machine_oracle as oracle
from .strategies import MOST_STEPS, cases, judge, steps_of

Told = tuple[int, str, int, str, int]  # cycle, what, level, tensor, residency
TOLD = {"claimed": "claim", "ready": "ready", "freed": "drain through", "drained": "drain arrived"}


def events(case: Case, ran: Ran) -> list[Told]:
    """What the observer was told of residencies away from home, in the oracle's words."""
    found = []
    for e in ran.log:
        if e.entry == case.paths[e.tensor][0] or e.what not in TOLD:
            continue
        if e.what == "freed" and e.tensor != case.operator.output.name:
            continue
        found.append((e.cycle, TOLD[e.what], e.entry, e.tensor, e.residency))
    return found


def in_order(case: Case, told: list[Told]) -> list[Told]:
    """Inputs that become ready before the residency ahead of them, moved to when that one is.

    A tile without new elements (a part of the one before, or padding only) may be whole while other elements of the
    one before are still on their way. The machine calls it ready with that one: nobody can tell, since whoever reads
    it has read the one before.
    """
    latest: dict[tuple[int, str], int] = {}
    found = []
    for cycle, what, level, tensor, number in sorted(told, key=lambda e: e[4]):
        if what == "ready" and tensor != case.operator.output.name:
            latest[level, tensor] = max(cycle, latest.get((level, tensor), 0))
            found.append((latest[level, tensor], what, level, tensor, number))
        else:
            found.append((cycle, what, level, tensor, number))
    return sorted(found)


def busy(stretches: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Stretches with those that touch joined."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(stretches):
        if joined and joined[-1][1] == start:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return joined


def compare(case: Case) -> None:
    right = judge(case)
    ran = run(case)
    shown = brief(case)
    moved = {}
    for (name, tensor), t in ran.timeline.traffic.items():
        place = case.chip.names.index(name)
        if place != case.paths[tensor][0]:
            moved[place, tensor] = oracle.Traffic(
                t.fill_elements, t.drain_elements, t.refill_elements, t.fill_bytes, t.drain_bytes, t.refill_bytes
            )
    assert {k: t for k, t in moved.items() if t != oracle.Traffic()} == {
        k: t for k, t in right.traffic.items() if t != oracle.Traffic()
    }, shown
    told = [(e.cycle, e.what, e.level, e.tensor, e.residency) for e in right.log if e.what in TOLD.values()]
    assert sorted(events(case, ran)) == in_order(case, told), shown
    rows = [
        (int(start) // TICKS, int(end) // TICKS)
        for lane, start, end, state, _ in ran.timeline.rows
        if lane == 0 and state == BUSY_STATE
    ]
    starts = sorted(e.cycle for e in right.log if e.what == "block start")
    ends = sorted(e.cycle for e in right.log if e.what == "block end")
    assert busy(rows) == busy(list(zip(starts, ends, strict=True))), shown
    assert ran.cycles == right.cycles, shown


SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


@settings(max_examples=300, deadline=None, suppress_health_check=SLOW)
@given(cases())
def test_every_event_is_the_oracles(case: Case) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    compare(case)


@pytest.mark.nightly
@settings(max_examples=20_000, deadline=None, suppress_health_check=SLOW, derandomize=False)
@given(cases())
def test_every_event_is_the_oracles_many_times(case: Case) -> None:
    assume(steps_of(case) <= 3 * MOST_STEPS)
    compare(case)
