"""Does the report page work in a browser: the numbers of the JSON, sorting, links, keys, zoom, search, print, no network?

Runs in the Chromium of the system. Without one these tests are skipped, and fail where ACCELSIM_TEST_BROWSER is "required".
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

from accelsim import Options, run
from accelsim.outputs import page_tracks
from accelsim.outputs.raster_lanes import compose_rows, group_arrays
from accelsim.outputs.report_page import report_page
from accelsim.outputs.results import run_json
from accelsim.recorder import Recorder, RecordOptions
from accelsim.stalls import StallCause
from accelsim.timeline import CAUSES, TICKS, LaneKind, Timeline, state_cause
from accelsim.verbs import Finished

HOSTILE = "</script><img src=x onerror=alert(1)>"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
NUMBERS = "cells => cells.map(cell => Number(cell.dataset.value))"


@dataclass
class Seen:
    """A page that is open, and what it did that it should not."""

    page: Any
    trouble: list[str] = field(default_factory=list)

    def value(self, selector: str) -> float:
        return float(self.page.get_attribute(selector, "data-value"))

    def values(self, selector: str) -> list[float]:
        found: list[float] = self.page.eval_on_selector_all(selector, NUMBERS)
        return found

    def texts(self, selector: str) -> list[str]:
        found: list[str] = self.page.eval_on_selector_all(selector, "all => all.map(one => one.textContent)")
        return found

    def settle(self) -> None:
        """Until what was asked to be drawn has been."""
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))")

    def wait(self, condition: str) -> None:
        """The browser's own way to wait evaluates text in the page, which its policy forbids."""
        self.page.evaluate(f"new Promise(done => {{ const look = () => {condition} ? done() : setTimeout(look, 10); look(); }})")

    def view(self) -> tuple[int, int]:
        self.settle()
        return int(self.page.get_attribute("#lanes", "data-from")), int(self.page.get_attribute("#lanes", "data-to"))

    def press(self, *keys: str) -> tuple[int, int]:
        self.page.focus("#lanes")
        for key in keys:
            self.page.keyboard.press(key)
        return self.view()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        if os.environ.get("ACCELSIM_TEST_BROWSER") == "required":
            pytest.fail("no chromium found, and ACCELSIM_TEST_BROWSER is required: apt-get install chromium")
        pytest.skip("no chromium found: apt-get install chromium")
    from playwright.sync_api import sync_playwright
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


