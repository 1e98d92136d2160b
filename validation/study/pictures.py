"""The study's pictures, from its table: each a file in docs/img."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from accelsim.outputs.paper import house_style
from validation.study.rows import Row
from validation.study.summary import FAMILY_NAMES, GROUPS, gaps, knob, number, of, ratio, studied, word

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "img"
INK, FAINT, LINE = "#222222", "#BBBBBB", "#555555"
HUES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's, which colour-blind readers can tell apart."""
MARKS = ("o", "s", "^", "D", "v", "P")


def draw(rows: Sequence[Row]) -> None:
    """Write all of them."""
    with house_style():
        for name, figure in pictures(rows):
            figure.savefig(IMAGES / f"error-{name}.svg", format="svg", metadata={"Date": None, "Creator": None})


def pictures(rows: Sequence[Row]) -> Iterator[tuple[str, Figure]]:
    """Name and figure of each."""
    yield "distribution", distribution(rows)
    yield "causes", causes(rows)
    yield "layers", layers(rows)
    yield "fill-drain", fill_drain(rows)
    yield "dram-rows", dram_rows(rows)
    yield "banks", banks(rows)
    yield "overlap", overlap(rows)
    yield "start-up", start_up(rows)
    yield "contention", contention(rows)
    yield "ragged", ragged(rows)


def fields(count: int, width: float, height: float, *, share_y: bool = False) -> tuple[Figure, list[Axes]]:
    """A figure of fields side by side; width and height in inches."""
    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    made = figure.subplots(1, count, squeeze=False, sharey=share_y)
    axes = list(made[0])
    for field in axes:
        field.spines[["top", "right"]].set_visible(False)
        field.tick_params(width=0.5, length=2.5, colors=INK)
        field.grid(color="#E6E6E6", linewidth=0.5)
        field.set_axisbelow(True)
    return figure, axes


def logarithmic(axes: Axes, ticks: Sequence[float], *, y: bool = False) -> None:
    """A logarithmic axis with these ticks, written as whole numbers, decimals above one or fractions below."""
    axis = axes.yaxis if y else axes.xaxis
    (axes.set_yscale if y else axes.set_xscale)("log")
    axis.set_ticks(list(ticks))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}" if value > 1 else str(Fraction(value))))
    axis.set_minor_formatter(NullFormatter())
    axis.set_tick_params(which="minor", length=0)


def series(axes: Axes, number_: int, xs: Sequence[float], ys: Sequence[float], label: str, *, dashed: bool = False) -> None:
    """One line of a field, in its own colour and mark."""
    axes.plot(xs, ys, color=HUES[number_], marker=MARKS[number_], markersize=3, linewidth=0.9, label=label,
              linestyle="--" if dashed else "-", markerfacecolor="white" if dashed else HUES[number_], markeredgewidth=0.7)


def legend(axes: Axes, title: str = "", *, loc: Literal["upper left", "upper right", "lower left", "lower right", "best"] = "best"
           ) -> None:
    """A frameless legend."""
    made = axes.legend(frameon=False, title=title, handlelength=1.8, loc=loc)
    made.get_title().set_fontweight("bold")


# -- all points ---------------------------------------------------------------------------------------------------------


