"""Does a trace, read back from either format, say what the record and the report say, no more and no less?"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from accelsim.machine.simulate import simulate
from accelsim.measure.carriers import carriers
from accelsim.outputs import trace as traces
from accelsim.outputs.trace import Clock, make_trace
from accelsim.outputs.trace_chrome import write_chrome
from accelsim.outputs.trace_perfetto import write_perfetto
from accelsim.plan.schedule import Schedule
from accelsim.recorder import RecordOptions
from accelsim.spec.case import Case
from accelsim.stalls import StallCause
from accelsim.timeline import TICKS, Timeline

from ..helpers import from_files
from ..properties.strategies import MOST_STEPS, cases, steps_of, wide_cases
from .trace_reading import Read, Told, bytes_of, chrome, perfetto, report_of, run_of

ONE_TILE = "levels:\n  - {level: DRAM}\n  - {level: SRAM, loops: [{m: 4}, {n: 4}, {k: 4}]}\n"
EIGHT = "levels:\n  - {level: DRAM, loops: [{k: 2}, {m: 2}, {n: 2}]}\n  - {level: SRAM, loops: [{m: 4}, {n: 4}, {k: 4}]}\n"
READERS = pytest.mark.parametrize("reader", [chrome, perfetto])
SMALL = settings(deadline=None, max_examples=25)


def toy(mapping: str = EIGHT, size: int = 8, *overrides: str) -> Case:
    return from_files("toy", f"gemm:m={size},n={size},k={size}", mapping, *overrides)


def waiting() -> Case:
    """With one slot for each tensor steps wait again and again."""
    return toy(EIGHT, 8, *(f"mapping.levels.SRAM.buffers.{name}=1" for name in "ABC"))


def run(case: Case, options: RecordOptions | None = None) -> Timeline:
    return simulate(Schedule(case), options)


def read(case: Case, timeline: Timeline, window: tuple[int, int] | None = None, most_rows: int = 10**6) -> Read:
    """Of both formats, which must tell the same."""
    made = make_trace(run_of(report_of(case, timeline)), [(report_of(case, timeline), timeline)], window, most_rows)
    one, other = chrome(made), perfetto(made)
    key = lambda told: (told.track, told.begin)  # noqa: E731
    assert sorted(one.slices, key=key) == sorted(other.slices, key=key)
    assert (one.sources, one.targets, one.samples) == (other.sources, other.targets, other.samples)
    for told, unit in ((one, "microsecond"), (other, "nanosecond")):
        for about in (told.about, *told.abouts.values()):
            assert about.pop("time").startswith(f"a {unit} shown is a picosecond of the chip")
    assert (one.tracks, one.about, one.abouts) == (other.tracks, other.about, other.abouts)
    return one


def small(kind: st.SearchStrategy[Case]) -> st.SearchStrategy[Case]:
    return kind.filter(lambda case: steps_of(case) <= MOST_STEPS)


def brief(slices: list[Told]) -> list[tuple[str, int, int]]:
    return [(one.name, one["cycle"], one["cycle"] + one["cycles"]) for one in slices]


# -- one tile, by hand: A is served from 0 to 16, B to 32 and there at 132, 64 steps to 196, C is served to 212 and there at 312


def test_one_tile_as_it_is_worked_out_by_hand() -> None:
    case = toy(ONE_TILE, 4)
    told = read(case, run(case))
    assert brief(told.of("DRAM.port")) == [("A", 0, 16), ("B", 16, 32), ("C", 196, 212)]
    assert brief(told.of("MAC")) == [("contention", 0, 16), ("dram_bandwidth", 16, 32), ("dram_latency", 32, 132),
                                     ("step", 132, 196), ("dram_bandwidth", 196, 212), ("dram_latency", 212, 312)]
    assert [one.begin for one in told.of("MAC")] == [0, 16_000, 32_000, 132_000, 196_000, 212_000]  # 1 GHz, in ps
    waited = told.of("MAC")[1]
    assert (waited["waits_for"], waited["phase"]) == ("B", "start")
    assert waited["cause"] == StallCause.DRAM_BANDWIDTH.sentence
    assert {(source.name, source.begin, target.name, target.begin) for source, target in told.arrows()} == {
        ("B", 16_000, "step", 132_000)}
    assert told.tracks == [("gemm on chip", "arrays", "MAC"), ("gemm on chip", "memory ports", "DRAM.port")]


def test_each_transfer_points_at_the_step_that_uses_it() -> None:
    """A and B of the one tile, whether the step waited for it or not; C moves outward."""
    case = toy(ONE_TILE, 4)
    told = read(case, simulate(Schedule(case), RecordOptions(feeds=True)))
    assert {(source.name, source.begin, target.name, target.begin) for source, target in told.arrows()} == {
        ("A", 0, "step", 132_000), ("B", 16_000, "step", 132_000)}
    assert told.about["arrows"] == "from each transfer to the first step of each array that uses what came by it"


@SMALL
@given(small(wide_cases()))
def test_arrows_are_what_the_record_says(case: Case) -> None:
    timeline = simulate(Schedule(case), RecordOptions(feeds=True))
    assume(len(timeline.feeds))
    told, hertz = read(case, timeline), case.chip.clock_hz
    lanes = {lane.name: number for number, lane in enumerate(timeline.lanes)}
    assert hertz == 10**9
    arrows = [[lanes[target.track], target.begin, lanes[source.track], source.begin] for source, target in told.arrows()]
    assert sorted(arrows) == sorted([array, step * 1000 // TICKS, port, service * 1000 // TICKS]
                                    for array, step, port, service in timeline.feeds.tolist())


def test_what_it_is_of() -> None:
    case = toy()
    told = read(case, run(case), (100, 400))
    about = told.abouts["gemm on chip"]
    assert (about["operator"], about["cycles"], about["first_cycle"], about["last_cycle"]) == ("gemm", 1012, 100, 400)
    assert (told.about["chip"], told.about["workload"], told.about["clock_hz"]) == ("chip", "workload", 10**9)
    assert about["accelsim"] == told.about["accelsim"]
    assert about["left_out"] == ""


# -- any small case -----------------------------------------------------------------------------------------------------


@SMALL
@given(small(wide_cases()))
def test_slices_are_the_cycles_of_the_report(case: Case) -> None:
    timeline = run(case)
    assume(timeline.cycles)
    report, told = report_of(case, timeline), read(case, timeline)
    kinds = {"arrays": 0, "memory ports": 1, "links and channels": 2}
    places = [kinds[group] for _, group, _ in told.tracks]
    assert places == sorted(places)
    for kind, own in enumerate(("array", "port", "link")):
        assert [name for _, group, name in told.tracks if kinds[group] == kind] == [
            name for name, lane in report.lanes.items() if lane.kind.value == own], "in the chip's order"
    for number, (name, lane) in enumerate(report.lanes.items()):
        spent: dict[tuple[str, str], float] = {}
        at = 0
        for one in told.of(name):
            assert at <= one.begin < one.end
            assert one.begin == one["cycle"] * 1000 // 1
            assert abs(one.end - one.begin - one["cycles"] * 1000) < 1
            at = one.end
            key = ("busy", "") if one.category == "busy" else (one.name, one["phase"])
            spent[key] = spent.get(key, 0) + one["cycles"]
        stalled = {(cause.code, phase.code): cycles for (cause, phase), cycles in timeline.stall_cycles(number).items()}
        assert spent == stalled | ({("busy", ""): lane.busy_cycles} if lane.busy_cycles else {})


@SMALL
@given(small(wide_cases()))
def test_shares_are_shares_and_add_up(case: Case) -> None:
    timeline = run(case, RecordOptions(bins=16))
    assume(timeline.cycles)
    report, told = report_of(case, timeline), read(case, timeline)
    busy = {f"{name} busy": lane.busy_cycles for name, lane in report.lanes.items() if lane.kind.value != "array"}
    busy["arrays busy"] = report.busy * timeline.cycles
    shares = {name: samples for (_, name), samples in told.samples.items() if not name.endswith(" GB/s")}
    assert set(shares) == set(busy)
    for name, samples in shares.items():
        times = [time for time, _ in samples]
        assert all(0 <= share <= 1 for _, share in samples)
        assert times == sorted(set(times))
        assert (times[0], samples[-1]) == (0, (timeline.cycles * 1000, 0))
        area = sum(share * (after - time) for (time, share), after in zip(samples, times[1:], strict=False)) / 1000
        assert area == pytest.approx(busy[name], abs=1e-5 * timeline.cycles)


@SMALL
@given(small(wide_cases()))
def test_bandwidth_is_busy_time_at_the_rate(case: Case) -> None:
    """At 1 GHz: a byte a cycle is 1 GB/s, so that over time it is the bytes that the rates carry in the busy cycles."""
    timeline = run(case, RecordOptions(bins=16))
    assume(timeline.cycles)
    told = read(case, timeline)
    limited = {f"{one.name} GB/s": one for one in carriers(case, timeline.lanes) if one.lanes}
    assert {name for _, name in told.samples if name.endswith(" GB/s")} == set(limited)
    for (_, name), samples in told.samples.items():
        if name in limited:
            one = limited[name]
            area = sum(value * (after - time) for (time, value), (after, _) in pairwise(samples)) / 1000
            carried = sum(float(rate) * timeline.busy_cycles(lane) for lane, rate in zip(one.lanes, one.rates, strict=True))
            assert area == pytest.approx(carried, rel=1e-4, abs=1e-5 * timeline.cycles)
            assert all(0 <= value <= float(one.bytes_per_cycle or 0) + 1e-6 for _, value in samples)


def clipped(told: Read, first: int, last: int) -> tuple[list[tuple[object, ...]], set[tuple[object, ...]]]:
    """Slices and arrows between two cycles, from a trace of all of them."""
    def cut(one: Told) -> tuple[object, ...]:
        begin, end = max(one["cycle"], first), min(one["cycle"] + one["cycles"], last)
        return one.track, one.name, begin, end
    def seen(one: Told) -> bool:
        return one["cycle"] < last and one["cycle"] + one["cycles"] > first
    return ([cut(one) for one in told.slices if seen(one)],
            {(*cut(source), *cut(target)) for source, target in told.arrows() if seen(source) and seen(target)})


def shown(told: Read) -> tuple[list[tuple[object, ...]], set[tuple[object, ...]]]:
    return clipped(told, -1, 10**15)


@SMALL
@given(small(wide_cases()), st.data())
def test_a_window_is_the_whole_trace_cut(case: Case, data: st.DataObject) -> None:
    timeline = run(case)
    assume(timeline.cycles > 1)
    first = data.draw(st.integers(0, timeline.cycles - 1))
    last = data.draw(st.integers(first + 1, timeline.cycles))
    whole = read(case, timeline)
    later = read(case, timeline, (first, last))
    kept = read(case, run(case, RecordOptions(window=(first, last))))
    right = clipped(whole, first, last)
    assert shown(later) == right
    assert shown(kept) == right
    for name, samples in later.samples.items():
        inside = [(time, share) for time, share in whole.samples[name] if first * 1000 < time < last * 1000]
        before = [share for time, share in whole.samples[name] if time <= first * 1000][-1]
        assert samples == [(first * 1000, before), *inside, (last * 1000, 0)]


@SMALL
@given(small(cases()), st.integers(1, 60), st.integers(1, 60))
def test_a_trace_with_too_many_rows_ends_earlier_and_says_so(case: Case, most: int, kept: int) -> None:
    timeline = run(case)
    assume(timeline.cycles)
    whole = read(case, timeline)
    for told in (read(case, timeline, most_rows=most), read(case, run(case, RecordOptions(most_rows=kept)), None, most)):
        about = next(iter(told.abouts.values()))
        assert len(told.slices) == about["rows"] <= most
        assert shown(told) == clipped(whole, 0, about["last_cycle"])
        assert (about["left_out"] == "") == (about["last_cycle"] == timeline.cycles)
        assert told.about["left_out"] == about["left_out"]


def test_how_many_rows_are_left_out() -> None:
    case = toy(ONE_TILE, 4)
    # nine rows: the fourth and fifth of them begin at 32 and 132
    told = read(case, run(case), most_rows=5)
    about = next(iter(told.abouts.values()))
    assert (len(told.slices), about["last_cycle"]) == (5, 132)
    assert about["left_out"] == "gemm: shown to cycle 132 of 312; left out: 4 rows behind it"
    short = read(case, run(case, RecordOptions(most_rows=3)))
    assert "6 that the run did not keep" in str(short.about["left_out"])


def test_a_window_that_the_run_did_not_keep_is_told() -> None:
    case = toy()
    told = read(case, run(case, RecordOptions(window=(100, 300))), (200, 500))
    assert told.about["left_out"] == "gemm: the run kept cycles 100 to 300 only"
    assert max(one["cycle"] + one["cycles"] for one in told.slices) == 300


@pytest.mark.parametrize("most", [16, 10**6])
def test_a_saved_record_knows_how_far_it_is_whole(most: int, tmp_path: Path) -> None:
    timeline = run(waiting(), RecordOptions(most_rows=most))
    timeline.save(tmp_path / "run.npz")
    assert Timeline.load(tmp_path / "run.npz").whole_until == timeline.whole_until > 0
    assert (timeline.rows_dropped > 0) == (most == 16)


# -- several operators, chunks, clocks, bytes -----------------------------------------------------------------------------


@READERS
def test_operators_follow_each_other(reader: object) -> None:
    assert callable(reader)
    case = toy()
    timeline = run(case)
    report = report_of(case, timeline)
    both = make_trace(run_of(report, report), [(report, timeline), (report, timeline)])
    told = reader(both)
    assert len(told.sources) == 2 * len(reader(make_trace(run_of(report), [(report, timeline)])).sources) > 0
    macs = told.of("MAC")
    assert [one.begin + 1012 * 1000 for one in macs[:len(macs) // 2]] == [one.begin for one in macs[len(macs) // 2:]]
    assert brief(macs[:len(macs) // 2]) == brief(macs[len(macs) // 2:])
    assert max(source.begin // 1012_000 - target.begin // 1012_000 for source, target in told.arrows()) == 0
    # what the first leaves of the rows is the second's
    rows = len(timeline.rows)
    cut = make_trace(run_of(report, report), [(report, timeline), (report, timeline)], most_rows=rows + 3)
    assert [len(part.rows) for part in cut.parts] == [rows, 2]
    assert cut.parts[0].left_out == ""


@READERS
def test_chunks_change_nothing(reader: object, monkeypatch: pytest.MonkeyPatch) -> None:
    assert callable(reader)
    case = waiting()
    timeline = run(case)
    report = report_of(case, timeline)
    whole = reader(make_trace(run_of(report), [(report, timeline)]))
    monkeypatch.setattr(traces, "_CHUNK", 3)
    cut = reader(make_trace(run_of(report), [(report, timeline)]))
    assert (whole.slices, whole.sources, whole.targets) == (cut.slices, cut.sources, cut.targets)
    assert len(whole.arrows()) > 1


@given(st.fractions(Fraction(1, 1000), Fraction(10**12), max_denominator=1000), st.lists(st.integers(0, 1 << 50), min_size=1))
def test_times_are_exact_and_never_meet(hertz: Fraction, ticks: list[int]) -> None:
    clock = Clock(hertz)
    times = clock.times(np.array(ticks, dtype=np.int64))
    for tick, time in zip(ticks, times, strict=True):
        exact = Fraction(tick, TICKS) / hertz * 10**clock.digits
        assert time <= exact < time + 1
    assert clock.times(np.array([t + 1 for t in ticks], dtype=np.int64)) >= [time + 1 for time in times]
    assert clock.digits == 12 or hertz * TICKS > 10**12


def test_a_clock_that_divides_no_picosecond() -> None:
    # 1.5 GHz: a cycle is 666.67 ps
    assert Clock(Fraction(1_500_000_000)).times(np.array([0, 16, 32, 48, 49])) == [0, 666, 1333, 2000, 2041]


def test_the_same_run_gives_the_same_bytes() -> None:
    case = toy()
    for write, how in ((write_perfetto, {}), (write_chrome, {}), (write_chrome, {"zipped": True})):
        made = []
        for _ in range(2):
            timeline = run(case)
            report = report_of(case, timeline)
            made.append(bytes_of(write, make_trace(run_of(report), [(report, timeline)]), **how))
        assert made[0] == made[1]


def test_names_and_sentences_are_written_once() -> None:
    case = toy()
    timeline = run(case)
    report = report_of(case, timeline)
    data = bytes_of(write_perfetto, make_trace(run_of(report), [(report, timeline)]))
    for text in (StallCause.DRAM_LATENCY.sentence, "dram_bandwidth", "waits_for"):
        assert data.count(text.encode()) == 1 + (text == "dram_bandwidth" == report.bound_by)
