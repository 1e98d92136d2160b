"""Pictures of claims 8, 10 and 11."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.figure import Figure

from validation.claims import memory, shapes
from validation.study.pictures import HUES, MARKS, fields, legend, logarithmic, series


def pictures() -> Iterator[tuple[str, Figure]]:
    """Name and figure of each."""
    yield "filling", filling()
    yield "peak", peak()
    yield "runs", runs()


def filling() -> Figure:
    """Share of the peak of two arrays, against rows and against columns."""
    figure, (left, right) = fields(2, 6.8, 2.5, share_y=True)
    for number, side in enumerate(shapes.ARRAYS):
        series(left, number, shapes.ROWS, [100 * shapes.weighted(side, m, shapes.DEEP, shapes.DEEP).utilization
                                           for m in shapes.ROWS], f"{side} x {side}")
        series(right, number, shapes.WIDTHS, [100 * shapes.weighted(side, shapes.LONG, n, shapes.DEEP).utilization
                                              for n in shapes.WIDTHS], f"{side} x {side}")
    for axes in (left, right):
        logarithmic(axes, (0.1, 0.3, 1, 3, 10, 30, 100), y=True)
        axes.set_ylim(0.1, 130)
    left.set_yticklabels(["0.1", "0.3", "1", "3", "10", "30", "100"])
    logarithmic(left, (1, 4, 16, 64, 256, 1024, 4096))
    logarithmic(right, (1, 4, 16, 64, 256, 1024))
    left.set_xlabel("rows, of M x 1024 x 1024")
    right.set_xlabel("columns, of 4096 x N x 1024")
    left.set_ylabel("of the peak, %")
    legend(left, loc="lower right")
    return figure


def peak() -> Figure:
    """Share of one peak: by native shape, and by depth and slots."""
    figure, (left, right) = fields(2, 6.8, 2.5, share_y=True)
    for number, (side, interval) in enumerate(shapes.UNITS):
        left.plot(shapes.NARROW, [100 * shapes.native(side, interval, extent, extent, shapes.REDUCED).utilization
                                  for extent in shapes.NARROW], color=HUES[number], linewidth=0.9, marker=MARKS[number],
                  markersize=3, label=f"{side} x {side} x {side} every {interval}")
    for number, slots in enumerate(shapes.SLOTS):
        series(right, number, shapes.LAGS, [100 * 16 / float(shapes.lagging(depth, slots)) for depth in shapes.LAGS],
               f"{slots} slot{'s' * (slots > 1)}")
    left.set_xticks([1, 4, 8, 12, 16, 20, 24, 28, 32])
    left.set_xlabel("side of the outputs, reduction of 64")
    right.set_xticks([0, 16, 32, 64, 128])
    right.set_xlabel("depth of the unit, cycles; tiles of 16 cycles")
    left.set_ylabel("of the peak, %")
    left.set_ylim(0, 104)
    legend(left, loc="lower right")
    legend(right, loc="upper right")
    return figure


def runs() -> Figure:
    """Delivered share of the peak against the length of a run."""
    figure, (axes,) = fields(1, 4.4, 2.5)
    for number, name in enumerate(memory.MEMORIES):
        found = [(length, one.share) for length in memory.RUNS for one in [memory.scattered(length, name)] if one]
        series(axes, number, [length for length, _ in found], [100 * share for _, share in found], name)
    logarithmic(axes, memory.RUNS)
    axes.set_ylim(0, 102)
    axes.set_xlabel("bytes in a run")
    axes.set_ylabel("delivered, % of the peak rate")
    legend(axes, loc="lower right")
    return figure
