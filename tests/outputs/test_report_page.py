"""Does the report page hold the numbers of its run, nothing of its files as markup, and the same bytes each time?"""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from accelsim import Options, run
from accelsim.outputs import page_tracks
from accelsim.outputs import report_page as report_page_module
from accelsim.outputs.page_tracks import tracks, varints
from accelsim.outputs.report_page import command, embedded, report_page
from accelsim.outputs.results import run_json
from accelsim.recorder import RecordOptions
from accelsim.timeline import NO_LABEL, TICKS, Timeline
from accelsim.verbs import Finished

HOSTILE = "</script><img src=x onerror=alert(1)>"
GEMM = "gemm:m=24,n=24,k=24"
MANY = ("gemmini", "gemm:m=128,n=128,k=128,dtype=int8")


def finished(chip: str, workload: str, record: RecordOptions | None = None) -> Finished:
    return run(chip, workload, Options(record=record or RecordOptions(bins=256)))


@pytest.fixture(scope="module")
def toy() -> Finished:
    return finished("toy3", GEMM)


@pytest.fixture(scope="module")
def page(toy: Finished) -> str:
    return report_page(toy.report, toy.timelines)


class Parts(HTMLParser):
    """What a browser would find in a page: elements with their attributes, and the text of each script and style."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[str, dict[str, str | None], str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.elements and self.elements[-1][0] in ("script", "style") and self.cdata_elem:
            self.raw.append((*self.elements[-1], data))

    def data(self, name: str) -> Any:
        return json.loads("".join(text for _, attributes, text in self.raw if attributes.get("id") == name))


# -- timelines as numbers ---------------------------------------------------------------------------------------------


def test_numbers_are_written_seven_bits_a_byte_lowest_first() -> None:
    assert varints(np.array([0, 1, 127, 128, 300, 1 << 21], dtype=np.int64)) == bytes(
        [0, 1, 0x7F, 0x80, 1, 0xAC, 2, 0x80, 0x80, 0x80, 1])
    assert varints(np.zeros(0, dtype=np.int64)) == b""


def numbers(text: str) -> list[int]:
    """What `varints` wrote, read byte by byte."""
    found, value, place = [], 0, 0
    for byte in base64.b64decode(text):
        value, place = value + ((byte & 127) << place), place + 7
        if byte < 128:
            found.append(value)
            value, place = 0, 0
    return found


def intervals(track: dict[str, Any]) -> list[tuple[int, int, int, int, int]]:
    """(row, first tick, end tick, state, label) of a track."""
    words, codes = numbers(track["intervals"]["words"]), iter(numbers(track["intervals"]["codes"]))
    found = []
    for row, count in enumerate(track["intervals"]["counts"]):
        at = track["intervals"]["first"] * TICKS
        for _ in range(count):
            gap, length, state, label = words[4 * (code := next(codes)):4 * code + 4]
            found.append((row, at + gap, at + gap + length, state, label + NO_LABEL))
            at += gap + length
    assert next(codes, None) is None
    return found


def binned(track: dict[str, Any]) -> dict[tuple[int, int, int], int]:
    """Ticks by (row, bin, state) of a track."""
    values, words = iter(numbers(track["bins"]["words"])), []
    for count in values:
        words.append([(next(values), next(values)) for _ in range(count)])
    codes = numbers(track["bins"]["codes"])
    count = track["bins"]["count"]
    assert len(codes) == count * len(track["rows"])
    return {(at // count, at % count, state): ticks for at, code in enumerate(codes) for state, ticks in words[code]}


def only(timeline: Timeline | None) -> dict[str, Any]:
    found, = tracks([timeline], [1])
    assert found is not None
    return found


@pytest.mark.parametrize(("chip", "workload"), [
    ("toy3", GEMM), ("gemmini", "gemm:m=64,n=64,k=64,dtype=int8"), ("onnxim", "gemm:m=256,n=256,k=256,dtype=fp16")])
def test_every_interval_is_in_the_page(chip: str, workload: str) -> None:
    timeline, = finished(chip, workload).timelines
    assert timeline is not None
    track = only(timeline)
    assert track["bins"] is None
    names = [row["name"] for row in track["rows"]]
    assert sorted(names) == sorted(lane.name for lane in timeline.lanes)
    found = {(names[row], *rest) for row, *rest in intervals(track)}
    assert found == {(timeline.lanes[lane].name, *rest) for lane, *rest in timeline.rows.tolist()}
    assert len(found) == len(timeline.rows)


def test_intervals_of_a_row_do_not_overlap(toy: Finished) -> None:
    for (row, _, end, *_), (other, start, *_) in pairwise(intervals(only(toy.timelines[0]))):
        assert row < other or end <= start


def test_what_was_not_kept_is_in_bins_and_nothing_is_told_twice() -> None:
    whole, = finished(*MANY).timelines
    some, = finished(*MANY, RecordOptions(most_rows=150, bins=64)).timelines
    assert whole is not None
    assert some is not None
    assert some.rows_dropped == len(whole.rows) - 150
    track = only(some)
    last = track["intervals"]["last"]
    assert 0 < last < some.cycles
    assert last % track["bins"]["cycles"] == 0
    assert track["rows_dropped"] == some.rows_dropped
    cut = {(lane, start, min(end, last * TICKS), state, label)
           for lane, start, end, state, label in whole.rows.tolist() if start < last * TICKS}
    names = [row["name"] for row in track["rows"]]
    lanes = [lane.name for lane in some.lanes]
    assert {(lanes.index(names[row]), *rest) for row, *rest in intervals(track)} == cut
    totals = np.zeros_like(some.totals)
    for (row, _, state), ticks in binned(track).items():
        totals[lanes.index(names[row]), state] += ticks
    assert np.array_equal(totals, some.totals)


def test_a_window_is_told_interval_by_interval() -> None:
    timeline, = finished("toy3", GEMM, RecordOptions(window=(1000, 3000), bins=256)).timelines
    assert timeline is not None
    told = only(timeline)
    width = timeline.profile.bin_cycles
    assert (told["intervals"]["first"], told["intervals"]["last"]) == (-(-1000 // width) * width, 3000 // width * width)
    assert all(told["intervals"]["first"] * TICKS <= start < end <= told["intervals"]["last"] * TICKS
               for _, start, end, *_ in intervals(told))
    assert told["bins"] is not None


def test_a_run_without_rows_is_drawn_from_bins() -> None:
    timeline, = finished("toy3", GEMM, RecordOptions(most_rows=0, bins=64)).timelines
    track = only(timeline)
    assert track["intervals"] is None
    assert not track["left_out"]
    assert track["bins"] is not None


def test_the_operators_with_most_cycles_have_their_intervals(toy: Finished, monkeypatch: pytest.MonkeyPatch) -> None:
    timeline, = toy.timelines
    one = only(timeline)["intervals"]
    monkeypatch.setattr(page_tracks, "MOST_INTERVAL_BYTES", 2 * (len(one["words"]) + len(one["codes"])))
    monkeypatch.setattr(page_tracks, "MOST_BIN_BYTES", 2000)
    found = tracks([timeline, None, timeline, timeline, timeline], [2, 0, 1, 4, 3])
    assert found[1] is None
    assert [track["intervals"] is not None for track in found if track] == [False, False, True, True]
    assert [track["left_out"] for track in found if track] == [True, True, False, False]
    assert sum(len(track["bins"]["words"]) + len(track["bins"]["codes"]) for track in found if track and track["bins"]) <= 2000
    assert all(sum(ticks for (row, _, _), ticks in binned(track).items() if row == 0)
               == int(timeline.totals[0].sum()) for track in found if track and track["bins"] and timeline)


# -- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_embeds_what_json_prints(page: str, toy: Finished) -> None:
    assert Parts(page).data("run-data") == json.loads(json.dumps(run_json(toy.report)))


def test_the_page_asks_nobody_for_anything(page: str) -> None:
    allowed = {"http://www.w3.org/2000/svg"}
    assert set(re.findall(r"""(?:https?:)?//[\w.-]+\.\w+[^\s"'`)]*""", page)) <= allowed
    for tag, attributes in Parts(page).elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form")
        assert not {"src", "srcset", "action", "style"} & attributes.keys()
        assert not [name for name in attributes if name.startswith("on")]
        assert (attributes.get("href") or "#").startswith("#")
    style = "".join(text for tag, _, text in Parts(page).raw if tag == "style")
    assert "@import" not in style
    assert "url(" not in style


