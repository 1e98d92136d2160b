"""The report: numbers of one operator's run, and of the workload. Every number is defined in `metrics`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from accelsim.analytic.result import Estimate
from accelsim.errors import SimulatorBug
from accelsim.measure.advice import advise
from accelsim.measure.crosscheck import CrossCheck, crosscheck
from accelsim.measure.notebook import html_table
from accelsim.measure.parts import Advice, LaneReport, PeCycles
from accelsim.spec.case import Case
from accelsim.stalls import Phase, StallCause
from accelsim.timeline import LaneKind, Skipped, Timeline, Traffic

BUSY_ENOUGH = 0.8
CACHE_COUNTS = ("hit", "missed", "written", "back", "dirty")


@dataclass(frozen=True)
class OperatorReport:
    """Measured numbers of one operator: see `metrics` for what each means."""

    name: str
    kind: str
    repeat: int
    case: Case
    cycles: int
    time_s: float
    macs: int
    utilization: float
    stalls: Mapping[StallCause, int]
    phases: Mapping[Phase, int]
    pe_cycles: PeCycles
    levels: Mapping[str, Mapping[str, Traffic]]
    lanes: Mapping[str, LaneReport]
    links: Mapping[str, int]
    bound_by: str
    advice: tuple[Advice, ...]
    culprits: Mapping[tuple[str, str, str], int]
    estimate: Estimate
    crosscheck: CrossCheck
    counts: Mapping[str, int] = field(default_factory=dict)
    port_bytes: Mapping[str, int] = field(default_factory=dict)
    skipped: Skipped = field(default_factory=Skipped)

    @property
    def busy(self) -> float:
        """Share of the array lanes' cycles with a step running."""
        arrays = [lane for lane in self.lanes.values() if lane.kind is LaneKind.ARRAY]
        return sum(lane.busy_cycles for lane in arrays) / max(1, len(arrays) * self.cycles)

    @property
    def cache(self) -> dict[str, dict[str, int]]:
        """What a cache before their home did for tensors, in bytes: hit, missed, written, back to memory, dirty at the end."""
        return {tensor.name: {what: self.counts[f"cache_{what}_bytes {tensor.name}"] for what in CACHE_COUNTS}
                for tensor in self.case.operator.tensors if f"cache_hit_bytes {tensor.name}" in self.counts}

    def link_busy(self, link: str) -> float:
        """Share of the run in which a link (the mean over its instances) or a network's channel was busy; 0 where nothing takes
        time there.
        """
        own = [lane.busy_cycles for name, lane in self.lanes.items() if lane.kind is LaneKind.LINK and link in {lane.level, name}]
        return sum(own) / max(1, len(own) * self.cycles)

    @property
    def fill_drain(self) -> dict[str, int]:
        """The cycles of the stall cause `array_fill_drain` by what filled or emptied; they add up to it.

        Stationary words that came in (preload), the array's skew and pipeline depth (skew), stationary results that left
        (results).
        """
        found = {"preload": 0, "skew": 0, "results": 0}
        for (cause, where, _), cycles in self.culprits.items():
            if cause == StallCause.ARRAY_FILL_DRAIN.code:
                part = where.rpartition(".")[2]
                found[part if part in found else "skew"] += cycles
        return found


def measure(case: Case, timeline: Timeline, estimate: Estimate) -> OperatorReport:
    """The verb `measure`: a timeline's numbers, checked against the laws of conservation and the estimate's bounds.

    Raises SimulatorBug when one of them is broken.
    """
    cycles = timeline.cycles
    lanes = {lane.name: _lane(timeline, number) for number, lane in enumerate(timeline.lanes)}
    arrays = [number for number, lane in enumerate(timeline.lanes) if lane.kind is LaneKind.ARRAY]
    stalls: dict[StallCause, int] = {}
    phases: dict[Phase, int] = {}
    for number in arrays:
        for (cause, phase), stalled in timeline.stall_cycles(number).items():
            stalls[cause] = stalls.get(cause, 0) + stalled
            phases[phase] = phases.get(phase, 0) + stalled
    pes = pe_cycles(case, timeline, stalls)
    levels: dict[str, dict[str, Traffic]] = {}
    for (level, tensor), traffic in timeline.traffic.items():
        levels.setdefault(level, {})[tensor] = traffic
    culprits: dict[tuple[str, str, str], int] = {}
    for (cause_code, where, whose, _), waited in timeline.culprits.items():
        key = (cause_code, where, whose)
        culprits[key] = culprits.get(key, 0) + waited
    _check(case, timeline, lanes, pes, estimate)
    utilization = float(Fraction(case.operator.macs) / (case.peak_macs_per_cycle * cycles)) if cycles else 0.0
    check = crosscheck(case, timeline, estimate, stalls, len(arrays))
    bound_by = _bound_by(lanes, cycles, stalls)
    return OperatorReport(
        case.operator.name, case.operator.kind, case.operator.repeat, case, cycles, float(cycles / case.chip.clock_hz),
        case.operator.macs, utilization, stalls, phases, pes, levels, lanes, dict(timeline.link_bytes), bound_by,
        advise(case, cycles, lanes, stalls, pes, culprits, levels), culprits, estimate, check, dict(timeline.counts),
        dict(timeline.port_bytes), timeline.skipped)


def _lane(timeline: Timeline, number: int) -> LaneReport:
    lane = timeline.lanes[number]
    stalled = sum(timeline.stall_cycles(number).values())
    return LaneReport(lane.kind, lane.level, timeline.busy_cycles(number), stalled, timeline.idle_cycles(number))


