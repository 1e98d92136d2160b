"""`accelsim dram`: a trace replayed, shown, and written."""

from __future__ import annotations

import csv
from pathlib import Path

from .command import accelsim


def test_a_stream_runs_at_the_peak_but_for_refresh() -> None:
    told = accelsim("dram", "ddr4-2400", "stream:n=20000", "--json").json
    assert told["requests"] == told["reads"] == 20000
    assert told["bytes"] == 20000 * 64
    assert 0.93 < told["utilization"] < 0.97  # tRFC of every tREFI is lost: 433 of 9,364
    still = accelsim("dram", "ddr4-2400", "stream:n=20000", "-o", "memory.controller.refresh=none", "--json").json
    assert still["utilization"] > 0.999
    assert still["refreshes"] == 0


def test_what_is_shown() -> None:
    shown = accelsim("dram", "ddr4-2400", "random:n=2000,writes=3").out
    assert "2,000 requests of 64 B (1,334 reads, 666 writes)" in shown
    assert "GB/s" in shown
    assert "read latency in cycles" in shown


def test_requests_and_commands_are_written(tmp_path: Path) -> None:
    trace = tmp_path / "trace.txt"
    trace.write_text("R 0\nR 0x40\nW 0x100000 50\n", encoding="utf-8")
    requests, commands = tmp_path / "requests.csv", tmp_path / "commands.csv"
    accelsim("dram", "ddr4-2400", str(trace), "--requests", str(requests), "--commands", str(commands))
    with requests.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["op"], row["address"], row["arrived_cycle"]) for row in rows] == [("R", "0", "0"), ("R", "64", "1"),
                                                                                   ("W", "1048576", "50")]
    assert rows[0]["done_cycle"] == str(1 + 16 + 16 + 4)
    with commands.open(encoding="utf-8") as file:
        given = [(row["command"], row["cycle"]) for row in csv.DictReader(file)]
    assert given[0] == ("ACT", "1")
    assert [name for name, _ in given].count("WR") == 1


def test_serial_requests_wait_for_each_other() -> None:
    """Each in another row of one bank: its data come 36 cycles after the activation, the row may be closed after 39 (tRAS)."""
    told = accelsim("dram", "ddr4-2400", "stride:n=50,bytes=256 KiB", "--serial", "--json",
                    "-o", "memory.controller.refresh=none").json
    assert told["read_latency_cycles"]["min"] == 1 + 16 + 16 + 4
    assert told["read_latency_cycles"]["max"] == (39 - 36) + 16 + 16 + 16 + 4


def test_mistakes_are_told_without_a_traceback(tmp_path: Path) -> None:
    for arguments in (("ddr5", "stream:n=5"), ("ddr4-2400", "streem:n=5"), ("ddr4-2400", str(tmp_path)),
                      ("ddr4-2400", "stream:n=5", "-o", "memory.timing.tRPP=3 cycles")):
        ended = accelsim("dram", *arguments, code=2)
        assert ended.err.startswith("accelsim: ")
        assert "Traceback" not in ended.err
