"""Memories with banks that are simulated: what chip files and mappings say of them, and each fault placed and named."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from accelsim import Options, run
from accelsim.errors import DoesNotFit, SpecError
from accelsim.machine.network import build_network
from accelsim.machine.simulate import simulate
from accelsim.plan.schedule import Schedule
from accelsim.spec.banks import Banks, Ports
from accelsim.spec.mapping import Mapping
from accelsim.spec.read import read_chip

from ..helpers import array, chip, entry, from_files, gemm, level, make
from . import changed_chips

CHIP = """\
name: mine
description: A chip with banks
clock: 1 GHz
levels:
  - name: DRAM
    kind: dram
    capacity: 1 GiB
    bandwidth: 8 B/cycle
  - name: SRAM
    kind: sram
    capacity: 64 KiB
    bandwidth: unlimited
    banks: 4
    bank_width: 16 B
  - name: PE
    array: {model: spatial, pes: {x: 4}}
"""
MAPPING = """\
levels:
  - {level: DRAM, loops: [{m: 8}]}
  - {level: SRAM, layout: {A: column, B: "padded:1"}, loops: [{m: 4}, {n: "*"}, {k: "*"}]}
"""


written = partial(changed_chips.written, CHIP)
faults = partial(changed_chips.faults, CHIP)


@pytest.mark.parametrize(("more", "banked", "whole"), [
    ("", Banks(4, 16, Ports(both=1)), None),
    ("\n    bank_ports: 1R1W", Banks(4, 16, Ports(1, 1)), None),
    ("\n    interleave: 64 B", Banks(4, 16, Ports(both=1), 4), None),
    ("\n    interleave: bank", Banks(4, 16, Ports(both=1), 1024), 4)])
def test_what_banks_come_to(tmp_path: Path, more: str, banked: Banks, whole: int | None) -> None:
    """Slots are allotted in whole banks only where one lies behind the other."""
    memory = read_chip(written(tmp_path, ("bank_width: 16 B", "bank_width: 16 B" + more))).levels[1].memories[0]
    assert (memory.banked, memory.banks) == (banked, whole)


def test_banks_without_a_width_are_not_simulated(tmp_path: Path) -> None:
    memory = read_chip(written(tmp_path, ("    bank_width: 16 B\n", ""))).levels[1].memories[0]
    assert (memory.banked, memory.banks) == (None, 4)


@pytest.mark.parametrize(("changes", "told"), [
    ([("    banks: 4\n", "")], "chip.yaml:13:5: levels.SRAM.bank_width: 'bank_width' without `banks`, their number"),
    ([("bank_width: 16 B", "bank_ports: 1RW")], "chip.yaml:14:5: levels.SRAM.bank_ports: 'bank_ports' without `bank_width`"),
    ([("bank_width: 16 B", "interleave: bank")], "levels.SRAM.interleave: 'interleave' without `bank_width`"),
    ([("bank_width: 16 B", "bank_width: 16")], "levels.SRAM.bank_width: 16 has no unit"),
    ([("bank_width: 16 B", "bank_width: 16 B\n    bank_ports: 1RV")], "levels.SRAM.bank_ports: '1RV' are no ports of a bank"),
    ([("bank_width: 16 B", "bank_width: 16 B\n    bank_ports: 2R")], "2R leaves nothing to write with"),
    ([("bank_width: 16 B", "bank_width: 16 B\n    interleave: row")], "levels.SRAM.interleave: 'row'"),
    ([("bank_width: 16 B", "bank_width: 16 B\n    interleave: 24 B")], "24 B is not a whole number of words of 16 B"),
    ([("bank_width: 16 B", "bank_width: 48 B\n    interleave: bank")], "64 KiB are not 4 equal banks of words of 48 B"),
    ([("banks: 4", "banks: 100000")], "levels.SRAM.banks: 100,000 banks to simulate; allowed: 1 to 65,536"),
    ([("kind: sram", "kind: dram")], "levels.SRAM.bank_width: banks of words are for kind: sram"),
    ([("64 KiB", "unlimited")], "levels.SRAM.banks: banks of an unlimited memory"),
    ([("bank_width: 16 B", "bank_with: 16 B")], "bank_width"),
])
def test_each_fault_of_banks(tmp_path: Path, changes: list[tuple[str, str]], told: str) -> None:
    found = faults(tmp_path, *changes)
    assert any(told in one for one in found), found


def test_all_faults_of_banks_at_once(tmp_path: Path) -> None:
    found = faults(tmp_path, ("    banks: 4\n    bank_width: 16 B", "    bank_ports: 2R\n    interleave: word"))
    assert [one.split(": ")[1] for one in found] == ["levels.SRAM.bank_ports", "levels.SRAM.interleave"]


# -- layouts in mappings ------------------------------------------------------------------------------------------------


def test_layouts_of_a_mapping(tmp_path: Path) -> None:
    case = from_files(written(tmp_path), "gemm:m=32,n=16,k=16", MAPPING)
    assert [str(case.layout(1, name)) for name in "ABC"] == ["column", "padded:1", "row"]
    assert '    layout: {A: "column", B: "padded:1"}\n' in case.mapping.to_yaml()
    assert "SRAM holds all it serves; layout A column, B padded:1" in case.mapping.loop_nest(case.operator)
    again = from_files(written(tmp_path), "gemm:m=32,n=16,k=16", case.mapping.to_yaml())
    assert Mapping(again.mapping.levels) == Mapping(case.mapping.levels)
    assert simulate(Schedule(again)).cycles == simulate(Schedule(case)).cycles


def test_a_layout_can_be_overridden(tmp_path: Path) -> None:
    case = from_files(written(tmp_path), "gemm:m=32,n=16,k=16", MAPPING, "mapping.levels.SRAM.layout.A=swizzled")
    assert str(case.layout(1, "A")) == "swizzled"


@pytest.mark.parametrize(("change", "told"), [
    (("A: column", "X: column"), "layout.X: no tensor named 'X'"),
    (("A: column", "A: colum"), "did you mean 'column'?"),
    (("A: column", "A: 3"), "3 is no layout"),
    (("level: SRAM, layout", "level: SRAM, binding: [B, C], layout"), "layout.A: A is not held by a memory of SRAM"),
    (("level: DRAM,", "level: DRAM, layout: {B: column},"), "DRAM has no banks that are simulated, so a layout changes nothing"),
])
def test_each_fault_of_a_layout(tmp_path: Path, change: tuple[str, str], told: str) -> None:
    assert MAPPING.count(change[0]) == 1
    with pytest.raises(SpecError) as caught:
        from_files(written(tmp_path), "gemm:m=32,n=16,k=16", MAPPING.replace(*change))
    assert told in str(caught.value)


def test_swizzling_takes_a_power_of_two(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="swizzled: 3 banks of SRAM are no power of two"):
        from_files(written(tmp_path, ("banks: 4", "banks: 3")), "gemm:m=32,n=16,k=16", MAPPING.replace("column", "swizzled"))


def test_arrays_that_run_apart_have_no_banks_in_common() -> None:
    levels = [level("DRAM"), level("SRAM", capacity_bytes=1 << 16, banked=Banks(4, 4, Ports(both=1)))]
    on = chip(levels, array(fanout=(("core", 2),)))
    with pytest.raises(SpecError, match="several arrays, not in lockstep, take A from SRAM"):
        make(on, gemm(4, 4, 4), entry("DRAM", ""), entry("SRAM", "m* n* k*", core="m2"))
    together = chip(levels, array(fanout=(("core", 2),), lockstep=True))
    case = make(together, gemm(4, 4, 4), entry("DRAM", ""), entry("SRAM", "m* n* k*", core="m2"))
    assert build_network(Schedule(case)).banked


def test_a_layout_that_does_not_fit(tmp_path: Path) -> None:
    """Rows of A are four words of 16 B, and four of them a tile; padded by 100, 4 x 104 words."""
    path = written(tmp_path, ("64 KiB", "6 KiB"))
    case = from_files(path, "gemm:m=32,n=16,k=16", MAPPING)
    assert case.slot_bytes(1, case.operator.tensor("A")) == 4 * 4 * 16
    assert case.slot_bytes(1, case.operator.tensor("B")) == 16 * 5 * 16, "a word more for each row"
    with pytest.raises(DoesNotFit, match=r"SRAM: the tiles need .*A 13.0 KiB \(2 x 6.50 KiB\)"):
        from_files(path, "gemm:m=32,n=16,k=16", MAPPING.replace("A: column", 'A: "padded:100"'))


def test_blocks_that_touch_too_much_are_refused_before_they_start(tmp_path: Path) -> None:
    """512 x 512 x 512 operations of one MAC in a block: 2^27 elements of A."""
    path = written(tmp_path, ("64 KiB", "16 MiB"), ("pes: {x: 4}", "pes: {}"))
    mapping = tmp_path / "mapping.yaml"
    mapping.write_text('levels:\n  - {level: SRAM, loops: [{m: "*"}, {n: "*"}, {k: "*"}]}\n', encoding="utf-8")
    (failed,) = run(path, "gemm:m=512,n=512,k=512", Options(mapping=str(mapping))).report.failed
    assert failed.exit_code == 4
    assert "touches up to 134,217,728 elements of a tensor, and banks are simulated for 33,554,432" in failed.reason
