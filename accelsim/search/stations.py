"""Stations of a case by name: their services, what surely comes before and after, and how large sums can get."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm, prod

import numpy as np
from numpy.typing import NDArray

from accelsim.analytic.routes import CHILD, Route, port_name, route
from accelsim.errors import LimitExceeded
from accelsim.kernels.estimate_layout import GRAIN, JOINED, LEAST, NEVER, PER_BYTE, POOLED, RATE, ROUNDS, SETUP
from accelsim.search.looks import INWARD, OUTWARD, Hold
from accelsim.spec.case import Case
from accelsim.spec.chip import Access
from accelsim.spec.operator import Role

Ints = NDArray[np.int64]

TICKS = 16
"""Service is rounded up to this part of a cycle (DESIGN section 3, rule 3)."""

LIMIT = 1 << 62
"""No sum may pass it."""

@dataclass
class Station:
    """A port or link: least cycles before a fill, before a drain since the first result can leave, and after a transfer.

    ``unit``: parts of a sixteenth in which loads are whole. ``loaded``: whether transfers bring it any load.
    """

    name: str
    fill_head: int = NEVER
    drain_head: int = NEVER
    tail: int = NEVER
    unit: int = 1
    loaded: bool = False


@dataclass(frozen=True)
class Way:
    """A route as numbers: ``services`` as a stop of ``kernels.estimate_layout`` begins; per place the number of the station, the
    latencies of those before it and the entry whose instances share a load.
    """

    services: Ints
    stations: tuple[int, ...]
    done: tuple[int, ...]
    sharers: tuple[int, ...]
    latency: int
    last_latency: int


@dataclass(frozen=True)
class ArrayLoad:
    """What the array reads (or ``writes``) of a tensor at a station: ``parts`` of a sixteenth for each byte."""

    tensor: int
    writes: bool
    station: int
    parts: int
    sharers: int


class Stations:
    """All stations, the ways into each hold (and out of the output's), and the loads of the array."""

    def __init__(self, case: Case, holds: list[Hold]) -> None:
        self.case, self.holds = case, holds
        self.routes: list[tuple[Route, ...]] = [
            () if hold.before is None else
            tuple(route(case, hold.entry, hold.tensor, access) for access in (
                (Access.FILL, Access.DRAIN) if hold.tensor.role is Role.OUTPUT else (Access.FILL,))) for hold in holds]
        outward = [routes[OUTWARD] for hold, routes in zip(holds, self.routes, strict=True)
                   if routes and hold.tensor.role is Role.OUTPUT]
        self.skew = case.chip.array.skew_cycles if outward else 0
        self.after_step = self.skew + sum(way.latency_cycles for way in outward)
        self.after = [0] * len(holds)
        self.all: list[Station] = []
        self._number: dict[str, int] = {}
        self._transfers()
        self.array = self._array()
        self.ways = [tuple(self._way(hold, way) for way in routes) for hold, routes in zip(holds, self.routes, strict=True)]

    def _station(self, name: str) -> int:
        if name not in self._number:
            self._number[name] = len(self.all)
            self.all.append(Station(name))
        return self._number[name]

    def _transfers(self) -> None:
        """What surely precedes and follows a transfer at each station; stations are numbered by their first load."""
        after_fill, before, behind = self.after_step + self.case.interval_cycles, 0, 0
        for number, (hold, routes) in enumerate(zip(self.holds, self.routes, strict=True)):
            if hold.before is None:
                before = behind = 0
                continue
            if hold.tensor.role is Role.OUTPUT:
                self.after[number] = routes[OUTWARD].stations[-1].latency_cycles + behind
                self._loads(routes[OUTWARD], None, behind)
                self._loads(routes[INWARD], 0, after_fill)
                behind += routes[OUTWARD].latency_cycles
            else:
                self._loads(routes[INWARD], before, after_fill)
            before += routes[INWARD].latency_cycles

    def _loads(self, way: Route, head: int | None, tail: int) -> None:
        """``head`` None: a drain's, counted from the first result."""
        done = 0
        for part in way.stations:
            if part.rate is not None:
                station = self.all[self._station(part.name)]
                station.loaded = True
                if part.pooled:
                    station.unit = lcm(station.unit, (8 if part.joined else 1) * (TICKS / part.rate).denominator)
                if head is None:
                    station.drain_head = min(station.drain_head, done)
                else:
                    station.fill_head = min(station.fill_head, head + done)
                station.tail = min(station.tail, tail + way.latency_cycles - done)
            done += part.latency_cycles

    def _array(self) -> list[ArrayLoad]:
        """An access of the array is not rounded, so a station's unit is one that makes a byte's share whole."""
        case, found = self.case, []
        for number, tensor in enumerate(case.operator.tensors):
            entry = case.feeding(tensor.name)
            memory = case.memory(entry, tensor)
            for access in (Access.ARRAY_READ, Access.ARRAY_WRITE):
                port = None if memory is None else memory.port(access, tensor)
                if port is not None and port.rate is not None:
                    station = self._station(port_name(case, entry, tensor, access))
                    self.all[station].unit = lcm(self.all[station].unit, port.rate.numerator)
                    found.append((number, access is Access.ARRAY_WRITE, station, port.rate,
                                  case.array_entry if case.lockstep(case.array_entry) else entry))
        return [ArrayLoad(tensor, writes, station, int(TICKS * self.all[station].unit / rate), sharers)
                for tensor, writes, station, rate, sharers in found]

    def _way(self, hold: Hold, way: Route) -> Way:
        services = np.zeros((len(way.stations), 6), dtype=np.int64)
        done = [0]
        for row, station in zip(services, way.stations, strict=True):
            pace = Fraction(0) if station.rate is None else TICKS / station.rate
            row[[PER_BYTE, RATE, GRAIN, LEAST, SETUP, ROUNDS]] = (
                pace.numerator, pace.denominator if pace else 0, station.granularity_bytes, station.least_bytes,
                TICKS * station.setup_cycles, JOINED if station.joined else POOLED if station.pooled else station.rounds)
            done.append(done[-1] + station.latency_cycles)
        return Way(services, tuple(self._station(station.name) for station in way.stations), tuple(done[:-1]),
                   tuple(hold.entry if station.side == CHILD else hold.before or 0 for station in way.stations),
                   way.latency_cycles, way.last_cycles)

    def check_limit(self) -> None:
        """Raises LimitExceeded where a sum over a mapping of this operator could pass LIMIT.

        A mapping has at most as many steps, and moves at most as many elements into a hold, as there are MACs; at worst
        each is a transfer of its own, of least bytes and of all latencies.
        """
        operator, chip = self.case.operator, self.case.chip
        slowest = Fraction(max(self.case.interval_cycles, chip.array.least_cycles) + chip.array.skew_cycles)
        for routes in self.routes:
            for way in routes:
                slowest += way.latency_cycles
                for station in way.stations:
                    least = station.least_bytes + station.granularity_bytes + 8
                    slowest += station.setup_cycles + (0 if station.rate is None else Fraction(least) / station.rate + 1)
        for load in self.array:
            slowest += Fraction(8 * load.parts, TICKS * self.all[load.station].unit)
        used = {(loop.entry, loop.axis) for loop in self.case.nest.loops if loop.axis and loop.entry < self.case.array_entry}
        parts = TICKS * prod(dict(chip.fanout(entry + 1))[axis] for entry, axis in used)
        parts *= max((station.unit for station in self.all), default=1) * max((1, *self.case.slots.values()))
        if operator.macs * slowest * parts >= LIMIT:
            raise LimitExceeded(f"{operator.name}: {operator.macs:,} MACs on {chip.name} can take sums past 2**62 in the batch "
                                "estimate, which counts in 64 bits; estimate such mappings one by one")
