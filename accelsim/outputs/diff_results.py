"""The JSON of two runs compared: one schema, versioned, keys sorted, units in names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accelsim.measure.diff import Allowance, Diff, OperatorDiff, Part, State
from accelsim.measure.sides import Side, SideOperator
from accelsim.outputs.results import number

DIFF_SCHEMA_VERSION = 1
Json = dict[str, Any]


def diff_json(found: Diff, operator: str | None = None, guard: tuple[Allowance, Sequence[str]] | None = None) -> Json:
    """The whole comparison, operators by how much they differ; ``guard``: what was allowed, and why it is exceeded."""
    data: Json = {
        "schema": DIFF_SCHEMA_VERSION, "kind": "difference", "a": _side(found.before), "b": _side(found.after),
        "delta_cycles": found.delta, "ratio": found.after.cycles / found.before.cycles if found.before.cycles else None,
        "same": found.same,
        "compared": {"operators": found.count(State.COMPARED), "failed": found.count(State.FAILED),
                     "only_in_a": found.count(State.ONLY_A), "only_in_b": found.count(State.ONLY_B),
                     "reordered": found.reordered},
        "configuration": [{"path": change.path, "a": change.before, "b": change.after, "hash_only": change.hash_only}
                          for change in found.changes],
        "parts": _parts(found.parts),
        "operators": [_operator(found, one) for one in found.ranked if one.called(operator)],
    }
    if guard is not None:
        allowance, reasons = guard
        data["guard"] = {"allowed": allowance.text, "passed": not reasons, "reasons": list(reasons)}
    return data


def _side(side: Side) -> Json:
    return {"label": side.label, "chip": side.chip, "workload": side.workload, "clock_hz": number(side.clock_hz),
            "accelsim": side.version, "results_version": side.results_version, "schema": side.schema,
            "cycles": side.cycles, "time_s": float(side.time_s), "utilization": side.utilization}


def _operator(found: Diff, one: OperatorDiff) -> Json:
    share = found.share(one)
    return {
        "name": one.name, "state": one.state.value, "paired_by": one.pairing.value if one.pairing else None,
        "a": _own(one.before), "b": _own(one.after), "cycles": {"a": one.cycles[0], "b": one.cycles[1]},
        "delta_cycles": one.delta, "share": None if share is None else float(share), "parts": _parts(one.parts),
        "traffic": [{"level": level, "tensor": tensor, "kind": kind, "a_bytes": old, "b_bytes": new, "delta_bytes": new - old}
                    for (level, tensor, kind), old, new in one.traffic],
    }


def _own(one: SideOperator | None) -> Json | None:
    """One run of an operator on one side; its lane-cycles over its lanes are exact."""
    if one is None:
        return None
    if not one.ran:
        return {"name": one.name, "operator": one.kind, "repeat": one.repeat, "error": one.error}
    return {"name": one.name, "operator": one.kind, "repeat": one.repeat, "cycles": one.cycles, "macs": one.macs,
            "utilization": one.utilization, "bound_by": one.bound_by, "lanes": one.lanes,
            "lane_cycles": {name: number(value) for name, value in one.lane_cycles.items()}}


def _parts(parts: Sequence[Part]) -> Json:
    return {part.name: {"a_cycles": number(part.before), "b_cycles": number(part.after), "delta_cycles": number(part.delta)}
            for part in parts}
