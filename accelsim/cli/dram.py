"""`accelsim dram`: a trace of addresses through a DRAM technology alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from accelsim.cli.commands import write_table
from accelsim.cli.compiling import compiling
from accelsim.cli.progress import Progress
from accelsim.outputs import results
from accelsim.spec.dram import Dram
from accelsim.spec.dramtrace import Trace, read_trace
from accelsim.spec.read import read_memory
from accelsim.units import human_time

SCHEMA = 1


def dram(technology: str, trace: str, overrides: tuple[str, ...], at_once: int, serial: bool, as_json: bool,
         requests_file: Path | None, commands_file: Path | None) -> int:
    """Replay and show."""
    memory = read_memory(technology, overrides)
    asked = read_trace(trace, memory)
    with compiling():
        from accelsim.machine.dram import Replay, replay
    with Progress() as told:
        found: Replay = replay(memory, asked, at_once=at_once, serial=0 if serial else None, log=commands_file is not None,
                               progress=lambda entered: told.tell("requests", entered, len(asked.addresses)))
    if requests_file is not None:
        rows = zip(np.where(asked.writes, "W", "R").tolist(), asked.addresses.tolist(), found.arrived.tolist(),
                   found.commanded.tolist(), found.done.tolist(), strict=True)
        write_table(requests_file, ("op", "address", "arrived_cycle", "column_command_cycle", "done_cycle"), rows)
    if commands_file is not None:
        write_table(commands_file,
                    ("cycle", "command", "channel", "pseudo_channel", "rank", "bank_group", "bank", "row", "column"),
                    (tuple(vars(one).values()) for one in found.log))
    figures = _figures(memory, asked, found)
    print(results.to_text(figures) if as_json else _text(memory, figures))
    return 0


def _figures(memory: Dram, asked: Trace, found: Any) -> dict[str, Any]:
    """All that is told, as plain data."""
    time_s = float(found.cycles * memory.cycle_s)
    moved = len(asked.addresses) * memory.burst_bytes
    reads = ~asked.writes
    latency = (found.done - found.arrived)[reads]
    told = {} if not len(latency) else {
        "mean": float(latency.mean()), "min": int(latency.min()), "max": int(latency.max()),
        **{f"p{share}": int(np.quantile(latency, share / 100, method="lower")) for share in (50, 95, 99)}}
    return {
        "schema": SCHEMA, "memory": memory.name, "requests": len(asked.addresses), "reads": int(reads.sum()),
        "writes": int(asked.writes.sum()), "cycles": found.cycles, "time_s": time_s, "bytes": moved,
        "bandwidth_bytes_per_s": moved / time_s, "peak_bytes_per_s": float(memory.peak_bytes_per_s),
        "utilization": moved / time_s / float(memory.peak_bytes_per_s),
        "row_hits": len(asked.addresses) - found.activates, "activates": found.activates,
        "row_conflicts": found.precharges, "row_misses": found.activates - found.precharges,
        "precharges_for_refresh": found.refresh_precharges, "refreshes": found.refreshes, "read_latency_cycles": told}


def _text(memory: Dram, f: dict[str, Any]) -> str:
    share = 1 / f["requests"]
    lines = [
        f"{memory.name}: {memory.description}",
        f"  {f['requests']:,} requests of {memory.burst_bytes} B ({f['reads']:,} reads, {f['writes']:,} writes)",
        f"  {f['cycles']:,} cycles of {human_time(memory.cycle_s)}: {human_time(f['time_s'])}",
        f"  {f['bandwidth_bytes_per_s'] / 1e9:,.2f} GB/s, {f['utilization']:.1%} of the peak of "
        f"{f['peak_bytes_per_s'] / 1e9:,.2f} GB/s",
        f"  rows: {f['row_hits']:,} hits ({f['row_hits'] * share:.1%}), {f['row_misses']:,} misses, {f['row_conflicts']:,} "
        f"conflicts; {f['refreshes']:,} refreshes"]
    told = f["read_latency_cycles"]
    if told:
        lines.append(f"  read latency in cycles: {told['min']:,} least, {told['mean']:,.1f} mean, {told['p50']:,} median, "
                     f"{told['p95']:,} 95 %, {told['p99']:,} 99 %, {told['max']:,} most")
    return "\n".join(lines)
