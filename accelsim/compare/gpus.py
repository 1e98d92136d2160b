"""GPUs: matrix products measured on an A100 and an MI210, with the tiles that the dataflow `cta-tiles` writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from accelsim.compare.checks import Part, Row
from accelsim.compare.references import table
from accelsim.compare.running import read_case, run

LARGE_MACS = 10**12
"""Larger products bind as the others do, and are held to less."""


def compare(chip: str, told: dict[str, str]) -> Iterator[Row]:
    """A row of the table and what comes of it here."""
    m, k, n = (int(told[name]) for name in "mkn")
    ran = run(read_case(chip, f"gemm:m={m},n={n},k={k},dtype=fp16"))
    yield Row("large products" if m * k * n > LARGE_MACS else "products", f"{m}x{k}x{n}", ran.report.time_s * 1e3,
              float(told["time_ms"]))


def a100_parts() -> Sequence[Part]:
    """Every row."""
    return [partial(compare, "a100", told) for told in table("silicon/a100")]


def mi210_parts() -> Sequence[Part]:
    """Every row."""
    return [partial(compare, "mi210", told) for told in table("silicon/mi210")]
