"""Do the summary, the Markdown, the page and the JSON of a comparison say the same, and nothing that was not asked?"""

from __future__ import annotations

import json
import re
from fractions import Fraction
from html.parser import HTMLParser
from typing import Any

import pytest

from accelsim.measure.diff import Allowance, Diff
from accelsim.outputs.diff_html import COLOURS, diff_html
from accelsim.outputs.diff_results import diff_json
from accelsim.outputs.diff_tables import cycles_changed, percent, plain, signed
from accelsim.outputs.diff_text import MOST_CHANGES, diff_markdown, diff_text
from accelsim.outputs.results import to_text

from ..diffs import compared, failed, operator, ran

VOID = {"meta", "!doctype"}


class Page(HTMLParser):
    """Tags opened and closed, attributes and text of a page; fails where tags do not nest."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.rows: list[list[str]] = []
        self.text = ""
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


@pytest.fixture
def found() -> Diff:
    """Two operators that differ, one that does not, one that failed; a lane less; a tile's bytes; another chip."""
    two = {"busy": 4000, "dram_latency": 2000, "idle": 500}, {"busy": 4000, "dram_latency": 2500}
    before = ran(operator("a", *two, traffic=2048), operator("b<i>", {"busy": 100, "contention": 10}, repeat=3),
                 operator("same", {"busy": 7}), failed("lost", "no | room"))
    after = ran(operator("a", {"busy": 8000, "dram_latency": 1234}, traffic=1024), operator("b<i>", {"busy": 100}, repeat=3),
                operator("same", {"busy": 7}), operator("lost", {"busy": 1}), chip="c1")
    return compared(before, after)


def test_the_summary_by_hand(found: Diff) -> None:
    """a: 6,500 -> 9,234; b: 3 x 110 -> 3 x 100; lost: 0 -> 1; so 6,837 -> 9,542."""
    lines = [" ".join(line.split()) for line in diff_text(found).splitlines()]
    for line in ("a.json (A) -> b.json (B)", "w on toy",
                 "cycles 6,837 -> 9,542 +2,705 (+39.6%, 1.396 x), over what ran in each",
                 "of compared 6,837 -> 9,541 +2,704 (+39.5%, 1.395 x)",
                 "operators 3 of 4 compared, 1 failed", "chip: hash c0 -> hash c1",
                 "only the hash is known to differ; compare run folders to see the keys",
                 "busy 4,307 8,308 +4,001", "dram_latency 2,250 1,234 -1,016", "contention 30 0 -30", "idle 250 0 -250",
                 "= cycles 6,837 9,542 +2,705",
                 "a 1 6,500 9,234 +2,734 101.1% busy +4,000, dram_latency -1,016",
                 "b<i> 3 330 300 -30 -1.1% contention -30", "lost 1 - 1 +1 0.04% failed", "1 without any difference",
                 "lost failed A: no | room", "array lanes 2 -> 1", "SRAM A fill 2.00 KiB 1.00 KiB -1.00 KiB"):
        assert line in lines, line
    assert lines.index("chip: hash c0 -> hash c1") < lines.index("by cause, all operators that ran")


def test_no_difference_is_said_plainly() -> None:
    one = ran(operator("a", {"busy": 7}), operator("b", {"busy": 9}))
    said = "no difference in cycles, stalls, traffic or utilization"
    assert diff_text(compared(one, one)).endswith(f"\n\n{said}; nor in what was asked")
    other = compared(one, ran(*one["operators"], chip="c1"))
    assert f"{said}; what was asked differs, no number does" in diff_text(other).replace("\n", " ")
    faster = compared(one, ran(*one["operators"], clock_hz=2 * 10**9))
    assert f"{said}; but the clocks differ, and so does the time" in diff_text(faster).replace("\n", " ")
    assert not faster.same
    for text in (diff_markdown(compared(one, one)), diff_html(compared(one, one))):
        assert said in text


def test_a_part_that_could_not_be_compared_is_not_passed_over() -> None:
    one = ran(operator("a", {"busy": 7}), failed("b"))
    found = compared(one, one)
    text = " ".join(diff_text(found).split())
    assert "in the 1 of 2 operators that were compared" in text
    assert "operators 1 of 2 compared, 1 failed" in text
    assert not diff_json(found)["same"]
    nothing = compared(ran(failed("a")), ran(failed("a")))
    assert "nothing can be compared: no operator ran in both" in diff_text(nothing)
    assert "nothing can be compared" in Page(diff_html(nothing)).text


