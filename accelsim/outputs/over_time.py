"""Along time: what the arrays' cycles were spent on, and how many bytes each port and link carried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from numpy.typing import NDArray

from accelsim.measure.carriers import Carrier, CarrierKind, carriers
from accelsim.measure.report import OperatorReport
from accelsim.outputs import paper
from accelsim.outputs.paper import LINE_INCHES, LegendLine, text_inches
from accelsim.outputs.plotted import Plotted, plotted
from accelsim.outputs.raster_lanes import (
    BUSY,
    COLOURS,
    IDLE,
    NAMES,
    Composition,
    Row,
    Window,
    coarsened,
    compose_profile,
)
from accelsim.outputs.scales import percent, prefix, short
from accelsim.outputs.sheet import MARGIN, Legend, listed, open_sheet, widest
from accelsim.stalls import StallCause
from accelsim.timeline import BUSY_STATE, TICKS, LaneKind, Timeline

MOST_BINS = 256
MOST_ROWS = 24
CARRIER_COLOURS = {
    CarrierKind.DRAM: StallCause.DRAM_BANDWIDTH.colour, CarrierKind.SRAM: StallCause.SRAM_BANDWIDTH.colour,
    CarrierKind.LINK: StallCause.LINK_BANDWIDTH.colour, CarrierKind.NETWORK: StallCause.LINK_BANDWIDTH.colour,
    CarrierKind.ARRAY: StallCause.ARRAY_FILL_DRAIN.colour,
}
_STRIP, _GAP = 0.26, 0.07
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class UtilizationData:
    """Ticks of all array lanes together: ``drawn.ticks[0, bin, colour]``. ``utilization``: useful MACs over the whole run."""

    drawn: Composition
    arrays: int
    utilization: float
    cycles: int

    @property
    def order(self) -> tuple[int, ...]:
        """The colours that occur, from the bottom of the stack: busy, the causes by size, idle."""
        spent = self.drawn.total()[0]
        causes = sorted((colour for colour in range(1, IDLE) if spent[colour]), key=lambda colour: (-int(spent[colour]), colour))
        return tuple(colour for colour in (BUSY, *causes, IDLE) if spent[colour])

    def table(self) -> Plotted:
        """One row a bin: where it begins and ends, then lane-cycles of each state."""
        borders, ticks = self.drawn.borders / TICKS, self.drawn.ticks[0] / TICKS
        return plotted(("from_cycle", "to_cycle", *(f"{NAMES[colour].replace(' ', '_').lower()}_lane_cycles"
                                                    for colour in self.order)),
                       [(float(first), float(last), *(float(line[colour]) for colour in self.order))
                        for first, last, line in zip(borders[:-1], borders[1:], ticks, strict=True)])


def utilization_data(one: OperatorReport, timeline: Timeline, window: Window | None = None) -> UtilizationData:
    """From the profile, in at most `MOST_BINS` bins; a window is widened to whole bins."""
    arrays = tuple(number for number, lane in enumerate(timeline.lanes) if lane.kind is LaneKind.ARRAY)
    drawn = compose_profile(timeline, (Row("arrays", arrays, True),), _within(window, timeline))
    return UtilizationData(coarsened(drawn, MOST_BINS), len(arrays), one.utilization, timeline.cycles)


def _within(window: Window | None, timeline: Timeline) -> Window:
    first, last = window if window is not None else (0, timeline.cycles)
    if first >= last or last <= 0 or first >= timeline.cycles:
        raise ValueError(f"nothing to draw in cycles {first:,} to {last:,} of a run of {timeline.cycles:,} cycles")
    return max(0, first), min(last, timeline.cycles)


def draw_utilization(data: UtilizationData, path: Path, *, title: str, width_inches: float = 7.16,
                     clock_hz: float | None = None) -> Plotted:
    """Draw the stacked shares of each bin; returns what was drawn.

    Raises ValueError for a suffix other than .png, .svg and .pdf, and for a width that is no page's.
    """
    paper.picture_format(path)
    paper.check_width(width_inches)
    with paper.house_style():
        spent = data.drawn.total()[0]
        lines = tuple(LegendLine(COLOURS[colour], NAMES[colour], (f"{spent[colour] / TICKS:,.0f}",
                                                                  percent(float(spent[colour] / spent.sum()))))
                      for colour in sorted(data.order, key=lambda colour: (-int(spent[colour]), colour)))
        first, last = data.drawn.borders[0] / TICKS, data.drawn.borders[-1] / TICKS
        arrays = "1 array" if data.arrays == 1 else f"{data.arrays:,} arrays"
        heading = f"{arrays} \N{MULTIPLICATION SIGN} {last - first:,.0f} cycles"
        notes = [f"busy is a step running, whether or not all its PEs have work; {100 * data.utilization:.1f} % of the peak are "
                 f"useful MACs over the whole run; {len(data.drawn.borders) - 1:,} bins"]
        above = paper.TIME_AXIS_INCHES if clock_hz else LINE_INCHES / 2
        page, place = open_sheet(width_inches, 1.25 if width_inches < 5 else 1.6, title, Legend(heading, lines), notes,
                                 left=0.42, right=text_inches(f"{last:,.0f}") / 2 + MARGIN, above=above)
        axes = page.chart(*place)
        axes.set_xlim(first, last)
        axes.set_ylim(0, 1)
        _stack(axes, data)
        axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100"])
        axes.set_ylabel("array lanes' cycles [%]", labelpad=1.5)
        paper.cycle_axis(axes, "cycles", place.width)
        if clock_hz:
            paper.time_axis(axes, clock_hz, place.width)
        page.save(path, title)
    return data.table()


def _stack(axes: Axes, data: UtilizationData) -> None:
    ticks = data.drawn.ticks[0].astype(np.float64)
    shares = ticks / ticks.sum(axis=1, keepdims=True)
    borders = data.drawn.borders / TICKS
    below: Floats = np.zeros(len(shares))
    for colour in data.order:
        above = below + shares[:, colour]
        axes.add_collection(PolyCollection([_steps(borders, below, above)], facecolors=[COLOURS[colour]], linewidths=0),
                            autolim=False)
        below = above


def _steps(borders: Floats, below: Floats, above: Floats) -> list[tuple[float, float]]:
    """The outline of an area between two heights that are constant within each bin."""
    across = np.repeat(borders, 2)[1:-1]
    points = [*zip(across, np.repeat(above, 2), strict=True), *zip(across[::-1], np.repeat(below, 2)[::-1], strict=True)]
    return [(float(x), float(y)) for x, y in points]


@dataclass(frozen=True)
class Flow:
    """A port, a link or a network's channels: its rate over all instances, and the share of it used in each bin."""

    name: str
    kind: CarrierKind
    bytes_per_cycle: Fraction
    busy: tuple[float, ...]

    def mean(self, spans: Sequence[float]) -> float:
        """Bytes per cycle over all bins."""
        used = sum(busy * span for busy, span in zip(self.busy, spans, strict=True))
        return float(self.bytes_per_cycle) * used / sum(spans)


