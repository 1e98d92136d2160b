"""Does every command and option do what its help says, and end with the code that the documentation promises?"""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from accelsim import errors
from accelsim.cli import commands
from accelsim.measure.metrics import METRICS
from accelsim.spec.dataflows import DATAFLOWS
from accelsim.spec.operators import OPERATOR_KINDS
from accelsim.spec.read import shipped
from accelsim.stalls import Phase, StallCause

from .command import accelsim, call

ROOT = Path(__file__).resolve().parent.parent.parent
GEMM = "gemm:m=8,n=8,k=8"
MAPPING = "levels:\n  - {level: DRAM, loops: [{k: 2}, {m: 2}, {n: 2}]}\n  - {level: SRAM, loops: [{m: 4}, {n: 4}, {k: 4}]}\n"
TWO = """\
name: two
operators:
  - {name: good, operator: gemm, dims: {m: 8, n: 8, k: 8}, repeat: 2}
  - {name: bad, operator: gemm, dims: {m: 512, n: 512, k: 512}}
  - {name: fine, operator: gemm, dims: {m: 4, n: 4, k: 4}}
"""
TOO_LARGE = "operators:\n  bad:\n    levels: [{level: SRAM, loops: [{m: 512}, {n: 512}, {k: 512}]}]\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mapping.yaml").write_text(MAPPING, encoding="utf-8")
    Path("two.yaml").write_text(TWO, encoding="utf-8")
    Path("too-large.yaml").write_text(TOO_LARGE, encoding="utf-8")


RUN = ("run", "toy", GEMM, "--mapping", "mapping.yaml")
COMMANDS = ("run", "estimate", "check", "whatif", "why", "report", "roofline", "diff", "list", "explain", "schema", "init",
            "doctor", "bench")


# -- help -------------------------------------------------------------------------------------------------------------


def test_help_names_every_command() -> None:
    told = accelsim("--help").out
    assert all(f"  {command} " in told for command in COMMANDS)
    assert accelsim().out == told


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str) -> None:
    assert "Usage: accelsim" in accelsim(command, "--help").out.replace("root", "accelsim")


def test_version() -> None:
    assert accelsim("--version").out.startswith("accelsim ")


@pytest.mark.parametrize("arguments", [
    ("rnu",), ("run",), ("run", "toy"), ("run", "toy", GEMM, "--no-such-option"), ("run", "toy", GEMM, "--mapping"),
    ("run", "toy", GEMM, "extra"), ("check", "toy", GEMM, "--tolerance", "much"), ("run", "toy", GEMM, "--most-steps", "0"),
    ("check", "toy", GEMM, "--tolerance", "-1"), ("list",), ("list", "chisp"), ("explain", "utilisation"), ("schema", "chips"),
    ("report", "no-such-folder"), ("run", "tpu-v9", GEMM), ("run", "toy", "resnet5O"), ("run", "toy", GEMM, "--dataflow", "best"),
    ("run", "toy", GEMM, "--mapping", "no-such-file.yaml"), ("run", "toy", GEMM, "-o", "chip.clcok=1 GHz"),
    ("run", "two.yaml", GEMM), ("run", "toy", "mapping.yaml"), ("run", "toy", GEMM, "--mapping", "two.yaml"),
    ("run", "eyeriss", GEMM, "--dataflow", "weight-stationary"),
], ids=" ".join)
def test_what_is_asked_wrongly_ends_with_2(arguments: tuple[str, ...]) -> None:
    accelsim(*arguments, code=2)


@pytest.mark.parametrize(("arguments", "word"), [
    (("list", "chisp"), "chips"), (("explain", "utilisation"), "utilization"), (("schema", "chips"), "chip"),
    (("run", "toyy", GEMM), "toy"), (("run", "toy", GEMM, "--dataflow", "weight-stationery"), "weight-stationary"),
])
def test_the_nearest_word_is_offered(arguments: tuple[str, ...], word: str) -> None:
    assert f"did you mean '{word}'?" in accelsim(*arguments, code=2).err


