"""Tiles in closed form: the mapping that spreads an operator over an array and fits a chip's memories.

Tiles are square at sqrt(C / tensors held), C the words of the outermost bounded memory over its buffers, aligned to what is
inside them and shrunk until they fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, isqrt, prod

from accelsim.spec.chip import ArrayModel, Chip
from accelsim.spec.mapping import Loop, Mapping, MappingLevel
from accelsim.spec.operator import Operator, Role, Tensor

Tile = dict[str, int]

PIECES = 4
"""Tiles along a dimension that what comes in is cut into where it could come whole."""


@dataclass(frozen=True)
class Parts:
    """An operator's dimensions by what they do: rows index input and output, columns weight and output, the reduction
    neither is summed over, and ``batch`` indexes all three. Innermost (fastest) dimension last.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    reduction: tuple[str, ...]
    batch: tuple[str, ...]
    weight: Tensor
    input: Tensor
    output: Tensor

    @staticmethod
    def of(operator: Operator) -> Parts:
        """Sort the dimensions; without a tensor of role weight, the last input takes its place."""
        operands = [tensor for tensor in operator.tensors if tensor.role is not Role.OUTPUT]
        weight = next((tensor for tensor in operands if tensor.role is Role.WEIGHT), operands[-1])
        other = next((tensor for tensor in operands if tensor is not weight), weight)
        output = operator.output
        kinds: dict[str, list[str]] = {"rows": [], "columns": [], "reduction": [], "batch": []}
        for dim in operator.dims:
            if dim not in output.dims:
                kinds["reduction"].append(dim)
            elif dim not in weight.dims:
                kinds["rows"].append(dim)
            elif dim not in other.dims:
                kinds["columns"].append(dim)
            else:
                kinds["batch"].append(dim)
        return Parts(tuple(kinds["rows"]), tuple(kinds["columns"]), tuple(kinds["reduction"]), tuple(kinds["batch"]),
                     weight, other, output)


@dataclass
class _Draft:
    """A mapping being written: per entry the cumulative tile, the spatial factors inside it and the loop order."""

    chip: Chip
    operator: Operator
    tiles: list[Tile]
    spatial: list[dict[str, list[tuple[str, int]]]]
    orders: list[tuple[str, ...]]
    stationary: Tensor | None = None

    @property
    def array(self) -> int:
        return len(self.chip.levels)

    def parallel(self, entry: int, dim: str) -> int:
        """Product of the spatial factors of a dimension at an entry."""
        count = 1
        for factors in self.spatial[entry].values():
            for name, factor in factors:
                count *= factor if name == dim else 1
        return count

    def inner(self, entry: int, dim: str) -> int:
        """What one iteration of the entry's own loops advances along a dimension."""
        below = self.tiles[entry + 1].get(dim, 1) if entry < self.array else 1
        return below * self.parallel(entry, dim)

    def mapping(self, origin: str) -> Mapping:
        """The entries, loops of bound 1 left out."""
        levels = []
        for entry, name in enumerate(self.chip.names):
            loops = tuple(Loop((dim,), bound) for dim in self.orders[entry]
                          if (bound := ceil(self.tiles[entry].get(dim, 1) / self.inner(entry, dim))) > 1)
            spatial = tuple((axis, kept) for axis, factors in self.spatial[entry].items()
                            if (kept := tuple(Loop((dim,), factor) for dim, factor in factors if factor > 1)))
            binding = None
            if entry == self.array:
                binding = (self.stationary.name,) if self.stationary is not None else None
                if not loops and not spatial and binding is None:
                    continue
            levels.append(MappingLevel(name, loops, spatial, binding))
        return Mapping(tuple(levels), origin)


def grid(chip: Chip) -> tuple[int, tuple[tuple[str, int], ...]]:
    """(entry whose spatial loops span it, its axes): the array's PEs, or the instances of the innermost memory level."""
    if chip.array.pes:
        return len(chip.levels), chip.array.pes
    for entry in reversed(range(1, len(chip.levels))):
        if chip.levels[entry].instances > 1:
            return entry - 1, chip.levels[entry].fanout
    return len(chip.levels), ()


