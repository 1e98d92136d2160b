"""Blame: how the last cycles before something became ready were spent, latest first, following the chain.

The wait that is being explained is in the head: each stretch found is written down from ``UNTIL`` backward, which then
moves on, until it meets ``SINCE``. Stretches must follow each other without a gap.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.codes import slot_of
from accelsim.kernels.event_arrivals import drains
from accelsim.kernels.event_happenings import add_row
from accelsim.kernels.event_layout import (
    AHEAD_LABEL,
    AHEAD_NEXT,
    AHEAD_START,
    AHEAD_UNIT,
    AHEAD_WIDTH,
    B_AHEAD,
    B_CULPRIT,
    B_HOP,
    B_LIST,
    B_MIX,
    B_RESIDENCY,
    B_RESOURCE,
    B_STATION,
    BLAMED_LABEL,
    BLAMED_LANE,
    BLAMED_PHASE,
    BOOKING_WIDTH,
    BY_RUN,
    CONTENTION,
    CULPRIT_COUNT,
    CULPRIT_CYCLES,
    CULPRIT_KEY,
    CULPRIT_ROOM,
    CULPRIT_WIDTH,
    FAULT,
    FAULT_FROM,
    FAULT_LANE,
    FAULT_TO,
    FILL_DRAIN,
    H_LATENCY_CAUSE,
    H_MEMORY,
    H_NAME,
    H_RESOURCE,
    H_SETUP,
    HOP_WIDTH,
    ISSUE,
    K_AHEAD,
    K_ARRIVAL,
    K_END,
    K_START,
    K_THROUGH,
    L_BEFORE,
    L_BOOKED,
    L_HOPS,
    L_LABEL,
    L_PREVIOUS,
    L_REQUESTED,
    L_ROUTE,
    L_UNIT,
    LANE_BITS,
    LEG_HEAD,
    MIX_WIDTH,
    MIXED,
    N_ARRIVED,
    N_BEFORE,
    N_CLAIMED,
    N_DRAIN,
    N_DRAINED,
    N_FILL,
    N_FREED_BY,
    N_FREED_END,
    N_FREED_WHO,
    N_READY,
    N_RELEASED,
    N_STATION,
    N_WHO,
    N_WHY,
    NOBODY,
    PHASES,
    R_CAUSE,
    RESIDENCY_WIDTH,
    RESOURCE_WIDTH,
    S_LEVEL,
    S_TENSOR,
    SINCE,
    SOURCE,
    STATION_WIDTH,
    SYNC,
    TICKS,
    TOO_MUCH_AT_ONCE,
    UNEXPLAINED,
    UNTIL,
    WHERE_ARRAY,
    WHERE_BITS,
    WHERE_FIRST,
    WHERE_NOWHERE,
    WHERE_REDUCTION,
    WHOSE_BITS,
    WHOSE_CORE,
    WHOSE_FIRST,
    WHOSE_MULTICAST,
    WHOSE_NOBODY,
    WHOSE_OTHERS,
    WRITEBACK,
)
from accelsim.kernels.event_pools import leg_at
from accelsim.kernels.jit import part, small_part
from accelsim.kernels.memory_layout import MIX, MIX_CONTENTION, MIX_LATENCY

Ints = NDArray[np.int64]
PHASE_COUNT = len(PHASES)
BEFORE, AFTER = range(2)


@part
def put(s: Ints, cause: int, start: int, end: int, where: int, whose: int) -> int:
    """Write a stretch down, cut to the wait; returns 1 where the wait is explained to its beginning."""
    end, start = min(end, s[UNTIL]), max(start, s[SINCE])
    if start < end:
        lane = s[BLAMED_LANE]
        if end != s[UNTIL] and s[FAULT] == 0:
            s[FAULT], s[FAULT_LANE], s[FAULT_FROM], s[FAULT_TO] = UNEXPLAINED, lane, end, s[UNTIL]
        add_row(s, lane, start * TICKS, end * TICKS, 1 + cause * PHASE_COUNT + s[BLAMED_PHASE], s[BLAMED_LABEL])
        key = (((((cause << WHERE_BITS) + where) << WHOSE_BITS) + whose) << LANE_BITS) + lane
        room = s[CULPRIT_ROOM]
        slot = slot_of(key, room)
        at = s[B_CULPRIT] + slot * CULPRIT_WIDTH
        while s[at + CULPRIT_KEY] != key:
            if 4 * s[CULPRIT_COUNT] > 3 * room:
                s[FAULT] = TOO_MUCH_AT_ONCE
                return 1
            if s[at + CULPRIT_KEY] < 0:
                s[at + CULPRIT_KEY], s[at + CULPRIT_CYCLES] = key, 0
                s[CULPRIT_COUNT] += 1
                break
            slot = (slot + 1) & (room - 1)
            at = s[B_CULPRIT] + slot * CULPRIT_WIDTH
        s[at + CULPRIT_CYCLES] += end - start
        s[UNTIL] = start
    return 1 if s[UNTIL] <= s[SINCE] else 0


@part
def first_of(s: Ints, leg: int) -> int:
    """Where the record of a transfer's first leg begins."""
    g = leg_at(s, leg)
    while True:
        earlier = s[g + L_BEFORE] if s[g + L_BEFORE] >= 0 else s[g + L_PREVIOUS]
        if earlier < 0:
            return g
        g = leg_at(s, earlier)


