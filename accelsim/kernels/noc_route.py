"""The routing stage: where the packet at the front of an input VC goes, to one output, to several, or together with others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.jit import part
from accelsim.kernels.noc_layout import (
    ANY,
    B_FLIT,
    B_GROUP,
    B_IN_VC,
    B_INPUT,
    B_JOIN,
    B_LEG,
    B_OUTPUT,
    B_ROUTE,
    B_TREE,
    BUFFER,
    CLASS_BITS,
    COMBINE,
    COMMON_VCS,
    COPIED,
    FLIT_BITS,
    G_FIRST,
    GROUP_WIDTH,
    I_CHAIN,
    I_FIRST,
    I_GONE,
    I_KIND,
    I_MASK,
    I_PORT,
    I_READY,
    I_VC,
    IN_VC_WIDTH,
    INPUT_WIDTH,
    J_ARRIVED,
    J_CHAIN,
    J_EXPECTED,
    J_OUTPUT,
    J_ROUTER,
    JOIN_WIDTH,
    JOINED,
    L_MASK,
    L_SENT,
    L_VC,
    LEG_WIDTH,
    LOWER,
    N_ALLOCATING,
    N_DIMENSION,
    N_ROUTING,
    N_ROW,
    N_SWITCHING,
    NEVER,
    NO_VC,
    NODES,
    O_DIMENSION,
    OUTPUT_WIDTH,
    PACKET_WIDTH,
    PORTS,
    Q_COINS,
    Q_DESTINATION,
    Q_GROUP,
    Q_TREE,
    Q_TREE_END,
    SINGLE,
    T_CLASS,
    T_OUTPUT,
    T_PORT_IN,
    TREE_WIDTH,
    UPPER,
    VCS,
)

Ints = NDArray[np.int64]


@part
def mask_of(s: Ints, vcs: int) -> int:
    """The bits of the VCs of a class."""
    common = s[COMMON_VCS]
    lower = (1 << (common - common // 2)) - 1
    if vcs == LOWER:
        return int(lower)
    return int((1 << common) - 1 - (lower if vcs == UPPER else 0))


@part
def ask_for_vc(s: Ints, port: int, vc: int, kind: int, output: int, mask: int) -> None:
    """A packet that goes to one output asks for one of its VCs from now on."""
    i = s[B_IN_VC] + (port * s[VCS] + vc) * IN_VC_WIDTH
    s[i + I_KIND], s[i + I_PORT], s[i + I_MASK], s[i + I_VC] = kind, output, mask, NO_VC
    n = s[B_INPUT] + port * INPUT_WIDTH
    s[n + N_ROUTING] &= ~(1 << vc)
    s[n + N_ALLOCATING] |= 1 << vc


@part
def route_one(s: Ints, q: Ints, port: int, vc: int, p: int) -> None:
    """A packet to one node: its output from the table; within a dimension it keeps its class of VCs."""
    router, n = port // s[PORTS], s[B_INPUT] + port * INPUT_WIDTH
    place = s[B_ROUTE] + router * 2 * s[NODES] + q[p + Q_DESTINATION]
    row = s[n + N_ROW]
    if row < 0:
        ahead = s[B_OUTPUT] + (router * s[PORTS] + (s[place] >> CLASS_BITS)) * OUTPUT_WIDTH + O_DIMENSION
        row = q[p + Q_COINS] >> s[ahead] & 1 if s[ahead] >= 0 else 0
    entry = s[place + row * s[NODES]]
    output, vcs = entry >> CLASS_BITS, entry & ((1 << CLASS_BITS) - 1)
    o = s[B_OUTPUT] + (router * s[PORTS] + output) * OUTPUT_WIDTH
    if vcs != ANY and s[n + N_DIMENSION] >= 0 and s[n + N_DIMENSION] == s[o + O_DIMENSION]:
        vcs = UPPER if vc >= s[COMMON_VCS] - s[COMMON_VCS] // 2 else LOWER
    ask_for_vc(s, port, vc, SINGLE, output, mask_of(s, vcs))


@part
def route_copies(s: Ints, q: Ints, port: int, vc: int, p: int) -> None:
    """A packet to several nodes: its legs out of this router, as its tree says."""
    i = s[B_IN_VC] + (port * s[VCS] + vc) * IN_VC_WIDTH
    count = last = 0
    for leg in range(q[p + Q_TREE], q[p + Q_TREE_END]):
        t = s[B_TREE] + leg * TREE_WIDTH
        if s[t + T_PORT_IN] == port:
            count, last = count + 1, t
    if count == 1:
        ask_for_vc(s, port, vc, SINGLE, s[last + T_OUTPUT], mask_of(s, s[last + T_CLASS]))
        return
    for leg in range(q[p + Q_TREE], q[p + Q_TREE_END]):
        t = s[B_TREE] + leg * TREE_WIDTH
        if s[t + T_PORT_IN] == port:
            legs = s[B_LEG] + ((port * s[VCS] + vc) * s[PORTS] + s[t + T_OUTPUT]) * LEG_WIDTH
            s[legs + L_VC], s[legs + L_SENT], s[legs + L_MASK] = NO_VC, 0, mask_of(s, s[t + T_CLASS])
    ask_for_vc(s, port, vc, COPIED, NEVER, 0)
    s[i + I_GONE] = 0
    s[s[B_INPUT] + port * INPUT_WIDTH + N_SWITCHING] |= 1 << vc


@part
def join(s: Ints, q: Ints, port: int, vc: int, p: int, now: int) -> None:
    """A packet of a reduction: it waits for the others that join here; the last of them to come goes on for all."""
    i = s[B_IN_VC] + (port * s[VCS] + vc) * IN_VC_WIDTH
    j = s[B_JOIN] + s[s[B_GROUP] + q[p + Q_GROUP] * GROUP_WIDTH + G_FIRST] * JOIN_WIDTH
    while s[j + J_ROUTER] != port // s[PORTS]:
        j += JOIN_WIDTH
    s[j + J_ARRIVED] += 1
    s[i + I_CHAIN] = s[j + J_CHAIN]
    s[j + J_CHAIN] = port * s[VCS] + vc
    s[i + I_PORT] = s[j + J_OUTPUT]
    if s[j + J_ARRIVED] < s[j + J_EXPECTED]:
        s[s[B_INPUT] + port * INPUT_WIDTH + N_ROUTING] &= ~(1 << vc)
        return
    s[i + I_KIND] = JOINED
    s[i + I_READY] = now + s[COMBINE] if s[j + J_EXPECTED] > 1 else now


@part
def route(s: Ints, q: Ints, port: int, vc: int, now: int) -> None:
    """The routing stage of the packet at the front of an input VC has ended, or all that join it have come."""
    i = s[B_IN_VC] + (port * s[VCS] + vc) * IN_VC_WIDTH
    flit = s[s[B_FLIT] + (port * s[VCS] + vc) * s[BUFFER] + s[i + I_FIRST]]
    p = (flit >> FLIT_BITS) * PACKET_WIDTH
    if q[p + Q_GROUP] >= 0:
        if s[i + I_KIND] != JOINED:
            join(s, q, port, vc, p, now)
        if s[i + I_KIND] == JOINED and s[i + I_READY] <= now:
            ask_for_vc(s, port, vc, JOINED, s[i + I_PORT], 1 << vc)
    elif q[p + Q_TREE] >= 0:
        route_copies(s, q, port, vc, p)
    else:
        s[i + I_CHAIN] = NEVER
        route_one(s, q, port, vc, p)


@part
def route_heads(s: Ints, q: Ints, port: int, now: int) -> None:
    """All heads of an input port whose routing stage ends now."""
    heads = s[s[B_INPUT] + port * INPUT_WIDTH + N_ROUTING]
    for vc in range(s[VCS]):
        if heads >> vc & 1 and s[s[B_IN_VC] + (port * s[VCS] + vc) * IN_VC_WIDTH + I_READY] <= now:
            route(s, q, port, vc, now)