def _spread(operator: Operator, dims: Sequence[str], room: int, taken: Tile) -> list[tuple[str, int]]:
    """Factors that put dimensions on ``room`` PEs, the first as far as it goes, then the next."""
    factors = []
    for dim in dims:
        factor = min(room, ceil(operator.dims[dim] / taken.get(dim, 1)))
        if factor > 1:
            factors.append((dim, factor))
            taken[dim] = taken.get(dim, 1) * factor
            room //= factor
    return factors


def write(chip: Chip, operator: Operator, name: str, across: dict[str, tuple[str, ...]], stationary: Tensor | None,
           order: tuple[str, ...], streamed: tuple[str, ...], local: tuple[str, ...] | None = None) -> Mapping:
    """Spatial factors first, then tiles from the outermost bounded memory inward, each shrunk until it fits.

    Where not even the tile of one array step fits a memory, the array is used in part: its axes are halved in turn.
    ``local``: dimensions that the memory of each PE takes as much of as fits (of the others one), instead of a square.
    """
    rooms = dict(grid(chip)[1])
    while True:
        draft = _drafted(chip, operator, across, stationary, order, streamed, local, rooms)
        if not _narrow(draft, rooms):
            return draft.mapping(name)


def _narrow(draft: _Draft, rooms: dict[str, int]) -> bool:
    """Halve the widest axis that a tensor too large for its memory is spread over; False if all fits or none is left."""
    usage = next((found for place in range(1, draft.array) if (found := _overfull(draft, place)) is not None), None)
    if usage is None:
        return False
    spatial = draft.spatial[grid(draft.chip)[0]]
    for name in sorted(usage, key=lambda key: -usage[key]):
        dims = draft.operator.tensor(name).dims
        used = {axis: prod(factor for _, factor in factors) for axis, factors in spatial.items()
                if any(dim in dims for dim, _ in factors)}
        axis = max(used, key=lambda one: used[one], default=None)
        if axis is not None and used[axis] > 1:
            rooms[axis] = used[axis] // 2
            return True
    return False


def _drafted(chip: Chip, operator: Operator, across: dict[str, tuple[str, ...]], stationary: Tensor | None,
             order: tuple[str, ...], streamed: tuple[str, ...], local: tuple[str, ...] | None,
             rooms: dict[str, int]) -> _Draft:
    """The mapping with at most ``rooms`` PEs along each axis."""
    entries = len(chip.levels) + 1
    array = len(chip.levels)
    entry, axes = grid(chip)
    draft = _Draft(chip, operator, [dict(operator.dims)] + [{} for _ in range(entries - 1)],
                   [{} for _ in range(entries)], [order] * entries, stationary)
    taken: Tile = {}
    for axis, _ in axes:
        # a matrix unit's axes are dimensions by themselves
        own = (axis,) if axis in operator.dims else ()
        draft.spatial[entry][axis] = _spread(operator, across.get(axis, own), rooms[axis], taken)
    _cores(draft, entry, taken)
    for place in range(array, 0, -1):
        draft.tiles[place] = {dim: draft.inner(place, dim) for dim in operator.dims}
    if local is not None and 0 < entry + 1 < array:
        _grow_local(draft, entry + 1, local)
        draft.orders[:entry] = [_finishing(operator, order)] * entry
    else:
        for place in range(1, array):
            if place == array - 1 and entry == array and stationary is not None and _apart(chip):
                _grow_tall(draft, place, draft.tiles[place - 1], streamed)
            else:
                _grow(draft, place, draft.tiles[place - 1])
    if entry == array and stationary is not None:
        # one pass of the array streams the whole tile past the stationary one; outside it results are finished first
        outer = draft.tiles[array - 1]
        for dim in streamed:
            draft.tiles[array][dim] = ceil(outer[dim] / draft.parallel(array - 1, dim)) if array else 1
        draft.orders[:array - 1] = [_finishing(operator, order)] * (array - 1)
    return draft


def _finishing(operator: Operator, order: tuple[str, ...]) -> tuple[str, ...]:
    """The order with the reduction inside everything else, so that results are finished before the next begin."""
    return (*(dim for dim in order if dim in operator.output.dims), *(dim for dim in order if dim not in operator.output.dims))


def _cores(draft: _Draft, grid: int, taken: Tile) -> None:
    """Instances that are not the grid share columns, then rows: neither needs a reduction across them."""
    parts = Parts.of(draft.operator)
    for entry in range(len(draft.chip.levels)):
        for axis, count in draft.chip.fanout(entry + 1):
            if entry != grid and axis not in draft.spatial[entry]:
                draft.spatial[entry][axis] = _spread(draft.operator, (*parts.columns, *parts.batch, *parts.rows), count,
                                                     taken)


