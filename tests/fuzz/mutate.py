"""Texts that are almost right: a file's bytes, its words or its parsed tree, changed in a few places.

Everything comes from one seed by ``random.Random``, whose numbers are the same on every computer: a seed is a whole test case.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from accelsim.errors import SpecError
from accelsim.spec.yamlfile import read_yaml

WORDS: Final = (
    "null", "~", "true", "no", "0", "-1", "-0", "1e999", ".nan", ".inf", "-.inf", "3.5", "0x10", "1_000", "0", "1", "2", "64",
    "65", "99999999999999999999", "9" * 70, "1000000000000000000", str(1 << 63), str(1 << 20), str((1 << 20) + 1),
    str(1 << 40), "1e18", "[]", "{}", "''", '""', "*", '"*"', "&a", "*a", "&a [*a]", "!!python/object:os.system", "!!int",
    "<<", "<<: *a", "? [a, b]", "unlimited", "0 B", "1 B", "4 B/cycle", "900 GB/s", "1024 PiB", "1 GHz", "1 Hz", "1000 THz",
    "0 cycles", "1000000000 cycles", "1 s", "14 ns", "0.000000000000000000000000000000000001 ns", "word", "bank", "1RW",
    "1R1W", "row", "blocked:8x8", "padded:1", "swizzled", "input", "weight", "output", "A", "B", "C", "m", "n", "k", "[m, k]",
    "{[m, k]: 4}", "2*p + r - 1", "k + k", "m - 1", "auto", "int4", "int8", "fp32", "fp64", "gemm", "conv2d", "fill", "drain",
    "array_read", "systolic", "spatial", "DRAM", "PE", "hbm2-2000", "mesh4x4", "../../../etc/passwd", "/dev/zero",
    "/dev/null", ".", "..", "/", "~root", "a" * 300, "%s", "{0}", "$HOME", "\t", "- ", ": ", ":", ",", "'", '"', "\\", "#",
    "|", ">", "%YAML 1.1\n", "---\n", "...\n", "\ufeff", "\r\n", "\r", "\x00", "\x1b[31m", '"\\e[31m\\n\\x00"', "\u00e9",
    "\u202e", "\u2028", "\U0001f600", "\ud800", "\u0661", "e\u0301")
"""What breaks readers: wrong types, the edges of every range, signs that mean something to YAML, hostile names and characters."""

_LARGEST_BYTES: Final = 40_000


@dataclass(frozen=True)
class Seed:
    """A valid text of a reader, and its tree where it is YAML."""

    text: bytes
    tree: Any = None
    nodes: int = 0

    @staticmethod
    def of(text: bytes) -> Seed:
        try:
            tree = read_yaml(text.decode(), "seed").value
        except (SpecError, UnicodeDecodeError):
            return Seed(text)
        return Seed(text, tree, _count(tree))


def mutants(seeds: tuple[Seed, ...], number: int, count: int) -> list[bytes]:
    """So many texts of a seed number."""
    chance = random.Random(number)
    return [_mutant(seeds, chance) for _ in range(count)]


def _mutant(seeds: tuple[Seed, ...], chance: random.Random) -> bytes:
    seed = chance.choice(seeds)
    text = seed.text
    if seed.nodes and chance.random() < 0.6:
        text = _written(seed, chance).encode("utf-8", "surrogatepass")
        if chance.random() < 0.8:
            return text[:_LARGEST_BYTES]
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        text = chance.choice(EDITS)(text, seeds, chance)
    return text[:_LARGEST_BYTES]


# -- bytes and words --------------------------------------------------------------------------------------------------

Edit = Callable[[bytes, tuple[Seed, ...], random.Random], bytes]


def _span(text: bytes, chance: random.Random, longest: int = 40) -> tuple[int, int]:
    first = chance.randint(0, len(text))
    return first, min(len(text), first + chance.randint(0, longest))


def _word(text: bytes, seeds: tuple[Seed, ...], chance: random.Random) -> bytes:
    """A word in the place of another, or between two."""
    del seeds
    first, last = _span(text, chance, 8)
    return text[:first] + chance.choice(WORDS).encode("utf-8", "surrogatepass") + text[chance.choice((first, last)):]


def _whole_word(text: bytes, seeds: tuple[Seed, ...], chance: random.Random) -> bytes:
    """What stands between two signs, replaced."""
    del seeds
    place = chance.randint(0, len(text))
    first, last = place, place
    while first > 0 and text[first - 1:first] not in b" ,:=[]{}\n\"+x":
        first -= 1
    while last < len(text) and text[last:last + 1] not in b" ,:=[]{}\n\"+x":
        last += 1
    return text[:first] + chance.choice(WORDS).encode("utf-8", "surrogatepass") + text[last:]


def _byte(text: bytes, seeds: tuple[Seed, ...], chance: random.Random) -> bytes:
    del seeds
    first, last = _span(text, chance, 2)
    return text[:first] + chance.randbytes(chance.randint(0, 4)) + text[last:]


def _digits(text: bytes, seeds: tuple[Seed, ...], chance: random.Random) -> bytes:
    """A number grown."""
    del seeds
    first, _ = _span(text, chance)
    number = chance.choice((0, 1, -1, 7, 10**9, 10**18, 2**63, 2**64 - 1, 10**chance.randint(0, 60)))
    return text[:first] + str(number).encode() + text[first:]


def _drop(text: bytes, seeds: tuple[Seed, ...], chance: random.Random) -> bytes:
    del seeds
    first, last = _span(text, chance)
    return text[:first] + text[last:]


def _again(text: bytes, seeds: tuple[Seed, ...], chance: random.Random) -> bytes:
    """A span several times."""
    del seeds
    first, last = _span(text, chance)
    return text[:last] + text[first:last] * chance.choice((1, 1, 2, 30, 500)) + text[last:]


def _line(text: bytes, seeds: tuple[Seed, ...], chance: random.Random) -> bytes:
    """A line dropped, doubled, moved or indented otherwise."""
    del seeds
    lines = text.splitlines(keepends=True) or [b""]
    line = lines.pop(chance.randrange(len(lines)))
    where = chance.randint(0, len(lines))
    lines[where:where] = chance.choice((
        [], [line, line], [line], [b"  " + line], [b"\t" + line], [line.lstrip()], [line.rstrip()]))
    return b"".join(lines)


def _spliced(text: bytes, seeds: tuple[Seed, ...], chance: random.Random) -> bytes:
    """The beginning of one text, the end of another."""
    other = chance.choice(seeds).text
    return text[:chance.randint(0, len(text))] + other[chance.randint(0, len(other)):]


def _cut(text: bytes, seeds: tuple[Seed, ...], chance: random.Random) -> bytes:
    del seeds
    return text[:chance.randint(0, len(text))]


def _coded(text: bytes, seeds: tuple[Seed, ...], chance: random.Random) -> bytes:
    """In another code, or with other ends of lines."""
    del seeds
    kind = chance.randrange(5)
    if kind == 0:
        return b"\xef\xbb\xbf" + text
    if kind == 1:
        return text.replace(b"\n", chance.choice((b"\r\n", b"\r", b"\x85", b"\n\n", b"")))
    if kind == 2:
        return text.decode("utf-8", "replace").encode(chance.choice(("utf-16", "utf-16-le", "utf-32")))
    return text.replace(b" ", b"\t") if kind == 3 else text.replace(b" ", b"\xc2\xa0")


EDITS: Final[tuple[Edit, ...]] = (
    _word, _word, _whole_word, _whole_word, _whole_word, _byte, _digits, _drop, _again, _line, _line, _spliced, _cut, _coded)


# -- trees ------------------------------------------------------------------------------------------------------------


def _count(tree: Any) -> int:
    inner = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return 1 + sum(map(_count, inner))


def _written(seed: Seed, chance: random.Random) -> str:
    """The tree as YAML in flow style, some of its nodes something else."""
    chosen = {chance.randrange(seed.nodes) for _ in range(chance.choice((1, 1, 1, 2, 3)))}
    return _Writer(seed.tree, chosen, chance).text()


class _Writer:
    """Writes a tree; counts its nodes on the way, and writes something else in the place of those chosen."""

    def __init__(self, tree: Any, chosen: set[int], chance: random.Random) -> None:
        self._tree, self._chosen, self._chance = tree, chosen, chance
        self._number = -1
        self._parts: list[Any] = []

    def text(self) -> str:
        if not isinstance(self._tree, dict) or 0 in self._chosen:
            return self.node(self._tree) + "\n"
        self._number = 0  # the top in block style: most faults then have lines of their own
        return "".join(f"{_key(key)}: {self.node(value)}\n" for key, value in self._tree.items())

    def node(self, value: Any) -> str:
        self._number += 1
        if self._number in self._chosen:
            self._chosen.discard(self._number)
            return self._changed(value)
        if isinstance(value, dict):
            return "{" + ", ".join(f"{_key(key)}: {self.node(inner)}" for key, inner in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(self.node, value)) + "]"
        if len(self._parts) < 50:
            self._parts.append(value)
        return json.dumps(value)

    def _changed(self, value: Any) -> str:
        """Another value, the same within or around something, or a collection with something dropped, doubled or added."""
        chance = self._chance
        kind = chance.randrange(12)
        if kind < 3:
            return chance.choice(WORDS)
        if kind == 3:
            return json.dumps(chance.choice(WORDS))
        if kind == 4 and self._parts:
            return json.dumps(chance.choice(self._parts))
        if kind == 5:
            depth = chance.choice((1, 2, 5, 31, 40, 500))
            return "[" * depth + flow(value) + "]" * depth
        if kind == 6:
            return f"{chance.choice(('&x', '!!str', '!!int', '!!map', '!!binary', '!!python/name:os.system'))} {flow(value)}"
        if isinstance(value, dict) and value:
            return self._changed_mapping(value)
        if isinstance(value, list):
            items = [flow(item) for item in value]
            if items and chance.random() < 0.5:
                items.pop(chance.randrange(len(items)))
            else:
                items = items * chance.choice((0, 2, 3, 20)) + [chance.choice(WORDS)] * chance.choice((0, 1, 40))
            return "[" + ", ".join(items) + "]"
        if isinstance(value, int) and not isinstance(value, bool):
            near = 0, 1, -value, value + 1, value - 1, value * 2, value * 10**6, value * 10**18, float(value)
            return str(chance.choice(near))
        return json.dumps(str(value) + chance.choice(("", " ", "s", "/s", "\n", "\x00", "x" * 500)))

    def _changed_mapping(self, value: dict[Any, Any]) -> str:
        chance = self._chance
        items = [(_key(key), flow(inner)) for key, inner in value.items()]
        place = chance.randrange(len(items))
        kind = chance.randrange(6)
        if kind == 0:
            items.pop(place)
        elif kind == 1:
            items.append(items[place])
        elif kind == 2:
            items[place] = (chance.choice(WORDS), items[place][1])
        elif kind == 3:
            other = chance.randrange(len(items))
            items[place], items[other] = (items[place][0], items[other][1]), (items[other][0], items[place][1])
        elif kind == 4:
            items[place] = (items[place][0][:-2] + 'x"' if items[place][0].endswith('"') else "[a, b]", items[place][1])
        else:
            items += [(f"extra{i}", "1") for i in range(chance.choice((1, 60)))]
        return "{" + ", ".join(f"{key}: {inner}" for key, inner in items) + "}"


def _key(key: str | tuple[str, ...]) -> str:
    return json.dumps(list(key)) if isinstance(key, tuple) else json.dumps(key)


def flow(value: Any) -> str:
    """Plain data as YAML in flow style."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)}: {flow(inner)}" for key, inner in value.items()) + "}"
    return "[" + ", ".join(map(flow, value)) + "]" if isinstance(value, list) else json.dumps(value)
