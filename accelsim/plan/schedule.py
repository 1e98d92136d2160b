"""The schedule: the mapping made concrete, walked as it is read. Which tile, which bytes, which MACs; no time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import tee
from math import prod
from typing import NamedTuple

from accelsim.plan.stays import Rules, Siblings, Stay, unit_stays
from accelsim.plan.units import Unit, children, owner, units
from accelsim.plan.walk import steps
from accelsim.plan.work import Amounts, StepWork
from accelsim.spec.case import Case
from accelsim.spec.chip import Access, Multicast
from accelsim.spec.operator import Role, Tensor


class Block(NamedTuple):
    """Consecutive array steps with the same residencies, run as one.

    ``operands``: per tensor the residency (its number within the station that feeds the array). ``hold``: cycles of
    the array alone. ``reads`` and ``writes``: bytes per tensor through the feeding memory's array ports, of the
    fullest instance; ``all_reads`` and ``all_writes`` summed over the lockstep instances.
    """

    step: int
    hold: int
    passes: int
    macs: int
    operands: tuple[int, ...]
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    all_reads: tuple[int, ...]
    all_writes: tuple[int, ...]


Place = tuple[Stay, int, int]
"""A stay with the numbers of its parent's residencies at its first step and, for outputs, at its last: those differ
where an instance is idle while the others' tile leaves the parent and comes back."""


