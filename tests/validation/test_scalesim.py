"""Does a systolic array take the cycles and read the words that SCALE-Sim reports? Every distinct case, simulated."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

import pytest

from ..helpers import chip, entry, gemm, level, make, run, stalls, systolic

TABLE = Path(__file__).resolve().parents[2] / "validation" / "scalesim" / "cases.csv"


class Row(NamedTuple):
    dataflow: str
    rows: int
    columns: int
    m: int
    n: int
    k: int
    cycles: int
    ifmap_reads: int
    filter_reads: int
    ofmap_writes: int


def table() -> list[Row]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [Row(line["dataflow"], *(int(line[name]) for name in Row._fields[1:])) for line in csv.DictReader(file)]


def test_the_table_is_complete() -> None:
    rows = table()
    assert len(rows) == len({row[:6] for row in rows}) == 292
    assert {row.dataflow for row in rows} == {"ws", "os", "is"}
    assert {(row.rows, row.columns) for row in rows} == {(8, 8), (16, 16), (32, 32), (128, 128), (8, 32), (32, 8)}


# what is stationary; loops over the folds (columns outside); streamed loop; columns and rows
MAPPINGS = {
    "ws": ("B", "n* k*", "m*", "n{c}", "k{r}"),
    "os": ("C", "n* m*", "k*", "n{c}", "m{r}"),
    "is": ("A", "m* k*", "n*", "m{c}", "k{r}"),
}


def simulate(row: Row) -> None:
    held, folds, streamed, columns, rows = MAPPINGS[row.dataflow]
    on = chip([level("DRAM")], systolic(row.rows, row.columns))
    case = make(
        on,
        gemm(row.m, row.n, row.k, "int8", "int32"),
        entry("DRAM", folds, "A B C"),
        entry("PE", streamed, held, x=columns.format(c=row.columns), y=rows.format(r=row.rows)),
    )
    ran = run(case)
    assert ran.cycles == row.cycles
    traffic = ran.timeline.traffic

    def words(tensor: str) -> int:
        return traffic["PE", tensor].fill_elements if tensor == held else traffic["DRAM", tensor].array_read_bytes

    assert words("A") == row.ifmap_reads
    assert words("B") == row.filter_reads
    bits = case.held_type(0, case.operator.output).bits
    written = traffic["PE", "C"].drain_elements if held == "C" else traffic["DRAM", "C"].array_write_bytes * 8 // bits
    assert written == row.ofmap_writes
    assert set(stalls(ran.timeline)) <= {"array_fill_drain"}


@pytest.mark.parametrize("row", table(), ids=lambda row: "-".join(map(str, row[:6])))
def test_every_case(row: Row) -> None:
    simulate(row)


def test_4x4x4_on_a_4x4_output_stationary_array_takes_10() -> None:
    simulate(Row("os", 4, 4, 4, 4, 4, 10, 16, 16, 16))
