"""Why at a moment: what a lane does in one cycle of a run, and the chain of waits behind it.

The readable driver runs until it has explained that cycle; a watcher only listens, as observers do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from accelsim.errors import Fault, SpecError, nearest
from accelsim.machine.network import Network, build_network
from accelsim.machine.simpy_driver import Machine
from accelsim.machine.state import DRAIN, SLOT, SOURCE, Leg, Piece, Residency, Run, parts_of
from accelsim.plan.schedule import Schedule
from accelsim.recorder import Recorder, RecordOptions
from accelsim.spec.case import Case
from accelsim.stalls import StallCause
from accelsim.timeline import TICKS, Lane, LaneKind

Ints = NDArray[np.int64]
LONGEST_CHAIN = 40


class Doing(Enum):
    """What a lane does in a cycle."""

    BUSY = "busy"
    STALLED = "stalled"
    IDLE = "idle"


class Reason(Enum):
    """What a tile's claim waited for last."""

    START = "the start of the run"
    SOURCE = "the tile that it comes from"
    SLOT = "the slot of an earlier tile"
    DRAIN = "a drain of the same elements"
    FOLLOWED = "the end of its last reader"


@dataclass(frozen=True)
class Tile:
    """A tile's stay at a level: the how-manieth of its tensor there, at which unit."""

    tensor: str
    level: str
    unit: int
    number: int


@dataclass(frozen=True)
class Passage:
    """A transfer at one port or link: when it asked, was served, and whose transfers were before it in between."""

    where: str
    asked: int
    begins: int
    ends: int
    ahead: tuple[str, ...]


@dataclass(frozen=True)
class Link:
    """One tile of the chain: when its slot was claimed, what for, and how what moved came through.

    ``drains``: it is on its way out, from when it was released (``claimed``) on. ``done``: ready, or arrived; None: not yet.
    ``reason``: why not claimed, or released, earlier; ``until``: the end of the array step that read who was in the way.
    """

    tile: Tile
    drains: bool
    claimed: int
    done: int | None
    passages: tuple[Passage, ...]
    reason: Reason
    until: int | None


@dataclass(frozen=True)
class Answer:
    """What a lane does in ``cycle``, from ``since`` until ``until``, for which tensor's sake ("" for none).

    ``stretches``: a stall's causes, latest first, without gap. ``chain``: what it waited for, the last link first. ``queue``: of
    a port or link, the transfers that were asked for and not yet served then.
    """

    lane: str
    cycle: int
    doing: Doing
    since: int
    until: int
    tensor: str
    stretches: tuple[Piece, ...] = ()
    chain: tuple[Link, ...] = ()
    queue: tuple[Passage, ...] = ()


class _Found(Exception):
    """The run need not go on."""


