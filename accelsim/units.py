"""Where text becomes quantities ("900 GB/s", "24 MiB", "14 ns") and time becomes cycles; nowhere else does.

Everything is exact (``fractions.Fraction``). A quantity is a plain decimal number and a unit: a bare number, a sign, an
exponent, a thousands separator or an unknown unit is a ``ValueError`` that says what was found and what is allowed.
Letter case counts: ``B`` is a byte and ``b`` a bit; ``kB`` and ``KB`` are 1000 bytes, ``KiB`` is 1024.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Final, Literal

from accelsim.errors import did_you_mean, nearest

_LONGEST_TEXT: Final = 64
_LONGEST_NUMBER: Final = 40
_QUANTITY: Final = re.compile(r" *([0-9]+(?:\.[0-9]+)?) *([A-Za-z][A-Za-z/]*) *")

_DECIMAL: Final = (("", 1), ("k", 10**3), ("M", 10**6), ("G", 10**9), ("T", 10**12), ("P", 10**15))
_BINARY: Final = (("Ki", 2**10), ("Mi", 2**20), ("Gi", 2**30), ("Ti", 2**40), ("Pi", 2**50))

_Units = Mapping[str, Fraction]


def _information_units() -> _Units:
    """Bytes in each unit of information; units that print best come first, other spellings last."""
    units = {f"{prefix}B": Fraction(scale) for prefix, scale in _DECIMAL + _BINARY}
    units |= {f"{prefix}bit": Fraction(scale, 8) for prefix, scale in _DECIMAL + _BINARY}
    units |= {f"{prefix}b": Fraction(scale, 8) for prefix, scale in _DECIMAL + _BINARY}
    units |= {"KB": Fraction(1000), "Kbit": Fraction(125), "Kb": Fraction(125)}
    return MappingProxyType(units)


_BYTES: Final = _information_units()
_PER_CYCLE: Final[_Units] = MappingProxyType({f"{unit}/cycle": scale for unit, scale in _BYTES.items()})
_PER_SECOND: Final[_Units] = MappingProxyType({f"{unit}/s": scale for unit, scale in _BYTES.items()})
_SECONDS: Final[_Units] = MappingProxyType(
    {"s": Fraction(1), **{f"{p}s": Fraction(1, 10**d) for p, d in (("m", 3), ("u", 6), ("n", 9), ("p", 12))}}
)
_CYCLES: Final[_Units] = MappingProxyType({"cycles": Fraction(1), "cycle": Fraction(1)})
_HERTZ: Final[_Units] = MappingProxyType({f"{prefix}Hz": Fraction(scale) for prefix, scale in _DECIMAL[:5]})


def parse_bytes(text: object) -> int:
    """Bytes of an amount of memory: "64 KiB", "1.5 MB", "12 B", "256 bit"; more than 0 and whole bytes."""
    examples = "'64 KiB', '24 MiB', '1.5 MB', '12 B' or '256 bit'"
    value, unit = _parse(text, "an amount of memory", examples, _BYTES, zero=False)
    amount = value * _BYTES[unit]
    if amount.denominator != 1:
        raise ValueError(f"{text!r} is not a whole number of bytes; an amount of memory is written as {examples}")
    return amount.numerator


def parse_rate(text: object) -> Rate:
    """A bandwidth: "900 GB/s", "900 Gb/s" (bits), "1 GiB/s", "1.9 B/cycle", "16 bit/cycle"; more than 0."""
    examples = "'900 GB/s', '900 Gb/s' (bits), '1 GiB/s', '4 B/cycle' or '16 bit/cycle'"
    value, unit = _parse(text, "a bandwidth", examples, {**_PER_SECOND, **_PER_CYCLE}, zero=False)
    if unit in _PER_CYCLE:
        return Rate(value * _PER_CYCLE[unit], "cycle")
    return Rate(value * _PER_SECOND[unit], "second")


def parse_duration(text: object) -> Duration:
    """A latency: "100 cycles", "1 cycle", "14 ns", "1.5 us", "2 ms", "1 s"; 0 or more."""
    examples = "'100 cycles', '14 ns', '1.5 us', '2 ms' or '1 s'"
    value, unit = _parse(text, "a time", examples, {**_SECONDS, **_CYCLES}, zero=True)
    if unit in _CYCLES:
        return Duration(value, "cycle")
    return Duration(value * _SECONDS[unit], "second")


def parse_frequency(text: object) -> Fraction:
    """Hertz of a clock: "1.2 GHz", "700 MHz"; more than 0."""
    value, unit = _parse(text, "a clock", "'1.2 GHz' or '700 MHz'", _HERTZ, zero=False)
    return value * _HERTZ[unit]


@dataclass(frozen=True)
class Rate:
    """A bandwidth: bytes per cycle of its clock domain, or bytes per second."""

    bytes: Fraction
    per: Literal["cycle", "second"]

    def per_cycle(self, clock_hz: Fraction, own_clock_hz: Fraction | None = None) -> Fraction:
        """Bytes per cycle of a clock, exactly; a rate per cycle of another domain is given that domain's clock."""
        _check_clock(clock_hz)
        if self.per == "second":
            return self.bytes / clock_hz
        if own_clock_hz is None:
            return self.bytes
        _check_clock(own_clock_hz)
        return self.bytes * own_clock_hz / clock_hz

    def format(self) -> str:
        """The text that ``parse_rate`` reads back to exactly this rate."""
        return _format_exact(self.bytes, _PER_CYCLE if self.per == "cycle" else _PER_SECOND)


