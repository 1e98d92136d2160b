"""Where what is moved lies in a memory: the byte runs of a tile that are not in the tile before, or one piece for each tile.

Row-major tensors lie one behind another in the operator's order, each from a page's beginning on. An output has room for
partial sums; elements lie as densely as they are wide when they are moved.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from accelsim.plan.images import IndexSet, Tile
from accelsim.plan.walk import Numbers, radix

Ints = NDArray[np.int64]
PAGE_BYTES = 4096
BLOCK_BYTES = 64
"""Tiles that lie in one piece begin at such a boundary: a burst of most technologies."""

_Runs = tuple[Ints, Ints]
"""Where runs begin and how long they are, ascending: int64[n] each."""


class Places:
    """The places of one tensor's tiles at one entry. ``base``: the byte at which the tensor begins."""

    def __init__(self, numbers: Numbers[IndexSet], base: int) -> None:
        self._numbers = numbers
        self._base = base
        self._radix = radix(numbers).tolist()
        self._runs = Stretches()

    def byte_runs(self, tile: int, held: int, bits: int) -> _Runs:
        """Byte runs of what a tile has that another has not, each by its number (-1: nothing), where elements have a width.

        Runs that touch are one; runs of narrow elements may share their first byte with the one before.
        """
        starts, lengths = self._runs.of(self._tile(tile), self._tile(held) if held >= 0 else None)
        first = starts * bits // 8
        return first + self._base, -(-(starts + lengths) * bits // 8) - first

    def _tile(self, number: int) -> Tile:
        numbers = []
        for weight in reversed(self._radix):
            digit, number = divmod(number, weight)
            numbers.append(digit)
        return self._numbers.tile(numbers[::-1])


class Stretches:
    """The contiguous runs of tiles in a row-major tensor; sets that were met are remembered."""

    def __init__(self) -> None:
        self._met: dict[tuple[int, int, bool], tuple[_Runs, IndexSet, IndexSet | None]] = {}

    def of(self, now: Tile, held: Tile | None) -> _Runs:
        """Runs of elements that a tile has and another (None: there is none) has not."""
        if held is not None:
            return self._rest(now, held)
        return self._product([self._axis(one, None, 0) for one in now], now)

    def _rest(self, now: Tile, held: Tile) -> _Runs:
        """The tile without the held one: new along the first axis; or held along it, and new along the second; and so on."""
        pieces = []
        for axis in range(len(now)):
            ranges = [self._axis(one, before, 1) for one, before in zip(now[:axis], held, strict=False)]
            ranges.append(self._axis(now[axis], held[axis], -1))
            ranges += [self._axis(one, None, 0) for one in now[axis + 1:]]
            pieces.append(self._product(ranges, now))
        starts, lengths = (np.concatenate(part) for part in zip(*pieces, strict=True))
        order = np.argsort(starts, kind="stable")
        return _joined(starts[order], lengths[order])

    def _axis(self, one: IndexSet, other: IndexSet | None, side: int) -> _Runs:
        """Runs of a set's indices: all (0), those in another set as well (1), or those that are not (-1)."""
        key = id(one), id(other), side > 0
        found = self._met.get(key)
        if found is None:
            mask = one.mask
            if other is not None:
                mask &= other.mask if side > 0 else ~other.mask
            found = self._met[key] = stretches(mask), one, other  # kept, so that their names stay theirs
        return found[0]

    @staticmethod
    def _product(ranges: Sequence[_Runs], tile: Tile) -> _Runs:
        """Runs of the elements whose indices are in the ranges, an axis each."""
        starts, lengths = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)
        block = 1
        for (firsts, counts), axis in zip(reversed(ranges), reversed(tile), strict=True):
            if len(starts) == 1 and lengths[0] == block:
                starts, lengths = firsts * block, counts * block
            else:
                indices = np.repeat(firsts - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts) + np.arange(counts.sum())
                starts = np.add.outer(indices * block, starts).ravel()
                lengths = np.tile(lengths, len(indices))
            block *= axis.extent
        return _joined(starts, lengths)


class Blocks:
    """A memory in which each tile lies in one piece, one behind another in the order in which they are first moved."""

    def __init__(self) -> None:
        self._places: dict[tuple[int, int], tuple[int, int]] = {}
        self._end = 0

    def block(self, tile: tuple[int, int], size_bytes: int) -> int:
        """Where a tile (its tensor's number and its own) begins, of which so many bytes move; a longer one moves further on."""
        place, room = self._places.get(tile, (0, 0))
        if size_bytes > room:
            place = self._end
            self._end += -(-size_bytes // BLOCK_BYTES) * BLOCK_BYTES
            self._places[tile] = place, size_bytes
        return place


def tensor_bases(elements: Sequence[int], bits: Sequence[int]) -> list[int]:
    """Where tensors of so many elements of a width begin that lie one behind another."""
    sizes = [-(-count * width // (8 * PAGE_BYTES)) * PAGE_BYTES for count, width in zip(elements, bits, strict=True)]
    return [sum(sizes[:i]) for i in range(len(sizes))]


def stretches(mask: int) -> _Runs:
    """The runs of ones in a mask."""
    firsts: list[int] = []
    counts: list[int] = []
    place = 0
    while mask:
        blank = (mask & -mask).bit_length() - 1
        mask >>= blank
        count = (~mask & (mask + 1)).bit_length() - 1
        mask >>= count
        firsts.append(place + blank)
        counts.append(count)
        place += blank + count
    return np.array(firsts, dtype=np.int64), np.array(counts, dtype=np.int64)


def bridged(tile: Tile, held: Tile | None, most: int) -> dict[int, int]:
    """Lengths of the runs of a tile's elements that are not in ``held``, with how often each occurs, where gaps of at most so
    many elements between them are none.
    """
    starts, lengths = Stretches().of(tile, held)
    if not len(starts):
        return {}
    ends = starts + lengths
    apart = np.flatnonzero(starts[1:] - ends[:-1] > most)
    whole = np.append(ends[apart], ends[-1]) - starts[np.append(0, apart + 1)]
    return {int(length): int(count) for length, count in zip(*np.unique(whole, return_counts=True), strict=True)}


def _joined(starts: Ints, lengths: Ints) -> _Runs:
    """Ascending runs, those that touch made one."""
    if len(starts) < 2:
        return starts, lengths
    apart = np.flatnonzero(starts[1:] != starts[:-1] + lengths[:-1]) + 1
    begins = np.concatenate([[0], apart])
    return starts[begins], np.add.reduceat(lengths, begins)
