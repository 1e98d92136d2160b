"""A part of a Timeloop file that is being read: its value, its place, and where all that is wrong or left is collected."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from accelsim.errors import Fault, nearest
from accelsim.importers.imported import Left
from accelsim.spec.yamlfile import Located, Path, fault, render_path

LARGEST_COUNT: Final = 1 << 40
_LONGEST_SHOWN: Final = 60


@dataclass
class Notes:
    """What was found on the way: faults, and what is left."""

    faults: list[Fault] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)


@dataclass(frozen=True)
class Part:
    """A value of a file and where it stands; what is refused or left is noted there."""

    located: Located
    path: Path
    value: Any
    notes: Notes

    def refuse(self, message: str, allowed: str = "", hint: str = "") -> None:
        """Note a fault here."""
        self.notes.faults.append(fault(self.located, self.path, message, allowed, hint))

    def refuse_word(self, what: str, word: str, known: Iterable[str]) -> None:
        """Note a word that is not among those known."""
        names = list(known)
        self.refuse(f"no {what} named {shown(word)}", ", ".join(names[:24]) or "none", nearest(word, names))

    def leave(self, reason: str) -> None:
        """Note that what stands here is not carried over, or said another way."""
        told = fault(self.located, self.path, "")
        self.notes.left.append(Left(told.file, told.line, told.column, render_path(self.located.value, self.path), reason))

    def keys(self) -> dict[str, Part]:
        """The entries of a mapping; hyphens in keys are underscores. Refuses what is none, and keys that then are the same."""
        if not isinstance(self.value, dict):
            self.refuse(f"{shown(self.value)} where keys and values are expected", "a mapping")
            return {}
        found: dict[str, Part] = {}
        for key, value in self.value.items():
            part = Part(self.located, (*self.path, key), value, self.notes)
            name = key.replace("-", "_") if isinstance(key, str) else ""
            if not name:
                part.refuse("a list of names as a key", "one name")
            elif name in found:
                part.refuse(f"'{name}' is given twice, with a hyphen and with an underscore", "once")
            else:
                found[name] = part
        return found

    def items(self) -> list[Part]:
        """The entries of a list; refuses what is none."""
        if not isinstance(self.value, list):
            self.refuse(f"{shown(self.value)} where a list is expected", "a list")
            return []
        return [Part(self.located, (*self.path, i), value, self.notes) for i, value in enumerate(self.value)]

    def words(self) -> list[tuple[str, Part]]:
        """The names of a list; refuses what is none."""
        return [(word, part) for part in self.items() if (word := part.word()) is not None]

    def word(self) -> str | None:
        """A name. What YAML reads as a number or a truth value is refused."""
        if isinstance(self.value, str) and self.value.strip():
            return self.value.strip()
        self.refuse(f"{shown(self.value)} where a name is expected", "text")
        return None

    def whole(self, low: int = 1, high: int = LARGEST_COUNT) -> int | None:
        """A whole number within limits."""
        if isinstance(self.value, float) and self.value.is_integer() and abs(self.value) < LARGEST_COUNT:
            return self._within(int(self.value), low, high)
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self._no_number(f"a whole number from {low}")
            return None
        return self._within(self.value, low, high)

    def number(self) -> Fraction | None:
        """A number above 0, exactly as it is written."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            self._no_number("a number above 0")
            return None
        if self.value <= 0:
            self.refuse(f"{self.value} where a number above 0 is expected")
            return None
        return Fraction(str(self.value))

    def truth(self) -> bool | None:
        """A truth value: YAML 1.1 spellings too, as Timeloop reads them."""
        if isinstance(self.value, bool):
            return self.value
        if isinstance(self.value, str) and self.value.lower() in ("true", "false", "yes", "no", "on", "off"):
            return self.value.lower() in ("true", "yes", "on")
        if self.value in (0, 1):
            return bool(self.value)
        self.refuse(f"{shown(self.value)} where true or false is expected", "true, false")
        return None

    def _within(self, value: int, low: int, high: int) -> int | None:
        if low <= value <= high:
            return value
        self.refuse(f"{shown(value)}; allowed: {low} to {high}")
        return None

    def _no_number(self, what: str) -> None:
        if isinstance(self.value, str):
            self.refuse(f"{shown(self.value)} is text: expressions and variables are not evaluated", f"{what}, written out")
        else:
            self.refuse(f"{shown(self.value)} where {what} is expected")


def shown(value: object) -> str:
    """A value of a file for a message, safe and short."""
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    if value is None:
        return "nothing"
    text = f"'{value}'" if isinstance(value, str) and value.isprintable() else ascii(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
