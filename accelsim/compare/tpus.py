"""Google's TPUs: counters of v1, cycles of v3, times of v6e. XLA's tiles are not public; what is assumed is in the folders."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product

from accelsim.analytic.estimate import estimate
from accelsim.compare.checks import Part, Row
from accelsim.compare.references import table
from accelsim.compare.running import Ran, covering, loops, read_case, run
from accelsim.errors import AccelsimError
from accelsim.spec.build import make_case
from accelsim.spec.mapping import Mapping, MappingLevel
from accelsim.spec.read import read_chip, read_workload
from accelsim.stalls import StallCause

V1, V3, V6E = "silicon/tpu-v1", "silicon/tpu-v3", "silicon/tpu-v6e"


def numbers(name: str) -> list[int]:
    """The numbers in a name."""
    return [int(word) for word in re.findall(r"\d+", name)]


# -- v1: shares of the unit's time -----------------------------------------------------------------------------


def v1_compare(told: dict[str, str]) -> Iterator[Row]:
    """MLP0 is five layers of 20 M weights at batch 200: 2000 x 2000 each."""
    matrix = sum(float(told[name]) for name in ("array_active", "weight_stall", "weight_shift"))
    one = run(read_case("tpu-v1", "gemm:m=200,n=2000,k=2000,dtype=int8")).report
    preload = one.fill_drain["preload"]
    waiting = sum(one.stalls.values()) - preload - one.stalls.get(StallCause.WRITEBACK, 0)
    for name, share in (("array_active", one.busy), ("weight_shift", preload / one.cycles),
                        ("weight_stall", waiting / one.cycles)):
        yield Row("shares of the unit's time", f"{told['application']} {name}", share, float(told[name]) / matrix)


def v1_parts() -> Sequence[Part]:
    """The network whose layers' shapes are known."""
    return [partial(v1_compare, told) for told in table(V1) if told["application"] == "MLP0"]


# -- v3: whole columns of rows past each weight tile, the sizes by search ---------------------------------------------


def halves(extent: int, least: int) -> list[int]:
    """The extent, halved again and again down to `least`."""
    found = []
    while extent > least:
        found.append(extent)
        extent = covering(extent, 2)
    return [*found, extent]


def v3_gemm(m: int, n: int, k: int) -> Iterator[Mapping]:
    """Tiles of a product."""
    for rows, columns, depth in product(halves(m, 128), halves(n, 256), halves(k, 128)):
        yield Mapping((
            MappingLevel("HBM", loops(f"m:{covering(m, rows)} n:{covering(n, columns)} k:{covering(k, depth)}")),
            MappingLevel("VMEM", loops(f"n:{covering(columns, 256)} k:{covering(depth, 128)}"), (("x", loops("n:2")),)),
            MappingLevel("MXU", loops(f"m:{rows}"), (("x", loops("n:128")), ("y", loops("k:128"))), ("B",))))


def v3_conv(d: dict[str, int]) -> Iterator[Mapping]:
    """One filter tap a pass: XLA lays features out along the 128 lanes, so taps do not share rows of the array."""
    for images, rows, kernels, channels, split in product(halves(d["n"], 1), halves(d["p"], 1), halves(d["k"], 128),
                                                          halves(d["c"], 128), "nk"):
        inner = covering(images, 2) if split == "n" else images
        columns = covering(kernels, 256 if split == "k" else 128)
        yield Mapping((
            MappingLevel("HBM", loops(f"n:{covering(d['n'], images)} p:{covering(d['p'], rows)} k:{covering(d['k'], kernels)} "
                                      f"c:{covering(d['c'], channels)}")),
            MappingLevel("VMEM", loops(f"k:{columns} c:{covering(channels, 128)} r:{d['r']} s:{d['s']}"),
                         (("x", loops(f"{split}:2")),)),
            MappingLevel("MXU", loops(f"n:{inner} p:{rows} q:{d['q']}"),
                         (("x", loops(f"k:{min(128, d['k'])}")), ("y", loops(f"c:{min(128, d['c'])}"))), ("W",))))


