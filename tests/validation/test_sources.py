"""Does every source agree as far as its folder says, and does the documentation's page say the same?"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from accelsim.cli.validate import section, summary
from accelsim.compare.booksim import several_ways
from accelsim.compare.checks import Standing
from accelsim.compare.references import about, folder_of, sources, table
from accelsim.compare.sources import SOURCES, Outcome, Source, compare

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "validation.md"


@cache
def outcome(source: Source) -> Outcome:
    return compare(source)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_it_agrees(source: Source) -> None:
    found = outcome(source)
    assert not found.skipped
    assert not [f"{verdict.check.name}: {fault}" for verdict in found.verdicts for fault in verdict.faults]
    assert found.passed


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_a_case_occurs_once_and_the_known_ones_are_outside(source: Source) -> None:
    for verdict in outcome(source).verdicts:
        cases = [one.row.case for one in verdict.rows]
        assert len(set(cases)) == len(cases), verdict.check.name
        known = {one.row.case for one in verdict.rows if one.standing is Standing.KNOWN}
        assert known == {one.case for one in verdict.check.known}
        assert not any(verdict.check.allows(one.error) for one in verdict.rows if one.row.case in known)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_the_page_says_what_is_measured(source: Source) -> None:
    assert "\n".join(section(outcome(source))) in PAGE.read_text(encoding="utf-8"), "run make validate"


def test_the_page_has_all_sources_and_their_sum() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.count("\n## ") == len(SOURCES)
    assert summary([outcome(source) for source in SOURCES]) in text


def test_every_folder_is_a_source_and_says_what_it_is() -> None:
    assert sorted(sources()) == sorted(source.name for source in SOURCES)
    for name in sources():
        told = about(name)
        assert told.title
        assert told.citation
        assert told.fitted
        assert (folder_of(name) / "README.md").is_file()
        assert len({check.name for check in told.checks}) == len(told.checks)
        assert all(check.reason for check in told.checks)
        assert all(known.missing and known.between[0] <= known.between[1] for check in told.checks for known in check.known)


def rows(name: str) -> dict[str, int]:
    """Rows of each check of a source."""
    found = outcome(next(source for source in SOURCES if source.name == name))
    return {verdict.check.name: len(verdict.rows) for verdict in found.verdicts}


def test_no_row_is_left_out() -> None:
    """As many as the tables have."""
    assert set(rows("scalesim").values()) == {292}
    assert rows("timeloop")["words moved"] > 1000
    dram = rows("dram")
    assert dram["tiny traces"] == 78
    lists = table("dram")
    assert dram["Ramulator, cycles"] + dram["Ramulator, GDDR6 with refresh"] == sum(
        row["configuration"].startswith("r2") for row in lists)
    assert sum(dram[name] for name in dram if name.startswith("DRAMsim3") and "activations" not in name) == sum(
        row["configuration"].startswith("d3m") and row["refresh"] == "off" for row in lists)
    noc = rows("noc")
    assert noc["packets sent"] == sum(count for name, count in noc.items() if name.startswith("by transfer")) == 591
    assert noc["one way"] == 4 * 462
    assert sum(count for name, count in noc.items() if name.startswith("drawn ways")) == 2 * 129
    assert sum(several_ways(row) for row in table("noc")) == 129
    assert noc["batches"] == 36
    assert sum(count for name, count in noc.items() if name.startswith("batches")) == 60
    assert noc["not saturated"] == 198
    assert sum(rows("onnxim").values()) == len(table("onnxim"))
    for chip in ("a100", "mi210", "tpu-v3", "tpu-v6e", "gemmini"):
        assert sum(rows(f"silicon/{chip}").values()) == len(table(f"silicon/{chip}"))
    for chip in ("eyeriss", "nvdla"):
        assert set(rows(f"silicon/{chip}").values()) == {len(table(f"silicon/{chip}"))}
