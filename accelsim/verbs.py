"""The verbs strung together: read, plan, estimate, simulate, measure for every operator of a workload."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from accelsim.analytic.auto import AUTO, check_name, write
from accelsim.analytic.estimate import estimate
from accelsim.analytic.result import Estimate
from accelsim.drivers import Driver, Running
from accelsim.errors import Fault, LimitExceeded, SpecError
from accelsim.importers.foreign import Arguments, as_ours
from accelsim.measure.report import Failed, OperatorReport, RunReport, measure
from accelsim.processes import Progress, Task, simulate_all
from accelsim.spec.case import Case
from accelsim.spec.read import Asked, Unmapped, as_yaml, read, read_workload
from accelsim.timeline import RecordOptions, Timeline
from accelsim.version import RESULTS_VERSION, VERSION

SAVED_FORMAT = 2
"""Of the folders that `save` writes; goes up when one of an older version lacks something."""
MOST_STEPS = 5_000_000
"""Steps and transfers that a run may take unless it is told otherwise."""


@dataclass(frozen=True)
class Options:
    """What a run is asked besides its files; all of it that changes a number is in the provenance.

    ``jobs``: at most so many worker processes, each simulating one operator at a time; the results are the same bytes.
    A script that asks for more than one must run under ``if __name__ == "__main__":``. Raises ValueError below 1.
    ``driver``: what runs the event loop; ``fast_forward``: whether periods that repeat are added instead of run. Neither
    changes a number; what was added is reported.
    """

    mapping: str | None = None
    dataflow: str = AUTO
    overrides: tuple[str, ...] = ()
    record: RecordOptions = field(default_factory=RecordOptions)
    most_steps: int = MOST_STEPS
    jobs: int = 1
    driver: Driver = Driver.COMPILED
    fast_forward: bool = True

    def __post_init__(self) -> None:
        if self.jobs < 1:
            raise ValueError(f"jobs must be at least 1, not {self.jobs}")


@dataclass(frozen=True)
class Finished:
    """A run: its report, and what happened in each operator that ran (None for the others)."""

    asked: Asked
    report: RunReport
    timelines: tuple[Timeline | None, ...]

    def _repr_html_(self) -> str:
        return self.report._repr_html_()


def ask(chip: str, workload: str, options: Options) -> Asked:
    """Read the files of a run, other tools' among them. Raises SpecError with every fault."""
    check_name(options.dataflow)
    ours = _arguments(chip, workload, options)
    asked = read(ours.chip, ours.workload, ours.mapping, choose=partial(write, options.dataflow), overrides=options.overrides)
    return replace(asked, imported=ours.files, left_out=tuple(map(str, ours.left)))


def operator_names(chip: str, workload: str, options: Options) -> list[str]:
    """The names of the workload's operators. Raises SpecError with every fault of the workload's file."""
    read_by_name = read_workload(_arguments(chip, workload, options).workload, options.overrides)
    return [operator.name for operator in read_by_name.operators]


def _arguments(chip: str, workload: str, options: Options) -> Arguments:
    """Other tools' files as ours; the mapping that they imply is taken unless a dataflow is asked for by name."""
    return as_ours(chip, workload, options.mapping, implied=options.dataflow == AUTO)


def run(chip: str, workload: str, options: Options | None = None, progress: Progress | None = None) -> Finished:
    """Simulate every operator of a workload on a chip, each from a cold start.

    ``chip`` and ``workload``: names of shipped files, paths, or inline text (``gemm:m=64,n=64,k=64``). An operator
    whose mapping does not fit, or that would exceed the limit of steps, is reported as failed; the others run, and
    of those that are alike but for their names one runs for all. Raises SpecError with every fault of the files.
    """
    options = options or Options()
    asked = ask(chip, workload, options)
    judged = [judge(item, options.most_steps) for item in asked.cases]
    tasks: dict[str, Task] = {}
    for one in judged:
        if not isinstance(one, Failed):
            case, guess = one
            tasks.setdefault(_work_of(case), Task(case.operator.name, case, guess.steps))
    found = dict(zip(tasks, simulate_all(tuple(tasks.values()), options.record,
                                         Running(options.driver, options.fast_forward), options.jobs, progress),
                     strict=True))
    reports: list[OperatorReport | Failed] = []
    timelines: list[Timeline | None] = []
    for one in judged:
        if isinstance(one, Failed):
            reports.append(one)
            timelines.append(None)
            continue
        case, guess = one
        timeline = found[_work_of(case)]
        reports.append(measure(case, timeline, guess))
        timelines.append(timeline)
    return Finished(asked, _report(asked, reports, options), tuple(timelines))


def judge(item: Case | Unmapped, most_steps: int) -> Failed | tuple[Case, Estimate]:
    """What an operator is expected to take, or why it will not run."""
    if isinstance(item, Unmapped):
        return failed(item)
    guess = estimate(item)
    try:
        _check_size(item, guess, most_steps)
    except LimitExceeded as error:
        return Failed(item.operator.name, item.operator.kind, item.operator.repeat, str(error), error.exit_code)
    return item, guess


def _work_of(case: Case) -> str:
    """Equal for two cases of a run that differ in nothing that is simulated."""
    return repr((replace(case.operator, name="", repeat=1), replace(case.mapping, origin="")))


def failed(item: Unmapped) -> Failed:
    """An operator without a case, as the report shows it."""
    operator = item.operator
    return Failed(operator.name, operator.kind, operator.repeat, str(item.error), item.error.exit_code)


