"""A cache before the home: what hits takes neither the port's time nor the latency, what misses both; with both drivers."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import prod
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from accelsim.analytic.estimate import estimate
from accelsim.errors import SpecError
from accelsim.machine.compiled_driver import CompiledMachine
from accelsim.machine.simpy_driver import Machine
from accelsim.plan.blocks import Blocks, Told, Touched
from accelsim.plan.images import IndexSet
from accelsim.plan.schedule import Schedule
from accelsim.plan.stays import UnitStays
from accelsim.spec.build import _cache_problems, make_case
from accelsim.spec.case import Case
from accelsim.spec.chip import Multicast
from accelsim.spec.operator import Role
from accelsim.spec.read import read_chip

from ..helpers import Ran, brief, chip, custom, entry, from_files, gemm, level, link, make, run
from ..oracle import machine_oracle as oracle
from ..plan.test_instances import as_one
from ..properties.strategies import MOST_STEPS, Plan, cases, steps_of, to_oracle, wide_cases
from .test_drivers import compare

SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
LARGE = 1 << 30
SIZES = st.sampled_from([16, 32, 64, 128, 256, 512, 4096, LARGE])
DRIVERS = [Machine, CompiledMachine]


def behind(case: Case, size: int) -> Case:
    """The case with a cache before its outermost level, of so many bytes, or a little more: whole granules."""
    first, *others = case.chip.levels
    (memory,) = first.memories
    rounded = -(-size // memory.granularity_bytes) * memory.granularity_bytes
    levels = (replace(first, memories=(replace(memory, cache_bytes=rounded),)), *others)
    made = replace(case, chip=replace(case.chip, levels=levels))
    assume(not _cache_problems(made) and any(0 in path for path in made.paths.values()))
    return made


def counted(ran: Ran) -> dict[str, dict[str, int]]:
    """By tensor: hit, missed, written, back and dirty bytes."""
    found: dict[str, dict[str, int]] = {}
    for name, size in ran.timeline.counts.items():
        if name.startswith("cache_"):
            what, tensor = name.removeprefix("cache_").split("_bytes ")
            found.setdefault(tensor, {})[what] = size
    return found


# -- both drivers ----------------------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None, suppress_health_check=SLOW)
@given(cases(), SIZES)
def test_drivers_agree_with_one_instance(case: Case, size: int) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    compare(behind(case, size))


@settings(max_examples=200, deadline=None, suppress_health_check=SLOW)
@given(wide_cases(), SIZES)
def test_drivers_agree_with_several(case: Case, size: int) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    compare(behind(case, size))


@pytest.mark.nightly
@settings(max_examples=5000, deadline=None, suppress_health_check=SLOW)
@given(st.one_of(cases(), wide_cases()), SIZES)
def test_drivers_agree_at_length(case: Case, size: int) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    compare(behind(case, size))


@settings(max_examples=150, deadline=None, suppress_health_check=SLOW)
@given(st.one_of(cases(), wide_cases()), SIZES)
def test_no_run_beats_a_bound_of_the_estimate(case: Case, size: int) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    made = behind(case, size)
    cycles = run(made, None, CompiledMachine).cycles
    assert [one for one in estimate(made).bounds if one.cycles > cycles] == [], brief(made)


# -- what hits -------------------------------------------------------------------------------------------------------


def replayed(case: Case, size: int) -> dict[str, Counter[str]]:
    """Bytes by tensor from the oracle's stays, element by element: what was asked for longest ago goes first."""
    problem = to_oracle(case)
    plan = Plan(problem)
    events: list[tuple[int, bool, int, oracle.Residency]] = []
    for (at, _), stream in plan.streams.items():
        for stay in stream:
            if at and stay.parent_level == 0:
                begins = min(number for point, number in plan.array_steps.items() if plan.points[at].index(
                    point[:plan.depths[at]]) == stay.first_step)
                events.append((begins, False, stay.order, stay))
                if stay.tensor.output:
                    events.append((plan.last_array_step[stay.last_point], True, stay.order, stay))
    held: OrderedDict[tuple[str, oracle.Element], int] = OrderedDict()
    dirty: set[tuple[str, oracle.Element]] = set()
    written: set[tuple[str, oracle.Element]] = set()
    found: dict[str, Counter[str]] = {stay.tensor.name: Counter() for *_, stay in events}
    for _, drain, _, stay in sorted(events, key=lambda event: event[:3]):
        tensor, counts = stay.tensor, found[stay.tensor.name]
        fine = {stay.drain_bytes // len(stay.tile)} if drain and stay.tile else set()
        assert not fine or fine <= {tensor.element_bytes, tensor.accumulator_bytes}
        width = fine.pop() if fine else tensor.accumulator_bytes if tensor.output else tensor.element_bytes
        for element in sorted(stay.tile if drain else stay.moved_in):
            word = tensor.name, element
            there = word in held
            if drain:
                counts["written"] += width
                if problem.memories[0].accumulate and word in written and not there:
                    counts["missed"] += width
                written.add(word)
                dirty.add(word)
                held[word] = width
            elif there:
                counts["hit"] += held[word]
            else:
                counts["missed"] += width
                held[word] = width
            held.move_to_end(word)
            while sum(held.values()) > size:
                gone, bytes_gone = held.popitem(last=False)
                if gone in dirty:
                    dirty.remove(gone)
                    found[gone[0]]["back"] += bytes_gone
    for word in dirty:
        found[word[0]]["dirty"] += held[word]
    return found


@settings(max_examples=200, deadline=None, suppress_health_check=SLOW)
@given(cases(), st.integers(1, 63))
def test_hits_are_those_of_a_replay_element_by_element(case: Case, words: int) -> None:
    """So small a cache keeps single elements. Tiles that finish in part are left to the other tests: they have two widths."""
    assume(steps_of(case) <= MOST_STEPS // 4)
    made = behind(case, 4 * words)
    plan = Plan(to_oracle(made))
    for stay in (stay for stream in plan.streams.values() for stay in stream if stay.tensor.output and stay.tile):
        assume(not stay.drain_bytes % len(stay.tile))
    got = counted(run(made, None, CompiledMachine))
    want = replayed(made, 4 * words)
    assert {name: +Counter(own) for name, own in got.items()} == {name: +own for name, own in want.items()}, brief(made)


@settings(max_examples=150, deadline=None, suppress_health_check=SLOW)
@given(st.one_of(cases(), wide_cases()), SIZES)
def test_what_comes_in_and_goes_out_adds_up(case: Case, size: int) -> None:
    """With room for all every element misses once, and nothing is written back; else more misses, and each time it is written it
    is written back once at most. Granules are one byte: small caches cut tiles into smaller blocks, of more granules.
    """
    assume(steps_of(case) <= MOST_STEPS and case.chip.levels[0].memories[0].granularity_bytes == 1)
    made = behind(case, size)
    bounded, free = (counted(run(one, None, CompiledMachine)) for one in (made, behind(case, LARGE)))
    for tensor in made.operator.tensors:
        if tensor.name not in free:
            continue
        own, ample = bounded[tensor.name], free[tensor.name]
        assert own["back"] + own["dirty"] <= own["written"]
        assert ample["back"] == 0
        assert own["missed"] >= ample["missed"]
        if tensor.role is not Role.OUTPUT:
            assert own["hit"] + own["missed"] == ample["hit"] + ample["missed"]
            assert own["written"] == own["dirty"] == 0


@settings(max_examples=25, deadline=None, suppress_health_check=SLOW)
@given(wide_cases())
def test_instances_in_lockstep_bring_in_what_those_on_their_own_do(case: Case) -> None:
    """With room for all, each element comes in once, whoever asks for it first."""
    assume(steps_of(case) <= MOST_STEPS // 2)
    assume(case.nest.spatial_above(case.array_entry))
    assume(case.chip.levels[0].memories[0].granularity_bytes == 1)
    together, apart = (counted(run(behind(as_one(case, flag), LARGE))) for flag in (True, False))
    inputs = [tensor.name for tensor in case.operator.tensors if tensor.role is not Role.OUTPUT and tensor.name in apart]
    assert {name: together[name]["missed"] for name in inputs} == {name: apart[name]["missed"] for name in inputs}, brief(case)


# -- blocks ----------------------------------------------------------------------------------------------------------


def elements(blocks: Blocks, number: int, extents: tuple[int, ...]) -> set[tuple[int, ...]]:
    """The elements of a block, by asking for each which block it is in."""
    return {index for index in product(*map(range, extents)) if number in _block_of(blocks, index)}


def _block_of(blocks: Blocks, index: tuple[int, ...]) -> list[int]:
    places = [[part for part, mask in enumerate(own.masks) if mask >> one & 1]
              for own, one in zip(blocks._axes, index, strict=True)]
    return [sum(part * weight for part, weight in zip(chosen, blocks._weights, strict=True)) for chosen in product(*places)]


def told(case: Case) -> Iterator[tuple[Blocks, Told]]:
    schedule = Schedule(case)
    for tensor in case.operator.tensors:
        if len(case.paths[tensor.name]) > 1:
            rules = schedule._rules[case.paths[tensor.name][1], tensor.name]
            (unit,) = schedule.units[rules.entry]
            blocks = Blocks(rules.numbers, 5, 1)
            for one in UnitStays(rules, unit).told():
                yield blocks, one


@settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
@given(cases())
def test_blocks_make_up_what_is_moved(case: Case) -> None:
    """Windows, strides, padding: the blocks of a load are disjoint, and together what a tile has and the one before had not."""
    assume(steps_of(case) <= MOST_STEPS // 4)
    for blocks, one in told(case):
        for touched in (*one.fills, *one.drains):
            now, old = (_elements(tile) for tile in (touched.now, touched.old))
            if len(now) > 60:
                continue
            extents = tuple([axis.extent for axis in touched.now])
            assume(prod(extents) <= 400)
            own = [elements(blocks, number, extents) for number in blocks.of(touched)]
            assert all(0 < len(block) <= 5 for block in own)
            assert sum(map(len, own)) == len(set().union(*own)) == len(now - old), brief(case)
            assert set().union(*own) == now - old
            assert sum(blocks.size_bytes(number, 32) for number in blocks.of(touched)) == 4 * len(now - old)


def _elements(tile: object) -> set[tuple[int, ...]]:
    if tile is None:
        return set()
    assert isinstance(tile, tuple)
    assert all(isinstance(one, IndexSet) for one in tile)
    return set(product(*([index for index in range(one.extent) if one.mask >> index & 1] for one in tile)))


# -- cycle by cycle --------------------------------------------------------------------------------------------------


def twice(latency: int = 100, *, size: int | None = LARGE, rate: int = 4, order: str = "n2 k2") -> Case:
    """A[4, k], in two tiles of 16 words, comes in for each half of n; everything is single buffered."""
    on = chip([level("DRAM", rate, latency, ports="shared", cache_bytes=size), level("SRAM", buffers=(("", 1),))])
    return make(on, gemm(4, 8, 8), entry("DRAM", order), entry("SRAM", "m4 n4 k4"))


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_hit_takes_no_time(driver: type[Machine | CompiledMachine]) -> None:
    """A0 is there 16 cycles of service and 100 of latency after it was asked for; the second time at once."""
    ran = run(twice(), None, driver)
    asked, ready = ran.times("claimed", "A"), ran.times("ready", "A")
    assert (ready[0] - asked[0], ready[2] - asked[2], ready[3] - asked[3]) == (116, 0, 0)
    assert counted(ran)["A"] == {"hit": 128, "missed": 128, "written": 0, "back": 0, "dirty": 0}
    assert counted(ran)["B"]["missed"] == 256
    assert counted(ran)["C"] == {"hit": 0, "missed": 0, "written": 128, "back": 0, "dirty": 128}
    assert ran.times("drained", "C") == ran.times("released", "C"), "what is kept there has arrived at once"


@pytest.mark.parametrize("driver", DRIVERS)
def test_without_it_all_is_as_before(driver: type[Machine | CompiledMachine]) -> None:
    ran = run(twice(size=None), None, driver)
    assert all(ready - asked >= 116 for asked, ready in zip(ran.times("claimed", "A"), ran.times("ready", "A"), strict=True))
    assert counted(ran) == {}


@pytest.mark.parametrize(("size", "hit"), [(128, 0), (191, 0), (192, 0), (256, 0), (319, 0), (320, 128)])
def test_what_was_asked_for_longest_ago_goes_first(size: int, hit: int) -> None:
    """A0 B00 A1 B10 C0 A0 B01 A1 B11: a tile of A comes back when four others of 64 B have been, C among them."""
    assert counted(run(twice(size=size)))["A"]["hit"] == hit


@pytest.mark.parametrize("driver", DRIVERS)
def test_who_throws_out_what_is_dirty_writes_it_back(driver: type[Machine | CompiledMachine]) -> None:
    """With room for two tiles C's first leaves when the second after it comes: its 64 B pass the port before that tile's 64."""
    ran = run(twice(size=128), None, driver)
    assert counted(ran)["C"] == {"hit": 0, "missed": 0, "written": 128, "back": 64, "dirty": 64}
    asked, ready = ran.times("claimed", "B"), ran.times("ready", "B")
    assert max(later - first for first, later in zip(asked, ready, strict=True)) >= 132


def adding(size: int, order: str) -> Case:
    on = chip([level("DRAM", 4, 10, ports="shared", accumulate=True, cache_bytes=size), level("SRAM")])
    return make(on, gemm(4, 8, 8), entry("DRAM", order), entry("SRAM", "m4 n4 k4"))


@pytest.mark.parametrize(("size", "missed"), [(LARGE, 0), (64, 128)])
def test_sums_that_have_left_come_back_to_be_added_to(size: int, missed: int) -> None:
    """k outside: each of C's two tiles is written twice; the second time it has to be there."""
    found = counted(run(adding(size, "k2 n2")))["C"]
    assert (found["written"], found["missed"]) == (256, missed)
    assert found["back"] + found["dirty"] == (256 if missed else 128)


@pytest.mark.parametrize("driver", DRIVERS)
def test_cores_that_share_a_link_pass_the_cache_once(driver: type[Machine | CompiledMachine]) -> None:
    """A goes to two cores at once: looked up once, missed once; B's halves are each core's own."""
    on = chip([level("DRAM", 4, 10, ports="shared", cache_bytes=LARGE), level("L1", fanout=(("x", 2),))],
              links=(link("DRAM", "L1", 8, multicast=Multicast.EQUAL),))
    found = counted(run(make(on, gemm(4, 8, 4), entry("DRAM", "m2", x="n2"), entry("L1", "m2 n4 k4")), None, driver))
    assert (found["A"]["hit"], found["A"]["missed"], found["B"]["missed"], found["B"]["hit"]) == (0, 64, 128, 0)
    alone = replace(on, links=(link("DRAM", "L1", 8),))
    found = counted(run(make(alone, gemm(4, 8, 4), entry("DRAM", "m2", x="n2"), entry("L1", "m2 n4 k4")), None, driver))
    assert (found["A"]["hit"], found["A"]["missed"]) == (64, 64)


@pytest.mark.parametrize("driver", DRIVERS)
def test_what_is_on_its_way_is_waited_for(driver: type[Machine | CompiledMachine]) -> None:
    """Two cores take the same A, of 64 B, at once: the second asks behind the first, and has it no sooner. The port serves A once
    (16 cycles) and a byte's time for the second, and B's halves of 128 B.
    """
    on = chip([level("DRAM", 4, 10, cache_bytes=LARGE, ports="own", tensors="ABC"), level("L1", fanout=(("x", 2),))])
    ran = run(make(on, gemm(4, 8, 4), entry("DRAM", "m1", x="n2"), entry("L1", "m4 n4 k4")), None, driver)
    assert counted(ran)["A"] == {"hit": 64, "missed": 64, "written": 0, "back": 0, "dirty": 0}
    assert ran.times("claimed", "A", unit=0) == ran.times("claimed", "A", unit=1) == [0]
    assert (ran.times("ready", "A", unit=0), ran.times("ready", "A", unit=1)) == ([26], [27])


@pytest.mark.parametrize("driver", DRIVERS)
def test_long_transfers_in_pieces(driver: type[Machine | CompiledMachine]) -> None:
    """Pieces of a load that hits wait for the link alone, and where that takes no time, for nothing."""
    for rate, chunk in ((8, 16), (None, 16)):
        on = chip([level("DRAM", 4, 10, ports="shared", cache_bytes=LARGE), level("SRAM", buffers=(("", 1),))],
                  links=(link("DRAM", "SRAM", rate, chunk_bytes=chunk),))
        ran = run(make(on, gemm(4, 8, 8), entry("DRAM", "n2 k2"), entry("SRAM", "m4 n4 k4")), None, driver)
        asked, ready = ran.times("claimed", "A"), ran.times("ready", "A")
        assert ready[3] - asked[3] == (8 if rate else 0)


def test_granules_are_kept_whole() -> None:
    """Rows of 3 words of 4 B, in granules of 32 B: each tile's row takes one."""
    on = chip([level("DRAM", 4, 10, cache_bytes=4096, granularity_bytes=32), level("SRAM")])
    found = counted(run(make(on, gemm(4, 4, 6), entry("DRAM", "n2 k2"), entry("SRAM", "m4 n2 k3"))))
    assert (found["A"]["missed"], found["A"]["hit"]) == (2 * 4 * 32, 2 * 4 * 32)


def test_what_nothing_touches_is_no_bound() -> None:
    """Every other input of a strided product is never read: the bound is of the others."""
    what = custom({"a": 8}, "Z", X=["2*a"], Y=["a"], Z=["a"])
    on = chip([level("DRAM", 1, ports="shared", cache_bytes=LARGE), level("SRAM")])
    found = estimate(make(on, what, entry("DRAM", "a8"), entry("SRAM", "")))
    (cold,) = [bound for bound in found.bounds if bound.name == "DRAM port port"]
    assert cold.cycles == 2 * 8 * 4


# -- files -----------------------------------------------------------------------------------------------------------


GOOD = """\
name: mine
description: A chip with a cache
clock: 1 GHz
levels:
  - {name: DRAM, kind: dram, capacity: 1 GiB, bandwidth: 8 B/cycle, granularity: 32 B, cache: 1 MiB}
  - {name: SRAM, kind: sram, capacity: 64 KiB, bandwidth: unlimited}
  - name: PE
    array: {model: spatial, pes: {}}
"""


@pytest.mark.parametrize(("found", "put", "told"), [
    ("cache: 1 MiB", "cache: 1000 B", "1,000 B are no whole number of granules of 32 B"),
    ("bandwidth: 8 B/cycle", "bandwidth: unlimited", "a cache before an unlimited bandwidth spares nothing"),
    ("bandwidth: unlimited", "bandwidth: unlimited, cache: 1 KiB", "it belongs to the outermost level"),
    ("bandwidth: 8 B/cycle, granularity: 32 B", "timing: ddr4-2400", "'cache' beside `timing`"),
    ("cache: 1 MiB", "cache: unlimited", "cache"),
    ("cache: 1 MiB", "cache: 1 MiB, bridge: 1 KiB", "'cache' beside `bridge`"),
    ("granularity: 32 B, cache: 1 MiB", "bridge: 1 KiB", "'bridge' without `granularity`"),
])
def test_what_a_file_may_not_ask(found: str, put: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(GOOD, encoding="utf-8")
    assert read_chip(str(path)).levels[0].memories[0].cache_bytes == 1 << 20
    path.write_text(GOOD.replace(found, put), encoding="utf-8")
    with pytest.raises(SpecError, match=told):
        read_chip(str(path))


def test_the_array_itself_does_not_read_through_it(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(GOOD, encoding="utf-8")
    mapping = "levels:\n  - {level: DRAM, loops: [{m: 4}, {n: 4}, {k: 4}]}\n  - {level: SRAM, binding: [A, C]}\n"
    with pytest.raises(SpecError, match="the array would take B from DRAM itself, past its cache"):
        from_files(str(path), "gemm:m=4,n=4,k=4", mapping)


def test_touched_without_anything_before_is_all_of_it() -> None:
    case = twice()
    (blocks, first), *_ = told(make_case(case.chip, case.operator, case.mapping))
    (touched,) = first.fills
    assert touched.old is None
    assert blocks.of(touched) == blocks.of(Touched(touched.now, None, touched.bits))
