"""Does text become exactly the quantity it says, and is everything else refused in words that help?"""

import contextlib
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accelsim.units import (
    DTYPES,
    Duration,
    Rate,
    cross_domain,
    default_accumulator,
    format_bytes,
    format_frequency,
    grouped,
    human_bytes,
    human_time,
    parse_bytes,
    parse_dtype,
    parse_duration,
    parse_frequency,
    parse_rate,
)

GHZ = Fraction(10**9)
PARSERS = [parse_bytes, parse_rate, parse_duration, parse_frequency]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("64 KiB", 65536),
        ("24 MiB", 24 * 2**20),
        ("1.5 MB", 1_500_000),
        ("1 kB", 1000),
        ("1 KB", 1000),
        ("12 B", 12),
        ("12B", 12),
        (" 12  B ", 12),
        ("256 bit", 32),
        ("8 Kibit", 1024),
        ("0.5 KiB", 512),
    ],
)
def test_bytes(text: str, expected: int) -> None:
    assert parse_bytes(text) == expected


@pytest.mark.parametrize("text", ["12 bit", "0.3 KiB", "1.5 B"])
def test_parts_of_a_byte_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="whole number of bytes"):
        parse_bytes(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("900 GB/s", Rate(Fraction(900 * 10**9), "second")),
        ("900 Gb/s", Rate(Fraction(900 * 10**9, 8), "second")),
        ("900 Gbit/s", Rate(Fraction(900 * 10**9, 8), "second")),
        ("1 GiB/s", Rate(Fraction(2**30), "second")),
        ("4 B/cycle", Rate(Fraction(4), "cycle")),
        ("16 bit/cycle", Rate(Fraction(2), "cycle")),
        ("1 bit/cycle", Rate(Fraction(1, 8), "cycle")),
        ("1.9 B/cycle", Rate(Fraction(19, 10), "cycle")),
    ],
)
def test_rates(text: str, expected: Rate) -> None:
    assert parse_rate(text) == expected
    assert parse_rate(expected.format()) == expected


def test_rates_per_cycle() -> None:
    assert parse_rate("900 GB/s").per_cycle(Fraction(12, 10) * GHZ) == 750
    assert parse_rate("4 B/cycle").per_cycle(GHZ) == 4
    assert parse_rate("4 B/cycle").per_cycle(GHZ, own_clock_hz=GHZ / 2) == 2


@pytest.mark.parametrize(
    ("text", "clock", "cycles"),
    [
        ("100 cycles", "1 GHz", 100),
        ("1 cycle", "3 GHz", 1),
        ("1.5 cycles", "1 GHz", 2),
        ("14 ns", "1 GHz", 14),
        ("14 ns", "1.2 GHz", 17),  # 16.8
        ("1.5 us", "2 GHz", 3000),
        ("2 ms", "1 MHz", 2000),
        ("1 s", "1 Hz", 1),
        ("1 ps", "1 GHz", 1),
        ("0 ns", "1 GHz", 0),
        ("0 cycles", "1 GHz", 0),
    ],
)
def test_durations_round_up(text: str, clock: str, cycles: int) -> None:
    duration = parse_duration(text)
    assert duration.cycles(parse_frequency(clock)) == cycles
    assert parse_duration(duration.format()) == duration


def test_cycles_of_another_domain() -> None:
    seven = parse_duration("7 cycles")
    assert seven.cycles(GHZ, parse_frequency("700 MHz")) == 10
    assert seven.cycles(GHZ, parse_frequency("600 MHz")) == 12  # 11.67
    assert parse_duration("14 ns").cycles(GHZ, parse_frequency("600 MHz")) == 14
    assert cross_domain(7, GHZ, GHZ) == 7
    with pytest.raises(ValueError, match="clock"):
        seven.cycles(Fraction(0))


def test_frequencies() -> None:
    assert parse_frequency("1.2 GHz") == Fraction(1_200_000_000)
    assert parse_frequency("700 MHz") == 700 * 10**6
    assert format_frequency(Fraction(1_200_000_000)) == "1.2 GHz"
    assert format_frequency(Fraction(700_000_000)) == "700 MHz"


