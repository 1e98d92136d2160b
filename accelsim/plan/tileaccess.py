"""All accesses that a mapping makes to one memory while the array works on one tile: the array's, and the DMA's beside it.

The array is one requester: it runs in lockstep, so what it asks for in a cycle is one vector, and a vector that takes longer
holds all of it up. The DMA fills the slots of the next tiles and drains the one before, each its own requester.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from accelsim.errors import DoesNotFit, Fault, LimitExceeded, SpecError
from accelsim.plan.demands import Asker, Demand, served
from accelsim.plan.edges import Tile
from accelsim.plan.passes import count, fresh, passes, positions, together
from accelsim.plan.placing import Placing
from accelsim.spec.banks import Arbitration, Banks, Layout
from accelsim.spec.case import Case
from accelsim.spec.chip import Access, Memory
from accelsim.spec.operator import Role, Tensor
from accelsim.spec.sram import Edge
from accelsim.spec.sramtrace import Accesses, in_order

Ints = NDArray[np.int64]
MOST_ELEMENTS = 20_000_000
AT_ONCE = 1 << 20
"""Elements that are looked at together."""


@dataclass(frozen=True)
class Place:
    """A tensor in the memory: where its slots begin, the tile in use and the one to come (None: none, or the same)."""

    tensor: Tensor
    layout: Layout
    bits: int
    slots: int
    slot_words: int
    first_word: int
    tile: Tile
    coming: Tile | None
    gone: Tile | None

    def filled(self) -> Ints:
        """Places in the coming tile of what the DMA brings: of inputs what the tile in use does not hold, partial sums all."""
        empty: Ints = np.zeros(0, dtype=np.int64)
        return empty if self.coming is None else self.coming.without(None if self.tensor.role is Role.OUTPUT else self.tile)

    def drained(self) -> Ints:
        """Places in the tile before of what the DMA takes away: all of it."""
        empty: Ints = np.zeros(0, dtype=np.int64)
        return empty if self.gone is None else self.gone.without(None)


@dataclass(frozen=True)
class TileAccess:
    """The trace of a tile. ``requesters``: array, fill, drain, or the array last; those without anything to do left out.
    ``passes`` of ``all_passes``. ``cycles``: of the array alone. ``read``, ``written``: elements that the array asks for, by
    tensor.
    """

    requesters: tuple[Accesses, ...]
    places: tuple[Place, ...]
    step: int
    passes: int
    all_passes: int
    cycles: int
    read: dict[str, int]
    written: dict[str, int]


class _Asked:
    """What the array asks for, in pieces."""

    def __init__(self) -> None:
        self.cycles: list[Ints] = []
        self.words: list[Ints] = []
        self.writes: list[NDArray[np.bool_]] = []
        self.count = 0
        self.read: dict[str, int] = {}
        self.written: dict[str, int] = {}

    def add(self, place: Place, placing: Placing, asked: Demand) -> None:
        """Elements of a tensor's present tile, each in its cycle."""
        there = asked.places.ravel() >= 0
        words = placing.words(asked.places.ravel()[there]) + place.first_word
        self.cycles.append(np.repeat(np.broadcast_to(asked.cycles, asked.places.shape).ravel()[there], words.shape[1]))
        self.words.append(words.ravel())
        self.writes.append(np.full(words.size, asked.write))
        told = self.written if asked.write else self.read
        told[place.tensor.name] = told.get(place.tensor.name, 0) + int(there.sum())
        self.count += words.size
        if self.count > MOST_ELEMENTS:
            raise LimitExceeded(f"more than {MOST_ELEMENTS:,} accesses of the array; replay fewer passes (--passes)")

    def trace(self) -> Accesses:
        """All of it in order."""
        empty: Ints = np.zeros(0, dtype=np.int64)
        return in_order("array", np.concatenate([*self.cycles, empty]), np.concatenate([*self.words, empty]),
                        np.concatenate([*self.writes, empty.astype(np.bool_)]))