@part
def booking_of(s: Ints, first: int, g: int, place: int) -> int:
    """Where the booking of a hop stands, counted over a leg and the one that it continues (by their places)."""
    shared = s[first + L_BOOKED] if first != g else 0
    if place < shared:
        return int(first + LEG_HEAD + place * BOOKING_WIDTH)
    return int(g + LEG_HEAD + (place - shared) * BOOKING_WIDTH)


@part
def hop_of(s: Ints, first: int, g: int, place: int) -> int:
    """Where a hop stands, counted as its booking is."""
    shared = s[first + L_BOOKED] if first != g else 0
    if place < shared:
        return int(s[B_HOP] + s[s[B_LIST] + s[first + L_ROUTE] + place] * HOP_WIDTH)
    return int(s[B_HOP] + s[s[B_LIST] + s[g + L_ROUTE] + place - shared] * HOP_WIDTH)


@part
def put_queue(s: Ints, g: int, hop: int, booking: int) -> int:
    """How a leg waited at a hop for those ahead of it."""
    arrival, start = s[booking + K_ARRIVAL], s[booking + K_START]
    if start <= arrival or s[hop + H_RESOURCE] < 0:
        return 0
    cause = s[s[B_RESOURCE] + s[hop + H_RESOURCE] * RESOURCE_WIDTH + R_CAUSE]
    end, note = start, s[booking + K_AHEAD]
    while note >= 0:
        a = s[B_AHEAD] + note * AHEAD_WIDTH
        own = s[a + AHEAD_LABEL] == s[g + L_LABEL] and s[a + AHEAD_UNIT] == s[g + L_UNIT]
        since = max(s[a + AHEAD_START], arrival)
        if put(s, cause if own else s[CONTENTION], since, end, s[hop + H_NAME],
               WHOSE_NOBODY if own else WHOSE_FIRST + s[a + AHEAD_LABEL]):
            return 1
        end, note = since, s[a + AHEAD_NEXT]
    if end > arrival:
        return put(s, s[CONTENTION], arrival, end, s[hop + H_NAME], WHOSE_OTHERS)
    return 0


