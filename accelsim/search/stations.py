"""Stations, routes and the array's ports as integer tables, and how large the sums over them can get."""

from __future__ import annotations

from fractions import Fraction
from math import lcm, prod

import numpy as np
from numpy.typing import NDArray

from accelsim.analytic.routes import CHILD, Route, port_name, route
from accelsim.errors import LimitExceeded
from accelsim.kernels import columns as col
from accelsim.search.looks import INWARD, OUTWARD, Hold
from accelsim.spec.case import Case
from accelsim.spec.chip import Access
from accelsim.spec.operator import Role

Ints = NDArray[np.int64]

TICKS = 16
"""Service is rounded up to this part of a cycle (DESIGN section 3, rule 3)."""

LIMIT = 1 << 62
"""No sum of the kernels may pass it."""


class Stations:
    """Stations by name, the ways between holds, and what the array takes and gives."""

    def __init__(self, case: Case, holds: list[Hold]) -> None:
        self.case, self.holds = case, holds
        self.ways: list[tuple[Route, ...]] = [
            () if hold.before is None else
            tuple(route(case, hold.entry, hold.tensor, access) for access in (
                (Access.FILL, Access.DRAIN) if hold.tensor.role is Role.OUTPUT else (Access.FILL,))) for hold in holds]
        outward = [ways[OUTWARD] for hold, ways in zip(holds, self.ways, strict=True)
                   if ways and hold.tensor.role is Role.OUTPUT]
        self.skew = case.chip.array.skew_cycles if outward else 0
        self.after_step = self.skew + sum(way.latency_cycles for way in outward)
        self.after = [0] * len(holds)
        self.number: dict[str, int] = {}
        self.rows: list[list[int]] = []
        self._transfers()
        self.array = self._array()

    def _station(self, name: str) -> list[int]:
        if name not in self.number:
            self.number[name] = len(self.rows)
            self.rows.append([col.NEVER, col.NEVER, col.NEVER, col.NEVER, 1])
        return self.rows[self.number[name]]

    def _transfers(self) -> None:
        """What surely precedes and follows a transfer at each station; stations stand in the order of their first load."""
        after_fill, before, behind = self.after_step + self.case.interval_cycles, 0, 0
        for number, (hold, ways) in enumerate(zip(self.holds, self.ways, strict=True)):
            if hold.before is None:
                before = behind = 0
                continue
            if hold.tensor.role is Role.OUTPUT:
                self.after[number] = ways[OUTWARD].stations[-1].latency_cycles + behind
                self._loads(ways[OUTWARD], col.DRAIN_HEAD, 0, behind)
                self._loads(ways[INWARD], col.FILL_HEAD, 0, after_fill)
                behind += ways[OUTWARD].latency_cycles
            else:
                self._loads(ways[INWARD], col.FILL_HEAD, before, after_fill)
            before += ways[INWARD].latency_cycles

    def _loads(self, way: Route, kind: int, head: int, tail: int) -> None:
        done = 0
        for station in way.stations:
            row = self._station(station.name)
            if station.rate is not None:
                row[kind] = min(row[kind], head + done)
                row[col.TAIL] = min(row[col.TAIL], tail + way.latency_cycles - done)
                if row[col.RANK] == col.NEVER:
                    row[col.RANK] = sum(other[col.RANK] < col.NEVER for other in self.rows)
            done += station.latency_cycles

    def _array(self) -> list[list[int]]:
        """Rows of ``Flows.array``: an access is not rounded, so a station's unit is one that makes its bytes whole."""
        case, found = self.case, []
        for number, tensor in enumerate(case.operator.tensors):
            entry = case.feeding(tensor.name)
            memory = case.memory(entry, tensor)
            if memory is None:
                continue
            share = case.array_entry if case.lockstep(case.array_entry) else entry
            for writes, access in enumerate((Access.ARRAY_READ, Access.ARRAY_WRITE)):
                port = memory.port(access, tensor)
                if port is not None and port.rate is not None:
                    name = port_name(case, entry, tensor, access)
                    row = self._station(name)
                    row[col.UNIT] = lcm(row[col.UNIT], port.rate.numerator)
                    found.append((number, writes, self.number[name], port.rate, share))
        return [[tensor, writes, station, int(TICKS * self.rows[station][col.UNIT] / rate), share]
                for tensor, writes, station, rate, share in found]

    def tables(self) -> tuple[Ints, Ints]:
        """``Flows.route`` and ``Flows.stop``."""
        stops = max((len(way.stations) for ways in self.ways for way in ways), default=1)
        routes = np.zeros((2 * len(self.holds), 3), dtype=np.int64)
        table = np.zeros((2 * len(self.holds), stops, 8), dtype=np.int64)
        for hold, (own, ways) in enumerate(zip(self.holds, self.ways, strict=True)):
            for direction, way in enumerate(ways):
                routes[2 * hold + direction] = len(way.stations), way.latency_cycles, way.stations[-1].latency_cycles
                done = 0
                for place, station in enumerate(way.stations):
                    pace = Fraction(0) if station.rate is None else TICKS / station.rate
                    table[2 * hold + direction, place] = (
                        self.number[station.name], pace.numerator, pace.denominator if pace else 0,
                        station.granularity_bytes, station.least_bytes, TICKS * station.setup_cycles, done,
                        own.entry if station.side == CHILD else own.before)
                    done += station.latency_cycles
        return routes, table

    def check_limit(self) -> None:
        """Raises LimitExceeded where a sum over a mapping of this operator could pass LIMIT.

        A mapping has at most as many steps, and moves at most as many elements into a hold, as there are MACs; at worst
        each is a transfer of its own, of least bytes and of all latencies.
        """
        operator, chip = self.case.operator, self.case.chip
        slowest = Fraction(self.case.interval_cycles + chip.array.skew_cycles)
        for ways in self.ways:
            for way in ways:
                slowest += way.latency_cycles
                for station in way.stations:
                    least = station.least_bytes + station.granularity_bytes + 8
                    slowest += station.setup_cycles + (0 if station.rate is None else Fraction(least) / station.rate + 1)
        for _, _, station, parts, _ in self.array:
            slowest += Fraction(8 * parts, TICKS * self.rows[station][col.UNIT])
        parts = TICKS * prod(count for entry in range(len(chip.levels) + 1) for _, count in chip.fanout(entry))
        parts *= max((row[col.UNIT] for row in self.rows), default=1) * max((1, *self.case.slots.values()))
        if operator.macs * slowest * parts >= LIMIT:
            raise LimitExceeded(f"{operator.name}: {operator.macs:,} MACs on {chip.name} can take sums past 2**62 in the batch "
                                "estimate, which counts in 64 bits; estimate such mappings one by one")
