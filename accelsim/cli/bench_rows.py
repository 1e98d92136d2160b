"""The rows of `accelsim bench`: what is measured. To add one, add it to ROWS or RATIOS."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from accelsim.drivers import Driver, Running

if TYPE_CHECKING:
    from accelsim.spec.case import Case


@dataclass(frozen=True)
class Command:
    """A whole process, from start to exit. ``arguments``: of accelsim; ``files``: name and text of files it reads."""

    name: str
    what: str
    arguments: tuple[str, ...]
    files: tuple[tuple[str, str], ...] = ()
    unit: str = "CPU s"


@dataclass(frozen=True)
class Work:
    """Work for each CPU second in a process of its own that has done it once before.

    ``prepare``: makes what is timed, untimed itself; that returns how much it did, in ``unit`` without the ``/s``.
    """

    name: str
    what: str
    unit: str
    prepare: Callable[[], Callable[[], int]]


@dataclass(frozen=True)
class Ratio:
    """One row's value over another's, of the same run."""

    name: str
    what: str
    over: str
    under: str


Row = Command | Work

CONTENTION = """\
levels:
  - {level: DRAM, loops: [{k: 25}, {m: 64}, {n: 64}]}
  - {level: SRAM, loops: [{m: 4}, {n: 4}, {k: 4}]}
"""
"""4 x 4 x 4 tiles on `toy`, partial sums coming back: every step fills, refills and drains through one DRAM port."""

THREE_LEVELS = """\
levels:
  - {level: DRAM, loops: [{k: 8}, {m: 8}, {n: 8}]}
  - {level: SRAM, loops: [{k: 5}, {m: 8}, {n: 5}]}
  - {level: RF, loops: [{m: 2}, {n: 2}, {k: 2}]}
"""
"""2 x 2 x 2 tiles on `toy3`, that also contend for the SRAM's one port."""

LARGE = {
    2: """\
levels:
  - {level: DRAM, loops: [{m: "*"}, {n: "*"}, {k: "*"}]}
  - {level: SRAM, loops: [{m: 128}, {n: 128}, {k: 128}]}
""",
    3: """\
levels:
  - {level: DRAM, loops: [{m: "*"}, {n: "*"}, {k: "*"}]}
  - {level: SRAM, loops: [{m: 8}, {n: 8}, {k: 8}]}
  - {level: RF, loops: [{m: 64}, {n: 64}, {k: 64}]}
""",
}

ONNXIM = """\
levels:
  - {level: DRAM, loops: [{m: 2}, {n: 2}, {k: %d}]%s}
  - {level: CORE, loops: [{n: 4}, {m: 4}, {k: "*"}]}
  - {level: PE, binding: [B], loops: [{m: 128}], spatial: {x: [{n: 128}], y: [{k: 128}]}}
"""
"""Tiles of 512 x 512 outputs, as ONNXim cuts them, that arrive in pieces of 128 of the reduction."""


