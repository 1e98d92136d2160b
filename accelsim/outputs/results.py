"""The JSON of a run (DESIGN section 7): one schema, versioned, keys sorted, units in names."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from accelsim.analytic.result import Estimate
from accelsim.measure.ladder import Rung, ladder
from accelsim.measure.parts import BYTES, levels_of
from accelsim.measure.report import Failed, OperatorReport, RunReport
from accelsim.measure.roofline import Roofline, roofline
from accelsim.spec.case import Case
from accelsim.stalls import StallCause
from accelsim.timeline import Traffic
from accelsim.version import SCHEMA_VERSION

Json = dict[str, Any]


def run_json(report: RunReport) -> Json:
    """The whole run."""
    return {
        "schema": SCHEMA_VERSION, "chip": report.chip, "workload": report.workload,
        "clock_hz": number(report.clock_hz), "provenance": dict(report.provenance),
        "operators": [failed_json(one) if isinstance(one, Failed) else operator_json(one) for one in report.operators],
        "total": {"cycles": report.cycles, "time_s": report.time_s, "utilization": report.utilization, "macs": report.macs,
                  "stalls": stalls_json(report.stalls), "ladder": ladder_json(ladder(report.done)),
                  "estimated_cycles": report.estimated_cycles,
                  "operators_run": len(report.done), "operators_failed": len(report.failed)},
    }


def operator_json(one: OperatorReport) -> Json:
    """One operator that ran."""
    return {
        "name": one.name, "operator": one.kind, "repeat": one.repeat, "cycles": one.cycles, "time_s": one.time_s,
        "utilization": one.utilization, "macs": one.macs, "busy": one.busy, "stalls": stalls_json(one.stalls),
        "phases": {f"{phase.code}_cycles": cycles for phase, cycles in one.phases.items()},
        "fill_drain": {f"{part}_cycles": cycles for part, cycles in one.fill_drain.items()},
        "pe_cycles": {name: getattr(one.pe_cycles, name)
                      for name in ("useful", "shape", "ports", "fill_drain", "stalled", "idle")},
        "levels": {level: {tensor: traffic_json(traffic) for tensor, traffic in tensors.items()}
                   for level, tensors in levels_of(one.case, one.levels).items()},
        "lanes": {name: {"kind": lane.kind.value, "busy_cycles": lane.busy_cycles, "stall_cycles": lane.stall_cycles,
                         "idle_cycles": lane.idle_cycles} for name, lane in one.lanes.items()},
        "dram": {name: one.counts.get(f"dram_{name}", 0) for name in DRAM_COUNTS},
        "cache": {tensor: {f"{what}_bytes": size for what, size in own.items()} for tensor, own in one.cache.items()},
        "banks": {name: one.counts.get(f"bank_{name}", 0) for name in BANK_COUNTS},
        "links": {name: {"bytes": size, "busy_share": one.link_busy(name)} for name, size in one.links.items()},
        "ladder": ladder_json(ladder([one])), "roofline": roofline_json(roofline(one)),
        "bound_by": one.bound_by, "advice": [{"text": advice.text, "cycles": advice.cycles} for advice in one.advice],
        "contention": [{"cause": cause, "where": where, "behind": whose, "cycles": cycles}
                       for (cause, where, whose), cycles in sorted(one.culprits.items(), key=lambda item: (-item[1], item[0]))
                       if whose],
        "stall_tree": stall_tree_json(one),
        "mapping": mapping_json(one.case), "estimate": estimate_json(one.case, one.estimate),
        "crosscheck": {"estimated_cycles": one.crosscheck.estimated_cycles, "measured_cycles": one.crosscheck.measured_cycles,
                       "ratio": one.crosscheck.ratio, "traffic_equal": not one.crosscheck.traffic_differences,
                       "traffic_differences": [vars(part) for part in one.crosscheck.traffic_differences],
                       "waterfall": [{"name": name, "cycles": cycles} for name, cycles in one.crosscheck.waterfall]},
        "steps": {name: one.counts.get(name, 0) for name in ("blocks", "passes", "transfers", "events")},
        "fast_forward": asdict(one.skipped),
    }


BANK_COUNTS = ("own_cycles", "transfer_cycles")
DRAM_COUNTS = ("bursts", "bytes", "row_hits", "row_misses", "row_conflicts", "refreshes", "turnarounds")


def failed_json(one: Failed) -> Json:
    """One operator that did not run."""
    return {"name": one.name, "operator": one.kind, "repeat": one.repeat, "error": one.reason, "exit_code": one.exit_code}


def stalls_json(stalls: Mapping[StallCause, int]) -> Json:
    """Every cause, zero or not, so that readers need no defaults."""
    return {f"{cause.code}_cycles": stalls.get(cause, 0) for cause in StallCause}


def stall_tree_json(one: OperatorReport) -> list[Json]:
    """Every stalled cycle of the array lanes once: by cause, where it was waited, and behind whose transfer.

    What was waited for at no port or link (the launch) has no ``where``; cycles add up to the stalls of each cause.
    """
    parts = dict(one.culprits)
    for cause, cycles in one.stalls.items():
        told = sum(waited for (code, _, _), waited in one.culprits.items() if code == cause.code)
        if cycles != told:
            parts[cause.code, "", ""] = parts.get((cause.code, "", ""), 0) + cycles - told
    return [{"cause": cause, "where": where, "behind": whose, "cycles": cycles}
            for (cause, where, whose), cycles in sorted(parts.items(), key=lambda item: (-item[1], item[0]))]


def ladder_json(rungs: Sequence[Rung]) -> list[Json]:
    """From peak to delivered."""
    return [{"loss": rung.loss.code, "factor": float(rung.factor), "delivered": float(rung.delivered)} for rung in rungs]


def roofline_json(found: Roofline) -> Json:
    """The roofs and the mapping's intensity below each."""
    return {"macs_per_cycle": float(found.macs_per_cycle), "peak_macs_per_cycle": float(found.peak),
            "peaks": {name: float(peak) for name, peak in found.peaks},
            "lowest": found.lowest.name if found.lowest is not None else None,
            "roofs": [{"name": roof.name, "level": roof.level, "bytes_per_cycle": _float(roof.bytes_per_cycle),
                       "moved_bytes": roof.moved_bytes, "macs_per_byte": _float(roof.macs_per_byte),
                       "macs_per_cycle": _float(roof.macs_per_cycle)} for roof in found.roofs]}


