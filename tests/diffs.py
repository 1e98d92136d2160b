"""Runs to be compared, written down by hand: the JSON of `accelsim run --json`, in as far as a comparison reads it."""

from __future__ import annotations

from typing import Any

from accelsim.measure.diff import Diff, diff
from accelsim.measure.sides import Side, read_side

Json = dict[str, Any]
MAPPING = "levels:\n  - level: DRAM\n    loops: [{k: 2}]\n"


def operator(name: str, *lanes: Json, repeat: int = 1, kind: str = "gemm", macs: int = 64, mapping: str = MAPPING,
             traffic: int = 0) -> Json:
    """An operator; each lane is an array's cycles by what they were spent on, all of one length."""
    (cycles,) = {sum(lane.values()) for lane in lanes}
    stalls = {code: sum(lane.get(code, 0) for lane in lanes) for lane in lanes for code in lane if code not in {"busy", "idle"}}
    return {
        "name": name, "operator": kind, "repeat": repeat, "cycles": cycles, "macs": macs, "utilization": 0.5,
        "bound_by": "MAC", "stalls": {f"{code}_cycles": waited for code, waited in stalls.items()},
        "lanes": {f"MAC[{i}]": {"kind": "array", "busy_cycles": lane.get("busy", 0), "idle_cycles": lane.get("idle", 0),
                                "stall_cycles": cycles - lane.get("busy", 0) - lane.get("idle", 0)}
                  for i, lane in enumerate(lanes)} | {"DRAM.port": {"kind": "port", "busy_cycles": 0.5}},
        "levels": {"SRAM": {"A": {"fill_bytes": traffic}}}, "mapping": {"yaml": mapping},
    }


def failed(name: str, why: str = "does not fit", kind: str = "gemm") -> Json:
    return {"name": name, "operator": kind, "repeat": 1, "error": why, "exit_code": 3}


def ran(*operators: Json, chip: str = "c0", **other: Any) -> Json:
    """A run of them; ``chip``: the hash of its file."""
    return {
        "schema": 1, "chip": "toy", "workload": "w", "clock_hz": 10**9, "operators": list(operators),
        "provenance": {"accelsim": "0.1.0", "results_version": 3, "inputs": {"chip": chip, "workload": "w0", "mapping.0": "m0"},
                       "options": {"dataflow": "auto", "mapping": None, "overrides": []}},
        "total": {"cycles": sum(one.get("cycles", 0) * one["repeat"] for one in operators), "utilization": 0.5},
    } | other


def side(*operators: Json, label: str = "a.json", **other: Any) -> Side:
    return read_side(ran(*operators, **other), label)


def compared(before: Json, after: Json) -> Diff:
    return diff(read_side(before, "a.json"), read_side(after, "b.json"))
