"""The rows of `accelsim bench`: what is measured. To add one, add it to ROWS or RATIOS."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

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
  - {level: DRAM, loops: [{k: 16}, {m: 32}, {n: 32}]}
  - {level: SRAM, loops: [{m: 4}, {n: 4}, {k: 4}]}
"""
"""4 x 4 x 4 tiles on `toy`, partial sums coming back: every step fills, refills and drains through one DRAM port."""

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


def case_of(chip: str, workload: str, mapping: str) -> Case:
    """The case of a workload of one operator, with a mapping given as text."""
    from accelsim.analytic.auto import choose
    from accelsim.spec.case import Case
    from accelsim.spec.read import read
    with tempfile.TemporaryDirectory(prefix="accelsim-") as folder:
        path = Path(folder) / "mapping.yaml"
        path.write_text(mapping, encoding="utf-8")
        (found,) = read(chip, workload, str(path), choose=choose).cases
    assert isinstance(found, Case), found
    return found


def simpy_steps() -> Callable[[], int]:
    """Steps of the contention case, by the SimPy driver."""
    from accelsim.machine.simulate import simulate
    from accelsim.plan.schedule import Schedule
    case = case_of("toy", "gemm:m=128,n=128,k=64", CONTENTION)
    return lambda: simulate(Schedule(case)).counts["blocks"]


ROWS: tuple[Row, ...] = (
    Command("help", "`accelsim --help`", ("--help",)),
    Command("small-run", "a small run, kernels compiled before: 8 x 8 x 8 GEMM on `toy`", ("run", "toy", "gemm:m=8,n=8,k=8")),
    Command("resnet50", "ResNet-50, all 54 layers, on `tpu-v1`, end to end", ("run", "tpu-v1", "resnet50")),
    Command("gemm-1024", "GEMM 1024 x 1024 x 1024 on one core of `onnxim`", *onnxim(1024, 1)),
    Command("gemm-2048", "GEMM 2048 x 2048 x 2048 on the four cores of `onnxim`", *onnxim(2048, 4)),
    Work("simpy-steps", "SimPy driver, tile steps whose fills, refills and drains contend for one port", "steps/s", simpy_steps),
)

RATIOS: tuple[Ratio, ...] = ()
