"""Does an array take the cycles that hardware takes? The same folds, clock by clock in RTL and as tiles on the machine."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from accelsim.spec.chip import ArrayModel

from ..helpers import array, chip, entry, gemm, level, make, run, systolic
from .test_scalesim import MAPPINGS

FILE = Path(__file__).resolve().parents[2] / "validation" / "rtl" / "arrays.py"
Numbers = NDArray[np.int64]


def hardware() -> ModuleType:
    """The arrays in Amaranth; imported here, so that other tests run without it."""
    spec = importlib.util.spec_from_file_location("arrays_rtl", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Shape(NamedTuple):
    dataflow: str
    rows: int
    columns: int
    m: int
    n: int
    k: int
    buffers: int


def operands(shape: Shape) -> tuple[Numbers, Numbers]:
    numbers = np.arange(shape.m * shape.k + shape.k * shape.n, dtype=np.int64) * 7919 % 17 - 8
    return numbers[:shape.m * shape.k].reshape(shape.m, shape.k), numbers[shape.m * shape.k:].reshape(shape.k, shape.n)


def padded(matrix: Numbers, rows: int, columns: int) -> Numbers:
    """With zeros behind, to whole blocks."""
    return np.pad(matrix, ((0, -matrix.shape[0] % rows), (0, -matrix.shape[1] % columns)))


def clocked(design: Any, count: int, value: Callable[[Any], list[int]]) -> tuple[Numbers, int]:
    """Run a design until so many rows of results have left; the rows, and the clock in which the last one did."""
    from amaranth.sim import Simulator
    found: list[list[int]] = []
    last = 0

    async def watch(context: Any) -> None:
        nonlocal last
        clock = 0
        while len(found) < count:
            if context.get(design.valid):
                found.append(value(context))
                last = clock
            await context.tick()
            clock += 1
            assert clock < 10_000

    simulator = Simulator(design)
    simulator.add_clock(1e-6)
    simulator.add_testbench(watch)
    simulator.run()
    return np.array(found, dtype=np.int64), last


def in_hardware(shape: Shape) -> tuple[Numbers, int]:
    """The product and the cycles, by RTL: columns of folds outside, rows of folds inside, as the mapping below has them."""
    rtl, rows, columns = hardware(), shape.rows, shape.columns
    a, b = operands(shape)
    if shape.dataflow == "os":
        left, top = padded(a, rows, 1), padded(b, 1, columns)
        folds = [(i, j) for j in range(0, top.shape[1], columns) for i in range(0, left.shape[0], rows)]
        design = rtl.OutputStationary([left[i:i + rows].T.tolist() for i, _ in folds],
                                      [top[:, j:j + columns].tolist() for _, j in folds], banks=shape.buffers)
        blocks, last = clocked(design, len(folds) * rows, lambda context: [context.get(one) for one in design.sums])
        made = np.zeros((left.shape[0], top.shape[1]), dtype=np.int64)
        for (i, j), block in zip(folds, blocks.reshape(len(folds), rows, columns), strict=True):
            made[i:i + rows, j:j + columns] = block
        return made[:shape.m, :shape.n], last + 1  # a row leaves during its clock
    held, streamed = (b, a) if shape.dataflow == "ws" else (a.T, b.T)
    stays, passes = padded(held, rows, columns), padded(streamed, 1, rows)
    folds = [(i, j) for j in range(0, stays.shape[1], columns) for i in range(0, stays.shape[0], rows)]
    design = rtl.Stationary([stays[i:i + rows, j:j + columns].tolist() for i, j in folds],
                            [passes[:, i:i + rows].tolist() for i, _ in folds], double=shape.buffers == 2)
    length = len(passes)
    blocks, last = clocked(design, len(folds) * length, lambda context: [context.get(one) for one in design.sums])
    made = np.zeros((length, stays.shape[1]), dtype=np.int64)
    for (_, j), block in zip(folds, blocks.reshape(len(folds), length, columns), strict=True):
        made[:, j:j + columns] += block
    product = made[:, :held.shape[1]]
    return product if shape.dataflow == "ws" else product.T, last


def on_the_machine(shape: Shape) -> int:
    """The cycles of the array of a chip whose memory is unlimited."""
    held, folds, streamed, columns, rows = MAPPINGS[shape.dataflow]
    array = systolic(shape.rows, shape.columns, buffers=shape.buffers, results=Fraction(4 * shape.columns))
    case = make(chip([level("DRAM")], array), gemm(shape.m, shape.n, shape.k, "int8", "int32"), entry("DRAM", folds, "A B C"),
                entry("PE", streamed, held, x=columns.format(c=shape.columns), y=rows.format(r=shape.rows)))
    return run(case).cycles


def agree(shape: Shape) -> int:
    product, cycles = in_hardware(shape)
    a, b = operands(shape)
    assert (product == a @ b).all()
    assert on_the_machine(shape) == cycles
    return cycles


@pytest.mark.parametrize(("shape", "cycles"), [
    (Shape("ws", 2, 3, 4, 3, 2, 1), 2 + 4 + 3),              # preload, stream, skew
    (Shape("ws", 2, 3, 4, 3, 6, 1), 3 * (2 + 4 + 3)),        # three folds, nothing overlaps
    (Shape("ws", 2, 3, 4, 3, 6, 2), 2 + 3 * 4 + 3),          # preload under the pass before: it is hidden
    (Shape("ws", 4, 2, 1, 2, 12, 2), 3 * 4 + 1 + 4),         # one row a pass: the preload is what takes time
    (Shape("os", 2, 3, 2, 3, 4, 1), 4 + 3 + 2),              # stream, skew, drain
    (Shape("os", 2, 3, 6, 3, 4, 1), 3 * (4 + 3 + 2)),
    (Shape("os", 2, 3, 4, 3, 4, 2), 2 * 4 + 3 + 2),          # the first fold drains under the second
    (Shape("is", 3, 2, 2, 5, 3, 1), 3 + 5 + 3),
])
def test_by_hand(shape: Shape, cycles: int) -> None:
    assert agree(shape) == cycles


@settings(max_examples=25, deadline=None)
@given(st.builds(Shape, st.sampled_from(["ws", "os", "is"]), st.integers(1, 4), st.integers(1, 4), st.integers(1, 9),
                 st.integers(1, 9), st.integers(1, 9), st.sampled_from([1, 2])))
def test_any_shape(shape: Shape) -> None:
    """Ragged folds too, which pay the whole array."""
    agree(shape)


class Unit(NamedTuple):
    m: int
    n: int
    slices: int
    interval: int
    depth: int
    issues: int


def agree_on_a_unit(unit: Unit) -> int:
    """A column of products of a matrix unit, one issue after another."""
    k, rows = unit.slices * unit.interval, unit.m * unit.issues
    a, b = operands(Shape("", 1, 1, rows, unit.n, k, 1))
    design = hardware().MatrixUnit([a[i:i + unit.m].tolist() for i in range(0, rows, unit.m)], [b.tolist()] * unit.issues,
                                   interval=unit.interval, depth=unit.depth)
    blocks, last = clocked(design, unit.issues, lambda context: [context.get(one) for one in design.sums])
    assert (blocks.reshape(rows, unit.n) == a @ b).all()
    native = array((("x", unit.n), ("y", unit.m), ("z", k)), model=ArrayModel.MATRIX, intervals=(("", unit.interval),),
                   depth_cycles=unit.depth)
    for outer, inner in ((f"m{unit.issues}", ""), ("", f"m{unit.issues}")):
        case = make(chip([level("DRAM")], native), gemm(rows, unit.n, k, "int8", "int32"), entry("DRAM", outer, "A B C"),
                    entry("PE", inner, x=f"n{unit.n}", y=f"m{unit.m}", z=f"k{k}"))
        assert run(case).cycles == last + 1  # products leave during their clock
    return last + 1


def test_a_matrix_unit_by_hand() -> None:
    """Five issues, four clocks apart, and six stages."""
    assert agree_on_a_unit(Unit(2, 3, 2, 4, 6, 5)) == 5 * 4 + 6


@settings(max_examples=15, deadline=None)
@given(st.builds(Unit, *([st.integers(1, 3)] * 3), st.integers(1, 4), st.integers(0, 5), st.integers(1, 5)))
def test_any_matrix_unit(unit: Unit) -> None:
    agree_on_a_unit(unit)