class Opener:
    """Opens pages from disk; each must have stayed out of trouble when the test ends."""

    def __init__(self, browser: Any, folder: Path) -> None:
        self.browser, self.folder, self.opened = browser, folder, list[tuple[Any, Seen]]()

    def __call__(self, text: str, link: str = "", width: int = 1280, **options: Any) -> Seen:
        file = self.folder / f"{len(self.opened)}.html"
        file.write_text(text, encoding="utf-8")
        context = self.browser.new_context(viewport={"width": width, "height": 900}, **options)
        seen = Seen(context.new_page())
        address = file.as_uri()
        seen.page.on("console", lambda message: seen.trouble.append(f"console: {message.text}"))
        seen.page.on("pageerror", lambda error: seen.trouble.append(f"error: {error}"))
        seen.page.on("dialog", lambda dialog: (seen.trouble.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        seen.page.on("request", lambda request: request.url.split("#")[0] == address or seen.trouble.append(request.url))
        seen.page.goto(address + link)
        assert seen.page.get_attribute("html", "data-ready") == "true"
        self.opened.append((context, seen))
        return seen


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Opener]:
    opener = Opener(browser, tmp_path)
    yield opener
    for context, seen in opener.opened:
        context.close()
        assert not seen.trouble


def finished(chip: str, workload: str, record: RecordOptions | None = None) -> Finished:
    return run(chip, workload, Options(record=record or RecordOptions(bins=256)))


@pytest.fixture(scope="module")
def network() -> Finished:
    return finished("tpu-v1", "resnet50")


@pytest.fixture(scope="module")
def page(network: Finished) -> str:
    return report_page(network.report, network.timelines)


@pytest.fixture(scope="module")
def numbers(network: Finished) -> Any:
    return json.loads(json.dumps(run_json(network.report)))


@pytest.fixture(scope="module")
def cores() -> Finished:
    return finished("onnxim", "gemm:m=512,n=512,k=512,dtype=fp16")


def only(done: Finished) -> Timeline:
    timeline, = done.timelines
    assert timeline is not None
    return timeline


def open_cores(show: Opener, cores: Finished, link: str = "", **options: Any) -> Seen:
    return show(report_page(cores.report, cores.timelines), link, **options)


# -- numbers ----------------------------------------------------------------------------------------------------------


def test_the_headline_is_that_of_the_json(show: Opener, page: str, numbers: Any) -> None:
    seen, total = show(page), numbers["total"]
    figures = {"cycles": "cycles", "time": "time_s", "utilization": "utilization", "estimated cycles": "estimated_cycles",
               "operators": "operators_run"}
    for figure, key in figures.items():
        assert seen.value(f'#headline [data-figure="{figure}"]') == total[key]
    assert seen.page.inner_text('#headline [data-figure="cycles"]').startswith(f"{total['cycles']:,}\n")
    assert seen.page.inner_text("h1") == "resnet50 on tpu-v1"
    assert len(seen.texts("#headline .advice li")) == 3


def test_each_operators_row_is_that_of_the_json(show: Opener, page: str, numbers: Any) -> None:
    seen = show(page)
    for number, one in enumerate(numbers["operators"]):
        row = f'#operators tbody tr[data-operator="{number}"]'
        assert seen.values(f"{row} td[data-value]") == [
            one["repeat"], one["cycles"], one["time_s"], one["utilization"], one["busy"],
            one["crosscheck"]["estimated_cycles"], one["crosscheck"]["ratio"]]
        assert seen.texts(f"{row} td.number")[1] == f"{one['cycles']:,}"


def test_the_parts_of_an_operator_are_those_of_the_json(show: Opener, page: str, numbers: Any) -> None:
    seen = show(page)
    for index in (0, 12):
        seen.page.select_option("#pick", str(index))
        one = numbers["operators"][index]
        for figure, key in (("cycles", "cycles"), ("time", "time_s"), ("utilization", "utilization"), ("array busy", "busy")):
            assert seen.value(f'#chosen [data-figure="{figure}"]') == one[key]
        assert seen.texts("#chosen .advice span:first-of-type") == [advice["text"] for advice in one["advice"]]
        total = [value for rung in numbers["total"]["ladder"] for value in (rung["factor"], rung["delivered"])]
        own = [value for rung in one["ladder"] for value in (rung["factor"], rung["delivered"])]
        told = np.array(seen.values("#ladder-table tbody td[data-value]")).reshape(-1, 4)[1:]
        assert told[:, :2].ravel().tolist() == total
        assert told[:, 2:].ravel().tolist() == own
        tree = {cause: seen.value(f'#stall-tree tr[data-cause="{cause}"] td') for cause in seen.page.eval_on_selector_all(
            "#stall-tree tr[data-cause]", "rows => rows.map(row => row.dataset.cause)")}
        assert tree == {cause.code: cycles for cause in StallCause if (cycles := one["stalls"][f"{cause.code}_cycles"])}
        assert seen.values("#stall-tree tfoot td[data-value]")[::2] == [sum(one["stalls"].values()), one["cycles"]]
        parts = seen.values("#waterfall tbody td[data-value]")
        assert parts[1:] == [part["cycles"] for part in one["crosscheck"]["waterfall"]]
        assert sum(parts) == one["cycles"] == seen.value("#waterfall tfoot td")
        moved = [value for level in one["mapping"]["levels"] for _, traffic in sorted(one["levels"][level["level"]].items())
                 for value in (traffic[f"{kind}_bytes"] for kind in ("fill", "drain", "refill", "array_read", "array_write",
                                                                     "waste"))]
        assert seen.values("#traffic-table td[data-value]") == moved
        roofs = [roof[key] for roof in one["roofline"]["roofs"]
                 for key in ("bytes_per_cycle", "moved_bytes", "macs_per_byte", "macs_per_cycle") if roof[key] is not None]
        assert seen.values("#roofline-table td[data-value]") == roofs
        assert seen.page.locator("#roofline svg circle[fill='none']").count() == sum(
            roof["bytes_per_cycle"] is not None for roof in one["roofline"]["roofs"])


def test_the_whole_timeline_adds_up_to_the_stalls(show: Opener, cores: Finished) -> None:
    """Four arrays; their cycles by cause, added up in the page from every interval."""
    seen = open_cores(show, cores)
    one, = run_json(cores.report)["operators"]
    found = dict(zip(seen.texts("#window-sums tbody th"), seen.values("#window-sums tbody td:nth-child(2)"), strict=True))
    arrays = [lane for lane in one["lanes"].values() if lane["kind"] == "array"]
    assert len(arrays) == 4
    expected = {cause.code.replace("_", " ").replace("dram", "DRAM").replace("sram", "SRAM"): cycles for cause in StallCause
                if (cycles := one["stalls"][f"{cause.code}_cycles"])}
    expected["busy"] = sum(lane["busy_cycles"] for lane in arrays)
    expected |= {"idle": idle} if (idle := sum(lane["idle_cycles"] for lane in arrays)) else {}
    assert found == expected
    assert seen.value("#window-sums tfoot td") == 4 * one["cycles"]


# -- the operators' table ---------------------------------------------------------------------------------------------


def test_a_click_on_a_column_sorts_and_another_turns_it(show: Opener, page: str, numbers: Any) -> None:
    seen = show(page)
    cycles = [one["cycles"] for one in numbers["operators"]]
    column = "#operators tbody td:nth-child(4)"
    assert seen.values(column) == cycles
    seen.page.click('button.sort[data-key="cycles"]')
    assert seen.values(column) == sorted(cycles, reverse=True)
    assert seen.page.locator('#operators th[aria-sort="descending"]').inner_text() == "cycles"
    seen.page.keyboard.press("Enter")
    assert seen.values(column) == sorted(cycles)
    assert seen.page.locator('#operators th[aria-sort="ascending"]').count() == 1
    seen.page.click('button.sort[data-key="name"]')
    assert seen.texts("#operators tbody th") == sorted(one["name"] for one in numbers["operators"])


def test_the_filter_leaves_what_matches(show: Opener, page: str, numbers: Any) -> None:
    seen = show(page)
    seen.page.fill("#filter", "Downsample")
    names = [one["name"] for one in numbers["operators"] if "downsample" in one["name"]]
    assert seen.texts("#operators tbody th") == names
    assert seen.page.inner_text("#filter-count") == f"{len(names)} of {len(numbers['operators'])} shown"


@pytest.mark.parametrize("way", ["click", "keys"])
def test_an_operator_that_is_chosen_is_shown_everywhere(way: str, show: Opener, page: str, numbers: Any) -> None:
    seen = show(page)
    most = max(numbers["operators"], key=lambda one: one["cycles"] * one["repeat"])
    assert set(seen.texts("h2 .whose")) == {f" \N{EN DASH} {most['name']}"}
    if way == "click":
        seen.page.click('#operators tbody tr[data-operator="1"] td:nth-child(5)')
    else:
        seen.page.focus("#operators tbody button[tabindex='0']")
        for _ in range(len(numbers["operators"])):
            seen.page.keyboard.press("ArrowUp")
        seen.page.keyboard.press("ArrowDown")
        seen.page.keyboard.press("Enter")
    name = numbers["operators"][1]["name"]
    assert seen.texts("h2 .whose") == [f" \N{EN DASH} {name}"] * 7
    assert seen.texts("#operators tr.chosen th") == [name]
    assert seen.page.input_value("#pick") == "1"
    assert seen.view() == (0, numbers["operators"][1]["cycles"])


# -- the timeline -----------------------------------------------------------------------------------------------------


def test_keys_zoom_move_and_return(show: Opener, cores: Finished) -> None:
    seen, cycles = open_cores(show, cores), only(cores).cycles
    assert seen.view() == (0, cycles)
    first, last = seen.press("+")
    assert (first, last) == pytest.approx((cycles / 4, 3 * cycles / 4), abs=1)
    moved = seen.press("ArrowRight")
    assert moved[1] - moved[0] == pytest.approx(last - first, abs=1)
    assert moved[0] - first == pytest.approx(0.15 * (last - first), abs=1)
    assert seen.press("ArrowLeft") == pytest.approx((first, last), abs=1)
    assert seen.press("-") == (0, cycles)
    assert seen.press("+", "+", "+", "Shift+ArrowRight")[0] > cycles / 2
    assert seen.press("Home") == (0, cycles)


def test_wheel_drag_and_buttons_zoom_and_move(show: Opener, cores: Finished) -> None:
    seen, cycles = open_cores(show, cores), only(cores).cycles
    seen.page.locator("#lanes").scroll_into_view_if_needed()
    box = seen.page.locator("#lanes").bounding_box()
    middle, top = box["x"] + box["width"] / 2, box["y"] + 40
    seen.page.mouse.move(middle, top)
    seen.page.mouse.wheel(0, -150)
    assert seen.view() == (0, cycles)  # the page scrolls: the timeline has no focus
    seen.page.focus("#lanes")
    box = seen.page.locator("#lanes").bounding_box()
    middle, top = box["x"] + box["width"] / 2, box["y"] + 40
    seen.page.mouse.move(middle, top)
    seen.page.mouse.wheel(0, -150)
    first, last = seen.view()
    assert last - first == pytest.approx(cycles * np.exp(-0.5), abs=1)
    seen.page.mouse.down()
    seen.page.mouse.move(middle + 100, top, steps=4)
    seen.page.mouse.up()
    assert seen.view()[0] < first
    seen.page.click("text=Whole run")
    assert seen.view() == (0, cycles)
    seen.page.click('button[aria-label="Zoom in"]')
    assert seen.view() == pytest.approx((cycles / 4, 3 * cycles / 4), abs=1)


def by_colour(timeline: Timeline, first: int, last: int) -> dict[str, float]:
    """Cycles of all arrays by cause in a window, from the record."""
    arrays = [number for number, lane in enumerate(timeline.lanes) if lane.kind is LaneKind.ARRAY]
    spent = compose_rows(timeline, group_arrays(timeline, arrays, 1), (first, last), 1).total()[0] / TICKS
    names = ["busy", *(cause.code.replace("_", " ").replace("dram", "DRAM").replace("sram", "SRAM") for cause in CAUSES), "idle"]
    return {name: float(cycles) for name, cycles in zip(names, spent, strict=True) if cycles}


def test_a_window_shows_its_sums(show: Opener, cores: Finished) -> None:
    timeline = only(cores)
    first, last = timeline.cycles // 5, timeline.cycles // 3
    seen = open_cores(show, cores, f"#t={first}-{last}")
    assert seen.view() == (first, last)
    found = dict(zip(seen.texts("#window-sums tbody th"), seen.values("#window-sums tbody td:nth-child(2)"), strict=True))
    assert found == by_colour(timeline, first, last)
    seen.page.keyboard.down("Shift")
    box = seen.page.locator("#lanes").bounding_box()
    seen.page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 40)
    seen.page.mouse.down()
    seen.page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 40, steps=3)
    seen.page.mouse.up()
    seen.page.keyboard.up("Shift")
    assert seen.view() == (first, last)
    assert seen.page.inner_text("#window-sums h3") == "In the selection"
    share = 0.2 * box["width"] / (box["width"] - 158)  # beside the lanes' names
    assert seen.value("#window-sums tfoot td") == pytest.approx(4 * share * (last - first), rel=0.02)
    seen.press("Escape")
    assert seen.page.inner_text("#window-sums h3") == "In view"


