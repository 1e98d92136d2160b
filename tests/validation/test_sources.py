"""Does every source agree as far as its folder says, and does the documentation's page say the same?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from accelsim.cli.validate import anchor, section, source_cells
from accelsim.compare.checks import Standing
from accelsim.compare.references import about, folder_of, sources, table
from accelsim.compare.sources import SOURCES, Source, compare
from accelsim.compare.timeloop import THROTTLED, cases

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "validation.md"


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_it_agrees_and_the_page_says_so(source: Source) -> None:
    """All in one, so that each source is run once, whichever worker has it."""
    found = compare(source)
    assert not found.skipped
    assert not [f"{verdict.check.name}: {fault}" for verdict in found.verdicts for fault in verdict.faults]
    assert found.passed
    for verdict in found.verdicts:
        names = [one.row.case for one in verdict.rows]
        assert len(set(names)) == len(names), verdict.check.name
        known = {one.row.case for one in verdict.rows if one.standing is Standing.KNOWN}
        assert known == {one.case for one in verdict.check.known}
        assert not any(verdict.check.allows(one.error) for one in verdict.rows if one.row.case in known)
    check_rows(source.name, {verdict.check.name: len(verdict.rows) for verdict in found.verdicts})
    text = PAGE.read_text(encoding="utf-8")
    assert "\n".join(section(found)) in text, "run make validate"
    assert f"| [{found.about.title}](#{anchor(found.about.title)}) | {' | '.join(source_cells(found)[1:])} |" in text


def check_rows(name: str, rows: dict[str, int]) -> None:
    """No row of a source's tables is left out. ``rows``: how many each check has."""
    if name == "scalesim":
        assert set(rows.values()) == {292}
    elif name == "timeloop":
        assert rows["MACs"] == sum("counts" in told for told in cases())
        assert rows["cycles, throttled"] == len(THROTTLED)
    elif name == "rtl":
        assert rows["systolic, cycles"] == len(table(name))
        assert rows["matrix unit, products"] == len(table(name, "units.csv"))
    elif name == "dram":
        lists = table(name)
        assert rows["tiny traces"] == len(table(name, "tiny.csv")) == 78
        assert rows["Ramulator, cycles"] + rows["Ramulator, GDDR6 with refresh"] == sum(
            row["configuration"].startswith("r2") for row in lists)
        assert sum(rows[check] for check in rows if check.startswith("DRAMsim3") and "activations" not in check) == sum(
            row["configuration"].startswith("d3m") and row["refresh"] == "off" for row in lists)
    elif name == "noc":
        assert rows["packets sent"] == sum(count for check, count in rows.items() if check.startswith("by transfer")) == 591
        assert rows["one way"] == 4 * 462
        assert rows["routers on the way"] == 462
        assert sum(count for check, count in rows.items() if check.startswith("drawn ways")) == 2 * 129
        assert rows["batches"] == 36
        assert sum(count for check, count in rows.items() if check.startswith("batches")) == len(table(name, "batches.csv"))
        assert rows["not saturated"] == 198
    elif name in {"silicon/eyeriss", "silicon/nvdla"}:
        assert set(rows.values()) == {len(table(name))}
    elif name == "silicon/tpu-v1":
        assert sum(rows.values()) == 3
    else:
        assert sum(rows.values()) == len(table(name))


def test_the_page_has_all_sources_and_their_sum() -> None:
    text = PAGE.read_text(encoding="utf-8")
    counts = [int(count.replace(",", "")) for count in re.findall(r"^\| [^|[]+ \| ([\d,]+) \|", text, re.MULTILINE)]
    known = text.count("\n- Known miss: ")
    assert text.count("\n## ") == len(SOURCES)
    assert (f"{sum(counts):,} rows of {len(SOURCES)} sources in {len(counts)} checks: all passed, {known} known misses. ") in text


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
