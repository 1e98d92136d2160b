"""Two drivers, one meaning: the compiled one tells every event, row and number that the SimPy driver tells."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from accelsim.machine.compiled_driver import CompiledMachine
from accelsim.machine.simpy_driver import Machine
from accelsim.plan import walk
from accelsim.spec.case import Case
from accelsim.timeline import RecordOptions, Timeline

from ..helpers import brief, differing, run
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
