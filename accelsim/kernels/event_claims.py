"""Claims: a residency takes a slot as soon as it may (rules 1 and 2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.columns import (
    BLOCK_OPERANDS,
    STAY_AFTER,
    STAY_DRAIN,
    STAY_DRAIN_GROUP,
    STAY_DRAIN_MEMBERS,
    STAY_FILL,
    STAY_FILL_GROUP,
    STAY_FILL_MEMBERS,
    STAY_FIRST,
    STAY_HELD,
    STAY_LAST,
    STAY_REFILL,
    STAY_SINK,
    STAY_SOURCE,
    STAY_TILE,
)
from accelsim.kernels.event_happenings import tell
from accelsim.kernels.event_layout import (
    A_BLOCK,
    A_BLOCK_COUNT,
    A_BLOCKS,
    A_FEEDS,
    ARRAY_WIDTH,
    B_ARRAY,
    B_BLOCK,
    B_LIST,
    B_RESIDENCY,
    B_RING,
    B_STATION,
    BLOCK_WIDTH,
    CLAIMED,
    DRAIN,
    N_BEFORE,
    N_CLAIMED,
    N_DRAIN_GROUP,
    N_DRAIN_LOAD,
    N_DRAIN_MEMBERS,
    N_DRAINED,
    N_FILL_GROUP,
    N_FILL_LOAD,
    N_FILL_MEMBERS,
    N_FIRST,
    N_FREED_BY,
    N_HELD,
    N_LAST,
    N_NEXT_DRAINING,
    N_OUTLIVED,
    N_OUTLIVES,
    N_OWING,
    N_PENDING,
    N_READERS,
    N_READY,
    N_SEQ,
    N_SINK,
    N_SLOT_FREE,
    N_SOURCE,
    N_STATION,
    N_TILE,
    N_WHO,
    N_WHY,
    NEVER,
    NOBODY,
    NOW,
    OUTPUT,
    RESIDENCY_WIDTH,
    S_AFTER,
    S_ARRAY_COUNT,
    S_ARRAYS,
    S_AWAITED,
    S_BUFFERS,
    S_CHILD_COUNT,
    S_CHILDREN,
    S_CLAIMS,
    S_DRAINING,
    S_FOLLOW_COUNT,
    S_FOLLOWS,
    S_LAST,
    S_OWING,
    S_PARENT,
    S_RING,
    S_ROUND,
    S_STAY,
    S_TENSOR,
    SLOT,
    SOURCE,
    START,
    STATION_WIDTH,
    TENSORS,
)
from accelsim.kernels.event_pools import drop, hold, new_residency
from accelsim.kernels.event_stations import filled, live, next_stay, pass_by
from accelsim.kernels.event_transfers import fill
from accelsim.kernels.jit import small_part

Ints = NDArray[np.int64]
NOT_THERE = -2


@small_part
def look(s: Ints, st: int) -> int:
    """Look at the next stay of a station, and for whose drain it has to wait."""
    s[st + S_AFTER] = NEVER
    row = next_stay(s, st)
    if row < 0 or s[row + STAY_REFILL] == 0:
        return 0
    tile, seq = s[row + STAY_TILE], s[row + STAY_AFTER]
    if tile < 0 and seq < 0:
        return 0
    found = NEVER
    for back in range(1, min(s[st + S_BUFFERS], s[st + S_CLAIMS]) + 1):
        r = live(s, st, s[st + S_CLAIMS] - back)
        if r >= 0:
            n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
            if s[n + N_TILE] == tile if tile >= 0 else s[n + N_SEQ] == seq:
                found = max(found, s[n + N_SEQ])
    r = s[st + S_DRAINING]
    while r >= 0:
        n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
        if s[n + N_TILE] == tile if tile >= 0 else s[n + N_SEQ] == seq:
            found = max(found, s[n + N_SEQ])
        r = s[n + N_NEXT_DRAINING]
    s[st + S_AFTER] = found
    return 0


@small_part
def unread(s: Ints, st: int, seq: int) -> int:
    """Readers that have not gone past a residency."""
    count = 0
    for i in range(s[st + S_CHILD_COUNT]):
        row = next_stay(s, s[B_STATION] + s[s[B_LIST] + s[st + S_CHILDREN] + i] * STATION_WIDTH)
        if row >= 0 and s[row + STAY_SOURCE] <= seq:
            count += 1
    station = (st - s[B_STATION]) // STATION_WIDTH
    for i in range(s[st + S_ARRAY_COUNT]):
        a = s[B_ARRAY] + s[s[B_LIST] + s[st + S_ARRAYS] + i] * ARRAY_WIDTH
        if s[a + A_BLOCK] < s[a + A_BLOCK_COUNT]:
            row = s[B_BLOCK] + (s[a + A_BLOCKS] + s[a + A_BLOCK]) * s[BLOCK_WIDTH]
            for t in range(s[TENSORS]):
                if s[s[B_LIST] + s[a + A_FEEDS] + t] == station and s[row + BLOCK_OPERANDS + t] <= seq:
                    count += 1
    return count


@small_part
def owed(s: Ints, r: int) -> int:
    """Residencies of children, claimed from an earlier residency, whose drains will go to this one."""
    n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
    st = s[B_STATION] + s[n + N_STATION] * STATION_WIDTH
    count = 0
    for i in range(s[st + S_CHILD_COUNT]):
        child = s[B_STATION] + s[s[B_LIST] + s[st + S_CHILDREN] + i] * STATION_WIDTH
        if s[child + S_OWING] == 0:
            continue
        for back in range(1, min(s[child + S_BUFFERS], s[child + S_CLAIMS]) + 1):
            one = live(s, child, s[child + S_CLAIMS] - back)
            if one >= 0:
                m = s[B_RESIDENCY] + one * RESIDENCY_WIDTH
                if s[m + N_OWING] == 1 and s[m + N_SINK] == s[n + N_SEQ]:
                    count += 1
        one = s[child + S_DRAINING]
        while one >= 0:
            m = s[B_RESIDENCY] + one * RESIDENCY_WIDTH
            if s[m + N_OWING] == 1 and s[m + N_SINK] == s[n + N_SEQ]:
                count += 1
            one = s[m + N_NEXT_DRAINING]
    return count


@small_part
def latest_for(s: Ints, st: int, step: int) -> int:
    """The residency of a station that holds a step's tile; -1 where none is in a slot."""
    for back in range(1, min(s[st + S_BUFFERS], s[st + S_CLAIMS]) + 1):
        r = live(s, st, s[st + S_CLAIMS] - back)
        if r >= 0 and s[s[B_RESIDENCY] + r * RESIDENCY_WIDTH + N_FIRST] <= step:
            return r
    return NEVER


