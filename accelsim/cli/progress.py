"""Progress on stderr with the time left: a line rewritten after a second's work, or one every ten seconds in a log."""

from __future__ import annotations

import sys
import time
from types import TracebackType


class Progress:
    """On a terminal one line, rewritten in place and cleared at the end; elsewhere a line now and then."""

    def __init__(self) -> None:
        self._shown = self._start = time.monotonic()
        self._began: dict[str, float] = {}
        self._tty = sys.stderr.isatty()

    def tell(self, name: str, done: int, expected: int) -> None:
        """So many steps of an operator are done."""
        now = time.monotonic()
        began = self._began.setdefault(name, now)
        if now - self._start < 1.0 or now - self._shown < (0.2 if self._tty else 10.0):
            return
        self._shown = now
        left = ""
        if done and now > began:
            left = f", {max(0.0, (now - began) * (expected - done) / done):,.0f} s left"
        line = f"{name}: {done:,} of {expected:,} steps ({done / max(1, expected):.0%}{left})"
        print(f"\r\033[K{line}" if self._tty else line, end="" if self._tty else "\n", file=sys.stderr, flush=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._tty and self._shown > self._start:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
