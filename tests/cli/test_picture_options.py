"""The options that draw: every picture of every command, its width, its data, and what is refused before any work."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from PIL import Image

from accelsim.cli import commands, pictures
from accelsim.cli import noc as networks
from accelsim.cli import roofline as roofs
from accelsim.cli.options import Column

from .command import accelsim
from .test_commands import refuse_to_simulate

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
RUN = ("run", "toy", "gemm:m=4,n=4,k=4")
TWO = """\
name: two
operators:
  - {name: small, operator: gemm, dims: {m: 4, n: 4, k: 4}}
  - {name: large, operator: gemm, dims: {m: 8, n: 8, k: 8}}
"""
OPTIONS = tuple(kind.option for kind in pictures.KINDS)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("two.yaml").write_text(TWO, encoding="utf-8")


def every(suffix: str) -> list[str]:
    return [word for option in OPTIONS for word in (option, f"{option.lstrip('-')}{suffix}")]


def table(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(Path(name).read_text(encoding="utf-8"))))


@pytest.mark.parametrize(("suffix", "begins"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF-")])
def test_every_picture_of_a_run(suffix: str, begins: bytes) -> None:
    told = accelsim(*RUN, *every(suffix)).out
    assert told == accelsim(*RUN).out
    for option in OPTIONS:
        assert Path(f"{option.lstrip('-')}{suffix}").read_bytes().startswith(begins), option
    assert not list(Path().glob("*.csv"))


def test_a_saved_run_draws_the_same_bytes_again() -> None:
    accelsim(*RUN, *every(".svg"), "--save", "saved", "--data")
    first = {path.name: path.read_bytes() for path in Path().iterdir() if path.suffix in (".svg", ".csv")}
    assert len(first) == 2 * len(OPTIONS)
    for name in first:
        Path(name).unlink()
    accelsim("report", "saved", *every(".svg"), "--data")
    assert {name: Path(name).read_bytes() for name in first} == first


@pytest.mark.parametrize("column", list(Column))
def test_pictures_are_as_wide_as_a_column(column: Column) -> None:
    accelsim(*RUN, *every(".png"), "--column", column.value)
    for option in OPTIONS:
        with Image.open(f"{option.lstrip('-')}.png") as image:
            assert image.width == {"single": 1050, "double": 2148}[column.value], option


def test_data_stand_beside_their_picture() -> None:
    accelsim(*RUN, "--ladder", "l.svg", "--bandwidth", "b.pdf", "--data")
    assert float(table("l.csv")[-1]["delivered_share_of_peak"]) == pytest.approx(64 / 312)
    carried = [float(row["bytes_per_cycle"]) * (float(row["to_cycle"]) - float(row["from_cycle"])) for row in table("b.csv")]
    assert sum(carried) == pytest.approx(3 * 64)


def test_one_operator_or_all() -> None:
    asked = ("run", "toy", "two.yaml", "--data", "--roofline", "r.svg", "--waterfall", "w.svg", "--utilization", "u.svg")
    found = accelsim(*asked, "--json").json
    cycles = {one["name"]: one["cycles"] for one in found["operators"]}
    assert [row["name"] for row in table("r.csv") if row["what"] == "operator"] == ["small", "large"]
    assert next(int(row["cycles"]) for row in table("w.csv") if row["bar"] == "measured") == sum(cycles.values())
    assert int(table("u.csv")[-1]["to_cycle"]) == cycles["large"]
    accelsim(*asked, "--operator", "small")
    assert {row["name"] for row in table("r.csv") if row["what"] == "operator"} == {"small"}
    assert next(int(row["cycles"]) for row in table("w.csv") if row["bar"] == "measured") == cycles["small"] == 312
    assert int(table("u.csv")[-1]["to_cycle"]) == 312


def test_a_network_is_drawn_on_its_topology() -> None:
    accelsim("run", str(EXAMPLES / "mesh.yaml"), "gemm:m=64,n=64,k=64,dtype=int8", "--heat-map", "h.svg", "--data")
    assert {row["from"] for row in table("h.csv")} >= {f"router {n}" for n in range(16)}


@pytest.mark.parametrize(("options", "said"), [
    (("--roofline", "t.bmp"), "--roofline: no picture format '.bmp'; allowed: .png, .svg, .pdf"),
    (("--ladder", "nowhere/t.png"), "--ladder: no folder nowhere"),
    (("--heat-map", "t"), "--heat-map: no picture format ''"),
    (("--roofline", "a.png", "--ladder", "a.png"), "--ladder: a.png is what --roofline writes already"),
    (("--roofline", "a.png", "--ladder", "a.svg", "--data"), "a.csv is what --roofline with --data writes already"),
    (("--roofline", "a.png", "--csv", "a.csv", "--data"), "a.csv is what --csv writes already"),
    (("--data",), "--data: there is no picture to write the data of; allowed: --timeline, --stall-bars, --roofline"),
    (("--bandwidth", "b.png", "--operator", "gem"), "--operator: no operator named 'gem' ran; allowed: gemm; did you mean"),
    (("--roofline", "r.png", "--column", "triple"), "'single', 'double'"),
])
def test_what_cannot_be_drawn_is_refused_before_any_work(monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], said: str,
                                                         ) -> None:
    monkeypatch.setattr(commands, "run_workload", refuse_to_simulate)
    assert said in accelsim(*RUN, *options, code=2).err
    assert not [path for path in Path().iterdir() if path.name != "two.yaml"]


def test_all_faults_are_told_at_once() -> None:
    told = accelsim(*RUN, "--roofline", "t.bmp", "--ladder", "nowhere/t.png", "--csv", ".", code=2).err
    assert all(option in told for option in ("--roofline: ", "--ladder: ", "--csv: "))


# -- accelsim roofline ------------------------------------------------------------------------------------------------


def test_the_roofs_of_one_operator_by_hand() -> None:
    told = accelsim("roofline", "toy", "gemm:m=4,n=4,k=4").out
    rows = {line.split()[0]: line.split()[1:] for line in told.splitlines() if line.strip()}
    # 4 B a nanosecond; 192 bytes; 128 operations; 4/3 MACs a cycle; 128 operations in 312 ns
    assert rows["DRAM.port"] == ["4", "192", "B", "0.6667", "0.002667", "0.0004103", "15.4%"]
    assert rows["peak"] == ["0.002", "0.0004103", "20.5%"]
    assert rows["SRAM.fill"][0] == "unlimited"
    assert rows["lowest"] == ["roof", "the", "peak"]


def test_the_roofs_of_a_workload_and_of_one_of_its_operators() -> None:
    several = accelsim("roofline", "toy", "two.yaml").out
    assert "small" in several
    assert "large" in several
    assert accelsim("roofline", "toy", "two.yaml", "--operator", "small").out.startswith("small on toy: roofline (measured")
    found = accelsim("roofline", "toy", "two.yaml", "--json").json
    assert [one["name"] for one in found["operators"]] == ["small", "large"]
    run = accelsim("run", "toy", "two.yaml", "--json").json
    assert [one["roofline"] for one in found["operators"]] == [one["roofline"] for one in run["operators"]]
    assert json.dumps(found)


def test_a_roofline_is_drawn_as_run_draws_it() -> None:
    told = accelsim("roofline", "toy", "gemm:m=4,n=4,k=4", "a.svg", "--data", "--column", "single").out
    assert told.startswith("gemm on toy")
    accelsim(*RUN, "--roofline", "b.svg", "--data", "--column", "single")
    assert Path("a.svg").read_bytes() == Path("b.svg").read_bytes()
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()


@pytest.mark.parametrize("arguments", [("a.bmp",), ("nowhere/a.svg",), ("--operator", "gem"), ("--data",)])
def test_roofline_refuses_before_any_work(monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]) -> None:
    monkeypatch.setattr(roofs, "run_workload", refuse_to_simulate)
    accelsim("roofline", "toy", "gemm:m=4,n=4,k=4", *arguments, code=2)


# -- accelsim noc --heat-map ------------------------------------------------------------------------------------------


def test_packets_on_their_network() -> None:
    Path("trace.txt").write_text("10 0 3 64\n", encoding="utf-8")
    accelsim("noc", "mesh4x4", "trace.txt", "--heat-map", "h.png", "--data", "--column", "single")
    with Image.open("h.png") as image:
        assert image.width == 1050
    found = {(row["from"], row["to"]): row for row in table("h.csv")}
    way = [("node 0", "router 0"), ("router 0", "router 1"), ("router 1", "router 2"), ("router 2", "router 3"),
           ("router 3", "node 3")]
    assert [ends for ends, row in found.items() if row["bytes"] != "0"] == [*way[1:4], way[0], way[4]]
    assert {row["bytes"] for ends, row in found.items() if ends in way} == {str(64 * 32)}


def test_a_heat_map_that_cannot_be_written_is_refused_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networks, "read_traffic", refuse_to_simulate)
    assert "--heat-map: no picture format '.jpg'" in accelsim("noc", "mesh4x4", "uniform", "--heat-map", "h.jpg", code=2).err
    accelsim("noc", "mesh4x4", "uniform", "--heat-map", "h.svg", "--load-sweep", "0.1", code=2)
