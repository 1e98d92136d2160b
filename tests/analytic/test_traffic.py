"""Is the closed form of the traffic exactly what a walk of the nest counts?"""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise, permutations
from math import prod

import pytest
from hypothesis import HealthCheck, assume, given, settings

from accelsim.analytic.estimate import estimate
from accelsim.analytic.result import Traffic
from accelsim.errors import SpecError
from accelsim.spec.case import Case
from accelsim.spec.operators import Options

from .cases import array, case, cases, chip, entry, level, link, operator
from .replay import differences, replay

TWO = chip([level("DRAM"), level("SRAM")])


def exact(asked: Case) -> dict[tuple[int, str], Traffic]:
    """The estimated traffic, after it was found equal to the walked one."""
    found = dict(estimate(asked).traffic)
    assert not differences(found, replay(asked)), asked.mapping.to_yaml()
    return found


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_random_cases(asked: Case | None) -> None:
    assume(asked is not None)
    assert asked is not None
    assume(prod(loop.bound for loop in asked.nest.loops) <= 1500)
    exact(asked)


@pytest.mark.nightly
@settings(max_examples=20_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_many_random_cases(asked: Case | None) -> None:
    if asked is not None and prod(loop.bound for loop in asked.nest.loops) <= 3000:
        exact(asked)


@pytest.mark.parametrize("order", list(permutations("mnk")))
@pytest.mark.parametrize("dims", [{"m": 8, "n": 8, "k": 8}, {"m": 7, "n": 5, "k": 6}])
def test_six_orders_of_the_outer_loops(order: tuple[str, ...], dims: dict[str, int]) -> None:
    exact(case(TWO, operator("gemm", **dims), entry("DRAM", " ".join(f"{dim}*" for dim in order)),
               entry("SRAM", "m4 n4 k4")))


def test_gemm_8x8x8_with_k_outermost() -> None:
    found = exact(case(TWO, operator("gemm", m=8, n=8, k=8), entry("DRAM", "k2 m2 n2"), entry("SRAM", "m4 n4 k4")))
    assert found[1, "A"].fill_elements == 64
    assert found[1, "B"].fill_elements == 128
    assert (found[1, "C"].drain_elements, found[1, "C"].refill_elements) == (128, 64)
    assert found[0, "A"] == Traffic()


# Timeloop's hand checks, reference/timeloop/README.md section 6; it does not count the reads of draining


def test_timeloop_g2_perm_mnk() -> None:
    found = exact(case(TWO, operator("gemm", "int8", "int8", m=4, n=4, k=4), entry("DRAM", "m2 n2 k2"),
                       entry("SRAM", "m2 n2 k2")))
    assert found[1, "A"].fill_elements == found[1, "B"].fill_elements == 32
    assert (found[1, "C"].drain_elements, found[1, "C"].refill_elements) == (16, 0)
    assert (found[1, "C"].array_write_bytes, found[1, "C"].array_read_bytes) == (64, 48)
    assert found[1, "A"].array_read_bytes == found[1, "B"].array_read_bytes == 64


def test_timeloop_g2_perm_kmn() -> None:
    found = exact(case(TWO, operator("gemm", "int8", "int8", m=4, n=4, k=4), entry("DRAM", "k2 m2 n2"),
                       entry("SRAM", "m2 n2 k2")))
    assert found[1, "A"].fill_elements == 16
    assert found[1, "B"].fill_elements == 32
    assert (found[1, "C"].drain_elements, found[1, "C"].refill_elements) == (32, 16)


@pytest.mark.parametrize(("stride", "words"), [(1, 18), (2, 33), (3, 48), (4, 48)])
def test_timeloop_c1_os(stride: int, words: int) -> None:
    conv = operator("conv1d", "int8", "int8", Options((stride,), (1,), (0,)), k=1, c=1, p=16, r=3)
    found = exact(case(TWO, conv, entry("DRAM", "n1 k1 c1 p16"), entry("SRAM", "r3")))
    assert found[1, "I"].fill_elements == words
    assert found[1, "W"].fill_elements == 3
    assert found[1, "O"].drain_elements == 16
    assert found[1, "O"].array_read_bytes == 32


def test_padding_and_gaps_are_not_moved() -> None:
    conv = operator("conv1d", "int8", "int32", Options((1,), (2,), (2,)), k=1, c=1, p=6, r=3)
    found = exact(case(TWO, conv, entry("DRAM", "n1 k1 c1 p6"), entry("SRAM", "r3")))
    # x in {p-2, p, p+2} within [0, 6): 2 + 2 + 3 + 3 + 2 + 2, none of them held at the step before
    assert found[1, "I"].fill_elements == 14


def test_a_reduction_over_instances_refills_the_first_only() -> None:
    on = chip([level("DRAM"), level("SRAM", fanout=(("x", 2),))], links=(link("DRAM", "SRAM", reduce=True),))
    found = exact(case(on, operator("gemm", "int8", "int32", m=4, n=4, k=8), entry("DRAM", "k2 m2 n2", {"x": "k2"}),
                       entry("SRAM", "m2 n2 k2")))
    assert (found[1, "C"].drain_elements, found[1, "C"].refill_elements) == (64, 16)
    assert found[1, "C"].drain_bytes == 4 * 64  # no instance knows the whole sum


def test_a_reduction_over_outer_instances_refills_each() -> None:
    names = ["DRAM", "L1", "L2"]
    on = chip([level("DRAM"), level("L1", fanout=(("x", 2),)), level("L2")],
              links=tuple(link(outer, inner, reduce=True) for outer, inner in pairwise(names)))
    found = exact(case(on, operator("gemm", "int8", "int32", m=4, n=4, k=8), entry("DRAM", "", {"x": "k2"}),
                       entry("L1", "k2 m2"), entry("L2", "m2 n4 k2")))
    assert (found[2, "C"].drain_elements, found[2, "C"].refill_elements) == (64, 32)


def test_the_edge_cuts_an_inner_loop_of_the_same_dimension() -> None:
    """At m = 4 of 6 the inner loop by 2 has no second iteration, but the one by 1 has."""
    exact(case(TWO, operator("gemm", m=6, n=3, k=2), entry("DRAM", "m2 n3 m2 m2"), entry("SRAM", "k2")))


def test_an_accumulating_parent_keeps_the_wide_type() -> None:
    on = chip([level("DRAM", accumulate=True), level("SRAM")])
    gemm = operator("gemm", "int8", "int32", m=4, n=4, k=4)
    twice = exact(case(on, gemm, entry("DRAM", "k2 m2"), entry("SRAM", "m2 n4 k2")))
    assert (twice[1, "C"].drain_bytes, twice[1, "C"].refill_bytes) == (4 * 32, 0)
    once = exact(case(on, gemm, entry("DRAM", "m2 k2"), entry("SRAM", "m2 n4 k2")))
    assert once[1, "C"].drain_bytes == 16


FOLDS = [  # what the PEs take a run of, what the array streams, what is left outside
    ({"y": "c,r,s:8", "x": "k2"}, "p4 q4", "c,r,s:* k2 n1"),  # weight stationary, runs that are no box
    ({"y": "c,r,s:8", "x": "k2"}, "p,q:5", "c,r,s:* k2 p,q:* n1"),
    ({"y": "p,q:3", "x": "k2"}, "c,r,s:7", "c,r,s:* k2 p,q:* n1"),
    ({"y": "p2", "x": "k2"}, "c,s:4", "c,s:* k2 p* q4 r3 n1"),
]
REFUSED = [  # both dimensions of an axis move over the PEs
    ({"y": "p,q:5", "x": "c,r,s:8"}, "", "c,r,s:* k4 p,q:* n1"),
    ({"y": "p2 r3", "x": "k2"}, "c,s:4", "c,s:* k2 p* q4 n1"),
]


@pytest.mark.parametrize(("pes", "own", "outer"), FOLDS)
@pytest.mark.parametrize(("stride", "padding"), [(1, 0), (1, 1), (2, 1)])
def test_convolutions_folded_over_the_array(pes: dict[str, str], own: str, outer: str, stride: int,
                                            padding: int) -> None:
    options = Options((stride,) * 2, (1,) * 2, (padding,) * 2)
    conv = operator("conv2d", "int8", "int32", options, k=4, c=3, p=4, q=4, r=3, s=3)
    on = chip([level("DRAM"), level("SRAM")], array((("x", 8), ("y", 8))))
    exact(case(on, conv, entry("DRAM"), entry("SRAM", outer, None, "I W O"), entry("PE", own, pes, "")))


@pytest.mark.parametrize(("pes", "own", "outer"), REFUSED)
def test_an_array_moves_one_dimension_of_an_axis(pes: dict[str, str], own: str, outer: str) -> None:
    conv = operator("conv2d", "int8", "int32", k=4, c=3, p=4, q=4, r=3, s=3)
    on = chip([level("DRAM"), level("SRAM")], array((("x", 8), ("y", 8))))
    with pytest.raises(SpecError, match="both move along one axis of I"):
        case(on, conv, entry("DRAM"), entry("SRAM", outer, None, "I W O"), entry("PE", own, pes, ""))


def test_steps_and_transfers_predict_the_work() -> None:
    found = estimate(case(TWO, operator("gemm", m=8, n=8, k=8), entry("DRAM", "k2 m2 n2"), entry("SRAM", "m4 n4 k4")))
    assert (found.steps, found.transfers, found.array_busy_cycles, found.macs) == (8, 4 + 8 + 8 + 4, 512, 512)


def test_cost_does_not_grow_with_the_steps() -> None:
    """10^15 steps: a walk would never end."""
    huge = operator("gemm", m=10**5, n=10**5, k=10**5)
    found = estimate(case(TWO, huge, entry("DRAM", "k* m* n*"), entry("SRAM", "m3 n7")))
    moved = found.traffic[1, "C"]
    assert moved.drain_elements == 10**15
    assert asdict(moved)["refill_elements"] == 10**15 - 10**10
