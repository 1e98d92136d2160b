"""An SRAM's banks and ports, how tiles are laid out over them, and who goes first: what is asked on the command line."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from accelsim.errors import Fault, SpecError, nearest
from accelsim.spec.chip import Memory
from accelsim.units import format_bytes, parse_bytes

MOST_BANKS = 1 << 16
_MOST_PORTS = 64
_LARGEST_BYTES = 1 << 40
Read = TypeVar("Read")


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


class Edge(Enum):
    """When a systolic array asks for what it needs skewed: at once, registers at its edge delay it; or lane by lane."""

    REGISTERS = "registers"
    SKEWED = "skewed"


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
class BankWords:
    """Banks as written on the command line; None where the chip, or a default, is to say it."""

    banks: int | None = None
    width: str | None = None
    ports: str = "1RW"
    interleave: str = "word"
    arbitration: Arbitration = Arbitration.ARRAY_FIRST
    layouts: tuple[str, ...] = ()


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


def read_banks(memory: Memory, words: BankWords, tensors: Sequence[str]) -> tuple[Banks, dict[str, Layout]]:
    """The banks of a memory and the layouts of its tiles, by the names of its ``tensors`` and "" for the others. Raises SpecError
    with every fault.
    """
    faults: list[Fault] = []

    def read(option: str, text: str, parse: Callable[[str], Read]) -> Read | None:
        try:
            return parse(text)
        except ValueError as error:
            faults.append(Fault(option, 0, 0, "", str(error)))
            return None

    count = words.banks if words.banks is not None else memory.banks
    if count is None:
        faults.append(Fault("--banks", 0, 0, "", f"{memory.name} says nothing of banks in its chip", "--banks N"))
    elif not 1 <= count <= MOST_BANKS:
        faults.append(Fault("--banks", 0, 0, "", f"{count:,} banks", f"1 to {MOST_BANKS:,}"))
    if words.width is None:
        faults.append(Fault("--width", 0, 0, "", f"a chip says nothing of the width of a bank of {memory.name}",
                            "--width \"16 B\": the bytes of one word, what a port of a bank moves in a cycle"))
    width = None if words.width is None else read("--width", words.width, _size)
    ports = read("--ports", words.ports, parse_ports)
    layouts: dict[str, Layout] = {}
    for word in words.layouts:
        name, equals, rest = word.rpartition("=")
        layout = read("--layout", rest, parse_layout)
        if equals and name not in tensors:
            faults.append(Fault("--layout", 0, 0, word[:60], f"{memory.name} holds no tensor '{name[:40]}'", ", ".join(tensors),
                                nearest(name, tensors)))
        elif name in layouts:
            faults.append(Fault("--layout", 0, 0, word[:60], f"a second layout for {name or 'all'}"))
        elif layout is not None:
            layouts[name] = layout
    layouts.setdefault("", Layout(LayoutKind.ROW))
    grain = None
    if not count or not width:
        read("--interleave", words.interleave, _interleaved)
    else:
        grain = read("--interleave", words.interleave, lambda text: _grain(text, count, width, memory.capacity_bytes))
        if count & (count - 1) and any(one.kind is LayoutKind.SWIZZLED for one in layouts.values()):
            faults.append(Fault("--layout", 0, 0, "", f"swizzled: {count} banks are no power of two",
                                "another layout, or 2, 4, 8 .. banks"))
    if faults or count is None or width is None or ports is None or grain is None:
        raise SpecError(faults)
    return Banks(count, width, ports, grain, words.arbitration), layouts


def _size(text: str) -> int:
    size = parse_bytes(text)
    if size > _LARGEST_BYTES:
        raise ValueError(f"'{text[:40]}' is too large")
    return size


def _interleaved(text: str) -> int:
    """Bytes that lie in one bank before the next follows; 0 for one word, -1 for all of it."""
    word = text.strip()
    if word in {"word", "bank"}:
        return 0 if word == "word" else -1
    try:
        return _size(word)
    except ValueError as error:
        raise ValueError(f"{error}; or 'word', or 'bank' for one bank behind the other") from None


def _grain(text: str, count: int, width: int, capacity: int | None) -> int:
    """Words that lie in one bank before the next follows."""
    size = _interleaved(text)
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
