"""Memory files and traces: what they say, and every fault at its place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from accelsim.errors import SpecError
from accelsim.spec.dramtrace import read_trace
from accelsim.spec.read import read_memory, shipped, shipped_folder

from ..dram_rules import places

SHIPPED = sorted(shipped("memories"))


def faults(text: str, path: Path) -> list[str]:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        read_memory(str(path))
    return [str(fault).removeprefix(f"{path}:") for fault in caught.value.faults]


def test_every_number_of_the_shipped_memories_has_its_source_on_its_line() -> None:
    for name in SHIPPED:
        lines = (shipped_folder("hwconfigs") / "memories" / f"{name}.yaml").read_text(encoding="utf-8").splitlines()
        for line in lines:
            bare = line.endswith(":") or line.startswith(("name:", "standard:", "description:"))
            assert bare or "  # " in line, f"{name}: {line}"


@pytest.mark.parametrize(("name", "peak", "capacity"), [
    ("ddr3-2133", 17.06e9, 4), ("ddr4-2400", 19.21e9, 8), ("ddr4-3200", 25.6e9, 8), ("gddr6-14000", 28.07e9, 0.5),
    ("hbm2-2000", 256e9, 8), ("hbm2e-3200", 409.6e9, 16), ("hbm3-6400", 820.5e9, 8), ("lpddr4-2400", 19.28e9, 4),
    ("lpddr5-6400", 12.8e9, 1)])
def test_peaks_and_capacities(name: str, peak: float, capacity: float) -> None:
    """Pins x rate: 64 x 2400 Mb/s = 19.2 GB/s, 1024 x 2 Gb/s = 256 GB/s, and so on; a tCK rounded to ps moves them a little."""
    dram = read_memory(name)
    assert float(dram.peak_bytes_per_s) == pytest.approx(peak, rel=1e-3)
    assert dram.capacity_bytes == capacity * 2**30


def test_every_address_has_a_place_of_its_own() -> None:
    dram = read_memory("hbm2-2000", ["memory.rows=4"])
    addresses = np.arange(dram.capacity_bytes // dram.burst_bytes, dtype=np.int64) * dram.burst_bytes
    place = places(dram, addresses)
    assert len({tuple(row) for row in np.stack(list(place.values()), axis=1).tolist()}) == len(addresses)
    assert all(place[field].max() == count - 1 for field, count in dram.counts.items())


def test_parts_of_a_field_lie_where_they_are_listed() -> None:
    dram = read_memory("ddr4-2400", ["memory.mapping=[row, column:4, bank, column:3, bank_group]"])
    place = places(dram, np.array([64 << 2, 64 << 5, 64 << 7]))
    assert place["column"].tolist() == [1, 0, 8]
    assert place["bank"].tolist() == [0, 1, 0]


def test_times_in_ns_are_rounded_up_to_cycles() -> None:
    assert read_memory("ddr4-2400", ["memory.timing.tRP=13.33 ns"]).timing.tRP == 17
    assert read_memory("ddr4-2400", ["memory.timing.tRP=13.328 ns"]).timing.tRP == 16


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    text = (shipped_folder("hwconfigs") / "memories" / "ddr4-2400.yaml").read_text(encoding="utf-8")
    wrong = text.replace("banks: 4 ", "banks: 4\nbank_grops: 3 ").replace("CL: 16 cycles", "CL: 16").replace("tFAW", "tFAWL")
    told = faults(wrong, tmp_path / "m.yaml")
    assert [fault for fault in told if "bank_grops" in fault and "bank_groups" in fault]
    assert [fault for fault in told if "has no unit" in fault]
    assert [fault for fault in told if "tFAWL" in fault]
    assert [fault for fault in told if "timing.tFAW" in fault and "missing" in fault]
    assert all(fault[0].isdigit() for fault in told)


@pytest.mark.parametrize(("old", "new", "message"), [
    ("banks: 4 ", "banks: 3 ", "power of two"),
    ("row: 8 KiB", "row: 100 B", "whole number of bursts"),
    ("bank_group, channel]", "bank_groop, channel]", "not a field"),
    ("bank_group, channel]", "bank_group:1, channel]", "bits of bank_group are nowhere"),
    ("bank_group, channel]", "bank_group:3, channel]", "bank_group has 2 bits"),
    ("banks: 4 ", "ranks: 8\nbanks: 4 ", "more than 62 banks"),
    ("tCK: 0.833 ns", "tCK: 1 cycle", "not a time"),
    ("mapping:", "controller:\n  refresh: per-bank\nmapping:", "per-bank needs tRFCpb and tREFIpb"),
    ("mapping:", "controller:\n  write_low: 40\nmapping:", "writes begin at 26 and end at 40 of 32"),
    ("mapping:", "controller:\n  second_queue: 8\n  page: closed\nmapping:", "a second queue with closed pages"),
])
def test_what_hangs_together_is_checked(old: str, new: str, message: str, tmp_path: Path) -> None:
    text = (shipped_folder("hwconfigs") / "memories" / "ddr4-2400.yaml").read_text(encoding="utf-8")
    assert old in text
    assert any(message in fault for fault in faults(text.replace(old, new), tmp_path / "m.yaml"))


# -- traces -----------------------------------------------------------------------------------------------------------


def test_traces_are_read_as_other_simulators_write_them(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_text("# two of Ramulator's, two of DRAMsim3's\nR 0x40\nW 128 5\n0xC0 READ 7\n0x100 WRITE 7\n\nST 9\n",
                    encoding="utf-8")
    trace = read_trace(str(path), read_memory("ddr4-2400"))
    assert trace.addresses.tolist() == [64, 128, 192, 256, 9]
    assert trace.writes.tolist() == [False, True, False, True, True]
    assert trace.when.tolist() == [0, 5, 7, 7, 7]


def test_every_line_that_is_wrong_is_told(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_text("R 0x40 9\nX 0x40\nR\nR 1.5\nR 0x40 3\nR 010\nR 0xFFFFFFFFFFFFFFFF\nR 1 2 3\n", encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        read_trace(str(path), read_memory("ddr4-2400"))
    assert [(fault.line, fault.message) for fault in caught.value.faults] == [
        (2, "'0x40' is neither a read nor a write"), (3, "1 words"), (4, "'1.5' is no number"), (5, "cycle 3 after cycle 9"),
        (6, "'010' is no number"), (7, "0xFFFFFFFFFFFFFFFF is beyond 2^62"), (8, "4 words")]


def test_patterns() -> None:
    dram = read_memory("ddr4-2400")
    assert read_trace("stream:n=3", dram).addresses.tolist() == [0, 64, 128]
    stride = read_trace("stride:n=4,bytes=1 KiB,writes=2,every=10", dram)
    assert stride.addresses.tolist() == [0, 1024, 2048, 3072]
    assert stride.writes.tolist() == [False, True, False, True]
    assert stride.when.tolist() == [0, 10, 20, 30]
    some, again, other = (read_trace(f"random:n=1000,seed={seed}", dram).addresses for seed in (1, 1, 2))
    assert (some == again).all()
    assert (some != other).any()
    assert some.max() < dram.capacity_bytes
    assert (some % 64 == 0).all()


@pytest.mark.parametrize("text", ["stream:n=0", "stream:", "random:n=5,bytes=64 B", "stride:n=5,bytes=64", "stream:n=99999999999",
                                  "nothing:n=3", "stream:n=1e3", "stride:n=20000000,bytes=1 TiB"])
def test_patterns_that_are_wrong_are_refused(text: str) -> None:
    with pytest.raises(SpecError):
        read_trace(text, read_memory("ddr4-2400"))
