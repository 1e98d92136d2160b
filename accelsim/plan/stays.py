"""Residencies as the plan knows them: a tile's stay at a unit of a level, with what moves in before and out after it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.columns import (
    STAY_AFTER,
    STAY_DRAIN,
    STAY_DRAIN_GROUP,
    STAY_DRAIN_MEMBERS,
    STAY_FILL,
    STAY_FILL_GROUP,
    STAY_FILL_MEMBERS,
    STAY_FIRST,
    STAY_HELD,
    STAY_LAST,
    STAY_REFILL,
    STAY_TILE,
    STAY_WIDTH,
)
from accelsim.kernels.stays import write_stays
from accelsim.kernels.walk import VISIT_TILE
from accelsim.plan import walk as walks
from accelsim.plan.blocks import Told, Touched
from accelsim.plan.images import IndexSet, TensorImage
from accelsim.plan.loads import GroupKinds, Loads
from accelsim.plan.lockstep import AxisGroup, Lane, Part, lanes
from accelsim.plan.moves import SingleLoad
from accelsim.plan.units import Unit
from accelsim.plan.walk import Numbers, Visit, VisitWalk, radix
from accelsim.spec.case import Case
from accelsim.spec.chip import Access, Multicast
from accelsim.spec.nest import NestLoop
from accelsim.spec.operator import Role, Tensor

Ints = NDArray[np.int64]


class Stays(Protocol):
    """The stays of a station, in order, read in pieces: rows in the columns of a stay, sources still to be found."""

    def rows(self) -> Ints:
        """The next stays, int64[n, STAY_WIDTH]; none at the end."""
        ...


def stay_rows(made: list[list[int]]) -> Ints:
    """Stays that were made one by one, as the rows that a stream reads."""
    return np.array(made, dtype=np.int64).reshape(len(made), STAY_WIDTH)


@dataclass(frozen=True)
class Rules:
    """How one tensor moves between one entry and its parent."""

    case: Case
    entry: int
    parent: int
    tensor: Tensor
    image: TensorImage
    numbers: Numbers[IndexSet]
    loads: Loads
    loops: tuple[NestLoop, ...]
    multicast: Multicast
    reduce: bool
    accumulates: bool
    split: bool
    addressed: bool

    @staticmethod
    def of(case: Case, entry: int, tensor: Tensor) -> Rules:
        """The rules for a tensor bound at an entry away from its home."""
        parent = case.parent(entry, tensor.name)
        assert parent is not None, "a home moves nothing"
        names = case.chip.names
        fills = case.chip.links_between(names[parent], names[entry], Access.FILL, tensor)
        drains = case.chip.links_between(names[parent], names[entry], Access.DRAIN, tensor)
        modes = [link.multicast for link in fills]
        mode = next((m for m in (Multicast.OVERLAP, Multicast.EQUAL) if m in modes), Multicast.NONE)
        memory = case.memory(parent, tensor)
        image = TensorImage(case, entry, tensor)
        numbers = Numbers(case.nest, image)
        memories = (memory, case.memory(entry, tensor))
        granular = any(link.granularity_bytes > 1 for link in (*fills, *drains)) or any(
            one is not None and one.granularity_bytes > 1 for one in memories)
        loads = Loads(numbers, granular=granular or any(bits % 8 for bits in (
            tensor.dtype.bits, case.operator.accumulator.bits)),
            bridge_bytes=memory.bridge_bytes if memory is not None and tensor.role is not Role.OUTPUT else 0)
        return Rules(case, entry, parent, tensor, image, numbers, loads, case.nest.temporal_above(entry), mode,
                     any(link.reduce for link in drains), memory is not None and memory.accumulate,
                     any(case.reduces(loop) for loop in case.nest.spatial_above(entry)),
                     memory is not None and memory.dram is not None)

    @property
    def groups(self) -> bool:
        """Whether units share transfers: a multicast or a reduction."""
        return self.multicast is not Multicast.NONE or self.reduce

    @property
    def output(self) -> bool:
        """Whether the tensor is written."""
        return self.tensor.role is Role.OUTPUT

    def width_out(self, visit: Visit[AxisGroup]) -> int:
        """Bits of an output element that leaves: the accumulator's, unless this visit has finished it."""
        finished = visit.complete and not self.split and not (self.accumulates and visit.returns)
        return (self.tensor.dtype if finished else self.case.operator.accumulator).bits

    def group_in(self, visit: Visit[AxisGroup], lane: Lane) -> Part | None:
        """What the tiles of a lane's instances need moved in: new elements of inputs, partial sums of outputs seen before."""
        if self.output:
            times = lane.lead_times if self.reduce else lane.times
            if not visit.returns or self.accumulates or not times:
                return None
            near = min(times, lane.near_times) if not self.reduce else min(1, lane.near_times)
            return Part(visit.tile, None, times, lane.near, near, lane.parents)
        return Part(visit.tile, visit.held, lane.times, lane.near, lane.near_times, lane.parents)

    def group_out(self, visit: Visit[AxisGroup], lane: Lane) -> Part:
        """What leaves when the stay of a lane's instances ends: their output tiles."""
        return Part(visit.tile, None, lane.times, lane.near, lane.near_times, lane.parents)


