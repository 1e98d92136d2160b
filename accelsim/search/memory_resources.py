"""What of a memory could be more, less, or no limit at all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from accelsim.search.resource import (
    NO_LIMIT,
    Varied,
    cycles_text,
    memory_changed,
    memory_of,
    rate_text,
    shorter,
    times,
)
from accelsim.spec.case import Case
from accelsim.spec.chip import Memory
from accelsim.units import human_bytes


@dataclass(frozen=True)
class PortRate:
    """The rate of a memory's port; of simulated channels their number, which must stay whole."""

    level: str
    memory: str
    port: str
    alone: bool

    @property
    def name(self) -> str:
        """The memory, and the port where it has several."""
        return f"{self.memory} bandwidth" if self.alone else f"{self.memory}.{self.port} bandwidth"

    @property
    def key(self) -> str:
        """Of a memory with one port."""
        return f"chip.levels.{self.level}.bandwidth" if self.alone and self.memory == self.level else ""

    def now(self, case: Case) -> str:
        """Its rate."""
        memory = memory_of(case.chip, self.level, self.memory)
        if memory.dram is not None:
            return f"{memory.dram.counts['channel']} channels"
        return rate_text(next(port.rate for port in memory.ports if port.name == self.port), case.chip)

    def faster(self, case: Case, factor: Fraction | None) -> Varied | None:
        """Channels that are no limit are a plain port without one, of the same latency."""
        def change(memory: Memory) -> Memory | None:
            if memory.dram is not None and factor is not None:
                channels = memory.dram.counts["channel"] * factor
                if channels.denominator > 1 or channels.numerator & (channels.numerator - 1):
                    return None
                return _with_channels(memory, int(channels))
            ports = tuple(replace(port, rate=times(port.rate, factor)) if port.name == self.port else port
                          for port in memory.ports)
            return replace(memory, ports=ports, dram=None)
        return memory_changed(case, self.level, self.memory, change)


@dataclass(frozen=True)
class Rows:
    """Rows, refreshes and turnarounds of simulated channels: without them a memory is its peak rate and its latency."""

    level: str
    memory: str

    @property
    def name(self) -> str:
        """The memory's."""
        return f"{self.memory} rows, refresh, turnaround"

    @property
    def key(self) -> str:
        """No one key takes them away."""
        return ""

    def now(self, case: Case) -> str:
        """The technology."""
        dram = memory_of(case.chip, self.level, self.memory).dram
        return "" if dram is None else dram.name

    def faster(self, case: Case, factor: Fraction | None) -> Varied | None:
        """There are only rows or none."""
        return None if factor is not None else memory_changed(case, self.level, self.memory, lambda one: replace(one, dram=None))


@dataclass(frozen=True)
class MemoryLatency:
    """A memory's latency; of simulated channels the part beyond their own timings."""

    level: str
    memory: str

    @property
    def name(self) -> str:
        """The memory's."""
        return f"{self.memory} latency"

    @property
    def key(self) -> str:
        """Of a level with one memory."""
        return f"chip.levels.{self.level}.latency" if self.memory == self.level else ""

    def now(self, case: Case) -> str:
        """Cycles."""
        memory = memory_of(case.chip, self.level, self.memory)
        return cycles_text(memory.beyond_cycles if memory.dram is not None else memory.latency_cycles)

    def faster(self, case: Case, factor: Fraction | None) -> Varied | None:
        """Rounded up to whole cycles."""
        def change(memory: Memory) -> Memory:
            beyond = shorter(memory.beyond_cycles, factor)
            if memory.dram is not None:
                return replace(memory, beyond_cycles=beyond, latency_cycles=memory.latency_cycles - memory.beyond_cycles + beyond)
            return replace(memory, latency_cycles=shorter(memory.latency_cycles, factor))
        return memory_changed(case, self.level, self.memory, change)


@dataclass(frozen=True)
class CacheSize:
    """The capacity of the cache before a memory."""

    level: str
    memory: str

    @property
    def name(self) -> str:
        """The memory's."""
        return f"cache of {self.memory}"

    @property
    def key(self) -> str:
        """Of a level with one memory."""
        return f"chip.levels.{self.level}.cache" if self.memory == self.level else ""

    def now(self, case: Case) -> str:
        """Its capacity."""
        return human_bytes(memory_of(case.chip, self.level, self.memory).cache_bytes or 0)

    def faster(self, case: Case, factor: Fraction | None) -> Varied | None:
        """No limit holds all that there is."""
        def change(memory: Memory) -> Memory:
            own = memory.cache_bytes or 0
            return replace(memory, cache_bytes=own * NO_LIMIT if factor is None else max(1, int(own * factor)))
        return memory_changed(case, self.level, self.memory, change)


@dataclass(frozen=True)
class Capacity:
    """The capacity of a memory, which only another mapping makes use of. Banks grow and shrink with it."""

    level: str
    memory: str

    @property
    def name(self) -> str:
        """The memory's."""
        return f"{self.memory} capacity"

    @property
    def key(self) -> str:
        """Of a level with one memory."""
        return f"chip.levels.{self.level}.capacity" if self.memory == self.level else ""

    def now(self, case: Case) -> str:
        """Its bytes."""
        return human_bytes(memory_of(case.chip, self.level, self.memory).capacity_bytes or 0)

    def faster(self, case: Case, factor: Fraction | None) -> Varied | None:
        """No limit holds all there is."""
        def change(memory: Memory) -> Memory:
            own = memory.capacity_bytes or 0
            return replace(memory, capacity_bytes=None if factor is None else max(1, int(own * factor)))
        return memory_changed(case, self.level, self.memory, change)


def _with_channels(memory: Memory, channels: int) -> Memory:
    """As many channels; their bits of an address are the lowest ones that channels have, or the lowest of all."""
    dram = memory.dram
    assert dram is not None, "of simulated channels"
    more = channels.bit_length() - dram.counts["channel"].bit_length()
    place = next((i for i, (field, _) in enumerate(dram.mapping) if field == "channel"), -1)
    mapping = list(dram.mapping) if place >= 0 else [("channel", 0), *dram.mapping]
    mapping[max(0, place)] = "channel", mapping[max(0, place)][1] + more
    ports = tuple(replace(port, rate=times(port.rate, Fraction(channels, dram.counts["channel"]))) for port in memory.ports)
    return replace(memory, ports=ports, dram=replace(dram, counts={**dram.counts, "channel": channels},
                                                     mapping=tuple(part for part in mapping if part[1] > 0)))
