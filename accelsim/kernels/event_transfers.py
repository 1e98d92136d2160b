"""Transfers: how loads pass their ports in order (rule 3), alone, shared by a multicast, or summed by a reduction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.event_arrivals import arrives, asks_still, await_end, drains
from accelsim.kernels.event_banks import note_words
from accelsim.kernels.event_happenings import at
from accelsim.kernels.event_layout import (
    B_GROUP,
    B_HOP,
    B_LIST,
    B_RESIDENCY,
    B_ROUTE,
    B_STATION,
    B_TABLE,
    B_USES,
    DRAIN_ARRIVES,
    DRAIN_LEAVES,
    FILL_ARRIVES,
    FILLED,
    FREE_GROUPS,
    G_COUNT,
    G_DIRECTION,
    G_ENTRY,
    G_HEAD,
    G_JOINED,
    G_LATEST,
    G_NUMBER,
    G_OPEN,
    G_TAIL,
    G_TENSOR,
    GROUP_WIDTH,
    H_BANKED,
    H_CACHED,
    H_RESOURCE,
    HOP_WIDTH,
    JOINS,
    KEY_BITS,
    L_BEFORE,
    L_BOOKED,
    L_DONE,
    L_GROUP,
    L_HOPS,
    L_KEY,
    L_LABEL,
    L_LATENCY,
    L_PIECE,
    L_PIECES,
    L_PREVIOUS,
    L_REACHES,
    L_REFERENCES,
    L_REQUESTED,
    L_RESIDENCY,
    L_ROUTE,
    L_THROUGH,
    L_TICKS,
    L_TIE,
    L_UNIT,
    LEFT,
    LEG_ARRIVES,
    MEMORIES,
    N_DRAIN,
    N_DRAIN_GROUP,
    N_DRAIN_LOAD,
    N_DRAIN_MEMBERS,
    N_FILL,
    N_FILL_GROUP,
    N_FILL_LOAD,
    N_FILL_MEMBERS,
    N_FIRST,
    N_LAST,
    N_NEXT_MEMBER,
    N_PIECES_LEFT,
    N_STATION,
    NEVER,
    NOW,
    OVER,
    RESIDENCIES,
    RESIDENCY_WIDTH,
    ROUTE_COUNT,
    ROUTE_FIRST,
    ROUTE_TICKS,
    ROUTE_WIDTH,
    S_ENTRY,
    S_ROUTES,
    S_TENSOR,
    S_UNDER_WAY,
    S_UNIT,
    S_USES,
    SLOT_FREES,
    SPREAD,
    STATION_WIDTH,
    SUMMED,
    T_NUMBER,
    T_PAYLOAD,
    T_PIECE_TICKS,
    T_PIECE_TICKS_OUT,
    T_PIECES,
    T_PIECES_OUT,
    WAYS,
)
from accelsim.kernels.event_pools import drop_leg, free_group, leg_at, new_group, new_leg
from accelsim.kernels.event_ports import ask, book
from accelsim.kernels.jit import part, small_part

Ints = NDArray[np.int64]
ALONE_FILL, TRUNK_FILL, LEG_FILL, ALONE_DRAIN, TRUNK_DRAIN, LEG_DRAIN = range(WAYS)
"""The ways a load may go."""
FILLING, DRAINING = 0, 1


@small_part
def make_leg(s: Ints, r: int, way: int, load: int, before: int, done: int) -> int:
    """A leg of a residency's transfer; what it continues it names."""
    st = s[B_STATION] + s[s[B_RESIDENCY] + r * RESIDENCY_WIDTH + N_STATION] * STATION_WIDTH
    n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
    route = s[B_ROUTE] + (s[st + S_ROUTES] + way) * ROUTE_WIDTH
    leg = new_leg(s)
    g = leg_at(s, leg)
    s[g + L_RESIDENCY], s[g + L_LABEL], s[g + L_UNIT] = r, s[st + S_TENSOR], s[st + S_UNIT]
    s[g + L_ROUTE], s[g + L_HOPS] = s[route + ROUTE_FIRST], s[route + ROUTE_COUNT]
    s[g + L_TICKS] = load + s[route + ROUTE_TICKS]
    s[g + L_REQUESTED], s[g + L_DONE], s[g + L_BEFORE] = s[NOW], done, before
    draining = way >= ALONE_DRAIN
    # the boundary nearer the array, then the step, then fills before drains, then tensor order, then unit
    s[g + L_KEY] = ((63 - s[st + S_ENTRY]) << KEY_BITS) + (s[n + N_LAST] if draining else s[n + N_FIRST])
    s[g + L_TIE] = ((DRAINING if draining else FILLING) << 40) + (s[st + S_TENSOR] << 32) + s[st + S_UNIT]
    s[g + L_PIECE], s[g + L_PIECES] = 0, 1
    if before < 0:
        s[g + L_REACHES], s[g + L_THROUGH], s[g + L_LATENCY] = s[NOW], s[NOW], 0
    else:
        b = leg_at(s, before)
        s[b + L_REFERENCES] += 1
        s[g + L_REACHES], s[g + L_THROUGH], s[g + L_LATENCY] = s[b + L_REACHES], s[b + L_THROUGH], s[b + L_LATENCY]
    return leg


