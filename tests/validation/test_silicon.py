"""What the comparisons with silicon rest on: passes that do not overlap, and a machine without DRAM that never waits for one."""

from __future__ import annotations

import pytest

from accelsim.compare.nvdla import shape
from accelsim.compare.references import table
from accelsim.compare.running import read_case, run
from accelsim.compare.tpus import v3_run
from accelsim.stalls import StallCause


def test_tpu_v3_passes_do_not_overlap() -> None:
    """Where passes overlap the cube of 512 is a fifth too fast (copies apart would explain it, but not the convolution)."""
    name = "gemm_512x512x512"
    cycles = int(next(one["cycles"] for one in table("silicon/tpu-v3") if one["workload"] == name))
    assert v3_run(name, "chip.levels.MXU.array.buffers=2").cycles < 0.85 * cycles
    assert v3_run(name).cycles == pytest.approx(cycles, rel=0.1)


def test_a_static_machine_never_waits_for_memory() -> None:
    """Weights stand in SRAM: where rows are many, only the wavefront and the preload are not hidden."""
    one = run(read_case("groq-tsp", "gemm:m=4096,n=1280,k=1280,dtype=int8")).report
    assert not {StallCause.DRAM_BANDWIDTH, StallCause.DRAM_LATENCY} & set(one.stalls)
    assert one.busy > 0.8


def test_nvdla_strides_are_those_that_leave_least_unread() -> None:
    """4 x 1 and a 1 x 1 window with two outputs: a stride of 3 reads the first and the last."""
    x, y = shape(4, 1, 1, 1, 2, 1)
    assert (x.outputs, y.outputs, x.padding) == (2, 1, 0)
    assert (x.outputs - 1) * x.stride + 1 <= 4
