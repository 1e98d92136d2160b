"""An array beside banks written once more, from the rules and in plain Python, cycle by cycle, for the kernel to agree with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from accelsim.spec.banks import Ports

Access = tuple[int, bool]
"""A bank, and whether it is written."""


@cache
def least(reads: int, writes: int, ports: Ports) -> int:
    """Cycles until so many are served, whatever is tried in each."""
    if not reads + writes:
        return 0
    return 1 + min(least(reads - of_reads, writes - of_writes, ports) for of_reads, of_writes in splits(reads, writes, ports))


def splits(reads: int, writes: int, free: Ports) -> list[tuple[int, int]]:
    """How many reads and writes some ports may serve at once, none left idle that could serve one; most reads first."""
    found = [(r, w) for r in range(reads, -1, -1) for w in range(writes + 1)
             if max(0, r - free.reads) + max(0, w - free.writes) <= free.both]
    most = max((r + w for r, w in found), default=0)
    return [(r, w) for r, w in found if r + w == most]


def shared_out(asked: Sequence[bool], free: Ports, ports: Ports) -> list[bool]:
    """Which of some accesses of a bank are served in a cycle by the ports that are left: as many as can be, so that the rest is
    done soonest alone, of those ways the one with most reads; in order.
    """
    reads, writes = asked.count(False), asked.count(True)
    left = dict(zip((False, True), min(splits(reads, writes, free), key=lambda one: (
        least(reads - one[0], writes - one[1], ports), -one[0])), strict=True))
    served = []
    for write in asked:
        served.append(left[write] > 0)
        left[write] -= left[write] > 0
    return served


def alone(asked: Sequence[Access], ports: Sequence[Ports]) -> int:
    """Cycles until all is served, if nobody else asks."""
    return max([1, *(least(asked.count((bank, False)), asked.count((bank, True)), ports[bank]) for bank, _ in asked)])


@dataclass
class Clock:
    """An array's own clock. ``asked``: by its own time; ``stops``: times that it may not go past while something is pending;
    ``moved``: words of transfers by cycle. ``shown``: what it showed at the beginning of each cycle, ``idle``: whether
    nothing was pending then.
    """

    ports: Sequence[Ports]
    memory: Sequence[int]
    asked: Mapping[int, Sequence[Access]]
    stops: frozenset[int]
    moved: Mapping[int, Sequence[Access]]
    own: int = 0
    pending: list[Access] = field(default_factory=list)
    waiting: list[Access] = field(default_factory=list)
    alone: int = 0
    served: int = 0
    lost: dict[tuple[int, str], int] = field(default_factory=dict)
    shown: list[int] = field(default_factory=list)
    idle: list[bool] = field(default_factory=list)

    def cycle(self, now: int) -> None:
        self.shown.append(self.own)
        self.idle.append(not self.pending)
        self.waiting += self.moved.get(now, ())
        free = list(self.ports)
        for bank, ports in enumerate(self.ports):
            mine = [access for access in self.waiting if access[0] == bank]
            told = shared_out([write for _, write in mine], ports, ports)
            for access, served in zip(mine, told, strict=True):
                if served:
                    self.waiting.remove(access)
            free[bank] = self._without([write for (_, write), served in zip(mine, told, strict=True) if served], ports)
        stands = bool(self.pending) and (self.own in self.asked or self.own in self.stops)
        if not stands and self.own in self.asked:
            self.pending = list(self.asked[self.own])
            self.alone, self.served = alone(self.pending, self.ports), 0
        if stands:
            why = "own" if self.served < self.alone else "transfers"
            key = self.memory[self.pending[0][0]], why
            self.lost[key] = self.lost.get(key, 0) + 1
        if self.pending:
            for bank in range(len(self.ports)):
                mine = [access for access in self.pending if access[0] == bank]
                told = shared_out([write for _, write in mine], free[bank], self.ports[bank])
                for access, served in zip(mine, told, strict=True):
                    if served:
                        self.pending.remove(access)
            self.served += 1
        self.own += not stands

    @staticmethod
    def _without(served: Sequence[bool], ports: Ports) -> Ports:
        """The ports that are left by accesses that were served, which took ports of their kind first."""
        reads, writes = served.count(False), served.count(True)
        either = max(0, reads - ports.reads) + max(0, writes - ports.writes)
        return Ports(max(0, ports.reads - reads), max(0, ports.writes - writes), ports.both - either)