class UnitStays:
    """The stays of a unit that runs on its own."""

    def __init__(self, rules: Rules, unit: Unit) -> None:
        self._rules = rules
        self._walk = VisitWalk(rules.case.nest, rules.numbers, rules.loops, unit.bases[0])
        self._radix = radix(rules.numbers)
        refills = not rules.accumulates and (unit.leads[0] <= rules.parent or not rules.reduce)
        self._terms: Ints = np.array((rules.output, rules.tensor.dtype.bits, rules.case.operator.accumulator.bits,
                                      not rules.split, rules.accumulates, refills, rules.addressed), dtype=np.int64)
        self._last = self._nothing()

    def rows(self) -> Ints:
        """The next stays."""
        return self.both()[0]

    def seek(self, step: int) -> None:
        """Go on from a step, or one before it: the first stay told then may have begun earlier, and moved less."""
        self._walk.go_to(step)
        self._last = self._nothing()

    def _nothing(self) -> Ints:
        return np.zeros((0, VISIT_TILE + len(self._rules.numbers.sets)), dtype=np.int64)

    def both(self) -> tuple[Ints, Ints, Ints]:
        """The next stays, their visits, and the visit before those (one or none)."""
        visits, last, loads = self._walk.rows(), self._last, self._rules.loads
        made: Ints = np.empty((len(visits), STAY_WIDTH), dtype=np.int64)
        done = 0
        while True:
            keys, values = loads.codes.keys.ravel(), loads.codes.values.ravel()
            done = write_stays(visits, last, self._terms, self._radix, keys, values, done, made)
            if done == len(visits):
                break
            self._meet(visits[done], visits[done - 1:done] if done else last)
        if len(visits):
            self._last = visits[-1:]
        return made, visits, last

    def told(self) -> Iterator[Told]:
        """The stays one by one, with what they touch."""
        return (_told_singly(self._rules, *sets) for sets in _singly(self))

    def _meet(self, visit: Ints, before: Ints) -> None:
        """Number the loads that a visit may need."""
        rules, tile = self._rules, visit[VISIT_TILE:].tolist()
        if not rules.output:
            held = before[0, VISIT_TILE:].tolist() if len(before) else None
            rules.loads.meet(tile, held, rules.tensor.dtype.bits)
            return
        for bits in (rules.tensor.dtype.bits, rules.case.operator.accumulator.bits):
            rules.loads.meet(tile, None, bits)


