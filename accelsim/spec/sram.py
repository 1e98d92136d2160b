"""An SRAM's banks as they are asked for on the command line, beside what the chip says of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from accelsim.errors import Fault, SpecError, nearest
from accelsim.spec.banks import (
    MOST_BANKS,
    Arbitration,
    Banks,
    Layout,
    LayoutKind,
    bytes_of,
    grain_words,
    interleaved_bytes,
    parse_layout,
    parse_ports,
)
from accelsim.spec.chip import Memory

Read = TypeVar("Read")


class Edge(Enum):
    """When a systolic array asks for what it needs skewed: at once, registers at its edge delay it; or lane by lane."""

    REGISTERS = "registers"
    SKEWED = "skewed"


@dataclass(frozen=True)
class BankWords:
    """Banks as written on the command line; None where the chip, or a default, is to say it."""

    banks: int | None = None
    width: str | None = None
    ports: str | None = None
    interleave: str | None = None
    arbitration: Arbitration = Arbitration.ARRAY_FIRST
    layouts: tuple[str, ...] = ()


def read_banks(memory: Memory, words: BankWords, tensors: Sequence[str]) -> tuple[Banks, dict[str, Layout]]:
    """The banks of a memory and the layouts of its tiles, by the names of its ``tensors`` and "" for the others; what is
    in neither lies as the mapping says. Raises SpecError with every fault.
    """
    faults: list[Fault] = []

    def read(option: str, text: str, parse: Callable[[str], Read]) -> Read | None:
        try:
            return parse(text)
        except ValueError as error:
            faults.append(Fault(option, 0, 0, "", str(error)))
            return None

    known = memory.banked
    count = words.banks if words.banks is not None else known.count if known is not None else memory.banks
    if count is None:
        faults.append(Fault("--banks", 0, 0, "", f"{memory.name} says nothing of banks in its chip", "--banks N"))
    elif not 1 <= count <= MOST_BANKS:
        faults.append(Fault("--banks", 0, 0, "", f"{count:,} banks", f"1 to {MOST_BANKS:,}"))
    if words.width is None and known is None:
        faults.append(Fault("--width", 0, 0, "", f"the chip says nothing of the width of a bank of {memory.name}",
                            "--width \"16 B\": the bytes of one word, what a port of a bank moves in a cycle"))
    width = (None if known is None else known.width_bytes) if words.width is None else read("--width", words.width, bytes_of)
    ports = known.ports if words.ports is None and known is not None else read("--ports", words.ports or "1RW", parse_ports)
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
    grain = None
    if not count or not width:
        read("--interleave", words.interleave or "word", interleaved_bytes)
    else:
        told = words.interleave is not None or words.banks is not None or words.width is not None
        grain = known.grain_words if known is not None and not told else read(
            "--interleave", words.interleave or "word", lambda text: grain_words(text, count, width, memory.capacity_bytes))
        if count & (count - 1) and any(one.kind is LayoutKind.SWIZZLED for one in layouts.values()):
            faults.append(Fault("--layout", 0, 0, "", f"swizzled: {count} banks are no power of two",
                                "another layout, or 2, 4, 8 .. banks"))
    if faults or count is None or width is None or ports is None or grain is None:
        raise SpecError(faults)
    return Banks(count, width, ports, grain, words.arbitration), layouts
