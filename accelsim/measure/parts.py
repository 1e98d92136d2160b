"""Parts of a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from accelsim.spec.case import Case
from accelsim.timeline import LaneKind, Traffic

BYTES = ("fill_bytes", "drain_bytes", "refill_bytes", "array_read_bytes", "array_write_bytes", "waste_bytes")
"""What is told of a tensor at a level; the estimate knows all but the waste."""


@dataclass(frozen=True)
class LaneReport:
    """One row of the timeline in cycles (ports and links in sixteenths)."""

    kind: LaneKind
    level: str
    busy_cycles: float
    stall_cycles: float
    idle_cycles: float


@dataclass(frozen=True)
class PeCycles:
    """What the PEs of all arrays did with the cycles of the run."""

    useful: int
    shape: int
    ports: int
    fill_drain: int
    stalled: int
    idle: int

    @property
    def total(self) -> int:
        """PEs x cycles."""
        return self.useful + self.shape + self.ports + self.fill_drain + self.stalled + self.idle


@dataclass(frozen=True)
class Advice:
    """One thing to change, with the array-lane cycles at stake."""

    text: str
    cycles: int


@dataclass(frozen=True)
class Failed:
    """An operator that did not run, and why."""

    name: str
    kind: str
    repeat: int
    reason: str
    exit_code: int


def levels_of(case: Case, levels: Mapping[str, Mapping[str, Traffic]]) -> dict[str, dict[str, Traffic]]:
    """Traffic of every tensor at every level that binds it, zeros included, outermost first."""
    return {name: {tensor.name: levels.get(name, {}).get(tensor.name, Traffic()) for tensor in case.operator.tensors
                   if entry in case.paths[tensor.name]} for entry, name in enumerate(case.chip.names)}
