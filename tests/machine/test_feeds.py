"""Which transfers brought what steps use: both drivers say the same, and it is so."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from accelsim.drivers import Driver, Running
from accelsim.machine import fast_forward
from accelsim.machine.simulate import simulate
from accelsim.plan.schedule import Schedule
from accelsim.recorder import RecordOptions
from accelsim.spec.case import Case
from accelsim.timeline import BUSY_STATE, TICKS, LaneKind, Timeline

from ..helpers import brief, chip, differing, entry, gemm, level, make
from ..properties.strategies import MOST_STEPS, cases, steps_of, wide_cases

SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


def ran(case: Case, driver: Driver = Driver.COMPILED, *, forward: bool = False, window: tuple[int, int] | None = None,
        rows: int = 400_000) -> Timeline:
    return simulate(Schedule(case), RecordOptions(window, rows, feeds=True), running=Running(driver, forward))


def eager(case: Case, window: tuple[int, int] | None, rows: int) -> Timeline:
    """A run that adds every period it may."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("APART", 1), ("WORTH", 1), ("ALLOWED", 1 << 40)):
            patch.setattr(fast_forward, name, value)
        return ran(case, forward=True, window=window, rows=rows)


def check(timeline: Timeline) -> None:
    """Each names a row of a port or link and one of an array, for what came from the one before the other began."""
    own = {(lane, start): (end, state, label) for lane, start, end, state, label in timeline.rows.tolist()}
    for array, step, port, service in timeline.feeds.tolist():
        assert timeline.lanes[array].kind is LaneKind.ARRAY
        assert timeline.lanes[port].kind is not LaneKind.ARRAY
        end, state, _ = own[port, service]
        assert state == BUSY_STATE
        assert service < end <= -(-step // TICKS) * TICKS
        assert own[array, step][1] == BUSY_STATE
    kept = timeline.feeds[:, [0, 2, 3]]
    assert len(np.unique(kept, axis=0)) == len(kept), "it is told once for each array"


@settings(max_examples=200, deadline=None, suppress_health_check=SLOW)
@given(st.one_of(cases(), wide_cases()), st.sampled_from([400_000, 400_000, 30, 5]))
def test_drivers_agree(case: Case, rows: int) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    right, found = ran(case, Driver.SIMPY, rows=rows), ran(case, rows=rows)
    assert np.array_equal(found.feeds, right.feeds), brief(case)
    if rows > 30:
        check(found)


@settings(max_examples=100, deadline=None, suppress_health_check=SLOW)
@given(st.one_of(cases(long=True), wide_cases(long=True)), st.integers(0, 20_000), st.integers(1, 20_000), st.booleans(),
       st.sampled_from([400_000, 200]))
def test_periods_that_are_added_change_nothing(case: Case, first: int, length: int, windowed: bool, rows: int) -> None:
    assume(steps_of(case) <= 20 * MOST_STEPS)
    window = (first, first + length) if windowed else None  # what is behind it, or behind the last row kept, may be added
    full, forward = ran(case, window=window, rows=rows), eager(case, window, rows)
    assert np.array_equal(forward.feeds, full.feeds), brief(case)
    assert differing(full, replace(forward, skipped=full.skipped)) == "", brief(case)


@settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 5), st.sampled_from([1, 3, 16]), st.sampled_from([0, 7, 60]),
       st.integers(1, 3), st.permutations("mnk"))
def test_every_transfer_inward_feeds_one_step(m: int, n: int, k: int, rate: int, latency: int, buffers: int,
                                              order: list[str]) -> None:
    """One array behind one port: each row of A and of B there is the source of one, and each refill of C."""
    on = chip([level("DRAM", rate, latency, ports="shared"), level("L1")])
    bounds = {"m": m, "n": n, "k": k}
    case = make(on, gemm(2 * m, 2 * n, 2 * k), entry("DRAM", " ".join(f"{dim}{bounds[dim]}" for dim in order)),
                entry("L1", "m2 n2 k2", "A B C", {"A": buffers, "B": buffers, "C": buffers}))
    timeline = ran(case)
    check(timeline)
    port = next(number for number, lane in enumerate(timeline.lanes) if lane.kind is LaneKind.PORT)
    labels = {(lane, start): timeline.labels[label] for lane, start, _, _, label in timeline.rows.tolist() if lane == port}
    fed = Counter(labels[lane, service] for _, _, lane, service in timeline.feeds.tolist())
    served = Counter(labels.values())
    refills = timeline.traffic["L1", "C"].refill_elements // 4
    assert fed == Counter({name: count for name, count in (("A", served["A"]), ("B", served["B"]), ("C", refills)) if count})


def test_by_hand() -> None:
    """Two tiles of 2 x 2 x 2 along m: B stays. A tile's 16 B take the port four cycles: A0 and B from 0 and 4 on, there at 14 and
    18; A1, asked for at once where there is room for two, from 8 on. The second step begins with the end of the first, 8 cycles
    later.
    """
    on = chip([level("DRAM", 4, 10, ports="shared"), level("L1")])
    case = make(on, gemm(4, 2, 2), entry("DRAM", "m2"), entry("L1", "m2 n2 k2", "A B C", {"A": 2, "B": 2, "C": 2}))
    timeline = ran(case)
    starts = sorted(start // TICKS for lane, start, _, state, _ in timeline.rows.tolist() if lane == 0 and state == BUSY_STATE)
    told = [(step // TICKS, timeline.lanes[port].name, service // TICKS) for _, step, port, service in timeline.feeds.tolist()]
    assert told == [(starts[0], "DRAM.port", 0), (starts[0], "DRAM.port", 4), (starts[1], "DRAM.port", 8)]
    assert starts == [18, 26]
