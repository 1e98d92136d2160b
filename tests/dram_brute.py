"""A DRAM channel cycle by cycle: in each, every request is asked what it needs, and the rules whether it may have it.

One channel of one rank, rows kept open, no refresh; nothing is remembered from one cycle to the next but what was given.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from accelsim.machine.dram import Command
from accelsim.spec.dram import Dram
from accelsim.spec.dramtrace import Trace

from .dram_rules import READS, ROW, WRITES, least, length, places

LONGEST = 20_000


@dataclass
class Request:
    """A request of a trace, and when it entered, had its row opened (how many were before it) and its column command."""

    index: int
    write: bool
    bank: tuple[int, int]
    row: int
    column: int
    entered: int = -1
    opened: int = -1
    commanded: int = -1


@dataclass
class Channel:
    """What was given, which rows are open, how often each was hit, and who waits."""

    dram: Dram
    log: list[Command] = field(default_factory=list)
    rows: dict[tuple[int, int], int] = field(default_factory=dict)
    hits: dict[tuple[int, int], int] = field(default_factory=dict)
    active: list[Request] = field(default_factory=list)
    waiting: tuple[list[Request], list[Request]] = field(default_factory=lambda: ([], []))
    writing: bool = False
    second: list[Request] = field(default_factory=list)
    draining: int = 0

    def go_on(self, more: bool) -> None:
        """One request goes on into the second queue; ``more``: others come that can push out what is held back."""
        controller, (reads, writes) = self.dram.controller, self.waiting
        alone = controller.write_alone if more else 1
        if not self.draining and (len(writes) >= controller.write_high or (len(writes) >= alone and not self.second)):
            self.draining = len(writes)
        own = writes if self.draining else reads
        if own and len(self.second) < controller.second_queue:
            self.second.append(own.pop(0))
            self.draining -= own is writes

    def choose_in_second(self, cycle: int, buses: set[str]) -> None:
        """Give the command of the first in the second queue that may have one of ``buses`` now, if any may."""
        for i, one in enumerate(self.second):
            row = self.rows.get(one.bank)
            needed = "ACT" if row is None else ("WR" if one.write else "RD") if row == one.row else "PRE"
            hit = any(other.bank == one.bank and other.row == row for other in self.second)
            kept = hit and self.hits[one.bank] < self.dram.controller.row_hit_cap
            if needed == "PRE" and (kept or any(other.bank == one.bank for other in self.second[:i])):
                continue
            if self.give(one, needed, cycle, buses):
                if needed in READS | WRITES:
                    self.second.remove(one)
                return

    def choose(self, cycle: int, buses: set[str]) -> None:
        """Give the command of the first that may have one of ``buses`` now, if any may."""
        for one in sorted(self.active, key=lambda one: (one.entered, one.opened)):
            if self.give(one, "WR" if one.write else "RD", cycle, buses):
                self.active.remove(one)
                return
        reads, writes = (len(some) for some in self.waiting)
        controller = self.dram.controller
        if not self.writing:
            self.writing = writes >= controller.write_high or reads == 0
        elif writes <= controller.write_low and reads:
            self.writing = False
        own = self.waiting[self.writing]
        for one in list(own):
            needed = self.needs(one, own)
            if needed and self.give(one, needed, cycle, buses):
                if needed == "ACT":
                    one.opened = sum(told.name == "ACT" for told in self.log)
                    self.active.append(one)
                if needed != "PRE":
                    own.remove(one)
                return

    def needs(self, one: Request, own: list[Request]) -> str:
        """The command that a waiting request needs; "": others of its bank go first."""
        controller, row = self.dram.controller, self.rows.get(one.bank)
        others = [other for other in own if other.bank == one.bank]
        if row == one.row:
            return "WR" if one.write else "RD"
        if row is None:
            return "ACT" if others[0] is one else ""
        hits = [other for other in others if other.row == row]
        first = others[0] is one or (not controller.protect_hits and next(other for other in others if other.row != row) is one)
        kept = any(other.bank == one.bank for other in self.active) or (hits and self.hits[one.bank] < controller.row_hit_cap)
        return "PRE" if first and not kept else ""

    def give(self, one: Request, name: str, cycle: int, buses: set[str]) -> bool:
        """Give a command, if it may be given."""
        command = Command(cycle, name, 0, 0, 0, *one.bank, one.row, one.column)
        if ("row" if name in ROW else "column") not in buses or not allowed(self.dram, self.log, command):
            return False
        self.log.append(command)
        if name == "PRE":
            del self.rows[one.bank]
        elif name == "ACT":
            self.rows[one.bank], self.hits[one.bank] = one.row, 0
        else:
            self.hits[one.bank] += 1
            one.commanded = cycle
        return True


def allowed(dram: Dram, log: list[Command], command: Command) -> bool:
    """Whether a command may follow those that were given."""
    for one in log:
        apart = command.cycle - one.cycle
        if one.name != command.name:
            apart += length(dram, command.name) - length(dram, one.name)
        if any(apart < needed for needed, _ in least(dram, one, command)):
            return False
        shared = not dram.commands.two_buses or (one.name in ROW) == (command.name in ROW)
        if shared and command.cycle < one.cycle + length(dram, one.name):
            return False
    opened = [one.cycle for one in log if one.name == "ACT"]
    if command.name == "ACT" and len(opened) > 3 and command.cycle - opened[-4] < dram.timing.tFAW:
        return False
    carried = [start(dram, one) for one in log if one.name in READS | WRITES]
    return command.name in ROW or all(start(dram, command) >= other + dram.timing.BL for other in carried)


def start(dram: Dram, column: Command) -> int:
    """When the data of a column command begin."""
    return column.cycle + (dram.timing.CL if column.name in READS else dram.timing.CWL)


def brute(dram: Dram, trace: Trace) -> tuple[list[int], list[int]]:
    """When each request entered its queue and had its column command; one may enter in a cycle, after what was given in it."""
    place = places(dram, trace.addresses)
    coming = [Request(i, bool(trace.writes[i]), (int(place["bank_group"][i]), int(place["bank"][i])), int(place["row"][i]),
                      int(place["column"][i])) for i in range(len(trace.addresses))]
    requests, channel = list(coming), Channel(dram)
    for cycle in range(LONGEST):
        if dram.controller.second_queue:
            channel.go_on(bool(coming))
        if len(coming) < len(requests):
            for buses in ({"column"}, {"row"}) if dram.commands.two_buses else ({"column", "row"},):
                (channel.choose_in_second if dram.controller.second_queue else channel.choose)(cycle, buses)
        if coming and cycle >= trace.when[coming[0].index]:
            own = channel.waiting[coming[0].write]
            if len(own) < dram.controller.queue:
                coming[0].entered = cycle
                own.append(coming.pop(0))
        if not coming and not channel.active and not channel.second and not any(channel.waiting):
            return [one.entered for one in requests], [one.commanded for one in requests]
    raise AssertionError("it does not end")

