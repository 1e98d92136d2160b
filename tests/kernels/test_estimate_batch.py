"""Are the counts of the batch estimate right? Compared with plain enumeration; small enough to run uncompiled."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accelsim.analytic.estimate import estimate
from accelsim.kernels.line_steps import EVEN, ILLEGAL, LEGAL, TOO_LARGE, count_steps, lay_out
from accelsim.kernels.transfers import ALONE, BYTES, ELEMENTS, TICKS, TRANSFERS, alone, carry, credit
from accelsim.kernels.window_images import image, largest_tile
from accelsim.kernels.window_images import settings as settings_of
from accelsim.search.batch import KINDS, BatchEstimator
from accelsim.spec.build import make_case
from accelsim.spec.mapping import Loop, Mapping, MappingLevel
from accelsim.spec.read import read_chip, read_workload


def ints(*values: object) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.array(values, dtype=np.int64)


def laid_out(bounds: list[int], extent: int, temporal: list[bool], room: int = 1 << 20, unsplit: int = 0) -> tuple[
        list[int], list[int], int]:
    """(strides, digits, state) of one line whose loops are the columns, in order."""
    columns = len(bounds)
    stride, digit, states = np.zeros((1, columns), np.int64), np.zeros((1, columns), np.int64), np.zeros(1, np.int64)
    lay_out(ints(extent), ints([range(columns)]).reshape(1, 1, columns), ints(columns), ints(*temporal),
            ints(*(-1 if own else 0 for own in temporal)), ints(room), ints(*[unsplit] * columns), ints(bounds), ints(0), ints(0),
            stride, digit, states)
    return stride[0].tolist(), digit[0].tolist(), int(states[0])


LOOPS = st.lists(st.tuples(st.integers(1, 4), st.booleans()), min_size=1, max_size=5)


@given(loops=LOOPS, short=st.floats(0, 1), above=st.integers(0, 5), counted=st.lists(st.booleans(), min_size=5, max_size=5))
@settings(deadline=None, max_examples=150)
def test_steps_are_those_of_a_walk(loops: list[tuple[int, bool]], short: float, above: int, counted: list[bool]) -> None:
    bounds, temporal = [bound for bound, _ in loops], [own for _, own in loops]
    extent = max(1, prod(bounds) - int(short * (prod(bounds) - 1)))
    above, columns = min(above, len(loops)), len(loops)
    stride, digit, state = laid_out(bounds, extent, temporal)
    assert state == (EVEN if extent == prod(bounds) else LEGAL)
    assert [stride[i] for i in range(columns)] == [prod(bounds[i + 1:]) for i in range(columns)]
    assert sum(a * b for a, b in zip(stride, digit, strict=True)) == extent - 1
    times = [i for i in range(above) if temporal[i]]
    depth = columns + 1
    tiles, cut, wrapping = (np.zeros((1, depth), np.int64) for _ in range(3))
    size, edge = np.zeros((1, 1), np.int64), np.zeros((1, 1), np.int64)
    count_steps(ints(extent), ints([range(columns)]).reshape(1, 1, columns), ints(columns), ints(*temporal), ints([above]),
                ints([len(times)]), ints(counted[:columns]), ints(bounds), ints(0), ints(stride), ints(digit), depth, tiles, cut,
                wrapping, size, edge)
    tile = prod(bounds[above:])
    assert int(size[0, 0]) == min(tile, extent)
    assert int(edge[0, 0]) == (extent % tile if tile < extent else 0)
    inner = max((i for i in times if bounds[i] > 1), default=-1)
    for outer in range(len(times) + 1):
        free = [i for i in range(above) if (i in times[:outer] if temporal[i] else counted[i])]
        starts = [sum(own * stride[i] for i, own in zip(free, point, strict=True))
                  for point in product(*(range(bounds[i]) for i in free))]
        starts = [start for start in starts if start < extent]
        assert int(tiles[0, outer]) == len(starts)
        assert int(cut[0, outer]) == sum(start + tile > extent for start in starts if tile < extent)
        held = inner in times[outer:]
        assert int(wrapping[0, outer]) == (sum(start + stride[inner] < extent for start in starts) if held else 0)


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
    assert tuple(map(int, image(coefficients, tile, len(terms), place, extent, np.zeros(extent, np.int64)))) == (
        len(now), len(now & before))
    reach = [length * 2 + 1 for _, length, _, _ in terms]
    sizes = [len(indices(place + sum(c * start for (c, *_), start in zip(terms, starts, strict=True)),
                         [length for _, length, _, _ in terms]))
             for starts in product(*(range(0, until, length) for until, (_, length, _, _) in zip(reach, terms, strict=True)))]
    held = np.zeros(extent, np.int64)
    assert int(largest_tile(coefficients, len(terms), place, extent, ints(*reach), tile, held)) == max(sizes)


@given(sizes=st.lists(st.integers(0, 300), min_size=1, max_size=4), bits=st.sampled_from([4, 8, 32]), latency=st.integers(0, 9),
       rate=st.sampled_from([None, Fraction(4), Fraction("1.9"), Fraction(340, 7)]), grain=st.sampled_from([1, 5, 64]),
       least=st.sampled_from([0, 100]), setup=st.integers(0, 3), sign=st.sampled_from([1, -1]))
@settings(deadline=None, max_examples=100)
def test_transfers_one_by_one(sizes: list[int], bits: int, latency: int, rate: Fraction | None, grain: int, least: int,
                              setup: int, sign: int) -> None:
    pace = Fraction(16) / rate if rate else Fraction(0)
    way = ints([pace.numerator, pace.denominator if rate else 0, grain, least, 16 * setup], [1, 1, 1, 0, 0])
    counts = [i % 3 for i in range(len(sizes))]
    total = np.zeros((1, TICKS + 2), np.int64)
    carry(ints(len(sizes)), ints(sizes), ints(counts), bits, latency, way, sign, total)
    wanted = [0] * (TICKS + 2)
    for size, times in zip(sizes, counts, strict=True):
        if not size:
            continue
        payload = ceil(size * bits / 8)
        ticks = ceil(ceil(max(payload, least) / grain) * grain * pace)
        cycles = latency + ceil(max(Fraction(ticks, 16) + setup, Fraction(payload, 16)))
        for kind, amount in ((ELEMENTS, size), (BYTES, payload), (TRANSFERS, 1), (ALONE, cycles), (TICKS, ticks),
                             (TICKS + 1, payload)):
            wanted[kind] += sign * times * amount
        one, served = np.zeros(1, np.int64), np.zeros((1, 2), np.int64)
        alone(ints(size), bits, latency, way, one, served)
        assert (int(one[0]), served[0].tolist()) == (cycles, [ticks, payload])
    assert total[0].tolist() == wanted


@pytest.mark.parametrize("slots", [1, 2, 3])
@pytest.mark.parametrize("stays", [1, 4, 5, 6])
def test_credit_loops(slots: int, stays: int) -> None:
    """Alike loops: the longest chain has ceil(stays / slots) of them; others: at least an even share."""
    work, moving, inner = 40 * stays, 7 * stays, 3
    cycles = np.zeros(2, np.int64)
    credit(ints(work, work), ints(moving, moving), ints(stays, stays), ints(inner, inner), slots, ints(1, 0), cycles)
    assert cycles.tolist() == [50 * ceil(stays / slots), ceil(Fraction(50 * stays, slots))]


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
