"""Gemmini: matrix products in RTL, with the tiles of its library's tiled_matmul_auto."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import isqrt

from accelsim.compare.checks import Part, Row
from accelsim.compare.references import table
from accelsim.compare.running import covering, loops, read_case, run
from accelsim.spec.mapping import Mapping, MappingLevel

NAME = "silicon/gemmini"
BLOCK, SUMS, OPERANDS, MVIN = 16, 32, 512, 4
"""Rows of a block; blocks in half of the accumulator and of the scratchpad; blocks that one mvin brings."""


def tiles(m: int, n: int, k: int) -> tuple[int, int, int]:
    """Blocks of a tile: square in the accumulator at first, then columns, rows and reduction in turn while they fit."""
    rows, columns, depth = covering(m, BLOCK), covering(n, BLOCK), covering(k, BLOCK)
    i, j, d = min(rows, isqrt(SUMS)), min(columns, isqrt(SUMS)), min(depth, OPERANDS // isqrt(SUMS))
    grew = True
    while grew:
        grew = False
        if j < columns and i * (j + 1) <= SUMS and (i + j + 1) * d <= OPERANDS:
            j, grew = j + 1, True
        if i < rows and (i + 1) * j <= SUMS and (i + 1 + j) * d <= OPERANDS:
            i, grew = i + 1, True
        if d < depth and (i + j) * (d + 1) <= OPERANDS:
            d, grew = d + 1, True
    return i, j, d


def mapping(m: int, n: int, k: int) -> Mapping:
    """A tile's operands come four blocks of the reduction at a time, as one mvin brings them; two tiles have room."""
    i, j, d = tiles(m, n, k)
    piece = min(MVIN, d)
    slots = 2 * covering(d, piece)
    return Mapping((
        MappingLevel("DRAM", loops(f"m:{covering(m, BLOCK * i)} n:{covering(n, BLOCK * j)} k:{covering(k, BLOCK * piece)}")),
        MappingLevel("ONCHIP", loops(f"k:{piece} n:{j} m:{i}"), (), None, (("A", slots), ("B", slots), ("C", 2))),
        MappingLevel("PE", loops(f"m:{BLOCK}"), (("x", loops(f"n:{BLOCK}")), ("y", loops(f"k:{BLOCK}"))), ("B",))))


def compare(told: dict[str, str]) -> Iterator[Row]:
    """A row of the table and what comes of it here."""
    m, k, n = (int(told[name]) for name in "mkn")
    ran = run(read_case("gemmini", f"gemm:m={m},n={n},k={k},dtype=int8", mapping(m, n, k)))
    yield Row("products", f"{m}x{k}x{n}", ran.cycles, int(told["cycles"]))


def parts() -> Sequence[Part]:
    """Every row."""
    return [partial(compare, told) for told in table(NAME)]
