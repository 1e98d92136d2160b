"""Quantities as a chip file writes them: a number and a unit, within what makes sense for a chip."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, WithJsonSchema

from accelsim.units import Duration, Rate, parse_bytes, parse_duration, parse_frequency, parse_rate

Unlimited = Literal["unlimited"]


def _quantity(parse: Callable[[str], Any], example: str, *, unlimited: bool = False) -> Any:
    def read(value: Any) -> Any:
        if unlimited and value == "unlimited":
            return value
        if not isinstance(value, str):
            raise ValueError(f"{value!r} has no unit; write a quantity such as \"{example}\"")
        return parse(value)

    schema: dict[str, Any] = {"type": "string", "examples": [example, *(["unlimited"] if unlimited else [])]}
    return BeforeValidator(read), WithJsonSchema(schema)


def _grain(text: str) -> int:
    size = parse_bytes(text)
    if size > 1 << 30:
        raise ValueError(f"{text!r}: allowed: up to 1 GiB")
    return size


def _capacity(text: str) -> int:
    size = parse_bytes(text)
    if size > 1 << 60:
        raise ValueError(f"{text!r}: allowed: up to 1024 PiB, or unlimited")
    return size


def _bounded_rate(text: str) -> Rate:
    rate = parse_rate(text)
    low, high = (Fraction(1, 1 << 20), Fraction(1 << 40)) if rate.per == "cycle" else (Fraction(1), Fraction(10**21))
    if not low <= rate.bytes <= high:
        raise ValueError(f"{text!r}: allowed: 2^-20 to 2^40 B/cycle, 1 B/s to 10^21 B/s, or unlimited")
    return rate


def _bounded_duration(text: str) -> Duration:
    duration = parse_duration(text)
    if duration.value > (10**9 if duration.unit == "cycle" else 1):
        raise ValueError(f"{text!r}: allowed: up to 10^9 cycles or 1 s")
    return duration


def _bounded_clock(text: str) -> Fraction:
    clock = parse_frequency(text)
    if not 1000 <= clock <= 10**12:
        raise ValueError(f"{text!r}: allowed: 1 kHz to 1 THz")
    return clock


_bytes_check, _bytes_schema = _quantity(_grain, "64 KiB")
_capacity_check, _capacity_schema = _quantity(_capacity, "64 KiB", unlimited=True)
_rate_check, _rate_schema = _quantity(_bounded_rate, "16 B/cycle", unlimited=True)
_duration_check, _duration_schema = _quantity(_bounded_duration, "100 cycles")
_clock_check, _clock_schema = _quantity(_bounded_clock, "1 GHz")

Bytes = Annotated[int, _bytes_check, _bytes_schema]
Capacity = Annotated[int | Unlimited, _capacity_check, _capacity_schema]
RateLimit = Annotated[Rate | Unlimited, _rate_check, _rate_schema]
Latency = Annotated[Duration, _duration_check, _duration_schema]
Clock = Annotated[Fraction, _clock_check, _clock_schema]