@dataclass(frozen=True)
class BandwidthData:
    """What each port and link of limited rate carried in each bin; ``borders`` in cycles.

    ``quiet``: those of unlimited rate, and those that nothing passed. ``hidden``: flows too many to draw.
    """

    borders: tuple[float, ...]
    flows: tuple[Flow, ...]
    clock_hz: Fraction
    quiet: tuple[str, ...]
    hidden: int

    @property
    def spans(self) -> tuple[float, ...]:
        """Cycles of each bin."""
        return tuple(last - first for first, last in zip(self.borders[:-1], self.borders[1:], strict=True))

    def table(self) -> Plotted:
        """One row a port and bin."""
        return plotted(("port", "rate_bytes_per_cycle", "from_cycle", "to_cycle", "busy_share", "bytes_per_cycle",
                        "bytes_per_s"), [
            (flow.name, flow.bytes_per_cycle, first, last, busy, float(flow.bytes_per_cycle) * busy,
             float(flow.bytes_per_cycle * self.clock_hz) * busy)
            for flow in self.flows for first, last, busy in zip(self.borders[:-1], self.borders[1:], flow.busy, strict=True)])


def bandwidth_data(one: OperatorReport, timeline: Timeline, window: Window | None = None) -> BandwidthData:
    """From the profile: the busy share of each bin times the rate; a transfer's set-up counts as busy."""
    window = _within(window, timeline)
    every = carriers(one.case, timeline.lanes)
    timed = [carrier for carrier in every if any(timeline.totals[number, BUSY_STATE] for number in carrier.lanes)]
    quiet = tuple(carrier.name for carrier in every if carrier not in timed)
    if not timed:
        return BandwidthData((float(window[0]), float(window[1])), (), one.case.chip.clock_hz, quiet, 0)
    lanes = [Row(timeline.lanes[number].name, (number,), False) for carrier in timed for number in carrier.lanes]
    drawn = coarsened(compose_profile(timeline, lanes, window), MOST_BINS)
    spans = np.diff(drawn.borders)
    busy = drawn.ticks[:, :, BUSY] / spans
    flows, at = [], 0
    for carrier in timed:
        weights = np.array([float(rate) for rate in carrier.rates])
        own = busy[at:at + len(weights)]
        at += len(weights)
        rate = carrier.bytes_per_cycle or Fraction(0)
        shares = own.T @ weights / float(rate) if len(weights) > 1 else own[0]
        flows.append(Flow(_name(carrier), carrier.kind, rate, tuple(float(share) for share in shares)))
    kept = sorted(sorted(range(len(flows)), key=lambda index: -sum(flows[index].busy))[:MOST_ROWS])
    return BandwidthData(tuple(float(border) / TICKS for border in drawn.borders), tuple(flows[index] for index in kept),
                         one.case.chip.clock_hz, quiet, len(flows) - len(kept))


