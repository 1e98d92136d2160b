"""A network transfer by transfer: each link serves whole packets, first come, first served, and heads go on ahead of their tails.

No flits and no buffers: what a packet meets is that links are taken. A link begins with a packet when its head has come and the
link is free; it is taken for the packet's flits, or for longer where the VCs behind it are few: each is held for the flits and
the stages that the next head waits for, so that V of them let through V packets in that time. The head asks for the next link
after the latency and the router's stages. Services last whole sixteenths of a cycle; ties go by the packet's number.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.jit import INT, WRITE_1, flat, kernel, part
from accelsim.kernels.noc_layout import (
    ANY,
    B_GROUP,
    B_INPUT,
    B_JOIN,
    B_NODE,
    B_OUTPUT,
    B_ROUTE,
    B_TREE,
    CLASS_BITS,
    COMBINE,
    COMMON_VCS,
    D_HEAD,
    D_NODE,
    D_TAIL,
    DELIVERED,
    DELIVERY_WIDTH,
    G_FIRST,
    GROUP_WIDTH,
    INPUT_WIDTH,
    J_ARRIVED,
    J_EXPECTED,
    J_HEAD,
    J_OUTPUT,
    J_ROUTER,
    J_TAIL,
    JOIN_WIDTH,
    K_CYCLES,
    K_FLITS,
    K_FROM_PORT,
    K_LATENCY,
    K_TO_NODE,
    K_TO_PORT,
    N_ROW,
    NEXT_PACKET,
    NODE_WIDTH,
    NODES,
    O_DIMENSION,
    O_LINK,
    OUTPUT_WIDTH,
    PACKET_WIDTH,
    PACKETS,
    PORTS,
    Q_COINS,
    Q_CREATED,
    Q_DELIVERY,
    Q_DESTINATION,
    Q_FLITS,
    Q_GROUP,
    Q_INJECTED,
    Q_SOURCE,
    Q_TREE,
    Q_TREE_END,
    ROUTING,
    S_LINK,
    SPECULATIVE,
    T_CLASS,
    T_OUTPUT,
    T_PORT_IN,
    TRAVERSAL,
    TREE_WIDTH,
)
from accelsim.kernels.noc_links import link_at

Ints = NDArray[np.int64]

H_TIME, H_PACKET, H_LINK, H_TAIL, H_VCS, HEAP_WIDTH = range(6)
PARTS = 16
"""Of a cycle, in which services are measured."""
"""A packet that asks for a link: when, which, and when its tail may pass it at the soonest,
and how many VCs it may take there.
"""


@part
def sooner(h: Ints, one: int, other: int) -> int:
    """Whether one asks before another: by time, then by packet, then by link."""
    for field in range(H_LINK + 1):
        if h[one + field] != h[other + field]:
            return int(h[one + field] < h[other + field])
    return 0


@part
def swap(h: Ints, one: int, other: int) -> None:
    """Two of the heap change places."""
    for field in range(HEAP_WIDTH):
        kept = h[one + field]
        h[one + field] = h[other + field]
        h[other + field] = kept


@part
def push(h: Ints, count: int, time: int, packet: int, link: int, tail: int, vcs: int) -> int:
    """One more asks for a link; returns how many do. A binary heap, its first record unused."""
    place = count + 1
    e = place * HEAP_WIDTH
    h[e + H_TIME], h[e + H_PACKET], h[e + H_LINK], h[e + H_TAIL], h[e + H_VCS] = time, packet, link, tail, vcs
    while place > 1 and sooner(h, place * HEAP_WIDTH, place // 2 * HEAP_WIDTH):
        swap(h, place * HEAP_WIDTH, place // 2 * HEAP_WIDTH)
        place //= 2
    return count + 1


@part
def pop(h: Ints, count: int) -> int:
    """The soonest goes to the unused first record; returns how many are left."""
    for field in range(HEAP_WIDTH):
        h[field] = h[HEAP_WIDTH + field]
        h[HEAP_WIDTH + field] = h[count * HEAP_WIDTH + field]
    left, place = count - 1, 1
    while 2 * place <= left:
        child = 2 * place
        if child < left and sooner(h, (child + 1) * HEAP_WIDTH, child * HEAP_WIDTH):
            child += 1
        if not sooner(h, child * HEAP_WIDTH, place * HEAP_WIDTH):
            break
        swap(h, child * HEAP_WIDTH, place * HEAP_WIDTH)
        place = child
    return left


@part
def next_route(s: Ints, q: Ints, port: int, p: int) -> int:
    """The route of a packet to one node, as `noc_route` finds it: its output x 4 and its VCs."""
    router = port // s[PORTS]
    place = s[B_ROUTE] + router * 2 * s[NODES] + q[p + Q_DESTINATION]
    row = s[s[B_INPUT] + port * INPUT_WIDTH + N_ROW]
    if row < 0:
        dimension = s[s[B_OUTPUT] + (router * s[PORTS] + (s[place] >> CLASS_BITS)) * OUTPUT_WIDTH + O_DIMENSION]
        row = q[p + Q_COINS] >> dimension & 1 if dimension >= 0 else 0
    return int(s[place + row * s[NODES]])


@part
def link_of(s: Ints, router: int, output: int) -> int:
    """The link behind an output."""
    return int(s[s[B_OUTPUT] + (router * s[PORTS] + output) * OUTPUT_WIDTH + O_LINK])


@part
def vcs_of(s: Ints, allowed: int) -> int:
    """How many VCs a class has: all, or half of them."""
    return int(s[COMMON_VCS] if allowed == ANY else s[COMMON_VCS] // 2)


@part
def go_on(s: Ints, q: Ints, h: Ints, count: int, packet: int, port: int, head: int, tail: int) -> int:
    """A packet's head could pass a router's switch: it asks for its links; returns how many ask in all."""
    p, router = packet * PACKET_WIDTH, port // s[PORTS]
    if q[p + Q_GROUP] >= 0:
        j = s[B_JOIN] + s[s[B_GROUP] + q[p + Q_GROUP] * GROUP_WIDTH + G_FIRST] * JOIN_WIDTH
        while s[j + J_ROUTER] != router:
            j += JOIN_WIDTH
        s[j + J_ARRIVED] += 1
        s[j + J_HEAD], s[j + J_TAIL] = max(s[j + J_HEAD], head), max(s[j + J_TAIL], tail)
        if s[j + J_ARRIVED] < s[j + J_EXPECTED]:
            return count
        wait = s[COMBINE] if s[j + J_EXPECTED] > 1 else 0
        return push(h, count, s[j + J_HEAD] + wait, packet, link_of(s, router, s[j + J_OUTPUT]), s[j + J_TAIL], 1)
    if q[p + Q_TREE] < 0:
        found = next_route(s, q, port, p)
        return push(h, count, head, packet, link_of(s, router, found >> CLASS_BITS), tail,
                    vcs_of(s, found & ((1 << CLASS_BITS) - 1)))
    for leg in range(q[p + Q_TREE], q[p + Q_TREE_END]):
        t = s[B_TREE] + leg * TREE_WIDTH
        if s[t + T_PORT_IN] == port:
            count = push(h, count, head, packet, link_of(s, router, s[t + T_OUTPUT]), tail, vcs_of(s, s[t + T_CLASS]))
    return count


@part
def arrive(s: Ints, q: Ints, y: Ints, packet: int, node: int, head: int, tail: int) -> None:
    """A packet arrives at a node."""
    d = q[packet * PACKET_WIDTH + Q_DELIVERY] * DELIVERY_WIDTH
    while y[d + D_NODE] != node:
        d += DELIVERY_WIDTH
    y[d + D_HEAD], y[d + D_TAIL] = head, tail
    s[DELIVERED] += 1


@kernel(INT(WRITE_1, WRITE_1, WRITE_1, WRITE_1, WRITE_1, INT))
def transfer(state: Ints, packets: Ints, deliveries: Ints, free: Ints, heap: Ints, most: int) -> int:
    """Pass ``most`` packets over a link each; returns how many ask for one now, or -1 at the end. Called again, it goes on.

    ``state``, ``packets`` and ``deliveries`` as `noc_run.advance` has them. ``free``: int64[links + 1], from when on each link
    is, in sixteenths of a cycle, zeros at first, and how many ask behind them. ``heap``: int64[(n + 2) x HEAP_WIDTH], n:
    packets, a copied one as often as it has nodes.
    """
    s, q, y, f, h = flat(state), flat(packets), flat(deliveries), flat(free), flat(heap)
    links = free.shape[0] - 1
    count = f[links]
    stages = s[ROUTING] + (0 if s[SPECULATIVE] else 1)
    for _ in range(most):
        packet = s[NEXT_PACKET]
        p = packet * PACKET_WIDTH
        if packet < s[PACKETS] and (count == 0 or q[p + Q_CREATED] <= h[HEAP_WIDTH + H_TIME]):
            s[NEXT_PACKET] += 1
            link = s[s[B_NODE] + q[p + Q_SOURCE] * NODE_WIDTH + S_LINK]
            asked, soonest, vcs = q[p + Q_CREATED], 0, s[COMMON_VCS] if q[p + Q_GROUP] < 0 else 1
        elif count:
            count = pop(h, count)
            asked, packet, link, soonest, vcs = h[H_TIME], h[H_PACKET], h[H_LINK], h[H_TAIL], h[H_VCS]
            p = packet * PACKET_WIDTH
        else:
            f[links] = count
            return -1
        k = link_at(s, link)
        flits, cycles = q[p + Q_FLITS], s[k + K_CYCLES]
        begins = max(asked, -(-f[link] // PARTS))
        service = flits * cycles * PARTS
        if s[k + K_TO_PORT] >= 0:
            service = max(service, -(-(service + stages * PARTS) // vcs))
        f[link] = max(asked * PARTS, f[link]) + service
        s[k + K_FLITS] += flits
        tail = max(begins + (flits - 1) * cycles, soonest)
        over = s[k + K_LATENCY] + cycles
        if s[k + K_FROM_PORT] >= 0:
            over += s[TRAVERSAL]
        else:
            q[p + Q_INJECTED] = begins
        if s[k + K_TO_NODE] >= 0:
            arrive(s, q, y, packet, s[k + K_TO_NODE], begins + over, tail + over)
        else:
            count = go_on(s, q, h, count, packet, s[k + K_TO_PORT], begins + over + stages, tail + over)
    f[links] = count
    return int(count)
