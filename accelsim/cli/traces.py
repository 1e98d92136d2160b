"""`--trace`: which operators, to which file, and what is said about what is not in it."""

from __future__ import annotations

import sys
from pathlib import Path

from accelsim.errors import Fault
from accelsim.measure.report import OperatorReport
from accelsim.outputs.trace import make_trace
from accelsim.verbs import Finished
from accelsim.writing import whole_file

ALL = "all"
"""The word that asks for all operators, where none is called so."""
FORMATS = (".pftrace", ".json", ".json.gz")


def format_of(path: Path) -> str:
    """The trace format of a file by its name; "" for none."""
    return next((suffix for suffix in FORMATS if path.name.lower().endswith(suffix)), "")


def faults(path: Path) -> list[Fault]:
    """What is wrong with a trace's file name. Raises SpecError where what it needs is not installed."""
    form = format_of(path)
    if form == ".pftrace":
        from accelsim.outputs.trace_perfetto import protos
        protos()
    return [] if form else [Fault("--trace", 0, 0, "", f"no trace format '{path.suffix}'", ", ".join(FORMATS))]


def write_trace(finished: Finished, operators: list[int], path: Path, window: tuple[int, int] | None, most_rows: int) -> None:
    """Write the trace of operators (by their places) whole or not at all, and say on stderr what is not in it."""
    shown = []
    for place in operators:
        report, timeline = finished.report.operators[place], finished.timelines[place]
        assert isinstance(report, OperatorReport), "it ran"
        assert timeline is not None
        shown.append((report, timeline))
    trace = make_trace(finished.report, shown, window, most_rows)
    with whole_file(path) as file:
        if format_of(path) == ".pftrace":
            from accelsim.outputs.trace_perfetto import write_perfetto
            write_perfetto(trace, file)
        else:
            from accelsim.outputs.trace_chrome import write_chrome
            write_chrome(trace, file, zipped=format_of(path) == ".json.gz")
    for part in trace.parts:
        if part.left_out:
            print(f"accelsim: trace of {part.left_out}; choose a --window or raise --trace-rows", file=sys.stderr)
