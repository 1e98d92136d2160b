"""`accelsim roofline`: how far below its roofs a mapping stays."""

from __future__ import annotations

from fractions import Fraction

from accelsim.cli.commands import Asking, Files, asked_for, check_files, draw_all, exit_code, tell_failures, tell_left_out
from accelsim.cli.compiling import compiling
from accelsim.cli.pictures import Pictures
from accelsim.cli.progress import Progress
from accelsim.measure.report import OperatorReport, RunReport
from accelsim.measure.roofline import Roof, Roofline
from accelsim.measure.roofline import roofline as measured
from accelsim.outputs import results
from accelsim.recorder import RecordOptions
from accelsim.units import human_bytes
from accelsim.verbs import operator_names
from accelsim.verbs import run as run_workload

SCHEMA = 1
_TERA, _GIGA = 10**12, 10**9


def roofline(asking: Asking, as_json: bool, pictures: Pictures) -> int:
    """Simulate, and show every roof of one operator, or of several the one that is lowest."""
    files = Files(None, pictures=pictures)
    check_files(files, asking.read)
    if pictures.operator is not None:
        asked_for(files, operator_names(asking.chip, asking.workload, asking.options()))
    with compiling(), Progress() as progress:
        finished = run_workload(asking.chip, asking.workload, asking.options(RecordOptions(most_rows=0)), progress.tell)
    tell_left_out(finished.asked)
    run = finished.report
    shown = [one for one in run.done if pictures.operator in (None, one.name)]
    if as_json:
        print(results.to_text({"schema": SCHEMA, "chip": run.chip, "workload": run.workload,
                               "clock_hz": results.number(run.clock_hz),
                               "operators": [{"name": one.name, "repeat": one.repeat, "cycles": one.cycles,
                                              "roofline": results.roofline_json(measured(one))} for one in shown]}))
    elif len(shown) == 1:
        print(_of_one(shown[0], run))
    else:
        print(_of_several(shown, run))
    draw_all(finished, files)
    tell_failures(run.failed)
    return exit_code(run)


def _tops(macs_per_cycle: Fraction, run: RunReport) -> str:
    return f"{float(2 * macs_per_cycle * run.clock_hz / _TERA):,.4g}"


def _of_one(one: OperatorReport, run: RunReport) -> str:
    """A line a roof, outermost first, then the peaks."""
    found = measured(one)
    lines = [f"{one.name} on {run.chip}: roofline (measured; 2 operations a MAC)", "",
             f"{'roof':<20} {'GB/s':>10} {'moved':>10} {'op/byte':>9} {'allows TOP/s':>12} {'attained':>9} {'share':>6}"]
    attained = found.macs_per_cycle
    for roof in found.roofs:
        allowed, intensity = roof.macs_per_cycle, roof.macs_per_byte
        rate = "unlimited" if roof.bytes_per_cycle is None else f"{float(roof.bytes_per_cycle * run.clock_hz / _GIGA):,.4g}"
        lines.append(f"{roof.name[:20]:<20} {rate:>10} {human_bytes(roof.moved_bytes):>10} "
                     f"{'-' if intensity is None else format(float(2 * intensity), ',.4g'):>9} "
                     f"{'-' if allowed is None else _tops(allowed, run):>12} {_tops(attained, run):>9} "
                     f"{'-' if allowed is None else format(float(attained / allowed), '.1%'):>6}")
    own = [(name, peak) for name, peak in found.peaks if peak == found.peak] or [("", found.peak)]
    lines += [f"{_peak(name)[:20]:<20} {'':>10} {'':>10} {'':>9} {_tops(peak, run):>12} "
              f"{_tops(attained, run):>9} {float(attained / peak):>6.1%}" for name, peak in own]
    lines += [f"{_peak(name)[:20]:<20} {'':>10} {'':>10} {'':>9} {_tops(peak, run):>12}"
              for name, peak in found.peaks if peak != found.peak]
    return "\n".join([*lines, "", f"lowest roof    {_lowest(found)}"])


def _peak(name: str) -> str:
    return "peak" if name in ("", "any") else f"peak {name}"


def _lowest(found: Roofline) -> str:
    return found.lowest.name if found.lowest is not None else "the peak"


def _of_several(shown: list[OperatorReport], run: RunReport) -> str:
    """A line an operator: below its outermost roof, and below the lowest of all."""
    width = min(32, max([len(one.name) for one in shown], default=8))
    lines = [f"{run.workload} on {run.chip}: roofline (measured; 2 operations a MAC)", "",
             f"{'operator':<{width}} {'x':>3} {'outermost':<14} {'op/byte':>9} {'attained TOP/s':>14}  {'lowest roof':<16} "
             f"{'allows':>9} {'share':>6}"]
    for one in shown:
        found = measured(one)
        outermost = next((roof for roof in found.roofs if roof.bytes_per_cycle is not None), None)
        allowed = _allowed(found.lowest, found)
        lines.append(f"{one.name[:width]:<{width}} {one.repeat:>3} {outermost.name[:14] if outermost is not None else '-':<14} "
                     f"{_intensity(outermost):>9} {_tops(found.macs_per_cycle, run):>14}  {_lowest(found)[:16]:<16} "
                     f"{_tops(allowed, run):>9} {float(found.macs_per_cycle / allowed):>6.1%}")
    return "\n".join(lines)


def _intensity(roof: Roof | None) -> str:
    return "-" if roof is None or roof.macs_per_byte is None else f"{float(2 * roof.macs_per_byte):,.4g}"


def _allowed(lowest: Roof | None, found: Roofline) -> Fraction:
    return found.peak if lowest is None or lowest.macs_per_cycle is None else lowest.macs_per_cycle
