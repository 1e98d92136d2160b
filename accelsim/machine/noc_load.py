"""Latency and throughput of a network over the load that its nodes offer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accelsim.errors import SimulatorBug
from accelsim.kernels import noc_layout as at
from accelsim.kernels.noc_run import advance
from accelsim.machine.noc_routes import Routes
from accelsim.machine.noc_state import start
from accelsim.spec.network import Network
from accelsim.spec.patterns import Pattern, at_load

Ints = NDArray[np.int64]

KEEPS_UP = 0.97
"""The share of the offered flits that must arrive, or the network is said to be saturated; BookSim's table has the same."""


@dataclass(frozen=True)
class Point:
    """One load. ``offered``, ``accepted``: flits per node and cycle over the window, as created and as arrived; ``latency`` in
    cycles, from creation to the tail's arrival, of packets created in the window that have arrived (None: none has);
    ``saturated``: fewer than ``KEEPS_UP`` of the offered flits arrived.
    """

    load: float
    offered: float
    accepted: float
    latency_mean: float | None
    latency_p50: int | None
    latency_p99: int | None
    latency_max: int | None
    packets: int
    saturated: bool


def sweep(network: Network, pattern: Pattern, loads: Iterable[float], *, warm_up: int, window: int) -> Iterator[Point]:
    """Run a pattern at several loads, one after another: ``warm_up`` cycles, then a window that counts, then as many cycles
    again as both for what is still on its way.
    """
    routes = Routes(network)
    for load in loads:
        yield measure(network, routes, pattern, load, warm_up=warm_up, window=window)


def measure(network: Network, routes: Routes, pattern: Pattern, load: float, *, warm_up: int, window: int) -> Point:
    """One load of a sweep; nodes go on sending while what is still on its way arrives."""
    end = warm_up + window
    traffic = at_load(pattern, network, load, 2 * end)
    begun = start(network, routes, traffic)
    if advance(begun.state, begun.packets, begun.deliveries, 2 * end) == at.NEVER:
        raise SimulatorBug(f"the network stands still at load {load}")
    tails = begun.deliveries.reshape(-1, at.DELIVERY_WIDTH)[begun.delivery_of, at.D_TAIL]
    counted = (traffic.created >= warm_up) & (traffic.created < end)
    arrived = counted & (tails >= 0)
    through = (tails >= warm_up) & (tails < end)
    places = window * network.topology.nodes
    offered, accepted = (float(traffic.flits[which].sum()) / places for which in (counted, through))
    latency = (tails - traffic.created)[arrived]
    some = len(latency) > 0
    median, late = (int(np.quantile(latency, share, method="lower")) if some else None for share in (0.5, 0.99))
    mean, most = (float(latency.mean()), int(latency.max())) if some else (None, None)
    return Point(load, offered, accepted, mean, median, late, most, int(counted.sum()), accepted < KEEPS_UP * offered)
