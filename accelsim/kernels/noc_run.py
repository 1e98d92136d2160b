"""A network on chip, cycle after cycle in which anything happens."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.jit import INT, WRITE_1, flat, kernel, part
from accelsim.kernels.noc_layout import (
    ACTIVE_NODES,
    ACTIVE_ROUTERS,
    B_AWAKE,
    B_INPUT,
    B_ROUTER_LIST,
    B_WHEEL,
    FAR,
    INPUT_WIDTH,
    MOVED,
    N_ALLOCATING,
    N_ROUTING,
    N_SWITCHING,
    NEVER,
    NEXT_PACKET,
    NOW,
    PACKET_WIDTH,
    PACKETS,
    PORTS,
    Q_CREATED,
    TRAVELLING,
    WHEEL,
)
from accelsim.kernels.noc_links import arrivals
from accelsim.kernels.noc_route import route_heads
from accelsim.kernels.noc_source import inject_all, queue_packets
from accelsim.kernels.noc_switch import allocate_switch, request_all
from accelsim.kernels.noc_vcs import allocate_vcs

Ints = NDArray[np.int64]

PATIENCE = 1 << 16
"""Cycles without a flit setting out, with routers that have some, after which a network is taken for dead; beside its wheel."""


@part
def step_router(s: Ints, q: Ints, router: int, now: int) -> int:
    """A router's cycle: routing, then VCs and the switch as they stood when it began; returns whether anything is left to do."""
    ports = s[PORTS]
    first = s[B_INPUT] + router * ports * INPUT_WIDTH
    allocating = 0
    for place in range(ports):
        n = first + place * INPUT_WIDTH
        if s[n + N_ROUTING]:
            route_heads(s, q, router * ports + place, now)
        allocating |= s[n + N_ALLOCATING]
    request_all(s, router, now)
    if allocating:
        allocate_vcs(s, router)
    allocate_switch(s, router, now)
    left = 0
    for place in range(ports):
        n = first + place * INPUT_WIDTH
        left |= s[n + N_ROUTING] | s[n + N_ALLOCATING] | s[n + N_SWITCHING]
    return int(left != 0)


@part
def step_routers(s: Ints, q: Ints, now: int) -> None:
    """Every router that has something to do has its cycle; the others drop out of the list."""
    place = 0
    while place < s[ACTIVE_ROUTERS]:
        router = s[s[B_ROUTER_LIST] + place]
        if step_router(s, q, router, now):
            place += 1
            continue
        s[s[B_AWAKE] + router] = 0
        s[ACTIVE_ROUTERS] -= 1
        s[s[B_ROUTER_LIST] + place] = s[s[B_ROUTER_LIST] + s[ACTIVE_ROUTERS]]


@part
def following(s: Ints, q: Ints, now: int) -> int:
    """The next cycle in which anything happens; FAR: nothing does."""
    if s[ACTIVE_ROUTERS] or s[ACTIVE_NODES]:
        return now + 1
    comes = q[s[NEXT_PACKET] * PACKET_WIDTH + Q_CREATED] if s[NEXT_PACKET] < s[PACKETS] else FAR
    if s[TRAVELLING]:
        after = now + 1
        while after < comes and s[s[B_WHEEL] + (after & (s[WHEEL] - 1))] == NEVER:
            after += 1
        return int(after)
    return int(comes)


@kernel(INT(WRITE_1, WRITE_1, WRITE_1, INT))
def advance(state: Ints, packets: Ints, deliveries: Ints, until: int) -> int:
    """Run a network up to, not including, a cycle; returns the next one in which anything happens.

    ``state``: int64, as `noc_layout` says; ``NOW`` is where it stands. ``packets``: int64[n x PACKET_WIDTH], in order of
    creation, those of a node in the order in which they leave; ``deliveries``: int64[m x DELIVERY_WIDTH]. FAR: all is done, -1:
    nothing has moved for so long that nothing ever will. Called again, it goes on; packets may have come in between, from
    ``until`` on.
    """
    s, q, y = flat(state), flat(packets), flat(deliveries)
    now = s[NOW]
    while now < until:
        if s[TRAVELLING]:
            arrivals(s, q, y, now)
        queue_packets(s, q, now)
        if s[ACTIVE_NODES]:
            inject_all(s, q, now)
        if s[ACTIVE_ROUTERS]:
            step_routers(s, q, now)
            if now - s[MOVED] > PATIENCE + s[WHEEL] and s[TRAVELLING] == 0:
                return NEVER
        coming = following(s, q, now)
        if coming == FAR:
            s[NOW] = now + 1
            return FAR
        now = coming
    s[NOW] = until
    return int(now)
