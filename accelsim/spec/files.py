"""Files that users name: whether they are there, and what is said where they cannot be read."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from accelsim.errors import Fault, SpecError

LONGEST_LINE = 1 << 16
"""Characters of a line of a list."""
CODE = "utf-8-sig"
"""UTF-8, with the mark that some editors and spreadsheets put before it, or without."""


def holds(question: Callable[[], bool]) -> bool:
    """What a path answers; no where it cannot be a file's name at all, as one that is too long."""
    try:
        return question()
    except (OSError, ValueError):
        return False


def is_file(path: Path) -> bool:
    """Whether a file is there."""
    return holds(path.is_file)


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Within the block a file is read: raises SpecError where it is no text or cannot be read."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise SpecError([Fault(name, 0, 0, "", f"not UTF-8 text: {error.reason} at byte {error.start}")]) from None
    except OSError as error:
        raise SpecError([Fault(name, 0, 0, "", f"cannot be read: {error.strerror}")]) from None


def read_text(path: Path, name: str, most_bytes: int) -> str:
    """The text of a file, of which no more is read than may be. Raises SpecError where it is larger, no text, or unreadable."""
    with reading(name):
        with path.open("rb") as file:  # by what comes out of it: what a system says of its size need not be true
            content = file.read(most_bytes + 1)
        if len(content) > most_bytes:
            raise SpecError([Fault(name, 0, 0, "", f"larger than {most_bytes >> 20} MiB")])
        return io.TextIOWrapper(io.BytesIO(content), encoding=CODE).read()


def lines_of(path: Path, name: str) -> Iterator[str]:
    """The lines of a file, read one by one. Raises SpecError as they come where one is too long or no text."""
    with reading(name), path.open(encoding=CODE) as file:
        yield from bounded(file, name)


def bounded(file: TextIO, name: str) -> Iterator[str]:
    """The lines of an open file; a file without ends of lines is refused, not read whole."""
    number = 0
    with reading(name):
        while line := file.readline(LONGEST_LINE + 1):
            number += 1
            if len(line) > LONGEST_LINE:
                raise SpecError([Fault(name, number, 1, "", f"a line of more than {LONGEST_LINE:,} characters")])
            yield line
