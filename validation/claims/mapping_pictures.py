"""Pictures of claims 1, 2, 3, 5, 6 and 7."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.figure import Figure

from validation.claims import mapping, spaces
from validation.claims.mapping import DEEP, DRAM_TB_S, ORDERS, PEAK_TFLOPS, ROOFED, WORD
from validation.claims.mapping_page import count_of, placed, steps
from validation.study.pictures import FAINT, HUES, INK, LINE, MARKS, fields, legend, logarithmic, series

PALE = "#E6E6E6"


def pictures() -> Iterator[tuple[str, Figure]]:
    """Name and figure of each."""
    yield "intensity", intensity()
    yield "orders", orders()
    yield "refills", refills()
    yield "levels", levels()
    yield "buffers", buffers()
    yield "mapspace", mapspace()


def intensity() -> Figure:
    """Mappings of one product on one roofline."""
    figure, (axes,) = fields(1, 4.4, 2.7)
    ridge, last = PEAK_TFLOPS / DRAM_TB_S, 1000
    axes.plot([0.1, ridge, last], [0.1 * DRAM_TB_S, PEAK_TFLOPS, PEAK_TFLOPS], color=LINE, linewidth=0.9,
              label=f"roof: {DRAM_TB_S:.2f} TB/s, {PEAK_TFLOPS:.0f} TFLOP/s")
    for name, what, _ in placed():
        found = mapping.square(ROOFED, what)
        across, rate = float(found.intensity), PEAK_TFLOPS * found.macs / found.cycles
        top, whole = min(PEAK_TFLOPS, across * DRAM_TB_S), what == mapping.ALL
        number = {mapping.NOTHING: 1, mapping.ALL: 2}.get(what, 0)
        axes.plot([across, across], [rate, top], color=LINE, linewidth=0.9, linestyle=":")
        axes.plot([across], [rate], MARKS[number], color=HUES[number], markersize=4.5)
        axes.annotate(f"{name}: {'1/6' if what == mapping.NOTHING else f'{across:.1f}'}", (across, top if whole else rate),
                      xytext=(0, 3) if whole else (7, -1), textcoords="offset points", ha="center" if whole else "left",
                      va="bottom" if whole else "top", color=INK)
    logarithmic(axes, (0.1, 1, 10, 100, 1000))
    logarithmic(axes, (0.1, 1, 10, 100, 1000), y=True)
    axes.set_xticklabels(["0.1", "1", "10", "100", "1000"])
    axes.set_xlim(0.1, last)
    axes.set_ylim(0.2, 1000)
    axes.set_xlabel("operations for a byte of DRAM traffic")
    axes.set_ylabel("TFLOP/s, were the peak an H100's")
    legend(axes, loc="upper left")
    return figure


def orders() -> Figure:
    """Words moved by three orders: many rows, and many columns."""
    figure, both = fields(2, 6.8, 2.5, share_y=True)
    for axes, many in zip(both, ("m", "n"), strict=True):
        shapes = mapping.swept(many)
        across = [k / max(m, n) for m, n, k in shapes]
        for number, (stays, order) in enumerate(ORDERS.items()):
            series(axes, number, across, [mapping.permuted(order, *shape).moved / WORD / 1000 for shape in shapes],
                   f"{stays} stay")
        axes.axvline(2, color=LINE, linewidth=0.9, linestyle=":")
        axes.annotate("K = 2 " + many.upper(), (2, 13.2), xytext=(4, 0), textcoords="offset points", color=INK)
        logarithmic(axes, (1 / 16, 1 / 4, 1, 4, 16, 64))
        axes.set_xlabel(f"K / {many.upper()}, {'N' if many == 'm' else 'M'} = {mapping.NARROW}")
        axes.set_title(f"{many.upper()} x K = {mapping.AREA}", loc="left", fontsize=7.5)
    both[0].set_ylim(13, 22)
    both[0].set_ylabel("thousand words moved")
    legend(both[1], loc="lower right")
    return figure


def refills() -> Figure:
    """Traffic of the output over its size, with the reduction outermost and innermost."""
    figure, (axes,) = fields(1, 4.4, 2.4)
    m, n = mapping.REDUCED
    across = [k // DEEP for k in mapping.DEPTHS]
    outside, inside = ([mapping.permuted(order, m, n, k) for k in mapping.DEPTHS]
                       for order in (mapping.OUTERMOST, ORDERS["outputs"]))
    size = WORD * m * n
    series(axes, 0, across, [(one.refilled + one.drained) / size for one in outside], "k outermost, both ways")
    series(axes, 1, across, [one.refilled / size for one in outside], "k outermost, refills")
    series(axes, 2, across, [(one.refilled + one.drained) / size for one in inside], "k innermost, both ways")
    axes.set_xticks([1, 2, 4, 8, 12, 16])
    axes.set_yticks([1, 7, 15, 23, 31])
    axes.set_xlabel("steps of the reduction, K / Tk")
    axes.set_ylabel("traffic of the output / its size")
    legend(axes, loc="upper left")
    return figure


def levels() -> Figure:
    """Three searches: bytes at both borders and cycles, over those of the joint one."""
    figure, (axes,) = fields(1, 4.4, 2.4)
    _, chosen = spaces.greedy_and_joint()
    joint = chosen["both at once"]
    for number, (name, one) in enumerate(chosen.items()):
        parts = ((one.outer, joint.outer), (one.inner, joint.inner), (one.cycles, joint.cycles))
        places = [group + 0.27 * (number - 1) for group in range(len(parts))]
        axes.bar(places, [part / whole for part, whole in parts], width=0.25, label=name, edgecolor=INK, linewidth=0.5,
                 color=(PALE, HUES[5], HUES[0])[number])
        for place, (part, whole) in zip(places, parts, strict=True):
            axes.text(place, part / whole, f"{part:,}", ha="center", va="bottom", color=INK, fontsize=6)
    axes.set_xticks(range(3), ["bytes,\nDRAM to SRAM", "bytes,\nSRAM to register file", "cycles"])
    axes.tick_params(axis="x", length=0)
    axes.grid(visible=False, axis="x")
    axes.set_ylim(0, 2.4)
    axes.set_ylabel("over those of both at once")
    legend(axes, loc="upper right")
    return figure


def buffers() -> Figure:
    """Cycles a tile with one buffer and two; and a smaller tile twice over a larger one once."""
    figure, (left, right) = fields(2, 6.8, 2.5)
    across = [4 / float(rate) for rate in mapping.STREAM_RATES]
    left.plot(across, [1 + load for load in across], color=LINE, linewidth=0.9, linestyle=":", label="load + compute")
    left.plot(across, [max(1, load) for load in across], color=LINE, linewidth=0.9, linestyle="--", label="max(load, compute)")
    for number, count in enumerate((1, 2)):
        left.plot(across, [float(mapping.period(count, rate)) / 64 for rate in mapping.STREAM_RATES], MARKS[number],
                  color=HUES[number], markersize=4, label=f"{('one buffer', 'two buffers')[number]}")
    logarithmic(left, (1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8))
    logarithmic(left, (1, 2, 4, 8), y=True)
    left.set_xlabel("load / compute")
    left.set_ylabel("cycles a tile / compute")
    legend(left, loc="upper left")
    rates = [float(rate) for rate in mapping.BLOCK_RATES]
    series(right, 0, rates, [mapping.blocked(8, 2, rate) / mapping.blocked(16, 1, rate) for rate in mapping.BLOCK_RATES], "")
    right.axhline(1, color=INK, linewidth=0.7)
    logarithmic(right, (0.05, 0.1, 0.2, 0.5, 1, 2, 4))
    right.set_xticklabels(["0.05", "0.1", "0.2", "0.5", "1", "2", "4"])
    right.set_ylim(0.8, 1.9)
    right.text(0.5, 1.4, "two buffers lose:\ntheir tiles are smaller", color=INK)
    right.text(0.06, 0.86, "two buffers win", color=INK)
    right.set_xlabel("rate of the DRAM, B/cycle")
    right.set_ylabel("cycles, two of 8 rows / one of 16")
    return figure


def mapspace() -> Figure:
    """How many mappings there are, and what pruning leaves."""
    figure, (axes,) = fields(1, 6.8, 2.3)
    counts = steps()
    for place, (_, count, pruned) in enumerate(counts):
        axes.barh(place, float(count), height=0.68, color=HUES[0] if pruned else FAINT, edgecolor=INK, linewidth=0.4)
        axes.text(1.6 * count, place, count_of(count), va="center", color=INK)
    axes.set_xscale("log")
    axes.set_xlim(1, 1e23)
    axes.set_xticks([10.0 ** exponent for exponent in range(0, 22, 3)])
    axes.set_yticks(range(len(counts)), [name for name, _, _ in counts])
    axes.invert_yaxis()
    axes.minorticks_off()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("mappings")
    handles = [axes.barh(0, 0, color=colour, edgecolor=INK, linewidth=0.4, label=label)
               for colour, label in ((FAINT, "there are"), (HUES[0], "left"))]
    axes.legend(handles=handles, frameon=False, loc="lower right")
    return figure
