"""Is the estimate of many mappings that of each of them, to the integer? And is refused what it cannot be?"""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from accelsim.errors import LimitExceeded, SpecError
from accelsim.search.batch import KINDS, NO_CYCLES, BatchEstimator
from accelsim.spec.case import Case
from accelsim.spec.chip import Chip, Multicast
from accelsim.spec.linknetwork import link_network
from accelsim.spec.mapping import Mapping
from accelsim.spec.network import Kind, Network, Router
from accelsim.spec.operator import Operator
from accelsim.spec.operators import Options
from accelsim.spec.read import read_chip, read_workload
from accelsim.spec.topologies import grid

from ..analytic.cases import array, cases, chip, custom, entry, level, link, operator
from .mapspaces import alone, bounds, differences, paced, template

TWO = chip([level("DRAM", 4, 100, shared=True), level("SRAM")])
SHIPPED = [
    ("toy", "gemm:m=12,n=10,k=9"), ("toy3", "gemm:m=16,n=10,k=9"), ("gemmini", "gemm:m=20,n=33,k=18,dtype=int8"),
    ("tpu-v1", "gemm:m=40,n=33,k=18,dtype=int8"), ("nvdla-small", "gemm:m=20,n=9,k=18,dtype=int8"),
    ("eyeriss", "gemm:m=20,n=9,k=18,dtype=int16"),
    ("toy", "conv2d:n=1,k=4,c=3,p=7,q=5,r=3,s=3,padding=1"), ("toy3", "conv2d:n=2,k=4,c=3,p=6,q=5,r=3,s=2,stride=2"),
    ("gemmini", "conv2d:n=1,k=4,c=3,p=7,q=5,r=3,s=3,padding=1,dtype=int8"),
    ("tpu-v1", "conv2d:n=1,k=4,c=3,p=7,q=5,r=3,s=3,stride=2,dtype=int8"),
    ("nvdla-small", "conv2d:n=1,k=4,c=3,p=7,q=5,r=3,s=3,stride=2,dilation=2,padding=1,dtype=int8"),
    ("eyeriss", "conv2d:n=1,k=4,c=3,p=7,q=5,r=3,s=3,padding=1,dtype=int16"),
    ("toy3", "depthwise2d:n=1,c=4,p=7,q=5,r=3,s=3,stride=3"),
]


def shipped(name: str, workload: str) -> tuple[Chip, Operator]:
    return read_chip(name), read_workload(workload).operators[0]


@pytest.mark.parametrize(("name", "workload"), SHIPPED, ids=[f"{name}-{work.split(':')[0]}" for name, work in SHIPPED])
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 1 << 30))
def test_shipped_chips(name: str, workload: str, seed: int) -> None:
    _agree(name, workload, seed, 25)


BEHIND_DDR4 = tuple(f"chip.levels.DRAM.{key}={value}" for key, value in (
    ("timing", "ddr4-2400"), ("bandwidth", "null"), ("granularity", "null"), ("ports", "null")))


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 1 << 30), workload=st.sampled_from(
    ["gemm:m=96,n=80,k=112,dtype=int8", "conv2d:n=1,k=32,c=16,p=7,q=7,r=3,s=3,padding=1,dtype=int8"]))
def test_a_chip_behind_channels(seed: int, workload: str) -> None:
    _agree_on(read_chip("gemmini", BEHIND_DDR4), read_workload(workload).operators[0], seed, 15)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 1 << 30), rate=st.sampled_from(["16 B/cycle", "1 B/cycle", "0.01 B/cycle"]))
def test_a_chip_behind_a_cache(seed: int, rate: str) -> None:
    on = read_chip("toy3", ("chip.levels.DRAM.cache=16 KiB", f"chip.levels.DRAM.bandwidth={rate}"))
    _agree_on(on, read_workload("conv2d:n=1,k=4,c=3,p=7,q=5,r=3,s=3,stride=2").operators[0], seed, 15)


ROUTER = Router(routing=1, traversal=1, vcs=4, reduction_vcs=0, buffer=8, speculative=False, combine=1)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 1 << 30), outer_node=st.sampled_from([0, 3, 5]), multicast=st.sampled_from(["none", "equal"]),
       endpoint=st.sampled_from([1, 2]), workload=st.sampled_from(
           ["gemm:m=24,n=18,k=12", "conv2d:n=1,k=4,c=3,p=7,q=5,r=3,s=3,padding=1,dtype=int8"]))
