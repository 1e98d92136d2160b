"""Does the chip `onnxim` take the cycles that ONNXim reports for matrix products, with its own tiles?"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

import pytest

from accelsim.verbs import Options, run

TABLE = Path(__file__).resolve().parents[2] / "validation" / "onnxim" / "cases.csv"
PIECE = 128


class Row(NamedTuple):
    cores: int
    m: int
    n: int
    k: int
    cycles: int
    faster: float
    slower: float


def table() -> list[Row]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [Row(*(float(line[name]) if name in {"faster", "slower"} else int(line[name]) for name in Row._fields))  # type: ignore[arg-type]
                for line in csv.DictReader(file)]


def mapping(row: Row) -> str:
    """512 x 512 outputs a tile (1 x 512 for one row), dealt to the cores; passes of 128 rows at most."""
    across = {1: 1, 4: 2}[row.cores]
    rows = min(row.m, 512)
    piece = PIECE if row.m > 1 else 4 * PIECE
    spread = f", spatial: {{x: [{{n: {across}}}, {{m: {across}}}]}}" if across > 1 else ""
    return (f"levels:\n  - {{level: DRAM, loops: [{{m: {row.m // rows // across}}}, {{n: {row.n // 512 // across}}}, "
            f"{{k: {row.k // piece}}}]{spread}}}\n"
            f"  - {{level: CORE, loops: [{{n: 4}}, {{m: {max(1, rows // 128)}}}, {{k: \"*\"}}]}}\n"
            f"  - {{level: PE, binding: [B], loops: [{{m: {min(rows, 128)}}}], spatial: {{x: [{{n: 128}}], y: [{{k: 128}}]}}}}\n")


@pytest.mark.parametrize("row", [pytest.param(row, marks=[pytest.mark.nightly] if row.k * row.m > 1 << 23 else [])
                                 for row in table()], ids=lambda row: f"{row.cores}-{row.m}x{row.n}x{row.k}")
def test_every_case(row: Row, tmp_path: Path) -> None:
    (tmp_path / "mapping.yaml").write_text(mapping(row), encoding="utf-8")
    report = run("onnxim", f"gemm:m={row.m},n={row.n},k={row.k},dtype=fp16", Options(
        mapping=str(tmp_path / "mapping.yaml"), overrides=(f"chip.levels.CORE.instances.x={row.cores}",))).report
    assert not report.failed, report.failed
    assert (1 - row.faster) * row.cycles <= report.cycles <= (1 + row.slower) * row.cycles
    assert report.macs == row.m * row.n * row.k
