"""Stations: residencies that claim slots as soon as they may (rules 1 and 2), and are released (rule 5)."""

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
    STAY_LAST,
    STAY_REFILL,
    STAY_SINK,
    STAY_SOURCE,
    STAY_TILE,
    STAY_WIDTH,
)
from accelsim.kernels.events.happenings import tell, wake, wake_array
from accelsim.kernels.events.layout import (
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
    B_STAY,
    B_TABLE,
    BLOCK_WIDTH,
    BY_RESIDENCY,
    BY_RUN,
    CLAIMED,
    DRAIN,
    DRAINED,
    FINISHED,
    FREED,
    N_ARRIVED,
    N_BEFORE,
    N_BEFORE_DRAINING,
    N_CLAIMED,
    N_DRAIN_GROUP,
    N_DRAIN_LOAD,
    N_DRAIN_MEMBERS,
    N_DRAINED,
    N_FILL,
    N_FILL_GROUP,
    N_FILL_LOAD,
    N_FILL_MEMBERS,
    N_FIRST,
    N_FOLLOWED,
    N_FREED_BY,
    N_FREED_END,
    N_FREED_WHO,
    N_IS_DRAINING,
    N_LAST,
    N_NEXT_DRAINING,
    N_OWING,
    N_PENDING,
    N_READERS,
    N_READY,
    N_RELEASED,
    N_SEQ,
    N_SINK,
    N_SLOT_FREE,
    N_SOURCE,
    N_STATION,
    N_STRANDED,
    N_TILE,
    N_UNHELD,
    N_WHO,
    N_WHY,
    NEVER,
    NOBODY,
    NOW,
    OUTPUT,
    READY,
    RELEASED,
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
    S_DRAINING_LAST,
    S_LAST,
    S_LAST_DRAINED,
    S_OWING,
    S_PARENT,
    S_RING,
    S_STAY,
    S_STAY_COUNT,
    S_STAYS,
    S_STRANDED,
    S_TENSOR,
    S_UNDER_WAY,
    SLOT,
    SOURCE,
    START,
    STATION_WIDTH,
    T_PAYLOAD,
    TENSORS,
)
from accelsim.kernels.events.pools import drop, drop_leg, hold, new_residency
from accelsim.kernels.events.transfers import drain, fill
from accelsim.kernels.jit import INT, WRITE_1, kernel

Ints = NDArray[np.int64]


@kernel(INT(WRITE_1, INT))
def next_stay(s: Ints, st: int) -> int:
    """Where the next stay of a station (by its place) stands; -1 where there is none."""
    if s[st + S_STAY] >= s[st + S_STAY_COUNT]:
        return NEVER
    return int(s[B_STAY] + (s[st + S_STAYS] + s[st + S_STAY]) * STAY_WIDTH)


@kernel(INT(WRITE_1, INT, INT))
def live(s: Ints, st: int, seq: int) -> int:
    """The residency of a station in a slot and not released, by its number; -1 where there is none."""
    if seq < 0:
        return NEVER
    r = s[s[B_RING] + s[st + S_RING] + seq % s[st + S_BUFFERS]]
    if r < 0:
        return NEVER
    n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
    if s[n + N_SEQ] != seq:
        return NEVER
    # a home is never left
    return int(r) if s[n + N_RELEASED] < 0 or s[st + S_PARENT] < 0 else NEVER


@kernel(INT(WRITE_1, INT))
def forget(s: Ints, n: int) -> int:
    """Let go of the chain behind a residency, which blame follows only while it is in its slot."""
    if s[n + N_FREED_BY] == NOBODY:
        return 0
    source, before, who, leg = s[n + N_SOURCE], s[n + N_BEFORE], s[n + N_WHO], s[n + N_FILL]
    s[n + N_SOURCE] = s[n + N_BEFORE] = s[n + N_WHO] = s[n + N_FILL] = NEVER
    s[n + N_WHY] = START
    drop(s, source)
    drop(s, before)
    drop(s, who)
    return drop_leg(s, leg)