class LockstepStays:
    """The stays of lockstep instances that run as one: one ends when any instance's tile changes; traffic is summed exactly."""

    def __init__(self, rules: Rules, unit: Unit) -> None:
        self._rules = rules
        case = rules.case
        together = [loop for loop in case.nest.spatial_above(rules.entry) if case.lockstep(loop.entry + 1)]
        self._lanes = lanes(case, rules.image, rules.loops, unit.bases[0], together, rules.parent)
        self._kinds = GroupKinds(rules.loads)
        self._stays = _together(rules, self._lanes, self._kinds)
        self._pace = walks.Pace(walks.DEAR)

    def seek(self, step: int) -> None:
        """Go on from a step, or one before it: the first stays told then may have begun earlier, and moved less."""
        for lane in self._lanes:
            lane.begin(step)
        self._stays = _together(self._rules, self._lanes, self._kinds)
        self._pace.begin()

    def rows(self) -> Ints:
        """The next stays."""
        return stay_rows([row for row, _, _ in islice(self._stays, self._pace.most())])

    def told(self) -> Iterator[Told]:
        """The stays one by one, with what they touch."""
        for row, fills, drains in self._stays:
            yield Told(row, *([Touched(part.now, part.old, bits) for part, bits in own] for own in (fills, drains)))


_Widths = list[tuple[Part, int]]
"""Parts of a load, each with its width in bits."""


def _together(rules: Rules, rows: Sequence[Lane], kinds: GroupKinds) -> Iterator[tuple[list[int], _Widths, _Widths]]:
    """Stays as rows, with what moves in and out; those that ``after`` names are counted from the first."""
    case = rules.case
    seq = 0
    while True:
        starts = [lane.next.first for lane in rows if lane.next is not None]
        if not starts:
            return
        first = min(starts)
        fills: _Widths = []
        inward = case.operator.accumulator.bits if rules.output else rules.tensor.dtype.bits
        after = -1
        for lane in rows:
            if lane.next is None or lane.next.first != first:
                continue
            lane.now, lane.next = lane.next, next(lane.walk, None)
            load = rules.group_in(lane.now, lane)
            if load is not None:
                fills.append((load, inward))
                if rules.output:
                    after = max(after, lane.drained.get(lane.now.tile, -1))
        until = min((lane.next.first for lane in rows if lane.next is not None), default=None)
        last = max((lane.now.last for lane in rows if lane.now is not None and (until is None or lane.now.last < until)
                    and lane.now.last >= first), default=first if until is None else until - 1)
        drains: _Widths = []
        for lane in rows:
            ends = lane.now is not None and (until is None or (lane.next is not None and lane.next.first == until))
            if not rules.output or lane.now is None or not ends:
                continue
            drains.append((rules.group_out(lane.now, lane), rules.width_out(lane.now)))
            lane.drained[lane.now.tile] = seq
            if lane.next is None:
                lane.now = None
        fill = kinds.number(fills, rules.multicast)
        drain = kinds.number(drains, Multicast.EQUAL if rules.reduce else Multicast.NONE)
        row = [0] * STAY_WIDTH
        row[STAY_FIRST], row[STAY_LAST], row[STAY_FILL], row[STAY_DRAIN] = first, last, fill, drain
        row[STAY_REFILL], row[STAY_TILE], row[STAY_AFTER], row[STAY_HELD] = int(fill > 0 and rules.output), -1, after, -1
        yield row, fills, drains
        seq += 1


def unit_stays(rules: Rules, unit: Unit) -> UnitStays | LockstepStays:
    """The stays of a unit."""
    return UnitStays(rules, unit) if len(unit.bases) == 1 else LockstepStays(rules, unit)




