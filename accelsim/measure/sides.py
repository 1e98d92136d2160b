"""One side of a comparison: what a run's JSON says, read back and checked, so that any two can be subtracted exactly."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from accelsim.errors import Fault, SpecError
from accelsim.spec.yamlfile import read_yaml
from accelsim.stalls import StallCause
from accelsim.timeline import LaneKind
from accelsim.version import SCHEMA_VERSION

BUSY, IDLE = "busy", "idle"
PARTS: tuple[str, ...] = (BUSY, *(cause.code for cause in StallCause), IDLE)
"""What an array lane's cycles are spent on."""

_OURS = "what `accelsim run --json` prints, or a folder written by --save"
_MOST_FAULTS = 20


@dataclass(frozen=True)
class SideOperator:
    """An operator of one side. One that failed has an ``error``, and no numbers.

    ``lane_cycles``: of one run, over its ``lanes`` array lanes together, by what they were spent on (``PARTS``); they add up
    to ``cycles * lanes``. ``traffic``: bytes of one run by (level, tensor, kind). ``mapping``: as a file has it.
    """

    name: str
    kind: str
    repeat: int
    error: str = ""
    cycles: int = 0
    macs: int = 0
    utilization: float = 0.0
    bound_by: str = ""
    lanes: int = 1
    lane_cycles: Mapping[str, Fraction] = field(default_factory=dict)
    traffic: Mapping[tuple[str, str, str], int] = field(default_factory=dict)
    mapping: Any = None

    @property
    def ran(self) -> bool:
        """Whether there are numbers."""
        return not self.error


@dataclass(frozen=True)
class Side:
    """A run to be compared. ``label``: its folder or file. ``files``: chip, workload and what they name, as plain data, from a
    run folder; empty from JSON, which has the ``hashes`` alone.
    """

    label: str
    schema: int
    version: str
    results_version: int
    chip: str
    workload: str
    clock_hz: Fraction
    utilization: float
    hashes: Mapping[str, str]
    options: Mapping[str, Any]
    operators: tuple[SideOperator, ...]
    files: Mapping[str, Any] = field(default_factory=dict)

    @property
    def cycles(self) -> int:
        """Cycles of all operators that ran, each so often as it repeats."""
        return sum(one.cycles * one.repeat for one in self.operators)

    @property
    def time_s(self) -> Fraction:
        """Seconds of those cycles."""
        return self.cycles / self.clock_hz


def read_side(data: object, label: str, texts: Sequence[tuple[str, str]] = ()) -> Side:
    """A side from the JSON of a run, and from a run folder also the ``texts`` of its files.

    Raises SpecError with every fault where it is not such a JSON, is of a newer schema, or does not add up.
    """
    reading = _Reading(label)
    if not isinstance(data, dict) or "schema" not in data or "provenance" not in data:
        estimated = isinstance(data, dict) and data.get("kind") == "estimated"
        raise SpecError([Fault(label, 0, 0, "", "an estimate, which has no stalls to compare" if estimated
                               else "not the JSON of a run", _OURS)])
    schema = reading.whole(data, "", "schema", 1)
    if schema > SCHEMA_VERSION:
        raise SpecError([Fault(label, 0, 0, "schema", f"version {schema} is newer than this accelsim reads",
                               f"up to {SCHEMA_VERSION}; update accelsim, or run it again with this one")])
    about = reading.table(data, "", "provenance")
    total = reading.table(data, "", "total")
    clock = reading.real(data, "", "clock_hz")
    if not clock:
        reading.refuse("clock_hz", "must be more than 0")
    hashes = reading.table(about, "provenance", "inputs")
    side = Side(
        clean(label), schema, reading.text(about, "provenance", "accelsim"),
        reading.whole(about, "provenance", "results_version"),
        reading.text(data, "", "chip"), reading.text(data, "", "workload"), clock,
        float(reading.real(total, "total", "utilization")),
        {clean(file): reading.text(hashes, "provenance.inputs", file) for file in hashes},
        reading.table(about, "provenance", "options"),
        tuple(_operator(reading, one, f"operators[{i}]") for i, one in enumerate(reading.rows(data, "", "operators"))),
        {file: read_yaml(text, f"{label}: {file}").value for file, text in texts})
    names = [one.name for one in side.operators]
    for twice in sorted({name for name in names if names.count(name) > 1}):
        reading.refuse("operators", f"two are named '{twice}'")
    reading.finish()
    if side.cycles != reading.whole(total, "total", "cycles"):
        reading.refuse("total.cycles", f"{total.get('cycles')} is not the sum of the operators' cycles, {side.cycles}")
    reading.finish()
    return side


def clean(text: str) -> str:
    """Text that may be printed: as it is, or with its unprintable characters escaped."""
    return text if text.isprintable() else ascii(text)[1:-1]


