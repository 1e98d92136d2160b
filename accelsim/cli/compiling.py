"""Kernels compiled on the first run, said on stderr: what takes so long, for how long it did, and where it is kept."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Compiled:
    """How many kernels were compiled, not loaded, and in how many seconds."""

    kernels: int = 0
    seconds: float = 0.0
    depth: int = 0
    began: float = 0.0


@contextmanager
def compiling() -> Iterator[Compiled]:
    """Within the block, say on stderr when kernels are compiled, and afterwards for how long."""
    from accelsim.kernels import jit
    found = Compiled()

    def started(_: str) -> None:
        if not found.kernels:
            print("accelsim: compiling its kernels once; this takes a while ...", file=sys.stderr, flush=True)
        if not found.depth:
            found.began = time.monotonic()
            found.kernels += 1
        found.depth += 1

    def ended(_: str) -> None:
        found.depth -= 1
        if not found.depth:
            found.seconds += time.monotonic() - found.began

    try:
        with jit.watched(started, ended):
            yield found
    finally:
        if found.kernels:
            print(f"accelsim: compiled in {found.seconds:.1f} s; {fate()}", file=sys.stderr)


def fate() -> str:
    """What becomes of compiled kernels: kept where, or not kept and why."""
    from accelsim.kernels import jit
    if jit.kept_by_user():
        return f"kept in {jit.kept_by_user()} (NUMBA_CACHE_DIR)"
    kept = jit.kept()
    return f"kept in {kept.folder}" if kept.folder is not None else f"not kept, so every run compiles anew: {kept.why_not}"
