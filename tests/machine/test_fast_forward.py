"""Is a run that adds its periods the run that simulates every step? And does it find them?"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from accelsim.drivers import Driver, Running
from accelsim.machine import fast_forward
from accelsim.machine.simulate import simulate
from accelsim.plan import walk
from accelsim.plan.schedule import Schedule
from accelsim.recorder import RecordOptions
from accelsim.spec.case import Case
from accelsim.spec.chip import ArrayModel, Multicast
from accelsim.timeline import Period, Skipped, Timeline

from ..helpers import array, chip, custom, entry, gemm, level, link, make
from ..properties.strategies import MOST_STEPS, cases, steps_of, wide_cases
from .test_drivers import same

SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


def compare(case: Case, options: RecordOptions | None = None) -> Timeline:
    """Run a case in both ways; every number of the two records is the same.

    It is looked at every iteration, and jumped for the sake of a single step, so that short runs show what long ones do.
    """
    full = simulate(Schedule(case), options, running=Running(fast_forward=False))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fast_forward, "APART", 1)
        patch.setattr(fast_forward, "WORTH", 1)
        patch.setattr(fast_forward, "ALLOWED", 1 << 40)
        forward = simulate(Schedule(case), options)
    same(full, dataclasses.replace(forward, skipped=full.skipped), case)
    return forward


@settings(max_examples=300, deadline=None, suppress_health_check=SLOW)
@given(cases(long=True))
def test_one_instance(case: Case) -> None:
    assume(steps_of(case) <= 60 * MOST_STEPS)
    compare(case)


@settings(max_examples=300, deadline=None, suppress_health_check=SLOW)
@given(wide_cases(long=True))
def test_several_instances(case: Case) -> None:
    assume(steps_of(case) <= 60 * MOST_STEPS)
    compare(case)


@settings(max_examples=50, deadline=None, suppress_health_check=SLOW)
@given(wide_cases(long=True), st.integers(0, 20_000), st.integers(1, 20_000), st.sampled_from([0, 50, 2000]),
       st.sampled_from([2, 16, 256]))
def test_windows_rows_and_bins(case: Case, first: int, length: int, rows: int, bins: int) -> None:
    assume(steps_of(case) <= 20 * MOST_STEPS)
    compare(case, RecordOptions((first, first + length), rows, bins))
    compare(case, RecordOptions(None, rows, bins))


@settings(max_examples=30, deadline=None, suppress_health_check=SLOW)
@given(wide_cases(long=True), st.integers(1, 5))
def test_in_how_large_pieces_the_plan_is_read_does_not_matter(case: Case, rows: int) -> None:
    assume(steps_of(case) <= 20 * MOST_STEPS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk, "ROWS", rows)
        compare(case)


def test_padding_that_the_array_alone_meets() -> None:
    """X[a + b + c - 2] lies where the array reads it, and nothing moves: of 144 reads the 4 for a + b + c < 2 fall away, twice.

    The tiles are alike from a = 2 on, and no earlier.
    """
    what = custom({"a": 6, "b": 2, "c": 6, "d": 2}, "Z", extents={"X": [10, 2]},
                  X=["a + b + c - 2", "d"], Y=["a"], Z=["a", "b"])
    case = make(chip([level("DRAM"), level("L1", accumulate=True)]), what, entry("DRAM", "a6 b2 d2 c6", "Y Z"),
                entry("L1", "", "X"))
    forward = compare(case)
    assert forward.traffic["L1", "X"].array_read_bytes == 4 * (144 - 2 * 4)
    assert {period.loop: period.times for period in forward.skipped.periods}["a at DRAM"] == 1


@pytest.mark.nightly
@settings(max_examples=20_000, deadline=None, suppress_health_check=SLOW, derandomize=False)
@given(cases(long=True))
def test_one_instance_many_times(case: Case) -> None:
    assume(steps_of(case) <= 60 * MOST_STEPS)
    compare(case)


@pytest.mark.nightly
@settings(max_examples=20_000, deadline=None, suppress_health_check=SLOW, derandomize=False)
@given(wide_cases(long=True))
def test_several_instances_many_times(case: Case) -> None:
    assume(steps_of(case) <= 60 * MOST_STEPS)
    compare(case)


# -- what it finds ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("buffers", "cycles"), [(1, 180), (2, 90), (3, 64)])
def test_the_period_is_that_of_the_credit_loop(buffers: int, cycles: int) -> None:
    """Tiles of 64 B at 4 B/cycle (H 16), latency 100, 64 cycles of computing each: max(H, C, (H + T + C) / b)."""
    on = chip([level("DRAM", 4, 100), level("SRAM")])
    what = custom({"a": 64, "b": 16, "c": 4}, "Z", X=["a", "b"], Y=["c"], Z=["b", "c"])
    case = make(on, what, entry("DRAM", "a64", "X"), entry("SRAM", "b16 c4", "X Y Z", {"X": buffers}))
    found = compare(case).skipped
    (period,) = found.periods
    assert period.loop == "a at DRAM"
    assert period.cycles == cycles * period.iterations
    assert found.steps == period.iterations * period.times > 40


def test_every_loop_is_found_and_most_of_a_run_added() -> None:
    """m and n settle, and what is left is a few iterations of each."""
    on = chip([level("DRAM", 4, 100, ports="shared"), level("L1", 16, 2)])
    case = make(on, gemm(160, 160, 160), entry("DRAM", "m20 n20 k20"), entry("L1", "m8 n8 k8"))
    found = compare(case).skipped
    assert {period.loop for period in found.periods} >= {"m at DRAM", "n at DRAM"}
    assert found.steps > 0.9 * 20**3


def test_a_window_is_jumped_to_and_from() -> None:
    """A window of 1,000 cycles in the middle: what is before it and behind it is added, what is in it is written down."""
    on = chip([level("DRAM", 4, 100), level("L1")])
    case = make(on, gemm(4096, 4, 4), entry("DRAM", "m1024"), entry("L1", "m4 n4 k4"))
    cycles = compare(case).cycles
    found = compare(case, RecordOptions((cycles // 2, cycles // 2 + 1000)))
    assert 0 < len(found.rows) < 100
    assert found.skipped.steps > 900


def test_padded_windows_slide_between_the_edges() -> None:
    """Only the first and last tiles of p meet padding; those between repeat."""
    on = chip([level("DRAM", 1, 20), level("L1")])
    what = custom({"p": 60, "r": 3, "k": 2}, "O", extents={"I": [60]}, I=["p + r - 1"], W=["k", "r"], O=["k", "p"])
    found = compare(make(on, what, entry("DRAM", "p30"), entry("L1", "k2 r3 p2"))).skipped
    assert found.steps > 15


@pytest.mark.parametrize("lockstep", [False, True])
def test_cores_with_equal_work_repeat_together(lockstep: bool) -> None:
    on = chip([level("DRAM", 4, 30), level("L1", fanout=(("x", 4),), lockstep=lockstep)], array(lockstep=lockstep))
    found = compare(make(on, gemm(128, 8, 4), entry("DRAM", "m16", x="m4"), entry("L1", "m2 n8 k4"))).skipped
    assert found.steps > 4


def test_cores_with_unequal_work_drift_and_are_simulated() -> None:
    """The second core has half the columns: it runs ahead of the first, ever further, and no state comes back."""
    on = chip([level("DRAM"), level("L1", fanout=(("x", 2),))])
    found = compare(make(on, gemm(64, 3, 4), entry("DRAM", "m64", "A B C", x="n2"), entry("L1", "n2 k4"))).skipped
    assert found == Skipped()


def test_what_cannot_be_looked_at_is_said() -> None:
    on = chip([level("DRAM"), level("L1", fanout=(("x", 2),))],
              links=(link("DRAM", "L1", tensors=frozenset("A"), multicast=Multicast.EQUAL),))
    case = make(on, gemm(64, 4, 4), entry("DRAM", "m64", x="n2"), entry("L1", "n2 k4"))
    assert compare(case).skipped == Skipped(note="cores share transfers")
    assert simulate(Schedule(case), running=Running(Driver.SIMPY)).skipped.note == "the SimPy driver runs every step"
    assert simulate(Schedule(case), running=Running(fast_forward=False)).skipped.note == "not asked for"


def test_a_systolic_array_with_preloads_repeats() -> None:
    on = chip([level("DRAM", 16, 50), level("L1", 32)], array((("x", 4), ("y", 4)), model=ArrayModel.SYSTOLIC, buffers=2))
    case = make(on, gemm(8, 256, 4), entry("DRAM", "n64"), entry("L1", "", "A B C"), entry("PE", "m8", "B", x="n4", y="k4"))
    assert compare(case).skipped.steps > 30


def test_periods_are_kept_with_the_record(tmp_path: Path) -> None:
    on = chip([level("DRAM", 4, 100), level("L1")])
    found = compare(make(on, gemm(256, 4, 4), entry("DRAM", "m64"), entry("L1", "m4 n4 k4")))
    assert found.skipped.periods
    assert all(isinstance(period, Period) for period in found.skipped.periods)
    path = tmp_path / "run.npz"
    found.save(path)
    assert Timeline.load(path).skipped == found.skipped