@pytest.mark.parametrize("parse", PARSERS)
@pytest.mark.parametrize(
    ("bad", "word"),
    [
        (4, "no unit"),
        (4.5, "no unit"),
        (float("nan"), "no unit"),
        (True, "not text"),
        (None, "not text"),
        (["4 B"], "not text"),
        ("4", "no unit"),
        (" 4.5 ", "no unit"),
        ("-4 B", "negative"),
        ("- 4 ns", "negative"),
        ("1e3 B/cycle", "exponent"),
        ("1E-3 s", "exponent"),
        ("4\u00a0B", "ASCII"),
        ("\u0664 B", "ASCII"),
        ("4 \u00b5s", "ASCII"),
        ("nan s", "plain decimal"),
        ("inf B", "plain decimal"),
        ("+4 B", "plain decimal"),
        ("1,000 B", "plain decimal"),
        ("1_000 B", "plain decimal"),
        (".5 B", "plain decimal"),
        ("1. B", "plain decimal"),
        ("0x10 B", "plain decimal"),
        ("10x B", "plain decimal"),
        ("10 xB", "unknown unit"),
        ("4\tB", "plain decimal"),
        ("4 B\n", "plain decimal"),
        ("", "empty"),
        ("   ", "empty"),
        ("B", "plain decimal"),
        ("1 furlong", "unknown unit"),
        ("9" * 70 + " B", "too long"),
        ("9" * 50 + " B", "too long"),
        ("1" + " " * 80 + "B", "too long"),
    ],
)
def test_what_is_refused(parse: object, bad: object, word: str) -> None:
    with pytest.raises(ValueError, match=word) as caught:
        parse(bad)  # type: ignore[operator]
    message = str(caught.value)
    assert "is written as '" in message, "says what is allowed"
    assert message.isascii()
    assert "\n" not in message
    assert len(message) < 500


@pytest.mark.parametrize("text", ["0 B", "0.0 KiB"])
def test_no_capacity_of_zero(text: str) -> None:
    with pytest.raises(ValueError, match="more than 0"):
        parse_bytes(text)


def test_no_rate_or_clock_of_zero() -> None:
    with pytest.raises(ValueError, match="more than 0"):
        parse_rate("0 B/cycle")
    with pytest.raises(ValueError, match="more than 0"):
        parse_frequency("0 GHz")


@pytest.mark.parametrize(
    ("parse", "text", "hint"),
    [
        (parse_bytes, "64 Kib", "'KiB' or 'Kib'"),
        (parse_bytes, "64 kib", "'KiB' or 'Kib'"),
        (parse_rate, "900 gb/s", "'GB/s' or 'Gb/s'"),
        (parse_rate, "4 B/cycles", "'B/cycle'"),
        (parse_duration, "100 cyles", "'cycles'"),
        (parse_duration, "14 NS", "'ns'"),
        (parse_frequency, "1 ghz", "'GHz'"),
    ],
)
def test_nearest_unit(parse: object, text: str, hint: str) -> None:
    if text == "64 Kib":
        assert parse_bytes(text) == 8192
        return
    with pytest.raises(ValueError, match="did you mean") as caught:
        parse(text)  # type: ignore[operator]
    assert f"did you mean {hint}" in str(caught.value)


@pytest.mark.parametrize(
    ("amount", "text"),
    [(65536, "64 KiB"), (24 * 2**20, "24 MiB"), (1536, "1536 B"), (1000, "1 kB"), (1_500_000, "1500 kB"), (12, "12 B")],
)
def test_format_bytes(amount: int, text: str) -> None:
    assert format_bytes(amount) == text


def test_zero_and_negative_amounts() -> None:
    assert format_bytes(0) == "0 B"
    with pytest.raises(ValueError, match="negative"):
        format_bytes(-1)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("900 GB/s", "900 GB/s"),
        ("0.9 TB/s", "900 GB/s"),
        ("1.2 TB/s", "1.2 TB/s"),
        ("1024 GiB/s", "1 TiB/s"),
        ("32 B/cycle", "32 B/cycle"),
        ("1 bit/cycle", "0.125 B/cycle"),
        ("1.9 B/cycle", "1.9 B/cycle"),
    ],
)
def test_rates_print_readably(text: str, printed: str) -> None:
    assert parse_rate(text).format() == printed


def test_durations_print_readably() -> None:
    printed = [parse_duration(text).format() for text in ("100 cycles", "1 cycle", "0 ns", "14 ns", "1500 ns", "1 ps")]
    assert printed == ["100 cycles", "1 cycle", "0 s", "14 ns", "1.5 us", "1 ps"]


