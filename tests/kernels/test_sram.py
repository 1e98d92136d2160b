"""The bank kernels against a replay written from the rules, and against what is known by hand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from accelsim.kernels.sram_addresses import touched
from accelsim.machine.sram import BankReplay, replay
from accelsim.plan.placing import Placing
from accelsim.spec.banks import Arbitration, Banks, Layout, LayoutKind, Ports, parse_layout, parse_ports
from accelsim.spec.sramtrace import Accesses

from ..sram_brute import Access, at_once, replayed, soonest

Vectors = Sequence[tuple[int, Sequence[Access]]]


def accesses(vectors: Vectors, name: str = "array") -> Accesses:
    flat = [(number, word, write) for number, (_, own) in enumerate(vectors) for word, write in own]
    columns = list(zip(*flat, strict=True)) if flat else [(), (), ()]
    return Accesses(name, np.array([gap for gap, _ in vectors], dtype=np.int64), np.array(columns[0], dtype=np.int64),
                    np.array(columns[1], dtype=np.int64), np.array(columns[2], dtype=np.bool_))


def banks(count: int, ports: str = "1RW", *, grain: int = 1, width: int = 4, fair: bool = False) -> Banks:
    return Banks(count, width, parse_ports(ports), grain, Arbitration.ROUND_ROBIN if fair else Arbitration.ARRAY_FIRST)


vectors = st.lists(st.tuples(st.integers(1, 4), st.lists(st.tuples(st.integers(0, 11), st.booleans()), min_size=1, max_size=7)),
                   max_size=9)


PORTS = ("1RW", "2RW", "1R1W", "2R1W", "3R2W", "1RW1R", "1RW1W", "1RW1R1W", "2RW1R", "1RW2R1W", "2RW1R2W")


@settings(max_examples=600, deadline=None)
@given(st.integers(1, 5), st.integers(1, 3), st.sampled_from(PORTS), st.booleans(),
       st.lists(vectors, min_size=1, max_size=4))
def test_a_replay_is_that_of_the_rules(count: int, grain: int, ports: str, fair: bool, asked: list[Vectors]) -> None:
    found = replay(banks(count, ports, grain=grain, fair=fair), [accesses(one) for one in asked])
    told = replayed(count, grain, parse_ports(ports), asked, round_robin=fair)
    assert found.cycles == told["cycles"]
    assert [one.cycles for one in found.requesters] == told["done"]
    assert [[one.lost_bank, one.lost_port_kind, one.lost_contention] for one in found.requesters] == told["lost"]
    assert found.reads.tolist() == told["reads"]
    assert found.writes.tolist() == told["writes"]
    for one in found.requesters:
        assert one.cycles == one.cycles_alone + one.lost_bank + one.lost_port_kind + one.lost_contention
        assert min(one.lost_bank, one.lost_port_kind, one.lost_contention) >= 0
    assert found.reads.sum() + found.writes.sum() == sum(one.accesses for one in found.requesters)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 4), st.lists(vectors, min_size=2, max_size=3))
def test_who_comes_first_never_waits(count: int, asked: list[Vectors]) -> None:
    alone = replay(banks(count), [accesses(asked[0])])
    beside = replay(banks(count), [accesses(one) for one in asked])
    assert beside.requesters[0] == alone.requesters[0]
    assert alone.requesters[0].lost_contention == 0


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([1, 2, 3, 4]), vectors)
def test_more_banks_or_ports_never_lose_more(count: int, asked: Vectors) -> None:
    """Each of 2 B banks has words of one of B banks alone; two ports that serve anything serve what one does."""
    lost = [replay(bank, [accesses(asked)]).cycles for bank in (banks(count), banks(2 * count), banks(2 * count, "2RW"))]
    assert lost == sorted(lost, reverse=True)
    assert replay(banks(1, "9RW"), [accesses(asked)]).cycles == accesses(asked).cycles


# -- by hand ----------------------------------------------------------------------------------------------------------


def column_reads(layout: str, *, rows: int, columns: int, bank: Banks, bits: int = 32) -> BankReplay:
    """All columns of a tile one after another, a column in a cycle."""
    placing = Placing(parse_layout(layout), bank, (rows, columns), bits)
    words = [placing.words(np.arange(rows, dtype=np.int64) * columns + column)[:, 0].tolist() for column in range(columns)]
    return replay(bank, [accesses([(1 if i else 0, [(word, False) for word in own]) for i, own in enumerate(words)])])


@pytest.mark.parametrize(("layout", "cycles"), [("row", 32 * 32), ("padded:1", 32), ("swizzled", 32), ("column", 32)])
def test_a_transpose_in_shared_memory(layout: str, cycles: int) -> None:
    """32 banks of 4 B, a warp reads a column of 32 x 32 floats: a 32-way conflict, none with a column of padding.

    NVIDIA, CUDA C++ Best Practices Guide, "Shared Memory in Matrix Multiplication (C = A A^T)": a tile of 32 columns has its
    columns in one bank, one of 33 has not. CUDA C++ Programming Guide, "Shared Memory": 32 banks, successive 32-bit words.
    """
    found = column_reads(layout, rows=32, columns=32, bank=banks(32))
    assert found.cycles == cycles
    assert found.requesters[0].lost_bank == cycles - 32
    assert found.requesters[0].accesses == 32 * 32


@pytest.mark.parametrize(("stride", "ways"), [(1, 1), (2, 2), (3, 1), (4, 4), (8, 8), (16, 16), (17, 1), (32, 32), (33, 1)])
def test_strided_words_in_shared_memory(stride: int, ways: int) -> None:
    """32 threads, words so far apart: gcd(stride, 32) ways (CUDA C++ Programming Guide, "Strided Shared Memory Accesses")."""
    found = replay(banks(32), [accesses([(0, [(i * stride, False) for i in range(32)])])])
    assert found.cycles == ways


def test_one_word_for_all_is_a_broadcast() -> None:
    found = replay(banks(32), [accesses([(0, [(5, False)] * 32)])])
    assert (found.cycles, found.requesters[0].accesses, found.requesters[0].elements) == (1, 1, 32)


def test_four_rows_in_four_banks() -> None:
    """A column of a row-major 4 x 4 tile of words in 4 banks is in one bank: 4 cycles each; two ports, half of that."""
    assert column_reads("row", rows=4, columns=4, bank=banks(4)).cycles == 16
    assert column_reads("row", rows=4, columns=4, bank=banks(4, "2RW")).cycles == 8
    assert column_reads("swizzled", rows=4, columns=4, bank=banks(4)).cycles == 4
    assert column_reads("blocked:2x2", rows=4, columns=4, bank=banks(4)).cycles == 8  # 2 of a block in its own two banks


def test_reads_and_writes_of_one_bank() -> None:
    """A read and a write of one word: two cycles of one port; one where each kind has its own; writes wait for theirs."""
    both = [(0, [(0, False), (0, True)])]
    assert replay(banks(1, "1RW"), [accesses(both)]).requesters[0].lost_bank == 1
    assert replay(banks(1, "1R1W"), [accesses(both)]).cycles == 1
    told = replay(banks(1, "3R1W"), [accesses([(0, [(0, True), (1, True), (2, True), (3, True)])])]).requesters[0]
    assert (told.cycles, told.lost_bank, told.lost_port_kind) == (4, 0, 3)  # four ports would serve all in one cycle


@pytest.mark.parametrize("ports", [Ports(*one) for one in product(range(3), range(3), range(4)) if one[0] + one[2] > 0
                                   and one[1] + one[2] > 0], ids=str)
def test_a_vector_of_one_bank_takes_what_it_must(ports: Ports) -> None:
    """As soon as any choice of ports in any cycle would have it; in one cycle just where some choice has a port for each."""
    bank = Banks(1, 4, ports)
    for reads, writes in product(range(8), range(8)):
        if reads + writes:
            own = [(i, False) for i in range(reads)] + [(i, True) for i in range(writes)]
            found = replay(bank, [accesses([(0, own)])])
            assert found.cycles == soonest(reads, writes, ports)
            assert (found.cycles == 1) is ((reads, writes) in at_once(ports.reads, ports.writes, ports.both))
            told = found.requesters[0]
            assert (told.lost_contention, told.lost_bank) == (0, -(-(reads + writes) // ports.count) - 1)


def test_a_port_for_both_beside_one_for_reads() -> None:
    """1RW1R. Two reads, or a read and a write, in a cycle; two writes in two. Of two reads and two writes the second read waits,
    so that both cycles have a write: reads first would take three.
    """
    def cycles(reads: int, writes: int) -> int:
        own = [(i, False) for i in range(reads)] + [(i, True) for i in range(writes)]
        return replay(banks(1, "1RW1R"), [accesses([(0, own)])]).cycles

    assert [cycles(2, 0), cycles(1, 1), cycles(0, 2), cycles(2, 2), cycles(4, 1), cycles(1, 3)] == [1, 1, 2, 2, 3, 3]
    told = replay(banks(1, "1RW1R"), [accesses([(0, [(0, True), (1, True), (2, True)])])]).requesters[0]
    assert (told.lost_bank, told.lost_port_kind) == (1, 1)  # two ports of both would take two cycles


def test_the_dma_writes_where_the_array_reads() -> None:
    """Each a word a cycle of one bank. 1RW1R serves both: the array reads by the port for reads. A second read leaves none."""
    array, twice = (accesses([(int(i > 0), [(word, False) for word in range(many)]) for i in range(10)]) for many in (1, 2))
    fill = accesses([(int(i > 0), [(9, True)]) for i in range(10)], "fill")
    assert [one.cycles for one in replay(banks(1, "1RW1R"), [array, fill]).requesters] == [10, 10]
    assert [one.cycles for one in replay(banks(1, "1RW1R"), [twice, fill]).requesters] == [10, 20]
    assert [one.cycles for one in replay(banks(1, "1RW1R1W"), [twice, fill]).requesters] == [10, 10]


def test_the_array_and_the_dma_at_one_bank() -> None:
    """Ten words each of one bank: the array first has none lost, and the DMA waits; in turns both lose."""
    asked = [accesses([(int(i > 0), [(0, False)]) for i in range(10)], name) for name in ("array", "dma")]
    first = replay(banks(1), asked)
    assert [(one.cycles, one.lost_contention) for one in first.requesters] == [(10, 0), (20, 10)]
    fair = replay(banks(1, fair=True), asked)
    assert [(one.cycles, one.lost_contention) for one in fair.requesters] == [(19, 9), (20, 10)]


def test_what_hides_in_a_gap_is_not_lost() -> None:
    """Four accesses of one bank, the next vector four cycles later: nothing is late."""
    told = replay(banks(1), [accesses([(0, [(i, False) for i in range(4)]), (4, [(0, False)])])]).requesters[0]
    assert (told.cycles, told.lost_bank) == (5, 0)


# -- addresses --------------------------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_places_are_those_of_the_index_forms(data: st.DataObject) -> None:
    """A padded, strided window over p and r; k and c in one flattened list, c in units of two: each point by its loops."""
    stride, pad, p, r = (data.draw(st.integers(low, high)) for low, high in ((1, 3), (0, 2), (1, 4), (1, 3)))
    k, units = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    c = data.draw(st.integers(2 * units - 1, 2 * units))
    extent = data.draw(st.integers(1, 9))
    kept = sorted(data.draw(st.sets(st.integers(0, extent - 1))))
    dims = {"p": p, "r": r, "k": k, "c": c}
    # lines: p, r, k, c plain, then the list [k, c]; within it c moves fastest
    unrolled = [(i, j) for i in range(k) for j in range(units)]
    extents = [p, r, k, c, len(unrolled)]
    table = [(0, -1, 1, 1, 1, p), (1, -1, 1, 1, 1, r), (2, 4, units, k, 1, k), (3, 4, 1, units, 2, c)]
    axes = [(0, 1, 0, k, 0, 2 * units * len(kept)), (1, 1, 0, c, k, len(kept)), (2, 2, -pad, extent, k + c, 1)]
    terms = [(2, 1), (3, 1), (0, stride), (1, 1)]
    ranks = [*range(k), *range(c), *(kept.index(i) if i in kept else -1 for i in range(extent))]
    starts = data.draw(st.lists(st.tuples(*(st.integers(0, one - 1) for one in extents[:2]), st.just(0), st.integers(0, 1),
                                          st.integers(0, extents[4] - 1)), min_size=1, max_size=5))
    lanes = data.draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.just(0), st.just(0), st.integers(0, 2)),
                               min_size=1, max_size=5))
    found = np.empty((len(starts), len(lanes)), dtype=np.int64)

    def array(rows: Sequence[Sequence[int]]) -> NDArray[np.int64]:
        return np.array(rows, dtype=np.int64)

    count = touched(array(starts), array(lanes), np.array(extents, dtype=np.int64), array(table), array(axes), array(terms),
                    np.array(ranks, dtype=np.int64), found)
    for n, start in enumerate(starts):
        for m, lane in enumerate(lanes):
            at = [a + b for a, b in zip(start, lane, strict=True)]
            expected = -1
            if all(place < one for place, one in zip(at, extents, strict=True)):
                i, unit = unrolled[at[4]]
                own = {"p": at[0], "r": at[1], "k": at[2] + i, "c": at[3] + 2 * unit}
                index = stride * own["p"] + own["r"] - pad
                if all(own[dim] < dims[dim] for dim in dims) and index in kept:
                    expected = (own["k"] * 2 * units + own["c"]) * len(kept) + kept.index(index)
            assert found[n, m] == expected
    assert count == (found >= 0).sum()


# -- layouts ----------------------------------------------------------------------------------------------------------

layouts = st.sampled_from(["row", "column", "blocked:2x3", "blocked:4x1", "padded:1", "padded:3", "swizzled"])


@settings(max_examples=200, deadline=None)
@given(layouts, st.integers(1, 9), st.integers(1, 9), st.sampled_from([8, 16, 32, 64]), st.sampled_from([1, 2, 4, 8]),
       st.sampled_from([1, 2]), st.integers(1, 3))
def test_no_two_elements_share_their_bits(layout: str, rows: int, columns: int, bits: int, count: int, width: int,
                                          grain: int) -> None:
    """Each element has a place of its own, and all lie within the tile's words."""
    placing = Placing(parse_layout(layout), Banks(count, width, Ports(both=1), grain), (rows, columns), bits)
    words = placing.words(np.arange(rows * columns, dtype=np.int64))
    assert words.min() >= 0
    assert words.max() < placing.size_words
    held = np.bincount(np.concatenate([np.unique(own) for own in words]))
    assert held.max() <= max(1, 8 * width // bits)
    assert all(len(set(own.tolist())) == max(1, bits // (8 * width)) for own in words)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 7), st.integers(1, 4), st.integers(1, 7), st.integers(1, 3), st.integers(1, 3))
def test_layouts_word_by_word(rows: int, middle: int, columns: int, high: int, wide: int) -> None:
    """Elements of one word each, put down one after the other as the layout has them."""
    bank = Banks(4, 4, Ports(both=1))

    def words(layout: str, *counts: int) -> list[int]:
        found = Placing(parse_layout(layout), bank, counts, 32).words(np.arange(np.prod(counts), dtype=np.int64))
        return list(found[:, 0].tolist())

    # column-major: the first axis runs fastest, the last slowest
    order = [(i, j, k) for k in range(columns) for j in range(middle) for i in range(rows)]
    found = words("column", rows, middle, columns)
    assert [found[(i * middle + j) * columns + k] for i, j, k in order] == list(range(rows * middle * columns))
    # blocks, their elements whether there or not
    place = 0
    found = words(f"blocked:{high}x{wide}", rows, columns)
    for top in range(0, rows, high):
        for left in range(0, columns, wide):
            for i in range(top, top + high):
                for k in range(left, left + wide):
                    if i < rows and k < columns:
                        assert found[i * columns + k] == place
                    place += 1
    assert words("padded:2", rows, columns) == [i * (columns + 2) + k for i in range(rows) for k in range(columns)]
    assert words("row", rows, middle, columns) == list(range(rows * middle * columns))


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([2, 4, 8, 16]), st.integers(1, 70), st.integers(1, 3))
def test_swizzled_rows_and_columns_have_no_conflict(count: int, columns: int, runs: int) -> None:
    """Words as elements: B rows of a column are in B banks, and so are B aligned words of a row."""
    placing = Placing(Layout(LayoutKind.SWIZZLED), Banks(count, 4, Ports(both=1)), (runs * count, columns), 32)
    bank = placing.words(np.arange(runs * count * columns, dtype=np.int64))[:, 0].reshape(runs * count, columns) % count
    for run in range(runs):
        rows = bank[run * count:(run + 1) * count]
        assert all(len(set(rows[:, column].tolist())) == count for column in range(columns))
    for row in bank.tolist():
        assert all(len(set(row[i:i + count])) == len(row[i:i + count]) for i in range(0, columns, count))


def test_one_swizzle_by_hand() -> None:
    """4 banks, rows of 8 words: P = 8, S = 8, so row i is XORed with i mod 4."""
    placing = Placing(Layout(LayoutKind.SWIZZLED), Banks(4, 4, Ports(both=1)), (4, 8), 32)
    words = placing.words(np.arange(32, dtype=np.int64))[:, 0].reshape(4, 8)
    assert words[:, 0].tolist() == [0, 9, 18, 27]
    assert words[3].tolist() == [27, 26, 25, 24, 31, 30, 29, 28]
