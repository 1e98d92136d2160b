"""Is each stall called by its right name? One case a cause that provokes it alone, its cycles derived by hand.

Where nothing else is said: one tile of A, 4 words of 4 B (m 1, n 1, k 4), moves from DRAM to L1; B and C stay at
home, whose array ports are unlimited, so nothing else moves and nothing drains. One MAC per cycle, so a tile of k words
computes k cycles.
"""

from __future__ import annotations

import pytest

from accelsim.spec.chip import Level, Link, Multicast
from accelsim.spec.operator import Operator

from ..helpers import Ran, array, chip, custom, entry, gemm, level, link, make, phases, run, stalls, systolic


def one_tensor(
    levels: list[Level], *links: Link, what: Operator | None = None, outer: str = "m*", inner: str = "k*", slots: int = 2
) -> Ran:
    """A alone moves from DRAM to L1."""
    case = make(
        chip(levels, links=links),
        what or gemm(1, 1, 4),
        entry("DRAM", outer + " n*", "A B C"),
        entry("L1", inner, "A", {"A": slots}),
    )
    return run(case)


def test_no_wait_no_stall() -> None:
    ran = one_tensor([level("DRAM"), level("L1")])
    assert (ran.cycles, stalls(ran.timeline)) == (4, {})


def test_dram_bandwidth() -> None:
    """16 B at 4 B/cycle: 4 cycles before the first MAC."""
    ran = one_tensor([level("DRAM", 4), level("L1")])
    assert (ran.cycles, phases(ran.timeline)) == (8, {("dram_bandwidth", "start"): 4})


def test_dram_bandwidth_in_steady_state() -> None:
    """16 B at 2 B/cycle: 8 cycles a tile, 4 of compute hide 4 of the next: 8 at the start, then 4 for each of 2 more tiles."""
    ran = one_tensor([level("DRAM", 2), level("L1")], what=gemm(3, 1, 4))
    assert ran.cycles == 8 + 4 + 2 * (4 + 4)
    assert phases(ran.timeline) == {("dram_bandwidth", "start"): 8, ("dram_bandwidth", "steady"): 8}


def test_dram_latency() -> None:
    """Data flow at once, 7 cycles late."""
    ran = one_tensor([level("DRAM", latency=7), level("L1")])
    assert (ran.cycles, phases(ran.timeline)) == (11, {("dram_latency", "start"): 7})


def test_dram_latency_with_one_buffer_comes_back_with_every_tile() -> None:
    """The next tile is asked for when the last is done: 7 cycles each."""
    ran = one_tensor([level("DRAM", latency=7), level("L1")], what=gemm(3, 1, 4), slots=1)
    assert ran.cycles == 3 * (7 + 4)
    assert phases(ran.timeline) == {("dram_latency", "start"): 7, ("dram_latency", "steady"): 14}


def test_sram_bandwidth() -> None:
    """The SRAM takes 16 B at 8 B/cycle: 2 cycles."""
    ran = one_tensor([level("DRAM"), level("L1", 8)])
    assert (ran.cycles, stalls(ran.timeline)) == (6, {"sram_bandwidth": 2})


def test_sram_latency() -> None:
    """All is there when the destination's latency is over too."""
    ran = one_tensor([level("DRAM"), level("L1", latency=3)])
    assert (ran.cycles, stalls(ran.timeline)) == (7, {"sram_latency": 3})


def test_link_bandwidth() -> None:
    ran = one_tensor([level("DRAM"), level("L1")], link("DRAM", "L1", 4))
    assert (ran.cycles, stalls(ran.timeline)) == (8, {"link_bandwidth": 4})


def test_link_latency() -> None:
    ran = one_tensor([level("DRAM"), level("L1")], link("DRAM", "L1", latency=5))
    assert (ran.cycles, stalls(ran.timeline)) == (9, {"link_latency": 5})