def distribution(rows: Sequence[Row]) -> Figure:
    """Every point, by family: over the roofline, and over the estimate."""
    figure, (left, right) = fields(2, 6.8, 3.1, share_y=True)
    for axes, bottom, ticks in ((left, "roofline", (1, 3, 10, 30, 100, 300, 1000)),
                                (right, "estimated", (1, 1.5, 2, 3, 5, 10, 20))):
        for place, family in enumerate(FAMILY_NAMES):
            values = sorted(ratio(row, "measured", bottom) for row in of(studied(rows), family))
            spots = [place + 0.6 * ((i * 37 % 101) / 101 - 0.5) for i in range(len(values))]
            axes.plot(values, spots, ".", color=HUES[0], alpha=0.35, markersize=3, markeredgewidth=0)
            middle, high = median(values), values[-(-9 * len(values) // 10) - 1]
            axes.plot([middle, middle], [place - 0.38, place + 0.38], color=INK, linewidth=1.4)
            axes.plot([high, high], [place - 0.25, place + 0.25], color=HUES[1], linewidth=1.4)
        logarithmic(axes, ticks)
        axes.set_xlim(0.93, ticks[-1] * 2)
    left.set_yticks(range(len(FAMILY_NAMES)), list(FAMILY_NAMES.values()))
    left.invert_yaxis()
    left.set_xlabel("measured / roofline")
    right.set_xlabel("measured / estimated")
    right.plot([], [], color=INK, linewidth=1.4, label="median")
    right.plot([], [], color=HUES[1], linewidth=1.4, label="90th percentile")
    legend(right, loc="upper right")
    return figure


def causes(rows: Sequence[Row]) -> Figure:
    """What stands between estimate and measurement, stacked, by family; small and large apart."""
    figure, (left, right) = fields(2, 6.8, 2.9)
    shown = {family: gaps(of(studied(rows), family)) for family in FAMILY_NAMES}
    large = [family for family in FAMILY_NAMES if sum(shown[family].values()) > 0.12]
    for axes, families in ((left, [family for family in FAMILY_NAMES if family not in large]), (right, large)):
        for place, family in enumerate(families):
            done = 0.0
            for group in GROUPS:
                size = 100 * shown[family][group.name]
                axes.barh(place, size, left=done, height=0.62, color=group.colour, edgecolor="white", linewidth=0.3)
                done += size
            axes.text(done, place, f" {done:.1f} %", va="center", color=INK)
        axes.set_yticks(range(len(families)), [FAMILY_NAMES[family] for family in families])
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        axes.set_xlim(0, 1.22 * max(100 * sum(shown[family].values()) for family in families))
        axes.set_xlabel("mean gap, % of the estimate")
    handles = [left.barh(0, 0, color=group.colour, label=group.name) for group in GROUPS]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False, handlelength=1)
    return figure


def layers(rows: Sequence[Row]) -> Figure:
    """The gap of each network layer by cause, chip by chip, smallest first."""
    figure, (axes,) = fields(1, 6.8, 2.6)
    at, names, top = 0.0, [], 70
    own = of(rows, "layers")
    for chip in dict.fromkeys(word(row, "chip") for row in own):
        chosen = sorted((row for row in own if row["chip"] == chip), key=lambda row: ratio(row, "measured", "estimated"))
        for i, row in enumerate(chosen):
            done = 0.0
            for group in GROUPS:
                size = 100 * sum(number(row, f"gap_{code}") for code in group.codes) / number(row, "estimated")
                axes.bar(at + i, size, bottom=done, width=0.85, color=group.colour)
                done += size
            if done > top:
                axes.annotate(f"{done:.0f} %", (at + i, top), (at + i - 1, top), ha="right", va="top", color=INK)
        names.append((at + (len(chosen) - 1) / 2, chip))
        at += len(chosen) + 3
    axes.set_xticks([place for place, _ in names], [name.replace("-small", "\nsmall") for _, name in names])
    axes.tick_params(axis="x", length=0)
    axes.grid(visible=False, axis="x")
    axes.set_xlim(-1, at - 3)
    axes.set_ylim(0, top)
    axes.set_ylabel("gap, % of the estimate")
    handles = [axes.bar(0, 0, color=group.colour, label=group.name) for group in GROUPS]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False, handlelength=1)
    return figure


# -- one cause at a time ------------------------------------------------------------------------------------------------


def fill_drain(rows: Sequence[Row]) -> Figure:
    """Share of cycles in which the array runs steps, against the length of a pass."""
    figure, fields_ = fields(2, 6.8, 2.5, share_y=True)
    for axes, buffers, title in ((fields_[0], "1", "weights loaded between passes"),
                                 (fields_[1], "2", "weights loaded under the pass")):
        for i, side in enumerate((8, 16, 32, 64)):
            own = [row for row in of(rows, "fill_drain") if (knob(row, "side"), knob(row, "buffers"), knob(row, "stays"))
                   == (str(side), buffers, "weights")]
            series(axes, i, [int(knob(row, "length")) / side for row in own],
                   [100 * number(row, "busy") / number(row, "measured") for row in own], f"{side} x {side}")
        logarithmic(axes, (1 / 64, 1 / 16, 1 / 4, 1, 4, 16, 64))
        axes.set_xlabel("rows streamed in a pass / side of the array")
        axes.set_title(title, loc="left", fontsize=7.5)
    fields_[0].set_ylabel("cycles with a step running, %")
    fields_[0].set_ylim(0, 102)
    legend(fields_[0], loc="upper left")
    return figure


