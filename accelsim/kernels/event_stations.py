"""Stations: their residencies become ready and are released (rules 2 and 5)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.columns import STAY_WIDTH
from accelsim.kernels.event_happenings import tell, wake, wake_array
from accelsim.kernels.event_layout import (
    B_LIST,
    B_RESIDENCY,
    B_RING,
    B_STATION,
    B_STAY,
    B_TABLE,
    BY_RESIDENCY,
    BY_RUN,
    DRAINED,
    FINISHED,
    FREED,
    N_ARRIVED,
    N_BEFORE,
    N_BEFORE_DRAINING,
    N_DRAIN_LOAD,
    N_DRAINED,
    N_FILL,
    N_FILL_LOAD,
    N_FOLLOWED,
    N_FREED_BY,
    N_FREED_END,
    N_FREED_WHO,
    N_IS_DRAINING,
    N_NEXT_DRAINING,
    N_OUTLIVED,
    N_OUTLIVES,
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
    S_FOLLOWER_COUNT,
    S_FOLLOWERS,
    S_LAST_DRAINED,
    S_OWING,
    S_PARENT,
    S_RING,
    S_ROUND,
    S_STAY,
    S_STAY_COUNT,
    S_STAYS,
    S_STRANDED,
    S_TENSOR,
    S_UNDER_WAY,
    START,
    STATION_WIDTH,
    T_PAYLOAD,
)
from accelsim.kernels.event_pools import drop, drop_leg, hold
from accelsim.kernels.event_transfers import drain
from accelsim.kernels.jit import part, small_part

Ints = NDArray[np.int64]


@small_part
def next_stay(s: Ints, st: int) -> int:
    """Where the next stay of a station (by its place) stands; -1 where there is none."""
    if s[st + S_STAY] >= s[st + S_STAY_COUNT]:
        return NEVER
    return int(s[B_STAY] + (s[st + S_STAYS] + s[st + S_STAY]) * STAY_WIDTH)


@small_part
def live(s: Ints, st: int, seq: int) -> int:
    """The residency of a station in a slot and not released, by its number; -1 where there is none."""
    if seq < 0:
        return NEVER
    r = s[s[B_RING] + s[st + S_RING] + (seq & s[st + S_ROUND])]
    if r < 0:
        return NEVER
    n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
    if s[n + N_SEQ] != seq:
        return NEVER
    # a home is never left
    return int(r) if s[n + N_RELEASED] < 0 or s[st + S_PARENT] < 0 else NEVER


@small_part
def count_outlived(s: Ints, r: int, more: int) -> int:
    """So many more outlive a residency, which are explained by it, by what it came from, and so on."""
    while r >= 0:
        n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
        s[n + N_OUTLIVED] += more
        r = s[n + N_SOURCE]
    return r


@small_part
def forget(s: Ints, n: int) -> int:
    """Let go of the chain behind a residency, which blame follows no more once it is out of its slot.

    But one that was released as soon as it was ready explains who got its slot, and one that was outlived those who did.
    """
    held, outlived = NEVER, False
    while True:
        source = hold(s, s[n + N_SOURCE])
        kept = s[n + N_SLOT_FREE] < 0 or s[n + N_OUTLIVED] > 0 or (
            s[n + N_FREED_BY] == NOBODY and s[n + N_RELEASED] == s[n + N_READY])
        if not kept:
            before, who, leg = s[n + N_BEFORE], s[n + N_WHO], s[n + N_FILL]
            s[n + N_SOURCE] = s[n + N_BEFORE] = s[n + N_WHO] = s[n + N_FILL] = NEVER
            s[n + N_WHY] = START
            if s[n + N_OUTLIVES] == 1 and source >= 0:
                count_outlived(s, source, -1)
                outlived = True
            drop(s, source)
            drop(s, before)
            drop(s, who)
            drop_leg(s, leg)
        drop(s, held)
        # those that were kept for its sake alone go with it
        if not outlived or source < 0:
            return drop(s, source)
        held, n = source, s[B_RESIDENCY] + source * RESIDENCY_WIDTH


@small_part
def free_slot(s: Ints, r: int) -> int:
    """A slot is free: its input is released, or its drain is through."""
    n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
    s[n + N_SLOT_FREE] = s[NOW]
    tell(s, FREED, r)
    return wake(s, s[n + N_STATION])


@small_part
def read(s: Ints, r: int, by: int, who: int) -> int:
    """A residency has one reader less: ``by`` what kind and ``who`` (one more name of it, if a residency)."""
    n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
    s[n + N_READERS] -= 1
    was_by, was = s[n + N_FREED_BY], s[n + N_FREED_WHO]
    s[n + N_FREED_BY], s[n + N_FREED_WHO] = by, who
    if was_by == BY_RESIDENCY:
        drop(s, was)
    return 0


@small_part
def leave(s: Ints, r: int) -> int:
    """A residency is over: returns what it reads, or drained to, which has one reader less; -1 where it outlived that."""
    n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
    st = s[B_STATION] + s[n + N_STATION] * STATION_WIDTH
    source = s[n + N_SOURCE]
    if s[n + N_OWING] == 1:
        s[n + N_OWING] = 0
        s[st + S_OWING] -= 1
        source = live(s, s[B_STATION] + s[st + S_PARENT] * STATION_WIDTH, s[n + N_SINK])
    elif s[n + N_OUTLIVES] == 1:
        source = NEVER
    if source >= 0:
        read(s, source, BY_RESIDENCY, hold(s, r))
    forget(s, n)
    return int(source)


@part
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
            if s[n + N_OUTLIVES] == 1:
                sink = live(s, s[B_STATION] + s[st + S_PARENT] * STATION_WIDTH, s[n + N_SINK])
                if sink < 0 or s[s[B_RESIDENCY] + sink * RESIDENCY_WIDTH + N_READY] < 0:
                    s[n + N_STRANDED] = 1
                    s[st + S_STRANDED] += 1
                    return 0
            return drain(s, r)
        free_slot(s, r)
        r = leave(s, r)
    return 0


@part
def reader_done(s: Ints, r: int, array: int, hold_end: int) -> int:
    """A block of an array unit that read a residency is done with it."""
    read(s, r, BY_RUN, array)
    s[s[B_RESIDENCY] + r * RESIDENCY_WIDTH + N_FREED_END] = hold_end
    return check_release(s, r)


@part
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


@part
def become_ready(s: Ints, r: int) -> int:
    """A residency's tile is all there: those that wait for it may go on."""
    n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
    st = s[B_STATION] + s[n + N_STATION] * STATION_WIDTH
    s[n + N_READY] = s[NOW]
    tell(s, READY, r)
    children = s[B_LIST] + s[st + S_CHILDREN]
    for i in range(s[st + S_CHILD_COUNT]):
        wake(s, s[children + i])
    for i in range(s[st + S_FOLLOWER_COUNT]):
        wake(s, s[s[B_LIST] + s[st + S_FOLLOWERS] + i])
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


@part
def settle(s: Ints, r: int) -> int:
    """A residency is ready: it lets go of a source that it outlives, and may be over already."""
    n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
    source = s[n + N_SOURCE]
    if s[n + N_OUTLIVES] == 1 and source >= 0:
        count_outlived(s, source, 1)
        read(s, source, NOBODY, NEVER)
        check_release(s, source)
    return check_release(s, r)


@part
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
            settle(s, live(s, st, seq))
            seq -= 1
    return settle(s, r)


@part
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