def test_a_chip_whose_cores_are_on_a_mesh(seed: int, outer_node: int, multicast: str, endpoint: int, workload: str) -> None:
    net = Network("mesh", "", Fraction(1, 10**9), 8, ROUTER, grid(Kind.MESH, (4, 2), 1, 2), 1, endpoint)
    noc = link("DRAM", "L1", net_rate(net), 5, granularity_bytes=8, setup_cycles=seed % 2 * 5, multicast=Multicast(multicast),
               reduce=True, network=link_network(net, outer_node, range(8), Fraction(10**9)))
    on = chip([level("DRAM", 16, 30, shared=True), level("L1", 32, 2, fanout=(("x", 4), ("y", 2)))], array((("u", 4),)), (noc,))
    _agree_on(on, read_workload(workload).operators[0], seed, 15)


def net_rate(net: Network) -> Fraction:
    return Fraction(net.flit_bytes, net.endpoint_flit_cycles)


@pytest.mark.nightly
@settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))
@given(chosen=st.sampled_from(SHIPPED), seed=st.integers(0, 1 << 30))
def test_shipped_chips_at_length(chosen: tuple[str, str], seed: int) -> None:
    _agree(*chosen, seed, 50)


def _agree(name: str, workload: str, seed: int, rows: int) -> None:
    _agree_on(*shipped(name, workload), seed, rows)


def _agree_on(on: Chip, what: Operator, seed: int, rows: int) -> None:
    random = Random(seed)
    try:
        estimator = BatchEstimator(on, what, template(random, on, what))
    except SpecError:
        return  # a tensor bound nowhere, or a split sum that has no home outside
    assert differences(estimator, bounds(random, estimator, rows)) == []


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(asked=cases(), seed=st.integers(0, 1 << 30))
def test_random_chips(asked: Case | None, seed: int) -> None:
    _agree_on_random_chip(asked, seed)


