"""run, estimate, check, report: arguments to verbs, results to text and files."""

from __future__ import annotations

import csv
import io
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from accelsim.cli import traces
from accelsim.cli.compiling import compiling
from accelsim.cli.options import Column
from accelsim.cli.pictures import Pictures, draw, picture_faults
from accelsim.cli.progress import Progress
from accelsim.drivers import Driver
from accelsim.errors import Fault, SpecError, nearest
from accelsim.measure.report import Failed, RunReport
from accelsim.outputs import results, table, text
from accelsim.outputs.trace import MOST_ROWS
from accelsim.recorder import RecordOptions
from accelsim.spec.read import Asked, Unmapped
from accelsim.verbs import MOST_STEPS, Finished, Options, estimates, load, operator_names, save
from accelsim.verbs import failed as failed_report
from accelsim.verbs import run as run_workload
from accelsim.writing import replaceable, write_text


@dataclass(frozen=True)
class Asking:
    """What to run."""

    chip: str
    workload: str
    mapping: str | None
    dataflow: str
    overrides: tuple[str, ...]
    most_steps: int = MOST_STEPS
    jobs: int = 1
    driver: Driver = Driver.COMPILED
    fast_forward: bool = True

    @property
    def read(self) -> tuple[str, ...]:
        """What may be files that are read."""
        return tuple(name for name in (self.chip, self.workload, self.mapping) if name is not None)

    def options(self, record: RecordOptions | None = None) -> Options:
        """As the verbs take it."""
        return Options(self.mapping, self.dataflow, self.overrides, record or RecordOptions(), self.most_steps,
                       self.jobs, self.driver, self.fast_forward)


@dataclass(frozen=True)
class Files:
    """What to write besides the summary; ``pictures`` also say of which operator and window it is."""

    csv: Path | None
    save: Path | None = None
    pictures: Pictures = field(default_factory=Pictures)
    trace: Path | None = None
    trace_rows: int = MOST_ROWS
    page: Path | None = None

    @property
    def profiles(self) -> bool:
        """Whether lanes are drawn along time."""
        return "--timeline" in self.pictures.files or self.page is not None


PAGES = (".html", ".htm")


def pictures(files: Mapping[str, Path | None], column: Column, data: bool, operator: str | None, window: str | None) -> Pictures:
    """What to draw, as the options say it; those without a file were not given. Raises SpecError for a window that is none."""
    return Pictures({option: path for option, path in files.items() if path is not None}, column, data, operator,
                    read_window(window))


def run(asking: Asking, as_json: bool, files: Files) -> int:
    """Simulate and show."""
    check_files(files, asking.read)
    asked = files.pictures
    if asked.operator is not None:
        asked_for(files, operator_names(asking.chip, asking.workload, asking.options()))
    looked_at = bool(asked.files) or files.profiles or files.save is not None
    rows = max(RecordOptions.most_rows * looked_at, files.trace_rows * (files.trace is not None))
    record = RecordOptions(asked.window, rows, bins=2048 if files.profiles else 256, feeds=files.trace is not None)
    with compiling(), Progress() as progress:
        finished = run_workload(asking.chip, asking.workload, asking.options(record), progress.tell)
        if asked.files or files.profiles:
            import accelsim.outputs.raster_lanes  # noqa: F401  its kernel is compiled with the others, and said once
    tell_left_out(finished.asked)
    if files.save is not None:
        save(finished, files.save)
    return show(finished, as_json, files)


def report(folder: Path, as_json: bool, files: Files) -> int:
    """Measure and draw again."""
    check_files(files, saved=True)
    return show(load(folder), as_json, files)


def show(finished: Finished, as_json: bool, files: Files) -> int:
    """Print the report, write the files asked for; the exit code says whether all operators ran."""
    run_report = finished.report
    print(results.to_text(results.run_json(run_report)) if as_json else text.summary(run_report))
    if files.csv is not None:
        write_text(files.csv, table.to_csv(run_report))
    draw_all(finished, files)
    if files.page is not None:
        write_page(finished, files.page)
    tell_failures(run_report.failed)
    return exit_code(run_report)