class Siblings:
    """The stays of all units inside one parent unit, matched by global step where a link serves equal sets at once."""

    def __init__(self, rules: Rules, members: Sequence[Unit]) -> None:
        self._rules = rules
        self._walks = {unit.index: _singly(UnitStays(rules, unit)) for unit in members}
        self._next: dict[int, _Sets] = {}
        self._ready: dict[int, deque[_Sets]] = {unit.index: deque() for unit in members}
        self._groups = 0
        for unit in members:
            self._advance(unit.index)

    def of(self, unit: int) -> SiblingStays:
        """The stays of one unit, with the groups they share transfers with."""
        return SiblingStays(self, unit)

    def take(self, unit: int, most: int) -> list[_Sets]:
        """The next stays of a unit, each with the numbers of its tile and of the one before."""
        own = self._ready[unit]
        while len(own) < most and self._next:
            self._match()
        return [own.popleft() for _ in range(min(most, len(own)))]

    def told(self, unit: int) -> Iterator[Told]:
        """The stays of a unit one by one, with what they touch."""
        while sets := self.take(unit, 1):
            yield _told_singly(self._rules, *sets[0])

    def _advance(self, unit: int) -> None:
        following = next(self._walks[unit], None)
        if following is None:
            self._next.pop(unit, None)
        else:
            self._next[unit] = following

    def _match(self) -> None:
        """All stays that begin at the earliest step begin together; group those whose sets are equal."""
        first = min(row[STAY_FIRST] for row, _, _ in self._next.values())
        starting = {unit: sets for unit, sets in self._next.items() if sets[0][STAY_FIRST] == first}
        fills: dict[object, list[list[int]]] = {}
        drains: dict[object, list[list[int]]] = {}
        for row, tile, held in starting.values():
            if row[STAY_FILL] and self._rules.multicast is not Multicast.NONE:
                fills.setdefault((tile, held), []).append(row)
            if row[STAY_DRAIN] and self._rules.reduce:
                drains.setdefault((tile, row[STAY_LAST]), []).append(row)
        for groups, number, size in ((fills, STAY_FILL_GROUP, STAY_FILL_MEMBERS),
                                     (drains, STAY_DRAIN_GROUP, STAY_DRAIN_MEMBERS)):
            for members in groups.values():
                if len(members) > 1:
                    self._groups += 1
                    for row in members:
                        row[number], row[size] = self._groups, len(members)
        for unit, sets in starting.items():
            self._ready[unit].append(sets)
            self._advance(unit)


class SiblingStays:
    """The stays of one of the units that share transfers."""

    def __init__(self, siblings: Siblings, unit: int) -> None:
        self._siblings = siblings
        self._unit = unit
        self._pace = walks.Pace(walks.DEAR)

    def rows(self) -> Ints:
        """The next stays."""
        return stay_rows([row for row, _, _ in self._siblings.take(self._unit, self._pace.most())])

    def told(self) -> Iterator[Told]:
        """The stays one by one, with what they touch."""
        return self._siblings.told(self._unit)


_Sets = tuple[list[int], tuple[int, ...], tuple[int, ...]]


def _told_singly(rules: Rules, row: list[int], tile: tuple[int, ...], held: tuple[int, ...]) -> Told:
    """A stay of one instance with what it touches: of inputs what is new, of outputs all."""
    touched: list[list[Touched]] = []
    for load in (row[STAY_FILL], row[STAY_DRAIN]):
        moved = rules.loads.all[load]
        if moved is None:
            touched.append([])
            continue
        assert isinstance(moved, SingleLoad), "units alone move single loads"
        old = rules.numbers.tile(held) if held and not rules.output else None
        touched.append([Touched(rules.numbers.tile(tile), old, moved.move.bits)])
    return Told(row, *touched)


def _singly(stays: UnitStays) -> Iterator[_Sets]:
    """Stays one by one, each with the numbers of its tile and of the one before."""
    while True:
        rows, visits, last = stays.both()
        if not len(rows):
            return
        tiles = [tuple(tile) for tile in np.concatenate([last, visits])[:, VISIT_TILE:].tolist()]
        held = tiles[:-1] if len(last) else [(), *tiles[:-1]]
        yield from zip(rows.tolist(), tiles[len(last):], held, strict=True)
