"""Three lines of advice, each with the cycles at stake: what the largest losses ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from accelsim.spec.case import Case
from accelsim.stalls import StallCause
from accelsim.timeline import LaneKind, Traffic

if TYPE_CHECKING:
    from accelsim.measure.report import Advice, LaneReport, PeCycles

_TEXTS = {
    StallCause.DRAM_LATENCY: "more buffers, or larger tiles, would hide DRAM latency",
    StallCause.SRAM_LATENCY: "more buffers at the inner level would hide SRAM latency",
    StallCause.LINK_LATENCY: "more buffers, or larger tiles, would hide link latency",
    StallCause.LINK_BANDWIDTH: "a wider link, or multicast, would help",
    StallCause.WRITEBACK: "another slot for {output} would let the next tile start while the last one drains",
    StallCause.ARRAY_FILL_DRAIN: "longer passes (more streamed per stationary tile), or preloading under the pass, would hide "
                                 "the array's fill and drain",
    StallCause.SYNC: "the cores wait for each other: even out their work, or give shared tiles more buffers",
    StallCause.ISSUE: "fewer, larger transfers would pay the set-up less often",
}


def advise(case: Case, cycles: int, lanes: Mapping[str, LaneReport], stalls: Mapping[StallCause, int], pes: PeCycles,
           levels: Mapping[str, Mapping[str, Traffic]], arrays: int) -> tuple[Advice, ...]:
    """At most three pieces of advice, the largest stake first (cycles per array lane)."""
    from accelsim.measure.report import Advice
    found: list[Advice] = []
    for cause, stalled in stalls.items():
        stake = stalled // max(1, arrays)
        if cause in (StallCause.DRAM_BANDWIDTH, StallCause.SRAM_BANDWIDTH, StallCause.CONTENTION):
            continue
        found.append(Advice(_TEXTS[cause].format(output=case.operator.output.name), stake))
    found += _bandwidth(case, lanes, stalls, levels, arrays)
    each = case.chip.array.pe_count * case.chip.arrays
    if pes.shape:
        found.append(Advice(f"running steps leave {pes.shape / max(1, pes.useful + pes.shape):.0%} of their PEs without work: "
                            "the operator's shape does not fill the array as mapped", pes.shape // each))
    if pes.ports:
        found.append(Advice("steps run at the pace of an operand or result port: a wider port would speed them up",
                            pes.ports // each))
    if pes.idle > each * cycles // 20:
        found.append(Advice("arrays are idle: spread the operator over more instances", pes.idle // each))
    found = [one for one in found if one.cycles > 0]
    return tuple(sorted(found, key=lambda one: (-one.cycles, one.text))[:3])


def _bandwidth(case: Case, lanes: Mapping[str, LaneReport], stalls: Mapping[StallCause, int],
               levels: Mapping[str, Mapping[str, Traffic]], arrays: int) -> list[Advice]:
    """Bandwidth and contention are one matter: the busiest port, and the tensor that moves most through its level."""
    from accelsim.measure.report import Advice
    stake = sum(stalls.get(cause, 0) for cause in (StallCause.DRAM_BANDWIDTH, StallCause.SRAM_BANDWIDTH,
                                                   StallCause.CONTENTION)) // max(1, arrays)
    ports = {name: lane for name, lane in lanes.items() if lane.kind is not LaneKind.ARRAY}
    if not stake or not ports:
        return []
    name = max(ports, key=lambda port: ports[port].busy_cycles)
    total = ports[name].busy_cycles + ports[name].idle_cycles
    moved: dict[str, int] = {}
    for tensors in levels.values():
        for tensor, traffic in tensors.items():
            moved[tensor] = moved.get(tensor, 0) + traffic.fill_bytes + traffic.drain_bytes + traffic.refill_bytes
    largest = max(moved, key=lambda tensor: moved[tensor], default=case.operator.output.name)
    return [Advice(f"{name} is busy {ports[name].busy_cycles / max(1, total):.0%} of the run: more bandwidth there, or a loop "
                   f"order that moves less of {largest}", stake)]
