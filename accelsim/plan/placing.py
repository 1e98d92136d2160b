"""Where the elements of a tile lie in a banked memory: from their places, row-major in the tile, to words."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from accelsim.spec.banks import Banks, Layout, LayoutKind

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Placing:
    """A layout for a tile of ``counts`` elements along its axes, of ``bits`` each; words are counted from the tile's first.

    Row, column, blocked: elements stand close, in the order of the layout: the last axis fastest, the first axis fastest, or
    blocks of rows and columns (rows run along the last axis) that are row-major, and so are their elements; those at the edge
    are whole. Padded: each row begins with a word and has so many words more. Swizzled: with words counted
    in grains (the words of one bank in a row), rows are P grains apart, their length rounded up to a power of two below the
    number of banks B, else to a multiple of B; grain g then stands in place of g XOR (floor(g / S) mod B), S the larger of B
    and the largest power of two that divides P. That is one to one within each B grains; an aligned B grains of a row lie in B
    banks, and so does a column of B rows (where P < B: each run of B rows from a multiple of B).
    """

    layout: Layout
    banks: Banks
    counts: tuple[int, ...]
    bits: int

    @property
    def columns(self) -> int:
        """Elements of a row."""
        return self.counts[-1] if self.counts else 1

    @property
    def rows(self) -> int:
        """Rows: all axes but the last."""
        return prod(self.counts[:-1])

    @property
    def word_bits(self) -> int:
        """Bits of a word."""
        return 8 * self.banks.width_bytes

    @property
    def row_words(self) -> int:
        """Words that a row of elements takes if it begins with one."""
        return -(-self.columns * self.bits // self.word_bits)

    @property
    def pitch_grains(self) -> int:
        """Swizzled: grains from one row to the next."""
        grains, count = -(-self.row_words // self.banks.grain_words), self.banks.count
        return 1 << (grains - 1).bit_length() if grains < count else -(-grains // count) * count

    @property
    def size_words(self) -> int:
        """Words that the tile takes."""
        kind, (high, wide) = self.layout.kind, self.layout.block
        if kind is LayoutKind.SWIZZLED:
            grains = self.rows * self.pitch_grains
            return -(-grains // self.banks.count) * self.banks.count * self.banks.grain_words
        if kind is LayoutKind.PADDED:
            return self.rows * (self.row_words + self.layout.pad_words)
        blocked = kind is LayoutKind.BLOCKED
        elements = -(-self.rows // high) * high * -(-self.columns // wide) * wide if blocked else self.rows * self.columns
        return -(-elements * self.bits // self.word_bits)

    @property
    def words_each(self) -> int:
        """Words that an element lies in at the most."""
        aligned = max(self.bits, self.word_bits) % min(self.bits, self.word_bits) == 0
        return (self.bits - 1) // self.word_bits + (1 if aligned else 2)

    def words(self, places: Ints) -> Ints:
        """The words that each element lies in, int64[n, words_each], some more than once; ``places``: row-major in the tile."""
        if not len(places):  # of an empty tile, which has no rows
            return np.zeros((0, self.words_each), dtype=np.int64)
        first = self._bits(places)
        last = (first + self.bits - 1) // self.word_bits
        words = np.minimum(first[:, None] // self.word_bits + np.arange(self.words_each), last[:, None])
        return self._swizzled(words) if self.layout.kind is LayoutKind.SWIZZLED else words

    def _bits(self, places: Ints) -> Ints:
        kind = self.layout.kind
        if kind is LayoutKind.ROW:
            return places * self.bits
        if kind is LayoutKind.COLUMN:
            return self._first_fastest(places) * self.bits
        row, column = places // self.columns, places % self.columns
        if kind is LayoutKind.BLOCKED:
            high, wide = self.layout.block
            block = row // high * -(-self.columns // wide) + column // wide
            return ((block * high + row % high) * wide + column % wide) * self.bits
        grains = self.pitch_grains * self.banks.grain_words
        pitch = grains if kind is LayoutKind.SWIZZLED else self.row_words + self.layout.pad_words
        return row * pitch * self.word_bits + column * self.bits

    def _first_fastest(self, places: Ints) -> Ints:
        found, rest, stride = np.zeros_like(places), places, self.rows * self.columns
        for count in reversed(self.counts):
            stride //= count
            found, rest = found + rest % count * stride, rest // count
        return found

    def _swizzled(self, words: Ints) -> Ints:
        grain, count, pitch = words // self.banks.grain_words, self.banks.count, self.pitch_grains
        step = max(count, pitch & -pitch)
        turned = grain ^ (grain // step % count)
        return turned * self.banks.grain_words + words % self.banks.grain_words
