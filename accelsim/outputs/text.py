"""The summary that one reads first: one screen of text, every number with its unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap

from accelsim.analytic.result import Estimate
from accelsim.measure.parts import levels_of
from accelsim.measure.report import Failed, OperatorReport, RunReport
from accelsim.spec.case import Case
from accelsim.stalls import StallCause
from accelsim.timeline import Traffic
from accelsim.units import grouped, human_bytes, human_time

WIDTH = 100
MOST_PERIODS = 3
BUSIEST_CHANNELS = 3
_TRAFFIC = (("fill", "fill_bytes"), ("drain", "drain_bytes"), ("refill", "refill_bytes"), ("read", "array_read_bytes"),
            ("write", "array_write_bytes"), ("waste", "waste_bytes"))


def summary(report: RunReport) -> str:
    """The run on one screen: a single operator in full, several as a table with totals."""
    if len(report.operators) == 1 and report.done:
        return operator_summary(report.done[0], report)
    return workload_summary(report)


def operator_summary(one: OperatorReport, report: RunReport) -> str:
    """One operator: cycles, what binds, where the time went, traffic, advice, estimate."""
    lines = [f"{one.name} on {report.chip}", ""]
    lines += headline(one.cycles, one.time_s, one.utilization, one.macs)
    arrays = [lane for lane in one.lanes.values() if lane.kind.value == "array"]
    lines.append(f"bound by       {one.bound_by}{_busy_note(one)}")
    lines += ["", *stall_lines(one.stalls, one.cycles * len(arrays), one.busy, sum(lane.idle_cycles for lane in arrays),
                               one.fill_drain)]
    lines += ["", *traffic_lines(one.case, one.levels), *link_lines(one), *cache_lines(one), *bank_lines(one), *dram_lines(one)]
    lines += ["", "advice"]
    lines += [line for advice in one.advice for line in advice_lines(advice.cycles, advice.text)] or [
        "  nothing to gain: the array is always busy"]
    lines += ["", *estimate_lines(one)]
    if one.skipped.steps:
        lines += ["", *forward_lines(one)]
    lines += ["", *wrap(f"mapping ({one.case.mapping.origin or 'given'})", WIDTH, subsequent_indent="  "),
              *("  " + line for line in one.case.mapping.loop_nest(one.case.operator).splitlines())]
    return "\n".join(lines)


def advice_lines(cycles: int, text: str) -> list[str]:
    """Cycles at stake and what to do, wrapped to the width of the summary."""
    head = f"  {grouped(cycles):>14} cycles  "
    return wrap(text, WIDTH, initial_indent=head, subsequent_indent=" " * len(head))


def _busy_note(one: OperatorReport) -> str:
    lane = one.lanes.get(one.bound_by)
    if lane is None or not one.cycles:
        return " (the largest stall cause)" if one.stalls else ""
    return f" (busy {lane.busy_cycles / one.cycles:.0%} of the run)"


def headline(cycles: int, time_s: float, utilization: float, macs: int) -> list[str]:
    """Cycles, time, utilization."""
    return [f"cycles         {grouped(cycles)}  (measured)", f"time           {human_time(time_s)}",
            f"utilization    {utilization:.1%} of peak  ({grouped(macs)} MACs)"]


def stall_lines(stalls: Mapping[StallCause, int], total: int, busy: float, idle: float,
                fill_drain: Mapping[str, int] | None = None) -> list[str]:
    """Array lanes: busy, each cause, idle; they add up to the lane-cycles of the run. ``fill_drain``: that cause's parts."""
    lines = [f"array lanes    {'lane-cycles':>16}  share", f"  {'busy':<18} {grouped(round(busy * total)):>10}  {busy:6.1%}"]
    for cause, cycles in sorted(stalls.items(), key=lambda item: (-item[1], item[0].code)):
        lines.append(f"  {cause.code:<18} {grouped(cycles):>10}  {cycles / max(1, total):6.1%}")
        if cause is StallCause.ARRAY_FILL_DRAIN and fill_drain is not None:
            lines[-1] += f"  {', '.join(f'{part} {grouped(own)}' for part, own in fill_drain.items() if own)}"
    if idle:
        lines.append(f"  {'idle':<18} {grouped(round(idle)):>10}  {idle / max(1, total):6.1%}")
    return lines


def traffic_lines(case: Case, levels: Mapping[str, Mapping[str, Traffic]]) -> list[str]:
    """Bytes per level and tensor; columns without any left out."""
    rows = [(level, tensor, traffic) for level, tensors in levels_of(case, levels).items()
            for tensor, traffic in tensors.items()]
    rows = [row for row in rows if any(getattr(row[2], key) for _, key in _TRAFFIC)]
    columns = [(name, key) for name, key in _TRAFFIC if any(getattr(traffic, key) for _, _, traffic in rows)]
    lines = [f"{'traffic':<14} " + " ".join(f"{name:>11}" for name, _ in columns)]
    for level, tensor, traffic in rows:
        lines.append(f"  {level + ' ' + tensor:<12} " + " ".join(
            f"{human_bytes(getattr(traffic, key)) if getattr(traffic, key) else '-':>11}" for _, key in columns))
    return lines


