"""Loads in the kernel's layout: bytes, and the ticks that every hop of every way serves them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels import event_layout as at
from accelsim.machine.network import Hop, Network, Route, Station
from accelsim.machine.sections import Sections
from accelsim.machine.tally import ALONE_DRAIN, ALONE_FILL, pieces, route_ticks, routes, size_of
from accelsim.plan.moves import Load
from accelsim.plan.schedule import Schedule

Ints = NDArray[np.int64]


class LoadTables:
    """The loads of every tensor at every entry in the kernel's layout; a load is named by where it stands.

    Units whose ways pass alike hops have one table, as all have where no network on chip gives each a way of its own.
    """

    def __init__(self, network: Network, schedule: Schedule) -> None:
        self._network = network
        self._schedule = schedule
        self._offsets: dict[tuple[int, int, tuple[object, ...]], list[int]] = {}
        self._alike: dict[tuple[int, int, int], tuple[object, ...]] = {}

    def offsets(self, s: Sections, spec: Station) -> Ints:
        """Where each load of a station stands, by its number in the plan; 0: none. New ones are added."""
        if not self._offsets:
            s.take(at.B_TABLE, 1)
        own = spec.entry, spec.tensor, spec.unit
        if own not in self._alike:
            self._alike[own] = tuple([tuple([self._takes(hop) for hop in route]) for route in routes(spec)])
        made = self._offsets.setdefault((spec.entry, spec.tensor, self._alike[own]), [])
        for load in self._schedule.loads(spec.entry, self._network.tensors[spec.tensor])[len(made):]:
            made.append(0 if load is None else self._add(s, spec, len(made), load))
        return np.array(made, dtype=np.int64)

    def _takes(self, hop: Hop) -> tuple[object, ...]:
        """All that says how long a load takes at a hop, and how it is cut."""
        own = self._network.resources[hop.resource] if hop.resource >= 0 else None
        pace = None if own is None else (own.numerator, own.denominator)
        return pace, replace(hop, name="", resource=0, latency_cycles=0, banked=-1)

    def _add(self, s: Sections, spec: Station, number: int, load: Load) -> int:
        ways = routes(spec)
        ticks = [tick for route in ways for tick in route_ticks(self._network, route, [size_of(hop, load) for hop in route])]
        place = s.take(at.B_TABLE, at.TABLE_HEAD + len(ticks))
        head = [number, load.payload_bytes, *self._cut(s, ways[ALONE_FILL], load), *self._cut(s, ways[ALONE_DRAIN], load)]
        s.of(at.B_TABLE)[place:place + at.TABLE_HEAD + len(ticks)] = [*head, *ticks]
        return place

    def _cut(self, s: Sections, route: Route, load: Load) -> tuple[int, int]:
        """How many pieces a load is cut into on its way, and where the ticks of the pieces' hops stand."""
        parts = pieces(route, load)
        if len(parts) == 1:
            return 1, 0
        ticks = [tick for sizes in parts for tick in route_ticks(self._network, route, sizes)]
        place = s.take(at.B_TABLE, len(ticks))
        s.of(at.B_TABLE)[place:place + len(ticks)] = ticks
        return len(parts), place
