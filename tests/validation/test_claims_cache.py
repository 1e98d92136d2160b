"""Claim 12: a cache in the place of a scratchpad of its capacity, on the same mapping. Misses are counted by hand, in lines."""

from __future__ import annotations

from collections import Counter

import pytest

from accelsim.errors import DoesNotFit, SpecError
from accelsim.spec.read import read_chip
from validation.claims.caches import (
    DEPTHS,
    FLIGHTS,
    LATENCY,
    LINE,
    PITCHES,
    ROOMS,
    ROWS,
    SIDES,
    WAYS,
    WIDTHS,
    built,
    conflicts,
    cyclic,
    narrow,
    results,
    small,
    spilled,
    streamed,
    windows,
)

WORD = 4
WORDS = LINE // WORD
"""Words of a line."""
PORT = LINE // 4
"""Cycles of a line at 4 B a cycle."""


def test_12_a_chip_cannot_ask_for_a_cache() -> None:
    """Runs have scratchpads: a cache is replayed beside them, alone."""
    with pytest.raises(SpecError, match="manages"):
        read_chip("toy", ["chip.levels.SRAM.manages=hardware"])


# -- where it loses -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ways", WAYS)
@pytest.mark.parametrize("pitch", PITCHES)
def test_12_rows_a_power_of_two_apart_share_sets(ways: int, pitch: int) -> None:
    """Row r of a tile begins in set r x pitch / 16 mod sets. Each of 16 columns reads all eight rows in order; where more of them
    share a set than it has ways, least recently used, the one to come has always just gone."""
    m, n, k = 32, 16, 64
    sets = 32 // ways
    shared = Counter(row * pitch // WORDS % sets for row in range(8))
    thrashed = sum(rows for rows in shared.values() if rows > ways)
    tiles = m // 8 * (k // WORDS)
    found = conflicts(ways, pitch)
    assert (found.cold, found.capacity, found.conflict) == (8 * tiles, 0, (n - 1) * thrashed * tiles)
    assert found.pad_in == m * k * WORD
    # a lookup comes 16 cycles before the array, as many as misses may be in flight, so each miss shows all but those
    assert found.cycles == m * n * k + found.misses * (PORT + LATENCY - 16) + 16


def test_12_until_they_are_padded_or_the_ways_are_enough() -> None:
    assert conflicts(4, 256).bytes_ratio == 16
    assert conflicts(4, 256).cycles_ratio > 5
    assert conflicts(8, 256).bytes_ratio == conflicts(1, 272).bytes_ratio == 1


@pytest.mark.parametrize("width", WIDTHS)
def test_12_a_tile_narrower_than_a_line_brings_all_of_it(width: int) -> None:
    """64 rows come by before the next words of a row do, and there is room for 32 lines: a line for each tile's row."""
    found = narrow(width)
    assert found.misses == 64 * 64 // width
    assert found.conflict == 0
    assert found.bytes_ratio == WORDS / width
    assert found.cycles > 2 * found.pad_cycles


def test_12_outputs_are_read_before_they_are_written() -> None:
    """Each line comes in and goes out over the one port; the scratchpad's only goes out."""
    found = results()
    outputs = 64 * 64 * WORD
    assert (found.cache_in, found.cache_out, found.pad_in, found.pad_out) == (outputs, outputs, 0, outputs)
    assert found.cycles == 2 * outputs // 4
    assert outputs // 4 <= found.pad_cycles < 1.1 * outputs // 4


@pytest.mark.parametrize("flights", FLIGHTS)
def test_12_nothing_comes_before_it_is_asked_for(flights: int) -> None:
    """512 lines, of 16 cycles each, in a stream. So many cycles ahead of the array the cache looks: within a line, all of each
    but that is waited for; further ahead so many lines are on their way at once; with enough of them the port is never idle."""
    lines, whole = 512, PORT + LATENCY
    found = streamed(flights)
    assert found.cache_in == found.pad_in == lines * LINE
    if flights <= WORDS:
        assert found.cycles == lines * (WORDS + whole - flights) + flights
    elif flights * PORT // WORDS < whole:
        assert found.cycles == lines * WORDS // flights * whole + flights
    else:
        assert found.cycles == lines * PORT + LATENCY + WORDS
    assert (found.cycles > found.pad_cycles) is (flights < 128)


@pytest.mark.parametrize("lines", ROOMS)
def test_12_what_streams_past_drives_out_what_stays(lines: int) -> None:
    """32 lines of B stay while tiles of A come, eight rows of two lines, and only one of them is wanted at a time: 48 lines.

    But LRU holds what is dead until it is the oldest. From the last use of row k of B in one tile to the first in the next, the
    cache sees the 31 other rows, row k again, and of A: all lines of this tile that are still to be read, and of the next one all
    up to k. The first sixteen words of a row of A are one line, the others another. k = 0: 16, and the first row's first line of
    the next tile; k = 1 to 14: 16 and 8; k = 15: 8 and 8; k = 16: 8, and 8 and one; k = 17 to 30: 8 and 16; k = 31: 0 and 16.
    """
    distances = [32 + 17, *[32 + 24] * 14, 32 + 16, 32 + 17, *[32 + 24] * 14, 32 + 16]
    again = sum(distance > lines for distance in distances)
    found = cyclic(lines)
    tiles = 128 // 8
    assert found.tensors == {"A": 128 * 2, "B": 32 + (tiles - 1) * again}
    assert found.conflict == 0
    assert found.pad_in == (128 * 32 + 32 * 16) * WORD


def test_12_a_scratchpad_keeps_what_just_fits() -> None:
    """48 lines are what it needs and one less is refused; a cache needs room for half a tile of A more, whose lines are dead."""
    with pytest.raises(DoesNotFit):
        built("gemm:m=128,n=16,k=32", "DRAM m* / SRAM k* / MAC m8 n16", 47 * LINE, "A B", buffers=1)
    assert cyclic(48).bytes_ratio > 2.5
    assert cyclic(48).cycles_ratio > 1.5
    assert cyclic(56).bytes_ratio == 1


# -- where it saves -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", SIDES)
def test_12_small_tiles_in_a_large_memory(side: int) -> None:
    """N^3 / side words of A and of B for a scratchpad, once each for a cache, which also reads the outputs."""
    n = 32
    found = small(side)
    assert (found.pad_in, found.pad_out) == (2 * n**3 // side * WORD, n * n * WORD)
    assert (found.cold, found.capacity, found.conflict) == (3 * n * n // WORDS, 0, 0)
    assert found.cache_out == n * n * WORD
    assert found.bytes_ratio == 4 / (2 * n / side + 1)


def test_12_the_worse_the_tiles_the_more_a_cache_saves() -> None:
    """In bytes up to where nothing is read twice; in cycles only while the DRAM binds, as each line is waited for."""
    ratios = [small(side).bytes_ratio for side in SIDES]
    assert ratios == sorted(ratios)
    assert [ratio < 1 for ratio in ratios] == [True, True, True, True, False]
    assert [small(side).cycles_ratio < 1 for side in SIDES] == [True, True, False, False, False]
    assert small(2).cycles_ratio < 1 / 8


@pytest.mark.parametrize("depth", DEPTHS)
def test_12_sums_that_would_leave_stay(depth: int) -> None:
    """K / depth drains and one less refills of all outputs, against one of each."""
    outputs, steps = 32 * 32 * WORD, 64 // depth
    found = spilled(depth)
    assert (found.pad_in, found.pad_out) == ((steps - 1) * outputs, steps * outputs)
    assert (found.cache_in, found.cache_out) == (outputs, outputs)
    assert found.bytes_ratio == 2 / (2 * steps - 1)
    assert (found.cycles < found.pad_cycles) is (depth == 4)


@pytest.mark.parametrize("rows", ROWS)
def test_12_windows_that_the_mapping_reads_again(rows: int) -> None:
    """Along a row of tiles a window slides, and only what is new comes; the next row of tiles reads two rows of inputs again.
    A cache still has them. The line in which the first channel ends and the second begins is used at both ends of the image, and
    the 128 lines that there are do not last so long: it comes twice."""
    image = 2 * 34 * 34
    found = windows(rows)
    assert found.pad_in == 32 // rows * (rows + 2) * 34 * 2 * WORD
    assert (found.cold, found.capacity, found.conflict) == (-(-image // WORDS), 1, 0)
    assert 34 * 34 % WORDS != 0, "or no line would be of both"
    assert found.bytes_ratio < 0.9
    assert found.cycles > found.pad_cycles
