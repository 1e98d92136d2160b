"""What an overlapping multicast reads for lockstep instances is rounded as one run, by the machine and so by the bounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from accelsim.verbs import Options, run

CHIP = """\
name: joined
description: three registers in lockstep behind one port
clock: 1 GHz
levels:
  - name: L1
    kind: sram
    capacity: unlimited
    bandwidth: unlimited
    latency: 0 cycles
    granularity: {granule} B
    buffers: 2
    ports:
      - {{name: in, serves: [fill, drain], tensors: [weight], bandwidth: 1 B/cycle}}
      - {{name: rest, serves: [fill, drain], tensors: [input, output], bandwidth: unlimited}}
      - {{name: array, serves: [array_read, array_write], bandwidth: unlimited}}
  - name: REG
    kind: sram
    serves: [weight]
    capacity: 4 B
    bandwidth: unlimited
    latency: 0 cycles
    buffers: 1
    instances: {{x: 3}}
    lockstep: true
  - name: MAC
    array: {{model: spatial, pes: {{}}}}
links:
  - {{name: down, from: L1, to: REG, bandwidth: unlimited, multicast: {multicast}}}
  - {{name: up, from: L1, to: MAC, bandwidth: unlimited, multicast: equal, reduce: true}}
"""
MAPPING = """\
levels:
  - level: L1
    loops: [{k: 8}]
    spatial: {x: [{n: 3}]}
  - {level: REG, loops: []}
"""


@pytest.mark.parametrize(("granule", "dtype", "multicast", "each", "least"), [
    (16, "fp32", "overlap", 16, 8 * 12),  # 3 x 4 B side by side are 12 B, one granule; the bound counts the bytes alone
    (16, "fp32", "none", 48, 8 * 48),     # each is a read of its own
    (1, "int4", "overlap", 2, 8 * 3 // 2),  # 3 x 4 bits are a byte and a half
    (1, "int4", "none", 3, 8 * 3),
])
def test_the_union_is_rounded_as_one(granule: int, dtype: str, multicast: str, each: int, least: int, tmp_path: Path) -> None:
    """A word of each of three instances for each of 8 steps, at 1 B/cycle into the only slot, and its MAC."""
    chip, mapping = tmp_path / "chip.yaml", tmp_path / "mapping.yaml"
    chip.write_text(CHIP.format(granule=granule, multicast=multicast), encoding="utf-8")
    mapping.write_text(MAPPING, encoding="utf-8")
    (one,) = run(str(chip), f"gemm:m=1,n=3,k=8,dtype={dtype}", Options(mapping=str(mapping))).report.done
    port = next(bound.cycles for bound in one.estimate.bounds if bound.name == "L1 in port")
    assert port == least + 1
    assert one.cycles == 8 * (each + 1)
