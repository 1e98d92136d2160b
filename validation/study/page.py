"""The docs page, written from the table: every figure on it is computed here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from validation.study.rows import Row
from validation.study.summary import (
    FAMILY_NAMES,
    LADDER,
    Spread,
    knob,
    number,
    of,
    ratio,
    sizes,
    spread,
    studied,
    within,
    word,
)

PAGE = Path(__file__).resolve().parents[2] / "docs" / "analytic-error.md"
NOTE = "<!-- Written by `make study` from validation/study/points.csv; change validation/study/page.py. -->"


def page(rows: Sequence[Row]) -> str:
    """All of it."""
    return "\n".join([*opening(rows), "", *fine(rows), "", *by_cause(rows), "", *ladder(rows), "", *single(), "",
                      *again(rows)]) + "\n"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table."""
    return ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head), *("| " + " | ".join(row) + " |" for row in rows)]


def figures(found: Spread) -> tuple[str, str, str]:
    """Median, 90th percentile, worst, as factors."""
    return factor(found.median), factor(found.p90), factor(found.worst)


def factor(value: float) -> str:
    """Three decimals near one, fewer far from it."""
    return f"{value:.3f}" if value < 2 else f"{value:.2f}" if value < 20 else f"{value:,.0f}"


def percent(share: float) -> str:
    """A share in percent, whole."""
    return f"{100 * share:.0f} %"


def picture(name: str, says: str) -> list[str]:
    """A picture with its text."""
    return ["", f"![{says}](img/error-{name}.svg)", ""]


def over(rows: Sequence[Row], top: str = "measured", bottom: str = "estimated") -> Spread:
    """The spread of one column over another."""
    return spread({word(row, "point"): ratio(row, top, bottom) for row in rows})


def rated(rows: Sequence[Row]) -> list[Row]:
    """The points whose memories have a plain rate, and move bytes as they are asked for."""
    return [row for row in studied(rows) if word(row, "family") not in
            ("dram_rows", "dram_layers", "granularity", "banks", "layers")]


def opening(rows: Sequence[Row]) -> Iterator[str]:
    """What was run, and the answer in a paragraph."""
    asked = studied(rows)
    chips = sorted({word(row, "chip") for row in asked})
    all_of, roof = over(asked), over(asked, "measured", "roofline")
    yield from ("# Where closed forms are wrong", "", NOTE, "",
                "A formula for the cycles of a mapping is right where one resource is busy all the time, and wrong in known "
                f"ways elsewhere. This page sizes each of them, on {len(asked):,} points: operators and mappings on "
                f"{len(chips)} shipped chips ({', '.join(chips)}), some with other arrays, ports, buffers or memories. Every "
                f"point was estimated and simulated (*measured* means simulated); {len(rows) - len(asked)} more are there only "
                "to be compared with. No run was faster than its estimate, which is a lower bound.", "",
                "Against the **roofline** (MACs at peak, or bytes of the outermost memory at its rate, whichever takes longer) "
                f"the measurement is {factor(roof.median)} times as long at the median, {factor(roof.p90)} at the 90th "
                "percentile. Against accelsim's own **estimate**, the longest of what every resource carries, what the slots "
                f"allow and the way in and out, it is {factor(all_of.median)} times as long at the median, {factor(all_of.p90)} "
                f"at the 90th percentile and {factor(all_of.worst)} at worst (`{all_of.at}`). {percent(within(asked, 0.01))} of "
                f"the points are within 1 % of the estimate, {percent(within(asked, 0.05))} within 5 % and "
                f"{percent(within(asked, 0.1))} within 10 %.",
                *picture("distribution", "Every point by family: measured over roofline and measured over estimate, with "
                                         "medians and 90th percentiles"))
    rows_ = []
    for family, name in FAMILY_NAMES.items():
        own = of(asked, family)
        rows_.append((name, str(len(own)), *figures(over(own, "measured", "roofline")), *figures(over(own)),
                      percent(within(own, 0.05))))
    yield from table(("family", "points", "over roofline: median", "p90", "worst", "over estimate: median", "p90", "worst",
                      "within 5 %"), rows_)
    yield from ("", "A 90th percentile is the least value that nine tenths of the points do not exceed. The families were "
                    "chosen to show errors, so their spread is that of these grids, not of all work; network layers are the "
                    "real mix.")


