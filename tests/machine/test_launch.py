"""Does an operator begin when it has been launched: the same events, so much later, told as waiting for issue?"""

from __future__ import annotations

from dataclasses import replace

from accelsim.analytic.estimate import estimate
from accelsim.drivers import Driver, Running
from accelsim.machine.simulate import simulate
from accelsim.measure.report import measure
from accelsim.plan.schedule import Schedule
from accelsim.recorder import RecordOptions
from accelsim.spec.case import Case
from accelsim.spec.read import Unmapped
from accelsim.stalls import Phase, StallCause
from accelsim.timeline import LaneKind
from accelsim.verbs import Options, ask, run

LAUNCH = 1000


def case(launch: int) -> Case:
    item = ask("toy", "gemm:m=8,n=8,k=8", Options(overrides=(f"chip.launch={launch} cycles",))).cases[0]
    assert not isinstance(item, Unmapped)
    return item


def test_everything_is_later_by_the_launch() -> None:
    plain, launched = simulate(Schedule(case(0))), simulate(Schedule(case(LAUNCH)))
    assert launched.cycles == plain.cycles + LAUNCH
    assert launched.first_starts == tuple(start + LAUNCH for start in plain.first_starts)
    array = next(number for number, lane in enumerate(plain.lanes) if lane.kind is LaneKind.ARRAY)
    waits = launched.stall_cycles(array)
    assert waits.pop((StallCause.ISSUE, Phase.START)) == LAUNCH
    assert waits == plain.stall_cycles(array)
    moved = launched.rows[launched.rows[:, 1] >= LAUNCH * 16].copy()
    moved[:, 1:3] -= LAUNCH * 16
    assert (moved == plain.rows).all()


def test_both_drivers_and_a_window_agree() -> None:
    window = RecordOptions(window=(LAUNCH - 1, LAUNCH + 20))
    one, other = (simulate(Schedule(case(LAUNCH)), window, running=Running(driver)) for driver in Driver)
    assert (one.rows == other.rows).all()
    assert len(one.rows) > 1


def test_the_estimate_has_it_in_every_bound() -> None:
    plain, launched = estimate(case(0)), estimate(case(LAUNCH))
    assert [bound.cycles for bound in launched.bounds] == [bound.cycles + LAUNCH for bound in plain.bounds]
    assert launched.cycles == plain.cycles + LAUNCH
    assert launched.steady_cycles == plain.steady_cycles
    report = measure(case(LAUNCH), simulate(Schedule(case(LAUNCH))), launched)
    assert report.crosscheck.traffic_differences == ()


def test_each_operator_pays_for_its_own() -> None:
    assert run("toy", "gemm:m=8,n=8,k=8", Options(overrides=("chip.launch=1 us",))).report.cycles == (
        run("toy", "gemm:m=8,n=8,k=8").report.cycles + int(replace(case(0)).chip.clock_hz / 10**6))
