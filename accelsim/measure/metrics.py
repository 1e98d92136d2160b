"""Every metric once: name, unit, window, definition and the identity it takes part in. Docs and `explain` come from here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """A number of the report. ``window``: over which part of a run it is taken."""

    name: str
    unit: str
    window: str
    definition: str
    identity: str = ""


RUN = "the whole run of one operator, from a cold start to the arrival of its last result"

METRICS: tuple[Metric, ...] = (
    Metric("cycles", "cycles", RUN, "Measured cycles of the chip's clock until the last drain has arrived.",
           "total = sum over operators of cycles x repeat"),
    Metric("time_s", "s", RUN, "cycles / clock."),
    Metric("macs", "MACs", RUN, "Multiply-accumulates done: each point of the operator's loop nest once.",
           "MACs done = MACs asked, checked in every run"),
    Metric("utilization", "1", RUN, "Useful MACs / (peak MACs x cycles), over all instances of the array, at the operator's "
           "type. Padding and idle PEs are never useful.", "utilization = pe_cycles.useful / sum of pe_cycles"),
    Metric("busy", "1", RUN, "Share of the array lanes' cycles in which a step was running.",
           "busy + stalls + idle = cycles for each lane"),
    Metric("stalls", "lane-cycles", RUN, "Cycles in which an array lane waited, by cause, summed over the array lanes.",
           "sum of stalls = array lanes x cycles - busy - idle"),
    Metric("phases", "lane-cycles", RUN, "The same stalls by phase: before a lane's first step, between steps, after its last.",
           "start + steady + finish = sum of stalls"),
    Metric("fill_drain", "lane-cycles", RUN, "The stall cause array_fill_drain by what filled or emptied: preload of stationary "
           "words, skew (and pipeline depth) of the array, results that were stationary and left.",
           "preload + skew + results = stalls.array_fill_drain"),
    Metric("pe_cycles", "PE-cycles", RUN, "What each PE did with each cycle: useful MACs, shape (a running step does not use "
           "it), ports (a running step waited for its operand or result port), fill_drain, stalled, idle.",
           "useful + shape + ports + fill_drain + stalled + idle = PEs x cycles"),
    Metric("fill", "B", RUN, "Bytes of new elements of inputs that entered a level, over all its instances, before granularity.",
           "estimated = measured, exactly"),
    Metric("drain", "B", RUN, "Bytes of outputs that left a level outward; unfinished ones at the accumulator's width.",
           "estimated = measured, exactly"),
    Metric("refill", "B", RUN, "Bytes of partial sums that came back into a level to be added to.",
           "estimated = measured, exactly"),
    Metric("array_read", "B", RUN, "Bytes the array took from a level: each element once per iteration of the array's loops, "
           "however many PEs use it.", "estimated = measured, exactly"),
    Metric("array_write", "B", RUN, "Bytes of results the array gave to a level, one per update.",
           "estimated = measured, exactly"),
    Metric("waste", "B", RUN, "Bytes a memory's port moved beyond what was asked, because contiguous runs are rounded up to its "
           "granularity."),
    Metric("dram", "1", RUN, "Bursts of memories whose channels are simulated, how many hit an open row, a closed bank or "
           "another row, and the refreshes and turnarounds between them.", "row hits + misses + conflicts = bursts"),
    Metric("cache", "B", RUN, "Of each tensor behind a cache: bytes that were read and there (hit) or not (missed), bytes "
           "written into it, and of those the bytes written back to the memory in the run or left dirty at its end.",
           "back + dirty <= written"),
    Metric("lanes", "cycles", RUN, "Busy, stalled and idle cycles of each row of the timeline; ports and links are busy or idle "
           "(in sixteenths of a cycle).", "busy + stall + idle = cycles for each lane"),
    Metric("links", "B", RUN, "Bytes that crossed a link, after rounding to its granularity, and its share of busy cycles."),
    Metric("ladder", "1", RUN, "From peak to delivered: factors for shape, ports, fill and drain of the array, bandwidth, "
           "latency, contention, overhead and idleness, each what remains over what remains and is lost, from the inside out.",
           "product of the factors = utilization"),
    Metric("roofline", "MACs/cycle", RUN, "For each memory port and link: bytes that passed it, MACs per byte, and the MACs per "
           "cycle that its rate allows at that intensity; beside them the peak of each type and what was attained.",
           "attained <= peak, attained <= each roof"),
    Metric("bound_by", "", RUN, "What binds: the busiest array, port or link if it is busy at least 80 % of the run, else the "
           "largest stall cause."),
    Metric("estimate", "cycles", RUN, "The closed form's cycles: the largest of its lower bounds.",
           "every bound <= measured cycles, checked in every run"),
    Metric("crosscheck", "", RUN, "Estimate against measurement: traffic must be equal; cycles differ by the waterfall.",
           "bound + sum of the waterfall = measured"),
    Metric("repeat", "1", "", "How often the workload runs the operator; totals count it so often."),
)
