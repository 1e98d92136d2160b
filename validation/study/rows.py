"""A row of numbers for each point, all of them whole, so that the table is the same on every machine."""

from __future__ import annotations

import csv
import multiprocessing
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from math import ceil
from pathlib import Path

from accelsim.analytic.estimate import estimate
from accelsim.analytic.result import Estimate
from accelsim.machine.simulate import simulate
from accelsim.measure.report import OperatorReport, measure
from accelsim.plan.schedule import Schedule
from accelsim.spec.case import Case
from accelsim.spec.chip import Access
from accelsim.spec.operator import Role
from accelsim.stalls import Phase, StallCause
from validation.study.points import Point, case_of

TABLE = Path(__file__).resolve().parent / "points.csv"
CAUSES = (*(cause.code for cause in StallCause), "idle", "other")
COUNTS = ("dram_bytes", "dram_bursts", "dram_row_hits", "dram_row_misses", "dram_row_conflicts")
NUMBERS = (
    "macs", "roofline", "busiest", "ends", "array_bound", "port_bound", "estimated", "measured", "traffic_bytes", "lanes", "busy",
    *(phase.code for phase in Phase), "preload", "skew", "results", *(f"stall_{code}" for code in CAUSES[:-2]), "stall_idle",
    *(f"gap_{code}" for code in CAUSES), *COUNTS)
WORDS = ("point", "family", "chip", "workload", "layer", "mapping", "overrides", "twin", "knobs", "bound")

Row = Mapping[str, str | int]


def row_of(point: Point) -> Row:
    """Estimate and measurement of a point.

    ``roofline``, ``busiest``, ``ends``, ``estimated``: closed forms, each with something more than the one before it, in
    cycles (see `ladder`). ``array_bound``, ``port_bound``: the estimate's longest bound of each kind. ``stall_*``, ``busy`` and
    the phases: lane-cycles of all arrays. ``gap_*``: the waterfall from the estimate to the measurement. ``traffic_bytes``:
    what passes the ports of the outermost memories.
    """
    case = case_of(point)
    guess = estimate(case)
    report = measure(case, simulate(Schedule(case)), guess)
    roofline, busiest, ends = ladder(case, guess, report)
    hold = f"{case.chip.array.name} hold"
    arrays = [lane for lane in report.lanes.values() if lane.kind.value == "array"]
    gaps = dict(report.crosscheck.waterfall)
    numbers: dict[str, int] = {
        "macs": report.macs, "roofline": roofline, "busiest": busiest, "ends": ends, "array_bound": guess.array_busy_cycles,
        "port_bound": max((bound.cycles for bound in guess.bounds if bound.kind == "resource" and bound.name != hold), default=0),
        "estimated": guess.cycles,
        "measured": report.cycles, "traffic_bytes": sum(crossing(case, guess).values()), "lanes": len(arrays),
        "busy": sum(round(lane.busy_cycles) for lane in arrays), **report.fill_drain,
        **{phase.code: report.phases.get(phase, 0) for phase in Phase},
        **{f"stall_{cause.code}": report.stalls.get(cause, 0) for cause in StallCause},
        "stall_idle": sum(round(lane.idle_cycles) for lane in arrays),
        **{f"gap_{code}": gaps.get(code, 0) for code in CAUSES}, **{name: report.counts.get(name, 0) for name in COUNTS}}
    words = {"point": point.key, "family": point.family, "chip": point.chip, "workload": point.workload, "layer": point.layer,
             "mapping": point.mapping, "overrides": "; ".join(point.overrides), "twin": point.twin,
             "knobs": "; ".join(f"{key}={value}" for key, value in point.knobs), "bound": guess.bound_by}
    return {**words, **{name: numbers[name] for name in NUMBERS}}


def ladder(case: Case, guess: Estimate, report: OperatorReport) -> tuple[int, int, int]:
    """Closed forms that are simpler than the estimate, each at least as long as the one before.

    The roofline: MACs at the arrays' peak, or the bytes of the outermost memories at their ports' rates, whichever takes
    longer. The busiest: as long as the busiest array, port or link is in service, so with PEs that have no work, ragged tiles
    and inner ports; memories that move whole bursts stay at the roofline's bytes and rate, arrays whose passes take a least time
    at the estimate's work, which has all of them long or all of them short. Ends: with the way in of the first tiles and the way
    out of the last.
    """
    need = [case.operator.macs / case.peak_macs_per_cycle]
    for (memory, port), size in crossing(case, guess).items():
        rate = next(one.rate for level in case.chip.levels for own in level.memories for one in own.ports
                    if (own.name, one.name) == (memory, port))
        if rate is not None:
            need.append(Fraction(size) / rate)
    roofline = ceil(max(need))
    least = {case.chip.array.name} if case.chip.array.least_cycles else set()
    plain = [lane.busy_cycles for lane in report.lanes.values() if lane.level not in in_bursts(case) | least]
    plain.append(guess.array_busy_cycles)
    busiest = max(roofline, ceil(max(plain, default=0)))
    ends = max([busiest, *(bound.cycles for bound in guess.bounds if bound.kind != "credit")])
    return roofline, busiest, ends


def crossing(case: Case, guess: Estimate) -> dict[tuple[str, str], int]:
    """Bytes that pass each port (memory, port) of the memories in which tensors are at home."""
    found: dict[tuple[str, str], int] = {}
    for tensor in case.operator.tensors:
        home, *inside = case.paths[tensor.name]
        memory = case.memory(home, tensor)
        if not inside or memory is None:
            continue
        moved = guess.traffic[inside[0], tensor.name]
        inward = moved.refill_bytes if tensor.role is Role.OUTPUT else moved.fill_bytes
        for access, size in ((Access.FILL, inward), (Access.DRAIN, moved.drain_bytes)):
            port = memory.port(access, tensor)
            if port is not None and size:
                found[memory.name, port.name] = found.get((memory.name, port.name), 0) + size
    return found


def in_bursts(case: Case) -> set[str]:
    """Memories that move more than the bytes asked for: in whole bursts, or through simulated channels."""
    return {memory.name for level in case.chip.levels for memory in level.memories
            if memory.dram is not None or memory.granularity_bytes > 1}


def rows_of(points: Sequence[Point], jobs: int) -> list[Row]:
    """All rows, in order; the same whatever ``jobs`` is."""
    if jobs == 1:
        return [row_of(point) for point in points]
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        return list(pool.map(row_of, points, chunksize=8))


def save(rows: Sequence[Row]) -> None:
    """Write the table."""
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*WORDS, *NUMBERS], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def load() -> list[Row]:
    """Read the table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [{name: value if name in WORDS else int(value) for name, value in row.items()} for row in csv.DictReader(file)]