@pytest.mark.parametrize(("words", "completed"), [
    ("accelsim do", ["doctor"]), ("accelsim run --jo", ["--jobs"]), ("accelsim run tpu", ["tpu-v1", "tpu-v3", "tpu-v6e"]),
    ("accelsim estimate toy resnet", ["resnet18", "resnet50"]), ("accelsim validate --only silicon/tpu-v1", ["silicon/tpu-v1"])])
def test_the_shell_completes(words: str, completed: list[str]) -> None:
    done = process(_ACCELSIM_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(len(words.split()) - 1))
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == completed
    assert not done.stderr


# -- run --------------------------------------------------------------------------------------------------------------


def test_the_summary_has_what_one_reads_first() -> None:
    told = accelsim(*RUN).out
    for part in ("1,012  (measured)", "1.01 us", "utilization", "bound by", "busy", "dram_latency", "traffic", "SRAM A", "advice",
                 "cycles  ", "estimated", "= measured", "for k in 0..2", "C[m, n] += A[m, k] * B[k, n]"):
        assert part in told, part
    assert len(told.splitlines()) < 60


def test_overrides_reach_every_file() -> None:
    slower = accelsim(*RUN, "--json", *(word for name in "ABC" for word in ("-o", f"mapping.levels.SRAM.buffers.{name}=1"))).json
    assert slower["total"]["cycles"] == 1796
    assert accelsim(*RUN, "--json", "-o", "chip.levels.SRAM.buffers=3").json["total"]["cycles"] == 820
    assert accelsim(*RUN, "--json", "-o", "workload.operators.gemm.repeat=3").json["total"]["cycles"] == 3 * 1012
    assert slower["provenance"]["options"]["overrides"] == [f"mapping.levels.SRAM.buffers.{name}=1" for name in "ABC"]


@pytest.mark.parametrize("dataflow", ["weight-stationary", "output-stationary", "input-stationary"])
def test_a_named_dataflow(dataflow: str) -> None:
    found = accelsim("run", "gemmini", "gemm:m=64,n=64,k=64,dtype=int8", "--dataflow", dataflow, "--json").json
    assert found["operators"][0]["mapping"]["origin"] == f"dataflow {dataflow}"


def test_csv_has_a_row_each_in_order_and_a_total() -> None:
    accelsim("run", "toy", "two.yaml", "--mapping", "too-large.yaml", "--csv", "out.csv", code=3)
    rows = list(csv.DictReader(io.StringIO(Path("out.csv").read_text(encoding="utf-8"))))
    assert [(row["name"], row["status"]) for row in rows] == [
        ("good", "ok"), ("bad", "failed"), ("fine", "ok"), ("total", "2 of 3")]
    assert int(rows[-1]["cycles"]) == 2 * int(rows[0]["cycles"]) + int(rows[2]["cycles"])
    stalls = [name for name in rows[0] if name.endswith("_cycles") and name != "estimated_cycles"]
    assert stalls == [f"{cause.code}_cycles" for cause in StallCause]


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_a_timeline_of_the_operator_asked_for(suffix: str) -> None:
    accelsim("run", "toy", "two.yaml", "-o", "workload.operators.bad.dims={m: 8, n: 8, k: 4}", "--timeline", f"t{suffix}",
             "--operator", "fine", "--window", "100:300")
    assert Path(f"t{suffix}").stat().st_size > 500


def test_a_window_keeps_the_numbers() -> None:
    assert accelsim(*RUN, "--json", "--window", "0:1").json["operators"] == accelsim(*RUN, "--json").json["operators"]


def refuse_to_simulate(*_: object) -> None:
    raise AssertionError("simulated before the request was checked")