@part
def put_mixed(s: Ints, leg: int, which: int, start: int, end: int, where: int) -> int:
    """A stretch that channels are behind: latency last; what is left of it inside the wait is shared out in whole cycles."""
    if end <= start:
        return 0
    m = s[B_MIX] + leg * MIX_WIDTH + which * MIX
    latest = max(start, end - s[m + MIX_LATENCY])
    if put(s, s[MIXED], latest, end, where, WHOSE_NOBODY):
        return 1
    start, latest = max(start, s[SINCE]), min(latest, s[UNTIL])
    if start >= latest:
        return 0
    total = gone = 0
    for i in range(MIX_LATENCY + 1, MIX):
        total += s[m + i]
    until = latest
    for i in range(MIX_LATENCY + 1, MIX):
        gone += s[m + i]
        since = latest - (latest - start) * gone // total if total else start
        if put(s, s[MIXED + i], since, until, where, WHOSE_OTHERS if i == MIX_CONTENTION else WHOSE_NOBODY):
            return 1
        until = since
    return 0


@part
def put_way(s: Ints, leg: int, until: int) -> int:
    """A leg's way backward from a cycle: latencies, service, first bytes and queues."""
    g = leg_at(s, leg)
    first = g if s[g + L_BEFORE] < 0 else leg_at(s, s[g + L_BEFORE])
    shared = s[first + L_BOOKED] if first != g else 0
    place = shared + s[g + L_BOOKED] - 1
    if place < 0:
        return 0
    hop, booking = hop_of(s, first, g, place), booking_of(s, first, g, place)
    outward = s[hop + H_MEMORY] >= 0 and drains(s, g)
    if outward:
        if put_mixed(s, leg, AFTER, s[booking + K_THROUGH], until, s[hop + H_NAME]):
            return 1
    elif put(s, s[hop + H_LATENCY_CAUSE], s[booking + K_THROUGH], until, s[hop + H_NAME], WHOSE_NOBODY):
        return 1
    while place > 0 and s[booking + K_THROUGH] != s[booking + K_END]:
        # data came slower than this hop could pass it on: the hop before decided
        through = s[booking + K_THROUGH]
        place -= 1
        hop, booking = hop_of(s, first, g, place), booking_of(s, first, g, place)
        if put(s, s[hop + H_LATENCY_CAUSE], s[booking + K_THROUGH], through, s[hop + H_NAME], WHOSE_NOBODY):
            return 1
    if s[hop + H_MEMORY] >= 0:
        whose = s[g + L_BEFORE] if place < shared else leg
        if put_mixed(s, whose, BEFORE if outward else AFTER, s[booking + K_START], s[booking + K_END], s[hop + H_NAME]):
            return 1
    elif s[hop + H_RESOURCE] >= 0:
        served = min(s[booking + K_END], s[booking + K_START] + s[hop + H_SETUP])
        cause = s[s[B_RESOURCE] + s[hop + H_RESOURCE] * RESOURCE_WIDTH + R_CAUSE]
        if put(s, cause, served, s[booking + K_END], s[hop + H_NAME], WHOSE_NOBODY):
            return 1
        if put(s, s[ISSUE], s[booking + K_START], served, s[hop + H_NAME], WHOSE_NOBODY):
            return 1
    while True:
        if s[hop + H_MEMORY] >= 0:
            whose = s[g + L_BEFORE] if place < shared else leg
            if put_mixed(s, whose, BEFORE, s[booking + K_ARRIVAL], s[booking + K_START], s[hop + H_NAME]):
                return 1
        elif put_queue(s, first if place < shared else g, hop, booking):
            return 1
        if place == 0:
            return 0
        arrival = s[booking + K_ARRIVAL]
        place -= 1
        hop, booking = hop_of(s, first, g, place), booking_of(s, first, g, place)
        if put(s, s[hop + H_LATENCY_CAUSE], s[booking + K_START], arrival, s[hop + H_NAME], WHOSE_NOBODY):
            return 1


@part
def put_transfer(s: Ints, leg: int, until: int) -> int:
    """A transfer's way backward from a cycle, the pieces it was cut into one after another."""
    while leg >= 0:
        if put_way(s, leg, until):
            return 1
        g = leg_at(s, leg)
        until, leg = s[g + L_REQUESTED], s[g + L_PREVIOUS]
    return 0


