"""Does --trace write whole files of the right kind, tell what is not in them, and refuse what it cannot do?"""

import gzip
import inspect
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from accelsim.cli import traces
from accelsim.cli.main import run as run_command
from accelsim.outputs.trace import MOST_ROWS

from ..outputs.trace_reading import read_chrome, read_perfetto
from .command import accelsim, call

TWO = """\
name: two
operators:
  - {name: small, operator: gemm, dims: {m: 4, n: 4, k: 4}}
  - {name: large, operator: gemm, dims: {m: 8, n: 8, k: 8}, repeat: 2}
"""
MAPPING = """\
levels:
  - {level: DRAM, loops: [{k: "*"}, {m: "*"}, {n: "*"}]}
  - {level: SRAM, loops: [{m: 4}, {n: 4}, {k: 4}]}
"""
RUN = ("run", "toy", "two.yaml", "--mapping", "mapping.yaml")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("two.yaml").write_text(TWO, encoding="utf-8")
    Path("mapping.yaml").write_text(MAPPING, encoding="utf-8")


def events(path: str) -> Any:
    return json.loads(Path(path).read_bytes())["traceEvents"]


def test_a_run_and_its_saved_folder_give_the_same_traces() -> None:
    accelsim(*RUN, "--trace", "a.pftrace", "--save", "kept")
    accelsim(*RUN, "--trace", "a.json")
    accelsim(*RUN, "--trace", "a.json.gz")
    for suffix in ("pftrace", "json", "json.gz"):
        accelsim("report", "kept", "--trace", f"b.{suffix}")
        assert Path(f"a.{suffix}").read_bytes() == Path(f"b.{suffix}").read_bytes()
    packed = gzip.decompress(Path("a.json.gz").read_bytes())
    assert packed == Path("a.json").read_bytes()
    one, other = read_chrome(packed), read_perfetto(Path("a.pftrace").read_bytes())
    assert all(one.abouts[key].items() - other.abouts[key].items() == {("time", one.about["time"])} for key in one.abouts)
    assert one.abouts.keys() == other.abouts.keys() == {"large on toy"}
    assert one.abouts["large on toy"]["cycles"] == 1012
    assert len(one.slices) == len(other.slices) > 9


def test_one_operator_or_all_one_after_another() -> None:
    accelsim(*RUN, "--trace", "one.json", "--operator", "small")
    assert set(read_chrome(Path("one.json").read_bytes()).abouts) == {"small on toy"}
    accelsim(*RUN, "--trace", "all.pftrace", "--operator", "all")
    told = read_perfetto(Path("all.pftrace").read_bytes())
    assert list(told.abouts) == ["small on toy", "large on toy"]
    assert min(one.begin for one in told.slices if one.process == "large on toy") == 312_000  # where the small one ends
    for more in (("--window", "0:100"), ("--timeline", "t.png")):
        assert "are of one" in accelsim(*RUN, "--trace", "x.json", "--operator", "all", *more, code=2).err
    assert "no operator named 'all'" in accelsim(*RUN, "--timeline", "t.png", "--operator", "all", code=2).err


def test_a_window_cuts() -> None:
    accelsim(*RUN, "--trace", "a.json", "--window", "100:300")
    told = read_chrome(Path("a.json").read_bytes())
    assert min(one["cycle"] for one in told.slices) == 100
    assert max(one["cycle"] + one["cycles"] for one in told.slices) == 300
    assert "ends at cycle 1,012" in accelsim(*RUN, "--trace", "b.json", "--window", "5000:6000", code=2).err
    assert not Path("b.json").exists()


def test_what_is_left_out_is_told() -> None:
    ended = call(*RUN, "--trace", "a.json", "--trace-rows", "9")
    assert ended.code == 0
    assert "trace of large: shown to cycle" in ended.err
    assert "--trace-rows" in ended.err
    slices = [one for one in events("a.json") if one["ph"] == "X"]
    assert 0 < len(slices) <= 9


def test_the_help_says_the_default_that_is() -> None:
    assert inspect.signature(run_command).parameters["trace_rows"].default == MOST_ROWS


@pytest.mark.parametrize("name", ["a.txt", "a", "a.json.zip", "a.gz"])
def test_no_such_format(name: str) -> None:
    ended = accelsim(*RUN, "--trace", name, code=2)
    assert ".pftrace, .json, .json.gz" in ended.err
    assert not ended.out


def test_no_such_folder() -> None:
    assert "no folder" in accelsim(*RUN, "--trace", "none/a.json", code=2).err


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "perfetto.protos.perfetto.trace", None)
    ended = accelsim(*RUN, "--trace", "a.pftrace", code=2)
    assert "pip install 'accelsim[trace]'" in ended.err
    assert not ended.out, "before anything was simulated"
    accelsim(*RUN, "--trace", "a.json")


def begin(path: Path) -> None:
    with traces.whole_file(path) as file:
        file.write(b"half")
        raise RuntimeError


def test_a_file_is_whole_or_as_it_was() -> None:
    path = Path("a.json")
    path.write_text("before", encoding="utf-8")
    with pytest.raises(RuntimeError):
        begin(path)
    assert path.read_text(encoding="utf-8") == "before"
    assert sorted(one.name for one in Path().iterdir()) == ["a.json", "mapping.yaml", "two.yaml"]
    with traces.whole_file(path) as file:
        file.write(b"after")
    assert path.read_text(encoding="utf-8") == "after"