def tile_access(case: Case, entry: int, memory: Memory, banks: Banks, layouts: Mapping[str, Layout], *, step: int | None = None,
                most_passes: int = 64, edge: Edge = Edge.REGISTERS) -> TileAccess:
    """The accesses to a memory in one step of its level, of its first instance.

    ``step``: which, None for the second where there is one (the first reads no partial sums and drains nothing).
    ``most_passes``: the trace ends after so many passes of the array. Raises SpecError where there is no such step, or a bank
    cannot be written; DoesNotFit where the layout takes more than the memory has; LimitExceeded beyond ``MOST_ELEMENTS``.
    """
    steps, number = _steps(case, entry, 1 if step is None else step, asked=step is not None)
    before, now, after = steps
    places = _places(case, entry, memory, banks, layouts, before, now, after)
    own = [(one, _placing(one.tile, one, banks), Asker(case, entry, one.tensor, one.tile, edge)) for one in places
           if one.tensor in served(case, entry, memory)]
    asked = _Asked()
    run, end = 0, 0
    inside = [loop for loop in case.nest.loops if loop.axis is None and entry <= loop.entry < case.array_entry]
    every = count(case, inside, now)
    widest = max(len(asker.lanes.offsets) for _, _, asker in own)
    streamed = [loop for loop in case.nest.own(case.array_entry) if loop.axis is None]
    if count(case, streamed, now) * widest * min(every, most_passes) > 10 * MOST_ELEMENTS:
        raise LimitExceeded(f"{case.operator.name}: more than {10 * MOST_ELEMENTS:,} elements to look at; replay fewer passes "
                            "(--passes), or map smaller tiles")
    # what leaves the registers last is told by one more, without iterations
    replayed = islice(passes(case, entry, now, before, after), most_passes + (every <= most_passes))
    for group in together(replayed, max(1, AT_ONCE // widest)):
        for place, placing, asker in own:
            for demand in asker.of(group):
                asked.add(place, placing, demand)
        run += sum(len(one.iterations) > 0 for one in group)
        end = max(end, *(one.end(case.chip.array.skew_cycles) for one in group))
    array = asked.trace()
    cycles = max(end, array.cycles)
    if banks.ports.writes + banks.ports.both == 0 and (asked.written or any(one.coming for one in places)):
        raise SpecError([Fault("--ports", 0, 0, "", f"{banks.ports} serves no writes, and {memory.name} is written to",
                               "1RW, 1R1W and so on")])
    dma = [_dma(case, entry, places, banks, access, cycles) for access in (Access.FILL, Access.DRAIN)]
    # the first comes first at a bank
    order = [*dma, array] if banks.arbitration is Arbitration.DMA_FIRST else [array, *dma]
    return TileAccess(tuple(one for one in order if len(one.gaps)), tuple(places), number, run, every,
                      cycles, asked.read, asked.written)


def _steps(case: Case, entry: int, step: int, *, asked: bool) -> tuple[tuple[list[int] | None, list[int], list[int] | None], int]:
    """Positions of the step before, the step, the step after."""
    loops = case.nest.temporal_above(entry)
    base = [0] * len(case.nest.lines)
    found = list(islice(positions(case, loops, base), max(0, step - 1), step + 2))
    if step == 0:
        return (None, found[0], found[1] if len(found) > 1 else None), 0
    if len(found) < 2:
        if asked:
            raise SpecError([Fault("--step", 0, 0, "", f"{case.chip.names[entry]} has no step {step:,}", "0 up to its last")])
        return (None, found[0], None), 0
    return (found[0], found[1], found[2] if len(found) > 2 else None), step


def _placing(tile: Tile, place: Place, banks: Banks) -> Placing:
    return Placing(place.layout, banks, tile.counts, place.bits)


def _places(case: Case, entry: int, memory: Memory, banks: Banks, layouts: Mapping[str, Layout], before: list[int] | None,
            now: list[int], after: list[int] | None) -> list[Place]:
    """The tensors of a memory one behind the other, all slots of each."""
    found: list[Place] = []
    first = 0
    for tensor in case.operator.tensors:
        if entry not in case.paths[tensor.name] or case.memory(entry, tensor) is not memory:
            continue
        home = entry == case.paths[tensor.name][0]
        tile, coming, gone = (None if at is None else Tile(case, entry, tensor, at, whole=home) for at in (now, after, before))
        assert tile is not None
        bits = case.held_type(entry, tensor).bits
        layout = layouts.get(tensor.name, layouts.get("", case.layout(entry, tensor.name)))
        size = max(Placing(layout, banks, one.counts, bits).size_words for one in (tile, coming, gone) if one)
        words = max(size, ceil(Fraction(case.slot_bytes(entry, tensor), banks.width_bytes)))
        slots = case.slot_count(entry, tensor)
        moves = not home and slots > 1
        comes = tensor.role is not Role.OUTPUT or (after is not None and _comes_back(case, entry, tensor, after))
        found.append(Place(tensor, layout, bits, slots, words, first, tile,
                           coming if coming and moves and comes and not coming.same(tile) else None,
                           gone if gone and moves and tensor.role is Role.OUTPUT and not gone.same(tile) else None))
        first += slots * words
    if memory.capacity_bytes is not None and first * banks.width_bytes > memory.capacity_bytes:
        told = ", ".join(f"{one.slots} x {one.tensor.name} {one.layout}" for one in found)
        told += f" take {first * banks.width_bytes:,} of {memory.capacity_bytes:,} B"
        raise DoesNotFit([Fault(memory.name, 0, 0, "", told,
                                "a layout that pads less, or smaller tiles")])
    return found


def _comes_back(case: Case, entry: int, tensor: Tensor, position: Sequence[int]) -> bool:
    """Whether the output tile of a step is filled with partial sums before."""
    parent = case.parent(entry, tensor.name)
    memory = None if parent is None else case.memory(parent, tensor)
    return memory is not None and not memory.accumulate and not fresh(case, position)


def _dma(case: Case, entry: int, places: Sequence[Place], banks: Banks, access: Access, until: int) -> Accesses:
    """What the DMA writes of the next tiles, or reads of the ones before, element after element, until the array ends."""
    cycles: list[Ints] = []
    words: list[Ints] = []
    now, last = 0, -1
    for place in places:
        tile = place.coming if access is Access.FILL else place.gone
        if tile is None:
            continue
        each, gap = _burst(case, entry, place, banks, access)
        moved = place.filled() if access is Access.FILL else place.drained()
        own = _placing(tile, place, banks).words(moved) + place.first_word + place.slot_words
        begins = now + np.arange(len(moved), dtype=np.int64) // each * gap
        kept = begins < until
        cycles.append(np.repeat(begins[kept], own.shape[1]))
        words.append(own[kept].ravel())
        last = int(begins[-1]) if len(begins) else last
        now = last + gap
    empty: Ints = np.zeros(0, dtype=np.int64)
    found = np.concatenate([*words, empty])
    return in_order(access.value, np.concatenate([*cycles, empty]), found, np.full(len(found), access is Access.FILL))


def _burst(case: Case, entry: int, place: Place, banks: Banks, access: Access) -> tuple[int, int]:
    """(elements, cycles) of one vector of the DMA: what the slowest port or link between passes, a word of a bank at the least;
    a word of every bank in a cycle where nothing is limited.
    """
    tensor = place.tensor
    parent = case.parent(entry, tensor.name)
    assert parent is not None, "a home moves nothing"
    names = case.chip.names
    rates = [case.chip.link_rate(link) for link in case.chip.links_between(names[parent], names[entry], access, tensor)]
    for memory in (case.memory(parent, tensor), case.memory(entry, tensor)):
        port = None if memory is None else memory.port(access, tensor)
        rates.append(None if port is None else port.rate)
    limited = [rate for rate in rates if rate is not None]
    if not limited:
        return max(1, banks.count * banks.width_bytes * 8 // place.bits), 1
    size = max(banks.width_bytes, floor(min(limited)))
    each = max(1, size * 8 // place.bits)
    return each, max(1, ceil(Fraction(each * place.bits, 8) / min(limited)))


