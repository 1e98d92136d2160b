"""What an importer gives: our files' texts, and what of the other tool's files they do not say."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Left:
    """Something in a foreign file that ours cannot say, or that is said another way, and why that may change a number.

    ``line`` and ``column`` count from 1; 0 where the whole file is meant. ``path``: the keys that lead to it.
    """

    file: str
    line: int
    column: int
    path: str
    reason: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{place}: {self.path}: {self.reason}" if self.path else f"{place}: {self.reason}"


@dataclass(frozen=True)
class Imported:
    """Texts of a chip, a workload and a mapping file of ours; None where the foreign files say nothing of it."""

    chip: str | None = None
    workload: str | None = None
    mapping: str | None = None
    left: tuple[Left, ...] = ()
