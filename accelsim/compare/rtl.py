"""Arrays as hardware, clock by clock in RTL, and the same folds as tiles on the machine. Needs Amaranth to run."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from accelsim.compare.checks import Part, Row
from accelsim.compare.references import folder_of, table
from accelsim.compare.running import entry, read_case, run
from accelsim.compare.scalesim import folded
from accelsim.drivers import Driver
from accelsim.errors import SimulatorBug
from accelsim.spec.mapping import Mapping

NAME = "rtl"
MOST_CLOCKS = 10_000
Numbers = NDArray[np.int64]


class Shape(NamedTuple):
    """A product on a systolic array: dataflow, R, C, m, n, k, and folds that have room (1: nothing overlaps)."""

    dataflow: str
    rows: int
    columns: int
    m: int
    n: int
    k: int
    buffers: int


class Unit(NamedTuple):
    """A matrix unit of m x n x (slices x interval), its stages, and products issued one after another."""

    m: int
    n: int
    slices: int
    interval: int
    depth: int
    issues: int


@cache
def hardware() -> ModuleType:
    """The arrays in Amaranth."""
    spec = importlib.util.spec_from_file_location("accelsim_rtl_arrays", folder_of(NAME) / "arrays.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def operands(m: int, n: int, k: int) -> tuple[Numbers, Numbers]:
    """Small numbers without a pattern: m x k and k x n."""
    numbers = np.arange(m * k + k * n, dtype=np.int64) * 7919 % 17 - 8
    return numbers[:m * k].reshape(m, k), numbers[m * k:].reshape(k, n)


def padded(matrix: Numbers, rows: int, columns: int) -> Numbers:
    """With zeros behind, to whole blocks."""
    return np.pad(matrix, ((0, -matrix.shape[0] % rows), (0, -matrix.shape[1] % columns)))


def clocked(design: Any, count: int) -> tuple[Numbers, int]:
    """Run a design until so many rows of results have left; the rows, and the clock in which the last one did."""
    from amaranth.sim import Simulator  # type: ignore[import-untyped,import-not-found,unused-ignore]
    found: list[list[int]] = []
    last = 0

    async def watch(context: Any) -> None:
        nonlocal last
        for clock in range(MOST_CLOCKS):
            if context.get(design.valid):
                found.append([context.get(one) for one in design.sums])
                last = clock
            if len(found) == count:
                return
            await context.tick()
        raise SimulatorBug(f"{len(found)} of {count} rows of results after {MOST_CLOCKS:,} clocks")

    simulator = Simulator(design)
    simulator.add_clock(1e-6)
    simulator.add_testbench(watch)
    simulator.run()
    return np.array(found, dtype=np.int64), last


def in_hardware(shape: Shape) -> tuple[Numbers, int]:
    """The product and the cycles, by RTL: columns of folds outside, rows of folds inside, as the mapping has them."""
    a, b = operands(shape.m, shape.n, shape.k)
    return _output_stationary(shape, a, b) if shape.dataflow == "os" else _stationary(shape, a, b)


def _output_stationary(shape: Shape, a: Numbers, b: Numbers) -> tuple[Numbers, int]:
    rows, columns = shape.rows, shape.columns
    left, top = padded(a, rows, 1), padded(b, 1, columns)
    folds = [(i, j) for j in range(0, top.shape[1], columns) for i in range(0, left.shape[0], rows)]
    design = hardware().OutputStationary([left[i:i + rows].T.tolist() for i, _ in folds],
                                         [top[:, j:j + columns].tolist() for _, j in folds], banks=shape.buffers)
    blocks, last = clocked(design, len(folds) * rows)
    made: Numbers = np.zeros((left.shape[0], top.shape[1]), dtype=np.int64)
    for (i, j), block in zip(folds, blocks.reshape(len(folds), rows, columns), strict=True):
        made[i:i + rows, j:j + columns] = block
    return made[:shape.m, :shape.n], last + 1  # a row leaves during its clock


def _stationary(shape: Shape, a: Numbers, b: Numbers) -> tuple[Numbers, int]:
    rows, columns = shape.rows, shape.columns
    held, streamed = (b, a) if shape.dataflow == "ws" else (a.T, b.T)
    stays, passes = padded(held, rows, columns), padded(streamed, 1, rows)
    folds = [(i, j) for j in range(0, stays.shape[1], columns) for i in range(0, stays.shape[0], rows)]
    design = hardware().Stationary([stays[i:i + rows, j:j + columns].tolist() for i, j in folds],
                                   [passes[:, i:i + rows].tolist() for i, _ in folds], double=shape.buffers == 2)
    length = len(passes)
    blocks, last = clocked(design, len(folds) * length)
    made: Numbers = np.zeros((length, stays.shape[1]), dtype=np.int64)
    for (_, j), block in zip(folds, blocks.reshape(len(folds), length, columns), strict=True):
        made[:, j:j + columns] += block
    product = made[:, :held.shape[1]]
    return product if shape.dataflow == "ws" else product.T, last


def on_the_machine(shape: Shape, driver: Driver = Driver.COMPILED) -> int:
    """The cycles of the array of a chip whose memory is unlimited."""
    pe = "chip.levels.PE.array"
    overrides = (f"{pe}.pes.x={shape.columns}", f"{pe}.pes.y={shape.rows}", f"{pe}.buffers={shape.buffers}",
                 f"{pe}.results={4 * shape.columns} B/cycle")
    return run(read_case(str(folder_of(NAME) / "systolic.yaml"), f"gemm:m={shape.m},n={shape.n},k={shape.k},dtype=int8",
                         Mapping(folded(shape.dataflow, shape.rows, shape.columns)), overrides), driver).cycles


def systolic(shape: Shape, driver: Driver = Driver.COMPILED) -> Iterator[Row]:
    """A product both ways."""
    name = f"{shape.dataflow} {shape.rows}x{shape.columns} {shape.m}x{shape.n}x{shape.k}, buffers {shape.buffers}"
    product, cycles = in_hardware(shape)
    a, b = operands(shape.m, shape.n, shape.k)
    yield Row("systolic, cycles", name, on_the_machine(shape, driver), cycles)
    yield Row("systolic, products", name, int((product == a @ b).sum()), shape.m * shape.n)


def matrix_unit(unit: Unit, driver: Driver = Driver.COMPILED) -> Iterator[Row]:
    """A column of products of a matrix unit, one issue after another, both ways; as tiles, and as the array's own loops."""
    k, rows = unit.slices * unit.interval, unit.m * unit.issues
    name = f"{unit.m}x{unit.n}x{k}, interval {unit.interval}, depth {unit.depth}, {unit.issues} issues"
    a, b = operands(rows, unit.n, k)
    design = hardware().MatrixUnit([a[i:i + unit.m].tolist() for i in range(0, rows, unit.m)], [b.tolist()] * unit.issues,
                                   interval=unit.interval, depth=unit.depth)
    blocks, last = clocked(design, unit.issues)
    pe = "chip.levels.PE.array"
    overrides = (f"{pe}.pes.x={unit.n}", f"{pe}.pes.y={unit.m}", f"{pe}.pes.z={k}", f"{pe}.interval={unit.interval} cycles",
                 f"{pe}.depth={unit.depth} cycles")
    for where, outer, inner in (("tiles", f"m:{unit.issues}", ""), ("array loops", "", f"m:{unit.issues}")):
        mapping = Mapping((entry("DRAM", outer, "A B C"), entry("PE", inner, x=f"n:{unit.n}", y=f"m:{unit.m}", z=f"k:{k}")))
        ran = run(read_case(str(folder_of(NAME) / "matrix-unit.yaml"), f"gemm:m={rows},n={unit.n},k={k},dtype=int8", mapping,
                            overrides), driver)
        yield Row("matrix unit, cycles", f"{name}, as {where}", ran.cycles, last + 1)  # products leave during their clock
    yield Row("matrix unit, products", name, int((blocks.reshape(rows, unit.n) == a @ b).sum()), rows * unit.n)


def compare(case: Callable[[], Iterator[Row]], check: str, by_hand: str) -> Iterator[Row]:
    """A case of the tables; the hardware's cycles are those derived by hand."""
    for row in case():
        yield row
        if row.check == check:
            yield Row("by hand", row.case, row.reference, int(by_hand))


def parts() -> Sequence[Part]:
    """The cases that were worked out by hand."""
    shapes = [(Shape(told["dataflow"], *(int(told[name]) for name in Shape._fields[1:])), told["cycles"]) for told in table(NAME)]
    units = [(Unit(*(int(told[name]) for name in Unit._fields)), told["cycles"]) for told in table(NAME, "units.csv")]
    return [*(partial(compare, partial(systolic, shape), "systolic, cycles", cycles) for shape, cycles in shapes),
            *(partial(compare, partial(matrix_unit, unit), "matrix unit, cycles", cycles) for unit, cycles in units)]
