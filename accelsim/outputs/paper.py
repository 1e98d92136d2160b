"""A page for a paper: exact width, everything placed in inches, fonts of 7 pt and more, the same bytes every time."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator

from accelsim.writing import whole_file

DPI = 300
TEXT_POINTS = 7.0
TITLE_POINTS = 8.0
LINE_INCHES = 0.135
TIME_AXIS_INCHES = 0.17
INK = "#1A1A1A"
FAINT_INK = "#555555"
_FONT = "DejaVu Sans"
_UNHINTED = 16
"""So many times finer than a point are texts measured, which leaves hinting no say."""
_FORMATS = {".png": "png", ".svg": "svg", ".pdf": "pdf"}
_NARROWEST_INCHES, _WIDEST_INCHES = 2.5, 40.0
_METADATA: dict[str, dict[str, str | None]] = {
    "png": {"Software": "accelsim"},
    "svg": {"Date": None, "Creator": "accelsim"},
    "pdf": {"CreationDate": None, "Creator": "accelsim", "Producer": None},
}
_STEPS = (1, 2, 5, 10)
_TIME_UNITS = (("s", 1.0), ("ms", 1e-3), ("\N{MICRO SIGN}s", 1e-6), ("ns", 1e-9))


def picture_format(path: Path) -> str:
    """The format that a file's suffix asks for; raises ValueError for any other."""
    try:
        return _FORMATS[path.suffix.lower()]
    except KeyError:
        raise ValueError(f"{path}: a picture ends in {', '.join(_FORMATS)}") from None


def text_inches(text: str, points: float = TEXT_POINTS, weight: str = "normal") -> float:
    """How wide a line of text is."""
    if not text.strip():
        return 0.0
    font = get_font(findfont(FontProperties(family=_FONT, weight=weight)))
    font.set_size(points, 72 * _UNHINTED)
    font.set_text(text, 0.0)
    return float(font.get_width_height()[0]) / 64 / (72 * _UNHINTED)


def shorten(text: str, inches: float) -> str:
    """A text cut at its end so that it fits."""
    while text_inches(text) > inches + 1e-6 and len(text) > 2:
        text = text[:-2].rstrip() + "\N{HORIZONTAL ELLIPSIS}"
    return text


def fold(text: str, inches: float, points: float = TEXT_POINTS, weight: str = "normal") -> list[str]:
    """A text in lines that fit."""
    text = " ".join(text.split())
    for length in range(len(text), 8, -1):
        lines = textwrap.wrap(text, length)
        if all(text_inches(line, points, weight) <= inches for line in lines):
            return lines
    return textwrap.wrap(text, 8)