@pytest.mark.parametrize(("options", "said"), [
    (("--timeline", "t.bmp"), "--timeline: no picture format '.bmp'; allowed: .png, .svg, .pdf"),
    (("--timeline", "t"), "no picture format ''"),
    (("--stall-bars", "t.jpg"), "--stall-bars: no picture format '.jpg'; allowed: .png, .svg, .pdf"),
    (("--timeline", "nowhere/t.png"), "--timeline: no folder nowhere"),
    (("--csv", "nowhere/t.csv"), "--csv: no folder nowhere"),
    (("--csv", "."), "is a folder; name a file"),
    (("--save", "mapping.yaml"), "mapping.yaml is a file; name a folder"),
    (("--window", "5"), "'5' is no window"), (("--window", "5:5"), "is no window"), (("--window", "9:5"), "is no window"),
    (("--window", "a:b"), "is no window"), (("--window", "-1:5"), "is no window"), (("--window", "²:5"), "is no window"),
    (("--window", "1:" + "9" * 30), "is no window"), (("--window", "1.5:2"), "is no window"),
    (("--operator", "gem", "--timeline", "t.png"), "--operator: no operator named 'gem' ran; allowed: gemm; did you mean"),
])
def test_what_cannot_be_written_is_refused_before_any_work(monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], said: str,
                                                           ) -> None:
    monkeypatch.setattr(commands, "run_workload", refuse_to_simulate)
    assert said in accelsim(*RUN, *options, code=2).err
    assert not Path("t.bmp").exists()


@pytest.mark.parametrize("window", [":", "10:", ":10", "1,000:2,000", "0:99999999999"])
def test_windows_that_are_fine(window: str) -> None:
    accelsim(*RUN, "--window", window, "--timeline", "t.svg")


def test_one_operator_that_does_not_fit_does_not_stop_the_others() -> None:
    ended = accelsim("run", "toy", "two.yaml", "--mapping", "too-large.yaml", "--json", code=3)
    good, bad, fine = ended.json["operators"]
    assert (good["name"], fine["name"]) == ("good", "fine")
    assert bad["exit_code"] == 3
    assert "6,291,456 B, 65,536 B available" in bad["error"]
    assert ended.json["total"]["operators_run"] == 2
    assert ended.json["total"]["operators_failed"] == 1
    assert "accelsim: bad: too-large.yaml:3:" in ended.err
    text = accelsim("run", "toy", "two.yaml", "--mapping", "too-large.yaml", code=3)
    assert "FAILED: too-large.yaml" in text.out
    assert "2 of 3 operators ran" in text.out
    for command in ("estimate", "check"):
        told = accelsim(command, "toy", "two.yaml", "--mapping", "too-large.yaml", code=3)
        assert "good" in told.out
        assert "accelsim: bad: " in told.err


def test_too_much_work_is_refused_with_its_size() -> None:
    ended = accelsim(*RUN, "--most-steps", "10", code=4)
    # eight tiles; A and B are filled for each, C is written eight times and read back four times
    assert "gemm: 8 tile steps and 24 transfers exceed the limit of 10; raise it (--most-steps 32)" in ended.err
    accelsim(*RUN, "--most-steps", "32")
    began = time.monotonic()
    accelsim("run", "toy", "gemm:m=1099511627776,n=1099511627776,k=1099511627776", code=4)
    assert time.monotonic() - began < 20


# -- estimate and check -----------------------------------------------------------------------------------------------


def test_estimate_simulates_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "run_workload", refuse_to_simulate)
    assert "(estimated, not simulated)" in accelsim("estimate", *RUN[1:]).out
    found = accelsim("estimate", *RUN[1:], "--json").json
    assert found["kind"] == "estimated"
    assert found["operators"][0]["levels"]["SRAM"]["B"]["fill_bytes"] == 4 * 128
    assert accelsim("estimate", "tpu-v1", "mobilenet-v2").out.count("\n") > 38


def test_check_ends_with_1_beyond_the_tolerance() -> None:
    assert "within the tolerance" in accelsim("check", *RUN[1:], "--tolerance", "0.9").out
    beyond = accelsim("check", *RUN[1:], "--tolerance", "0", code=1)
    assert "(beyond the tolerance of 0%); traffic equal" in beyond.out
    found = accelsim("check", *RUN[1:], "--tolerance", "0", "--json", code=1).json
    assert found["check"] == {"agrees": False, "tolerance": 0.0, "gap": found["check"]["gap"], "traffic_differs_in": []}
    assert found["check"]["gap"] > 0


# -- save and report --------------------------------------------------------------------------------------------------