def _grow_local(draft: _Draft, entry: int, local: tuple[str, ...]) -> None:
    """PE memories first, as much of the ``local`` dimensions as fits; then the levels above, shrinking them if need be."""
    inside = {dim: draft.inner(entry, dim) for dim in draft.operator.dims}
    draft.tiles[entry] = {dim: max(inside[dim], ceil(extent / draft.parallel(entry - 1, dim))) if dim in local else inside[dim]
                          for dim, extent in draft.operator.dims.items()}
    while (usage := _overfull(draft, entry)) is not None:
        if not _shrink(draft, entry, usage, inside, local[-1]):
            break
    while True:
        for place in range(entry - 1, 0, -1):
            draft.tiles[place] = {dim: draft.inner(place, dim) for dim in draft.operator.dims}
        tight = next((usage for place in range(1, entry) if (usage := _overfull(draft, place)) is not None), None)
        if tight is None or not _shrink(draft, entry, tight, inside, local[-1]):
            break
    for place in range(1, entry):
        _grow(draft, place, draft.tiles[place - 1])


def _grow(draft: _Draft, entry: int, outer: Tile) -> None:
    """The tile of a memory level: square at sqrt(C / tensors held), aligned to what is inside it, within its parent."""
    operator, parts = draft.operator, Parts.of(draft.operator)
    side = _side(draft, entry)
    inside = {dim: draft.inner(entry, dim) for dim in operator.dims}
    tile = dict(inside)
    if side is None:
        tile = {dim: max(inside[dim], ceil(outer[dim] / draft.parallel(entry - 1, dim))) for dim in operator.dims}
    else:
        for group in (parts.batch, parts.rows, parts.columns, parts.reduction):
            room = side if group is not parts.batch else 1
            for dim in reversed(group):
                reach = ceil(outer[dim] / draft.parallel(entry - 1, dim) / inside[dim])
                wanted = max(1, min(reach, room // max(1, inside[dim])))
                tile[dim] = inside[dim] * wanted
                room = max(1, room // tile[dim])
    draft.tiles[entry] = tile
    while (usage := _overfull(draft, entry)) is not None:
        if not _shrink(draft, entry, usage, inside):
            break
    for above in range(entry - 1, 0, -1):
        # whole tiles of this level make up one of the level above, which was fitted without what a ragged last one adds
        while True:
            steps = _whole_steps(draft, above, entry)
            fitted = draft.tiles[above]
            if _overfull(draft, above, _whole(draft, above, steps)) is None:
                break
            whole = {dim: step * max(1, fitted[dim] // step) for dim, step in steps.items()}
            usage = _overfull(draft, above, whole)
            if usage is None or not _shrink(draft, entry, usage, inside):
                for place in range(entry - 1, above, -1):
                    draft.tiles[place] = _whole(draft, place, _whole_steps(draft, place, entry))
                draft.tiles[above] = whole
                break


def _whole(draft: _Draft, entry: int, steps: Tile) -> Tile:
    """The tile of a level, rounded up to whole steps."""
    return {dim: step * ceil(draft.tiles[entry][dim] / step) for dim, step in steps.items()}


def _whole_steps(draft: _Draft, above: int, entry: int) -> Tile:
    """What an iteration at a level takes, where the tiles between it and an inner level are whole ones of those further in."""
    below = draft.tiles[entry]
    for place in range(entry - 1, above - 1, -1):
        steps = {dim: below[dim] * draft.parallel(place, dim) for dim in below}
        below = _whole(draft, place, steps)
    return steps


def _apart(chip: Chip) -> bool:
    """Whether each pass of the array pays for its preload and its skew."""
    return chip.array.model is ArrayModel.SYSTOLIC and chip.array.buffers == 1


def _grow_tall(draft: _Draft, entry: int, outer: Tile, streamed: tuple[str, ...]) -> None:
    """The tile of a level over an array whose passes do not overlap: what streams by is as long as fits, so that passes are few.

    Windows that slide along it are whole; then columns, then the reduction, double while they fit and leave PIECES tiles, so
    that the first pass need not wait for all.
    """
    inside = {dim: draft.inner(entry, dim) for dim in draft.operator.dims}
    whole = {dim: below * ceil(outer[dim] / draft.parallel(entry - 1, dim) / below) for dim, below in inside.items()}
    slides = {dim for tensor in draft.operator.tensors for axis in tensor.axes if len(axis.dims) > 1 for dim in axis.dims}
    parts = Parts.of(draft.operator)
    tile = draft.tiles[entry] = {dim: whole[dim] if dim in streamed or dim in slides else below for dim, below in inside.items()}
    while (usage := _overfull(draft, entry)) is not None:
        longest = max(streamed, key=lambda dim: tile[dim] // inside[dim])
        if tile[longest] > inside[longest]:
            tile[longest] = inside[longest] * ceil(tile[longest] // inside[longest] / 2)
        elif not _shrink(draft, entry, usage, inside):
            return
    for dim in (*reversed(parts.columns), *reversed(parts.reduction)):
        while tile[dim] * PIECES <= whole[dim]:
            before = tile[dim]
            tile[dim] *= 2
            if _overfull(draft, entry) is not None:
                tile[dim] = before
                break


def _side(draft: _Draft, entry: int) -> int | None:
    """Side of the square tile; None where no memory of the level is bounded."""
    sides = []
    for memory in draft.chip.levels[entry].memories:
        held = [tensor for tensor in draft.operator.tensors if draft.chip.levels[entry].memory_of(tensor) is memory]
        if memory.capacity_bytes is None or not held:
            continue
        words = memory.capacity_bytes * 8 // max(_bits(draft.operator, tensor) for tensor in held)
        sides.append(isqrt(words // max(memory.default_buffers(tensor) for tensor in held) // len(held)))
    return max(1, *sides) if sides else None


def _bits(operator: Operator, tensor: Tensor) -> int:
    return operator.accumulator.bits if tensor.role is Role.OUTPUT else tensor.dtype.bits


def _tile_words(operator: Operator, tensor: Tensor, tile: Tile) -> int:
    """At most so many elements has a tensor's tile."""
    words = 1
    for axis in tensor.axes:
        points, reach = 1, 1
        for dim, coefficient in axis.form.terms:
            length = min(tile[dim], operator.dims[dim])
            points *= length
            reach += coefficient * (length - 1)
        words *= min(points, reach, axis.extent)
    return words


def _usage(draft: _Draft, entry: int, memory: object, tile: Tile) -> dict[str, int]:
    """Bytes that each tensor takes in a memory, all slots; homes hold whole tensors and are no matter of tiles."""
    level = draft.chip.levels[entry]
    found = {}
    for tensor in draft.operator.tensors:
        own = level.memory_of(tensor)
        at_home = all(outer.memory_of(tensor) is None for outer in draft.chip.levels[:entry])
        if own is memory and own is not None and not at_home:
            size = ceil(_tile_words(draft.operator, tensor, tile) * _bits(draft.operator, tensor) / 8)
            if own.banks is not None and own.capacity_bytes is not None:
                bank = max(1, own.capacity_bytes // own.banks)
                size = ceil(size / bank) * bank
            found[tensor.name] = size * own.default_buffers(tensor)
    return found


def _overfull(draft: _Draft, entry: int, tile: Tile | None = None) -> dict[str, int] | None:
    """What each tensor takes in a memory of the level that a tile (the drafted one) does not fit; None where it fits."""
    for memory in draft.chip.levels[entry].memories:
        usage = _usage(draft, entry, memory, draft.tiles[entry] if tile is None else tile)
        if memory.capacity_bytes is not None and sum(usage.values()) > memory.capacity_bytes:
            return usage
    return None


def _shrink(draft: _Draft, entry: int, usage: dict[str, int], inside: Tile, keep: str = "") -> bool:
    """Halve the longest dimension, in units of what is inside, of the largest tensor that still can shrink.

    ``keep``: a dimension that is cut only when no other can be.
    """
    tile = draft.tiles[entry]
    for name in sorted(usage, key=lambda key: -usage[key]):
        dims = sorted(draft.operator.tensor(name).dims, key=lambda dim: (dim == keep, -(tile[dim] // inside[dim]), dim))
        longest = next((dim for dim in dims if tile[dim] > inside[dim]), None)
        if longest is not None:
            tile[longest] = inside[longest] * ceil(tile[longest] // inside[longest] / 2)
            return True
    return False
