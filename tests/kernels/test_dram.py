"""The DRAM kernels: every command is allowed, every request is served once, and what is known by hand comes out."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accelsim.machine.dram import Replay, replay
from accelsim.spec.dram import Commands, Controller, Dram, Page, Refresh, Timing
from accelsim.spec.dramtrace import Trace, trace_of
from accelsim.spec.read import read_memory, shipped

from ..dram_brute import brute
from ..dram_rules import broken, places

FIELDS = ["column", "bank_group", "bank", "rank", "pseudo_channel", "channel", "row"]


@st.composite
def drams(draw: st.DrawFn) -> Dram:
    """Small memories with timings of any size that hang together, and every kind of command bus and controller."""
    counts = {"channel": draw(st.sampled_from([1, 1, 2])), "pseudo_channel": draw(st.sampled_from([1, 1, 2])),
              "rank": draw(st.sampled_from([1, 1, 2])), "bank_group": draw(st.sampled_from([1, 2])),
              "bank": draw(st.sampled_from([1, 2, 4])), "row": 4, "column": draw(st.sampled_from([1, 4, 16]))}
    some = st.integers(1, 12)
    burst, short = draw(st.integers(1, 4)), draw(some)
    cl, cwl, ras, rp, activate = draw(st.integers(3, 12)), draw(st.integers(2, 10)), draw(some), draw(some), draw(some)
    half = draw(st.booleans())
    split = not half and draw(st.booleans())
    read = 2 if half else 1
    refresh = draw(st.sampled_from([Refresh.NONE, Refresh.NONE, Refresh.ALL_BANK, Refresh.PER_BANK]))
    close = max(burst, read, draw(st.integers(1, 4)))
    timing = Timing(
        BL=burst, CL=cl, CWL=cwl, tRCDRD=draw(some), tRCDWR=draw(some), tRP=rp, tRPab=rp + draw(st.integers(0, 3)), tRAS=ras,
        tRC=ras + rp + draw(st.integers(0, 2)), tRTP=draw(some), tWR=draw(some), tCCD_S=close,
        tCCD_L=close + draw(st.integers(0, 4)), tRRD_S=short, tRRD_L=short + draw(st.integers(0, 4)),
        tFAW=4 * short + draw(st.integers(0, 20)), tWTR_S=draw(some),
        tWTR_L=12 + draw(some), tRTW=max(cl + burst + 2 - cwl, 1), tRTRS=draw(st.integers(1, 3)), tPPD=draw(st.integers(0, 3)),
        tRFC=30, tREFI=draw(st.integers(90, 300)), tRFCpb=20, tREFIpb=draw(st.integers(60, 90)), tRREFD=draw(some),
        tpbR2pbR=draw(some), BL_long=burst + draw(st.integers(0, 2)), tAAD=activate + 1 if split else 0,
        tWCKPST=draw(st.integers(1, 4)) if split and draw(st.booleans()) else 0)
    commands = Commands(ACT=1 if split else draw(st.integers(1, 3)), PRE=1, RD=read, WR=read, REF=1,
                        two_buses=not split and (half or draw(st.booleans())), half_clock=half, split_activate=split,
                        wck=timing.tWCKPST > 0)
    queue = draw(st.integers(1, 8))
    high = draw(st.integers(1, queue))
    second = 0 if half or split else draw(st.sampled_from([0, 1, 6]))
    controller = Controller(queue, high, draw(st.integers(0, high - 1)), Page.OPEN if second else draw(st.sampled_from(Page)),
                            refresh, draw(st.booleans()), draw(st.sampled_from([0, 0, 2])), second, draw(st.integers(1, 4)))
    order = draw(st.permutations(FIELDS))
    mapping = tuple((field, counts[field].bit_length() - 1) for field in order)
    return Dram("small", "", "", Fraction(1, 10**9), 32, counts, timing, commands, controller, mapping)


@st.composite
def traces(draw: st.DrawFn, dram: Dram) -> Trace:
    bursts = dram.capacity_bytes // dram.burst_bytes
    near = draw(st.integers(1, bursts))
    requests = draw(st.lists(st.tuples(st.booleans(), st.integers(0, near - 1)), min_size=1, max_size=40))
    return trace_of([(write, burst * 32) for write, burst in requests], draw(st.sampled_from([0, 0, 3, 40])))


def served_once(dram: Dram, trace: Trace, found: Replay) -> None:
    """Each request has a column command of its own, at its place, and its data after it."""
    place = places(dram, trace.addresses)
    asked = sorted((int(found.commanded[i]), *(int(place[field][i]) for field in dram.counts), bool(trace.writes[i]))
                   for i in range(len(trace.addresses)))
    given_ = sorted((one.cycle, one.channel, one.pseudo_channel, one.rank, one.bank_group, one.bank, one.row, one.column,
                     one.name.startswith("W")) for one in found.log if one.name in {"RD", "WR", "RDA", "WRA"})
    assert asked == given_
    latency = np.where(trace.writes, dram.timing.CWL + dram.timing.BL, dram.timing.CL + dram.timing.BL)
    assert (found.done == found.commanded + latency).all()
    assert (found.commanded > found.arrived).all()
    assert (found.arrived >= trace.when).all()
    assert (np.diff(found.arrived) >= 0).all()
    assert found.cycles == found.done.max()


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_every_command_is_allowed_and_every_request_served(data: st.DataObject) -> None:
    dram = data.draw(drams())
    trace = data.draw(traces(dram))
    found = replay(dram, trace, at_once=data.draw(st.sampled_from([1, 2])), log=True,
                   serial=data.draw(st.sampled_from([None, None, 0])))
    assert not list(broken(dram, found.log))
    served_once(dram, trace, found)
    assert found.activates == sum(one.name == "ACT" for one in found.log)
    assert found.reads + found.writes == len(trace.addresses)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_each_request_is_served_when_a_search_cycle_by_cycle_serves_it(data: st.DataObject) -> None:
    small = data.draw(drams())
    second = data.draw(st.sampled_from([0, 1, 6]))
    counts = dict(small.counts) | {"channel": 1, "pseudo_channel": 1, "rank": 1}
    dram = replace(small, counts=counts, controller=replace(small.controller, page=Page.OPEN, refresh=Refresh.NONE,
                                                                      second_queue=second),
                   commands=replace(small.commands, half_clock=False, split_activate=False, wck=False),
                   mapping=tuple((field, counts[field].bit_length() - 1) for field, _ in small.mapping))
    trace = data.draw(traces(dram))
    found = replay(dram, trace)
    assert (found.arrived.tolist(), found.commanded.tolist()) == brute(dram, trace)


def test_a_replay_in_pieces_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    dram = read_memory("ddr4-2400")
    requests = trace_of([(i % 3 == 2, i * 7919 * 64 % (1 << 30)) for i in range(120)], every=5)
    whole = replay(dram, requests, log=True)
    seen: list[int] = []
    monkeypatch.setattr("accelsim.machine.dram.PIECE", 7)
    pieces = replay(dram, requests, log=True, progress=seen.append)
    assert pieces.log == whole.log
    assert (pieces.done == whole.done).all()
    assert seen[:3] == [7, 14, 21]


def test_no_command_is_lost_where_a_trace_waits_long() -> None:
    """Two requests and two hundred refreshes between them."""
    dram = read_memory("ddr4-2400")
    found = replay(dram, trace_of([(False, 0), (False, 64)], every=200 * dram.timing.tREFI), log=True)
    assert sum(one.name == "REFab" for one in found.log) == found.refreshes in {199, 200}
    assert not list(broken(dram, found.log[-40:]))


def test_the_rules_find_what_is_not_allowed() -> None:
    """The same commands a cycle earlier each break a rule, or the test above proves nothing."""
    dram = read_memory("ddr4-2400", ["memory.controller.refresh=none"])
    found = replay(dram, trace_of([(False, 0), (False, 1 << 20), (True, 64), (False, 0)]), log=True)
    assert not list(broken(dram, found.log))
    for i in range(1, len(found.log)):
        moved = [*found.log[:i], replace(found.log[i], cycle=found.log[i].cycle - 1), *found.log[i + 1:]]
        assert list(broken(dram, moved)), found.log[i]


@pytest.mark.parametrize("name", ["ddr3-2133", "ddr4-2400", "ddr4-3200", "gddr6-14000", "lpddr4-2400"])
def test_latencies_by_hand(name: str) -> None:
    """A closed bank, a hit, a conflict: one cycle to be seen, then JEDEC's times."""
    dram = read_memory(name, ["memory.controller.refresh=none"])
    t = dram.timing
    columns = dram.counts["column"]
    row = next(1 << bits for bits in range(62) if places(dram, np.array([1 << bits]))["row"][0])
    column = next(1 << bits for bits in range(62) if places(dram, np.array([1 << bits]))["column"][0])
    assert columns > 1
    found = replay(dram, trace_of([(False, 0), (False, column), (False, row)], every=1000), log=True)
    latency = (found.done - found.arrived).tolist()
    data = t.CL + t.BL
    assert latency == [1 + t.tRCDRD + data, 1 + data, 1 + t.tRP + t.tRCDRD + data]
    assert (found.activates, found.precharges) == (2, 1)


