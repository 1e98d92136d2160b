"""The schedule: the mapping made concrete, walked as it is read. Which tile, which bytes, which MACs; no time."""

from __future__ import annotations

from functools import cached_property, partial
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.walk import STEP_CODE, STEP_NUMBER
from accelsim.plan.array_traffic import ArrayTraffic
from accelsim.plan.blocks import Blocks
from accelsim.plan.caching import BLOCKS_HELD, Cache, CacheCounts, Cached
from accelsim.plan.codes import CodeTable
from accelsim.plan.moves import Load
from accelsim.plan.places import Places, tensor_bases
from accelsim.plan.stays import LockstepStays, Rules, Siblings, SiblingStays, Stays, UnitStays, unit_stays
from accelsim.plan.streams import BlockStream, Look, StayStream
from accelsim.plan.units import Unit, children, owner, units
from accelsim.plan.work import StepWalk, StepWork
from accelsim.spec.case import Case
from accelsim.spec.chip import Memory
from accelsim.spec.operator import Role, Tensor

Ints = NDArray[np.int64]


class Work(NamedTuple):
    """What the array does in a block of consecutive array steps with the same residencies: one for each kind of block.

    ``hold``: cycles of the array alone. ``reads`` and ``writes``: bytes per tensor through the feeding memory's array
    ports, of the fullest instance; ``all_reads`` and ``all_writes`` summed over the lockstep instances.
    """

    hold: int
    passes: int
    macs: int
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    all_reads: tuple[int, ...]
    all_writes: tuple[int, ...]


