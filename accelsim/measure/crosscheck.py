"""Estimate against measurement: traffic must be equal; the cycles between bound and measurement are named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from accelsim.analytic.result import Bound, Estimate
from accelsim.spec.case import Case
from accelsim.stalls import StallCause
from accelsim.timeline import LaneKind, Timeline, Traffic

_FIELDS = ("fill_elements", "drain_elements", "refill_elements", "fill_bytes", "drain_bytes", "refill_bytes",
           "array_read_bytes", "array_write_bytes")


@dataclass(frozen=True)
class Difference:
    """A number on which estimate and measurement do not agree."""

    level: str
    tensor: str
    what: str
    estimated: int
    measured: int


@dataclass(frozen=True)
class CrossCheck:
    """``waterfall``: from the estimate's largest bound to the measurement, each part >= 0, adding up exactly.

    Cycles of several array lanes are averaged over the lanes, rounded so that the sum is exact.
    """

    estimated_cycles: int
    measured_cycles: int
    bound: Bound | None
    traffic_differences: tuple[Difference, ...]
    waterfall: tuple[tuple[str, int], ...]

    @property
    def ratio(self) -> float:
        """Measured / estimated."""
        return self.measured_cycles / self.estimated_cycles if self.estimated_cycles else 1.0


def crosscheck(case: Case, timeline: Timeline, estimate: Estimate, stalls: Mapping[StallCause, int], lanes: int) -> CrossCheck:
    """Compare the two answers to one case."""
    differences = []
    for entry, name in enumerate(case.chip.names):
        for tensor in case.operator.tensors:
            guess = estimate.traffic.get((entry, tensor.name))
            seen = timeline.traffic.get((name, tensor.name), Traffic())
            for what in _FIELDS:
                estimated, measured = getattr(guess, what, 0), getattr(seen, what)
                if estimated != measured:
                    differences.append(Difference(name, tensor.name, what, estimated, measured))
    bound = max(estimate.bounds, key=lambda one: one.cycles, default=None)
    floor = bound.cycles if bound is not None else 0
    return CrossCheck(estimate.cycles, timeline.cycles, bound, tuple(differences),
                      _waterfall(timeline, floor, stalls, lanes))


def _waterfall(timeline: Timeline, floor: int, stalls: Mapping[StallCause, int], lanes: int) -> tuple[tuple[str, int], ...]:
    """The gap between the bound and the measurement by stall cause.

    Array lanes' cycles are busy, stalled or idle. The bound already stands for the busy ones and for as many of the
    others as it exceeds them by: those are taken from the largest causes first. What is left is the gap.
    """
    arrays = [number for number, lane in enumerate(timeline.lanes) if lane.kind is LaneKind.ARRAY]
    idle = sum(timeline.idle_cycles(number) for number in arrays)
    parts = {cause.code: cycles for cause, cycles in stalls.items()} | ({"idle": round(idle)} if idle else {})
    gap = (timeline.cycles - floor) * lanes
    explained = sum(parts.values()) - gap
    for name in sorted(parts, key=lambda key: -parts[key]):
        taken = max(0, min(parts[name], explained))
        parts[name] -= taken
        explained -= taken
    shown: list[tuple[str, int]] = []
    done, total = 0, 0
    if explained < 0:
        parts["other"] = -explained
    for name, cycles in sorted(parts.items(), key=lambda item: -item[1]):
        total += cycles
        share = total // lanes - done
        done += share
        if share:
            shown.append((name, share))
    return tuple(shown)