def test_the_policy_allows_the_pages_own_script_and_style_alone(page: str) -> None:
    parts = Parts(page)
    policy = next(attributes["content"] for tag, attributes in parts.elements if tag == "meta" and "http-equiv" in attributes)
    assert policy is not None
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    for tag, rule in (("script", "script-src"), ("style", "style-src")):
        text = "".join(text for found, attributes, text in parts.raw if found == tag and "type" not in attributes)
        assert rules[rule] == f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
    assert set(rules) == {"default-src", "script-src", "style-src", "base-uri", "form-action"}


def test_strings_of_files_are_no_markup(toy: Finished) -> None:
    operator, = toy.report.done
    hostile = replace(toy.report, chip=f"<b>{HOSTILE}", workload=HOSTILE + "$title&amp;<!--",
                      operators=(replace(operator, name=HOSTILE, bound_by="<script>"),))
    text = report_page(hostile, toy.timelines)
    plain = Parts(report_page(toy.report, toy.timelines))
    assert Parts(text).elements == plain.elements
    assert Parts(text).data("run-data")["workload"] == hostile.workload
    assert "<img" not in text


def test_embedded_json_has_no_character_that_begins_markup() -> None:
    data = {"<a>": ["</script>", "<!--", "&lt;", "\N{LINE SEPARATOR}\N{SNOWMAN}"]}
    assert not set(embedded(data)) & set("<>&\N{LINE SEPARATOR}")
    assert json.loads(embedded(data)) == data


