"""`accelsim validate`: figures of ours beside published ones and other simulators', and whether they agree."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from accelsim.cli.compiling import compiling
from accelsim.cli.progress import Progress
from accelsim.compare.checks import Judged, Verdict, percent
from accelsim.compare.references import check_names
from accelsim.errors import Fault, SpecError
from accelsim.outputs import results
from accelsim.version import VERSION
from accelsim.writing import write_text

if TYPE_CHECKING:
    from accelsim.compare.sources import Outcome

SCHEMA = 1
HEADS = ("what", "rows", "mean error", "worst error", "allowed", "")
SOURCE_HEADS = ("all of a source", "rows", "mean error", "worst error", "")
NOTE = "<!-- Written by `make validate`; tests/validation checks it. -->"


def validate(names: Sequence[str], as_json: bool, plots: Path | None, markdown: Path | None) -> int:
    """Run the sources named (all by default), print what came of them, and write the files asked for.

    Returns 1 where a check failed, or a source that was named could not be compared; else 0. Raises SpecError for unknown names
    and a folder that cannot be one.
    """
    check_names(names)
    if plots is not None and plots.exists() and not plots.is_dir():
        raise SpecError([Fault("--plots", 0, 0, "", f"{plots} is a file; name a folder")])
    if markdown is not None and not markdown.absolute().parent.is_dir():
        raise SpecError([Fault("--markdown", 0, 0, "", f"no folder {markdown.parent}")])
    with compiling(), Progress() as progress:
        from accelsim.compare.sources import chosen, compare
        outcomes = [compare(source, progress.tell) for source in chosen(names)]
    told = {"schema": SCHEMA, "accelsim": VERSION, "sources": [source_json(one) for one in outcomes],
            "passed": all(one.passed or (one.skipped and one.about.name not in names) for one in outcomes)}
    if plots is not None:
        draw(outcomes, plots)
    if markdown is not None:
        write_text(markdown, page(outcomes))
    print(results.to_text(told) if as_json else "\n".join(text(outcomes)))
    return tell(outcomes, names)


def tell(outcomes: Sequence[Outcome], names: Sequence[str]) -> int:
    """On stderr: every fault and what was skipped; the exit code."""
    code = 0
    for one in outcomes:
        if one.skipped:
            print(f"accelsim: {one.about.name} was skipped: {one.skipped}", file=sys.stderr)
            code = max(code, int(one.about.name in names))
        for verdict in one.verdicts:
            for fault in verdict.faults:
                print(f"accelsim: {one.about.name}, {verdict.check.name}: {fault}", file=sys.stderr)
                code = 1
    return code


# -- as data ----------------------------------------------------------------------------------------------------------


def source_json(outcome: Outcome) -> dict[str, Any]:
    """All that is told of a source, as plain data."""
    stated = outcome.about
    return {"source": stated.name, "title": stated.title, "citation": stated.citation, "fitted": stated.fitted,
            "skipped": outcome.skipped, "passed": outcome.passed, "mean_error": outcome.mean_error,
            "worst": worst_json(outcome.worst), "checks": [check_json(one) for one in outcome.verdicts]}


def check_json(verdict: Verdict) -> dict[str, Any]:
    """All that is told of a check; a tolerance without an end upward is null there."""
    check = verdict.check
    low, high = (None if abs(end) == float("inf") else end for end in check.tolerance)
    return {
        "check": check.name, "unit": check.unit, "absolute": check.absolute, "reason": check.reason,
        "tolerance": {"least": low, "greatest": high, "mean": check.mean}, "passed": not verdict.faults,
        "faults": list(verdict.faults), "mean_error": verdict.mean_error,
        "worst": worst_json(verdict.worst),
        "known": [{"case": one.case, "between": list(one.between), "missing": one.missing} for one in check.known],
        "rows": [{"case": one.row.case, "ours": one.row.ours, "reference": one.row.reference, "error": one.error,
                  "standing": one.standing.value} for one in verdict.rows]}


def worst_json(worst: Judged | None) -> dict[str, Any] | None:
    """The row furthest off."""
    return None if worst is None else {"check": worst.row.check, "case": worst.row.case, "error": worst.error}


# -- as text ----------------------------------------------------------------------------------------------------------


def cells(verdict: Verdict) -> tuple[str, ...]:
    """A check as a line of its table."""
    check, worst = verdict.check, verdict.worst
    return (check.name, f"{len(verdict.rows):,}", check.shown(verdict.mean_error, ""),
            "" if worst is None else check.shown(worst.error), check.allowed, standing([verdict]))


def source_cells(outcome: Outcome) -> tuple[str, ...]:
    """A source as a line of its table."""
    name = outcome.about.name
    if outcome.skipped:
        return name, "", "", "", f"SKIPPED: {outcome.skipped}"
    mean, worst = outcome.mean_error, outcome.worst
    return (name, f"{sum(len(one.rows) for one in outcome.verdicts):,}", "" if mean is None else percent(mean, ""),
            "" if worst is None else percent(worst.error), standing(outcome.verdicts))


def standing(verdicts: Sequence[Verdict]) -> str:
    """How one or several checks stand."""
    known = sum(len(one.known) for one in verdicts)
    told = f", {known} known miss{'es' * (known > 1)}" if known else ""
    return ("FAILED" if any(one.faults for one in verdicts) else "passed") + told


def missing(outcomes: Sequence[Outcome]) -> list[tuple[str, str, str]]:
    """Each known miss: where, how far off, and what is missing."""
    return [(f"{one.about.name}, {verdict.check.name}: {judged.row.case}", verdict.check.shown(judged.error), known.missing)
            for one in outcomes for verdict in one.verdicts for known in verdict.check.known
            for judged in verdict.known if judged.row.case == known.case]


def text(outcomes: Sequence[Outcome]) -> list[str]:
    """Lines for a terminal: the checks, the known misses, the sources, and the sum of it."""
    lines = columns([("source", *HEADS), *((one.about.name, *cells(verdict)) for one in outcomes for verdict in one.verdicts)],
                    right={2, 3, 4})
    known = missing(outcomes)
    if known:
        lines += ["", "known misses, and what is missing"]
        lines += [line for where, error, why in known for line in (f"  {where}: {error}", f"    {' '.join(why.split())}")]
    return [*lines, "", *columns([SOURCE_HEADS, *map(source_cells, outcomes)], right={1, 2, 3}), "", summary(outcomes)]


def columns(rows: Sequence[tuple[str, ...]], right: set[int]) -> list[str]:
    """Rows as lines, those columns to the ``right``."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return ["  ".join(cell.rjust(width) if place in right else cell.ljust(width)
                      for place, (cell, width) in enumerate(zip(row, widths, strict=True))).rstrip() for row in rows]


