"""The SimPy driver: its cost in events, which CI guards. Its speed is a row of `accelsim bench`."""

from __future__ import annotations

import gc
from pathlib import Path

from accelsim.analytic.auto import choose
from accelsim.drivers import Driver, Running
from accelsim.machine.simulate import simulate
from accelsim.plan.schedule import Schedule
from accelsim.spec.case import Case
from accelsim.spec.read import read, read_chip, read_workload

MAPPING = """\
levels:
  - {level: DRAM, loops: [{k: %d}, {m: %d}, {n: %d}]}
  - {level: SRAM, loops: [{m: 4}, {n: 4}, {k: 4}]}
"""


def double_buffered(folder: Path, k: int, m: int, n: int) -> Case:
    """4 x 4 x 4 tiles on `toy`, partial sums coming back: every step fills, refills and drains."""
    (folder / "mapping.yaml").write_text(MAPPING % (k, m, n), encoding="utf-8")
    asked = read("toy", f"gemm:m={4 * m},n={4 * n},k={4 * k}", str(folder / "mapping.yaml"), choose=choose)
    case = asked.cases[0]
    assert isinstance(case, Case)
    return case


def test_events_of_a_run_do_not_grow(tmp_path: Path) -> None:
    """2 x 8 x 8 steps: 128 blocks; 16 + 128 fills of A and B, 64 refills, 128 drains, and a block's end each."""
    timeline = simulate(Schedule(double_buffered(tmp_path, 2, 8, 8)))
    assert timeline.counts["blocks"] == 128
    assert timeline.counts["transfers"] == 16 + 128 + 64 + 128
    # a fill is one event (its arrival), a drain two (through and arrived), a block one
    assert timeline.counts["events"] == (16 + 128 + 64) + 2 * 128 + 128


def test_events_do_not_depend_on_tile_size() -> None:
    """A bigger tile is a longer event, not more of them."""
    chip = read_chip("toy")
    counts = set()
    for side in (4, 8, 16):
        operator = read_workload(f"gemm:m={side},n={side},k={side}").operators[0]
        asked = read("toy", f"gemm:m={side},n={side},k={side}", choose=choose)
        case = asked.cases[0]
        assert isinstance(case, Case)
        assert case.operator.macs == operator.macs
        assert case.chip == chip
        counts.add(simulate(Schedule(case)).counts["events"])
    assert len(counts) == 1


def test_what_a_run_leaves_to_the_garbage_collector_does_not_grow(tmp_path: Path) -> None:
    """Memory does not grow with the steps: what is over is let go of at once, as the collector rests during a run."""
    left = []
    gc.disable()
    try:
        for k in (2, 16):
            case = double_buffered(tmp_path, k, 8, 8)
            gc.collect()
            simulate(Schedule(case), running=Running(Driver.SIMPY))
            left.append(gc.collect())
    finally:
        gc.enable()
    assert left[1] <= left[0] + 50
