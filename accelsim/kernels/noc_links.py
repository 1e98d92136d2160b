"""What travels over the links of a network: flits one way, credits the other, each arriving in its cycle."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.jit import part, small_part
from accelsim.kernels.noc_layout import (
    ACTIVE_ROUTERS,
    B_AWAKE,
    B_FLIT,
    B_GROUP,
    B_IN_VC,
    B_INPUT,
    B_LINK,
    B_NODE_VC,
    B_OUT_VC,
    B_ROUTER_LIST,
    B_WHEEL,
    BUFFER,
    C_CREDITS,
    D_HEAD,
    D_NODE,
    D_TAIL,
    DELIVERED,
    DELIVERY_WIDTH,
    E_LINK,
    E_NEXT,
    E_WHAT,
    FLIT_BITS,
    FREE_EVENT,
    G_DONE,
    GROUP_WIDTH,
    HEAD_FLIT,
    I_COUNT,
    I_FIRST,
    I_KIND,
    I_READY,
    IDLE,
    IN_VC_WIDTH,
    INPUT_WIDTH,
    K_CYCLES,
    K_FLITS,
    K_FROM_NODE,
    K_FROM_PORT,
    K_LATENCY,
    K_TO_NODE,
    K_TO_PORT,
    LINK_WIDTH,
    MOVED,
    N_ROUTING,
    N_SWITCHING,
    NEVER,
    OUT_VC_WIDTH,
    PACKET_WIDTH,
    PORTS,
    Q_DELIVERY,
    Q_GROUP,
    ROUTING,
    TAIL_FLIT,
    TRAVELLING,
    VC_BITS,
    VCS,
    WAITING,
    WHEEL,
)

Ints = NDArray[np.int64]


@small_part
def link_at(s: Ints, link: int) -> int:
    """A link's record."""
    return int(s[B_LINK] + link * LINK_WIDTH)


@part
def send(s: Ints, link: int, what: int, arrives: int) -> None:
    """Have a flit or a credit arrive in a cycle to come."""
    e = s[FREE_EVENT]
    s[FREE_EVENT] = s[e + E_NEXT]
    slot = s[B_WHEEL] + (arrives & (s[WHEEL] - 1))
    s[e + E_NEXT], s[e + E_LINK], s[e + E_WHAT] = s[slot], link, what
    s[slot] = e
    s[TRAVELLING] += 1


@part
def send_flit(s: Ints, link: int, flit: int, vc: int, leaves: int) -> int:
    """A flit sets out at the end of a cycle; returns how many cycles it takes of the link."""
    k = link_at(s, link)
    s[MOVED] = leaves
    s[k + K_FLITS] += 1
    send(s, link, (flit << VC_BITS) + vc, leaves + s[k + K_LATENCY] + s[k + K_CYCLES])
    return int(s[k + K_CYCLES])


@part
def return_credit(s: Ints, link: int, vc: int, now: int) -> None:
    """A place of the buffer at a link's end is free."""
    send(s, link, -1 - vc, now + 1 + s[link_at(s, link) + K_LATENCY])


@part
def wake_router(s: Ints, router: int) -> None:
    """A router has something to do."""
    if s[s[B_AWAKE] + router] == 0:
        s[s[B_AWAKE] + router] = 1
        s[s[B_ROUTER_LIST] + s[ACTIVE_ROUTERS]] = router
        s[ACTIVE_ROUTERS] += 1


@part
def enter(s: Ints, port: int, vc: int, flit: int, now: int) -> None:
    """A flit enters the buffer of an input VC."""
    i = s[B_IN_VC] + (port * s[VCS] + vc) * IN_VC_WIDTH
    place = s[i + I_FIRST] + s[i + I_COUNT]
    if place >= s[BUFFER]:
        place -= s[BUFFER]
    s[s[B_FLIT] + (port * s[VCS] + vc) * s[BUFFER] + place] = flit
    s[i + I_COUNT] += 1
    n = s[B_INPUT] + port * INPUT_WIDTH
    if s[i + I_KIND] == IDLE:
        start_packet(s, port, vc, now)
        wake_router(s, port // s[PORTS])
    elif s[i + I_COUNT] == 1 and s[i + I_KIND] != WAITING:
        s[n + N_SWITCHING] |= 1 << vc
        wake_router(s, port // s[PORTS])


@part
def start_packet(s: Ints, port: int, vc: int, now: int) -> None:
    """A head is at the front of an input VC: it is routed."""
    i = s[B_IN_VC] + (port * s[VCS] + vc) * IN_VC_WIDTH
    s[i + I_KIND], s[i + I_READY] = WAITING, now + s[ROUTING]
    s[s[B_INPUT] + port * INPUT_WIDTH + N_ROUTING] |= 1 << vc


@part
def deliver(s: Ints, q: Ints, y: Ints, node: int, flit: int, now: int) -> None:
    """A flit arrives at a node, which takes it at once."""
    p = (flit >> FLIT_BITS) * PACKET_WIDTH
    d = q[p + Q_DELIVERY] * DELIVERY_WIDTH
    while y[d + D_NODE] != node:
        d += DELIVERY_WIDTH
    if flit & HEAD_FLIT:
        y[d + D_HEAD] = now
    if flit & TAIL_FLIT:
        y[d + D_TAIL] = now
        s[DELIVERED] += 1
        if q[p + Q_GROUP] >= 0:
            s[s[B_GROUP] + q[p + Q_GROUP] * GROUP_WIDTH + G_DONE] = 1


@part
def arrivals(s: Ints, q: Ints, y: Ints, now: int) -> None:
    """All that arrives in a cycle."""
    slot = s[B_WHEEL] + (now & (s[WHEEL] - 1))
    e = s[slot]
    s[slot] = NEVER
    while e != NEVER:
        k = link_at(s, s[e + E_LINK])
        what = s[e + E_WHAT]
        if what < 0:
            if s[k + K_FROM_PORT] >= 0:
                s[s[B_OUT_VC] + (s[k + K_FROM_PORT] * s[VCS] - 1 - what) * OUT_VC_WIDTH + C_CREDITS] += 1
            else:
                s[s[B_NODE_VC] + s[k + K_FROM_NODE] * s[VCS] - 1 - what] += 1
        elif s[k + K_TO_NODE] >= 0:
            deliver(s, q, y, s[k + K_TO_NODE], what >> VC_BITS, now)
            return_credit(s, s[e + E_LINK], what & ((1 << VC_BITS) - 1), now)
        else:
            enter(s, s[k + K_TO_PORT], what & ((1 << VC_BITS) - 1), what >> VC_BITS, now)
        following = s[e + E_NEXT]
        s[e + E_NEXT] = s[FREE_EVENT]
        s[FREE_EVENT] = e
        s[TRAVELLING] -= 1
        e = following
