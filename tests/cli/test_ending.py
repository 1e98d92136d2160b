"""However a command is stopped, does it say so in a line, with its code, and leave neither workers nor half of a file?"""

import ctypes
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from accelsim.spec.read import shipped

from .command import accelsim, call

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals, limits and devices as POSIX has them")
ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = "import sys; from accelsim.cli.main import main; sys.exit(main())"
RUN = ("run", "toy", "gemm:m=8,n=8,k=8")
ENDLESS = """\
name: endless
operators:
  - {name: one, operator: gemm, dims: {m: 384, n: 384, k: 384}}
  - {name: two, operator: gemm, dims: {m: 384, n: 384, k: 385}}
"""
LONG = ("run", "toy", "endless.yaml", "--no-fast-forward", "--most-steps", "10000000000", "-o", "chip.levels.SRAM.capacity=64 B",
        "--save", "saved", "--csv", "out.csv", "--timeline", "t.png")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("endless.yaml").write_text(ENDLESS, encoding="utf-8")


def start(*arguments: str, script: str = SCRIPT, **environment: str) -> "subprocess.Popen[str]":
    """In a session of its own, so that a signal to its group is a terminal's."""
    return subprocess.Popen([sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(Path.cwd()), **environment},
                            start_new_session=True)


def said(process: "subprocess.Popen[str]", word: str) -> None:
    """Wait for a line of its standard error that holds a word."""
    assert process.stderr is not None
    seen = ""
    while f"{word}\n" not in seen and f": {word} " not in seen:
        line = process.stderr.readline()
        assert line, seen
        seen += line


def group_is_gone(group: int) -> bool:
    """Whether no process of a group is left, waiting for those that are just ending."""
    for _ in range(300):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


# Progress is told after ten seconds; tests cannot wait so long.
TALKATIVE = ("import sys; from accelsim.cli import progress; from accelsim.cli.main import main\n"
             "progress.Progress.tell = lambda *told: print('steps', file=sys.stderr, flush=True)\n"
             "sys.exit(main())")


