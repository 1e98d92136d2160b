"""`accelsim init`: a folder with a chip, a workload and a mapping to change."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

from accelsim.errors import Fault, SpecError
from accelsim.writing import whole_folder, write_text

CHIP = """\
# A small accelerator to start from: change a number, run again.
name: mychip
description: A 16 x 16 weight-stationary array with a scratchpad and a DRAM
clock: 1 GHz
levels:                              # outermost first; the PE array last
  - name: DRAM
    kind: dram
    capacity: unlimited
    bandwidth: 16 B/cycle
    latency: 100 cycles
    ports:
      - {name: port, serves: [fill, drain, array_read, array_write]}
  - name: SRAM
    kind: sram
    capacity: 256 KiB
    bandwidth: 64 B/cycle            # each of its four ports: fill, drain, array_read, array_write
    latency: 4 cycles
    buffers: 2                       # double buffering
    accumulate: true                 # adds partial sums in place
  - name: PE
    array:
      model: systolic
      pes: {x: 16, y: 16}
      registers: 1                   # one stationary word in each PE
      buffers: 2                     # the next weights load under the running pass
      preload: row                   # one row of weights per cycle
"""
WORKLOAD = """\
name: mywork
description: Two layers of a small network
operators:
  - {name: project, operator: gemm, dims: {m: 256, n: 128, k: 128}, dtype: int8}
  - {name: conv, operator: conv2d, dims: {k: 32, c: 16, p: 28, q: 28, r: 3, s: 3}, padding: 1, dtype: int8}
"""
MAPPING = """\
# The mapping of `project`; `conv`, which is not named here, gets the best named dataflow.
operators:
  project:
    levels:
      - level: DRAM
        loops: [{n: 2}, {m: 2}]
      - level: SRAM
        loops: [{n: "*"}, {k: "*"}]
      - level: PE
        binding: [B]                 # weights stay in the array: weight stationary
        loops: [{m: 128}]            # rows stream by
        spatial: {x: [{n: 16}], y: [{k: 16}]}
"""


def init(folder: Path) -> int:
    """Write the starter files; refuse a folder that holds anything."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SpecError([Fault(str(folder), 0, 0, "", "exists and is not an empty folder; nothing was written")])
    files = {"chip.yaml": CHIP, "workload.yaml": WORKLOAD, "mapping.yaml": MAPPING}
    with whole_folder(folder, files.__contains__) if not folder.exists() else nullcontext(folder) as made:
        for name, content in files.items():
            write_text(made / name, content)
    print(f"wrote {folder}/chip.yaml, workload.yaml, mapping.yaml; now run\n\n  accelsim run {folder}/chip.yaml "
          f"{folder}/workload.yaml --mapping {folder}/mapping.yaml --timeline {folder}/timeline.png")
    return 0
