"""Memories with a `timing` in chip files: what they come to, and that each fault is placed and named."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest

from accelsim.errors import SpecError
from accelsim.spec.chip import Access
from accelsim.spec.read import read_chip, read_memory, shipped_folder

from ..helpers import from_files
from . import changed_chips

CHIP = """\
name: mine
description: A chip behind DDR4
clock: 1 GHz
levels:
  - name: DRAM
    kind: dram
    capacity: 1 GiB
    timing: ddr4-2400
    latency: 10 ns
  - name: SRAM
    kind: sram
    capacity: 64 KiB
    bandwidth: 8 B/cycle
  - name: PE
    array: {model: spatial, pes: {x: 4}}
"""
MAPPING = """\
levels:
  - {level: DRAM, loops: [{m: 8}, {n: 8}, {k: 8}]}
"""


written = partial(changed_chips.written, CHIP)
faults = partial(changed_chips.faults, CHIP)


def test_what_a_timing_comes_to(tmp_path: Path) -> None:
    memory = read_chip(written(tmp_path)).levels[0].memories[0]
    dram = read_memory("ddr4-2400")
    assert memory.dram == dram
    (port,) = memory.ports
    assert port.accesses == {Access.FILL, Access.DRAIN}
    assert port.rate == dram.peak_bytes_per_s / 10**9
    assert memory.beyond_cycles == 10
    assert memory.latency_cycles == 10 + math.floor(min(dram.timing.CL, dram.timing.CWL) * dram.cycle_s * 10**9)
    assert memory.capacity_bytes == 1 << 30


def test_unlimited_means_all_that_the_channels_have(tmp_path: Path) -> None:
    memory = read_chip(written(tmp_path, ("1 GiB", "unlimited"))).levels[0].memories[0]
    assert memory.capacity_bytes == read_memory("ddr4-2400").capacity_bytes


def test_a_file_beside_the_chip(tmp_path: Path) -> None:
    text = (shipped_folder("hwconfigs") / "memories" / "ddr4-2400.yaml").read_text(encoding="utf-8")
    (tmp_path / "own.yaml").write_text(re.sub(r"^name: .*", "name: own", text, flags=re.MULTILINE), encoding="utf-8")
    memory = read_chip(written(tmp_path, ("timing: ddr4-2400", "timing: own.yaml"))).levels[0].memories[0]
    assert memory.dram is not None
    assert memory.dram.name == "own"
    assert memory.dram.timing == read_memory("ddr4-2400").timing


def test_overrides_of_the_memory(tmp_path: Path) -> None:
    memory = read_chip(written(tmp_path), ["memory.controller.refresh=none"]).levels[0].memories[0]
    assert memory.dram is not None
    assert memory.dram.controller.refresh.value == "none"


def test_an_override_gives_a_shipped_chip_channels() -> None:
    chip = read_chip("tpu-v1", ["chip.levels.MEM.memories.DDR3.timing=ddr3-2133", "chip.levels.MEM.memories.DDR3.bandwidth=null",
                                "chip.levels.MEM.memories.DDR3.capacity=unlimited"])
    assert chip.levels[0].memories[0].dram == read_memory("ddr3-2133")


@pytest.mark.parametrize(("changes", "told"), [
    ([("timing: ddr4-2400", "timing: ddr4-2401")], "chip.yaml:8:5: levels.DRAM.timing: 'ddr4-2401': no memory of that name"),
    ([("    timing: ddr4-2400\n", "")], "chip.yaml:5:5: levels.DRAM: missing key 'bandwidth'"),
    ([("timing: ddr4-2400", "timing: ddr4-2400\n    bandwidth: 4 B/cycle")], "'bandwidth' beside `timing`"),
    ([("timing: ddr4-2400", "timing: ddr4-2400\n    granularity: 64 B")], "'granularity' beside `timing`"),
    ([("timing: ddr4-2400", "timing: ddr4-2400\n    ports: [{name: p, serves: [fill]}]")], "'ports' beside `timing`"),
    ([("timing: ddr4-2400", "bandwidth: 4 B/cycle\n    layout: tiles")], "levels.DRAM.layout: 'layout' without `timing`"),
    ([("kind: dram", "kind: sram")], "levels.DRAM.timing: the channels of a DRAM are for kind: dram"),
    ([("1 GiB", "1 TiB")], "chip.yaml:7:5: levels.DRAM.capacity: 1.00 TiB, but ddr4-2400 has"),
])
def test_faults_are_placed_and_named(tmp_path: Path, changes: list[tuple[str, str]], told: str) -> None:
    found = faults(tmp_path, *changes)
    assert any(told in one for one in found), found


def test_a_fault_of_an_override_of_the_technology_names_the_option(tmp_path: Path) -> None:
    (found,) = faults(tmp_path, options=("memory.controller.refresh=never",))
    assert found.startswith("-o: controller.refresh: unknown value 'never'"), found
    assert "all-bank" in found


def test_a_fault_of_a_technology_names_its_own_line(tmp_path: Path) -> None:
    text = (shipped_folder("hwconfigs") / "memories" / "ddr4-2400.yaml").read_text(encoding="utf-8")
    (tmp_path / "own.yaml").write_text("nonsense: 1\n" + text, encoding="utf-8")
    (found,) = faults(tmp_path, ("timing: ddr4-2400", "timing: own.yaml"))
    assert found.startswith("own.yaml:1:1: nonsense"), found


def test_memory_overrides_without_a_timing_are_refused() -> None:
    with pytest.raises(SpecError, match="no memory of toy has a `timing`"):
        read_chip("toy", ["memory.controller.refresh=none"])


def test_what_is_kept_in_channels_is_at_home_there(tmp_path: Path) -> None:
    chip = written(tmp_path, ("  - name: DRAM\n", "  - {name: HOST, kind: dram, capacity: unlimited, bandwidth: 1 B/cycle}\n"
                              "  - name: DRAM\n"))
    with pytest.raises(SpecError, match="at home in HOST"):
        from_files(chip, "gemm:m=8,n=8,k=8", MAPPING.replace("level: DRAM", "level: HOST"))


def test_lockstep_instances_have_no_addresses(tmp_path: Path) -> None:
    rate = "    bandwidth: 8 B/cycle\n"
    chip = written(tmp_path, (rate, rate + "    instances: {x: 2}\n    lockstep: true\n"))
    mapping = "levels:\n  - {level: DRAM, loops: [{m: 4}, {n: 8}, {k: 8}], spatial: {x: [{m: 2}]}}\n"
    with pytest.raises(SpecError, match="runs in lockstep"):
        from_files(chip, "gemm:m=8,n=8,k=8", mapping)


def test_arrays_do_not_read_from_channels(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no port that serves array_read"):
        from_files(written(tmp_path), "gemm:m=8,n=8,k=8", MAPPING.replace("level: DRAM,", "level: DRAM, binding: [A, B, C],")
                   + "  - {level: SRAM, binding: [A, C]}\n")


def test_the_rate_of_the_estimate_is_the_peak(tmp_path: Path) -> None:
    dram = read_memory("hbm2-2000")
    chip = read_chip(written(tmp_path, ("timing: ddr4-2400", "timing: hbm2-2000")))
    assert chip.levels[0].memories[0].ports[0].rate == Fraction(dram.peak_bytes_per_s) / chip.clock_hz


def test_what_a_memory_may_have_is_said_as_allowed() -> None:
    with pytest.raises(SpecError) as caught:
        read_memory("ddr4-2400", ["memory.rows=3"])
    assert [str(one) for one in caught.value.faults] == ["-o: rows: 3 rows; allowed: a power of two"]
