"""Parity plots: figures of ours over those of a reference, both axes logarithmic, a field for each unit. PNG, SVG or PDF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import log10
from pathlib import Path
from typing import NamedTuple

from matplotlib.lines import Line2D

from accelsim.outputs import paper
from accelsim.outputs.paper import LINE_INCHES, Page, text_inches
from accelsim.outputs.scales import log_ticks

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#332288", "#8A8A8A")
"""Okabe and Ito's, told apart by the colour-blind too; their yellow and black left out."""

MARKERS = "os^D"
FAILED_COLOUR = "#C00000"
GUIDE = 0.1
"""Dashed lines stand at so much above and below equal."""

_MARGIN, _TITLE_INCHES, _LEFT_INCHES, _BELOW_INCHES, _GAP_INCHES = 0.05, 0.17, 0.52, 0.3, 0.12
_LARGEST_FIELD_INCHES = 2.4
_SWATCH_INCHES = 0.16
_MEANING = "Solid: equal. Dashed: 10 % above and below. Open: known misses. Crossed: outside the tolerance."


class Mark(Enum):
    """How a point stands: within its tolerance, a known miss, or neither."""

    WITHIN = "within"
    KNOWN = "known"
    FAILED = "failed"


class Point(NamedTuple):
    """A figure of the reference, ours, and how it stands."""

    reference: float
    ours: float
    mark: Mark


@dataclass(frozen=True)
class Series:
    """Points of one kind. ``unit``: of both axes; ``figures``: what stands beside the name in the legend."""

    name: str
    unit: str
    points: tuple[Point, ...]
    figures: tuple[str, ...]