def _operator(reading: _Reading, one: object, path: str) -> SideOperator:
    if not isinstance(one, dict):
        reading.refuse(path, "not an operator")
        return SideOperator("", "", 1, "unread")
    name, kind = reading.text(one, path, "name"), reading.text(one, path, "operator")
    repeat = reading.whole(one, path, "repeat", 1)
    if "error" in one:
        error = one["error"]
        first = clean(error.splitlines()[0]) if isinstance(error, str) and error.splitlines() else "failed"
        return SideOperator(name, kind, repeat, first)
    cycles = reading.whole(one, path, "cycles")
    lanes, lane_cycles = _lane_cycles(reading, one, path, cycles)
    return SideOperator(
        name, kind, repeat, "", cycles, reading.whole(one, path, "macs"), float(reading.real(one, path, "utilization")),
        reading.text(one, path, "bound_by"), lanes, lane_cycles, _traffic(reading, one, path), _mapping(reading, one, path))


def _lane_cycles(reading: _Reading, one: dict[str, Any], path: str, cycles: int) -> tuple[int, dict[str, Fraction]]:
    """How many array lanes there are and what their cycles were spent on; refused where they do not add up."""
    arrays, found = 0, dict.fromkeys(PARTS, Fraction(0))
    lanes = reading.table(one, path, "lanes")
    stalled = Fraction(0)
    for name in lanes:
        where = f"{path}.lanes.{clean(name)}"
        lane = reading.table(lanes, f"{path}.lanes", name)
        if reading.text(lane, where, "kind") != LaneKind.ARRAY.value:
            continue
        arrays += 1
        busy, waited, idle = (reading.real(lane, where, f"{key}_cycles") for key in (BUSY, "stall", IDLE))
        found[BUSY] += busy
        found[IDLE] += idle
        stalled += waited
        if busy + waited + idle != cycles:
            reading.refuse(where, f"busy, stalled and idle cycles do not add up to {cycles}")
    causes = reading.table(one, path, "stalls")
    for key in causes:
        code = key.removesuffix("_cycles")
        if code in found and code not in (BUSY, IDLE):
            found[code] = reading.real(causes, f"{path}.stalls", key)
        else:
            reading.refuse(f"{path}.stalls", f"unknown stall cause '{clean(code)}', perhaps a newer accelsim's")
    if sum(found.values()) != stalled + found[BUSY] + found[IDLE]:
        reading.refuse(f"{path}.stalls", "do not add up to the stalled cycles of the array lanes")
    if not arrays:
        reading.refuse(f"{path}.lanes", "none of kind array")
    return max(1, arrays), found


def _traffic(reading: _Reading, one: dict[str, Any], path: str) -> dict[tuple[str, str, str], int]:
    levels = reading.table(one, path, "levels")
    found = {}
    for level in levels:
        tensors = reading.table(levels, f"{path}.levels", level)
        for tensor in tensors:
            where = f"{path}.levels.{clean(level)}.{clean(tensor)}"
            kinds = reading.table(tensors, f"{path}.levels.{clean(level)}", tensor)
            for kind in kinds:
                found[clean(level), clean(tensor), clean(kind.removesuffix("_bytes"))] = reading.whole(kinds, where, kind)
    return found


def _mapping(reading: _Reading, one: dict[str, Any], path: str) -> Any:
    text = reading.table(one, path, "mapping").get("yaml")
    if not isinstance(text, str):
        reading.refuse(f"{path}.mapping.yaml", "missing, or no text")
        return None
    try:
        return read_yaml(text, reading.file).value
    except SpecError as error:
        reading.refuse(f"{path}.mapping.yaml", error.faults[0].message)
        return None


class _Reading:
    """Values of a JSON by key; what is missing or of another kind becomes a fault and an empty value."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._faults: list[Fault] = []

    def refuse(self, path: str, message: str) -> None:
        """Note a fault."""
        self._faults.append(Fault(self.file, 0, 0, path, message))

    def finish(self) -> None:
        """Raise SpecError with what was noted, if anything was."""
        if self._faults:
            raise SpecError(self._faults[:_MOST_FAULTS])

    def text(self, node: Mapping[str, Any], path: str, key: str) -> str:
        """A text that may be printed."""
        value = node.get(key)
        if not isinstance(value, str):
            self._wrong(node, path, key, "a text")
            return ""
        return clean(value)

    def whole(self, node: Mapping[str, Any], path: str, key: str, least: int = 0) -> int:
        """A whole number."""
        value = node.get(key)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            self._wrong(node, path, key, f"a whole number of at least {least}")
            return least
        return value

    def real(self, node: Mapping[str, Any], path: str, key: str) -> Fraction:
        """A number, exactly."""
        value = node.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
            self._wrong(node, path, key, "a number of at least 0")
            return Fraction(0)
        return Fraction(value)

    def table(self, node: Mapping[str, Any], path: str, key: str) -> dict[str, Any]:
        """An object."""
        value = node.get(key)
        if not isinstance(value, dict):
            self._wrong(node, path, key, "an object")
            return {}
        return value

    def rows(self, node: Mapping[str, Any], path: str, key: str) -> list[Any]:
        """A list."""
        value = node.get(key)
        if not isinstance(value, list):
            self._wrong(node, path, key, "a list")
            return []
        return value

    def _wrong(self, node: Mapping[str, Any], path: str, key: str, wanted: str) -> None:
        where = f"{path}.{clean(key)}" if path else clean(key)
        self.refuse(where, f"must be {wanted}" if key in node else "missing")
