"""A slot is free as soon as the copy that outlives its tile is there, and so no bound may count the array's work on that copy."""

from __future__ import annotations

import pytest

from accelsim.analytic.estimate import estimate

from ..helpers import chip, custom, entry, level, make, run


@pytest.mark.parametrize(("slots", "below"), [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_the_slots_of_an_outlived_tile(slots: int, below: int) -> None:
    """As in ``tests/machine/test_outliving.py``: with one slot, X(2) is asked for while the third step runs."""
    what = custom({"a": 3, "b": 2}, "Z", extents={"X": [4]}, X=["2*a + 2*b - 2"], Y=["a"], Z=["b", "a"])
    case = make(
        chip([level("DRAM", latency=20), level("L1"), level("L2")]), what, entry("DRAM", "a3", "X Y Z"),
        entry("L1", "", "X", {"X": slots}), entry("L2", "b2", "X", {"X": below}), entry("PE", "", "X", {"X": 2}),
    )
    bounds = {bound.name: bound.cycles for bound in estimate(case).bounds}
    assert bounds["L1 X slots"] == -(-40 // slots)  # two fills of 20 cycles for so many slots
    assert max(bounds.values()) <= run(case).timeline.cycles


def test_the_slots_that_the_array_reads() -> None:
    """Nothing outlives what the array reads itself: two fills of 20 and all six steps."""
    what = custom({"a": 3, "b": 2}, "Z", extents={"X": [4]}, X=["2*a + 2*b - 2"], Y=["a"], Z=["b", "a"])
    case = make(chip([level("DRAM", latency=20), level("L1")]), what, entry("DRAM", "a3", "X Y Z"),
                entry("L1", "b2", "X", {"X": 1}))
    bounds = {bound.name: bound.cycles for bound in estimate(case).bounds}
    assert bounds["L1 X slots"] == 46
    assert run(case).timeline.cycles >= 46
