"""The hierarchical roofline: a roof for every port and link, the peaks, and where the mapping stands below each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log10, sqrt
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from accelsim.measure.report import OperatorReport
from accelsim.measure.roofline import Roof, roofline
from accelsim.outputs import paper
from accelsim.outputs.labels import Box, Taken, text_box
from accelsim.outputs.paper import LegendLine, text_inches
from accelsim.outputs.parity import COLOURS, MARKERS
from accelsim.outputs.plotted import Plotted, plotted
from accelsim.outputs.scales import log_ticks, percent, prefix, short
from accelsim.outputs.sheet import MARGIN, Legend, Place, listed, open_sheet

OPS_PER_MAC = 2
_LEFT_INCHES = 0.5
_PEAK_COLOUR = "#1A1A1A"
_OTHER_COLOUR = "#9A9A9A"
_LARGEST_POINT, _SMALLEST_POINT = 0.28, 0.03
"""Radii, in inches, of an operator that takes the whole run, and of one that takes next to nothing of it."""
_MOST_LABELS = 16
_DASH = 5.0
_LEAST_DECADES = 2.0
"""Of intensity between the outermost marks; of performance as many in proportion to the field's height."""


@dataclass(frozen=True)
class Peak:
    """What the arrays do at most with operands of some types. ``own``: an operator drawn is of such a type."""

    name: str
    ops_per_s: float
    own: bool


@dataclass(frozen=True)
class Ceiling:
    """A roof's rate, over all its instances."""

    name: str
    bytes_per_s: float


@dataclass(frozen=True)
class Point:
    """An operator below one roof. ``allowed_ops_per_s``: the lower one of roof and peak at its intensity; ``share``: of the
    cycles of all that is drawn, with repeats.
    """

    operator: str
    roof: str
    ops_per_byte: float
    ops_per_s: float
    allowed_ops_per_s: float
    share: float


@dataclass(frozen=True)
class RooflineData:
    """What the picture shows. ``unlimited``: ports and links that bytes passed at no limited rate."""

    peaks: tuple[Peak, ...]
    ceilings: tuple[Ceiling, ...]
    points: tuple[Point, ...]
    unlimited: tuple[str, ...]

    @property
    def single(self) -> bool:
        """Whether it is about one operator, below each of its roofs."""
        return len({point.operator for point in self.points}) <= 1

    def table(self) -> Plotted:
        """One row a peak, a roof and a point."""
        rows: list[tuple[object, ...]] = [("peak", peak.name, None, None, None, peak.ops_per_s, None, None, None)
                                          for peak in self.peaks]
        rows += [("roof", "", one.name, one.bytes_per_s, None, None, None, None, None) for one in self.ceilings]
        rows += [("operator", one.operator, one.roof, None, one.ops_per_byte, None, one.ops_per_s, one.allowed_ops_per_s,
                  one.share) for one in self.points]
        return plotted(("what", "name", "roof", "rate_bytes_per_s", "intensity_ops_per_byte", "peak_ops_per_s",
                        "attained_ops_per_s", "allowed_ops_per_s", "share_of_cycles"), rows)


