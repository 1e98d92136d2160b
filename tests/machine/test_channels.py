"""Memories in the loop: when data come and what a wait is put down to, with both drivers."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from accelsim.analytic.estimate import estimate
from accelsim.machine.compiled_driver import CompiledMachine
from accelsim.machine.dram import replay
from accelsim.machine.memories import MemoryState, earliest
from accelsim.machine.outcomes import Come, Outcome
from accelsim.machine.simpy_driver import Machine
from accelsim.spec.case import Case
from accelsim.spec.chip import Access
from accelsim.spec.dram import Dram, Refresh
from accelsim.spec.dramtrace import Trace
from accelsim.spec.operator import Role
from accelsim.spec.read import read_memory, shipped

from ..helpers import brief, chip, entry, gemm, level, make, run, stalls
from ..properties.strategies import MOST_STEPS, cases, steps_of, wide_cases
from .channel_cases import short_queue, with_channels
from .test_drivers import compare

SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
TECHNOLOGIES = sorted(shipped("memories"))
NAMES = st.lists(st.sampled_from(TECHNOLOGIES), min_size=1, max_size=3)
DRAMS = {name: read_memory(name) for name in TECHNOLOGIES}


def calm(dram: Dram) -> Dram:
    """Without refreshes."""
    return replace(dram, controller=replace(dram.controller, refresh=Refresh.NONE))


def own_clock(dram: Dram, own: Fraction = Fraction(1)) -> MemoryState[str]:
    """A memory on a chip whose clock is so many times its own."""
    return MemoryState(dram, own / dram.cycle_s, lambda _: None)


def ask(memory: MemoryState[str], cycle: int, owner: str, start: int, length: int, *, write: bool = False) -> None:
    memory.ask(cycle, owner, 0, write=write, tells=True, starts=np.array([start]), lengths=np.array([length]))


def to_the_end(memory: MemoryState[str]) -> list[Outcome[str]]:
    found = []
    while memory.busy:
        found += memory.until(None)
    return found


# -- a transfer alone -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ddr4-2400", "hbm2-2000", "gddr6-14000", "ddr3-2133"])
def test_a_read_of_a_closed_bank(name: str) -> None:
    """It is queued in the cycle it comes, is activated in the next, read tRCD later; data begin after CL and take BL."""
    dram = calm(DRAMS[name])
    memory = own_clock(dram)
    ask(memory, 5, "tile", 0, 1)
    told = {(one.come, one.cycle) for one in to_the_end(memory)}
    from_command = 5 + 1 + dram.timing.tRCDRD + dram.commands.ACT - dram.commands.RD + dram.timing.CL
    assert told == {(Come.ENTERED, 6), (Come.STARTS, from_command), (Come.ENDS, from_command + dram.timing.BL)}


@pytest.mark.parametrize("name", ["ddr4-2400", "hbm2-2000"])
def test_a_write_of_a_closed_bank(name: str) -> None:
    dram = calm(DRAMS[name])
    memory = own_clock(dram)
    ask(memory, 0, "tile", 0, 1, write=True)
    ends = 1 + dram.timing.tRCDWR + dram.commands.ACT - dram.commands.WR + dram.timing.CWL + dram.timing.BL
    assert {(one.come, one.cycle) for one in to_the_end(memory)} == {(Come.ENTERED, 1), (Come.ENDS, ends)}


@pytest.mark.parametrize("name", TECHNOLOGIES)
@pytest.mark.parametrize("clock", [Fraction(7, 10), Fraction(1), Fraction(13, 9)])
def test_known_no_earlier_and_no_later_than_it_is(name: str, clock: Fraction) -> None:
    """Of the chip's cycles, the first that begins no earlier than the memory's in which the data had passed."""
    dram = calm(DRAMS[name])
    right, memory = own_clock(dram), own_clock(dram, clock)
    ask(right, 0, "tile", 4096, 5000)
    ask(memory, 0, "tile", 4096, 5000)
    for one, other in zip(to_the_end(right), to_the_end(memory), strict=True):
        assert other.cycle == math.ceil(one.cycle * clock)


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize(("name", "second"), [*((name, 0) for name in TECHNOLOGIES), ("ddr4-2400", 8), ("hbm2-2000", 8)])
def test_a_transfer_is_the_replay_of_its_bursts(name: str, second: int, write: bool) -> None:
    """By itself a transfer does what a trace of its addresses does that come as soon as there is room."""
    dram = replace(DRAMS[name], controller=replace(DRAMS[name].controller, second_queue=second))
    memory = own_clock(dram)
    count = 3000
    ask(memory, 0, "tile", 0, count * dram.burst_bytes, write=write)
    ends = to_the_end(memory)[-1]
    addresses = np.arange(count, dtype=np.int64) * dram.burst_bytes
    alone = replay(dram, Trace(addresses, np.full(count, write), np.zeros(count, dtype=np.int64)), at_once=1 << 20)
    counts = memory.finish()
    assert (ends.come, ends.cycle) == (Come.ENDS, alone.cycles)
    assert counts.row_misses + counts.row_conflicts == alone.activates
    assert counts.row_conflicts == alone.precharges
    assert counts.row_hits + alone.activates == counts.bursts == count
    assert counts.bytes == count * dram.burst_bytes


def test_bursts_that_runs_share_are_moved_once() -> None:
    memory = own_clock(DRAMS["ddr4-2400"])
    memory.ask(0, "tile", 0, write=False, tells=False, starts=np.array([0, 10, 63, 200]), lengths=np.array([4, 4, 2, 1]))
    assert [one.come for one in to_the_end(memory)] == [Come.STARTS, Come.ENDS]
    assert memory.finish().bursts == 3


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(TECHNOLOGIES), st.lists(st.tuples(st.integers(0, 300), st.integers(0, 1 << 18), st.integers(1, 4000),
                                                         st.booleans()), min_size=1, max_size=12), st.integers(1, 40))
def test_how_far_it_goes_at_once_does_not_matter(name: str, transfers: list[tuple[int, int, int, bool]], stride: int) -> None:
    """What comes out is the same whether it goes on to the next event or by small steps, and each comes when it is due."""
    def all_of(step: int | None) -> list[tuple[int, Come, str]]:
        memory = own_clock(DRAMS[name], Fraction(5, 7))
        now, found = 0, []
        waiting = sorted((sum(gap for gap, *_ in transfers[:i + 1]), i) for i in range(len(transfers)))
        due: list[int] = []
        while waiting or memory.busy or due:
            events = due + ([waiting[0][0]] if waiting else []) + ([now + step] if step is not None and memory.busy else [])
            upcoming = min(events, default=None)
            if memory.busy and (upcoming is None or upcoming > now):
                new = memory.until(upcoming)
                assert all(one.cycle > now for one in new)
                found += [(one.cycle, one.come, one.owner) for one in new]
                due += [one.cycle for one in new]
                upcoming = min([*events, *due], default=None)
            if upcoming is None:
                continue
            now = upcoming
            due = [cycle for cycle in due if cycle > now]
            while waiting and waiting[0][0] == now:
                _, i = waiting.pop(0)
                _, start, length, write = transfers[i]
                ask(memory, now, str(i), start, length, write=write)
        return sorted(found, key=lambda one: (one[0], one[1].value, one[2]))
    right = all_of(None)
    assert all_of(stride) == right
    assert sum(come is Come.ENDS for _, come, _ in right) == len(transfers)


def test_of_two_memories_neither_runs_ahead_of_what_the_other_lets_happen() -> None:
    """What comes out of one may ask the other: no further than to the first of it does either go."""
    fast, slow = own_clock(calm(DRAMS["hbm2-2000"])), own_clock(calm(DRAMS["ddr4-2400"]), Fraction(1, 3))
    ask(fast, 0, "fast", 0, 100_000)
    ask(slow, 0, "slow", 0, 1)
    now = 0
    while fast.busy or slow.busy:
        new = earliest([fast, slow], None)
        assert new
        first = min(one.cycle for one in new)
        assert first > now
        now = first
        if any(one.owner == "slow" and one.come is Come.ENDS for one in new):
            # the other has not gone past the cycle in which this is known
            ask(fast, now, "again", 1 << 20, 64)
    assert not fast.busy


# -- in the loop ----------------------------------------------------------------------------------------------------


@settings(max_examples=250, deadline=None, suppress_health_check=SLOW)
@given(cases(), NAMES, st.booleans(), st.sampled_from([0, 3]), st.booleans())
def test_drivers_agree_with_one_instance(case: Case, names: list[str], short: bool, beyond: int, tiled: bool) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    made = with_channels(case, [short_queue(DRAMS[name]) if short else DRAMS[name] for name in names], beyond, tiled=tiled)
    assume(made is not None)
    assert made is not None
    compare(made)


@settings(max_examples=250, deadline=None, suppress_health_check=SLOW)
@given(wide_cases(), NAMES, st.booleans(), st.sampled_from([0, 3]), st.booleans())
def test_drivers_agree_with_several(case: Case, names: list[str], short: bool, beyond: int, tiled: bool) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    made = with_channels(case, [short_queue(DRAMS[name]) if short else DRAMS[name] for name in names], beyond, tiled=tiled)
    assume(made is not None)
    assert made is not None
    compare(made)


@pytest.mark.nightly
@settings(max_examples=4000, deadline=None, suppress_health_check=SLOW)
@given(st.one_of(cases(), wide_cases()), NAMES, st.booleans(), st.sampled_from([0, 3]), st.booleans())
def test_drivers_agree_at_length(case: Case, names: list[str], short: bool, beyond: int, tiled: bool) -> None:
    """And no run beats a bound of the estimate."""
    assume(steps_of(case) <= MOST_STEPS)
    made = with_channels(case, [short_queue(DRAMS[name]) if short else DRAMS[name] for name in names], beyond, tiled=tiled)
    assume(made is not None)
    assert made is not None
    compare(made)
    cycles = run(made, None, CompiledMachine).cycles
    assert [one for one in estimate(made).bounds if one.cycles > cycles] == [], brief(made)


def fed_by(dram: Dram, m: int, n: int, k: int, outer: str, buffers: int = 1, clock: Fraction | None = None) -> Case:
    """A product whose tiles come from channels, one MAC per cycle; ``outer``: the loops of the outermost level."""
    on = replace(chip([level("DRAM"), level("SRAM")]), clock_hz=clock or 1 / dram.cycle_s)
    slots = dict.fromkeys("ABC", buffers)
    made = with_channels(make(on, gemm(m, n, k), entry("DRAM", outer), entry("SRAM", "m* n* k*", buffers=slots)), [dram])
    assert made is not None
    return made


def test_the_first_wait_by_hand() -> None:
    """Two tiles of a burst each in one row, asked for at once: row, latency, the other's data, and the burst itself."""
    dram = calm(DRAMS["ddr4-2400"])
    t = dram.timing
    ran = run(fed_by(dram, 1, 1, 16, ""))
    # the second may be in another bank group or the same: the columns are as far apart as that asks
    ready = ran.times("ready", "B")[0]
    assert ready - (1 + t.tRCDRD + t.CL + t.BL) in (t.tCCD_S, t.tCCD_L)
    lost = stalls(ran.timeline)
    first = {cause: lost.get(cause, 0) for cause in ("dram_latency", "dram_bandwidth", "dram_row", "contention")}
    assert first["dram_latency"] >= t.CL
    assert all(first.values())
    assert "dram_refresh" not in lost
    assert lost.get("dram_turnaround", 0) <= t.tRTW, "but for the result, written at the end"