def link_lines(one: OperatorReport) -> list[str]:
    """What crossed each link, and how much of the run it was busy; of a network's channels the busiest."""
    networks = [f"{link.name} " for link in one.case.chip.links if link.network is not None]
    lines = [f"{name:<12} {human_bytes(size):>11}, busy {one.link_busy(name):.1%}" for name, size in one.links.items()
             if not name.startswith(tuple(networks))]
    for network in networks:
        channels = {name: size for name, size in one.links.items() if name.startswith(network)}
        if channels:
            busiest = sorted(channels, key=lambda name: (-one.link_busy(name), -channels[name]))[:BUSIEST_CHANNELS]
            lines.append(f"{network:<12} {human_bytes(sum(channels.values())):>11} over {len(channels)} channels; the busiest:")
            lines += [f"  {name:<12} {human_bytes(channels[name]):>9}, busy {one.link_busy(name):.1%}" for name in busiest]
    return [f"{'links' if i == 0 else '':<14} {line}" for i, line in enumerate(lines)]


def cache_lines(one: OperatorReport) -> list[str]:
    """What a cache had of each tensor; nothing without any."""
    lines: list[str] = []
    for name, own in one.cache.items():
        read, written = own["hit"] + own["missed"], own["written"]
        told = [f"{human_bytes(read)} read, {own['hit'] / read:.1%} hits"] if read else []
        told += [f"{human_bytes(written)} written, {human_bytes(own['back'])} of it on to memory"] if written else []
        lines.append(f"{'' if lines else 'cache':<14} {name:<12} {', '.join(told)}")
    return lines


def bank_lines(one: OperatorReport) -> list[str]:
    """How long arrays stood still for banks that are simulated; nothing without any."""
    if "bank_own_cycles" not in one.counts:
        return []
    own, moved = one.counts["bank_own_cycles"], one.counts["bank_transfer_cycles"]
    return wrap(f"the array stood still for {grouped(own + moved)} cycles: {grouped(own)} for accesses of its own to one bank, "
                f"{grouped(moved)} for transfers", WIDTH, initial_indent="banks          ", subsequent_indent=" " * 15)


def dram_lines(one: OperatorReport) -> list[str]:
    """What memories whose channels are simulated did; nothing without any."""
    bursts = one.counts.get("dram_bursts", 0)
    if not bursts:
        return []
    parts = [f"{one.counts[f'dram_row_{what}'] / bursts:.1%} row {what}" for what in ("hits", "misses", "conflicts")]
    parts += [f"{grouped(one.counts[f'dram_{what}'])} {what}" for what in ("refreshes", "turnarounds")]
    return wrap(f"{grouped(bursts)} bursts, {human_bytes(one.counts['dram_bytes'])}: {', '.join(parts)}", WIDTH,
                initial_indent="dram           ", subsequent_indent=" " * 15)


def estimate_lines(one: OperatorReport) -> list[str]:
    """How far the closed form was, and what lies between its bound and the measurement."""
    check = one.crosscheck
    bound = check.bound.name if check.bound is not None else "none"
    lines = [f"estimated      {grouped(check.estimated_cycles)} cycles; measured is {check.ratio:.3f} x that; traffic "
             + ("equal" if not check.traffic_differences else f"differs in {len(check.traffic_differences)} numbers")]
    floor = check.bound.cycles if check.bound is not None else 0
    lines.append(f"  {'bound: ' + bound:<34} {grouped(floor):>14}")
    lines += [f"  + {name:<32} {grouped(cycles):>14}" for name, cycles in check.waterfall]
    lines.append(f"  {'= measured':<34} {grouped(check.measured_cycles):>14}")
    lines += [f"  DIFFERS {part.level} {part.tensor} {part.what}: estimated {part.estimated:,}, measured {part.measured:,}"
              for part in check.traffic_differences[:10]]
    return lines


def forward_lines(one: OperatorReport) -> list[str]:
    """What was added instead of simulated: the longest periods first."""
    steps = one.counts["blocks"]
    lines = [f"fast-forward   {grouped(one.skipped.steps)} of {grouped(steps)} array steps repeat others exactly, and were added"]
    for period in sorted(one.skipped.periods, key=lambda period: -period.cycles * period.times)[:MOST_PERIODS]:
        each = "every iteration" if period.iterations == 1 else f"every {period.iterations} iterations"
        lines.append(f"  {period.loop:<14} {each}, {grouped(period.cycles)} cycles: {grouped(period.times)} times")
    return lines


