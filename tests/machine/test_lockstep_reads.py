"""What an array reads from lockstep memories takes as long as the fullest of them, also where the first stands in the padding."""

from __future__ import annotations

import pytest

from accelsim.analytic.estimate import estimate
from accelsim.drivers import Driver, Running
from accelsim.machine.simulate import simulate
from accelsim.measure.report import measure
from accelsim.plan.schedule import Schedule

from ..helpers import chip, custom, entry, level, make


@pytest.mark.parametrize("driver", list(Driver))
@pytest.mark.parametrize(("offset", "reads"), [(-1, 1), (0, 1), (-2, 0)])
def test_the_first_of_them_may_read_nothing(offset: int, reads: int, driver: Driver) -> None:
    """X[a, d + offset], d over two memories of 1 B/cycle: with -1 the second alone has words, with 0 both, with -2 neither.

    Five words of 4 B come in and, as the steps go on, are read again: 20 cycles, then 4 for each of 5 steps, or 1 without reads.
    """
    what = custom({"a": 5, "d": 2}, "Z", extents={"X": [5, 2]}, X=["a", f"d + {offset}" if offset > 0 else f"d - {-offset}"],
                  Z=["a", "d"])
    case = make(chip([level("DRAM"), level("L1", 1, ports="all", tensors="X", fanout=(("x", 2),), lockstep=True)]), what,
                entry("DRAM", "", "X Z", x="d2"), entry("L1", "a5", "X", {"X": 1}))
    ran = simulate(Schedule(case), running=Running(driver))
    assert ran.cycles == (20 + 5 * 4 if reads else 5)
    report = measure(case, ran, estimate(case))
    assert report.crosscheck.traffic_differences == ()