@small_part
def followed(s: Ints, st: int, step: int) -> int:
    """The last to come of the tiles that a station's next has to follow; -1: none is in a slot, -2: one is not there yet."""
    last, latest = NEVER, NEVER
    for i in range(s[st + S_FOLLOW_COUNT]):
        other = s[B_STATION] + s[s[B_LIST] + s[st + S_FOLLOWS] + i] * STATION_WIDTH
        row = next_stay(s, other)
        if row >= 0 and s[row + STAY_FIRST] <= step:
            return NOT_THERE
        r = latest_for(s, other, step)
        if r < 0:
            continue
        ready = s[s[B_RESIDENCY] + r * RESIDENCY_WIDTH + N_READY]
        if ready < 0:
            return NOT_THERE
        if ready > latest:
            last, latest = r, ready
    return last


@small_part
def claim(s: Ints, station: int, st: int) -> int:
    """Claim the next slot of a station if its conditions hold; returns 1 where it did."""
    row = next_stay(s, st)
    if row < 0:
        return 0
    seq, ring = s[st + S_CLAIMS], s[B_RING] + s[st + S_RING]
    slot = ring + (seq - s[st + S_BUFFERS] & s[st + S_ROUND])
    held = s[slot]
    if held >= 0 and s[s[B_RESIDENCY] + held * RESIDENCY_WIDTH + N_SLOT_FREE] < 0:
        return 0
    reading = s[row + STAY_SOURCE]
    parent = s[B_STATION] + s[st + S_PARENT] * STATION_WIDTH
    source = live(s, parent, reading)
    if source < 0 or s[s[B_RESIDENCY] + source * RESIDENCY_WIDTH + N_READY] < 0 or s[st + S_AFTER] >= 0:
        return 0
    first = followed(s, st, s[row + STAY_FIRST]) if s[st + S_FOLLOW_COUNT] else NEVER
    if first == NOT_THERE:
        return 0
    # what came last of what the claim waited for; one that waited for the one before shares its reason
    latest = s[s[B_RESIDENCY] + source * RESIDENCY_WIDTH + N_READY]
    why, who = (SOURCE, source) if latest > 0 else (START, NEVER)
    if held >= 0 and s[s[B_RESIDENCY] + held * RESIDENCY_WIDTH + N_SLOT_FREE] > latest:
        latest = s[s[B_RESIDENCY] + held * RESIDENCY_WIDTH + N_SLOT_FREE]
        why, who = SLOT, held
    if first >= 0 and s[s[B_RESIDENCY] + first * RESIDENCY_WIDTH + N_READY] > latest:
        latest = s[s[B_RESIDENCY] + first * RESIDENCY_WIDTH + N_READY]
        why, who = SOURCE, first
    awaited = s[st + S_AWAITED]
    if awaited >= 0 and s[s[B_RESIDENCY] + awaited * RESIDENCY_WIDTH + N_DRAINED] > latest:
        latest = s[s[B_RESIDENCY] + awaited * RESIDENCY_WIDTH + N_DRAINED]
        why, who = DRAIN, awaited
    before = s[st + S_LAST]
    if before >= 0 and s[s[B_RESIDENCY] + before * RESIDENCY_WIDTH + N_CLAIMED] > latest:
        why, who = s[s[B_RESIDENCY] + before * RESIDENCY_WIDTH + N_WHY], s[s[B_RESIDENCY] + before * RESIDENCY_WIDTH + N_WHO]
    r = new_residency(s)
    n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
    s[n + N_STATION], s[n + N_SEQ], s[n + N_SINK] = station, seq, s[row + STAY_SINK]
    s[n + N_SOURCE], s[n + N_BEFORE] = hold(s, source), hold(s, before)
    s[n + N_WHY], s[n + N_WHO], s[n + N_FREED_BY] = why, hold(s, who), NOBODY
    s[n + N_CLAIMED], s[n + N_READERS], s[n + N_PENDING] = s[NOW], 0, unread(s, st, seq)
    s[n + N_FIRST], s[n + N_LAST], s[n + N_TILE] = s[row + STAY_FIRST], s[row + STAY_LAST], s[row + STAY_TILE]
    s[n + N_HELD] = s[row + STAY_HELD]
    s[n + N_FILL_LOAD], s[n + N_DRAIN_LOAD] = s[row + STAY_FILL], s[row + STAY_DRAIN]
    s[n + N_FILL_GROUP], s[n + N_FILL_MEMBERS] = s[row + STAY_FILL_GROUP], s[row + STAY_FILL_MEMBERS]
    s[n + N_DRAIN_GROUP], s[n + N_DRAIN_MEMBERS] = s[row + STAY_DRAIN_GROUP], s[row + STAY_DRAIN_MEMBERS]
    s[s[B_RESIDENCY] + source * RESIDENCY_WIDTH + N_READERS] += 1
    s[n + N_OUTLIVED], s[n + N_OUTLIVES] = 0, int(s[n + N_SINK] != reading)
    if s[n + N_OUTLIVES] == 1 and s[st + S_TENSOR] == s[OUTPUT]:
        s[n + N_OWING] = 1
        s[st + S_OWING] += 1
        later = live(s, parent, s[n + N_SINK])
        if later >= 0:
            s[s[B_RESIDENCY] + later * RESIDENCY_WIDTH + N_READERS] += 1
    s[slot] = NEVER
    s[ring + (seq & s[st + S_ROUND])], s[st + S_LAST], s[st + S_AWAITED] = hold(s, r), hold(s, r), NEVER
    s[st + S_CLAIMS] += 1
    drop(s, held)
    drop(s, before)
    drop(s, awaited)
    s[n + N_READERS] += owed(s, r)
    tell(s, CLAIMED, r)
    s[st + S_STAY] += 1
    look(s, st)
    row = next_stay(s, st)
    following = s[row + STAY_SOURCE] if row >= 0 else NEVER
    if following != reading:
        pass_by(s, parent, reading, following)
    if s[n + N_FILL_LOAD]:
        fill(s, r)
    else:
        filled(s, r)
    return 1