class Schedule:
    """The stays of every station and the blocks of every array unit, read in pieces, once."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.units: tuple[tuple[Unit, ...], ...] = tuple(units(case, entry) for entry in range(case.array_entry + 1))
        self._ports = [ArrayTraffic(case, tensor) for tensor in case.operator.tensors]
        self._rules = {(entry, tensor.name): Rules.of(case, entry, tensor)
                       for tensor in case.operator.tensors for entry in case.paths[tensor.name][1:]}
        self._streams: dict[tuple[int, str, int], StayStream] = {}
        self._caches = self._made_caches()
        for tensor in case.operator.tensors:
            for entry in case.paths[tensor.name]:
                self._prepare(entry, tensor)
        self.works: list[Work] = []
        """Kinds of blocks by number, added to as blocks are read."""
        self._same: dict[Work, int] = {}
        self._kinds = CodeTable()

    def _prepare(self, entry: int, tensor: Tensor) -> None:
        parent = self.case.parent(entry, tensor.name)
        if parent is None:
            for unit in self.units[entry]:
                self._streams[entry, tensor.name, unit.index] = StayStream(None, None, 1)
            return
        rules = self._rules[entry, tensor.name]
        grouped = rules.groups and not self.case.lockstep(entry)
        inside = self.case.nest.steps_between(parent, entry)
        for outer in self.units[parent]:
            members = list(children(outer, self.units[entry]))
            siblings = Siblings(rules, members) if grouped and len(members) > 1 else None
            above = self._streams[parent, tensor.name, outer.index]
            for unit in members:
                own = siblings.of(unit.index) if siblings is not None else unit_stays(rules, unit)
                self._streams[entry, tensor.name, unit.index] = StayStream(self._through_cache(rules, own), above, inside)

    def _made_caches(self) -> dict[Memory, Cache]:
        """The caches before homes, by the memory."""
        behind: dict[Memory, list[Rules]] = {}
        for rules in self._rules.values():
            memory = self.case.memory(rules.parent, rules.tensor)
            if memory is not None and memory.cache_bytes is not None:
                behind.setdefault(memory, []).append(rules)
        return {memory: Cache(memory.cache_bytes or 0, [self._behind_cache(memory, rules) for rules in own])
                for memory, own in behind.items()}

    def _behind_cache(self, memory: Memory, rules: Rules) -> Cached:
        """A tensor in blocks of which a cache holds many, and none shorter than a granule."""
        room, granule = 8 * (memory.cache_bytes or 0) // BLOCKS_HELD, memory.granularity_bytes
        blocks = Blocks(rules.numbers, max(1, max(room, 8 * granule) // self._width(rules.tensor)), granule)
        return Cached(rules.tensor.name, blocks, rules.loads, adds=rules.accumulates)

    def _through_cache(self, rules: Rules, stays: UnitStays | LockstepStays | SiblingStays) -> Stays:
        memory = self.case.memory(rules.parent, rules.tensor)
        if memory is None or memory.cache_bytes is None:
            return stays
        inside = self.case.nest.steps_between(rules.entry, self.case.deepest_feeding)
        slots = self.case.slot_count(rules.entry, rules.tensor)
        return self._caches[memory].stays(rules.tensor.name, inside, slots, stays)

    def cached(self) -> dict[str, CacheCounts]:
        """What the caches did for each tensor, once all stays have been read; those without one left out."""
        return {name: counts for cache in self._caches.values() for name, counts in cache.counts().items()}

    def stays(self, entry: int, tensor: str, unit: int) -> StayStream:
        """A station's stays; each station's can be read once."""
        return self._streams[entry, tensor, unit]

    def loads(self, entry: int, tensor: str) -> list[Load | None]:
        """The loads that the stays of a tensor at an entry name by number; added to as stays are read."""
        return self._rules[entry, tensor].loads.all

    def places(self, entry: int, tensor: str) -> Places:
        """Where the tiles of a tensor lie that move between an entry and the tensor's home."""
        rules = self._rules[entry, tensor]
        home = self.case.memory(rules.parent, rules.tensor)
        assert self.case.paths[tensor].index(entry) == 1, "only homes have addresses"
        beside = [own for (_, name), own in self._rules.items()
                  if own.parent == rules.parent == self.case.paths[name][0] and self.case.memory(own.parent, own.tensor) is home]
        bases = tensor_bases([prod(own.image.extents) for own in beside], [self._width(own.tensor) for own in beside])
        return Places(rules.numbers, bases[beside.index(rules)])

    def _width(self, tensor: Tensor) -> int:
        """Bits of an element as wide as it may be in memory."""
        return max(tensor.dtype.bits, self.case.operator.accumulator.bits) if tensor.role is Role.OUTPUT else tensor.dtype.bits

    @cached_property
    def work(self) -> StepWork:
        """What the array does per step."""
        return StepWork(self.case, [port.merged and port.shared for port in self._ports])

    def blocks(self, unit: int) -> BlockStream:
        """The blocks of one array unit; each unit's can be read once."""
        case = self.case
        own = self.units[case.array_entry][unit]
        looks = []
        for tensor in case.operator.tensors:
            feed = case.feeding(tensor.name)
            stream = self._streams[feed, tensor.name, owner(own, self.units[feed])]
            looks.append(Look(stream, stream.reader(), case.nest.steps_between(feed, case.deepest_feeding)))
        walk = StepWalk(self.work, own.bases[0])
        return BlockStream(walk, tuple(looks), partial(self._kinds_of, walk))

    def _kinds_of(self, walk: StepWalk, steps: Ints) -> Ints:
        """The kinds of work of some steps."""
        return self._kinds.numbers(steps[:, STEP_CODE], partial(self._kind, walk, steps))

    def _kind(self, walk: StepWalk, steps: Ints, place: int, code: int) -> int:
        """The kind of work of a step with this code: cycles, MACs, and bytes through one port and in all."""
        part = self.work.amounts(walk.position(int(steps[place, STEP_NUMBER])), fresh=bool(code & 1))
        rows = []
        for i, port in enumerate(self._ports):
            rows.append((port.read_bytes(part.beside[i], part.beside_first), port.write_bytes(part.beside[i]),
                         port.read_bytes(part.every[i], part.every_first), port.write_bytes(part.every[i])))
        work = Work(part.hold, part.passes, part.macs, *zip(*rows, strict=True))
        if work not in self._same:
            self._same[work] = len(self.works)
            self.works.append(work)
        return self._same[work]
