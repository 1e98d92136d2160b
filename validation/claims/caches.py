"""Claim 12: one mapping on a scratchpad, and on a cache in its place, of the same capacity. One mechanism at a time.

The chip is ``toy``: one MAC a cycle unless told, 4 B a cycle from the DRAM 100 cycles away. Tensors that a case is not about have
a memory and ports of their own, which cost nothing. Words have 4 bytes, lines 64; the cache looks up all that a cycle asks for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from accelsim.analytic.estimate import estimate
from accelsim.machine.cache import replay
from accelsim.machine.simulate import simulate
from accelsim.plan.linetrace import beyond, line_trace
from accelsim.plan.schedule import Schedule
from accelsim.spec.build import make_case
from accelsim.spec.cache import CacheWords, read_cache
from accelsim.spec.case import Case
from accelsim.spec.read import read_chip, read_workload
from validation.study.points import MAC, mapping_of

LINE = 64
LATENCY = 100
SRAM = 1
"""The entry of the memory that is replaced."""


@dataclass(frozen=True)
class Sides:
    """What both moved in bytes, in and out, and how long both took. Misses of the cache are lines; ``tensors``: by name."""

    cache_in: int
    cache_out: int
    pad_in: int
    pad_out: int
    cold: int
    capacity: int
    conflict: int
    cycles: int
    pad_cycles: int
    tensors: dict[str, int]

    @property
    def misses(self) -> int:
        """Of all kinds."""
        return self.cold + self.capacity + self.conflict

    @property
    def bytes_ratio(self) -> float:
        """What the cache moves over what the scratchpad does."""
        return (self.cache_in + self.cache_out) / (self.pad_in + self.pad_out)

    @property
    def cycles_ratio(self) -> float:
        """How long the cache takes over how long the scratchpad does."""
        return self.cycles / self.pad_cycles


def built(workload: str, mapping: str, capacity: int, held: str, *, rate: int = 4, buffers: int = 2, deep: int = 1,
          pitch: int | None = None) -> Case:
    """A case whose tensors ``held`` are in a memory of so many bytes behind a port of ``rate`` bytes a cycle.

    ``deep``: MACs of one sum that the array makes in a cycle. ``pitch``: words from one row of A to the next, where A is a part
    of a larger matrix.
    """
    what, = read_workload(workload).operators
    names = [tensor.name for tensor in what.tensors]
    own, others = (f"[{', '.join(name for name in names if (name in held.split()) is it)}]" for it in (True, False))
    memories = f"{{name: HELD, kind: sram, capacity: {capacity} B, bandwidth: unlimited, buffers: {buffers}, serves: {own}}}"
    ports = (f"{{name: port, serves: [fill, drain], tensors: {own}, bandwidth: {rate} B/cycle}}, "
             "{name: array, serves: [array_read, array_write], bandwidth: unlimited}")
    if others != "[]":
        memories += f", {{name: REST, kind: sram, capacity: unlimited, bandwidth: unlimited, serves: {others}}}"
        ports += f", {{name: free, serves: [fill, drain], tensors: {others}, bandwidth: unlimited}}"
    gone = (f"chip.levels.SRAM.{key}=null" for key in ("kind", "capacity", "bandwidth", "latency", "buffers"))
    on = read_chip("toy", [*gone, f"chip.levels.SRAM.memories=[{memories}]", f"chip.levels.DRAM.ports=[{ports}]",
                           f"chip.levels.DRAM.latency={LATENCY} cycles",
                           f"{MAC}={{model: matrix, pes: {{{f'z: {deep}' if deep > 1 else ''}}}}}"])
    if pitch is not None:
        part = tuple(replace(tensor, axes=(*tensor.axes[:-1], replace(tensor.axes[-1], extent=pitch)))
                     if tensor.name == "A" else tensor for tensor in what.tensors)
        what = replace(what, tensors=part)
    return make_case(on, what, mapping_of(mapping))


def compared(case: Case, *, ways: int | str = "full", outstanding: int = 16) -> Sides:
    """Both sides of a case, as `accelsim sram --cache` has them."""
    memory = case.chip.levels[SRAM].memories[0]
    made = read_cache(memory, CacheWords(line=f"{LINE} B", ways=str(ways), outstanding=outstanding, lookups=4))
    trace = line_trace(case, SRAM, memory, LINE)
    found = replay(made, beyond(case, SRAM, memory), trace.accesses, trace.tensors)
    moved = [estimate(case).traffic[SRAM, one.name] for one in found.tensors]
    return Sides(LINE * sum(one.misses for one in found.tensors),
                 LINE * sum(one.written_back + one.flushed for one in found.tensors),
                 sum(one.fill_bytes + one.refill_bytes for one in moved), sum(one.drain_bytes for one in moved),
                 sum(one.cold for one in found.tensors), sum(one.capacity for one in found.tensors),
                 sum(one.conflict for one in found.tensors), found.cycles, simulate(Schedule(case)).cycles,
                 {one.name: one.misses for one in found.tensors})


# -- where it loses -----------------------------------------------------------------------------------------------------

WAYS = (1, 2, 4, 8)
PITCHES = (256, 272)
WIDTHS = (1, 2, 4, 8, 16)
FLIGHTS = (1, 4, 16, 32, 64, 128)
ROOMS = (48, 49, 55, 56)


@cache
def conflicts(ways: int, pitch: int) -> Sides:
    """32 x 16 x 64: tiles of A of 8 rows and one line, in 32 lines, each read for all columns before the next comes."""
    return compared(built("gemm:m=32,n=16,k=64", "DRAM m* k* / SRAM n* / MAC m8 k16", 32 * LINE, "A", pitch=pitch), ways=ways)


@cache
def narrow(width: int) -> Sides:
    """64 x 4 x 64: tiles of A of 8 rows and some words of a line, down all rows before the next words; 32 lines for 64 rows."""
    return compared(built("gemm:m=64,n=4,k=64", f"DRAM k* m* / SRAM n* / MAC m8 k{width}", 32 * LINE, "A"))


@cache
def results() -> Sides:
    """64 x 64 x 4, outputs that leave once, each of one cycle: tiles of C of 8 x 16."""
    return compared(built("gemm:m=64,n=64,k=4", "DRAM m* n* / SRAM / MAC m8 n16 z=k4", 32 * LINE, "C", deep=4))


@cache
def streamed(outstanding: int) -> Sides:
    """A matrix of 64 x 128 times a vector: A comes once, in tiles of 8 rows, and 512 lines."""
    return compared(built("gemm:m=64,n=1,k=128", "DRAM m* / SRAM / MAC m8 k128", 128 * LINE, "A"), outstanding=outstanding)


@cache
def cyclic(lines: int) -> Sides:
    """128 x 16 x 32: B stays, 32 lines, while A comes by eight rows of two lines: 48 lines with one slot each."""
    return compared(built("gemm:m=128,n=16,k=32", "DRAM m* / SRAM k* / MAC m8 n16", lines * LINE, "A B", buffers=1))


# -- where it saves -----------------------------------------------------------------------------------------------------

DEPTHS = (4, 8, 16, 32, 64)
SIDES = (2, 4, 8, 16, 32)
ROWS = (1, 2, 4, 8)


@cache
def spilled(depth: int) -> Sides:
    """32 x 32 x 64, the reduction outermost and so deep a step: tiles of C of 8 x 8 leave and come back; all of C has room."""
    return compared(built("gemm:m=32,n=32,k=64", f"DRAM k* m* n* / SRAM / MAC m8 n8 k{depth}", 64 * LINE, "C", rate=1), ways=8)


@cache
def small(side: int) -> Sides:
    """32 x 32 x 32, cubes of a side as tiles, four MACs a cycle; 32 KiB have room for all three matrices twice."""
    deep = min(side, 4)
    mapping = f"DRAM m* n* k* / SRAM k{side // deep} / MAC m{side} n{side} z=k{deep}"
    return compared(built("gemm:m=32,n=32,k=32", mapping, 512 * LINE, "A B C", deep=4), ways=8)


@cache
def windows(rows: int) -> Sides:
    """A convolution of 3 x 3 over 34 x 34 in two channels: tiles of some rows and 8 columns of outputs, along the row first."""
    return compared(built("conv2d:n=1,k=1,c=2,p=32,q=32,r=3,s=3", f"DRAM p* q* / SRAM c* / MAC p{rows} q8 r3 s3", 128 * LINE, "I",
                          rate=1), ways=8)
