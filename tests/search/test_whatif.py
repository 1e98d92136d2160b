"""Each resource varied alone: by hand, and equal to what the override of its key gives."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from accelsim.errors import LimitExceeded, SpecError
from accelsim.search.resources import Resource, resources
from accelsim.search.whatif import Sensitivity, WhatIf, what_if
from accelsim.spec.case import Case
from accelsim.verbs import Options, ask, run

TILE = "gemm:m=4,n=4,k=4"
SMALL = "gemm:m=96,n=80,k=72"
TWICE, HALF = Fraction(2), Fraction(1, 2)


def rows_of(found: WhatIf) -> dict[str, Sensitivity]:
    return {row.resource.name: row for row in found.rows}


def resource_of(chip: str, workload: str, name: str, *overrides: str) -> tuple[Case, Resource]:
    (case,) = ask(chip, workload, Options(overrides=overrides)).cases
    assert isinstance(case, Case)
    return case, next(one for one in resources(case) if one.name == name)


def test_one_tile_by_hand() -> None:
    """DESIGN section 3: A 0-16-116, B 16-32-132, compute 132-196, C drains 196-212-312."""
    found = what_if("toy", TILE)
    assert found.cycles == 312
    assert {name: (row.doubled, row.halved, row.ideal) for name, row in rows_of(found).items()} == {
        "DRAM latency": (312 - 2 * 50, 312 + 2 * 100, 312 - 2 * 100),
        "DRAM bandwidth": (312 - 3 * 8, 312 + 3 * 16, 312 - 3 * 16),
        "MAC clock": (312 - 32, 312 + 64, 312 - 63),  # no limit is a clock 1,024 times as fast: 64 cycles are a sixteenth of one
        "SRAM buffers": (312, 312, 312),
    }


def test_what_binds_is_followed() -> None:
    found = what_if("toy", TILE, moves=3)
    assert found.binding is not None
    assert found.binding.resource.name == "DRAM latency"
    # 100 cycles, 50, 25; then the clock's 32 are more than half of 25 twice and of a service of 48
    assert [(move.resource.name, move.cycles) for move in found.moves] == [
        ("DRAM latency", 212), ("DRAM latency", 162), ("MAC clock", 130)]
    assert what_if("toy", TILE, moves=0).moves == ()


def test_elasticity_is_one_where_cycles_go_with_the_inverse() -> None:
    """One buffer, no latency and a DRAM so slow that the rest vanishes."""
    found = what_if("toy", SMALL, Options(overrides=("chip.levels.DRAM.bandwidth=0.01 B/cycle",)))
    row = rows_of(found)["DRAM bandwidth"]
    assert row.elasticity == pytest.approx(1, abs=0.01)
    assert rows_of(found)["MAC clock"].elasticity == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize(("chip", "name", "factor", "override"), [
    ("toy", "DRAM bandwidth", TWICE, "chip.levels.DRAM.bandwidth=8 B/cycle"),
    ("toy", "DRAM bandwidth", HALF, "chip.levels.DRAM.bandwidth=2 B/cycle"),
    ("toy", "DRAM latency", TWICE, "chip.levels.DRAM.latency=50 cycles"),
    ("toy", "DRAM latency", None, "chip.levels.DRAM.latency=0 cycles"),
    ("toy3", "SRAM bandwidth", TWICE, "chip.levels.SRAM.bandwidth=32 B/cycle"),
    ("toy3", "SRAM bandwidth", None, "chip.levels.SRAM.bandwidth=unlimited"),
    ("gemmini", "launch", TWICE, "chip.launch=609 cycles"),
    ("gemmini", "launch", HALF, "chip.launch=2434 cycles"),
    ("gemmini", "launch", None, "chip.launch=0 cycles"),
    ("a100", "cache of HBM", HALF, "chip.levels.HBM.cache=20 MiB"),
    ("a100", "L2 bandwidth", TWICE, "chip.links.L2.bandwidth=10240 B/cycle"),
])
def test_a_variation_is_what_its_override_gives(chip: str, name: str, factor: Fraction | None, override: str) -> None:
    workload = "gemm:m=64,n=64,k=64,dtype=int8"
    case, resource = resource_of(chip, workload, name)
    assert resource.key == override.partition("=")[0]
    varied = resource.faster(case, factor)
    (other,) = ask(chip, workload, Options(overrides=(override,))).cases
    assert varied is not None
    assert isinstance(other, Case)
    assert varied.case.chip == other.chip


def test_half_and_twice_the_channels() -> None:
    """Their bits of an address go and come where channels have theirs; one channel cannot be halved."""
    chip = Path(__file__).parents[2] / "examples" / "behind-ddr4.yaml"
    case, resource = resource_of(str(chip), SMALL, "DRAM bandwidth")
    (memory,) = case.chip.levels[0].memories
    assert memory.dram is not None
    doubled, halved, free = (resource.faster(case, factor) for factor in (TWICE, HALF, None))
    assert doubled is not None
    assert free is not None
    (more,) = doubled.case.chip.levels[0].memories
    assert more.dram is not None
    assert more.dram.counts["channel"] == 2 * memory.dram.counts["channel"]
    assert sum(bits for _, bits in more.dram.mapping) == sum(bits for _, bits in memory.dram.mapping) + 1
    assert more.dram.peak_bytes_per_s == 2 * memory.dram.peak_bytes_per_s
    assert more.ports[0].rate == 2 * memory.ports[0].rate
    assert halved is None or memory.dram.counts["channel"] > 1
    (none,) = free.case.chip.levels[0].memories
    assert (none.dram, none.ports[0].rate, none.latency_cycles) == (None, None, memory.latency_cycles)
    ran = rows_of(what_if(str(chip), SMALL, moves=0))
    rows = ran["DRAM rows, refresh, turnaround"]
    assert rows.ideal is not None
    assert rows.ideal < rows.base
    assert (rows.doubled, rows.halved, rows.elasticity) == (None, None, None)


def test_a_clock_twice_as_fast_is_a_chip_told_in_its_cycles() -> None:
    faster = run("toy", SMALL, Options(overrides=("chip.clock=2 GHz", "chip.levels.DRAM.bandwidth=4 GB/s",
                                                  "chip.levels.DRAM.latency=100 ns"))).report
    assert rows_of(what_if("toy", SMALL, moves=0))["MAC clock"].doubled == -(-faster.cycles // 2)


def test_simulated_banks_have_the_arrays_clock() -> None:
    workload, spad = "gemm:m=64,n=64,k=64,dtype=int8", "chip.levels.ONCHIP.memories.SPAD"
    plain, clock = resource_of("gemmini", workload, "PE clock")
    banked, _ = resource_of("gemmini", workload, "PE clock", f"{spad}.banks=4", f"{spad}.bank_width=16 B")
    assert clock.faster(plain, TWICE) is not None
    assert clock.faster(banked, TWICE) is None


def test_a_network_varies_in_all_its_channels() -> None:
    chip = Path(__file__).parents[2] / "examples" / "mesh.yaml"
    case, resource = resource_of(str(chip), SMALL, "NOC bandwidth")
    varied = resource.faster(case, TWICE)
    assert varied is not None
    was, now = (one.chip.links[0].network for one in (case, varied.case))
    assert was is not None
    assert now is not None
    assert [2 * channel.rate for way in was.inward for channel in way] == [channel.rate for way in now.inward for channel in way]


def test_what_holds_together_is_told_together() -> None:
    """On gemmini the ports of the scratchpad feed the array just as fast as it streams."""
    found = what_if("gemmini", "gemm:m=256,n=256,k=256,dtype=int8", moves=0)
    assert {row.resource.name for row in found.tight} == {"PE clock", "SPAD.input bandwidth", "SPAD.weight bandwidth"}


def test_ports_that_nothing_passes_are_no_resource() -> None:
    assert "DRAM.array_read bandwidth" not in rows_of(what_if("gemmini", "gemm:m=64,n=64,k=64,dtype=int8", moves=0))


def test_what_is_mapped_anew_is_what_auto_gives_for_that_chip() -> None:
    """Twice and half the SRAM of toy, as if that had been its file; without --remap capacities are no resource."""
    workload, slow = "gemm:m=200,n=200,k=200", "chip.levels.DRAM.bandwidth=0.25 B/cycle"
    rows = rows_of(what_if("toy", workload, Options(overrides=(slow,)), moves=0, remap=True))
    capacity = rows["SRAM capacity"]
    (level,) = [one for one in ask("toy", workload, Options()).chip.levels if one.name == "SRAM"]
    have = level.memories[0].capacity_bytes
    assert have is not None
    own = [run("toy", workload, Options(overrides=(slow, f"chip.levels.SRAM.capacity={size} B"))).report.cycles
           for size in (2 * have, have // 2)]
    assert [capacity.doubled, capacity.halved] == own
    assert own[0] < capacity.base < own[1]
    assert "SRAM buffers" not in rows
    assert "SRAM capacity" not in rows_of(what_if("toy", workload, moves=0))


def test_what_is_mapped_by_a_file_is_not_mapped_anew() -> None:
    with pytest.raises(SpecError, match="a mapping is given"):
        what_if("toy", TILE, Options(mapping="mapping.yaml"), remap=True)


def test_what_only_some_operators_have_is_followed_too(tmp_path: Path) -> None:
    """Weights of one operator stay in registers of the other's chip level: slots that one does not have are left alone."""
    workload = tmp_path / "two.yaml"
    workload.write_text("name: two\noperators:\n"
                        "  - {name: a, operator: gemm, dims: {m: 64, n: 64, k: 64}, dtype: int8}\n"
                        "  - {name: b, operator: gemm, dims: {m: 1, n: 16, k: 16}, dtype: int8}\n", encoding="utf-8")
    found = what_if("gemmini", str(workload), moves=4)
    assert [move.cycles for move in found.moves] == sorted((move.cycles for move in found.moves), reverse=True)


def test_operators_count_as_often_as_they_repeat(tmp_path: Path) -> None:
    workload = tmp_path / "two.yaml"
    workload.write_text("name: two\noperators:\n"
                        "  - {name: a, operator: gemm, dims: {m: 4, n: 4, k: 4}, repeat: 3}\n"
                        "  - {name: b, operator: gemm, dims: {m: 4, n: 4, k: 4}}\n"
                        "  - {name: huge, operator: gemm, dims: {m: 40000, n: 40000, k: 40000}}\n", encoding="utf-8")
    found = what_if("toy", str(workload), Options(most_steps=1000), moves=0)
    assert found.cycles == 4 * 312
    assert rows_of(found)["DRAM latency"].doubled == 4 * 212
    assert [one.name for one in found.failed] == ["huge"]
    with pytest.raises(LimitExceeded, match=r"gemm: .* exceed the limit of 1,000"):
        what_if("toy", "gemm:m=40000,n=40000,k=40000", Options(most_steps=1000))