def draw_parity(path: Path, title: str, series: Sequence[Series], heads: Sequence[str]) -> None:
    """Draw a source. ``heads``: of the legend's figures. Pairs with a zero have no place on such axes; they are counted below.

    Raises ValueError for a suffix other than .png, .svg and .pdf.
    """
    paper.picture_format(path)
    fields = _by_unit(series)
    columns = 2 if len(fields) == 4 else max(1, min(3, len(fields)))
    width = 3.5 if columns == 1 else 7.16
    side = min(width / columns - _LEFT_INCHES - _GAP_INCHES, _LARGEST_FIELD_INCHES)
    lines = -(-len(fields) // columns)
    with paper.house_style():
        small = [line for note in _notes(series) for line in paper.fold(note, width - 2 * _MARGIN)]
        titles = paper.fold(title, width - 2 * _MARGIN, paper.TITLE_POINTS, "bold")
        legend = _Legend(series, heads, width)
        below = (legend.lines + len(small)) * LINE_INCHES + 0.12
        height = (_MARGIN + len(titles) * _TITLE_INCHES + 0.05 + lines * (side + _BELOW_INCHES + _GAP_INCHES) + below)
        page = Page(width, height)
        y = height - _MARGIN
        for line in titles:
            y -= _TITLE_INCHES
            page.text(_MARGIN, y + 0.04, line, points=paper.TITLE_POINTS, weight="bold")
        y -= 0.05
        for number, (unit, members) in enumerate(fields.items()):
            row, column = divmod(number, columns)
            cell = width / columns
            left = column * cell + _LEFT_INCHES + (cell - _LEFT_INCHES - _GAP_INCHES - side) / 2
            bottom = y - row * (side + _BELOW_INCHES + _GAP_INCHES) - side
            _field(page, (left, bottom, side), unit, [(index, series[index]) for index in members])
        y -= lines * (side + _BELOW_INCHES + _GAP_INCHES)
        legend.draw(page, y)
        y -= legend.lines * LINE_INCHES + 0.06
        for line in small:
            y -= LINE_INCHES
            page.text(_MARGIN, y + 0.04, line, colour=paper.FAINT_INK)
        page.save(path, title)


def _notes(series: Sequence[Series]) -> list[str]:
    """The small print: what lines and marks mean, and what has no place in the picture."""
    hidden = [point.mark for one in series for point in one.points if not _drawable(point)]
    apart = ", ".join(f"{hidden.count(mark)} of them {text}" for mark, text in
                      ((Mark.KNOWN, "known misses"), (Mark.FAILED, "outside the tolerance")) if mark in hidden)
    return [_MEANING, *([f"{len(hidden):,} pairs with a zero are not drawn{f', {apart}' if apart else ''}."] if hidden else [])]


def _drawable(point: Point) -> bool:
    return point.reference > 0 and point.ours > 0


def _by_unit(series: Sequence[Series]) -> dict[str, list[int]]:
    """Which series each field has, in order; those of which nothing can be drawn have none."""
    found: dict[str, list[int]] = {}
    for index, one in enumerate(series):
        if any(_drawable(point) for point in one.points):
            found.setdefault(one.unit, []).append(index)
    return found


def _style(index: int) -> tuple[str, str]:
    return COLOURS[index % len(COLOURS)], MARKERS[index // len(COLOURS) % len(MARKERS)]


def _field(page: Page, place: tuple[float, float, float], unit: str, members: Sequence[tuple[int, Series]]) -> None:
    left, bottom, side = place
    axes = page.figure.add_axes((left / page.width, bottom / page.height, side / page.width, side / page.height))
    values = [value for _, one in members for point in one.points if _drawable(point) for value in point[:2]]
    room = max(0.05 * log10(max(values) / min(values)), 0.06)
    limits = 10 ** (log10(min(values)) - room), 10 ** (log10(max(values)) + room)
    axes.plot(limits, limits, color=paper.FAINT_INK, linewidth=0.6, zorder=1)
    for factor in (1 - GUIDE, 1 + GUIDE):
        axes.plot(limits, [factor * value for value in limits], color="#9A9A9A", linewidth=0.5, dashes=(3, 2), zorder=1)
    for index, one in members:
        colour, marker = _style(index)
        for mark in Mark:
            pairs = dict.fromkeys(point[:2] for point in one.points if point.mark is mark and _drawable(point))
            if not pairs:
                continue
            own = FAILED_COLOUR if mark is Mark.FAILED else colour
            axes.plot([reference for reference, _ in pairs], [ours for _, ours in pairs], linestyle="none", color=own,
                      marker="x" if mark is Mark.FAILED else marker, markersize=4.5 if mark is not Mark.WITHIN else 2.6,
                      markerfacecolor="white" if mark is Mark.KNOWN else own, markeredgewidth=0.0 if mark is Mark.WITHIN else 0.9,
                      alpha=0.75 if mark is Mark.WITHIN else 1.0, zorder=2 if mark is Mark.WITHIN else 3)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(*limits)
    axes.set_ylim(*limits)
    log_ticks(axes.xaxis, limits)
    log_ticks(axes.yaxis, limits)
    axes.tick_params(length=2.5, width=0.5, pad=2, colors=paper.INK)
    of = f" [{unit}]" if unit else ""
    axes.set_xlabel(f"reference{of}", labelpad=1.5)
    axes.set_ylabel(f"accelsim{of}", labelpad=1.5)


class _Legend:
    """A line for each series: its mark, its name, its figures in columns; side by side where the page has room."""

    def __init__(self, series: Sequence[Series], heads: Sequence[str], width: float) -> None:
        self.series, self.heads = series, heads
        self.widths = [max(map(text_inches, column)) + 0.14
                       for column in zip(heads, *(one.figures for one in series), strict=True)]
        names, room = max(text_inches(one.name) for one in series), width - 2 * _MARGIN
        self.names = min(names, room - _SWATCH_INCHES - sum(self.widths))
        self.block = _SWATCH_INCHES + self.names + sum(self.widths) + 0.3
        self.columns = max(1, min(len(series), int((room + 0.3) / self.block)))
        self.each = -(-len(series) // self.columns)

    @property
    def lines(self) -> int:
        """How many, the heads among them."""
        return self.each + 1

    def draw(self, page: Page, top: float) -> None:
        """From the top down."""
        for column in range(-(-len(self.series) // self.each)):
            left = _MARGIN + column * self.block
            ends = [left + _SWATCH_INCHES + self.names + sum(self.widths[:place + 1]) for place in range(len(self.widths))]
            for head, end in zip(self.heads, ends, strict=True):
                page.text(end, top - LINE_INCHES + 0.04, head, colour=paper.FAINT_INK, align="right")
            for line, index in enumerate(range(column * self.each, min((column + 1) * self.each, len(self.series)))):
                y = top - (line + 2) * LINE_INCHES
                colour, marker = _style(index)
                page.figure.add_artist(Line2D([left + 0.06], [y + 0.075], marker=marker, markersize=3.6, color=colour,
                                              markeredgewidth=0.0, linestyle="none", transform=page.figure.dpi_scale_trans))
                page.text(left + _SWATCH_INCHES, y + 0.04, paper.shorten(self.series[index].name, self.names))
                for text, end in zip(self.series[index].figures, ends, strict=True):
                    page.text(end, y + 0.04, text, align="right")