class Schedule:
    """The stays of every station and the blocks of every array unit, as iterators that read the nest once."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.units: tuple[tuple[Unit, ...], ...] = tuple(units(case, entry) for entry in range(case.array_entry + 1))
        self._streams: dict[tuple[int, str, int], list[Iterator[Stay]]] = {}
        self._taken: dict[tuple[int, str, int], int] = {}
        self._ports = [ArrayTraffic(case, tensor) for tensor in case.operator.tensors]
        self._made: dict[int, tuple[tuple[int, ...], ...]] = {}
        for tensor in case.operator.tensors:
            for entry in case.paths[tensor.name][1:]:
                self._prepare(entry, tensor)

    def _prepare(self, entry: int, tensor: Tensor) -> None:
        rules = Rules.of(self.case, entry, tensor)
        parent = self.case.parent(entry, tensor.name)
        assert parent is not None
        grouped = (rules.multicast is not Multicast.NONE or rules.reduce) and not self.case.lockstep(entry)
        for outer in self.units[parent]:
            members = list(children(outer, self.units[entry]))
            siblings = Siblings(rules, members) if grouped and len(members) > 1 else None
            for unit in members:
                made = siblings.stays(unit.index) if siblings is not None else unit_stays(rules, unit)
                # one reader for the station itself and one for each that looks up its residencies by step
                self._streams[entry, tensor.name, unit.index] = list(tee(made, 1 + self._lookers(entry, tensor, unit)))
                self._taken[entry, tensor.name, unit.index] = 0

    def _lookers(self, entry: int, tensor: Tensor, unit: Unit) -> int:
        path = self.case.paths[tensor.name]
        place = path.index(entry)
        inner = path[place + 1] if place + 1 < len(path) else self.case.array_entry
        return sum(1 for _ in children(unit, self.units[inner]))

    def _take(self, entry: int, tensor: str, unit: int) -> Iterator[Stay]:
        key = entry, tensor, unit
        taken = self._taken[key]
        self._taken[key] = taken + 1
        stream = self._streams[key][taken]
        # drop our own handle: a tee keeps what its slowest reader has not read
        self._streams[key][taken] = iter(())
        return stream

    def stays(self, entry: int, tensor: str, unit: int) -> Iterator[Place]:
        """A station's stays with where they come from; each station's can be read once."""
        parent = self.case.parent(entry, tensor)
        assert parent is not None, "a home has one residency, of everything"
        stream = self._take(entry, tensor, unit)
        look = self._look(parent, tensor, owner(self.units[entry][unit], self.units[parent]))
        inside = self.steps_between(parent, entry)
        output = self.case.operator.output.name == tensor
        for stay in stream:
            source = look.at(stay.first // inside)
            yield stay, source, look.ahead(stay.last // inside) if output else source

    def _look(self, entry: int, tensor: str, unit: int) -> Look:
        home = self.case.paths[tensor][0] == entry
        return Look(None if home else self._take(entry, tensor, unit))

    def steps_between(self, outer: int, inner: int) -> int:
        """Steps of an inner entry in one step of an outer one."""
        return prod(loop.bound for loop in self.case.nest.loops if loop.axis is None and outer <= loop.entry < inner)

    @cached_property
    def work(self) -> StepWork:
        """What the array does per step."""
        return StepWork(self.case, [port.merged and port.shared for port in self._ports])

    def blocks(self, unit: int) -> Iterator[Block]:
        """The blocks of one array unit, in order; each unit's can be read once."""
        case = self.case
        entry = case.deepest_feeding
        own = self.units[case.array_entry][unit]
        feeds = [case.feeding(tensor.name) for tensor in case.operator.tensors]
        looks = [self._look(feed, tensor.name, owner(own, self.units[feed]))
                 for feed, tensor in zip(feeds, case.operator.tensors, strict=True)]
        inside = [self.steps_between(feed, entry) for feed in feeds]
        base = own.bases[0]
        work = self.work
        for now in steps(case.nest, case.nest.temporal_above(entry), base):
            step = now.number
            part = work.at(now.position, base)
            reads, writes, all_reads, all_writes = self._bytes(part)
            yield Block(step, part.iterations * case.interval_cycles, part.passes, part.macs,
                        tuple([look.at(step // each) for look, each in zip(looks, inside, strict=True)]),
                        reads, writes, all_reads, all_writes)

    def _bytes(self, part: Amounts) -> tuple[tuple[int, ...], ...]:
        """Bytes of a step's reads and writes, through one port and in all; made once for each kind of step.

        The kinds are told apart by identity: ``work`` keeps them alive.
        """
        found = self._made.get(id(part))
        if found is None:
            rows = []
            for i, port in enumerate(self._ports):
                busiest, first = (part.beside[i], part.beside_first) if port.shared else (part.touched[i], part.first)
                rows.append((port.read_bytes(busiest, first), port.write_bytes(busiest),
                             port.read_bytes(part.every[i], part.every_first), port.write_bytes(part.every[i])))
            found = self._made[id(part)] = tuple(zip(*rows, strict=True))
        return found


class Look:
    """Looks up a station's residency numbers by step, forward only; a home's is always 0."""

    def __init__(self, stream: Iterator[Stay] | None) -> None:
        self._stream = stream
        self._starts: list[int] = []
        self._seq = 0
        if stream is not None:
            next(stream)
            self._read(2)

    def _read(self, count: int) -> None:
        while self._stream is not None and len(self._starts) < count:
            stay = next(self._stream, None)
            if stay is None:
                self._stream = None
            else:
                self._starts.append(stay.first)

    def at(self, step: int) -> int:
        """The residency that holds a step; steps are asked for in order."""
        while self._starts and self._starts[0] <= step:
            self._starts.pop(0)
            self._seq += 1
            self._read(2)
        return self._seq

    def ahead(self, step: int) -> int:
        """The residency that holds a later step, without moving on to it."""
        place = 0
        while True:
            self._read(place + 1)
            if place >= len(self._starts) or self._starts[place] > step:
                return self._seq + place
            place += 1


class ArrayTraffic:
    """Bytes of one tensor between the array and the memory that feeds it."""

    def __init__(self, case: Case, tensor: Tensor) -> None:
        entry = case.feeding(tensor.name)
        self.bound = entry == case.array_entry
        memory = case.memory(entry, tensor)
        self.output = tensor.role is Role.OUTPUT
        self.accumulates = memory is not None and memory.accumulate
        self.bits = case.held_type(entry, tensor).bits
        # lockstep instances inside the feeding unit share its ports; instances with a memory each do not
        self.shared = any(loop.entry >= entry and case.lockstep(loop.entry + 1)
                          for loop in case.nest.spatial_above(case.array_entry))
        links = case.chip.links_between(case.chip.names[entry], case.chip.array.name,
                                        Access.DRAIN if self.output else Access.FILL, tensor)
        self.merged = any(link.reduce if self.output else link.multicast is not Multicast.NONE for link in links)

    def read_bytes(self, touched: int, first: int) -> int:
        """Operands read: each element once per iteration; updates that find nothing to add to read nothing."""
        if self.bound or (self.output and self.accumulates):
            return 0
        return -(-(touched - first if self.output else touched) * self.bits // 8)

    def write_bytes(self, touched: int) -> int:
        """Results written: each update."""
        return -(-touched * self.bits // 8) if self.output and not self.bound else 0
