"""Residencies as the plan knows them: a tile's stay at a unit of a level, with what moves in before and out after it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from accelsim.plan.images import IndexSet, TensorImage, Tile, elements, overlap
from accelsim.plan.lockstep import AxisGroup, Lane, Part, lanes, merged
from accelsim.plan.moves import Load, Move
from accelsim.plan.units import Unit
from accelsim.plan.walk import Visit, visits
from accelsim.spec.case import Case
from accelsim.spec.chip import Access, Multicast
from accelsim.spec.nest import NestLoop
from accelsim.spec.operator import Role, Tensor


class Stay:
    """One residency of the plan, numbered ``seq`` within its station (a tensor at a unit of a level).

    ``first`` and ``last``: its steps, in the level's global numbers. ``fill``: what moves in (None: nothing);
    ``refill``: it is partial sums, and the drain of residency ``after`` must have arrived first. ``drain``: what moves
    out when it ends (None: nothing). ``fill_group`` and ``drain_group``: the units that share the transfer.
    """

    __slots__ = ("after", "drain", "drain_group", "fill", "fill_group", "first", "last", "refill", "seq")

    def __init__(self, seq: int, first: int, last: int, fill: Load | None, refill: bool, after: int,
                 drain: Load | None) -> None:
        self.seq = seq
        self.first = first
        self.last = last
        self.fill = fill
        self.refill = refill
        self.after = after
        self.drain = drain
        self.fill_group: tuple[int, ...] = ()
        self.drain_group: tuple[int, ...] = ()


@dataclass(frozen=True)
class Rules:
    """How one tensor moves between one entry and its parent."""

    case: Case
    entry: int
    parent: int
    tensor: Tensor
    image: TensorImage
    loops: tuple[NestLoop, ...]
    multicast: Multicast
    reduce: bool
    accumulates: bool
    split: bool

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
        return Rules(case, entry, parent, tensor, TensorImage(case, entry, tensor), case.nest.temporal_above(entry), mode,
                     any(link.reduce for link in drains), memory is not None and memory.accumulate,
                     any(case.reduces(loop) for loop in case.nest.spatial_above(entry)))

    @property
    def output(self) -> bool:
        """Whether the tensor is written."""
        return self.tensor.role is Role.OUTPUT

    def moved_in(self, visit: Visit[IndexSet], lead: bool) -> Move | None:
        """What a visit's tile needs moved in: new elements of an input, partial sums of an output seen before."""
        if self.output:
            if not visit.returns or self.accumulates or (self.reduce and not lead):
                return None
            return Move(elements(visit.tile), self.case.operator.accumulator.bits, visit.tile, None)
        count = elements(visit.tile) - (overlap(visit.tile, visit.held) if visit.held is not None else 0)
        return Move(count, self.tensor.dtype.bits, visit.tile, visit.held) if count else None

    def moved_out(self, visit: Visit[IndexSet]) -> Move | None:
        """What leaves when a visit ends: output tiles, finished ones at the output's width."""
        return Move(elements(visit.tile), self.width_out(visit), visit.tile, None) if self.output else None

    def width_out(self, visit: Visit[AxisGroup] | Visit[IndexSet]) -> int:
        """Bits of an output element that leaves: the accumulator's, unless this visit has finished it."""
        finished = visit.complete and not self.split and not (self.accumulates and visit.returns)
        return (self.tensor.dtype if finished else self.case.operator.accumulator).bits

    def group_in(self, visit: Visit[AxisGroup], lane: Lane) -> Part | None:
        """As ``moved_in`` for all instances of a lane."""
        if self.output:
            times = lane.lead_times if self.reduce else lane.times
            if not visit.returns or self.accumulates or not times:
                return None
            near = min(times, lane.near_times) if not self.reduce else min(1, lane.near_times)
            return Part(visit.tile, None, times, lane.near, near, lane.parents)
        return Part(visit.tile, visit.held, lane.times, lane.near, lane.near_times, lane.parents)

    def group_out(self, visit: Visit[AxisGroup], lane: Lane) -> Part:
        """As ``moved_out`` for all instances of a lane."""
        return Part(visit.tile, None, lane.times, lane.near, lane.near_times, lane.parents)


def unit_stays(rules: Rules, unit: Unit) -> Iterator[Stay]:
    """The stays of a unit, in order."""
    if len(unit.bases) == 1:
        yield from _single(rules, unit)
    else:
        yield from _together(rules, unit)


