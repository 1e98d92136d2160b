"""What moves through the network while it runs: residencies, transfers and their bookings, runs of array steps."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from accelsim.machine.network import Hop, Resource, Route
from accelsim.plan.stays import Stay
from accelsim.stalls import StallCause
from accelsim.timeline import TICKS


def whole_cycle(ticks: int) -> int:
    """The cycle in which something at a tick is done: rounded up."""
    return -(-ticks // TICKS)


class Ahead(NamedTuple):
    """Who was served while a transfer waited at a port, from one cycle to another."""

    start: int
    end: int
    label: int
    unit: int


class Booking(NamedTuple):
    """One hop as a transfer passed it: cycles of arrival, of the start and end of service, and of being through."""

    hop: Hop
    arrival: int
    start: int
    end: int
    through: int
    ahead: tuple[Ahead, ...]


class ResourceState:
    """A resource and what it has booked. ``recent``: the last bookings, to tell a waiting transfer who is ahead."""

    __slots__ = ("free", "recent", "spec")

    def __init__(self, spec: Resource, depth: int) -> None:
        self.spec = spec
        self.free = 0
        self.recent: deque[Ahead] = deque(maxlen=depth)

    def book(self, cycle: int, size_bytes: int, setup_cycles: int) -> tuple[int, int]:
        """Book service behind what is booked; returns its first and end tick.

        Service lasts bytes / rate, rounded up to a sixteenth of a cycle, after the setup.
        """
        start = max(cycle * TICKS, self.free)
        spec = self.spec
        end = start + setup_cycles * TICKS - (-size_bytes * TICKS * spec.denominator // spec.numerator)
        self.free = end
        return start, end

    def ahead(self, cycle: int, start: int) -> tuple[Ahead, ...]:
        """Bookings that lie between an arrival and the start of its service, latest first."""
        found = []
        for booked in reversed(self.recent):
            if booked.end <= cycle:
                break
            found.append(Ahead(max(booked.start, cycle), min(booked.end, start), booked.label, booked.unit))
        return tuple(found)


TieKey = tuple[int, int, int, int, int]


class Leg:
    """A stretch of a transfer's way: its hops, the bytes through each, and what follows when its last hop is booked.

    ``before``: the leg it continues, None for the first. ``done`` is called with the leg when its last hop is booked.
    ``previous``: the piece before it of a transfer cut into chunks; ``served``: called at its first service.
    ``reaches``: cycle in which the first byte is at the next hop; ``through`` and ``latency`` of the hop last left.
    """

    __slots__ = ("before", "bookings", "done", "hops", "key", "label", "latency", "previous", "reaches", "requested", "served",
                 "sizes", "through", "unit")

    def __init__(self, hops: Route, sizes: tuple[int, ...], key: TieKey, label: int, unit: int, before: Leg | None,
                 requested: int, done: Callable[[Leg], None]) -> None:
        self.hops = hops
        self.sizes = sizes
        self.key = key
        self.label = label
        self.unit = unit
        self.before = before
        self.requested = requested
        self.done = done
        self.bookings: list[Booking] = []
        self.previous: Leg | None = None
        self.served: Callable[[], None] | None = None
        self.reaches: int = requested if before is None else before.reaches
        self.through: int = requested if before is None else before.through
        self.latency: int = 0 if before is None else before.latency

    def book(self, hop: Hop, arrival: int, start: int, end: int, ahead: tuple[Ahead, ...]) -> None:
        """A hop was booked: through no earlier than through the one before and its latency."""
        through = self.through + self.latency
        if end > through:
            through = end
        self.bookings.append(Booking(hop, arrival, start, end, through, ahead))
        self.through = through
        self.latency = hop.latency_cycles
        self.reaches = start + hop.latency_cycles

    @property
    def arrived(self) -> int:
        """Cycle in which all of it has arrived: through, and the last hop's latency over."""
        return self.through + self.latency


class Run:
    """A block of array steps as it ran."""

    __slots__ = ("array", "hold_end", "output_end", "start")

    def __init__(self, array: int, start: int, hold_end: int, output_end: int) -> None:
        self.array = array
        self.start = start
        self.hold_end = hold_end
        self.output_end = output_end


class Residency:
    """A residency in its slot. Times are cycles, -1 until they happen.

    ``claim_why`` and ``freed_why`` say what let it claim and what ended its last reader: blame follows them.
    ``before``: the residency before it, until this one is ready. ``sink``: the parent's residency that its drain goes to;
    ``unheld``: it no longer holds its source, as the drain goes to a later one.
    """

    __slots__ = ("arrived", "before", "claim_why", "claimed", "drain", "drained", "fill", "followed", "freed_why", "pending",
                 "readers", "ready", "released", "sink", "slot_free", "source", "station", "stay", "unheld")

    def __init__(self, station: int, stay: Stay, source: Residency | None, claimed: int, claim_why: Why,
                 pending: int, sink: int = 0) -> None:
        self.station = station
        self.stay = stay
        self.source = source
        self.sink = sink
        self.unheld = False
        self.claimed = claimed
        self.claim_why = claim_why
        self.pending = pending
        self.readers = 0
        self.ready = -1
        self.released = -1
        self.slot_free = -1
        self.drained = -1
        self.fill: Leg | None = None
        self.drain: Leg | None = None
        self.freed_why: Residency | Run | None = None
        # a tile that overlaps the one before is whole when that one is
        self.before: Residency | None = None
        self.arrived = False
        self.followed = False

    def forget(self) -> None:
        """Let go of the chain behind it, which blame follows only while it is in its slot."""
        if self.freed_why is not None:
            self.source = self.before = self.fill = None
            self.claim_why = Why(START, None)


class Why(NamedTuple):
    """What a claim waited for last: the start of the run, a source tile, a slot's holder or a drain."""

    kind: str
    who: Residency | None


START, SOURCE, SLOT, DRAIN = "start", "source", "slot", "drain"


class Piece(NamedTuple):
    """A stretch of waiting with its cause; ``where`` and ``whose`` name what was in the way."""

    cause: StallCause
    start: int
    end: int
    where: str
    whose: str
