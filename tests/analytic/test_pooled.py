"""What lockstep instances get in one transfer is rounded once, by the machine and so by the bounds."""

from __future__ import annotations

from pathlib import Path

from accelsim.verbs import Options, run

CHIP = """\
name: pooled
description: 64 registers in lockstep behind one port of 256 B/cycle
clock: 1 GHz
levels:
  - name: L1
    kind: sram
    capacity: unlimited
    bandwidth: unlimited
    latency: 0 cycles
    buffers: 2
    ports:
      - {name: in, serves: [fill, drain], tensors: [input, weight], bandwidth: unlimited}
      - {name: out, serves: [fill, drain], tensors: [output], bandwidth: 256 B/cycle}
      - {name: array, serves: [array_read, array_write], bandwidth: unlimited}
  - name: REG
    kind: sram
    serves: [output]
    capacity: 4 B
    bandwidth: unlimited
    latency: 0 cycles
    buffers: 1
    instances: {x: 64}
    lockstep: true
  - name: MAC
    array: {model: spatial, pes: {}}
links:
  - {name: sum, from: L1, to: REG, bandwidth: unlimited, reduce: true}
  - {name: cast, from: L1, to: MAC, bandwidth: unlimited, multicast: equal}
"""
MAPPING = """\
levels:
  - level: L1
    loops: [{k: 16}, {m: 4}]
    spatial: {x: [{n: 64}]}
  - {level: REG, loops: []}
"""


def test_the_port_of_all_is_not_rounded_for_each(tmp_path: Path) -> None:
    """Sums of 4 rows come and go for 16 steps of k, but the first are not read: 64 words of 4 B are one cycle of 256 B/cycle."""
    chip, mapping = tmp_path / "chip.yaml", tmp_path / "mapping.yaml"
    chip.write_text(CHIP, encoding="utf-8")
    mapping.write_text(MAPPING, encoding="utf-8")
    (one,) = run(str(chip), "gemm:m=4,n=64,k=16,dtype=int8", Options(mapping=str(mapping))).report.done
    bounds = {bound.name: bound.cycles for bound in one.estimate.bounds}
    # 60 drains of sums and 60 refills of 64 x 4 B, and at the end 4 drains of 64 x 1 B: a quarter of a cycle each
    assert bounds["L1 out port"] >= 60 + 60 + 1
    assert max(bounds.values()) <= one.cycles
