"""How kernels are compiled: one setting for all of them.

Compiled once for stated types and kept on disk; no fastmath and no parallel loops, so that results are the same bytes
everywhere. With NUMBA_DISABLE_JIT=1 kernels run as plain Python, for debugging and coverage.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba
from numba import types

_OPTIONS: dict[str, Any] = {"fastmath": False, "parallel": False, "error_model": "numpy"}
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


def kernel(signature: object, *, allocates: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile the decorated function, which Python calls, for exactly these types.

    ``allocates``: it makes arrays; those that do not are spared counting references. Kernels see to it themselves that they
    do not divide by zero: it raises nothing. Where no folder can be written to (a read-only install without a home), the
    compiled code is not kept.
    """

    def compiled(function: Callable[P, R]) -> Callable[P, R]:
        try:
            made = _compiled(signature, allocates, function, cache=True)
        except RuntimeError as error:
            if "no locator available" not in str(error):
                raise
            made = _compiled(signature, allocates, function, cache=False)
        return cast(Callable[P, R], made)

    return compiled


def _compiled(signature: object, allocates: bool, function: Callable[P, R], *, cache: bool) -> object:
    return numba.njit(signature, cache=cache, **_OPTIONS | {"_nrt": allocates})(function)


def part(function: Callable[P, R]) -> Callable[P, R]:
    """A function that kernels alone call: it is compiled, and kept, as a part of those that Python calls."""
    return _part(function, small=False)


def small_part(function: Callable[P, R]) -> Callable[P, R]:
    """As ``part``, for what is to be put into its callers."""
    return _part(function, small=True)


def _part(function: Callable[P, R], *, small: bool) -> Callable[P, R]:
    alone = {"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "forceinline": small}
    made: Any = numba.njit(**_OPTIONS | alone)(function)
    if hasattr(made, "get_call_template"):
        # numba would compile it once more for every constant that it is called with
        template = made.get_call_template
        made.get_call_template = lambda args, kws: template(tuple(map(types.unliteral, args)), kws)
    return cast(Callable[P, R], made)
