"""A network on chip alone: packets through its routers flit by flit, and what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accelsim.errors import SimulatorBug
from accelsim.kernels import noc_layout as at
from accelsim.kernels.noc_run import advance
from accelsim.kernels.noc_transfer import HEAP_WIDTH
from accelsim.kernels.noc_transfer import transfer as transfer_kernel
from accelsim.machine.noc_routes import Routes
from accelsim.machine.noc_state import Started, start
from accelsim.spec.network import Network
from accelsim.spec.traffic import Traffic

Ints = NDArray[np.int64]

PIECE = 1 << 14
"""Cycles between two looks at whether somebody wants to know, or to stop."""


@dataclass(frozen=True)
class Link:
    """A link by name, and what it carried: flits, and the cycles in which it was busy."""

    name: str
    flits: int
    busy_cycles: int


@dataclass(frozen=True)
class Carried:
    """What came of traffic. ``injected``: int64[packets], when each head left its node. By delivery, of which a packet has one, a
    copied one as many as it has nodes: ``packet``, ``node``, ``head`` and ``tail`` (when they arrived) and ``routers`` on the
    way, int64.

    ``cycles``: the cycle in which the last tail arrived, counted from 0.
    """

    cycles: int
    injected: Ints
    packet: Ints
    node: Ints
    head: Ints
    tail: Ints
    routers: Ints
    links: tuple[Link, ...]


def carry(network: Network, traffic: Traffic, *, routes: Routes | None = None,
          progress: Callable[[int], None] | None = None) -> Carried:
    """Run traffic to its end. ``routes``: those of the network, where made before. ``progress`` is told how many packets have
    arrived.

    Raises SpecError where a packet asks for what the network has not: VCs for reductions, room for a copied one.
    """
    routes = routes or Routes(network)
    begun = start(network, routes, traffic)
    run(begun, at.FAR if progress is None else PIECE, progress)
    return collect(network, routes, traffic, begun)


def transfer(network: Network, traffic: Traffic, *, routes: Routes | None = None,
             progress: Callable[[int], None] | None = None) -> Carried:
    """The same, transfer by transfer: links serve whole packets in order of their heads' arrival; no flits, buffers or VCs."""
    routes = routes or Routes(network)
    begun = start(network, routes, traffic)
    links = len(network.topology.wires) + 2 * network.topology.nodes
    free: Ints = np.zeros(links + 1, dtype=np.int64)
    heap: Ints = np.zeros((len(begun.packet_of) + 2) * HEAP_WIDTH, dtype=np.int64)
    while transfer_kernel(begun.state, begun.packets, begun.deliveries, free, heap, PIECE) >= 0:
        if progress is not None:
            progress(int(begun.state[at.DELIVERED]))
    return collect(network, routes, traffic, begun)


def run(begun: Started, piece: int, progress: Callable[[int], None] | None = None) -> None:
    """Advance to the end, in pieces of so many cycles."""
    until = min(at.FAR, piece)
    while (coming := advance(begun.state, begun.packets, begun.deliveries, until)) != at.FAR:
        if coming == at.NEVER:
            raise SimulatorBug(f"the network stands still from cycle {int(begun.state[at.MOVED]):,} on")
        until = max(until, int(coming)) + piece
        if progress is not None:
            progress(int(begun.state[at.DELIVERED]))


def collect(network: Network, routes: Routes, traffic: Traffic, begun: Started) -> Carried:
    """What came of traffic that has been run to its end."""
    packets = begun.packets.reshape(-1, at.PACKET_WIDTH)
    told = begun.deliveries.reshape(-1, at.DELIVERY_WIDTH)[begun.delivery_of]
    tails = told[:, at.D_TAIL]
    if len(tails) and tails.min() < 0:
        raise SimulatorBug(f"{int((tails < 0).sum())} packets have not arrived")
    injected: Ints = np.empty(len(packets), dtype=np.int64)
    injected[begun.order] = packets[:, at.Q_INJECTED]
    nodes = told[:, at.D_NODE]
    return Carried(int(tails.max()) if len(tails) else 0, injected, begun.packet_of, nodes, told[:, at.D_HEAD], tails,
                   routes.routers(traffic.sources[begun.packet_of], nodes), _links(network, begun))


def _links(network: Network, begun: Started) -> tuple[Link, ...]:
    topology = network.topology
    names: list[str] = []
    beside: Counter[tuple[int, int]] = Counter()
    for wire in topology.wires:  # of several between two routers, the second and on have a number
        beside[wire.source, wire.target] += 1
        count = beside[wire.source, wire.target]
        names.append(f"{wire.source}->{wire.target}{f' ({count})' if count > 1 else ''}")
    names += [f"node {node}->{router}" for node, (router, _) in enumerate(topology.enters)]
    names += [f"{router}->node {node}" for node, (router, _) in enumerate(topology.leaves)]
    table = begun.section(at.B_LINK, len(names), at.LINK_WIDTH)
    return tuple(Link(name, int(row[at.K_FLITS]), int(row[at.K_FLITS] * row[at.K_CYCLES]))
                 for name, row in zip(names, table, strict=True))
