"""Components of a user's own: SimPy processes beside the machine, served at its ports and links as transfers are.

What they ask for in a cycle is booked when nothing more can happen in it: behind all transfers of that cycle, in the order in
which the components are named, then in that of asking. They can only be in the way: no tile is theirs, and no bytes are counted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import simpy

from accelsim.errors import Fault, SpecError, nearest
from accelsim.machine.network import Network, Resource
from accelsim.machine.state import ResourceState, service_ticks
from accelsim.recorder import Recorder
from accelsim.timeline import BUSY_STATE, TICKS

TAKEN = ("", "other core", "others")
"""What a component may not be named: reports say it of something else behind which a stall waited."""


@dataclass(frozen=True)
class Service:
    """A port served a component: the cycles in which it asked, was first served and had been served."""

    asked: int
    begin: int
    end: int


class Ports:
    """What a component is given: the clock of a run, and its ports and links.

    ``env``: SimPy's environment, for events and processes of the component's own, which wait for whole cycles. ``names``: the
    ports and links that it may book, as the timeline has them. Those of unlimited rate are not there, nor memories whose channels
    are simulated (`timing`).
    """

    def __init__(self, name: str, env: simpy.Environment, components: Components) -> None:
        self.env = env
        self.names: tuple[str, ...] = tuple(components.bookable)
        self._name = name
        self._components = components

    @property
    def now(self) -> int:
        """The present cycle. 0 is the operator's first, in which every component starts: the launch is over."""
        return int(self.env.now)

    def wait(self, cycles: int) -> simpy.Event:
        """An event so many cycles from now. Raises ValueError for less than one, or none whole."""
        if cycles != int(cycles) or cycles < 1:
            raise ValueError(f"it waits for {cycles} cycles, not for one or more whole ones")
        return self.env.timeout(int(cycles))

    def book(self, port: str, *, cycles: int | None = None, size_bytes: int | None = None) -> simpy.Event:
        """Ask to be served at a port or link, for some cycles or for as long as some bytes take at its rate.

        First come, first served, behind the transfers of the same cycle. The event is that of having been served; its value is
        the `Service`. No latency and no granularity are added, and several may be asked for before the first is waited for.
        Raises SpecError for a port that there is not, and ValueError where not one of the two is given, or less than 1.
        """
        number = self._components.number(self._name, port)
        asked = cycles if size_bytes is None else size_bytes
        if (cycles is None) == (size_bytes is None) or asked is None or asked != int(asked) or asked < 1:
            raise ValueError(f"it books {port} for {cycles} cycles and {size_bytes} bytes: give one of them, 1 or more")
        return self._components.ask(self._name, number, None if cycles is None else int(cycles), int(asked))


class Component(Protocol):
    """A component of a user's own: a generator function that waits for what it asks of ports. `simulate` runs it.

    It begins with the operator and is ended with it.
    """

    def __call__(self, ports: Ports, /) -> Generator[simpy.Event, Any, Any]:
        """Begin, in the operator's first cycle."""
        ...


class Request(NamedTuple):
    """A port is asked for by a component (its number), for so many ticks; ``event``: of having been served."""

    component: int
    resource: int
    ticks: int
    event: simpy.Event