@pytest.mark.nightly
@settings(max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(asked=cases(), seed=st.integers(0, 1 << 30))
def test_many_random_chips(asked: Case | None, seed: int) -> None:
    _agree_on_random_chip(asked, seed)


def _agree_on_random_chip(asked: Case | None, seed: int) -> None:
    """The loops of a random case, with other bounds, on its chip with rates and latencies."""
    assume(asked is not None and not any(line.flattened for line in asked.nest.lines))
    assert asked is not None
    random = Random(seed)
    estimator = BatchEstimator(paced(random, asked.chip), asked.operator, asked.mapping)
    own = [[loop.bound for loop in asked.nest.loops][:len(estimator.columns)]]
    assert differences(estimator, np.array([*own, *bounds(random, estimator, 5).tolist()], dtype=np.int64)) == []


GEMM = operator("gemm", m=8, n=8, k=8)
KMN = Mapping((entry("DRAM", "k2 m2 n2"), entry("SRAM", "m4 n4 k4")))


def test_gemm_by_hand() -> None:
    """8x8x8 in tiles of 4x4x4 with k outermost: the worked numbers of DESIGN section 3, and its traffic."""
    on, what = read_chip("toy"), read_workload("gemm:m=8,n=8,k=8").operators[0]
    found = BatchEstimator(on, what, KMN).estimate([[2, 2, 2, 4, 4, 4], [1, 1, 1, 8, 8, 8]])
    a, b, c = (dict(zip(KINDS, found.traffic[0, 1, tensor].tolist(), strict=True)) for tensor in range(3))
    assert (a["fill_elements"], b["fill_elements"], b["fill_bytes"]) == (64, 128, 512)
    assert (c["drain_elements"], c["refill_elements"], c["refill_bytes"]) == (128, 64, 256)
    # B has two slots for 8 stays of a fill (16 + 100 cycles) and 64 MACs each; the last tile of C leaves in 16 + 100
    assert int(found.cycles[0]) == (8 * (116 + 64)) // 2 + 116
    assert found.bound_names[found.bound_by[0]] == "SRAM B slots"
    # one tile of all: 128 words in (128 + 100 cycles), 512 MACs, 64 words out (64 + 100)
    assert int(found.cycles[1]) == 228 + 512 + 164
    assert found.fits.tolist() == found.legal.tolist() == [True, True]


@pytest.mark.parametrize(("stride", "words"), [(1, 18), (2, 33), (3, 48), (4, 48)])
def test_a_window_by_hand(stride: int, words: int) -> None:
    """Output stationary, filter of 3 over 16 outputs: each input once, but for what no window touches."""
    conv = operator("conv1d", "int8", "int8", Options((stride,), (1,), (0,)), k=1, c=1, p=16, r=3)
    estimator = BatchEstimator(TWO, conv, Mapping((entry("DRAM", "p* n* k* c*"), entry("SRAM", "p* r*"))))
    found = estimator.estimate([[16, 1, 1, 1, 1, 3], [4, 1, 1, 1, 4, 3], [3, 1, 1, 1, 6, 3]])
    assert found.traffic[:, 1, 0, KINDS.index("fill_elements")].tolist() == [words] * 3
    assert found.traffic[:, 1, 2, KINDS.index("drain_elements")].tolist() == [16] * 3


def test_every_order_of_the_loops_of_a_level() -> None:
    """Order number i of the template is the mapping with its loops in that order."""
    gemm = operator("gemm", "int8", "int32", m=7, n=6, k=5)
    orders = [(*one, 3, 4, 5) for one in permutations(range(3))][1:]
    estimator = BatchEstimator(TWO, gemm, KMN, orders)
    rows = np.repeat(bounds(Random(1), estimator, 40), 6, axis=0)
    assert differences(estimator, rows, [number % 6 for number in range(len(rows))]) == []
    assert len(set(estimator.estimate(rows[:6], np.arange(6)).cycles.tolist())) > 1
    second = estimator.mapping([2, 3, 4, 5, 6, 7], 2)
    assert [str(loop) for loop in second.levels[0].loops] == ["{m: 3}", "{k: 2}", "{n: 4}"]
    assert [str(loop) for loop in second.levels[1].loops] == ["{m: 5}", "{n: 6}", "{k: 7}"]


def test_the_windows_of_an_order() -> None:
    """The tables of a window are told apart by the order of its loops."""
    conv = operator("conv2d", "int8", "int32", Options((2, 1), (1, 2), (1, 1)), n=1, k=2, c=2, p=6, q=5, r=3, s=3)
    loops = Mapping((entry("DRAM", "p* r* q* s* k* c* n*"), entry("SRAM", "p* q* r* s* c*")))
    estimator = BatchEstimator(TWO, conv, loops, [(1, 0, 3, 2, 5, 4, 6, *range(7, 12)), (4, 5, 6, 0, 1, 2, 3, 8, 7, 11, 9, 10)])
    rows = bounds(Random(2), estimator, 60)
    assert differences(estimator, rows, [number % 3 for number in range(60)]) == []


def test_a_native_step_is_no_column() -> None:
    """Without an entry for the array a matrix unit takes its whole step, and the table has no bounds for it."""
    on, what = read_chip("toy3"), operator("gemm", m=9, n=8, k=7)
    unit = array((("m", 2), ("n", 4), ("k", 3)), model=on.array.model, intervals=(("", 2),))
    small = chip([level("DRAM", 4, 10), level("SRAM", 16, 1)], unit)
    estimator = BatchEstimator(small, what, Mapping((entry("DRAM", "m* n* k*"), entry("SRAM", "m* n* k*"))))
    assert len(estimator.columns) == 6
    assert differences(estimator, [[5, 2, 1, 1, 1, 3], [1, 1, 3, 5, 2, 1], [2, 2, 2, 3, 1, 2], [1, 1, 1, 1, 1, 1]]) == []


def test_more_different_tiles_than_room_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the sizes of a row do not fit their table, a larger one is taken."""
    monkeypatch.setattr("accelsim.search.batch.WINDOW_SIZES", 8)
    on, what = shipped("toy3", "conv2d:n=1,k=2,c=3,p=7,q=5,r=3,s=3,padding=1")
    random = Random(3)
    estimator = BatchEstimator(on, what, template(random, on, what))
    assert differences(estimator, bounds(random, estimator, 30)) == []


def test_chunks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    on, what = shipped("gemmini", "conv2d:n=1,k=4,c=3,p=7,q=5,r=3,s=3,padding=1,dtype=int8")
    random = Random(4)
    estimator = BatchEstimator(on, what, template(random, on, what))
    rows = bounds(random, estimator, 50)
    whole = estimator.estimate(rows)
    assert 0 < whole.legal.sum() < 50
    legal = estimator.estimate(rows[whole.legal])
    monkeypatch.setattr("accelsim.search.batch.SETTINGS", 16)
    for one, parts in ((whole, estimator.estimate(rows)), (legal, estimator.estimate(rows[whole.legal]))):
        for name in ("legal", "fits", "cycles", "bound_by", "traffic"):
            assert np.array_equal(getattr(one, name), getattr(parts, name)), name
    assert np.array_equal(legal.traffic, whole.traffic[whole.legal])


def test_no_rows() -> None:
    found = BatchEstimator(TWO, GEMM, KMN).estimate(np.zeros((0, 6), dtype=np.int64))
    assert found.cycles.shape == (0,)
    assert found.traffic.shape == (0, 3, 3, len(KINDS))


def test_rows_that_are_no_mapping() -> None:
    """Bounds that do not cover, that fill an axis twice, or that are below 1 are told apart from tiles that do not fit."""
    on = chip([level("DRAM"), level("SRAM", fanout=(("x", 4),), capacity_bytes=200)])
    spread = Mapping((entry("DRAM", "m* n* k*", {"x": "m* n*"}), entry("SRAM", "m* n* k*")))
    estimator = BatchEstimator(on, GEMM, spread)
    rows = [[2, 2, 2, 2, 2, 2, 2, 4], [2, 2, 1, 2, 2, 2, 2, 4], [1, 1, 2, 4, 2, 2, 4, 4], [2, 2, 0, 2, 2, 2, 2, 4],
            [1, 2, 2, 4, 1, 2, 4, 4], [-2, -2, 2, 2, 2, 2, 2, 4]]
    found = estimator.estimate(rows)
    assert found.legal.tolist() == [True, False, False, False, True, False]
    assert found.fits.tolist() == [True, False, False, False, False, False]
    assert [int(cycles) == NO_CYCLES for cycles in found.cycles] == [False, True, True, True, False, True]
    assert differences(estimator, rows[:3] + rows[4:5]) == []


def test_a_split_sum_needs_who_adds_it_up() -> None:
    def legal(adds: bool) -> list[bool]:
        on = chip([level("DRAM"), level("SRAM", fanout=(("x", 4),))], links=(link("DRAM", "SRAM", reduce=adds),))
        estimator = BatchEstimator(on, GEMM, Mapping((entry("DRAM", "m* n*", {"x": "k*"}), entry("SRAM", "m* n* k*"))))
        rows = [[1, 1, 1, 8, 8, 8], [1, 1, 2, 8, 8, 4]]
        assert differences(estimator, rows) == []
        return estimator.estimate(rows).legal.tolist()
    assert legal(True) == [True, True]
    assert legal(False) == [True, False]


def test_a_reduction_loop_that_never_comes_round_splits_no_sum() -> None:
    """Its first iteration covers the extent, so every tile is finished in one stay and leaves as int8."""
    on = chip([level("DRAM", accumulate=True), level("SRAM")])
    what = operator("gemm", "int8", "int32", m=4, n=4, k=4)
    estimator = BatchEstimator(on, what, Mapping((entry("DRAM", "k* m*"), entry("SRAM", "m* n* k*"))))
    rows = [[2, 2, 2, 4, 4], [2, 2, 2, 4, 2], [1, 2, 2, 4, 4]]
    assert estimator.estimate(rows).traffic[:, 1, 2, KINDS.index("drain_bytes")].tolist() == [16, 4 * 32, 16]
    assert differences(estimator, rows) == []


@pytest.mark.parametrize("multicast", list(Multicast))
def test_instances_that_share_what_they_read(multicast: Multicast) -> None:
    """Equal sets and unions of windows are read once, where their instances divide the line and where they do not."""
    conv = operator("conv1d", "int8", "int32", Options((1,), (1,), (1,)), k=2, c=3, p=16, r=3)
    levels = [level("DRAM", 1, 9), level("SRAM", 3, fanout=(("x", 4), ("y", 4)), lockstep=True)]
    on = chip(levels, links=(link("DRAM", "SRAM", 2, 5, multicast=multicast, reduce=True),))
    loops = Mapping((entry("DRAM", "p* k* c* n*", {"x": "p* k*", "y": "r* p*"}), entry("SRAM", "p* r* c*")))
    estimator = BatchEstimator(on, conv, loops)
    assert differences(estimator, bounds(Random(5), estimator, 200)) == []


@pytest.mark.parametrize("multicast", list(Multicast))
def test_instances_of_a_level_that_is_passed_by(multicast: Multicast) -> None:
    """The input goes from DRAM to L2 past L1: windows of L1's instances are no box of L2's, so the first stands for all."""
    conv = operator("conv1d", "int8", "int32", Options((1,), (1,), (0,)), k=2, c=2, p=16, r=3)
    levels = [level("DRAM", 1, 9), level("L1", 3, fanout=(("x", 4),)), level("L2", 2, fanout=(("y", 4),))]
    on = chip(levels, links=(link("DRAM", "L2", 2, 5, multicast=multicast), link("L1", "L2", reduce=True)))
    loops = Mapping((entry("DRAM", "p* k* c* n*", {"x": "p* k*"}), entry("L1", "k* c*", {"y": "r* p*"}, "W O"),
                     entry("L2", "p* r* c*")))
    estimator = BatchEstimator(on, conv, loops)
    assert differences(estimator, bounds(Random(6), estimator, 200)) == []


def test_the_row_of_a_mapping_and_back() -> None:
    estimator = BatchEstimator(TWO, GEMM, KMN)
    assert [(column.level, column.axis, column.dim) for column in estimator.columns[:4]] == [
        ("DRAM", None, "k"), ("DRAM", None, "m"), ("DRAM", None, "n"), ("SRAM", None, "m")]
    assert estimator.mapping([2, 2, 2, 4, 4, 4]).levels == KMN.levels
    legal, fits, case = alone(estimator, [2, 2, 2, 4, 4, 4])
    assert (legal, fits) == (True, True)
    assert case is not None


def test_refuses_flattened_lists() -> None:
    loops = Mapping((entry("DRAM", "k* m,n:*"), entry("SRAM", "k*")))
    with pytest.raises(SpecError, match="flattened list") as caught:
        BatchEstimator(TWO, GEMM, loops)
    assert caught.value.faults[0].path == "DRAM"


def test_refuses_outputs_smaller_than_their_dimensions_and_axes_outside() -> None:
    what = custom({"a": 4, "b": 3}, {"X": [("a", 4), ("b", 3)], "Z": [("a", 3)]}, "Z")
    with pytest.raises(SpecError, match="fewer indices"):
        BatchEstimator(TWO, what, Mapping((entry("DRAM", "a* b*"), entry("SRAM", "a*"))))


def test_refuses_what_no_bounds_make_a_mapping() -> None:
    with pytest.raises(SpecError, match="no loop over k"):
        BatchEstimator(TWO, GEMM, Mapping((entry("DRAM", "m* n*"), entry("SRAM", "m*"))))
    with pytest.raises(SpecError, match="no axis"):
        BatchEstimator(TWO, GEMM, Mapping((entry("DRAM", "m* n* k*", {"z": "m*"}), entry("SRAM", "m*"))))


@pytest.mark.parametrize(("order", "says"), [((0, 1, 2, 3, 4), "no permutation"), ((3, 1, 2, 0, 4, 5), "stay in their level")])
def test_refuses_orders_that_move_a_loop_out_of_its_level(order: tuple[int, ...], says: str) -> None:
    with pytest.raises(SpecError, match=says):
        BatchEstimator(TWO, GEMM, KMN, [order])


def test_refuses_sums_past_64_bits() -> None:
    huge = operator("gemm", m=10**6, n=10**6, k=10**6)
    with pytest.raises(LimitExceeded, match=r"sums past 2\*\*62"):
        BatchEstimator(TWO, huge, KMN)
    estimator = BatchEstimator(TWO, GEMM, KMN)
    for row in ([1 << 16, 2, 2, 4, 4, 1 << 16], [1 << 40, 2, 2, 4, 4, 4], [1 << 31, 2, 2, 4, 4, 1 << 31]):
        with pytest.raises(LimitExceeded, match="row 1"):
            estimator.estimate([[2, 2, 2, 4, 4, 4], row])


@pytest.mark.parametrize(("rows", "order", "says"), [
    ([[2, 2, 2, 4, 4]], 0, "one column for each of 6"), ([2, 2, 2, 4, 4, 4], 0, "one column"),
    ([[2.0, 2, 2, 4, 4, 4]], 0, "integers"), ([[2, 2, 2, 4, 4, 4]], 0.5, "orders of type"),
    ([[2, 2, 2, 4, 4, 4]], 1, "there are 1"), ([[2, 2, 2, 4, 4, 4]], -1, "there are 1")])
def test_refuses_other_tables(rows: object, order: float, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        BatchEstimator(TWO, GEMM, KMN).estimate(rows, order)
