"""The loops of one directive of a Timeloop mapping: factors, permutation and split, outermost first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from accelsim.importers.timeloop_part import LARGEST_COUNT, Part, shown
from accelsim.importers.timeloop_problem import Problem

_FACTOR: Final = re.compile(r"\s*(?:([A-Za-z_][A-Za-z_0-9]*)\s*=\s*|([A-Za-z]+)\s*)([0-9]+)(?:,([0-9]+))?\s*(?:,|(?=\s)|$)")
_MOST_DIGITS: Final = 16
_LONGEST: Final = 4096
Factor = tuple[str, int, int]
"""A dimension, its factor and what is left of it in the last iteration."""


@dataclass(frozen=True)
class Directed:
    """Loops outermost first. ``split``: so many dimensions, counted from the innermost of the permutation, go along X.

    ``ordered``: a permutation is given.
    """

    part: Part | None
    loops: tuple[Factor, ...] = ()
    split: int = 0
    no_links: frozenset[str] = frozenset()
    ordered: bool = False

    def along(self, axis: str) -> tuple[Factor, ...]:
        """The loops along X or Y."""
        cut = max(0, len(self.loops) - self.split)
        return self.loops[cut:] if axis == "x" else self.loops[:cut]


NO_LOOPS: Final = Directed(None)


def read_loops(part: Part, keys: Mapping[str, Part], problem: Problem) -> Directed:
    """The loops of a directive; what is wrong with it is noted."""
    names = (*problem.dims, *problem.dropped)
    given = {key: one for key, one in keys.items() if one.value is not None}
    factors = _factors(given["factors"], names) if "factors" in given else {}
    inner_first = _permutation(given["permutation"], names) if "permutation" in given else []
    missing = [name for name in names if name not in inner_first]
    looping = [name for name in names if factors.get(name, (1, 1))[0] > 1]
    unplaced = [name for name in looping if name in missing]
    if unplaced and len(looping) > 1:
        part.leave(f"{', '.join(unplaced)}: no place in the permutation; outermost, in the problem's order, as Timeloop takes it")
    order = [*inner_first, *missing]
    cut = given["split"].whole(0) if "split" in given else None
    free = given["no_link_transfer"].words() if "no_link_transfer" in given else []
    for word, place in free:
        if word not in problem.tensors:
            place.refuse_word("data space", word, problem.tensors)
    for name in problem.dropped:
        if factors.get(name, (1, 1)) != (1, 1):
            part.refuse(f"a factor of {factors[name][0]} of {name}, whose extent is 1", f"{name}=1")
    loops = tuple((name, *factors.get(name, (1, 1))) for name in reversed(order))
    return Directed(part, loops, len(order) if cut is None else cut, frozenset(word for word, _ in free), bool(inner_first))


def _factors(part: Part, names: tuple[str, ...]) -> dict[str, tuple[int, int]]:
    """``C=4 K=2``, ``C4 K2``, ``[C=4, K=2]``; ``K=4,3`` leaves 3 in the last iteration."""
    places = part.items() if isinstance(part.value, list) else [part]
    found: dict[str, tuple[int, int]] = {}
    for place in places:
        if not isinstance(place.value, str):
            place.refuse(f"{shown(place.value)} as factors", "text such as C=4 K=2, or a list such as [C=4, K=2]")
            continue
        text = place.value.partition("#")[0].rstrip()[:_LONGEST]
        at = 0
        while at < len(text):
            match = _FACTOR.match(text, at)
            if match is None:
                _refuse_factor(place, text[at:].strip().split()[0] if text[at:].strip() else text)
                break
            at = match.end()
            _take(place, match, names, found)
    return found


def _refuse_factor(place: Part, word: str) -> None:
    if "<=" in word or ">=" in word:
        place.refuse(f"{shown(word)} is a constraint of a search", "the factor, as in C=4")
    elif re.search(r"=\s*-", word):
        place.refuse(f"{shown(word)}: a factor below 1", "1 and more")
    else:
        place.refuse(f"{shown(word)} is no factor; nothing is evaluated", "C=4, or C=4,3 where 3 are left over")


def _take(place: Part, match: re.Match[str], names: tuple[str, ...], found: dict[str, tuple[int, int]]) -> None:
    """One factor of a text."""
    name = match[1] or match[2]
    if name not in names:
        place.refuse_word("dimension", name, names)
        return
    digits = (match[3], match[4] or match[3])
    if any(len(text) > _MOST_DIGITS or int(text) > LARGEST_COUNT for text in digits):
        place.refuse(f"{shown(match[0].strip())}: a factor above {LARGEST_COUNT}")
        return
    factor, residual = (int(text) for text in digits)
    if factor == 0 or residual == 0:
        place.refuse(f"{name}=0: versions of Timeloop take it for the whole dimension or for what is left of it", "the number")
    elif residual > factor:
        place.refuse(f"{name}={factor},{residual}: more is left over than the factor")
    elif name in found:
        place.refuse(f"a second factor of {name}", "one in each directive")
    else:
        found[name] = factor, residual


def _permutation(part: Part, names: tuple[str, ...]) -> list[str]:
    """Dimensions, innermost first: ``RSC``, ``R,S,C`` or ``[R, S, C]``."""
    if isinstance(part.value, list):
        words = part.words()
    elif isinstance(part.value, str):
        parts = [text for text in re.split(r"[\s,]+", part.value[:_LONGEST]) if text]
        one_letter = all(word in names for word in parts)
        words = [(word, part) for text in parts for word in ([text] if one_letter else list(text))]
    else:
        part.refuse(f"{shown(part.value)} as a permutation", "text such as RSC, or a list such as [R, S, C], innermost first")
        return []
    found: list[str] = []
    for word, place in words:
        if word not in names:
            place.refuse_word("dimension", word, names)
        elif word in found:
            place.refuse(f"{word} stands twice in the permutation", "each dimension once")
        else:
            found.append(word)
    return found
