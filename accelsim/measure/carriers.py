"""What carries bytes in a run, by name: each memory's ports, each link, a network's channels, the array's own ports; and at
which rates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import prod

from accelsim.spec.case import Case
from accelsim.spec.chip import ArrayModel, Link, Memory, MemoryKind
from accelsim.spec.operator import Role
from accelsim.timeline import Lane, LaneKind

_UNIT = re.compile(r"\[\d+\]$")


class CarrierKind(Enum):
    """What carries: a DRAM's port, an SRAM's, a link, the channels of a network in a link's place, a port of the array."""

    DRAM = "dram"
    SRAM = "sram"
    LINK = "link"
    NETWORK = "network"
    ARRAY = "array"


@dataclass(frozen=True)
class Carrier:
    """A port, a link or a network, over all its instances.

    ``level``: the memory level it belongs to, of a link the outer one, which it joins to ``inner``. ``lanes``: the numbers of
    its lanes in the timeline, none where it takes no time; ``rates``: bytes per cycle of each while it is busy, of a lane that
    stands for instances in lockstep those of all of them.
    """

    name: str
    kind: CarrierKind
    level: str
    inner: str | None
    lanes: tuple[int, ...]
    rates: tuple[Fraction, ...]

    @property
    def bytes_per_cycle(self) -> Fraction | None:
        """Its rate; None where it is unlimited or was not used."""
        return sum(self.rates, Fraction(0)) if self.rates else None


def carriers(case: Case, lanes: Sequence[Lane]) -> tuple[Carrier, ...]:
    """Everything of the chip that carries bytes, outermost first: a level's ports, then the links from it inward."""
    chip, named = case.chip, _by_name(lanes)
    found: list[Carrier] = []
    for entry, level in enumerate(chip.levels):
        for memory in level.memories:
            found += _ports(case, entry, memory, named)
        found += [_link(case, link, named) for link in chip.links if link.outer == level.name]
    return (*found, *_array_ports(case, named))


def _by_name(lanes: Sequence[Lane]) -> dict[str, tuple[int, ...]]:
    """Numbers of the lanes of ports and links under their names, those of all instances together."""
    named: dict[str, tuple[int, ...]] = {}
    for number, lane in enumerate(lanes):
        if lane.kind is not LaneKind.ARRAY:
            name = _UNIT.sub("", lane.name)
            named[name] = (*named.get(name, ()), number)
    return named


def _ports(case: Case, entry: int, memory: Memory, named: dict[str, tuple[int, ...]]) -> list[Carrier]:
    kind = CarrierKind.DRAM if memory.kind is MemoryKind.DRAM else CarrierKind.SRAM
    level, each = case.chip.levels[entry].name, _in_lockstep(case, entry)
    if memory.dram is not None:  # its buses are lanes of their own, whichever of its ports was asked
        buses = memory.dram.counts["channel"] * memory.dram.counts["pseudo_channel"]
        lanes = tuple(number for name, numbers in named.items() if name.startswith(f"{memory.name}.channel")
                      for number in numbers)
        rate = memory.dram.peak_bytes_per_s / case.chip.clock_hz / buses * each
        return [Carrier(f"{memory.name}.{memory.ports[0].name}", kind, level, None, lanes, (rate,) * len(lanes))]
    return [_carrier(f"{memory.name}.{port.name}", kind, level, None, port.rate, each, named) for port in memory.ports]


def _link(case: Case, link: Link, named: dict[str, tuple[int, ...]]) -> Carrier:
    if link.network is not None:
        rates = {f"{link.name} {channel.name}": channel.rate for ways in (link.network.inward, link.network.outward)
                 for way in ways for channel in way}
        used = [(number, rates[name]) for name, numbers in named.items() if name in rates for number in numbers]
        return Carrier(link.name, CarrierKind.NETWORK, link.outer, link.inner, tuple(number for number, _ in used),
                       tuple(rate for _, rate in used))
    owner = case.chip.names.index(link.inner if link.per_instance else link.outer)
    return _carrier(link.name, CarrierKind.LINK, link.outer, link.inner, case.chip.link_rate(link), _in_lockstep(case, owner),
                    named)


def _array_ports(case: Case, named: dict[str, tuple[int, ...]]) -> list[Carrier]:
    """Preload of the stationary registers, and results that were stationary."""
    array, entry = case.chip.array, case.array_entry
    bound = [tensor for tensor in case.operator.tensors if entry in case.paths[tensor.name]]
    preload = array.preload
    if array.preload_row and bound:
        preload = Fraction(array.extent("x") * bound[0].dtype.bits, 8)
    each = _in_lockstep(case, entry)
    found = [_carrier(f"{array.name}.preload", CarrierKind.ARRAY, array.name, None, preload, each, named)] if bound else []
    if any(tensor.role is Role.OUTPUT for tensor in bound):
        found.append(_carrier(f"{array.name}.results", CarrierKind.ARRAY, array.name, None, array.results, each, named))
    return found if array.model is ArrayModel.SYSTOLIC or any(one.lanes for one in found) else []


def _carrier(name: str, kind: CarrierKind, level: str, inner: str | None, rate: Fraction | None, each: int,
             named: dict[str, tuple[int, ...]]) -> Carrier:
    lanes = () if rate is None else named.get(name, ())
    return Carrier(name, kind, level, inner, lanes, () if rate is None else (rate * each,) * len(lanes))


def _in_lockstep(case: Case, entry: int) -> int:
    """For how many instances one that is run stands."""
    return prod(count for place in range(entry + 1) if case.lockstep(place) for _, count in case.chip.fanout(place))
