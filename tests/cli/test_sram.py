"""`accelsim sram`: a mapping's accesses on banks and on a cache, shown and as data."""

from __future__ import annotations

import pytest

from .command import accelsim

GEMM = "gemm:m=128,n=128,k=128,dtype=int8"
SPAD = ("gemmini", GEMM, "--banks", "4", "--width", "16 B")


def test_what_is_shown() -> None:
    shown = accelsim("sram", *SPAD).out
    assert "4 banks of words of 16 B, 1RW each, one after the other every word; array-first" in shown
    assert "step 1 of ONCHIP, 64 of its 64 passes of the array" in shown
    assert "most is lost by array" in shown
    assert "beside it: --level ACC" in shown
    assert len(shown.splitlines()) < 20


def test_the_figures_add_up() -> None:
    told = accelsim("sram", *SPAD, "--json").json
    for one in told["requesters"]:
        assert one["cycles"] == one["cycles_without_conflicts"] + sum(one["lost_cycles"].values())
    banks = told["banks"]
    assert sum(banks["reads"]) + sum(banks["writes"]) == banks["accesses"] == sum(one["accesses"] for one in told["requesters"])
    assert told["cycles"] == max(one["cycles"] for one in told["requesters"])
    assert told["efficiency"] == told["cycles_without_conflicts"] / told["cycles"]
    # 64 x 128 of A by 8 tiles of n, 128 x 128 of B once: a row of 16 B is a word
    assert [(one["name"], one["read_elements"]) for one in told["tensors"]] == [("A", 64 * 128 * 8), ("B", 128 * 128)]
    assert banks["accesses"] == (64 * 128 * 8 + 128 * 128) // 16


def test_slots_in_banks_of_their_own_do_not_meet() -> None:
    """Gemmini's four banks one behind the other: software that gives A and B banks of their own has no conflict, one that
    puts both into the first bank loses each of the 1,008 weight rows that come under a stream (the first 16 come before).
    """
    apart = accelsim("sram", "gemmini", GEMM, "--width", "16 B", "--interleave", "bank", "-o",
                     "chip.levels.ONCHIP.memories.SPAD.banks=4", "--json").json
    assert apart["efficiency"] == 1
    assert [one["slot_bytes"] for one in apart["tensors"]] == [65536, 65536]
    close = accelsim("sram", *SPAD, "--interleave", "bank", "--json").json
    assert close["requesters"][0]["lost_cycles"]["bank_conflict"] == 128 * 128 // 16 - 16


def array_cycles(*options: str) -> int:
    told = accelsim("sram", "gemmini", GEMM, "--dataflow", "output-stationary", "--width", "16 B", "--banks", "16", *options,
                    "--json").json
    return int(told["requesters"][0]["cycles"])


def test_an_operand_read_down_its_columns() -> None:
    """Output stationary, A is read 16 rows at a time, one element of each: 8 words from row to row, so 2 of 16 banks have them
    all; column-major they are one word, swizzled they are in 16 banks.
    """
    cycles = 32 * 128
    assert array_cycles() >= cycles * 8
    assert array_cycles("--layout", "A=column") < cycles * 1.1
    assert array_cycles("--layout", "swizzled") < cycles * 2.1  # B's word is in one of A's banks
    assert array_cycles("--layout", "A=padded:1") < cycles * 2.1


def test_more_ports_lose_less() -> None:
    """One MAC a cycle: it reads A, B and C and writes C, so four ports of whatever bank serve it at once."""
    lost = []
    for ports in ("1RW", "2RW", "4RW"):
        told = accelsim("sram", "toy", "gemm:m=64,n=64,k=64", "--banks", "4", "--width", "4 B", "--ports", ports, "--json").json
        array = told["requesters"][0]
        assert array["cycles_without_conflicts"] == 64
        lost.append(sum(array["lost_cycles"].values()))
    assert lost == sorted(lost, reverse=True)
    assert lost[0] > lost[1] > lost[2] == 0


