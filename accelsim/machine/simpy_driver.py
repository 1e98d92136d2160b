"""The SimPy driver: the readable definition of the run (DESIGN section 3, rules 1-6).

Completions are SimPy events. When all of a cycle have happened, and one of them changed something, comes the end of its
round: claims until none is possible, array starts, then ports in tie order. What completes in the same cycle starts
another round.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator

import simpy

from accelsim.errors import SimulatorBug
from accelsim.machine.arrays import ArrayState
from accelsim.machine.blame import Blame
from accelsim.machine.network import Network, Station
from accelsim.machine.state import (
    DRAIN,
    SLOT,
    SOURCE,
    START,
    Residency,
    ResourceState,
    Run,
    Why,
)
from accelsim.machine.transfers import Transfers
from accelsim.plan.schedule import Place, Schedule
from accelsim.plan.stays import Stay
from accelsim.timeline import Recorder

Observer = Callable[[int, str, int, str, int, int], None]
"""Told (cycle, what, entry, tensor, unit, residency) of every claim, ready, released, freed and drained."""

PROGRESS_BLOCKS = 256
"""Blocks between two reports of progress."""


class StationState:
    """A station while it runs: the next stay, those in slots, and those still draining."""

    __slots__ = ("awaited", "draining", "last", "last_drained", "live", "next", "number", "owing", "recent", "spec", "stays",
                 "stranded")

    def __init__(self, number: int, spec: Station, stays: Iterator[Place] | None) -> None:
        self.number = number
        self.spec = spec
        self.stays = stays
        self.next: Place | None = next(stays, None) if stays is not None else None
        self.recent: deque[Residency] = deque(maxlen=spec.buffers)
        self.live: dict[int, Residency] = {}
        self.draining: dict[int, Residency] = {}
        self.last: Residency | None = None
        self.awaited: Residency | None = None
        # output tiles kept over several stays of the parent's: their drains go to a later one, and may have to wait for it
        self.owing: list[Residency] = []
        self.stranded: list[Residency] = []
        self.last_drained: Residency | None = None

    @property
    def reading(self) -> int | None:
        """The parent's residency that the next stay reads; None when there is no next."""
        return self.next[1] if self.next is not None else None


