"""Numbers for what recurs: the kinds of loads and of steps, found in bulk by code, made when first met."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.codes import find_codes, put_code

Ints = NDArray[np.int64]


class CodeTables:
    """Maps from codes (not below 0) to numbers, one beside the other as a kernel reads them; they grow as codes are met."""

    def __init__(self, count: int) -> None:
        self.keys: Ints = np.full((count, 64), -1, dtype=np.int64)
        self.values: Ints = np.zeros((count, 64), dtype=np.int64)
        self._known: list[dict[int, int]] = [{} for _ in range(count)]

    def number(self, table: int, code: int, make: Callable[[], int]) -> int:
        """The number of a code in one of the maps; ``make()`` gives it where it is first met."""
        known = self._known[table]
        found = known.get(code)
        if found is None:
            found = known[code] = make()
            if 2 * len(known) > self.keys.shape[1]:
                self._grow()
            else:
                put_code(code, found, self.keys[table], self.values[table])
        return found

    def _grow(self) -> None:
        count, slots = self.keys.shape
        self.keys = np.full((count, 4 * slots), -1, dtype=np.int64)
        self.values = np.zeros((count, 4 * slots), dtype=np.int64)
        for known, keys, values in zip(self._known, self.keys, self.values, strict=True):
            for code, number in known.items():
                put_code(code, number, keys, values)


class CodeTable:
    """A map from codes (not below 0) to numbers that grows as codes are met, read in bulk."""

    def __init__(self) -> None:
        self._table = CodeTables(1)

    def numbers(self, codes: Ints, make: Callable[[int, int], int]) -> Ints:
        """The number of each code; ``make(place, code)`` gives that of a code at a place where it is first met."""
        codes = np.ascontiguousarray(codes)
        found = np.empty(len(codes), dtype=np.int64)
        if not find_codes(codes, self._table.keys[0], self._table.values[0], found):
            return found
        missing = np.flatnonzero(found < 0)
        _, places = np.unique(codes[missing], return_index=True)
        for place in np.sort(missing[places]).tolist():
            self._table.number(0, int(codes[place]), partial(make, place, int(codes[place])))
        find_codes(codes, self._table.keys[0], self._table.values[0], found)
        return found
