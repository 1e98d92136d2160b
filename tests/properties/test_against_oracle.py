"""Is every cycle, byte and event what the rules of the run say? A naive interpreter of the rules is the judge."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from accelsim.errors import SimulatorBug
from accelsim.spec.case import Case
from accelsim.timeline import BUSY_STATE, TICKS

from ..helpers import Ran, brief, run
from ..oracle import machine_oracle as oracle
from .strategies import MOST_STEPS, Verdict, cases, judge, steps_of

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


def seen(told: list[Told], verdict: Verdict) -> list[Told]:
    return sorted(e for e in told if e[1] != "ready" or e[2:] not in verdict.empty)


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
    try:
        verdict = judge(case)
    except oracle.Deadlock:
        with pytest.raises(SimulatorBug, match="deadlock"):
            run(case)
        return
    right = verdict.result
    ran = run(case)
    shown = brief(case)
    moved = {}
    for (name, tensor), t in ran.timeline.traffic.items():
        place = case.chip.names.index(name)
        if place != case.paths[tensor][0]:
            moved[place, tensor] = oracle.Traffic(t.fill_elements, t.drain_elements, t.refill_elements, t.fill_bytes,
                                                  t.drain_bytes, t.refill_bytes)
    assert {k: t for k, t in moved.items() if t != oracle.Traffic()} == {
        k: t for k, t in right.traffic.items() if t != oracle.Traffic()}, shown
    # when a tile of padding alone is ready moves nothing and is seen by nobody: its reader has to wait for the one before
    told = [(e.cycle, e.what, e.level, e.tensor, e.residency) for e in right.log if e.what in TOLD.values()]
    assert seen(events(case, ran), verdict) == seen(told, verdict), shown
    rows = [(int(start) // TICKS, int(end) // TICKS) for lane, start, end, state, _ in ran.timeline.rows
            if lane == 0 and state == BUSY_STATE]
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
