"""How a chip shows itself in a notebook: its memories port by port, its array, its links, and where the numbers come from."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from accelsim.markup import Cell, Right, block, line, lines, number, table, title
from accelsim.units import human_bytes

if TYPE_CHECKING:
    from accelsim.spec.chip import Chip, Memory, Port

RATES = ("B/cycle", "GB/s")


def chip_html(chip: Chip) -> str:
    """Everything with its unit. Nothing here was measured: it is what the file says."""
    array = chip.array
    fanout = " x ".join(f"{axis} {count}" for axis, count in array.fanout)
    facts: list[tuple[Cell, ...]] = [
        ("model", Right(array.model.value)), ("arrays on the chip", chip.arrays),
        ("in each instance of the level above", Right(fanout or "1")),
        ("PEs of one", Right(" x ".join(f"{axis} {count}" for axis, count in array.pes) or "1")),
        *((f"cycles per iteration{', ' + dtype if dtype else ''}", cycles) for dtype, cycles in array.intervals),
        ("latency of a step [cycles]", array.skew_cycles), ("registers of a PE", array.registers)]
    links = ((link.name, f"{link.outer} > {link.inner}", *_rates(chip.link_rate(link), chip), link.latency_cycles,
              link.granularity_bytes, link.setup_cycles, link.multicast.value,
              "each instance" if link.per_instance else "one for all") for link in chip.links)
    return block(
        title(str(chip)), line(chip.description),
        line(f"the launch of an operator takes {chip.launch_cycles:,} cycles" if chip.launch_cycles else ""),
        table("memories, outermost first (of one instance)", (
            "level", "instances, each in the one above", "memory", "kind", "capacity [B]", "latency [cycles]", "granularity [B]",
            "besides", "port", "serves", *RATES), _ports(chip)),
        table(f"array {array.name}", ("", "of the array"), facts),
        table("links", ("link", "between", *RATES, "latency [cycles]", "granularity [B]", "set-up [cycles]", "multicast",
                        "there is"), links) if chip.links else line("links: none but the ports of the memories"),
        lines("what the file models", chip.models), lines("what it leaves out", chip.omits), lines("sources", chip.sources))


def _ports(chip: Chip) -> Iterator[tuple[Cell, ...]]:
    """A row for each port, one for all of a memory without limit; what is the memory's stands in the row of its first."""
    for level in chip.levels:
        for memory in level.memories:
            about: tuple[Cell, ...] = (
                level.name, level.instances, memory.name, memory.kind.value, _capacity(memory), memory.latency_cycles,
                memory.granularity_bytes, _besides(memory, level.lockstep))
            below: tuple[Cell, ...] = ("", Right(""), "", "", Right(""), Right(""), Right(""), "")
            free = [port for port in memory.ports if port.rate is None]
            ports = [[port] for port in memory.ports if port.rate is not None] + ([free] if free else [])
            for i, alike in enumerate(ports):
                yield (*(about if i == 0 else below), ", ".join(port.name for port in alike),
                       "; ".join(_serves(port) for port in alike), *_rates(alike[0].rate, chip))


def _capacity(memory: Memory) -> Cell:
    size = memory.capacity_bytes
    return Right("unlimited" if size is None else f"{size:,} ({human_bytes(size)})")


def _besides(memory: Memory, lockstep: bool) -> str:
    """What only some memories have."""
    facts = [f"rows and refresh of {memory.dram.name}" if memory.dram is not None else "",
             f"a cache of {human_bytes(memory.cache_bytes)} before it" if memory.cache_bytes is not None else "",
             f"{memory.banked.count} banks, simulated" if memory.banked is not None else
             f"{memory.banks} banks" if memory.banks is not None else "",
             "accumulates" if memory.accumulate else "", "instances in lockstep" if lockstep else ""]
    return ", ".join(fact for fact in facts if fact)


def _serves(port: Port) -> str:
    what = ", ".join(sorted(access.value.replace("_", " ") for access in port.accesses))
    return what + (f" of {', '.join(sorted(port.tensors))}" if port.tensors is not None else "")


def _rates(rate: Fraction | None, chip: Chip) -> tuple[Cell, Cell]:
    """Bytes a cycle, and gigabytes a second at the chip's clock."""
    if rate is None:
        return Right("unlimited"), Right("unlimited")
    return Right(number(float(rate))), Right(number(float(rate * chip.clock_hz / 10**9)))
