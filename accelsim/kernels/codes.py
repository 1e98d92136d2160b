"""Codes to numbers: a hash table that is read in bulk, and filled by whoever knows what a new code stands for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.jit import INT, READ_1, WRITE_1, kernel, part, small_part

Ints = NDArray[np.int64]


@small_part
def slot_of(code: int, slots: int) -> int:
    """Where the search for a code begins; ``slots`` is a power of two."""
    mixed = (int(code) ^ (int(code) >> 31)) * 668265261
    return (mixed ^ (mixed >> 15)) & (int(slots) - 1)


@part
def find(code: int, keys: Ints, values: Ints, first: int, slots: int) -> int:
    """The value of a code, none below 0, in a table that begins at a place; -1: there is none."""
    slot = slot_of(code, slots)
    while keys[first + slot] != code:
        if keys[first + slot] < 0:
            return -1
        slot = (slot + 1) & (int(slots) - 1)
    return int(values[first + slot])


@kernel(INT(READ_1, READ_1, READ_1, WRITE_1))
def find_codes(codes: Ints, keys: Ints, values: Ints, found: Ints) -> int:
    """Write the value of each code to ``found``, -1 where there is none; returns how many there are of those.

    ``codes``: int64[n], none below 0. ``keys``, ``values``: int64[slots], open addressing; key -1: free, and one must be.
    """
    slots = keys.shape[0]
    missing = 0
    for i in range(codes.shape[0]):
        found[i] = find(codes[i], keys, values, 0, slots)
        if found[i] < 0:
            missing += 1
    return missing


@kernel(INT(INT, INT, WRITE_1, WRITE_1))
def put_code(code: int, value: int, keys: Ints, values: Ints) -> int:
    """Give a code a value; returns 1 where it is new, 0 where its value was replaced."""
    slots = keys.shape[0]
    slot = slot_of(code, slots)
    while keys[slot] != code and keys[slot] >= 0:
        slot = (slot + 1) & (int(slots) - 1)
    new = 1 if keys[slot] < 0 else 0
    keys[slot], values[slot] = code, value
    return new