def scattered(refresh: Refresh = Refresh.NONE, bank: int | None = None) -> Case:
    """Tiles of a column block: two bursts of each row of the memory, and results that stay until the end."""
    dram = DRAMS["ddr4-2400"]
    dram = replace(dram, controller=replace(dram.controller, refresh=refresh))
    if bank is not None:
        # all fields of a bank stand above the row: neighbours share it
        low = [(field, bits) for field, bits in dram.mapping if field in ("column", "row")]
        high = [(field, bits) for field, bits in dram.mapping if field not in ("column", "row")]
        dram = replace(dram, mapping=(*low, *high))
    return fed_by(dram, 64, 1, 1024, "k64")


def test_rows_that_are_opened_for_two_bursts_each_are_waited_for() -> None:
    one, many = stalls(run(scattered(bank=1)).timeline), stalls(run(scattered()).timeline)
    assert one["dram_row"] > 4 * many.get("dram_row", 0)
    assert one["dram_row"] > one.get("dram_bandwidth", 0)
    assert "dram_refresh" not in one
    assert one.get("dram_turnaround", 0) <= DRAMS["ddr4-2400"].timing.tRTW, "but for the results, written once at the end"


def test_refreshes_are_waited_for_where_there_are_any() -> None:
    without, refreshed = run(scattered()), run(scattered(Refresh.ALL_BANK))
    assert "dram_refresh" not in stalls(without.timeline)
    assert stalls(refreshed.timeline)["dram_refresh"] > 0
    assert refreshed.cycles > without.cycles
    assert refreshed.timeline.counts["dram_refreshes"] > 0
    others = {cause: cycles for cause, cycles in stalls(refreshed.timeline).items() if cause != "dram_refresh"}
    # nothing else is put down to it
    assert refreshed.cycles - without.cycles <= stalls(refreshed.timeline)["dram_refresh"] + sum(
        max(0, cycles - stalls(without.timeline).get(cause, 0)) for cause, cycles in others.items())


