"""Two drivers, one meaning: the compiled one tells every event, row and number that the SimPy driver tells."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from accelsim.machine.compiled_driver import CompiledMachine
from accelsim.machine.simpy_driver import Machine
from accelsim.plan import walk
from accelsim.recorder import RecordOptions
from accelsim.spec.case import Case
from accelsim.timeline import Timeline

from ..helpers import brief, chip, differing, entry, level, make, operator, run, systolic
from ..properties.strategies import MOST_STEPS, cases, steps_of, wide_cases

SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


def same(one: Timeline, other: Timeline, case: Case) -> None:
    """Every number of two records of a case."""
    field = differing(one, other)
    assert not field, f"{field}\n{brief(case)}"


def compare(case: Case, options: RecordOptions | None = None) -> None:
    right = run(case, options, Machine)
    ran = run(case, options, CompiledMachine)
    assert ran.log == right.log, brief(case)
    assert ran.machine.events == right.machine.events, brief(case)
    same(ran.timeline, right.timeline, case)


@settings(max_examples=1000, deadline=None, suppress_health_check=SLOW)
@given(cases())
def test_one_instance(case: Case) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    compare(case)


@settings(max_examples=1000, deadline=None, suppress_health_check=SLOW)
@given(wide_cases())
def test_several_instances(case: Case) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    compare(case)


@settings(max_examples=150, deadline=None, suppress_health_check=SLOW)
@given(wide_cases(), st.integers(1, 5))
def test_in_how_large_pieces_the_plan_is_read_does_not_matter(case: Case, rows: int) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    right = run(case)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk, "ROWS", rows)
        ran = run(case, None, CompiledMachine)
    assert ran.log == right.log, brief(case)
    same(ran.timeline, right.timeline, case)


def test_results_that_leave_when_others_have_taken_an_inputs_record() -> None:
    """An input is done with at the end of a step, its record in the compiled driver free for another tile: here for the output's,
    three cycles before the step's results leave.
    """
    on = chip([level(name, accumulate=True) for name in ("DRAM", "L1", "L2", "L3")], systolic(1, 1, depth_cycles=3))
    case = make(on, operator("conv1d", n=1, k=2, c=2, p=2, r=2), entry("DRAM", "k2 p2 c2 r2", "I W O"),
                entry("L1", "", "I", {"I": 1}), entry("L2", "", "W", {"W": 1}), entry("L3", "", "W O", {"W": 1, "O": 2}))
    compare(case)
    assert run(case, None, CompiledMachine).cycles == 16 + 3


@pytest.mark.nightly
@settings(max_examples=50_000, deadline=None, suppress_health_check=SLOW, derandomize=False)
@given(cases())
def test_one_instance_many_times(case: Case) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    compare(case)


@pytest.mark.nightly
@settings(max_examples=50_000, deadline=None, suppress_health_check=SLOW, derandomize=False)
@given(wide_cases())
def test_several_instances_many_times(case: Case) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    compare(case)


@settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
@given(wide_cases())
def test_windows_and_files(tmp_path_factory: pytest.TempPathFactory, case: Case) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    options = RecordOptions(window=(50, 400), most_rows=200, bins=16)
    compare(case, options)
    folder: Path = tmp_path_factory.mktemp("runs")
    run(case, options, Machine).timeline.save(folder / "one")
    run(case, options, CompiledMachine).timeline.save(folder / "other")
    same(Timeline.load(folder / "one"), Timeline.load(folder / "other"), case)
