"""What happens when: the heap of events, the next round of the present cycle, and who is to be looked at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.event_layout import (
    A_STARTING,
    ARRAY_WIDTH,
    B_ARRAY,
    B_CLAIM,
    B_HEAP,
    B_LOG,
    B_NEXT,
    B_RESIDENCY,
    B_ROW,
    B_START,
    B_STATION,
    CLAIM_COUNT,
    CLAIM_FIRST,
    DUE,
    EVENT_KIND,
    EVENT_ORDER,
    EVENT_TIME,
    EVENT_WHO,
    EVENT_WIDTH,
    EVENTS,
    FAULT,
    HEAP_COUNT,
    L_LANE,
    L_TICK,
    LOG_COUNT,
    LOG_CYCLE,
    LOG_ROOM,
    LOG_SEQ,
    LOG_STATION,
    LOG_WHAT,
    LOG_WIDTH,
    N_SEQ,
    N_STATION,
    NEXT_COUNT,
    NEXT_KIND,
    NEXT_WHO,
    NEXT_WIDTH,
    NOW,
    ORDER,
    RESIDENCY_WIDTH,
    ROW_COUNT,
    ROW_END,
    ROW_LABEL,
    ROW_LANE,
    ROW_ROOM,
    ROW_START,
    ROW_STATE,
    ROW_WIDTH,
    S_QUEUED,
    START_COUNT,
    STATION_WIDTH,
    STATIONS,
    TICKS,
    TOO_MUCH_AT_ONCE,
)
from accelsim.kernels.jit import small_part

Ints = NDArray[np.int64]


@small_part
def at(s: Ints, cycle: int, kind: int, who: int) -> int:
    """Let something happen at a cycle; what completes in the present one starts another round."""
    s[EVENTS] += 1
    if cycle == s[NOW]:
        n = s[B_NEXT] + s[NEXT_COUNT] * NEXT_WIDTH
        s[n + NEXT_KIND], s[n + NEXT_WHO] = kind, who
        s[NEXT_COUNT] += 1
        s[DUE] = 1
        return 0
    s[ORDER] += 1
    base, i = s[B_HEAP], s[HEAP_COUNT]
    s[HEAP_COUNT] += 1
    while i > 0:
        above = (i - 1) >> 1
        p = base + above * EVENT_WIDTH
        # what is new comes after what was put in before it
        if s[p + EVENT_TIME] <= cycle:
            break
        e = base + i * EVENT_WIDTH
        s[e + EVENT_TIME], s[e + EVENT_ORDER] = s[p + EVENT_TIME], s[p + EVENT_ORDER]
        s[e + EVENT_KIND], s[e + EVENT_WHO] = s[p + EVENT_KIND], s[p + EVENT_WHO]
        i = above
    e = base + i * EVENT_WIDTH
    s[e + EVENT_TIME], s[e + EVENT_ORDER], s[e + EVENT_KIND], s[e + EVENT_WHO] = cycle, s[ORDER], kind, who
    return 0


@small_part
def take_event(s: Ints) -> int:
    """Take the first event off the heap; returns where it is written now: behind the last."""
    base = s[B_HEAP]
    s[HEAP_COUNT] -= 1
    count = s[HEAP_COUNT]
    last = base + count * EVENT_WIDTH
    time, order, kind, who = s[last + EVENT_TIME], s[last + EVENT_ORDER], s[last + EVENT_KIND], s[last + EVENT_WHO]
    for i in range(EVENT_WIDTH):
        s[last + i] = s[base + i]
    if count == 0:
        return int(last)
    i = 0
    while True:
        below = 2 * i + 1
        if below >= count:
            break
        c = base + below * EVENT_WIDTH
        if below + 1 < count:
            d = c + EVENT_WIDTH
            if s[d + EVENT_TIME] < s[c + EVENT_TIME] or (
                    s[d + EVENT_TIME] == s[c + EVENT_TIME] and s[d + EVENT_ORDER] < s[c + EVENT_ORDER]):
                below += 1
                c = d
        if s[c + EVENT_TIME] > time or (s[c + EVENT_TIME] == time and s[c + EVENT_ORDER] > order):
            break
        e = base + i * EVENT_WIDTH
        s[e + EVENT_TIME], s[e + EVENT_ORDER] = s[c + EVENT_TIME], s[c + EVENT_ORDER]
        s[e + EVENT_KIND], s[e + EVENT_WHO] = s[c + EVENT_KIND], s[c + EVENT_WHO]
        i = below
    e = base + i * EVENT_WIDTH
    s[e + EVENT_TIME], s[e + EVENT_ORDER], s[e + EVENT_KIND], s[e + EVENT_WHO] = time, order, kind, who
    return int(last)


@small_part
def wake(s: Ints, station: int) -> int:
    """A station may be able to claim."""
    place = s[B_STATION] + station * STATION_WIDTH + S_QUEUED
    if not s[place]:
        s[place] = 1
        behind = s[CLAIM_FIRST] + s[CLAIM_COUNT]
        s[s[B_CLAIM] + (behind if behind < s[STATIONS] else behind - s[STATIONS])] = station
        s[CLAIM_COUNT] += 1
    s[DUE] = 1
    return 0


@small_part
def wake_array(s: Ints, array: int) -> int:
    """An array may be able to start; they are looked at in order."""
    flag = s[B_ARRAY] + array * ARRAY_WIDTH + A_STARTING
    if not s[flag]:
        s[flag] = 1
        base, i = s[B_START], s[START_COUNT]
        while i > 0 and s[base + i - 1] > array:
            s[base + i] = s[base + i - 1]
            i -= 1
        s[base + i] = array
        s[START_COUNT] += 1
    s[DUE] = 1
    return 0


@small_part
def add_row(s: Ints, lane: int, start: int, end: int, state: int, label: int) -> int:
    """A lane was in a state from one tick to another."""
    if s[ROW_COUNT] >= s[ROW_ROOM]:
        s[FAULT] = TOO_MUCH_AT_ONCE
    elif end > start:
        row = s[B_ROW] + s[ROW_COUNT] * ROW_WIDTH
        s[row + ROW_LANE], s[row + ROW_START], s[row + ROW_END] = lane, start, end
        s[row + ROW_STATE], s[row + ROW_LABEL] = state, label
        s[ROW_COUNT] += 1
    return 0


@small_part
def add_feed(s: Ints, array: int, g: int, label: int) -> int:
    """A step of an array begins, and what it uses came by a leg (by its place)."""
    if s[ROW_COUNT] >= s[ROW_ROOM]:
        s[FAULT] = TOO_MUCH_AT_ONCE
        return 0
    row = s[B_ROW] + s[ROW_COUNT] * ROW_WIDTH
    s[row + ROW_LANE], s[row + ROW_START], s[row + ROW_END] = array, s[NOW] * TICKS, s[g + L_TICK]
    s[row + ROW_STATE], s[row + ROW_LABEL] = -1 - s[g + L_LANE], label
    s[ROW_COUNT] += 1
    return 0


@small_part
def tell(s: Ints, what: int, r: int) -> int:
    """Note an event of a residency where somebody watches."""
    if s[LOG_ROOM]:
        n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
        at_row = s[B_LOG] + s[LOG_COUNT] * LOG_WIDTH
        s[at_row + LOG_CYCLE], s[at_row + LOG_WHAT] = s[NOW], what
        s[at_row + LOG_STATION], s[at_row + LOG_SEQ] = s[n + N_STATION], s[n + N_SEQ]
        s[LOG_COUNT] += 1
    return 0