@dataclass(frozen=True)
class Duration:
    """A time: cycles of its clock domain, or seconds."""

    value: Fraction
    unit: Literal["cycle", "second"]

    def cycles(self, clock_hz: Fraction, own_clock_hz: Fraction | None = None) -> int:
        """Whole cycles of a clock that this time lasts, rounded UP; cycles of another domain go by that domain's clock.

        ``own_clock_hz`` is the clock in which a time given in cycles counts; without it, that is ``clock_hz``.
        """
        _check_clock(clock_hz)
        if self.unit == "second":
            return math.ceil(self.value * clock_hz)
        return cross_domain(self.value, clock_hz if own_clock_hz is None else own_clock_hz, clock_hz)

    def format(self) -> str:
        """The text that ``parse_duration`` reads back to exactly this time."""
        if self.unit == "second":
            return _format_exact(self.value, _SECONDS)
        return _format_exact(self.value, {"cycle" if self.value == 1 else "cycles": Fraction(1)})


def cross_domain(cycles: int | Fraction, from_clock_hz: Fraction, to_clock_hz: Fraction) -> int:
    """Cycles of one clock domain as whole cycles of another, rounded UP: data is never there before it can be."""
    _check_clock(from_clock_hz)
    _check_clock(to_clock_hz)
    return math.ceil(Fraction(cycles) * to_clock_hz / from_clock_hz)


def format_bytes(amount_bytes: int) -> str:
    """Exact text of an amount of memory in its largest whole unit, binary first; ``parse_bytes`` reads it back.

    0 is printed ("0 B") although no memory may be declared so.
    """
    if amount_bytes < 0:
        raise ValueError(f"{amount_bytes} bytes: an amount of memory is not negative")
    if amount_bytes:
        for prefix, scale in _BINARY[::-1] + _DECIMAL[:0:-1]:
            if amount_bytes % scale == 0:
                return f"{amount_bytes // scale} {prefix}B"
    return f"{amount_bytes} B"


def format_frequency(frequency_hz: Fraction) -> str:
    """The text that ``parse_frequency`` reads back to exactly this clock."""
    return _format_exact(frequency_hz, _HERTZ)


def human_bytes(amount_bytes: int | Fraction) -> str:
    """Bytes for a reader, three digits and a binary unit: "1.50 KiB"; rounded, not to be read back."""
    return _human(Fraction(amount_bytes), 1024, ("B", "KiB", "MiB", "GiB", "TiB", "PiB"))


def human_rate(bytes_per_s: int | Fraction) -> str:
    """A bandwidth for a reader, three digits and a decimal unit: "34.0 GB/s"; rounded, not to be read back."""
    return _human(Fraction(bytes_per_s), 1000, ("B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s"))


def human_time(seconds: Fraction | float) -> str:
    """A time for a reader, three digits and a unit: "12.3 us"; rounded, not to be read back."""
    if isinstance(seconds, float) and not math.isfinite(seconds):
        raise ValueError(f"{seconds!r} is not a time")
    value = Fraction(seconds)
    if value == 0:
        return "0 s"
    return _human(value * 10**12, 1000, ("ps", "ns", "us", "ms", "s"))


def grouped(number: int) -> str:
    """A whole number with thousands separators: 1,234,567."""
    return f"{number:,}"


@dataclass(frozen=True)
class DType:
    """A number format: its name, the bits one element takes in a memory, and whether it is an integer."""

    name: str
    bits: int
    kind: Literal["int", "float"]


DTYPES: Final[Mapping[str, DType]] = MappingProxyType(
    {
        "int4": DType("int4", 4, "int"),
        "int8": DType("int8", 8, "int"),
        "uint8": DType("uint8", 8, "int"),
        "int16": DType("int16", 16, "int"),
        "int32": DType("int32", 32, "int"),
        "int64": DType("int64", 64, "int"),
        "fp8": DType("fp8", 8, "float"),
        "bf16": DType("bf16", 16, "float"),
        "fp16": DType("fp16", 16, "float"),
        "tf32": DType("tf32", 32, "float"),  # 19 bits used, 32 stored
        "fp32": DType("fp32", 32, "float"),
        "fp64": DType("fp64", 64, "float"),
    }
)


def parse_dtype(text: object) -> DType:
    """The number format of that name."""
    if isinstance(text, str) and text in DTYPES:
        return DTYPES[text]
    hint = did_you_mean(text, DTYPES) if isinstance(text, str) else ""
    raise ValueError(_sentence(f"{_shown(text)} is not a dtype", f"allowed: {', '.join(DTYPES)}", hint))