class Watcher:
    """Listens to a run until it has told what one lane did in one cycle (both of the machine's own time)."""

    def __init__(self, network: Network, lane: int, cycle: int, lead: int) -> None:
        self._network, self._lane, self._cycle, self._lead = network, lane, cycle, lead
        self._name = network.lanes[lane].name
        self._bookings: list[tuple[str, Passage]] = []
        self.answer: Answer | None = None

    # -- what the machine tells --------------------------------------------------------------------------------------

    def ran(self, array: int, start: int, end: int) -> None:
        """An array began a block of steps."""
        if array == self._lane and start <= self._cycle < end:
            self._found(Doing.BUSY, start, end, self._network.tensors[self._network.output])

    def waited(self, array: int, pieces: Sequence[Piece], since: int, until: int, label: int, last: Residency | None) -> None:
        """An array waited, for a residency to be ready or, at the end, to have drained."""
        if array != self._lane or not since <= self._cycle < until:
            return
        chain = () if last is None else tuple(_chain(self._network, last, last.ready < 0 or last.drained >= 0, self._lead))
        shifted = tuple(piece._replace(start=piece.start + self._lead, end=piece.end + self._lead) for piece in pieces)
        self._found(Doing.STALLED, since, until, self._network.tensors[label], shifted, chain)

    def booked(self, lane: int, leg: Leg, asked: int, begins: int, ends: int) -> None:
        """A port or link was booked for a transfer."""
        if lane == self._lane and begins <= ends:
            tensor = self._network.tensors[leg.spec.tensor]
            way = "drain" if leg.drains else "fill"
            where = f"{way} of {tensor} {'from' if leg.drains else 'to'} {leg.spec.level}[{leg.spec.unit}]"
            self._bookings.append((tensor, Passage(where, asked + self._lead, begins + self._lead, ends + self._lead, ())))

    def stepped(self, lane: int, array: int, label: int, writes: bool, asked: int, begins: int, ends: int) -> None:
        """A port was booked for what a step reads or writes."""
        if lane == self._lane and begins <= ends:
            tensor, of = self._network.tensors[label], self._network.array_lanes[array].name
            where = f"{of} {'writes' if writes else 'reads'} {tensor}"
            self._bookings.append((tensor, Passage(where, asked + self._lead, begins + self._lead, ends + self._lead, ())))

    # -- what follows ------------------------------------------------------------------------------------------------

    def close(self, cycles: int) -> Answer:
        """The answer after the run's end, when nothing else was told."""
        if self.answer is not None:
            return self.answer
        at = self._cycle + self._lead
        served = [(tensor, one) for tensor, one in self._bookings if one.begins <= at < one.ends]
        queue = tuple(one for _, one in self._bookings if one.asked <= at < one.begins)
        if served:
            tensor, one = served[0]
            return Answer(self._name, at, Doing.BUSY, one.begins, one.ends, tensor, queue=(one, *queue))
        before = max([one.ends for _, one in self._bookings if one.ends <= at], default=0)
        after = min([one.begins for _, one in self._bookings if one.begins > at], default=cycles)
        return Answer(self._name, at, Doing.IDLE, before, after, "")

    def _found(self, doing: Doing, since: int, until: int, tensor: str, stretches: tuple[Piece, ...] = (),
               chain: tuple[Link, ...] = ()) -> None:
        lead = self._lead
        self.answer = Answer(self._name, self._cycle + lead, doing, since + lead, until + lead, tensor, stretches, chain)
        raise _Found


def why(case: Case, cycle: int, lane: str | None = None, progress: Callable[[int], None] | None = None) -> Answer:
    """What a lane (default: the first array) does in a cycle of a case's run, and why.

    Of a channel that is simulated command by command it tells the bursts on its data bus, and nothing of who waits for it.
    Raises SpecError for a lane that there is not, and for a cycle beyond the end.
    """
    schedule = Schedule(case)
    network = build_network(schedule)
    lead = case.chip.launch_cycles
    number = _lane(network, lane)
    if cycle < lead:
        launch = Piece(StallCause.ISSUE, 0, lead, "launch", "")
        if network.lanes[number].kind is LaneKind.ARRAY:
            return Answer(network.lanes[number].name, cycle, Doing.STALLED, 0, lead, "", (launch,))
        return Answer(network.lanes[number].name, cycle, Doing.IDLE, 0, lead, "")
    watcher = Watcher(network, number, cycle - lead, lead)
    recorder = _Nearby(network.lanes, network.tensors, number, cycle - lead)
    machine = Machine(network, schedule, recorder, progress, watcher=watcher)
    try:
        cycles = machine.run() + lead
    except _Found:
        return watcher.close(0)
    if cycle >= cycles:
        raise SpecError([Fault("--at", 0, 0, "", f"the run of {case.operator.name} ends at cycle {cycles:,}",
                               f"0 to {cycles - 1}")])
    if number in _buses(network):
        return recorder.answer(lead, cycles)
    return watcher.close(cycles)


def _lane(network: Network, name: str | None) -> int:
    names = [lane.name for lane in network.lanes]
    number = 0 if name is None else names.index(name) if name in names else -1
    if number < 0:
        more = f" and {len(names) - 16} more" if len(names) > 16 else ""
        raise SpecError([Fault("--lane", 0, 0, "", f"no lane named '{name}'", ", ".join(names[:16]) + more,
                               nearest(name or "", names))])
    return number