def _check_size(case: Case, guess: Estimate, most: int) -> None:
    size = guess.steps + guess.transfers
    if size > most:
        raise LimitExceeded(f"{case.operator.name}: {guess.steps:,} tile steps and {guess.transfers:,} transfers exceed the "
                            f"limit of {most:,}; raise it (--most-steps {size}) or map larger tiles")
    if any(memory.banked is not None for level in case.chip.levels for memory in level.memories):
        from accelsim.plan.banking import MOST_AT_ONCE, most_at_once
        touched = most_at_once(case)
        if touched > MOST_AT_ONCE:
            raise LimitExceeded(f"{case.operator.name}: between two loads the array touches up to {touched:,} elements of a "
                                f"tensor, and banks are simulated for {MOST_AT_ONCE:,}; map smaller tiles, or leave "
                                "`bank_width` out")


def _report(asked: Asked, reports: list[OperatorReport | Failed], options: Options) -> RunReport:
    return RunReport(asked.chip.name, asked.workload.name, asked.chip.clock_hz, tuple(reports), provenance(asked, options))


def provenance(asked: Asked, options: Options) -> dict[str, object]:
    """Where the numbers come from: version, hashes of the inputs as read, options. No clock, no host."""
    return {"accelsim": VERSION, "results_version": RESULTS_VERSION, "inputs": input_hashes(asked),
            "options": {"dataflow": options.dataflow, "mapping": options.mapping, "overrides": list(options.overrides)}}


def input_hashes(asked: Asked) -> dict[str, str]:
    """A hash of the chip, of the workload and of each operator's mapping, as read and resolved."""
    texts = dict(asked.texts) | {f"mapping.{i}": item.mapping.to_yaml() for i, item in enumerate(asked.cases)
                                 if isinstance(item, Case)}
    return {kind: hashlib.sha256(text.encode()).hexdigest()[:16] for kind, text in texts.items()}


def save(finished: Finished, folder: Path) -> None:
    """Write a run so that it can be measured and drawn again without simulating."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind, text in finished.asked.texts:
        (folder / f"{kind}.yaml").write_text(text + "\n", encoding="utf-8")
    lines, origins = ["operators:"], {}
    for item in finished.asked.cases:
        if isinstance(item, Case):
            lines.append(f"  {as_yaml(item.operator.name)}:")
            lines += [f"    {line}" for line in item.mapping.to_yaml().splitlines()]
            origins[item.operator.name] = item.mapping.origin
    (folder / "mapping.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    about = {"format": SAVED_FORMAT, "origins": origins, "provenance": finished.report.provenance,
             "failed": [vars(one) for one in finished.report.failed]}
    (folder / "run.json").write_text(json.dumps(about, indent=1, sort_keys=True, default=str) + "\n", encoding="utf-8")
    for i, timeline in enumerate(finished.timelines):
        if timeline is not None:
            timeline.save(folder / f"operator-{i:03d}.npz")


def load(folder: Path) -> Finished:
    """Read a saved run and measure it again. Raises SpecError where the folder holds none."""
    try:
        about = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        if about["format"] != SAVED_FORMAT:
            raise ValueError(f"of format {about['format']}, not {SAVED_FORMAT}: another version of accelsim saved it")
        origins, lost = dict(about["origins"]), {one["name"]: Failed(**one) for one in about["failed"]}
        hashes = dict(about["provenance"]["inputs"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SpecError([Fault(str(folder), 0, 0, "", f"not a saved run ({error})", "a folder written by --save")]) from None
    mapping = folder / "mapping.yaml"
    named = str(mapping) if origins else None
    asked = read(str(folder / "chip.yaml"), str(folder / "workload.yaml"), named, choose=partial(write, AUTO))
    found = input_hashes(asked)
    changed = [kind for kind, value in hashes.items() if found.get(kind) != value]
    if changed:
        raise SpecError([Fault(str(folder), 0, 0, "", f"{', '.join(changed)} changed since the run was saved; run it again")])
    reports: list[OperatorReport | Failed] = []
    timelines: list[Timeline | None] = []
    cases: list[Case | Unmapped] = []
    for i, item in enumerate(asked.cases):
        operator = item.operator
        gone = lost.get(operator.name) or (failed(item) if isinstance(item, Unmapped) else None)
        if gone is not None:
            reports.append(gone)
            timelines.append(None)
            cases.append(item)
            continue
        assert isinstance(item, Case), "an operator without a case has failed"
        case = replace(item, mapping=replace(item.mapping, origin=origins.get(operator.name, item.mapping.origin)))
        timeline = _record(folder / f"operator-{i:03d}.npz")
        reports.append(measure(case, timeline, estimate(case)))
        timelines.append(timeline)
        cases.append(case)
    report = RunReport(asked.chip.name, asked.workload.name, asked.chip.clock_hz, tuple(reports), about["provenance"])
    return Finished(replace(asked, cases=tuple(cases)), report, tuple(timelines))


def _record(path: Path) -> Timeline:
    try:
        return Timeline.load(path)
    except ValueError as error:
        raise SpecError([Fault(str(path.parent), 0, 0, "", str(error), "a folder written by --save")]) from None


def estimates(chip: str, workload: str, options: Options) -> tuple[Asked, Iterable[tuple[Case, Estimate] | Unmapped]]:
    """The closed form alone, operator by operator."""
    asked = ask(chip, workload, options)
    return asked, [item if isinstance(item, Unmapped) else (item, estimate(item)) for item in asked.cases]


__all__ = ["MOST_STEPS", "Finished", "Options", "ask", "estimates", "load", "operator_names", "run", "save"]