def pe_cycles(case: Case, timeline: Timeline, stalls: Mapping[StallCause, int]) -> PeCycles:
    """Where the PE-cycles went; a lockstep lane stands for all its instances."""
    arrays = [number for number, lane in enumerate(timeline.lanes) if lane.kind is LaneKind.ARRAY]
    every = case.chip.array.pe_count * case.chip.arrays
    apart = 1
    for entry in range(1, case.array_entry + 1):
        if not case.lockstep(entry):
            for _, count in case.chip.fanout(entry):
                apart *= count
    each = every // apart
    busy = sum(round(timeline.busy_cycles(number)) for number in arrays)
    running = timeline.counts.get("array_cycles", 0)
    useful = case.operator.macs * case.interval_cycles
    fill_drain = stalls.get(StallCause.ARRAY_FILL_DRAIN, 0)
    stalled = sum(stalls.values()) - fill_drain
    shape, ports = running * each - useful, (busy - running) * each
    idle = every * timeline.cycles - (busy + fill_drain + stalled) * each
    return PeCycles(useful, shape, ports, fill_drain * each, stalled * each, idle)


def _check(case: Case, timeline: Timeline, lanes: Mapping[str, LaneReport], pes: PeCycles, estimate: Estimate) -> None:
    """The laws that no run may break."""
    for name, lane in lanes.items():
        if lane.busy_cycles + lane.stall_cycles + lane.idle_cycles != timeline.cycles or lane.idle_cycles < 0:
            raise SimulatorBug(f"lane {name}: busy {lane.busy_cycles} + stalls {lane.stall_cycles} + idle "
                               f"{lane.idle_cycles} is not {timeline.cycles}")
    for name in ("useful", "shape", "ports", "fill_drain", "stalled", "idle"):
        if getattr(pes, name) < 0:
            raise SimulatorBug(f"PE-cycles {name} is {getattr(pes, name):,}")
    for bound in estimate.bounds:
        if bound.cycles > timeline.cycles:
            raise SimulatorBug(f"{case.operator.name}: measured {timeline.cycles:,} cycles beat the bound {bound.name} "
                               f"({bound.cycles:,})")
    if timeline.counts.get("macs") != case.operator.macs:
        raise SimulatorBug(f"{timeline.counts.get('macs')} MACs done, {case.operator.macs} asked")


def _bound_by(lanes: Mapping[str, LaneReport], cycles: int, stalls: Mapping[StallCause, int]) -> str:
    if not cycles:
        return "nothing"
    name = max(lanes, key=lambda lane: lanes[lane].busy_cycles)
    if lanes[name].busy_cycles >= BUSY_ENOUGH * cycles or not stalls:
        return name
    return max(stalls, key=lambda cause: stalls[cause]).code


@dataclass(frozen=True)
class Failed:
    """An operator that did not run, and why."""

    name: str
    kind: str
    repeat: int
    reason: str
    exit_code: int


@dataclass(frozen=True)
class RunReport:
    """A workload's run: a report for each operator, and totals over those that ran."""

    chip: str
    workload: str
    clock_hz: Fraction
    operators: tuple[OperatorReport | Failed, ...]
    provenance: Mapping[str, object] = field(default_factory=dict)

    @property
    def done(self) -> tuple[OperatorReport, ...]:
        """The operators that ran."""
        return tuple(one for one in self.operators if isinstance(one, OperatorReport))

    @property
    def failed(self) -> tuple[Failed, ...]:
        """The operators that did not."""
        return tuple(one for one in self.operators if isinstance(one, Failed))

    @property
    def cycles(self) -> int:
        """Cycles of all operators that ran, one after another, each so often as it repeats."""
        return sum(one.cycles * one.repeat for one in self.done)

    @property
    def macs(self) -> int:
        """MACs of all operators that ran."""
        return sum(one.macs * one.repeat for one in self.done)

    @property
    def time_s(self) -> float:
        """Seconds at the chip's clock."""
        return float(self.cycles / self.clock_hz)

    @property
    def utilization(self) -> float:
        """Useful MACs over peak MACs; operators of different types have different peaks."""
        peak = sum((one.case.peak_macs_per_cycle * one.cycles * one.repeat for one in self.done), Fraction(0))
        return float(self.macs / peak) if peak else 0.0

    @property
    def stalls(self) -> dict[StallCause, int]:
        """Array-lane cycles by cause over all operators, with repeats."""
        found: dict[StallCause, int] = {}
        for one in self.done:
            for cause, cycles in one.stalls.items():
                found[cause] = found.get(cause, 0) + cycles * one.repeat
        return found

    def _repr_html_(self) -> str:
        rows: list[tuple[object, ...]] = [
            (one.name, one.repeat, "failed", "", "", one.reason.splitlines()[0]) if isinstance(one, Failed) else
            (one.name, one.repeat, one.cycles, one.utilization, one.estimate.cycles, one.bound_by) for one in self.operators]
        rows.append(("total", "", self.cycles, self.utilization, self.estimated_cycles, ""))
        return html_table(f"{self.workload} on {self.chip}",
                          ("operator", "x", "cycles (measured)", "utilization", "cycles (estimated)", "bound by"), rows)

    @property
    def estimated_cycles(self) -> int:
        """The closed form's cycles of the operators that ran, with repeats."""
        return sum(one.estimate.cycles * one.repeat for one in self.done)
