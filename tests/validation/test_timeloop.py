"""Timeloop's cases by the readable driver too, and what Timeloop cannot say: one buffer, and tiles that do not fit."""

from __future__ import annotations

from typing import Any

import pytest

from accelsim.compare.running import run
from accelsim.compare.timeloop import build, cases, compare
from accelsim.drivers import Driver
from accelsim.errors import DoesNotFit

CASES = {told["id"]: told for told in cases()}


@pytest.mark.parametrize("told", [told for told in CASES.values() if "counts" in told], ids=lambda told: told["id"])
def test_every_case_by_the_readable_driver(told: dict[str, Any]) -> None:
    rows = list(compare(told, Driver.SIMPY))
    assert {"MACs", "words moved"} <= {row.check for row in rows}
    assert [row for row in rows if row.check != "cycles, throttled" and row.ours != row.reference] == []
    assert [row for row in rows if row.check == "cycles, throttled" and row.ours < row.reference] == []


def test_one_tile_with_one_buffer_overlaps_nothing() -> None:
    """32 words in, 64 MACs, 16 words out at one word per cycle: 112, where Timeloop says 64."""
    for driver in Driver:
        assert run(build(CASES["ovl_single_tile"], lockstep=True, limited=True), driver).cycles == 112


def test_capacity() -> None:
    """Three tiles of four words need 12 words in one slot each; 11 are refused."""
    build(CASES["cap_ok"], lockstep=True)
    with pytest.raises(DoesNotFit, match="need 12 B, 11 B available"):
        build(CASES["cap_fail"], lockstep=True)
