"""How large tiles get: the largest image of a level's tile under an index form, for capacity checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from accelsim.spec.nest import Nest
from accelsim.spec.operator import Axis, Tensor


def dim_tile(nest: Nest, entry: int, dim: str, extent: int) -> int:
    """Elements of a dimension in one tile of an entry (the first tile, which no edge clips).

    For a flattened list that is cut at this entry the cut must be a box (``flattened_box``).
    """
    plain, flat = nest.line_of(dim)
    tile = nest.tiles[entry][plain]
    if flat is None:
        return min(tile, extent)
    line = nest.lines[flat]
    member = next(member for member in line.members if member.dim == dim)
    inside = nest.tiles[entry][flat]
    if inside >= line.extent:
        outer = tile // _inside(nest, entry, plain, flat)
        return min(extent, outer * member.count * member.unit)
    if inside == 1:
        return min(tile, member.unit)
    box = flattened_box(tuple(m.count for m in line.members), inside)
    assert box is not None, "checked when the case was made"
    return box[line.dims.index(dim)] * member.unit


def _inside(nest: Nest, entry: int, plain: int, flat: int) -> int:
    """Product of the plain loops below the flattened ones, at or inside the entry."""
    first = next(i for i, loop in enumerate(nest.loops) if loop.line == flat)
    value = 1
    for loop in nest.loops[first:]:
        if loop.line == plain and loop.entry >= entry:
            value *= loop.bound
    return value


def flattened_box(counts: tuple[int, ...], length: int) -> tuple[int, ...] | None:
    """The box that every aligned run of ``length`` positions of a flattened list is, or None where it is not one.

    The last dimension runs fastest: a run is a box when it is a whole number of the inner dimensions and divides
    the dimension it ends in (or that is the first).
    """
    box = [1] * len(counts)
    for i in reversed(range(len(counts))):
        if length <= counts[i] or i == 0:
            if i > 0 and counts[i] % length:
                return None
            box[i] = min(length, counts[i])
            return tuple(box)
        if length % counts[i]:
            return None
        box[i] = counts[i]
        length //= counts[i]
    return tuple(box)


def largest_image(axis: Axis, lengths: Mapping[str, int], extents: Mapping[str, int]) -> int:
    """Most indices inside the tensor that any tile of these lengths has along an axis (padding is no index)."""
    dims = axis.dims
    reach = sum(coefficient * (extents[dim] - 1) for dim, coefficient in axis.form.terms) + axis.form.offset
    if len(dims) == 1 and axis.form.offset >= 0 and reach < axis.extent:
        return lengths[dims[0]]
    steps = [(coefficient * extents[dim], coefficient * lengths[dim]) for dim, coefficient in axis.form.terms]
    span = sum(coefficient * (lengths[dim] - 1) for dim, coefficient in axis.form.terms)
    whole = any(start >= 0 and start + span < axis.extent for start in _starts(axis.form.offset, steps))
    if _without_gaps(axis, lengths):
        return span + 1 if whole else max(0, *(min(start + span + 1, axis.extent) - max(start, 0)
                                               for start in _starts(axis.form.offset, steps)))
    reached = 1  # bit i: index i of a tile that starts at 0
    for dim, coefficient in axis.form.terms:
        reached = _repeated(reached, coefficient, lengths[dim])
    if whole:
        return reached.bit_count()
    inside = (1 << axis.extent) - 1
    return max((((reached << start if start >= 0 else reached >> -start) & inside).bit_count()
                for start in _starts(axis.form.offset, steps) if start < axis.extent), default=0)


def _repeated(bits: int, step: int, count: int) -> int:
    """The bits together with their copies 1, 2, .. count - 1 steps further up."""
    done = 1
    while done < count:
        more = min(done, count - done)
        bits |= bits << step * more
        done += more
    return bits


def _without_gaps(axis: Axis, lengths: Mapping[str, int]) -> bool:
    """Whether a tile's indices along an axis are one run: no term steps further than the smaller ones reach."""
    reach = 0
    for coefficient, length in sorted((coefficient, lengths[dim]) for dim, coefficient in axis.form.terms):
        if length > 1 and coefficient > reach + 1:
            return False
        reach += coefficient * (length - 1)
    return True


def _starts(first: int, steps: Sequence[tuple[int, int]]) -> Iterator[int]:
    """The first index of each tile along an axis, padding included; ``steps``: (up to, by) of each dimension."""
    if not steps:
        yield first
        return
    end, step = steps[0]
    for start in range(0, end, step):
        yield from _starts(first + start, steps[1:])


def largest_tile(nest: Nest, entry: int, tensor: Tensor, extents: Mapping[str, int]) -> int:
    """Most elements that a tile of the tensor has at an entry.

    A flattened list cut into runs that are no boxes (at the array only) is indexed plainly and in full: a run of it
    has as many elements as positions.
    """
    runs = {number: nest.tiles[entry][number] for number, line in enumerate(nest.lines) if line.flattened
            and nest.tiles[entry][number] < line.extent and set(line.dims) & tensor.dims
            and flattened_box(tuple(member.count for member in line.members), nest.tiles[entry][number]) is None}
    cut = {dim for number in runs for dim in nest.lines[number].dims}
    lengths = {dim: dim_tile(nest, entry, dim, extents[dim]) for dim in tensor.dims - cut}
    return prod(runs.values()) * prod(largest_image(axis, lengths, extents) for axis in tensor.axes if not set(axis.dims) & cut)


def largest_counts(nest: Nest, entry: int, tensor: Tensor, extents: Mapping[str, int]) -> tuple[int, ...]:
    """Most indices that a tile of the tensor has along each axis at an entry where lists are cut into boxes."""
    lengths = {dim: dim_tile(nest, entry, dim, extents[dim]) for dim in tensor.dims}
    return tuple([largest_image(axis, lengths, extents) for axis in tensor.axes])