def test_a_closed_page_is_closed_only_when_nothing_else_waits_for_it() -> None:
    closed = ["memory.controller.refresh=none", "memory.controller.page=closed", "memory.mapping=[row, bank, bank_group, column]"]
    dram = read_memory("ddr4-2400", closed)
    found = replay(dram, trace_of([(False, 0), (False, 64), (False, 8192)]), log=True)
    assert [one.name for one in found.log] == ["ACT", "ACT", "RD", "RDA", "RDA"]
    assert found.precharges == 0


@pytest.mark.parametrize("name", sorted(shipped("memories")))
def test_shipped_memories_obey_their_own_rules(name: str) -> None:
    for refresh in ("none", "all-bank", *(["per-bank"] if read_memory(name).timing.tREFIpb else [])):
        dram = read_memory(name, [f"memory.controller.refresh={refresh}", "memory.channels=1", *(
            ["memory.mapping=[row, bank, column, bank_group, pseudo_channel]"] if "hbm" in name else [])])
        burst, total = dram.burst_bytes, dram.capacity_bytes
        requests = [(i % 3 == 2, (i * i * 7919 * burst) % total) for i in range(70)]
        found = replay(dram, trace_of(requests, every=dram.timing.tREFI // 40), at_once=2, log=True)
        assert not list(broken(dram, found.log))
        served_once(dram, trace_of(requests, every=dram.timing.tREFI // 40), found)
        assert (found.refreshes > 0) == (refresh != "none")
        assert prod(dram.counts.values()) * burst == total


def test_fewer_refreshes_than_banks_are_never_forgotten() -> None:
    """Over a long time every bank has its turn, and an idle memory refreshes too."""
    dram = read_memory("lpddr5-6400", ["memory.controller.refresh=per-bank"])
    found = replay(dram, trace_of([(False, 0), (False, 64)], every=40 * dram.timing.tREFIpb), log=True)
    turns = [(one.bank_group, one.bank) for one in found.log if one.name == "REFpb"]
    assert len(turns) in {39, 40}
    assert turns[:16] == [(group, bank) for group in range(4) for bank in range(4)]
