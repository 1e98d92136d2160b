"""The ways of a station's loads: their hops, how long each serves each load, and how often each was gone."""

from __future__ import annotations

from collections.abc import Sequence

from accelsim.machine.network import Network, Station
from accelsim.machine.tally import pieces, route_ticks, routes, size_of
from accelsim.plan.moves import Load


class Ways:
    """How a station's loads go: hops, how long each serves each load, and how often each went which way.

    ``uses[way][load]``, ``payload[load]`` and ``ticks[way][load]`` grow with the loads that the plan has made so far.
    """

    __slots__ = ("_loads", "_network", "chunked", "hops", "payload", "spec", "ticks", "under_way", "uses")

    def __init__(self, network: Network, spec: Station, loads: Sequence[Load | None]) -> None:
        self._network = network
        self._loads = loads
        self.spec = spec
        self.hops = routes(spec)
        self.under_way = 0
        self.payload: list[int] = []
        self.uses: list[list[int]] = [[] for _ in self.hops]
        self.ticks: list[list[tuple[int, ...]]] = [[] for _ in self.hops]
        self.chunked = any(hop.chunk_bytes for route in self.hops for hop in route)

    def use(self, way: int, load: int) -> tuple[int, ...]:
        """Count a load that goes a way; the ticks that each hop serves it."""
        if load >= len(self.payload):
            self._learn()
        self.uses[way][load] += 1
        return self.ticks[way][load]

    def _learn(self) -> None:
        """Work out what is new among the plan's loads."""
        for load in self._loads[len(self.payload):]:
            self.payload.append(load.payload_bytes if load is not None else 0)
            for way, hops in enumerate(self.hops):
                sizes = [0 if load is None else size_of(hop, load) for hop in hops]
                self.uses[way].append(0)
                self.ticks[way].append(route_ticks(self._network, hops, sizes))

    def pieces(self, way: int, load: int) -> list[tuple[int, ...]]:
        """The ticks of each piece that a load is cut into where a link cuts long ones; one piece is the whole."""
        found, hops = self._loads[load], self.hops[way]
        assert found is not None
        return [route_ticks(self._network, hops, sizes) for sizes in pieces(hops, found)]