def workload_summary(report: RunReport) -> str:
    """A row an operator, then totals over the whole workload."""
    lines = [f"{report.workload} on {report.chip}", ""]
    width = min(40, max([len(one.name) for one in report.operators], default=8))
    lines.append(f"{'operator':<{width}} {'x':>3} {'cycles':>13} {'util':>6} {'busy':>6} {'meas/est':>8}  bound by")
    for one in report.operators:
        if isinstance(one, Failed):
            lines.append(f"{one.name[:width]:<{width}} {one.repeat:>3}  FAILED: {first_line(one)}")
            continue
        lines.append(f"{one.name[:width]:<{width}} {one.repeat:>3} {grouped(one.cycles):>13} {one.utilization:>6.1%} "
                     f"{one.busy:>6.1%} {one.crosscheck.ratio:>8.3f}  {one.bound_by}")
    if not report.done:
        return "\n".join([*lines, "", "no operator ran"])
    lines += ["", *headline(report.cycles, report.time_s, report.utilization, report.macs)]
    lines.append(f"estimated      {grouped(report.estimated_cycles)} cycles; measured is "
                 f"{report.cycles / max(1, report.estimated_cycles):.3f} x that")
    total = sum(one.cycles * one.repeat * _arrays(one) for one in report.done)
    busy = sum(lane.busy_cycles * one.repeat for one in report.done for lane in one.lanes.values()
               if lane.kind.value == "array") / max(1, total)
    idle = sum(lane.idle_cycles * one.repeat for one in report.done for lane in one.lanes.values()
               if lane.kind.value == "array")
    lines += ["", *stall_lines(report.stalls, total, busy, idle)]
    lines += ["", "advice", *_workload_advice(report)]
    skipped = sum(one.skipped.steps for one in report.done)
    if skipped:
        steps = sum(one.counts["blocks"] for one in report.done)
        lines += ["", f"fast-forward   {grouped(skipped)} of {grouped(steps)} array steps repeat others exactly, and were added"]
    lines += ["", f"{len(report.done)} of {len(report.operators)} operators ran, one after another, each from a cold start with "
              "its tensors at home;", "what one could leave on chip for the next, or overlap with it, is not counted."]
    return "\n".join(lines)


def first_line(one: object) -> str:
    """The first line of a failure's reason."""
    return str(getattr(one, "reason", "")).splitlines()[0]


def _arrays(one: OperatorReport) -> int:
    return sum(1 for lane in one.lanes.values() if lane.kind.value == "array")


def _workload_advice(report: RunReport) -> list[str]:
    """The largest stakes over all operators, the same advice added up."""
    stakes: dict[str, tuple[int, OperatorReport, int]] = {}
    for one in report.done:
        for advice in one.advice:
            cycles = advice.cycles * one.repeat
            total, worst, most = stakes.get(advice.text, (0, one, 0))
            stakes[advice.text] = (total + cycles, one if cycles > most else worst, max(most, cycles))
    best = sorted(stakes.items(), key=lambda item: (-item[1][0], item[0]))[:3]
    return [line for text, (total, worst, _) in best for line in advice_lines(total, f"{text} (most in {worst.name})")] or [
        "  nothing to gain: the arrays are always busy"]


def estimate_summary(chip: str, rows: Sequence[tuple[Case, Estimate]], failures: Sequence[str]) -> str:
    """The closed form alone."""
    if len(rows) == 1 and not failures:
        case, guess = rows[0]
        lines = [f"{case.operator.name} on {chip} (estimated, not simulated)", "",
                 f"cycles         {grouped(guess.cycles)}  (estimated)", f"bound by       {guess.bound_by}", "", "lower bounds"]
        lines += [f"  {grouped(bound.cycles):>14}  {bound.name:<24} {bound.explains}"
                  for bound in sorted(guess.bounds, key=lambda one: -one.cycles)]
        traffic: dict[str, dict[str, Traffic]] = {}
        for (entry, tensor), part in guess.traffic.items():
            traffic.setdefault(case.chip.names[entry], {})[tensor] = Traffic(**vars(part))
        lines += ["", *traffic_lines(case, traffic), "", f"mapping ({case.mapping.origin or 'given'})",
                  *("  " + line for line in case.mapping.loop_nest(case.operator).splitlines())]
        return "\n".join(lines)
    lines = [f"estimates on {chip} (not simulated)", "", f"{'operator':<32} {'x':>3} {'cycles':>14}  bound by"]
    lines += [f"{case.operator.name[:32]:<32} {case.operator.repeat:>3} {grouped(guess.cycles):>14}  {guess.bound_by}"
              for case, guess in rows]
    lines += [f"FAILED {failure}" for failure in failures]
    lines.append(f"{'total':<32} {'':>3} {grouped(sum(guess.cycles * case.operator.repeat for case, guess in rows)):>14}")
    return "\n".join(lines)