def test_the_same_run_gives_the_same_page(page: str) -> None:
    again = finished("toy3", GEMM)
    assert report_page(again.report, again.timelines) == page


def test_a_network_of_many_operators_stays_small() -> None:
    network = finished("tpu-v1", "resnet50")
    assert len(network.report.done) == len(network.report.operators) > 25
    text = report_page(network.report, network.timelines)
    assert len(text) < 1_000_000
    assert all(track["intervals"] is not None for track in Parts(text).data("timelines-data"))


def test_every_part_of_the_script_is_used_and_short() -> None:
    folder = Path(report_page_module.__file__).with_name("page")
    assert sorted(report_page_module.SCRIPTS) == sorted(path.name for path in folder.glob("*.js"))
    for path in folder.iterdir():
        lines = path.read_text(encoding="utf-8").splitlines()
        assert len(lines) <= 300, path.name
        assert max(map(len, lines)) <= 180, path.name


def test_the_command_says_what_was_asked() -> None:
    done = run("toy", GEMM, Options(dataflow="output-stationary", overrides=("chip.levels.DRAM.latency=40 cycles",)))
    assert command(done.report) == ("accelsim run toy gemm:m=24,n=24,k=24 --dataflow output-stationary "
                                    "-o 'chip.levels.DRAM.latency=40 cycles' --report report.html")


@pytest.mark.parametrize(("chip", "workload"), [("toy3", GEMM), ("gemmini", "gemm:m=64,n=64,k=64,dtype=int8")])
def test_the_stall_tree_has_every_stalled_cycle_once(chip: str, workload: str) -> None:
    """On gemmini the launch is waited for at no port."""
    operator, = run_json(finished(chip, workload).report)["operators"]
    found: dict[str, int] = {}
    for one in operator["stall_tree"]:
        found[f"{one['cause']}_cycles"] = found.get(f"{one['cause']}_cycles", 0) + one["cycles"]
    assert found == {cause: cycles for cause, cycles in operator["stalls"].items() if cycles}
    assert ("" in {one["where"] for one in operator["stall_tree"]}) == (chip == "gemmini")
