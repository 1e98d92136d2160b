"""A hardware-managed cache in a memory's place, as it is asked for on the command line."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from accelsim.errors import Fault, SpecError
from accelsim.spec.chip import Memory
from accelsim.units import format_bytes, parse_bytes

FULL = "full"
_LARGEST = 1 << 20


@dataclass(frozen=True)
class Cache:
    """Sets of ``ways`` lines of ``line_bytes``, least recently used; written back, and allocated on a write.

    ``outstanding``: misses in flight at a time. ``lookups``: in a cycle. ``hit_cycles``: from a lookup to its data.
    """

    sets: int
    ways: int
    line_bytes: int
    outstanding: int
    lookups: int
    hit_cycles: int

    @property
    def lines(self) -> int:
        """Lines that it holds."""
        return self.sets * self.ways


@dataclass(frozen=True)
class Beyond:
    """The level beyond: its latency, and bytes a cycle of its ports inward and outward (None: no limit); ``shared``: one port."""

    latency_cycles: int
    fill_rate: Fraction | None
    back_rate: Fraction | None
    shared: bool


@dataclass(frozen=True)
class CacheWords:
    """A cache as written on the command line."""

    capacity: str | None = None
    line: str = "64 B"
    ways: str = "8"
    outstanding: int = 16
    lookups: int = 1


def read_cache(memory: Memory, words: CacheWords) -> Cache:
    """The cache in a memory's place, of its capacity and latency unless told. Raises SpecError with every fault."""
    faults: list[Fault] = []

    def size(option: str, text: str) -> int | None:
        try:
            return parse_bytes(text)
        except ValueError as error:
            faults.append(Fault(option, 0, 0, "", str(error)))
            return None

    capacity = memory.capacity_bytes if words.capacity is None else size("--capacity", words.capacity)
    if words.capacity is None and capacity is None:
        faults.append(Fault("--capacity", 0, 0, "", f"{memory.name} is unlimited in its chip", "--capacity \"64 KiB\""))
    line = size("--line", words.line)
    ways = int(words.ways) if words.ways.isascii() and words.ways.isdigit() and len(words.ways) < 8 else 0
    if words.ways != FULL and not 1 <= ways <= _LARGEST:
        faults.append(Fault("--ways", 0, 0, "", f"'{words.ways[:40]}' are no ways", f"1 to {_LARGEST:,}, or {FULL}"))
    for option, count in (("--outstanding", words.outstanding), ("--lookups", words.lookups)):
        if not 1 <= count <= _LARGEST:
            faults.append(Fault(option, 0, 0, "", f"{count:,}", f"1 to {_LARGEST:,}"))
    if not faults and capacity is not None and line is not None:
        ways = max(1, capacity // line) if words.ways == FULL else ways
        if capacity % (line * ways):
            faults.append(Fault("--ways", 0, 0, "", f"{format_bytes(capacity)} are no whole number of sets of {ways:,} lines of "
                                f"{format_bytes(line)}", "a capacity, a line and ways that divide"))
    if faults or capacity is None or line is None:
        raise SpecError(faults)
    return Cache(capacity // line // ways, ways, line, words.outstanding, words.lookups, memory.latency_cycles)
