"""The table in figures: how far each model is off, by family and by cause; nothing here is typed by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median

from accelsim.stalls import IDLE_COLOUR, StallCause
from validation.study.rows import Row

FAMILY_NAMES = {"fill_drain": "array fill and drain", "start_up": "start-up", "overlap": "overlap", "ragged": "ragged tiles",
                "ports": "SRAM ports", "banks": "SRAM banks", "contention": "contention", "granularity": "short runs",
                "layers": "network layers", "dram_rows": "DRAM commands, tiles",
                "dram_layers": "DRAM commands, layers"}
"""In the order of tables and pictures."""


@dataclass(frozen=True)
class Group:
    """Causes of the waterfall that are one matter, their colour in pictures, and what they are."""

    name: str
    colour: str
    codes: tuple[str, ...]


GROUPS = (
    Group("rows, refresh, turnaround", StallCause.DRAM_ROW.colour, ("dram_row", "dram_refresh", "dram_turnaround")),
    Group("banks", StallCause.BANK_CONFLICT.colour, ("bank_conflict",)),
    Group("bandwidth not overlapped", StallCause.DRAM_BANDWIDTH.colour, ("dram_bandwidth", "sram_bandwidth", "link_bandwidth")),
    Group("latency not overlapped", StallCause.DRAM_LATENCY.colour, ("dram_latency", "sram_latency", "link_latency")),
    Group("contention", StallCause.CONTENTION.colour, ("contention",)),
    Group("slots still draining", StallCause.WRITEBACK.colour, ("writeback",)),
    Group("array fill and drain", StallCause.ARRAY_FILL_DRAIN.colour, ("array_fill_drain",)),
    Group("issue", StallCause.ISSUE.colour, ("issue",)),
    Group("cores that wait or have ended", IDLE_COLOUR, ("sync", "idle", "other")))


@dataclass(frozen=True)
class Spread:
    """Median, 90th percentile (nine tenths are no larger) and the worst of some points, with the worst's name."""

    points: int
    median: float
    p90: float
    worst: float
    at: str


def spread(values: Mapping[str, float]) -> Spread:
    """The spread of a number of each point; ties go to the first."""
    ordered = sorted(values.values())
    at = max(values, key=lambda name: values[name])
    return Spread(len(ordered), median(ordered), ordered[ceil(0.9 * len(ordered)) - 1], ordered[-1], at)


def knob(row: Row, name: str) -> str:
    """One of the family's knobs, "" where it has none of that name."""
    pairs = dict(part.split("=", 1) for part in str(row["knobs"]).split("; ") if part)
    return pairs.get(name, "")


def number(row: Row, name: str) -> int:
    """A column that holds a number."""
    value = row[name]
    assert isinstance(value, int)
    return value


def ratio(row: Row, top: str, bottom: str) -> float:
    """One column over another."""
    return number(row, top) / number(row, bottom)


def word(row: Row, name: str) -> str:
    """A column that holds text."""
    return str(row[name])


def studied(rows: Sequence[Row]) -> list[Row]:
    """Without the twins that are there only to be compared with."""
    return [row for row in rows if not knob(row, "plain")]


def of(rows: Sequence[Row], family: str) -> list[Row]:
    """The points of a family."""
    return [row for row in rows if row["family"] == family]


@dataclass(frozen=True)
class Error:
    """One way to be wrong: what the wrong model leaves out, the factor it costs at each point, and why."""

    name: str
    against: str
    value: Callable[[Row, Mapping[str, Row]], float | None]
    why: str


def over_twin(family: str, **knobs: str) -> Callable[[Row, Mapping[str, Row]], float | None]:
    """Measured cycles per MAC over those of the twin, for the points of a family with these knobs."""
    def value(row: Row, rows: Mapping[str, Row]) -> float | None:
        if row["family"] != family or not row["twin"] or any(knob(row, key) != want for key, want in knobs.items()):
            return None
        twin = rows[word(row, "twin")]
        return ratio(row, "measured", "macs") / ratio(twin, "measured", "macs")
    return value


def fill_drain(row: Row, _: Mapping[str, Row]) -> float | None:
    """Cycles over those in which the array runs steps, of those on memory that costs nothing."""
    if row["family"] != "fill_drain" or not knob(row, "side"):
        return None
    return number(row, "measured") * number(row, "lanes") / number(row, "busy")


def start_up(row: Row, _: Mapping[str, Row]) -> float | None:
    """Cycles over those between the array's first and last busy cycle."""
    if row["family"] != "start_up":
        return None
    ends = number(row, "start") + number(row, "finish")
    return number(row, "measured") / (number(row, "measured") - ends / number(row, "lanes"))


def cores(row: Row, _: Mapping[str, Row]) -> float | None:
    """Measured over the estimate, where several cores share the memory."""
    return ratio(row, "measured", "estimated") if int(knob(row, "cores") or 1) > 1 else None


def queue(family: str, ports: str) -> Callable[[Row, Mapping[str, Row]], float | None]:
    """Measured over the estimate, for the points of a family whose ports are so."""
    def value(row: Row, _: Mapping[str, Row]) -> float | None:
        return ratio(row, "measured", "estimated") if (row["family"], knob(row, "ports")) == (family, ports) else None
    return value