def _buses(network: Network) -> frozenset[int]:
    """The lanes of channels that are simulated, which nobody books: only what passed them is known."""
    first = len(network.arrays)
    return frozenset(first + memory.first + bus for memory in network.memories for bus in range(memory.buses))


class _Nearby(Recorder):
    """Keeps, of one lane, what it did at one cycle of the machine's own time, and what came before and after that."""

    def __init__(self, lanes: Sequence[Lane], labels: Sequence[str], lane: int, cycle: int) -> None:
        super().__init__(lanes, labels, RecordOptions(most_rows=0, bins=2))
        self._lane, self._cycle = lane, cycle
        self._before, self._after = 0, -1
        self._found: tuple[int, int, int] | None = None

    def add(self, rows: Ints) -> None:
        """Add rows, int64[n, 5]."""
        super().add(rows)
        own = rows[rows[:, 0] == self._lane]
        first, last = own[:, 1] // TICKS, -(-own[:, 2] // TICKS)
        for since, until, label in zip(first.tolist(), last.tolist(), own[:, 4].tolist(), strict=True):
            if until <= self._cycle:
                self._before = max(self._before, until)
            elif since > self._cycle:
                self._after = since if self._after < 0 else min(self._after, since)
            elif self._found is None:
                self._found = since, until, label

    def answer(self, lead: int, cycles: int) -> Answer:
        """What was found, when the run is over; ``cycles``: how long it was, launch included."""
        name, at = self.lanes[self._lane].name, self._cycle + lead
        if self._found is not None:
            since, until, label = self._found
            return Answer(name, at, Doing.BUSY, since + lead, until + lead, self.labels[label])
        after = self._after + lead if self._after >= 0 else cycles
        return Answer(name, at, Doing.IDLE, self._before + lead, after, "")


def _chain(network: Network, last: Residency, drains: bool, lead: int) -> Iterator[Link]:
    """From what was waited for back to what nothing had to wait for, one tile a link."""
    node = last
    if drains and node.drain is not None:
        until = node.freed_why.hold_end + lead if isinstance(node.freed_why, Run) else None
        yield Link(_tile(network, node), True, node.released + lead, node.drained + lead if node.drained >= 0 else None,
                   tuple(_passages(network, node.drain, lead)), Reason.FOLLOWED, until)
        if until is not None or not isinstance(node.freed_why, Residency):
            return
        node = node.freed_why
    for _ in range(LONGEST_CHAIN):
        kind, who = node.why
        reason = {SOURCE: Reason.SOURCE, SLOT: Reason.SLOT, DRAIN: Reason.DRAIN}.get(kind, Reason.START)
        freed = None if who is None or reason is Reason.SOURCE else who.freed_why
        until = freed.hold_end + lead if isinstance(freed, Run) else None
        yield Link(_tile(network, node), False, node.claimed + lead, node.ready + lead if node.ready >= 0 else None,
                   () if node.fill is None else tuple(_passages(network, node.fill, lead)), reason, until)
        if who is not None and reason is not Reason.SOURCE and who.drain is not None:
            yield Link(_tile(network, who), True, who.released + lead, who.drained + lead if who.drained >= 0 else None,
                       tuple(_passages(network, who.drain, lead)), Reason.FOLLOWED, until)
        if who is None or until is not None:
            return
        node = freed if isinstance(freed, Residency) else who


def _tile(network: Network, node: Residency) -> Tile:
    spec = node.station.spec
    return Tile(network.tensors[spec.tensor], spec.level, spec.unit, node.seq)


def _passages(network: Network, leg: Leg, lead: int) -> Iterator[Passage]:
    for part in parts_of(leg):
        for hop, asked, begins, ends, _, ahead in part.bookings:
            if hop.resource >= 0:
                yield Passage(hop.name, asked + lead, begins + lead, ends + lead,
                              tuple(dict.fromkeys(network.tensors[label] for _, _, label, _ in reversed(ahead))))
