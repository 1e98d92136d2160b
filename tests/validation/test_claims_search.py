"""Claims 4, 5 and 7: what searching a mapspace finds. Whole mapspaces are estimated; what is found is simulated."""

from __future__ import annotations

import re
from math import comb, factorial, isqrt, prod, sqrt

import pytest

from accelsim.machine.simulate import simulate
from accelsim.plan.schedule import Schedule
from accelsim.spec.case import Case
from validation.claims.build import PAGE, page
from validation.claims.measures import CAPACITIES, SIDE, best_traffic
from validation.claims.spaces import counted, distinct_orders, greedy_and_joint

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
    found, chosen = greedy_and_joint()
    assert found > 9000
    joint, outside_in, inside_out = chosen["both at once"], chosen["outer border first"], chosen["inner border first"]
    assert outside_in.cycles > 1.2 * joint.cycles
    assert inside_out.cycles > 1.2 * joint.cycles
    assert outside_in.outer < joint.outer, "what it looked at is better"
    assert inside_out.inner < joint.inner


# -- 7: the mapspace is huge and mostly illegal or equivalent -----------------------------------------------------------


def test_7_a_small_convolution_has_a_huge_mapspace() -> None:
    """Seven loops over three levels: what there is, and what capacity, loops of one and dominance leave."""
    found = counted()
    assert found.tilings == found.legal == prod(comb(exponent + 2, 2) for exponent in (1, 2, 2, 2, 2, 1, 1)) == 34_992
    assert found.orders == factorial(7) ** 3
    assert found.tilings * found.orders * found.spatial * found.bindings > 10**19
    assert found.fitting == 3619, "a tenth of the tilings fit"
    assert found.run * 10**8 < found.tilings * found.orders, "orders of loops that do not run are one"
    assert found.fit == 6_964_248
    assert found.undominated == 5, "of 3619 tilings in one order, by cycles and the traffic of both borders"


def test_7_most_orders_are_the_same() -> None:
    """All 5040 orders of the outermost loops of one tiling, every one of which runs: 26 different traffics."""
    assert distinct_orders() == (factorial(7), 26)


def test_the_page_of_claims_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run make study"


def test_each_claim_of_the_list_has_a_section_with_a_picture_in_order() -> None:
    """22 has a page of its own."""
    table, text = (path.read_text(encoding="utf-8") for path in (PAGE.parents[1] / "validation/claims/README.md", PAGE))
    listed = re.findall(r"^\| (\d+) ", table, re.MULTILINE)
    assert re.findall(r"^## (\d+)\. ", text, re.MULTILINE) == [number for number in listed if number != "22"]
    assert all("](img/claim-" in section and "\n| --- |" in section for section in text.split("\n## ")[1:])
