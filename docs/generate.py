"""Write the glossary pages from the code's own tables: `python docs/generate.py`; `--check` only compares."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from accelsim.measure.metrics import METRICS
from accelsim.spec.dataflows import DATAFLOWS
from accelsim.spec.operators import OPERATOR_KINDS, OperatorKind
from accelsim.stalls import BUSY_COLOUR, IDLE_COLOUR, Phase, StallCause

DOCS = Path(__file__).resolve().parent
NOTE = "<!-- Written by docs/generate.py from {source}; change it there. -->"


def stalls() -> str:
    """The stall glossary."""
    others = (("busy", BUSY_COLOUR, "The array works, usefully or not; utilization tells which."),
              ("idle", IDLE_COLOUR, "No work is left, or none has come yet."))
    causes = ((in_colour(cause.colour, cause.code), cause.sentence) for cause in StallCause)
    return page(
        "Stall causes", "accelsim/stalls.py",
        "Every cycle of an array's lane is busy, stalled for exactly one cause, or idle, so these add up to the cycles "
        "of the run. `accelsim explain NAME` says the same on the command line; how a wait is split is told under "
        "[Blame](concepts.md#blame-where-a-stall-comes-from). The colours are those of the timeline pictures.",
        *table(("cause", "what is counted"), causes),
        "## The other two",
        *table(("state", "meaning"), ((in_colour(colour, code), text) for code, colour, text in others)),
        "## Phases",
        "Each stall also falls into one phase of its lane.",
        *table(("phase", "meaning"), ((code_of(phase.code), phase.sentence) for phase in Phase)))


def metrics() -> str:
    """The metric glossary, a table for each window."""
    parts: list[str] = []
    for window in dict.fromkeys(metric.window for metric in METRICS):
        rows = ((code_of(metric.name), metric.unit, metric.definition, metric.identity)
                for metric in METRICS if metric.window == window)
        parts += [f"## Over {window}" if window else "## Of no part of a run",
                  *table(("metric", "unit", "definition", "identity"), rows)]
    return page(
        "Metrics", "accelsim/measure/metrics.py",
        "One definition each: the reports, `accelsim explain NAME` and this page read the same table. The identity is "
        "what the number is checked against, or computed from.",
        *parts)


def operators() -> str:
    """The operators that ship."""
    rows = ((code_of(kind.word), dims_of(kind), kind.describe, code_of(formula(kind.body))) for kind in OPERATOR_KINDS)
    return page(
        "Operators", "accelsim/spec/operators.py",
        "Each is a perfect loop nest over its dimensions whose tensors are indexed by sums of them. A workload can "
        "declare its own the same way (see [Workload](formats.md#workload)); once the file is read, nothing knows "
        "which is which.",
        *table(("operator", "dimensions", "what it is", "what it computes"), rows),
        "Convolutions take `stride`, `dilation` and `padding` (one number, or one for each axis), `groups`, and "
        "`input` extents. Padding is neither moved nor stored.")


def dataflows() -> str:
    """The dataflows that write a mapping."""
    rows = ((code_of(flow.name), flow.describe, first_line(flow.write)) for flow in DATAFLOWS)
    return page(
        "Dataflows", "accelsim/spec/dataflows.py",
        "A dataflow writes a [mapping](formats.md#mapping) for a chip and an operator: `--dataflow NAME`. `auto`, the "
        "default, estimates each that the chip can run and takes the fastest, on a tie the first in this order; the "
        "report says what was tried. Their tiles come from a formula and are not tuned: print the mapping, save it and "
        "change it.",
        *table(("dataflow", "in short", "how"), rows))


PAGES: tuple[tuple[str, Callable[[], str]], ...] = (
    ("stalls.md", stalls), ("metrics.md", metrics), ("operators.md", operators),
    ("dataflows.md", dataflows))


def page(title: str, source: str, *parts: str) -> str:
    """A page of parts with blank lines between, the rows of a table aside."""
    text = f"# {title}\n\n{NOTE.format(source=source)}\n"
    for before, part in zip(("", *parts), parts, strict=False):
        text += part + "\n" if before.startswith("|") and part.startswith("|") else "\n" + part + "\n"
    return text


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table."""
    return [row(heads), "|" + " --- |" * len(heads), *(row(cells) for cells in rows)]


def row(cells: Sequence[str]) -> str:
    """One line of a table; a cell is one line and has no bar of its own."""
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"


def code_of(text: str) -> str:
    """Text set as code."""
    return f"`{text}`"


def in_colour(colour: str, name: str) -> str:
    """A name behind a small square of its colour."""
    return f'<span style="color:{colour}" title="{colour}">&#9632;</span> {code_of(name)}'


def dims_of(kind: OperatorKind) -> str:
    """The dimensions of an operator."""
    return ", ".join(code_of(dim) + (" (1 if left out)" if dim in kind.optional else "") for dim in kind.dims)


def formula(function: Callable[..., object]) -> str:
    """The first clause of a docstring."""
    return first_line(function).partition("; ")[0].partition(": ")[0]


def first_line(function: Callable[..., object]) -> str:
    """The first line of a docstring, without its full stop."""
    return (function.__doc__ or "").strip().splitlines()[0].removesuffix(".")


def main(arguments: Sequence[str]) -> int:
    """Write the pages, or with `--check` name those that are not current."""
    stale = []
    for name, write in PAGES:
        path, text = DOCS / name, write()
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if "--check" not in arguments:
            path.write_text(text, encoding="utf-8", newline="\n")
    if "--check" in arguments and stale:
        print(f"not current: {', '.join(stale)}; run python docs/generate.py")
        return 1
    print(f"written: {', '.join(stale) or 'none, all were current'}" if "--check" not in arguments else "current")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
