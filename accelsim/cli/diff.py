"""diff: two runs, from folders or JSON files, beside each other; with `--fail-above` a guard for continuous integration."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from accelsim.cli.commands import check_operator, overwritten
from accelsim.errors import Fault, SpecError
from accelsim.measure.diff import Allowance, Diff, diff, regressions
from accelsim.measure.sides import Side, read_side
from accelsim.outputs.diff_html import diff_html
from accelsim.outputs.diff_results import diff_json
from accelsim.outputs.diff_text import diff_markdown, diff_text
from accelsim.outputs.results import run_json, to_text
from accelsim.spec.files import holds, reading
from accelsim.verbs import load
from accelsim.writing import write_text

LARGEST_JSON_BYTES = 64 << 20
_ALLOWED = "a percentage or cycles, such as '2%', '0.5%' or '1000 cycles'"
_ALLOWANCE = re.compile(r" *([0-9]{1,15}(?:\.[0-9]{1,15})?) *(%|cycles?) *")


class Asked(NamedTuple):
    """What to show and what to write of a comparison."""

    as_json: bool
    markdown: Path | None
    html: Path | None
    operator: str | None
    top: int | None


def compare(before: str, after: str, asked: Asked, fail_above: str | None, per_operator: bool) -> int:
    """Compare and show; 1 where B is worse than allowed."""
    allowance = read_allowance(fail_above, per_operator)
    check_files(asked, (before, after))
    found = diff(*_sides(before, after))
    if asked.operator is not None:
        check_operator(asked.operator, list(dict.fromkeys(one.name for side in (found.after, found.before)
                                                          for one in side.operators)))
    reasons = regressions(found, allowance, per_operator) if allowance is not None else ()
    guard = (allowance, reasons) if allowance is not None else None
    print(to_text(diff_json(found, asked.operator, guard)) if asked.as_json else diff_text(found, asked.operator, asked.top))
    write_files(found, asked)
    for reason in reasons:
        print(f"accelsim: {reason}", file=sys.stderr)
    return 1 if reasons else 0


def write_files(found: Diff, asked: Asked) -> None:
    """The files asked for."""
    if asked.markdown is not None:
        write_text(asked.markdown, diff_markdown(found, asked.operator, asked.top))
    if asked.html is not None:
        write_text(asked.html, diff_html(found, asked.operator, asked.top))


def read_allowance(text: str | None, per_operator: bool) -> Allowance | None:
    """``2%`` or ``1000 cycles``; raises SpecError on anything else."""
    if text is None:
        if per_operator:
            raise SpecError([Fault("--per-operator", 0, 0, "", "says what --fail-above looks at, which is missing")])
        return None
    found = _ALLOWANCE.fullmatch(text)
    if found is None:
        raise SpecError([Fault("--fail-above", 0, 0, "", f"{text!a} is not an allowance", _ALLOWED)])
    amount, unit = Fraction(found[1]), found[2]
    if unit == "%":
        return Allowance(f"{found[1]}%", share=amount / 100)
    if amount.denominator != 1:
        raise SpecError([Fault("--fail-above", 0, 0, "", f"{text!a} is not a whole number of cycles", _ALLOWED)])
    return Allowance(f"{amount.numerator:,} cycles", cycles=amount)


def check_files(asked: Asked, read: Sequence[str]) -> None:
    """Refuse what cannot be written, or is read, before any work is done."""
    written = (("--markdown", asked.markdown), ("--html", asked.html))
    faults = overwritten(written, read)
    for option, path in written:
        if path is not None and not path.absolute().parent.is_dir():
            faults.append(Fault(option, 0, 0, "", f"no folder {path.parent}"))
        elif path is not None and path.is_dir():
            faults.append(Fault(option, 0, 0, "", f"{path} is a folder; name a file"))
    if faults:
        raise SpecError(faults)


def _sides(before: str, after: str) -> tuple[Side, Side]:
    """Both, or the faults of both."""
    sides: list[Side] = []
    faults: list[Fault] = []
    for name in (before, after):
        try:
            sides.append(side_of(name))
        except SpecError as error:
            faults += error.faults
    if faults:
        raise SpecError(dict.fromkeys(faults))
    return sides[0], sides[1]


def side_of(name: str) -> Side:
    """A run folder, measured again, or a JSON file. Both are read from the same JSON, so that they cannot differ."""
    path = Path(name)
    if holds(path.is_dir):
        finished = load(path)
        return read_side(run_json(finished.report), name, finished.asked.texts)
    if not holds(path.exists):
        raise SpecError([Fault(name, 0, 0, "", "no such folder or file", "a folder written by `accelsim run --save`, or a file "
                               "of `accelsim run --json`")])
    return read_side(read_json(path, name), name)


def read_json(path: Path, name: str) -> Any:
    """A JSON file of a bounded size. Raises SpecError where it is not one."""
    with reading(name), path.open("rb") as file:
        content = file.read(LARGEST_JSON_BYTES + 1)
        if len(content) > LARGEST_JSON_BYTES:
            raise SpecError([Fault(name, 0, 0, "", f"larger than {LARGEST_JSON_BYTES >> 20} MiB")])
        text = content.decode("utf-8-sig")
    try:
        return json.loads(text, parse_constant=_not_finite)
    except json.JSONDecodeError as error:
        raise SpecError([Fault(name, error.lineno, error.colno, "", f"not JSON, or cut off: {error.msg}")]) from None
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise SpecError([Fault(name, 0, 0, "", f"not JSON: {why}")]) from None


def _not_finite(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")
