"""Does a table become each library's frame with the same values and the right types, and import none of them before?"""

from __future__ import annotations

import csv
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from accelsim.errors import AccelsimError
from accelsim.tables import Basis, Table, make, real, text, whole

ROOT = Path(__file__).resolve().parent.parent
LARGE = (1 << 53) + 1
"""A whole number that a float cannot hold."""
TABLE = make("things", (text("name"), whole("moved_bytes", Basis.MEASURED, "B"), real("time_s", Basis.ESTIMATED, "s"),
                        whole("repeat", Basis.GIVEN, "")),
             [("a", LARGE, 0.1, 1), ("b,c", None, None, 2), (None, -3, 2.0, 3)])
FRAMES = [("to_pandas", "pandas"), ("to_polars", "polars"), ("to_arrow", "pyarrow")]


def test_whole_numbers_stay_whole_and_none_stays_null_in_pandas() -> None:
    frame = TABLE.to_pandas()
    assert [str(one) for one in frame.dtypes] == ["string", "Int64", "Float64", "int64"]
    assert frame["moved_bytes"].tolist() == [LARGE, pd.NA, -3]
    assert frame["time_s"].isna().tolist() == [False, True, False]
    assert frame["name"].isna().tolist() == [False, False, True]
    assert int(frame["moved_bytes"].sum()) == LARGE - 3


def test_without_nulls_pandas_has_plain_arrays() -> None:
    frame = Table(TABLE.name, TABLE.columns, TABLE.rows[:1]).to_pandas()
    assert [str(one) for one in frame.dtypes] == ["string", "int64", "float64", "int64"]
    assert frame["moved_bytes"].to_numpy().dtype.kind == "i"


def test_whole_numbers_stay_whole_and_none_stays_null_in_polars() -> None:
    frame = TABLE.to_polars()
    assert frame.schema == {"name": pl.String, "moved_bytes": pl.Int64, "time_s": pl.Float64, "repeat": pl.Int64}
    assert frame.rows() == list(TABLE.rows)


def test_arrow_has_the_types_and_says_unit_and_basis() -> None:
    table = TABLE.to_arrow()
    assert table.schema.types == [pa.string(), pa.int64(), pa.float64(), pa.int64()]
    assert [tuple(row.values()) for row in table.to_pylist()] == list(TABLE.rows)
    assert table.schema.field("moved_bytes").metadata == {b"unit": b"B", b"basis": b"measured"}
    assert table.schema.field("time_s").metadata == {b"unit": b"s", b"basis": b"estimated"}


def test_a_table_without_rows_keeps_its_types() -> None:
    empty = Table(TABLE.name, TABLE.columns, ())
    assert [str(one) for one in empty.to_pandas().dtypes] == ["string", "int64", "float64", "int64"]
    assert empty.to_polars().schema == TABLE.to_polars().schema
    assert empty.to_arrow().schema == TABLE.to_arrow().schema


def test_csv_has_every_digit_and_nothing_for_none() -> None:
    assert list(csv.reader(StringIO(TABLE.to_csv()))) == [
        ["name", "moved_bytes", "time_s", "repeat"], ["a", "9007199254740993", "0.1", "1"], ["b,c", "", "", "2"],
        ["", "-3", "2.0", "3"]]


def test_a_column_is_there_by_name_and_a_wrong_name_is_answered_with_the_nearest() -> None:
    assert TABLE["moved_bytes"] == (LARGE, None, -3)
    assert len(TABLE) == 3
    assert TABLE.units == {"moved_bytes": "B", "time_s": "s"}
    with pytest.raises(KeyError, match="did you mean 'moved_bytes'"):
        TABLE["moved_byte"]


def test_no_library_is_imported_before_it_is_asked_for() -> None:
    code = ("import sys, accelsim, accelsim.verbs, accelsim.search.whatif\n"
            "from accelsim.tables import *\n"
            "found = {'pandas', 'polars', 'pyarrow', 'IPython', 'matplotlib'} & set(sys.modules)\n"
            "assert not found, found\n"
            "make('t', (text('a'),), [('b',)]).to_polars()\n"
            "assert 'polars' in sys.modules and 'pandas' not in sys.modules")
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("method", "package"), FRAMES)
def test_a_missing_library_is_named_with_how_to_install_it(method: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(AccelsimError, match=rf"{method}\(\) needs {package}.*pip install 'accelsim\[frames\]'") as raised:
        getattr(TABLE, method)()
    assert isinstance(raised.value, ImportError)
    assert raised.value.exit_code == 2