ERRORS = (
    Error("array fill and drain", "the array always computes", fill_drain,
          "A systolic pass of T rows on R x C PEs holds the array for T cycles, needs R more to load its stationary words "
          "(unless the next ones are loaded under the pass) and R + C - 2 for the last result to leave. With T short against R "
          "+ C the array mostly fills and empties."),
    Error("start-up and finish", "all is steady state", start_up,
          "The array waits until the first tiles have come all the way in (launch, latency, and a whole tile's transfer that "
          "nothing hides), and the last results leave after it has stopped. The fewer tiles a run has, the more of it is this."),
    Error("single buffering", "loads hide under compute", over_twin("overlap"),
          "With one slot a tile is loaded, used, and only then replaced: load + latency + compute a tile, where two slots take "
          "about the longest of them. Worst where both take equally long."),
    Error("ragged tiles", "cycles follow the MACs", over_twin("ragged"),
          "Edges that do not fill the array are run at the cost of whole steps. Cycles per MAC against those of the extents "
          "that fill it."),
    Error("tensors that share a DRAM port: its rate", "each tensor has the port to itself", over_twin("contention"),
          "Fills, refills and drains of all tensors share one rate. A closed form that adds up what the port carries knows "
          "this."),
    Error("tensors that share a DRAM port: the queue", "the port's total is all that matters", queue("contention", "shared"),
          "First come, first served: a tile that is needed now waits behind one that is only prefetched, or behind a drain. "
          "Against the estimate, on the same points."),
    Error("cores that share a memory", "the port's total is all that matters", cores,
          "Cores start together and ask together: the last one served starts late, and ends when the others have stopped. "
          "Against the estimate."),
    Error("DMA and array on one SRAM port: its rate", "the array has the port to itself", over_twin("ports"),
          "Transfers take service from operands and results. Known to a closed form that adds up the port's load."),
    Error("DMA and array on one SRAM port: the queue", "the port's total is all that matters", queue("ports", "one"),
          "A transfer in service delays the operands of the next step."),
    Error("SRAM banks: operands by rows", "any words are read at once", over_twin("banks", lie="row"),
          "In each cycle a 16 x 16 array takes four words of an input's row; with fewer banks or ports than that, or with the "
          "sums and the next weights in the same banks, it stands still."),
    Error("SRAM banks: operands by columns", "any words are read at once", over_twin("banks", lie="column"),
          "The same input stored column after column: the sixteen elements of a row lie in as many words, a power of two apart, "
          "so in few banks."),
    Error("SRAM banks: one behind the other", "any words are read at once", over_twin("banks", interleave="bank"),
          "Words that follow each other lie in one bank: a row of operands is read from one, however many there are."),
    Error("bursts", "bytes asked for are bytes moved", over_twin("granularity"),
          "Each run of contiguous bytes is rounded up to whole bursts; elements that a stride picks out are runs of one."),
    Error("DRAM rows, channels, refresh and turnaround", "the peak rate and a latency, whole bursts", over_twin("dram_rows"),
          "The same transfers through channels that are simulated command by command. Short runs open a row for little; a row "
          "pitch that is a power of two sends all of a tile's runs to the same channels and banks; reads and writes that take "
          "turns turn the bus around."),
    Error("of these, refresh alone", "no refresh", over_twin("dram_rows", what="refresh"),
          "Banks that are refreshed serve nothing meanwhile (tRFC every tREFI)."),
    Error("of these, runs of 4 KiB", "the peak rate and a latency, whole bursts",
          over_twin("dram_rows", what="reads", run="4096"), "What is left when locality is good."),
    Error("DRAM commands under real layers", "the peak rate and a latency", over_twin("dram_layers"),
          "Layers of ResNet-50 as `auto` maps them, on shipped chips: the array hides much of it, but for layers whose weights "
          "or strided inputs come in short runs."))


def sizes(rows: Sequence[Row]) -> list[tuple[Error, Spread]]:
    """Each error with its factors."""
    by_name = {word(row, "point"): row for row in rows}
    found = []
    for error in ERRORS:
        values = {name: value for name, row in by_name.items() if (value := error.value(row, by_name)) is not None}
        found.append((error, spread(values)))
    return found


LADDER = (
    ("shape, ragged tiles, inner ports", "busiest", "roofline"), ("way in and way out", "ends", "busiest"),
    ("slots: what cannot overlap", "estimated", "ends"), ("what the estimate leaves out", "measured", "estimated"))
"""From the roofline to the measurement: their product is measured / roofline, exactly."""


def gaps(rows: Sequence[Row]) -> dict[str, float]:
    """Mean gap between estimate and measurement, as a share of the estimate, by group of causes."""
    return {group.name: sum(sum(number(row, f"gap_{code}") for code in group.codes) / number(row, "estimated") for row in rows)
            / len(rows) for group in GROUPS}


def within(rows: Sequence[Row], share: float) -> float:
    """Share of points whose measurement is at most so much above the estimate."""
    return sum(ratio(row, "measured", "estimated") <= 1 + share for row in rows) / len(rows)
