"""Numbers for what recurs: the kinds of loads and of steps, found in bulk by code, made when first met."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.codes import find_codes, put_code

Ints = NDArray[np.int64]


class CodeTable:
    """A map from codes (not below 0) to numbers that grows as codes are met."""

    def __init__(self) -> None:
        self._keys: Ints = np.full(64, -1, dtype=np.int64)
        self._values: Ints = np.zeros(64, dtype=np.int64)
        self._used = 0

    def numbers(self, codes: Ints, make: Callable[[int, int], int]) -> Ints:
        """The number of each code; ``make(place, code)`` gives that of a code at a place where it is first met."""
        codes = np.ascontiguousarray(codes)
        found = np.empty(len(codes), dtype=np.int64)
        if not find_codes(codes, self._keys, self._values, found):
            return found
        missing = np.flatnonzero(found < 0)
        _, places = np.unique(codes[missing], return_index=True)
        for place in np.sort(missing[places]).tolist():
            self._put(int(codes[place]), make(place, int(codes[place])))
        find_codes(codes, self._keys, self._values, found)
        return found

    def _put(self, code: int, value: int) -> None:
        if 2 * (self._used + 1) > len(self._keys):
            keys, values = self._keys, self._values
            self._keys, self._values = np.full(2 * len(keys), -1, dtype=np.int64), np.zeros(2 * len(keys), dtype=np.int64)
            for slot in np.flatnonzero(keys >= 0).tolist():
                put_code(int(keys[slot]), int(values[slot]), self._keys, self._values)
        self._used += put_code(code, value, self._keys, self._values)
