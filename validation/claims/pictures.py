"""The pictures of the claims, and those of 4, 9, 12 and 23."""

from __future__ import annotations

from math import isqrt, sqrt

from matplotlib.figure import Figure

from accelsim.outputs.paper import house_style
from validation.claims import caches, mapping_pictures, shapes_pictures
from validation.claims.build import RATES
from validation.claims.measures import BASE, CAPACITIES, SIDE, SWEPT, best_traffic, elasticities, off_target
from validation.study.pictures import HUES, IMAGES, INK, LINE, MARKS, fields, legend, logarithmic, series


def draw() -> None:
    """Write all of them."""
    with house_style():
        for name, figure in (*mapping_pictures.pictures(), *shapes_pictures.pictures(), ("capacity", capacity()),
                             ("target", target()), ("cache", cached()), ("binding", binding())):
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


def cached() -> Figure:
    """Bytes and cycles of a cache over those of a scratchpad: where it loses, and where it saves."""
    figure, both = fields(2, 6.8, 2.3)
    loses = (("rows 1 KiB apart, 4 ways", caches.conflicts(4, 256)), ("tiles of 4 words, lines of 16", caches.narrow(4)),
             ("LRU, room for one slot each", caches.cyclic(48)), ("outputs read before written", caches.results()),
             ("no prefetch, 16 in flight", caches.streamed(16)))
    saves = (("tiles of 2 x 2 x 2", caches.small(2)), ("tiles of 8 x 8 x 8", caches.small(8)),
             ("no tiles: all at once", caches.small(32)), ("sums leave every 4 deep", caches.spilled(4)),
             ("windows, tiles of a row", caches.windows(1)))
    for axes, rows, ticks, title in ((both[0], loses, (1, 2, 4, 8, 16), "a good mapping: the cache loses"),
                                     (both[1], saves, (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2), "a bad mapping: it saves bytes")):
        places = range(len(rows), 0, -1)
        for number, (name, values) in enumerate((("bytes", [one.bytes_ratio for _, one in rows]),
                                                 ("cycles", [one.cycles_ratio for _, one in rows]))):
            up = [place + (0.17, -0.17)[number] for place in places]
            axes.hlines(up, 1, values, color=HUES[number], linewidth=1.4)
            axes.plot(values, up, color=HUES[number], marker=MARKS[number], markersize=4, linestyle="", label=name)
        axes.axvline(1, color=INK, linewidth=0.7)
        logarithmic(axes, ticks)
        axes.set_xlim(ticks[0] / 1.3, ticks[-1] * 1.3)
        axes.set_yticks(list(places), [name for name, _ in rows])
        axes.grid(visible=False, axis="y")
        axes.set_title(title)
        axes.set_xlabel("cache / scratchpad")
    legend(both[0], loc="lower right")
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
