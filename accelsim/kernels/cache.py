"""Where compiled kernels are kept between runs: a folder of the user's own, a new one for each version of the code.

The one module that reads what the user says in the environment. What it decides changes how long a run takes, never a number.
"""

from __future__ import annotations

import functools
import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "ACCELSIM_CACHE_DIR"
"""The environment variable that names the folder instead of the platform's rule."""

PRIVATE = 0o700
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True)
class Place:
    """``folder``: where compiled kernels are kept, writable and the user's own; None where there is none, and why not."""

    folder: Path | None
    why_not: str = ""


def cache_root(platform: str, environment: Mapping[str, str], home: Path | None) -> Path | None:
    """The folder that holds those of all versions, by the rules of a platform (as ``sys.platform`` names it).

    None where the rules name none: no home, or on Windows no LOCALAPPDATA.
    """
    if environment.get(VARIABLE):
        return Path(environment[VARIABLE]).absolute()
    if platform == "win32":
        local = environment.get("LOCALAPPDATA")
        return Path(local) / "accelsim" / "Cache" if local else None
    if platform == "darwin":
        return home / "Library" / "Caches" / "accelsim" if home else None
    stated = Path(environment.get("XDG_CACHE_HOME", ""))
    if stated.is_absolute():  # the XDG rules: a relative one is ignored
        return stated / "accelsim"
    return home / ".cache" / "accelsim" if home else None


@functools.cache
def place(numba_version: str) -> Place:
    """Where this process keeps what it compiles; the folder is made on the first call."""
    try:
        home = Path.home()
    except RuntimeError:
        home = None
    root = cache_root(sys.platform, os.environ, home)
    if root is None:
        return Place(None, f"no folder for caches is known; name one with {VARIABLE}")
    return prepare(root, root / key(numba_version))


def key(numba_version: str) -> str:
    """A name that differs whenever compiled code could: versions of numba and Python, and the kernels' sources.

    numba itself looks at the file of a kernel, not at those of the kernels that it calls.
    """
    sources = hashlib.sha256()
    room = Path(__file__).resolve().parent
    for path in sorted(room.rglob("*.py")):
        sources.update(path.relative_to(room).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    python = f"{sys.implementation.name}{sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"
    return f"numba{numba_version}-{python}-{sources.hexdigest()[:12]}"


def prepare(root: Path, folder: Path) -> Place:
    """Make the folder, mode 0700, and prove that it can be written to and that nobody else can write there."""
    try:
        root.parent.mkdir(parents=True, exist_ok=True)
        root.mkdir(mode=PRIVATE, exist_ok=True)
        folder.mkdir(mode=PRIVATE, exist_ok=True)
        found = folder.stat()
        if sys.platform != "win32" and (found.st_uid != os.getuid() or found.st_mode & OTHERS_WRITE):
            return Place(None, f"{folder}: others can write there, and what lies there would be executed; delete it, or name "
                               f"another folder with {VARIABLE}")
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        return Place(None, f"{error.filename or folder}: {error.strerror}; name another folder with {VARIABLE}")
    return Place(folder)