def test_sums_are_exact_wherever_a_window_ends(show: Opener) -> None:
    """Also where as many intervals lie before the edge as sums are kept apart: each window ends inside another interval."""
    many = finished("gemmini", "gemm:m=128,n=128,k=128,dtype=int8")
    timeline = only(many)
    array = timeline.rows[timeline.rows[:, 0] == next(i for i, lane in enumerate(timeline.lanes) if lane.kind is LaneKind.ARRAY)]
    assert len(array) > 130
    seen = show(report_page(many.report, many.timelines))
    for i in (0, 1, 62, 63, 64, 65, 126, 127, 128, len(array) - 1):
        _, start, end, _, _ = array[i].tolist()
        middle = (start + end) // 2 // TICKS
        assert start < middle * TICKS < end
        seen.page.evaluate(f"location.hash = '#t=0-{middle}'")
        seen.wait(f"document.getElementById('lanes').dataset.to === '{middle}'")
        found = dict(zip(seen.texts("#window-sums tbody th"), seen.values("#window-sums tbody td:nth-child(2)"), strict=True))
        assert found == by_colour(timeline, 0, middle)


def test_a_link_opens_what_it_says_and_the_page_makes_the_same(show: Opener, page: str, numbers: Any) -> None:
    one = numbers["operators"][5]
    lane = next(name for name, lane in one["lanes"].items() if lane["kind"] == "port")
    link = f"#t=100-900&lane={quote(lane)}&op={quote(one['name'])}"
    seen = show(page, link)
    assert seen.view() == (100, 900)
    assert seen.page.get_attribute("#lanes", "data-lane") == lane
    assert seen.texts("#operators tr.chosen th") == [one["name"]]
    assert seen.page.get_attribute("#link", "href") == link
    other = numbers["operators"][0]["name"]
    seen.page.evaluate(f"location.hash = '#t=5-500&op={quote(other)}'")
    seen.wait("document.querySelector('#operators tr.chosen').dataset.operator === '0'")
    assert seen.view() == (5, 500)
    seen.press("Home")
    seen.wait("location.hash.startsWith('#t=0-')")
    assert f"op={quote(other)}" in seen.page.url