@part
def explain(s: Ints, r: int, until: int, array: int) -> int:
    """Why a residency became ready when it did (``until`` -1); or, its own drain being explained already, how it came to be
    released before then. Follows the chain until the wait is explained, or the chain ends.
    """
    held = own = explained = until >= 0
    while True:
        n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
        st = s[B_STATION] + s[n + N_STATION] * STATION_WIDTH
        if not held:
            while s[n + N_ARRIVED] == 1 and s[n + N_BEFORE] >= 0:
                n = s[B_RESIDENCY] + s[n + N_BEFORE] * RESIDENCY_WIDTH
            if s[n + N_FILL] >= 0:
                if put_transfer(s, s[n + N_FILL], s[n + N_READY]):
                    return 1
                asked = s[first_of(s, s[n + N_FILL]) + L_REQUESTED]
                if asked > s[n + N_CLAIMED] and put(s, s[SYNC], s[n + N_CLAIMED], asked, s[st + S_LEVEL], WHOSE_MULTICAST):
                    return 1
            if s[n + N_WHO] < 0:
                return 0
            if s[n + N_WHY] != SOURCE:
                held, own, until = True, False, s[n + N_CLAIMED]
            r = s[n + N_WHO]
            continue
        # it held the slot, or its drain had to be back: its drain, then those that read it
        if s[n + N_DRAIN] >= 0 and not explained:
            g = first_of(s, s[n + N_DRAIN])
            asked = s[g + L_REQUESTED]
            if own:
                if put_transfer(s, s[n + N_DRAIN], until):
                    return 1
            else:
                hops = s[g + L_HOPS]
                where = s[s[B_HOP] + s[s[B_LIST] + s[g + L_ROUTE] + hops - 1] * HOP_WIDTH + H_NAME] if hops else WHERE_NOWHERE
                if put(s, s[WRITEBACK], asked, until, where, WHOSE_FIRST + s[st + S_TENSOR]):
                    return 1
            if asked > s[n + N_RELEASED] and put(s, s[SYNC], s[n + N_RELEASED], asked, WHERE_REDUCTION, WHOSE_CORE):
                return 1
            until = s[n + N_RELEASED]
        explained = False
        if s[n + N_FREED_BY] == NOBODY:
            if s[n + N_RELEASED] > s[n + N_READY]:
                # another core went past it, or has a copy that outlives it: this array's own did so before it waited
                return put(s, s[SYNC], 0, until, s[st + S_LEVEL], WHOSE_CORE)
            held = False
        elif s[n + N_FREED_BY] == BY_RUN:
            if s[n + N_FREED_WHO] == array:
                return put(s, s[FILL_DRAIN], s[n + N_FREED_END], until, WHERE_ARRAY, WHOSE_NOBODY)
            return put(s, s[SYNC], 0, until, WHERE_FIRST + s[n + N_FREED_WHO], WHOSE_CORE)
        else:
            r = s[n + N_FREED_WHO]


@small_part
def check_explained(s: Ints) -> int:
    """The wait has been gone through: whatever is left of it is a fault."""
    if s[UNTIL] != s[SINCE] and s[FAULT] == 0:
        s[FAULT], s[FAULT_LANE], s[FAULT_FROM], s[FAULT_TO] = UNEXPLAINED, s[BLAMED_LANE], s[SINCE], s[UNTIL]
    return 0


@part
def explain_drain(s: Ints, r: int, array: int) -> int:
    """Why the last drain of an array's results arrived when it did: how the end of the run was spent."""
    n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
    leg = s[n + N_DRAIN]
    if put_transfer(s, leg, s[n + N_DRAINED]):
        return 1
    if put(s, s[SYNC], s[n + N_RELEASED], s[first_of(s, leg) + L_REQUESTED], WHERE_REDUCTION, WHOSE_CORE):
        return 1
    return explain(s, r, s[n + N_RELEASED], array)
