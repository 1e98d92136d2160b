"""A chip's text with some of it put otherwise: as a file, and the faults that reading it tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from accelsim.errors import SpecError
from accelsim.spec.read import read_chip


def written(text: str, folder: Path, *changes: tuple[str, str]) -> str:
    """The path of a file with the text; each change replaces what stands in it once."""
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path = folder / "chip.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def faults(text: str, folder: Path, *changes: tuple[str, str], options: tuple[str, ...] = ()) -> list[str]:
    """All faults, without the folder's name."""
    with pytest.raises(SpecError) as caught:
        read_chip(written(text, folder, *changes), options)
    return [str(one).replace(f"{folder}/", "") for one in caught.value.faults]
