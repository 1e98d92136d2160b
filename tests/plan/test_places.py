"""Are the bytes that a tile's runs name those of its elements that are not held, by going through all of them?"""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from accelsim.plan.images import IndexSet, Tile
from accelsim.plan.places import BLOCK_BYTES, PAGE_BYTES, Blocks, Places, tensor_bases
from accelsim.plan.stays import radix


class Numbers:
    """Some sets of each axis, the first of them empty."""

    def __init__(self, sets: list[list[IndexSet]]) -> None:
        self.sets = sets
        self.places = [len(own) for own in sets]

    def tile(self, numbers: list[int]) -> Tile:
        return tuple(own[number] for own, number in zip(self.sets, numbers, strict=True))


@st.composite
def tensors(draw: st.DrawFn) -> Numbers:
    extents = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    return Numbers([[IndexSet(0, 0, extent), *(IndexSet(0, draw(st.integers(1, (1 << extent) - 1)), extent) for _ in range(3))]
                    for extent in extents])


def elements(numbers: Numbers, tile: list[int]) -> np.ndarray:
    """Which elements of the tensor a tile has."""
    chosen = [[bool(one.mask >> i & 1) for i in range(one.extent)] for one in numbers.tile(tile)]
    found = np.zeros([len(own) for own in chosen], dtype=bool)
    found[np.ix_(*chosen)] = True
    return found


@settings(max_examples=500, deadline=None)
@given(tensors(), st.data(), st.sampled_from([4, 8, 16, 32]), st.booleans())
def test_byte_runs_are_those_of_the_elements(numbers: Numbers, data: st.DataObject, bits: int, holds: bool) -> None:
    axes = len(numbers.sets)
    tile, held = (data.draw(st.lists(st.integers(1, 3), min_size=axes, max_size=axes)) for _ in range(2))
    weights = radix(numbers)  # type: ignore[arg-type]  # has what is asked for
    places = Places(numbers, 100)  # type: ignore[arg-type]
    starts, lengths = places.byte_runs(int(weights @ tile), int(weights @ held) if holds else -1, bits)
    wanted = elements(numbers, tile)
    if holds:
        wanted &= ~elements(numbers, held)
    right = {100 + (int(one) * bits + bit) // 8 for one in np.flatnonzero(wanted) for bit in range(bits)}
    runs = zip(starts.tolist(), lengths.tolist(), strict=True)
    told = [byte for start, length in runs for byte in range(start, start + length)]
    assert set(told) == right
    assert (np.diff(starts) >= 0).all()
    if bits >= 8:
        assert len(told) == len(right), "no byte twice"
        assert (starts[1:] > starts[:-1] + lengths[:-1]).all(), "runs that touch are one"


def test_tiles_in_one_piece_lie_in_the_order_in_which_they_first_move() -> None:
    blocks = Blocks()
    assert [blocks.block((0, 7), 100), blocks.block((1, 7), 64), blocks.block((0, 7), 90), blocks.block((0, 8), 1)] == [
        0, 2 * BLOCK_BYTES, 0, 3 * BLOCK_BYTES]
    # more of a tile moves than did before: it has to lie elsewhere
    assert blocks.block((0, 7), 200) == 4 * BLOCK_BYTES
    assert blocks.block((0, 7), 100) == 4 * BLOCK_BYTES


def test_tensors_begin_at_pages() -> None:
    assert tensor_bases([1, 1024, 1025], [32, 32, 32]) == [0, PAGE_BYTES, 2 * PAGE_BYTES]