def test_a_saved_run_reports_the_same_bytes() -> None:
    changed = ("-o", "chip.levels.DRAM.latency=70 cycles", "-o", "workload.operators.gemm.repeat=3")
    for name, arguments in (("one", RUN), ("two", ("run", "gemmini", "gemm:m=48,n=32,k=40,dtype=int8", *changed))):
        first = accelsim(*arguments, "--save", name, "--json")
        assert accelsim("report", name, "--json").out == first.out
        assert accelsim("report", name).out == accelsim(*arguments).out
    accelsim("report", "one", "--csv", "out.csv", "--timeline", "t.png", "--window", "0:500", "--stall-bars", "bars.svg")
    assert "<svg" in Path("bars.svg").read_text(encoding="utf-8")
    assert Path("out.csv").stat().st_size
    assert Path("t.png").stat().st_size


def test_a_saved_run_with_a_failure_reports_the_same_bytes() -> None:
    first = accelsim("run", "toy", "two.yaml", "--mapping", "too-large.yaml", "--save", "saved", "--json", code=3)
    again = accelsim("report", "saved", "--json", code=3)
    assert again.out == first.out
    assert again.err == first.err


def test_names_beyond_ascii_survive_saving() -> None:
    Path("odd.yaml").write_text('name: "größe \U0001f600"\noperators:\n  - {name: "a\\"\U0001f600:\\\\ud83d", operator: gemm, '
                                "dims: {m: 4, n: 4, k: 4}}\n", encoding="utf-8")
    first = accelsim("run", "toy", "odd.yaml", "--save", "saved", "--json")
    assert accelsim("report", "saved", "--json").out == first.out


def test_a_saved_mapping_file_runs_to_the_same() -> None:
    first = accelsim("run", "gemmini", "gemm:m=48,n=32,k=40,dtype=int8", "--save", "saved", "--json").json
    again = accelsim("run", "saved/chip.yaml", "saved/workload.yaml", "--mapping", "saved/mapping.yaml", "--json").json
    assert again["operators"][0]["cycles"] == first["operators"][0]["cycles"]
    assert again["operators"][0]["mapping"]["yaml"] == first["operators"][0]["mapping"]["yaml"]


@pytest.mark.parametrize(("file", "content", "said"), [
    ("run.json", b"{}", "not a saved run"), ("run.json", b"[]", "not a saved run"), ("run.json", b"\xff", "not a saved run"),
    ("run.json", b'{"origins": 1, "failed": [], "provenance": {"inputs": {}}}', "not a saved run"),
    ("operator-000.npz", b"", "operator-000.npz"), ("operator-000.npz", b"PK\x03\x04 no zip", "operator-000.npz"),
    ("operator-000.npz", None, "operator-000.npz"),
    ("chip.yaml", None, "no such file"), ("workload.yaml", b"name: x", "missing key 'operators'"),
    ("mapping.yaml", MAPPING.replace("k: 2", "k: 4").encode(), "mapping.0 changed since the run was saved"),
])
def test_a_damaged_run_is_told_from_a_whole_one(file: str, content: bytes | None, said: str) -> None:
    accelsim(*RUN, "--save", "saved")
    path = Path("saved") / file
    path.unlink() if content is None else path.write_bytes(content)
    assert said in accelsim("report", "saved", code=2).err


def test_a_truncated_record_is_told() -> None:
    accelsim(*RUN, "--save", "saved")
    path = Path("saved/operator-000.npz")
    whole = path.read_bytes()
    for length in range(0, len(whole), 97):
        path.write_bytes(whole[:length])
        assert "operator-000.npz" in accelsim("report", "saved", code=2).err


# -- words ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("what", "names"), [
    ("chips", list(shipped("chips"))), ("workloads", list(shipped("workloads"))),
    ("dataflows", ["auto", *(one.name for one in DATAFLOWS)]), ("operators", [one.word for one in OPERATOR_KINDS]),
    ("metrics", [one.name for one in METRICS]), ("stalls", [one.code for one in StallCause]),
    ("formats", ["text", "json", "csv", "png", "svg", "pdf"]),
])
def test_lists(what: str, names: list[str]) -> None:
    lines = accelsim("list", what).out.splitlines()
    assert [line.split()[0] for line in lines][:len(names)] == names
    assert all(len(line.split()) > 2 for line in lines)


EXPLAINED = [*(one.name for one in METRICS), *(one.code for one in StallCause), *(f"{one.code}_cycles" for one in StallCause),
             *(one.code for one in Phase), *(one.name for one in DATAFLOWS), *(one.word for one in OPERATOR_KINDS),
             *shipped("chips")]


