"""Ladder and waterfall: from peak to delivered as factors, from the estimate's bound to the measurement as cycles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from accelsim.measure.ladder import Loss, ladder
from accelsim.measure.report import OperatorReport
from accelsim.outputs import paper
from accelsim.outputs.paper import LINE_INCHES, Page
from accelsim.outputs.plotted import Plotted, plotted
from accelsim.outputs.raster_lanes import NAMES
from accelsim.outputs.scales import percent, prefix, short
from accelsim.outputs.sheet import MARGIN, Place, open_sheet, widest
from accelsim.stalls import BUSY_COLOUR, IDLE_COLOUR, StallCause
from accelsim.units import grouped

LOSS_COLOURS = {
    Loss.SHAPE: "#009E73", Loss.PORTS: StallCause.SRAM_BANDWIDTH.colour, Loss.FILL_DRAIN: StallCause.ARRAY_FILL_DRAIN.colour,
    Loss.BANDWIDTH: StallCause.DRAM_BANDWIDTH.colour, Loss.LATENCY: StallCause.DRAM_LATENCY.colour,
    Loss.CONTENTION: StallCause.CONTENTION.colour, Loss.OVERHEAD: StallCause.ISSUE.colour, Loss.IDLE: IDLE_COLOUR,
}
NAME_OF = dict(zip((cause.code for cause in StallCause), NAMES[1:-1], strict=True))
"""Causes in the words of the pictures."""
_WIDE_GAP = 0.2
_BAR, _PITCH = 0.125, 0.165


@dataclass(frozen=True)
class Step:
    """A rung: what the loss multiplies with, and the share of the peak that is then left."""

    loss: Loss
    factor: float
    delivered: float


@dataclass(frozen=True)
class LadderData:
    """From ``peak_ops_per_s`` down to what was delivered; of several operators the mean over their cycles."""

    peak_ops_per_s: float
    steps: tuple[Step, ...]

    def table(self) -> Plotted:
        """One row a rung, the peak first."""
        rows: list[tuple[object, ...]] = [("peak", 1, 1, self.peak_ops_per_s)]
        rows += [(step.loss.code, step.factor, step.delivered, step.delivered * self.peak_ops_per_s) for step in self.steps]
        return plotted(("loss", "factor", "delivered_share_of_peak", "delivered_ops_per_s"), rows)


def ladder_data(operators: Sequence[OperatorReport], clock_hz: Fraction) -> LadderData:
    """Of one operator, or of several one after another."""
    cycles = sum(one.cycles * one.repeat for one in operators)
    peak = sum((one.case.peak_macs_per_cycle * one.cycles * one.repeat for one in operators), Fraction(0)) / max(1, cycles)
    return LadderData(float(2 * peak * clock_hz), tuple(Step(rung.loss, float(rung.factor), float(rung.delivered))
                                                        for rung in ladder(operators)))


def draw_ladder(data: LadderData, path: Path, *, title: str, width_inches: float = 7.16) -> Plotted:
    """Draw it, a bar a rung; returns what was drawn. Raises ValueError as `draw_roofline`."""
    scale, letter = prefix(data.peak_ops_per_s)
    rows = [_Row("peak", 0.0, 1.0, BUSY_COLOUR, ("", "100 %", short(data.peak_ops_per_s / scale)), 1.0)]
    before = 1.0
    for step in data.steps:
        name = step.loss.code.replace("_", " and ")
        rows.append(_Row(name, step.delivered, before, LOSS_COLOURS[step.loss],
                         (f"\N{MULTIPLICATION SIGN} {step.factor:.3f}", percent(step.delivered),
                          short(step.delivered * data.peak_ops_per_s / scale)), step.delivered, step.delivered))
        before = step.delivered
    figures = ("", percent(before), short(before * data.peak_ops_per_s / scale))
    rows.append(_Row("delivered", 0.0, before, BUSY_COLOUR, figures, before))
    notes = ["grey: what is left of the peak; in colour: what the loss takes of it; the factors' product is the utilization"]
    _draw(rows, ("factor", "left", f"{letter}OP/s"), path, title, notes, width_inches, "share of the peak [%]", percents=True)
    return data.table()


@dataclass(frozen=True)
class WaterfallData:
    """The bound, the parts on top of it, and the measurement, their sum; beside them what was estimated. In cycles."""

    bound: str
    bound_cycles: int
    parts: tuple[tuple[str, int], ...]
    measured_cycles: int
    estimated_cycles: int

    def table(self) -> Plotted:
        """One row a bar, and the estimate."""
        return plotted(("bar", "cycles"), (("bound: " + self.bound, self.bound_cycles), *self.parts,
                                           ("measured", self.measured_cycles), ("estimated", self.estimated_cycles)))


def waterfall_data(operators: Sequence[OperatorReport]) -> WaterfallData:
    """Of one operator, or of several one after another: the sums, with repeats."""
    bounds = sum(one.crosscheck.bound.cycles * one.repeat for one in operators if one.crosscheck.bound is not None)
    parts: dict[str, int] = {}
    for one in operators:
        for name, cycles in one.crosscheck.waterfall:
            parts[name] = parts.get(name, 0) + cycles * one.repeat
    first = operators[0].crosscheck.bound
    name = f"of {len(operators)} operators" if len(operators) > 1 else first.name if first is not None else "none"
    return WaterfallData(name, bounds, tuple(sorted(parts.items(), key=lambda item: (-item[1], item[0]))),
                         sum(one.cycles * one.repeat for one in operators),
                         sum(one.crosscheck.estimated_cycles * one.repeat for one in operators))


def draw_waterfall(data: WaterfallData, path: Path, *, title: str, width_inches: float = 7.16) -> Plotted:
    """Draw it, a bar a part; returns what was drawn. Raises ValueError as `draw_roofline`."""
    whole = max(1, data.measured_cycles)
    floor = _floor(data)
    rows = [_Row(f"bound: {data.bound}", floor, data.bound_cycles, BUSY_COLOUR, _figures(data.bound_cycles, whole),
                 data.bound_cycles)]
    done = data.bound_cycles
    for name, cycles in data.parts:
        rows.append(_Row(NAME_OF.get(name, name), done, done + cycles, _cause_colour(name), _figures(cycles, whole),
                         done + cycles))
        done += cycles
    rows.append(_Row("measured", floor, data.measured_cycles, BUSY_COLOUR, _figures(data.measured_cycles, whole),
                     data.measured_cycles))
    ratio = data.measured_cycles / max(1, data.estimated_cycles)
    notes = [f"dashed: estimated in closed form, {grouped(data.estimated_cycles)} cycles; measured is {ratio:.3f} "
             "\N{MULTIPLICATION SIGN} that",
             "the bound is the estimate's largest lower bound; in colour what it leaves out, by stall cause, mean of the arrays"]
    if floor:
        notes.append(f"the axis begins at {grouped(floor)} cycles, so that the parts are seen")
    _draw(rows, ("cycles", "share"), path, title, notes, width_inches, "cycles", mark=data.estimated_cycles, low=floor)
    return data.table()


def _floor(data: WaterfallData) -> int:
    """Where the axis begins: at 0, or, where the bound is most of it, a little before what is between bound and measurement."""
    gap = data.measured_cycles - min(data.bound_cycles, data.estimated_cycles)
    return 0 if not data.parts or gap > _WIDE_GAP * data.measured_cycles else max(0, data.measured_cycles - 2 * gap)


def _figures(cycles: int, whole: int) -> tuple[str, ...]:
    return grouped(cycles), percent(cycles / whole)


def _cause_colour(name: str) -> str:
    return next((cause.colour for cause in StallCause if cause.code == name), IDLE_COLOUR)


@dataclass(frozen=True)
class _Row:
    """A bar from one value to another, a grey one before it up to ``ground``, figures at the right, and where the next begins."""

    name: str
    first: float
    last: float
    colour: str
    figures: tuple[str, ...]
    joint: float
    ground: float = 0.0


def _draw(rows: Sequence[_Row], heads: Sequence[str], path: Path, title: str, notes: Sequence[str], width: float, label: str, *,
          percents: bool = False, mark: int | None = None, low: float = 0.0) -> None:
    """Bars from top to bottom, each starting where the one above ends."""
    paper.picture_format(path)
    paper.check_width(width)
    with paper.house_style():
        columns = [widest(column) + 0.1 for column in zip(heads, *(row.figures for row in rows), strict=True)]
        right = sum(columns) + MARGIN
        left = MARGIN + min(widest([row.name for row in rows]), 0.32 * width) + 0.07
        page, place = open_sheet(width, _PITCH * len(rows) + 0.03, title, None, notes, left=left, right=right,
                                 above=LINE_INCHES + 0.02)
        high = max(low + 1.0, *(row.last for row in rows), float(mark or 0))
        axes = page.axes(*place, (low, high))
        _draw_rows(page, axes, place, rows)
        _write_columns(page, place, rows, heads, columns)
        if mark is not None:
            axes.plot([mark, mark], [0, place.height], color=paper.INK, linewidth=0.7, dashes=(3, 2), clip_on=False)
        if percents:
            axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100"])
            axes.tick_params(axis="x", length=2.5, width=0.5, pad=2, colors=paper.INK)
            axes.set_xlabel(label, labelpad=1.5)
        else:
            paper.cycle_axis(axes, label, place.width)
        page.save(path, title)


def _draw_rows(page: Page, axes: Axes, place: Place, rows: Sequence[_Row]) -> None:
    for number, row in enumerate(rows):
        top = 0.02 + number * _PITCH
        y = place.bottom + place.height - top - _BAR / 2 - 0.035
        name = paper.shorten(row.name, place.left - 0.07 - MARGIN)
        page.text(place.left - 0.07, y, name, align="right")
        if row.ground:
            axes.add_patch(_rectangle(0.0, row.ground, top, "#8C8C8C"))
        if row.last > row.first:
            axes.add_patch(_rectangle(row.first, row.last, top, row.colour))
        if number + 1 < len(rows):
            axes.plot([row.joint, row.joint], [top + _BAR, top + _PITCH], color=paper.FAINT_INK, linewidth=0.4)


def _rectangle(first: float, last: float, top: float, colour: str) -> Rectangle:
    return Rectangle((first, top), last - first, _BAR, facecolor=colour, linewidth=0)


def _write_columns(page: Page, place: Place, rows: Sequence[_Row], heads: Sequence[str], columns: Sequence[float]) -> None:
    end = place.left + place.width
    for column, (head, wide) in enumerate(zip(heads, columns, strict=True)):
        end += wide
        page.text(end, place.bottom + place.height + 0.045, head, colour=paper.FAINT_INK, align="right")
        for number, row in enumerate(rows):
            y = place.bottom + place.height - 0.02 - number * _PITCH - _BAR / 2 - 0.035
            page.text(end, y, row.figures[column], align="right")
