"""Roofs by hand, and no run above one."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from hypothesis import assume, given, settings

from accelsim.measure.roofline import Roof, roofline
from accelsim.spec.case import Case
from accelsim.verbs import Options
from accelsim.verbs import run as run_workload

from ..helpers import brief
from ..properties.strategies import MOST_STEPS, cases, steps_of, wide_cases
from .test_ladder import SLOW, report_of


def roofs_of(chip: str, workload: str, *overrides: str) -> dict[str, Roof]:
    (one,) = run_workload(chip, workload, Options(overrides=overrides)).report.done
    return {roof.name: roof for roof in roofline(one).roofs}


def test_one_tile_by_hand() -> None:
    (one,) = run_workload("toy", "gemm:m=4,n=4,k=4").report.done
    found = roofline(one)
    assert (found.macs_per_cycle, found.peak, found.peaks) == (Fraction(64, 312), 1, (("any", Fraction(1)),))
    dram, fill, drain, read, write = found.roofs
    # three tiles of 16 words of 4 bytes; SRAM is unlimited; the array reads A, B and all sums but the first ones
    assert dram == Roof("DRAM.port", "DRAM", Fraction(4), 3 * 64, 64)
    assert (dram.macs_per_byte, dram.macs_per_cycle) == (Fraction(1, 3), Fraction(4, 3))
    assert [(roof.name, roof.moved_bytes, roof.macs_per_cycle) for roof in (fill, drain, read, write)] == [
        ("SRAM.fill", 128, None), ("SRAM.drain", 64, None), ("SRAM.array_read", 4 * (64 + 64 + 48), None),
        ("SRAM.array_write", 4 * 64, None)]
    assert found.lowest is None  # 4/3 MACs per cycle are more than the peak


def test_the_lowest_roof_is_the_one_below_the_peak() -> None:
    (one,) = run_workload("toy", "gemm:m=4,n=4,k=4", Options(overrides=("chip.levels.DRAM.bandwidth=1 B/cycle",))).report.done
    assert roofline(one).lowest is not None
    assert (roofline(one).lowest.name, roofline(one).lowest.macs_per_cycle) == ("DRAM.port", Fraction(1, 3))


def test_what_is_rounded_to_granularity_counts() -> None:
    """Three tensors of 9 words, 36 bytes each, in one piece."""
    assert [roofs_of("toy", "gemm:m=3,n=3,k=3", f'chip.levels.DRAM.granularity="{size} B"')["DRAM.port"].moved_bytes
            for size in (1, 64)] == [3 * 36, 3 * 64]


def test_types_have_peaks_of_their_own() -> None:
    (one,) = run_workload("a100", "gemm:m=64,n=64,k=64,dtype=fp16").report.done
    peaks = dict(roofline(one).peaks)
    # NVIDIA A100 Tensor Core GPU Architecture, v1.0, table 1: INT8 is twice FP16, TF32 half of it
    assert peaks["int8"] == 2 * peaks["fp16"] == 4 * peaks["fp32"]
    assert roofline(one).peak == peaks["fp16"]


@settings(max_examples=100, deadline=None, suppress_health_check=SLOW)
@given(wide_cases())
def test_no_run_is_above_a_roof(case: Case) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    found = roofline(report_of(case))
    assert found.macs_per_cycle <= found.peak
    for roof in found.roofs:
        assert roof.macs_per_cycle is None or found.macs_per_cycle <= roof.macs_per_cycle, f"{roof}\n{brief(case)}"


@settings(max_examples=100, deadline=None, suppress_health_check=SLOW)
@given(cases(ports="apart"))
def test_a_ports_bytes_are_those_of_both_levels_tensors(case: Case) -> None:
    """One instance, no granularity: what enters a level has left the one outside it."""
    assume(steps_of(case) <= MOST_STEPS)
    one = report_of(case)
    expected: dict[str, int] = {}
    for tensor in case.operator.tensors:
        for outer, inner in pairwise(case.paths[tensor.name]):
            moved = one.levels.get(case.chip.names[inner], {}).get(tensor.name)
            for place in (outer, inner) if moved is not None else ():
                name = case.chip.names[place]
                expected[f"{name}.fill"] = expected.get(f"{name}.fill", 0) + moved.fill_bytes + moved.refill_bytes
                expected[f"{name}.drain"] = expected.get(f"{name}.drain", 0) + moved.drain_bytes
    levels = {f"{level.name}.{way}" for level in case.chip.levels for way in ("fill", "drain")}
    assert {name: size for name, size in one.port_bytes.items() if name in levels and size} == {
        name: size for name, size in expected.items() if name in levels and size}, brief(case)