def test_channels_are_explained() -> None:
    told = accelsim("explain", str(Path(__file__).parents[2] / "examples" / "behind-ddr4.yaml")).out
    assert "channels of ddr4-2400, command by command, tensors row-major" in told


@pytest.mark.parametrize("name", EXPLAINED)
def test_every_name_is_explained(name: str) -> None:
    told = accelsim("explain", name).out
    assert told.startswith(name.removesuffix("_cycles"))
    if name in {one.name for one in METRICS}:
        assert all(word in told for word in ("unit", "window", "definition", "identity"))
    if name in shipped("chips"):
        assert "not modelled" in told


@pytest.mark.parametrize("what", ["chip", "workload", "mapping"])
def test_schemas_speak_of_the_files_keys(what: str) -> None:
    schema = accelsim("schema", what).json
    keys = {"chip": {"name", "clock", "levels", "links"}, "workload": {"name", "operators"}, "mapping": {"levels", "operators"}}
    assert keys[what] <= schema["properties"].keys()
    assert schema["additionalProperties"] is False


def test_a_starter_runs_as_it_is_and_is_never_overwritten() -> None:
    told = accelsim("init", "mine").out
    command = next(line for line in told.splitlines() if line.startswith("  accelsim run")).split()[1:]
    assert "2 of 2 operators ran" in accelsim(*command).out
    assert Path("mine/timeline.png").stat().st_size
    before = Path("mine/chip.yaml").read_bytes()
    assert "nothing was written" in accelsim("init", "mine", code=2).err
    assert Path("mine/chip.yaml").read_bytes() == before
    accelsim("init", "mapping.yaml", code=2)
    Path("empty").mkdir()
    accelsim("init", "empty")


# -- what is ours -----------------------------------------------------------------------------------------------------


def test_a_bug_of_ours_ends_with_70(monkeypatch: pytest.MonkeyPatch) -> None:
    def told(*_: object) -> None:
        raise errors.SimulatorBug("a law was broken")
    monkeypatch.setattr(commands, "run_workload", told)
    assert "a law was broken; this is a bug of accelsim, please report it" in accelsim(*RUN, code=70).err

    def untold(*_: object) -> None:
        raise ZeroDivisionError
    monkeypatch.setattr(commands, "run_workload", untold)
    ended = call(*RUN)
    assert ended.code == 70
    assert "ZeroDivisionError" in ended.err
    assert "bug of accelsim" in ended.err


def test_an_interruption_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt
    monkeypatch.setattr(commands, "run_workload", interrupt)
    assert "interrupted" in accelsim(*RUN, code=130).err


# -- processes --------------------------------------------------------------------------------------------------------

SCRIPT = "import sys; from accelsim.cli.main import main; sys.exit(main())"


