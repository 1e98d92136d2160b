"""Write the pages that say what the code's own tables say: `python docs/generate.py`; `--check` only compares."""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any

import accelsim
from accelsim.measure.metrics import METRICS
from accelsim.spec.dataflows import DATAFLOWS
from accelsim.spec.operators import OPERATOR_KINDS, OperatorKind
from accelsim.spec.read import read_chip, shipped
from accelsim.spec.schemas import SCHEMAS, file_schema
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


BEHIND = (
    ("What a run takes and gives", (
        "accelsim.verbs.Finished", "accelsim.verbs.save", "accelsim.verbs.load", "accelsim.recorder.RecordOptions",
        "accelsim.spec.read.Asked", "accelsim.analytic.auto.choose", "accelsim.measure.report.measure",
        "accelsim.measure.report.OperatorReport", "accelsim.measure.report.Failed", "accelsim.measure.crosscheck.CrossCheck",
        "accelsim.analytic.result.Estimate")),
    ("Tables and frames", (
        "accelsim.tables.Tabular", "accelsim.tables.Table", "accelsim.tables.Column", "accelsim.measure.tables.RunTables",
        "accelsim.search.whatif.WhatIf", "accelsim.measure.diff.Diff")),
    ("Components beside a run", ("accelsim.machine.components.Service", "accelsim.drivers.Running")),
    ("What is described", (
        "accelsim.spec.chip.Chip", "accelsim.spec.operator.Operator", "accelsim.spec.workload.Workload",
        "accelsim.spec.mapping.Mapping", "accelsim.spec.mapping.MappingLevel", "accelsim.spec.mapping.Loop")),
)
"""What the public names lead to, by the path that it is imported by."""


def api() -> str:
    """The Python API, from signatures and docstrings."""
    return page(
        "Python API", "the docstrings of the package",
        "`import accelsim` has the names of the first part, and loads what belongs to one when it is used. The other parts are "
        "what these take and give; they are imported from where they stand. What is on no list here may change "
        "with any version. Scripts that run are under [How to](howto/index.md) and in `examples/`.",
        "```python\nimport accelsim\n\nprint(accelsim.__all__)\n```",
        "## Public names",
        *(part for name in accelsim.__all__ for part in documented(f"accelsim.{name}")),
        *(part for title, paths in BEHIND for part in (f"## {title}", *(one for path in paths for one in documented(path)))))


def keys() -> str:
    """The keys of every file, from the schemas that it is checked by."""
    parts = []
    for kind in SCHEMAS:
        schema = file_schema(kind)
        parts += [f"## A {kind}'s file", (schema.get("description") or "").strip() or "The whole file."]
        parts += described(schema)
        for name, definition in schema.get("$defs", {}).items():
            if "properties" in definition:
                parts += [f"### {name} in a {kind}", definition.get("description", "").strip(), *described(definition)]
    return page(
        "Keys of the files", "the schemas in accelsim/spec",
        "Every key that a file may have; `accelsim schema KIND` prints the same as JSON Schema, for editors. How the "
        "keys work together is told under [File formats](formats.md), [Memories](memories.md) and [Networks](networks.md). "
        "A key without a default must be there.",
        *(part for part in parts if part))


def validity() -> str:
    """The page on validity, its tables written again between their marks."""
    text = (DOCS / "validity.md").read_text(encoding="utf-8")
    compared = (DOCS / "validation.md").read_text(encoding="utf-8")
    study = (DOCS / "analytic-error.md").read_text(encoding="utf-8")
    chips = ((code_of(name), *("<br>".join(lines) for lines in (read_chip(name).models, read_chip(name).omits)))
             for name in shipped("chips"))
    for mark, lines in (
        ("sources", table(("compared with", "rows", "mean error", "worst error", "fitted to it"), compared_with(compared))),
        ("chips-compared", table(("chip", "what", "rows", "mean error", "worst error", "allowed"), on_silicon(compared))),
        ("misses", [f"- {title}: {miss}" for title, section in sections(compared)
                    for miss in re.findall(r"^- Known miss: (.*)$", section, re.MULTILINE)]),
        ("layers", table_after(study, "On layers of shipped networks")),
        ("families", table_after(study, "![Every point by family")),
        ("chips", table(("chip", "modelled", "not modelled"), chips)),
    ):
        start, end = f"<!-- {mark} -->", f"<!-- end of {mark} -->"
        before, _, rest = text.partition(start)
        text = "\n\n".join((before + start, "\n".join(lines), end + rest.partition(end)[2]))
    return text


def sections(text: str) -> Iterator[tuple[str, str]]:
    """The sections of a page: heading and text."""
    for section in text.split("\n## ")[1:]:
        title, _, rest = section.partition("\n")
        yield title, rest


def on_silicon(compared: str) -> Iterator[tuple[str, ...]]:
    """Every check against a chip that was built."""
    for title, section in sections(compared):
        if "`silicon/" in section:
            for line in table_after(section, "Source: ")[2:]:
                what, rows, mean, worst, allowed, *_ = (cell.strip() for cell in line.strip("|").split("|"))
                yield title, what, rows, mean, worst, allowed


