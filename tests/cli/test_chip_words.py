"""Does `explain CHIP` tell all that takes time there?"""

from __future__ import annotations

from pathlib import Path

import pytest

from .command import call

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize(("chip", "lines"), [
    ("nvdla-small", ["contiguous runs rounded up to 8 B, gaps of a fill up to 8 B read through",
                     "a pass takes 8 cycles at least", "slots of whole banks, of 32", "adds what arrives to what is there",
                     "1 stationary word a PE, 2 slots; preload 8 B/cycle (8.00 GB/s), results unlimited"]),
    ("a100", ["before it a cache of 40.0 MiB, in granules of 32 B", "108 instances in lockstep",
              "a MAC of each PE every 8 cycles at fp16, 8 cycles at bf16, 4 cycles at int8, 16 cycles at fp32",
              "L2       HBM to SM: 5120 B/cycle (6.81 TB/s), latency 200 cycles, multicast of equal sets, adds up what instances "
              "send, for drain, fill"]),
    (str(EXAMPLES / "mesh.yaml"), [
        "NOC      DRAM to L1: network mesh4x4, DRAM at node 0, 32 B/cycle (32.0 GB/s), latency 6 cycles"]),
    (str(EXAMPLES / "behind-ddr4.yaml"), ["channels of ddr4-2400, command by command, tensors row-major"]),
    ("gemmini", ["16 requests of 64 B outstanding", "results 31 cycles later", "preload a row a cycle"]),
    ("eyeriss", ["asks once weight of the same step is there"]),
])
def test_it_tells_what_a_run_goes_by(chip: str, lines: list[str]) -> None:
    told = call("explain", chip).out
    assert [line for line in lines if line not in told] == []
