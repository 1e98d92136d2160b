"""Tensors that follow others: a step's tile is asked for once theirs is there, no cycle earlier or later, with both drivers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from accelsim.analytic.estimate import estimate
from accelsim.errors import SpecError
from accelsim.machine.compiled_driver import CompiledMachine
from accelsim.spec.build import _follow_problems
from accelsim.spec.case import Case
from accelsim.spec.chip import Access, Port
from accelsim.spec.read import read_chip

from ..helpers import brief, chip, entry, gemm, level, make, run
from ..properties.strategies import MOST_STEPS, cases, steps_of, wide_cases
from . import test_fast_forward
from .test_drivers import compare

SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
WORDS = st.lists(st.sampled_from(["input", "weight", "output"]), min_size=1, max_size=3)


def following(case: Case, words: Sequence[str]) -> Case:
    """The case with memories that follow one of these each, in turn; not where none of those has something to follow."""
    levels = [case.chip.levels[0]]
    number = 0
    for one in case.chip.levels[1:]:
        memories = []
        for memory in one.memories:
            memories.append(replace(memory, follows=frozenset({words[number % len(words)]})))
            number += 1
        levels.append(replace(one, memories=tuple(memories)))
    made = replace(case, chip=replace(case.chip, levels=tuple(levels)))
    followed = any(made.follows(place, tensor) for place in range(1, made.array_entry) for tensor in made.operator.tensors)
    assume(followed and not _follow_problems(made))
    return made


@settings(max_examples=150, deadline=None, suppress_health_check=SLOW)
@given(cases(), WORDS)
def test_drivers_agree_with_one_instance(case: Case, words: list[str]) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    compare(following(case, words))


@settings(max_examples=150, deadline=None, suppress_health_check=SLOW)
@given(wide_cases(), WORDS)
def test_drivers_agree_with_several(case: Case, words: list[str]) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    compare(following(case, words))


@settings(max_examples=80, deadline=None, suppress_health_check=SLOW)
@given(st.one_of(cases(long=True), wide_cases(long=True)), WORDS)
def test_periods_are_the_same(case: Case, words: list[str]) -> None:
    assume(steps_of(case) <= 60 * MOST_STEPS)
    test_fast_forward.compare(following(case, words))


@pytest.mark.nightly
@settings(max_examples=3000, deadline=None, suppress_health_check=SLOW)
@given(st.one_of(cases(), wide_cases()), WORDS)
def test_drivers_agree_at_length(case: Case, words: list[str]) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    compare(following(case, words))


@settings(max_examples=100, deadline=None, suppress_health_check=SLOW)
@given(st.one_of(cases(), wide_cases()), WORDS)
def test_no_run_beats_a_bound_of_the_estimate(case: Case, words: list[str]) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    made = following(case, words)
    cycles = run(made, None, CompiledMachine).cycles
    assert [one for one in estimate(made).bounds if one.cycles > cycles] == [], brief(made)


def passes(follows: str) -> Case:
    """Two passes, each with weights of its own of 16 B and four inputs of 4 B in turn; a port of a byte a cycle for either."""
    on = chip([level("DRAM", ports=_apart()), level("SRAM", buffers=(("", 2), ("weight", 1)), follows=frozenset({follows}))])
    return make(on, gemm(4, 8, 1), entry("DRAM", "n2 m4"), entry("SRAM", "n4"))


def _apart() -> tuple[Port, ...]:
    return tuple(Port(name, rate, frozenset(Access), frozenset({name})) for name, rate in (
        ("A", Fraction(1)), ("B", Fraction(1)), ("C", Fraction(16))))


def test_the_first_tile_of_a_pass_follows_its_weights() -> None:
    """Alone, inputs are asked for two ahead. B comes in 16 cycles; the first A behind it, in 4 more; each of four steps takes 4.
    The second B is asked for when the first is released, at 36; without, the second pass's first input is there before it.
    """
    free, bound = run(passes("output")), run(passes("weight"))
    assert free.times("claimed", "A")[:2] == [0, 0]
    assert bound.times("claimed", "A")[:2] == [16, 16], "in the cycle in which the weights are there"
    assert bound.times("ready", "B")[0] == 16
    assert bound.times("ready", "A")[:2] == [20, 24]
    first = bound.timeline.first_starts[0]
    assert first == 20
    second = bound.times("claimed", "B")[1]
    assert second == first + 4 * 4
    assert bound.times("ready", "B")[1] == second + 16
    assert bound.times("claimed", "A")[4] == second + 16
    assert bound.times("ready", "A")[4] == second + 20
    assert free.times("ready", "A")[4] < free.times("ready", "B")[1]
    assert bound.cycles > free.cycles
    # what it waits for is told: the weights' bytes, then its own
    told = [cycles for (cause, phase), cycles in bound.timeline.stall_cycles(0).items()
            if (cause.code, phase.code) in (("dram_bandwidth", "start"), ("dram_bandwidth", "steady"))]
    assert told == [20, 20]


CHIP = """\
name: mine
description: A chip whose inputs follow
clock: 1 GHz
levels:
  - name: DRAM
    kind: dram
    capacity: 1 GiB
    bandwidth: 8 B/cycle
  - name: SRAM
    memories:
      - {name: INS, kind: sram, serves: [input, output], capacity: 64 KiB, bandwidth: unlimited, follows: [weight]}
      - {name: WEIGHTS, kind: sram, serves: [weight], capacity: 64 KiB, bandwidth: unlimited}
  - name: PE
    array: {model: spatial, pes: {x: 4}}
"""


def test_what_follows_in_a_chip_file(tmp_path: Path) -> None:
    path = tmp_path / "chip.yaml"
    path.write_text(CHIP, encoding="utf-8")
    ins, weights = read_chip(str(path)).levels[1].memories
    assert (ins.follows, weights.follows) == (frozenset({"weight"}), frozenset())
    case = make(read_chip(str(path)), gemm(8, 8, 8), entry("DRAM", "m2"), entry("SRAM", "m4 n* k*"))
    assert {tensor.name: case.follows(1, tensor) for tensor in case.operator.tensors} == {"A": ("B",), "B": (), "C": ("B",)}
    path.write_text(CHIP.replace("[weight], capacity: 64 KiB, bandwidth: unlimited}",
                                 "[weight], capacity: 64 KiB, bandwidth: unlimited, follows: [input]}"), encoding="utf-8")
    with pytest.raises(SpecError, match="A at SRAM follows itself, so none of its tiles could ever come"):
        make(read_chip(str(path)), gemm(8, 8, 8), entry("DRAM", "m2"), entry("SRAM", "m4 n* k*"))
    path.write_text(CHIP.replace("follows: [weight]", "follows: [weigt]"), encoding="utf-8")
    with pytest.raises(SpecError, match="'weigt' is no role"):
        read_chip(str(path))
