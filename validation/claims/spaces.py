"""Claims 5 and 7: whole mapspaces of ``toy3``, its register file made small. All are estimated; what is chosen is simulated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations, product
from math import factorial

import numpy as np
from numpy.typing import NDArray

from accelsim.machine.simulate import simulate
from accelsim.plan.schedule import Schedule
from accelsim.search.batch import BatchEstimate, BatchEstimator
from accelsim.spec.build import make_case
from accelsim.spec.read import read_chip, read_workload
from validation.claims.measures import CROSSES
from validation.study.points import mapping_of

LEVELS = ("DRAM", "SRAM", "RF")
OUTER, INNER = 1, 2
"""The borders: between DRAM and SRAM, between SRAM and register file."""


def divided(extent: int, parts: int) -> list[tuple[int, ...]]:
    """All ways to write an extent as a product of so many factors, in order."""
    if parts == 1:
        return [(extent,)]
    return [(first, *rest) for first in range(1, extent + 1) if extent % first == 0
            for rest in divided(extent // first, parts - 1)]


def tilings(extents: Sequence[int]) -> NDArray[np.int64]:
    """All of them: a row of factors each, those of one level side by side, outermost first."""
    return np.array([[factors[place] for place in range(len(LEVELS)) for factors in chosen]
                     for chosen in product(*(divided(extent, len(LEVELS)) for extent in extents))])


def space(workload: str, sram: int, registers: int, orders: Sequence[Sequence[int]]) -> BatchEstimator:
    """The mapspace of a workload's operator, with so many bytes in SRAM and register file; ``orders``: besides the first."""
    on = read_chip("toy3", ["chip.levels.DRAM.bandwidth=2 B/cycle", "chip.levels.DRAM.latency=20 cycles",
                            f"chip.levels.SRAM.capacity={sram} B", "chip.levels.SRAM.bandwidth=4 B/cycle",
                            f"chip.levels.RF.capacity={registers} B"])
    what, = read_workload(workload).operators
    ones = " ".join(f"{dim}1" for dim in what.dims)
    return BatchEstimator(on, what, mapping_of(" / ".join(f"{level} {ones}" for level in LEVELS)), orders)


def crossing(guess: BatchEstimate) -> NDArray[np.int64]:
    """Bytes across each level's outer border, both ways, a row for each mapping."""
    found: NDArray[np.int64] = guess.traffic[:, :, :, CROSSES].sum(axis=(2, 3))
    return found


# -- 5: levels cannot be tiled independently ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Chosen:
    """A mapping that a search ended with: bytes across both borders, cycles as simulated, and what it is."""

    outer: int
    inner: int
    cycles: int
    mapping: str


@cache
def greedy_and_joint(n: int = 16) -> tuple[int, dict[str, Chosen]]:
    """How many mappings of n x n x n fit, over all factors and orders, and which one is found by cycles, by the traffic of the
    outer border and then the inner, and by that of the inner and then the outer.
    """
    loops = list(permutations(range(3)))
    orders = [[*outer, *(3 + place for place in inner), 6, 7, 8] for outer in loops for inner in loops]
    every = space(f"gemm:m={n},n={n},k={n}", 4 * 96, 4 * 24, orders[1:])
    rows = tilings((n, n, n))
    found: list[tuple[int, int, int, int, int]] = []
    for order in range(len(orders)):
        guess = every.estimate(rows, order)
        moved = crossing(guess)
        found += [(int(moved[row, OUTER]), int(moved[row, INNER]), int(guess.cycles[row]), int(row), order)
                  for row in np.flatnonzero(guess.fits)]

    def run(one: tuple[int, int, int, int, int]) -> Chosen:
        outer, inner, _, row, order = one
        mapping = every.mapping([int(bound) for bound in rows[row]], order)
        what = " / ".join(f"{level.level} " + " ".join(f"{loop.dims[0]}{loop.bound}" for loop in level.loops if loop.bound != 1)
                          for level in mapping.levels[:len(LEVELS)])
        return Chosen(outer, inner, simulate(Schedule(make_case(every.space.chip, every.space.operator, mapping))).cycles, what)
    return len(found), {"both at once": run(min(found, key=lambda one: one[2])),
                        "outer border first": run(min(found)),
                        "inner border first": run(min(found, key=lambda one: (one[1], one[0], one[2])))}


# -- 7: the mapspace is huge and mostly illegal or equivalent -----------------------------------------------------------

CONVOLUTION = {"n": 2, "k": 4, "c": 4, "p": 4, "q": 4, "r": 3, "s": 3}
ONE_TILING = (2, 2, 2, 2, 2, 3, 3, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1, 2, 1, 1)
"""Every loop of the outermost level runs."""


def convolution(orders: Sequence[Sequence[int]] = ()) -> BatchEstimator:
    """The mapspace of a small convolution of seven loops."""
    extents = ",".join(f"{dim}={extent}" for dim, extent in CONVOLUTION.items())
    return space(f"conv2d:{extents}", 512, 96, orders)


@dataclass(frozen=True)
class Counts:
    """How many mappings there are, and what is left of them.

    ``tilings``, ``orders`` (of three levels), ``spatial`` (dimensions for two axes of an array), ``bindings`` (of three tensors
    at two levels) multiply. ``run``: tilings and orders of loops that run. ``fit``: of these, those that fit. ``fitting``:
    tilings that fit. ``undominated``: of these in one order, by cycles and traffic of both borders.
    """

    tilings: int
    orders: int
    spatial: int
    bindings: int
    legal: int
    run: int
    fit: int
    fitting: int
    undominated: int


@cache
def counted() -> Counts:
    """Of the convolution."""
    loops = len(CONVOLUTION)
    rows = tilings(tuple(CONVOLUTION.values()))
    guess = convolution().estimate(rows)
    turning = (rows.reshape(len(rows), len(LEVELS), loops) > 1).sum(axis=2)
    ways = np.array([factorial(count) for count in range(loops + 1)])[turning].prod(axis=1)
    costs = np.unique(np.column_stack([guess.cycles, crossing(guess)[:, [OUTER, INNER]]])[guess.fits], axis=0)
    best = sum(not ((costs <= cost).all(axis=1) & (costs < cost).any(axis=1)).any() for cost in costs)
    return Counts(len(rows), factorial(loops) ** len(LEVELS), loops ** 2, 2 ** (3 * 2), int(guess.legal.sum()), int(ways.sum()),
                  int(ways[guess.fits].sum()), int(guess.fits.sum()), best)


@cache
def distinct_orders() -> tuple[int, int]:
    """All orders of the outermost loops of one tiling, every one of which runs, and how many different traffics they have."""
    loops = len(CONVOLUTION)
    orders = [[*order, *range(loops, len(ONE_TILING))] for order in permutations(range(loops))]
    guess = convolution(orders[1:]).estimate(np.tile(ONE_TILING, (len(orders), 1)), np.arange(len(orders)))
    assert guess.fits.all()
    return len(orders), len({traffic.tobytes() for traffic in guess.traffic})
