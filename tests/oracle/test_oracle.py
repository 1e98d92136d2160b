"""The worked numbers of the rules of the run, shown by the oracle alone."""

from dataclasses import replace
from fractions import Fraction

import pytest

from .machine_oracle import Axis, Event, Memory, Problem, Reading, Tensor, Traffic, run

Loops = list[tuple[str, int]]
NAMES = ("A", "B", "C")


def loops_of(text: str) -> Loops:
    """`k2 m2` as [("k", 2), ("m", 2)]."""
    return [(word[0], int(word[1:])) for word in text.split()]


def gemm(m: int, n: int, k: int, memories: list[Memory], loops: list[str], buffers: int = 2) -> Problem:
    def axes(dims: str) -> tuple[Axis, ...]:
        return tuple(Axis(((dim, 1),)) for dim in dims)

    return Problem(
        dims={"m": m, "n": n, "k": k},
        tensors=[Tensor("A", axes("mk")), Tensor("B", axes("kn")), Tensor("C", axes("mn"), output=True)],
        memories=memories,
        loops=[loops_of(text) for text in loops],
        binding=[set(NAMES) for _ in memories],
        buffers=[dict.fromkeys(NAMES, buffers) for _ in memories],
    )


def toy(bandwidth: Fraction = Fraction(4), latency: int = 100) -> list[Memory]:
    return [Memory("DRAM", bandwidth, latency, shared=True), Memory("SRAM")]


def toy3(dram: int, dram_latency: int, sram: int, sram_latency: int) -> list[Memory]:
    return [
        Memory("DRAM", Fraction(dram), dram_latency, shared=True),
        Memory("SRAM", Fraction(sram), sram_latency, shared=True),
        Memory("RF"),
    ]


def test_one_tile_term_by_term() -> None:
    result = run(gemm(4, 4, 4, toy(), ["", "m4 n4 k4"]))
    assert result.cycles == 312
    assert [(e.cycle, e.what, e.tensor) for e in result.log if e.what != "claim"] == [
        (0, "ready", "C"),
        (116, "fill arrived", "A"),
        (116, "fill through", "A"),
        (116, "ready", "A"),
        (132, "block start", ""),
        (132, "fill arrived", "B"),
        (132, "fill through", "B"),
        (132, "ready", "B"),
        (196, "block end", ""),
        (212, "drain through", "C"),
        (312, "drain arrived", "C"),
    ]
    assert Event(0, "claim", 1, "A", 0) in result.log


@pytest.mark.parametrize(
    ("outer", "buffers", "cycles"),
    [
        ("k2 m2 n2", 2, 1012),
        ("k2 m2 n2", 1, 1796),
        ("k2 m2 n2", 3, 820),
        ("m2 n2 k2", 2, 1012),
        ("m2 n2 k2", 1, 1732),
        ("m2 n2 k2", 3, 784),
    ],
)
def test_two_levels(outer: str, buffers: int, cycles: int) -> None:
    result = run(gemm(8, 8, 8, toy(), [outer, "m4 n4 k4"], buffers))
    assert (result.cycles, result.macs) == (cycles, 512)


def test_ragged_tiles() -> None:
    result = run(gemm(7, 5, 9, toy(), ["k3 m2 n2", "m4 n3 k3"]))
    assert (result.cycles, result.macs) == (1075, 7 * 5 * 9)


def test_fractional_bandwidth() -> None:
    assert run(gemm(8, 8, 8, toy(Fraction(19, 10), 7), ["k2 m2 n2", "m4 n4 k4"])).cycles == 858


@pytest.mark.parametrize(("sram_latency", "cycles"), [(0, 15), (50, 215)])
def test_three_levels_one_mac(sram_latency: int, cycles: int) -> None:
    assert run(gemm(1, 1, 1, toy3(1, 0, 4, sram_latency), ["", "", ""])).cycles == cycles


