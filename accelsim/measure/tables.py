"""A run's numbers in long form: one table for each question, a row for each answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from accelsim import markup
from accelsim.measure.parts import BYTES, Failed, levels_of
from accelsim.stalls import Phase, StallCause
from accelsim.tables import Basis, Column, Table, Value, make, real, text, whole

if TYPE_CHECKING:
    from accelsim.measure.report import OperatorReport

MEASURED, ESTIMATED, GIVEN = Basis.MEASURED, Basis.ESTIMATED, Basis.GIVEN
OPERATOR: tuple[Column, ...] = (text("name"), whole("repeat", GIVEN, ""))
OPERATORS: tuple[Column, ...] = (
    text("name"), text("operator"), whole("repeat", GIVEN, ""), whole("cycles", MEASURED, "cycles"),
    real("time_s", MEASURED, "s"), real("utilization", MEASURED, "share of peak"), whole("macs", GIVEN, "MACs"),
    whole("estimated_cycles", ESTIMATED, "cycles"), text("bound_by", MEASURED),
    *(whole(f"{cause.code}_cycles", MEASURED, "lane-cycles") for cause in StallCause), text("status", MEASURED))
STALLS: tuple[Column, ...] = (*OPERATOR, text("cause", MEASURED), text("phase", MEASURED),
                              whole("lane_cycles", MEASURED, "lane-cycles"))
TRAFFIC: tuple[Column, ...] = (*OPERATOR, text("level"), text("tensor"), text("direction"), whole("bytes", MEASURED, "B"),
                               whole("estimated_bytes", ESTIMATED, "B"))
LANES: tuple[Column, ...] = (*OPERATOR, text("lane"), text("kind"), text("level"), real("busy_cycles", MEASURED, "cycles"),
                             real("stall_cycles", MEASURED, "cycles"), real("idle_cycles", MEASURED, "cycles"))
BOUNDS: tuple[Column, ...] = (*OPERATOR, text("bound", ESTIMATED), text("kind", ESTIMATED), whole("cycles", ESTIMATED, "cycles"),
                              text("explains", ESTIMATED))


@dataclass(frozen=True)
class RunTables(markup.Shown):
    """All numbers of a run in long form. A row is of one run of its operator; ``repeat`` says how often the workload runs it."""

    reports: tuple[OperatorReport | Failed, ...]

    @property
    def operators(self) -> Table:
        """A row for each operator, as in the CSV; what did not run has no numbers."""
        return make("operators", OPERATORS, (_failed_row(one) if isinstance(one, Failed) else _operator_row(one)
                                             for one in self.reports))

    @property
    def stalls(self) -> Table:
        """Cycles that array lanes waited, by cause and phase, zeros left out."""
        return make("stalls", STALLS, ((one.name, one.repeat, cause.code, phase.code, one.phase_stalls[cause, phase])
                                       for one in self._done() for cause in StallCause for phase in Phase
                                       if (cause, phase) in one.phase_stalls))

    @property
    def traffic(self) -> Table:
        """Bytes of each tensor at each level that binds it, by direction, zeros too; the estimate knows no waste."""
        return make("traffic", TRAFFIC, (row for one in self._done() for row in _traffic_rows(one)))

    @property
    def lanes(self) -> Table:
        """Busy, stalled and idle cycles of each array, port and link."""
        return make("lanes", LANES, ((one.name, one.repeat, name, lane.kind.value, lane.level, float(lane.busy_cycles),
                                      float(lane.stall_cycles), float(lane.idle_cycles))
                                     for one in self._done() for name, lane in one.lanes.items()))

    @property
    def bounds(self) -> Table:
        """Cycles that no run can beat, from the closed form."""
        return make("bounds", BOUNDS, ((one.name, one.repeat, bound.name, bound.kind, bound.cycles, bound.explains)
                                       for one in self._done() for bound in one.estimate.bounds))

    def _done(self) -> Iterator[OperatorReport]:
        return (one for one in self.reports if not isinstance(one, Failed))

    def _all(self) -> tuple[Table, ...]:
        return self.operators, self.stalls, self.traffic, self.lanes, self.bounds

    def __str__(self) -> str:
        return "\n".join(f".{table.name}: {len(table):,} rows of {', '.join(column.name for column in table.columns)}"
                         for table in self._all())

    def _repr_html_(self) -> str:
        return markup.block(markup.table("tables", ("table", "rows", "columns"), (
            (table.name, len(table), ", ".join(column.name for column in table.columns)) for table in self._all())))


def _operator_row(one: OperatorReport) -> tuple[Value, ...]:
    return (one.name, one.kind, one.repeat, one.cycles, one.time_s, one.utilization, one.macs, one.estimate.cycles, one.bound_by,
            *(one.stalls.get(cause, 0) for cause in StallCause), "ok")


def _failed_row(one: Failed) -> tuple[Value, ...]:
    return (one.name, one.kind, one.repeat, *[None] * (len(OPERATORS) - 4), "failed")


def _traffic_rows(one: OperatorReport) -> Iterator[tuple[Value, ...]]:
    entries = {name: entry for entry, name in enumerate(one.case.chip.names)}
    for level, tensors in levels_of(one.case, one.levels).items():
        for tensor, moved in tensors.items():
            guess = one.estimate.traffic.get((entries[level], tensor))
            for key in BYTES:
                yield (one.name, one.repeat, level, tensor, key.removesuffix("_bytes"), getattr(moved, key),
                       getattr(guess, key, None))
