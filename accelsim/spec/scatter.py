"""Numbers without a pattern, the same everywhere: splitmix64 (Steele, Lea, Flood, OOPSLA 2014)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

STEP = np.uint64(0x9E3779B97F4A7C15)
"""From one counter to the next."""


def mixed(counters: Words) -> Words:
    """A number for each counter, uint64[n]."""
    z = (counters ^ (counters >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