def write_page(finished: Finished, path: Path) -> None:
    """The report as one HTML file."""
    with compiling():
        from accelsim.outputs.report_page import report_page
    write_text(path, report_page(finished.report, finished.timelines))


def exit_code(run_report: RunReport) -> int:
    """0, or the worst of the failed operators' codes."""
    return max([one.exit_code for one in run_report.failed], default=0)


def draw_all(finished: Finished, files: Files) -> None:
    """Pictures and traces of one operator, the one named, else the one with the most cycles; some of all."""
    ran = {one.name: i for i, one in enumerate(finished.report.operators) if one in finished.report.done}
    asked = files.pictures
    if not ran or (not asked.files and files.trace is None):
        return
    names = ([max(finished.report.done, key=lambda one: one.cycles).name] if asked.operator is None
             else asked_for(files, list(ran)))
    timeline = finished.timelines[ran[names[0]]]
    assert timeline is not None, "it ran"
    if asked.window is not None and asked.window[0] >= timeline.cycles:
        raise SpecError([Fault("--window", 0, 0, "", f"{names[0]} ends at cycle {timeline.cycles:,}; nothing to draw from cycle "
                               f"{asked.window[0]:,} on")])
    if files.trace is not None:
        traces.write_trace(finished, [ran[name] for name in names], files.trace, asked.window, files.trace_rows)
    for path, drawn in draw(finished, asked, ran[names[0]]):
        if asked.data:
            write_text(path.with_suffix(".csv"), drawn.to_csv())


def asked_for(files: Files, known: list[str]) -> list[str]:
    """The operators that ``--operator`` names; refuse those that are not there, and all of them where one is shown."""
    asked = files.pictures
    assert asked.operator is not None
    if asked.operator == traces.ALL and traces.ALL not in known and files.trace is not None:
        if not asked.files and asked.window is None:
            return known
        raise SpecError([Fault("--operator", 0, 0, "", "a trace can show all operators; a picture and a --window are of one")])
    check_operator(asked.operator, known)
    return [asked.operator]


def check_operator(name: str, known: list[str]) -> None:
    """Refuse to draw an operator that is not there."""
    if name not in known:
        raise SpecError([Fault("--operator", 0, 0, "", f"no operator named '{name}' ran", ", ".join(known[:12]),
                               nearest(name, known))])


def tell_failures(failed: Iterable[Failed]) -> None:
    """On stderr, in full: which operators did not run and why."""
    for one in failed:
        print(f"accelsim: {one.name}: {one.reason}", file=sys.stderr)


def tell_left_out(asked: Asked) -> None:
    """On stderr, in a line: that files of other tools say more than was carried over."""
    if asked.left_out:
        many = len(asked.left_out)
        what = "1 setting" if many == 1 else f"{many} settings"
        print(f"accelsim: {what} of other tools' files could not be carried over, or only in other words; "
              f"`{shlex.join(['accelsim', 'import', *asked.imported])}` lists {'it' if many == 1 else 'them'}", file=sys.stderr)


def estimate(asking: Asking, as_json: bool) -> int:
    """The closed form."""
    asked, items = estimates(asking.chip, asking.workload, asking.options())
    tell_left_out(asked)
    rows = [item for item in items if not isinstance(item, Unmapped)]
    failed = [failed_report(item) for item in items if isinstance(item, Unmapped)]
    if as_json:
        print(results.to_text({
            "chip": asked.chip.name, "workload": asked.workload.name, "kind": "estimated",
            "operators": [{"name": case.operator.name, "repeat": case.operator.repeat, "mapping": results.mapping_json(case),
                           **results.estimate_json(case, guess)} for case, guess in rows]
            + [results.failed_json(one) for one in failed],
            "total": {"cycles": sum(guess.cycles * case.operator.repeat for case, guess in rows)}}))
    else:
        print(text.estimate_summary(asked.chip.name, rows, [f"{one.name}: {text.first_line(one)}" for one in failed]))
    tell_failures(failed)
    return max([one.exit_code for one in failed], default=0)