class Machine:
    """One run of a network. ``run`` returns the cycle in which the last drain arrived."""

    def __init__(self, network: Network, schedule: Schedule, recorder: Recorder,
                 progress: Callable[[int], None] | None = None, observer: Observer | None = None) -> None:
        self.network = network
        self.recorder = recorder
        self.env = simpy.Environment()
        self.now = 0
        depth = 4 + 2 * sum(station.buffers for station in network.stations) + 4 * len(network.arrays)
        self.resources = [ResourceState(resource, depth) for resource in network.resources]
        self.blame = Blame(network)
        self.transfers = Transfers(self)
        self.progress = progress
        self._observer = observer
        self.stations = [self._station(number, spec, schedule) for number, spec in enumerate(network.stations)]
        self.arrays = [ArrayState(self, number, schedule.blocks(node.unit)) for number, node in enumerate(network.arrays)]
        self._due = False
        self._next_round: list[Callable[[simpy.Event | None], None]] = []
        self._claiming: deque[StationState] = deque(self.stations)
        self._queued = set(range(len(self.stations)))
        self._starting: set[int] = set(range(len(self.arrays)))
        self.finished = 0
        self.macs = 0
        self.events = 0
        self.blocks = 0

    def _station(self, number: int, spec: Station, schedule: Schedule) -> StationState:
        if spec.parent >= 0:
            name = self.network.tensors[spec.tensor]
            return StationState(number, spec, schedule.stays(spec.entry, name, spec.unit))
        state = StationState(number, spec, None)
        home = Residency(number, Stay(0, 0, 0, None, False, -1, None), None, 0, Why(START, None), 1)
        home.ready = 0
        state.live[0] = state.last = home
        return state

    def run(self) -> int:
        """Run to the end. Raises SimulatorBug with the wait-for cycle when nothing can go on."""
        env = self.env
        self._due = True
        while True:
            upcoming = env.peek()
            if self._due and upcoming > self.now:
                self._arbitrate()
            elif upcoming == math.inf:
                break
            else:
                self.now = int(upcoming)
                env.step()
        if any(array.block is not None for array in self.arrays) or any(s.next is not None or s.draining
                                                                        for s in self.stations):
            from accelsim.machine.deadlock import describe
            raise SimulatorBug(f"deadlock at cycle {self.now:,}: {describe(self)}")
        if lost := self.transfers.lost():
            raise SimulatorBug(f"bytes that left are not bytes that arrived: {'; '.join(lost)}")
        for array in self.arrays:
            array.close()
        return self.finished

    def tell(self, what: str, residency: Residency) -> None:
        """Let the observer know; observers only watch."""
        if self._observer is not None:
            spec = self.network.stations[residency.station]
            self._observer(self.now, what, spec.entry, self.network.tensors[spec.tensor], spec.unit, residency.stay.seq)

    # -- events -------------------------------------------------------------------------------------------------

    def at(self, cycle: int, happen: Callable[[simpy.Event | None], None]) -> None:
        """Let something happen at a cycle; what completes in the present one starts another round (rule 3).

        It is called with SimPy's event, which it need not read.
        """
        self.events += 1
        delay = cycle - self.now
        if delay:
            simpy.Timeout(self.env, delay).callbacks.append(happen)
        else:
            self._next_round.append(happen)
            self._due = True

    def due(self) -> None:
        """Something changed in this cycle: arbitrate at its end."""
        self._due = True

    def _arbitrate(self) -> None:
        """The end of a cycle's round: claims until none is possible, array starts, then ports in tie order."""
        self._due = False
        while self._claiming:
            station = self._claiming.popleft()
            self._queued.discard(station.number)
            while self._claim(station):
                pass
        if self._starting:
            for number in sorted(self._starting):
                if self.arrays[number].try_start():
                    self.blocks += 1
                    if self.progress is not None and not self.blocks % PROGRESS_BLOCKS:
                        self.progress(self.blocks)
            self._starting.clear()
        self.transfers.arbitrate()
        if self._next_round:
            completed, self._next_round = self._next_round, []
            for happen in completed:
                happen(None)

    def wake(self, station: int) -> None:
        """A station may be able to claim."""
        if station not in self._queued:
            self._queued.add(station)
            self._claiming.append(self.stations[station])
        self._due = True

    def wake_array(self, array: int) -> None:
        """An array may be able to start."""
        self._starting.add(array)
        self.due()

    # -- claims (rules 1 and 2) ---------------------------------------------------------------------------------

    def _claim(self, station: StationState) -> bool:
        """Claim the next slot if its conditions hold."""
        if station.next is None:
            return False
        stay, reading, sink = station.next
        recent = station.recent
        held = recent[0] if len(recent) == station.spec.buffers else None
        if held is not None and held.slot_free < 0:
            return False
        source = self.stations[station.spec.parent].live.get(reading)
        if source is None or source.ready < 0:
            return False
        if stay.after in station.live or stay.after in station.draining:
            return False
        why = self._why(source, held, station.awaited, station.last)
        residency = Residency(station.number, stay, source, self.now, why, self._unread(station, stay.seq), sink)
        residency.before = station.last
        source.readers += 1
        if sink != reading:
            station.owing.append(residency)
        recent.append(residency)
        station.live[stay.seq] = residency
        station.last = residency
        station.awaited = None
        residency.readers += self._owed(station, stay.seq)
        self.tell("claimed", residency)
        self._advance(station)
        if stay.fill is not None:
            self.transfers.fill(residency)
        else:
            self.filled(residency)
        return True

    @staticmethod
    def _why(source: Residency, held: Residency | None, drain: Residency | None, before: Residency | None) -> Why:
        """What came last of what the claim waited for; a claim that waited for the one before shares its reason."""
        found = Why(SOURCE, source) if source.ready > 0 else Why(START, None)
        latest = source.ready
        if held is not None and held.slot_free > latest:
            found, latest = Why(SLOT, held), held.slot_free
        if drain is not None and drain.drained > latest:
            found, latest = Why(DRAIN, drain), drain.drained
        if before is not None and before.claimed > latest:
            found = before.claim_why
        return found

    def _owed(self, station: StationState, seq: int) -> int:
        """Residencies of children, claimed from an earlier residency, whose drains will go to this one."""
        owed = 0
        for child in station.spec.children:
            if self.stations[child].owing:
                owed += sum(one.sink == seq for one in self.stations[child].owing)
        return owed

    def _unread(self, station: StationState, seq: int) -> int:
        """Readers that have not gone past a residency of a station."""
        unread = 0
        for child in station.spec.children:
            reading = self.stations[child].reading
            if reading is not None and reading <= seq:
                unread += 1
        for array in station.spec.arrays:
            unread += self.arrays[array].reads(station.number, seq)
        return unread

    def _advance(self, station: StationState) -> None:
        """Look at the station's next stay; the parent's residencies that it goes past have one reader fewer to come."""
        assert station.stays is not None
        assert station.next is not None
        left = station.next[1]
        station.next = next(station.stays, None)
        self.pass_by(station.spec.parent, left, station.reading)

    def pass_by(self, parent: int, left: int, reading: int | None) -> None:
        """A reader of a station went from residency ``left`` to ``reading`` (None: to the end)."""
        live = self.stations[parent].live
        for seq in (range(left, reading) if reading is not None else [seq for seq in live if seq >= left]):
            residency = live.get(seq)
            if residency is not None:
                residency.pending -= 1
                self.check_release(residency)

    def filled(self, residency: Residency, _: object = None) -> None:
        """All that had to move in has; what the tile shares with the one before may still be on its way."""
        if residency.stay.fill is not None and not residency.arrived:
            self.transfers.arrived(residency, residency.stay.fill)
        before = residency.before
        if before is not None and before.ready < 0 and self.network.stations[residency.station].tensor != self.network.output:
            before.followed = True
            residency.arrived = True
            return
        if not residency.arrived:
            residency.before = None
        self.ready(residency)
        if residency.source is not None and residency.sink != residency.source.stay.seq:
            residency.unheld = True
            self.reader_done(residency.source, residency)

    def ready(self, residency: Residency) -> None:
        """A residency's tile is all there."""
        residency.ready = self.now
        self.tell("ready", residency)
        spec = self.network.stations[residency.station]
        for child in spec.children:
            self.wake(child)
        for array in spec.arrays:
            self.wake_array(array)
        for child in spec.children:
            stranded = self.stations[child].stranded
            for one in [one for one in stranded if one.sink == residency.stay.seq]:
                stranded.remove(one)
                self.transfers.drain(one)
        if residency.followed:
            after = self.stations[residency.station].live.get(residency.stay.seq + 1)
            if after is not None and after.arrived:
                self.filled(after)
        self.check_release(residency)

    # -- releases (rule 5) --------------------------------------------------------------------------------------

    def reader_done(self, residency: Residency, who: Residency | Run) -> None:
        """A reader of a residency is done with it."""
        residency.readers -= 1
        residency.freed_why = who
        self.check_release(residency)

    def check_release(self, residency: Residency) -> None:
        """Release a residency when its last reader is done."""
        if residency.readers or residency.pending or residency.ready < 0 or residency.released >= 0:
            return
        residency.released = self.now
        self.tell("released", residency)
        station = self.stations[residency.station]
        if station.spec.parent < 0:
            return
        del station.live[residency.stay.seq]
        if residency.stay.drain is not None:
            station.draining[residency.stay.seq] = residency
            if residency.unheld and not self._sink_ready(residency):
                station.stranded.append(residency)
            else:
                self.transfers.drain(residency)
            return
        self.free_slot(residency)
        self._leave(residency)

    def _sink_ready(self, residency: Residency) -> bool:
        sink = self.stations[self.stations[residency.station].spec.parent].live.get(residency.sink)
        return sink is not None and sink.ready >= 0

    def free_slot(self, residency: Residency, _: object = None) -> None:
        """A slot is free: its input is released, or its drain is through."""
        residency.slot_free = self.now
        self.tell("freed", residency)
        self.wake(residency.station)

    def drained(self, residency: Residency, _: object = None) -> None:
        """A drain has arrived."""
        residency.drained = self.now
        assert residency.stay.drain is not None
        self.transfers.arrived(residency, residency.stay.drain)
        self.tell("drained", residency)
        station = self.stations[residency.station]
        del station.draining[residency.stay.seq]
        if station.next is not None and station.next[0].after == residency.stay.seq:
            station.awaited = residency
            self.wake(residency.station)
        self.finished = max(self.finished, self.now)
        station.last_drained = residency
        self._leave(residency)

    def _leave(self, residency: Residency) -> None:
        """A residency is over: its source has one reader less, and nobody will ask how it came to be."""
        source = residency.source
        assert source is not None
        if residency.unheld:
            station = self.stations[residency.station]
            station.owing.remove(residency)
            source = self.stations[station.spec.parent].live[residency.sink]
        self.reader_done(source, residency)
        residency.forget()
