"""What can go wrong, said so that the reader can act on it, and the exit code of each kind."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

_LONGEST_WORD = 80
_CLOSE_ENOUGH = 0.6
_LONGEST_SAID = 1000
_MOST_SAID = 200


@dataclass(frozen=True)
class Fault:
    """One thing wrong at one place of a file the user wrote.

    ``line`` and ``column`` count from 1; 0 says that the place is not known. ``path`` names the value as an override
    would (``levels.DRAM.bandwidth``); ``allowed`` says what may stand there; ``hint`` is the nearest known word.

    Printed, it is one line of bounded length: what users wrote may hold line ends, signs that steer a terminal, or megabytes.
    """

    file: str
    line: int
    column: int
    path: str
    message: str
    allowed: str = ""
    hint: str = ""

    def __str__(self) -> str:
        place = printable(self.file)
        if self.line:
            place += f":{self.line}:{self.column}" if self.column else f":{self.line}"
        text = ": ".join(part for part in (place, printable(self.path), printable(self.message)) if part)
        if self.allowed:
            text += f"; allowed: {printable(self.allowed)}"
        if self.hint:
            text += f"; did you mean '{printable(self.hint)}'?"
        return text


def printable(text: str) -> str:
    """Text for a terminal: unprintable characters escaped, and what is too long cut."""
    safe = text[:_LONGEST_SAID + 1]
    if not safe.isprintable():
        safe = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in safe)
    return safe if len(safe) <= _LONGEST_SAID else f"{safe[:_LONGEST_SAID]}..."


class AccelsimError(Exception):
    """Any failure that accelsim states itself; ``exit_code`` is what the command line ends with."""

    exit_code: ClassVar[int] = 70


class _FaultsError(AccelsimError):
    """A failure made of one or more located faults, all found before it was raised."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults: tuple[Fault, ...] = tuple(faults)
        if not self.faults:
            raise ValueError(f"{type(self).__name__} without a fault")
        super().__init__(self.faults)

    def __str__(self) -> str:
        lines = [str(fault) for fault in self.faults[:_MOST_SAID]]
        if len(self.faults) > _MOST_SAID:
            lines.append(f"and {len(self.faults) - _MOST_SAID:,} more faults")
        return "\n".join(lines)


class SpecError(_FaultsError):
    """What the user wrote is wrong; holds every fault found, not only the first."""

    exit_code = 2


class DoesNotFit(_FaultsError):
    """A well-formed mapping that this chip cannot hold: level, tensor, bytes needed and available."""

    exit_code = 3


class LimitExceeded(AccelsimError):
    """Work larger than a stated limit, refused before it starts, with the estimate of how large it is."""

    exit_code = 4


class MissingPackage(AccelsimError, ImportError):
    """A package that only this needs is not installed; says which, and how to install it."""

    exit_code = 2


class SimulatorBug(AccelsimError):
    """A broken promise of accelsim itself (an invariant, a conservation law), never the user's fault."""

    exit_code = 70

    def __str__(self) -> str:
        return f"{super().__str__()}; this is a bug of accelsim, please report it"


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that looks most like ``word``, letter case aside, or "" where none is close."""
    if not word or len(word) > _LONGEST_WORD:
        return ""
    spellings: dict[str, str] = {}
    for candidate in known:
        if candidate == word:
            return candidate
        spellings.setdefault(candidate.lower(), candidate)
    close = difflib.get_close_matches(word.lower(), list(spellings), n=1, cutoff=_CLOSE_ENOUGH)
    return spellings[close[0]] if close else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``did you mean 'bandwidth'?`` for the nearest known word, or "" where none is close."""
    guess = nearest(word, known)
    return f"did you mean '{guess}'?" if guess else ""