def check(asking: Asking, as_json: bool, tolerance: float) -> int:
    """Both answers side by side."""
    with compiling(), Progress() as progress:
        finished = run_workload(asking.chip, asking.workload, asking.options(), progress.tell)
    tell_left_out(finished.asked)
    run_report = finished.report
    differing = [one for one in run_report.done if one.crosscheck.traffic_differences]
    gap = abs(run_report.cycles - run_report.estimated_cycles) / max(1, run_report.cycles)
    agrees = not differing and gap <= tolerance
    if as_json:
        data = results.run_json(run_report)
        data["check"] = {"agrees": agrees, "tolerance": tolerance, "gap": gap,
                         "traffic_differs_in": [one.name for one in differing]}
        print(results.to_text(data))
    else:
        print(f"{run_report.workload} on {run_report.chip}: estimate against measurement\n")
        for one in run_report.done:
            print(f"{one.name} (x {one.repeat})")
            print("\n".join(f"  {line}" for line in text.estimate_lines(one)))
        for lost in run_report.failed:
            print(f"{lost.name} FAILED: {text.first_line(lost)}")
        print(f"\nestimated {run_report.estimated_cycles:,} cycles, measured {run_report.cycles:,}: they differ by {gap:.1%} "
              f"({'within' if gap <= tolerance else 'beyond'} the tolerance of {tolerance:.0%}); traffic "
              + ("equal" if not differing else f"differs in {', '.join(one.name for one in differing)}"))
    tell_failures(run_report.failed)
    if not agrees:
        print("accelsim: estimate and measurement do not agree", file=sys.stderr)
    return exit_code(run_report) or (0 if agrees else 1)


def read_window(word: str | None) -> tuple[int, int] | None:
    """``A:B`` in cycles; either side may be left out."""
    if word is None:
        return None
    first, colon, last = word.partition(":")
    ends = (first.strip().replace(",", "") or "0", last.strip().replace(",", "") or str(1 << 50))
    whole = all(part.isascii() and part.isdigit() and len(part) < 17 for part in ends)
    if not colon or not whole or int(ends[0]) >= int(ends[1]):
        raise SpecError([Fault("--window", 0, 0, "", f"'{word}' is no window", "A:B in cycles with A < B, such as 1000:2000")])
    return int(ends[0]), int(ends[1])


def check_files(files: Files, read: Iterable[str] = (), *, saved: bool = False) -> None:
    """Refuse what cannot be written, or is ``read``, before any work is done. ``saved``: a saved run is reported, whose page is
    --html.
    """
    page = "--html" if saved else "--report"
    others = {"--trace": files.trace, "--csv": files.csv, page: files.page}
    faults = picture_faults(files.pictures, {option: path for option, path in others.items() if path is not None})
    faults += overwritten([*files.pictures.files.items(), *others.items()], read)
    if files.trace is not None:
        faults += traces.faults(files.trace)
    if files.page is not None and files.page.suffix.lower() not in PAGES:
        faults.append(Fault(page, 0, 0, "", f"no page format '{files.page.suffix}'", ", ".join(PAGES)))
    if files.save is not None and files.save.exists() and not files.save.is_dir():
        faults.append(Fault("--save", 0, 0, "", f"{files.save} is a file; name a folder"))
    elif files.save is not None and not replaceable(files.save):
        faults.append(Fault("--save", 0, 0, "", f"{files.save} is the folder you are in, or a disk; name one inside it"))
    elif files.save is not None and files.save.is_dir() and any(files.save.iterdir()) and not (files.save / "run.json").is_file():
        faults.append(Fault("--save", 0, 0, "", f"{files.save} holds other files; name a new folder, or one of an earlier run"))
    if faults:
        raise SpecError(faults)


def overwritten(written: Iterable[tuple[str, Path | None]], read: Iterable[str]) -> list[Fault]:
    """What of the files to write is one of those that are read."""
    inputs = [Path(name) for name in read if Path(name).is_file()]
    return [Fault(option, 0, 0, "", f"{path} is read by this very command; name another file") for option, path in written
            if path is not None and path.is_file() and any(path.samefile(one) for one in inputs)]


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write rows as CSV, whole or not at all."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(header)
    table.writerows(rows)
    write_text(path, text.getvalue())