@small_part
def use(s: Ints, r: int, way: int, load: int) -> int:
    """Count a load that goes a way."""
    st = s[B_STATION] + s[s[B_RESIDENCY] + r * RESIDENCY_WIDTH + N_STATION] * STATION_WIDTH
    s[s[B_USES] + s[st + S_USES] + s[s[B_TABLE] + load + T_NUMBER] * WAYS + way] += 1
    return 0


@small_part
def leaves(s: Ints, r: int, leg: int) -> int:
    """A drain has been booked to its end: when its slot is free and when it has arrived."""
    g = leg_at(s, leg)
    s[s[B_RESIDENCY] + r * RESIDENCY_WIDTH + N_DRAIN] = leg
    if s[MEMORIES]:
        at(s, s[g + L_THROUGH], SLOT_FREES, r)
        if asks_still(s, leg) < 0:
            arrives(s, leg, r)
    elif s[g + L_LATENCY]:
        at(s, s[g + L_THROUGH], SLOT_FREES, r)
        at(s, s[g + L_THROUGH] + s[g + L_LATENCY], DRAIN_ARRIVES, r)
    else:
        at(s, s[g + L_THROUGH], DRAIN_LEAVES, r)
    return 0


@part
def pass_freely(s: Ints, leg: int) -> int:
    """Pass the hops that hold nothing up; ask for arbitration at the next. Returns 1 where all hops are booked."""
    g = leg_at(s, leg)
    while s[g + L_BOOKED] < s[g + L_HOPS]:
        hop = s[B_HOP] + s[s[B_LIST] + s[g + L_ROUTE] + s[g + L_BOOKED]] * HOP_WIDTH
        reaches = s[g + L_REACHES]
        spared = s[hop + H_CACHED] and s[s[B_TABLE] + s[g + L_TICKS] + s[g + L_BOOKED]] == 0
        if s[hop + H_RESOURCE] >= 0 and not spared:
            if reaches == s[NOW]:
                ask(s, leg)
            else:
                at(s, reaches, LEG_ARRIVES, leg)
            return 0
        book(s, g, hop, reaches, reaches, reaches, NEVER)
        if spared:
            s[g + L_LATENCY], s[g + L_REACHES] = 0, reaches
        if s[hop + H_BANKED] >= 0:
            note_words(s, leg, hop, reaches)
    return 1


@small_part
def filled_up(s: Ints, leg: int) -> int:
    """A fill has been booked to its end."""
    g = leg_at(s, leg)
    r = s[g + L_RESIDENCY]
    s[s[B_RESIDENCY] + r * RESIDENCY_WIDTH + N_FILL] = leg
    if s[MEMORIES]:
        return 1 if await_end(s, leg) else arrives(s, leg, r)
    return at(s, s[g + L_THROUGH] + s[g + L_LATENCY], FILL_ARRIVES, r)