@pytest.mark.parametrize("chunk", [None, 4, 5, 16])
def test_pieces_of_a_transfer_are_its_own_service(chunk: int | None) -> None:
    """Cutting a lone transfer changes nothing, its blame neither (the pieces follow each other without a gap)."""
    ran = one_tensor([level("DRAM"), level("L1")], link("DRAM", "L1", 1, chunk_bytes=chunk))
    assert (ran.cycles, stalls(ran.timeline)) == (20, {"link_bandwidth": 16})


def test_setup_of_each_piece_is_issue() -> None:
    """Four pieces of 4 B: 3 cycles of set-up and 4 of service each."""
    ran = one_tensor([level("DRAM"), level("L1")], link("DRAM", "L1", 1, chunk_bytes=4, setup_cycles=3))
    assert (ran.cycles, stalls(ran.timeline)) == (4 * 7 + 4, {"link_bandwidth": 16, "issue": 12})


def test_issue() -> None:
    """The link needs 6 cycles to set a transfer up; its rate is unlimited."""
    ran = one_tensor([level("DRAM"), level("L1")], link("DRAM", "L1", setup_cycles=6))
    assert (ran.cycles, stalls(ran.timeline)) == (10, {"issue": 6})


def test_issue_by_too_few_outstanding_requests() -> None:
    """2 requests of 4 B in 8 cycles of latency: 1 B/cycle on an unlimited link, 16 cycles for 16 B; then they are through.

    The memory's latency itself, 8 cycles until the first byte, cannot be avoided: without it the limit means nothing.
    """
    ran = one_tensor([level("DRAM", latency=8), level("L1")], link("DRAM", "L1", request_bytes=4, outstanding=2))
    assert (ran.cycles, stalls(ran.timeline)) == (8 + 16 + 4, {"dram_latency": 8, "issue": 16})


# -- contention -----------------------------------------------------------------------------------------------------


def test_contention_of_tensors() -> None:
    """A and B of 16 B share a port of 4 B/cycle: B stands 4 cycles behind A; its own 4 cycles of service remain its own."""
    on = chip([level("DRAM", 4, ports="shared"), level("L1")])
    ran = run(make(on, gemm(1, 1, 4), entry("DRAM", "m1 n1", "A B C"), entry("L1", "k4", "A B")))
    assert (ran.cycles, stalls(ran.timeline)) == (12, {"contention": 4, "dram_bandwidth": 4})
    assert ran.timeline.culprits["contention", "DRAM.port", "A", "PE"] == 4


def test_contention_of_cores() -> None:
    """Two cores fetch their own 16 B of A over one port: core 1 waits 4 cycles for core 0's, then 4 for its own."""
    on = chip([level("DRAM", 4), level("L1", fanout=(("x", 2),))])
    ran = run(make(on, gemm(2, 1, 4), entry("DRAM", "n1", "A B C", x="m2"), entry("L1", "k4", "A")))
    assert ran.cycles == 12
    assert stalls(ran.timeline, 0) == {"dram_bandwidth": 4}
    assert stalls(ran.timeline, 1) == {"contention": 4, "dram_bandwidth": 4}
    assert ran.timeline.idle_cycles(0) == 4


def test_waiting_behind_ones_own_transfer_is_bandwidth() -> None:
    """Three buffers: the third tile of A queues behind the second of A, which is no contention."""
    ran = one_tensor([level("DRAM", 1), level("L1")], what=gemm(3, 1, 4), slots=3)
    assert stalls(ran.timeline) == {"dram_bandwidth": 16 + 12 + 12}


# -- writeback --------------------------------------------------------------------------------------------------------


def outputs(what: Operator, outer: str, inner: str, slots: int, dram: Level) -> Ran:
    """C alone moves, from L1 to DRAM and back."""
    return run(make(chip([dram, level("L1")]), what, entry("DRAM", outer, "A B C"), entry("L1", inner, "C", {"C": slots})))