@kernel(INT(WRITE_1, INT))
def free_slot(s: Ints, r: int) -> int:
    """A slot is free: its input is released, or its drain is through."""
    n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
    s[n + N_SLOT_FREE] = s[NOW]
    tell(s, FREED, r)
    return wake(s, s[n + N_STATION])


@kernel(INT(WRITE_1, INT))
def leave(s: Ints, r: int) -> int:
    """A residency is over: returns its source (for outputs: where its drain went), which has one reader less."""
    n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
    st = s[B_STATION] + s[n + N_STATION] * STATION_WIDTH
    source = s[n + N_SOURCE]
    if s[n + N_UNHELD] > 0:
        s[n + N_OWING] = 0
        s[st + S_OWING] -= 1
        source = live(s, s[B_STATION] + s[st + S_PARENT] * STATION_WIDTH, s[n + N_SINK])
    at_source = s[B_RESIDENCY] + source * RESIDENCY_WIDTH
    s[at_source + N_READERS] -= 1
    was, by = s[at_source + N_FREED_WHO], s[at_source + N_FREED_BY]
    s[at_source + N_FREED_BY], s[at_source + N_FREED_WHO] = BY_RESIDENCY, hold(s, r)
    if by == BY_RESIDENCY:
        drop(s, was)
    forget(s, n)
    return int(source)


@kernel(INT(WRITE_1, INT))
def check_release(s: Ints, r: int) -> int:
    """Release a residency when its last reader is done, and those that it was the last reader of."""
    while r >= 0:
        n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
        if s[n + N_READERS] or s[n + N_PENDING] or s[n + N_READY] < 0 or s[n + N_RELEASED] >= 0:
            return 0
        s[n + N_RELEASED] = s[NOW]
        tell(s, RELEASED, r)
        st = s[B_STATION] + s[n + N_STATION] * STATION_WIDTH
        if s[st + S_PARENT] < 0:
            return 0
        if s[n + N_DRAIN_LOAD]:
            last = s[st + S_DRAINING_LAST]
            s[n + N_IS_DRAINING], s[n + N_NEXT_DRAINING], s[n + N_BEFORE_DRAINING] = 1, NEVER, last
            if last < 0:
                s[st + S_DRAINING] = r
            else:
                s[s[B_RESIDENCY] + last * RESIDENCY_WIDTH + N_NEXT_DRAINING] = r
            s[st + S_DRAINING_LAST] = hold(s, r)
            if s[n + N_UNHELD] > 0:
                sink = live(s, s[B_STATION] + s[st + S_PARENT] * STATION_WIDTH, s[n + N_SINK])
                if sink < 0 or s[s[B_RESIDENCY] + sink * RESIDENCY_WIDTH + N_READY] < 0:
                    s[n + N_STRANDED] = 1
                    s[st + S_STRANDED] += 1
                    return 0
            return drain(s, r)
        free_slot(s, r)
        r = leave(s, r)
    return 0


@kernel(INT(WRITE_1, INT, INT, INT))
def reader_done(s: Ints, r: int, array: int, hold_end: int) -> int:
    """A block of an array unit that read a residency is done with it."""
    n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
    s[n + N_READERS] -= 1
    if s[n + N_FREED_BY] == BY_RESIDENCY:
        was = s[n + N_FREED_WHO]
        s[n + N_FREED_BY] = NOBODY
        drop(s, was)
    s[n + N_FREED_BY], s[n + N_FREED_WHO], s[n + N_FREED_END] = BY_RUN, array, hold_end
    return check_release(s, r)


@kernel(INT(WRITE_1, INT, INT, INT))
def pass_by(s: Ints, st: int, left: int, reading: int) -> int:
    """A reader of a station went from residency ``left`` to ``reading`` (-1: to the end): those it passes have one fewer."""
    last = s[st + S_CLAIMS] - 1
    until = min(reading - 1, last) if reading >= 0 else last
    for seq in range(max(left, last - s[st + S_BUFFERS] + 1), until + 1):
        r = live(s, st, seq)
        if r >= 0:
            s[s[B_RESIDENCY] + r * RESIDENCY_WIDTH + N_PENDING] -= 1
            check_release(s, r)
    return 0


