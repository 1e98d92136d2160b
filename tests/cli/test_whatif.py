"""whatif as a user meets it."""

from __future__ import annotations

import csv
from pathlib import Path

from .command import call

TILE = "gemm:m=4,n=4,k=4"


def test_text_says_what_binds() -> None:
    ended = call("whatif", "toy", TILE)
    assert ended.code == 0
    assert "312 cycles (measured)" in ended.out
    assert "DRAM latency    100 cycles                -32.1%     +64.1%     -64.1%        0.64" in ended.out
    assert "without effect (below 0.1%): SRAM buffers" in ended.out
    assert "DRAM latency binds: twice as good it saves 32.1% (-o chip.levels.DRAM.latency=...)" in ended.out
    assert "then DRAM latency binds again: twice as good it saves another 23.6%" in ended.out
    assert "with all of that 162 cycles, 1.93 times as fast" in ended.out


def test_json_and_csv_have_the_same_numbers(tmp_path: Path) -> None:
    ended = call("whatif", "toy", TILE, "--json", "--moves", "0", "--csv", str(tmp_path / "t.csv"))
    told = ended.json
    assert ended.code == 0
    assert (told["cycles"], told["binding"], told["moves"]) == (312, "DRAM latency", [])
    with (tmp_path / "t.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["resource"], int(row["doubled_cycles"]), int(row["halved_cycles"])) for row in rows] == [
        (one["name"], one["doubled_cycles"], one["halved_cycles"]) for one in told["resources"]]


def test_faults_of_files_come_first() -> None:
    ended = call("whatif", "toyy", TILE)
    assert ended.code == 2
    assert "did you mean 'toy'" in ended.err
    ended = call("whatif", "toy", TILE, "--csv", "/no/such/folder/t.csv")
    assert ended.code == 2
    assert "no folder" in ended.err


def test_operators_that_do_not_run_are_named() -> None:
    ended = call("whatif", "toy", "gemm:m=40000,n=40000,k=40000", "--most-steps", "1000")
    assert ended.code == 4
    assert "exceed the limit of 1,000" in ended.err