def v3_run(name: str, *overrides: str) -> Ran:
    """A workload by its name in the table; of tiles that fit, those with the fewest estimated cycles, the first of equals."""
    sizes = numbers(name)
    if name.startswith("gemm"):
        m, k, n = sizes
        text, candidates = f"gemm:m={m},n={n},k={k},dtype=bf16", v3_gemm(m, n, k)
    else:
        batch, height, width, c, k, r, stride, padding = sizes
        p, q = ((extent + 2 * padding - r) // stride + 1 for extent in (height, width))
        text = f"conv2d:n={batch},k={k},c={c},p={p},q={q},r={r},s={r},stride={stride},padding={padding},dtype=bf16"
        candidates = v3_conv({"n": batch, "k": k, "c": c, "p": p, "q": q, "r": r, "s": r})
    chip, (operator,) = read_chip("tpu-v3", overrides), read_workload(text).operators
    found = []
    for order, mapping in enumerate(candidates):
        try:
            case = make_case(chip, operator, mapping)
        except AccelsimError:
            continue
        found.append((estimate(case).cycles, order, case))
    return run(min(found, key=lambda one: one[:2])[2])


def v3_compare(told: dict[str, str]) -> Iterator[Row]:
    """A row of the table and what comes of it here."""
    yield Row("cycles", told["workload"], v3_run(told["workload"]).cycles, int(told["cycles"]))


def v3_parts() -> Sequence[Part]:
    """Every row."""
    return [partial(v3_compare, told) for told in table(V3)]


# -- v6e: operands copied whole where they fit in half of vector memory, else in windows ------------------------------

V6E_SIDE, V6E_ARRAYS, V6E_VMEM, V6E_RESULTS = 256, 4, 128 << 20, 8 << 20


def v6e_gemm(m: int, n: int, k: int) -> Mapping:
    """bf16. A matrix times one vector is streamed whatever its size: XLA fuses it, without the copies."""
    across = min(V6E_ARRAYS, covering(n, V6E_SIDE))
    down = min(m, V6E_ARRAYS // across)
    columns, rows, depth = V6E_SIDE * across, m, k
    whole = m > 1 and 2 * (m * k + k * n) < V6E_VMEM // 2
    while 2 * 4 * rows * columns > V6E_RESULTS or (not whole and 2 * rows * k > V6E_VMEM // 2):
        rows = covering(rows, 2)
    while not whole and 2 * (2 * depth * columns + rows * k) > V6E_VMEM:
        depth = covering(depth, 2)
    windows = f"m:{covering(m, rows)} n:{covering(n, columns)}"
    outer, inner = ("", windows) if whole else (f"{windows} k:{covering(k, depth)}", "")
    return Mapping((
        MappingLevel("HBM", loops(outer)),
        MappingLevel("VMEM", loops(inner), (), None, (("A", 1), ("B", 1 if whole else 2))),
        MappingLevel("RESULTS", loops(f"k:{covering(depth, V6E_SIDE)}"), (("x", loops(f"n:{across} m:{down}")),)),
        MappingLevel("MXU", loops(f"m:{covering(rows, down)}"),
                     (("x", loops(f"n:{V6E_SIDE}")), ("y", loops(f"k:{V6E_SIDE}"))), ("B",))))


def v6e_compare(told: dict[str, str]) -> Iterator[Row]:
    """A row of the table and what comes of it here."""
    m, k, n = numbers(told["workload"])
    ran = run(read_case("tpu-v6e", f"gemm:m={m},n={n},k={k},dtype=bf16", v6e_gemm(m, n, k)))
    yield Row("products", told["workload"], ran.report.time_s * 1e9, int(told["ns"]))


def v6e_parts() -> Sequence[Part]:
    """Every row."""
    return [partial(v6e_compare, told) for told in table(V6E)]