def dram_rows(rows: Sequence[Row]) -> Figure:
    """Delivered share of the peak against the length of a run, for two row pitches; what was asked for counts, not the waste."""
    figure, fields_ = fields(3, 6.8, 2.5, share_y=True)
    names = list(dict.fromkeys(knob(row, "technology") for row in of(rows, "dram_rows")))
    panels = (("4096", "m", "row pitch 4096 B"), ("4224", "m", "row pitch 4224 B"), ("4096", "k", "4096 B, results in between"))
    for axes, (pitch, outer, title) in zip(fields_, panels, strict=True):
        for i, name in enumerate(names):
            own = [row for row in of(studied(rows), "dram_rows")
                   if (knob(row, "technology"), knob(row, "pitch"), knob(row, "outer")) == (name, pitch, outer)]
            series(axes, i, [int(knob(row, "run")) for row in own], [100 * ratio(row, "roofline", "measured") for row in own],
                   name)
        logarithmic(axes, (32, 128, 512, 4096))
        axes.set_xlabel("bytes in a run")
        axes.set_title(title, loc="left", fontsize=7.5)
    fields_[0].set_ylabel("delivered, % of the peak rate")
    fields_[0].set_ylim(0, 102)
    legend(fields_[1], loc="lower right")
    return figure


def banks(rows: Sequence[Row]) -> Figure:
    """Cycles over those with banks that never conflict, against their number, by layout and ports."""
    figure, fields_ = fields(3, 6.8, 2.5, share_y=True)
    by_name = {word(row, "point"): row for row in rows}
    for axes, ports in zip(fields_, ("1RW", "1R1W", "2RW"), strict=True):
        for i, lie in enumerate(("row", "padded:1", "swizzled", "column")):
            own = [row for row in of(studied(rows), "banks") if (knob(row, "lie"), knob(row, "ports")) == (lie, ports)]
            series(axes, i, [int(knob(row, "banks")) for row in own],
                   [number(row, "measured") / number(by_name[word(row, "twin")], "measured") for row in own], lie)
        logarithmic(axes, (2, 4, 8, 16, 32))
        logarithmic(axes, (1, 1.5, 2, 3, 5, 8), y=True)
        axes.set_xlabel("banks of words of 16 B")
        axes.set_title(f"{ports} banks", loc="left", fontsize=7.5)
    fields_[0].set_ylabel("measured / without conflicts")
    legend(fields_[2], "inputs lie by", loc="upper right")
    return figure


def overlap(rows: Sequence[Row]) -> Figure:
    """Cycles over the longer of loading and computing, against their ratio, for one, two and three slots."""
    figure, fields_ = fields(3, 6.8, 2.4, share_y=True)
    for axes, latency in zip(fields_, ("0", "100", "400"), strict=True):
        for i, slots in enumerate(("1", "2", "3")):
            own = [row for row in of(rows, "overlap") if (knob(row, "slots"), knob(row, "latency")) == (slots, latency)]
            series(axes, i, [4 / float(knob(row, "rate")) for row in own], [ratio(row, "measured", "roofline") for row in own],
                   f"{slots} slot{'s' * (slots > '1')}")
        logarithmic(axes, (0.125, 0.25, 0.5, 1, 2, 4, 8))
        axes.set_xlabel("load / compute")
        axes.set_title(f"latency {latency} cycles", loc="left", fontsize=7.5)
    fields_[0].set_ylabel("measured / max(load, compute)")
    fields_[0].set_ylim(0.9, None)
    legend(fields_[0], loc="upper left")
    return figure