@part
def go_on(s: Ints, leg: int) -> int:
    """Pass what holds nothing up, and do what follows when the last hop is booked."""
    while pass_freely(s, leg):
        g = leg_at(s, leg)
        done = s[g + L_DONE]
        if done == FILLED:
            return filled_up(s, leg)
        if done == LEFT:
            leaves(s, s[g + L_RESIDENCY], leg)
            return await_end(s, leg)
        if done == OVER:
            if s[MEMORIES] and await_end(s, leg) == 0:
                arrives(s, leg, s[g + L_RESIDENCY])
            return drop_leg(s, leg)
        group = s[g + L_GROUP]
        at_group = s[B_GROUP] + group * GROUP_WIDTH
        r = s[at_group + G_HEAD]
        if done == SPREAD:
            # a multicast has left what its members share: each goes its own way
            while r >= 0:
                n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
                own = make_leg(s, r, LEG_FILL, s[n + N_FILL_LOAD], leg, FILLED)
                if pass_freely(s, own):
                    filled_up(s, own)
                r = s[n + N_NEXT_MEMBER]
            free_group(s, group)
            return drop_leg(s, leg)
        if done == SUMMED:
            while r >= 0:
                s[g + L_REFERENCES] += 1
                leaves(s, r, leg)
                r = s[s[B_RESIDENCY] + r * RESIDENCY_WIDTH + N_NEXT_MEMBER]
            free_group(s, group)
            await_end(s, leg)
            return drop_leg(s, leg)
        # a member's partial sums are on their way; the sum goes on behind the last of them
        s[at_group + G_JOINED] += 1
        latest = s[at_group + G_LATEST]
        if latest >= 0:
            b = leg_at(s, latest)
            its, own_end = s[b + L_THROUGH] + s[b + L_LATENCY], s[g + L_THROUGH] + s[g + L_LATENCY]
            if own_end > its or (own_end == its and s[g + L_REACHES] > s[b + L_REACHES]):
                drop_leg(s, latest)
                s[at_group + G_LATEST] = leg
            else:
                drop_leg(s, leg)
        else:
            s[at_group + G_LATEST] = leg
        if s[at_group + G_JOINED] < s[at_group + G_COUNT]:
            return 0
        latest = s[at_group + G_LATEST]
        load = s[s[B_RESIDENCY] + r * RESIDENCY_WIDTH + N_DRAIN_LOAD]
        use(s, r, TRUNK_DRAIN, load)
        leg = make_leg(s, r, TRUNK_DRAIN, load, latest, SUMMED)
        s[leg_at(s, leg) + L_GROUP] = group
        drop_leg(s, latest)
    return 0


@part
def alone(s: Ints, r: int, way: int, load: int, done: int) -> int:
    """A transfer of one station; several one after another where a link cuts long ones into pieces."""
    st = s[B_STATION] + s[s[B_RESIDENCY] + r * RESIDENCY_WIDTH + N_STATION] * STATION_WIDTH
    use(s, r, way, load)
    table = s[B_TABLE] + load
    leg = make_leg(s, r, way, load, NEVER, done)
    s[s[B_RESIDENCY] + r * RESIDENCY_WIDTH + N_PIECES_LEFT] = max(1, s[table + (T_PIECES if way == ALONE_FILL else T_PIECES_OUT)])
    pieces = s[table + (T_PIECES if way == ALONE_FILL else T_PIECES_OUT)]
    if pieces > 1:
        g = leg_at(s, leg)
        s[g + L_PIECES], s[g + L_DONE] = pieces, OVER
        s[g + L_TICKS] = s[table + (T_PIECE_TICKS if way == ALONE_FILL else T_PIECE_TICKS_OUT)]
    go_on(s, leg)
    s[st + S_UNDER_WAY] += s[table + T_PAYLOAD]
    return 0


@small_part
def next_piece(s: Ints, previous: int) -> int:
    """The piece after one that has been served at its first port."""
    p = leg_at(s, previous)
    r = s[p + L_RESIDENCY]
    n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
    draining = drains(s, p)
    way = ALONE_DRAIN if draining else ALONE_FILL
    leg = make_leg(s, r, way, s[n + (N_DRAIN_LOAD if draining else N_FILL_LOAD)], NEVER, OVER)
    g = leg_at(s, leg)
    s[g + L_PIECE], s[g + L_PIECES] = s[p + L_PIECE] + 1, s[p + L_PIECES]
    s[g + L_TICKS] = s[p + L_TICKS] + s[p + L_HOPS]
    s[g + L_PREVIOUS] = previous  # it keeps the reference that the event held
    if s[g + L_PIECE] + 1 == s[g + L_PIECES]:
        s[g + L_DONE] = LEFT if draining else FILLED
    return go_on(s, leg)