@pytest.mark.parametrize("link", ["#t=9-1&op=none&lane=none", "#t=x", "#word-sync", "#op=%E0%A4%A", "#t=99999999-999999999"])
def test_a_link_that_says_nothing_known_does_no_harm(link: str, show: Opener, cores: Finished) -> None:
    first, last = open_cores(show, cores, link).view()
    assert 0 <= first < last <= only(cores).cycles


def matches(timeline: Timeline, cause: StallCause) -> list[tuple[int, int]]:
    """First cycle and lane of each interval stalled for a cause, in order of time."""
    return [(int(start), int(lane)) for lane, start, _, state, _ in timeline.rows.tolist()
            if (found := state_cause(state)) is not None and found[0] is cause]


def test_search_counts_and_jumps_to_the_next_match(show: Opener, cores: Finished) -> None:
    timeline = only(cores)
    hits = matches(timeline, StallCause.ARRAY_FILL_DRAIN)
    assert len(hits) > 2
    seen = open_cores(show, cores)
    seen.page.fill("#find", "fill drain")
    assert seen.page.inner_text("#hits") == f"{len(hits)} matches"
    for tick, lane in hits[:3]:
        seen.page.press("#find", "Enter")
        told = seen.page.inner_text("#readout")
        assert told.startswith(f"{timeline.lanes[lane].name}: array fill drain")
        assert f"cycles {tick / TICKS:,.4f}".rstrip("0").rstrip(".") in told
        first, last = seen.view()
        assert first <= tick / TICKS <= last
    seen.page.click('button[aria-label="Previous match"]')
    assert seen.page.inner_text("#readout").startswith(f"{timeline.lanes[hits[1][1]].name}: array fill drain")
    seen.page.fill("#find", "busy B NOC")
    tensor = timeline.labels.index("B")
    lane = next(number for number, one in enumerate(timeline.lanes) if one.name == "NOC")
    count = int(((timeline.rows[:, 0] == lane) & (timeline.rows[:, 3] == 0) & (timeline.rows[:, 4] == tensor)).sum())
    assert seen.page.inner_text("#hits") == f"{count} matches"
    seen.page.fill("#find", "no such thing")
    assert seen.page.inner_text("#hits") == "0 matches"


