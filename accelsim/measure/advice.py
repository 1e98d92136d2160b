"""Three lines of advice, each with the cycles at stake: what the largest losses ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import ceil

from accelsim.measure.parts import Advice, LaneReport, PeCycles
from accelsim.spec.case import Case
from accelsim.spec.chip import Access
from accelsim.stalls import StallCause
from accelsim.timeline import LaneKind, Traffic

_TEXTS = {
    StallCause.DRAM_LATENCY: "more buffers, or larger tiles, would hide DRAM latency",
    StallCause.DRAM_ROW: "tiles that lie in fewer rows of the DRAM, or an address mapping that spreads them over more banks, "
                         "would help",
    StallCause.DRAM_REFRESH: "refreshing bank by bank, where the DRAM can, would leave the other banks to be read",
    StallCause.DRAM_TURNAROUND: "reads and writes of the DRAM alternate: a deeper write queue, or results kept on chip longer, "
                                "would help",
    StallCause.SRAM_LATENCY: "more buffers at the inner level would hide SRAM latency",
    StallCause.BANK_CONFLICT: "a layout that spreads what is asked for at once over the banks, tiles in banks of their own, more "
                              "banks or more ports would help",
    StallCause.LINK_LATENCY: "more buffers, or larger tiles, would hide link latency",
    StallCause.LINK_BANDWIDTH: "a wider link, or sending equal sets once, would help",
    StallCause.WRITEBACK: "another slot for {output} would let the next tile start while the last one drains",
    StallCause.ARRAY_FILL_DRAIN: "longer passes (more streamed per stationary tile), or preloading under the pass, would hide "
                                 "the array's fill and drain",
    StallCause.SYNC: "the cores wait for each other: even out their work, or give shared tiles more buffers",
    StallCause.ISSUE: "transfers wait to be issued: less set-up, larger transfers or more outstanding requests would help",
}


def advise(case: Case, cycles: int, lanes: Mapping[str, LaneReport], stalls: Mapping[StallCause, int], pes: PeCycles,
           culprits: Mapping[tuple[str, str, str], int], levels: Mapping[str, Mapping[str, Traffic]]) -> tuple[Advice, ...]:
    """At most three pieces of advice, the largest stake first (cycles per array lane).

    A stake is no more than the busiest of the other resources leaves: ports that stay as busy as they are bound what
    anything but a faster port can win, arrays what a faster port can.
    """
    arrays = sum(lane.kind is LaneKind.ARRAY for lane in lanes.values())
    found: list[Advice] = []
    for cause, stalled in stalls.items():
        stake = stalled // max(1, arrays)
        if cause in _RATE_CAUSES:
            continue
        found.append(Advice(_TEXTS[cause].format(output=case.operator.output.name), stake))
    each = case.chip.array.pe_count * case.chip.arrays
    if pes.shape:
        found.append(Advice(f"running steps leave {pes.shape / max(1, pes.useful + pes.shape):.0%} of their PEs without work: "
                            "the operator's shape does not fill the array as mapped", pes.shape // each))
    if pes.ports:
        found.append(Advice("steps run at the pace of an operand or result port: a wider port would speed them up",
                            pes.ports // each))
    if pes.idle > each * cycles // 20:
        found.append(Advice("arrays are idle: spread the operator over more instances", pes.idle // each))
    found = [replace(one, cycles=min(one.cycles, _left(cycles, lanes, array=False))) for one in found]
    found += [replace(one, cycles=min(one.cycles, _left(cycles, lanes, array=True)))
              for one in _bandwidth(case, stalls, culprits, levels, arrays)]
    found = [one for one in found if one.cycles > 0]
    return tuple(sorted(found, key=lambda one: (-one.cycles, one.text))[:3])


def _left(cycles: int, lanes: Mapping[str, LaneReport], *, array: bool) -> int:
    """Cycles in which the busiest array lane, or the busiest other lane, is not busy."""
    busiest = max((lane.busy_cycles for lane in lanes.values() if (lane.kind is LaneKind.ARRAY) == array), default=0)
    return cycles - ceil(busiest)


_RATE_CAUSES = (StallCause.DRAM_BANDWIDTH, StallCause.SRAM_BANDWIDTH, StallCause.CONTENTION)


def _bandwidth(case: Case, stalls: Mapping[StallCause, int], culprits: Mapping[tuple[str, str, str], int],
               levels: Mapping[str, Mapping[str, Traffic]], arrays: int) -> list[Advice]:
    """Bandwidth and contention are one matter: the port most waited for, and the tensor that moves most."""
    stake = sum(stalls.get(cause, 0) for cause in _RATE_CAUSES) // max(1, arrays)
    waited: dict[str, int] = {}
    for (cause, where, _), cycles in culprits.items():
        if cause in {one.code for one in _RATE_CAUSES}:
            waited[where] = waited.get(where, 0) + cycles
    if not stake or not waited:
        return []
    where = max(sorted(waited), key=lambda port: waited[port])
    moved = _moved(case, where, levels)
    largest = f" (most is {max(sorted(moved), key=lambda tensor: moved[tensor])})" if moved else ""
    return [Advice(f"the array waits for bytes through {where}: more bandwidth there, or a loop order or tiles that move less"
                   f"{largest}", stake)]


def _moved(case: Case, where: str, levels: Mapping[str, Mapping[str, Traffic]]) -> dict[str, int]:
    """Bytes of each tensor that pass a port or link between levels."""
    found: dict[str, int] = {}
    names = case.chip.names
    for tensor in case.operator.tensors:
        for entry in case.paths[tensor.name][1:]:
            parent = case.parent(entry, tensor.name) or 0
            passed = {link.name for access in (Access.FILL, Access.DRAIN)
                      for link in case.chip.links_between(names[parent], names[entry], access, tensor)}
            for memory in (case.memory(parent, tensor), case.memory(entry, tensor)):
                ports = () if memory is None else (memory.port(access, tensor) for access in (Access.FILL, Access.DRAIN))
                passed |= {f"{memory.name}.{port.name}" for port in ports if port is not None and memory is not None}
            own = levels.get(names[entry], {}).get(tensor.name)
            if own is not None and where.partition(" ")[0] in passed:  # a link's network has channels behind its name
                found[tensor.name] = found.get(tensor.name, 0) + own.fill_bytes + own.drain_bytes + own.refill_bytes
    return found
