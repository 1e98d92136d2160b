"""Do the parts of a difference add up, are operators taken for the right ones, and is what was asked differently named?"""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from accelsim.analytic.estimate import estimate
from accelsim.errors import SpecError
from accelsim.machine.simulate import simulate
from accelsim.measure.diff import Allowance, Pairing, State, diff, regressions
from accelsim.measure.diff_config import Change, config_changes, value_changes
from accelsim.measure.report import OperatorReport, RunReport, measure
from accelsim.measure.sides import BUSY, IDLE, Side, read_side
from accelsim.outputs.results import run_json
from accelsim.plan.schedule import Schedule
from accelsim.spec.case import Case
from accelsim.timeline import LaneKind

from ..diffs import compared, failed, operator, ran, side
from ..helpers import CLOCK
from ..properties.strategies import MOST_STEPS, cases, steps_of, wide_cases

RUNS = settings(max_examples=40, deadline=None, suppress_health_check=[
    HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large])


def reported(case: Case, repeat: int) -> OperatorReport:
    case = replace(case, operator=replace(case.operator, name="one", repeat=repeat))
    return measure(case, simulate(Schedule(case)), estimate(case))


def side_of(one: OperatorReport) -> Side:
    """Through the text of the JSON, as the command line reads it."""
    about = {"accelsim": "0", "results_version": 1, "inputs": {}, "options": {}}
    return read_side(json.loads(json.dumps(run_json(RunReport("c", "w", CLOCK, (one,), about)))), "side")


def each_lane(one: OperatorReport) -> dict[str, Fraction]:
    """Cycles by what the array spent them on, straight from the report: over lanes, times repeats."""
    arrays = [lane for lane in one.lanes.values() if lane.kind is LaneKind.ARRAY]
    spent = {cause.code: Fraction(cycles) for cause, cycles in one.stalls.items()}
    spent |= {BUSY: sum(Fraction(lane.busy_cycles) for lane in arrays), IDLE: sum(Fraction(lane.idle_cycles) for lane in arrays)}
    return {name: value * one.repeat / len(arrays) for name, value in spent.items()}


def turned(changes: tuple[Change, ...]) -> set[tuple[str, str | None, str | None]]:
    return {(change.path, change.after, change.before) for change in changes}


def the_parts_add_up(first: Case, second: Case) -> None:
    before, after = reported(first, 1), reported(second, 3)
    found = diff(side_of(before), side_of(after))
    (one,) = found.operators
    old, new = each_lane(before), each_lane(after)
    for part in one.parts:
        assert (part.before, part.after) == (old.get(part.name, 0), new.get(part.name, 0))
    assert sum(part.delta for part in one.parts) == one.delta == found.delta == 3 * after.cycles - before.cycles
    assert sum(part.before for part in found.parts) == before.cycles
    back = diff(side_of(after), side_of(before))
    assert back.delta == -found.delta
    assert [part.delta for part in back.parts] == [-part.delta for part in found.parts]
    assert sorted((key, new - old) for key, old, new in back.operators[0].traffic) == sorted(
        (key, old - new) for key, old, new in one.traffic)
    assert turned(back.changes) == {(change.path, change.before, change.after) for change in found.changes}


@given(cases(), cases())
@RUNS
def test_parts_add_up_and_turn_their_signs(first: Case, second: Case) -> None:
    assume(max(steps_of(first), steps_of(second)) <= MOST_STEPS)
    the_parts_add_up(first, second)


@given(wide_cases(), wide_cases())
@RUNS
def test_parts_add_up_whatever_the_numbers_of_arrays(first: Case, second: Case) -> None:
    assume(max(steps_of(first), steps_of(second)) <= MOST_STEPS)
    the_parts_add_up(first, second)


@given(wide_cases())
@RUNS
def test_a_run_does_not_differ_from_itself(case: Case) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    one = side_of(reported(case, 2))
    found = diff(one, one)
    assert found.same
    assert found.whole
    assert not found.changes
    assert not any(part.delta for part in found.parts)
    assert not regressions(found, Allowance("0%"), per_operator=True)


def test_two_lanes_against_three_by_hand() -> None:
    """Two repeats of 90 cycles on two arrays, then one of 100 cycles on three: each divided by its own number of lanes."""
    before = operator("a", {"busy": 60, "dram_latency": 30}, {"busy": 40, "contention": 45, "idle": 5}, repeat=2)
    after = operator("a", {"busy": 60, "dram_latency": 40}, {"busy": 60, "dram_latency": 40}, {"idle": 100})
    (one,) = compared(ran(before), ran(after)).operators
    assert one.cycles == (180, 100)
    assert one.delta == -80
    assert {part.name: part.delta for part in one.parts if part.before or part.after} == {
        "busy": 40 - 100, "dram_latency": Fraction(80, 3) - 30, "contention": -45, "idle": Fraction(100, 3) - 5}


