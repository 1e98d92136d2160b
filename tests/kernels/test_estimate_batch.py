"""Are the counts of the batch estimate right? Compared with plain enumeration; small enough to run uncompiled."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil, floor, prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from accelsim.analytic.estimate import estimate
from accelsim.kernels.estimate_layout import (
    ALONE,
    BYTES,
    CALM,
    CUT,
    EDGE,
    ELEMENTS,
    P_TICKS,
    ROUNDS,
    SIZE,
    STEP_WIDTH,
    STEPS,
    STOP_WIDTH,
    TICKS,
    TILES,
    TRANSFERS,
    W_LATENCY,
    W_STOP,
    W_STOPS,
    WAY_WIDTH,
)
from accelsim.kernels.estimate_steps import EVEN, ILLEGAL, LEGAL, TOO_LARGE, count_steps, digits, lay_out
from accelsim.kernels.estimate_transfers import alone, carry, credit
from accelsim.kernels.estimate_windows import image, largest_tile
from accelsim.kernels.estimate_windows import settings as settings_of
from accelsim.kernels.jit import flat
from accelsim.search.batch import KINDS, BatchEstimator
from accelsim.spec.build import make_case
from accelsim.spec.mapping import Loop, Mapping, MappingLevel
from accelsim.spec.read import read_chip, read_workload


def ints(*values: object) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.array(values, dtype=np.int64)


@njit  # parts are called by kernels alone
def digits_of(extent: int, loops: Any, bounds: Any, stride: Any, digit: Any) -> None:
    digits(extent, loops, len(loops), bounds, stride, digit)


@njit
def carried(m: Any, way: int, size: int, times: int, bits: int, s: Any) -> None:
    carry(flat(m), way, size, times, bits, flat(s), 0)


@njit
def cycles_alone(m: Any, way: int, size: int, bits: int, s: Any) -> int:
    return alone(flat(m), way, size, bits, flat(s))


@njit
def credit_of(total: int, stays: int, slots: int, even: int) -> int:
    return credit(total, stays, slots, even)


@njit
def image_of(coefficients: Any, tile: Any, place: int, extent: int, held: Any) -> tuple[int, int]:
    return image(coefficients, tile, len(coefficients), place, extent, held)


@njit
def largest_of(coefficients: Any, place: int, extent: int, reach: Any, tile: Any, held: Any) -> int:
    return largest_tile(coefficients, len(coefficients), place, extent, reach, tile, held)


def laid_out(bounds: list[int], extent: int, temporal: list[bool], room: int = 1 << 20, unsplit: int = 0) -> tuple[
        list[int], list[int], int]:
    """(settings of two equal rows, the lines of all settings, what the rows are) of one line whose loops are the columns."""
    columns = len(bounds)
    setting, (line_of, row_of, kind, states) = np.zeros((2, 1), np.int64), np.zeros((4, 2), np.int64)
    number = lay_out(
        ints(extent), ints([range(columns)]).reshape(1, 1, columns), ints(columns), ints(*temporal),
        ints(*(-1 if own else 0 for own in temporal)), ints(room), ints(*[unsplit] * columns), ints(bounds, bounds), ints(0, 0),
        ints(0), np.full((1, 4), -1), setting, line_of, row_of, kind, states)
    assert states[0] == states[1]
    return setting[:, 0].tolist(), line_of[:number].tolist(), int(states[0])


LOOPS = st.lists(st.tuples(st.integers(1, 4), st.booleans()), min_size=1, max_size=5)


@given(loops=LOOPS, short=st.floats(0, 1), above=st.integers(0, 5), counted=st.lists(st.booleans(), min_size=5, max_size=5))
@settings(deadline=None, max_examples=150)
def test_steps_are_those_of_a_walk(loops: list[tuple[int, bool]], short: float, above: int, counted: list[bool]) -> None:
    bounds, temporal = [bound for bound, _ in loops], [own for _, own in loops]
    extent = max(1, prod(bounds) - int(short * (prod(bounds) - 1)))
    above, columns = min(above, len(loops)), len(loops)
    setting, lines, state = laid_out(bounds, extent, temporal)
    assert state == (EVEN if extent == prod(bounds) else LEGAL)
    assert (setting, lines) == ([0, 0], [0])
    columns = len(loops)
    stride, digit = np.zeros(columns, np.int64), np.zeros(columns, np.int64)
    digits_of(extent, ints(*range(columns)), ints(*bounds), stride, digit)
    assert [stride[i] for i in range(columns)] == [prod(bounds[i + 1:]) for i in range(columns)]
    assert sum(a * b for a, b in zip(stride.tolist(), digit.tolist(), strict=True)) == extent - 1
    above = min(above, columns)
    times = [i for i in range(above) if temporal[i]]
    steps = np.zeros((1, 1, STEPS + STEP_WIDTH * (columns + 1)), np.int64)
    count_steps(ints(extent), ints([range(columns)]).reshape(1, 1, columns), ints(columns), ints(*temporal), ints([above]),
                ints([len(times)]), ints(counted[:columns]), ints(bounds), ints(0), ints(0), ints(0), ints(state),
                np.zeros((2, columns), np.int64), steps)
    tile = prod(bounds[above:])
    assert int(steps[0, 0, SIZE]) == min(tile, extent)
    assert int(steps[0, 0, EDGE]) == (extent % tile if tile < extent else 0)
    inner = max((i for i in times if bounds[i] > 1), default=-1)
    for outer in range(len(times) + 1):
        free = [i for i in range(above) if (i in times[:outer] if temporal[i] else counted[i])]
        starts = [sum(own * int(stride[i]) for i, own in zip(free, point, strict=True))
                  for point in product(*(range(bounds[i]) for i in free))]
        starts = [start for start in starts if start < extent]
        cut = [start for start in starts if start + tile > extent and tile < extent]
        wrapping = [start for start in starts if inner in times[outer:] and start + int(stride[inner]) < extent]
        at = STEPS + outer * STEP_WIDTH
        assert int(steps[0, 0, at + TILES]) == len(starts)
        assert int(steps[0, 0, at + CUT]) == len(cut)
        assert int(steps[0, 0, at + CALM]) == len(starts) - len({*cut, *wrapping})
        assert not {*cut} & {*wrapping}


@pytest.mark.parametrize(("bounds", "extent", "room", "unsplit", "state"), [
    ([2, 3], 6, 9, 0, EVEN), ([2, 3], 5, 9, 0, LEGAL), ([2, 3], 7, 9, 0, ILLEGAL), ([2, 3], 6, 2, 0, ILLEGAL),
    ([2, 0], 6, 9, 0, ILLEGAL), ([2, 3], 6, 9, 1, ILLEGAL), ([1 << 32, 1], 6, 9, 0, TOO_LARGE)])
def test_what_a_row_is(bounds: list[int], extent: int, room: int, unsplit: int, state: int) -> None:
    assert laid_out(bounds, extent, [False, False], room, unsplit)[2] == state


def test_products_past_the_limit() -> None:
    assert laid_out([1 << 20, 1 << 20], 6, [True, True])[2] == TOO_LARGE


def test_settings_are_different_rows() -> None:
    rows = ints([1, 2, 3], [1, 9, 3], [1, 2, 3], [2, 2, 3], [1, 2, 3])
    found, first = np.zeros(5, np.int64), np.zeros(5, np.int64)
    number = settings_of(rows, ints(0, 0, 0, 0, 1), ints(0, 2), np.full(16, -1, np.int64), found, first)
    assert found.tolist() == [0, 0, 0, 1, 2]
    assert first[:number].tolist() == [0, 3, 4]


TERM = st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4), st.integers(-3, 3))


@given(terms=st.lists(TERM, min_size=1, max_size=3), place=st.integers(-6, 12), extent=st.integers(1, 20))
@settings(deadline=None, max_examples=200)
def test_images_are_sets(terms: list[tuple[int, int, int, int]], place: int, extent: int) -> None:
    terms = sorted(terms)
    def indices(start: int, lengths: list[int]) -> set[int]:
        sums = {start + sum(c * i for (c, *_), i in zip(terms, point, strict=True)) for point in product(*map(range, lengths))}
        return {index for index in sums if 0 <= index < extent}
    now = indices(place, [length for _, length, _, _ in terms])
    distance = sum(c * by for c, _, _, by in terms)
    before = indices(place + distance, [older for _, _, older, _ in terms])
    tile = ints(*([0, length, older, by] for _, length, older, by in terms))
    coefficients = ints(*(c for c, *_ in terms))
    assert tuple(map(int, image_of(coefficients, tile, place, extent, np.zeros(extent, np.int64)))) == (
        len(now), len(now & before))
    reach = [length * 2 + 1 for _, length, _, _ in terms]
    sizes = [len(indices(place + sum(c * start for (c, *_), start in zip(terms, starts, strict=True)),
                         [length for _, length, _, _ in terms]))
             for starts in product(*(range(0, until, length) for until, (_, length, _, _) in zip(reach, terms, strict=True)))]
    held = np.zeros(extent, np.int64)
    assert int(largest_of(coefficients, place, extent, ints(*reach), tile, held)) == max(sizes)


@given(sizes=st.lists(st.integers(0, 300), min_size=1, max_size=4), bits=st.sampled_from([4, 8, 32]), latency=st.integers(0, 9),
       rate=st.sampled_from([None, Fraction(4), Fraction("1.9"), Fraction(340, 7)]), grain=st.sampled_from([1, 5, 64]),
       least=st.sampled_from([0, 100]), setup=st.integers(0, 3), sign=st.sampled_from([1, -1]), up=st.booleans())
@settings(deadline=None, max_examples=100)
def test_transfers_one_by_one(sizes: list[int], bits: int, latency: int, rate: Fraction | None, grain: int, least: int,
                              setup: int, sign: int, up: bool) -> None:
    pace = Fraction(16) / rate if rate else Fraction(0)
    stops, width = W_STOP + WAY_WIDTH, STOP_WIDTH
    model, total = np.zeros(stops + 2 * width, np.int64), np.zeros(TICKS + 2, np.int64)
    model[[W_STOP, W_STOPS, W_LATENCY]] = stops, 2, latency
    first = [pace.numerator, pace.denominator if rate else 0, grain, least, 16 * setup, int(up)]
    for place, service in enumerate((first, [1, 1, 1, 0, 0, 1])):
        model[stops + place * width:][:ROUNDS + 1] = service
        model[stops + place * width + P_TICKS] = place
    wanted = [0] * (TICKS + 2)
    for i, size in enumerate(sizes):
        times = sign * (i % 3)
        carried(model, 0, size, times, bits, total)
        if not size:
            continue
        payload = ceil(size * bits / 8)
        exact = ceil(max(payload, least) / grain) * grain * pace
        ticks = ceil(exact) if up else floor(exact)
        cycles = latency + ceil(max(Fraction(ticks, 16) + setup, Fraction(payload, 16)))
        for kind, amount in ((ELEMENTS, size), (BYTES, payload), (TRANSFERS, 1), (ALONE, cycles), (TICKS, ticks),
                             (TICKS + 1, payload)):
            wanted[kind] += times * amount
        served = np.zeros(2, np.int64)
        assert int(cycles_alone(model, 0, size, bits, served)) == cycles
        assert served.tolist() == [ticks, payload]
    assert total.tolist() == wanted


@pytest.mark.parametrize("slots", [1, 2, 3])
@pytest.mark.parametrize("stays", [1, 4, 5, 6])
def test_credit_loops(slots: int, stays: int) -> None:
    """Alike loops: the longest chain has ceil(stays / slots) of them; others: at least an even share."""
    assert int(credit_of(50 * stays, stays, slots, 1)) == 50 * ceil(stays / slots)
    assert int(credit_of(50 * stays, stays, slots, 0)) == ceil(Fraction(50 * stays, slots))


def loops(text: str) -> tuple[Loop, ...]:
    return tuple(Loop((dim,), None) for dim in text)


CASES = [  # levels of a template, and bounds: even, ragged, with instances
    ("toy3", "gemm:m=6,n=5,k=4", [("DRAM", "kmn", {}), ("SRAM", "mkn", {}), ("RF", "mnk", {})],
     [[2, 3, 5, 2, 2, 1, 1, 1, 1], [2, 2, 2, 2, 2, 2, 2, 2, 1], [1, 1, 1, 2, 4, 5, 3, 1, 1]]),
    ("toy", "conv2d:n=1,k=2,c=3,p=5,q=3,r=3,s=1,stride=2,padding=1", [("DRAM", "pcrkqsn", {}), ("SRAM", "pqrsc", {})],
     [[2, 2, 1, 2, 3, 1, 1, 3, 1, 3, 1, 2], [5, 3, 3, 2, 2, 1, 1, 1, 2, 1, 1, 1], [3, 1, 2, 2, 3, 1, 1, 2, 1, 2, 1, 3]]),
    ("eyeriss", "conv1d:k=2,c=2,p=6,r=3,dilation=2,dtype=int16",
     [("DRAM", "kcn", {}), ("GLB", "pk", {"x": "p", "y": "r"}), ("RF", "prc", {})],
     [[2, 1, 1, 2, 1, 3, 3, 1, 1, 2], [1, 2, 1, 1, 2, 4, 2, 2, 2, 1], [2, 2, 1, 1, 1, 2, 3, 3, 1, 1]]),
]


@pytest.mark.parametrize(("on", "workload", "levels", "rows"), CASES, ids=[case[0] for case in CASES])
def test_rows_are_their_mappings(on: str, workload: str, levels: list[tuple[str, str, dict[str, str]]],
                                 rows: list[list[int]]) -> None:
    chip, operator = read_chip(on), read_workload(workload).operators[0]
    template = Mapping(tuple(MappingLevel(name, loops(own), tuple((axis, loops(dims)) for axis, dims in axes.items()))
                             for name, own, axes in levels))
    estimator = BatchEstimator(chip, operator, template)
    found = estimator.estimate(rows)
    assert found.fits.all()
    for number, row in enumerate(rows):
        wanted = estimate(make_case(chip, operator, estimator.mapping(row)))
        assert (int(found.cycles[number]), found.bound_names[found.bound_by[number]]) == (wanted.cycles, wanted.bound_by)
        for (entry, name), moved in wanted.traffic.items():
            place = [tensor.name for tensor in operator.tensors].index(name)
            assert found.traffic[number, entry, place].tolist() == [getattr(moved, kind) for kind in KINDS]
