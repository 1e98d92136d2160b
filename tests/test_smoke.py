"""Does the main job work from end to end, as a user runs it? In a minute, so with the oldest dependencies too."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.smoke

ROOT = Path(__file__).resolve().parent.parent
COMMAND = [sys.executable, "-c", "import sys; from accelsim.cli.main import main; sys.exit(main())"]
GEMM = "gemm:m=8,n=8,k=8"
MAPPING = """\
levels:
  - level: DRAM
    loops: [{k: 2}, {m: 2}, {n: 2}]
  - level: SRAM
    loops: [{m: 4}, {n: 4}, {k: 4}]
"""


def accelsim(*arguments: str, folder: Path, code: int = 0) -> str:
    """What the command prints on standard output; it must end with that exit code and say why if it is not 0."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([*COMMAND, *arguments], cwd=folder, env=environment, capture_output=True, text=True,
                          check=False, timeout=300)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    assert code == 0 or done.stderr
    return done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mapping.yaml").write_text(MAPPING, encoding="utf-8")
    return tmp_path


def report_of(text: str) -> dict[str, Any]:
    (operator,) = json.loads(text)["operators"]
    assert isinstance(operator, dict)
    return operator


def test_a_run_has_the_cycles_worked_out_by_hand(folder: Path) -> None:
    report = report_of(accelsim("run", "toy", GEMM, "--mapping", "mapping.yaml", "--json", folder=folder))
    assert (report["cycles"], report["macs"]) == (1012, 512)
    (lane,) = [lane for lane in report["lanes"].values() if lane["stall_cycles"]]
    assert lane["busy_cycles"] + lane["stall_cycles"] + lane["idle_cycles"] == 1012
    assert sum(report["stalls"].values()) == lane["stall_cycles"]
    slow = accelsim("run", "toy", GEMM, "--mapping", "mapping.yaml", "--json", "-o", "chip.levels.SRAM.buffers=1",
                    folder=folder)
    assert report_of(slow)["cycles"] == 1796


def test_a_saved_run_is_reported_again(folder: Path) -> None:
    first = accelsim("run", "toy", GEMM, "--mapping", "mapping.yaml", "--save", "saved", "--json", folder=folder)
    again = report_of(accelsim("report", "saved", "--json", folder=folder))
    assert again["cycles"] == report_of(first)["cycles"]
    assert again["stalls"] == report_of(first)["stalls"]


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_picture_is_drawn(folder: Path, suffix: str) -> None:
    accelsim("run", "toy", GEMM, "--timeline", f"out.{suffix}", "--csv", "out.csv", folder=folder)
    assert (folder / f"out.{suffix}").stat().st_size > 1000
    assert "cycles" in (folder / "out.csv").read_text(encoding="utf-8")


def test_estimate_and_check(folder: Path) -> None:
    options = ("toy", GEMM, "--mapping", "mapping.yaml")
    assert accelsim("estimate", *options, folder=folder)
    assert accelsim("check", *options, "--tolerance", "0.5", folder=folder)
    accelsim("check", *options, "--tolerance", "0", folder=folder, code=1)


def test_bad_input_says_what_and_where(folder: Path) -> None:
    accelsim("run", "tpu-v9", GEMM, folder=folder, code=2)
    accelsim("run", "toy", GEMM, "-o", "chip.levels.SRAM.capacity=64 KB/s", folder=folder, code=2)
    accelsim("run", "toy", GEMM, "--mapping", "mapping.yaml", "-o", "chip.levels.SRAM.capacity=64 B", folder=folder,
             code=3)


@pytest.mark.parametrize("what", ["chips", "workloads", "dataflows", "operators", "metrics", "stalls", "formats"])
def test_lists(folder: Path, what: str) -> None:
    assert accelsim("list", what, folder=folder)


@pytest.mark.parametrize("name", ["utilization", "dram_latency", "gemmini"])
def test_explanations(folder: Path, name: str) -> None:
    assert name in accelsim("explain", name, folder=folder)


@pytest.mark.parametrize("what", ["chip", "workload", "mapping"])
def test_schemas(folder: Path, what: str) -> None:
    assert json.loads(accelsim("schema", what, folder=folder))["properties"]


def test_a_starter_runs_as_it_is(folder: Path) -> None:
    accelsim("init", "mine", folder=folder)
    files = {path.stem: str(path) for path in (folder / "mine").glob("*.yaml")}
    assert accelsim("run", files["chip"], files["workload"], "--mapping", files["mapping"], folder=folder)