def fine(rows: Sequence[Row]) -> Iterator[str]:
    """Where the estimate is right."""
    some = rated(rows)
    kinds: dict[str, Callable[[str], bool]] = {
        "the array's work, and the way in and out (`path`)": lambda bound: bound == "path",
        "a port or link": lambda bound: bound.endswith((" port", " link", " preload")),
        "slots that come free (`slots`)": lambda bound: bound.endswith(" slots")}
    lines = []
    for name, test in kinds.items():
        own = [row for row in some if test(word(row, "bound"))]
        lines.append((name, str(len(own)), *figures(over(own)), percent(within(own, 0.01)), percent(within(own, 0.05))))
    even = [row for row in some if int(knob(row, "cores") or 1) == 1 and row["family"] in ("fill_drain", "overlap", "ports")]
    yield from ("## Where the closed form is fine", "",
                f"One core at plain memory rates: on the {len(even)} points of array fill and drain, overlap and SRAM ports the "
                f"estimate is within 1 % on {percent(within(even, 0.01))} and within 5 % on {percent(within(even, 0.05))}. Fill "
                "and drain of the array, single buffering, and the first and last tile are in the estimate, so they are no "
                "error of *its*; they are one of any formula that divides work by rate. By what bounds the estimate, on all "
                "families at plain rates without the layers:", "")
    yield from table(("bounded by", "points", "median", "p90", "worst", "within 1 %", "within 5 %"), lines)
    layers = of(rows, "layers")
    by_chip = []
    for chip in dict.fromkeys(word(row, "chip") for row in layers):
        own = [row for row in layers if row["chip"] == chip]
        found = over(own)
        by_chip.append((chip, str(len(own)), *figures(found), percent(within(own, 0.05)), f"`{found.at.partition('/')[2]}`"))
    yield from ("", "On layers of shipped networks (ResNet-50, MobileNet v2, AlexNet, decode of Llama-2-7B) as `auto` maps them:",
                "")
    yield from table(("chip", "layers", "median", "p90", "worst", "within 5 %", "the worst"), by_chip)
    yield from picture("layers", "Gap between estimate and measurement of each network layer, by cause, chip by chip")
    yield ("Four cores that share one memory and one network (`onnxim`) are where the estimate is worst: they start, wait and "
           "end at different times, and layers are short. Its worst layer reads every other element of its input in bursts of "
           "32 B, which the estimate counts as the bytes asked for.")


def by_cause(rows: Sequence[Row]) -> Iterator[str]:
    """Each error alone."""
    yield from ("## Each error apart", "",
                "For each, a model that leaves just this out, and by what factor the measurement is longer. Where a twin exists "
                "(the same point without the mechanism: two slots for one, a port for each tensor, a plain rate for simulated "
                "channels) the factor is measured over measured.", "")
    found = sizes(rows)
    yield from table(("what is left out", "the model then says", "points", "median", "p90", "worst", "the worst"), [
        (error.name, error.against, str(size.points), *figures(size), f"`{size.at}`") for error, size in found])
    yield ""
    for error, _ in found:
        yield f"- **{error.name[0].upper()}{error.name[1:]}.** {error.why}"
    yield from picture("fill-drain", "Share of cycles with a step running against the length of a pass, for arrays of four "
                                     "sides, with weights loaded between passes and under them")
    yield from picture("start-up", "Measured over roofline against the number of tiles, and the share of a run before the first "
                                   "step or after the last on shipped chips")
    yield from picture("overlap", "Measured over the longer of load and compute against their ratio, for one, two and three "
                                  "slots, at three latencies")
    yield from picture("ragged", "Cycles of cubes from 33 to 64 on an 8 x 8 x 8 array: steps where the sides pass a multiple of "
                                 "8, and a jump where they pass a multiple of a tile")
    yield from picture("banks", "Cycles over those without conflicts against the number of banks, for four layouts of the "
                                "streamed input and three kinds of ports")
    yield from picture("contention", "A shared DRAM port against one for each tensor, and cores behind one port against the "
                                     "estimate")
    yield from dram(rows)


