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
from numba import types
from numba.core import event

from accelsim.kernels.cache import Place, place

P = ParamSpec("P")
R = TypeVar("R")

INT = types.int64
INTS = types.Array(types.int64, 1, "A", readonly=True)
"""One axis of int64, read only and in any stride: a column of a table passes without a copy."""
NEW_INTS_3 = types.Array(types.int64, 3, "C")
"""Three axes of int64, made by the kernel."""

DAMAGED = (EOFError, pickle.UnpicklingError, AttributeError, ImportError, IndexError, KeyError, TypeError, ValueError)
"""What reading a damaged cache file can raise."""


def kernel(signature: object) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile the decorated function for exactly these types, or load what was compiled before.

    Where no folder can be written to, or a disk is full, the compiled code is not kept. A damaged cache is made anew.
    """

    def compiled(function: Callable[P, R]) -> Callable[P, R]:
        with kept_at(kept()):
            try:
                made = _compile(signature, function, keep=bool(kept_by_user()) or kept().folder is not None)
            except OSError:
                made = _compile(signature, function, keep=False)
            except RuntimeError as error:
                if "no locator available" not in str(error):
                    raise
                made = _compile(signature, function, keep=False)
        return cast(Callable[P, R], made)

    return compiled


def _compile(signature: object, function: Callable[P, R], keep: bool) -> Any:
    made = numba.njit(cache=keep, fastmath=False, parallel=False)(function)
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
    names = tuple(sorted(module.name for module in pkgutil.iter_modules([str(room)])))
    for name in names:
        import_module(f"accelsim.kernels.{name}")
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