@kernel(INT(WRITE_1, INT))
def become_ready(s: Ints, r: int) -> int:
    """A residency's tile is all there: those that wait for it may go on."""
    n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
    st = s[B_STATION] + s[n + N_STATION] * STATION_WIDTH
    s[n + N_READY] = s[NOW]
    tell(s, READY, r)
    children = s[B_LIST] + s[st + S_CHILDREN]
    for i in range(s[st + S_CHILD_COUNT]):
        wake(s, s[children + i])
    arrays = s[B_LIST] + s[st + S_ARRAYS]
    for i in range(s[st + S_ARRAY_COUNT]):
        wake_array(s, s[arrays + i])
    for i in range(s[st + S_CHILD_COUNT]):
        child = s[B_STATION] + s[children + i] * STATION_WIDTH
        one = s[child + S_DRAINING] if s[child + S_STRANDED] else NEVER
        while one >= 0:
            m = s[B_RESIDENCY] + one * RESIDENCY_WIDTH
            after = s[m + N_NEXT_DRAINING]
            if s[m + N_STRANDED] == 1 and s[m + N_SINK] == s[n + N_SEQ]:
                s[m + N_STRANDED] = 0
                s[child + S_STRANDED] -= 1
                drain(s, one)
            one = after
    return 0


@kernel(INT(WRITE_1, INT))
def filled(s: Ints, r: int) -> int:
    """All that had to move in has; what the tile shares with the one before may still be on its way."""
    n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
    st = s[B_STATION] + s[n + N_STATION] * STATION_WIDTH
    if s[n + N_FILL_LOAD]:
        s[st + S_UNDER_WAY] -= s[s[B_TABLE] + s[n + N_FILL_LOAD] + T_PAYLOAD]
    before = s[n + N_BEFORE]
    if before >= 0 and s[st + S_TENSOR] != s[OUTPUT] and s[s[B_RESIDENCY] + before * RESIDENCY_WIDTH + N_READY] < 0:
        s[s[B_RESIDENCY] + before * RESIDENCY_WIDTH + N_FOLLOWED] = 1
        s[n + N_ARRIVED] = 1
        return 0
    s[n + N_BEFORE] = NEVER
    drop(s, before)
    become_ready(s, r)
    if s[n + N_FOLLOWED] == 1:
        # those after it whose own elements had come are whole with it, one after another
        seq = first = s[n + N_SEQ]
        while True:
            after = live(s, st, seq + 1)
            if after < 0 or s[s[B_RESIDENCY] + after * RESIDENCY_WIDTH + N_ARRIVED] != 1:
                break
            become_ready(s, after)
            seq += 1
            if s[s[B_RESIDENCY] + after * RESIDENCY_WIDTH + N_FOLLOWED] != 1:
                break
        while seq > first:
            check_release(s, live(s, st, seq))
            seq -= 1
    check_release(s, r)
    source = s[n + N_SOURCE]
    if source >= 0 and s[n + N_SINK] != s[s[B_RESIDENCY] + source * RESIDENCY_WIDTH + N_SEQ]:
        s[n + N_UNHELD] = 1
        m = s[B_RESIDENCY] + source * RESIDENCY_WIDTH
        s[m + N_READERS] -= 1
        was, by = s[m + N_FREED_WHO], s[m + N_FREED_BY]
        s[m + N_FREED_BY], s[m + N_FREED_WHO] = BY_RESIDENCY, hold(s, r)
        if by == BY_RESIDENCY:
            drop(s, was)
        check_release(s, source)
    return 0


