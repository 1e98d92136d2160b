"""Are the cycles those that were worked out by hand? Every number of DESIGN section 3, read as a user would write it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from ..helpers import chip, custom, entry, from_files, gemm, level, make, phases, run, stalls

TWO = "levels:\n  - {{level: DRAM, loops: [{}]}}\n  - {{level: SRAM, loops: [{}]}}\n"
THREE = TWO + "  - {{level: RF, loops: [{}]}}\n"
TILE = "{m: 4}, {n: 4}, {k: 4}"
KMN, MNK = "{k: 2}, {m: 2}, {n: 2}", "{m: 2}, {n: 2}, {k: 2}"
GEMM8 = "gemm:m=8,n=8,k=8"


def buffers(count: int, *names: str) -> list[str]:
    return [f"mapping.levels.{name}.buffers.{tensor}={count}" for name in names for tensor in "ABC"]


def test_one_tile_term_by_term() -> None:
    """A 0-16-116, B 16-32-132, compute 132-196, C drains 196-212-312."""
    ran = run(from_files("toy", "gemm:m=4,n=4,k=4", TWO.format("", TILE)))
    assert ran.cycles == 312
    assert ran.times("claimed", "A") == ran.times("claimed", "B") == ran.times("claimed", "C") == [0]
    assert ran.times("ready", "A") == [116]
    assert ran.times("ready", "B") == [132]
    assert ran.times("ready", "C") == [0]
    assert ran.times("released", "A") == ran.times("released", "B") == ran.times("released", "C") == [196]
    assert (ran.times("freed", "C"), ran.times("drained", "C")) == ([212], [312])
    rows = [
        (int(start) / 16, int(end) / 16, int(label))
        for lane, start, end, state, label in ran.timeline.rows
        if lane == 1 and state == 0
    ]
    assert rows == [(0, 16, 0), (16, 32, 1), (196, 212, 2)]
    # the wait for B: its latency, its own service, and its queue behind A; the end: the drain's latency and service
    assert phases(ran.timeline) == {
        ("dram_latency", "start"): 100,
        ("dram_bandwidth", "start"): 16,
        ("contention", "start"): 16,
        ("dram_latency", "finish"): 100,
        ("dram_bandwidth", "finish"): 16,
    }
    assert ran.timeline.busy_cycles(0) == 64


@pytest.mark.parametrize(
    ("loops", "slots", "cycles"), [(KMN, 2, 1012), (KMN, 1, 1796), (KMN, 3, 820), (MNK, 2, 1012), (MNK, 1, 1732), (MNK, 3, 784)]
)
def test_eight_tiles(loops: str, slots: int, cycles: int) -> None:
    assert run(from_files("toy", GEMM8, TWO.format(loops, TILE), *buffers(slots, "SRAM"))).cycles == cycles


def test_two_buffers_are_the_default_of_toy() -> None:
    assert run(from_files("toy", GEMM8, TWO.format(KMN, TILE))).cycles == 1012


def test_traffic_of_the_eight_tiles() -> None:
    """Words into SRAM: A 64, B 128; C written 128, refilled 64."""
    traffic = run(from_files("toy", GEMM8, TWO.format(KMN, TILE))).timeline.traffic
    assert (traffic["SRAM", "A"].fill_elements, traffic["SRAM", "B"].fill_elements) == (64, 128)
    assert (traffic["SRAM", "C"].drain_elements, traffic["SRAM", "C"].refill_elements) == (128, 64)
    assert traffic["SRAM", "C"].refill_bytes == 256


def test_ragged_tiles() -> None:
    case = from_files("toy", "gemm:m=7,n=5,k=9", TWO.format("{k: 3}, {m: 2}, {n: 2}", "{m: 4}, {n: 3}, {k: 3}"))
    assert run(case).cycles == 1075


def test_the_rest_is_what_is_left() -> None:
    case = from_files("toy", "gemm:m=7,n=5,k=9", TWO.format('{k: "*"}, {m: "*"}, {n: "*"}', "{m: 4}, {n: 3}, {k: 3}"))
    assert run(case).cycles == 1075


def test_fractional_bandwidth() -> None:
    over = ["chip.levels.DRAM.bandwidth=1.9 B/cycle", "chip.levels.DRAM.latency=7 cycles"]
    assert run(from_files("toy", GEMM8, TWO.format(KMN, TILE), *over)).cycles == 858


@pytest.mark.parametrize(("latency", "cycles"), [(0, 15), (50, 215)])
def test_one_mac_through_three_levels(latency: int, cycles: int) -> None:
    over = [
        "chip.levels.DRAM.bandwidth=1 B/cycle",
        "chip.levels.DRAM.latency=0 cycles",
        "chip.levels.SRAM.bandwidth=4 B/cycle",
        f"chip.levels.SRAM.latency={latency} cycles",
    ]
    one = "{m: 1}, {n: 1}, {k: 1}"
    assert run(from_files("toy3", "gemm:m=1,n=1,k=1", THREE.format("", "", one), *over)).cycles == cycles


@pytest.mark.parametrize(("slots", "cycles"), [(2, 1027), (1, 1945)])
def test_three_levels(slots: int, cycles: int) -> None:
    mapping = THREE.format(KMN, "{m: 2}, {n: 2}", "{m: 2}, {n: 2}, {k: 4}")
    assert run(from_files("toy3", GEMM8, mapping, *buffers(slots, "SRAM", "RF"))).cycles == cycles


@pytest.mark.parametrize("slots", [1, 2, 3, 4])
@pytest.mark.parametrize(
    ("words", "rate", "latency", "uses"),
    [(16, 4, 100, 4), (16, 4, 0, 4), (16, 4, 10, 1), (5, 4, 33, 1), (16, 1, 30, 1), (16, 1, 0, 2), (12, 2, 100, 3)],
)
def test_steady_period(words: int, rate: int, latency: int, uses: int, slots: int) -> None:
    """n equal tiles, one input stream, hold H, latency T, compute C: max(H, C, (H + T + C) / b)."""
    hold, compute = words * 4 // rate, words * uses

    def cycles(tiles: int) -> int:
        # X[t, j] streams in; each word is used for every r; Z[r] stays until the end
        what = custom({"t": tiles, "j": words, "r": uses}, "Z", X=["t", "j"], Z=["r"])
        on = chip([level("DRAM", rate, latency, ports="own", tensors="XZ"), level("L1")])
        return run(make(on, what, entry("DRAM", f"t{tiles}"), entry("L1", f"j{words} r{uses}", buffers={"X": slots}))).cycles

    period = max(Fraction(hold), Fraction(compute), Fraction(hold + latency + compute, slots))
    assert cycles(8 + 60) - cycles(8) == 60 * period
    if (words, rate, latency, uses) == (16, 4, 100, 4):
        assert period == {1: 180, 2: 90, 3: 64, 4: 64}[slots]


def test_at_cycle_five_the_refill_goes_before_the_drain() -> None:
    """What leaves a limited port in the cycle it came to it reaches the next in another round (the oracle's pinned case).

    1x2x1, DRAM 4 B/cycle with one port, SRAM 2 B/cycle with fills and drains apart, one buffer. A is there at 2, B at 4,
    the product at 5: in the first round of cycle 5 the fill of the second B stands at the DRAM; the drain of C comes there
    from the SRAM in the second. 10 cycles, not 11.
    """
    on = chip([level("DRAM", 4, ports="shared"), level("SRAM", 2)])
    case = make(on, gemm(1, 2, 1), entry("DRAM", "m1 k1 n2", buffers={}), entry("SRAM", "", buffers={"A": 1, "B": 1, "C": 1}))
    assert run(case).cycles == 10


def test_drain_through_unlimited_ports_starts_another_round() -> None:
    """When C leaves the L2 for the L1 at once, its way on to the DRAM stands there a round after the next fill of B."""
    on = chip([level("DRAM", 1, ports="shared", accumulate=True), level("L1", accumulate=True), level("L2")])
    one = {"B": 1, "C": 1}
    case = make(
        on, gemm(1, 2, 2), entry("DRAM", "m1 n2 k2", "A B C"), entry("L1", "", "B C", one), entry("L2", "", "C", {"C": 1})
    )
    ran = run(case)
    assert ran.cycles == 28
    assert ran.times("ready", "B") == [4, 9, 14, 23]
    assert ran.times("drained", "C") == [18, 28]


def test_where_the_array_writes_the_home_the_run_ends_with_its_last_result() -> None:
    ran = run(
        make(chip([level("DRAM", 4, 9), level("L1")]), gemm(2, 2, 2), entry("DRAM", "m2 n2 k2", "A B C"), entry("L1", "", ""))
    )
    assert ran.cycles == 8
    assert stalls(ran.timeline) == {}
