"""Does an array take the cycles that hardware takes, whatever the shape? `test_sources` has the table's cases too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accelsim.compare.checks import Row
from accelsim.compare.references import table
from accelsim.compare.rtl import Shape, Unit, matrix_unit, systolic
from accelsim.drivers import Driver


def agree(rows: Iterator[Row]) -> None:
    """Equal cycles, and the products that numpy has."""
    found = list(rows)
    assert len({row.check for row in found}) == 2
    assert [row for row in found if row.ours != row.reference] == []


@pytest.mark.parametrize("told", table("rtl"), ids=lambda told: "-".join(told[name] for name in Shape._fields))
def test_by_hand(told: dict[str, str]) -> None:
    """By the readable driver; `by_hand` says how the sum comes about."""
    shape = Shape(told["dataflow"], *(int(told[name]) for name in Shape._fields[1:]))
    cycles = int(told["cycles"])
    assert [(row.ours, row.reference) for row in systolic(shape, Driver.SIMPY)] == [(cycles, cycles), (shape.m * shape.n,) * 2]


@pytest.mark.parametrize("told", table("rtl", "units.csv"))
def test_a_matrix_unit_by_hand(told: dict[str, str]) -> None:
    unit, cycles = Unit(*(int(told[name]) for name in Unit._fields)), int(told["cycles"])
    found = [(row.ours, row.reference) for row in matrix_unit(unit, Driver.SIMPY)]
    assert found == [(cycles, cycles)] * 2 + [(unit.m * unit.issues * unit.n,) * 2]


@settings(max_examples=25, deadline=None)
@given(st.builds(Shape, st.sampled_from(["ws", "os", "is"]), st.integers(1, 4), st.integers(1, 4), st.integers(1, 9),
                 st.integers(1, 9), st.integers(1, 9), st.sampled_from([1, 2])))
def test_any_shape(shape: Shape) -> None:
    """Ragged folds too, which pay the whole array."""
    agree(systolic(shape, Driver.SIMPY))


@settings(max_examples=15, deadline=None)
@given(st.builds(Unit, *([st.integers(1, 3)] * 3), st.integers(1, 4), st.integers(0, 5), st.integers(1, 5)))
def test_any_matrix_unit(unit: Unit) -> None:
    agree(matrix_unit(unit, Driver.SIMPY))
