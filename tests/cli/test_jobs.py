"""Do several processes give the same bytes, errors and exit codes as one, and does none of them stay behind?"""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from accelsim import processes
from accelsim.analytic.auto import choose
from accelsim.drivers import Running
from accelsim.errors import LimitExceeded, SimulatorBug
from accelsim.processes import Task, simulate_all
from accelsim.recorder import RecordOptions
from accelsim.spec.case import Case
from accelsim.spec.read import read
from accelsim.verbs import Options, run

from .command import call

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = "import sys; from accelsim.cli.main import main; sys.exit(main())"

# The shapes of a ResNet-50 stage, smaller; two blocks alike under other names, one operator whose mapping does not fit.
STAGE = """\
name: stage
operators:
  - {name: conv1, operator: conv2d, dims: {k: 16, c: 3, p: 14, q: 14, r: 7, s: 7},
     stride: 2, padding: 3, input: {h: 28, w: 28}, dtype: int8}
  - {name: a.conv1, operator: conv2d, dims: {k: 16, c: 64, p: 14, q: 14, r: 1, s: 1}, dtype: int8, repeat: 2}
  - {name: large, operator: gemm, dims: {m: 4096, n: 4096, k: 64}, dtype: int8}
  - {name: a.conv2, operator: conv2d, dims: {k: 16, c: 16, p: 14, q: 14, r: 3, s: 3},
     padding: 1, input: {h: 14, w: 14}, dtype: int8}
  - {name: b.conv1, operator: conv2d, dims: {k: 16, c: 64, p: 14, q: 14, r: 1, s: 1}, dtype: int8}
  - {name: fc, operator: gemm, dims: {m: 1, n: 10, k: 64}, dtype: int8}
"""
TOO_LARGE = """\
operators:
  large:
    levels:
      - {level: DRAM, loops: [{k: "*"}]}
      - {level: ONCHIP, loops: [{n: "*"}, {m: "*"}]}
      - {level: PE, binding: [B], loops: [{m: 16}], spatial: {x: [{n: 16}], y: [{k: 16}]}}
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("stage.yaml").write_text(STAGE, encoding="utf-8")
    Path("too-large.yaml").write_text(TOO_LARGE, encoding="utf-8")


def outputs(jobs: int, *options: str) -> tuple[int, str, str, dict[str, bytes]]:
    """Exit code, both streams and every file written; progress lines (a slow machine's) aside."""
    folder = Path(f"jobs-{jobs}")
    folder.mkdir()
    ended = call("run", "gemmini", "stage.yaml", "--mapping", "too-large.yaml", "--jobs", str(jobs),
                 "--save", str(folder / "saved"), "--csv", str(folder / "out.csv"), "--timeline", str(folder / "t.svg"), *options)
    files = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    told = "".join(line for line in ended.err.splitlines(keepends=True) if " steps (" not in line)
    return ended.code, ended.out, told, files


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_the_same_bytes_for_one_and_two_jobs(form: tuple[str, ...]) -> None:
    code, out, err, files = outputs(1, *form)
    assert outputs(2, *form) == (code, out, err, files)
    assert code == 3
    assert "accelsim: large: too-large.yaml:" in err
    assert {"out.csv", "t.svg", "saved/run.json", "saved/operator-000.npz", "saved/operator-005.npz"} <= files.keys()
    assert "saved/operator-002.npz" not in files


def test_check_takes_jobs_too() -> None:
    one, two = (call("check", "gemmini", "stage.yaml", "-j", jobs, "--most-steps", "100000") for jobs in "12")
    assert (one.code, one.out) == (two.code, two.out)
    assert "b.conv1 (x 1)" in one.out


@pytest.mark.parametrize("jobs", ["0", "-1", "some"])
def test_a_number_of_jobs_that_is_none(jobs: str) -> None:
    assert call("run", "gemmini", "stage.yaml", "--jobs", jobs).code == 2
    with pytest.raises(ValueError, match="jobs must be at least 1"):
        Options(jobs=0)


def test_operators_that_are_alike_are_simulated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def simulated(tasks: list[Task], *rest: object) -> object:
        seen.extend(task.name for task in tasks)
        return simulate_all(tasks, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr("accelsim.verbs.simulate_all", simulated)
    report = run("gemmini", "stage.yaml").report
    assert seen == ["conv1", "a.conv1", "large", "a.conv2", "fc"]
    twins = [one for one in report.done if one.name.endswith(".conv1")]
    assert [(one.name, one.repeat) for one in twins] == [("a.conv1", 2), ("b.conv1", 1)]
    assert twins[0].cycles == twins[1].cycles
    assert [one.case.operator.name for one in twins] == ["a.conv1", "b.conv1"]


# -- what goes wrong --------------------------------------------------------------------------------------------------


def tasks_of(*sizes: int) -> list[Task]:
    """GEMMs of toy's single tile a side of these many tiles, largest last or not as asked."""
    found = []
    for size in sizes:
        case = read("toy", f"gemm:m={size},n={size},k={size}", choose=choose).cases[0]
        assert isinstance(case, Case)
        found.append(Task(f"side {size}", case, size ** 3))
    return found


def test_progress_of_all_together_rises_to_the_end() -> None:
    told: list[tuple[str, int, int]] = []
    simulate_all(tasks_of(8, 16, 4), RecordOptions(), Running(), 3, lambda *words: told.append(words))
    assert {name for name, _, _ in told} == {"3 operators, 3 at a time"}
    steps = [done for _, done, _ in told]
    assert steps == sorted(steps)
    assert told[-1][1:] == (8 ** 3 + 16 ** 3 + 4 ** 3,) * 2


def test_a_worker_killed_from_outside_is_told_as_such() -> None:
    def kill(*_: object) -> None:
        for worker in multiprocessing.active_children():
            worker.kill()
    with pytest.raises(LimitExceeded, match=r"run with fewer --jobs"):
        simulate_all(tasks_of(64, 65), RecordOptions(), Running(), 2, kill)
    assert not multiprocessing.active_children()


def break_first(task: Task, *_: object) -> object:
    raise SimulatorBug(f"{task.name} broke a law")


def test_the_first_failure_in_order_is_raised_whoever_fails_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_work", break_first)
    with pytest.raises(SimulatorBug, match=r"side 4 broke a law; this is a bug"):
        simulate_all(tasks_of(4, 16, 8), RecordOptions(), Running(), 2, None)
    assert not multiprocessing.active_children()


ENDLESS = ("run", "--no-fast-forward", "--most-steps", "10000000000", "toy", "endless.yaml", "-o",
           "chip.levels.SRAM.capacity=64 B", "--jobs", "2")


def start() -> "subprocess.Popen[str]":
    """Two operators that take minutes, in a session of their own; returns once it has begun to start workers."""
    Path("endless.yaml").write_text("name: endless\noperators:\n" + "".join(
        f"  - {{name: {name}, operator: gemm, dims: {{m: 384, n: 384, k: {k}}}}}\n" for name, k in (("one", 384), ("two", 385))),
        encoding="utf-8")
    started = subprocess.Popen([sys.executable, "-c", SCRIPT, *ENDLESS], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(Path.cwd())},
                               start_new_session=True)
    children = Path(f"/proc/{started.pid}/task/{started.pid}/children")
    if not children.is_file():
        time.sleep(5)
    while children.is_file() and started.poll() is None and len(children.read_text(encoding="ascii").split()) < 2:
        time.sleep(0.01)
    return started


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal's Ctrl-C is a signal to its process group")
@pytest.mark.parametrize("delay_s", [0.0, 0.1, 0.3, 4.0])  # while workers start; while they work
def test_ctrl_c_ends_all_of_them_with_130(delay_s: float) -> None:
    with start() as started:
        time.sleep(delay_s)
        os.killpg(started.pid, signal.SIGINT)
        out, err = started.communicate(timeout=60)  # ends when no process has the pipes open any more
    assert started.returncode == 130, err
    assert "Traceback" not in err
    assert err.endswith("accelsim: interrupted\n")
    assert not out
    assert not list(Path.cwd().glob("accelsim-*"))


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_workers_end_with_a_parent_that_is_killed() -> None:
    with start() as started:
        time.sleep(4)
        started.kill()
        started.communicate(timeout=60)
    assert started.returncode == -signal.SIGKILL
