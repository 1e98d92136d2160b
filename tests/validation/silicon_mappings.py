"""The software side of the silicon comparisons: how each machine's library or compiler tiles an operator, as a mapping file.

Every rule is a function of the shape alone, so that a row added to a table of cases needs nothing else. Where the rule is not
public (XLA), tiles are searched by the estimate; what is assumed stands in the folder's README.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import isqrt
from typing import NamedTuple

from accelsim.analytic.estimate import estimate
from accelsim.errors import AccelsimError
from accelsim.spec.build import make_case
from accelsim.spec.chip import Chip
from accelsim.spec.mapping import Loop, Mapping, MappingLevel
from accelsim.spec.operator import Operator

Loops = tuple[Loop, ...]


def loops(text: str) -> Loops:
    """`k2 c,r:4`: loops over one dimension, or over a flattened list."""
    found = []
    for word in text.split():
        dims, _, bound = word.rpartition(":")
        found.append(Loop(tuple(dims.split(",")), int(bound)))
    return tuple(found)


def parts(extent: int, size: int) -> int:
    """So many tiles of a size cover an extent."""
    return -(-extent // size)


def halves(extent: int, least: int) -> list[int]:
    """The extent, halved again and again down to `least`."""
    found = []
    while extent > least:
        found.append(extent)
        extent = parts(extent, 2)
    return [*found, extent]


# -- TPU v3: whole columns of rows past each weight tile, the sizes by search ----------------------------------------------


def v3_gemm(m: int, n: int, k: int) -> Iterator[Mapping]:
    for rows, columns, depth in product(halves(m, 128), halves(n, 256), halves(k, 128)):
        yield Mapping((
            MappingLevel("HBM", loops(f"m:{parts(m, rows)} n:{parts(n, columns)} k:{parts(k, depth)}")),
            MappingLevel("VMEM", loops(f"n:{parts(columns, 256)} k:{parts(depth, 128)}"), (("x", loops("n:2")),)),
            MappingLevel("MXU", loops(f"m:{rows}"), (("x", loops("n:128")), ("y", loops("k:128"))), ("B",))))


def v3_conv(d: dict[str, int]) -> Iterator[Mapping]:
    """One filter tap a pass: XLA lays features out along the 128 lanes, so taps do not share rows of the array."""
    for images, rows, kernels, channels, split in product(halves(d["n"], 1), halves(d["p"], 1), halves(d["k"], 128),
                                                          halves(d["c"], 128), "nk"):
        inner = parts(images, 2) if split == "n" else images
        columns = parts(kernels, 256 if split == "k" else 128)
        yield Mapping((
            MappingLevel("HBM", loops(f"n:{parts(d['n'], images)} p:{parts(d['p'], rows)} k:{parts(d['k'], kernels)} "
                                      f"c:{parts(d['c'], channels)}")),
            MappingLevel("VMEM", loops(f"k:{columns} c:{parts(channels, 128)} r:{d['r']} s:{d['s']}"),
                         (("x", loops(f"{split}:2")),)),
            MappingLevel("MXU", loops(f"n:{inner} p:{rows} q:{d['q']}"),
                         (("x", loops(f"k:{min(128, d['k'])}")), ("y", loops(f"c:{min(128, d['c'])}"))), ("W",))))


def fastest(chip: Chip, operator: Operator, candidates: Iterator[Mapping]) -> Mapping:
    """Of those that are mappings and fit, the one with the fewest estimated cycles; the first of equals."""
    found: list[tuple[int, int, Mapping]] = []
    for order, mapping in enumerate(candidates):
        try:
            found.append((estimate(make_case(chip, operator, mapping)).cycles, order, mapping))
        except AccelsimError:
            continue
    return min(found, key=lambda one: one[:2])[2]


# -- TPU v6e: operands copied whole where they fit in half of vector memory, else in windows -------------------------------

V6E_SIDE, V6E_ARRAYS, V6E_VMEM, V6E_RESULTS = 256, 4, 128 << 20, 8 << 20


def v6e_gemm(m: int, n: int, k: int) -> Mapping:
    """bf16. A matrix times one vector is streamed whatever its size: XLA fuses it, without the copies."""
    across = min(V6E_ARRAYS, parts(n, V6E_SIDE))
    down = min(m, V6E_ARRAYS // across)
    columns, rows, depth = V6E_SIDE * across, m, k
    whole = m > 1 and 2 * (m * k + k * n) < V6E_VMEM // 2
    while 2 * 4 * rows * columns > V6E_RESULTS or (not whole and 2 * rows * k > V6E_VMEM // 2):
        rows = parts(rows, 2)
    while not whole and 2 * (2 * depth * columns + rows * k) > V6E_VMEM:
        depth = parts(depth, 2)
    windows = f"m:{parts(m, rows)} n:{parts(n, columns)}"
    outer, inner = ("", windows) if whole else (f"{windows} k:{parts(k, depth)}", "")
    return Mapping((
        MappingLevel("HBM", loops(outer)),
        MappingLevel("VMEM", loops(inner), (), None, (("A", 1), ("B", 1 if whole else 2))),
        MappingLevel("RESULTS", loops(f"k:{parts(depth, V6E_SIDE)}"), (("x", loops(f"n:{across} m:{down}")),)),
        MappingLevel("MXU", loops(f"m:{parts(rows, down)}"),
                     (("x", loops(f"n:{V6E_SIDE}")), ("y", loops(f"k:{V6E_SIDE}"))), ("B",))))


# -- Gemmini: tiled_matmul_auto --------------------------------------------------------------------------------------------

BLOCK, SUMS, OPERANDS, MVIN = 16, 32, 512, 4
"""Rows of a block; blocks in half of the accumulator and of the scratchpad; blocks that one mvin brings."""


def gemmini_tiles(m: int, n: int, k: int) -> tuple[int, int, int]:
    """Blocks of a tile: square in the accumulator at first, then columns, rows and reduction in turn while they fit."""
    rows, columns, depth = parts(m, BLOCK), parts(n, BLOCK), parts(k, BLOCK)
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


def gemmini_gemm(m: int, n: int, k: int) -> Mapping:
    """A tile's operands come four blocks of the reduction at a time, as one mvin brings them; two tiles have room."""
    i, j, d = gemmini_tiles(m, n, k)
    piece = min(MVIN, d)
    slots = 2 * parts(d, piece)
    return Mapping((
        MappingLevel("DRAM", loops(f"m:{parts(m, BLOCK * i)} n:{parts(n, BLOCK * j)} k:{parts(k, BLOCK * piece)}")),
        MappingLevel("ONCHIP", loops(f"k:{piece} n:{j} m:{i}"), (), None, (("A", slots), ("B", slots), ("C", 2))),
        MappingLevel("PE", loops(f"m:{BLOCK}"), (("x", loops(f"n:{BLOCK}")), ("y", loops(f"k:{BLOCK}"))), ("B",))))


