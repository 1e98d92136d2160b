"""Is a stretch that was repeated, kept as a tree, what it would be written out row by row?"""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from accelsim.recorder import Recorder, RecordOptions
from accelsim.repeats import BLOCK_ROWS, Copies, FirstRows, Repeat, RowLog, Stretch, before, begin_behind, written_out
from accelsim.timeline import STATES, Lane, LaneKind

from .helpers import differing

Ints = NDArray[np.int64]
LANES = 2


@st.composite
def rows(draw: st.DrawFn) -> Ints:
    """Up to four rows of two lanes and three states; they may overlap, as different lanes' do."""
    made = []
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, 60))
        made.append((draw(st.integers(0, LANES - 1)), start, start + draw(st.integers(1, 40)), draw(st.integers(0, 2)), 0))
    return np.array(made, dtype=np.int64)


@st.composite
def stretches(draw: st.DrawFn, depth: int = 2) -> Stretch:
    """Rows, and stretches of stretches that are repeated."""
    items: list[Ints | Repeat] = []
    for _ in range(draw(st.integers(1, 3))):
        items.append(draw(rows()))
        if depth and draw(st.booleans()):
            items.append(Repeat(draw(stretches(depth - 1)), draw(st.integers(1, 90)), draw(st.integers(1, 5))))
    return Stretch(items, (LANES, STATES))


repeats = st.builds(Repeat, stretches(), st.integers(1, 90), st.integers(1, 6))


def plain(repeat: Repeat) -> Ints:
    """Every row of a repeat, by recursion and nothing else."""
    found = []
    for copy in range(1, repeat.times + 1):
        for item in repeat.stretch.items:
            own = plain(item) if isinstance(item, Repeat) else item
            found.append(own + np.array([0, copy, copy, 0, 0]) * repeat.shift)
    return np.concatenate(found)


@given(st.lists(rows(), min_size=1, max_size=4))
def test_copies_are_of_what_was_given(given_rows: list[Ints]) -> None:
    copies = Copies()
    made = [copies.of(some) for some in given_rows]
    kept = [some.copy() for some in given_rows]
    for some in given_rows:
        some[:] = -1
    assert all(np.array_equal(a, b) for a, b in zip(made, kept, strict=True))


def test_more_rows_than_a_block_has_are_copied_too() -> None:
    copies, many = Copies(), np.arange(5 * (BLOCK_ROWS + 1), dtype=np.int64).reshape(-1, 5)
    first = copies.of(many[:3])
    assert np.array_equal(copies.of(many), many)
    assert np.array_equal(first, many[:3])


@given(repeats, st.integers(0, 30))
def test_first_rows_are_written_out_when_asked_for(repeat: Repeat, count: int) -> None:
    kept = FirstRows(repeat, min(count, repeat.rows))
    assert np.array_equal(kept.written_out(), plain(repeat)[:len(kept)])


@given(repeats)
def test_what_it_says_of_itself(repeat: Repeat) -> None:
    every = plain(repeat)
    assert (repeat.rows, repeat.low, repeat.high) == (len(every), every[:, 1].min(), every[:, 2].max())
    totals = np.zeros((LANES, STATES), dtype=np.int64)
    np.add.at(totals, (every[:, 0], every[:, 3]), every[:, 2] - every[:, 1])
    assert np.array_equal(repeat.totals, totals)


@given(repeats, st.integers(0, 200))
def test_rows_written_out(repeat: Repeat, most: int) -> None:
    assert np.array_equal(written_out(repeat, most), plain(repeat)[:most])


@given(repeats, st.data())
def test_where_the_rest_begins(repeat: Repeat, data: st.DataObject) -> None:
    gone = data.draw(st.integers(0, repeat.rows - 1))
    assert begin_behind(repeat, gone) == plain(repeat)[gone:, 1].min()


@given(repeats, st.lists(st.integers(0, 1500), min_size=1, max_size=20))
def test_how_much_lies_before_a_tick(repeat: Repeat, ticks: list[int]) -> None:
    asked = np.array(sorted(ticks), dtype=np.int64)
    every = plain(repeat)
    right = np.zeros((len(asked), LANES, STATES), dtype=np.int64)
    for place, tick in enumerate(asked):
        lasted = np.clip(np.minimum(every[:, 2], tick) - every[:, 1], 0, None)
        np.add.at(right[place], (every[:, 0], every[:, 3]), lasted)
    assert np.array_equal(before(repeat, asked), right)


@settings(deadline=None)
@given(rows(), st.lists(rows(), min_size=1, max_size=3), st.integers(1, 90), st.integers(1, 50), rows(), st.integers(0, 40))
def test_a_record_with_a_repeat_is_the_record_of_all_its_rows(
        earlier: Ints, period: list[Ints], shift: int, times: int, later: Ints, most: int) -> None:
    lanes = [Lane(str(i), LaneKind.PORT, "") for i in range(LANES)]
    short, full = (Recorder(lanes, [""], RecordOptions(None, most, 8)) for _ in range(2))
    log = short.keep_log()
    for recorder in (short, full):
        recorder.add(earlier)
    place = log.place
    for recorder in (short, full):
        for one in period:
            recorder.add(one)
    short.repeat(place, shift, times)
    for copy in range(1, times + 1):
        for one in period:
            full.add(one + np.array([0, copy, copy, 0, 0]) * shift)
    for recorder in (short, full):
        recorder.add(later)
    assert not differing(short.finish(9999, [0]), full.finish(9999, [0]))


def test_a_log_keeps_no_more_than_it_may() -> None:
    log = RowLog(most_rows=5)
    one = np.array([[0, 0, 1, 0, 0]] * 2, dtype=np.int64)
    for _ in range(4):
        log.add(one)
    assert (log.first, log.place) == (2, 4)
    assert len(log.since(3)) == 1
    log.forget(4)
    assert (log.first, log.since(4)) == (4, [])


def test_a_log_that_has_dropped_rows_may_be_told_to_forget_what_is_long_gone() -> None:
    """It dropped rows from its end instead, and what was repeated later came without them."""
    log = RowLog(most_rows=5)
    for row in range(6):
        log.add(np.array([[0, row, row + 1, 0, 0]], dtype=np.int64))
    log.add(np.array([[0, 6, 7, 0, 0]] * 2, dtype=np.int64))
    assert log.first == 3
    log.forget(1)
    assert (log.first, log.place, [int(item[0, 1]) for item in log.since(log.first)]) == (3, 7, [3, 4, 5, 6])
