"""Does `accelsim bench` measure what it says: the process alone, all repeats, medians, ratios of one run? No seconds here."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from accelsim.cli import bench, bench_rows, host, usage
from accelsim.cli.bench import Sample
from accelsim.cli.bench_rows import RATIOS, ROWS, Command, Ratio, Row, Work

from .command import accelsim, call

ROOT = Path(__file__).resolve().parent.parent.parent
pytestmark = pytest.mark.skipif(not hasattr(os, "wait4"), reason="the system does not tell what a process used")


# -- a process --------------------------------------------------------------------------------------------------------


def python(code: str, folder: Path) -> usage.Usage:
    return usage.measure([sys.executable, "-S", "-c", code], folder)


def test_a_process_is_measured_with_its_output_and_code(tmp_path: Path) -> None:
    found = python("import os, sys; print(os.getcwd()); sys.exit(3)", tmp_path)
    assert (found.code, found.output.strip()) == (3, str(tmp_path.resolve()))
    assert found.cpu_s > 0
    assert found.wall_s > 0
    assert python("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", tmp_path).code == -signal.SIGKILL


def test_the_peak_memory_is_its_own_not_ours(tmp_path: Path) -> None:
    ours = bytearray(300 << 20)
    assert python("pass", tmp_path).peak_bytes < len(ours) / 4
    assert python("bytearray(200 << 20)", tmp_path).peak_bytes > 200 << 20
    assert any(ours) is False


def test_the_work_of_its_children_counts(tmp_path: Path) -> None:
    busy = "sum(i * i for i in range(4_000_000))"
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-S', '-c', '{busy}'])"
    assert python(child, tmp_path).cpu_s > 2 * python("pass", tmp_path).cpu_s


def test_what_cannot_be_started_is_told(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no such command"):
        usage.measure(["no-such-command-of-anyone"], tmp_path)


def test_a_system_that_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "wait4")
    assert "measure on Linux or macOS" in call("bench", "help").err


def test_ctrl_c_ends_with_130_and_without_a_traceback() -> None:
    code = "import sys; from accelsim.cli.main import main; sys.exit(main())"
    with subprocess.Popen([sys.executable, "-c", code, "bench", "simpy-steps", "--repeats", "99"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
                          start_new_session=True) as started:
        time.sleep(5)
        os.killpg(started.pid, signal.SIGINT)
        out, err = started.communicate(timeout=60)
    assert (started.returncode, out) == (130, ""), err
    assert err == "accelsim: interrupted\n"


# -- the rows ---------------------------------------------------------------------------------------------------------


def test_rows_have_names_of_their_own_and_ratios_name_rows() -> None:
    names = [row.name for row in ROWS]
    assert len({*names, *(ratio.name for ratio in RATIOS)}) == len(names) + len(RATIOS)
    assert {name for ratio in RATIOS for name in (ratio.over, ratio.under)} <= set(names)
    assert all(row.what and row.unit for row in ROWS)
    assert all(row.unit.endswith("/s") for row in ROWS if isinstance(row, Work))


def test_the_rows_are_listed() -> None:
    listed = accelsim("bench", "--list").out.splitlines()
    assert [line.split()[0] for line in listed] == [row.name for row in (*ROWS, *RATIOS)]


@pytest.mark.parametrize("row", [row for row in ROWS if isinstance(row, Work)], ids=lambda row: row.name)
def test_work_can_be_prepared(row: Work) -> None:
    assert callable(row.prepare())


def test_the_contention_case_is_as_large_as_told() -> None:
    case = bench_rows.case_of("toy", "gemm:m=128,n=128,k=64", bench_rows.CONTENTION)
    assert case.operator.macs == 16 * 32 * 32 * 64
    assert "levels" in case.mapping.to_yaml()


@pytest.mark.parametrize(("arguments", "said"), [
    (("bench", "hlep"), "did you mean 'help'?"), (("bench", "--repeats", "0"), "--repeats"),
    (("bench", "help", "--json"), "--json")])
def test_what_is_asked_wrongly(arguments: tuple[str, ...], said: str) -> None:
    assert said in accelsim(*arguments, code=2).err


def count(items: list[int]) -> Any:
    def work() -> int:
        items.append(1)
        return 10
    return work


def test_work_is_done_once_before_it_is_timed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    done: list[int] = []
    monkeypatch.setattr(bench, "ROWS", (Work("w", "", "things/s", lambda: count(done)),))
    times = iter([0.0, 0.0, 0.25, 0.5])
    monkeypatch.setattr(bench.time, "process_time", lambda: next(times))
    bench.child("w")
    assert len(done) == 3
    assert float(capsys.readouterr().out) == 2 * 10 / 0.5


# -- results ----------------------------------------------------------------------------------------------------------

FAKE: tuple[Row, ...] = (Command("one", "first | row", ("--help",)), Command("two", "second", ("--help",)))
VALUES = {"one": [3.0, 1.0, 2.0], "two": [10.0, 1000.0, 20.0]}


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Samples by the book, in place of processes; the order in which they were asked for."""
    order: list[str] = []

    def sample(row: Row, _: object) -> Sample:
        order.append(row.name)
        return Sample(VALUES[row.name][order.count(row.name) - 1], 1.5, 2.5, 64.0)

    monkeypatch.setattr(bench, "ROWS", FAKE)
    monkeypatch.setattr(bench, "RATIOS", (Ratio("gain", "two over one", "two", "one"),))
    monkeypatch.setattr(bench, "sample", sample)
    monkeypatch.setattr(bench, "run_checked", lambda *_: None)
    return order


