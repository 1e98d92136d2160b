"""What moves through the network while it runs: transfers and their bookings, residencies, runs of array steps."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from accelsim.machine.network import Hop, Resource, Route
from accelsim.machine.outcomes import Mix
from accelsim.stalls import StallCause
from accelsim.timeline import TICKS

if TYPE_CHECKING:
    from accelsim.machine.stations import StationState


Observer = Callable[[int, str, int, str, int, int], None]
"""Told of every event of a residency: cycle, what, entry, tensor, unit, residency. It only watches."""

class Watcher(Protocol):
    """Told what an array did and waited for, and what ports were booked for. It only watches; what it raises ends the run."""

    def ran(self, array: int, start: int, end: int) -> None:
        """A block of steps began."""
        ...

    def waited(self, array: int, pieces: Sequence[Piece], since: int, until: int, label: int, last: Residency | None) -> None:
        """A wait for a residency is over, and what it is blamed on."""
        ...

    def booked(self, lane: int, leg: Leg, asked: int, begins: int, ends: int) -> None:
        """A port or link will serve a transfer from a cycle to another."""
        ...

    def stepped(self, lane: int, array: int, label: int, writes: bool, asked: int, begins: int, ends: int) -> None:
        """A port will serve an array's step: what it reads, or writes, of a tensor."""
        ...


Ahead = tuple[int, int, int, int]
"""Who was served while a transfer waited at a port: from one cycle to another, a tensor's number and a unit."""

Booking = tuple[Hop, int, int, int, int, tuple[Ahead, ...]]
"""One hop as a transfer passed it: cycles of arrival, of the start and end of service and of being through; who was ahead."""


class ResourceState:
    """A resource and what it has booked. ``recent``: the last bookings, to tell a waiting transfer who is ahead."""

    __slots__ = ("free", "lane", "recent")

    def __init__(self, depth: int, lane: int) -> None:
        self.lane = lane
        self.free = 0
        self.recent: deque[Ahead] = deque(maxlen=depth)

    def ahead(self, cycle: int, start: int) -> tuple[Ahead, ...]:
        """Bookings that lie between an arrival and the start of its service, latest first."""
        found = []
        for since, until, label, unit in reversed(self.recent):
            if until <= cycle:
                break
            found.append((max(since, cycle), min(until, start), label, unit))
        return tuple(found)


