"""Pictures for papers: where every lane's cycles went along time, and in total. PNG, SVG or PDF by the file's suffix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

from accelsim.outputs import paper
from accelsim.outputs.paper import LINE_INCHES, LegendLine, Page, text_inches
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
from accelsim.timeline import TICKS, LaneKind, Timeline

_MARGIN = 0.05
_LABEL_SHARE = 0.3
_GROUP_GAP = 0.07
_PIXELS_PER_BLOCK = 4
_MOST_TALL_ROWS = 12
_TITLE_INCHES = 0.16
_AXIS_INCHES = 0.36
_RGB = np.array([[round(255 * channel) for channel in to_rgb(colour)] for colour in COLOURS], dtype=np.uint8)


def draw_timeline(timeline: Timeline, path: Path, *, title: str, window: tuple[int, int] | None = None,
                  width_inches: float = 7.16, clock_hz: float | None = None, most_rows: int = 24) -> None:
    """Draw what every lane did along time: busy, stalled by cause, or idle.

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
        exact = False
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
            if not exact:
                span = (window[1] - window[0]) / (len(drawn.borders) - 1)
                notes.append(f"each column of pixels is a stack of the shares of {span:,.4g} cycles")
        spent = drawn.total()
        page, axes = _open(layout, title, _legend(rows, spent, window, timeline.cycles), notes, window,
                           paper.TIME_AXIS_INCHES if clock_hz else 0.0)
        _name_rows(page, axes, layout, rows, spent)
        if exact:
            _draw_blocks(axes, timeline, layout, rows, window)
        else:
            _draw_stacks(axes, drawn, layout, window, pixels)
        paper.cycle_axis(axes, "cycles", layout.field)
        if clock_hz:
            paper.time_axis(axes, clock_hz, layout.field)
        page.save(path, title)


