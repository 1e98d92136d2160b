"""The verbs strung together: read, plan, estimate, simulate, measure for every operator of a workload."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from accelsim.analytic.auto import AUTO, check_name, write
from accelsim.analytic.estimate import estimate
from accelsim.analytic.result import Estimate
from accelsim.drivers import Driver, Running
from accelsim.errors import Fault, LimitExceeded, SimulatorBug, SpecError
from accelsim.importers.foreign import Arguments, as_ours
from accelsim.measure.diff import Diff, diff
from accelsim.measure.report import Failed, OperatorReport, RunReport, measure
from accelsim.measure.sides import read_side
from accelsim.outputs.results import run_json
from accelsim.processes import Progress, Task, simulate_all
from accelsim.recorder import RecordOptions
from accelsim.spec.case import Case
from accelsim.spec.files import read_text
from accelsim.spec.read import Asked, Unmapped, as_yaml, read, read_workload
from accelsim.tables import Table, Tabular
from accelsim.timeline import Timeline
from accelsim.version import RESULTS_VERSION, VERSION
from accelsim.writing import whole_folder, write_text

SAVED_FORMAT = 4
"""Of the folders that `save` writes; goes up when one of an older version lacks something."""
SAVED = "a folder written by --save"
LARGEST_ABOUT_BYTES = 64 << 20
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
class Finished(Tabular):
    """A run: its report, and what happened in each operator that ran (None for the others)."""

    asked: Asked
    report: RunReport
    timelines: tuple[Timeline | None, ...]

    @property
    def table(self) -> Table:
        """A row for each operator; the report's `tables` have all the rest."""
        return self.report.table

    def diff(self, after: Finished, labels: tuple[str, str] = ("A", "B")) -> Diff:
        """What another run has more and less than this one, as `accelsim diff` tells it: B - A, this one being A."""
        sides = zip(labels, (self, after), strict=True)
        return diff(*(read_side(run_json(one.report), label, one.asked.texts) for label, one in sides))

    def __str__(self) -> str:
        return str(self.report)

    def _repr_html_(self) -> str:
        """The report; of a single operator its timeline too."""
        own = [one for one in self.timelines if one is not None]
        return self.report._repr_html_() + (own[0]._repr_html_() if len(self.timelines) == len(own) == 1 else "")


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
            tasks.setdefault(work_of(case), Task(case.operator.name, case, guess.steps))
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
        timeline = found[work_of(case)]
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


def work_of(case: Case) -> str:
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
    """Write a run so that it can be measured and drawn again without simulating.

    The folder is there whole or not at all; an earlier run in it is replaced, other files in it are kept. Raises OSError.
    """
    with whole_folder(folder, is_of_a_run) as part:
        for kind, text in finished.asked.texts:
            write_text(part / f"{kind}.yaml", text + "\n")
        lines, origins, records = ["operators:"], {}, {}
        for item in finished.asked.cases:
            if isinstance(item, Case):
                lines.append(f"  {as_yaml(item.operator.name)}:")
                lines += [f"    {line}" for line in item.mapping.to_yaml().splitlines()]
                origins[item.operator.name] = item.mapping.origin
        write_text(part / "mapping.yaml", "\n".join(lines) + "\n")
        for i, timeline in enumerate(finished.timelines):
            if timeline is not None:
                path = part / f"operator-{i:03d}.npz"
                timeline.save(path)
                records[path.name] = _digest(path)
        about = {"format": SAVED_FORMAT, "origins": origins, "provenance": finished.report.provenance, "records": records,
                 "failed": [vars(one) for one in finished.report.failed]}
        write_text(part / "run.json", json.dumps(about, indent=1, sort_keys=True, default=str) + "\n")


def is_of_a_run(name: str) -> bool:
    """Whether a file of a saved run has such a name."""
    return re.fullmatch(r"run\.json|(chip|workload|mapping|(memory|network)\..+)\.yaml|operator-\d{3,}\.npz", name) is not None


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def load(folder: Path) -> Finished:
    """Read a saved run and measure it again. Raises SpecError where the folder holds none."""
    try:
        about = json.loads(read_text(folder / "run.json", str(folder), LARGEST_ABOUT_BYTES))
        if about["format"] != SAVED_FORMAT:
            raise ValueError(f"of format {about['format']}, not {SAVED_FORMAT}: another version of accelsim saved it")
        origins, lost = dict(about["origins"]), {one["name"]: Failed(**one) for one in about["failed"]}
        hashes, records = dict(about["provenance"]["inputs"]), dict(about["records"])
    except (SpecError, ValueError, KeyError, TypeError, RecursionError) as error:
        said = error.faults[0].message if isinstance(error, SpecError) else str(error)
        raise SpecError([Fault(str(folder), 0, 0, "", f"not a saved run ({said})", SAVED)]) from None
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
        timeline, measured = _record(folder / f"operator-{i:03d}.npz", records, case)
        reports.append(measured)
        timelines.append(timeline)
        cases.append(case)
    report = RunReport(asked.chip.name, asked.workload.name, asked.chip.clock_hz, tuple(reports), about["provenance"])
    return Finished(replace(asked, cases=tuple(cases)), report, tuple(timelines))


def _record(path: Path, records: Mapping[str, str], case: Case) -> tuple[Timeline, OperatorReport]:
    """What was recorded of an operator, proven to be what was saved, and measured."""
    try:
        if _digest(path) != records.get(path.name):
            raise ValueError(f"{path}: changed since the run was saved")
        timeline = Timeline.load(path)
        return timeline, measure(case, timeline, estimate(case))
    except OSError as error:
        said = f"{path}: {error.strerror}"
    except ValueError as error:
        said = str(error)
    except (LookupError, TypeError, ArithmeticError, SimulatorBug):
        said = f"{path}: not a record of {case.operator.name}"
    raise SpecError([Fault(str(path.parent), 0, 0, "", said, SAVED)]) from None


def estimates(chip: str, workload: str, options: Options) -> tuple[Asked, Iterable[tuple[Case, Estimate] | Unmapped]]:
    """The closed form alone, operator by operator."""
    asked = ask(chip, workload, options)
    return asked, [item if isinstance(item, Unmapped) else (item, estimate(item)) for item in asked.cases]


__all__ = ["MOST_STEPS", "Finished", "Options", "ask", "estimates", "load", "operator_names", "run", "save"]
