"""The kernels of memories in the loop, small enough to run without the compiler too."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

from accelsim.machine import memories
from accelsim.machine.memories import MemoryState
from accelsim.machine.outcomes import Come
from accelsim.spec.case import Case
from accelsim.spec.read import read_memory, shipped

from ..machine.channel_cases import short_queue, with_channels
from ..machine.test_drivers import compare
from ..properties.strategies import steps_of, wide_cases

DRAMS = [read_memory(name) for name in sorted(shipped("memories"))]


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(wide_cases())
def test_chunks_multicasts_and_sums_through_channels(case: Case) -> None:
    assume(steps_of(case) <= 300)
    made = with_channels(case, [short_queue(DRAMS[steps_of(case) % len(DRAMS)])], beyond=steps_of(case) % 2)
    assume(made is not None)
    assert made is not None
    compare(made)


@pytest.mark.parametrize("outcomes", [4, 64])
def test_room_for_what_comes_out_does_not_matter(monkeypatch: pytest.MonkeyPatch, outcomes: int) -> None:
    """Outcomes and rows are taken away when there is no room for more, and it goes on where it stopped."""
    def told() -> tuple[list[tuple[int, Come, int]], int]:
        rows: list[np.ndarray] = []
        memory: MemoryState[int] = MemoryState(DRAMS[1], Fraction(10**9), rows.append)
        for i in range(20):
            memory.ask(0, i, i % 3, write=i % 4 == 1, tells=True, starts=np.arange(6) * 8192 * (i + 1),
                       lengths=np.full(6, 64 + 64 * (i % 2)))
        found = []
        while memory.busy:
            found += [(one.cycle, one.come, one.owner) for one in memory.until(None)]
        counts = memory.finish()
        assert counts.bursts == sum(6 * (1 + i % 2) for i in range(20))
        return found, sum(int((one[:, 2] - one[:, 1]).sum()) for one in rows)
    right = told()
    monkeypatch.setattr(memories, "OUTCOMES", outcomes)
    monkeypatch.setattr(memories, "ROWS", outcomes)
    assert told() == right


def test_runs_are_kept_as_long_as_they_are_needed() -> None:
    memory: MemoryState[int] = MemoryState(DRAMS[0], Fraction(10**9), lambda _: None)
    for i in range(8):
        memory.ask(0, i, 0, write=False, tells=False, starts=np.arange(500) * 128, lengths=np.full(500, 64))
    ended = 0
    while memory.busy:
        ended += sum(one.come is Come.ENDS for one in memory.until(None))
    assert ended == 8
    assert memory.finish().bursts == 4000
