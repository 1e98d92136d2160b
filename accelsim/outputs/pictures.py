"""Pictures for papers: where every lane's cycles went along time, and in total. PNG, SVG or PDF by suffix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

from accelsim.outputs import paper
from accelsim.outputs.paper import LINE_INCHES, LegendLine, Page, text_inches
from accelsim.outputs.plotted import Plotted, plotted
from accelsim.outputs.raster_lanes import (
    BUSY,
    COLOURS,
    IDLE,
    NAMES,
    Composition,
    Ints,
    Row,
    Window,
    arrange_rows,
    compose_profile,
    compose_rows,
    compose_totals,
    group_arrays,
    most_intervals,
    rows_cover,
    state_colour,
)
from accelsim.outputs.sheet import MARGIN, Legend, open_sheet
from accelsim.timeline import TICKS, LaneKind, Timeline

_LABEL_SHARE = 0.3
_GROUP_GAP = 0.07
_PIXELS_PER_BLOCK = 4
_MOST_TALL_ROWS = 12
_LETTERS = "in the blocks: the tensor that a port moves or an array awaits"
_RGB = np.array([[round(255 * channel) for channel in to_rgb(colour)] for colour in COLOURS], dtype=np.uint8)


def draw_timeline(timeline: Timeline, path: Path, *, title: str, window: tuple[int, int] | None = None,
                  width_inches: float = 7.16, clock_hz: float | None = None, most_rows: int = 24) -> Plotted:
    """Draw what every lane did along time: busy, stalled by cause, or idle; returns what was drawn.

    ``window`` [cycles] is what the record's rows cover if not given. Few intervals are drawn one by one; where they
    would be narrower than a few pixels each column of pixels is a stack of shares, busy lowest. Where rows of the
    window were not kept the profile is drawn, and the small print says so. Raises ValueError for a suffix other than
    .png, .svg and .pdf, a width that is no page's, and a window that the run does not reach.
    """
    paper.picture_format(path)
    paper.check_width(width_inches)
    window = _window(timeline, window)
    rows, note = arrange_rows(timeline, max(2, most_rows))
    with paper.house_style():
        layout = _layout(rows, width_inches)
        pixels = round(layout.field * paper.DPI)
        notes = [note] if note else []
        blocks: list[_Block] = []
        if not rows_cover(timeline, window):
            drawn = compose_profile(timeline, rows, window)
            window = int(drawn.borders[0]) // TICKS, int(drawn.borders[-1]) // TICKS
            notes.append(f"not every interval of this window was kept: drawn from the profile, "
                         f"{len(drawn.borders) - 1:,} bins of {timeline.profile.bin_cycles:,} cycles, each a stack of "
                         "its shares")
        else:
            exact = (all(len(row.lanes) == 1 for row in rows)
                     and most_intervals(timeline, rows, window) <= pixels // _PIXELS_PER_BLOCK)
            drawn = compose_rows(timeline, rows, window, 1 if exact else pixels)
            if exact:
                blocks = _blocks(timeline, layout, rows, window)
                notes += [_LETTERS] * any(block.text for block in blocks)
            else:
                span = (window[1] - window[0]) / (len(drawn.borders) - 1)
                notes.append(f"each column of pixels is a stack of the shares of {span:,.{0 if span >= 100 else 2}f} "
                             "cycles")
        notes += _of_the_run(window, timeline.cycles)
        spent = drawn.total()
        page, axes = _open(layout, title, _legend(rows, spent, window), notes, window,
                           paper.TIME_AXIS_INCHES if clock_hz else 0.0)
        _name_rows(page, axes, layout, rows, spent)
        if blocks:
            _draw_blocks(axes, layout, blocks)
        else:
            _draw_stacks(axes, drawn, layout, window, pixels)
        paper.cycle_axis(axes, "cycles", layout.field)
        if clock_hz:
            paper.time_axis(axes, clock_hz, layout.field)
        page.save(path, title)
    return _blocks_table(layout, rows, blocks) if blocks else _stacks_table(rows, drawn)


def draw_stall_bars(timeline: Timeline, path: Path, *, title: str, width_inches: float = 7.16,
                    most_rows: int = 24) -> Plotted:
    """Draw the cycles of every array lane over the whole run as one bar: busy, each stall cause, idle; returns what was drawn.

    Beyond ``most_rows`` neighbouring arrays share a bar, the mean of theirs. Raises ValueError as `draw_timeline`.
    """
    paper.picture_format(path)
    paper.check_width(width_inches)
    window = _window(timeline, (0, timeline.cycles))
    arrays = [number for number, lane in enumerate(timeline.lanes) if lane.kind is LaneKind.ARRAY]
    rows = group_arrays(timeline, arrays, most_rows)
    notes = [f"{len(arrays):,} arrays in {len(rows)} bars, each the mean of its arrays"] * (len(rows) < len(arrays))
    with paper.house_style():
        layout = _layout(rows, width_inches)
        spent = compose_totals(timeline, rows).total()
        page, axes = _open(layout, title, _legend(rows, spent, window), notes, window, 0.0)
        _name_rows(page, axes, layout, rows, spent)
        blocks: list[_Block] = []
        for number, row in enumerate(rows):
            edges = np.concatenate([[0], spent[number].cumsum()]) / (len(row.lanes) * TICKS)
            bar = [_Block(float(edges[colour]), float(edges[colour + 1]), layout.tops[number], int(colour),
                          f"{100 * (edges[colour + 1] - edges[colour]) / timeline.cycles:.0f} %")
                   for colour in np.flatnonzero(spent[number])]
            blocks += _fitting(layout, window, bar)
        _draw_blocks(axes, layout, blocks)
        paper.cycle_axis(axes, "cycles", layout.field)
        page.save(path, title)
    return _stacks_table(rows, compose_totals(timeline, rows))


@dataclass(frozen=True)
class _Layout:
    """Where things stand, in inches: names, field and shares from left to right; rows from the field's top down."""

    left: float
    field: float
    width: float
    bar: float
    tops: tuple[float, ...]

    @property
    def height(self) -> float:
        """Of the field."""
        return self.tops[-1] + self.bar + 0.04


