"""The nodes of a network: their packets wait in order and leave flit by flit, each packet on one VC."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.jit import part
from accelsim.kernels.noc_layout import (
    ACTIVE_NODES,
    B_GROUP,
    B_NODE,
    B_NODE_LIST,
    B_NODE_VC,
    COMMON_VCS,
    FLIT_BITS,
    G_DONE,
    GROUP_WIDTH,
    HEAD_FLIT,
    NEVER,
    NEXT_PACKET,
    NODE_WIDTH,
    PACKET_WIDTH,
    PACKETS,
    Q_CREATED,
    Q_FLITS,
    Q_GROUP,
    Q_INJECTED,
    Q_NEXT,
    Q_SOURCE,
    S_ACTIVE,
    S_FIRST,
    S_FROM,
    S_LAST,
    S_LAST_VC,
    S_LINK,
    S_SENT,
    S_VC,
    TAIL_FLIT,
    VCS,
)
from accelsim.kernels.noc_links import send_flit

Ints = NDArray[np.int64]


@part
def queue_packets(s: Ints, q: Ints, now: int) -> None:
    """Packets that are there by now go behind the others of their node."""
    while s[NEXT_PACKET] < s[PACKETS] and q[s[NEXT_PACKET] * PACKET_WIDTH + Q_CREATED] <= now:
        packet = s[NEXT_PACKET]
        n = s[B_NODE] + q[packet * PACKET_WIDTH + Q_SOURCE] * NODE_WIDTH
        q[packet * PACKET_WIDTH + Q_NEXT] = NEVER
        if s[n + S_FIRST] == NEVER:
            s[n + S_FIRST] = packet
        else:
            q[s[n + S_LAST] * PACKET_WIDTH + Q_NEXT] = packet
        s[n + S_LAST] = packet
        s[NEXT_PACKET] += 1
        if s[n + S_ACTIVE] == 0:
            s[n + S_ACTIVE] = 1
            s[s[B_NODE_LIST] + s[ACTIVE_NODES]] = q[packet * PACKET_WIDTH + Q_SOURCE]
            s[ACTIVE_NODES] += 1


@part
def choose_vc(s: Ints, q: Ints, node: int) -> int:
    """The VC on which a node's next packet leaves, in turn among those with room; -1: none has any.

    A reduction has a VC of its own, from where the one that had it before is done.
    """
    n = s[B_NODE] + node * NODE_WIDTH
    room, common = s[B_NODE_VC] + node * s[VCS], s[COMMON_VCS]
    group = q[s[n + S_FIRST] * PACKET_WIDTH + Q_GROUP]
    if group >= 0:
        own = s[VCS] - common
        vc = common + group % own
        before = group < own or s[s[B_GROUP] + (group - own) * GROUP_WIDTH + G_DONE]
        return int(vc) if before and s[room + vc] > 0 else NEVER
    vc = s[n + S_LAST_VC]
    for _ in range(common):
        vc = vc + 1 if vc + 1 < common else 0
        if s[room + vc] > 0:
            return int(vc)
    return NEVER


@part
def inject(s: Ints, q: Ints, node: int, now: int) -> int:
    """The next flit of a node leaves, if it may; returns whether the node has anything more to send."""
    n = s[B_NODE] + node * NODE_WIDTH
    if s[n + S_FROM] > now:
        return 1
    packet = s[n + S_FIRST]
    p = packet * PACKET_WIDTH
    if s[n + S_SENT] == 0:
        s[n + S_VC] = choose_vc(s, q, node)
    vc = s[n + S_VC]
    if vc == NEVER or s[s[B_NODE_VC] + node * s[VCS] + vc] == 0:
        return 1
    flit = packet << FLIT_BITS
    if s[n + S_SENT] == 0:
        flit |= HEAD_FLIT
        q[p + Q_INJECTED] = now
        if q[p + Q_GROUP] < 0:
            s[n + S_LAST_VC] = vc
    s[n + S_SENT] += 1
    if s[n + S_SENT] == q[p + Q_FLITS]:
        flit |= TAIL_FLIT
        s[n + S_SENT] = 0
        s[n + S_FIRST] = q[p + Q_NEXT]
    s[s[B_NODE_VC] + node * s[VCS] + vc] -= 1
    s[n + S_FROM] = now + send_flit(s, s[n + S_LINK], flit, vc, now)
    return int(s[n + S_FIRST] != NEVER)


@part
def inject_all(s: Ints, q: Ints, now: int) -> None:
    """Every node with packets has its turn; those with none left drop out of the list."""
    place = 0
    while place < s[ACTIVE_NODES]:
        node = s[s[B_NODE_LIST] + place]
        if inject(s, q, node, now):
            place += 1
            continue
        s[s[B_NODE] + node * NODE_WIDTH + S_ACTIVE] = 0
        s[ACTIVE_NODES] -= 1
        s[s[B_NODE_LIST] + place] = s[s[B_NODE_LIST] + s[ACTIVE_NODES]]