def draw_stall_bars(timeline: Timeline, path: Path, *, title: str, width_inches: float = 7.16,
                    most_rows: int = 24) -> None:
    """Draw the cycles of every array lane over the whole run as one bar: busy, each stall cause, idle.

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
        page, axes = _open(layout, title, _legend(rows, spent, window, timeline.cycles), notes, window, 0.0)
        _name_rows(page, axes, layout, rows, spent)
        corners, colours = [], []
        for number, row in enumerate(rows):
            edges = np.concatenate([[0], spent[number].cumsum()]) / (len(row.lanes) * TICKS)
            for colour in np.flatnonzero(spent[number]):
                left, right = float(edges[colour]), float(edges[colour + 1])
                corners.append((left, right, layout.tops[number], layout.tops[number] + layout.bar))
                colours.append(COLOURS[colour])
                share = f"{100 * (right - left) / timeline.cycles:.0f} %"
                _write_in(axes, layout, corners[-1], share, COLOURS[colour])
        paper.blocks(axes, corners, colours, layout.field / timeline.cycles)
        paper.cycle_axis(axes, "cycles", layout.field)
        page.save(path, title)


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
class _Legend:
    heading: str
    lines: tuple[LegendLine, ...]


def _window(timeline: Timeline, window: Window | None) -> Window:
    first, last = timeline.window if window is None else window
    if first >= last or last <= 0 or first >= timeline.cycles:
        raise ValueError(f"nothing to draw in cycles {first:,} to {last:,} of a run of {timeline.cycles:,} cycles")
    return max(0, first), min(last, timeline.cycles)


def _layout(rows: Sequence[Row], width_inches: float) -> _Layout:
    widest = max(text_inches(row.name) for row in rows)
    left = _MARGIN + min(widest, _LABEL_SHARE * width_inches) + 0.07
    right = text_inches("100.0 %") + 0.07 + _MARGIN
    bar, gap = (0.19, 0.045) if len(rows) <= _MOST_TALL_ROWS else (0.125, 0.025)
    tops, top = [], 0.02
    for number, row in enumerate(rows):
        if number and rows[number - 1].is_array and not row.is_array:
            top += _GROUP_GAP
        tops.append(top)
        top += bar + gap
    return _Layout(left, width_inches - left - right, width_inches, bar, tuple(tops))


def _open(layout: _Layout, title: str, legend: _Legend, notes: Sequence[str], window: Window,
          time_axis_inches: float) -> tuple[Page, Axes]:
    """A page with title, legend and small print, and the empty field."""
    room = layout.width - 2 * _MARGIN
    titles = paper.fold(title, room, paper.TITLE_POINTS, "bold")
    small = [line for note in notes for line in paper.fold(note[0].upper() + note[1:] + ".", room)]
    columns = paper.legend_columns(legend.lines, layout.width - layout.left - _MARGIN)
    left = layout.left
    if columns == 1 and sum(paper.legend_widths(legend.lines)) - 0.25 > layout.width - left - _MARGIN:
        left = _MARGIN
    legend_rows = -(-len(legend.lines) // columns)
    below = _AXIS_INCHES + LINE_INCHES * (1 + legend_rows + len(small)) + (0.06 if small else 0.0) + _MARGIN
    above = _MARGIN + _TITLE_INCHES * len(titles) + max(time_axis_inches, LINE_INCHES)
    page = Page(layout.width, below + layout.height + above)
    y = page.height - _MARGIN
    for line in titles:
        y -= _TITLE_INCHES
        page.text(_MARGIN, y + 0.035, line, points=paper.TITLE_POINTS, weight="bold")
    axes = page.axes(layout.left, below, layout.field, layout.height, window)
    y = below - _AXIS_INCHES - LINE_INCHES
    page.text(left, y + 0.04, legend.heading, weight="bold")
    page.legend(left, y, legend.lines, columns)
    y -= legend_rows * LINE_INCHES + 0.06
    for line in small:
        y -= LINE_INCHES
        page.text(_MARGIN, y + 0.04, line, colour=paper.FAINT_INK)
    return page, axes


def _legend(rows: Sequence[Row], spent: Ints, window: Window, cycles: int) -> _Legend:
    """Every colour of the picture, the most cycles of the array lanes first."""
    arrays = [number for number, row in enumerate(rows) if row.is_array]
    count = sum(len(rows[number].lanes) for number in arrays)
    ticks = spent[arrays].sum(axis=0)
    whole = max(1, int(ticks.sum()))
    shown = [colour for colour in np.argsort(-ticks, kind="stable") if spent[:, colour].any()]
    lines = tuple(LegendLine(COLOURS[colour], NAMES[colour],
                             (f"{ticks[colour] / TICKS:,.0f}", f"{100 * ticks[colour] / whole:.1f} %"))
                  for colour in shown)
    whose = rows[arrays[0]].name if count == 1 else f"{count:,} arrays"
    span = f"{window[1] - window[0]:,} cycles"
    if window != (0, cycles):
        span += f" ({window[0]:,} to {window[1]:,} of {cycles:,})"
    return _Legend(f"{whose}, {span}" if count == 1 else f"{whose} \N{MULTIPLICATION SIGN} {span}", lines)


def _name_rows(page: Page, axes: Axes, layout: _Layout, rows: Sequence[Row], spent: Ints) -> None:
    """Names at the left, the busy share at the right."""
    top = axes.get_position().y1 * page.height
    right = layout.left + layout.field + 0.07
    page.text(right, top + 0.045, "busy", colour=paper.FAINT_INK)
    for number, row in enumerate(rows):
        y = top - layout.tops[number] - layout.bar / 2 - 0.035
        page.text(layout.left - 0.07, y, paper.shorten(row.name, layout.left - 0.07 - _MARGIN), align="right")
        share = 100 * spent[number, BUSY] / max(1, spent[number].sum())
        page.text(layout.width - _MARGIN, y, f"{share:.1f} %", align="right")


def _draw_blocks(axes: Axes, timeline: Timeline, layout: _Layout, rows: Sequence[Row], window: Window) -> None:
    """Every interval as a rectangle; where there is room, with the tensor it was for."""
    first, last = window[0] * TICKS, window[1] * TICKS
    scale = layout.field / (window[1] - window[0])
    corners = [(float(window[0]), float(window[1]), top, top + layout.bar) for top in layout.tops]
    colours = [COLOURS[IDLE]] * len(rows)
    table = timeline.rows[(timeline.rows[:, 2] > first) & (timeline.rows[:, 1] < last)]
    places = {row.lanes[0]: number for number, row in enumerate(rows)}
    for lane, start, end, state, label in table.tolist():
        if lane not in places:
            continue
        top, colour = layout.tops[places[lane]], state_colour(state)
        corners.append((max(start, first) / TICKS, min(end, last) / TICKS, top, top + layout.bar))
        colours.append(COLOURS[colour])
        if 0 <= label < len(timeline.labels) and (colour == BUSY) != rows[places[lane]].is_array:
            _write_in(axes, layout, corners[-1], timeline.labels[label], COLOURS[colour])
    paper.blocks(axes, corners, colours, scale)


def _draw_stacks(axes: Axes, drawn: Composition, layout: _Layout, window: Window, pixels: int) -> None:
    """Every row as an image, one column a pixel wide."""
    height = round(layout.bar * paper.DPI)
    for number, top in enumerate(layout.tops):
        image = _RGB[drawn.stack(number, height, pixels)]
        axes.imshow(image, extent=(window[0], window[1], top + layout.bar, top), origin="lower", aspect="auto",
                    interpolation="none")


def _write_in(axes: Axes, layout: _Layout, corners: tuple[float, float, float, float], text: str,
              background: str) -> None:
    """Text in the middle of a block, where it fits."""
    left, right, top, bottom = corners
    first, last = axes.get_xlim()
    room = (right - left) / (last - first) * layout.field
    if room > 0.1 and bottom - top > 0.15 and text_inches(text) + 0.05 <= room:
        axes.text((left + right) / 2, (top + bottom) / 2 + 0.036, text, color=paper.text_colour(background),
                  ha="center", va="baseline", parse_math=False, clip_on=True)
