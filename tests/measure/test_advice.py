"""Does the advice name what passes where the array waits?"""

from __future__ import annotations

from accelsim.analytic.estimate import estimate
from accelsim.machine.simulate import simulate
from accelsim.measure.report import measure
from accelsim.plan.schedule import Schedule

from ..helpers import chip, entry, gemm, level, link, make


def test_the_tensor_named_is_the_one_that_moves_most_there() -> None:
    """C comes and goes between L1 and L2 for each step of k, and passes the link to DRAM once; A is most of what passes there."""
    case = make(chip([level("DRAM"), level("L1"), level("L2")], links=(link("DRAM", "L1", 1, name="dma"),)), gemm(16, 4, 8),
                entry("DRAM", "", "A B C"), entry("L1", "k8 m16 n4", "A B C", {"A": 1, "B": 1, "C": 1}), entry("L2", "", "A B C"))
    report = measure(case, simulate(Schedule(case)), estimate(case))
    assert report.levels["L2"]["C"].fill_bytes + report.levels["L2"]["C"].drain_bytes > report.levels["L1"]["A"].fill_bytes
    (told,) = [one.text for one in report.advice if "waits for bytes through dma" in one.text]
    assert told.endswith("(most is A)")