def test_bookmarks_lead_to_the_longest_stalls(show: Opener, cores: Finished) -> None:
    timeline = only(cores)
    longest = 0
    for number, lane in enumerate(timeline.lanes):
        if lane.kind is LaneKind.ARRAY:
            end = run_from = -1
            for _, start, stop, state, _ in timeline.rows[timeline.rows[:, 0] == number].tolist():
                if state_cause(state) is not None:
                    run_from = start if start != end else run_from
                    end = stop
                    longest = max(longest, end - run_from)
    seen = open_cores(show, cores)
    stalled = [float(value) for value in seen.page.eval_on_selector_all("#bookmarks a", "all => all.map(a => a.dataset.stalled)")]
    assert stalled[0] == longest / TICKS
    assert stalled == sorted(stalled, reverse=True)
    seen.page.click("#bookmarks li:last-child a")
    first, last = seen.view()
    assert stalled[-1] <= last - first <= 2 * stalled[-1] + 2


def test_arrows_and_points_step_through_lanes_and_intervals(show: Opener, cores: Finished) -> None:
    seen = open_cores(show, cores)
    seen.press("ArrowDown", "ArrowDown")
    name = seen.page.get_attribute("#lanes", "data-lane")
    assert name == "PE[2]"
    seen.press(".")
    told = seen.page.inner_text("#readout")
    seen.press(".")
    assert seen.page.inner_text("#readout") != told
    seen.press(",")
    assert seen.page.inner_text("#readout") == told
    seen.press("Enter")
    first, last = seen.view()
    assert last - first < only(cores).cycles


