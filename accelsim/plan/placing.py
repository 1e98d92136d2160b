"""Where the elements of a tile lie in a banked memory: from their places, row-major in the tile, to words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.spec.banks import Laid, LayoutKind

Ints = NDArray[np.int64]


class Placing(Laid):
    """A layout for a tile, and the words of its elements, counted from the tile's first."""

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
