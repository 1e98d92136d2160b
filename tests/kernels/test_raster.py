"""Are the ticks per column right? Compared with counting tick by tick; compiled and as plain Python."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from accelsim.kernels.raster import raster

Ints = NDArray[np.int64]
Raster = Callable[[Ints, Ints, Ints, Ints, int, int, int, int, int], Ints]
BOTH = pytest.mark.parametrize("draw", [raster, cast(Raster, getattr(raster, "py_func", raster))],
                               ids=["as-configured", "plain"])


def call(draw: Raster, rows: list[tuple[int, int, int, int]], window: tuple[int, int], lanes: int, states: int,
         columns: int) -> Ints:
    table = np.array(rows, dtype=np.int64).reshape(-1, 4)
    return draw(table[:, 0], table[:, 1], table[:, 2], table[:, 3], *window, lanes, states, columns)


def counted(rows: list[tuple[int, int, int, int]], window: tuple[int, int], lanes: int, states: int,
            columns: int) -> Ints:
    """The same, one tick at a time."""
    first, last = window
    borders = [first + column * (last - first) // columns for column in range(columns + 1)]
    ticks = np.zeros((lanes, columns, states), dtype=np.int64)
    for lane, start, end, state in rows:
        if 0 <= lane < lanes:
            for tick in range(max(start, first), min(end, last)):
                column = max(c for c in range(columns) if borders[c] <= tick < borders[c + 1])
                ticks[lane, column, state] += 1
    return ticks


ROW = st.tuples(st.integers(-1, 3), st.integers(-5, 90), st.integers(0, 60), st.integers(0, 2)).map(
    lambda row: (row[0], row[1], row[1] + row[2], row[3]))


@BOTH
@given(rows=st.lists(ROW, max_size=25), first=st.integers(-10, 60), span=st.integers(1, 80),
       columns=st.integers(1, 100))
@settings(deadline=None, max_examples=150)
def test_equals_counting(draw: Raster, rows: list[tuple[int, int, int, int]], first: int, span: int,
                         columns: int) -> None:
    args = (rows, (first, first + span), 3, 3, columns)
    assert np.array_equal(call(draw, *args), counted(*args))


@BOTH
@pytest.mark.parametrize(("interval", "expected"), [
    ((0, 100), [0, 0, 0, 0]),
    ((140, 200), [0, 0, 0, 0]),
    ((0, 101), [1, 0, 0, 0]),
    ((139, 200), [0, 0, 0, 1]),
    ((110, 120), [0, 10, 0, 0]),
    ((109, 121), [1, 10, 1, 0]),
    ((115, 115), [0, 0, 0, 0]),
    ((120, 110), [0, 0, 0, 0]),
    ((100, 140), [10, 10, 10, 10]),
    ((0, 1000), [10, 10, 10, 10]),
], ids=["before", "after", "one-tick-in", "last-tick-in", "one-column", "across-borders", "no-length", "backwards",
        "the-window", "window-inside"])
def test_borders(draw: Raster, interval: tuple[int, int], expected: list[int]) -> None:
    assert call(draw, [(0, *interval, 0)], (100, 140), 1, 1, 4)[0, :, 0].tolist() == expected


@BOTH
def test_columns_that_do_not_divide_differ_by_a_tick(draw: Raster) -> None:
    assert call(draw, [(0, 0, 10, 0)], (0, 10), 1, 1, 4)[0, :, 0].tolist() == [2, 3, 2, 3]
    assert call(draw, [(0, 0, 2, 0)], (0, 2), 1, 1, 4)[0, :, 0].tolist() == [0, 1, 0, 1]


@BOTH
def test_long_runs_stay_exact(draw: Raster) -> None:
    span = 2**50
    ticks = call(draw, [(0, 1, span - 1, 0)], (0, span), 1, 1, 4096)
    assert int(ticks.sum()) == span - 2


@BOTH
@pytest.mark.parametrize(("window", "columns", "state"), [((5, 5), 4, 0), ((5, 4), 4, 0), ((0, 9), 0, 0),
                                                          ((0, 9), 4, 1), ((0, 9), 4, -1)])
def test_refuses(draw: Raster, window: tuple[int, int], columns: int, state: int) -> None:
    with pytest.raises(ValueError, match=r"window|state"):
        call(draw, [(0, 0, 9, state)], window, 1, 1, columns)


def test_read_only_tables_pass() -> None:
    table = np.array([(0, 0, 9, 0)], dtype=np.int64)
    table.setflags(write=False)
    assert raster(table[:, 0], table[:, 1], table[:, 2], table[:, 3], 0, 9, 1, 1, 1).tolist() == [[[9]]]


def test_runs_without_compiler() -> None:
    code = ("import numpy as np; from accelsim.kernels.raster import raster; "
            "assert not hasattr(raster, 'py_func'); c = np.array([0, 0]); "
            "print(raster(c, c, c + 7, c, 0, 7, 1, 1, 2).tolist())")
    ran = subprocess.run([sys.executable, "-c", code], env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
                         capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[[[6], [8]]]"
