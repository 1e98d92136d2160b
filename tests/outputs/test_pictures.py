"""Are the pictures right? Their numbers against the record's totals, their pixels against their numbers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from accelsim.outputs import paper
from accelsim.outputs.pictures import draw_stall_bars, draw_timeline
from accelsim.outputs.raster_lanes import (
    BUSY,
    COLOURS,
    IDLE,
    Composition,
    arrange_rows,
    compose_profile,
    compose_rows,
    compose_totals,
    most_intervals,
    rows_cover,
)
from accelsim.recorder import Recorder, RecordOptions
from accelsim.stalls import BUSY_COLOUR, IDLE_COLOUR, Phase, StallCause
from accelsim.timeline import BUSY_STATE, TICKS, Lane, LaneKind, Timeline, stall_state

WAIT = stall_state(StallCause.DRAM_LATENCY, Phase.STEADY)


def lanes_of(arrays: int, ports: int) -> tuple[Lane, ...]:
    return (*(Lane(f"MAC[{n}]" if arrays > 1 else "MAC", LaneKind.ARRAY, "MAC") for n in range(arrays)),
            *(Lane(f"L{n}.port", LaneKind.PORT, f"L{n}") for n in range(ports)))


def record(intervals: int, arrays: int = 1, ports: int = 1, options: RecordOptions | None = None) -> Timeline:
    """Arrays wait 3 cycles and compute 1; ports serve 1 of 2 cycles."""
    recorder = Recorder(lanes_of(arrays, ports), ("A", "B"), options or RecordOptions())
    for number in range(intervals):
        at = number * 4 * TICKS
        for lane in range(arrays):
            recorder.row(lane, at, at + 3 * TICKS, WAIT, 0)
            recorder.row(lane, at + 3 * TICKS, at + 4 * TICKS, BUSY_STATE, 1)
        for lane in range(arrays, arrays + ports):
            recorder.row(lane, at, at + 2 * TICKS, BUSY_STATE, 1)
    return recorder.finish(4 * intervals, [3] * arrays)


@contextmanager
def figures(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Figure]]:
    """The figures that are saved meanwhile."""
    caught: list[Figure] = []
    save = paper.Page.save

    def caught_save(page: paper.Page, path: Path, title: str) -> None:
        caught.append(page.figure)
        save(page, path, title)

    with monkeypatch.context() as patch:
        patch.setattr(paper.Page, "save", caught_save)
        yield caught


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text)]


def shares(path: Path) -> dict[str, float]:
    """Of an array lane's first row of pixels in a picture: each colour's part of the busy, stalled and idle ones."""
    with Image.open(path) as image:
        pixels = np.asarray(image.convert("RGB"))
    known = np.array([[int(colour[at:at + 2], 16) for at in (1, 3, 5)] for colour in COLOURS])
    hits = (pixels[:, :, None, :] == known).all(axis=3).sum(axis=1)
    first = int(np.flatnonzero(hits.sum(axis=1) > pixels.shape[1] // 2)[0])
    line = hits[first + 5]
    return {colour: int(count) / int(line.sum()) for colour, count in zip(COLOURS, line, strict=True) if count}


# Are the numbers right?


ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 40), st.integers(1, 90), st.integers(0, 33)),
                min_size=1, max_size=60)


def chained(rows: list[tuple[int, int, int, int]], options: RecordOptions) -> Timeline:
    """A record whose lanes are each in one state at a time: (lane, gap, length, state) put one behind the other."""
    recorder = Recorder(lanes_of(2, 2), ("A",), options)
    ends = [0, 0, 0, 0]
    for lane, gap, length, state in rows:
        start = ends[lane] + gap
        ends[lane] = start + length
        recorder.row(lane, start, ends[lane], state if lane < 2 else BUSY_STATE, 0)
    return recorder.finish(-(-max(ends) // TICKS), [0, 0])


@given(rows=ROWS, columns=st.integers(1, 300), most_rows=st.integers(2, 5))
@settings(deadline=None)
def test_columns_and_bins_add_up_to_the_totals(rows: list[tuple[int, int, int, int]], columns: int,
                                               most_rows: int) -> None:
    timeline = chained(rows, RecordOptions(bins=8))
    shown, _ = arrange_rows(timeline, most_rows)
    window = (0, timeline.cycles)
    totals = compose_totals(timeline, shown).total()
    assert np.array_equal(compose_rows(timeline, shown, window, columns).total(), totals)
    assert np.array_equal(compose_profile(timeline, shown, window).total(), totals)
    whole = [timeline.cycles * TICKS * len(row.lanes) for row in shown]
    assert totals.sum(axis=1).tolist() == whole
    assert (totals >= 0).all()


@given(rows=ROWS, most=st.integers(0, 60), first=st.integers(0, 50), length=st.integers(1, 50))
@settings(deadline=None)
def test_covered_windows_are_complete(rows: list[tuple[int, int, int, int]], most: int, first: int,
                                      length: int) -> None:
    full = chained(rows, RecordOptions(bins=8))
    cut = chained(rows, RecordOptions(bins=8, most_rows=most))
    shown, _ = arrange_rows(full, 24)
    window = (min(first, full.cycles - 1), min(first + length, full.cycles))
    if rows_cover(cut, window):
        kept, told = (compose_rows(timeline, shown, window, 7).ticks for timeline in (cut, full))
        assert np.array_equal(kept, told)
    assert rows_cover(full, window)
    assert not rows_cover(replace(full, window=(window[0] + 1, full.cycles)), window)


def test_early_windows_of_a_cut_record_are_covered() -> None:
    timeline = record(2000, options=RecordOptions(most_rows=600))
    assert timeline.rows_dropped == 5400
    assert rows_cover(timeline, (0, 300))
    assert not rows_cover(timeline, (0, timeline.cycles))


def test_stack_rounds_to_the_nearest_pixel() -> None:
    ticks = np.zeros((1, 2, len(COLOURS)), dtype=np.int64)
    ticks[0, 0, [BUSY, 2, IDLE]] = 24, 26, 50
    ticks[0, 1, IDLE] = 100
    stack = Composition(np.array([0, 100, 200]), ticks).stack(0, 10, 4)
    assert stack[:, 0].tolist() == [BUSY] * 2 + [2] * 3 + [IDLE] * 5
    assert stack[:, 1].tolist() == stack[:, 0].tolist()
    assert (stack[:, 2:] == IDLE).all()


def test_many_lanes_are_taken_together() -> None:
    timeline = record(3, arrays=64, ports=30)
    rows, note = arrange_rows(timeline, 24)
    assert len(rows) == 24
    assert [row.name for row in rows[:2]] == ["MAC[0\N{EN DASH}7]", "MAC[8\N{EN DASH}15]"]
    assert sorted(lane for row in rows if row.is_array for lane in row.lanes) == list(range(64))
    assert note == "64 arrays in 8 rows, each the mean of its arrays; the 16 busiest of 30 ports and links"
    assert most_intervals(timeline, rows, (0, 12)) == 8 * 6
    few, note = arrange_rows(record(3, arrays=20, ports=4), 24)
    assert (len(few), note) == (24, "")


# Are the pixels right?


@pytest.mark.parametrize("intervals", [5, 20_000], ids=["blocks", "stacks"])
def test_pixels_show_the_numbers(tmp_path: Path, intervals: int) -> None:
    timeline = record(intervals)
    draw_timeline(timeline, tmp_path / "a.png", title="t", width_inches=3.5)
    drawn = shares(tmp_path / "a.png")
    if intervals == 5:
        assert drawn[BUSY_COLOUR] == pytest.approx(0.25, abs=0.02)
        assert drawn[StallCause.DRAM_LATENCY.colour] == pytest.approx(0.75, abs=0.02)
    else:
        assert drawn == {StallCause.DRAM_LATENCY.colour: 1.0}  # the top of every stack is the stall
    draw_stall_bars(timeline, tmp_path / "b.png", title="t")
    bars = shares(tmp_path / "b.png")
    assert bars[BUSY_COLOUR] == pytest.approx(0.25, abs=0.01)


def test_idle_is_shown(tmp_path: Path) -> None:
    timeline = replace(record(5), cycles=40, window=(0, 40))
    draw_timeline(timeline, tmp_path / "a.png", title="t")
    assert shares(tmp_path / "a.png")[IDLE_COLOUR] == pytest.approx(0.5, abs=0.01)


# Does it say what it shows?


def test_legend_is_sorted_and_shares_stand_at_the_lanes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with figures(monkeypatch) as caught:
        draw_timeline(record(20), tmp_path / "a.svg", title="Where time went", clock_hz=1e9)
    said = texts(caught[0])
    legend = [text for text in said if text in ("DRAM latency", "busy", "idle")]
    assert [text for text in legend if text != "busy"] == ["DRAM latency", "idle"]
    assert "busy" in legend[legend.index("DRAM latency"):legend.index("idle")]
    assert {"Where time went", "MAC: 80 cycles", "60", "75.0 %", "20", "25.0 %", "50.0 %", "0.0 %"} <= set(said)
    assert {"0", "20", "0 ns", "20 ns"} <= set(said)


def test_small_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with figures(monkeypatch) as caught:
        draw_timeline(record(20_000, options=RecordOptions(most_rows=600)), tmp_path / "a.png", title="t")
        draw_timeline(record(20_000), tmp_path / "a.png", title="t")
        draw_timeline(record(20_000), tmp_path / "a.png", title="t", window=(1000, 1100))
    profile, stacks, window = ("\n".join(texts(figure)) for figure in caught)
    assert "drawn from the profile" in profile
    assert "157 bins of 512 cycles" in profile
    assert "a stack of the shares of" in stacks
    assert "Window: cycles 1,000 to 1,100 of 80,000." in window
    assert "MAC: 100 cycles" in window


@pytest.mark.parametrize("width", [3.5, 7.16])
@pytest.mark.parametrize(("arrays", "ports"), [(1, 1), (64, 30)])
def test_all_text_is_legible_and_on_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: float,
                                             arrays: int, ports: int) -> None:
    timeline = record(3000, arrays, ports)
    renamed = tuple(replace(lane, name=f"a_rather_long_name_for_a_port_{n}") if lane.kind is LaneKind.PORT else lane
                    for n, lane in enumerate(timeline.lanes))
    title = "A title $ with _signs_ $ and \\more \n words than fit on the line of a column of a paper {by} far"
    with figures(monkeypatch) as caught:
        draw_timeline(replace(timeline, lanes=renamed), tmp_path / "a.png", title=title, width_inches=width,
                      clock_hz=1.4e9)
        draw_timeline(timeline, tmp_path / "a.png", title=title, width_inches=width, window=(11_000, 11_040))
        draw_stall_bars(timeline, tmp_path / "b.png", title=title, width_inches=width)
    for figure in caught:
        page = figure.bbox.padded(1)
        for text in figure.findobj(Text):
            if text.get_text() and text.get_visible():
                assert float(text.get_fontsize()) >= 7
                box = text.get_window_extent()
                assert page.x0 <= box.x0, text
                assert box.x1 <= page.x1, text
                assert page.y0 <= box.y0, text
                assert box.y1 <= page.y1, text
    with Image.open(tmp_path / "a.png") as image:
        assert image.width == round(width * 300)


# Does it stay simple for long runs, the same every time, and honest about bad input?


def test_long_runs_take_few_artists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with figures(monkeypatch) as caught:
        draw_timeline(record(100_000), tmp_path / "a.png", title="t")
    assert len(caught[0].findobj()) < 300
    draw_timeline(record(100_000), tmp_path / "a.svg", title="t")
    assert (tmp_path / "a.svg").stat().st_size < 300_000


def draw_all(folder: Path) -> None:
    for suffix in ("png", "svg", "pdf"):
        draw_timeline(record(20, 2), folder / f"blocks.{suffix}", title="t", clock_hz=1e9)
        draw_timeline(record(5000, 2), folder / f"stacks.{suffix}", title="t", clock_hz=1e9)


def test_same_bytes_in_every_process(tmp_path: Path) -> None:
    """Whatever the hash seed and the user's matplotlibrc."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    draw_all(here)
    (tmp_path / "matplotlibrc").write_text("font.size: 20\naxes.grid: True\nsavefig.dpi: 50\n")
    code = "import pathlib, sys; sys.path.insert(0, sys.argv[2]); import test_pictures as t; "
    subprocess.run([sys.executable, "-c", code + "t.draw_all(pathlib.Path(sys.argv[1]))", str(there),
                    str(Path(__file__).parent)], check=True,
                   env={**os.environ, "PYTHONHASHSEED": "7", "MATPLOTLIBRC": str(tmp_path / "matplotlibrc"),
                        "PYTHONPATH": os.pathsep.join(sys.path)})
    made = sorted(path.name for path in here.iterdir())
    assert len(made) == 6
    for name in made:
        assert (here / name).read_bytes() == (there / name).read_bytes(), name
        assert b"dc:date" not in (here / name).read_bytes()
        assert b"CreationDate" not in (here / name).read_bytes()


def test_leaves_no_global_state(tmp_path: Path) -> None:
    before = dict(mpl.rcParams)
    draw_timeline(record(20), tmp_path / "a.PNG", title="t")
    assert dict(mpl.rcParams) == before
    assert (tmp_path / "a.PNG").read_bytes()[1:4] == b"PNG"


@pytest.mark.parametrize(("name", "width", "window", "said"), [
    ("a.jpg", 3.5, None, r"a\.jpg: a picture ends in \.png, \.svg, \.pdf"),
    ("a", 3.5, None, "a picture ends in"),
    ("a.png", 0.5, None, "0.5 inches wide; allowed"),
    ("a.png", float("nan"), None, "inches wide"),
    ("a.png", 3.5, (10, 10), "nothing to draw"),
    ("a.png", 3.5, (80, 90), "cycles 80 to 90 of a run of 80 cycles"),
    ("a.png", 3.5, (-5, 0), "nothing to draw"),
])
def test_refuses(tmp_path: Path, name: str, width: float, window: tuple[int, int] | None, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        draw_timeline(record(20), tmp_path / name, title="t", width_inches=width, window=window)
    assert not list(tmp_path.iterdir())
