"""The roofline of a run, level by level: what passed each port and link, how many MACs that fed, and what its rate allows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod

from accelsim.measure.report import OperatorReport
from accelsim.spec.case import Case
from accelsim.spec.chip import Access, Memory, Port
from accelsim.spec.operator import Role


@dataclass(frozen=True)
class Roof:
    """What a memory's port or a link allows, over all its instances.

    ``bytes_per_cycle``: its rate, None where it is unlimited; ``moved_bytes``: all that passed in the run, rounded up to its
    granularity.
    """

    name: str
    level: str
    bytes_per_cycle: Fraction | None
    moved_bytes: int
    macs: int

    @property
    def macs_per_byte(self) -> Fraction | None:
        """The mapping's intensity here; None where nothing passed."""
        return Fraction(self.macs, self.moved_bytes) if self.moved_bytes else None

    @property
    def macs_per_cycle(self) -> Fraction | None:
        """The most that this roof allows at the mapping's intensity; None where it does not bind."""
        if self.bytes_per_cycle is None or not self.moved_bytes:
            return None
        return self.bytes_per_cycle * Fraction(self.macs, self.moved_bytes)


@dataclass(frozen=True)
class Roofline:
    """``macs_per_cycle``: attained; ``peak``: of the operator's types; ``peaks``: of each type the arrays name, "any" if none.

    Outermost roofs first.
    """

    macs_per_cycle: Fraction
    peak: Fraction
    peaks: tuple[tuple[str, Fraction], ...]
    roofs: tuple[Roof, ...]

    @property
    def lowest(self) -> Roof | None:
        """The roof that allows least, if it allows less than the peak."""
        low = min((roof for roof in self.roofs if roof.macs_per_cycle is not None),
                  key=lambda roof: roof.macs_per_cycle or 0, default=None)
        return low if low is not None and low.macs_per_cycle is not None and low.macs_per_cycle < self.peak else None


def roofline(one: OperatorReport) -> Roofline:
    """Of one operator's run. A network's channels have no roof: no transfer passes all of them."""
    case = one.case
    array = case.chip.array
    peaks = tuple((name or "any", Fraction(array.pe_count * case.chip.arrays, cycles)) for name, cycles in array.intervals)
    return Roofline(Fraction(one.macs, max(1, one.cycles)), case.peak_macs_per_cycle, peaks, tuple(_roofs(one)))


def _roofs(one: OperatorReport) -> list[Roof]:
    chip = one.case.chip
    found: list[Roof] = []
    for entry, level in enumerate(chip.levels):
        for memory in level.memories:
            for port in memory.ports:
                name = f"{memory.name}.{port.name}"
                moved = one.port_bytes.get(name, 0) + _array_bytes(one, entry, memory, port)
                found.append(Roof(name, level.name, _times(port.rate, _instances(one.case, entry)), moved, one.macs))
        for link in chip.links:
            if link.outer == level.name and link.network is None:
                count = _instances(one.case, chip.names.index(link.inner) if link.per_instance else entry)
                found.append(Roof(link.name, level.name, _times(chip.link_rate(link), count), one.links.get(link.name, 0),
                                  one.macs))
    return [roof for roof in found if roof.moved_bytes]


def _array_bytes(one: OperatorReport, entry: int, memory: Memory, port: Port) -> int:
    """What the array reads and writes through a port."""
    moved = 0
    for tensor in one.case.operator.tensors:
        traffic = one.levels.get(one.case.chip.names[entry], {}).get(tensor.name)
        if traffic is None or one.case.memory(entry, tensor) is not memory:
            continue
        if memory.port(Access.ARRAY_READ, tensor) is port:
            moved += traffic.array_read_bytes
        if tensor.role is Role.OUTPUT and memory.port(Access.ARRAY_WRITE, tensor) is port:
            moved += traffic.array_write_bytes
    return moved


def _instances(case: Case, entry: int) -> int:
    return prod(count for place in range(entry + 1) for _, count in case.chip.fanout(place))


def _times(rate: Fraction | None, count: int) -> Fraction | None:
    return None if rate is None else rate * count
