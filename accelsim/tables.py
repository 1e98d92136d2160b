"""Tables of results: one long form for each question, units in the names, that become pandas, polars or Arrow where wanted.

Nothing of these libraries is imported until one is asked for; `pip install 'accelsim[frames]'` brings all three.
"""

from __future__ import annotations

import csv
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from io import StringIO
from typing import TYPE_CHECKING, Any

from accelsim import markup
from accelsim.errors import MissingPackage, did_you_mean

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Value = str | int | float | None


class Kind(Enum):
    """What the values of a column are; the value is Arrow's name of the type."""

    TEXT = "string"
    WHOLE = "int64"
    REAL = "float64"


class Basis(Enum):
    """Where the values of a column come from."""

    GIVEN = "given"
    MEASURED = "measured"
    ESTIMATED = "estimated"


@dataclass(frozen=True)
class Column:
    """A column: its name, which says the unit, what its values are and where they come from."""

    name: str
    kind: Kind = Kind.TEXT
    basis: Basis = Basis.GIVEN
    unit: str = ""


def text(name: str, basis: Basis = Basis.GIVEN) -> Column:
    """A column of words."""
    return Column(name, Kind.TEXT, basis)


def whole(name: str, basis: Basis, unit: str) -> Column:
    """A column of whole numbers."""
    return Column(name, Kind.WHOLE, basis, unit)


def real(name: str, basis: Basis, unit: str) -> Column:
    """A column of numbers that need not be whole."""
    return Column(name, Kind.REAL, basis, unit)


@dataclass(frozen=True)
class Table(markup.Shown):
    """Rows of values, None where there is none (an operator that did not run), and what each column is."""

    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        return f"table of {self.name}: {len(self.rows):,} rows of {', '.join(column.name for column in self.columns)}"

    def __getitem__(self, name: str) -> tuple[Value, ...]:
        """The values of a column; KeyError, with the nearest name, where there is none."""
        for i, column in enumerate(self.columns):
            if column.name == name:
                return tuple(row[i] for row in self.rows)
        names = [column.name for column in self.columns]
        raise KeyError(f"no column {name!r} in {self.name}; columns: {', '.join(names)} {did_you_mean(name, names)}".rstrip())

    @property
    def units(self) -> Mapping[str, str]:
        """The unit of each column that has one."""
        return {column.name: column.unit for column in self.columns if column.unit}

    def to_pandas(self) -> pd.DataFrame:
        """A pandas DataFrame: whole numbers stay whole (Int64 where some are missing). Raises MissingPackage without pandas."""
        pandas = _package("pandas", "to_pandas")
        series = {}
        for column in self.columns:
            values = self[column.name]
            series[column.name] = pandas.Series(list(values), dtype=_pandas_type(column.kind, None in values))
        return pandas.DataFrame(series, columns=[column.name for column in self.columns])

    def to_polars(self) -> pl.DataFrame:
        """A polars DataFrame. Raises MissingPackage without polars."""
        polars = _package("polars", "to_polars")
        types = {Kind.TEXT: polars.String, Kind.WHOLE: polars.Int64, Kind.REAL: polars.Float64}
        return polars.DataFrame({column.name: list(self[column.name]) for column in self.columns},
                                schema={column.name: types[column.kind] for column in self.columns})

    def to_arrow(self) -> pa.Table:
        """An Arrow table; the metadata of a field has its `unit` and its `basis`. Raises MissingPackage without pyarrow."""
        arrow = _package("pyarrow", "to_arrow")
        fields = [arrow.field(column.name, arrow.type_for_alias(column.kind.value),
                              metadata={"unit": column.unit, "basis": column.basis.value}) for column in self.columns]
        return arrow.table([list(self[column.name]) for column in self.columns], schema=arrow.schema(fields))

    def to_csv(self) -> str:
        """CSV with a header; numbers in full, nothing where there is none."""
        file = StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([column.name for column in self.columns])
        writer.writerows([repr(value) if isinstance(value, float) else value for value in row] for row in self.rows)
        return file.getvalue()

    def to_html(self) -> markup.Html:
        """The table as markup: under each number's name where it comes from."""
        header = [column.name + (f" ({column.basis.value})" if column.kind is not Kind.TEXT and column.basis is not Basis.GIVEN
                                 else "") for column in self.columns]
        return markup.table(self.name, header, self.rows)

    def _repr_html_(self) -> str:
        return markup.block(self.to_html())


class Tabular(markup.Shown, ABC):
    """What has one table of its own, and is asked for its frame by one call."""

    @property
    @abstractmethod
    def table(self) -> Table:
        """The numbers in long form."""

    def to_pandas(self) -> pd.DataFrame:
        """`table` as a pandas DataFrame. Raises MissingPackage without pandas."""
        return self.table.to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """`table` as a polars DataFrame. Raises MissingPackage without polars."""
        return self.table.to_polars()

    def to_arrow(self) -> pa.Table:
        """`table` as an Arrow table. Raises MissingPackage without pyarrow."""
        return self.table.to_arrow()


def make(name: str, columns: Iterable[Column], rows: Iterable[tuple[Value, ...]]) -> Table:
    """A table from rows as they come."""
    return Table(name, tuple(columns), tuple(rows))


def _pandas_type(kind: Kind, missing: bool) -> str:
    """Numbers are numpy's own where none is missing, so that all that takes arrays takes them."""
    if kind is Kind.WHOLE:
        return "Int64" if missing else "int64"
    if kind is Kind.REAL:
        return "Float64" if missing else "float64"
    return "string"


def _package(name: str, asked: str) -> Any:
    """A library that only frames need."""
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingPackage(f"{asked}() needs {name} ({error}); pip install 'accelsim[frames]', or pip install {name}") from None
