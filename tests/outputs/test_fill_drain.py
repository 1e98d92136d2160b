"""What filled and emptied an array is told apart: preload, skew, results."""

from __future__ import annotations

from fractions import Fraction

import pytest

from accelsim.analytic.estimate import estimate
from accelsim.machine.simulate import simulate
from accelsim.measure.report import OperatorReport, measure
from accelsim.outputs.text import stall_lines
from accelsim.plan.schedule import Schedule
from accelsim.stalls import StallCause

from ..helpers import chip, entry, gemm, level, make, systolic


def report(held: str, folds: str, streamed: str, columns: str, rows: str, buffers: int = 1) -> OperatorReport:
    """Three folds of a 2 x 3 array: of the reduction, or of the rows where results stay."""
    array = systolic(2, 3, buffers=buffers, results=Fraction(4 * 3))
    m, k = (6, 4) if held == "C" else (4, 6)
    case = make(chip([level("DRAM")], array), gemm(m, 3, k, "int8", "int32"), entry("DRAM", folds, "A B C"),
                entry("PE", streamed, held, x=columns, y=rows))
    return measure(case, simulate(Schedule(case)), estimate(case))


@pytest.mark.parametrize(("arguments", "preload", "skew", "results"), [
    (("B", "k*", "m*", "n3", "k2"), 3 * 2, 3 * 3, 0),       # every fold is loaded and emptied before the next
    (("B", "k*", "m*", "n3", "k2", 2), 2, 3, 0),            # only the first preload and the last skew show
    (("C", "m*", "k*", "n3", "m2"), 0, 3 * 3, 2),           # the last results leave; earlier ones held the slot: writeback
])
def test_parts_by_hand(arguments: tuple[str, str, str, str, str], preload: int, skew: int, results: int) -> None:
    found = report(*arguments)
    assert found.fill_drain == {"preload": preload, "skew": skew, "results": results}
    assert sum(found.fill_drain.values()) == found.stalls[StallCause.ARRAY_FILL_DRAIN]
    assert found.cycles == 12 + preload + skew + results + found.stalls.get(StallCause.WRITEBACK, 0)
    assert found.stalls.get(StallCause.WRITEBACK, 0) == (2 * 2 if results else 0)


def test_the_summary_tells_them_behind_their_cause() -> None:
    lines = stall_lines({StallCause.ARRAY_FILL_DRAIN: 15}, 27, 12 / 27, 0, {"preload": 6, "skew": 9, "results": 0})
    assert lines[-1].split("%")[-1] == "  preload 6, skew 9"
