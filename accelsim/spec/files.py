"""Files that users name: whether they are there, and what is said where they cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from accelsim.errors import Fault, SpecError


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