def default_accumulator(dtype: DType) -> DType:
    """What products of this format are summed in by default: int32 or fp32, and 64 bits where they need it."""
    if dtype.kind == "int":
        return DTYPES["int64" if dtype.bits >= 32 else "int32"]
    return DTYPES["fp64" if dtype.bits > 32 else "fp32"]


def _parse(text: object, what: str, examples: str, units: _Units, *, zero: bool) -> tuple[Fraction, str]:
    """Split a quantity into its number and its known unit, or say precisely why it cannot be."""
    allowed = f"{what} is written as {examples}"
    if not isinstance(text, str):
        bare = isinstance(text, int | float) and not isinstance(text, bool)
        raise ValueError(_sentence(f"{_shown(text)} {'has no unit' if bare else 'is not text'}", allowed))
    found = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST_TEXT else None
    if found is None or len(found[1]) > _LONGEST_NUMBER:
        raise ValueError(_sentence(f"{_shown(text)} {_why_unreadable(text)}", allowed))
    number, unit = found[1], found[2]
    if unit not in units:
        raise ValueError(_sentence(f"{_shown(text)} has the unknown unit '{unit}'", allowed, _unit_hint(unit, units)))
    value = Fraction(number)
    if value == 0 and not zero:
        raise ValueError(_sentence(f"{_shown(text)} is not more than 0", allowed))
    return value, unit


def _why_unreadable(text: str) -> str:
    """What stops this text from being a number and a unit."""
    bare = text.strip(" ")
    number = re.match(r"[0-9.]*", bare)
    if len(text) > _LONGEST_TEXT or (number and len(number[0]) > _LONGEST_NUMBER):
        return f"is too long (at most {_LONGEST_TEXT} characters, {_LONGEST_NUMBER} of them the number)"
    if not text.isascii():
        return "holds a character that is not plain ASCII"
    if not bare:
        return "is empty"
    if re.match(r"-\s*[.0-9]", bare):
        return "is negative"
    if re.match(r"[0-9.]+[eE][-+]?[0-9]", bare):
        return "has an exponent (write the number out, or use a larger unit)"
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", bare):
        return "has no unit"
    return "is not a plain decimal number followed by a unit"


def _unit_hint(unit: str, units: _Units) -> str:
    """The known units that differ by letter case only (bits and bytes!), else the nearest one."""
    same = [known for known in units if known.lower() == unit.lower()]
    if len(same) > 1:
        choices = " or ".join(f"'{known}'" for known in same)
        return f"did you mean {choices}?"
    guess = same[0] if same else nearest(unit, units)
    return f"did you mean '{guess}'?" if guess else ""


def _shown(found: object) -> str:
    """What was found, safe to print and not too long."""
    text = ascii(found)
    return text if len(text) <= _LONGEST_TEXT + 2 else f"{text[:_LONGEST_TEXT]}..."


def _sentence(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def _check_clock(clock_hz: Fraction) -> None:
    if clock_hz <= 0:
        raise ValueError(f"a clock of {clock_hz} Hz; it must be more than 0")


def _format_exact(value: Fraction, units: _Units) -> str:
    """The best exact text: a number of at least 1 with the fewest digits, bytes before bits, earlier units first."""
    best: tuple[tuple[bool, bool, int, int], str] | None = None
    for order, (unit, scale) in enumerate(units.items()):
        number = _decimal(value / scale)
        if number is None or len(number) > _LONGEST_NUMBER:
            continue
        rank = ("b" in unit, 0 < value < scale, len(number), order)
        if best is None or rank < best[0]:
            best = (rank, f"{number} {unit}")
    if best is None:
        raise ValueError(f"{value} has no exact decimal text of at most {_LONGEST_NUMBER} digits")
    return best[1]


def _decimal(value: Fraction) -> str | None:
    """All digits of a fraction that is a finite, non-negative decimal; None for one that is not."""
    if value < 0:
        return None
    places, rest = 0, value.denominator
    for prime in (2, 5):
        power = 0
        while rest % prime == 0:
            rest //= prime
            power += 1
        places = max(places, power)
    if rest != 1:
        return None
    digits = str(value.numerator * 10**places // value.denominator).rjust(places + 1, "0")
    return f"{digits[:-places]}.{digits[-places:]}" if places else digits


def _human(value: Fraction, base: int, units: tuple[str, ...]) -> str:
    """Three digits of a value in the first unit in which it stays below ``base`` after rounding (ties to even)."""
    sign, value = ("-", -value) if value < 0 else ("", value)
    text = ""
    for power, unit in enumerate(units):
        scaled = value / base**power
        places = 0 if scaled >= 100 else 1 if scaled >= 10 else 2
        rounded = round(scaled, places)
        if power == 0 and scaled.denominator == 1:
            places = 0
        whole, part = divmod(int(rounded * 10**places), 10**places)
        text = f"{sign}{whole}.{part:0{places}d} {unit}" if places else f"{sign}{whole} {unit}"
        if rounded < base:
            break
    return text.rstrip()
