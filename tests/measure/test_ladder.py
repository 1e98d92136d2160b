"""From peak to delivered: by hand, and the product is the utilization for whatever case."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import prod

from hypothesis import HealthCheck, assume, given, settings

from accelsim.analytic.estimate import estimate
from accelsim.machine.simulate import simulate
from accelsim.measure.ladder import LOSS_OF, Loss, ladder
from accelsim.measure.report import OperatorReport, measure
from accelsim.plan.schedule import Schedule
from accelsim.spec.case import Case
from accelsim.stalls import StallCause
from accelsim.verbs import run as run_workload

from ..helpers import brief
from ..properties.strategies import MOST_STEPS, cases, steps_of, wide_cases

SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
TILE = "gemm:m=4,n=4,k=4"


def report_of(case: Case) -> OperatorReport:
    return measure(case, simulate(Schedule(case)), estimate(case))


def one_tile() -> OperatorReport:
    """DESIGN section 3: A 0-16-116, B 16-32-132, compute 132-196, C drains 196-212-312."""
    (one,) = run_workload("toy", TILE).report.done
    return one


def test_one_tile_by_hand() -> None:
    one = one_tile()
    factors = {rung.loss: rung.factor for rung in ladder([one])}
    assert one.cycles == 312
    # of the 248 cycles without a MAC 32 are B's and C's service, 200 their latency, and in 16 B waits behind A
    assert factors == dict.fromkeys(Loss, Fraction(1)) | {
        Loss.BANDWIDTH: Fraction(64, 96), Loss.LATENCY: Fraction(96, 296), Loss.CONTENTION: Fraction(296, 312)}
    assert ladder([one])[-1].delivered == Fraction(64, 312)


def test_operators_one_after_another_weigh_as_they_repeat() -> None:
    """Three tiles of 312 cycles and one of m = 1: the product is that of the workload, MACs over peak and cycles."""
    one, (thin,) = one_tile(), run_workload("toy", "gemm:m=1,n=4,k=4").report.done
    rungs = ladder([replace(one, repeat=3), thin])
    assert rungs[-1].delivered == Fraction(3 * 64 + 16, 3 * 312 + thin.cycles)
    assert prod(rung.factor for rung in rungs) == rungs[-1].delivered


@settings(max_examples=100, deadline=None, suppress_health_check=SLOW)
@given(wide_cases())
def test_the_product_is_the_utilization(case: Case) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    one = report_of(case)
    product = prod(rung.factor for rung in ladder([one]))
    assert product == Fraction(one.macs) / (case.peak_macs_per_cycle * one.cycles), brief(case)
    assert all(0 < rung.factor <= 1 for rung in ladder([one]))
    assert [rung.loss for rung in ladder([one])] == list(Loss)


@settings(max_examples=50, deadline=None, suppress_health_check=SLOW)
@given(cases())
def test_what_the_shape_leaves_is_no_matter_of_the_memories(case: Case) -> None:
    """Useful MACs over the MACs that the PEs could have done while steps ran."""
    assume(steps_of(case) <= MOST_STEPS)
    one = report_of(case)
    assert ladder([one])[0].factor == Fraction(one.pe_cycles.useful, one.pe_cycles.useful + one.pe_cycles.shape)


def test_every_cause_is_some_loss() -> None:
    assert set(LOSS_OF) == set(StallCause)
    assert {Loss.SHAPE, Loss.PORTS, Loss.IDLE} == set(Loss) - set(LOSS_OF.values())
