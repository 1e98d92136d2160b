"""A tile that stays when the parent's changes: it lets go of its source as soon as it is there (rule 5)."""

from __future__ import annotations

from fractions import Fraction

import pytest

from accelsim.machine.compiled_driver import CompiledMachine
from accelsim.machine.simpy_driver import Machine

from ..helpers import chip, custom, entry, level, make, run
from .test_drivers import same

DRIVERS = [Machine, CompiledMachine]


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_copy_that_outlives_its_source_frees_the_slot(driver: type[Machine] | type[CompiledMachine]) -> None:
    """X[a + b - 1], a outside, b inside, 4 cycles a step: L2 holds nothing, then X(0) for two steps, then X(1); L1 has one slot.

    L1 has X(0) at 10 and L2 at once; steps 0 (10-14) and 1, 2 (14-22). What holds L1's slot after 10 is L2's empty tile, until
    14: X(1) is there at 24 and the last step runs 24-28. Held by X(0) in L2 to its end, at 22, it would be 36.
    """
    what = custom({"a": 2, "b": 2, "c": 4}, "Z", extents={"X": [2]}, X=["a + b - 1"], Y=["b", "c"], Z=["a"])
    case = make(
        chip([level("DRAM", latency=10), level("L1"), level("L2")]), what, entry("DRAM", "a2", "X"),
        entry("L1", "b2", "X", {"X": 1}), entry("L2", "c4", "X Y Z", {"X": 2}),
    )
    ran = run(case, None, driver)
    assert [e.cycle for e in ran.log if (e.tensor, e.entry, e.what) == ("X", 1, "released")] == [14, 28]
    assert ran.cycles == 28


def test_cores_that_keep_a_part_do_not_lock_each_other_out() -> None:
    """The second core needs nothing but padding from its second step on, the first every new tile of L1, which has two slots.

    If the second held L1's tile as long as its own, the first could not get its fourth, nor the second its operand Y, whose slots
    the first holds: each would wait for the other.
    """
    what = custom(
        {"a": 1, "b": 2, "c": 4, "d": 3}, "Z", "int8", "int32", {"X": [7, 3]}, "int32",
        X=["3*c - 2", "3*b + d - 1"], Y=["a", "c", "d"], Z=["b", "d"],
    )
    slow = Fraction(1, 3)
    case = make(
        chip([level("DRAM", slow, 1, ports="shared"), level("L1", slow, 7, ports="shared"),
              level("L2", latency=1, fanout=(("x", 2),))]),
        what,
        entry("DRAM", "a1 d3 b1 c2", "X Y Z", {"X": 1, "Y": 1, "Z": 2}),
        entry("L1", "d1", "X Y Z", {"X": 2, "Y": 2, "Z": 1}, x="b2"),
        entry("L2", "d1 c3", "X Y Z", {"X": 3, "Y": 3, "Z": 3}),
    )
    right, ran = (run(case, None, driver) for driver in DRIVERS)
    assert ran.log == right.log
    same(ran.timeline, right.timeline, case)


@pytest.mark.parametrize("driver", DRIVERS)
def test_what_a_late_core_owes_to_a_tile_that_is_there_already(driver: type[Machine] | type[CompiledMachine]) -> None:
    """Two cores under L2; the second is idle while the third column is worked on, so its tile stays from L2's first residency to
    its third, where it drains to. L2 has claimed all three by the time that core claims its own: the third waits for it all the
    same.
    """
    case = make(
        chip([level("DRAM", latency=18, ports="shared", accumulate=True),
              level("L1", latency=28, ports="shared", accumulate=True),
              level("L2", 4, ports="shared"), level("L3", 1, ports="all", fanout=(("x", 3),))]),
        custom({"c": 3, "q": 3, "r": 2}, "O", I=["c", "r", "q"], W=["c", "r"], O=["c", "q"]),
        entry("DRAM", "c3 r2 q2", "I W O", {"I": 1, "W": 1, "O": 1}), entry("L1", "", "I W O", {"I": 1, "W": 1, "O": 3}),
        entry("L2", "", "O", {"O": 3}, x="q2"), entry("L3", "", "I W O", {"I": 2, "W": 2, "O": 1}),
    )
    ran = run(case, None, driver)
    released = {e.residency: e.cycle for e in ran.log if (e.tensor, e.entry, e.what) == ("O", 2, "released")}
    owed = [e.cycle for e in ran.log if (e.tensor, e.entry, e.unit, e.what) == ("O", 3, 1, "drained")]
    assert released[2] >= owed[0]


@pytest.mark.parametrize("driver", DRIVERS)
def test_what_a_copy_came_from_explains_the_wait_for_it(driver: type[Machine] | type[CompiledMachine]) -> None:
    """X[2a + 2b - 2], a outside: tiles X(0), X(0, 2), X(2) in L1 and L2, one slot each; a step's cell in the registers below.

    X(0) is there at 20 and the first three steps run 20-23. Its slot in L1 is free at 21, when the second step has begun, whose
    cell is in the registers: X(2) is asked for then, there at 41, and outlives both tiles that it comes from the moment it is
    there. All of the wait from 23 to 41 is DRAM's latency.
    """
    what = custom({"a": 3, "b": 2}, "Z", extents={"X": [4]}, X=["2*a + 2*b - 2"], Y=["a"], Z=["b", "a"])
    case = make(
        chip([level("DRAM", latency=20), level("L1"), level("L2")]), what, entry("DRAM", "a3", "X Y Z"),
        entry("L1", "", "X", {"X": 1}), entry("L2", "b2", "X", {"X": 1}), entry("PE", "", "X", {"X": 2}),
    )
    ran = run(case, None, driver)
    assert ran.timeline.cycles == 44
    assert ran.timeline.culprits == {("dram_latency", "DRAM.fill", "", "PE"): 20 + 18}
