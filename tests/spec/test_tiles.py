"""Is the largest image of a tile the one that counting every index finds, also where counting would take forever?"""

import time
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from accelsim.spec.affine import Affine
from accelsim.spec.operator import Axis
from accelsim.spec.tiles import largest_image


def counted(axis: Axis, lengths: dict[str, int], extents: dict[str, int]) -> int:
    """Indices inside the tensor of each tile, one by one."""
    most = 0
    for first in product(*(range(0, extents[dim], lengths[dim]) for dim in axis.dims)):
        steps = product(*(range(start, start + lengths[dim]) for dim, start in zip(axis.dims, first, strict=True)))
        found = {sum(c * i for (_, c), i in zip(axis.form.terms, point, strict=True)) + axis.form.offset for point in steps}
        most = max(most, sum(0 <= index < axis.extent for index in found))
    return most


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_the_largest_image_is_the_counted_one(data: st.DataObject) -> None:
    dims = "pqr"[:data.draw(st.integers(0, 3))]
    extents = {dim: data.draw(st.integers(1, 7)) for dim in dims}
    lengths = {dim: data.draw(st.integers(1, extents[dim])) for dim in dims}
    form = Affine(tuple((dim, data.draw(st.integers(1, 4))) for dim in dims), data.draw(st.integers(-6, 6)))
    axis = Axis(form, data.draw(st.integers(1, 40)))
    assert largest_image(axis, lengths, extents) == counted(axis, lengths, extents)


def test_tiles_of_millions_take_no_time() -> None:
    axis = Axis(Affine((("p", 2), ("r", 1)), -3), 6_000_001)
    began = time.process_time()
    assert largest_image(axis, {"p": 3_000_000, "r": 7}, {"p": 3_000_000, "r": 7}) == 6_000_001
    assert largest_image(axis, {"p": 1, "r": 7}, {"p": 3_000_000, "r": 7}) == 7
    huge = Axis(Affine((("p", 2), ("r", 1)), -3), 2 << 40)
    assert largest_image(huge, {"p": 1 << 40, "r": 7}, {"p": 1 << 40, "r": 7}) == 2 << 40
    assert largest_image(huge, {"p": 1, "r": 7}, {"p": 1 << 40, "r": 7}) == 7
    assert time.process_time() - began < 1
