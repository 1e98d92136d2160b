"""What importers share: a foreign file's text, and numbers in it, with their places."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from accelsim.errors import Fault, SpecError
from accelsim.importers.imported import Left
from accelsim.spec.files import reading

LARGEST_BYTES = 4 << 20
MOST_FAULTS = 200
LARGEST_NUMBER = 1 << 40
MOST_LAYERS = 5_000


def text_of(path: Path) -> str:
    """A file's text without a byte order mark. Raises SpecError where it is no text, too large or cannot be read."""
    with reading(str(path)):
        if path.stat().st_size > LARGEST_BYTES:
            raise SpecError([Fault(str(path), 0, 0, "", "larger than 4 MiB")])
        return path.read_text(encoding="utf-8").removeprefix("\ufeff")


@dataclass
class Findings:
    """What is wrong with foreign files, and what is left of them, while they are read; all of it is told at once.

    ``refused`` counts faults of nested files, those that are told already or too many to tell among them.
    """

    faults: list[Fault] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    refused: int = 0

    def check(self) -> None:
        """Raise SpecError where there is a fault."""
        if self.faults:
            raise SpecError(self.faults[:MOST_FAULTS])


def whole_number(text: str) -> int | None:
    """An integer from 1 to 2**40 written in decimal digits, or None."""
    if not re.fullmatch(r"[0-9]{1,15}", text):
        return None
    return number if 1 <= (number := int(text)) <= LARGEST_NUMBER else None
