"""Claim 11: what a DRAM delivers of its peak, by how many bytes lie side by side."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from accelsim.machine.dram import replay
from accelsim.spec.dramtrace import trace_of
from accelsim.spec.read import read_memory

MEMORIES = ("lpddr5-6400", "gddr6-14000", "ddr4-2400")
RUNS = (32, 64, 128, 256, 512, 1024, 2048, 4096)
TOTAL = 512 << 10
_WORD = (1 << 64) - 1


@dataclass(frozen=True)
class Delivered:
    """A memory under runs of one length: share of its peak, its peak in bytes a second, bursts and activates."""

    share: float
    peak: float
    bursts: int
    activates: int


def anywhere(i: int) -> int:
    """A number of 64 bits that looks random, the same for the same i: the output of splitmix64 (Steele et al., 2014)."""
    mixed = i * 0x9E3779B97F4A7C15 & _WORD
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & _WORD
    return mixed ^ mixed >> 31


@cache
def scattered(run_bytes: int, memory: str) -> Delivered | None:
    """512 KiB in runs of so many bytes, each of which lies anywhere. None where a run is shorter than a burst."""
    dram = read_memory(memory, ["memory.controller.refresh=none"])
    bursts = run_bytes // dram.burst_bytes
    if bursts == 0:
        return None
    places = dram.capacity_bytes // run_bytes
    addresses = [anywhere(i) % places * run_bytes + j * dram.burst_bytes for i in range(TOTAL // run_bytes)
                 for j in range(bursts)]
    found = replay(dram, trace_of([(False, address) for address in addresses]))
    return Delivered(float(TOTAL / (found.cycles * dram.cycle_s) / dram.peak_bytes_per_s), float(dram.peak_bytes_per_s),
                     len(addresses), found.activates)