def roofline_data(operators: Sequence[OperatorReport], clock_hz: Fraction) -> RooflineData:
    """Of one operator a point below each roof, of several each below its outermost."""
    found = [(one, roofline(one)) for one in operators]
    cycles = sum(one.cycles * one.repeat for one in operators)
    per_mac = OPS_PER_MAC * clock_hz
    peaks: dict[Fraction, list[str]] = {}
    for _, line in found:
        for name, peak in line.peaks:
            named = peaks.setdefault(peak, [])
            named += [name] * (name not in named)
        peaks.setdefault(line.peak, [])
    own = {line.peak for _, line in found}
    ceilings: dict[str, float] = {}
    points: list[Point] = []
    unlimited: dict[str, None] = {}
    for one, line in found:
        roofs = [roof for roof in line.roofs if roof.bytes_per_cycle is not None]
        unlimited |= {roof.name: None for roof in line.roofs if roof.bytes_per_cycle is None}
        for roof in roofs if len(operators) == 1 else roofs[:1]:
            ceilings[roof.name] = float((roof.bytes_per_cycle or 0) * clock_hz)
            points.append(Point(one.name, roof.name, OPS_PER_MAC * float(roof.macs_per_byte or 0),
                                float(line.macs_per_cycle * per_mac), float(_allowed(roof, line.peak) * per_mac),
                                one.cycles * one.repeat / max(1, cycles)))
    return RooflineData(tuple(Peak(", ".join(names) if names != ["any"] else "", float(peak * per_mac), peak in own)
                              for peak, names in sorted(peaks.items(), reverse=True)),
                        tuple(Ceiling(name, rate) for name, rate in ceilings.items()), tuple(points), tuple(unlimited))


def _allowed(roof: Roof, peak: Fraction) -> Fraction:
    return peak if roof.macs_per_cycle is None else min(roof.macs_per_cycle, peak)


def draw_roofline(data: RooflineData, path: Path, *, title: str, width_inches: float = 7.16) -> Plotted:
    """Draw it, both axes logarithmic; returns what was drawn.

    Raises ValueError for a suffix other than .png, .svg and .pdf, and for a width that is no page's.
    """
    paper.picture_format(path)
    paper.check_width(width_inches)
    with paper.house_style():
        height = 2.2 if width_inches < 5 else 3.2
        page, place = open_sheet(width_inches, height, title, _legend(data, width_inches), _notes(data), left=_LEFT_INCHES,
                                 right=0.2, below=0.38, above=0.08)
        axes = page.chart(*place)
        scale, letter = prefix(max((peak.ops_per_s for peak in data.peaks if peak.own), default=1.0))
        _limits(axes, data, place)
        _draw_lines(axes, data)
        _draw_points(axes, data)
        _draw_labels(axes, data, place)
        low, high = axes.get_ylim()
        log_ticks(axes.xaxis, axes.get_xlim(), max(3, int(place.width / 0.5)))
        log_ticks(axes.yaxis, (low / scale, high / scale), max(3, int(place.height / 0.3)))
        axes.yaxis.set_ticks([tick * scale for tick in axes.yaxis.get_majorticklocs()],
                             [text.get_text() for text in axes.yaxis.get_ticklabels()])
        axes.set_xlabel("operational intensity [operations/byte]", labelpad=1.5)
        axes.set_ylabel(f"performance [{letter}OP/s]", labelpad=1.5)
        page.save(path, title)
    return data.table()


def _notes(data: RooflineData) -> list[str]:
    notes = ["operations are 2 a MAC; bytes are those that passed the port or link"]
    if data.single:
        notes.append("filled: measured; open: what the lower one of roof and peak allows there")
    else:
        notes.append("each operator below its outermost roof; a disc's area is its share of the cycles")
    if data.unlimited:
        notes.append("of unlimited rate, so without a roof: " + listed(data.unlimited))
    return notes


