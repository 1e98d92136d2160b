"""Matrix products on a GPU: CTA tiles dealt to the cores in waves, their operands in pieces of the reduction.

The tile is taken whose waves are over first, be they bound by the matrix units or by a core's share of the bytes that come in;
the larger one where two are equal. Libraries choose so (CUTLASS, Efficient GEMM in CUDA: tiles trade reuse for parallelism).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil, prod
from typing import NamedTuple

from accelsim.spec.chip import Access, ArrayModel, Chip
from accelsim.spec.mapping import Loop, Mapping, MappingLevel
from accelsim.spec.operator import Operator, Role
from accelsim.spec.tiling import Parts

NAME = "cta-tiles"
SIDES = (256, 128, 64, 32, 16)
"""Rows or columns of a tile; those of CUTLASS' kernels."""
LARGEST = 256 * 128
"""Results of a tile, at most: more accumulators than that leave no registers for a second operand."""
SHARED = 128 * 128
"""Tiles up to this size leave room for a second one in a core, whose work goes on while the results of the first leave."""
PIECES = (64, 32, 16)
"""Words of the reduction that are loaded at a time."""


class Tile(NamedTuple):
    """Rows, columns and piece of the reduction of a CTA tile."""

    rows: int
    columns: int
    piece: int


def check(chip: Chip, operator: Operator) -> str:
    """Why the dataflow cannot be written; empty where it can."""
    if chip.array.model is not ArrayModel.MATRIX or len(chip.array.pes) != 3 or len(chip.levels) != 2:
        return "needs cores with matrix units of three extents (m, n, k) under one memory"
    if not any(count > 1 for _, count in chip.levels[1].fanout):
        return "needs several cores"
    parts = Parts.of(operator)
    if (len(parts.rows), len(parts.columns), len(parts.reduction)) != (1, 1, 1):
        return "needs a matrix product: one dimension each for rows, columns and the reduction"
    if not _tiles(chip, operator):
        return "no tile of operands fits a core"
    return ""


def write(chip: Chip, operator: Operator) -> Mapping:
    """The mapping with the best tile. Lists of tiles are dealt where the tile divides the product, else rows and columns."""
    tile = min(_tiles(chip, operator), key=lambda one: (_work(chip, operator, one), -one.rows * one.columns, -one.rows))
    return mapping_of(chip, operator, tile)


