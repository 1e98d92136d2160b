"""The pictures of the claims."""

from __future__ import annotations

from math import isqrt, sqrt

from matplotlib.figure import Figure

from accelsim.outputs.paper import house_style
from validation.claims.build import RATES
from validation.claims.measures import BASE, CAPACITIES, SIDE, SWEPT, best_traffic, elasticities, off_target
from validation.study.pictures import HUES, IMAGES, LINE, fields, legend, logarithmic, series


def draw() -> None:
    """Write all of them."""
    with house_style():
        for name, figure in (("capacity", capacity()), ("target", target()), ("binding", binding())):
            figure.savefig(IMAGES / f"claim-{name}.svg", format="svg", metadata={"Date": None, "Creator": None})


def capacity() -> Figure:
    """Words moved against capacity, with the closed forms."""
    figure, (axes,) = fields(1, 4.4, 2.6)
    axes.plot(CAPACITIES, [2 * SIDE ** 3 / sqrt(words / 3) for words in CAPACITIES], color=LINE, linewidth=0.9, linestyle=":",
              label="2 N^3 / sqrt(C / 3)")
    axes.plot(CAPACITIES, [2 * SIDE ** 3 / sqrt(words) for words in CAPACITIES], color=LINE, linewidth=0.9, linestyle="--",
              label="2 N^3 / sqrt(C)")
    series(axes, 0, CAPACITIES, [best_traffic(SIDE, words, cubes=True)[0] for words in CAPACITIES], "best cubes")
    series(axes, 1, CAPACITIES, [best_traffic(SIDE, words)[0] for words in CAPACITIES], "best tiles of any shape")
    logarithmic(axes, CAPACITIES)
    logarithmic(axes, [1000 * thousands for thousands in (100, 200, 400, 800)], y=True)
    axes.set_yticklabels([f"{thousands} k" for thousands in (100, 200, 400, 800)])
    for words in CAPACITIES:
        side = isqrt(words // 3)
        axes.annotate(f"{side}", (words, best_traffic(SIDE, words, cubes=True)[0]), xytext=(0, 4), textcoords="offset points",
                      ha="center", color=HUES[0])
    axes.set_xlabel("words of SRAM, C (figures: the side sqrt(C / 3))")
    axes.set_ylabel(f"words moved, N = {SIDE}")
    legend(axes, loc="lower left")
    return figure


def target() -> Figure:
    """Throughput over that at the target, two fields of three sweeps."""
    figure, both = fields(2, 6.8, 2.5, share_y=True)
    for i, (name, dtype, dim, wanted, others) in enumerate(SWEPT):
        shares = off_target(name, dtype, dim, wanted, others)
        axes = both[i // 3]
        axes.plot([extent / wanted for extent in shares], list(shares.values()), color=HUES[i % 3], linewidth=0.9, marker=".",
                  markersize=3, label=f"{name}, {dim} about {wanted}")
    for axes in both:
        axes.plot([1 / 5, 1], [1 / 5, 1], color=LINE, linewidth=0.9, linestyle=":", label="in proportion")
        logarithmic(axes, (0.2, 0.5, 1, 2, 5))
        axes.set_xticklabels(["1/5", "1/2", "1", "2", "5"])
        axes.set_xlabel("extent / target")
        legend(axes, loc="lower right")
    both[0].set_ylabel("throughput / at the target")
    both[0].set_ylim(0, None)
    return figure


def binding() -> Figure:
    """Elasticities against the rate of the DRAM."""
    figure, (axes,) = fields(1, 4.4, 2.5)
    found = [elasticities(dram=rate) for rate in RATES]
    for i, name in enumerate(BASE):
        series(axes, i, RATES, [one[name] for one in found], {"dram": "DRAM", "sram": "SRAM"}.get(name, name))
    logarithmic(axes, RATES)
    axes.set_xlabel("rate of the DRAM, B/cycle")
    axes.set_ylabel("doublings gained by one doubling")
    legend(axes, loc="best")
    return figure
