"""Matrix products on a GPU: CTA tiles dealt to the cores in waves, their operands in pieces of the reduction.

The tile is taken whose waves are over first, be they bound by the matrix units, by a core's share of the bytes that come in, or
by the latency of a piece and the slots there are for pieces; the larger one where two are equal. Libraries choose so (CUTLASS,
Efficient GEMM in CUDA: tiles trade reuse for parallelism).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil, prod
from typing import NamedTuple

from accelsim.spec.chip import Access, ArrayModel, Chip
from accelsim.spec.mapping import Loop, Mapping, MappingLevel
from accelsim.spec.operator import Operator
from accelsim.spec.tiling import Parts

NAME = "cta-tiles"
SIDES = (256, 128, 64, 32, 16)
"""Rows or columns of a tile; those of CUTLASS' kernels."""
LARGEST = 256 * 128
"""Results of a tile, at most: more accumulators than that leave no registers for operands."""
SHARED = 128 * 128
"""Tiles up to this size leave room for a second one in a core, whose work goes on while the results of the first leave."""
PIECES = (64, 32, 16)
"""Words of the reduction that are loaded at a time."""


class Tile(NamedTuple):
    """Rows, columns and piece of the reduction of a CTA tile."""

    rows: int
    columns: int
    piece: int


class _Sides(NamedTuple):
    """The dimensions that tiles are cut along, the longest of each kind ("" where there is none), and the others."""

    row: str
    column: str
    reduction: str
    beside: tuple[str, ...]
    summed: tuple[str, ...]
    rows: int
    columns: int
    depth: int

    @staticmethod
    def of(operator: Operator) -> _Sides:
        parts, dims = Parts.of(operator), operator.dims
        row, column, reduction = (max(own, key=lambda dim: dims[dim], default="")
                                  for own in (parts.rows, parts.columns, parts.reduction))
        beside = tuple(dim for dim in (*parts.batch, *parts.rows, *parts.columns) if dim not in (row, column))
        summed = tuple(dim for dim in parts.reduction if dim != reduction)
        return _Sides(row, column, reduction, beside, summed, *(dims.get(dim, 1) for dim in (row, column, reduction)))


def check(chip: Chip, operator: Operator) -> str:
    """Why the dataflow cannot be written; empty where it can."""
    if chip.array.model is not ArrayModel.MATRIX or len(chip.array.pes) != 3 or len(chip.levels) != 2:
        return "needs cores with matrix units of three extents (m, n, k) under one memory"
    if not any(count > 1 for _, count in chip.levels[1].fanout):
        return "needs several cores"
    return "" if _tiles(chip, operator) else "no tile of operands and sums fits a core"


def write(chip: Chip, operator: Operator) -> Mapping:
    """The mapping with the best tile. Lists of tiles are dealt where the tile divides the product, else rows and columns."""
    sides = _Sides.of(operator)
    return mapping_of(chip, operator, min(_tiles(chip, operator), key=lambda tile: (
        _work(chip, operator, sides, tile), -tile.rows * tile.columns, -tile.rows)))


def mapping_of(chip: Chip, operator: Operator, tile: Tile, splits: int = 1) -> Mapping:
    """The mapping with these tiles; ``splits``: as many cores share the reduction of one (split-K), adding up at home."""
    sides, array = _Sides.of(operator), chip.array
    axis, cores = next(fan for fan in chip.levels[1].fanout if fan[1] > 1)
    share = cores // splits
    counts = {sides.column: ceil(sides.columns / tile.columns), sides.row: ceil(sides.rows / tile.rows),
              **{dim: operator.dims[dim] for dim in sides.beside}}
    if _divides(sides, tile) and sides.row and sides.column and not sides.beside:
        dealt = (sides.column, sides.row)  # neighbours down a column share its operands
        waves, spread = [Loop(dealt, ceil(prod(counts.values()) / share))], [Loop(dealt, share)]
    else:
        waves, spread = [], []
        for dim in (one for one in counts if one):
            spread.append(Loop((dim,), min(share, counts[dim])))
            waves.append(Loop((dim,), ceil(counts[dim] / min(share, counts[dim]))))
            share //= min(share, counts[dim])
    if splits > 1:
        spread.append(Loop((sides.reduction,), splits))
    summed = [Loop((dim,), operator.dims[dim]) for dim in sides.summed]
    pieces = _named([(sides.reduction, ceil(ceil(sides.depth / splits) / tile.piece))])
    (down, across), native = _units(chip, tile), [count for _, count in array.pes]
    inner = _named([(sides.row, ceil(tile.rows / down / native[0])), (sides.column, ceil(tile.columns / across / native[1])),
                    (sides.reduction, ceil(tile.piece / native[2]))])
    units = tuple((name, _named([(sides.row, down), (sides.column, across)])) for name, _ in array.fanout[:1])
    step = tuple((name, (Loop((dim,), extent),)) for (name, extent), dim in
                 zip(array.pes, (sides.row, sides.column, sides.reduction), strict=True) if dim)
    slots = ((operator.output.name, 2 if tile.rows * tile.columns <= SHARED and _sums_fit(chip, operator, tile, 2) else 1),)
    return Mapping((MappingLevel(chip.levels[0].name, (*waves, *summed, *pieces), ((axis, tuple(spread)),)),
                    MappingLevel(chip.levels[1].name, inner, units, None, slots),
                    MappingLevel(array.name, (), step)), NAME)


