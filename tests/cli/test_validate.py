"""`accelsim validate`: sources chosen, told as text and JSON, drawn, written; 1 when one fails, whatever else passes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from accelsim.cli import validate
from accelsim.compare import references
from accelsim.compare.references import folder_of
from accelsim.compare.sources import SOURCES, Source, chosen
from accelsim.outputs import parity

from .command import accelsim, call

QUICK = "silicon/gemmini"


@pytest.fixture
def changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a quick source that a test may spoil."""
    shutil.copytree(folder_of(QUICK), tmp_path / QUICK)
    found = folder_of
    monkeypatch.setattr(references, "folder_of", lambda source: tmp_path / source if source == QUICK else found(source))
    return tmp_path / QUICK


def spoil(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_one_source_as_text() -> None:
    out = accelsim("validate", "--only", QUICK).out.splitlines()
    assert out[0].split() == ["source", "what", "rows", "mean", "error", "worst", "error", "allowed"]
    assert out[1].split() == [QUICK, "products", "3", "0.4", "%", "-1.2", "%", "5", "%", "passed"]
    assert out[-3].split() == [QUICK, "3", "0.4", "%", "-1.2", "%", "passed"]
    assert out[-1] == "3 rows of 1 sources in 1 checks: all passed, 0 known misses"


def misses(changed: Path) -> None:
    """One row of the quick source is 27 % off, and known to be."""
    spoil(changed / "cases.csv", "64,64,64,3810", "64,64,64,3000")
    with (changed / "source.toml").open("a", encoding="utf-8") as file:
        file.write('\n[[checks.known]]\ncase = "64x64x64"\nbetween = [0.2, 0.3]\nmissing = "a DMA of its own"\n')


def test_known_misses_are_told_apart_with_what_is_missing(changed: Path) -> None:
    misses(changed)
    out = accelsim("validate", "--only", QUICK).out
    assert "passed, 1 known miss" in out
    assert "silicon/gemmini, products: 64x64x64: +27.0 %" in out
    assert "a DMA of its own" in out.partition("known misses, and what is missing")[2]


def test_known_misses_in_json(changed: Path) -> None:
    misses(changed)
    (source,) = accelsim("validate", "--only", QUICK, "--json").json["sources"]
    (check,) = source["checks"]
    assert [row["standing"] for row in check["rows"]].count("known") == len(check["known"]) == 1


def test_json_has_every_row() -> None:
    told = accelsim("validate", "--only", QUICK, "--only", "silicon/nvdla", "--json").json
    assert told.keys() == {"schema", "accelsim", "passed", "sources"}
    assert told["schema"] == 1
    assert told["passed"] is True
    nvdla, gemmini = told["sources"]
    assert (nvdla["source"], gemmini["source"]) == ("silicon/nvdla", QUICK)
    assert gemmini.keys() == {"source", "title", "citation", "fitted", "skipped", "passed", "mean_error", "worst", "checks"}
    (check,) = gemmini["checks"]
    assert check.keys() == {"check", "unit", "absolute", "reason", "tolerance", "passed", "faults", "mean_error", "worst",
                            "known", "rows"}
    assert check["tolerance"] == {"least": -0.05, "greatest": 0.05, "mean": None}
    assert [row["reference"] for row in check["rows"]] == [3810, 69653, 32506]
    assert all(row["error"] == pytest.approx(row["ours"] / row["reference"] - 1) for row in check["rows"])
    furthest = {"check": "products", "case": "256x256x256", "error": min(row["error"] for row in check["rows"])}
    assert check["worst"] == gemmini["worst"] == furthest
    shares = [row["error"] for one in nvdla["checks"] for row in one["rows"]]
    assert nvdla["mean_error"] == pytest.approx(sum(map(abs, shares)) / len(shares))
    assert nvdla["worst"]["error"] == min(shares)


def test_json_is_steady_and_a_tolerance_without_end_is_null() -> None:
    out = accelsim("validate", "--only", "timeloop", "--json").out
    told = json.loads(out, parse_constant=pytest.fail)
    assert out == json.dumps(told, indent=2, sort_keys=True) + "\n"
    bound = next(check for check in told["sources"][0]["checks"] if check["check"] == "cycles, throttled")
    assert bound["tolerance"] == {"least": 0.0, "greatest": None, "mean": None}


def test_a_source_that_fails_ends_with_1(changed: Path) -> None:
    spoil(changed / "cases.csv", "64,64,64,3810", "64,64,64,3000")
    ended = accelsim("validate", "--only", QUICK, "--only", "silicon/tpu-v1", code=1)
    assert "accelsim: silicon/gemmini, products: 64x64x64: +27.0 % (ours 3,810, reference 3,000), allowed: 5 %" in ended.err
    assert "FAILED" in ended.out
    assert ended.out.splitlines()[-1] == "6 rows of 2 sources in 2 checks: 1 FAILED, 0 known misses"
    told = call("validate", "--only", QUICK, "--json")
    assert told.code == 1
    assert told.json["passed"] is False
    assert [row["standing"] for row in told.json["sources"][0]["checks"][0]["rows"]].count("failed") == 1


def test_a_known_miss_that_comes_right_ends_with_1(changed: Path) -> None:
    with (changed / "source.toml").open("a", encoding="utf-8") as file:
        file.write('\n[[checks.known]]\ncase = "64x64x64"\nbetween = [-0.5, -0.4]\nmissing = "nothing"\n')
    assert "it is no known miss any more" in accelsim("validate", "--only", QUICK, code=1).err


def test_an_empty_table_ends_with_1(changed: Path) -> None:
    (changed / "cases.csv").write_text("m,k,n,cycles\n", encoding="utf-8")
    assert "nothing was compared" in accelsim("validate", "--only", QUICK, code=1).err


def test_an_unknown_source_is_answered_with_the_nearest() -> None:
    ended = accelsim("validate", "--only", "silicon/gemini", "--only", "nocs", code=2)
    assert "no source named 'silicon/gemini'" in ended.err
    assert "did you mean 'silicon/gemmini'?" in ended.err
    assert "did you mean 'noc'?" in ended.err


def test_what_needs_a_package_is_skipped_aloud(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a pass: said in the table, on stderr and in the JSON; 1 where it was asked for by name."""
    rtl = next(source for source in SOURCES if source.name == "rtl")
    lacking = Source("rtl", rtl.parts, needs="no_such_package")
    monkeypatch.setattr("accelsim.compare.sources.chosen",
                        lambda names: [lacking, *chosen([QUICK])] if not names else [lacking])
    ended = call("validate")
    assert ended.code == 0
    assert "SKIPPED: no_such_package is not installed" in ended.out
    assert ended.out.splitlines()[-1].endswith("all passed, 0 known misses, 1 SKIPPED")
    assert "rtl was skipped: no_such_package is not installed; pip install 'accelsim[test]'" in ended.err
    named = call("validate", "--only", "rtl", "--json")
    assert named.code == 1
    assert named.json["passed"] is False
    assert named.json["sources"][0]["skipped"].startswith("no_such_package")


def test_plots_show_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: dict[str, Any] = {}
    draw = parity.draw_parity

    def keep(path: Path, title: str, series: Any, heads: Any) -> None:
        drawn[path.name] = series
        draw(path, title, series, heads)

    monkeypatch.setattr(parity, "draw_parity", keep)
    folder = tmp_path / "pictures" / "of all"
    told = accelsim("validate", "--only", QUICK, "--only", "silicon/nvdla", "--plots", str(folder), "--json").json
    assert sorted(path.name for path in folder.iterdir()) == ["silicon-gemmini.png", "silicon-nvdla.png"]
    for source in told["sources"]:
        series = drawn[source["source"].replace("/", "-") + ".png"]
        assert [[(point.reference, point.ours, point.mark.value) for point in one.points] for one in series] == [
            [(row["reference"], row["ours"], row["standing"]) for row in check["rows"]] for check in source["checks"]]
    again = tmp_path / "again"
    accelsim("validate", "--only", QUICK, "--plots", str(again))
    assert (again / "silicon-gemmini.png").read_bytes() == (folder / "silicon-gemmini.png").read_bytes()


def test_a_page(changed: Path, tmp_path: Path) -> None:
    misses(changed)
    page = tmp_path / "validation.md"
    accelsim("validate", "--only", QUICK, "--markdown", str(page))
    text = page.read_text(encoding="utf-8")
    assert "## Gemmini" in text
    assert "- Known miss: products: 64x64x64, +27.0 %: a DMA of its own" in text
    assert "\n\n\n" not in text


def test_what_cannot_be_written_is_said_before_anything_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accelsim.compare.sources.compare", lambda *_: pytest.fail("it ran"))
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert "name a folder" in accelsim("validate", "--plots", str(tmp_path / "file"), code=2).err
    assert "no folder" in accelsim("validate", "--markdown", str(tmp_path / "none" / "page.md"), code=2).err


def test_the_shell_completes_sources() -> None:
    assert set(references.sources()) == {source.name for source in SOURCES}
    assert validate.SCHEMA == 1
