"""Why at a moment: by hand, and for whatever case the same as the timeline says."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from accelsim.errors import SpecError
from accelsim.machine.simulate import simulate
from accelsim.machine.why import Answer, Doing, Passage, Reason, why
from accelsim.plan.schedule import Schedule
from accelsim.spec.banks import Banks, Ports
from accelsim.spec.case import Case
from accelsim.spec.read import read_memory
from accelsim.stalls import StallCause
from accelsim.timeline import TICKS, LaneKind, state_cause
from accelsim.verbs import Options, ask

from ..helpers import brief, chip, entry, from_files, gemm, level, make
from ..properties.strategies import MOST_STEPS, cases, steps_of, wide_cases
from .bank_cases import with_banks
from .channel_cases import with_channels

SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
ONE_BUFFER = """\
levels:
  - {level: DRAM, loops: [{k: 2}, {m: 2}, {n: 2}]}
  - {level: SRAM, buffers: {A: 1, B: 1, C: 1}, loops: [{m: 4}, {n: 4}, {k: 4}]}
"""


def case_of(chip: str, workload: str) -> Case:
    (case,) = ask(chip, workload, Options()).cases
    assert isinstance(case, Case)
    return case


TILE = case_of("toy", "gemm:m=4,n=4,k=4")


def stretches(found: Answer) -> list[tuple[StallCause, int, int, str, str]]:
    return [(one.cause, one.start, one.end, one.where, one.whose) for one in found.stretches]


def test_a_wait_for_the_first_tile_by_hand() -> None:
    """DESIGN section 3: A 0-16-116, B 16-32-132, compute 132-196, C drains 196-212-312."""
    found = why(TILE, 20)
    assert (found.lane, found.doing, found.since, found.until, found.tensor) == ("MAC", Doing.STALLED, 0, 132, "B")
    assert stretches(found) == [
        (StallCause.DRAM_LATENCY, 32, 132, "DRAM.port", ""), (StallCause.DRAM_BANDWIDTH, 16, 32, "DRAM.port", ""),
        (StallCause.CONTENTION, 0, 16, "DRAM.port", "A")]
    (link,) = found.chain
    assert (link.tile.tensor, link.tile.level, link.claimed, link.done, link.drains) == ("B", "SRAM", 0, 132, False)
    assert link.passages == (Passage("DRAM.port", 0, 16, 32, ("A",)),)
    assert link.reason is Reason.START


@pytest.mark.parametrize(("cycle", "doing", "since", "until"), [
    (131, Doing.STALLED, 0, 132), (132, Doing.BUSY, 132, 196), (195, Doing.BUSY, 132, 196), (196, Doing.STALLED, 196, 312),
    (311, Doing.STALLED, 196, 312)])
def test_a_stretch_ends_where_the_next_begins(cycle: int, doing: Doing, since: int, until: int) -> None:
    found = why(TILE, cycle)
    assert (found.doing, found.since, found.until) == (doing, since, until)


def test_the_end_waits_for_the_last_drain() -> None:
    found = why(TILE, 250)
    (link,) = found.chain
    assert (link.drains, link.claimed, link.done, link.reason, link.until) == (True, 196, 312, Reason.FOLLOWED, 196)


@pytest.mark.parametrize(("cycle", "doing", "tensor", "queued"), [
    (5, Doing.BUSY, "A", ["fill of B to SRAM[0]"]), (20, Doing.BUSY, "B", []), (60, Doing.IDLE, "", []),
    (200, Doing.BUSY, "C", [])])
def test_a_port_tells_whom_it_serves_and_who_waits(cycle: int, doing: Doing, tensor: str, queued: list[str]) -> None:
    found = why(TILE, cycle, "DRAM.port")
    assert (found.doing, found.tensor) == (doing, tensor)
    assert [one.where for one in found.queue[1:]] == queued


def test_a_slot_that_still_drains_is_in_the_chain() -> None:
    """One buffer: at 800 a step ends, its sums drain until 816, and only then the next sums are asked for."""
    found = why(from_files("toy", "gemm:m=8,n=8,k=8", ONE_BUFFER), 900)
    slot, drain = found.chain
    assert (found.tensor, slot.reason, slot.claimed, slot.done) == ("C", Reason.SLOT, 816, 964)
    assert (drain.drains, drain.tile.number, drain.claimed, drain.until) == (True, slot.tile.number - 1, 800, 800)


def test_before_the_launch_an_array_is_being_launched() -> None:
    case = case_of("gemmini", "gemm:m=64,n=64,k=64,dtype=int8")
    found = why(case, 5)
    assert stretches(found) == [(StallCause.ISSUE, 0, case.chip.launch_cycles, "launch", "")]


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(SpecError, match=r"did you mean 'DRAM\.port'"):
        why(TILE, 5, "DRAM.prt")
    with pytest.raises(SpecError, match="the run of gemm ends at cycle 312"):
        why(TILE, 312)


def test_a_channel_tells_its_bursts() -> None:
    chip = Path(__file__).parents[2] / "examples" / "behind-ddr4.yaml"
    case = case_of(str(chip), "gemm:m=64,n=64,k=64")
    line = simulate(Schedule(case))
    lane = next(number for number, one in enumerate(line.lanes) if one.name == "DRAM.channel0")
    first = next(row for row in line.rows if row[0] == lane)
    begins = int(first[1]) // TICKS
    before, found = why(case, begins - 1, "DRAM.channel0"), why(case, begins, "DRAM.channel0")
    assert (before.doing, before.since, before.until) == (Doing.IDLE, 0, begins)
    assert (found.doing, found.since, found.tensor) == (Doing.BUSY, begins, line.labels[first[4]])


@pytest.mark.parametrize(("cycle", "whose", "since", "until"), [
    (5, "fill of A to L1[0]", 4, 6), (8, "PE reads A", 8, 10), (11, "PE reads B", 10, 12), (12, "PE writes C", 12, 14),
    (19, "PE reads C", 18, 20), (21, "PE writes C", 20, 22), (22, "drain of C from L1[0]", 22, 24)])
def test_a_port_of_the_array_tells_its_steps(cycle: int, whose: str, since: int, until: int) -> None:
    """All pass one port, two cycles a word: A and B of two steps come in, at 4 the first step asks for A and B and then for C,
    which it writes and the second, from 14 on, reads and writes again; then C leaves.
    """
    case = make(chip([level("DRAM"), level("L1", 2, ports="all")]), gemm(1, 1, 2), entry("DRAM", "k2", "A B C"),
                entry("L1", "", "A B C"))
    found = why(case, cycle, "L1.port")
    assert (found.doing, found.queue[0].where, found.since, found.until) == (Doing.BUSY, whose, since, until)


def test_an_array_beside_banks_tells_where_it_stood_still() -> None:
    """To the cycle: busy before, standing still for the bank of this memory, and busy again."""
    spad = "chip.levels.ONCHIP.memories.SPAD"
    options = Options(overrides=(f"{spad}.banks=4", f"{spad}.bank_width=16 B"))
    (case,) = ask("gemmini", "gemm:m=64,n=64,k=64,dtype=int8", options).cases
    assert isinstance(case, Case)
    line = simulate(Schedule(case))
    causes = [None if (found := state_cause(int(row[3]))) is None else found[0] for row in line.rows]
    row = line.rows[causes.index(StallCause.BANK_CONFLICT)]
    since, until = int(row[1]) // TICKS, int(row[2]) // TICKS
    (before, during, after) = (why(case, cycle) for cycle in (since - 1, since, until))
    assert (before.doing, during.doing, after.doing) == (Doing.BUSY, Doing.STALLED, Doing.BUSY)
    assert (before.until, during.since, during.until, after.since) == (since, since, until, until)
    assert stretches(during) == [(StallCause.BANK_CONFLICT, since, until, "SPAD", "")]
    assert why(case, 1500, "DMA").doing is Doing.BUSY


def agrees(case: Case, share: float) -> None:
    """Every lane does at a moment what the rows of the compiled driver say; a stall's stretches leave no gap."""
    line = simulate(Schedule(case))
    assume(line.cycles > 0)
    cycle = min(line.cycles - 1, int(share * line.cycles))
    rows = [row for row in line.rows if row[1] < (cycle + 1) * TICKS and row[2] > cycle * TICKS]
    for number, lane in enumerate(line.lanes):
        found, own = why(case, cycle, lane.name), [row for row in rows if row[0] == number]
        shown = f"{lane.name} at {cycle}\n{brief(case)}"
        if lane.name.startswith("DRAM.channel"):
            assert (found.doing is Doing.BUSY) == bool(own), shown
            assert found.since <= cycle < found.until, shown
            assert not own or found.tensor in {line.labels[row[4]] for row in own}, shown
        if lane.kind is not LaneKind.ARRAY:
            # a cycle of which a port is busy for a part is one of its service: served from the first whole cycle on
            continue
        if found.doing is Doing.IDLE:
            assert not own, shown
            continue
        (row,) = own
        cause = state_cause(int(row[3]))
        assert (found.doing is Doing.BUSY) == (cause is None), shown
        if cause is not None:
            (piece,) = [one for one in found.stretches if one.start <= cycle < one.end]
            assert piece.cause is cause[0], shown
            assert (found.stretches[0].end, found.stretches[-1].start) == (found.until, found.since), shown
            assert all(later.start == earlier.end for later, earlier in pairwise(found.stretches)), shown
            assert not found.chain or found.chain[0].tile.tensor == line.labels[row[4]], shown


@settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
@given(st.one_of(cases(), wide_cases()), st.floats(0, 1, exclude_max=True))
def test_it_is_what_the_timeline_says(case: Case, share: float) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    agrees(case, share)


@settings(max_examples=30, deadline=None, suppress_health_check=SLOW)
@given(wide_cases(), st.floats(0, 1, exclude_max=True), st.sampled_from(["ddr4-3200", "hbm2-2000"]))
def test_so_it_is_of_simulated_channels(case: Case, share: float, technology: str) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    found = with_channels(case, [read_memory(technology)])
    assume(found is not None)
    assert found is not None
    agrees(found, share)


@settings(max_examples=30, deadline=None, suppress_health_check=SLOW)
@given(wide_cases(), st.floats(0, 1, exclude_max=True))
def test_so_it_is_beside_simulated_banks(case: Case, share: float) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    found = with_banks(case, [Banks(4, 4, Ports(both=1))])
    assume(found is not None)
    assert found is not None
    agrees(found, share)