def _float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def traffic_json(traffic: Traffic) -> Json:
    """Bytes of one tensor at one level."""
    return {name: getattr(traffic, name) for name in BYTES}


def mapping_json(case: Case) -> Json:
    """The resolved mapping, as the file it would be."""
    levels = []
    for entry in case.mapping.levels:
        level: Json = {"level": entry.level, "loops": [{_key(loop.dims): loop.bound} for loop in entry.loops]}
        if entry.spatial:
            level["spatial"] = {axis: [{_key(loop.dims): loop.bound} for loop in loops] for axis, loops in entry.spatial}
        if entry.binding is not None:
            level["binding"] = list(entry.binding)
        if entry.buffers:
            level["buffers"] = dict(entry.buffers)
        levels.append(level)
    return {"levels": levels, "origin": case.mapping.origin, "yaml": case.mapping.to_yaml()}


def _key(dims: tuple[str, ...]) -> str:
    return dims[0] if len(dims) == 1 else f"[{', '.join(dims)}]"


def estimate_json(case: Case, estimate: Estimate) -> Json:
    """The closed form."""
    return {
        "cycles": estimate.cycles, "bound_by": estimate.bound_by, "prologue_cycles": estimate.prologue_cycles,
        "steady_cycles": estimate.steady_cycles, "epilogue_cycles": estimate.epilogue_cycles, "steps": estimate.steps,
        "transfers": estimate.transfers, "macs": estimate.macs,
        "bounds": [{"name": bound.name, "kind": bound.kind, "cycles": bound.cycles, "explains": bound.explains}
                   for bound in estimate.bounds],
        "levels": {name: {tensor.name: {key: getattr(estimate.traffic[entry, tensor.name], key) for key in BYTES[:-1]}
                          for tensor in case.operator.tensors if (entry, tensor.name) in estimate.traffic}
                   for entry, name in enumerate(case.chip.names)},
    }


def number(value: Any) -> Any:
    """A fraction as an integer where it is one."""
    return int(value) if value == int(value) else float(value)


def to_text(data: Json) -> str:
    """The JSON text: sorted keys, the same bytes for the same run."""
    return json.dumps(data, indent=2, sort_keys=True, allow_nan=False)
