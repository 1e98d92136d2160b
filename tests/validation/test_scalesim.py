"""SCALE-Sim's cases by the readable driver too, and a case that its documentation works out."""

from __future__ import annotations

import pytest

from accelsim.compare.references import table
from accelsim.compare.scalesim import compare
from accelsim.drivers import Driver

COLUMNS = ("dataflow", "rows", "columns", "m", "n", "k")
CASES = table("scalesim")


def test_the_table_is_complete() -> None:
    assert len(CASES) == len({tuple(row[name] for name in COLUMNS) for row in CASES}) == 292
    assert {row["dataflow"] for row in CASES} == {"ws", "os", "is"}
    assert {(row["rows"], row["columns"]) for row in CASES} == {
        ("8", "8"), ("16", "16"), ("32", "32"), ("128", "128"), ("8", "32"), ("32", "8")}


@pytest.mark.parametrize("told", CASES, ids=lambda told: "-".join(told[name] for name in COLUMNS))
def test_every_case_by_the_readable_driver(told: dict[str, str]) -> None:
    rows = list(compare(told, Driver.SIMPY))
    assert len(rows) == 5
    assert [row for row in rows if row.ours != row.reference] == []


def test_4x4x4_on_a_4x4_output_stationary_array_takes_10() -> None:
    told = dict.fromkeys(("rows", "columns", "m", "n", "k"), "4") | dict.fromkeys(
        ("ifmap_reads", "filter_reads", "ofmap_writes"), "16") | {"dataflow": "os", "cycles": "10"}
    rows = list(compare(told, Driver.SIMPY))
    assert [row for row in rows if row.ours != row.reference] == []