@pytest.mark.parametrize(("buffers", "cycles"), [(2, 1027), (1, 1945)])
def test_three_levels(buffers: int, cycles: int) -> None:
    problem = gemm(8, 8, 8, toy3(4, 100, 16, 2), ["k2 m2 n2", "m2 n2", "m2 n2 k4"], buffers)
    assert run(problem).cycles == cycles


def test_traffic() -> None:
    traffic = run(gemm(8, 8, 8, toy(), ["k2 m2 n2", "m4 n4 k4"])).traffic
    assert traffic == {
        (1, "A"): Traffic(fill=64, fill_bytes=256),
        (1, "B"): Traffic(fill=128, fill_bytes=512),
        (1, "C"): Traffic(drain=128, drain_bytes=512, refill=64, refill_bytes=256),
    }


def test_same_cycle_arrival_at_a_second_limited_port_waits_for_another_round() -> None:
    """At cycle 5 the fill of B stands at DRAM, the drain of C leaves SRAM at once: B is served first though C's step is."""
    memories = [Memory("DRAM", Fraction(4), shared=True), Memory("SRAM", Fraction(2))]
    problem = gemm(1, 2, 1, memories, ["n2", ""], buffers=1)
    assert run(problem).cycles == 10
    assert run(problem, Reading(same_cycle="join")).cycles == 11


def test_unlimited_port_is_passed_within_the_round() -> None:
    """Otherwise every drain of toy would lose its tie at the DRAM to the next fill."""
    problem = gemm(8, 8, 8, toy(), ["k2 m2 n2", "m4 n4 k4"])
    assert run(problem, Reading(unlimited="costs a round")).cycles == 996


def test_middle_memory_has_one_port_for_fills_in_and_out() -> None:
    memories = [Memory("L0", Fraction(4), shared=True), Memory("L1", Fraction(4)), Memory("L2", Fraction(4))]
    problem = replace(gemm(1, 1, 1, memories, ["", "", ""], buffers=1), binding=[set("ABC"), set("AB"), set("ABC")])
    assert run(problem).cycles == 6


def test_boundary_of_a_bypassing_tensor_is_named_by_its_inner_level() -> None:
    memories = [Memory("L0", Fraction(2)), Memory("L1", Fraction(4)), Memory("L2", Fraction(4), shared=True)]
    problem = replace(gemm(1, 1, 1, memories, ["", "", ""], buffers=1), binding=[set("ABC"), set("AC"), set("ABC")])
    assert run(problem).cycles == 9


def test_first_visit_output_waits_for_its_source_too() -> None:
    memories = [Memory("L0", Fraction(4), shared=True), Memory("L1", Fraction(4)), Memory("L2", None, shared=True)]
    problem = replace(gemm(2, 1, 1, memories, ["m2", "", ""]), binding=[set("ABC"), set("BC"), set("ABC")])
    assert run(problem).cycles == 9


def test_refill_waits_for_the_drain_to_arrive() -> None:
    memories = [Memory("L0", None, latency=2, shared=True), Memory("L1")]
    assert run(gemm(1, 2, 2, memories, ["k2 n2", ""])).cycles == 11


def test_unread_residencies_make_no_difference() -> None:
    """A tile that nobody reads is what a child already holds: it moves nothing."""
    sliding = Tensor("I", (Axis((("p", 2), ("r", 2)), offset=-1, extent=5),), element_bytes=2)
    kernel = Tensor("W", (Axis((("r", 1),)),))
    output = Tensor("O", (Axis((("p", 1),)),), output=True)
    loops = [[("p", 2), ("r", 2)], [("p", 2)], []]
    names = {"I", "W", "O"}
    problem = Problem(
        dims={"p": 3, "r": 2},
        tensors=[sliding, kernel, output],
        memories=toy3(4, 7, 2, 1),
        loops=loops,
        binding=[names] * 3,
        buffers=[dict.fromkeys(names, 2)] * 3,
    )
    plain = run(problem)
    assert plain.readerless == 1
    assert plain.log == run(problem, Reading(readerless="claimed")).log