# -- which operators belong together ----------------------------------------------------------------------------------


def busy(name: str, cycles: int = 10, **other: Any) -> dict[str, Any]:
    return operator(name, {"busy": cycles}, **other)


def names(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[tuple[str, str, Pairing | None]]:
    return [(one.before.name if one.before else "", one.after.name if one.after else "", one.pairing)
            for one in compared(ran(*before), ran(*after)).operators]


def test_names_come_first_in_any_order() -> None:
    found = compared(ran(busy("a", 1), busy("b", 2)), ran(busy("b", 2), busy("a", 1)))
    assert [(one.name, one.pairing, one.delta) for one in found.operators] == [("b", Pairing.NAME, 0), ("a", Pairing.NAME, 0)]
    assert found.reordered
    assert found.same
    assert not compared(ran(busy("a"), busy("b")), ran(busy("a"), busy("b"), busy("c"))).reordered


def test_a_renamed_operator_is_known_by_its_work() -> None:
    """Its place would say x, its MACs say y."""
    assert names([busy("a"), busy("b", macs=7)], [busy("a"), busy("x", macs=8), busy("y", macs=7)]) == [
        ("a", "a", Pairing.NAME), ("", "x", None), ("b", "y", Pairing.WORK)]


def test_else_by_its_kind_and_place() -> None:
    assert names([busy("a"), busy("b", macs=7), busy("c")], [busy("a"), busy("x", macs=8), busy("c")]) == [
        ("a", "a", Pairing.NAME), ("b", "x", Pairing.PLACE), ("c", "c", Pairing.NAME)]


def test_another_kind_or_another_place_is_another_operator() -> None:
    assert names([busy("a"), busy("b", macs=7)], [busy("a"), busy("x", macs=7, kind="conv2d")]) == [
        ("a", "a", Pairing.NAME), ("", "x", None), ("b", "", None)]
    assert names([busy("b", macs=7), busy("a")], [busy("a"), busy("x", macs=8)]) == [
        ("b", "", None), ("a", "a", Pairing.NAME), ("", "x", None)]


def test_two_that_look_alike_are_paired_in_their_order() -> None:
    assert names([busy("a"), busy("b")], [busy("x"), busy("y"), busy("z")]) == [
        ("a", "x", Pairing.WORK), ("b", "y", Pairing.WORK), ("", "z", None)]


def test_failed_added_and_removed_ones_are_told_apart_and_counted_as_no_cycles() -> None:
    before = ran(busy("both", 10), failed("a"), busy("b", 20), busy("gone", 40, kind="conv2d"), failed("never"))
    after = ran(busy("both", 11), busy("a", 80), failed("b"), busy("new", 160, kind="gemv"), failed("never"))
    found = compared(before, after)
    states = {one.name: (one.state, one.delta, [side for side, _ in one.errors]) for one in found.operators}
    assert states == {"both": (State.COMPARED, 1, []), "a": (State.FAILED, 80, ["A"]), "b": (State.FAILED, -20, ["B"]),
                      "gone": (State.ONLY_A, -40, []), "new": (State.ONLY_B, 160, []), "never": (State.FAILED, 0, ["A", "B"])}
    assert found.delta == 251 - 70 == sum(delta for _, delta, _ in states.values()) == sum(part.delta for part in found.parts)
    assert not found.whole
    assert not found.same
    assert [one.name for one in found.ranked] == ["new", "a", "gone", "b", "both", "never"]
    assert sum((found.share(one) or Fraction(0) for one in found.operators), Fraction(0)) == 1


# -- what was asked differently --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("before", "after", "changes"), [
    ({"a": 1}, {"a": 1}, []),
    ({"a": {"b": "900 GB/s"}}, {"a": {"b": "1800 GB/s"}}, [("x.a.b", "900 GB/s", "1800 GB/s")]),
    ({"a": None}, {}, [("x.a", "null", None)]),
    ({}, {"a": [True, {("c", "r"): 2}]}, [("x.a", None, "[true, {[c, r]: 2}]")]),
    ([{"name": "D", "v": 1}, {"name": "S"}], [{"name": "D", "v": 2}, {"name": "S"}], [("x.D.v", "1", "2")]),
    ([{"level": "D"}, {"level": "S"}], [{"level": "S"}, {"level": "D"}], [("x (order)", "D, S", "S, D")]),
    ([{"level": "D"}], [{"level": "D"}, {"level": "L2", "v": 1}], [("x.L2", None, "{level: L2, v: 1}")]),
    ([{"m": 2}, {"n": 2}], [{"n": 2}, {"m": 2}], [("x", "[{m: 2}, {n: 2}]", "[{n: 2}, {m: 2}]")]),
    ([{"name": "D"}, {"name": "D"}], [{"name": "D"}], [("x", "[{name: D}, {name: D}]", "[{name: D}]")]),
    ("a\x1b[2J", "b", [("x", "a\\x1b[2J", "b")]),
])
def test_a_value_that_differs_is_named_by_its_path(before: Any, after: Any, changes: list[tuple[str, str, str]]) -> None:
    assert [(one.path, one.before, one.after) for one in value_changes("x", before, after)] == changes


