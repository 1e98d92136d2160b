"""What the claims with pictures measure: their tests and their page read the same numbers."""

from __future__ import annotations

from functools import cache
from itertools import pairwise, product
from math import log2

import numpy as np

from accelsim.machine.simulate import simulate
from accelsim.plan.schedule import Schedule
from accelsim.search.batch import KINDS, BatchEstimator
from accelsim.spec.build import make_case
from accelsim.spec.case import Case
from accelsim.spec.read import read_chip, read_workload
from accelsim.verbs import run
from validation.study.points import MAC, SHARED, Point, case_of, mapping_of

# -- 4: best traffic over capacity --------------------------------------------------------------------------------------

CROSSES = [KINDS.index(kind) for kind in ("fill_bytes", "drain_bytes", "refill_bytes")]
STAY = ((0, 1, 2), (0, 2, 1), (1, 2, 0))
"""Orders of m, n, k at the DRAM: the last one changes while outputs, inputs, weights stay."""
SIDES = (*range(1, 33), 37, 43, 64, 128)
CAPACITIES = (64, 128, 256, 512, 1024)
SIDE = 128


@cache
def best_traffic(n: int, words: int, *, cubes: bool = False) -> tuple[int, Case]:
    """Fewest words between DRAM and an SRAM of so many for n x n x n, over sides of tiles (or of cubes) and orders."""
    on = read_chip("toy", [f"chip.levels.SRAM.capacity={4 * words} B", "chip.levels.SRAM.buffers=1"])
    what, = read_workload(f"gemm:m={n},n={n},k={n}").operators
    space = BatchEstimator(on, what, mapping_of("DRAM m1 n1 k1 / SRAM m1 n1 k1"), [[*order, 3, 4, 5] for order in STAY[1:]])
    sides = [side for side in SIDES if side <= n]
    tiles = [(side,) * 3 for side in range(1, n + 1)] if cubes else list(product(sides, sides, sides))
    rows = np.array([[-(-n // side) for side in tile] + list(tile) for tile in tiles])
    found = []
    for order in range(len(STAY)):
        guess = space.estimate(rows, order)
        moved = np.where(guess.fits, guess.traffic[:, 1][:, :, CROSSES].sum(axis=(1, 2)) // 4, 1 << 60)
        least = int(moved.argmin())
        found.append((int(moved[least]), make_case(on, what, space.mapping([int(bound) for bound in rows[least]], order))))
    return min(found, key=lambda one: one[0])


# -- 9: off the target --------------------------------------------------------------------------------------------------

SWEPT = (("gemmini", "int8", "m", 128, "n=256,k=256"), ("gemmini", "int8", "n", 128, "m=256,k=256"),
         ("tpu-v1", "int8", "m", 512, "n=1024,k=1024"), ("tpu-v3", "bf16", "k", 512, "m=1024,n=512"),
         ("onnxim", "fp16", "m", 512, "n=512,k=512"), ("nvdla-small", "int8", "n", 64, "m=64,k=64"))


@cache
def off_target(name: str, dtype: str, dim: str, target: int, others: str) -> dict[int, float]:
    """Throughput over that at the target, as `auto` maps each, for 41 extents from a fifth to five times it, and the next one."""
    extents = sorted({round(target * 5 ** (step / 20)) for step in range(-20, 21)} | {target + 1})
    found = {}
    for extent in extents:
        done, = run(name, f"gemm:{dim}={extent},{others},dtype={dtype}").report.done
        found[extent] = done.utilization
    return {extent: value / found[target] for extent, value in found.items()}


def largest_drop(shares: dict[int, float]) -> tuple[float, int]:
    """The largest loss from one extent of a sweep to the next, as a share, and the extent after it."""
    extents = sorted(shares)
    drops = [(1 - shares[after] / shares[before], after) for before, after in pairwise(extents)]
    return max(drops)


@cache
def in_one_pass(rows: int) -> float:
    """Utilization of tpu-v1 on so many rows times 1024 x 1024, all rows past each tile of weights at once."""
    case = case_of(Point("", "", "tpu-v1", f"gemm:m={rows},n=1024,k=1024,dtype=int8",
                         f"MEM n4 k4 / STAGE / MXU bind=B m{rows} x=n256 y=k256"))
    return float(case.operator.macs / (case.peak_macs_per_cycle * simulate(Schedule(case)).cycles))


# -- 23: what binds -----------------------------------------------------------------------------------------------------

BASE = {"array": 16, "dram": 8, "latency": 64, "slots": 2, "sram": 512}
"""MACs a cycle, bytes a cycle from the DRAM, its latency in cycles, slots, bytes a cycle from the SRAM to the array."""
BETTER = {"array": 2.0, "dram": 2.0, "latency": 0.5, "slots": 2.0, "sram": 2.0}


@cache
def cycles(array: int, dram: int, latency: int, slots: int, sram: int) -> int:
    """Of 64 x 64 x 128 in tiles of 4 x 4 x 32."""
    deep = array // 16
    ports = (f"[{{name: dma, serves: [fill, drain], bandwidth: unlimited}}, "
             f"{{name: operands, serves: [array_read, array_write], bandwidth: {sram} B/cycle}}]")
    point = Point("", "", "toy", "gemm:m=64,n=64,k=128", f"DRAM m* n* k* / SRAM m4 n4 k{32 // deep} / MAC x=n4 y=m4 z=k{deep}", (
        f"{MAC}={{model: matrix, pes: {{x: 4, y: 4, z: {deep}}}}}", f"chip.levels.DRAM.bandwidth={dram} B/cycle",
        f"chip.levels.DRAM.latency={latency} cycles", f"chip.levels.DRAM.ports={SHARED}", f"chip.levels.SRAM.ports={ports}",
        f"chip.levels.SRAM.buffers={slots}"))
    return simulate(Schedule(case_of(point))).cycles


def elasticities(**given: int) -> dict[str, float]:
    """By how many doublings the run shortens when a resource is doubled (a latency halved)."""
    have = BASE | given
    return {name: log2(cycles(**have) / cycles(**have | {name: int(have[name] * factor)})) for name, factor in BETTER.items()}