def test_turning_the_bus_around_is_waited_for_where_reads_and_writes_alternate() -> None:
    dram = calm(DRAMS["ddr4-2400"])
    alternating = run(fed_by(dram, 16, 256, 16, "n16"))
    assert stalls(alternating.timeline)["dram_turnaround"] > 0
    assert alternating.timeline.counts["dram_turnarounds"] >= 16
    reading = run(fed_by(dram, 16, 16, 256, "k16"))
    assert reading.timeline.counts["dram_turnarounds"] == 1, "for the results, at the end"
    assert stalls(reading.timeline).get("dram_turnaround", 0) <= dram.timing.tRTW


def test_latency_that_comes_on_top_is_added_to_each_way() -> None:
    dram = calm(DRAMS["ddr4-2400"])
    plain = fed_by(dram, 1, 1, 16, "")
    (memory,) = plain.chip.levels[0].memories
    later = replace(plain, chip=replace(plain.chip, levels=(replace(plain.chip.levels[0], memories=(
        replace(memory, beyond_cycles=7),)), *plain.chip.levels[1:])))
    assert run(later).times("ready", "B")[0] == run(plain).times("ready", "B")[0] + 7
    assert run(later).cycles == run(plain).cycles + 14


@settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
@given(cases(), st.sampled_from(TECHNOLOGIES))
def test_all_bytes_are_moved_in_whole_bursts(case: Case, name: str) -> None:
    """Never fewer than what moves, and of each contiguous run at most a burst more at either end."""
    assume(steps_of(case) <= MOST_STEPS)
    made = with_channels(case, [DRAMS[name]])
    assume(made is not None and len(made.chip.levels[0].memories) == 1 and all(path[0] == 0 for path in made.paths.values()))
    assert made is not None
    timeline = run(made, None, CompiledMachine).timeline
    moved = 0
    for (level_name, tensor), traffic in timeline.traffic.items():
        own = next(one for one in made.operator.tensors if one.name == tensor)
        if level_name == made.chip.names[made.paths[tensor][1]]:
            moved += traffic.fill_bytes + traffic.refill_bytes + (traffic.drain_bytes if own.role is Role.OUTPUT else 0)
    counts = timeline.counts
    shared = any(link.multicast.value != "none" or link.reduce for link in made.chip.links)
    if not shared:
        assert counts["dram_bytes"] >= moved
    assert counts["dram_row_hits"] + counts["dram_row_misses"] + counts["dram_row_conflicts"] == counts["dram_bursts"]
    busy = sum(timeline.busy_cycles(lane) for lane, one in enumerate(timeline.lanes) if "channel" in one.name)
    dram = DRAMS[name]
    assert busy == pytest.approx(counts["dram_bursts"] * dram.timing.BL * dram.cycle_s * made.chip.clock_hz,
                                 abs=len(timeline.lanes) + counts["dram_bursts"] / 8)


