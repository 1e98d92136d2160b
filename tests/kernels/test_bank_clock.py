"""An array's own clock beside banks: against one written from the rules, and by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from accelsim.machine.banks import BankClock
from accelsim.spec.banks import Banks, Ports
from accelsim.spec.read import read_chip

from ..bank_brute import Access, Clock

Ints = NDArray[np.int64]
Asked = Sequence[tuple[int, Sequence[Access]]]
PORTS = [Ports(both=1), Ports(both=2), Ports(1, 1), Ports(2, 1), Ports(1, 0, 1), Ports(0, 1, 1), Ports(1, 1, 1), Ports(2, 1, 1)]
SRAM = read_chip("gemmini").levels[1].memories[0]


def clock(*memories: tuple[int, Ports]) -> BankClock:
    """A clock beside memories of so many banks with such ports."""
    made: Any = SimpleNamespace(memories=[replace(SRAM, banked=Banks(count, 4, ports)) for count, ports in memories])
    return BankClock(made)


def table(asked: Asked) -> Ints:
    return np.array([(time, 2 * bank + write) for time, own in asked for bank, write in own], dtype=np.int64).reshape(-1, 2)


accesses = st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=6)
times = st.lists(st.tuples(st.integers(0, 25), accesses), max_size=12, unique_by=lambda one: one[0])


@settings(max_examples=500, deadline=None)
@given(st.sampled_from(PORTS), st.sampled_from(PORTS), times, times, st.sets(st.integers(0, 30), max_size=4), st.integers(1, 9))
def test_the_clock_is_that_of_the_rules(one: Ports, other: Ports, asked: Asked, moved: Asked, stops: set[int],
                                        stride: int) -> None:
    """However far it goes at once, and whenever it is told of a transfer that is yet to come."""
    asked, moved = sorted(asked), sorted(moved)
    ports = [one, one, one, other, other]
    own = [(time, [(bank, write) for bank, write in what]) for time, what in asked]
    right = Clock(ports, [0, 0, 0, 1, 1], dict(own), frozenset(stops), dict(moved))
    found = clock((3, one), (2, other))
    found.begin(0, table(own), sorted(stops))
    until = 150
    for now in range(until):
        right.cycle(now)
    told = 0
    for now in range(0, until, stride):
        while told < len(moved) and moved[told][0] < now + stride:
            found.book(table(moved[told:told + 1]))
            told += 1
        # the present cycle where the clock shows a time that it has come to
        assert found.reached(now, right.shown[now]) == (now if right.idle[now] else now + 1)
        assert found.reached(now, right.shown[now] + 1) > now
        if right.shown[now]:
            assert found.reached(now, right.shown[now] - 1) == now
    lost = {(one.memory, why): cycles for one in found.totals for why, cycles in (("own", one.own), ("transfers", one.transfers))
            if cycles}
    assert lost == {key: cycles for key, cycles in right.lost.items() if cycles}
    assert right.own == until - sum(right.lost.values()), "time goes on or is lost"


@settings(max_examples=100, deadline=None)
@given(times, times)
def test_transfers_only_delay(asked: Asked, moved: Asked) -> None:
    alone, beside = clock((5, Ports(both=1))), clock((5, Ports(both=1)))
    beside.book(table(sorted(moved)))
    for one in (alone, beside):
        one.begin(0, table(sorted(asked)), [30])
    for now in range(0, 200, 7):
        assert alone.reached(now, 30) <= beside.reached(now, 30)
    assert sum(one.transfers for one in alone.totals) == 0


def test_three_reads_of_a_bank_take_three_cycles() -> None:
    """Asked at 0; the next at 1 waits for two cycles, one at 3 for none."""
    three = [(0, False)] * 3
    for gap, lost in ((1, 2), (2, 1), (3, 0), (9, 0)):
        found = clock((1, Ports(both=1)))
        found.begin(0, table([(0, three), (gap, [(0, False)])]), [gap + 1])
        assert found.reached(gap + lost, gap + 1) == gap + lost + 1, "not at the cycle before"
        assert found.reached(gap + 1 + lost, gap + 1) == gap + 1 + lost
        assert [(one.own, one.transfers) for one in found.totals] == [(lost, 0)]


def test_a_transfer_comes_first() -> None:
    """Its words in cycles 0 to 3; what the array asks for in the first waits until the fifth."""
    found = clock((1, Ports(both=1)))
    found.book(table([(cycle, [(0, True)]) for cycle in range(4)]))
    found.begin(0, table([(0, [(0, False)])]), [1])
    assert found.reached(4, 1) == 5
    assert found.reached(5, 1) == 5
    assert [(one.own, one.transfers) for one in found.totals] == [(0, 4)]


def test_a_mixed_port_serves_what_is_done_soonest() -> None:
    """1R and 1RW: two reads and two writes take two cycles, a write on the shared port in each."""
    for ports in (Ports(1, 0, 1), Ports(0, 1, 1)):
        found = clock((1, ports))
        found.begin(0, table([(0, [(0, False)] * 2 + [(0, True)] * 2)]), [1])
        assert found.reached(2, 1) == 2
        assert [one.own for one in found.totals] == [1]


def test_words_that_come_faster_than_a_bank_serves_them_wait() -> None:
    """Four words in one cycle hold the bank for four."""
    found = clock((2, Ports(both=1)))
    found.book(table([(3, [(1, True)] * 4)]))
    found.begin(0, table([(time, [(1, False)]) for time in range(10)]), [10])
    assert found.reached(13, 10) == 14
    assert found.reached(14, 10) == 14


def test_room_for_much_at_once() -> None:
    found = clock((1, Ports(both=1)))
    found.begin(0, table([(0, [(0, False)] * 500)]), [1])
    assert found.reached(500, 1) == 500
