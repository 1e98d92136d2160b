"""How kernels are compiled: one setting for all of them.

Compiled once for stated types and kept on disk; no fastmath and no parallel loops, so that results are the same bytes
everywhere. With NUMBA_DISABLE_JIT=1 kernels run as plain Python, for debugging and coverage.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba
from numba import types

P = ParamSpec("P")
R = TypeVar("R")

INT = types.int64
INTS = types.Array(types.int64, 1, "A", readonly=True)
"""One axis of int64, read only and in any stride: a column of a table passes without a copy."""
NEW_INTS_3 = types.Array(types.int64, 3, "C")
"""Three axes of int64, made by the kernel."""
READ_1 = types.Array(types.int64, 1, "C", readonly=True)
READ_2 = types.Array(types.int64, 2, "C", readonly=True)
"""Rows of int64 that a kernel reads; what may be written passes too."""
WRITE_1 = types.Array(types.int64, 1, "C")
WRITE_2 = types.Array(types.int64, 2, "C")
WRITE_3 = types.Array(types.int64, 3, "C")
"""Rows of int64 that a kernel writes to."""


def kernel(signature: object) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile the decorated function for exactly these types.

    Where no folder can be written to (a read-only install without a home), the compiled code is not kept.
    """

    def compiled(function: Callable[P, R]) -> Callable[P, R]:
        try:
            made = numba.njit(signature, cache=True, fastmath=False, parallel=False)(function)
        except RuntimeError as error:
            if "no locator available" not in str(error):
                raise
            made = numba.njit(signature, cache=False, fastmath=False, parallel=False)(function)
        return cast(Callable[P, R], made)

    return compiled
