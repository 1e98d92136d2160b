"""CSV: one row an operator, and a total of those that ran."""

from __future__ import annotations

import csv
from io import StringIO

from accelsim.measure.report import Failed, RunReport
from accelsim.stalls import StallCause


def to_csv(report: RunReport) -> str:
    """The table, in the workload's order, units in the header."""
    file = StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["name", "operator", "repeat", "cycles", "time_s", "utilization", "macs", "estimated_cycles", "bound_by",
                     *(f"{cause.code}_cycles" for cause in StallCause), "status"])
    for one in report.operators:
        if isinstance(one, Failed):
            writer.writerow([one.name, one.kind, one.repeat, *[""] * (6 + len(StallCause)), "failed"])
            continue
        writer.writerow([one.name, one.kind, one.repeat, one.cycles, repr(one.time_s), repr(one.utilization), one.macs,
                         one.estimate.cycles, one.bound_by, *(one.stalls.get(cause, 0) for cause in StallCause), "ok"])
    writer.writerow(["total", "", "", report.cycles, repr(report.time_s), repr(report.utilization), report.macs,
                     report.estimated_cycles, "", *(report.stalls.get(cause, 0) for cause in StallCause),
                     f"{len(report.done)} of {len(report.operators)}"])
    return file.getvalue()
