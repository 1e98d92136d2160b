"""What if: every resource of a chip doubled, halved and without limit, one by one; what binds, and what would bind next."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from accelsim import markup
from accelsim.analytic.auto import write
from accelsim.analytic.estimate import estimate
from accelsim.drivers import Running
from accelsim.errors import DoesNotFit, Fault, LimitExceeded, SpecError
from accelsim.measure.report import Failed, OperatorReport, measure
from accelsim.measure.roofline import roofline
from accelsim.processes import Progress, Task, simulate_all
from accelsim.recorder import RecordOptions
from accelsim.search.memory_resources import PortRate
from accelsim.search.resource import Resource, Varied
from accelsim.search.resources import Slots, resources
from accelsim.spec.build import make_case
from accelsim.spec.case import Case
from accelsim.spec.chip import Chip
from accelsim.spec.mapping import Mapping as Map
from accelsim.spec.operator import Operator
from accelsim.spec.read import Unmapped
from accelsim.tables import Basis, Column, Table, Tabular, make, real, text, whole
from accelsim.verbs import Options, ask, judge, work_of

DOUBLED, HALVED, IDEAL = Fraction(2), Fraction(1, 2), None
FACTORS: tuple[Fraction | None, ...] = (DOUBLED, HALVED, IDEAL)
WORTH = 0.01
"""A resource binds if twice as good it saves at least this share of the cycles."""
TIGHT = 0.1
"""One that saves less than that holds with others if half as good it costs at least this share."""
COLUMNS: tuple[Column, ...] = (
    text("resource"), text("key"), text("now"), *(whole(name, Basis.MEASURED, "cycles") for name in (
        "cycles", "doubled_cycles", "halved_cycles", "ideal_cycles")), real("elasticity", Basis.MEASURED, ""))
TOTALS_ONLY = RecordOptions(most_rows=0, bins=2)


@dataclass(frozen=True)
class Sensitivity:
    """Cycles of the workload with one resource different; None where it cannot be so."""

    resource: Resource
    now: str
    base: int
    doubled: int | None
    halved: int | None
    ideal: int | None

    @property
    def elasticity(self) -> float | None:
        """By which power of the resource the run shortens: 1, cycles go as its inverse; 0, it does not matter.

        The logarithm of the cycles over that of the resource, between half of it and twice as much.
        """
        fast, slow = self.doubled, self.halved
        if fast is None and slow is None:
            return None
        span = (fast is not None) + (slow is not None)
        return math.log2((self.base if slow is None else slow) / (self.base if fast is None else fast)) / span

    @property
    def saves(self) -> float:
        """Share of the cycles that twice as much saves; less than 0 where it lengthens the run."""
        return 0.0 if self.doubled is None else 1 - self.doubled / self.base

    @property
    def ideal_saves(self) -> float:
        """Share of the cycles that no limit would save."""
        return 0.0 if self.ideal is None else 1 - self.ideal / self.base


@dataclass(frozen=True)
class Move:
    """Where the bottleneck goes: what was doubled, the cycles then."""

    resource: Resource
    cycles: int


@dataclass(frozen=True)
class WhatIf(Tabular):
    """``rows``: what matters most first. ``moves``: the resource that binds doubled, then the one that binds next, and so on.

    Of a workload some of whose operators do not run (``failed``) the others are compared.
    """

    chip: str
    workload: str
    clock_hz: Fraction
    cycles: int
    rows: tuple[Sensitivity, ...]
    moves: tuple[Move, ...]
    failed: tuple[Failed, ...]
    remapped: bool = False

    @property
    def table(self) -> Table:
        """A row for each resource, what matters most first; None where it cannot be so."""
        return make("what if", COLUMNS, ((row.resource.name, row.resource.key, row.now, row.base, row.doubled, row.halved,
                                          row.ideal, row.elasticity) for row in self.rows))

    def __str__(self) -> str:
        best = self.binding
        binds = ("nothing binds alone" if best is None else
                 f"{best.resource.name} binds: twice as good it saves {best.saves:.1%}")
        return f"{self.workload} on {self.chip}: {self.cycles:,} cycles (measured); {binds}"

    def _repr_html_(self) -> str:
        def changed(cycles: int | None) -> markup.Cell:
            return None if cycles is None else markup.Right(f"{cycles:,} ({cycles / self.cycles - 1:+.1%})")
        rows = ((row.resource.name, row.now, changed(row.doubled), changed(row.halved), changed(row.ideal),
                 None if row.elasticity is None else markup.Right(f"{row.elasticity:.2f}")) for row in self.rows)
        moves = (f"{move.resource.name} twice as good: {move.cycles:,} cycles (measured)" for move in self.moves)
        return markup.block(
            markup.title(str(self)),
            markup.table(f"cycles (measured) with one resource different, {self.mapped}", (
                "resource", "now", "twice as good", "half as good", "no limit", "elasticity"), rows),
            markup.lines("where the bottleneck goes", moves),
            markup.lines("not run", (f"{one.name}: {one.reason.splitlines()[0]}" for one in self.failed)))

    @property
    def mapped(self) -> str:
        """What became of the mapping, in words."""
        return "mapped anew" if self.remapped else "the mapping as it is"

    @property
    def binding(self) -> Sensitivity | None:
        """The resource that saves most where it is twice as good, if that is worth having."""
        return binding(self.rows)

    @property
    def tight(self) -> tuple[Sensitivity, ...]:
        """Resources that only together would give more: half of one costs much, twice one alone saves nothing.

        Slots are not among them: a second one is what lets loads overlap, a third need not do anything.
        """
        found = tuple(row for row in self.rows if not isinstance(row.resource, Slots) and row.halved is not None
                      and row.saves < WORTH and row.halved >= (1 + TIGHT) * row.base)
        return found if len(found) > 1 else ()


def binding(rows: Sequence[Sensitivity]) -> Sensitivity | None:
    """Of several the one to double first; None where none saves a hundredth of the cycles."""
    best = max(rows, key=lambda row: row.saves, default=None)
    return best if best is not None and best.saves >= WORTH else None


def what_if(chip: str, workload: str, options: Options | None = None, moves: int = 2, progress: Progress | None = None, *,
            remap: bool = False) -> WhatIf:
    """Run a workload on a chip and on every variation of it, each with the mapping of the chip as it is.

    ``moves``: how often the bottleneck is followed. ``remap``: the dataflow maps every variation anew, and capacities vary too.
    Raises SpecError with the faults of the files, or where a mapping is given and should be another, what keeps every operator
    from being mapped, and LimitExceeded where none may run.
    """
    options = options or Options()
    if remap and options.mapping is not None:
        raise SpecError([Fault("--remap", 0, 0, "", "a mapping is given, which each variation would leave", "a dataflow")])
    asked = ask(chip, workload, options)
    judged = [judge(item, options.most_steps) for item in asked.cases]
    cases = [one[0] for one in judged if not isinstance(one, Failed)]
    failed = tuple(one for one in judged if isinstance(one, Failed))
    unmapped = [item.error for item in asked.cases if isinstance(item, Unmapped)]
    if not cases and unmapped and len(unmapped) == len(asked.cases):
        raise max(unmapped, key=lambda error: error.exit_code)
    if not cases:
        raise LimitExceeded("; ".join(one.reason.splitlines()[0] for one in failed) or "nothing to run")
    runs = _Runs(options, progress, partial(write, options.dataflow) if remap else None)
    found = runs.sensitivities(cases, FACTORS)
    path: list[Move] = []
    rows: Sequence[Sensitivity] = found
    current = [Varied(case) for case in cases]
    while len(path) < moves and (best := binding(rows)) is not None and best.doubled is not None:
        path.append(Move(best.resource, best.doubled))
        current = [runs.again(one, best.resource) for one in current]
        rows = runs.sensitivities([one.case for one in current], (DOUBLED,), current[0].cycles_each)
    ordered = sorted(found, key=lambda row: (-row.saves, -row.ideal_saves))
    return WhatIf(asked.chip.name, asked.workload.name, asked.chip.clock_hz, found[0].base, tuple(ordered), tuple(path), failed,
                  remap)


@dataclass(frozen=True)
class _Runs:
    """``choose``: what maps a variation anew; None keeps the mapping."""

    options: Options
    progress: Progress | None
    choose: Callable[[Chip, Operator], Map] | None

    def sensitivities(self, cases: Sequence[Case], factors: Sequence[Fraction | None], cycles_each: Fraction = Fraction(1),
                      ) -> list[Sensitivity]:
        """Of every resource of the cases' chip; all variations of all cases in one go, equal ones once."""
        known = self._reports({_key(case): case for case in cases})
        found = self._resources(cases, known.values())
        sets: list[list[Varied] | None] = [[Varied(case) for case in cases]]
        for resource in found:
            for factor in factors:
                changed = [resource.faster(case, factor) for case in cases]
                varied = [Varied(case) if one is None else self._mapped(one) for one, case in zip(changed, cases, strict=True)]
                whole = [one for one in varied if one is not None]
                sets.append(whole if any(changed) and len(whole) == len(cases) else None)
        totals = self._totals(sets, cycles_each, known)
        base = totals[0]
        assert base is not None, "the chip as it is"
        rows = []
        for i, resource in enumerate(found):
            own = dict(zip(factors, totals[1 + i * len(factors):], strict=False))
            rows.append(Sensitivity(resource, resource.now(cases[0]), base, own.get(DOUBLED), own.get(HALVED), own.get(IDEAL)))
        return rows

    def again(self, one: Varied, resource: Resource) -> Varied:
        """With a resource doubled once more, where the case has it."""
        changed = resource.faster(one.case, DOUBLED)
        changed = None if changed is None else self._mapped(changed)
        return one if changed is None else Varied(changed.case, one.cycles_each * changed.cycles_each)

    def _mapped(self, one: Varied) -> Varied | None:
        """With the mapping that it is to have; None where none fits."""
        if self.choose is None:
            return one
        chip, operator = one.case.chip, one.case.operator
        try:
            return Varied(make_case(chip, operator, self.choose(chip, operator)), one.cycles_each)
        except (DoesNotFit, SpecError):
            return None

    def _resources(self, cases: Sequence[Case], ran: Iterable[OperatorReport]) -> list[Resource]:
        """What there is, without the ports that nothing passes."""
        used = {roof.name for report in ran for roof in roofline(report).roofs}
        return list({resource: None for case in cases for resource in resources(case, remap=self.choose is not None)
                     if not isinstance(resource, PortRate) or f"{resource.memory}.{resource.port}" in used})

    def _reports(self, cases: Mapping[str, Case]) -> dict[str, OperatorReport]:
        """What is measured of each case, in one go."""
        guesses = {key: estimate(case) for key, case in cases.items()}
        tasks = [Task(f"run {i} of {len(cases)}: {case.operator.name}", case, guesses[key].steps)
                 for i, (key, case) in enumerate(cases.items(), 1)]
        running = Running(self.options.driver, self.options.fast_forward)
        timelines = simulate_all(tasks, TOTALS_ONLY, running, self.options.jobs, self.progress)
        return {key: measure(case, timeline, guesses[key])
                for (key, case), timeline in zip(cases.items(), timelines, strict=True)}

    def _totals(self, sets: Sequence[list[Varied] | None], cycles_each: Fraction, known: Mapping[str, OperatorReport],
                ) -> list[int | None]:
        """Cycles of the chip's own clock over all operators of a set, with their repeats; what is ``known`` is not run again."""
        asked = {_key(varied.case): varied.case for one in sets for varied in one or ()}
        ran = {**known, **self._reports({key: case for key, case in asked.items() if key not in known})}
        return [None if one is None else
                sum(Varied(varied.case, varied.cycles_each * cycles_each).cycles(ran[_key(varied.case)].cycles)
                    * varied.case.operator.repeat for varied in one) for one in sets]


def _key(case: Case) -> str:
    """Equal for two cases that differ in nothing that is simulated."""
    return repr((case.chip, sorted(case.slots.items()))) + work_of(case)
