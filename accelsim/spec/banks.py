"""Banks of an SRAM: their words and ports, how tiles are laid out over them, and who goes first."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from math import prod

from accelsim.errors import nearest
from accelsim.units import format_bytes, parse_bytes

MOST_BANKS = 1 << 16
_MOST_PORTS = 64
_LARGEST_BYTES = 1 << 40


class LayoutKind(Enum):
    """How the elements of a tile lie in the words of a memory. Row: the last axis is contiguous; column: the first is. The others
    see rows along the last axis, one for each index of all the others.
    """

    ROW = "row"
    COLUMN = "column"
    BLOCKED = "blocked"
    PADDED = "padded"
    SWIZZLED = "swizzled"


class Arbitration(Enum):
    """Who is served first where the array and the DMA want one bank."""

    ARRAY_FIRST = "array-first"
    DMA_FIRST = "dma-first"
    ROUND_ROBIN = "round-robin"


@dataclass(frozen=True)
class Layout:
    """A layout. ``block``: rows and columns of a block. ``pad_words``: words left free after each row."""

    kind: LayoutKind
    block: tuple[int, int] = (1, 1)
    pad_words: int = 0

    def __str__(self) -> str:
        rest = {LayoutKind.BLOCKED: f":{self.block[0]}x{self.block[1]}", LayoutKind.PADDED: f":{self.pad_words}"}
        return self.kind.value + rest.get(self.kind, "")


@dataclass(frozen=True)
class Ports:
    """Ports of one bank: for reads, for writes, or (``both``) for either."""

    reads: int = 0
    writes: int = 0
    both: int = 0

    def __str__(self) -> str:
        kinds = ((self.both, "RW"), (self.reads, "R"), (self.writes, "W"))
        return "".join(f"{count}{kind}" for count, kind in kinds if count)

    @property
    def count(self) -> int:
        """All ports of a bank."""
        return self.reads + self.writes + self.both


@dataclass(frozen=True)
class Banks:
    """``count`` banks of words of ``width_bytes``: word w of the memory is in bank (w // ``grain_words``) mod ``count``."""

    count: int
    width_bytes: int
    ports: Ports
    grain_words: int = 1
    arbitration: Arbitration = Arbitration.ARRAY_FIRST


@dataclass(frozen=True)
class Laid:
    """A layout for a tile of ``counts`` elements along its axes, of ``bits`` each; words are counted from the tile's first.

    Row, column, blocked: elements stand close, in the order of the layout: the last axis fastest, the first axis fastest, or
    blocks of rows and columns (rows run along the last axis) that are row-major, and so are their elements; those at the edge
    are whole. Padded: each row begins with a word and has so many words more. Swizzled: with words counted
    in grains (the words of one bank in a row), rows are P grains apart, their length rounded up to a power of two below the
    number of banks B, else to a multiple of B; grain g then stands in place of g XOR (floor(g / S) mod B), S the larger of B
    and the largest power of two that divides P. That is one to one within each B grains; an aligned B grains of a row lie in B
    banks, and so does a column of B rows (where P < B: each run of B rows from a multiple of B).
    """

    layout: Layout
    banks: Banks
    counts: tuple[int, ...]
    bits: int

    @property
    def columns(self) -> int:
        """Elements of a row."""
        return self.counts[-1] if self.counts else 1

    @property
    def rows(self) -> int:
        """Rows: all axes but the last."""
        return prod(self.counts[:-1])

    @property
    def word_bits(self) -> int:
        """Bits of a word."""
        return 8 * self.banks.width_bytes

    @property
    def row_words(self) -> int:
        """Words that a row of elements takes if it begins with one."""
        return -(-self.columns * self.bits // self.word_bits)

    @property
    def pitch_grains(self) -> int:
        """Swizzled: grains from one row to the next."""
        grains, count = -(-self.row_words // self.banks.grain_words), self.banks.count
        return 1 << (grains - 1).bit_length() if grains < count else -(-grains // count) * count

    @property
    def size_words(self) -> int:
        """Words that the tile takes."""
        kind, (high, wide) = self.layout.kind, self.layout.block
        if kind is LayoutKind.SWIZZLED:
            grains = self.rows * self.pitch_grains
            return -(-grains // self.banks.count) * self.banks.count * self.banks.grain_words
        if kind is LayoutKind.PADDED:
            return self.rows * (self.row_words + self.layout.pad_words)
        blocked = kind is LayoutKind.BLOCKED
        elements = -(-self.rows // high) * high * -(-self.columns // wide) * wide if blocked else self.rows * self.columns
        return -(-elements * self.bits // self.word_bits)


def parse_ports(text: str) -> Ports:
    """``1RW``, ``2RW``, ``1R1W``, ``2R1W``, ``2R``, ``1RW1R``: numbers of ports that serve either, reads, writes, each kind once.
    ValueError where it is none of these, or nothing can be read.
    """
    word = text.strip().upper()
    found = re.findall(r"([1-9][0-9]?)(RW|R|W)", word)
    count = {kind: int(number) for number, kind in found}
    ports = Ports(count.get("R", 0), count.get("W", 0), count.get("RW", 0))
    whole = "".join(number + kind for number, kind in found) == word and len(count) == len(found)
    if not whole or not ports.reads + ports.both or ports.count > _MOST_PORTS:
        raise ValueError(f"'{text[:40]}' are no ports of a bank; allowed: nRW (each serves either), nR (reads alone), nW (writes "
                         f"alone), each once, one that reads and {_MOST_PORTS} at most, such as 1RW, 2RW, 1R1W, 2R1W, 1RW1R")
    return ports


def parse_layout(text: str) -> Layout:
    """``row``, ``column``, ``blocked:8x8``, ``padded:1``, ``swizzled``. ValueError where it is none of these."""
    name, _, rest = text.strip().partition(":")
    kinds = {kind.value: kind for kind in LayoutKind}
    kind = kinds.get(name)
    if kind is LayoutKind.BLOCKED and (found := re.fullmatch(r"([1-9][0-9]{0,5})x([1-9][0-9]{0,5})", rest)):
        return Layout(kind, (int(found[1]), int(found[2])))
    if kind is LayoutKind.PADDED and re.fullmatch("[1-9][0-9]{0,5}", rest):
        return Layout(kind, pad_words=int(rest))
    if kind is not None and kind not in {LayoutKind.BLOCKED, LayoutKind.PADDED} and not rest:
        return Layout(kind)
    hint = nearest(name, list(kinds))
    raise ValueError(f"'{text[:40]}' is no layout; allowed: row, column, blocked:ROWSxCOLUMNS, padded:WORDS, swizzled"
                     + (f"; did you mean '{hint}'?" if hint and hint != name else ""))


def bytes_of(text: str) -> int:
    """Bytes, as many as make sense. ValueError where they are none."""
    size = parse_bytes(text)
    if size > _LARGEST_BYTES:
        raise ValueError(f"'{text[:40]}' is too large")
    return size


def interleaved_bytes(text: str) -> int:
    """Bytes that lie in one bank before the next follows; 0 for one word, -1 for all of it. ValueError where it is neither."""
    word = text.strip()
    if word in {"word", "bank"}:
        return 0 if word == "word" else -1
    try:
        return bytes_of(word)
    except ValueError as error:
        raise ValueError(f"{error}; or 'word', or 'bank' for one bank behind the other") from None


def grain_words(text: str, count: int, width: int, capacity: int | None) -> int:
    """Words that lie in one bank before the next follows: ``word``, ``bank`` (all of a bank's), or a size. ValueError where that
    makes no banks.
    """
    size = interleaved_bytes(text)
    if size == 0:
        return 1
    if size < 0:
        if capacity is None:
            raise ValueError("bank: the memory is unlimited; give the size of a block")
        if capacity % (count * width):
            raise ValueError(f"bank: {format_bytes(capacity)} are not {count} equal banks of words of {width} B")
        return capacity // count // width
    if size % width:
        raise ValueError(f"{text.strip()} is not a whole number of words of {width} B")
    return size // width
