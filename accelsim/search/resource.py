"""One thing of a chip that may bind, and what is as it is when only that is different."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Protocol

from accelsim.spec.case import Case
from accelsim.spec.chip import Chip, Link, Memory
from accelsim.spec.linknetwork import Channel, LinkNetwork, Way
from accelsim.units import human_rate

NO_LIMIT = 1024
"""So many times as fast stands for an array that takes no time, so many times the slots for any number of them."""


@dataclass(frozen=True)
class Varied:
    """A case with one thing different. A cycle of the chip is ``cycles_each`` of its run: finer where the array is faster."""

    case: Case
    cycles_each: Fraction = Fraction(1)

    def cycles(self, ran: int) -> int:
        """Cycles of the chip's own clock, rounded up."""
        return ceil(ran / self.cycles_each)


class Resource(Protocol):
    """One thing that may bind. ``name`` is for readers, ``key`` the override that sets it, "" where no one key does."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def key(self) -> str:
        """Where it stands in the chip's file."""
        ...

    def now(self, case: Case) -> str:
        """What it is, with its unit."""
        ...

    def faster(self, case: Case, factor: Fraction | None) -> Varied | None:
        """By a factor (less than 1: slower; None: as if it were no limit); None where that cannot be."""
        ...


def memory_of(chip: Chip, level: str, memory: str) -> Memory:
    """A memory by name."""
    own = next(one for one in chip.levels if one.name == level)
    return next(one for one in own.memories if one.name == memory)


def memory_changed(case: Case, level: str, memory: str, change: Callable[[Memory], Memory | None]) -> Varied | None:
    """The case with another memory in one's place; None where the change is none."""
    changed = change(memory_of(case.chip, level, memory))
    if changed is None:
        return None
    levels = tuple(replace(one, memories=tuple(changed if own.name == memory else own for own in one.memories))
                   if one.name == level else one for one in case.chip.levels)
    return Varied(replace(case, chip=replace(case.chip, levels=levels)))


def link_of(chip: Chip, link: str) -> Link:
    """A link by name."""
    return next(one for one in chip.links if one.name == link)


def link_changed(case: Case, link: str, change: Callable[[Link], Link]) -> Varied:
    """The case with another link in one's place."""
    links = tuple(change(one) if one.name == link else one for one in case.chip.links)
    return Varied(replace(case, chip=replace(case.chip, links=links)))


def times(rate: Fraction | None, factor: Fraction | None) -> Fraction | None:
    """A rate so many times as high; None is without limit."""
    return None if rate is None or factor is None else rate * factor


def shorter(cycles: int, factor: Fraction | None) -> int:
    """A time divided by a factor, rounded up to whole cycles; 0 without limit."""
    return 0 if factor is None else ceil(cycles / factor)


def scaled(network: LinkNetwork | None, rate: Fraction, faster: Fraction | None) -> LinkNetwork | None:
    """A network whose channels have so many times their rate, and their latency divided by a factor."""
    def channel(one: Channel) -> Channel:
        return Channel(one.name, one.rate * rate, shorter(one.latency_cycles, faster))

    def ways(some: tuple[Way, ...]) -> tuple[Way, ...]:
        return tuple(tuple(channel(one) for one in way) for way in some)
    return None if network is None else replace(network, inward=ways(network.inward), outward=ways(network.outward))


def rate_text(rate: Fraction | None, chip: Chip) -> str:
    """Bytes a second and a cycle."""
    if rate is None:
        return "unlimited"
    return f"{human_rate(rate * chip.clock_hz)} ({float(rate):.4g} B/cycle)"


def cycles_text(cycles: int) -> str:
    """A time in cycles."""
    return f"{cycles:,} cycle{'s' if cycles != 1 else ''}"