def service_ticks(resource: Resource, size_bytes: int, setup_cycles: int) -> int:
    """How long a resource serves a transfer: bytes / rate, rounded up to a sixteenth of a cycle, after the set-up."""
    return setup_cycles * TICKS - (-size_bytes * TICKS * resource.denominator // resource.numerator)


TieKey = tuple[int, int, int, int, int]


class Leg:
    """A stretch of a transfer's way: its hops, the ticks each serves it, and what follows when its last hop is booked.

    ``before``: the leg it continues, None for the first. ``done`` is called with the leg when its last hop is booked.
    ``previous``: the piece before it of a transfer cut into chunks; ``served``: called at its first service,
    with the cycle of its end. ``piece``: which it is, of how many.
    ``reaches``: cycle in which the first byte is at the next hop; ``through`` and ``latency`` of the hop last left.
    ``row``: of the last row that it has in the record, the lane and the first tick.
    ``channels``: how it stands with a memory whose channels are simulated.
    """

    __slots__ = ("_residency", "before", "bookings", "channels", "done", "hops", "key", "latency", "piece", "previous",
                 "reaches", "requested", "row", "served", "spec", "through", "ticks")

    def __init__(self, hops: Route, ticks: tuple[int, ...], key: TieKey, residency: Residency, before: Leg | None, requested: int,
                 done: Callable[[Leg], None]) -> None:
        self.hops = hops
        self.ticks = ticks
        self.key = key
        self._residency: Residency | None = residency
        self.spec = residency.station.spec
        self.before = before
        self.requested = requested
        self.done = done
        self.bookings: list[Booking] = []
        self.previous: Leg | None = None
        self.served: Callable[[Leg, int], None] | None = None
        self.piece = (0, 1)
        self.channels: Asked | None = None
        self.row: tuple[int, int] | None = None
        if before is None:
            self.reaches = self.through = requested
            self.latency = 0
        else:
            self.reaches, self.through, self.latency = before.reaches, before.through, before.latency

    @property
    def drains(self) -> bool:
        """Whether it moves outward."""
        return self.key[2] == 1

    def let_go(self) -> Residency:
        """The residency it moved something for, which from now on knows it, and not the other way round."""
        residency, self._residency = self._residency, None
        assert residency is not None, "it lets go once"
        return residency

    @property
    def arrived(self) -> int:
        """Cycle in which all of it has arrived: through, written where channels do so, and the last hop's latency over."""
        asked = self.channels
        return (self.through if asked is None else max(self.through, asked.ended)) + self.latency

    @property
    def residency(self) -> Residency:
        """What it moves something for, until it lets go of that."""
        assert self._residency is not None
        return self._residency


class Asked:
    """What a leg asked of channels: the cycles in which it did and in which its last data moved (-1: not yet), how it waited, and
    who waits for its end.
    """

    __slots__ = ("cycle", "ended", "mixes", "waiting")

    def __init__(self, cycle: int) -> None:
        self.cycle = cycle
        self.ended = -1
        self.mixes: tuple[Mix, Mix] | None = None
        self.waiting: list[Callable[[], None]] = []


class Run:
    """A block of array steps as it ran. ``early`` and ``late``: what it reads and will be done with; then it lets go of them."""

    __slots__ = ("array", "early", "hold_end", "late")

    def __init__(self, array: int, hold_end: int, early: list[Residency], late: list[Residency]) -> None:
        self.array = array
        self.hold_end = hold_end
        self.early = early
        self.late = late


class Residency:
    """A residency in its slot. Times are cycles, -1 until they happen.

    ``row``: the stay, in the plan's columns. ``why`` and ``freed_why`` say what let it claim and what ended its last reader:
    blame follows them. ``before``: the residency before it, until this one is ready. ``sink``: the parent's residency at its
    last step; ``outlives``: that is a later one than its source, which it lets go of when it is ready; ``outlived``: how many
    of those that did so may still be explained by what it has behind it. ``pieces_left``, ``latest``: of what moves, the pieces
    that are not known to arrive yet, and when the last of the others do. ``loaded``: of registers filled from simulated banks,
    the array's own time of the first word, and the cycle that it was booked for.
    """

    __slots__ = ("arrived", "before", "claimed", "drain", "drained", "fill", "followed", "freed_why", "latest", "loaded",
                 "outlived", "outlives", "pending", "pieces_left", "readers", "ready", "released", "row", "seq", "sink",
                 "slot_free", "source", "station", "why")

    def __init__(self, station: StationState, row: list[int], seq: int, source: Residency | None, claimed: int, why: Why,
                 pending: int, sink: int) -> None:
        self.station = station
        self.row = row
        self.seq = seq
        self.source = source
        self.sink = sink
        self.outlives = source is not None and sink != source.seq
        self.outlived = 0
        self.claimed = claimed
        self.why = why
        self.pending = pending
        self.readers = 0
        self.ready = self.released = self.slot_free = self.drained = -1
        self.fill: Leg | None = None
        self.drain: Leg | None = None
        self.freed_why: Residency | Run | None = None
        # a tile that overlaps the one before is whole when that one is
        self.before: Residency | None = None
        self.arrived = False
        self.followed = False
        self.pieces_left = 0
        self.latest = -1
        self.loaded: tuple[int, int] | None = None

    def forget(self) -> None:
        """Let go of the chain behind it, which blame follows no more once it is out of its slot.

        But one that was released as soon as it was ready explains who got its slot, and one that was outlived those who did.
        """
        node: Residency | None = self
        outlived = False
        while node is not None:
            source = node.source
            if not node.explains():
                node.source = node.before = node.fill = None
                node.why = FROM_START
                if node.outlives and source is not None:
                    source.count_outlived(-1)
                    outlived = True
            # those that were kept for its sake alone go with it
            node = source if outlived else None

    def explains(self) -> bool:
        """Whether blame may still come to the chain behind it."""
        return self.slot_free < 0 or bool(self.outlived) or (self.freed_why is None and self.released == self.ready)

    def count_outlived(self, more: int) -> None:
        """So many more outlive it, which are explained by it, by what it came from, and so on."""
        node: Residency | None = self
        while node is not None:
            node.outlived += more
            node = node.source


def parts_of(leg: Leg) -> list[Leg]:
    """The legs of a transfer, first to last."""
    parts = [leg]
    while parts[-1].before is not None:
        parts.append(parts[-1].before)
    return parts[::-1]


def settle(leg: Leg) -> None:
    """Work out again when a leg's data were through each hop, now that its first hop is known to the end."""
    through, latency = 0, 0
    for part in parts_of(leg):
        for place, (hop, arrival, start, end, _, ahead) in enumerate(part.bookings):
            through = max(end, through + latency)
            latency = hop.latency_cycles
            part.bookings[place] = hop, arrival, start, end, through, ahead
    leg.through, leg.latency = through, latency


START, SOURCE, SLOT, DRAIN = range(4)
Why = tuple[int, "Residency | None"]
"""What a claim waited for last: the start of the run, a source tile, a slot's holder or a drain; and who that was."""
FROM_START: Why = (START, None)


class Piece(NamedTuple):
    """A stretch of waiting with its cause; ``where`` and ``whose`` name what was in the way."""

    cause: StallCause
    start: int
    end: int
    where: str
    whose: str