class Components:
    """The components of a run. ``bookable``: what they may book, by name, as the network's number."""

    def __init__(self, components: Mapping[str, Component], env: simpy.Environment, network: Network,
                 resources: Sequence[ResourceState], recorder: Recorder) -> None:
        self._env = env
        self._network = network
        self._resources = resources
        self._recorder = recorder
        self._names = tuple(components)
        self._labels = [recorder.labels.index(name) for name in components]
        channels = {number for one in network.memories for number in range(one.first, one.first + one.buses)}
        self._simulated = {network.resources[number].lane.level for number in channels}
        self.bookable = {one.lane.name: number for number, one in enumerate(network.resources) if number not in channels}
        self._requests: list[Request] = []
        self._under_way: dict[int, deque[tuple[int, int, int]]] = {}  # first tick, end tick and label, by resource
        self._failure: tuple[str, int, Exception] | None = None
        self._processes = [self._process(name, component) for name, component in components.items()]
        for process in self._processes:
            env.process(process)

    # -- what they ask for ------------------------------------------------------------------------------------------

    def number(self, name: str, port: str) -> int:
        """The network's number of a port that a component names. Raises SpecError where it may not book it."""
        found = self.bookable.get(port)
        if found is not None:
            return found
        if (level := port.partition(".")[0]) in self._simulated:
            raise SpecError([Fault(f"component {name}", 0, 0, port, f"channels of {level} are simulated, and serve no component",
                                   "a `bandwidth` of that memory instead of its `timing`")])
        raise SpecError([Fault(f"component {name}", 0, 0, port, "no port or link of this run that takes time",
                               ", ".join(self.bookable), nearest(port, self.bookable))])

    def ask(self, name: str, number: int, cycles: int | None, size_bytes: int) -> simpy.Event:
        """Keep a request until the end of the cycle. Raises ValueError for bytes where only set-up takes time."""
        resource: Resource = self._network.resources[number]
        if cycles is None and not resource.denominator:
            raise ValueError(f"it books {resource.lane.name} for bytes, which take no time there; cycles may be booked")
        ticks = service_ticks(resource, size_bytes, 0) if cycles is None else cycles * TICKS
        event = self._env.event()
        self._requests.append(Request(self._names.index(name), number, ticks, event))
        return event

    # -- how they are served ----------------------------------------------------------------------------------------

    def serve(self, upcoming: float) -> bool:
        """Book what was asked for in a cycle that is over, ``upcoming`` being that of the next event; whether there was anything.

        Raises SpecError when a component has failed, or waits for part of a cycle.
        """
        self._check()
        if not self._requests:
            if upcoming != int(upcoming):
                raise SpecError([Fault("components", 0, 0, "", f"one of {', '.join(self._names)} waits until {upcoming}",
                                       "whole cycles")])
            return False
        requests, self._requests = sorted(self._requests, key=lambda one: one.component), []
        now = int(self._env.now)
        for one in requests:
            resource = self._resources[one.resource]
            start = max(resource.free, now * TICKS)
            resource.free = end = start + one.ticks
            begins, ends = -(-start // TICKS), -(-end // TICKS)
            label = self._labels[one.component]
            under_way = self._under_way.setdefault(one.resource, deque())
            under_way.append((start, end, label))
            recent = resource.recent
            if recent.maxlen is not None and recent.maxlen < self._network.depth + len(under_way):
                # transfers that wait are told all who are ahead, of components as many as there are
                resource.recent = recent = deque(recent, self._network.depth + 2 * len(under_way))
            recent.append((begins, ends, label, -1))
            service = Service(now, begins, ends)
            self._env.timeout(ends - now).callbacks.append(partial(self._served, one, service))
        return True

    def _served(self, request: Request, service: Service, _: simpy.Event) -> None:
        self._record(request.resource, *self._under_way[request.resource].popleft())
        request.event.succeed(service)

    def _record(self, resource: int, start: int, end: int, label: int) -> None:
        self._recorder.row(self._resources[resource].lane, start, end, BUSY_STATE, label)

    def finish(self, cycles: int) -> None:
        """The operator ended in a cycle: so do the components, and what serves them. Raises SpecError when one has failed."""
        for process in self._processes:
            process.close()
        self._check()
        for resource, under_way in self._under_way.items():
            for start, end, label in under_way:
                self._record(resource, start, min(end, cycles * TICKS), label)

    # -- how they run -----------------------------------------------------------------------------------------------

    def _process(self, name: str, component: Component) -> Generator[simpy.Event, Any, None]:
        """A component, whose failure is kept: SimPy would make another of it."""
        try:
            process = component(Ports(name, self._env, self))
            if not isinstance(process, Generator):
                raise TypeError(f"it returns {process!r}: a component is a generator function, with `yield`")
            yield from _events(process)
        except Exception as error:  # noqa: BLE001  whatever it is, it ends the run
            self._failure = name, int(self._env.now), error

    def _check(self) -> None:
        if self._failure is None:
            return
        name, cycle, error = self._failure
        if isinstance(error, SpecError) and error.faults[0].file == f"component {name}":
            raise error
        raise SpecError([Fault(f"component {name}", 0, 0, f"cycle {cycle}", f"{type(error).__name__}: {error}")]) from error


def _events(process: Generator[object, Any, Any]) -> Generator[simpy.Event, Any, None]:
    """What a process waits for; it is told where that is no event."""
    try:
        event = next(process)
        while True:
            if not isinstance(event, simpy.Event):
                event = process.throw(TypeError(f"it yields {event!r}, which is no event"))
                continue
            try:
                answer = yield event
            except Exception as error:  # noqa: BLE001  an event that failed, or an interrupt
                event = process.throw(error)
            else:
                event = process.send(answer)
    except StopIteration:
        return
    finally:
        process.close()


def check_names(components: Mapping[str, Component], tensors: Sequence[str]) -> None:
    """Raise SpecError for names under which reports have something else."""
    faults = [Fault("components", 0, 0, name, "the name of a tensor" if name in tensors else "not a name of its own")
              for name in components if name in tensors or name in TAKEN]
    if faults:
        raise SpecError(faults)


__all__ = ["Component", "Ports", "Service"]