def _single(rules: Rules, unit: Unit) -> Iterator[Stay]:
    drained: dict[Tile, int] = {}
    keep = rules.output and not rules.accumulates
    for seq, visit in enumerate(visits(rules.case.nest, rules.image, rules.loops, unit.bases[0])):
        fill, drain = rules.moved_in(visit, unit.leads[0] <= rules.parent), rules.moved_out(visit)
        after = drained.get(visit.tile, -1) if rules.output and visit.returns and fill is not None else -1
        stay = Stay(seq, visit.first, visit.last, Load.alone(fill), fill is not None and rules.output, after,
                    Load.alone(drain))
        if keep and not visit.complete:
            drained[visit.tile] = seq
        yield stay


def _together(rules: Rules, unit: Unit) -> Iterator[Stay]:
    """Lockstep instances run as one: a stay ends when any instance's tile changes; traffic is summed exactly."""
    case = rules.case
    together = [loop for loop in case.nest.spatial_above(rules.entry) if case.lockstep(loop.entry + 1)]
    rows = lanes(case, rules.image, rules.loops, unit.bases[0], together, rules.parent)
    seq = 0
    while True:
        starts = [lane.next.first for lane in rows if lane.next is not None]
        if not starts:
            return
        first = min(starts)
        fills: list[tuple[Part, int]] = []
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
        last = max(lane.now.last for lane in rows if lane.now is not None and (until is None or lane.now.last < until)
                   and lane.now.last >= first)
        drains: list[tuple[Part, int]] = []
        for lane in rows:
            ends = lane.now is not None and (until is None or (lane.next is not None and lane.next.first == until))
            if not rules.output or lane.now is None or not ends:
                continue
            drains.append((rules.group_out(lane.now, lane), rules.width_out(lane.now)))
            lane.drained[lane.now.tile] = seq
            if lane.next is None:
                lane.now = None
        fill = merged(fills, rules.multicast)
        yield Stay(seq, first, last, fill, fill is not None and rules.output, after,
                   merged(drains, Multicast.EQUAL if rules.reduce else Multicast.NONE))
        seq += 1


class Siblings:
    """The stays of all units inside one parent unit, matched by global step where a link serves equal sets at once."""

    def __init__(self, rules: Rules, members: Sequence[Unit]) -> None:
        self._rules = rules
        self._walks = {unit.index: unit_stays(rules, unit) for unit in members}
        self._sets = {unit.index: visits(rules.case.nest, rules.image, rules.loops, unit.bases[0]) for unit in members}
        self._next: dict[int, tuple[Stay, Visit[IndexSet]]] = {}
        self._ready: dict[int, deque[Stay]] = {unit.index: deque() for unit in members}
        for unit in members:
            self._advance(unit.index)

    def stays(self, unit: int) -> Iterator[Stay]:
        """The stays of one unit, with the groups they share transfers with."""
        own = self._ready[unit]
        while True:
            while not own:
                if not self._next:
                    return
                self._match()
            yield own.popleft()

    def _advance(self, unit: int) -> None:
        stay = next(self._walks[unit], None)
        if stay is None:
            self._next.pop(unit, None)
        else:
            self._next[unit] = stay, next(self._sets[unit])

    def _match(self) -> None:
        """All stays that begin at the earliest step begin together; group those whose sets are equal."""
        first = min(stay.first for stay, _ in self._next.values())
        starting = {unit: pair for unit, pair in self._next.items() if pair[0].first == first}
        fills: dict[object, list[int]] = {}
        drains: dict[object, list[int]] = {}
        for unit, (stay, visit) in starting.items():
            if stay.fill is not None and self._rules.multicast is not Multicast.NONE:
                fills.setdefault((visit.tile, visit.held), []).append(unit)
            if stay.drain is not None and self._rules.reduce:
                drains.setdefault((visit.tile, stay.last), []).append(unit)
        for unit, (stay, visit) in starting.items():
            same = fills.get((visit.tile, visit.held), [])
            stay.fill_group = tuple(same) if stay.fill is not None and len(same) > 1 else ()
            summed = drains.get((visit.tile, stay.last), [])
            stay.drain_group = tuple(summed) if stay.drain is not None and len(summed) > 1 else ()
            self._ready[unit].append(stay)
            self._advance(unit)
