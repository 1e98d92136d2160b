"""Stations as they run: residencies that claim slots as soon as they may (rules 1 and 2), and are released (rule 5)."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from accelsim.kernels.columns import (
    STAY_AFTER,
    STAY_DRAIN,
    STAY_FILL,
    STAY_FIRST,
    STAY_REFILL,
    STAY_SINK,
    STAY_SOURCE,
    STAY_TILE,
    STAY_WIDTH,
)
from accelsim.machine.network import Station
from accelsim.machine.state import DRAIN, FROM_START, SLOT, SOURCE, Residency, Run, Why
from accelsim.plan.streams import StayStream, singly

if TYPE_CHECKING:
    from accelsim.machine.arrays import ArrayState
    from accelsim.machine.simpy_driver import Machine
    from accelsim.machine.ways import Ways


class StationState:
    """A station while it runs: the next stay, those in slots, and those still draining.

    ``after``: the residency whose drain must be back before the next may claim, -1: none.
    """

    __slots__ = ("after", "arrays", "awaited", "children", "claims", "draining", "followers", "follows", "home", "last",
                 "last_drained", "live", "machine", "next", "number", "output", "owing", "parent", "queued", "recent", "spec",
                 "stays", "stranded", "ways")

    def __init__(self, machine: Machine, number: int, spec: Station, stream: StayStream) -> None:
        self.machine = machine
        self.number = number
        self.spec = spec
        self.home = spec.parent < 0
        self.output = spec.tensor == machine.network.output
        self.queued = True
        self.claims = 0
        self.recent: deque[Residency] = deque(maxlen=spec.buffers)
        self.live: dict[int, Residency] = {}
        self.draining: dict[int, Residency] = {}
        self.last: Residency | None = None
        self.awaited: Residency | None = None
        self.after = -1
        # output tiles kept over several stays of the parent's: their drains go to a later one, and may have to wait for it
        self.owing: list[Residency] = []
        self.stranded: list[Residency] = []
        self.last_drained: Residency | None = None
        self.children: list[StationState] = []
        self.follows: list[StationState] = []
        self.followers: list[StationState] = []
        self.arrays: list[ArrayState] = []
        self.parent: StationState
        self.ways: Ways
        self.next: list[int] | None = None
        self.stays = singly(stream)
        if self.home:
            home = Residency(self, [0] * STAY_WIDTH, 0, None, 0, FROM_START, 1, 0)
            home.ready = 0
            self.live[0] = self.last = home
        else:
            self._look()

    @property
    def reading(self) -> int | None:
        """The parent's residency that the next stay reads; None when there is no next."""
        return self.next[STAY_SOURCE] if self.next is not None else None

    def _look(self) -> None:
        """Look at the next stay, and for whose drain it has to wait."""
        self.next = row = next(self.stays, None)
        self.after = -1
        if row is not None and row[STAY_REFILL]:
            self.after = row[STAY_AFTER] if row[STAY_TILE] < 0 else self._unfinished(row[STAY_TILE])

    def _unfinished(self, tile: int) -> int:
        """The residency of a tile that is in a slot or draining; -1 where there is none."""
        found = -1
        for group in (self.live, self.draining):
            for seq, residency in group.items():
                if residency.row[STAY_TILE] == tile:
                    found = max(found, seq)
        return found

    # -- claims (rules 1 and 2) ---------------------------------------------------------------------------------

    def claim(self) -> bool:
        """Claim the next slot if its conditions hold."""
        row = self.next
        if row is None:
            return False
        recent = self.recent
        held = recent[0] if len(recent) == recent.maxlen else None
        if held is not None and held.slot_free < 0:
            return False
        reading = row[STAY_SOURCE]
        source = self.parent.live.get(reading)
        if source is None or source.ready < 0:
            return False
        after = self.after
        if after >= 0 and (after in self.live or after in self.draining):
            return False
        followed: Residency | None = None
        for other in self.follows:
            if not other.has_for(row[STAY_FIRST]):
                return False
            one = other.latest_for(row[STAY_FIRST])
            if one is not None and (followed is None or one.ready > followed.ready):
                followed = one
        seq, sink, machine = self.claims, row[STAY_SINK], self.machine
        self.claims = seq + 1
        residency = Residency(self, row, seq, source, machine.now, self._why(source, held, followed), self._unread(seq), sink)
        residency.before = self.last
        source.readers += 1
        if self.output and residency.outlives:
            self.owing.append(residency)
            later = self.parent.live.get(sink)
            if later is not None:
                later.readers += 1
        recent.append(residency)
        self.live[seq] = self.last = residency
        self.awaited = None
        for child in self.children:
            if child.owing:
                # children claimed from an earlier residency, whose drains will go to this one
                residency.readers += sum([one.sink == seq for one in child.owing])
        if machine.observer is not None:
            machine.tell("claimed", residency)
        self._look()
        following = self.reading
        if following != reading:
            self.parent.pass_by(reading, following)
        if row[STAY_FILL]:
            machine.transfers.fill(residency)
        else:
            self.filled(residency)
        return True

    def latest_for(self, step: int) -> Residency | None:
        """The residency that holds a step's tile; None where none is in a slot."""
        for seq in range(self.claims - 1, max(-1, self.claims - 1 - self.spec.buffers), -1):
            residency = self.live.get(seq)
            if residency is not None and residency.row[STAY_FIRST] <= step:
                return residency
        return None

    def has_for(self, step: int) -> bool:
        """Whether a step's tile is here, or has been."""
        if self.next is not None and self.next[STAY_FIRST] <= step:
            return False
        residency = self.latest_for(step)
        return residency is None or residency.ready >= 0

    def _why(self, source: Residency, held: Residency | None, followed: Residency | None) -> Why:
        """What came last of what the claim waited for; a claim that waited for the one before shares its reason."""
        latest = source.ready
        found: Why = (SOURCE, source) if latest > 0 else FROM_START
        if held is not None and held.slot_free > latest:
            found, latest = (SLOT, held), held.slot_free
        if followed is not None and followed.ready > latest:
            found, latest = (SOURCE, followed), followed.ready
        drain = self.awaited
        if drain is not None and drain.drained > latest:
            found, latest = (DRAIN, drain), drain.drained
        before = self.last
        if before is not None and before.claimed > latest:
            found = before.why
        return found

    def _unread(self, seq: int) -> int:
        """Readers that have not gone past a residency."""
        unread = 0
        for child in self.children:
            following = child.next
            if following is not None and following[STAY_SOURCE] <= seq:
                unread += 1
        for array in self.arrays:
            unread += array.reads(self.number, seq)
        return unread

    def pass_by(self, left: int, reading: int | None) -> None:
        """A reader went from residency ``left`` to ``reading`` (None: to the end): those it passes have one fewer to come."""
        live = self.live
        for seq in (range(left, reading) if reading is not None else [seq for seq in live if seq >= left]):
            residency = live.get(seq)
            if residency is not None:
                residency.pending -= 1
                if not residency.pending and not residency.readers:
                    self.check_release(residency)

    def filled(self, residency: Residency) -> None:
        """All that had to move in has; what the tile shares with the one before may still be on its way."""
        if residency.row[STAY_FILL] and not residency.arrived:
            self.ways.under_way -= self.ways.payload[residency.row[STAY_FILL]]
        before = residency.before
        if before is not None and before.ready < 0 and not self.output:
            before.followed = True
            residency.arrived = True
            return
        if not residency.arrived:
            residency.before = None
        self._ready(residency)
        source = residency.source
        if residency.outlives and source is not None:
            source.count_outlived(1)
            source.station.reader_done(source, None)
        if not residency.pending and not residency.readers:
            self.check_release(residency)

    def _ready(self, residency: Residency) -> None:
        """A residency's tile is all there."""
        machine = self.machine
        residency.ready = machine.now
        if machine.observer is not None:
            machine.tell("ready", residency)
        for child in self.children:
            machine.wake(child)
        for follower in self.followers:
            machine.wake(follower)
        for array in self.arrays:
            machine.wake_array(array)
        for child in self.children:
            if child.stranded:
                for one in [one for one in child.stranded if one.sink == residency.seq]:
                    child.stranded.remove(one)
                    machine.transfers.drain(one)
        if residency.followed:
            after = self.live.get(residency.seq + 1)
            if after is not None and after.arrived:
                self.filled(after)

    # -- releases (rule 5) --------------------------------------------------------------------------------------

    def reader_done(self, residency: Residency, who: Residency | Run | None) -> None:
        """A reader of a residency is done with it (None: though it goes on itself)."""
        residency.readers -= 1
        residency.freed_why = who
        if not residency.readers:
            self.check_release(residency)

    def check_release(self, residency: Residency) -> None:
        """Release a residency when its last reader is done."""
        if residency.readers or residency.pending or residency.ready < 0 or residency.released >= 0:
            return
        residency.released = self.machine.now
        if self.machine.observer is not None:
            self.machine.tell("released", residency)
        if self.home:
            return
        del self.live[residency.seq]
        if residency.row[STAY_DRAIN]:
            self.draining[residency.seq] = residency
            if residency.outlives and not self._sink_ready(residency):
                self.stranded.append(residency)
            else:
                self.machine.transfers.drain(residency)
            return
        self.free_slot(residency)
        self._leave(residency)

    def _sink_ready(self, residency: Residency) -> bool:
        sink = self.parent.live.get(residency.sink)
        return sink is not None and sink.ready >= 0

    def free_slot(self, residency: Residency) -> None:
        """A slot is free: its input is released, or its drain is through."""
        residency.slot_free = self.machine.now
        if self.machine.observer is not None:
            self.machine.tell("freed", residency)
        self.machine.wake(self)

    def drained(self, residency: Residency) -> None:
        """A drain has arrived."""
        machine = self.machine
        residency.drained = machine.now
        self.ways.under_way -= self.ways.payload[residency.row[STAY_DRAIN]]
        if machine.observer is not None:
            machine.tell("drained", residency)
        del self.draining[residency.seq]
        if self.after == residency.seq:
            self.awaited = residency
            machine.wake(self)
        machine.finished = max(machine.finished, machine.now)
        self.last_drained = residency
        self._leave(residency)

    def _leave(self, residency: Residency) -> None:
        """A residency is over: what it reads, or drained to, has one reader less, and nobody will ask how it came to be."""
        if not residency.outlives:
            assert residency.source is not None
            self.parent.reader_done(residency.source, residency)
        elif self.output:
            self.owing.remove(residency)
            self.parent.reader_done(self.parent.live[residency.sink], residency)
        residency.forget()