def test_the_json_is_exact_and_adds_up(found: Diff) -> None:
    data = json.loads(to_text(diff_json(found, guard=(Allowance("2%"), ("too slow",)))))
    assert (data["a"]["cycles"], data["b"]["cycles"], data["delta_cycles"]) == (6837, 9542, 2705)
    assert sum(part["delta_cycles"] for part in data["parts"].values()) == 2705
    for one in data["operators"]:
        assert sum(part["delta_cycles"] for part in one["parts"].values()) == one["delta_cycles"]
        for side in (one["a"], one["b"]):
            if side is not None and "error" not in side:
                assert sum(side["lane_cycles"].values()) == side["cycles"] * side["lanes"]
    assert [one["name"] for one in data["operators"]] == ["a", "b<i>", "lost", "same"]
    assert data["compared"] == {"operators": 3, "failed": 1, "only_in_a": 0, "only_in_b": 0, "reordered": False}
    assert data["guard"] == {"allowed": "2%", "passed": False, "reasons": ["too slow"]}
    assert data["operators"][0]["traffic"] == [{"level": "SRAM", "tensor": "A", "kind": "fill", "a_bytes": 2048, "b_bytes": 1024,
                                                "delta_bytes": -1024}]


def test_the_page_has_the_numbers_of_the_json(found: Diff) -> None:
    data, page = diff_json(found), Page(diff_html(found))
    rows = [row[:4] for row in page.rows]
    for name, part in data["parts"].items():
        shown = [name, *(f"{part[key]:,}" for key in ("a_cycles", "b_cycles"))]
        assert (shown in [row[:3] for row in rows]) == bool(part["a_cycles"] or part["b_cycles"])
    operators = {row[0]: row for row in page.rows if len(row) == 8}
    for one in data["operators"]:
        if one["name"] in operators:
            assert operators[one["name"]][4] == f"{one['delta_cycles']:+,}"
    assert operators.keys() == {"operator", "a", "b<i>", "lost"}


def test_the_page_stands_alone(found: Diff) -> None:
    text = diff_html(found)
    page = Page(text)
    assert not re.search(r"https?:|//|url\(|@import|<script|<link|<img|<iframe", text)
    assert not {"src", "href", "onload", "onclick"} & {name for name, _ in page.attributes}
    assert "default-src 'none'" in dict(page.attributes)["content"]
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
    assert "<i>" not in text.replace("&lt;i&gt;", "")
    assert "b<i>" in page.text


def test_bars_are_as_long_as_their_cycles(found: Diff) -> None:
    """All cycles of B, the longer run, fill the width; those of A 6837 / 9542 of it."""
    stacks = re.search(r'<div class="stack".*?</div></div>', diff_html(found), re.DOTALL)
    assert stacks is not None
    first, second = stacks[0].split("<span>B</span>")
    for bars, share in ((first, 6837 / 9542), (second, 1)):
        assert sum(float(width) for width in re.findall(r"width:([0-9.]+)%", bars)) == pytest.approx(100 * share, abs=0.01)
    assert f"background:{COLOURS['dram_latency']}" in first


def test_the_same_bytes_each_time(found: Diff) -> None:
    for write in (diff_text, diff_markdown, diff_html):
        assert write(found) == write(found)


def test_one_operator_and_the_first_ones(found: Diff) -> None:
    alone = diff_text(found, "b<i>")
    assert "contention" in alone
    assert "dram_latency" not in alone
    assert [one["name"] for one in diff_json(found, "b<i>")["operators"]] == ["b<i>"]
    first = diff_text(found, top=1)
    assert "2 more differ, 1 without any difference" in first
    assert "b<i>  " not in first


def test_markdown_is_not_set_by_names(found: Diff) -> None:
    text = diff_markdown(found)
    assert "b\\<i>" in text
    assert "A: no \\| room" in text
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert all(len(re.findall(r"(?<!\\)\|", line)) in {4, 5, 8} for line in table)
    assert "| dram_latency | 2,250 | 1,234 | -1,016 |" in table


def test_many_changes_are_cut_in_the_summary_alone() -> None:
    old, new = ran(operator("a", {"busy": 7})), ran(operator("a", {"busy": 7}))
    new["provenance"]["options"] |= {f"o{i}": i for i in range(MOST_CHANGES + 2)}
    found = compared(old, new)
    assert "and 2 more; --json, --markdown and --html have all" in diff_text(found)
    assert f"options.o{MOST_CHANGES + 1}" not in diff_text(found)
    assert f"options.o{MOST_CHANGES + 1}" in diff_markdown(found)


def test_long_texts_stay_within_the_width() -> None:
    long: Any = ran(operator("a" * 70, {"busy": 7}), failed("b", "because " * 30))
    lines = diff_text(compared(ran(operator("a" * 70, {"busy": 9})), long)).splitlines()
    assert max(map(len, lines)) <= 100
    assert sum("because" in line for line in lines) > 1


def test_numbers_for_readers() -> None:
    assert (plain(Fraction(1234)), plain(Fraction(10, 3)), signed(-5), signed(0), signed(Fraction(1, 4))) == (
        "1,234", "3.33", "-5", "0", "+0.25")
    shares = (Fraction(1, 3), Fraction(-1, 2), Fraction(1, 10**5), Fraction(0))
    assert [percent(share) for share in shares] == ["+33.3%", "-50.0%", "+0.001%", "+0.0%"]
    assert cycles_changed(5, 5) == "5, no difference"
    assert cycles_changed(0, 5) == "0 -> 5  +5"
    assert cycles_changed(10, 100) == "10 -> 100  +90 (10.000 x)"
