"""Does a comparison fail when it should: rows too far off, known misses that are gone or worse, means, nothing compared?"""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest

from accelsim.compare.checks import Check, Known, Row, Standing, judge

CHECK = Check("time", "ms", (-0.1, 0.1), "a reason")
MISS = Known("b", (-0.6, -0.4), "a queue")


def rows(*ours: float) -> list[Row]:
    """Cases a, b, c and so on whose reference is 100."""
    return [Row("time", "abcdef"[i], value, 100.0) for i, value in enumerate(ours)]


def test_rows_within_pass() -> None:
    verdict = judge(CHECK, rows(90, 100, 110))
    assert not verdict.faults
    assert [one.standing for one in verdict.rows] == [Standing.WITHIN] * 3
    assert verdict.mean_error == pytest.approx(0.2 / 3)
    assert verdict.worst is not None
    assert verdict.worst.row.case == "a"


@pytest.mark.parametrize("ours", [89.9, 110.1, 0.0, 1000.0])
def test_a_row_outside_fails(ours: float) -> None:
    verdict = judge(CHECK, rows(100, ours))
    assert verdict.rows[1].standing is Standing.FAILED
    (fault,) = verdict.faults
    assert fault.startswith("b: ")
    assert fault.endswith("allowed: 10 %")


def test_a_known_miss_passes_and_counts_in_the_mean() -> None:
    verdict = judge(replace(CHECK, known=(MISS,)), rows(100, 50))
    assert not verdict.faults
    assert [one.row.case for one in verdict.known] == ["b"]
    assert verdict.mean_error == pytest.approx(0.25)


@pytest.mark.parametrize(("ours", "said"), [(95, "no known miss any more"), (100, "no known miss any more"),
                                            (35, "said to be between -60.0 % and -40.0 %"), (150, "said to be between"),
                                            (80, "said to be between")])
def test_a_known_miss_that_is_right_or_worse_or_better_than_stated_fails(ours: float, said: str) -> None:
    verdict = judge(replace(CHECK, known=(MISS,)), rows(100, ours))
    assert len(verdict.faults) == 1
    assert said in verdict.faults[0]
    assert verdict.rows[1].standing is Standing.FAILED


def test_a_known_miss_that_is_not_compared_fails() -> None:
    assert judge(replace(CHECK, known=(MISS,)), rows(100)).faults == ("b: said to be a known miss, but not compared",)


def test_nothing_compared_fails() -> None:
    verdict = judge(CHECK, [])
    assert verdict.faults == ("nothing was compared",)
    assert verdict.worst is None
    assert verdict.mean_error == 0


def test_the_mean_is_over_all_rows() -> None:
    check = replace(CHECK, mean=0.05, known=(MISS,))
    assert judge(check, rows(100, 50)).faults == ("the mean error is 25.0 %, allowed: 10 %, mean 5 %",)
    assert not judge(replace(check, mean=0.09), rows(100, 50, 100, 100, 100, 100)).faults


def test_errors_of_zeros_and_differences() -> None:
    exact = Check("words", "words", (0, 0), "counted")
    assert not judge(exact, [Row("words", "a", 0, 0)]).faults
    assert judge(exact, [Row("words", "a", 1, 0)]).rows[0].error == 1
    shares = Check("shares", "", (-0.03, 0.03), "counters", absolute=True)
    assert not judge(shares, [Row("shares", "a", 0.12, 0.10)]).faults
    assert judge(shares, [Row("shares", "a", 0.14, 0.10)]).faults
    bound = Check("cycles", "cycles", (0, inf), "a lower bound")
    assert not judge(bound, [Row("cycles", "a", 1000, 10)]).faults
    assert judge(bound, [Row("cycles", "a", 9, 10)]).faults


@pytest.mark.parametrize(("check", "text"), [
    (CHECK, "10 %"), (replace(CHECK, tolerance=(0, 0)), "equal"), (replace(CHECK, tolerance=(-0.1, 0)), "-10 % to 0"),
    (replace(CHECK, tolerance=(0, inf)), "not below"), (replace(CHECK, tolerance=(-0.1, inf)), "-10 % or more"),
    (replace(CHECK, mean=0.115), "10 %, mean 11.5 %"), (replace(CHECK, absolute=True, tolerance=(-1, 1)), "1 ms")])
def test_a_tolerance_as_text(check: Check, text: str) -> None:
    assert check.allowed == text


@pytest.mark.parametrize(("error", "text"), [(0, "0"), (0.031, "+3.1 %"), (-0.562, "-56.2 %"), (0.0002, "+0.02 %"),
                                             (-1, "-100.0 %")])
def test_an_error_as_text(error: float, text: str) -> None:
    assert CHECK.shown(error) == text