@kernel(INT(WRITE_1, INT))
def drained(s: Ints, r: int) -> int:
    """A drain has arrived."""
    n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
    st = s[B_STATION] + s[n + N_STATION] * STATION_WIDTH
    s[n + N_DRAINED] = s[NOW]
    s[st + S_UNDER_WAY] -= s[s[B_TABLE] + s[n + N_DRAIN_LOAD] + T_PAYLOAD]
    tell(s, DRAINED, r)
    before, after = s[n + N_BEFORE_DRAINING], s[n + N_NEXT_DRAINING]
    if before >= 0:
        s[s[B_RESIDENCY] + before * RESIDENCY_WIDTH + N_NEXT_DRAINING] = after
    else:
        s[st + S_DRAINING] = after
    if after >= 0:
        s[s[B_RESIDENCY] + after * RESIDENCY_WIDTH + N_BEFORE_DRAINING] = before
    else:
        s[st + S_DRAINING_LAST] = before
    s[n + N_IS_DRAINING] = 0
    if s[st + S_AFTER] == s[n + N_SEQ]:
        s[st + S_AFTER] = NEVER
        was = s[st + S_AWAITED]
        s[st + S_AWAITED] = hold(s, r)
        drop(s, was)
        wake(s, s[n + N_STATION])
    s[FINISHED] = max(s[FINISHED], s[NOW])
    was = s[st + S_LAST_DRAINED]
    s[st + S_LAST_DRAINED] = hold(s, r)
    drop(s, was)
    source = leave(s, r)
    check_release(s, source)
    return drop(s, r)


@kernel(INT(WRITE_1, INT))
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


@kernel(INT(WRITE_1, INT, INT))
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


@kernel(INT(WRITE_1, INT))
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


@kernel(INT(WRITE_1, INT, INT))
def claim(s: Ints, station: int, st: int) -> int:
    """Claim the next slot of a station if its conditions hold; returns 1 where it did."""
    row = next_stay(s, st)
    if row < 0:
        return 0
    seq, ring = s[st + S_CLAIMS], s[B_RING] + s[st + S_RING]
    slot = ring + seq % s[st + S_BUFFERS]
    held = s[slot]
    if held >= 0 and s[s[B_RESIDENCY] + held * RESIDENCY_WIDTH + N_SLOT_FREE] < 0:
        return 0
    reading = s[row + STAY_SOURCE]
    parent = s[B_STATION] + s[st + S_PARENT] * STATION_WIDTH
    source = live(s, parent, reading)
    if source < 0 or s[s[B_RESIDENCY] + source * RESIDENCY_WIDTH + N_READY] < 0 or s[st + S_AFTER] >= 0:
        return 0
    # what came last of what the claim waited for; one that waited for the one before shares its reason
    latest = s[s[B_RESIDENCY] + source * RESIDENCY_WIDTH + N_READY]
    why, who = (SOURCE, source) if latest > 0 else (START, NEVER)
    if held >= 0 and s[s[B_RESIDENCY] + held * RESIDENCY_WIDTH + N_SLOT_FREE] > latest:
        latest = s[s[B_RESIDENCY] + held * RESIDENCY_WIDTH + N_SLOT_FREE]
        why, who = SLOT, held
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
    s[n + N_FILL_LOAD], s[n + N_DRAIN_LOAD] = s[row + STAY_FILL], s[row + STAY_DRAIN]
    s[n + N_FILL_GROUP], s[n + N_FILL_MEMBERS] = s[row + STAY_FILL_GROUP], s[row + STAY_FILL_MEMBERS]
    s[n + N_DRAIN_GROUP], s[n + N_DRAIN_MEMBERS] = s[row + STAY_DRAIN_GROUP], s[row + STAY_DRAIN_MEMBERS]
    s[s[B_RESIDENCY] + source * RESIDENCY_WIDTH + N_READERS] += 1
    if s[n + N_SINK] != reading:
        s[n + N_OWING] = 1
        s[st + S_OWING] += 1
    s[slot], s[st + S_LAST], s[st + S_AWAITED] = hold(s, r), hold(s, r), NEVER
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