def _named(bounds: list[tuple[str, int]]) -> tuple[Loop, ...]:
    """Loops over the dimensions that there are."""
    return tuple(Loop((dim,), bound) for dim, bound in bounds if dim)


def _units(chip: Chip, tile: Tile) -> tuple[int, int]:
    """How the matrix units of a core share a tile: two down if its rows allow it, the others across."""
    units = prod(count for _, count in chip.array.fanout)
    down = 2 if units % 2 == 0 and tile.rows >= 2 * chip.array.pes[0][1] else 1
    return down, units // down


def _tiles(chip: Chip, operator: Operator) -> list[Tile]:
    """Tiles little larger than the product whose operands fit a core's memory, each with the longest piece that does.

    Those that divide the product, if any do: the last tile of a list would be another size else.
    """
    sides = _Sides.of(operator)
    found: list[Tile] = []
    for down, across in product(SIDES, SIDES):
        if down * across > LARGEST or down >= 2 * max(sides.rows, SIDES[-1]) or across >= 2 * max(sides.columns, SIDES[-1]):
            continue
        tiles = (Tile(down, across, piece) for piece in PIECES)
        tile = next((tile for tile in tiles if _operands_fit(chip, operator, tile)), None)
        if tile is not None and _sums_fit(chip, operator, tile, 1):
            found.append(tile)
    return [tile for tile in found if _divides(sides, tile)] or found


def _divides(sides: _Sides, tile: Tile) -> bool:
    return sides.rows % tile.rows == 0 and sides.columns % tile.columns == 0


def _work(chip: Chip, operator: Operator, sides: _Sides, tile: Tile) -> Fraction:
    """Cycles of all waves for each word of the reduction."""
    parts, array, cores = Parts.of(operator), chip.array, chip.levels[1].instances
    down, across = ceil(sides.rows / tile.rows), ceil(sides.columns / tile.columns)
    waves = ceil(down * across * prod(operator.dims[dim] for dim in sides.beside) / cores)
    rate = Fraction(array.pe_count * prod(count for _, count in array.fanout),
                    array.interval_cycles((parts.input.dtype, parts.weight.dtype)))
    links = chip.links_between(chip.levels[0].name, chip.levels[1].name, Access.FILL, parts.weight)
    words = parts.input.dtype.bits * tile.rows, parts.weight.dtype.bits * tile.columns
    bounds = [tile.rows * tile.columns / rate]
    bounds += [Fraction(sum(words) * cores, 8) / link.rate for link in links if link.rate is not None]
    home, own = chip.levels[0].memory_of(parts.weight), chip.levels[1].memory_of(parts.weight)
    assert home is not None, "checked: operands have a home"
    assert own is not None, "checked: operands have a place in a core"
    port = home.port(Access.FILL, parts.weight)
    if port is not None and port.rate is not None:
        # a wave stands in as few columns of tiles as hold it, and what is equal is read once
        rows, columns = min(cores, down), min(across, ceil(cores / down))
        bounds.append(Fraction(words[0] * rows + words[1] * columns, 8) / port.rate)
    latency = home.latency_cycles + own.latency_cycles + sum(link.latency_cycles for link in links)
    # a slot is filled, read and free again: no piece can be faster than that over the slots
    turn = (latency / Fraction(tile.piece) + sum(bounds)) / own.default_buffers(parts.weight)
    return waves * max(*bounds, turn)


def _operands_fit(chip: Chip, operator: Operator, tile: Tile) -> bool:
    """Operands of a piece, all their slots."""
    needed: dict[str, int] = {}
    parts = Parts.of(operator)
    for tensor, length in ((parts.input, tile.rows), (parts.weight, tile.columns)):
        memory = chip.levels[1].memory_of(tensor)
        if memory is None or chip.levels[0].memory_of(tensor) is None:
            return False
        size = length * tile.piece * tensor.dtype.bits // 8 * memory.default_buffers(tensor)
        needed[memory.name] = needed.get(memory.name, 0) + size
        if memory.capacity_bytes is not None and needed[memory.name] > memory.capacity_bytes:
            return False
    return True


def _sums_fit(chip: Chip, operator: Operator, tile: Tile, slots: int) -> bool:
    memory = chip.levels[1].memory_of(operator.output)
    size = tile.rows * tile.columns * operator.accumulator.bits // 8 * slots
    return memory is not None and (memory.capacity_bytes is None or size <= memory.capacity_bytes)
