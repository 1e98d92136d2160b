"""The cache kernel against a cache written from the rules, and against laws and what is known by hand."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accelsim.machine import cache as machine
from accelsim.machine.cache import CacheReplay, replay
from accelsim.spec.cache import Beyond, Cache
from accelsim.spec.sramtrace import Accesses

from ..sram_brute import Access, cached

Vectors = Sequence[tuple[int, Sequence[Access]]]
NEAR = Beyond(0, None, None, shared=False)
LINES = 24


def trace(vectors: Vectors) -> Accesses:
    flat = [(number, line, write) for number, (_, own) in enumerate(vectors) for line, write in sorted(set(own))]
    columns = list(zip(*flat, strict=True)) if flat else [(), (), ()]
    return Accesses("array", np.array([gap for gap, _ in vectors], dtype=np.int64), np.array(columns[0], dtype=np.int64),
                    np.array(columns[1], dtype=np.int64), np.array(columns[2], dtype=np.bool_))


def singly(lines: Sequence[int]) -> Accesses:
    return trace([(int(i > 0), [(line, False)]) for i, line in enumerate(lines)])


vectors = st.lists(st.tuples(st.integers(1, 3), st.lists(st.tuples(st.integers(0, LINES - 1), st.booleans()), min_size=1,
                                                         max_size=5)), max_size=25)
rates = st.sampled_from([None, Fraction(16), Fraction(32), Fraction(64), Fraction(128)])


@settings(max_examples=400, deadline=None)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4), st.integers(1, 3), st.integers(0, 3), st.integers(0, 20), rates,
       rates, st.booleans(), st.integers(1, LINES - 1), vectors)
def test_a_cache_is_that_of_the_rules(sets: int, ways: int, outstanding: int, lookups: int, hit: int, latency: int,
                                      inward: Fraction | None, outward: Fraction | None, shared: bool, split: int,
                                      asked: Vectors) -> None:
    found = replay(Cache(sets, ways, 64, outstanding, lookups, hit), Beyond(latency, inward, outward, shared), trace(asked),
                   [("A", split), ("B", LINES - split)])
    told = cached(sets, ways, 64, outstanding, lookups, hit, latency, (None if inward is None else float(inward),
                  None if outward is None else float(outward)), shared, [int(line >= split) for line in range(LINES)], asked)
    assert (found.cycles, found.array_cycles, found.in_flight, found.full_misses) == (
        told["cycles"], told["array"], told["in_flight"], told["full_misses"])
    counters = told["told"]
    assert isinstance(counters, list)
    for own, counted in zip(found.tensors, counters, strict=False):
        assert vars(own) | {"name": ""} == {"name": ""} | {key: counted[word] for key, word in (
            ("reads", "reads"), ("writes", "writes"), ("hits", "hits"), ("cold", "cold"), ("capacity", "capacity"),
            ("conflict", "conflict"), ("written_back", "back"), ("flushed", "flushed"))}
        assert own.hits + own.misses == own.reads + own.writes


def misses(found: CacheReplay) -> int:
    return sum(own.misses for own in found.tensors)


@settings(max_examples=150, deadline=None)
@given(vectors)
def test_a_larger_fully_associative_cache_never_misses_more(asked: Vectors) -> None:
    """LRU holds what a smaller one holds (Mattson, Gecsei, Slutz, Traiger, IBM Systems Journal 9(2), 1970)."""
    found = [replay(Cache(1, ways, 64, 4, 1, 1), NEAR, trace(asked), [("A", LINES)]) for ways in range(1, LINES + 1)]
    counts = [misses(one) for one in found]
    assert counts == sorted(counts, reverse=True)
    footprint = {line for _, own in asked for line, _ in own}
    assert counts[-1] == len(footprint)  # all there is to hold: cold misses alone
    for one in found:
        assert sum(own.cold for own in one.tensors) == len(footprint)
        assert sum(own.conflict for own in one.tensors) == 0  # it is the fully associative one
        assert one.full_misses == misses(one)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 4), st.integers(1, 3), vectors)
def test_no_number_of_time_changes_what_hits(sets: int, ways: int, asked: Vectors) -> None:
    quick = replay(Cache(sets, ways, 64, 8, 4, 0), NEAR, trace(asked), [("A", LINES)])
    far = Beyond(50, Fraction(16), Fraction(16), shared=True)
    slow = replay(Cache(sets, ways, 64, 1, 1, 3), far, trace(asked), [("A", LINES)])
    assert slow.tensors == quick.tensors
    assert slow.cycles >= quick.cycles


def test_two_lines_of_one_set_in_turns() -> None:
    """Direct-mapped, 4 sets: 0 and 4 push each other out; two ways hold both."""
    found = replay(Cache(4, 1, 64, 1, 1, 0), NEAR, singly([0, 4] * 5), [("A", 8)]).tensors[0]
    assert (found.cold, found.capacity, found.conflict, found.hits) == (2, 0, 8, 0)
    found = replay(Cache(2, 2, 64, 1, 1, 0), NEAR, singly([0, 4] * 5), [("A", 8)]).tensors[0]
    assert (found.cold, found.conflict, found.hits) == (2, 0, 8)


def test_one_line_too_many_in_a_loop() -> None:
    """Five lines round and round through four: LRU loses each before it is used again; direct-mapped keeps three of them."""
    round_ = [0, 1, 2, 3, 4] * 4
    found = replay(Cache(1, 4, 64, 1, 1, 0), NEAR, singly(round_), [("A", 5)]).tensors[0]
    assert (found.cold, found.capacity, found.conflict) == (5, 15, 0)
    found = replay(Cache(4, 1, 64, 1, 1, 0), NEAR, singly(round_), [("A", 5)]).tensors[0]
    assert (found.cold, found.capacity, found.hits) == (5, 6, 9)  # 0 and 4 share a set


def test_what_is_written_comes_in_first_and_goes_out_once() -> None:
    """Write-allocate, write-back: three lines written through two ways of one set; one goes in the run, two at its end."""
    found = replay(Cache(1, 2, 64, 1, 1, 0), NEAR, trace([(0, [(0, True)]), (1, [(1, True)]), (1, [(2, True)])]), [("A", 3)])
    own = found.tensors[0]
    assert (own.misses, own.written_back, own.flushed) == (3, 1, 2)


@pytest.mark.parametrize(("outstanding", "cycles"), [(1, 4 * 104 + 1), (2, 104 + 4 + 104 + 1), (4, 100 + 4 * 4 + 1)])
def test_misses_overlap_as_far_as_they_may(outstanding: int, cycles: int) -> None:
    """Four lines of 64 B at 16 B a cycle, 100 cycles away: 4 + 100 each, one after the other; in twos; all at once."""
    found = replay(Cache(8, 1, 64, outstanding, 1, 0), Beyond(100, Fraction(16), None, shared=False), singly([0, 1, 2, 3]),
                   [("A", 4)])
    assert found.array_cycles == cycles


def test_hits_come_one_a_cycle_whatever_their_latency() -> None:
    lines = singly([0] * 50)
    for hit in (0, 1, 3):
        assert replay(Cache(1, 1, 64, 1, 1, hit), NEAR, lines, [("A", 1)]).array_cycles == 50 + hit


def test_a_replay_in_pieces_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = singly([i * 7 % 12 for i in range(90)])
    whole = replay(Cache(2, 3, 64, 2, 1, 1), Beyond(9, Fraction(16), None, shared=True), asked, [("A", 12)])
    seen: list[int] = []
    monkeypatch.setattr(machine, "PIECE", 16)
    assert replay(Cache(2, 3, 64, 2, 1, 1), Beyond(9, Fraction(16), None, shared=True), asked, [("A", 12)], seen.append) == whole
    assert seen == [16, 32, 48, 64, 80, 90]
