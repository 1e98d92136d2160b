"""Claims 8 and 10: arrays on work that does not have their shape. Memory costs nothing: what is left is the array."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from accelsim.machine.simulate import simulate
from accelsim.plan.schedule import Schedule
from validation.study.points import MAC, Point, case_of, free, systolic


@dataclass(frozen=True)
class Used:
    """Cycles of a product and the share of the array's MACs that were its own."""

    cycles: int
    utilization: float


def used(workload: str, mapping: str, *overrides: str) -> Used:
    """Simulate a mapping on `toy` with another array."""
    case = case_of(Point("", "", "toy", workload, mapping, free(*overrides, "chip.levels.DRAM.bandwidth=unlimited")))
    cycles = simulate(Schedule(case)).cycles
    return Used(cycles, float(case.operator.macs / (case.peak_macs_per_cycle * cycles)))


# -- 8: an array fills only if the work fills it ------------------------------------------------------------------------

ARRAYS = (128, 256)
ROWS = (1, 4, 16, 64, 256, 1024, 4096)
WIDTHS = (1, 4, 16, 64, 128, 256, 512, 1024)
LONG, DEEP = 4096, 1024
WORK = (("matrix times vector", 1, 1024, 1024), ("expert of 64 columns, 16 rows", 16, 64, 1024), ("batch of 32", 32, 1024, 1024),
        ("attention head of 64, scores", 1024, 1024, 64), ("square", 1024, 1024, 1024), ("long", 4096, 1024, 1024))
"""Name, rows, columns and reduction."""
DEPTHWISE = "depthwise 3 x 3, 64 of 28 x 28"


@cache
def weighted(side: int, m: int, n: int, k: int) -> Used:
    """A product on a square array in which weights stay; they are loaded between passes."""
    return used(f"gemm:m={m},n={n},k={k},dtype=int8",
                f"DRAM / SRAM n{-(-n // side)} k{-(-k // side)} / MAC bind=B m{m} x=n{min(n, side)} y=k{min(k, side)}",
                systolic(side, 1))


@cache
def depthwise(side: int) -> Used:
    """A channel at a time: nine rows of one column, since channels are not summed up."""
    return used("depthwise2d:n=1,c=64,p=28,q=28,r=3,s=3,dtype=int8", "DRAM / SRAM c64 / MAC bind=W p28 q28 y=rs9",
                systolic(side, 1))


# -- 10: peak says little -----------------------------------------------------------------------------------------------

UNITS = ((4, 1), (8, 8), (16, 64))
"""Sides of cubes, and cycles from one to the next: 64 MACs a cycle each."""
NARROW = tuple(range(1, 34))
LAGS = (0, 4, 8, 16, 32, 64, 128)
SLOTS = (1, 2, 4)
REDUCED = 64


@cache
def native(side: int, interval: int, m: int, n: int, k: int) -> Used:
    """A product on a unit that takes a cube of a side every so many cycles."""
    folds = [-(-extent // side) for extent in (m, n, k)]
    return used(f"gemm:m={m},n={n},k={k}", f"DRAM / SRAM m{folds[0]} n{folds[1]} k{folds[2]} / MAC "
                f"x=n{min(n, side)} y=m{min(m, side)} z=k{min(k, side)}",
                f"{MAC}={{model: matrix, pes: {{x: {side}, y: {side}, z: {side}}}, interval: {interval} cycles}}")


@cache
def lagging(depth: int, slots: int) -> Fraction:
    """Cycles that a tile of 4 x 4 outputs takes, of a reduction of 64 in steps of 4, when results are there only so many cycles
    after their last step, and outputs have so many slots.
    """
    cycles = [used(f"gemm:m={4 * tiles},n=4,k={REDUCED}", "DRAM m* / SRAM k* / MAC x=n4 y=m4 z=k4",
                   f"{MAC}={{model: matrix, pes: {{x: 4, y: 4, z: 4}}, depth: {depth} cycles}}",
                   f"chip.levels.SRAM.buffers={{A: 2, B: 2, C: {slots}}}").cycles for tiles in (16, 32)]
    return Fraction(cycles[1] - cycles[0], 16)
