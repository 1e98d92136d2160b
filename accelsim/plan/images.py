"""Tiles as sets: the exact image of an iteration box under a tensor's index forms, one bit set per axis.

A tile is the product of its axes' index sets, each kept as the bits of an integer from its lowest index on. Equal sets
are the same object, so tiles compare by identity. Sets are made once for each position and remembered.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from accelsim.spec.case import Case
from accelsim.spec.nest import Nest
from accelsim.spec.operator import Axis, Tensor
from accelsim.spec.tiles import flattened_box


class IndexSet:
    """A set of indices along one axis of ``extent``: bit i of ``bits`` stands for index ``low + i``.

    ``bits`` is odd, or 0 for the empty set (whose ``low`` is 0), so that equal sets have equal numbers.
    """

    __slots__ = ("bits", "count", "extent", "low")

    def __init__(self, low: int, bits: int, extent: int) -> None:
        blank = (bits & -bits).bit_length() - 1 if bits else 0
        self.low = low + blank if bits else 0
        self.bits = bits >> blank
        self.count = bits.bit_count()
        self.extent = extent

    @property
    def mask(self) -> int:
        """Bit i stands for index i."""
        return self.bits << self.low


def shared(a: IndexSet, b: IndexSet) -> int:
    """How many indices two sets share."""
    ahead = b.low - a.low
    return ((a.bits >> ahead) & b.bits if ahead >= 0 else a.bits & (b.bits >> -ahead)).bit_count()


Tile = tuple[IndexSet, ...]


class DimRange:
    """Where a dimension's part of an entry's tile starts and how long it is, from positions along the lines."""

    def __init__(self, nest: Nest, entry: int, dim: str, extent: int) -> None:
        plain, flat = nest.line_of(dim)
        self.extent = extent
        self.plain = plain
        tile = nest.tiles[entry][plain]
        self.flat: int | None = None
        self.length = tile
        if flat is None:
            return
        line = nest.lines[flat]
        place = line.dims.index(dim)
        member = line.members[place]
        inside = nest.tiles[entry][flat]
        if inside >= line.extent:
            self.length = extent // _bounds_outside(nest, entry, plain, flat)
            return
        self.flat = flat
        self.unit = member.unit
        self.divisor = 1
        for later in line.members[place + 1:]:
            self.divisor *= later.count
        self.count = member.count
        box = flattened_box(tuple(m.count for m in line.members), inside) if inside > 1 else (1,) * len(line.dims)
        self.boxed = box is not None
        self.length = 0 if box is None else (min(tile, member.unit) if inside == 1 else box[place] * member.unit)

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines whose position moves this range."""
        return (self.plain,) if self.flat is None else (self.plain, self.flat)

    def at(self, position: Sequence[int]) -> tuple[int, int]:
        """(start, length) for positions along all lines."""
        start = position[self.plain]
        if self.flat is not None:
            start += position[self.flat] // self.divisor % self.count * self.unit
        return start, min(self.length, self.extent - start)


def _bounds_outside(nest: Nest, entry: int, plain: int, flat: int) -> int:
    """Product of the plain bounds that cut a flattened member above the entry."""
    first = next(i for i, loop in enumerate(nest.loops) if loop.line == flat)
    value = 1
    for loop in nest.loops[:first]:
        if loop.line == plain and loop.entry < entry:
            value *= loop.bound
    return value


class AxisImage:
    """Index sets of one axis of a tensor at one entry."""

    def __init__(self, axis: Axis, ranges: Sequence[DimRange]) -> None:
        self.axis = axis
        self.ranges = ranges
        self.coefficients = [coefficient for _, coefficient in axis.form.terms]
        self.lines = tuple(sorted({line for one in ranges for line in one.lines}))
        self._made: dict[tuple[int, ...], IndexSet] = {}
        self._interned: dict[tuple[int, int], IndexSet] = {}

    def at(self, position: Sequence[int]) -> IndexSet:
        """The set for positions along all lines."""
        key = tuple([position[line] for line in self.lines])
        found = self._made.get(key)
        if found is None:
            made = image(self.axis, self.coefficients, [one.at(position) for one in self.ranges])
            found = self._interned.setdefault((made.low, made.bits), made)
            self._made[key] = found
        return found


class JointImage:
    """A flattened list held whole by a tensor at the array: positions of the list are its index set."""

    def __init__(self, line: int, extent: int, length: int) -> None:
        self.lines = (line,)
        self.extent = extent
        self.length = length
        self._made: dict[int, IndexSet] = {}

    def at(self, position: Sequence[int]) -> IndexSet:
        """The set for positions along all lines."""
        start = position[self.lines[0]]
        found = self._made.get(start)
        if found is None:
            length = max(0, min(self.length, self.extent - start))
            found = self._made[start] = IndexSet(start, (1 << length) - 1, self.extent)
        return found


def image(axis: Axis, coefficients: Sequence[int], ranges: Sequence[tuple[int, int]]) -> IndexSet:
    """The set ``{sum of coefficient * index + offset}`` over the ranges (start, length), clipped to the axis."""
    low = axis.form.offset
    bits = 1
    for coefficient, (start, length) in zip(coefficients, ranges, strict=True):
        if length <= 0:
            return IndexSet(0, 0, axis.extent)
        low += coefficient * start
        bits = spread(bits, coefficient, length)
    if low < 0:
        low, bits = 0, bits >> -low
    if low + bits.bit_length() > axis.extent:
        bits &= (1 << max(0, axis.extent - low)) - 1
    return IndexSet(low, bits, axis.extent)


def spread(mask: int, step: int, count: int) -> int:
    """The union of ``count`` copies of a mask, each ``step`` further up, by doubling."""
    if step == 1 and mask == 1:
        return (1 << count) - 1
    made, have = mask, 1
    while have < count:
        more = min(have, count - have)
        made |= made << (step * more)
        have += more
    return made


class TensorImage:
    """Tiles of one tensor at one entry. ``grid``: along each line, what all its instances' positions are multiples of."""

    def __init__(self, case: Case, entry: int, tensor: Tensor) -> None:
        nest = case.nest
        self.tensor = tensor
        ranges = {dim: DimRange(nest, entry, dim, case.operator.dims[dim]) for dim in tensor.dims}
        self.axes: list[AxisImage | JointImage] = []
        joint: set[int] = set()
        for axis in tensor.axes:
            own = [ranges[dim] for dim in axis.dims]
            cut = next((one.flat for one in own if one.flat is not None and not one.boxed), None)
            if cut is None:
                self.axes.append(AxisImage(axis, own))
            elif cut not in joint:
                joint.add(cut)
                self.axes.append(JointImage(cut, nest.lines[cut].extent, nest.tiles[entry][cut]))
        self.lines = frozenset(line for axis in self.axes for line in axis.lines)
        self.nothing = tuple([IndexSet(0, 0, extent) for extent in self.extents])
        self.grid = nest.grid([loop for loop in nest.loops if loop.entry < entry])

    @cached_property
    def extents(self) -> tuple[int, ...]:
        """Extents of the tile's axes (a flattened list held whole is one axis)."""
        return tuple(axis.axis.extent if isinstance(axis, AxisImage) else axis.extent for axis in self.axes)
