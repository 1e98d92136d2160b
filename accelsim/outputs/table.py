"""CSV: one row an operator, and a total of those that ran."""

from __future__ import annotations

from accelsim.measure.report import RunReport
from accelsim.stalls import StallCause
from accelsim.tables import Table


def to_csv(report: RunReport) -> str:
    """The table of operators, in the workload's order, units in the header."""
    each = report.tables.operators
    total = ("total", None, None, report.cycles, report.time_s, report.utilization, report.macs, report.estimated_cycles, None,
             *(report.stalls.get(cause, 0) for cause in StallCause), f"{len(report.done)} of {len(report.operators)}")
    return Table(each.name, each.columns, (*each.rows, total)).to_csv()
