"""Arrays read back from a compressed file that may be damaged, or made to do harm: never more than is promised, never code."""

from __future__ import annotations

import struct
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
LARGEST_BYTES = 4 << 30
"""Of all that a file holds, unpacked."""
LARGEST_TEXT_BYTES = 256 << 20
_DAMAGED = (KeyError, OSError, TypeError, ValueError, EOFError, zipfile.BadZipFile, zlib.error, tokenize.TokenError, SyntaxError,
            MemoryError, OverflowError, RecursionError, NotImplementedError, RuntimeError, struct.error)
"""What numpy and zipfile raise, each in its own way, about what is no archive of theirs."""


def read_archive(path: Path, text: str, ranks: Mapping[str, int]) -> tuple[str, dict[str, Ints]]:
    """A text and arrays of int64 by their names; ``ranks``: how many axes each array has.

    Raises ValueError where the file is no such archive, holds anything else, or would unpack to more than ``LARGEST_BYTES``.
    """
    try:
        with path.open("rb") as file:
            _check_sizes(file_names=[text, *ranks], path=path)
            with np.load(file, allow_pickle=False) as data:
                found = data[text]
                arrays = {name: data[name] for name in ranks}
    except _DAMAGED as error:
        raise ValueError(str(error) or type(error).__name__) from None
    if found.dtype.kind != "U" or found.shape != ():
        raise ValueError(f"{text} is no text")
    for name, array in arrays.items():
        if array.dtype != np.int64 or array.ndim != ranks[name]:
            raise ValueError(f"{name} is no table of whole numbers with {ranks[name]} axes")
    return str(found), arrays


def _check_sizes(file_names: list[str], path: Path) -> None:
    with zipfile.ZipFile(path) as packed:
        sizes = {one.filename: one.file_size for one in packed.infolist()}
    if sorted(sizes) != sorted(f"{name}.npy" for name in file_names):
        raise ValueError(f"holds {', '.join(sorted(sizes))[:200] or 'nothing'}")
    if sum(sizes.values()) > LARGEST_BYTES or sizes[f"{file_names[0]}.npy"] > LARGEST_TEXT_BYTES:
        raise ValueError(f"unpacks to {sum(sizes.values()):,} bytes")
