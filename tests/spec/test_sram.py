"""Banks, ports, layouts and caches as they are written on the command line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accelsim.errors import SpecError
from accelsim.spec.banks import Arbitration, Layout, LayoutKind, Ports, parse_layout, parse_ports
from accelsim.spec.cache import Cache, CacheWords, read_cache
from accelsim.spec.chip import Memory
from accelsim.spec.read import read_chip
from accelsim.spec.sram import BankWords, read_banks


def memory(name: str = "SPAD") -> Memory:
    return next(one for level in read_chip("gemmini").levels for one in level.memories if one.name == name)


@pytest.mark.parametrize(("text", "ports"), [("1RW", Ports(both=1)), ("2rw", Ports(both=2)), ("1R1W", Ports(1, 1)),
                                             ("2R", Ports(2)), (" 3R2W ", Ports(3, 2)), ("1RW1R", Ports(1, 0, 1)),
                                             ("1W1R", Ports(1, 1)), ("1r1rw", Ports(1, 0, 1)), ("2RW1W", Ports(0, 1, 2)),
                                             ("1RW2R3W", Ports(2, 3, 1)), ("32RW32R", Ports(32, 0, 32))])
def test_ports(text: str, ports: Ports) -> None:
    assert parse_ports(text) == ports
    assert parse_ports(str(ports)) == ports


@pytest.mark.parametrize("text", ["", "RW", "0RW", "1W", "2W", "0R1W", "1RW0R", "65RW", "99R1W", "33RW32R", "1R1R", "1RW1RW",
                                  "-1RW", "1RWR", "1RW 1R", "one"])
def test_what_are_no_ports(text: str) -> None:
    with pytest.raises(ValueError, match="are no ports of a bank"):
        parse_ports(text)


@pytest.mark.parametrize(("text", "layout"), [
    ("row", Layout(LayoutKind.ROW)), ("column", Layout(LayoutKind.COLUMN)), ("swizzled", Layout(LayoutKind.SWIZZLED)),
    ("blocked:8x4", Layout(LayoutKind.BLOCKED, (8, 4))), ("padded:3", Layout(LayoutKind.PADDED, pad_words=3))])
def test_layouts(text: str, layout: Layout) -> None:
    assert parse_layout(text) == layout
    assert str(layout) == text


@pytest.mark.parametrize("text", ["", "rows:1", "row:1", "blocked", "blocked:0x4", "blocked:4", "padded", "padded:0", "swizled",
                                  "x" * 99])
def test_what_is_no_layout(text: str) -> None:
    with pytest.raises(ValueError, match="is no layout"):
        parse_layout(text)


def test_banks_of_the_chip_and_of_the_command() -> None:
    banks, layouts = read_banks(memory("ACC"), BankWords(width="64 B", layouts=("column", "C=padded:1")), ["C"])
    assert (banks.count, banks.width_bytes, str(banks.ports), banks.grain_words) == (2, 64, "1RW", 1)
    assert (str(layouts[""]), str(layouts["C"])) == ("column", "padded:1")
    banks, layouts = read_banks(memory(), BankWords(8, "16 B", "2R1W", "bank", Arbitration.ROUND_ROBIN), ["A"])
    assert (banks.count, banks.grain_words) == (8, 256 * 1024 // 8 // 16)
    assert not layouts, "as the mapping says"
    assert read_banks(memory(), BankWords(8, "16 B", interleave="64 B"), [])[0].grain_words == 4


def test_every_fault_of_banks_at_once() -> None:
    with pytest.raises(SpecError) as found:
        read_banks(memory(), BankWords(0, "x", "y", "z", layouts=("w", "A=row", "A=row")), ["A"])
    assert [one.file for one in found.value.faults] == ["--banks", "--width", "--ports", "--layout", "--layout", "--interleave"]
    with pytest.raises(SpecError, match="unlimited"):
        read_banks(replace(memory(), capacity_bytes=None), BankWords(4, "16 B", interleave="bank"), [])
    with pytest.raises(SpecError, match="no power of two"):
        read_banks(memory(), BankWords(6, "16 B", layouts=("A=swizzled",)), ["A"])


def test_caches() -> None:
    assert read_cache(memory(), CacheWords()) == Cache(512, 8, 64, 16, 1, 4)
    assert read_cache(memory(), CacheWords("4 KiB", "32 B", "full")) == Cache(1, 128, 32, 16, 1, 4)
    with pytest.raises(SpecError) as found:
        read_cache(memory(), CacheWords("x", "y", "0", 0, 0))
    assert [one.file for one in found.value.faults] == ["--capacity", "--line", "--ways", "--outstanding", "--lookups"]
    with pytest.raises(SpecError, match="no whole number of sets"):
        read_cache(memory(), CacheWords("4 KiB", "64 B", "3"))
    with pytest.raises(SpecError, match="no whole number of sets"):
        read_cache(memory(), CacheWords("100 B", "64 B", "full"))
    with pytest.raises(SpecError, match="is unlimited"):
        read_cache(replace(memory(), capacity_bytes=None), CacheWords())
