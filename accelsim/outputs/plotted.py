"""What a picture shows, as a table: the file beside it that others draw it anew from."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from io import StringIO


@dataclass(frozen=True)
class Plotted:
    """Exactly the numbers of a picture. ``header``: names with their units."""

    header: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]

    def to_csv(self) -> str:
        """The table as text; what has no number is left empty."""
        file = StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(self.header)
        writer.writerows([_plain(value) for value in row] for row in self.rows)
        return file.getvalue()


def plotted(header: Sequence[str], rows: Sequence[Sequence[object]]) -> Plotted:
    """A table of what was drawn."""
    return Plotted(tuple(header), tuple(tuple(row) for row in rows))


def _plain(value: object) -> object:
    """A number as shortly as it can be read back the same."""
    if value is None:
        return ""
    if isinstance(value, Fraction):
        value = float(value)
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 1 << 53 else repr(value)
    return value
