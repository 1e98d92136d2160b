"""What every picture has around its field: title above, legend and small print below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from accelsim.outputs import paper
from accelsim.outputs.paper import LINE_INCHES, LegendLine, Page, text_inches

MARGIN = 0.05
AXIS_INCHES = 0.36
"""What an axis takes below its field: ticks, numbers and its name."""
_TITLE_INCHES = 0.16


@dataclass(frozen=True)
class Legend:
    """``heading``: a bold line above, if any. ``columns``: side by side; 0: as many as there is room for."""

    heading: str
    lines: tuple[LegendLine, ...]
    columns: int = 0


class Place(NamedTuple):
    """A field's place on the page, in inches."""

    left: float
    bottom: float
    width: float
    height: float


def open_sheet(width: float, height: float, title: str, legend: Legend | None, notes: Sequence[str], *, left: float,
               right: float, below: float = AXIS_INCHES, above: float = LINE_INCHES) -> tuple[Page, Place]:
    """A page with title, legend and small print, and the place of the empty field, ``height`` inches high.

    ``left``, ``right``, ``below``, ``above``: what is left free around the field for its axes' numbers and names.
    """
    room = width - 2 * MARGIN
    titles = paper.fold(title, room, paper.TITLE_POINTS, "bold")
    small = [line for note in notes for line in paper.fold(note[0].upper() + note[1:] + ".", room)]
    lines = legend.lines if legend is not None else ()
    columns, start, rows = 1, left, 0
    if legend is not None and lines:
        columns = legend.columns or paper.legend_columns(lines, width - left - MARGIN)
        if columns == 1 and sum(paper.legend_widths(lines)) - 0.25 > width - left - MARGIN:
            start = MARGIN
        rows = -(-len(lines) // columns)
    heading = legend is not None and bool(legend.heading)
    beneath = below + LINE_INCHES * (heading + rows + len(small)) + (0.06 if small else 0.0) + MARGIN
    page = Page(width, beneath + height + MARGIN + _TITLE_INCHES * len(titles) + above)
    y = page.height - MARGIN
    for line in titles:
        y -= _TITLE_INCHES
        page.text(MARGIN, y + 0.035, line, points=paper.TITLE_POINTS, weight="bold")
    y = beneath - below
    if legend is not None and heading:
        y -= LINE_INCHES
        page.text(start, y + 0.04, legend.heading, weight="bold")
    if lines:
        page.legend(start, y, lines, columns)
    y -= rows * LINE_INCHES + 0.06
    for line in small:
        y -= LINE_INCHES
        page.text(MARGIN, y + 0.04, line, colour=paper.FAINT_INK)
    return page, Place(left, beneath, width - left - right, height)


def listed(names: Sequence[str], most: int = 6) -> str:
    """Names one after another, of many the first and how many there are besides."""
    if len(names) <= most + 1:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most} others"


def widest(texts: Sequence[str]) -> float:
    """Inches of the widest of some texts; 0 without any."""
    return max((text_inches(text) for text in texts), default=0.0)