def summary(outcomes: Sequence[Outcome]) -> str:
    """What came of all, in a line."""
    verdicts = [verdict for one in outcomes for verdict in one.verdicts]
    failed, skipped = sum(bool(one.faults) for one in verdicts), sum(bool(one.skipped) for one in outcomes)
    return (f"{sum(len(one.rows) for one in verdicts):,} rows of {len(outcomes) - skipped} sources in {len(verdicts)} checks: "
            + (f"{failed} FAILED" if failed else "all passed")
            + f", {sum(len(one.known) for one in verdicts)} known misses"
            + (f", {skipped} SKIPPED" if skipped else ""))


def page(outcomes: Sequence[Outcome]) -> str:
    """The page of the documentation."""
    lines = [
        "# Validation", "", NOTE, "",
        "Figures of accelsim beside published measurements, RTL and other simulators, as `accelsim validate` prints them. Errors "
        "are ours over theirs, less 1, or a difference where the tolerance is no percentage; means are of absolute errors, over "
        "all rows, known misses among them. A known miss is outside the tolerance because something named is missing; one that "
        "comes within, or gets worse than stated, fails.", "",
        "`accelsim validate --only dram` runs one source, `--plots DIR` draws each, ours over theirs, `--json` has every row. "
        "Citations, tables, tolerances and how each case is run are in the folders of `validation/`.", "",
        f"{summary(outcomes)}. Of each source, over all rows whose errors are percentages:", "",
        "| source | rows | mean error | worst error | |", "|" + " --- |" * 5,
        *("| " + " | ".join((f"[{one.about.title}](#{anchor(one.about.title)})", *source_cells(one)[1:])) + " |"
          for one in outcomes), ""]
    for one in outcomes:
        lines += section(one)
    return "\n".join(lines).rstrip("\n") + "\n"


def anchor(title: str) -> str:
    """The anchor of a heading, as the documentation makes it."""
    return "-".join("".join(letter for letter in title.lower() if letter.isalnum() or letter in " -_").split())


def section(outcome: Outcome) -> list[str]:
    """A source on the page."""
    stated = outcome.about
    lines = [f"## {stated.title}", "", f"`{stated.name}`. Source: {' '.join(stated.citation.split())}. Fitted: {stated.fitted}.",
             ""]
    if outcome.skipped:
        return [*lines, f"Skipped: {outcome.skipped}.", ""]
    lines += ["| what | rows | mean error | worst error | allowed | why so much | |", "|" + " --- |" * 7]
    for verdict in outcome.verdicts:
        what, rows, mean, worst, allowed, stands = cells(verdict)
        at = f" ({verdict.worst.row.case})" if verdict.worst is not None and verdict.worst.error else ""
        lines.append(f"| {what} | {rows} | {mean} | {worst}{at} | {allowed} | {verdict.check.reason} | {stands} |")
    known = missing([outcome])
    lines += ["", *(f"- Known miss: {where.partition(', ')[2]}, {error}: {' '.join(why.split())}."
                    for where, error, why in known)]
    return [*lines, ""] if known else lines


# -- as pictures ------------------------------------------------------------------------------------------------------


def draw(outcomes: Sequence[Outcome], folder: Path) -> None:
    """A parity plot of each source that was compared, in a folder that is made where it is not there."""
    from accelsim.outputs.parity import Mark, Point, Series, draw_parity
    folder.mkdir(parents=True, exist_ok=True)
    for one in outcomes:
        if one.skipped:
            continue
        series = [Series(verdict.check.name, verdict.check.unit,
                         tuple(Point(judged.row.reference, judged.row.ours, Mark(judged.standing.value))
                               for judged in verdict.rows), cells(verdict)[1:4]) for verdict in one.verdicts]
        path = folder / f"{one.about.name.replace('/', '-')}.png"
        draw_parity(path, f"{one.about.title}: accelsim against the reference", series, HEADS[1:4])
