"""Files and folders written whole or not at all, also where the disk fills up, the program is killed, or two write at once.

What is written stands beside its place under a hidden name (``.NAME.PROCESS.part``) until it is complete, and takes the place in
one step. What is interrupted is removed; only a program that is killed outright leaves its part behind, never under the name.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TypeVar

_LONGEST_NAME = 40
_MOST_TURNS = 100
Made = TypeVar("Made")


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file to be written within the block; it takes its place when the block has ended without an error.

    A link's file is written, not the link; a device or a pipe as it is. Raises OSError that names the file.
    """
    place = Path(os.path.realpath(path))
    with _named(path):
        if place.exists() and not place.is_file():
            with place.open("wb") as file:
                yield file
            return
        part, part_file = _beside(place, lambda free: free.open("xb"))
        try:
            with part_file as file:
                yield file
                file.flush()
                os.fsync(file.fileno())  # a disk that is full, or gone, says so here at the latest
            if place.exists():
                shutil.copymode(place, part)
            part.replace(place)
        finally:
            part.unlink(missing_ok=True)


def write_text(path: Path, content: str) -> None:
    """Write a text file whole or not at all."""
    with whole_file(path) as file:
        file.write(content.encode("utf-8"))


@contextmanager
def whole_folder(folder: Path, ours: Callable[[str], bool]) -> Iterator[Path]:
    """An empty folder to be filled within the block; it takes its place when the block has ended without an error.

    Where a folder is there already, it is replaced; files in it that are not ``ours`` by their names are kept. Of two that
    write to one place at once, the one that ends last has it. Raises OSError that names the folder.
    """
    place = Path(os.path.realpath(folder))
    with _named(folder):
        if not replaceable(place):
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
        place.parent.mkdir(parents=True, exist_ok=True)
        part, _ = _beside(place, Path.mkdir)
        try:
            yield part
            _swap(part, place, ours)
        finally:
            shutil.rmtree(part, ignore_errors=True)


def replaceable(folder: Path) -> bool:
    """Whether another folder can take the place of one: not of where this process stands, nor of the top of a disk."""
    place = Path(os.path.realpath(folder))
    return not (place.is_dir() and (os.path.ismount(place) or Path.cwd().is_relative_to(place)))


def _swap(part: Path, place: Path, ours: Callable[[str], bool]) -> None:
    """Put a folder in its place; what is there moves aside first, and is removed afterwards, or comes back."""
    for _ in range(_MOST_TURNS):
        old: Path | None = None
        try:
            with contextlib.suppress(FileNotFoundError):  # nothing is there, or another has just moved it aside
                old, _ = _beside(place, place.rename, "old")
            part.rename(place)
        except OSError as error:
            if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
                raise
        else:
            return
        finally:
            if old is not None:
                _settle(old, place, ours)
    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))  # others were quicker each time


def _settle(old: Path, place: Path, ours: Callable[[str], bool]) -> None:
    """Bring back a folder that moved aside for one that did not come; else what in it is not ours, and remove the rest."""
    if not place.exists():
        old.rename(place)
        return
    for path in sorted(old.iterdir()):
        if not ours(path.name) and not (place / path.name).exists():
            path.rename(place / path.name)
    shutil.rmtree(old, ignore_errors=True)


def _beside(place: Path, make: Callable[[Path], Made], kind: str = "part") -> tuple[Path, Made]:
    """A name beside a place that nobody else has, and what was made of it."""
    for number in itertools.count():
        free = place.with_name(f".{place.name[:_LONGEST_NAME]}.{os.getpid()}-{number}.{kind}")
        with contextlib.suppress(FileExistsError):
            return free, make(free)
    raise AssertionError("numbers do not end")


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Within the block errors of the system name what the user asked for, not the part."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno or 0, error.strerror or str(error), str(path)) from None