def test_versions_come_first_and_hashes_say_that_they_are_all_that_is_known() -> None:
    old, new = ran(busy("a")), ran(busy("a", mapping="levels:\n  - level: DRAM\n    loops: [{k: 4}]\n"), chip="c1")
    new["provenance"]["results_version"] = 4
    new["provenance"]["options"]["overrides"] = ["chip.clock=2 GHz"]
    new["clock_hz"] = 2 * 10**9
    assert compared(old, new).changes == (
        Change("results_version", "3", "4"),
        Change("chip.clock", "1 GHz", "2 GHz"),
        Change("chip", "hash c0", "hash c1", hash_only=True),
        Change("options.overrides", "[]", "[chip.clock=2 GHz]"),
        Change("mapping.a.levels.DRAM.loops", "[{k: 2}]", "[{k: 4}]"))


def test_files_are_compared_key_by_key_and_renamed_operators_with_each_other() -> None:
    def asked(hashed: str, text: str, name: str) -> Side:
        data = ran(busy(name))
        data["provenance"]["inputs"]["workload"] = hashed
        return read_side(data, "folder", [("workload", text)])

    old = asked("w0", '{"name": "w", "operators": [{"name": "a", "dims": {"m": 8}}]}', "a")
    new = asked("w1", '{"name": "w", "operators": [{"name": "b", "dims": {"m": 9}}]}', "b")
    assert diff(old, new).changes == (Change("workload.operators.a.name", "a", "b"),
                                      Change("workload.operators.b.dims.m", "8", "9"))
    mixed = replace(new, files={})
    assert config_changes(old, mixed, []) == (Change("workload", "hash w0", "hash w1", hash_only=True),)
    respelt = asked("w2", '{"operators": [{"dims": {"m": 8}, "name": "a"}], "name": "w"}', "a")
    assert config_changes(old, respelt, []) == (Change("workload (order of keys)", "hash w0", "hash w2"),)
    timed = replace(old, hashes={**old.hashes, "memory.hbm2": "h"})
    assert config_changes(old, timed, []) == (Change("memory.hbm2", None, "hash h"),)


# -- when it is too much ---------------------------------------------------------------------------------------------

TWO_PERCENT, TEN_CYCLES = Allowance("2%", share=Fraction(2, 100)), Allowance("10 cycles", cycles=Fraction(10))


@pytest.mark.parametrize(("allowance", "before", "after", "fails"), [
    (TWO_PERCENT, 1000, 1020, False), (TWO_PERCENT, 1000, 1021, True), (TWO_PERCENT, 50, 51, False), (TWO_PERCENT, 49, 50, True),
    (TEN_CYCLES, 1000, 1010, False), (TEN_CYCLES, 1000, 1011, True), (TWO_PERCENT, 1000, 1, False), (TWO_PERCENT, 0, 0, False),
    (TWO_PERCENT, 0, 1, True), (Allowance("0%"), 7, 7, False), (Allowance("0%"), 7, 8, True)])
def test_exactly_what_is_allowed_passes(allowance: Allowance, before: int, after: int, fails: bool) -> None:
    assert allowance.exceeded(before, after) == fails
    found = compared(ran(busy("a", before)), ran(busy("a", after)))
    assert bool(regressions(found, allowance, per_operator=False)) == fails


def test_one_operator_may_not_hide_behind_another() -> None:
    found = compared(ran(busy("a", 100), busy("b", 1000)), ran(busy("a", 103), busy("b", 990)))
    assert not regressions(found, TWO_PERCENT, per_operator=False)
    assert regressions(found, TWO_PERCENT, per_operator=True) == (
        "a takes 100 -> 103 cycles, +3 (+3.000%), more than 2%",)


def test_more_repeats_are_not_a_slower_operator_but_a_slower_run() -> None:
    found = compared(ran(busy("a", 100)), ran(busy("a", 100, repeat=2)))
    assert regressions(found, TWO_PERCENT, per_operator=True) == (
        "the run takes 100 -> 200 cycles, +100 (+100.000%), more than 2%",)


