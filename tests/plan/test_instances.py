"""Do instances move what they should: each its own, equal sets once, sums reduced; in lockstep the same as on their own?"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import HealthCheck, assume, given, settings

from accelsim.errors import SimulatorBug
from accelsim.machine.network import build_network
from accelsim.machine.simpy_driver import Machine
from accelsim.plan.schedule import Schedule
from accelsim.recorder import Recorder
from accelsim.spec.build import make_case
from accelsim.spec.case import Case
from accelsim.spec.chip import Multicast
from accelsim.spec.operators import Options

from ..helpers import array, brief, chip, entry, gemm, level, link, make, operator, run
from ..properties.strategies import MOST_STEPS, steps_of, wide_cases

SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


def as_one(case: Case, flag: bool) -> Case:
    """The same case with all instances in lockstep, or none."""
    on = replace(
        case.chip,
        array=replace(case.chip.array, lockstep=flag),
        levels=tuple(replace(one, lockstep=flag) for one in case.chip.levels),
    )
    return make_case(on, case.operator, case.mapping)


@settings(max_examples=80, deadline=None, suppress_health_check=SLOW)
@given(wide_cases())
def test_lockstep_moves_what_instances_on_their_own_move(case: Case) -> None:
    assume(steps_of(case) <= MOST_STEPS // 2)
    assume(case.nest.spatial_above(case.array_entry))
    together, apart = run(as_one(case, True)).timeline.traffic, run(as_one(case, False)).timeline.traffic
    keys = [f"{what}_{unit}" for what in ("fill", "drain", "refill") for unit in ("elements", "bytes")]

    def moved(traffic: object) -> dict[object, list[int]]:
        assert isinstance(traffic, dict)
        found = {key: [getattr(value, name) for name in keys] for key, value in traffic.items()}
        return {key: value for key, value in found.items() if any(value)}

    assert moved(together) == moved(apart), brief(case)


@pytest.mark.parametrize("lockstep", [False, True])
@pytest.mark.parametrize(("multicast", "words"), [(Multicast.NONE, 64), (Multicast.EQUAL, 16), (Multicast.OVERLAP, 16)])
def test_equal_sets_are_sent_once(multicast: Multicast, words: int, lockstep: bool) -> None:
    """A[4, 4] goes to four cores that share out n: 16 words enter each, 16 leave the DRAM."""
    on = chip(
        [level("DRAM"), level("L1", fanout=(("x", 4),), lockstep=lockstep)],
        links=(link("DRAM", "L1", tensors=frozenset("A"), multicast=multicast),),
    )
    ran = run(make(on, gemm(4, 4, 4), entry("DRAM", "m2", x="n4"), entry("L1", "m2 k4")))
    assert ran.timeline.traffic["L1", "A"].fill_elements == 64
    assert ran.timeline.link_bytes == {"DRAM-L1": words * 4}


@pytest.mark.parametrize(("multicast", "words"), [(Multicast.NONE, 4 * 3), (Multicast.EQUAL, 4 * 3), (Multicast.OVERLAP, 6)])
def test_overlapping_windows_are_read_once_where_the_link_can(multicast: Multicast, words: int) -> None:
    """Four PEs take windows of 3 that start at 0, 1, 2, 3: six different words."""
    on = chip(
        [level("DRAM"), level("L1", fanout=(("x", 4),), lockstep=True)],
        links=(link("DRAM", "L1", tensors=frozenset("I"), multicast=multicast),),
    )
    case = make(on, operator("conv1d", n=1, k=1, c=1, p=4, r=3), entry("DRAM", "n1 k1 c1", x="p4"), entry("L1", "r3"))
    ran = run(case)
    assert ran.timeline.traffic["L1", "I"].fill_elements == 12
    assert ran.timeline.link_bytes == {"DRAM-L1": words * 4}


@pytest.mark.parametrize("lockstep", [False, True])
def test_a_reduction_leaves_once_and_comes_back_to_one(lockstep: bool) -> None:
    """k over four cores and twice over time: each drains 2 x 4 words, 2 x 4 arrive; 4 come back, to the first core."""
    on = chip(
        [level("DRAM"), level("L1", fanout=(("x", 4),), lockstep=lockstep)],
        links=(link("DRAM", "L1", tensors=frozenset("C"), reduce=True),),
    )
    ran = run(make(on, gemm(2, 2, 8), entry("DRAM", "k2 m2", x="k4"), entry("L1", "n2")))
    traffic = ran.timeline.traffic["L1", "C"]
    assert (traffic.drain_elements, traffic.refill_elements) == (4 * 8, 4)
    assert ran.timeline.link_bytes == {"DRAM-L1": (8 + 4) * 4}


@pytest.mark.parametrize("lockstep", [False, True])
def test_an_accumulating_memory_sums_what_instances_send(lockstep: bool) -> None:
    on = chip([level("DRAM", accumulate=True), level("L1", fanout=(("x", 4),), lockstep=lockstep)])
    traffic = run(make(on, gemm(2, 2, 8), entry("DRAM", "k2 m2", x="k4"), entry("L1", "n2"))).timeline.traffic["L1", "C"]
    assert (traffic.drain_elements, traffic.refill_elements) == (4 * 8, 0)


def test_cores_without_work_do_not_exist() -> None:
    """n 5 over four cores of 2: the third has one column, the fourth none."""
    on = chip([level("DRAM"), level("L1", fanout=(("x", 4),))])
    ran = run(make(on, gemm(1, 5, 1), entry("DRAM", x="n4"), entry("L1", "n2")))
    assert len(ran.machine.arrays) == 3
    assert ran.timeline.traffic["L1", "B"].fill_elements == 5
    assert ran.timeline.traffic["L1", "A"].fill_elements == 3


def test_multicast_reaches_the_children_of_one_parent() -> None:
    """Two L1 in lockstep, two L2 in each: every L1 sends its own copy of B, whose sets are equal across the L1."""
    on = chip(
        [level("DRAM"), level("L1", fanout=(("x", 2),), lockstep=True), level("L2", fanout=(("x", 2),), lockstep=True)],
        links=(link("L1", "L2", tensors=frozenset("B"), multicast=Multicast.EQUAL),),
    )
    ran = run(make(on, gemm(2, 2, 2), entry("DRAM", x="m2"), entry("L1", x="n2"), entry("L2", "k2")))
    assert ran.timeline.link_bytes == {"L1-L2": 2 * 4 * 4}


# -- flattened lists ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [2, 4, 5, 8, 16, 32])
def test_a_reduction_folds_over_the_rows_of_an_array(rows: int) -> None:
    """c 2, r 3, s 3 flattened to 18 over the rows: ceil(18 / rows) folds; weights once; a fold reads what its rows need."""
    dims = {"n": 1, "k": 4, "c": 2, "p": 3, "q": 4, "r": 3, "s": 3}
    on = chip([level("DRAM")], array((("x", 4), ("y", rows))))
    case = make(
        on, operator("conv2d", **dims), entry("DRAM", "n1 c,r,s:*", "I W O"), entry("PE", "p3 q4", "W", x="k4", y=f"c,r,s:{rows}")
    )
    ran = run(case)
    folds = -(-18 // rows)
    assert ran.cycles == folds * 12
    taps = list(product(range(2), range(3), range(3)))
    read = 0
    for fold in range(folds):
        for p, q in product(range(3), range(4)):
            read += len({(c, p + r, q + s) for c, r, s in taps[fold * rows : (fold + 1) * rows]})
    traffic = ran.timeline.traffic
    assert traffic["PE", "W"].fill_elements == 4 * 18
    assert traffic["DRAM", "I"].array_read_bytes == read * 4
    assert traffic["DRAM", "O"].array_write_bytes == folds * 4 * 12 * 4
    assert traffic["DRAM", "O"].array_read_bytes == (folds - 1) * 4 * 12 * 4


def test_tiles_are_dealt_to_cores_in_waves() -> None:
    """[m, n] 3 x 3 tiles over four cores: waves of 4, 4 and 1; every tile of C leaves once."""
    on = chip([level("DRAM"), level("L1", fanout=(("x", 4),))])
    case = make(on, gemm(6, 6, 4), entry("DRAM", "m,n:3", x="m,n:4"), entry("L1", "m2 n2 k4"))
    ran = run(case)
    assert ran.timeline.traffic["L1", "C"].drain_elements == 36
    assert [ran.timeline.busy_cycles(core) for core in range(4)] == [48, 32, 32, 32]


# -- nothing can go on ------------------------------------------------------------------------------------------------------


def test_a_deadlock_prints_who_waits_for_whom() -> None:
    """A network wired wrongly: A in L1 comes from B in L1, and B from A."""
    schedule = Schedule(make(chip([level("DRAM"), level("L1")]), gemm(2, 1, 1), entry("DRAM", "m2"), entry("L1", "", "A B")))
    network = build_network(schedule)
    places = {network.tensors[one.tensor]: number for number, one in enumerate(network.stations) if one.level == "L1"}
    crossed = {places["A"]: places["B"], places["B"]: places["A"]}
    stations = tuple(replace(one, parent=crossed.get(number, one.parent)) for number, one in enumerate(network.stations))
    network = replace(network, stations=stations)
    with pytest.raises(SimulatorBug) as raised:
        Machine(network, schedule, Recorder(network.lanes, network.tensors)).run()
    assert str(raised.value).startswith(
        "deadlock at cycle 0: A at L1[0] waits for B at L1[0] (source residency 0 is not ready); "
        "B at L1[0] waits for A at L1[0] (source residency 0 is not ready)"
    )


def test_each_lockstep_instance_drains_at_its_own_width() -> None:
    """n 3 over two instances, n 0 and 2 in the first, n 1 in the second; k twice outside, sums added in the DRAM.

    The first sends each column twice: a finished-looking part (4 B, k is left), then another to be added (4 B). The second
    keeps its only column for both k and sends it once, finished: 1 B. 4 x 4 + 1 = 17.
    """
    for lockstep in (False, True):
        on = chip([level("DRAM", accumulate=True), level("L1", fanout=(("x", 2),), lockstep=lockstep)], array(lockstep=lockstep))
        case = make(on, gemm(1, 3, 2, "int8", "int32"), entry("DRAM", "k2 n2", "A B C", x="n2"), entry("L1", "", "C"))
        assert run(case).timeline.traffic["L1", "C"].drain_bytes == 17


def test_old_sums_come_back_inside_every_parent() -> None:
    """k over two L1, each with one L2 below; C(0), C(1), C(0), C(1) in each L2: two words come back in both."""
    on = chip(
        [level("DRAM"), level("L1", fanout=(("x", 2),)), level("L2")],
        links=(link("DRAM", "L1", reduce=True), link("L1", "L2", reduce=True)),
    )
    ran = run(make(on, gemm(1, 2, 4), entry("DRAM", "", x="k2"), entry("L1", "k2 n2", "C"), entry("L2", "", "C")))
    assert ran.timeline.traffic["L2", "C"].refill_elements == 4


def test_every_memory_takes_the_sum_of_its_own_arrays() -> None:
    """k over two L1 in lockstep and over two arrays in each: each L1 takes one sum of 4 B."""
    on = chip(
        [level("DRAM"), level("L1", fanout=(("x", 2),), lockstep=True)],
        array(lockstep=True, fanout=(("x", 2),)),
        (link("DRAM", "L1", reduce=True), link("L1", "PE", reduce=True)),
    )
    ran = run(make(on, gemm(1, 1, 4), entry("DRAM", "", "A B C", x="k2"), entry("L1", "", "C", x="k2")))
    assert ran.timeline.traffic["L1", "C"].array_write_bytes == 8


def test_an_instance_that_keeps_its_tile_while_the_others_are_idle() -> None:
    """s of three over two instances, two each: the second is idle at every other step, and its tile stays for all q."""
    on = chip([level("DRAM"), level("L1", fanout=(("x", 3),), lockstep=True), level("L2", lockstep=True), level("L3")],
              links=(link("DRAM", "L1", reduce=True), link("L1", "L2", multicast=Multicast.OVERLAP)))
    what = operator("depthwise2d", options=Options((1, 2), (1, 2), (0, 0)), n=1, c=2, p=1, q=3, r=1, s=3)
    case = make(on, what, entry("DRAM", "c2", "I W O", x="s2"), entry("L1", "q3", "W O"),
                entry("L2", "s2", "I O", {"I": 3, "O": 1}), entry("L3", "", "I W O"))
    traffic = run(case).timeline.traffic
    assert run(as_one(case, False)).timeline.traffic["L3", "W"].fill_elements == traffic["L3", "W"].fill_elements
