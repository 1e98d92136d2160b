"""What if: every resource of a chip doubled, halved and without limit, one by one; what binds, and what would bind next."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from accelsim.analytic.estimate import estimate
from accelsim.drivers import Running
from accelsim.errors import LimitExceeded
from accelsim.measure.report import Failed, OperatorReport, measure
from accelsim.measure.roofline import roofline
from accelsim.processes import Progress, Task, simulate_all
from accelsim.search.resource import Resource, Varied
from accelsim.search.resources import PortRate, Slots, resources
from accelsim.spec.case import Case
from accelsim.timeline import RecordOptions
from accelsim.verbs import Options, ask, judge

DOUBLED, HALVED, IDEAL = Fraction(2), Fraction(1, 2), None
FACTORS: tuple[Fraction | None, ...] = (DOUBLED, HALVED, IDEAL)
WORTH = 0.01
"""A resource binds if twice as good it saves at least this share of the cycles."""
TIGHT = 0.1
"""One that saves less than that holds with others if half as good it costs at least this share."""
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
class WhatIf:
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


def what_if(chip: str, workload: str, options: Options | None = None, moves: int = 2, progress: Progress | None = None) -> WhatIf:
    """Run a workload on a chip and on every variation of it, each with the mapping of the chip as it is.

    ``moves``: how often the bottleneck is followed. Raises SpecError with the faults of the files, and LimitExceeded where no
    operator may run.
    """
    options = options or Options()
    asked = ask(chip, workload, options)
    judged = [judge(item, options.most_steps) for item in asked.cases]
    cases = [one[0] for one in judged if not isinstance(one, Failed)]
    failed = tuple(one for one in judged if isinstance(one, Failed))
    if not cases:
        raise LimitExceeded("; ".join(one.reason.splitlines()[0] for one in failed) or "nothing to run")
    runs = _Runs(options, progress)
    found = runs.sensitivities(cases, FACTORS)
    path: list[Move] = []
    rows: Sequence[Sensitivity] = found
    current = [Varied(case) for case in cases]
    while len(path) < moves and (best := binding(rows)) is not None and best.doubled is not None:
        path.append(Move(best.resource, best.doubled))
        current = [_again(one, best.resource) for one in current]
        rows = runs.sensitivities([one.case for one in current], (DOUBLED,), current[0].cycles_each)
    ordered = sorted(found, key=lambda row: (-row.saves, -row.ideal_saves))
    return WhatIf(asked.chip.name, asked.workload.name, asked.chip.clock_hz, found[0].base, tuple(ordered), tuple(path), failed)


def _again(one: Varied, resource: Resource) -> Varied:
    """With a resource doubled once more."""
    changed = resource.faster(one.case, DOUBLED)
    assert changed is not None, "it was doubled before"
    return Varied(changed.case, one.cycles_each * changed.cycles_each)


@dataclass(frozen=True)
class _Runs:
    options: Options
    progress: Progress | None

    def sensitivities(self, cases: Sequence[Case], factors: Sequence[Fraction | None], cycles_each: Fraction = Fraction(1),
                      ) -> list[Sensitivity]:
        """Of every resource of the cases' chip; all variations of all cases in one go, equal ones once."""
        found = self._resources(cases)
        sets: list[list[Varied] | None] = [[Varied(case) for case in cases]]
        for resource in found:
            for factor in factors:
                varied = [resource.faster(case, factor) or Varied(case) for case in cases]
                same = all(one.case is case for one, case in zip(varied, cases, strict=True))
                sets.append(None if same else varied)
        totals = self._totals(sets, cycles_each)
        base = totals[0]
        assert base is not None, "the chip as it is"
        rows = []
        for i, resource in enumerate(found):
            own = dict(zip(factors, totals[1 + i * len(factors):], strict=False))
            rows.append(Sensitivity(resource, resource.now(cases[0]), base, own.get(DOUBLED), own.get(HALVED), own.get(IDEAL)))
        return rows

    def _resources(self, cases: Sequence[Case]) -> list[Resource]:
        """What there is, without the ports that nothing passes."""
        used = {roof.name for report in self._reports({_key(case): case for case in cases}).values()
                for roof in roofline(report).roofs}
        return list({resource: None for case in cases for resource in resources(case)
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

    def _totals(self, sets: Sequence[list[Varied] | None], cycles_each: Fraction) -> list[int | None]:
        """Cycles of the chip's own clock over all operators of a set, with their repeats."""
        ran = self._reports({_key(varied.case): varied.case for one in sets for varied in one or ()})
        return [None if one is None else
                sum(Varied(varied.case, varied.cycles_each * cycles_each).cycles(ran[_key(varied.case)].cycles)
                    * varied.case.operator.repeat for varied in one) for one in sets]


def _key(case: Case) -> str:
    """Equal for two cases that differ in nothing that is simulated."""
    operator, mapping = replace(case.operator, name="", repeat=1), replace(case.mapping, origin="")
    return repr((case.chip, operator, mapping, sorted(case.slots.items())))