def start_up(rows: Sequence[Row]) -> Figure:
    """Cycles over the roofline against the number of tiles; and small products on shipped chips."""
    figure, (left, right) = fields(2, 6.8, 2.5)
    for i, latency in enumerate(("10", "100", "1000")):
        for rate in ("4", "16"):
            own = [row for row in of(rows, "start_up") if (knob(row, "latency"), knob(row, "rate")) == (latency, rate)]
            series(left, i, [int(knob(row, "tiles")) for row in own], [ratio(row, "measured", "roofline") for row in own],
                   f"{latency} cycles, {rate} B/cycle", dashed=rate == "16")
    logarithmic(left, (1, 2, 4, 8, 16, 32, 64))
    logarithmic(left, (1, 1.5, 2, 3, 4, 5), y=True)
    left.set_xlabel("tiles in the run")
    left.set_ylabel("measured / roofline")
    legend(left, "memory")
    for i, chip in enumerate(("gemmini", "nvdla-small", "onnxim", "tpu-v1", "tpu-v3")):
        own = [row for row in of(rows, "start_up") if row["chip"] == chip]
        series(right, i, [int(knob(row, "side")) for row in own],
               [100 * (number(row, "start") + number(row, "finish")) / number(row, "lanes") / number(row, "measured")
                for row in own],
               chip)
    logarithmic(right, (8, 16, 32, 64, 128, 256))
    right.set_ylim(0, 102)
    right.set_xlabel("side of a square product")
    right.set_ylabel("before the first step or after the last, %")
    legend(right, loc="lower left")
    return figure


def contention(rows: Sequence[Row]) -> Figure:
    """One DRAM port against one for each tensor; and cores that share it, against the estimate."""
    figure, (left, right) = fields(2, 6.8, 2.5)
    by_name = {word(row, "point"): row for row in rows}
    for i, shape in enumerate(("square", "tall", "deep", "wide")):
        own = [row for row in of(rows, "contention") if (knob(row, "shape"), knob(row, "ports")) == (shape, "shared")]
        left.plot([ratio(row, "port_bound", "array_bound") for row in own],
                  [number(row, "measured") / number(by_name[word(row, "twin")], "measured") for row in own], MARKS[i],
                  color=HUES[i], markersize=3 + i, markerfacecolor="none", markeredgewidth=0.8, label=shape)
    logarithmic(left, (0.125, 0.25, 0.5, 1, 2, 4))
    left.set_xlabel("the shared port's time / the array's")
    left.set_ylabel("measured / with a port for each tensor")
    legend(left, loc="upper left")
    for i, rate in enumerate(("4", "16", "64")):
        for dashed, lines in ((False, "16"), (True, "4")):
            own = [row for row in of(rows, "contention") if (knob(row, "rate"), knob(row, "rows")) == (rate, lines)]
            series(right, i, [int(knob(row, "cores")) for row in own], [ratio(row, "measured", "estimated") for row in own],
                   f"{rate} B/cycle, tiles of {lines} rows", dashed=dashed)
    logarithmic(right, (1, 2, 4, 8))
    right.set_xlabel("cores behind one DRAM port")
    right.set_ylabel("measured / estimated")
    legend(right)
    return figure


def ragged(rows: Sequence[Row]) -> Figure:
    """Cycles of cubes from 33 to 64 on an 8 x 8 x 8 array: measured, estimated and in proportion to the MACs."""
    figure, (axes,) = fields(1, 4.4, 2.5)
    own = [row for row in of(rows, "ragged") if knob(row, "extent")]
    sides = [int(knob(row, "extent")) for row in own]
    whole = number(own[-1], "measured") / number(own[-1], "macs")
    series(axes, 0, sides, [number(row, "measured") for row in own], "measured")
    series(axes, 1, sides, [number(row, "estimated") for row in own], "estimated", dashed=True)
    axes.plot(sides, [whole * number(row, "macs") for row in own], color=LINE, linewidth=0.9, linestyle=":",
              label="as the MACs of 64")
    axes.set_xticks(range(32, 65, 8))
    axes.set_ylim(0, None)
    axes.set_xlabel("side of the cube (m = n = k) on an 8 x 8 x 8 array")
    axes.set_ylabel("cycles")
    legend(axes, loc="upper left")
    return figure