def _style(data: RooflineData, roof: str) -> tuple[str, str]:
    index = [one.name for one in data.ceilings].index(roof)
    return COLOURS[index % len(COLOURS)], MARKERS[index // len(COLOURS) % len(MARKERS)]


def _legend(data: RooflineData, width: float) -> Legend:
    """Roofs by what they allow, the lowest first, peaks by size; the columns' heads before them."""
    ops, ops_letter = prefix(max((peak.ops_per_s for peak in data.peaks if peak.own), default=1.0))
    top = max((one.bytes_per_s for one in data.ceilings), default=1.0)
    rate, rate_letter = prefix(top if top < 1e13 else top / 1e3)
    by_roof = {point.roof: point for point in data.points}
    rows: list[tuple[str, str, str, tuple[str, ...]]] = []
    if data.single:
        head: tuple[str, ...] = (f"{rate_letter}B/s", "op/byte", f"allows {ops_letter}OP/s", "attained")
        for one in sorted(data.ceilings, key=lambda one: one.bytes_per_s * by_roof[one.name].ops_per_byte):
            point = by_roof[one.name]
            colour, marker = _style(data, one.name)
            rows.append((colour, marker, one.name, (short(one.bytes_per_s / rate), short(point.ops_per_byte),
                                                    short(point.allowed_ops_per_s / ops), percent(_attained(point)))))
        rows += [(_PEAK_COLOUR if peak.own else _OTHER_COLOUR, "_", f"peak {peak.name}".strip(),
                  ("", "", short(peak.ops_per_s / ops), percent(max(p.ops_per_s for p in data.points) / peak.ops_per_s)
                   if peak.own and data.points else "")) for peak in data.peaks]
    else:
        head = (f"{rate_letter}B/s", f"{ops_letter}OP/s")
        rows = [(*_style(data, one.name), one.name, (short(one.bytes_per_s / rate), ""))
                for one in sorted(data.ceilings, key=lambda one: -one.bytes_per_s)]
        rows += [(_PEAK_COLOUR if peak.own else _OTHER_COLOUR, "_", f"peak {peak.name}".strip(),
                  ("", short(peak.ops_per_s / ops))) for peak in data.peaks]
    figures = sum(max(text_inches(text) for text in column) + 0.1
                  for column in zip(head, *(row[3] for row in rows), strict=True))
    room = width - 2 * MARGIN - figures - 0.2
    lines = [LegendLine("none", "", head)] + [LegendLine(colour, paper.shorten(name, room), texts, marker)
                                              for colour, marker, name, texts in rows]
    return Legend("", tuple(lines), columns=1)


def _attained(point: Point) -> float:
    return point.ops_per_s / point.allowed_ops_per_s


def _top(data: RooflineData) -> float:
    return max((peak.ops_per_s for peak in data.peaks if peak.own), default=1.0)


def _limits(axes: Axes, data: RooflineData, place: Place) -> None:
    """So that every point, every ridge and every peak is inside; with room for discs and labels."""
    intensities = [point.ops_per_byte for point in data.points] + [_top(data) / one.bytes_per_s for one in data.ceilings] or [1.0]
    rates = [point.ops_per_s for point in data.points] + [peak.ops_per_s for peak in data.peaks]
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(*_widened(intensities, place.width, 0.3, 0.6, _LEAST_DECADES))
    axes.set_ylim(*_widened(rates, place.height, 0.35, 0.25, _LEAST_DECADES * place.height / place.width))


def _widened(values: Sequence[float], inches: float, before: float, after: float, least: float) -> tuple[float, float]:
    """Limits of a logarithmic axis that leave so many inches free before the least and after the largest value, and have so many
    decades between these at least, further ones below.
    """
    high = log10(max(values))
    low = min(log10(min(values)), high - least)
    decades = (high - low) / (inches - before - after)
    return float(10 ** (low - before * decades)), float(10 ** (high + after * decades))


def _draw_lines(axes: Axes, data: RooflineData) -> None:
    first, last = axes.get_xlim()
    top = _top(data)
    for one in data.ceilings:
        alike = [other.name for other in data.ceilings if other.bytes_per_s == one.bytes_per_s]
        # lines that coincide take turns
        pattern = (0.0, None) if len(alike) == 1 else (_DASH * alike.index(one.name), (_DASH, _DASH * (len(alike) - 1)))
        axes.plot([first, top / one.bytes_per_s], [first * one.bytes_per_s, top], color=_style(data, one.name)[0], linewidth=1.0,
                  linestyle=pattern, zorder=2)
    begin = min((top / one.bytes_per_s for one in data.ceilings), default=first)
    for peak in data.peaks:
        if peak.own:
            axes.plot([begin * peak.ops_per_s / top, last], [peak.ops_per_s] * 2, color=_PEAK_COLOUR, linewidth=1.0, zorder=2)
        else:
            axes.plot([begin, last], [peak.ops_per_s] * 2, color=_OTHER_COLOUR, linewidth=0.6, dashes=(3, 2), zorder=1)


def _radius(data: RooflineData, point: Point) -> float:
    return 0.035 if data.single else max(_SMALLEST_POINT, _LARGEST_POINT * sqrt(point.share))


def _draw_points(axes: Axes, data: RooflineData) -> None:
    for point in sorted(data.points, key=lambda one: -one.share):
        colour, marker = _style(data, point.roof)
        size = 144 * _radius(data, point)
        if data.single:
            axes.plot([point.ops_per_byte] * 2, [point.ops_per_s, point.allowed_ops_per_s], color=colour, linewidth=0.6,
                      dashes=(1.5, 1.5), zorder=3)
            axes.plot([point.ops_per_byte], [point.allowed_ops_per_s], marker=marker, markersize=size, color=colour,
                      markerfacecolor="white", markeredgewidth=0.8, zorder=4)
        axes.plot([point.ops_per_byte], [point.ops_per_s], marker=marker, markersize=size, color=colour,
                  markeredgecolor="white", markeredgewidth=0.4, alpha=1.0 if data.single else 0.75, zorder=5)


def _draw_labels(axes: Axes, data: RooflineData, place: Place) -> None:
    """Names of peaks above their lines, and of the operators with the most cycles beside their discs; where there is room."""
    taken = Taken(Box(0.02, 0.02, place.width, place.height + 0.06))
    where = [_inches(axes, place, point.ops_per_byte, point.ops_per_s) for point in data.points]
    for (x, y), point in zip(where, data.points, strict=True):
        radius = _radius(data, point)
        taken.add(Box(x - radius, y - radius, x + radius, y + radius))
        if data.single:
            _, allowed = _inches(axes, place, point.ops_per_byte, point.allowed_ops_per_s)
            taken.add(Box(x - radius, allowed - radius, x + radius, allowed + radius))
    for peak in sorted(data.peaks, key=lambda peak: (not peak.own, -peak.ops_per_s)):
        _, y = _inches(axes, place, axes.get_xlim()[1], peak.ops_per_s)
        text = f"peak {peak.name}".strip()
        box = taken.place([text_box(text, place.width - 0.02, y + lift, "right") for lift in (0.075, -0.075, 0.13)])
        _write(axes, place, text, box, _PEAK_COLOUR if peak.own else paper.FAINT_INK)
        taken.add(Box(0.0, y - 0.01, place.width, y + 0.01))
    if data.single:
        return
    ranked = sorted(zip(where, data.points, strict=True), key=lambda pair: (-pair[1].share, pair[1].operator))
    for (x, y), point in ranked[:_MOST_LABELS]:
        text = paper.shorten(point.operator, 1.3)
        _write(axes, place, text, taken.place(_beside(text, x, y, _radius(data, point) + 0.02)), paper.INK)


def _beside(text: str, x: float, y: float, far: float) -> Iterable[Box]:
    """Places around a disc: right, left, above, below, then the corners."""
    yield text_box(text, x + far, y, "left")
    yield text_box(text, x - far, y, "right")
    for lift in (far + 0.05, -far - 0.05):
        for align in ("center", "left", "right"):
            yield text_box(text, x, y + lift, align)


def _inches(axes: Axes, place: Place, x: float, y: float) -> tuple[float, float]:
    """Where a point of the field is, from its lower left corner."""
    spans = ((axes.get_xlim(), x, place.width), (axes.get_ylim(), y, place.height))
    across, up = (inches * log10(value / low) / log10(high / low) for (low, high), value, inches in spans)
    return across, up


def _write(axes: Axes, place: Place, text: str, box: Box | None, colour: str) -> None:
    if box is not None:
        axes.text(box.left / place.width, box.base / place.height, text, transform=axes.transAxes, color=colour,
                  parse_math=False, zorder=6, path_effects=[withStroke(linewidth=1.2, foreground="white")])
