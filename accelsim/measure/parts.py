"""Parts of a report."""

from __future__ import annotations

from dataclasses import dataclass

from accelsim.timeline import LaneKind


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
