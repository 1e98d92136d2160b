"""Iterations that are called alike are: the plan's stays and blocks in them are those of the one before, moved along."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from accelsim.kernels.columns import (
    BLOCK_KIND,
    BLOCK_STEP,
    STAY_DRAIN,
    STAY_FILL,
    STAY_FIRST,
    STAY_LAST,
    STAY_REFILL,
    STAY_SINK,
    STAY_SOURCE,
)
from accelsim.plan.layout import shape
from accelsim.plan.recurrence import Alike, Recurrence
from accelsim.plan.schedule import Schedule
from accelsim.plan.streams import singly
from accelsim.spec.case import Case

from ..helpers import brief, chip, custom, entry, gemm, level, make
from ..properties.strategies import MOST_STEPS, cases, steps_of, wide_cases

SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


def by_iteration(rows: list[list[int]], place: int, begin: int, weight: int, bound: int) -> dict[int, list[list[int]]]:
    """The rows that begin in each iteration of a loop."""
    found: dict[int, list[list[int]]] = {}
    for row in rows:
        if begin <= row[place] < begin + weight * bound:
            found.setdefault((row[place] - begin) // weight, []).append(row)
    return found


def moved(before: list[list[int]], after: list[list[int]]) -> set[tuple[int, ...]]:
    """By how much each stay has moved: its steps, its parent's numbers, and what must not move at all."""
    assert len(before) == len(after)
    told = STAY_FIRST, STAY_LAST, STAY_SOURCE, STAY_SINK, STAY_FILL, STAY_DRAIN, STAY_REFILL
    return {tuple(b[place] - a[place] for place in told) for a, b in zip(before, after, strict=True)}


def check(case: Case) -> int:
    """Compare all that is called alike; returns how many pairs of iterations were."""
    recurrence, schedule, compared = Recurrence(case), Schedule(case), 0
    if recurrence.why_not():
        return 0
    own = {(place, tensor.name, unit.index): list(singly(schedule.stays(place, tensor.name, unit.index)))
           for tensor in case.operator.tensors for place in case.paths[tensor.name][1:] for unit in schedule.units[place]}
    blocks = [list(singly(Schedule(case).blocks(unit.index))) for unit in schedule.units[case.array_entry]]
    for depth, loop in enumerate(recurrence.loops):
        whole = recurrence.weights[depth] * loop.bound
        for begin in range(0, recurrence.weights[0] * recurrence.loops[0].bound, whole):
            alike = recurrence.alike(depth, begin)
            pairs = list(pairwise(range(alike.first, alike.last + 1)))
            compared += len(pairs)
            for (place, _, _), rows in own.items():
                weight, inside = recurrence.weight(depth, place), recurrence.steps_inside[place]
                if not weight:
                    continue
                found = by_iteration(rows, STAY_FIRST, begin // inside, weight, loop.bound)
                moves = {move for a, b in pairs for move in moved(found.get(a, []), found.get(b, []))}
                assert len(moves) <= 1, brief(case)
                assert all(move[:2] == (weight, weight) and not any(move[4:]) for move in moves), brief(case)
            for done in blocks:
                found = by_iteration(done, BLOCK_STEP, begin, recurrence.weights[depth], loop.bound)
                told = {i: [(row[BLOCK_STEP] - i * recurrence.weights[depth], row[BLOCK_KIND]) for row in rows]
                        for i, rows in found.items()}
                assert all(told.get(a) == told.get(b) for a, b in pairs), brief(case)
    return compared


@settings(max_examples=150, deadline=None, suppress_health_check=SLOW)
@given(st.one_of(cases(long=True), wide_cases(long=True)))
def test_what_is_called_alike_is(case: Case) -> None:
    assume(0 < steps_of(case) <= 20 * MOST_STEPS)
    assume(check(case))


def test_a_loop_that_is_no_reduction_is_alike_to_its_end() -> None:
    """An edge of a tensor cuts no tile of a GEMM: of m and n only what is loaded in iteration 0 is another's."""
    on = chip([level("DRAM", 4, 100), level("L1")])
    case = make(on, gemm(32, 40, 48), entry("DRAM", "m8 n10 k12"), entry("L1", "m4 n4 k4"))
    recurrence = Recurrence(case)
    assert [recurrence.alike(depth, 0) for depth in range(3)] == [Alike(0, 7), Alike(0, 9), Alike(0, 10)]
    assert check(case) == (7 - 1) + 8 * (9 - 1) + 8 * 10 * (10 - 1)


def test_a_tile_that_the_operator_cuts_is_not() -> None:
    """30 rows in tiles of 4: the eighth has two."""
    on = chip([level("DRAM", 4, 100), level("L1")])
    assert Recurrence(make(on, gemm(30, 4, 4), entry("DRAM", "m8"), entry("L1", "m4 n4 k4"))).alike(0, 0) == Alike(0, 6)


@pytest.mark.parametrize(("padding", "uncut", "last"), [(0, 0, 28), (1, 1, 28), (2, 1, 28), (3, 2, 28)])
def test_windows_that_reach_into_padding_are_not(padding: int, uncut: int, last: int) -> None:
    """Windows of 3 at two positions a tile: tile i reads 2 i - padding to 2 i - padding + 3 of an axis that ends where the last
    of 30 tiles reads as far beyond it. The last iteration of p is left out in any case: r moves the same axis.
    """
    on = chip([level("DRAM", 1, 20), level("L1")])
    what = custom({"p": 60, "r": 3}, "O", extents={"I": [62 - 2 * padding]}, I=[f"p + r - {padding}" if padding else "p + r"],
                  W=["r"], O=["p"])
    case = make(on, what, entry("DRAM", "p30"), entry("L1", "r3 p2"))
    furthest = (62 - 2 * padding - 1 + padding - 3) // 2
    assert Recurrence(case).alike(0, 0) == Alike(uncut, min(last, furthest))


def test_where_a_tile_lies_is_no_part_of_its_shape() -> None:
    """But that it lies from end to end is: only then do rows join."""
    assert shape(0b0011, 0, 4) == shape(0b0110, 0, 4) == shape(0b1100, 0, 4) != shape(0b1111, 0, 4)
    assert shape(0b0011, 0, 4) != shape(0b11, 0, 2)
    assert shape(0b1001, 0, 4) != shape(0b01001, 0, 5) == shape(0b10010, 0, 5)
    assert shape(0b0110, 0b0010, 4) == shape(0b0011, 0b0001, 4) != shape(0b0011, 0b0010, 4)
    assert shape(0, 0, 4) == shape(0, 0, 9)