def process(*arguments: str, folder: Path | None = None, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-c", SCRIPT, *arguments], cwd=folder, capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(ROOT), **environment}, timeout=120)


def test_two_runs_give_the_same_bytes_from_any_folder(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    arguments = ("run", "gemmini", "conv2d:k=16,c=8,p=6,q=6,r=3,s=3,padding=1,dtype=int8", "--json")
    first = process(*arguments, folder=tmp_path, PYTHONHASHSEED="1")
    second = process(*arguments, folder=elsewhere, PYTHONHASHSEED="2", LC_ALL="C", TZ="Asia/Tokyo")
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout == accelsim(*arguments).out


HEAVY = ("numpy", "simpy", "pydantic", "matplotlib", "numba", "yaml", "multiprocessing", "accelsim.machine", "accelsim.outputs")


@pytest.mark.parametrize(("arguments", "needed"), [
    (("--help",), set()), (("run", "--help"), {"pydantic"}), (("--version",), set()),  # newer typers check types with pydantic
    (("list", "chips"), {"numpy", "pydantic", "yaml", "accelsim.outputs"}),
    (("estimate", "toy", GEMM), {"numpy", "pydantic", "yaml", "multiprocessing", "accelsim.outputs"}),
    (("run", "toy", GEMM), {"numpy", "pydantic", "numba", "yaml", "multiprocessing", "accelsim.machine",
                            "accelsim.outputs"}),
], ids=lambda value: " ".join(value) if isinstance(value, tuple) else "")
def test_a_command_imports_no_more_than_it_needs(arguments: tuple[str, ...], needed: set[str]) -> None:
    code = (f"import sys\nfrom accelsim.cli.main import main\nsys.argv = ['accelsim', *{arguments}]\ntry:\n    main()\n"
            f"except SystemExit:\n    pass\nprint('HEAVY', *[name for name in {HEAVY} if name in sys.modules])")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120,
                          env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert set(done.stdout.splitlines()[-1].split()[1:]) <= needed


def test_the_first_picture_says_that_it_compiles_and_the_next_does_not(tmp_path: Path) -> None:
    arguments = ("run", "toy", GEMM, "--timeline", "t.svg")
    for cold in (True, False):
        told = process(*arguments, ACCELSIM_CACHE_DIR=str(tmp_path / "cache"), NUMBA_CACHE_DIR="")
        assert told.returncode == 0
        assert told.stderr.count("compiling its kernels once") == cold
        assert (f" s; kept in {tmp_path / 'cache'}" in told.stderr) == cold


def test_where_nothing_can_be_kept_one_line_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    told = process("run", "toy", GEMM, "--timeline", "t.svg", ACCELSIM_CACHE_DIR=str(tmp_path / "file"), NUMBA_CACHE_DIR="")
    assert told.returncode == 0
    (line,) = [line for line in told.stderr.splitlines() if "not kept" in line]
    assert "every run compiles anew" in line
    assert "ACCELSIM_CACHE_DIR" in line


def test_a_reader_that_goes_away_is_no_failure() -> None:
    done = subprocess.run(f"{sys.executable} -c '{SCRIPT}' list metrics | head -1", shell=True, capture_output=True, text=True,
                          check=False, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=120)
    assert "Traceback" not in done.stderr
    assert "Error" not in done.stderr


def test_an_interrupted_process_ends_with_130() -> None:
    command = ("run", "toy", "gemm:m=96,n=96,k=96", "-o", "chip.levels.SRAM.capacity=64 B", "--driver", "simpy", "--json")
    with subprocess.Popen([sys.executable, "-c", SCRIPT, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT)}) as started:
        time.sleep(3)
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=60)
    assert started.returncode == 130, out + err
    assert "Traceback" not in err
    assert not out


def test_the_json_of_a_run_is_json_of_nothing_but_finite_numbers() -> None:
    def refuse(word: str) -> None:
        raise AssertionError(word)
    json.loads(accelsim(*RUN, "--json").out, parse_constant=refuse)


# -- what a newcomer did ----------------------------------------------------------------------------------------------


def test_saving_into_a_folder_of_other_files_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accelsim.cli.commands.run_workload", refuse_to_simulate)
    Path("mine").mkdir()
    Path("mine/chip.yaml").write_text("precious", encoding="utf-8")
    ended = accelsim("run", "toy", GEMM, "--save", "mine", code=2)
    assert "--save: mine holds other files" in ended.err
    assert Path("mine/chip.yaml").read_text(encoding="utf-8") == "precious"


def test_a_run_may_be_saved_over_an_earlier_one() -> None:
    accelsim(*RUN, "--save", "one")
    accelsim(*RUN, "--save", "one")


def test_a_window_after_the_end_of_the_run_is_refused() -> None:
    ended = accelsim("run", "toy", GEMM, "--window", "999999:9999999", "--timeline", "t.png", code=2)
    assert "--window: gemm ends at cycle" in ended.err


@pytest.mark.parametrize("override", [
    'chip.levels.DRAM.latency="99999999999999999999999 cycles"', 'chip.levels.DRAM.latency="9999999999999999 cycles"',
    'chip.levels.DRAM.bandwidth="0.00000000000001 B/s"', 'chip.levels.DRAM.granularity="99999999999999999999 B"',
    'chip.levels.MAC.array.depth="99999999999999999999 cycles"', 'chip.clock="0.001 Hz"'])
def test_quantities_beyond_reason_are_refused(override: str) -> None:
    assert "allowed: " in accelsim("run", "toy", GEMM, "-o", override, code=2).err