def mapping_of(chip: Chip, operator: Operator, tile: Tile, splits: int = 1) -> Mapping:
    """The mapping with these tiles; ``splits``: as many cores share the reduction of one (split-K), adding up at home."""
    parts, array = Parts.of(operator), chip.array
    (row,), (column,), (reduction,) = parts.rows, parts.columns, parts.reduction
    dims, native = operator.dims, tuple(count for _, count in array.pes)
    (axis, cores), *_ = [fan for fan in chip.levels[1].fanout if fan[1] > 1]
    down, across = ceil(dims[row] / tile.rows), ceil(dims[column] / tile.columns)
    batch = tuple(Loop((dim,), dims[dim]) for dim in parts.batch)
    pieces = Loop((reduction,), ceil(ceil(dims[reduction] / splits) / tile.piece))
    share = cores // splits
    if _divides(operator, tile):
        tiles = (column, row)  # neighbours down a column share its operands
        waves: tuple[Loop, ...] = (Loop(tiles, ceil(down * across / share)),)
        spread: tuple[Loop, ...] = (Loop(tiles, share),)
    else:
        beside = min(across, share)
        below = min(down, share // beside)
        waves = (Loop((row,), ceil(down / below)), Loop((column,), ceil(across / beside)))
        spread = (Loop((column,), beside), Loop((row,), below))
    if splits > 1:
        spread = (*spread, Loop((reduction,), splits))
    units = _units(chip, tile)
    inner = (Loop((row,), ceil(tile.rows / units[0] / native[0])), Loop((column,), ceil(tile.columns / units[1] / native[1])),
             Loop((reduction,), ceil(tile.piece / native[2])))
    below_core = tuple((name, (Loop((row,), units[0]), Loop((column,), units[1]))) for name, _ in array.fanout[:1])
    step = tuple((name, (Loop((dim,), extent),)) for (name, extent), dim in
                 zip(array.pes, (row, column, reduction), strict=True))
    slots = ((operator.output.name, 2 if tile.rows * tile.columns <= SHARED and _sums_fit(chip, operator, tile) else 1),)
    return Mapping((MappingLevel(chip.levels[0].name, (*batch, *waves, pieces), ((axis, spread),)),
                    MappingLevel(chip.levels[1].name, inner, below_core, None, slots),
                    MappingLevel(array.name, (), step)), NAME)


def _units(chip: Chip, tile: Tile) -> tuple[int, int]:
    """How the matrix units of a core share a tile: two down if its rows allow it, the others across."""
    units = prod(count for _, count in chip.array.fanout)
    down = 2 if units % 2 == 0 and tile.rows >= 2 * chip.array.pes[0][1] else 1
    return down, units // down


def _tiles(chip: Chip, operator: Operator) -> list[Tile]:
    """Tiles no larger than the product whose operands fit a core's memory, the longest piece that does for each."""
    parts, dims = Parts.of(operator), operator.dims
    rows, columns = dims[parts.rows[0]], dims[parts.columns[0]]
    found: list[Tile] = []
    for down, across in product(SIDES, SIDES):
        if down * across > LARGEST or (down > max(rows, SIDES[-1])) or (across > max(columns, 2 * SIDES[-1])):
            continue
        piece = next((piece for piece in PIECES if _operands_fit(chip, operator, Tile(down, across, piece))), None)
        if piece is not None and _sums_fit(chip, operator, Tile(down, across, piece), 1):
            found.append(Tile(down, across, piece))
    whole = [tile for tile in found if _divides(operator, tile)]
    return whole or found


def _divides(operator: Operator, tile: Tile) -> bool:
    parts, dims = Parts.of(operator), operator.dims
    return dims[parts.rows[0]] % tile.rows == 0 and dims[parts.columns[0]] % tile.columns == 0


def _work(chip: Chip, operator: Operator, tile: Tile) -> Fraction:
    """Cycles of all waves for each word of the reduction."""
    parts, dims, array, cores = Parts.of(operator), operator.dims, chip.array, chip.levels[1].instances
    tiles = ceil(dims[parts.rows[0]] / tile.rows) * ceil(dims[parts.columns[0]] / tile.columns)
    rate = Fraction(array.pe_count * prod(count for _, count in array.fanout),
                    array.interval_cycles((parts.input.dtype, parts.weight.dtype)))
    compute = tile.rows * tile.columns / rate
    links = chip.links_between(chip.levels[0].name, chip.levels[1].name, Access.FILL, parts.weight)
    shared = min((link.rate for link in links if link.rate is not None), default=None)
    size = Fraction(tile.rows * parts.input.dtype.bits + tile.columns * parts.weight.dtype.bits, 8)
    return ceil(tiles / cores) * (compute if shared is None else max(compute, size * cores / shared))


def _operands_fit(chip: Chip, operator: Operator, tile: Tile) -> bool:
    needed: dict[str, int] = {}
    parts = Parts.of(operator)
    for tensor, length in ((parts.input, tile.rows), (parts.weight, tile.columns)):
        memory = chip.levels[1].memory_of(tensor)
        if memory is None or memory.capacity_bytes is None:
            continue
        size = length * tile.piece * tensor.dtype.bits // 8 * memory.default_buffers(tensor)
        needed[memory.name] = needed.get(memory.name, 0) + size
        if needed[memory.name] > memory.capacity_bytes:
            return False
    return True


def _sums_fit(chip: Chip, operator: Operator, tile: Tile, slots: int = 2) -> bool:
    output = next(tensor for tensor in operator.tensors if tensor.role is Role.OUTPUT)
    memory = chip.levels[1].memory_of(output)
    size = tile.rows * tile.columns * operator.accumulator.bits // 8 * slots
    return memory is not None and (memory.capacity_bytes is None or size <= memory.capacity_bytes)
