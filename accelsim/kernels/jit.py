"""How kernels are compiled: one setting for all of them.

Compiled once for stated types and kept on disk (see ``cache``); no fastmath and no parallel loops, so that results are the
same bytes everywhere. With NUMBA_DISABLE_JIT=1 kernels run as plain Python, for debugging and coverage.
"""

from __future__ import annotations

import pickle
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba
import numpy as np
from numba import types
from numba.core import event
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from accelsim.kernels.cache import Place, place

_OPTIONS: dict[str, Any] = {"fastmath": False, "parallel": False, "error_model": "numpy"}
Ints = NDArray[np.int64]
P = ParamSpec("P")
R = TypeVar("R")

INT = types.int64
INTS = types.Array(types.int64, 1, "A", readonly=True)
"""One axis of int64, read only and in any stride: a column of a table passes without a copy."""
WRITABLE = types.Array(types.int64, 1, "A")
"""As ``INTS``, to be written to."""
NEW_INTS_3 = types.Array(types.int64, 3, "C")
"""Three axes of int64, made by the kernel."""
READ_1 = types.Array(types.int64, 1, "C", readonly=True)
READ_2 = types.Array(types.int64, 2, "C", readonly=True)
"""Rows of int64 that a kernel reads; what may be written passes too."""
WRITE_1 = types.Array(types.int64, 1, "C")
WRITE_2 = types.Array(types.int64, 2, "C")
WRITE_3 = types.Array(types.int64, 3, "C")
"""Rows of int64 that a kernel writes to."""

DAMAGED = (EOFError, pickle.UnpicklingError, AttributeError, ImportError, IndexError, KeyError, TypeError, ValueError)
"""What reading a damaged cache file can raise."""


def kernel(signature: object, *, allocates: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile the decorated function, which Python calls, for exactly these types, or load what was compiled before.

    ``allocates``: it makes arrays; those that do not are spared counting references. Kernels see to it themselves that they
    do not divide by zero: it raises nothing. Where no folder can be written to, or a disk is full, the compiled code is not
    kept. A damaged cache is made anew.
    """

    def compiled(function: Callable[P, R]) -> Callable[P, R]:
        with kept_at(kept()):
            try:
                made = _compile(signature, function, allocates, keep=bool(kept_by_user()) or kept().folder is not None)
            except OSError:
                made = _compile(signature, function, allocates, keep=False)
            except RuntimeError as error:
                if "no locator available" not in str(error):
                    raise
                made = _compile(signature, function, allocates, keep=False)
        return cast(Callable[P, R], made)

    return compiled


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


def flat(array: Ints) -> Ints:
    """One array of int64, for the parts of a kernel: read and written by place, with no negative places and no checks.

    Parts take it as the bare address that it is once compiled, which is what makes them cheap to compile and to call.
    """
    return array


@intrinsic  # type: ignore[untyped-decorator]
def _address(_: Any, array: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), code


@overload(flat)  # type: ignore[untyped-decorator]
def _flat(array: Any) -> Any:  # noqa: ARG001  # numba compiles what it returns for its type
    def code(array: Any) -> Any:
        return _address(array)

    return code


def lowest(bits: int) -> int:
    """The place of the lowest of an integer's bits; it has one."""
    return (int(bits) & -int(bits)).bit_length() - 1


@intrinsic  # type: ignore[untyped-decorator]
def _trailing_zeros(_: Any, bits: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001  # as numba calls it
        return builder.cttz(arguments[0], context.get_constant(types.boolean, True))

    return types.int64(bits), code


@overload(lowest)  # type: ignore[untyped-decorator]
def _lowest(bits: Any) -> Any:  # noqa: ARG001  # numba compiles what it returns for its type
    def code(bits: Any) -> Any:
        return _trailing_zeros(bits)

    return code


def _compile(signature: object, function: Callable[P, R], allocates: bool, *, keep: bool) -> Any:
    made = numba.njit(cache=keep, **_OPTIONS | {"_nrt": allocates})(function)
    if made is function:  # NUMBA_DISABLE_JIT
        return made
    try:
        made.compile(signature)
    except DAMAGED:
        if not keep or not forget(Path(made.stats.cache_path), function.__name__):
            raise
        made.compile(signature)
    made.disable_compile()
    return made


def compile_all() -> tuple[str, ...]:
    """Import every module of this room, which compiles its kernels or loads them; returns the modules' names."""
    room = Path(__file__).parent
    names = tuple(sorted(module.name for module in pkgutil.walk_packages([str(room)], "accelsim.kernels.")))
    for name in names:
        import_module(name)
    return names


def forget(folder: Path, name: str) -> bool:
    """Delete what is kept of a kernel; whether there was anything."""
    files = [path for path in folder.glob(f"*.{name}-*") if path.suffix in {".nbi", ".nbc"}]
    for path in files:
        path.unlink(missing_ok=True)
    return bool(files)


def kept() -> Place:
    """Where compiled kernels are kept, unless the user told numba itself (see ``kept_by_user``)."""
    return place(numba.__version__)


def kept_by_user() -> str:
    """The folder that the user told numba to use for everything (NUMBA_CACHE_DIR), or ""."""
    return str(numba.config.CACHE_DIR)


@contextmanager
def kept_at(where: Place) -> Iterator[None]:
    """Within the block numba keeps what it compiles at a place; other users of numba in this process keep their own."""
    before = numba.config.CACHE_DIR
    if not before and where.folder is not None:
        numba.config.CACHE_DIR = str(where.folder)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


@contextmanager
def watched(started: Callable[[str], None], ended: Callable[[str], None]) -> Iterator[None]:
    """Within the block, say the name of each function that is compiled, not loaded, when that starts and ends."""
    with event.install_listener("numba:compile", _Watch(started, ended)):
        yield


class _Watch(event.Listener):  # type: ignore[misc]  # numba ships no types
    def __init__(self, started: Callable[[str], None], ended: Callable[[str], None]) -> None:
        self._started, self._ended = started, ended

    def on_start(self, event: Any) -> None:
        """Numba begins to compile a function."""
        self._started(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event: Any) -> None:
        """Numba has compiled it, or failed to."""
        self._ended(event.data["dispatcher"].py_func.__name__)