def test_writeback_of_a_slot() -> None:
    """Tile 1 of C needs the only slot, from which tile 0 leaves by 4 B at 1 B/cycle.

    MACs 0-4, drain 4-8, MACs 8-12, drain 12-16. The last drain itself is 4 cycles of bandwidth at the end: whatever makes
    a slot wait makes the last tile wait as well.
    """
    ran = outputs(gemm(2, 1, 4), "m2 n1", "k4", 1, level("DRAM", 1))
    assert (ran.cycles, phases(ran.timeline)) == (16, {("writeback", "steady"): 4, ("dram_bandwidth", "finish"): 4})


def test_writeback_of_a_drain_before_its_refill() -> None:
    """C(0), C(1), then C(0) again: its partial sums must have arrived before they come back. Latency 10 each way.

    MAC 0-1 and 1-2; C(0) arrives at DRAM at 11 (writeback 2-11), comes back at 21 (latency 10), MAC 21-22. C(1) arrived
    at 12, is back at 22, MAC 22-23; it leaves with another latency: 33.
    """
    ran = outputs(gemm(1, 2, 2), "m1 k2 n2", "", 3, level("DRAM", latency=10))
    assert ran.cycles == 33
    assert phases(ran.timeline) == {("writeback", "steady"): 9, ("dram_latency", "steady"): 10, ("dram_latency", "finish"): 10}


# -- the array's own fill and drain --------------------------------------------------------------------------------------


def test_array_fill_drain_of_a_preload() -> None:
    """16 words of B into the registers at 16 B/cycle: 4 cycles; then 8 rows stream by."""
    pe = array((("x", 4), ("y", 4)), preload=4 * 4)
    ran = run(make(chip([level("DRAM")], pe), gemm(8, 4, 4), entry("DRAM", "", "A B C"), entry("PE", "m8", "B", x="n4", y="k4")))
    assert (ran.cycles, phases(ran.timeline)) == (12, {("array_fill_drain", "start"): 4})


def test_array_fill_drain_of_the_skew() -> None:
    """4 x 4 output stationary: 4 cycles of reduction, then R + C - 2 = 6 until the last result: 10."""
    ran = run(
        make(
            chip([level("DRAM")], systolic(4, 4)),
            gemm(4, 4, 4),
            entry("DRAM", "", "A B C"),
            entry("PE", "k4", "C", x="n4", y="m4"),
        )
    )
    assert (ran.cycles, phases(ran.timeline)) == (10, {("array_fill_drain", "finish"): 6})


def test_array_fill_drain_between_passes_with_one_buffer() -> None:
    """Weight stationary 4 x 4, two folds of 8 rows: (4 preload + 8 + 6 skew) each; the next preload waits for the last PE."""
    ran = run(
        make(
            chip([level("DRAM")], systolic(4, 4)),
            gemm(8, 4, 8),
            entry("DRAM", "k2", "A B C"),
            entry("PE", "m8", "B", x="n4", y="k4"),
        )
    )
    assert ran.cycles == 2 * (4 + 8 + 6)
    assert phases(ran.timeline) == {
        ("array_fill_drain", "start"): 4,
        ("array_fill_drain", "steady"): 6 + 4,
        ("array_fill_drain", "finish"): 6,
    }


def test_two_buffers_hide_the_preload() -> None:
    ran = run(
        make(
            chip([level("DRAM")], systolic(4, 4, buffers=2)),
            gemm(8, 4, 8),
            entry("DRAM", "k2", "A B C"),
            entry("PE", "m8", "B", x="n4", y="k4"),
        )
    )
    assert ran.cycles == 4 + 8 + 8 + 6
    assert phases(ran.timeline) == {("array_fill_drain", "start"): 4, ("array_fill_drain", "finish"): 6}


# -- sync ---------------------------------------------------------------------------------------------------------------


