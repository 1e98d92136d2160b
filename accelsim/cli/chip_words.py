"""A chip in words, for `explain`."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from accelsim.spec.chip import Chip, Link, Memory, Multicast
from accelsim.units import format_bytes, format_frequency, human_bytes, human_rate


def chip_lines(chip: Chip) -> Iterator[str]:
    """A chip's levels, array and links with all that takes time there, then what is modelled, what not, and the sources."""
    launch = f", an operator is launched in {chip.launch_cycles:,} cycles" if chip.launch_cycles else ""
    yield (f"{chip.name} (chip)\n  {chip.description}\n  clock {format_frequency(chip.clock_hz)}{launch}\n\n"
          "levels, outermost first")
    for level in chip.levels:
        for memory in level.memories:
            size = "unlimited" if memory.capacity_bytes is None else human_bytes(memory.capacity_bytes)
            lockstep = " in lockstep" if level.lockstep else ""
            yield (f"  {level.name:<8} {memory.name:<12} {size:>12}, latency {memory.latency_cycles} cycles"
                  + (f", {level.instances} instances{lockstep}" if level.instances > 1 else ""))
            for line in _memory_lines(memory):
                yield (f"             {line}")
            for port in memory.ports:
                yield (f"             port {port.name}: {_rate(port.rate, chip)}, serves "
                      f"{', '.join(sorted(one.value for one in port.accesses))}"
                      + (f" of {', '.join(sorted(port.tensors))}" if port.tensors is not None else ""))
    pes = " x ".join(f"{count} ({axis})" for axis, count in chip.array.pes) or "1"
    yield (f"  {chip.array.name:<8} {chip.array.model.value} array of {pes} PEs, {chip.arrays} on the chip")
    for line in _array_lines(chip):
        yield (f"             {line}")
    if chip.links:
        yield ("\nlinks")
        for link in chip.links:
            yield (f"  {link.name:<8} {link.outer} to {link.inner}: {', '.join(_link_words(link, chip))}")
    for title, lines in (("modelled", chip.models), ("not modelled", chip.omits), ("sources", chip.sources)):
        if lines:
            yield (f"\n{title}")
            for line in lines:
                yield (f"  - {line}")


def _rate(rate: Fraction | None, chip: Chip) -> str:
    return "unlimited" if rate is None else f"{float(rate):.6g} B/cycle ({human_rate(rate * chip.clock_hz)})"


def _memory_lines(memory: Memory) -> Iterator[str]:
    """What a memory does besides its size, latency and ports."""
    if memory.granularity_bytes > 1:
        bridge = f", gaps of a fill up to {format_bytes(memory.bridge_bytes)} read through" if memory.bridge_bytes else ""
        yield f"contiguous runs rounded up to {format_bytes(memory.granularity_bytes)}{bridge}"
    if memory.cache_bytes is not None:
        yield (f"before it a cache of {human_bytes(memory.cache_bytes)}, in granules of "
               f"{format_bytes(memory.granularity_bytes)}")
    if memory.dram is not None:
        how = "tile by tile" if memory.tiled else "row-major"
        yield f"channels of {memory.dram.name}, command by command, tensors {how}; latency at least, rate at most:"
    if memory.banked is not None:
        yield f"{memory.banked.count} banks, simulated word by word"
    elif memory.banks is not None:
        yield f"slots of whole banks, of {memory.banks}"
    if memory.accumulate:
        yield "adds what arrives to what is there"
    if memory.follows:
        yield f"asks once {', '.join(sorted(memory.follows))} of the same step is there"


def _array_lines(chip: Chip) -> Iterator[str]:
    """What a pass of the array takes."""
    array = chip.array
    yield "a MAC of each PE every " + ", ".join(f"{cycles} cycle{'s' if cycles > 1 else ''}{f' at {dtype}' if dtype else ''}"
                                               for dtype, cycles in array.intervals)
    if array.skew_cycles:
        yield f"results {array.skew_cycles} cycles later"
    if array.least_cycles:
        yield f"a pass takes {array.least_cycles} cycles at least"
    if array.registers:
        preload = "a row a cycle" if array.preload_row else _rate(array.preload, chip)
        yield (f"{array.registers} stationary word{'s' if array.registers > 1 else ''} a PE, {array.buffers} "
               f"slot{'s' if array.buffers > 1 else ''}; preload {preload}, results {_rate(array.results, chip)}")


def _link_words(link: Link, chip: Chip) -> Iterator[str]:
    """How a transfer passes a link."""
    if link.network is not None:
        yield f"network {link.network.network.name}, {link.outer} at node {link.network.outer_node}"
    yield f"{_rate(chip.link_rate(link), chip)}{' each' if link.per_instance else ''}"
    yield f"latency {link.latency_cycles} cycles"
    if link.setup_cycles:
        yield f"set-up {link.setup_cycles} cycles"
    if link.granularity_bytes > 1:
        yield f"in units of {format_bytes(link.granularity_bytes)}"
    if link.chunk_bytes is not None:
        yield f"in chunks of {format_bytes(link.chunk_bytes)}"
    if link.outstanding is not None and link.request_bytes is not None:
        yield f"{link.outstanding} requests of {format_bytes(link.request_bytes)} outstanding"
    if link.multicast is not Multicast.NONE:
        yield f"multicast of {'equal sets' if link.multicast is Multicast.EQUAL else 'whatever instances share'}"
    if link.reduce:
        yield "adds up what instances send"
    yield "for " + ", ".join(sorted(one.value for one in link.accesses)) + (
        f" of {', '.join(sorted(link.tensors))}" if link.tensors is not None else "")