def test_who_comes_first() -> None:
    """Whoever does loses nothing to others; in turns all do."""
    def lost(arbitration: str) -> dict[str, int]:
        told = accelsim("sram", "toy", "gemm:m=64,n=64,k=64", "--banks", "4", "--width", "4 B", "--arbitration", arbitration,
                        "--json").json
        return {one["name"]: one["lost_cycles"]["contention"] for one in told["requesters"]}
    first, last, turns = lost("array-first"), lost("dma-first"), lost("round-robin")
    assert first["array"] == 0 < first["fill"]
    assert last["fill"] == 0 < last["array"]
    assert all(turns.values())


def test_a_cache_that_holds_everything_moves_what_a_scratchpad_moves() -> None:
    told = accelsim("sram", "toy", "gemm:m=32,n=32,k=32", "--cache", "--json").json
    rows = {one["name"]: one for one in told["tensors"]}
    for name in "AB":
        assert rows[name]["in_bytes"] == rows[name]["scratchpad_in_bytes"] == 32 * 32 * 4
        assert rows[name]["misses"] == {"cold": 64, "capacity": 0, "conflict": 0}
    assert rows["C"]["out_bytes"] == rows["C"]["scratchpad_out_bytes"] == 32 * 32 * 4
    assert (rows["C"]["in_bytes"], rows["C"]["scratchpad_in_bytes"]) == (32 * 32 * 4, 0)  # write-allocate
    assert told["cycles"] >= told["array_cycles"] >= told["cycles_without_misses"]
    assert told["scratchpad_cycles"] == accelsim("run", "toy", "gemm:m=32,n=32,k=32", "--json").json["total"]["cycles"]


def test_a_small_cache_loses_what_the_tile_would_keep() -> None:
    shown = accelsim("sram", "gemmini", GEMM, "--cache", "--capacity", "4 KiB", "--ways", "full").out
    assert "1 sets of 64 lines" in shown
    assert "the scratchpad has 256 KiB, this cache 4 KiB" in shown
    told = accelsim("sram", "gemmini", GEMM, "--cache", "--capacity", "4 KiB", "--ways", "full", "--json").json
    assert sum(one["misses"]["capacity"] for one in told["tensors"]) > 9000
    assert sum(one["misses"]["conflict"] for one in told["tensors"]) == 0
    assert told["fully_associative_misses"] == sum(sum(one["misses"].values()) for one in told["tensors"])


def test_every_fault_at_once() -> None:
    told = accelsim("sram", "gemmini", GEMM, "--line", "64 B", "--ports", "x", "--width", "3", "--interleave", "y", "--layout",
                    "rew", "--layout", "Q=row", "--layout", "column", "--layout", "row", code=2).err
    for word in ("--line: goes with --cache", "SPAD says nothing of banks", "'3' has no unit", "'x' are no ports", "'y'",
                 "did you mean 'row'", "holds no tensor 'Q'", "a second layout for all"):
        assert word in told, word
    assert "--width" in accelsim("sram", "gemmini", GEMM, "--banks", "4", code=2).err
    told = accelsim("sram", "gemmini", GEMM, "--cache", "--banks", "4", "--ways", "0", "--line", "5", "--lookups", "0",
                    code=2).err
    for word in ("--banks: says nothing of a cache", "'0' are no ways", "'5' has no unit", "--lookups"):
        assert word in told, word


@pytest.mark.parametrize(("options", "told"), [
    (("--level", "SPED"), "did you mean 'SPAD'"), (("--level", "DRAM"), "neither reads nor writes 'DRAM'"),
    (("--operator", "gem"), "did you mean 'gemm'"), (("--step", "2"), "has no step 2"), (("--banks", "0"), "0 banks"),
    (("--banks", "3", "--layout", "swizzled"), "no power of two"), (("--ports", "2R", "--level", "ACC"), "serves no writes"),
    (("--interleave", "24 B"), "whole number of words"), (("--banks", "3", "--interleave", "bank"), "equal banks"),
])
def test_what_cannot_be(options: tuple[str, ...], told: str) -> None:
    assert told in accelsim("sram", *SPAD, *options, code=2).err


def test_what_does_not_fit() -> None:
    assert "padded:99999" in accelsim("sram", *SPAD, "--layout", "padded:99999", code=3).err
    assert "16,777,216 iterations" in accelsim("sram", "toy", "gemm:m=256,n=256,k=256", "--cache", code=4).err