@pytest.mark.parametrize(("before", "after", "why"), [
    ([busy("a"), busy("b")], [busy("a"), failed("b")], "b failed in B"),
    ([busy("a"), failed("b")], [busy("a"), failed("b")], "b failed in A and B"),
    ([busy("a"), busy("b", kind="gemv")], [busy("a")], "b is only in A"),
    ([busy("a", 50)], [busy("a", 40), busy("b", kind="gemv")], "b is only in B")])
def test_what_was_not_compared_does_not_pass(before: list[Any], after: list[Any], why: str) -> None:
    assert regressions(compared(ran(*before), ran(*after)), TWO_PERCENT, per_operator=False) == (why,)


# -- what is no run --------------------------------------------------------------------------------------------------


def broken(path: str, value: Any) -> dict[str, Any]:
    """A sound run with one value replaced (None: taken away)."""
    data = ran(operator("a", {"busy": 6, "dram_latency": 4}), busy("b"))
    *way, last = (int(key) if key.isdigit() else key for key in path.split("/"))
    node: Any = data
    for key in way:
        node = node[key]
    if value is None:
        del node[last]
    else:
        node[last] = value
    return data


@pytest.mark.parametrize(("path", "value", "said"), [
    ("schema", 2, "a.json: schema: version 2 is newer than this accelsim reads"),
    ("schema", None, "not the JSON of a run"),
    ("schema", 0, "schema: must be a whole number of at least 1"),
    ("schema", True, "schema: must be a whole number"),
    ("clock_hz", 0, "clock_hz: must be more than 0"),
    ("clock_hz", float("inf"), "clock_hz: must be a number"),
    ("chip", None, "chip: missing"),
    ("provenance", None, "not the JSON of a run"),
    ("provenance/results_version", "3", "provenance.results_version: must be a whole number"),
    ("provenance/inputs", [], "provenance.inputs: must be an object"),
    ("operators", {}, "operators: must be a list"),
    ("operators/0", 7, "operators[0]: not an operator"),
    ("operators/0/cycles", 11, "operators[0].lanes.MAC[0]: busy, stalled and idle cycles do not add up to 11"),
    ("operators/0/repeat", 0, "operators[0].repeat: must be a whole number of at least 1"),
    ("operators/0/lanes", {}, "operators[0].lanes: none of kind array"),
    ("operators/0/lanes/MAC[0]/busy_cycles", -1, "operators[0].lanes.MAC[0].busy_cycles: must be a number of at least 0"),
    ("operators/0/stalls/dram_latency_cycles", 5, "operators[0].stalls: do not add up to the stalled cycles"),
    ("operators/0/stalls/solar_flare_cycles", 0, "unknown stall cause 'solar_flare'"),
    ("operators/0/stalls/busy_cycles", 0, "unknown stall cause 'busy'"),
    ("operators/0/levels/SRAM/A/fill_bytes", 1.5, "operators[0].levels.SRAM.A.fill_bytes: must be a whole number"),
    ("operators/0/mapping/yaml", "levels: [", "operators[0].mapping.yaml: not YAML"),
    ("operators/0/mapping/yaml", None, "operators[0].mapping.yaml: missing"),
    ("operators/1/name", "a", "operators: two are named 'a'"),
    ("total/cycles", 21, "total.cycles: 21 is not the sum of the operators' cycles, 20")])
def test_what_is_no_sound_run_is_refused_with_its_place(path: str, value: Any, said: str) -> None:
    with pytest.raises(SpecError) as refused:
        read_side(broken(path, value), "a.json")
    assert said in str(refused.value)
    assert all(fault.file == "a.json" for fault in refused.value.faults)


@pytest.mark.parametrize("data", [None, [], 3, "run", {}])
def test_what_is_no_object_of_ours_is_refused(data: object) -> None:
    with pytest.raises(SpecError, match="not the JSON of a run"):
        read_side(data, "a.json")


def test_an_estimate_is_named_as_one() -> None:
    with pytest.raises(SpecError, match="an estimate, which has no stalls to compare"):
        read_side({"kind": "estimated", "chip": "toy", "operators": []}, "a.json")


def test_all_faults_are_told_at_once() -> None:
    data = broken("chip", None)
    del data["operators"][0]["bound_by"], data["operators"][1]["macs"]
    with pytest.raises(SpecError) as refused:
        read_side(data, "a.json")
    assert [fault.path for fault in refused.value.faults] == ["chip", "operators[0].bound_by", "operators[1].macs"]


def test_what_cannot_be_printed_is_escaped() -> None:
    one = side(busy("a\x1b[31m\ud800"), failed("b", "no\x07room\nmore"))
    assert one.operators[0].name == "a\\x1b[31m\\ud800"
    assert one.operators[1].error == "no\\x07room"
