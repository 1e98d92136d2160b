"""What of a chip could be more, less, or no limit at all: each resource by itself, the mapping and all else as they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor

from accelsim.search.memory_resources import CacheSize, Capacity, MemoryLatency, PortRate, Rows
from accelsim.search.resource import (
    NO_LIMIT,
    Resource,
    Varied,
    cycles_text,
    link_changed,
    link_of,
    rate_text,
    scaled,
    shorter,
    times,
)
from accelsim.spec.case import Case
from accelsim.spec.chip import Link, Memory
from accelsim.units import format_frequency


@dataclass(frozen=True)
class LinkRate:
    """A link's rate and the requests it may have outstanding; all channels of a network together."""

    link: str

    @property
    def name(self) -> str:
        """The link's."""
        return f"{self.link} bandwidth"

    @property
    def key(self) -> str:
        """By the link's name."""
        return f"chip.links.{self.link}.bandwidth"

    def now(self, case: Case) -> str:
        """Its rate, by whichever limit is lower."""
        return rate_text(case.chip.link_rate(link_of(case.chip, self.link)), case.chip)

    def faster(self, case: Case, factor: Fraction | None) -> Varied | None:
        """A network without limit is a link of its least latency."""
        def change(link: Link) -> Link:
            found = replace(link, rate=times(link.rate, factor), network=None if factor is None else scaled(
                link.network, factor, Fraction(1)))
            if factor is None:
                return replace(found, outstanding=None, request_bytes=None)
            return found if link.request_bytes is None else replace(found, request_bytes=ceil(link.request_bytes * factor))
        return link_changed(case, self.link, change)


@dataclass(frozen=True)
class LinkLatency:
    """A link's latency and the set-up of its transfers."""

    link: str

    @property
    def name(self) -> str:
        """The link's."""
        return f"{self.link} latency and set-up"

    @property
    def key(self) -> str:
        """By the link's name; set-up is a key of its own."""
        return f"chip.links.{self.link}.latency"

    def now(self, case: Case) -> str:
        """Both, in cycles."""
        link = link_of(case.chip, self.link)
        return cycles_text(link.latency_cycles + link.setup_cycles)

    def faster(self, case: Case, factor: Fraction | None) -> Varied | None:
        """Rounded up to whole cycles."""
        def change(link: Link) -> Link:
            return replace(link, latency_cycles=shorter(link.latency_cycles, factor),
                           setup_cycles=shorter(link.setup_cycles, factor),
                           network=scaled(link.network, Fraction(1), factor))
        return link_changed(case, self.link, change)


@dataclass(frozen=True)
class ArrayClock:
    """The array's own clock: MACs, skew, preload and results; memories and links stay as they are."""

    array: str

    @property
    def name(self) -> str:
        """The array's."""
        return f"{self.array} clock"

    @property
    def key(self) -> str:
        """No key: memories and links would have to be slowed down."""
        return ""

    def now(self, case: Case) -> str:
        """The chip's clock."""
        return format_frequency(case.chip.clock_hz)

    def faster(self, case: Case, factor: Fraction | None) -> Varied | None:
        """Cycles of the array are the run's; everything else is told in them. Simulated banks have the array's clock."""
        by = Fraction(NO_LIMIT) if factor is None else factor
        chip = case.chip
        if any(memory.banked is not None for level in chip.levels for memory in level.memories):
            return None
        levels = tuple(replace(level, memories=tuple(_slowed(memory, by) for memory in level.memories)) for level in chip.levels)
        links = tuple(replace(link, rate=times(link.rate, 1 / by), latency_cycles=ceil(link.latency_cycles * by),
                              setup_cycles=ceil(link.setup_cycles * by), network=scaled(link.network, 1 / by, 1 / by))
                      for link in chip.links)
        return Varied(replace(case, chip=replace(chip, clock_hz=chip.clock_hz * by, levels=levels, links=links,
                                                 launch_cycles=ceil(chip.launch_cycles * by))), by)


@dataclass(frozen=True)
class Launch:
    """The launch of an operator."""

    @property
    def name(self) -> str:
        """As in the chip's file."""
        return "launch"

    @property
    def key(self) -> str:
        """As in the chip's file."""
        return "chip.launch"

    def now(self, case: Case) -> str:
        """Cycles."""
        return cycles_text(case.chip.launch_cycles)

    def faster(self, case: Case, factor: Fraction | None) -> Varied | None:
        """Rounded up to whole cycles."""
        return Varied(replace(case, chip=replace(case.chip, launch_cycles=shorter(case.chip.launch_cycles, factor))))


@dataclass(frozen=True)
class Slots:
    """The slots of all tensors at a level, as if there were room for more."""

    level: str

    @property
    def name(self) -> str:
        """The level's."""
        return f"{self.level} buffers"

    @property
    def key(self) -> str:
        """A decision of the mapping's, and the chip's default."""
        return f"chip.levels.{self.level}.buffers"

    def now(self, case: Case) -> str:
        """Of each tensor that has some here."""
        entry = case.chip.names.index(self.level)
        return ", ".join(f"{tensor} {count}" for (place, tensor), count in case.slots.items() if place == entry)

    def faster(self, case: Case, factor: Fraction | None) -> Varied | None:
        """At least one of each."""
        entry = case.chip.names.index(self.level)
        by = Fraction(NO_LIMIT) if factor is None else factor
        own = {key: max(1, int(count * by)) if key[0] == entry else count for key, count in case.slots.items()}
        return None if own == case.slots else Varied(replace(case, slots=own))


def _slowed(memory: Memory, by: Fraction) -> Memory:
    """A memory in cycles that are ``by`` times as short. Channels keep their own clock; their least latency stays a least one."""
    beyond = ceil(memory.beyond_cycles * by)
    latency = ceil(memory.latency_cycles * by) if memory.dram is None else (
        floor((memory.latency_cycles - memory.beyond_cycles) * by) + beyond)
    return replace(memory, ports=tuple(replace(port, rate=times(port.rate, 1 / by)) for port in memory.ports),
                   latency_cycles=latency, beyond_cycles=beyond)


def resources(case: Case, *, remap: bool = False) -> Iterator[Resource]:
    """All that may bind a case: memories outermost first, then links, then the array.

    ``remap``: each variation is mapped anew, so that capacities count, and slots are for the mapping to choose.
    """
    chip = case.chip
    for level in chip.levels:
        for memory in level.memories:
            limited = [port for port in memory.ports if port.rate is not None]
            for port in limited:
                yield PortRate(level.name, memory.name, port.name, len(memory.ports) == 1)
            if memory.dram is not None:
                yield Rows(level.name, memory.name)
            if memory.beyond_cycles if memory.dram is not None else memory.latency_cycles:
                yield MemoryLatency(level.name, memory.name)
            if memory.cache_bytes is not None:
                yield CacheSize(level.name, memory.name)
            if remap and memory.capacity_bytes is not None:
                yield Capacity(level.name, memory.name)
        if not remap and any(case.chip.names[entry] == level.name and entry > 0 for entry, _ in case.slots):
            yield Slots(level.name)
    for link in chip.links:
        if chip.link_rate(link) is not None:
            yield LinkRate(link.name)
        if link.latency_cycles or link.setup_cycles:
            yield LinkLatency(link.name)
    yield ArrayClock(chip.array.name)
    if chip.launch_cycles:
        yield Launch()
