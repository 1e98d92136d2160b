"""Are contiguous runs found as if every element were looked at? And what granularity makes of them."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accelsim.plan.images import IndexSet, Tile
from accelsim.plan.layout import runs
from accelsim.plan.moves import Move
from accelsim.plan.places import bridged

from ..helpers import chip, custom, entry, level, make, run


def flat_runs(tile: Tile, held: Tile | None) -> Counter[int]:
    """Every element of the row-major layout in turn."""
    found: Counter[int] = Counter()
    length = 0
    for place in product(*(range(axis.extent) for axis in tile)):
        inside = all(axis.mask >> i & 1 for axis, i in zip(tile, place, strict=True))
        kept = held is not None and all(axis.mask >> i & 1 for axis, i in zip(held, place, strict=True))
        if inside and not kept:
            length += 1
        elif length:
            found[length] += 1
            length = 0
    if length:
        found[length] += 1
    return found


@st.composite
def tiles(draw: st.DrawFn) -> tuple[Tile, Tile | None]:
    extents = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    tile = tuple(IndexSet(0, draw(st.integers(0, (1 << extent) - 1)), extent) for extent in extents)
    held = tuple(IndexSet(0, draw(st.integers(0, (1 << extent) - 1)), extent) for extent in extents)
    return tile, held if draw(st.booleans()) else None


@settings(max_examples=500, deadline=None)
@given(tiles())
def test_runs_are_those_of_the_flattened_layout(pair: tuple[Tile, Tile | None]) -> None:
    assert +runs(*pair) == flat_runs(*pair)


@settings(max_examples=500, deadline=None)
@given(tiles(), st.integers(0, 7), st.sampled_from([8, 32]), st.sampled_from([2, 16]))
def test_gaps_that_are_short_are_bridged(pair: tuple[Tile, Tile | None], most: int, bits: int, granularity: int) -> None:
    """A gap of so many elements is read with the runs beside it, one more is not; what comes before the first is none."""
    places = [number for number, place in enumerate(product(*(range(axis.extent) for axis in pair[0])))
              if all(axis.mask >> i & 1 for axis, i in zip(pair[0], place, strict=True))
              and not (pair[1] is not None and all(axis.mask >> i & 1 for axis, i in zip(pair[1], place, strict=True)))]
    runs_of: list[list[int]] = []
    for number in places:
        if runs_of and number - runs_of[-1][1] - 1 <= most:
            runs_of[-1][1] = number
        else:
            runs_of.append([number, number])
    lengths = [last - first + 1 for first, last in runs_of]
    assert bridged(*pair, most) == dict(Counter(lengths))
    move = Move(len(places), bits, *pair, bridge_bytes=most * bits // 8)
    assert move.payload_bytes == len(places) * bits // 8
    if most:
        assert move.bytes_at(granularity) == sum(-(-length * bits // (8 * granularity)) * granularity for length in lengths)


@settings(max_examples=300, deadline=None)
@given(tiles(), st.sampled_from([4, 8, 16, 32]), st.sampled_from([1, 2, 16, 64]))
def test_bytes_are_runs_rounded_up(pair: tuple[Tile, Tile | None], bits: int, granularity: int) -> None:
    found = flat_runs(*pair)
    elements = sum(length * count for length, count in found.items())
    move = Move(elements, bits, *pair)
    assert move.payload_bytes == -(-elements * bits // 8)
    assert move.bytes_at(granularity) == sum(
        -(-length * bits // (granularity * 8)) * granularity * count for length, count in found.items()
    )


@pytest.mark.parametrize(
    ("rows", "columns", "granularity", "moved", "waste"),
    [
        (4, 4, 1, 64, 0),  # 16 words of 4 B
        (4, 4, 16, 64, 0),  # each row of a tile is one burst of 16 B
        (4, 4, 32, 128, 64),  # each row of 16 B takes a burst of 32 B
        (4, 8, 64, 128, 0),  # whole rows: 4 x 32 B follow each other, 2 bursts
        (2, 3, 16, 32, 8),  # 12 B rows take 16 B
    ],
)
def test_bursts(rows: int, columns: int, granularity: int, moved: int, waste: int) -> None:
    """X[8, 8] of 4 B words; the first tile of rows x columns at the granularity of the DRAM, at 1 B/cycle."""
    what = custom({"i": 8, "j": 8}, "Z", X=["i", "j"], Z=["i"])
    on = chip([level("DRAM", 1, granularity_bytes=granularity), level("L1")])
    case = make(on, what, entry("DRAM", "i* j*", "X Z"), entry("L1", f"i{rows} j{columns}", "X"))
    ran = run(case)
    assert ran.times("ready", "X")[0] == moved
    assert ran.timeline.traffic["L1", "X"].fill_bytes == 256
    wasted = ran.timeline.traffic["DRAM", "X"].waste_bytes if waste else 0
    tiles = -(-8 // rows) * (8 // columns)
    assert wasted == waste * tiles or 8 % columns


def test_a_gap_is_read_and_nothing_of_it_is_kept() -> None:
    """Three words of 4 B, two words apart: one run where 8 B are bridged, with 16 B that are dropped. A drain skips its gaps."""
    what = custom({"a": 3}, "Z", "fp32", X=["3*a"], Z=["3*a"], Y=["a"])
    found = {}
    for bridge in (0, 4, 8):
        on = chip([level("DRAM", 1, granularity_bytes=4, bridge_bytes=bridge), level("SRAM")])
        traffic = run(make(on, what, entry("DRAM", "a1"), entry("SRAM", "a3"))).timeline.traffic
        wasted = {name: own.waste_bytes for (at, name), own in traffic.items() if at == "DRAM"}
        found[bridge] = traffic["SRAM", "X"].fill_bytes, wasted
    assert found[0] == found[4] == (12, {})
    assert found[8] == (12, {"X": 16})