def dram(rows: Sequence[Row]) -> Iterator[str]:
    """Rows of the DRAM, by run length."""
    own = [row for row in of(studied(rows), "dram_rows") if knob(row, "pitch")]
    lines = []
    for run in ("32", "64", "128", "256", "512", "1024", "4096"):
        some = [row for row in own if knob(row, "run") == run]
        shares = sorted(ratio(row, "roofline", "measured") for row in some)
        bursts = sum(number(row, "dram_bursts") for row in some)
        hits = sum(number(row, "dram_row_hits") for row in some)
        lines.append((run, str(len(some)), percent(shares[0]), percent(shares[len(shares) // 2]), percent(shares[-1]),
                      percent(hits / bursts), factor(over(some).median)))
    yield from ("### DRAM: runs, rows and channels", "",
                "Tiles of 8 KiB of a matrix in runs of so many bytes, read through channels that are simulated command by "
                "command, on four technologies; the array is always faster than the memory. Delivered is what was asked for, as "
                "a share of the peak rate.")
    yield from picture("dram-rows", "Share of the peak rate that is delivered against the bytes in a run, on four DRAM "
                                    "technologies, for two row pitches and with results in between")
    yield from table(("bytes in a run", "points", "delivered: least", "median", "most", "bursts that find their row open",
                      "measured / estimated, median"), lines)
    worst = next(row for row in own if row["point"] == "dram_rows/hbm2-2000-pitch4096-run32-m")
    yield from ("", "A row pitch of 4096 B sends all runs of a tile to the same channel, and there to the same bank group, so "
                    "that the sixteen pseudo-channels of HBM2 take turns instead of working together; 4224 B spreads them. "
                    "Bursts enter the queues in the order of the transfers, and one whose queue is full holds up those behind "
                    "it: tiles of other channels wait too. At worst a burst of 32 B comes every "
                    f"{number(worst, 'measured') / number(worst, 'dram_bursts'):.1f} cycles, tCCD_L, where the peak is sixteen "
                    "in two cycles. The stall cause is then `dram_bandwidth`, the tile's own bytes at its channel's rate, more "
                    "than `dram_row`. The estimate takes the peak rate of all channels and the least latency of a burst, and "
                    "knows neither rows nor channels.")


def ladder(rows: Sequence[Row]) -> Iterator[str]:
    """From the roofline to the measurement."""
    own = rated(rows) + of(rows, "layers")
    yield from ("## From the roofline to the measurement", "",
                f"The same gap as a product of four factors, on the {len(own)} points at plain rates, layers included. The "
                "first three are closed forms, each with something more than the one before it; the last is what no bound has.",
                "")
    yield from table(("factor", "median", "p90", "worst", "the worst"), [
        (name, *figures(over(own, top, bottom)), f"`{over(own, top, bottom).at}`") for name, top, bottom in LADDER])


def single() -> Iterator[str]:
    """What makes the last factor."""
    yield from ("## What the estimate leaves out", "",
                "The mean gap between estimate and measurement, as a share of the estimate, by the causes of the "
                "[waterfall](results.md) that every run prints:")
    yield from picture("causes", "Mean gap between estimate and measurement by group of causes, family by family")
    yield ("*Bandwidth* and *latency not overlapped*: the estimate lets each resource work without a pause, as long as its "
           "slots allow on average; in the run, loads come when a slot is free, so a port idles and then is waited for. *Slots "
           "still draining*: an output's slot is not free until its drain is through. *Issue*: launch and the limit of "
           "outstanding requests.")


def again(rows: Sequence[Row]) -> Iterator[str]:
    """How to do it again, and what is not here."""
    yield from ("## Again, and what is not here", "",
                f"`make study` runs all {len(rows)} points, and writes `validation/study/points.csv` (a row a point: chip, "
                "operator, mapping, overrides, closed forms, measurement, stalls and gaps by cause), the pictures and this "
                "page. A test runs some of the points again and compares every number. The list is fixed "
                "(`validation/study/points.py`): chips are shipped ones with values replaced as `-o` does, so each point "
                "without an explicit mapping is one `accelsim check` away.", "",
                "Not simulated, so not sized: caches and routers in the loop, several operators at once, address translation, "
                "and instruction issue beyond a launch.")


def write(rows: Sequence[Row]) -> None:
    """Write the page."""
    PAGE.write_text(page(rows), encoding="utf-8")