def test_sync_of_a_multicast() -> None:
    """n 3 over two cores: core 0 has 2 columns, core 1 one. Both need the same row of A, read once, with one slot.

    Core 1 is done with row 0 at 1 and claims row 1; core 0 claims it at 2, then it is there at once.
    Core 1 ends at 3, core 0 at 4.
    """
    on = chip([level("DRAM"), level("L1", fanout=(("x", 2),))], links=(link("DRAM", "L1", multicast=Multicast.EQUAL),))
    ran = run(make(on, gemm(2, 3, 1), entry("DRAM", "m2", "A B C", x="n2"), entry("L1", "n2", "A", {"A": 1})))
    assert ran.cycles == 4
    assert stalls(ran.timeline, 0) == {}
    assert stalls(ran.timeline, 1) == {"sync": 1}
    assert ran.timeline.idle_cycles(1) == 1


def test_sync_of_a_shared_parent_tile() -> None:
    """The same with the rows of A in one L1 that both cores read: its slot is free when the slower core is done."""
    on = chip([level("DRAM"), level("L1"), level("L2", fanout=(("x", 2),))])
    ran = run(
        make(on, gemm(2, 3, 1), entry("DRAM", "m2", "A B C"), entry("L1", "", "A", {"A": 1}, x="n2"), entry("L2", "n2", ""))
    )
    assert ran.cycles == 4
    assert stalls(ran.timeline, 0) == {}
    assert stalls(ran.timeline, 1) == {"sync": 1}


def test_sync_of_a_reduction() -> None:
    """k 3 over two cores whose sums a link adds: core 0 has 2 of k, core 1 one; C leaves when both have done their part.

    One slot: core 1 is done at 1 and waits for the drain, which starts with core 0's at 2. C(1): 2-4 and 2-3, leaves at 4.
    """
    on = chip([level("DRAM"), level("L1", fanout=(("x", 2),))], links=(link("DRAM", "L1", reduce=True),))
    ran = run(make(on, gemm(2, 1, 3), entry("DRAM", "m2", "A B C", x="k2"), entry("L1", "k2", "C", {"C": 1})))
    assert ran.cycles == 4
    assert stalls(ran.timeline, 0) == {}
    assert phases(ran.timeline, 1) == {("sync", "steady"): 1, ("sync", "finish"): 1}


# -- the sum ------------------------------------------------------------------------------------------------------------


def test_a_wait_is_split_latest_first() -> None:
    """DRAM 4 B/cycle latency 10, link 8 B/cycle latency 3 with 2 cycles of set-up, SRAM 16 B/cycle latency 1.

    16 B: DRAM 0-4; first byte at the link at 10, set up until 12, served 12-14; it cannot be through before the last byte from
    the DRAM: 4 + 10 = 14. First byte at the SRAM at 10 + 3 = 13, served 13-14, through at 14 + 3 = 17, arrived 18.
    Backward: 18-17 SRAM latency, 17-14 link latency; the link's own service ended at 14: 14-12 link bandwidth, 12-10 set-up;
    10-0 DRAM latency.
    """
    ran = one_tensor([level("DRAM", 4, 10), level("L1", 16, 1)], link("DRAM", "L1", 8, 3, setup_cycles=2))
    assert ran.cycles == 18 + 4
    assert stalls(ran.timeline) == {"sram_latency": 1, "link_latency": 3, "link_bandwidth": 2, "issue": 2, "dram_latency": 10}


def test_waits_follow_the_chain_through_a_slot() -> None:
    """With one slot, the wait for tile 1 goes back to its claim, which waited for tile 0's reader: the array itself, busy."""
    what = custom({"t": 2, "j": 4}, "Z", X=["t", "j"], Z=["t"])
    ran = run(make(chip([level("DRAM", 4, 3), level("L1")]), what, entry("DRAM", "t2", "X Z"), entry("L1", "j4", "X", {"X": 1})))
    assert ran.cycles == 2 * (4 + 3 + 4)
    assert phases(ran.timeline) == {
        ("dram_bandwidth", "start"): 4,
        ("dram_latency", "start"): 3,
        ("dram_bandwidth", "steady"): 4,
        ("dram_latency", "steady"): 3,
    }