def test_a_pointer_over_an_interval_reads_it(show: Opener, cores: Finished) -> None:
    seen = open_cores(show, cores)
    seen.page.locator("#lanes").scroll_into_view_if_needed()
    box = seen.page.locator("#lanes").bounding_box()
    seen.page.mouse.move(box["x"] + 160, box["y"] + 36)
    assert seen.page.inner_text(".tip").startswith("PE[0]: ")


def test_what_is_not_on_the_page_is_said(show: Opener) -> None:
    many = finished("gemmini", "gemm:m=128,n=128,k=128,dtype=int8", RecordOptions(most_rows=150, bins=64))
    seen = show(report_page(many.report, many.timelines))
    told = seen.page.inner_text("#timeline .note >> nth=0")
    assert f"{only(many).rows_dropped:,} intervals were beyond what a run keeps" in told
    found = dict(zip(seen.texts("#window-sums tbody th"), seen.values("#window-sums tbody td:nth-child(2)"), strict=True))
    assert sum(found.values()) == only(many).cycles == seen.value("#window-sums tfoot td")
    one, = many.report.done
    assert found["contention"] == one.stalls[StallCause.CONTENTION]


def test_lanes_that_share_a_row_add_up(show: Opener, cores: Finished, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_tracks, "MOST_ROWS", 3)
    seen = open_cores(show, cores)
    told = seen.page.inner_text("#timeline .note >> nth=0")
    assert "4 arrays in 2 rows" in told
    assert "the 1 busiest of 6 ports and links" in told
    one, = cores.report.done
    found = dict(zip(seen.texts("#window-sums tbody th"), seen.values("#window-sums tbody td:nth-child(2)"), strict=True))
    assert found["contention"] == one.stalls[StallCause.CONTENTION]
    assert sum(found.values()) == 4 * one.cycles == seen.value("#window-sums tfoot td")


