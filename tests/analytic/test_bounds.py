"""Is every bound below what the rules of the run give, and the estimate near it?"""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from accelsim.analytic.estimate import estimate
from accelsim.errors import DoesNotFit, SpecError
from accelsim.spec.case import Case
from accelsim.spec.chip import Access, ArrayModel, Level, Multicast, Port
from accelsim.spec.operator import Role

from .cases import Loops, array, case, chip, entry, level, link, memory, operator, operators


def _oracle() -> ModuleType:
    """The naive interpreter of the rules, a neighbour of these tests."""
    name = "machine_oracle_for_bounds"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).parents[1] / "oracle" / "machine_oracle.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


def toy(rate: object = 4, latency: int = 100) -> list[Level]:
    return [level("DRAM", rate, latency, shared=True), level("SRAM")]


def toy3(rate: int, latency: int, inner: int, inner_latency: int) -> list[Level]:
    return [level("DRAM", rate, latency, shared=True), level("SRAM", inner, inner_latency, shared=True), level("RF")]


def gemm(levels: list[Level], size: tuple[int, int, int], loops: list[str], buffers: int = 2) -> Case:
    m, n, k = size
    slots = dict.fromkeys("ABC", buffers)
    entries = [entry(on.name, text, None, None, **(slots if i else {})) for i, (on, text) in
               enumerate(zip(levels, loops, strict=True))]
    return case(chip(levels), operator("gemm", m=m, n=n, k=k), *entries)


KMN, MNK, TILE = "k2 m2 n2", "m2 n2 k2", "m4 n4 k4"
WORKED = [  # the worked numbers of DESIGN.md section 3
    (312, toy(), (4, 4, 4), ["", TILE], 2),
    (1012, toy(), (8, 8, 8), [KMN, TILE], 2),
    (1796, toy(), (8, 8, 8), [KMN, TILE], 1),
    (820, toy(), (8, 8, 8), [KMN, TILE], 3),
    (1012, toy(), (8, 8, 8), [MNK, TILE], 2),
    (1732, toy(), (8, 8, 8), [MNK, TILE], 1),
    (784, toy(), (8, 8, 8), [MNK, TILE], 3),
    (1075, toy(), (7, 5, 9), ["k3 m2 n2", "m4 n3 k3"], 2),
    (858, toy("1.9", 7), (8, 8, 8), [KMN, TILE], 2),
    (15, toy3(1, 0, 4, 0), (1, 1, 1), ["", "", "m1 n1 k1"], 2),
    (215, toy3(1, 0, 4, 50), (1, 1, 1), ["", "", "m1 n1 k1"], 2),
    (1027, toy3(4, 100, 16, 2), (8, 8, 8), [KMN, "m2 n2", "m2 n2 k4"], 2),
    (1945, toy3(4, 100, 16, 2), (8, 8, 8), [KMN, "m2 n2", "m2 n2 k4"], 1),
]


@pytest.mark.parametrize(("cycles", "levels", "size", "loops", "buffers"), WORKED)
def test_worked_numbers(cycles: int, levels: list[Level], size: tuple[int, int, int], loops: list[str],
                        buffers: int) -> None:
    found = estimate(gemm(levels, size, loops, buffers))
    assert all(bound.cycles <= cycles for bound in found.bounds)
    assert found.cycles >= 0.8 * cycles
    assert found.cycles == found.prologue_cycles + found.steady_cycles + found.epilogue_cycles


@pytest.mark.parametrize(("cycles", "levels", "size", "loops", "buffers"), [WORKED[0], WORKED[9], WORKED[10]])
def test_one_tile_is_exact(cycles: int, levels: list[Level], size: tuple[int, int, int], loops: list[str],
                           buffers: int) -> None:
    found = estimate(gemm(levels, size, loops, buffers))
    assert (found.cycles, found.bound_by) == (cycles, "path")


