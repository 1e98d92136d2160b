"""Vectors of accesses to an SRAM, as one requester makes them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Accesses:
    """What one requester asks for, in order. ``gaps``: int64[v], cycles from the start of the vector before (for the first: from
    cycle 0) to this one's at the least, 1 and more behind the first. ``vectors``: int64[n], the vector of each access, ascending.
    ``words``: int64[n]. ``writes``: bool[n]. Each vector has an access.
    """

    name: str
    gaps: Ints
    vectors: Ints
    words: Ints
    writes: Flags

    @property
    def cycles(self) -> int:
        """Cycles without a conflict: each vector is served in its first."""
        return int(self.gaps.sum()) + 1 if len(self.gaps) else 0


def in_order(name: str, cycles: Ints, words: Ints, writes: Flags) -> Accesses:
    """What is asked for in each cycle is a vector: ``cycles``, ``words``, ``writes`` of each access, in any order."""
    order = np.argsort(cycles, kind="stable")
    begun, vectors = np.unique(cycles[order], return_inverse=True)
    return Accesses(name, np.diff(begun, prepend=0), vectors.astype(np.int64), words[order], writes[order])
