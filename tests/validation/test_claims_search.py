"""Claims 4, 5 and 7: what searching a mapspace finds. Whole mapspaces are estimated; what is found is simulated."""

from __future__ import annotations

from itertools import permutations, product
from math import comb, factorial, isqrt, prod, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from accelsim.machine.simulate import simulate
from accelsim.plan.schedule import Schedule
from accelsim.search.batch import BatchEstimator
from accelsim.spec.build import make_case
from accelsim.spec.case import Case
from accelsim.spec.mapping import Mapping
from validation.claims.build import PAGE, page
from validation.claims.measures import CAPACITIES, CROSSES, SIDE, best_traffic

from ..helpers import chip, entry, gemm, level, operator


def divided(extent: int, parts: int) -> list[tuple[int, ...]]:
    """All ways to write an extent as a product of so many factors, in order."""
    if parts == 1:
        return [(extent,)]
    return [(first, *rest) for first in range(1, extent + 1) if extent % first == 0
            for rest in divided(extent // first, parts - 1)]


# -- 4: best traffic falls as one over the root of capacity -------------------------------------------------------------

def simulated_words(case: Case) -> int:
    """Words that cross the SRAM's outer border, as simulated."""
    return sum(one.fill_bytes + one.drain_bytes + one.refill_bytes
               for (name, _), one in simulate(Schedule(case)).traffic.items() if name == "SRAM") // 4


@pytest.mark.parametrize("words", CAPACITIES)
def test_4_the_best_cube_has_the_side_of_the_closed_form(words: int) -> None:
    """Three equal square tiles fill the SRAM: side sqrt(C / 3). Where edges are ragged a smaller one may do as well."""
    n, side = SIDE, isqrt(words // 3)
    moved, case = best_traffic(n, words, cubes=True)
    folds = -(-n // side)
    assert moved == 2 * n * n * folds + n * n
    assert simulated_words(case) == moved


def test_4_doubling_the_sram_buys_a_root_of_two() -> None:
    """Tiles of any shape: outputs stay in nearly all of the SRAM and the reduction passes by one deep, so 2 N^3 / sqrt(C)."""
    n = SIDE
    moved = {words: best_traffic(n, words)[0] for words in CAPACITIES}
    for words, least in moved.items():
        assert 2 * n**3 / sqrt(words) < least < 1.3 * 2 * n**3 / sqrt(words)
        assert least < best_traffic(n, words, cubes=True)[0] / 1.4, "cubes are the wrong tiles: sqrt(3) is to be had"
    for words in CAPACITIES[:-1]:
        assert moved[words] / moved[2 * words] == pytest.approx(sqrt(2), rel=0.05)


def test_4_but_not_at_the_edges() -> None:
    """Where everything fits more room buys nothing; where the root does not divide, tiles are no squares."""
    n = 16
    assert best_traffic(n, 3 * n * n)[0] == best_traffic(n, 6 * n * n)[0] == 3 * n * n
    _, case = best_traffic(SIDE, 1024)
    m, n, k = (loop.bound or 0 for dim in "mnk" for loop in case.mapping.levels[1].loops if loop.dims == (dim,))
    assert m * n > 900
    assert m != n
    assert k == 1


# -- 5: levels cannot be tiled independently ----------------------------------------------------------------------------


def test_5_level_by_level_loses_to_both_at_once() -> None:
    """16 x 16 x 16 behind two memories: all factors and all orders. Whoever first takes what is best for one level alone, and
    only then what is best for the other, ends more than a fifth slower."""
    n = 16
    on = chip([level("DRAM", 2, 20, ports="shared"), level("SRAM", 4, 2, ports="shared", capacity_bytes=4 * 96),
               level("RF", capacity_bytes=4 * 24)])
    what = gemm(n, n, n)
    loops = list(permutations(range(3)))
    orders = [[*outer, *(3 + place for place in inner), 6, 7, 8] for outer in loops for inner in loops]
    space = BatchEstimator(on, what, Mapping(tuple(entry(name, "m1 n1 k1") for name in ("DRAM", "SRAM", "RF"))), orders[1:])
    ways = divided(n, 3)
    rows = np.array([[factors[place] for place in range(3) for factors in chosen] for chosen in product(ways, ways, ways)])
    found = []
    for order in range(len(orders)):
        guess = space.estimate(rows, order)
        moved = guess.traffic[:, :, :, CROSSES].sum(axis=(2, 3))
        found += [(int(moved[row, 1]), int(moved[row, 2]), int(guess.cycles[row]), int(row), order)
                  for row in np.flatnonzero(guess.fits)]
    assert len(found) > 9000

    def cycles(chosen: tuple[int, int, int, int, int]) -> int:
        *_, row, order = chosen
        return simulate(Schedule(make_case(on, what, space.mapping([int(bound) for bound in rows[row]], order)))).cycles
    joint = cycles(min(found, key=lambda one: one[2]))
    outside_in = cycles(min(found, key=lambda one: (one[0], one[1], one[2])))
    inside_out = cycles(min(found, key=lambda one: (one[1], one[0], one[2])))
    assert outside_in > 1.2 * joint
    assert inside_out > 1.2 * joint


# -- 7: the mapspace is huge and mostly illegal or equivalent -----------------------------------------------------------

CONVOLUTION = operator("conv2d", n=2, k=4, c=4, p=4, q=4, r=3, s=3)
ONES = " ".join(f"{dim}1" for dim in CONVOLUTION.dims)
PLACES = ("DRAM", "SRAM", "RF")


def space_of(orders: list[list[int]]) -> BatchEstimator:
    on = chip([level("DRAM", 2, 20, ports="shared"), level("SRAM", 4, 2, ports="shared", capacity_bytes=512),
               level("RF", capacity_bytes=96)])
    return BatchEstimator(on, CONVOLUTION, Mapping(tuple(entry(name, ONES) for name in PLACES)), orders)


def tilings() -> NDArray[np.int64]:
    return np.array([[factors[place] for place in range(3) for factors in chosen]
                     for chosen in product(*(divided(extent, 3) for extent in CONVOLUTION.dims.values()))])


def test_7_a_small_convolution_has_a_huge_mapspace() -> None:
    """Seven loops over three levels: what there is, and what capacity, loops of one and dominance leave."""
    rows = tilings()
    assert len(rows) == prod(comb(exponent + 2, 2) for exponent in (1, 2, 2, 2, 2, 1, 1)) == 34_992
    permuted = factorial(7) ** 3
    spatial = 7 ** 2  # which dimension each of two axes of the array takes
    bound = 2 ** (3 * 2)  # which of three tensors stay at which of the two inner levels
    assert len(rows) * permuted * spatial * bound > 10**19

    guess = space_of([]).estimate(rows)
    assert guess.legal.all()
    assert guess.fits.sum() == 3619, "a tenth of the tilings fit"

    in_order = [prod(factorial(int((row[7 * place:7 * place + 7] > 1).sum())) for place in range(3)) for row in rows]
    assert sum(in_order) * 10**8 < len(rows) * permuted, "orders of loops that do not run are one"
    left = sum(count for count, fits in zip(in_order, guess.fits, strict=True) if fits)
    assert left == 6_964_248

    moved = guess.traffic[:, :, :, CROSSES].sum(axis=(2, 3))[guess.fits]
    costs = np.unique(np.stack([guess.cycles[guess.fits], moved[:, 1], moved[:, 2]], axis=1), axis=0)
    best = [cost for cost in costs if not ((costs <= cost).all(axis=1) & (costs < cost).any(axis=1)).any()]
    assert len(best) == 5, "of 3619 tilings in one order, by cycles and the traffic of both borders"


def test_7_most_orders_are_the_same() -> None:
    """All 5040 orders of the outermost loops of one tiling, every one of which runs: 26 different traffics."""
    orders = [[*order, *range(7, 21)] for order in permutations(range(7))]
    row = [2, 2, 2, 2, 2, 3, 3, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1, 2, 1, 1]
    guess = space_of(orders[1:]).estimate(np.tile(row, (len(orders), 1)), np.arange(len(orders)))
    assert guess.fits.all()
    assert len({traffic.tobytes() for traffic in guess.traffic}) == 26


def test_the_page_of_claims_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run make study"
