"""Every shipped chip runs every shipped workload that it has the types for; the two headline runs agree end to end."""

from __future__ import annotations

import pytest

from accelsim.errors import SpecError
from accelsim.spec.read import Unmapped, shipped
from accelsim.verbs import Options, estimates, run

MOST_STEPS = 12_000
"""Of an operator that is run here; the smallest of nvdla-small, whose accumulators hold 128 sums, is near it."""
HEADLINES = (("tpu-v1", "resnet50"), ("eyeriss", "alexnet"))


@pytest.mark.parametrize("workload", sorted(shipped("workloads")))
@pytest.mark.parametrize("chip", sorted(shipped("chips")))
def test_every_operator_is_estimated_or_refused_with_a_reason(chip: str, workload: str) -> None:
    asked, items = estimates(chip, workload, Options())
    for item in items:
        if isinstance(item, Unmapped):
            assert isinstance(item.error, SpecError) or item.error.exit_code == 3
            assert all(fault.message for fault in item.error.faults)
        else:
            case, guess = item
            assert guess.macs == case.operator.macs
            assert guess.cycles >= guess.array_busy_cycles > 0
    assert len(asked.cases) == len(asked.workload.operators)


@pytest.mark.parametrize("chip", sorted(shipped("chips")))
def test_the_smallest_operators_of_the_shipped_workloads_agree(chip: str) -> None:
    """Simulated traffic = estimated traffic, and no bound is beaten (run raises if one is)."""
    ran = 0
    for workload in sorted(shipped("workloads")):
        _, items = estimates(chip, workload, Options())
        sizes = [item[1].steps + item[1].transfers for item in items if not isinstance(item, Unmapped)]
        if not sizes or min(sizes) > MOST_STEPS:
            continue
        for one in run(chip, workload, Options(most_steps=min(sizes))).report.done:
            assert one.crosscheck.traffic_differences == (), (workload, one.name)
            assert one.pe_cycles.total == one.cycles * one.case.chip.array.pe_count * one.case.chip.arrays
            assert one.crosscheck.bound is not None
            assert sum(cycles for _, cycles in one.crosscheck.waterfall) + one.crosscheck.bound.cycles == one.cycles
            ran += 1
    assert ran > 0


@pytest.mark.parametrize(("chip", "workload"), HEADLINES)
def test_headline_runs_agree_end_to_end(chip: str, workload: str) -> None:
    report = run(chip, workload).report
    assert not report.failed
    assert len(report.done) == len(report.operators)
    assert all(one.crosscheck.traffic_differences == () for one in report.done)
    assert abs(report.cycles - report.estimated_cycles) <= 0.35 * report.cycles
    assert report.macs == sum(one.case.operator.macs * one.repeat for one in report.done)