def test_what_has_no_exact_text_is_not_printed() -> None:
    with pytest.raises(ValueError, match="exact"):
        Rate(Fraction(1, 3), "cycle").format()
    with pytest.raises(ValueError, match="exact"):
        Duration(Fraction(-1), "cycle").format()


NUMBERS = st.from_regex(r"[0-9]{1,20}(\.[0-9]{1,19})?", fullmatch=True)


@given(NUMBERS, st.sampled_from(["B", "KiB", "PiB", "kB", "KB", "GB", "bit", "Pibit", "Gb", "Kb"]), st.booleans())
def test_rates_round_trip(number: str, unit: str, cycle: bool) -> None:
    if not Fraction(number):
        return
    rate = parse_rate(f"{number} {unit}/{'cycle' if cycle else 's'}")
    assert parse_rate(rate.format()) == rate


@given(NUMBERS, st.sampled_from(["s", "ms", "us", "ns", "ps", "cycles", "cycle"]))
def test_durations_round_trip(number: str, unit: str) -> None:
    duration = parse_duration(f"{number} {unit}")
    assert parse_duration(duration.format()) == duration


@given(NUMBERS, st.sampled_from(["Hz", "kHz", "MHz", "GHz", "THz"]))
def test_frequencies_round_trip(number: str, unit: str) -> None:
    if not Fraction(number):
        return
    frequency = parse_frequency(f"{number} {unit}")
    assert parse_frequency(format_frequency(frequency)) == frequency


@given(st.integers(1, 10**30))
def test_bytes_round_trip(amount: int) -> None:
    assert parse_bytes(format_bytes(amount)) == amount


@given(st.one_of(st.text(max_size=80), st.integers(), st.floats(), st.none()))
def test_only_value_errors(anything: object) -> None:
    for parse in PARSERS:
        with contextlib.suppress(ValueError):
            assert parse(anything) is not None


@given(st.fractions(0, 1000), st.integers(1, 4 * 10**9))
def test_rounding_up_is_the_least_that_suffices(seconds: Fraction, clock: int) -> None:
    cycles = Duration(seconds, "second").cycles(Fraction(clock))
    assert cycles >= seconds * clock > cycles - 1


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (human_bytes(0), "0 B"),
        (human_bytes(999), "999 B"),
        (human_bytes(1023), "1023 B"),
        (human_bytes(1024), "1.00 KiB"),
        (human_bytes(1536), "1.50 KiB"),
        (human_bytes(2**20 - 1), "1.00 MiB"),
        (human_bytes(123 * 2**20), "123 MiB"),
        (human_time(0), "0 s"),
        (human_time(Fraction(123, 10**7)), "12.3 us"),
        (human_time(1.5), "1.50 s"),
        (human_time(Fraction(1, 10**9)), "1.00 ns"),
        (human_time(4000), "4000 s"),
        (grouped(1234567), "1,234,567"),
    ],
)
def test_for_a_reader(shown: str, text: str) -> None:
    assert shown == text


def test_no_time_without_end() -> None:
    with pytest.raises(ValueError, match="not a time"):
        human_time(float("inf"))


def test_dtypes() -> None:
    assert {name: dtype.bits for name, dtype in DTYPES.items()} == {
        "int4": 4,
        "int8": 8,
        "uint8": 8,
        "int16": 16,
        "int32": 32,
        "int64": 64,
        "fp8": 8,
        "bf16": 16,
        "fp16": 16,
        "tf32": 32,
        "fp32": 32,
        "fp64": 64,
    }
    assert all(parse_dtype(name) is dtype and dtype.name == name for name, dtype in DTYPES.items())
    sums = {name: default_accumulator(dtype).name for name, dtype in DTYPES.items()}
    assert sums["int4"] == sums["uint8"] == sums["int16"] == "int32"
    assert sums["int32"] == sums["int64"] == "int64"
    assert sums["fp8"] == sums["bf16"] == sums["tf32"] == sums["fp32"] == "fp32"
    assert sums["fp64"] == "fp64"


@pytest.mark.parametrize(("bad", "hint"), [("fp23", "fp"), ("INT8", "int8"), ("b16", "bf16"), (8, "allowed"), ([], "")])
def test_unknown_dtypes(bad: object, hint: str) -> None:
    with pytest.raises(ValueError, match="is not a dtype") as caught:
        parse_dtype(bad)
    assert hint in str(caught.value)
    assert "int4, int8" in str(caught.value)
