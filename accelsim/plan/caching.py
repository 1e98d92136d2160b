"""A cache before a memory, managed by hardware: what of each load it has, and what it writes back for it.

Loads are looked up in the order of the steps that need them (drains: of the last step that adds to them), block by block; what
was asked for longest ago goes first (LRU, fully associative: caches before a DRAM spread their addresses over all sets). No time
here: the order is the plan's, so that it does not depend on who overtakes whom.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Protocol

from accelsim.kernels.columns import (
    STAY_DRAIN,
    STAY_DRAIN_GROUP,
    STAY_DRAIN_MEMBERS,
    STAY_FILL,
    STAY_FILL_GROUP,
    STAY_FILL_MEMBERS,
    STAY_FIRST,
    STAY_LAST,
)
from accelsim.plan import walk as walks
from accelsim.plan.blocks import Blocks, Told, Touched
from accelsim.plan.loads import Loads
from accelsim.plan.moves import CachedLoad
from accelsim.plan.stays import Ints, stay_rows

BLOCKS_HELD = 256
"""A cache has room for so many blocks at least."""


class Teller(Protocol):
    """Stays that tell what they touch."""

    def told(self) -> Iterator[Told]:
        """All of them, in order."""
        ...


@dataclass
class CacheCounts:
    """Bytes of a tensor, in whole granules. ``hit``, ``missed``: of what was read. ``written``: into the cache. ``back``: of that
    written to the memory in the run; ``dirty``: left in the cache at its end.
    """

    hit: int = 0
    missed: int = 0
    written: int = 0
    back: int = 0
    dirty: int = 0


@dataclass
class _Feed:
    """The stays of one station: those looked up in part wait until the ones before are ready. ``ahead``: steps within which they
    may be asked for together.
    """

    number: int
    tensor: int
    inside: int
    ahead: int
    told: Iterator[Told]
    waiting: deque[_Waiting] = field(default_factory=deque)


@dataclass
class _Waiting:
    told: Told
    ready: bool = False


class Cached:
    """A tensor behind a cache: its blocks, its loads by number, and whether the memory adds up what arrives."""

    def __init__(self, name: str, blocks: Blocks, loads: Loads, *, adds: bool) -> None:
        self.name = name
        self.blocks = blocks
        self.loads = loads
        self.adds = adds
        self.counts = CacheCounts()
        self.written: set[int] = set()
        self._known: dict[tuple[int, int, bool], int] = {}
        self._of_group: dict[tuple[int, int], tuple[int, int]] = {}

    def number(self, load: int, beyond_bytes: int, *, waits: bool) -> int:
        """The number of a load of which so many bytes pass the memory's port, or that waits for another's."""
        found = self._known.get((load, beyond_bytes, waits))
        if found is None:
            base = self.loads.all[load]
            assert base is not None, "what is looked up moves something"
            made = CachedLoad(base, beyond_bytes, waits=waits)
            found = self._known[load, beyond_bytes, waits] = self.loads.add(made)
        return found

    def shared(self, group: tuple[int, int]) -> int | None:
        """What another member of a group has been given: they pass the cache once."""
        found = self._of_group.get(group)
        if found is None:
            return None
        number, left = found
        if left == 1:
            del self._of_group[group]
        else:
            self._of_group[group] = number, left - 1
        return number

    def share(self, group: tuple[int, int], members: int, number: int) -> None:
        """Keep what the other members of a group are to be given."""
        self._of_group[group] = number, members - 1


class Cache:
    """One cache, and all stations that are fed through it. ``tensors``: those at home behind it."""

    def __init__(self, capacity_bytes: int, tensors: Sequence[Cached]) -> None:
        self._capacity = capacity_bytes
        self._tensors = tensors
        self._held: OrderedDict[int, int] = OrderedDict()
        self._dirty: set[int] = set()
        self._used = 0
        self._brought: dict[int, tuple[int, int]] = {}
        self._feeds: list[_Feed] = []
        self._events: list[tuple[int, bool, int, int, int, _Feed, _Waiting]] = []
        self._order = count()

    def stays(self, tensor: str, inside: int, slots: int, teller: Teller) -> CachedStays:
        """The stays of a station of so many slots whose loads pass here. ``inside``: steps of the deepest station's level in one
        of its own.
        """
        number = [own.name for own in self._tensors].index(tensor)
        self._feeds.append(_Feed(len(self._feeds), number, inside, slots * inside, teller.told()))
        return CachedStays(self, len(self._feeds) - 1)

    def take(self, number: int, most: int) -> list[list[int]]:
        """The next stays of a station, at most so many."""
        feed = self._feeds[number]
        if not self._events:
            for one in self._feeds:
                if not one.waiting:
                    self._follow(one)
        made: list[list[int]] = []
        while len(made) < most:
            while self._events and not (feed.waiting and feed.waiting[0].ready):
                self._go_on()
            if not feed.waiting or not feed.waiting[0].ready:
                break
            made.append(feed.waiting.popleft().told.row)
        return made

    def _follow(self, feed: _Feed) -> None:
        """The next stay of a station begins at its first step."""
        told = next(feed.told, None)
        if told is None:
            return
        waiting = _Waiting(told)
        feed.waiting.append(waiting)
        self._happens(told.row[STAY_FIRST] * feed.inside, feed, waiting, drain=False)

    def _happens(self, step: int, feed: _Feed, waiting: _Waiting, *, drain: bool) -> None:
        heapq.heappush(self._events, (step, drain, feed.tensor, feed.number, next(self._order), feed, waiting))

    def _go_on(self) -> None:
        """Look up what comes next: a load, or a drain."""
        step, drain, tensor, _, _, feed, waiting = heapq.heappop(self._events)
        row, own = waiting.told.row, self._tensors[tensor]
        load = row[STAY_DRAIN if drain else STAY_FILL]
        if load:
            members = row[STAY_DRAIN_MEMBERS if drain else STAY_FILL_MEMBERS]
            group = drain, row[STAY_DRAIN_GROUP if drain else STAY_FILL_GROUP]
            number = own.shared(group) if members else None
            if number is None:
                touched = waiting.told.drains if drain else waiting.told.fills
                number = self._load(step, feed, load, touched, write=drain)
                if members:
                    own.share(group, members, number)
            row[STAY_DRAIN if drain else STAY_FILL] = number
        if drain or not row[STAY_DRAIN]:
            waiting.ready = True
        else:
            # behind what the last step takes in
            self._happens((row[STAY_LAST] + 1) * feed.inside - 1, feed, waiting, drain=True)
        if not drain:
            self._follow(feed)

    def _load(self, step: int, feed: _Feed, load: int, touched: Sequence[Touched], *, write: bool) -> int:
        """Look the blocks of a load up, each once, or write them; the number of the load that this makes it."""
        own = self._tensors[feed.tensor]
        bits = {number: one.bits for one in touched for number in own.blocks.of(one)}
        ordered = list(bits) if len(touched) == 1 else sorted(bits)
        if write:
            beyond = sum([self._write(feed.tensor, own, number, bits[number]) for number in ordered])
            return own.number(load, beyond, waits=False)
        beyond, waits = 0, False
        for number in ordered:
            block = number * len(self._tensors) + feed.tensor
            size = self._held.get(block)
            if size is not None:
                self._held.move_to_end(block)
                own.counts.hit += size
                # who brought it for itself has had it before it asks again; another's may still be on its way
                when, who = self._brought.get(block, (0, feed.number))
                waits = waits or (who != feed.number and step - when < feed.ahead)
                continue
            size = own.blocks.size_bytes(number, bits[number])
            own.counts.missed += size
            beyond += size + self._keep(block, size)
            if len(self._feeds) > len(self._tensors):
                self._brought[block] = step, feed.number
        return own.number(load, beyond, waits=waits)

    def _write(self, tensor: int, own: Cached, number: int, bits: int) -> int:
        block = number * len(self._tensors) + tensor
        before, size = self._held.pop(block, None), own.blocks.size_bytes(number, bits)
        self._used -= before or 0
        self._dirty.add(block)
        own.counts.written += size
        fetched = 0
        if own.adds:
            # what is added to has to be there
            fetched = size if before is None and number in own.written else 0
            own.counts.missed += fetched
            own.written.add(number)
        return fetched + self._keep(block, size)

    def _keep(self, block: int, size: int) -> int:
        """Take a block in; the bytes that are written back to make room for it."""
        self._held[block] = size
        self._used += size
        back = 0
        while self._used > self._capacity:
            back += self._let_go()
        return back

    def _let_go(self) -> int:
        """Give up the block that was asked for longest ago; the bytes that are written back."""
        block, size = self._held.popitem(last=False)
        self._used -= size
        self._brought.pop(block, None)
        if block not in self._dirty:
            return 0
        self._dirty.remove(block)
        self._tensors[block % len(self._tensors)].counts.back += size
        return size

    def counts(self) -> dict[str, CacheCounts]:
        """What it did for each tensor, once all stays have been read."""
        for own in self._tensors:
            own.counts.dirty = 0
        for block in self._dirty:
            self._tensors[block % len(self._tensors)].counts.dirty += self._held[block]
        return {own.name: own.counts for own in self._tensors}


class CachedStays:
    """The stays of a station that is fed through a cache: their loads say what passes the memory's port."""

    def __init__(self, cache: Cache, number: int) -> None:
        self._cache = cache
        self._number = number
        self._pace = walks.Pace(walks.DEAR)

    def rows(self) -> Ints:
        """The next stays."""
        return stay_rows(self._cache.take(self._number, self._pace.most()))
