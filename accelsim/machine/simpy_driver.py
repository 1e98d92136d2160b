"""The SimPy driver: the readable definition of the run (DESIGN section 3, rules 1-6).

Completions are SimPy events. When all of a cycle have happened, and one of them changed something, comes the end of its
round: claims until none is possible, array starts, then ports in tie order. What completes in the same cycle starts
another round.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import simpy

from accelsim.errors import SimulatorBug
from accelsim.machine.arrays import ArrayState
from accelsim.machine.blame import Blame
from accelsim.machine.components import Component, Components
from accelsim.machine.network import Network
from accelsim.machine.state import Leg, Observer, Residency, Watcher
from accelsim.machine.stations import StationState
from accelsim.machine.tally import tally
from accelsim.machine.transfers import Transfers
from accelsim.machine.ways import Ways
from accelsim.plan.moves import Load
from accelsim.plan.schedule import Schedule
from accelsim.recorder import PENDING_ROWS, Recorder

if TYPE_CHECKING:
    from accelsim.machine.banks import Banks
    from accelsim.machine.channels import Channels

PROGRESS_BLOCKS = 512
"""Blocks between two calls of the progress function."""


class Machine:
    """One run of a network. ``run`` returns the cycle in which the last drain arrived.

    ``components``: processes of a user's own beside it; the recorder has their names as labels too.
    """

    def __init__(self, network: Network, schedule: Schedule, recorder: Recorder,
                 progress: Callable[[int], None] | None = None, observer: Observer | None = None,
                 watcher: Watcher | None = None, components: Mapping[str, Component] | None = None) -> None:
        self.network = network
        self.recorder = recorder
        self.env = simpy.Environment()
        self.now = 0
        self.due = False
        self.last = 0
        self.progress = progress
        self.observer = observer
        self.watcher = watcher
        self.blame = Blame(network, recorder.labels)
        self.transfers = Transfers(self)
        self.channels: Channels[Leg] | None = None
        self.banks: Banks | None = None
        # each brings kernels along, which are compiled where there is such a memory
        if network.memories:
            from accelsim.machine.channels import Channels
            self.channels = Channels(network, schedule, recorder)
        if network.banked:
            from accelsim.machine.banks import Banks
            self.banks = Banks(network, schedule, recorder)
        self._looked = False
        self.stations: list[StationState] = []
        self._loads: list[list[Load | None]] = []
        for number, spec in enumerate(network.stations):
            name = network.tensors[spec.tensor]
            self.stations.append(StationState(self, number, spec, schedule.stays(spec.entry, name, spec.unit)))
            self._loads.append(schedule.loads(spec.entry, name) if spec.parent >= 0 else [])
        self.arrays = [ArrayState(self, number, schedule) for number in range(len(network.arrays))]
        for station, loads in zip(self.stations, self._loads, strict=True):
            station.ways = Ways(network, station.spec, loads)
            station.children = [self.stations[child] for child in station.spec.children]
            station.follows = [self.stations[other] for other in station.spec.follows]
            for other in station.follows:
                other.followers.append(station)
            station.arrays = [self.arrays[array] for array in station.spec.arrays]
            if not station.home:
                station.parent = self.stations[station.spec.parent]
        self._next_round: list[Callable[[simpy.Event | None], None]] = []
        self._claiming: deque[StationState] = deque(self.stations)
        self._starting: set[int] = set(range(len(self.arrays)))
        self.finished = 0
        self.macs = 0
        self.events = 0
        self.blocks = 0
        self.beside = Components(components, self.env, network, self.transfers.resources, recorder) if components else None

    def run(self) -> int:
        """Run to the end. Raises SimulatorBug with the wait-for cycle when nothing can go on."""
        env = self.env
        self.due = True
        while True:
            upcoming = env.peek()
            if self.due and upcoming > self.now:
                self._arbitrate()
            elif self.channels is not None and not self._looked and upcoming > self.now and self.channels.busy:
                # before time goes on: whether something comes out of a memory first
                self._looked = True
                for outcome in self.channels.until(None if upcoming == math.inf else int(upcoming)):
                    self.transfers.come_out(outcome)
            elif upcoming > self.last and (upcoming == math.inf or self.channels is None or not self.channels.busy):
                # nothing of its own is to come; components may go on for ever
                break
            elif self.beside is not None and upcoming > self.now and self.beside.serve(upcoming):
                continue
            else:
                self.now = int(upcoming)
                self._looked = False
                env.step()
        if any(array.block is not None for array in self.arrays) or any(s.next is not None or s.draining
                                                                        for s in self.stations):
            from accelsim.machine.deadlock import describe
            raise SimulatorBug(f"deadlock at cycle {self.now:,}: {describe(self)}")
        if lost := self.transfers.lost():
            raise SimulatorBug(f"bytes that left are not bytes that arrived: {'; '.join(lost)}")
        for array in self.arrays:
            array.close()
        if self.channels is not None:
            self.channels.finish()
        if self.banks is not None:
            self.banks.finish()
        if self.beside is not None:
            self.beside.finish(self.finished)
        for station, loads in zip(self.stations, self._loads, strict=True):
            if not station.home:
                tally(self.recorder, self.network, station.number, loads, station.ways.uses)
        return self.finished

    @property
    def first_starts(self) -> list[int]:
        """When each array began its first block; -1: never."""
        return [array.first_start for array in self.arrays]

    def tell(self, what: str, residency: Residency) -> None:
        """Let the observer know; observers only watch."""
        if self.observer is not None:
            spec = residency.station.spec
            self.observer(self.now, what, spec.entry, self.network.tensors[spec.tensor], spec.unit, residency.seq)

    def at(self, cycle: int, happen: Callable[[simpy.Event | None], None]) -> None:
        """Let something happen at a cycle; what completes in the present one starts another round (rule 3).

        It is called with SimPy's event, which it need not read.
        """
        self.events += 1
        if cycle > self.last:
            self.last = cycle
        delay = cycle - self.now
        if delay:
            simpy.Timeout(self.env, delay).callbacks.append(happen)
        else:
            self._next_round.append(happen)
            self.due = True

    def _arbitrate(self) -> None:
        """The end of a cycle's round: claims until none is possible, array starts, then ports in tie order."""
        self.due = False
        claiming = self._claiming
        while claiming:
            station = claiming.popleft()
            station.queued = False
            while station.claim():
                pass
        if self._starting:
            for number in sorted(self._starting):
                if self.arrays[number].try_start():
                    self.blocks += 1
                    if self.progress is not None and not self.blocks % PROGRESS_BLOCKS:
                        self.progress(self.blocks)
            self._starting.clear()
        if self.transfers.requests:
            self.transfers.arbitrate()
            if len(self.recorder.pending) >= PENDING_ROWS:
                self.recorder.work_up()
        if self._next_round:
            completed, self._next_round = self._next_round, []
            for happen in completed:
                happen(None)

    def wake(self, station: StationState) -> None:
        """A station may be able to claim."""
        if not station.queued:
            station.queued = True
            self._claiming.append(station)
        self.due = True

    def wake_array(self, array: ArrayState) -> None:
        """An array may be able to start."""
        self._starting.add(array.number)
        self.due = True