@part
def gather(s: Ints, r: int, direction: int, number: int, size: int) -> int:
    """Add a member to its group; returns the group once the last has come, -1 before."""
    n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
    st = s[B_STATION] + s[n + N_STATION] * STATION_WIDTH
    found = NEVER
    taken = s[RESIDENCIES] - s[FREE_GROUPS]
    for group in range(s[RESIDENCIES]):
        if taken == 0:
            break
        g = s[B_GROUP] + group * GROUP_WIDTH
        if s[g + G_OPEN]:
            taken -= 1
        if s[g + G_OPEN] == 1 and s[g + G_NUMBER] == number and s[g + G_DIRECTION] == direction \
                and s[g + G_ENTRY] == s[st + S_ENTRY] and s[g + G_TENSOR] == s[st + S_TENSOR]:
            found = group
            break
    s[n + N_NEXT_MEMBER] = NEVER
    if found < 0:
        found = new_group(s)
        g = s[B_GROUP] + found * GROUP_WIDTH
        s[g + G_DIRECTION], s[g + G_NUMBER] = direction, number
        s[g + G_ENTRY], s[g + G_TENSOR] = s[st + S_ENTRY], s[st + S_TENSOR]
        s[g + G_COUNT], s[g + G_JOINED], s[g + G_LATEST] = 0, 0, NEVER
        s[g + G_HEAD] = r
    g = s[B_GROUP] + found * GROUP_WIDTH
    if s[g + G_COUNT]:
        s[s[B_RESIDENCY] + s[g + G_TAIL] * RESIDENCY_WIDTH + N_NEXT_MEMBER] = r
    s[g + G_TAIL] = r
    s[g + G_COUNT] += 1
    if s[g + G_COUNT] < size:
        return NEVER
    s[g + G_OPEN] = 2
    return found


@small_part
def fill(s: Ints, r: int) -> int:
    """Ask for what a residency needs moved in, when all that share it have claimed."""
    n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
    load = s[n + N_FILL_LOAD]
    if s[n + N_FILL_MEMBERS] == 0:
        return alone(s, r, ALONE_FILL, load, FILLED)
    s[n + N_PIECES_LEFT] = 1
    st = s[B_STATION] + s[n + N_STATION] * STATION_WIDTH
    use(s, r, LEG_FILL, load)
    s[st + S_UNDER_WAY] += s[s[B_TABLE] + load + T_PAYLOAD]
    group = gather(s, r, FILLING, s[n + N_FILL_GROUP], s[n + N_FILL_MEMBERS])
    if group >= 0:
        use(s, r, TRUNK_FILL, load)
        leg = make_leg(s, r, TRUNK_FILL, load, NEVER, SPREAD)
        s[leg_at(s, leg) + L_GROUP] = group
        go_on(s, leg)
    return 0


@small_part
def drain(s: Ints, r: int) -> int:
    """Ask for what a residency leaves behind to move out."""
    n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
    load = s[n + N_DRAIN_LOAD]
    if s[n + N_DRAIN_MEMBERS] == 0:
        return alone(s, r, ALONE_DRAIN, load, LEFT)
    s[n + N_PIECES_LEFT] = 1
    st = s[B_STATION] + s[n + N_STATION] * STATION_WIDTH
    use(s, r, LEG_DRAIN, load)
    s[st + S_UNDER_WAY] += s[s[B_TABLE] + load + T_PAYLOAD]
    group = gather(s, r, DRAINING, s[n + N_DRAIN_GROUP], s[n + N_DRAIN_MEMBERS])
    if group < 0:
        return 0
    member = s[s[B_GROUP] + group * GROUP_WIDTH + G_HEAD]
    while member >= 0:
        m = s[B_RESIDENCY] + member * RESIDENCY_WIDTH
        after = s[m + N_NEXT_MEMBER]
        leg = make_leg(s, member, LEG_DRAIN, s[m + N_DRAIN_LOAD], NEVER, JOINS)
        s[leg_at(s, leg) + L_GROUP] = group
        go_on(s, leg)
        member = after
    return 0
