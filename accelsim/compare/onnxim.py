"""ONNXim: matrix products on one and four cores of its TPUv4-like example, with its own tiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from accelsim.compare.checks import Part, Row
from accelsim.compare.references import table
from accelsim.compare.running import entry, read_case, run
from accelsim.spec.mapping import Mapping

NAME = "onnxim"
PIECE = 128
"""Words of the reduction in which operands arrive."""


def mapping(cores: int, m: int, n: int, k: int) -> Mapping:
    """512 x 512 outputs a tile (1 x 512 for one row), dealt to the cores; passes of 128 rows at most."""
    across = {1: 1, 4: 2}[cores]
    rows = min(m, 512)
    piece = PIECE if m > 1 else 4 * PIECE
    spread = {"x": f"n:{across} m:{across}"} if across > 1 else {}
    return Mapping((entry("DRAM", f"m:{m // rows // across} n:{n // 512 // across} k:{k // piece}", **spread),
                    entry("CORE", f"n:4 m:{max(1, rows // 128)} k:*"),
                    entry("PE", f"m:{min(rows, 128)}", "B", x="n:128", y="k:128")))


def compare(told: dict[str, str]) -> Iterator[Row]:
    """A row of the table and what comes of it here."""
    cores, m, n, k = (int(told[name]) for name in ("cores", "m", "n", "k"))
    ran = run(read_case("onnxim", f"gemm:m={m},n={n},k={k},dtype=fp16", mapping(cores, m, n, k),
                        (f"chip.levels.CORE.instances.x={cores}",)))
    yield Row("one core" if cores == 1 else "four cores", f"{m}x{n}x{k}", ran.cycles, int(told["cycles"]))


def parts() -> Sequence[Part]:
    """Every row."""
    return [partial(compare, told) for told in table(NAME)]