def compared_with(compared: str) -> Iterator[tuple[str, ...]]:
    """The rows of the summary of the validation page, with what was fitted."""
    fitted = dict(re.findall(r"^## (.*?)\n.*?Fitted: (.*?)\.$", compared, re.MULTILINE | re.DOTALL))
    for line in table_after(compared, "all rows whose errors are percentages")[2:]:
        name, rows, mean, worst, _ = (cell.strip() for cell in line.strip("|").split("|"))
        title, anchor = re.findall(r"\[(.*?)\]\((.*?)\)", name)[0]
        yield f"[{title}](validation.md{anchor})", rows, mean, worst, fitted[title]


def table_after(text: str, words: str) -> list[str]:
    """The lines of the first table behind some words of a page."""
    lines = text[text.index(words):].splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith("|"))
    rest = lines[first:]
    return rest[:next((place for place, line in enumerate(rest) if not line.startswith("|")), len(rest))]


PAGES: tuple[tuple[str, Callable[[], str]], ...] = (
    ("stalls.md", stalls), ("metrics.md", metrics), ("operators.md", operators),
    ("dataflows.md", dataflows), ("api.md", api), ("keys.md", keys), ("validity.md", validity))


def documented(path: str) -> Iterator[str]:
    """A name with its signature, its docstring, and of a class its fields, properties and methods."""
    home, _, name = path.rpartition(".")
    thing = getattr(import_module(home), name)
    yield f"### {name}"
    yield f"```py\n{'' if home == 'accelsim' else f'# from {home} import {name}{chr(10)}'}{signature(name, thing)}\n```"
    yield (inspect.getdoc(thing) or "").replace("``", "`")
    if inspect.isclass(thing):
        rows = [(code_of(key), prose(value)) for key, value in sorted(vars(thing).items())
                if not key.startswith("_") and inspect.getdoc(value) and callable_or_property(value)]
        yield from table(("member", "what it is"), rows) if rows else ()


def callable_or_property(value: object) -> bool:
    """Whether a class has it as a method or a property of its own."""
    return isinstance(value, property | classmethod | staticmethod) or inspect.isfunction(value)


def prose(thing: object) -> str:
    """A docstring's first paragraph."""
    return (inspect.getdoc(thing) or "").partition("\n\n")[0].replace("``", "`")


def signature(name: str, thing: Any) -> str:
    """A function's parameters, or a dataclass's fields, one a line with type and default."""
    if dataclasses.is_dataclass(thing):
        lines = [f"    {field.name}: {field.type}{default_of(field)}" for field in dataclasses.fields(thing)]
        return "\n".join((f"class {name}:", *lines))
    if isinstance(thing, type) and issubclass(thing, Exception):
        base = next(one for one in thing.__mro__[1:] if not one.__name__.startswith("_"))
        return f"class {name}({base.__name__})"
    if getattr(thing, "_is_protocol", False):
        return f"class {name}(Protocol):\n    def __call__{str(inspect.signature(thing.__call__)).replace(chr(39), '')}"
    given = inspect.signature(thing)
    texts = [str(one).replace("'", "") for one in given.parameters.values()]
    starred = [place for place, one in enumerate(given.parameters.values()) if one.kind is inspect.Parameter.KEYWORD_ONLY][:1]
    for place in starred:
        texts.insert(place, "*")
    back = "" if given.return_annotation in (given.empty, "None") else f" -> {given.return_annotation}"
    kind = "class" if isinstance(thing, type) else "def"
    return f"{kind} {name}({', '.join(texts)}){back}".replace("<factory>", "...")


def default_of(field: dataclasses.Field[Any]) -> str:
    """A field's default, as it would be written."""
    if field.default_factory is not dataclasses.MISSING:
        return f" = {getattr(field.default_factory, '__name__', '...')}()"
    if field.default is dataclasses.MISSING:
        return ""
    return f" = {field.default}" if isinstance(field.default, Enum) else f" = {field.default!r}"


def described(schema: dict[str, Any]) -> list[str]:
    """A table of an object's keys."""
    required = schema.get("required", ())
    rows = ((code_of(name), value_of(one), "" if name in required else default_in(one), one.get("description", ""))
            for name, one in schema.get("properties", {}).items())
    return table(("key", "value", "default", ""), rows)


def value_of(one: dict[str, Any]) -> str:
    """What may stand there, in words."""
    if "anyOf" in one:
        return " or ".join(dict.fromkeys(value_of(way) for way in one["anyOf"] if way.get("type") != "null"))
    if "$ref" in one:
        return one["$ref"].rpartition("/")[2]
    if "const" in one or "enum" in one:
        return ", ".join(code_of(str(word)) for word in one.get("enum", [one.get("const")]))
    if "examples" in one:
        return "such as " + ", ".join(code_of(str(word)) for word in one["examples"])
    if one.get("type") == "array":
        return f"list of {value_of(one['items'])}" if "items" in one else "list"
    if one.get("type") == "object":
        inner = next((schema for schema in (one.get("additionalProperties"), *one.get("patternProperties", {}).values())
                      if isinstance(schema, dict)), None)
        return f"by name: {value_of(inner)}" if inner else "by name"
    return {"string": "text", "integer": "whole number", "number": "number", "boolean": "`true`, `false`"}.get(
        one.get("type", ""), "any")


def default_in(one: dict[str, Any]) -> str:
    """The default as a file would have it."""
    default = one.get("default")
    if isinstance(default, dict) and set(default) == {"unit", "value"}:
        return code_of(f"{default['value']} {default['unit']}{'s' if default['unit'] == 'cycle' else ''}")
    if default is None or default in ({}, []):
        return "none"
    return code_of(str(default).lower() if isinstance(default, bool) else str(default))


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