def text_colour(background: str) -> str:
    """White or ink, whichever reads better on a colour (#RRGGBB); by the WCAG's relative luminance."""
    channels = [int(background[at:at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#FFFFFF" if luminance < 0.2 else INK


@contextmanager
def house_style() -> Iterator[None]:
    """Matplotlib's own defaults and ours while a picture is drawn, whatever the user's matplotlibrc says."""
    settings = {key: value for key, value in mpl.rcParamsDefault.items() if not key.startswith("backend")}
    settings |= {"font.family": [_FONT], "font.size": TEXT_POINTS, "svg.hashsalt": "accelsim", "svg.fonttype": "path",
                 "pdf.fonttype": 42, "path.simplify": False, "axes.linewidth": 0.5, "text.color": INK}
    with mpl.rc_context(settings):
        yield


@dataclass(frozen=True)
class LegendLine:
    """One line of the legend: a colour, what it means, and figures that stand in columns.

    ``marker``: what is drawn in the colour, a square if empty; a colour of "none" leaves it out.
    """

    colour: str
    name: str
    figures: tuple[str, ...]
    marker: str = ""


class Page:
    """A figure of a stated size. Places are in inches from its lower left corner."""

    def __init__(self, width_inches: float, height_inches: float) -> None:
        self.width, self.height = width_inches, height_inches
        self.figure = Figure(figsize=(width_inches, height_inches), dpi=DPI, facecolor="white")

    def text(self, x: float, y: float, text: str, *, points: float = TEXT_POINTS, weight: str = "normal",
             colour: str = INK, align: Literal["left", "right"] = "left") -> None:
        """Text whose base line is at y."""
        self.figure.add_artist(Text(x, y, text, fontsize=points, fontweight=weight, color=colour,
                                    horizontalalignment=align, verticalalignment="baseline", parse_math=False,
                                    transform=self.figure.dpi_scale_trans))

    def axes(self, left: float, bottom: float, width: float, height: float, limits: tuple[float, float]) -> Axes:
        """A field whose y is in inches from the top down; its sides fall on whole pixels."""
        left, bottom, width, height = (round(value * DPI) / DPI for value in (left, bottom, width, height))
        axes = self.figure.add_axes((left / self.width, bottom / self.height, width / self.width,
                                     height / self.height))
        axes.set_xlim(*limits)
        axes.set_ylim(height, 0)
        axes.set_yticks([])
        for side in ("top", "left", "right"):
            axes.spines[side].set_visible(False)
        axes.set_facecolor("none")
        return axes

    def chart(self, left: float, bottom: float, width: float, height: float) -> Axes:
        """A field whose axes rise to the right and upwards, with a line at the left and at the bottom."""
        axes = self._field(left, bottom, width, height)
        axes.set_facecolor("none")
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        axes.tick_params(length=2.5, width=0.5, pad=2, colors=INK)
        return axes

    def canvas(self, left: float, bottom: float, width: float, height: float) -> Axes:
        """A field without axes, measured in inches from its lower left corner."""
        axes = self._field(left, bottom, width, height)
        axes.set_xlim(0, width)
        axes.set_ylim(0, height)
        axes.axis("off")
        return axes

    def _field(self, left: float, bottom: float, width: float, height: float) -> Axes:
        return self.figure.add_axes((left / self.width, bottom / self.height, width / self.width, height / self.height))

    def legend(self, left: float, top: float, lines: Sequence[LegendLine], columns: int) -> None:
        """A table read column by column, figures aligned to the right."""
        widths = legend_widths(lines)
        rows = -(-len(lines) // columns)
        for number, line in enumerate(lines):
            x = left + number // rows * sum(widths)
            y = top - (number % rows + 1) * LINE_INCHES + 0.04
            if line.marker:
                self.figure.add_artist(Line2D([x + 0.055], [y + 0.033], marker=line.marker, markersize=4.0, color=line.colour,
                                              markeredgewidth=1.0 if line.marker == "_" else 0.0, linestyle="none",
                                              transform=self.figure.dpi_scale_trans))
            else:
                self.figure.add_artist(Rectangle((x, y - 0.01), 0.11, 0.085, facecolor=line.colour, linewidth=0,
                                                 transform=self.figure.dpi_scale_trans))
            self.text(x + 0.16, y, line.name)
            x += widths[0]
            for figure, width in zip(line.figures, widths[1:], strict=False):
                x += width
                self.text(x, y, figure, align="right")

    def save(self, path: Path, title: str) -> None:
        """Write the file, its format by the suffix; no dates, no versions, no random names in it."""
        form = picture_format(path)
        buffer = io.BytesIO()
        self.figure.savefig(buffer, format=form, dpi=DPI, metadata={"Title": title, **_METADATA[form]})
        with whole_file(path) as file:
            file.write(buffer.getvalue())


def check_width(width_inches: float) -> None:
    """Raise ValueError for a page on which nothing fits, or no page at all."""
    if not _NARROWEST_INCHES <= width_inches <= _WIDEST_INCHES:
        raise ValueError(f"a picture {width_inches} inches wide; allowed: {_NARROWEST_INCHES} to {_WIDEST_INCHES}, "
                         "a paper's columns are 3.5 and 7.16")


def legend_widths(lines: Sequence[LegendLine]) -> list[float]:
    """Inches of a legend's columns: swatch and name, each figure, and the gap to the next column."""
    name = 0.16 + max(text_inches(line.name) for line in lines)
    figures = [max(text_inches(figure) for figure in column) + 0.1
               for column in zip(*(line.figures for line in lines), strict=True)]
    return [name, *figures, 0.25]


def legend_columns(lines: Sequence[LegendLine], inches: float) -> int:
    """How many columns the page has room for; no more than the lines fill."""
    most = max(1, int((inches + 0.25) / sum(legend_widths(lines))))
    return -(-len(lines) // -(-len(lines) // most))


def blocks(axes: Axes, corners: Sequence[tuple[float, float, float, float]], colours: Sequence[str],
           inches_per_unit: float) -> None:
    """Rectangles (left, right, top, bottom); where most are wide, wide ones are set apart by a thin white line."""
    if not corners:
        return
    shapes = [[(left, top), (right, top), (right, bottom), (left, bottom)] for left, right, top, bottom in corners]
    wide = [(right - left) * inches_per_unit > 0.06 for left, right, _, _ in corners]
    line = 0.35 if 2 * sum(wide) >= len(wide) else 0.0
    edges = [line if apart else 0.0 for apart in wide]
    axes.add_collection(PolyCollection(shapes, facecolors=list(colours), edgecolors="white", linewidths=edges),
                        autolim=False)


def cycle_axis(axes: Axes, label: str, width_inches: float) -> None:
    """Cycles along the bottom, with thousands separators."""
    first, last = axes.get_xlim()
    widest = text_inches(f"{last:,.0f}") + 0.2
    most = max(2, min(10, int(width_inches / widest)))
    ticks = MaxNLocator(nbins=most, integer=True, steps=_STEPS).tick_values(first, last)
    ticks = [tick for tick in ticks if first <= tick <= last]
    axes.set_xticks(ticks, [f"{tick:,.0f}" for tick in ticks])
    axes.tick_params(axis="x", length=2.5, width=0.5, pad=2, colors=INK)
    axes.set_xlabel(label, labelpad=1.5)


def time_axis(axes: Axes, clock_hz: float, width_inches: float) -> None:
    """Time along the top; the last tick stays clear of the corner."""
    first, last = (cycles / clock_hz for cycles in axes.get_xlim())
    unit, scale = next((pair for pair in _TIME_UNITS if last - first >= pair[1]), _TIME_UNITS[-1])
    first, last = first / scale, last / scale
    ticks = MaxNLocator(nbins=max(2, min(10, int(width_inches / 0.7))), steps=_STEPS).tick_values(first, last)
    ticks = [tick for tick in ticks if first <= tick <= last - 0.04 * (last - first)]
    digits = 0
    while digits < 9 and any(abs(round(tick, digits) - tick) > 1e-6 * (last - first) for tick in ticks):
        digits += 1
    top = axes.twiny()
    top.set_xlim(first, last)
    top.set_xticks(ticks, [f"{tick:,.{digits}f} {unit}" for tick in ticks])
    top.tick_params(axis="x", length=2.5, width=0.5, pad=1.5, colors=INK)
    for side in ("bottom", "left", "right"):
        top.spines[side].set_visible(False)
