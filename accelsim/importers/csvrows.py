"""Tables separated by commas, semicolons or tabs as people write them, each cell with its place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """A cell's text without blanks and quotes around it; ``column`` counts from 1."""

    text: str
    column: int


@dataclass(frozen=True)
class TableRow:
    """A line with something on it; trailing empty cells and what follows a `#` are gone. ``comment``: what followed."""

    line: int
    cells: tuple[Cell, ...]
    comment: str = ""

    def at(self, index: int) -> Cell:
        """A cell, or an empty one behind the last."""
        if index < len(self.cells):
            return self.cells[index]
        last = self.cells[-1] if self.cells else Cell("", 1)
        return Cell("", last.column + len(last.text))


def table_rows(text: str) -> list[TableRow]:
    """The lines that hold anything besides separators, blanks and comments (`#` or `//` at the start of a line or cell)."""
    rows: list[TableRow] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith(("#", "//")):
            continue
        cells = _cells(line, _separator(line))
        at = next((i for i, cell in enumerate(cells) if cell.text.startswith("#")), len(cells))
        comment, kept = " ".join(cell.text for cell in cells[at:]), cells[:at]
        while kept and not kept[-1].text:
            kept.pop()
        if kept:
            rows.append(TableRow(number, tuple(kept), comment))
    return rows


def _separator(line: str) -> str:
    for separator in ",;\t":
        if separator in line:
            return separator
    return ","


def _cells(line: str, separator: str) -> list[Cell]:
    """Split at separators that stand outside double quotes; a doubled quote inside them is one."""
    cells: list[Cell] = []
    begin, quoted = 0, False
    for at, letter in enumerate(line):
        if letter == '"':
            quoted = not quoted
        elif letter == separator and not quoted:
            cells.append(_cell(line, begin, at))
            begin = at + 1
    cells.append(_cell(line, begin, len(line)))
    return cells


def _cell(line: str, begin: int, end: int) -> Cell:
    raw = line[begin:end]
    text = raw.strip()
    column = begin + len(raw) - len(raw.lstrip()) + 1
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1].replace('""', '"').strip()
    return Cell(text, column)
