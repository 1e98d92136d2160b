"""Do the arrows of a trace come from the transfer that blame charged, as the readable driver knows it?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accelsim.machine.blame import Blame
from accelsim.machine.state import Piece, Residency
from accelsim.outputs.trace_flows import awaited
from accelsim.spec.case import Case
from accelsim.stalls import StallCause
from accelsim.timeline import TICKS, Timeline

from ..helpers import chip, entry, from_files, gemm, level, make, run
from ..properties.strategies import MOST_STEPS, cases, steps_of, wide_cases

LATENCIES = {StallCause.DRAM_LATENCY, StallCause.SRAM_LATENCY, StallCause.LINK_LATENCY}


class Watched:
    """Which service each wait of an array was charged to last: (lane, end cycle, tensor), by array and the wait's end."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.charged: dict[tuple[int, int], tuple[int, int, int]] = {}
        served: list[tuple[Piece, int, int, int]] = []
        real_served, real_ready = Blame._served, Blame.ready

        def watch_served(blame: Blame, chain: Sequence[Any], owners: Sequence[Any], place: int) -> Iterator[Piece]:
            hop, _, _, end, _, _ = chain[place]
            for number, piece in enumerate(real_served(blame, chain, owners, place)):
                if not number and hop.resource >= 0:
                    served.append((piece, hop.resource, end, owners[place].spec.tensor))
                yield piece

        def watch_ready(blame: Blame, residency: Residency, since: int, until: int, array: int) -> list[Piece]:
            served.clear()
            pieces = real_ready(blame, residency, since, until, array)
            last = next((piece for piece in pieces if piece.cause not in LATENCIES), None)
            for piece, resource, end, tensor in served:
                if last is not None and last[1:] == piece._replace(start=last.start)[1:] and last.cause is piece.cause:
                    lane = len(blame._network.array_lanes) + resource
                    self.charged[array, until] = lane, end, tensor
                    break
            return pieces

        patch.setattr(Blame, "_served", watch_served)
        patch.setattr(Blame, "ready", watch_ready)


def right(timeline: Timeline, charged: dict[tuple[int, int], tuple[int, int, int]]) -> int:
    """Check every arrow; how many there are."""
    rows = timeline.rows
    pairs = awaited(timeline, rows)
    for source, target in pairs.tolist():
        lane, _, end, _, label = rows[source].tolist()
        assert charged[int(rows[target, 0]), int(rows[target, 1]) // TICKS] == (lane, -(-end // TICKS), label)
    assert len(set(pairs[:, 1].tolist())) == len(pairs), "a step waits for one transfer at a time"
    return len(pairs)


@settings(deadline=None, max_examples=60)
@given(st.one_of(cases(), wide_cases(), wide_cases(long=True)).filter(lambda case: steps_of(case) <= MOST_STEPS))
def test_every_arrow_is_blames(case: Case) -> None:
    with pytest.MonkeyPatch.context() as patch:
        watched = Watched(patch)
        timeline = run(case).timeline
    right(timeline, watched.charged)


EIGHT = "levels:\n  - {level: DRAM, loops: [{k: 2}, {m: 2}, {n: 2}]}\n  - {level: SRAM, loops: [{m: 4}, {n: 4}, {k: 4}]}\n"


@pytest.mark.parametrize("rate", ["4 GB/s", "1.9 GB/s"])
def test_where_one_port_serves_all_each_wait_has_its_arrow(rate: str, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(monkeypatch)
    one_slot = [f"mapping.levels.SRAM.buffers.{name}=1" for name in "ABC"]
    timeline = run(from_files("toy", "gemm:m=8,n=8,k=8", EIGHT, *one_slot, f"chip.levels.DRAM.bandwidth={rate}")).timeline
    assert right(timeline, watched.charged) == len(watched.charged) > 1


def test_each_core_waited_for_its_own_port(monkeypatch: pytest.MonkeyPatch) -> None:
    # both cores' B is served from cycle 16 to 32, each by its own port
    watched = Watched(monkeypatch)
    cores = chip([level("DRAM"), level("L1", 4, fanout=(("x", 2),))])
    timeline = run(make(cores, gemm(8, 4, 4), entry("DRAM", x="m2"), entry("L1", "m4 n4 k4"))).timeline
    assert right(timeline, watched.charged) == 2
    names = [lane.name for lane in timeline.lanes]
    assert {(names[timeline.rows[source, 0]], names[timeline.rows[target, 0]])
            for source, target in awaited(timeline, timeline.rows).tolist()} == {("L1.fill[0]", "PE[0]"), ("L1.fill[1]", "PE[1]")}


def test_where_either_of_two_ports_could_have_been_it_there_is_no_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    # each of two L2s feeds two cores, and the record does not say which feeds which
    watched = Watched(monkeypatch)
    cores = chip([level("DRAM"), level("L2", 4, fanout=(("x", 2),)), level("L1", fanout=(("x", 2),))])
    timeline = run(make(cores, gemm(16, 4, 4), entry("DRAM", x="m2"), entry("L2", x="m2"), entry("L1", "m4 n4 k4"))).timeline
    assert len(watched.charged) == 4
    assert right(timeline, watched.charged) == 0