def long(base: Timeline, intervals: int) -> Timeline:
    """A record of very many intervals on each lane of another, two or two and a half cycles long."""
    recorder = Recorder(base.lanes, base.labels, RecordOptions(most_rows=10 * intervals, bins=256))
    at = np.arange(intervals, dtype=np.int64)
    for lane in range(len(base.lanes)):
        columns = [np.full(intervals, lane), 40 * at, 40 * at + np.where(at % 2, 32, 40), at % 7 * (lane == 0), at % 3]
        recorder.add(np.stack(columns, axis=1).astype(np.int64))
    return recorder.finish(40 * intervals // TICKS + 1, (0,))


def test_what_is_drawn_does_not_grow_with_the_intervals(show: Opener) -> None:
    """At any zoom no more rectangles than the pixels can show: a stack for each column of each lane."""
    done = finished("toy", "gemm:m=8,n=8,k=8")
    seen = show(report_page(done.report, (long(only(done), 150_000),)))
    assert "all 300,000 intervals" in seen.page.inner_text("#timeline .note >> nth=0")
    seen.page.evaluate("""() => {
        const draw = CanvasRenderingContext2D.prototype.fillRect;
        window.drawn = 0;
        CanvasRenderingContext2D.prototype.fillRect = function (...all) { window.drawn += 1; return draw.apply(this, all); };
    }""")
    width = seen.page.locator("#lanes").bounding_box()["width"]
    for key in ("Home", "+", "+", "+", "+", "+", "+", "+", "+", "+", "+"):
        seen.page.evaluate("window.drawn = 0")
        seen.press(key)
        assert 0 < seen.page.evaluate("window.drawn") < 3 * 7 * width


# -- names, colours, keys, paper ---------------------------------------------------------------------------------------


def test_hostile_names_are_plain_text(show: Opener, cores: Finished) -> None:
    operator, = cores.report.done
    timeline = replace(only(cores), labels=(HOSTILE,) * 3,
                       lanes=(replace(only(cores).lanes[0], name=HOSTILE), *only(cores).lanes[1:]))
    lanes = {(HOSTILE if i == 0 else name): lane for i, (name, lane) in enumerate(operator.lanes.items())}
    advice = tuple(replace(one, text=HOSTILE) for one in operator.advice)
    report = replace(cores.report, chip=HOSTILE, workload=HOSTILE, provenance={"options": {"overrides": [HOSTILE]}, "inputs": {
        HOSTILE: HOSTILE}}, operators=(replace(operator, name=HOSTILE, lanes=lanes, advice=advice, bound_by=HOSTILE),))
    seen = show(report_page(report, (timeline,)), f"#t=0-5000&lane={quote(HOSTILE)}&op={quote(HOSTILE)}")
    seen.press("+", ".", "ArrowDown")
    seen.page.fill("#find", HOSTILE)
    seen.page.press("#find", "Enter")
    assert seen.page.locator("img").count() == 0
    assert seen.page.title() == f"{HOSTILE} on {HOSTILE}"
    assert seen.page.inner_text("h1") == f"{HOSTILE} on {HOSTILE}"
    assert HOSTILE in seen.page.inner_text("#readout")
    assert seen.page.locator("script:not([type])").count() == 1


def test_a_script_that_is_not_the_pages_own_does_not_run(browser: Any, tmp_path: Path, page: str) -> None:
    """Even where a string became markup, the policy would stop it; it stops requests too."""
    (tmp_path / "page.html").write_text(page.replace("</main>", "<script>window.ran = 1</script><img src='http://127.0.0.1:9/x'>"
                                                     "</main>"), encoding="utf-8")
    opened = browser.new_page()
    said: list[str] = []
    opened.on("console", lambda message: said.append(message.text))
    opened.goto((tmp_path / "page.html").as_uri())
    assert opened.evaluate("window.ran") is None
    assert sum("Content Security Policy" in line for line in said) == 2
    opened.close()


def test_failed_operators_are_told_and_cannot_be_chosen(show: Opener, tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text("name: two\noperators:\n  - {name: good, operator: gemm, dims: {m: 8, n: 8, k: 8}}\n"
                                       "  - {name: bad, operator: gemm, dims: {m: 512, n: 512, k: 512}}\n", encoding="utf-8")
    done = run("toy", str(tmp_path / "two.yaml"), Options(most_steps=1000, record=RecordOptions()))
    seen = show(report_page(done.report, done.timelines))
    assert seen.page.inner_text('[data-figure="operators"]').startswith("1 run, 1 failed")
    assert "exceed the limit" in seen.page.inner_text("#headline")
    assert "did not run" in seen.page.inner_text('#operators tr:has-text("bad")')
    assert seen.page.locator("#pick option[disabled]").count() == 1
    none = replace(done.report, operators=done.report.failed)
    assert "0 run, 1 failed" in show(report_page(none, (None,))).page.inner_text("#headline")


def brightness(seen: Seen, selector: str = "body", what: str = "backgroundColor") -> float:
    colour: list[float] = seen.page.evaluate(
        f"getComputedStyle(document.querySelector('{selector}')).{what}.match(/[\\d.]+/g).map(Number)")
    return sum(colour[:3]) / 3


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_colours_are_the_systems_until_told_otherwise(scheme: Any, dark: bool, show: Opener, cores: Finished) -> None:
    seen = open_cores(show, cores, color_scheme=scheme)
    assert (brightness(seen) < 60) == dark
    assert (brightness(seen, what="color") > 200) == dark
    seen.page.click("#theme")
    assert brightness(seen) > 200
    seen.page.click("#theme")
    assert brightness(seen) < 60
    seen.page.click("#theme")
    assert (brightness(seen) < 60) == dark


def test_the_first_tab_skips_to_the_numbers_and_focus_is_seen(show: Opener, page: str) -> None:
    seen = show(page)
    seen.page.keyboard.press("Tab")
    assert seen.page.evaluate("document.activeElement.className") == "skip"
    assert seen.page.locator(".skip").bounding_box()["x"] >= 0
    seen.page.keyboard.press("Enter")
    assert seen.page.evaluate("document.activeElement.id") == "main"
    reached = set()
    while True:
        seen.page.keyboard.press("Tab")
        if seen.page.evaluate("document.activeElement === document.body"):
            break  # the end of the page
        reached.add(seen.page.evaluate("document.activeElement.id || document.activeElement.dataset.key || ''"))
        assert seen.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    assert {"filter", "cycles", "find", "lanes"} <= reached


def test_what_can_be_pressed_or_read_has_a_name(show: Opener, page: str) -> None:
    seen = show(page)
    nameless = seen.page.evaluate("""[...document.querySelectorAll(
        'button, input, select, canvas[tabindex], svg[role], a')].filter(
            one => !(one.getAttribute('aria-label') || one.textContent.trim() || one.closest('label'))).map(
            one => one.outerHTML)""")
    assert nameless == []
    assert seen.page.evaluate("[...document.querySelectorAll('[id]')].length === new Set([...document.querySelectorAll('[id]')]"
                              ".map(one => one.id)).size")
    assert seen.page.evaluate("[...document.querySelectorAll('section[aria-labelledby]')].every("
                              "one => one.hidden || document.getElementById(one.getAttribute('aria-labelledby')))")


def test_it_prints_with_all_details_open_on_white(show: Opener, page: str) -> None:
    seen = show(page, color_scheme="dark")
    seen.page.evaluate("""window.addEventListener('beforeprint', () => {
        window.closed = document.querySelectorAll('details:not([open], .no-print)').length; })""")
    printed = seen.page.pdf(format="A4")
    assert printed.startswith(b"%PDF")
    assert len(printed) > 50_000
    assert seen.page.evaluate("window.closed") == 0
    assert seen.page.locator("details[open]").count() == 0
    seen.page.emulate_media(media="print")
    assert brightness(seen) == 255
    assert not seen.page.locator("header.bar").is_visible()


@pytest.mark.parametrize("width", [360, 420, 800])
def test_a_narrow_screen_scrolls_down_alone(width: int, show: Opener, page: str) -> None:
    seen = show(page, width=width)
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


def test_two_fingers_zoom_and_one_moves(show: Opener, cores: Finished) -> None:
    seen, cycles = open_cores(show, cores, has_touch=True), only(cores).cycles
    seen.page.evaluate("""() => {
        const lanes = document.getElementById('lanes');
        lanes.setPointerCapture = () => {};
        const touch = (type, pointerId, x) => {
            const box = lanes.getBoundingClientRect();
            lanes.dispatchEvent(new PointerEvent(type, { pointerId, clientX: box.left + x, clientY: box.top + 60, bubbles: true,
                pointerType: 'touch' }));
        };
        touch('pointerdown', 1, 400); touch('pointerdown', 2, 600); touch('pointermove', 1, 300); touch('pointermove', 2, 700);
        touch('pointerup', 1, 300); touch('pointerup', 2, 700);
    }""")
    first, last = seen.view()
    assert last - first == pytest.approx(cycles / 2, rel=0.01)
