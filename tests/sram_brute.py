"""Banks and caches written once more, from the rules and in plain Python: what the kernels are compared with."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product

from accelsim.spec.banks import Ports

Access = tuple[int, bool]
"""A word, and whether it is written."""


@dataclass
class Asking:
    """A requester: (gap, accesses) of each vector, and where it stands."""

    vectors: Sequence[tuple[int, Sequence[Access]]]
    next: int = 0
    start: int = -1
    may: int = 0
    left: list[Access] = field(default_factory=list)
    done: int = -1
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)


@cache
def at_once(reads: int, writes: int, both: int) -> tuple[tuple[int, int], ...]:
    """How many reads and writes so many free ports can serve in a cycle: every port idle or used, in every way that it may be."""
    ways = [*[((0, 0), (1, 0))] * reads, *[((0, 0), (0, 1))] * writes, *[((0, 0), (1, 0), (0, 1))] * both]
    return tuple({(sum(read for read, _ in used), sum(write for _, write in used)) for used in product(*ways)})


@cache
def soonest(reads: int, writes: int, ports: Ports) -> int:
    """Cycles that so many accesses of a bank take at the least: every cycle tried in every way."""
    if not reads and not writes:
        return 0
    return 1 + min(soonest(max(0, reads - r), max(0, writes - w), ports) for r, w in at_once(
        ports.reads, ports.writes, ports.both) if min(r, reads) or min(w, writes))


def taken(reads: int, writes: int, left: dict[str, int], ports: Ports) -> tuple[int, int]:
    """What a bank serves of so many reads and writes of a vector with the ports it has left: as many as it can; of those, what
    leaves the rest to be done soonest; of those, most reads.
    """
    able = [(r, w) for r, w in at_once(left["r"], left["w"], left["b"]) if r <= reads and w <= writes]
    most = max(r + w for r, w in able)
    return min((soonest(reads - r, writes - w, ports), -r, (r, w)) for r, w in able if r + w == most)[2]


def alone(accesses: Sequence[Access], bank_of: dict[int, int], ports: Ports, *, any_kind: bool) -> int:
    """Cycles of a vector that nobody disturbs, bank by bank."""
    longest = 1
    for bank in {bank_of[word] for word, _ in accesses}:
        reads = len({word for word, write in accesses if not write and bank_of[word] == bank})
        writes = len({word for word, write in accesses if write and bank_of[word] == bank})
        longest = max(longest, soonest(reads, writes, Ports(both=ports.count) if any_kind else ports))
    return longest


def replayed(count: int, grain: int, ports: Ports, requesters: Sequence[Sequence[tuple[int, Sequence[Access]]]], *,
             round_robin: bool) -> dict[str, object]:
    """Cycle after cycle: who is served at which bank."""
    asking = [Asking(vectors, may=vectors[0][0] if vectors else 0) for vectors in requesters]
    words = {word for vectors in requesters for _, accesses in vectors for word, _ in accesses}
    bank_of = {word: word // grain % count for word in words}
    lost = [[0, 0, 0] for _ in asking]
    reads, writes = Counter[int](), Counter[int]()
    front = dict.fromkeys(range(count), 0)
    now = 0
    while any(one.next < len(one.vectors) for one in asking):
        for one in asking:
            if one.start < 0 and one.next < len(one.vectors) and now >= one.may:
                one.start = now
                one.left = sorted(set(one.vectors[one.next][1]))
        for bank in range(count):
            left = {"r": ports.reads, "w": ports.writes, "b": ports.both}
            first = None
            for step in range(len(asking)):
                number = (front[bank] + step) % len(asking)
                one = asking[number]
                if one.start < 0:
                    continue
                here = [access for access in one.left if bank_of[access[0]] == bank]
                asked = [[access for access in here if access[1] is write] for write in (False, True)]
                for kind, those, many in zip("rw", asked, taken(len(asked[0]), len(asked[1]), left, ports), strict=True):
                    for access in those[:many]:
                        left[kind if left[kind] else "b"] -= 1
                        one.left.remove(access)
                        (writes if access[1] else reads)[bank] += 1
                        first = number if first is None else first
            if round_robin and first is not None:
                front[bank] = (first + 1) % len(asking)
        for number, one in enumerate(asking):
            if one.start >= 0 and not one.left:
                accesses = one.vectors[one.next][1]
                room = one.vectors[one.next + 1][0] if one.next + 1 < len(one.vectors) else 1
                own = max(0, alone(accesses, bank_of, ports, any_kind=True) - room)
                kind_ = max(0, alone(accesses, bank_of, ports, any_kind=False) - room) - own
                excess = max(0, now - one.start + 1 - room)
                for place, value in enumerate((own, kind_, excess - own - kind_)):
                    lost[number][place] += value
                one.may, one.start, one.done, one.next = max(one.start + room, now + 1), -1, now, one.next + 1
        now += 1
    return {"cycles": now if any(requesters) else 0, "done": [one.done + 1 for one in asking], "lost": lost,
            "reads": [reads[bank] for bank in range(count)], "writes": [writes[bank] for bank in range(count)]}


def cached(sets: int, ways: int, line_bytes: int, outstanding: int, lookups: int, hit: int, latency: int,
           rates: tuple[float | None, float | None], shared: bool, owners: Sequence[int],
           vectors: Sequence[tuple[int, Sequence[Access]]]) -> dict[str, object]:
    """A cache access by access. ``owners``: the tensor of each line. Rates divide sixteenths of a cycle evenly."""
    held: list[OrderedDict[int, bool]] = [OrderedDict() for _ in range(sets)]
    full: OrderedDict[int, None] = OrderedDict()
    seen: set[int] = set()
    come: dict[int, int] = {}
    told = [Counter[str]() for _ in range(max(owners, default=0) + 1)]
    flying: list[int] = []
    taken_at: list[int] = []
    busy = [0.0, 0.0]
    now = done = made = in_flight = full_misses = last = 0

    def moves(asked: int, way: int) -> float:
        port = 0 if shared else way
        rate = rates[way]
        busy[port] = max(busy[port], asked) + (0 if rate is None else line_bytes / rate)
        return busy[port]

    for number, (gap, accesses) in enumerate(vectors):
        done += gap
        back = number - outstanding - hit
        if back >= 0 and taken_at[back] > now:
            now, made = taken_at[back], 0
        for line, write in sorted(set(accesses)):
            if made == lookups:
                now, made = now + 1, 0
            own = told[owners[line]]
            own["writes" if write else "reads"] += 1
            in_full = line in full
            full[line] = None
            full.move_to_end(line)
            if len(full) > sets * ways:
                full.popitem(last=False)
            full_misses += not in_full
            where = held[line % sets]
            if line in where:
                own["hits"] += 1
                in_flight += come[line] > now + hit
                where.move_to_end(line)
            else:
                if len(flying) >= outstanding and flying[-outstanding] > now:
                    now, made = flying[-outstanding], 0
                own["conflict" if in_full else "capacity" if line in seen else "cold"] += 1
                seen.add(line)
                come[line] = int(-(-moves(now + hit, 0) // 1)) + latency
                flying.append(come[line])
                where[line] = False
                if len(where) > ways:
                    victim, dirty = where.popitem(last=False)
                    if dirty:
                        told[owners[victim]]["back"] += 1
                        moves(now + hit, 1)
            made += 1
            if write:
                where[line] = True
                done = max(done, now)
            else:
                done = max(done, now + hit, come[line])
        taken_at.append(done)
    last = done + 1
    for where in held:
        for line, dirty in where.items():
            if dirty:
                told[owners[line]]["flushed"] += 1
                moves(done + 1, 1)
    ends = [int(-(-one // 1)) for one in busy]
    return {"array": last if vectors else 0, "cycles": max(last, *ends, *flying, 0) if vectors else 0, "told": told,
            "in_flight": in_flight, "full_misses": full_misses}
