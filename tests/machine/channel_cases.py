"""Cases whose outermost memories have channels that are simulated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from accelsim.spec.build import _channel_problems
from accelsim.spec.case import Case
from accelsim.spec.chip import Access, Memory, MemoryKind, Port
from accelsim.spec.dram import Dram

FED = frozenset({Access.FILL, Access.DRAIN})


def behind(memory: Memory, dram: Dram, clock_hz: Fraction, beyond: int, *, tiled: bool) -> Memory:
    """A memory whose channels are simulated from now on."""
    port = Port("channels", dram.peak_bytes_per_s / clock_hz, FED, None)
    return replace(memory, kind=MemoryKind.DRAM, dram=dram, beyond_cycles=beyond, granularity_bytes=1,
                   latency_cycles=beyond + int(min(dram.timing.CL, dram.timing.CWL) * dram.cycle_s * clock_hz), ports=(port,),
                   tiled=tiled)


def with_channels(case: Case, drams: Sequence[Dram], beyond: int = 0, *, tiled: bool = False) -> Case | None:
    """The case with these technologies, in turn, in its outermost level; None where it cannot have them."""
    if any(case.feeding(tensor.name) == 0 for tensor in case.operator.tensors):
        return None
    outer, *inner = case.chip.levels
    memories = tuple(behind(memory, drams[i % len(drams)], case.chip.clock_hz, beyond,
                            tiled=tiled) for i, memory in enumerate(outer.memories))
    made = replace(case, chip=replace(case.chip, levels=(replace(outer, memories=memories), *inner)))
    return None if _channel_problems(made) else made


def short_queue(dram: Dram) -> Dram:
    """A technology whose controller looks at four requests at a time, or, of two of them, at three in a second queue."""
    second = 3 if dram.name in {"ddr4-3200", "hbm2-2000"} else 0
    return replace(dram, controller=replace(dram.controller, queue=4, write_high=3, write_low=1, second_queue=second))