@pytest.mark.parametrize(("buffers", "period"), [(1, 180), (2, 90), (3, 64)])
def test_steady_period_of_equal_tiles(buffers: int, period: int) -> None:
    """One input stream, hold 16, latency 100, compute 64: max(H, C, (H + T + C) / b) a tile."""
    ports = (Port("move", Fraction(4), frozenset({Access.FILL, Access.DRAIN}), None),
             Port("array", None, frozenset({Access.ARRAY_READ, Access.ARRAY_WRITE}), None))
    levels = [Level("DRAM", (replace(memory("DRAM", None, 100), ports=ports),)), level("SRAM")]

    def cycles(count: int) -> int:
        on = case(chip(levels), operator("gemm", m=4, n=4, k=4 * count), entry("DRAM", f"k{count}", None, "A B C"),
                  entry("SRAM", TILE, None, "A", A=buffers))
        return estimate(on).cycles
    assert cycles(1200) - cycles(600) == 600 * period


def test_systolic_folds_without_overlap() -> None:
    """Weight stationary, one buffer: each fold preloads R rows, streams T and pays R + C - 2."""
    pe = array((("x", 4), ("y", 4)), model=ArrayModel.SYSTOLIC, preload_row=True)
    on = case(chip([level("DRAM")], pe), operator("gemm", "int8", "int32", m=16, n=8, k=8), entry("DRAM", "n2 k2"),
              entry("PE", "m16", {"x": "n4", "y": "k4"}, "B"))
    found = estimate(on)
    assert found.array_busy_cycles == 64
    assert found.cycles == 4 * (4 + 16 + 6) - 6  # nothing drains after the last result


def test_instances_share_a_port_and_multicast_reads_once() -> None:
    def dram(multicast: Multicast) -> int:
        levels = [level("DRAM", 1), level("SRAM", fanout=(("x", 4),))]
        on = chip(levels, links=(link("DRAM", "SRAM", multicast=multicast),))
        found = estimate(case(on, operator("gemm", "int8", "int32", m=16, n=4, k=4), entry("DRAM", "", {"x": "m4"}),
                              entry("SRAM", "m4 n4 k4")))
        return next(bound.cycles for bound in found.bounds if bound.name == "DRAM fill port")
    assert dram(Multicast.NONE) - dram(Multicast.EQUAL) == 3 * 16  # B goes to four cores at once


def test_windows_of_instances_are_read_once_where_they_overlap() -> None:
    def dram(multicast: Multicast) -> int:
        on = chip([level("DRAM", 1), level("SRAM", fanout=(("x", 4),))],
                  links=(link("DRAM", "SRAM", multicast=multicast),))
        conv = operator("conv1d", "int8", "int32", k=1, c=1, p=16, r=3)
        found = estimate(case(on, conv, entry("DRAM", "n1 k1 c1", {"x": "p4"}), entry("SRAM", "p4 r3")))
        return next(bound.cycles for bound in found.bounds if bound.name == "DRAM fill port")
    assert dram(Multicast.NONE) - dram(Multicast.OVERLAP) == (4 * 6 - 18) + 3 * 3


def test_outstanding_requests_cap_a_link() -> None:
    def link_cycles(outstanding: int) -> int:
        on = chip(toy(None, 0), links=(link("DRAM", "SRAM", 64, 100, request_bytes=64, outstanding=outstanding),))
        found = estimate(case(on, operator("gemm", m=8, n=8, k=8), entry("DRAM", KMN), entry("SRAM", TILE)))
        return next(bound.cycles for bound in found.bounds if bound.name == "DRAM-SRAM link")
    moved = (64 + 128 + 128 + 64) * 4
    assert link_cycles(2) - link_cycles(200) == moved * 100 // (2 * 64) - moved // 64


def test_the_prologue_ends_with_the_shorter_way() -> None:
    """A goes by L1 (latency 50), B does not, both leave the DRAM by one port: A 16 + 150 + 50 is last, not B."""
    levels = [level("DRAM", 4, 100, shared=True), level("L1", None, 50), level("L2")]
    on = case(chip(levels), operator("gemm", m=4, n=4, k=4), entry("DRAM"), entry("L1", "", None, "A"),
              entry("L2", TILE))
    assert estimate(on).cycles == 216 + 64 + 116