def onnxim(side: int, cores: int) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """A square GEMM on so many cores of the chip `onnxim`: arguments and files."""
    spread = ", spatial: {x: [{n: 2}, {m: 2}]}" if cores == 4 else ""
    return (("run", "onnxim", f"gemm:m={side},n={side},k={side},dtype=fp16", "--mapping", "mapping.yaml",
             "-o", f"chip.levels.CORE.instances.x={cores}"), (("mapping.yaml", ONNXIM % (side // 128, spread)),))


def case_of(chip: str, workload: str, mapping: str, overrides: tuple[str, ...] = ()) -> Case:
    """The case of a workload of one operator, with a mapping given as text."""
    from accelsim.analytic.auto import choose
    from accelsim.spec.case import Case
    from accelsim.spec.read import read
    with tempfile.TemporaryDirectory(prefix="accelsim-") as folder:
        path = Path(folder) / "mapping.yaml"
        path.write_text(mapping, encoding="utf-8")
        (found,) = read(chip, workload, str(path), choose=choose, overrides=overrides).cases
    assert isinstance(found, Case), found
    return found


def steps(case: tuple[str, str, str], driver: Driver) -> Callable[[], int]:
    """Tile steps of a case (chip, workload, mapping), by a driver."""
    from accelsim.machine.simulate import simulate
    from accelsim.plan.schedule import Schedule
    made = case_of(*case)
    return lambda: simulate(Schedule(made), running=Running(driver, fast_forward=False)).counts["blocks"]


def forward(side: int, levels: int, *, slow: bool) -> Callable[[], int]:
    """A square GEMM in 128 x 128 x 128 tiles on `toy`, or 64 x 64 x 64 ones in 512 x 512 x 512 on `toy3`, each once, whole.

    ``slow``: with a DRAM so slow that it decides.
    """
    from accelsim.machine.simulate import simulate
    from accelsim.plan.schedule import Schedule
    roomy = tuple(f"chip.levels.{level}.capacity=1 GiB" for level in ("SRAM", "RF")[:levels - 1])
    made = case_of("toy" if levels == 2 else "toy3", f"gemm:m={side},n={side},k={side},dtype=fp16", LARGE[levels],
                   (*roomy, *(("chip.levels.DRAM.bandwidth=0.01 B/cycle",) if slow else ())))

    def run() -> int:
        simulate(Schedule(made))
        return 1
    return run


TWO = "toy", "gemm:m=256,n=256,k=100", CONTENTION
THREE = "toy3", "gemm:m=128,n=80,k=80", THREE_LEVELS


def estimates(workload: str, orders: tuple[str, str, str]) -> Callable[[], int]:
    """Mappings of a workload on `toy3`, with loops in these orders, estimated at once; their bounds cover evenly."""
    from accelsim.search.batch import BatchEstimator
    from accelsim.spec.mapping import Loop, Mapping, MappingLevel
    from accelsim.spec.read import read_chip, read_workload
    chip, operator = read_chip("toy3"), read_workload(workload).operators[0]
    template = Mapping(tuple(MappingLevel(level.name, tuple(Loop((dim,), 1) for dim in order))
                             for level, order in zip(chip.levels, orders, strict=True)))
    estimator = BatchEstimator(chip, operator, template)
    random, rows = Random(1), []
    for _ in range(5000):
        row = [1] * len(estimator.columns)
        for dim, extent in operator.dims.items():
            left, places = extent, [i for i, column in enumerate(estimator.columns) if column.dim == dim]
            random.shuffle(places)
            for place in places[:-1]:
                row[place] = random.choice([bound for bound in range(1, left + 1) if left % bound == 0])
                left //= row[place]
            row[places[-1]] = left
        rows.append(row)
    bounds = np.array(rows, dtype=np.int64)[random.choices(range(len(rows)), k=200_000)]
    return lambda: len(estimator.estimate(bounds, traffic=False).cycles)


def requests(pattern: str) -> Callable[[], int]:
    """Requests of a pattern on one channel of DDR4-2400, refresh on."""
    from accelsim.machine.dram import replay
    from accelsim.spec.dramtrace import read_trace
    from accelsim.spec.read import read_memory
    memory = read_memory("ddr4-2400")
    trace = read_trace(pattern, memory)
    return lambda: len(replay(memory, trace).done)


ROWS: tuple[Row, ...] = (
    Command("help", "`accelsim --help`", ("--help",)),
    Command("small-run", "a small run, kernels compiled before: 8 x 8 x 8 GEMM on `toy`", ("run", "toy", "gemm:m=8,n=8,k=8")),
    Command("resnet50", "ResNet-50, all 54 layers, on `tpu-v1`, end to end", ("run", "tpu-v1", "resnet50")),
    Command("gemm-1024", "GEMM 1024 x 1024 x 1024 on one core of `onnxim`", *onnxim(1024, 1)),
    Command("gemm-2048", "GEMM 2048 x 2048 x 2048 on the four cores of `onnxim`", *onnxim(2048, 4)),
    Work("simpy-steps", "SimPy driver: 102,400 tile steps whose fills, refills and drains contend for one port", "steps/s",
         partial(steps, TWO, Driver.SIMPY)),
    Work("compiled-steps", "compiled driver: the same", "steps/s", partial(steps, TWO, Driver.COMPILED)),
    Work("compiled-steps-3", "compiled driver: 102,400 tile steps on three levels that contend for two ports", "steps/s",
         partial(steps, THREE, Driver.COMPILED)),
    *(Work(f"forward-{side}-{levels}{'-slow' if slow else ''}",
           f"fast-forward: GEMM {side} x {side} x {side} on {'two' if levels == 2 else 'three'} levels, bound by "
           f"{'DRAM' if slow else 'the array'}", "runs/s", partial(forward, side, levels, slow=slow))
      for side, levels in ((2048, 2), (16384, 2), (16384, 3)) for slow in (False, True)),
    Work("dram-stream", "`accelsim dram ddr4-2400`: reads one after another", "requests/s", partial(requests, "stream:n=300000")),
    Work("dram-random", "the same: two reads and a write, anywhere", "requests/s", partial(requests, "random:n=300000,writes=3")),
    Work("batch-gemm", "batch estimate: GEMM 512 x 512 x 512 on three levels", "mappings/s",
         partial(estimates, "gemm:m=512,n=512,k=512", ("kmn", "mkn", "mnk"))),
    Work("batch-conv", "batch estimate: a convolution of 7 loops on three levels", "mappings/s",
         partial(estimates, "conv2d:n=1,k=64,c=64,p=56,q=56,r=3,s=3,padding=1", ("nkcpqrs",) * 3)),
)

RATIOS: tuple[Ratio, ...] = (
    Ratio("compiled-over-simpy", "compiled driver over SimPy driver, the same case", "compiled-steps", "simpy-steps"),
    Ratio("forward-512", "time of 512 times the work, bound by the array, fast-forward", "forward-2048-2", "forward-16384-2"),
    Ratio("forward-512-slow", "time of 512 times the work, bound by DRAM, fast-forward", "forward-2048-2-slow",
          "forward-16384-2-slow"),
)
