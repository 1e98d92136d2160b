"""What a Timeloop architecture comes to: storage levels outermost first, the arithmetic units, and the fan-outs between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod

from accelsim.importers.timeloop_part import Part


@dataclass(frozen=True)
class Spread:
    """A fan-out: so many instances along x and y inside each instance further out; ``names`` are what mappings call it."""

    names: tuple[str, ...]
    x: int
    y: int


@dataclass(frozen=True)
class Rates:
    """Words per cycle and instance; None is unlimited. ``shared``: reads and writes take from one rate."""

    read: Fraction | None = None
    write: Fraction | None = None
    shared: Fraction | None = None

    @property
    def limited(self) -> bool:
        """Whether there is a limit at all."""
        return any(rate is not None for rate in (self.read, self.write, self.shared))


@dataclass(frozen=True)
class Store:
    """A storage level. ``words``: its capacity, None unlimited; ``slots``: tiles of a tensor it has room for, by capacity.

    ``fill_cycles``, ``drain_cycles``: latency of the network between it and the next level inward. ``constraints``: its own,
    by what they are about.
    """

    name: str
    dram: bool
    spreads: tuple[Spread, ...] = ()
    words: int | None = None
    slots: int = 2
    rates: Rates = Rates()
    fill_cycles: int = 0
    drain_cycles: int = 0
    constraints: Mapping[str, Part] = field(default_factory=dict)

    @property
    def fanout(self) -> dict[str, int]:
        """Instances along x and y for each instance of the level above; axes of one are left out."""
        return fanout(self.spreads)


@dataclass(frozen=True)
class Architecture:
    """Levels outermost first and the arithmetic units. ``word_bits``: of the words that all counts are in; ``hertz``: its clock,
    where it says one.
    """

    name: str
    stores: tuple[Store, ...]
    units: str
    unit_spreads: tuple[Spread, ...]
    word_bits: int
    hertz: Fraction | None = None
    containers: bool = False

    @property
    def gaps(self) -> tuple[tuple[Spread, ...], ...]:
        """The fan-outs that stand inside each storage level, before the next one or the units."""
        return (*(store.spreads for store in self.stores[1:]), self.unit_spreads)


def fanout(spreads: Sequence[Spread]) -> dict[str, int]:
    """All instances along x and y of fan-outs inside each other."""
    return {axis: count for axis in "xy" if (count := prod(getattr(spread, axis) for spread in spreads)) > 1}