@settings(max_examples=200, deadline=None, suppress_health_check=SLOW)
@given(st.one_of(cases(), wide_cases()), st.sampled_from(TECHNOLOGIES), st.booleans())
def test_no_run_beats_a_bound_of_the_estimate(case: Case, name: str, refreshed: bool) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    made = with_channels(case, [DRAMS[name] if refreshed else calm(DRAMS[name])])
    assume(made is not None)
    assert made is not None
    cycles = run(made, None, CompiledMachine).cycles
    assert [one for one in estimate(made).bounds if one.cycles > cycles] == [], brief(made)


@pytest.mark.parametrize("name", TECHNOLOGIES)
@pytest.mark.parametrize("rate", [1, 2, 4])
def test_a_write_goes_ahead_of_its_data(name: str, rate: int) -> None:
    """The command of the last drain is on its way while the data still come from L1: no bound may count one after the other.

    One slot of L2 takes A(0) to A(3) in turn, 36 cycles each after the words' own; the last C leaves L1 after its step.
    """
    case = make(chip([level("DRAM"), level("L1", rate, ports="shared"), level("L2", latency=36)]), gemm(4, 1, 1),
                entry("DRAM", "m2", "B C"), entry("L1", "m2", "A B C", {"B": 1, "C": 1}), entry("L2", "", "A", {"A": 1}))
    made = with_channels(case, [DRAMS[name]])
    assert made is not None
    bounds = {bound.name: bound.cycles for bound in estimate(made).bounds}
    assert bounds["L2 A slots"] >= 4 * (4 // rate + 36 + 1)
    assert max(bounds.values()) <= run(made, None, CompiledMachine).cycles


def test_tiles_in_one_piece_are_streamed() -> None:
    """Column blocks of a row-major matrix take a burst for 16 B of each row; as tiles they take what they have."""
    dram = calm(DRAMS["ddr4-2400"])
    rows = fed_by(dram, 4, 64, 256, "n16")
    (memory,) = rows.chip.levels[0].memories
    tiles = replace(rows, chip=replace(rows.chip, levels=(replace(rows.chip.levels[0], memories=(
        replace(memory, tiled=True),)), *rows.chip.levels[1:])))
    scattered_bytes, streamed_bytes = (run(case).timeline.counts["dram_bytes"] for case in (rows, tiles))
    assert streamed_bytes == 4 * (4 * 256 + 256 * 64 + 4 * 64)
    assert scattered_bytes >= 4 * 4 * 256 * 64
    assert run(tiles).cycles < run(rows).cycles


def test_readable_and_compiled_tell_the_same_of_a_longer_run() -> None:
    compare(fed_by(DRAMS["hbm2-2000"], 32, 32, 64, "m2 n4 k4", buffers=2, clock=Fraction(940_000_000)))


def test_channels_serve_transfers_alone() -> None:
    made = fed_by(DRAMS["ddr4-2400"], 8, 8, 8, "")
    (port,) = made.chip.levels[0].memories[0].ports
    assert port.accesses == {Access.FILL, Access.DRAIN}
    assert run(made).cycles == run(made, None, Machine).cycles