@dataclass(frozen=True)
class _Block:
    """A rectangle from one cycle to another, its top (inches), its colour's number, and what is written in it."""

    first: float
    last: float
    top: float
    colour: int
    text: str


def _window(timeline: Timeline, window: Window | None) -> Window:
    first, last = timeline.window if window is None else window
    if first >= last or last <= 0 or first >= timeline.cycles:
        raise ValueError(f"nothing to draw in cycles {first:,} to {last:,} of a run of {timeline.cycles:,} cycles")
    return max(0, first), min(last, timeline.cycles)


def _layout(rows: Sequence[Row], width_inches: float) -> _Layout:
    widest = max(text_inches(row.name) for row in rows)
    left = MARGIN + min(widest, _LABEL_SHARE * width_inches) + 0.07
    right = text_inches("100.0 %") + 0.07 + MARGIN
    bar, gap = (0.19, 0.045) if len(rows) <= _MOST_TALL_ROWS else (0.125, 0.025)
    tops, top = [], 0.02
    for number, row in enumerate(rows):
        if number and rows[number - 1].is_array and not row.is_array:
            top += _GROUP_GAP
        tops.append(top)
        top += bar + gap
    return _Layout(left, width_inches - left - right, width_inches, bar, tuple(tops))


def _open(layout: _Layout, title: str, legend: Legend, notes: Sequence[str], window: Window,
          time_axis_inches: float) -> tuple[Page, Axes]:
    """A page with title, legend and small print, and the empty field."""
    page, place = open_sheet(layout.width, layout.height, title, legend, notes, left=layout.left,
                             right=layout.width - layout.left - layout.field, above=max(time_axis_inches, LINE_INCHES))
    return page, page.axes(*place, window)


def _of_the_run(window: Window, cycles: int) -> list[str]:
    if window == (0, cycles):
        return []
    return [f"window: cycles {window[0]:,} to {window[1]:,} of {cycles:,}"]


def _legend(rows: Sequence[Row], spent: Ints, window: Window) -> Legend:
    """Every colour of the picture, the most cycles of the array lanes first."""
    arrays = [number for number, row in enumerate(rows) if row.is_array]
    count = sum(len(rows[number].lanes) for number in arrays)
    ticks = spent[arrays].sum(axis=0)
    shown = [int(colour) for colour in np.argsort(-ticks, kind="stable") if spent[:, colour].any()]
    lines = tuple(LegendLine(COLOURS[colour], NAMES[colour],
                             (_cycles(int(ticks[colour])), _percent(int(ticks[colour]), int(ticks.sum()))))
                  for colour in shown)
    span = f"{window[1] - window[0]:,} cycles"
    heading = f"{rows[arrays[0]].name}: {span}" if count == 1 else f"{count:,} arrays \N{MULTIPLICATION SIGN} {span}"
    return Legend(heading, lines)


def _cycles(ticks: int) -> str:
    return "<1" if 0 < ticks < TICKS // 2 else f"{ticks / TICKS:,.0f}"


def _percent(part: int, whole: int) -> str:
    share = 100 * part / max(1, whole)
    return "<0.1 %" if 0 < share < 0.05 else f"{share:.1f} %"