def _name(carrier: Carrier) -> str:
    return f"{carrier.name}, {len(carrier.lanes)} channels" if carrier.kind is CarrierKind.NETWORK else carrier.name


def draw_bandwidth(data: BandwidthData, path: Path, *, title: str, width_inches: float = 7.16) -> Plotted:
    """Draw a strip for each, as high as its rate; returns what was drawn. Raises ValueError as `draw_utilization`."""
    paper.picture_format(path)
    paper.check_width(width_inches)
    with paper.house_style():
        scale, unit = _unit(data)
        clock = float(data.clock_hz)
        figures = [(short(flow.mean(data.spans) * clock / scale), short(float(flow.bytes_per_cycle) * clock / scale),
                    percent(flow.mean(data.spans) / float(flow.bytes_per_cycle))) for flow in data.flows]
        heads = (f"mean {unit}", f"rate {unit}", "used")
        columns = [widest(column) + 0.1 for column in zip(heads, *figures, strict=True)]
        left = MARGIN + min(widest([flow.name for flow in data.flows]), 0.27 * width_inches) + 0.07
        height = max(0.1, len(data.flows) * (_STRIP + _GAP))
        page, place = open_sheet(width_inches, height, title, None, _notes(data), left=left, right=sum(columns) + MARGIN,
                                 above=LINE_INCHES + paper.TIME_AXIS_INCHES)
        axes = page.axes(*place, (data.borders[0], data.borders[-1]))
        _strips(axes, data)
        end, top = place.left + place.width, place.bottom + place.height
        for column, (head, wide) in enumerate(zip(heads, columns, strict=True)):
            end += wide
            page.text(end, top + paper.TIME_AXIS_INCHES + 0.045, head, colour=paper.FAINT_INK, align="right")
            for number, texts in enumerate(figures):
                page.text(end, top - _middle(number) - 0.035, texts[column], align="right")
        for number, flow in enumerate(data.flows):
            page.text(place.left - 0.07, top - _middle(number) - 0.035,
                      paper.shorten(flow.name, place.left - 0.07 - MARGIN), align="right")
        paper.cycle_axis(axes, f"cycles (heights: from 0 to the rate, in {unit})", place.width)
        paper.time_axis(axes, clock, place.width)
        page.save(path, title)
    return data.table()


def _unit(data: BandwidthData) -> tuple[float, str]:
    """Of bytes per second: the largest prefix below which no rate falls far."""
    largest = max((float(flow.bytes_per_cycle * data.clock_hz) for flow in data.flows), default=1e9)
    scale, letter = prefix(largest if largest < 1e13 else largest / 1e3)
    return scale, f"{letter}B/s"


def _middle(number: int) -> float:
    return 0.02 + number * (_STRIP + _GAP) + _STRIP / 2


def _strips(axes: Axes, data: BandwidthData) -> None:
    borders = np.array(data.borders)
    for number, flow in enumerate(data.flows):
        base = 0.02 + number * (_STRIP + _GAP) + _STRIP
        busy = np.array(flow.busy)
        ground = [(borders[0], base), (borders[-1], base), (borders[-1], base - _STRIP), (borders[0], base - _STRIP)]
        area = _steps(borders, np.full(len(busy), base), base - _STRIP * np.minimum(1.0, busy))
        axes.add_collection(PolyCollection([ground, area], facecolors=["#EFEFEF", CARRIER_COLOURS[flow.kind]], linewidths=0),
                            autolim=False)


def _notes(data: BandwidthData) -> list[str]:
    notes = [f"busy share of each of {len(data.borders) - 1:,} bins times the rate, all instances together" if data.flows else
             "no port or link has a limited rate"]
    if data.hidden:
        notes.append(f"the {len(data.flows)} busiest of {len(data.flows) + data.hidden}")
    if data.quiet:
        notes.append("unlimited or not used: " + listed(data.quiet))
    return notes
