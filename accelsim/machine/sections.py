"""The one array of a compiled run: sections that can be enlarged, and pools whose free records hang together."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels import event_layout as at

Ints = NDArray[np.int64]


class Sections:
    """One array of integers: the head, then sections. ``head``: the sections' place in the head -> their length."""

    def __init__(self, lengths: Mapping[int, int]) -> None:
        self.lengths = dict(lengths)
        self.data: Ints = np.zeros(at.HEAD + sum(lengths.values()), dtype=np.int64)
        self._used: dict[int, int] = {}
        self._settle()

    def take(self, base: int, length: int) -> int:
        """So much more of a section that is used from its beginning on; where it begins there. It doubles when it is full."""
        place = self._used.get(base, 0)
        if place + length > self.lengths[base]:
            self.enlarge({base: 2 * (place + length)})
        self._used[base] = place + length
        return place

    def _settle(self) -> None:
        place = at.HEAD
        for base, length in self.lengths.items():
            self.data[base] = place
            place += length

    def of(self, base: int) -> Ints:
        """A section, to be read and written."""
        place = int(self.data[base])
        return self.data[place:place + self.lengths[base]]

    def table(self, base: int, width: int) -> Ints:
        """A section as rows, to be read and written; what is left over for less than a row is left out."""
        section = self.of(base)
        return section[:len(section) // width * width].reshape(-1, width)

    def enlarge(self, lengths: Mapping[int, int]) -> None:
        """Give sections these lengths, all of which are longer than before; what they hold stays, what is new is 0."""
        held = {base: self.of(base) for base in self.lengths}
        head = self.data[:at.HEAD]
        self.lengths |= lengths
        self.data = np.zeros(at.HEAD + sum(self.lengths.values()), dtype=np.int64)
        self.data[:at.HEAD] = head
        self._settle()
        for base, values in held.items():
            self.of(base)[:len(values)] = values

    def free_records(self, base: int, width: int, link: int, first_free: int, free: int, before: int) -> None:
        """The records of a section behind the first ``before`` are new: free, each naming the next in its ``link``."""
        section = self.of(base).reshape(-1, width)
        records = len(section)
        section[before:, link] = np.arange(before + 1, records + 1)
        section[-1, link] = self.data[first_free]
        self.data[first_free] = before
        self.data[free] += records - before