@pytest.mark.parametrize("jobs", ["1", "4"])
@pytest.mark.parametrize(("number", "code", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")])
def test_a_run_that_is_stopped(jobs: str, number: signal.Signals, code: int, word: str) -> None:
    with start(*LONG, "--jobs", jobs, script=TALKATIVE) as process:
        said(process, "steps")
        if number is signal.SIGINT:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        out, err = process.communicate(timeout=60)  # ends when no process has the pipes open any more
    assert (process.returncode, out) == (code, "")
    assert err.replace("steps\n", "") == f"accelsim: {word}\n"
    assert group_is_gone(process.pid)
    assert sorted(path.name for path in Path.cwd().iterdir()) == ["endless.yaml"]


def test_compiling_that_is_stopped_leaves_a_cache_that_works() -> None:
    cache = str(Path.cwd() / "kept")
    for delay_s in (0.0, 0.7, 2.0):
        with start(*RUN, NUMBA_CACHE_DIR=cache) as process:
            said(process, "compiling")
            time.sleep(delay_s)
            os.killpg(process.pid, signal.SIGINT)
            _, err = process.communicate(timeout=60)
        assert process.returncode == 130, err
        assert "Traceback" not in err
        assert err.splitlines()[-1] == "accelsim: interrupted"


SWALLOWED = """\
import ctypes, os, signal, sys, time
from accelsim.cli import main as ours

def swallow():
    os.kill(os.getpid(), signal.SIGNAL)
    time.sleep(0.2)  # it is raised here, where no caller can catch it

def command():
    ctypes.CFUNCTYPE(None)(swallow)()
    time.sleep(20)
    return 0

ours._command = command
ours.main()
"""


@pytest.mark.parametrize(("name", "code", "said"), [("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "terminated")])
def test_a_signal_in_a_callback_of_the_compilers_is_not_lost(name: str, code: int, said: str) -> None:
    done = subprocess.run([sys.executable, "-c", SWALLOWED.replace("SIGNAL", name)], capture_output=True, text=True, timeout=60,
                          check=False, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert (done.returncode, done.stderr) == (code, f"accelsim: {said}\n")


def test_validation_that_is_stopped() -> None:
    with start("validate", "--only", "dram", "--markdown", "page.md", "--plots", "plots", script=TALKATIVE) as process:
        said(process, "steps")
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.replace("steps\n", "")) == (130, "", "accelsim: interrupted\n")
    assert not Path("page.md").exists()
    assert not Path("plots").exists()


def test_a_benchmark_that_is_terminated_takes_its_processes_along() -> None:
    with start("bench", "small-run", "--repeats", "100", script=TALKATIVE) as process:
        said(process, "steps")
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (143, "")
    assert err.replace("steps\n", "") == "accelsim: terminated\n"
    assert group_is_gone(process.pid)
    assert sorted(path.name for path in Path.cwd().iterdir()) == ["endless.yaml"]


# -- outputs that cannot be written -----------------------------------------------------------------------------------


def test_a_reader_that_goes_away_is_no_error() -> None:
    with start("schema", "chip") as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert process.returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="has /dev/full")
def test_a_full_output_is_told() -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:  # noqa: PTH123  a device
        ended = subprocess.run([sys.executable, "-c", SCRIPT, "schema", "chip"], stdout=full, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False)
    assert (ended.returncode, ended.stderr) == (2, "accelsim: output: No space left on device\n")


WRITERS = [
    (*RUN, "--csv", "{}"), (*RUN, "--timeline", "{}.png"), (*RUN, "--timeline", "{}.svg"), (*RUN, "--stall-bars", "{}.pdf"),
    (*RUN, "--save", "{}"), ("dram", "ddr4-2400", "stream:n=2000", "--requests", "{}"),
    ("dram", "ddr4-2400", "stream:n=2000", "--commands", "{}"),
    ("noc", "ring8", "uniform:load=0.2,packets=100", "--packets", "{}"),
    ("noc", "ring8", "uniform:load=0.2,packets=10", "--links", "{}"), ("init", "{}"),
    ("validate", "--only", "rtl", "--markdown", "{}"), ("validate", "--only", "rtl", "--plots", "{}"),
]


@pytest.mark.parametrize("words", WRITERS, ids=" ".join)
def test_a_disk_that_fills_up_is_told_and_leaves_nothing(words: tuple[str, ...]) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # the write fails then, as on a full disk
    resource.setrlimit(resource.RLIMIT_FSIZE, (150, before[1]))
    try:
        ended = call(*(word.format("out") for word in words))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert ended.code == 2, ended.err
    assert ended.err.startswith("accelsim: out")
    assert ended.err.endswith(": File too large\n")
    left = sorted(path.name for path in Path.cwd().rglob("*"))
    assert left == ["endless.yaml"] or (words[-2] == "--plots" and left == ["endless.yaml", "out"]), left


class _Sets(ctypes.Structure):
    """What a thread of Linux may, of the capabilities 0 to 31 (capget(2))."""

    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


@contextmanager
def obeying_modes() -> Iterator[None]:
    """Within the block files' modes hold for root too, as they do for everybody else."""
    if sys.platform != "linux" or os.geteuid() != 0:
        yield
        return
    libc, header, sets = ctypes.CDLL(None, use_errno=True), (ctypes.c_uint32 * 2)(0x20080522, 0), (_Sets * 2)()
    assert libc.capget(header, sets) == 0
    had = sets[0].effective
    sets[0].effective &= ~0b110  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
    assert libc.capset(header, sets) == 0
    try:
        yield
    finally:
        sets[0].effective = had
        assert libc.capset(header, sets) == 0


@pytest.mark.parametrize("words", WRITERS, ids=" ".join)
def test_a_folder_that_may_not_be_written_to(words: tuple[str, ...]) -> None:
    Path("closed").mkdir(mode=0o555)
    with obeying_modes():
        ended = call(*(word.format("closed/out") for word in words))
    assert ended.code == 2, ended.err
    assert ended.err.startswith("accelsim: closed/out"), ended.err
    assert ended.err.endswith(": Permission denied\n"), ended.err


@pytest.mark.parametrize("words", WRITERS, ids=" ".join)
def test_what_is_written_is_whole_and_alone(words: tuple[str, ...]) -> None:
    accelsim(*(word.format("out") for word in words))
    assert not list(Path.cwd().rglob(".*"))
    assert len(list(Path.cwd().iterdir())) == 2


# -- two at once ------------------------------------------------------------------------------------------------------


def test_two_runs_in_one_folder_with_the_same_outputs() -> None:
    sizes = ("8", "12")
    outputs = ("--save", "saved", "--csv", "out.csv", "--stall-bars", "bars.svg")
    expected = {}
    for size in sizes:
        expected[size] = accelsim("run", "toy", f"gemm:m={size},n=8,k=8", "--csv", f"{size}.csv").out
    running = [start("run", "toy", f"gemm:m={size},n=8,k=8", *outputs) for size in sizes]
    for process, size in zip(running, sizes, strict=True):
        with process:
            out, err = process.communicate(timeout=120)
        assert (process.returncode, out, err) == (0, expected[size], "")
    assert accelsim("report", "saved").out in expected.values()
    assert Path("out.csv").read_text(encoding="utf-8") in {Path(f"{size}.csv").read_text(encoding="utf-8") for size in sizes}
    assert {path.name for path in Path.cwd().iterdir()} == {"8.csv", "12.csv", "saved", "out.csv", "bars.svg", "endless.yaml"}


def test_two_first_runs_share_a_cache_of_kernels() -> None:
    cache = str(Path.cwd() / "kept")
    running = [start(*RUN, NUMBA_CACHE_DIR=cache) for _ in range(2)]
    ends = []
    for process in running:
        with process:
            ends.append((*process.communicate(timeout=300), process.returncode))
    assert [(out, code) for out, _, code in ends] == [(call(*RUN).out, 0)] * 2
    assert all("compiled in" in err for _, err, _ in ends)
    assert not any("Traceback" in err for _, err, _ in ends)


def test_a_saved_run_takes_the_place_of_a_longer_one() -> None:
    Path("two.yaml").write_text(ENDLESS.replace("384", "8").replace("385", "9"), encoding="utf-8")
    accelsim("run", "toy", "two.yaml", "--save", "saved")
    Path("saved/notes.txt").write_text("mine", encoding="utf-8")
    assert Path("saved/operator-001.npz").exists()
    accelsim(*RUN, "--save", "saved")
    assert sorted(path.name for path in Path("saved").iterdir()) == [
        "chip.yaml", "mapping.yaml", "notes.txt", "operator-000.npz", "run.json", "workload.yaml"]


def test_a_record_that_was_exchanged_is_told() -> None:
    accelsim(*RUN, "--save", "one")
    accelsim("run", "toy", "gemm:m=12,n=8,k=8", "--save", "two")
    Path("one/operator-000.npz").write_bytes(Path("two/operator-000.npz").read_bytes())
    assert "operator-000.npz: changed since the run was saved" in accelsim("report", "one", code=2).err


def test_a_run_is_not_saved_over_the_folder_one_is_in() -> None:
    assert "is the folder you are in" in accelsim(*RUN, "--save", ".", code=2).err


# -- files that are none ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["chip", "workload", "mapping", "memory", "network", "trace", "packets"])
def test_what_is_no_regular_file_is_refused(kind: str, tmp_path: Path) -> None:
    os.mkfifo("fifo")
    Path("loop").symlink_to("loop")
    Path("nothing").symlink_to("nowhere")
    Path("folder").mkdir()
    Path("sparse").touch()
    os.truncate("sparse", 2 << 30)
    Path("empty").touch()
    Path("text").write_bytes(b"\xff\xfe" * 100)
    for name in ("fifo", "loop", "nothing", "folder", "sparse", "empty", "text", "/dev/zero", "/dev/null", "/",
                 str(tmp_path / "x" / "y"), "x" * 5000, "fifo\n"):
        words = {"chip": ("estimate", name, RUN[2]), "workload": ("estimate", "toy", name), "mapping": (*RUN, "--mapping", name),
                 "memory": ("dram", name, "stream:n=2"), "network": ("noc", name, "all2all"),
                 "trace": ("dram", "ddr4-2400", name), "packets": ("noc", "ring8", name)}[kind]
        err = accelsim(*words, code=2).err
        assert err.startswith(f"accelsim: {name.strip()[:900]}"), err


@pytest.mark.parametrize(("key", "name"), [("timing", "../../../etc/passwd"), ("timing", "/dev/zero"), ("timing", "sub/../../x"),
                                           ("network", "/etc/passwd"), ("network", "../mesh4x4.yaml")])
def test_a_chip_names_no_file_elsewhere(key: str, name: str) -> None:
    chip = shipped("chips")["toy"].read_text(encoding="utf-8").replace("bandwidth: 4 B/cycle", f"timing: {name}", 1)
    if key == "network":
        chip = (shipped("chips")["toy"].read_text(encoding="utf-8")
                + f"links:\n  - {{name: noc, from: DRAM, to: SRAM, network: {name}}}\n")
    Path("chip.yaml").write_text(chip, encoding="utf-8")
    err = accelsim("estimate", "chip.yaml", RUN[2], code=2).err
    assert f".{key}: '{name}' leads out of the chip's folder; allowed: a shipped name, or a file in that folder" in err
    assert "chip.yaml:" in err