def _name_rows(page: Page, axes: Axes, layout: _Layout, rows: Sequence[Row], spent: Ints) -> None:
    """Names at the left, the busy share at the right."""
    top = axes.get_position().y1 * page.height
    page.text(layout.width - MARGIN, top + 0.045, "busy", colour=paper.FAINT_INK, align="right")
    for number, row in enumerate(rows):
        y = top - layout.tops[number] - layout.bar / 2 - 0.035
        page.text(layout.left - 0.07, y, paper.shorten(row.name, layout.left - 0.07 - MARGIN), align="right")
        page.text(layout.width - MARGIN, y, _percent(int(spent[number, BUSY]), int(spent[number].sum())),
                  align="right")


def _blocks(timeline: Timeline, layout: _Layout, rows: Sequence[Row], window: Window) -> list[_Block]:
    """Every interval of the window as a block, on a ground of idle.

    Ports show the tensor they move, arrays the one they wait for; in rows where names fit into most of that time.
    """
    first, last = window[0] * TICKS, window[1] * TICKS
    blocks = [_Block(*window, top, IDLE, "") for top in layout.tops]
    table = timeline.rows[(timeline.rows[:, 2] > first) & (timeline.rows[:, 1] < last)]
    for number, row in enumerate(rows):
        found = []
        for _, start, end, state, label in table[table[:, 0] == row.lanes[0]].tolist():
            colour = state_colour(state)
            named = (colour == BUSY) != row.is_array and 0 <= label < len(timeline.labels)
            found.append(_Block(max(start, first) / TICKS, min(end, last) / TICKS, layout.tops[number], colour,
                                timeline.labels[label] if named else ""))
        blocks += _fitting(layout, window, found)
    return blocks


def _fitting(layout: _Layout, window: Window, blocks: Sequence[_Block]) -> list[_Block]:
    """The blocks without the texts that do not fit; without any where most of what has a text could not show it."""
    scale = layout.field / (window[1] - window[0])
    fitted, with_text, shown = [], 0.0, 0.0
    for block in blocks:
        cycles = block.last - block.first
        fits = (block.text and layout.bar > 0.15 and cycles * scale > 0.06
                and text_inches(block.text) + 0.02 <= cycles * scale)
        with_text += cycles if block.text else 0.0
        shown += cycles if fits else 0.0
        fitted.append(block if fits else replace(block, text=""))
    return fitted if 2 * shown >= with_text else [replace(block, text="") for block in fitted]


def _draw_blocks(axes: Axes, layout: _Layout, blocks: Sequence[_Block]) -> None:
    first, last = axes.get_xlim()
    for top in layout.tops:
        row = [block for block in blocks if block.top == top]
        paper.blocks(axes, [(block.first, block.last, top, top + layout.bar) for block in row],
                     [COLOURS[block.colour] for block in row], layout.field / (last - first))
    for block in blocks:
        if block.text:
            axes.text((block.first + block.last) / 2, block.top + layout.bar / 2 + 0.036, block.text,
                      color=paper.text_colour(COLOURS[block.colour]), ha="center", va="baseline", parse_math=False)


_HEADER = ("row", "from_cycle", "to_cycle", "state", "lane_cycles")


def _blocks_table(layout: _Layout, rows: Sequence[Row], blocks: Sequence[_Block]) -> Plotted:
    """One row a block; idle, the ground of them all, is what lies between."""
    name = {top: row.name for top, row in zip(layout.tops, rows, strict=True)}
    return plotted(_HEADER, [(name[block.top], block.first, block.last, NAMES[block.colour], block.last - block.first)
                             for block in blocks if block.colour != IDLE])


def _stacks_table(rows: Sequence[Row], drawn: Composition) -> Plotted:
    """One row for each state of each column; the cycles of all lanes of a row together."""
    borders = (drawn.borders / TICKS).tolist()
    return plotted(_HEADER, [(rows[row].name, borders[column], borders[column + 1], NAMES[colour],
                              int(drawn.ticks[row, column, colour]) / TICKS)
                             for row, column, colour in np.argwhere(drawn.ticks).tolist()])


def _draw_stacks(axes: Axes, drawn: Composition, layout: _Layout, window: Window, pixels: int) -> None:
    """Every row as an image, one column a pixel wide."""
    height = round(layout.bar * paper.DPI)
    for number, top in enumerate(layout.tops):
        image = _RGB[drawn.stack(number, height, pixels)]
        axes.imshow(image, extent=(window[0], window[1], top + layout.bar, top), origin="lower", aspect="auto",
                    interpolation="none")
