"""Two runs compared, as text for a terminal and as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import wrap

from accelsim.measure.diff import Diff
from accelsim.outputs.diff_tables import Content, Table, content

WIDTH = 100
WIDEST_CELL = 44
NARROWEST = 30
MOST_CHANGES = 24
_MARKS = re.compile(r"^>|[\\`*\[\]<|#&~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
SHOWN, IN_FULL = 10, 3
"""Operators in the table of a terminal, and those said more about, unless asked for more."""


def diff_text(found: Diff, operator: str | None = None, top: int | None = None) -> str:
    """The summary on one screen: cycles, configuration, causes, operators."""
    told = content(found, operator, top or SHOWN, top or IN_FULL)
    lines = [*wrap(told.title, WIDTH), *wrap(told.subject, WIDTH), "", *_facts(told.facts)]
    lines += ["", *wrap(told.verdict, WIDTH)] if told.verdict else []
    if told.configuration is not None:
        lines += ["", *_configuration(told.configuration)]
    for table in told.tables:
        lines += ["", *_table(table, "")]
    for section in told.sections:
        lines += ["", *wrap(section.title, WIDTH), *(f"  {line}" for line in _facts(section.facts))]
        for table in section.tables:
            lines += _table(table, "  ")
    return "\n".join(lines)


def _facts(rows: Sequence[tuple[str, str]]) -> list[str]:
    return [line for name, text in rows
            for line in wrap(text, WIDTH, initial_indent=f"{name:<14} ", subsequent_indent=" " * 15)]


def _configuration(table: Table) -> list[str]:
    """``path: A -> B``, wrapped, so that long values can be read."""
    lines = [table.title]
    for path, before, after in table.rows[:MOST_CHANGES]:
        lines += wrap(f"{path}: {before} -> {after}", WIDTH, initial_indent="  ", subsequent_indent="      ",
                      break_on_hyphens=False)
    left = len(table.rows) - MOST_CHANGES
    lines += [f"  and {left} more; --json, --markdown and --html have all"] if left > 0 else []
    return [*lines, *wrap(table.note, WIDTH, initial_indent="  ", subsequent_indent="  ")]


def _table(table: Table, indent: str) -> list[str]:
    rows = [tuple(_cut(cell) if i in table.left and i < len(table.head) - 1 else cell for i, cell in enumerate(row))
            for row in (table.head, *table.rows)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(table.head))]
    lines = [f"{indent}{table.title}"]
    for row in rows:
        cells = [f"{cell:<{width}}" if i in table.left else f"{cell:>{width}}"
                 for i, (cell, width) in enumerate(zip(row, widths, strict=True))]
        start = f"{indent}  {'  '.join(cells[:-1])}  "
        words = len(row) - 1 in table.left
        last = wrap(row[-1], max(WIDTH - len(start), NARROWEST), break_on_hyphens=False) if words else cells[-1:]
        lines += [f"{start if not number else ' ' * len(start)}{part}".rstrip() for number, part in enumerate(last)]
    return [*lines, *([f"{indent}  {table.note}"] if table.note else [])]


def _cut(cell: str) -> str:
    return cell if len(cell) <= WIDEST_CELL else cell[:WIDEST_CELL - 3] + "..."


def diff_markdown(found: Diff, operator: str | None = None, top: int | None = None) -> str:
    """The same as Markdown, all of it unless ``top`` says how much."""
    told = content(found, operator, top, top)
    parts = [f"# {_plain(told.title)}", _plain(told.subject), _list(told.facts)]
    parts += [f"**{_plain(told.verdict)}**"] if told.verdict else []
    parts += [part for table in _tables(told) for part in _markdown_table(table, "##")]
    for section in told.sections:
        parts += [f"## {_plain(section.title)}", _list(section.facts)]
        parts += [part for table in section.tables for part in _markdown_table(table, "###")]
    return "\n\n".join(parts) + "\n"


def _tables(told: Content) -> list[Table]:
    return [table for table in (told.configuration, *told.tables) if table is not None]


def _list(rows: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"- {name}: {_plain(text)}" for name, text in rows)


def _markdown_table(table: Table, level: str) -> list[str]:
    lines = [_row(table.head), "|" + "".join(" :-- |" if i in table.left else " --: |" for i in range(len(table.head)))]
    lines += [_row(row) for row in table.rows]
    title = table.title[:1].upper() + table.title[1:]
    return [f"{level} {title}", "\n".join(lines), *([_plain(table.note)] if table.note else [])]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(_plain, cells)) + " |"


def _plain(text: str) -> str:
    """Text in which Markdown finds nothing to set."""
    return _MARKS.sub(r"\\\g<0>", text)
