"""Claims 1, 2, 3 and 6: what one mapping moves and how long it takes, against another of the same product.

All on ``toy`` with some values replaced, as ``accelsim run toy WORKLOAD MAPPING -o chip.PATH=VALUE`` does. Words have 4 bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from accelsim.machine.simulate import simulate
from accelsim.plan.schedule import Schedule
from validation.study.points import MAC, Point, case_of

WORD = 4
FREE = ("chip.levels.DRAM.latency=0 cycles", "chip.levels.SRAM.capacity=unlimited")


@dataclass(frozen=True)
class Ran:
    """A product that was simulated: MACs, cycles, and bytes across the DRAM's border: all, filled, refilled and drained."""

    macs: int
    cycles: int
    moved: int
    filled: int
    refilled: int
    drained: int

    @property
    def intensity(self) -> Fraction:
        """Operations, two a MAC, for each byte across the border of the DRAM."""
        return Fraction(2 * self.macs, self.moved)


def ran(workload: str, mapping: str, *overrides: str) -> Ran:
    """Simulate a mapping on `toy`. A level that holds nothing is passed by: the array then asks the DRAM itself."""
    case = case_of(Point("", "", "toy", workload, mapping, (*FREE, *overrides)))
    found = simulate(Schedule(case))
    inner = [one for (level, _), one in found.traffic.items() if level == "SRAM"]
    bare = [one for (level, _), one in found.traffic.items() if level == "DRAM"]
    filled, refilled, drained = (sum(getattr(one, f"{kind}_bytes") for one in inner) for kind in ("fill", "refill", "drain"))
    asked = sum(one.array_read_bytes + one.array_write_bytes for one in bare)
    return Ran(case.operator.macs, found.cycles, filled + refilled + drained + asked, filled, refilled, drained)


# -- 1: intensity belongs to the mapping --------------------------------------------------------------------------------

PEAK_TFLOPS, DRAM_TB_S = 494.7, 3.352
"""H100 SXM5: TF32, 989.4 TFLOP/s with sparsity, without it half of that; 5 stacks of HBM3 (NVIDIA, H100 datasheet, 2023)."""
BALANCED = f"{2 * DRAM_TB_S / PEAK_TFLOPS:.5f} B/cycle"
"""For one MAC a cycle as many bytes as that chip has."""
NOTHING, ALL = "DRAM m* n* k* / SRAM bind=", "DRAM / SRAM m* n* k*"
ROOFED = 1024
TILES = (8, 32, 128)


def tiled(side: int) -> str:
    """The mapping of square tiles of a side, outputs stationary."""
    return f"DRAM m* n* k* / SRAM m{side} n{side} k{side}"


@cache
def square(n: int, mapping: str) -> Ran:
    """A square product of side n, one MAC a cycle, with the balance of an H100. Sums are added where they are, the DRAM too."""
    return ran(f"gemm:m={n},n={n},k={n}", mapping, "chip.levels.DRAM.accumulate=true", f"chip.levels.DRAM.bandwidth={BALANCED}")


# -- 2 and 3: permutation decides reuse ---------------------------------------------------------------------------------

TILE, DEEP = 4, 8
ORDERS = {"outputs": "m* n* k*", "inputs": "m* k* n*", "weights": "n* k* m*"}
"""What stays, and the order in which tiles of 4 x 4 outputs, 8 deep, come from the DRAM."""
OUTERMOST = "k* m* n*"
NARROW, AREA = 8, 4096
LENGTHS = (16, 32, 64, 128, 256, 512)
REDUCED = (12, 20)
DEPTHS = (8, 16, 32, 64, 96, 128)


@cache
def permuted(order: str, m: int, n: int, k: int) -> Ran:
    """A product by tiles of 4 x 4 x 8 in an order of the three loops."""
    return ran(f"gemm:m={m},n={n},k={k}", f"DRAM {order} / SRAM / MAC x=n{TILE} y=m{TILE} z=k{DEEP}",
               f"{MAC}={{model: spatial, pes: {{x: {TILE}, y: {TILE}, z: {DEEP}}}}}")


def swept(many: str) -> list[tuple[int, int, int]]:
    """Products of one size, from a reduction of 16 to one of 512, with many rows ("m") or many columns ("n")."""
    return [(NARROW if many == "n" else AREA // k, NARROW if many == "m" else AREA // k, k) for k in LENGTHS]


# -- 6: double buffering is capacity spent on latency -------------------------------------------------------------------

APART = ("chip.levels.DRAM.ports=[{name: fill, serves: [fill]}, {name: drain, serves: [drain]}, "
         "{name: array, serves: [array_read, array_write], bandwidth: unlimited}]")
STREAM_RATES = ("0.5", "1", "2", "4", "8", "16", "32")
BLOCK_RATES = ("0.05", "0.1", "0.2", "0.3", "0.4", "0.5", "0.7", "1", "2", "4")


@cache
def streamed(rows: int, buffers: int, rate: str = "4") -> int:
    """Cycles of a product whose rows come eight by eight: 256 B to load and 64 MACs each, one a cycle; the vector and results
    have room.
    """
    return ran(f"gemm:m={rows},n=1,k=8", "DRAM m* / SRAM m8 k*", APART, f"chip.levels.DRAM.bandwidth={rate} B/cycle",
               f"chip.levels.SRAM.buffers={{A: {buffers}, B: 1, C: 2}}").cycles


def period(buffers: int, rate: str) -> Fraction:
    """Cycles that one tile more takes, in the middle of the stream."""
    return Fraction(streamed(240, buffers, rate) - streamed(160, buffers, rate), 10)


@cache
def blocked(rows: int, buffers: int, rate: str) -> int:
    """Cycles of 64 x 64 x 32 that holds so many rows of its left operand, whole, while its right one comes past once for each."""
    return ran("gemm:m=64,n=64,k=32", f"DRAM m* n* / SRAM m{rows} n8 k*", APART, f"chip.levels.DRAM.bandwidth={rate} B/cycle",
               f"chip.levels.SRAM.buffers={{A: {buffers}, B: 2, C: 2}}").cycles