def test_repeats_take_turns_and_medians_are_told(measured: list[str]) -> None:
    found = accelsim("bench", "--repeats", "3", "--json", "-").json
    assert measured == ["one", "two"] * 3
    assert [(row["name"], row["value"], row["lowest"], row["highest"]) for row in found["rows"]] == [
        ("one", 2.0, 1.0, 3.0), ("two", 20.0, 10.0, 1000.0)]
    assert [one["value"] for one in found["rows"][0]["samples"]] == VALUES["one"]
    assert found["ratios"] == [{"name": "gain", "what": "two over one", "value": 10.0}]
    assert found["machine"]["python"] == host.python_version()
    assert found["machine"]["packages"].keys() >= {"numpy", "numba"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", found["date"])


def test_a_row_alone_has_no_ratio(measured: list[str]) -> None:
    found = accelsim("bench", "two", "--repeats", "1", "--json", "-").json
    assert measured == ["two"]
    assert found["ratios"] == []


@pytest.mark.usefixtures("measured")
def test_the_page_has_the_table_and_nothing_of_this_computer(tmp_path: Path) -> None:
    told = accelsim("bench", "--repeats", "3", "--json", str(tmp_path / "b.json"), "--markdown", str(tmp_path / "b.md")).out
    page = (tmp_path / "b.md").read_text(encoding="utf-8")
    assert "| one | 2 CPU s | 1 to 3 | 2.5 | 64 | first \\| row |" in page
    assert "| gain | x 10 |" in page
    assert json.loads((tmp_path / "b.json").read_text(encoding="utf-8"))["schema"] == bench.SCHEMA
    assert "medians of 3 repeats" in told
    secrets = [str(Path.home()), str(tmp_path), os.uname().nodename]
    assert not [secret for secret in secrets if len(secret) > 3 and secret in page]


def test_a_benchmark_that_fails_is_our_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "ROWS", (replace(FAKE[1], arguments=("list", "nothing")),))
    ended = call("bench", "two", "--repeats", "1")
    assert ended.code == 70
    assert "the benchmark two ended with code 2" in ended.err


def test_real_processes_are_measured() -> None:
    found = accelsim("bench", "help", "small-run", "--repeats", "1", "--json", "-").json
    assert [row["name"] for row in found["rows"]] == ["help", "small-run"]
    assert all(row["value"] == row["cpu_s"] > 0 and row["peak_mib"] > 1 for row in found["rows"])


def test_runs_are_measured_with_their_byte_code_kept() -> None:
    """Where Python is told not to keep it, each run would compile accelsim's own sources first."""
    kept = bench.keeping_byte_code({"PYTHONDONTWRITEBYTECODE": "1", "HOME": "there"}, "folder")
    assert kept == {"PYTHONPYCACHEPREFIX": "folder", "HOME": "there"}
    assert bench.keeping_byte_code({"HOME": "there"}, "folder") == {"HOME": "there"}
