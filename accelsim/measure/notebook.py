"""How reports show themselves in a notebook: what was measured, beside it what was estimated, and where the cycles went."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from accelsim.markup import Cell, Html, Right, block, line, number, percent, swatch, table, title
from accelsim.measure.parts import BYTES, Failed, levels_of
from accelsim.stalls import BUSY_COLOUR, IDLE_COLOUR, StallCause
from accelsim.timeline import LaneKind
from accelsim.units import human_bytes, human_time

if TYPE_CHECKING:
    from accelsim.measure.report import OperatorReport, RunReport


def run_html(report: RunReport) -> str:
    """A run: a single operator in full, several as a table with totals and where all of them lost cycles."""
    if len(report.operators) == 1 and report.done:
        return operator_html(report.done[0])
    rows: list[tuple[Cell, ...]] = [_failed_row(one) if isinstance(one, Failed) else (
        one.name, one.repeat, one.cycles, Right(human_time(one.time_s)), percent(one.utilization), one.estimate.cycles,
        Right(f"{one.crosscheck.ratio:.3f}"), one.bound_by) for one in report.operators]
    ratio = Right(f"{report.cycles / report.estimated_cycles:.3f}") if report.estimated_cycles else None
    rows.append(("total, with repeats", None, report.cycles, Right(human_time(report.time_s)), percent(report.utilization),
                 report.estimated_cycles, ratio, f"{len(report.done)} of {len(report.operators)} operators ran"))
    return block(
        title(f"{report.workload} on {report.chip}"),
        table("", ("operator", "x", "cycles (measured)", "time (measured)", "utilization (measured)", "cycles (estimated)",
                   "measured / estimated", "bound by"), rows, most=len(rows)),
        stalls_html(report.stalls, sum(_spent(one, "busy_cycles") * one.repeat for one in report.done),
                    sum(_spent(one, "idle_cycles") * one.repeat for one in report.done)))


def operator_html(one: OperatorReport) -> str:
    """One operator: cycles, where they went, traffic, links, advice, from the estimate to the measurement, the mapping."""
    return block(
        title(f"{one.name} on {one.case.chip.name}"),
        table("", ("", "measured", "estimated"), [
            ("cycles", one.cycles, one.estimate.cycles),
            ("time", Right(human_time(one.time_s)), Right(human_time(one.estimate.cycles / one.case.chip.clock_hz))),
            ("utilization", percent(one.utilization), None), ("MACs", one.macs, one.estimate.macs),
            ("bound by", Right(one.bound_by), Right(one.estimate.bound_by))]),
        stalls_html(one.stalls, _spent(one, "busy_cycles"), _spent(one, "idle_cycles")),
        _traffic(one), _links(one), _advice(one), _waterfall(one), *one.case.mapping.nest_html(one.case.operator))


def stalls_html(stalls: Mapping[StallCause, int], busy: float, idle: float) -> Html:
    """Array lanes: busy, each cause, idle; they add up to the lane-cycles of the run."""
    total = busy + sum(stalls.values()) + idle
    rows: list[tuple[Cell, ...]] = [(swatch(BUSY_COLOUR, "busy"), busy, percent(busy / max(1, total)))]
    rows += [(swatch(cause.colour, cause.code), cycles, percent(cycles / max(1, total)))
             for cause, cycles in sorted(stalls.items(), key=lambda item: (-item[1], item[0].code))]
    if idle:
        rows.append((swatch(IDLE_COLOUR, "idle"), idle, percent(idle / max(1, total))))
    return table("array lanes", ("", "lane-cycles (measured)", "share"), rows)


def _failed_row(one: Failed) -> tuple[Cell, ...]:
    return (one.name, one.repeat, None, None, None, None, None, f"failed: {one.reason.splitlines()[0]}")


def _spent(one: OperatorReport, what: str) -> float:
    """Cycles of the array lanes."""
    return float(sum(getattr(lane, what) for lane in one.lanes.values() if lane.kind is LaneKind.ARRAY))


def _traffic(one: OperatorReport) -> Html:
    """Columns and rows without a byte left out; the estimate's bytes only where they differ, which is a fault."""
    rows = [(level, tensor, moved) for level, tensors in levels_of(one.case, one.levels).items()
            for tensor, moved in tensors.items() if any(getattr(moved, key) for key in BYTES)]
    shown = [key for key in BYTES if any(getattr(moved, key) for _, _, moved in rows)]
    cells: Iterator[tuple[Cell, ...]] = ((level, tensor, *(_bytes(getattr(moved, key)) for key in shown))
                                         for level, tensor, moved in rows)
    wrong = len(one.crosscheck.traffic_differences)
    told = "estimated: the same bytes" if not wrong else f"the estimate differs in {wrong} numbers"
    return table(f"traffic (measured; {told})", ("level", "tensor", *(key.removesuffix("_bytes").replace("_", " ") + " [B]"
                                                                      for key in shown)), cells)


def _bytes(size: int) -> Cell:
    return Right(f"{number(size)} ({human_bytes(size)})") if size >= 1024 else size or None


def _links(one: OperatorReport) -> Html:
    if not one.links:
        return Html("")
    return table("links (measured)", ("link", "bytes [B]", "busy"), (
        (name, _bytes(size), percent(one.link_busy(name))) for name, size in one.links.items()))


def _advice(one: OperatorReport) -> Html:
    if not one.advice:
        return line("advice: nothing to gain, the array is always busy")
    return table("advice", ("cycles at stake (measured)", "what to change"), (
        (advice.cycles, advice.text) for advice in one.advice))


def _waterfall(one: OperatorReport) -> Html:
    """From the bound to the measurement."""
    check = one.crosscheck
    bound = (f"bound: {check.bound.name} (estimated)", check.bound.cycles) if check.bound is not None else ("no bound", 0)
    return table("from the estimate's bound to the measurement", ("", "cycles"), [
        bound, *((f"+ {name} (measured)", cycles) for name, cycles in check.waterfall),
        ("= measured", check.measured_cycles)])
