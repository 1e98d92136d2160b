"""A pass of the array takes its iterations, or the least that one takes, whichever is longer."""

from __future__ import annotations

from pathlib import Path

import pytest

from accelsim.analytic.estimate import estimate
from accelsim.machine.compiled_driver import CompiledMachine
from accelsim.machine.simpy_driver import Machine
from accelsim.spec.read import read_chip

from ..helpers import Ran, array, chip, entry, gemm, level, make, run

DRIVERS = [Machine, CompiledMachine]


def passes(least: int, binding: str = "") -> Ran:
    """m 7, in passes of three iterations: 3, 3 and 1."""
    on = chip([level("SRAM", 4, 0), level("L1")], array(least_cycles=least))
    return run(make(on, gemm(7, 1, 1), entry("SRAM", "m3"), entry("L1", ""), entry("PE", "m3", binding)), None, CompiledMachine)


@pytest.mark.parametrize(("least", "busy"), [(0, 7), (1, 7), (2, 8), (3, 9), (4, 12), (8, 24)])
def test_ragged_passes(least: int, busy: int) -> None:
    ran = passes(least)
    assert ran.timeline.counts["hold_cycles"] == busy
    assert ran.timeline.busy_cycles(0) == busy


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize(("least", "cycles"), [(5, 12), (4, 12), (6, 12), (7, 14), (10, 20)])
def test_passes_in_one_step(driver: type[Machine | CompiledMachine], least: int, cycles: int) -> None:
    """Two passes of six iterations each without a tile between them are one block."""
    on = chip([level("SRAM")], array(least_cycles=least))
    case = make(on, gemm(2, 1, 6), entry("SRAM", "m2"), entry("PE", "k6"))
    assert run(case, None, driver).cycles == cycles == estimate(case).cycles


def test_in_a_chip_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("name: mine\ndescription: passes of 8 ns\nclock: 500 MHz\nlevels:\n"
                    "  - {name: SRAM, kind: sram, capacity: 64 KiB, bandwidth: unlimited}\n"
                    "  - name: PE\n    array: {model: spatial, pes: {}, least: 8 ns}\n", encoding="utf-8")
    assert read_chip(str(path)).array.least_cycles == 4
