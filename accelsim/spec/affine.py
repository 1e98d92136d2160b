"""Affine index forms such as ``2*p + r - 1``: parsed by a small grammar, never evaluated as code."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(r"\s*(?:(?P<number>\d{1,9})|(?P<name>[A-Za-z_][A-Za-z_0-9]{0,31})|(?P<sign>[+*-]))")


@dataclass(frozen=True)
class Affine:
    """A sum of ``coefficient * dimension`` plus an offset; coefficients are positive integers."""

    terms: tuple[tuple[str, int], ...]
    offset: int = 0

    def __str__(self) -> str:
        parts = [dim if coefficient == 1 else f"{coefficient}*{dim}" for dim, coefficient in self.terms]
        if not parts:
            return str(self.offset)
        text = " + ".join(parts)
        if self.offset:
            text += f" {'+' if self.offset > 0 else '-'} {abs(self.offset)}"
        return text


def parse_affine(text: str) -> Affine:
    """Read ``2*p + r - 1`` (a coefficient may stand before or after its dimension).

    Raises ValueError naming the first thing that is not part of an affine form, a dimension that occurs twice,
    or a coefficient below 1 (an index must grow with its dimension).
    """
    if len(text) > 200:
        raise ValueError("an index form has at most 200 characters")
    tokens = _tokens(text)
    terms: dict[str, int] = {}
    offset = 0
    position = 0
    while position < len(tokens):
        sign = 1
        if tokens[position] in ("+", "-"):
            sign = -1 if tokens[position] == "-" else 1
            position += 1
        elif position > 0:
            raise ValueError(f"'{text}': expected + or - before '{tokens[position]}'")
        product, dim, position = _product(text, tokens, position)
        if dim is None:
            offset += sign * product
            continue
        if sign * product < 1:
            raise ValueError(f"'{text}': the coefficient of {dim} is {sign * product}; allowed: 1 and more")
        if dim in terms:
            raise ValueError(f"'{text}': {dim} occurs twice; write one coefficient")
        terms[dim] = product
    if not tokens:
        raise ValueError("empty index form; write a dimension such as m, or a form such as '2*p + r'")
    return Affine(tuple(terms.items()), offset)


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    position = 0
    stripped = text.rstrip()
    while position < len(stripped):
        match = _TOKEN.match(stripped, position)
        if match is None:
            raise ValueError(
                f"'{text}': unexpected '{stripped[position:].lstrip()[:1]}'; allowed: dimensions, integers, + - *"
            )
        tokens.append(match.group().strip())
        position = match.end()
    return tokens


def _product(text: str, tokens: list[str], position: int) -> tuple[int, str | None, int]:
    """One term: factors joined by ``*``; at most one of them a dimension."""
    value, dim = 1, None
    while True:
        if position >= len(tokens) or tokens[position] in ("+", "-", "*"):
            raise ValueError(f"'{text}': a dimension or an integer is missing")
        token = tokens[position]
        if token.isdigit():
            value *= int(token)
        elif dim is None:
            dim = token
        else:
            raise ValueError(f"'{text}': {dim}*{token} is not affine; a tensor is indexed by sums of dimensions")
        position += 1
        if position < len(tokens) and tokens[position] == "*":
            position += 1
            continue
        return value, dim, position