# -- NVDLA: eight kernels after eight kernels, stripes of at most 16 positions -----------------------------------------------


class Axis(NamedTuple):
    """One axis of a layer: what of it the trace does not say is chosen so that the known output size results."""

    unread: int
    stride: int
    padding: int
    outputs: int


def nvdla_axis(extent: int, window: int, outputs: int, dilation: int) -> Axis | None:
    found = []
    for stride, padding in product(range(1, 5), range(2 * window - 1)):
        reach = (outputs - 1) * stride + (window - 1) * dilation + 1
        if 0 <= extent + padding - reach < stride:
            found.append(Axis(extent + padding - reach, stride, padding, outputs))
    return min(found, default=None)


def nvdla_shape(width: int, height: int, r: int, s: int, outputs: int, dilation: int) -> tuple[Axis, Axis]:
    """Width and height: least input left unread, strides most alike, then smallest strides and padding."""
    found = []
    for across in (one for one in range(1, outputs + 1) if outputs % one == 0):
        x, y = nvdla_axis(width, r, across, dilation), nvdla_axis(height, s, outputs // across, dilation)
        if x is not None and y is not None:
            found.append((x.unread + y.unread, abs(x.stride - y.stride), x.stride + y.stride, x.padding + y.padding, x, y))
    return min(found)[-2:]


def nvdla_conv(c: int, k: int, x: Axis, y: Axis, r: int, s: int) -> Mapping:
    across = parts(x.outputs, parts(x.outputs, 16))
    down = max(1, min(y.outputs, 16 // across))
    return Mapping((
        MappingLevel("DRAM", loops(f"k:{parts(k, 8)}")),
        MappingLevel("CBUF", loops(f"p:{parts(y.outputs, down)} q:{parts(x.outputs, across)}")),
        MappingLevel("CACC", loops(f"c:{parts(c, 8)} r:{s} s:{r}")),
        MappingLevel("MAC", loops(f"p:{down} q:{across}"), (("x", loops("k:8")), ("y", loops("c:8"))), ("W",))))