@st.composite
def problems(draw: st.DrawFn) -> tuple[Case, Any] | None:
    """A case without instances and the same for the oracle."""
    oracle = _oracle()
    what = draw(operators())
    names = ["DRAM", "L1", "L2", "L3"][:draw(st.integers(2, 4))]
    rates = [draw(st.sampled_from([None, 1, 2, 4, 16, Fraction("1.9"), Fraction(1, 3)])) for _ in names]
    memories = []
    levels = []
    for name, rate in zip(names, rates, strict=True):
        latency, shared = draw(st.sampled_from([0, 0, 1, 7, 50])), draw(st.booleans())
        accumulate = draw(st.integers(0, 3)) == 0 and what.accumulator.bits == what.output.dtype.bits
        pace = None if rate is None else Fraction(rate)
        moves = [{Access.FILL, Access.DRAIN}] if shared else [{Access.FILL}, {Access.DRAIN}]
        ports = (*(Port(f"port{i}", pace, frozenset(serves), None) for i, serves in enumerate(moves)),
                 Port("array", None, frozenset({Access.ARRAY_READ, Access.ARRAY_WRITE}), None))
        levels.append(Level(name, (replace(memory(name, None, latency, accumulate=accumulate), ports=ports),)))
        memories.append(oracle.Memory(name, pace, latency, shared, accumulate))
    temporal: dict[str, Loops] = {name: [] for name in names}
    for dim, extent in what.dims.items():
        left = extent
        for name in reversed(names):
            bound = draw(st.integers(1, left)) if left > 1 and draw(st.booleans()) else 1
            left = -(-left // bound)
            temporal[name] += [(dim, bound)] if bound > 1 else []
        temporal["DRAM"] += [(dim, left)] if left > 1 or extent == 1 else []
    binding: dict[str, dict[str, int]] = {name: {} for name in names}
    for tensor in what.tensors:
        chosen = [name for name in names if draw(st.booleans())]
        for name in {"DRAM", *chosen} if draw(st.integers(0, 3)) or not chosen else set(chosen):
            binding[name][tensor.name] = draw(st.integers(1, 3))
    loops = [list(draw(st.permutations(temporal[name]))) for name in names]
    try:
        asked = case(chip(levels), what, *(entry(name, own, None, tuple(binding[name]), **binding[name])
                                           for name, own in zip(names, loops, strict=True)))
    except (SpecError, DoesNotFit):
        return None
    if what.output.dtype.bits < 8 or what.macs > 400 or len(asked.paths[what.output.name]) < 2:
        return None  # the oracle counts whole bytes, and a run without drains has no end
    tensors = [oracle.Tensor(tensor.name, tuple(oracle.Axis(axis.form.terms, axis.form.offset, axis.extent)
                                                for axis in tensor.axes), tensor.dtype.bits // 8,
                             what.accumulator.bits // 8, tensor.role is Role.OUTPUT) for tensor in what.tensors]
    return asked, oracle.Problem(dict(what.dims), tensors, memories, loops, [set(binding[name]) for name in names],
                                 [binding[name] for name in names])


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(problems())
def test_no_run_beats_a_bound(both: tuple[Case, Any] | None) -> None:
    assume(both is not None)
    assert both is not None
    asked, problem = both
    measured = _oracle().run(problem)
    found = estimate(asked)
    assert [bound for bound in found.bounds if bound.cycles > measured.cycles] == []
    for (entry_, name), counted in measured.traffic.items():
        own = found.traffic[entry_, name]
        assert (own.fill_elements, own.fill_bytes) == (counted.fill, counted.fill_bytes)
        assert (own.drain_elements, own.drain_bytes) == (counted.drain, counted.drain_bytes)
        assert (own.refill_elements, own.refill_bytes) == (counted.refill, counted.refill_bytes)
