"""`accelsim diff`: runs that differ by what is known by hand, folders and JSON in any mix, and everything that may be wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from accelsim.cli import diff as command

from .command import accelsim

TWO = "levels:\n  - {{level: DRAM, loops: [{}]}}\n  - {{level: SRAM, loops: [{{m: 4}}, {{n: 4}}, {{k: 4}}]}}\n"
ONE_SLOT = [part for name in "ABC" for part in ("-o", f"mapping.levels.SRAM.buffers.{name}=1")]
WORK = """\
name: w
operators:
  - {name: a, operator: gemm, dims: {m: 8, n: 8, k: 8}, repeat: 2}
  - {name: b, operator: gemm, dims: {m: 4, n: 4, k: 4}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of 8x8x8 and 4x4x4 on `toy` whose cycles are worked out in the concepts' page, each saved and as JSON."""
    root = tmp_path_factory.mktemp("diff")
    (root / "eight.yaml").write_text(TWO.format("{k: 2}, {m: 2}, {n: 2}"), encoding="utf-8")
    (root / "tile.yaml").write_text(TWO.format(""), encoding="utf-8")
    (root / "work.yaml").write_text(WORK, encoding="utf-8")
    (root / "renamed.yaml").write_text(WORK.replace("name: b", "name: c").replace("repeat: 2", "repeat: 3"), encoding="utf-8")
    (root / "lost.yaml").write_text("operators:\n  b:\n    levels: [{level: SRAM, loops: [{m: 2}]}]\n", encoding="utf-8")
    for name, code, *asked in (
            ("two", 0, "gemm:m=8,n=8,k=8", "--mapping", str(root / "eight.yaml")),
            ("one", 0, "gemm:m=8,n=8,k=8", "--mapping", str(root / "eight.yaml"), *ONE_SLOT),
            ("slow", 0, "gemm:m=4,n=4,k=4", "--mapping", str(root / "tile.yaml")),
            ("fast", 0, "gemm:m=4,n=4,k=4", "--mapping", str(root / "tile.yaml"), "-o", "chip.levels.DRAM.bandwidth=8 B/cycle"),
            ("work", 0, str(root / "work.yaml")), ("renamed", 0, str(root / "renamed.yaml")),
            ("lost", 2, str(root / "work.yaml"), "--mapping", str(root / "lost.yaml"))):
        ended = accelsim("run", "toy", *asked, "--save", str(root / name), "--json", code=code)
        (root / f"{name}.json").write_text(ended.out, encoding="utf-8")
    return root


def compare(folder: Path, before: str, after: str, *options: str, code: int = 0) -> Any:
    return accelsim("diff", str(folder / before), str(folder / after), "--json", *options, code=code).json


def deltas(data: Any) -> dict[str, int]:
    return {name: part["delta_cycles"] for name, part in data["parts"].items() if part["delta_cycles"]}


@pytest.mark.parametrize(("before", "after"), [("slow", "fast"), ("slow.json", "fast"), ("slow", "fast.json"),
                                               ("slow.json", "fast.json")])
def test_twice_the_bandwidth_by_hand(folder: Path, before: str, after: str) -> None:
    """One tile: A 0-16-116, B 16-32-132, compute to 196, C 196-212-312. At 8 B/cycle A 0-8-108, B 8-16-116, to 180, C 188-288.

    Services shrink from 16 to 8: the own ones of B and C, and that of A, behind which B queues.
    """
    data = compare(folder, before, after)
    assert (data["a"]["cycles"], data["b"]["cycles"], data["delta_cycles"]) == (312, 288, -24)
    assert deltas(data) == {"dram_bandwidth": -16, "contention": -8}
    (one,) = data["operators"]
    assert not one["traffic"]
    paths = [change["path"] for change in data["configuration"]]
    if "json" in before + after:
        assert paths == ["chip", "options.overrides"]
        assert data["configuration"][0]["hash_only"]
    else:
        assert data["configuration"][0] == {"path": "chip.levels.DRAM.bandwidth", "a": "4 B/cycle", "b": "8 B/cycle",
                                            "hash_only": False}


def test_one_slot_instead_of_two_by_hand(folder: Path) -> None:
    """Worked numbers: 1012 and 1796 cycles, the MACs the same; what was asked differs in the slots alone, as JSON knows too."""
    for ending in ("", ".json"):
        data = compare(folder, f"two{ending}", f"one{ending}")
        assert (data["a"]["cycles"], data["b"]["cycles"]) == (1012, 1796)
        assert sum(deltas(data).values()) == 784
        assert data["parts"]["busy"] == {"a_cycles": 512, "b_cycles": 512, "delta_cycles": 0}
        changes = {change["path"]: change["b"] for change in data["configuration"]}
        assert changes.pop("options.overrides", "").count("buffers") == 3
        assert changes == {"mapping.gemm.levels.SRAM.buffers": "{A: 1, B: 1, C: 1}"}
        back = compare(folder, f"one{ending}", f"two{ending}")
        assert deltas(back) == {name: -delta for name, delta in deltas(data).items()}


@pytest.mark.parametrize("name", ["two", "work", "one.json"])
def test_a_run_against_itself(folder: Path, name: str) -> None:
    data = compare(folder, name, name, "--fail-above", "0%", "--per-operator")
    assert data["same"]
    assert data["guard"]["passed"]
    assert "no difference in cycles" in accelsim("diff", str(folder / name), str(folder / name)).out


def test_a_folder_and_its_json_are_the_same_run(folder: Path) -> None:
    data = compare(folder, "work", "work.json")
    assert data["same"]
    assert not data["configuration"]


def test_renamed_and_repeated_operators(folder: Path) -> None:
    data = compare(folder, "work", "renamed")
    a, c = data["operators"]
    assert (c["name"], c["a"]["name"], c["paired_by"], c["delta_cycles"]) == ("c", "b", "the same kind and MACs", 0)
    assert (a["name"], a["a"]["repeat"], a["b"]["repeat"]) == ("a", 2, 3)
    assert a["delta_cycles"] == data["delta_cycles"] == a["a"]["cycles"]
    changes = [(change["path"], change["a"], change["b"]) for change in data["configuration"]]
    assert ("workload.operators.b.name", "b", "c") in changes
    assert ("workload.operators.a.repeat", "2", "3") in changes


def test_a_run_that_lost_an_operator_does_not_look_whole(folder: Path) -> None:
    for ending in ("", ".json"):
        before, after = str(folder / f"work{ending}"), str(folder / f"lost{ending}")
        out = accelsim("diff", before, after).out
        assert "1 of 2 compared, 1 failed" in out
        assert "over what ran in each" in out
        ended = accelsim("diff", before, after, "--fail-above", "1000%", code=1)
        assert ended.err == "accelsim: b failed in B\n"


@pytest.mark.parametrize(("allowed", "code"), [
    ("0%", 1), ("77%", 1), ("77.4%", 1), ("77.5%", 0), ("78 %", 0), ("783 cycles", 1), ("784 cycles", 0), ("784cycles", 0),
    ("1 cycle", 1)])
def test_the_guard(folder: Path, allowed: str, code: int) -> None:
    """1012 -> 1796: 784 more, which is 77.47 %."""
    ended = accelsim("diff", str(folder / "two"), str(folder / "one"), "--fail-above", allowed, code=code)
    assert ended.err == ("" if not code else ended.err)
    if code:
        assert ended.err.startswith("accelsim: the run takes 1,012 -> 1,796 cycles, +784 (+77.470%), more than ")
    assert accelsim("diff", str(folder / "one"), str(folder / "two"), "--fail-above", allowed).code == 0


@pytest.mark.parametrize("text", ["0.02", "2", "", "%", "-2%", "2 ns", "2 percent", "1.5 cycles", "1e3%", "٣%", "nan%",
                                  "9" * 30 + "%"])
def test_what_is_no_allowance(folder: Path, text: str) -> None:
    ended = accelsim("diff", str(folder / "two"), str(folder / "one"), f"--fail-above={text}", code=2)
    assert ended.err.startswith("accelsim: --fail-above: ")
    assert "a percentage or cycles, such as '2%'" in ended.err
    assert not ended.out


def test_per_operator_needs_an_allowance(folder: Path) -> None:
    assert "--fail-above" in accelsim("diff", str(folder / "two"), str(folder / "one"), "--per-operator", code=2).err


def test_one_operator(folder: Path) -> None:
    ended = accelsim("diff", str(folder / "work"), str(folder / "renamed"), "--operator", "x", code=2)
    assert "no operator named 'x'" in ended.err
    for name in ("c", "b"):
        data = compare(folder, "work", "renamed", "--operator", name)
        assert [one["name"] for one in data["operators"]] == ["c"]


def test_files_are_written_and_the_same_each_time(folder: Path, tmp_path: Path) -> None:
    written = []
    for i in range(2):
        page, text = tmp_path / f"{i}.html", tmp_path / f"{i}.md"
        out = accelsim("diff", str(folder / "two"), str(folder / "one.json"), "--html", str(page), "--markdown", str(text)).out
        written.append((out, page.read_bytes(), text.read_bytes()))
    assert written[0] == written[1]
    assert b"1,796" in written[0][1]
    assert b"1,796" in written[0][2]


def test_a_file_that_cannot_be_written_is_refused_first(folder: Path, tmp_path: Path) -> None:
    ended = accelsim("diff", str(folder / "two"), str(folder / "one"), "--html", str(tmp_path / "no" / "a.html"), "--markdown",
                     str(tmp_path), code=2)
    assert "--html: no folder" in ended.err
    assert "is a folder; name a file" in ended.err
    assert not ended.out


def cut(text: str) -> str:
    return text[:len(text) // 2]


@pytest.mark.parametrize(("content", "said"), [
    (cut, ".json:"), (lambda _: "", "not JSON, or cut off"), (lambda _: "{}", "not the JSON of a run"),
    (lambda _: "[" * 100_000, "not JSON: nested too deeply"), (lambda _: '{"schema": NaN}', "not JSON: NaN is no number"),
    (lambda _: '{"schema": ' + "9" * 5000 + "}", "not JSON"), (lambda text: text.replace('"schema": 1', '"schema": 2'), "newer"),
    (lambda text: text.replace('"cycles": 312', '"cycles": 313'), "add up"), (lambda _: "\ud800", "not UTF-8")])
def test_what_is_no_run_is_refused_with_its_name(folder: Path, tmp_path: Path, content: Any, said: str) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content((folder / "slow.json").read_text(encoding="utf-8")).encode("utf-8", "surrogatepass"))
    ended = accelsim("diff", str(path), str(folder / "slow"), code=2)
    assert str(path) in ended.err
    assert said in ended.err
    assert not ended.out


def test_both_names_are_judged_at_once(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    ended = accelsim("diff", str(tmp_path / "folder"), str(tmp_path / "none.json"), code=2)
    assert "not a saved run" in ended.err
    assert "no such folder or file" in ended.err


def test_a_huge_file_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = (folder / "slow.json").stat().st_size
    monkeypatch.setattr(command, "LARGEST_JSON_BYTES", size)
    assert compare(folder, "slow.json", "slow.json")["same"]
    monkeypatch.setattr(command, "LARGEST_JSON_BYTES", size - 1)
    assert "larger than" in accelsim("diff", str(folder / "slow.json"), str(folder / "slow.json"), code=2).err


def test_an_estimate_is_no_run(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "estimate.json"
    path.write_text(json.dumps(accelsim("estimate", "toy", "gemm:m=4,n=4,k=4", "--json").json), encoding="utf-8")
    assert "an estimate" in accelsim("diff", str(path), str(folder / "slow.json"), code=2).err


def test_every_key_of_the_json_is_on_the_page(folder: Path) -> None:
    page = (Path(__file__).resolve().parent.parent.parent / "docs" / "results.md").read_text(encoding="utf-8")
    section = page.partition("## Comparing two runs")[2].partition("### A guard")[0]
    data = compare(folder, "work", "lost", "--fail-above", "2%", code=1) | {
        "operators": compare(folder, "work", "lost")["operators"] + compare(folder, "work", "renamed")["operators"]}
    shown = {key for part in (data, data["a"], data["guard"], data["compared"], *data["configuration"], *data["operators"],
                              *data["parts"].values(), *(one[side] for one in data["operators"] for side in "ab"))
             for key in part}
    assert not [key for key in shown if not any(f"`{key}{end}" in section for end in ("`", "[]`", "."))]
