"""Banks in the loop: how long an array stands still for them and what that is put down to, with both drivers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from accelsim.analytic.estimate import estimate
from accelsim.machine.compiled_driver import CompiledMachine
from accelsim.machine.sram import replay
from accelsim.plan.tileaccess import tile_access
from accelsim.spec.banks import Banks, Layout, Ports, parse_layout, parse_ports
from accelsim.spec.case import Case
from accelsim.stalls import StallCause
from accelsim.timeline import LaneKind

from ..helpers import array, brief, chip, entry, gemm, level, make, run, stalls
from ..properties.strategies import MOST_STEPS, cases, steps_of, wide_cases
from .bank_cases import with_banks
from .test_drivers import compare

SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
banks = st.builds(Banks, st.sampled_from([1, 2, 4, 8, 16]), st.sampled_from([1, 2, 3, 4, 8]),
                  st.sampled_from([Ports(both=1), Ports(both=2), Ports(1, 1), Ports(2, 1), Ports(1, 2), Ports(1, 0, 1)]),
                  st.sampled_from([1, 1, 4, 16]))
layouts = st.dictionaries(st.sampled_from("ABCIWO"), st.sampled_from([parse_layout(word) for word in (
    "row", "column", "padded:1", "swizzled", "blocked:2x3")]))


def banked(case: Case, one: list[Banks], lie: dict[str, Layout]) -> Case:
    assume(steps_of(case) <= MOST_STEPS)
    made = with_banks(case, one, lie)
    assume(made is not None)
    assert made is not None
    return made


@settings(max_examples=100, deadline=None, suppress_health_check=SLOW)
@given(cases(), st.lists(banks, min_size=1, max_size=3), layouts)
def test_drivers_agree_with_one_instance(case: Case, one: list[Banks], lie: dict[str, Layout]) -> None:
    compare(banked(case, one, lie))


@settings(max_examples=80, deadline=None, suppress_health_check=SLOW)
@given(wide_cases(), st.lists(banks, min_size=1, max_size=3), layouts)
def test_drivers_agree_with_several(case: Case, one: list[Banks], lie: dict[str, Layout]) -> None:
    compare(banked(case, one, lie))


@pytest.mark.nightly
@settings(max_examples=4000, deadline=None, suppress_health_check=SLOW)
@given(st.one_of(cases(), wide_cases()), st.lists(banks, min_size=1, max_size=3), layouts)
def test_drivers_agree_at_length(case: Case, one: list[Banks], lie: dict[str, Layout]) -> None:
    compare(banked(case, one, lie))


@settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
@given(st.one_of(cases(), wide_cases()), st.lists(banks, min_size=1, max_size=3), layouts)
def test_no_run_beats_a_bound_of_the_estimate(case: Case, one: list[Banks], lie: dict[str, Layout]) -> None:
    made = banked(case, one, lie)
    cycles = run(made, None, CompiledMachine).cycles
    assert [bound for bound in estimate(made).bounds if bound.cycles > cycles] == [], brief(made)


@settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
@given(st.one_of(cases(), wide_cases()), layouts)
def test_with_ports_enough_nothing_changes(case: Case, lie: dict[str, Layout]) -> None:
    made = banked(case, [Banks(4, 1, Ports(both=1 << 20))], lie)
    with_them, without = run(made, None, CompiledMachine).timeline, run(case, None, CompiledMachine).timeline
    assert with_them.cycles == without.cycles
    assert with_them.counts["bank_own_cycles"] == with_them.counts["bank_transfer_cycles"] == 0
    lanes = [number for number, lane in enumerate(without.lanes) if lane.kind is LaneKind.ARRAY]
    assert [stalls(with_them, lane) for lane in lanes] == [stalls(without, lane) for lane in lanes]


@settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
@given(cases(), st.lists(banks, min_size=1, max_size=3), layouts)
def test_what_is_lost_inside_steps_is_a_stall(case: Case, one: list[Banks], lie: dict[str, Layout]) -> None:
    """What stands still beside the last results of a step is no part of a step; all else is told, to a cycle."""
    timeline = run(banked(case, one, lie), None, CompiledMachine).timeline
    told = sum(cycles for (cause, *_), cycles in timeline.culprits.items() if cause == StallCause.BANK_CONFLICT.code)
    assert told == stalls(timeline).get("bank_conflict", 0)
    assert told <= timeline.counts["bank_own_cycles"] + timeline.counts["bank_transfer_cycles"]


# -- by hand ----------------------------------------------------------------------------------------------------------


def product(k: int, count: int, ports: Ports, *, accumulate: bool = False, grain: int = 1) -> Case:
    """A product of fp32 whose tensors are at home in one memory, one MAC a cycle, words of an element."""
    on = chip([level("SRAM", accumulate=accumulate)])
    made = with_banks(make(on, gemm(1, 1, k), entry("SRAM", "k*")), [Banks(count, 4, ports, grain)])
    assert made is not None
    return made


@pytest.mark.parametrize(("ports", "accumulate", "lost"), [
    # an operation reads A, B and, from the second on, C, which it writes
    (Ports(both=1), False, 2 + 7 * 3), (Ports(both=2), False, 1 + 7 * 1), (Ports(both=4), False, 0), (Ports(3, 1), False, 0),
    (Ports(2, 1), False, 7), (Ports(1, 0, 1), False, 1 + 7 * 1), (Ports(both=1), True, 8 * 2), (Ports(2, 1), True, 0),
])
def test_operands_in_one_bank(ports: Ports, accumulate: bool, lost: int) -> None:
    """Of eight operations on one bank, and nothing else: the stall is provoked alone, and of its whole size."""
    ran = run(product(8, 1, ports, accumulate=accumulate))
    assert stalls(ran.timeline) == ({"bank_conflict": lost} if lost else {})
    assert ran.cycles == 8 + lost
    assert ran.timeline.busy_cycles(0) == 8
    assert ran.timeline.counts["bank_own_cycles"] == lost
    assert dict(ran.timeline.culprits) == ({("bank_conflict", "SRAM", "", ran.timeline.lanes[0].name): lost} if lost else {})


def test_operands_in_banks_of_their_own() -> None:
    """Eight words of each tensor in a bank: what is left is the sum, which is read and written in one."""
    ran = run(product(8, 4, Ports(both=1), grain=8))
    assert stalls(ran.timeline) == {"bank_conflict": 7}


def streamed(lie: str, count: int, rate: Fraction | None = None, tiles: int = 1) -> Case:
    """A product on eight PEs in a column, which hold a column of B and take a row of A in each cycle, eight rows to a tile. The
    sums lie in a memory with ports enough. Without a rate there is no other level.
    """
    sram, sums = level("SRAM", tensors="AB"), level("ACC", accumulate=True)
    pes = array((("y", 8),), preload=Fraction(4))
    memories = (replace(sram.memories[0], tensors=frozenset({"A", "B"})), replace(sums.memories[0], tensors=frozenset({"C"})))
    within, step = replace(sram, memories=memories), entry("PE", "m8", "B", y="k8")
    if rate is None:
        case = make(chip([within], pes), gemm(8, 1, 8), entry("SRAM", ""), step)
    else:
        case = make(chip([level("DRAM", rate), within], pes), gemm(8 * tiles, 1, 8), entry("DRAM", f"m{tiles}"),
                    entry("SRAM", "", "A B C", {"A": 2, "B": 1, "C": 2}), step)
    free, own = Banks(1, 4, Ports(both=64)), Banks(count, 4, Ports(both=1))
    made = with_banks(case, [own, free] if rate is None else [free, own, free], {"A": parse_layout(lie)})
    assert made is not None
    return made


@pytest.mark.parametrize(("lie", "count", "lost"), [
    # a row is eight words in a row: two in each of four banks, or one in each of eight; by columns they are eight apart
    ("row", 4, 8 * 1), ("row", 8, 0), ("column", 4, 8 * 7), ("column", 8, 8 * 7), ("swizzled", 8, 0), ("padded:1", 8, 0),
    ("blocked:8x2", 8, 8 * 3), ("blocked:2x4", 8, 8 * 1), ("column", 16, 8 * 3),
])
def test_rows_of_an_operand_that_lies_by_rows_or_by_columns(lie: str, count: int, lost: int) -> None:
    ran = run(streamed(lie, count))
    told = stalls(ran.timeline)
    assert told.pop("array_fill_drain") == 8, "a word of B a cycle"
    assert told == ({"bank_conflict": lost} if lost else {})
    assert ran.cycles == 8 + 8 + lost


def test_a_transfer_under_a_step_holds_it_up_and_is_not_held_up_itself() -> None:
    """A word of A's second tile each cycle from 72 on, in one bank after the other. Of B's words the first meets it, and all
    follow it a cycle late, to 81. Each of the eight rows of A's first tile misses one bank, and takes two cycles, to 97.
    """
    ran = run(streamed("row", 8, Fraction(4), tiles=2))
    assert ran.times("ready", "A") == [64, 136]
    assert ran.times("ready", "B") == [72]
    assert ran.times("ready", "B", entry=2) == [81]
    assert ran.timeline.first_starts == (81,)
    assert ran.times("released", "C")[0] == 97
    assert ran.times("released", "C")[1] == 136 + 8, "no transfer is left to meet"
    assert ran.cycles == 144 + 8
    assert stalls(ran.timeline)["bank_conflict"] == 8
    counts = ran.timeline.counts
    assert (counts["bank_own_cycles"], counts["bank_transfer_cycles"]) == (0, 1 + 8)
    lane = ran.timeline.lanes[0].name
    assert ran.timeline.culprits["bank_conflict", "SRAM", "transfers", lane] == 8


@pytest.mark.parametrize("lie", ["row", "column", "padded:1", "swizzled", "blocked:4x4"])
@pytest.mark.parametrize("count", [1, 2, 8])
@pytest.mark.parametrize("loops", ["m* n* k*", "k* n* m*", "n* k* m*"])
@pytest.mark.parametrize("ports", ["1RW", "1R1W", "1RW1R", "1RW1W"])
def test_a_step_loses_what_its_replay_does(lie: str, count: int, loops: str, ports: str) -> None:
    """With nothing moving beside it, the array stands still as long as that which ``accelsim sram`` replays."""
    on = chip([level("SRAM", capacity_bytes=1 << 20)], array((("x", 4), ("y", 4)), depth_cycles=3))
    case = make(on, gemm(8, 12, 8), entry("SRAM", loops), entry("PE", "", x="n4", y="k4"))
    lies = dict.fromkeys("ABC", parse_layout(lie))
    made = with_banks(case, [Banks(count, 4, parse_ports(ports))], lies)
    assert made is not None
    (memory,) = made.chip.levels[0].memories
    assert memory.banked is not None
    (alone,) = replay(memory.banked, tile_access(made, 0, memory, memory.banked, lies, most_passes=1000).requesters).requesters
    lost = run(made, None, CompiledMachine).timeline.counts["bank_own_cycles"]
    assert lost == alone.lost_bank + alone.lost_port_kind > 0


@pytest.mark.parametrize("least", [1, 2, 3, 7])
@pytest.mark.parametrize("loops", ["m* n* k*", "k* n* m*"])
def test_passes_that_take_the_least_take_as_long_as_their_replay(least: int, loops: str) -> None:
    """Ragged passes of three iterations and two, each given its time before the next begins to ask. The last one's time is over
    before all it asked for is served.
    """
    on = chip([level("SRAM", capacity_bytes=1 << 20)], array((("x", 4), ("y", 4)), least_cycles=least))
    case = make(on, gemm(8, 12, 8), entry("SRAM", loops), entry("PE", "m3", x="n4", y="k4"))
    lies = dict.fromkeys("ABC", parse_layout("row"))
    made = with_banks(case, [Banks(2, 4, Ports(both=1))], lies)
    assert made is not None
    (memory,) = made.chip.levels[0].memories
    assert memory.banked is not None
    (alone,) = replay(memory.banked, tile_access(made, 0, memory, memory.banked, lies, most_passes=1000).requesters).requesters
    ran = run(made, None, CompiledMachine)
    hold = 6 * (2 * max(3, least) + max(2, least))
    assert ran.timeline.counts["hold_cycles"] == hold
    assert ran.cycles == alone.cycles == hold + ran.timeline.counts["bank_own_cycles"]
    compare(made)


def test_results_that_wait_for_a_bank_leave_later() -> None:
    """The end of a run with nothing else to do: what its last results wait is told as emptying the array."""
    on = chip([level("SRAM")], array((("x", 4),), depth_cycles=5))
    made = with_banks(make(on, gemm(1, 4, 1), entry("SRAM", "m* k*"), entry("PE", "", x="n4")), [Banks(1, 4, Ports(both=1))])
    assert made is not None
    # an operation reads A and four of B, one word a cycle; five cycles after its first the results leave, one word a cycle
    ran = run(made)
    assert stalls(ran.timeline) == {"bank_conflict": 4, "array_fill_drain": 5 + 3}
    compare(made)
