"""An array beside banks written once more, from the rules and in plain Python, cycle by cycle, for the kernel to agree with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from accelsim.spec.banks import Ports

Access = tuple[int, bool]
"""A bank, and whether it is written."""


def shared_out(asked: Sequence[bool], ports: Ports) -> list[bool]:
    """Which of some accesses of a bank are served in a cycle: ports of a kind for their kind; a port for either first for the
    kind that has fewer of its own (reads where both have as many); in order.
    """
    own = {False: ports.reads, True: ports.writes}
    either = ports.both
    served = [False] * len(asked)
    first = ports.writes < ports.reads
    for kind in (first, not first):
        for i, write in enumerate(asked):
            if write == kind and own[kind]:
                own[kind] -= 1
                served[i] = True
    for kind in (first, not first):
        for i, write in enumerate(asked):
            if write == kind and not served[i] and either:
                either -= 1
                served[i] = True
    return served


def left_after(asked: Sequence[bool], ports: Ports) -> list[bool]:
    return [write for write, served in zip(asked, shared_out(asked, ports), strict=True) if not served]


def alone(asked: Sequence[Access], ports: Sequence[Ports]) -> int:
    """Cycles until all is served, if nobody else asks."""
    longest = 1
    for bank in {bank for bank, _ in asked}:
        left = [write for one, write in asked if one == bank]
        cycles = 0
        while left:
            left = left_after(left, ports[bank])
            cycles += 1
        longest = max(longest, cycles)
    return longest


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
            told = shared_out([write for _, write in mine], ports)
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
                for access, served in zip(mine, self._on(free[bank], [write for _, write in mine], bank), strict=True):
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

    def _on(self, free: Ports, asked: Sequence[bool], bank: int) -> list[bool]:
        """As ``shared_out`` on the ports that are left; who comes first is told by all the bank's ports."""
        first = self.ports[bank].writes < self.ports[bank].reads
        own = {False: free.reads, True: free.writes}
        either = free.both
        served = [False] * len(asked)
        for kind in (first, not first):
            for i, write in enumerate(asked):
                if write != kind:
                    continue
                if own[kind]:
                    own[kind] -= 1
                    served[i] = True
                elif either:
                    either -= 1
                    served[i] = True
        return served
