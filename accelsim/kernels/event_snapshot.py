"""A run's state between two cycles, told so that two of them can be compared: every value that the future depends on.

Whatever moves along with the run is told with what it moves along with: cycles, the numbers of a station's residencies,
the steps they begin at, the steps of an array. Two states are the same, a while apart, where values of one kind differ by
the same amount, and all others not at all. Records are told in the order in which they are come upon, never by where
they lie. What lies behind every wait that can still be explained is told as ``OLD``: nothing depends on when it was.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.columns import (
    BLOCK_KIND,
    BLOCK_OPERANDS,
    BLOCK_STEP,
    STAY_DRAIN,
    STAY_FILL,
    STAY_FIRST,
    STAY_LAST,
    STAY_REFILL,
    STAY_SINK,
    STAY_SOURCE,
)
from accelsim.kernels.event_arrays import block_of
from accelsim.kernels.event_layout import (
    A_FEEDS,
    A_FIRST_START,
    A_FREE,
    A_RUNNING,
    AHEAD_END,
    AHEAD_LABEL,
    AHEAD_NEXT,
    AHEAD_START,
    AHEAD_UNIT,
    AHEAD_WIDTH,
    ARRAY_WIDTH,
    ARRAYS,
    B_AHEAD,
    B_ARRAY,
    B_HEAP,
    B_LIST,
    B_RECENT,
    B_RESIDENCY,
    B_RESOURCE,
    B_RING,
    B_RUN,
    B_STATION,
    BLOCK_ENDS,
    BOOKING_WIDTH,
    BY_RESIDENCY,
    DEPTH,
    EVENT_KIND,
    EVENT_ORDER,
    EVENT_TIME,
    EVENT_WHO,
    EVENT_WIDTH,
    FINISHED,
    HEAP_COUNT,
    HOLD_ENDS,
    K_AHEAD,
    K_ARRIVAL,
    K_END,
    K_START,
    K_THROUGH,
    KEY_BITS,
    L_BEFORE,
    L_BOOKED,
    L_DONE,
    L_HOPS,
    L_KEY,
    L_LABEL,
    L_LATENCY,
    L_PIECE,
    L_PIECES,
    L_PREVIOUS,
    L_REACHES,
    L_REQUESTED,
    L_RESIDENCY,
    L_ROUTE,
    L_THROUGH,
    L_TICKS,
    L_UNIT,
    LEG_ARRIVES,
    LEG_HEAD,
    N_ARRIVED,
    N_BEFORE,
    N_CLAIMED,
    N_DRAIN,
    N_DRAIN_LOAD,
    N_DRAINED,
    N_FILL,
    N_FILL_LOAD,
    N_FIRST,
    N_FOLLOWED,
    N_FREED_BY,
    N_FREED_END,
    N_FREED_WHO,
    N_IS_DRAINING,
    N_LAST,
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
    NOW,
    OUTPUT_ENDS,
    PIECE_ASKS,
    R_COUNT,
    R_FREE,
    RECENT_END,
    RECENT_LABEL,
    RECENT_START,
    RECENT_UNIT,
    RECENT_WIDTH,
    RESIDENCIES,
    RESIDENCY_WIDTH,
    RESOURCE_WIDTH,
    RUN_ARRAY,
    RUN_END,
    RUN_HEAD,
    RUN_WIDTH,
    S_AFTER,
    S_AWAITED,
    S_BUFFERS,
    S_CLAIMS,
    S_DRAINING,
    S_LAST,
    S_OWING,
    S_PARENT,
    S_RING,
    S_ROUND,
    S_STRANDED,
    S_UNDER_WAY,
    STATION_WIDTH,
    STATIONS,
    TENSORS,
    TICKS,
)
from accelsim.kernels.event_pools import leg_at
from accelsim.kernels.event_stations import next_stay
from accelsim.kernels.event_told import (
    COUNT,
    EXACT,
    HORIZON,
    IN_BLOCKS,
    IN_CYCLES,
    IN_STEPS,
    IN_TICKS,
    KINDS,
    LEG_ROOM,
    MET,
    MET_LEGS,
    NAMES_HEAD,
    OLD,
    name,
    name_leg,
    say,
    say_cycle,
    say_number,
)
from accelsim.kernels.jit import INT, WRITE_1, flat, kernel, part

Ints = NDArray[np.int64]


@part
def tell_array(s: Ints, out: Ints, array: int) -> int:
    """An array and its next block."""
    a = s[B_ARRAY] + array * ARRAY_WIDTH
    say(out, s[a + A_FREE], IN_CYCLES)
    say(out, s[a + A_RUNNING], EXACT)
    say(out, 1 if s[a + A_FIRST_START] < 0 else 0, EXACT)
    row = block_of(s, a)
    if row < 0:
        return say(out, NEVER, EXACT)
    say(out, s[row + BLOCK_STEP], IN_BLOCKS + KINDS * array)
    say(out, s[row + BLOCK_KIND], EXACT)
    for t in range(s[TENSORS]):
        say_number(out, s[row + BLOCK_OPERANDS + t], s[s[B_LIST] + s[a + A_FEEDS] + t])
    return 0


@part
def tell_station(s: Ints, out: Ints, names: Ints, station: int) -> int:
    """A station, its next stay, those in its slots and those that drain."""
    st = s[B_STATION] + station * STATION_WIDTH
    parent = s[st + S_PARENT]
    say_number(out, s[st + S_CLAIMS], station)
    say_number(out, s[st + S_AFTER], station)
    say(out, s[st + S_OWING], EXACT)
    say(out, s[st + S_STRANDED], EXACT)
    say(out, s[st + S_UNDER_WAY], EXACT)
    row = next_stay(s, st)
    if row < 0:
        say(out, NEVER, EXACT)
    else:
        say(out, s[row + STAY_FIRST], IN_STEPS + KINDS * station)
        say(out, s[row + STAY_LAST], IN_STEPS + KINDS * station)
        say_number(out, s[row + STAY_SOURCE], parent)
        say_number(out, s[row + STAY_SINK], parent)
        say(out, s[row + STAY_FILL], EXACT)
        say(out, s[row + STAY_DRAIN], EXACT)
        say(out, s[row + STAY_REFILL], EXACT)
    for back in range(1, s[st + S_BUFFERS] + 1):
        seq = s[st + S_CLAIMS] - back
        name(s, out, names, s[s[B_RING] + s[st + S_RING] + (seq & s[st + S_ROUND])] if seq >= 0 else NEVER)
    r = s[st + S_DRAINING]
    while r >= 0:
        name(s, out, names, r)
        r = s[s[B_RESIDENCY] + r * RESIDENCY_WIDTH + N_NEXT_DRAINING]
    name(s, out, names, s[st + S_LAST])
    return name(s, out, names, s[st + S_AWAITED])


@part
def tell_residency(s: Ints, out: Ints, names: Ints, r: int) -> int:
    """A residency, and of what it came to be as much as can still be asked for."""
    n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
    station = s[n + N_STATION]
    parent = s[s[B_STATION] + station * STATION_WIDTH + S_PARENT]
    say(out, station, EXACT)
    if parent < 0:
        return say(out, s[n + N_READERS], EXACT)
    say_number(out, s[n + N_SEQ], station)
    say_number(out, s[n + N_SINK], parent)
    say(out, s[n + N_FIRST], IN_STEPS + KINDS * station)
    say(out, s[n + N_LAST], IN_STEPS + KINDS * station)
    for field in (N_OUTLIVES, N_OUTLIVED, N_PENDING, N_READERS, N_FOLLOWED, N_OWING, N_STRANDED, N_IS_DRAINING, N_FILL_LOAD,
                  N_DRAIN_LOAD):
        say(out, s[n + field], EXACT)
    for field in (N_CLAIMED, N_READY, N_RELEASED, N_SLOT_FREE, N_DRAINED):
        say_cycle(out, s[n + field])
    name(s, out, names, s[n + N_SOURCE])
    horizon = out[HORIZON]
    if s[n + N_READY] < 0 or s[n + N_READY] > horizon:
        say(out, s[n + N_ARRIVED], EXACT)
        name_leg(s, out, names, s[n + N_FILL])
        name(s, out, names, s[n + N_BEFORE])
        if s[n + N_CLAIMED] > horizon:
            say(out, s[n + N_WHY], EXACT)
            name(s, out, names, s[n + N_WHO])
    if s[n + N_SLOT_FREE] < 0 or s[n + N_DRAINED] < 0 or s[n + N_DRAINED] > horizon:
        name_leg(s, out, names, s[n + N_DRAIN])
    if s[n + N_RELEASED] < 0 or s[n + N_RELEASED] > horizon:
        say(out, s[n + N_FREED_BY], EXACT)
        say_cycle(out, s[n + N_FREED_END])
        if s[n + N_FREED_BY] == BY_RESIDENCY:
            name(s, out, names, s[n + N_FREED_WHO])
        else:
            say(out, s[n + N_FREED_WHO], EXACT)
    return 0


@part
def tell_leg(s: Ints, out: Ints, names: Ints, leg: int) -> int:
    """A leg, on its way or there, and its bookings."""
    g = leg_at(s, leg)
    for field in (L_LABEL, L_UNIT, L_ROUTE, L_HOPS, L_TICKS, L_LATENCY, L_DONE, L_PIECE, L_PIECES, L_BOOKED):
        say(out, s[g + field], EXACT)
    say_cycle(out, s[g + L_REQUESTED])
    if s[g + L_BOOKED] < s[g + L_HOPS] or s[g + L_PIECE] + 1 < s[g + L_PIECES]:
        r = s[g + L_RESIDENCY]
        name(s, out, names, r)
        say(out, s[g + L_REACHES], IN_CYCLES)
        say(out, s[g + L_THROUGH], IN_CYCLES)
        station = s[s[B_RESIDENCY] + r * RESIDENCY_WIDTH + N_STATION]
        say(out, s[g + L_KEY] & ((1 << KEY_BITS) - 1), IN_STEPS + KINDS * station)
    else:
        say_cycle(out, s[g + L_THROUGH])
    name_leg(s, out, names, s[g + L_BEFORE])
    name_leg(s, out, names, s[g + L_PREVIOUS])
    for i in range(s[g + L_BOOKED]):
        k = g + LEG_HEAD + i * BOOKING_WIDTH
        for field in (K_ARRIVAL, K_START, K_END, K_THROUGH):
            say_cycle(out, s[k + field])
        note = s[k + K_AHEAD]
        while note >= 0:
            a = s[B_AHEAD] + note * AHEAD_WIDTH
            say_cycle(out, s[a + AHEAD_START])
            say_cycle(out, s[a + AHEAD_END])
            say(out, s[a + AHEAD_LABEL], EXACT)
            say(out, s[a + AHEAD_UNIT], EXACT)
            note = s[a + AHEAD_NEXT]
        say(out, NEVER, EXACT)
    return 0


@part
def tell_event(s: Ints, out: Ints, names: Ints, e: int) -> int:
    """Something that will happen."""
    kind, who = s[e + EVENT_KIND], s[e + EVENT_WHO]
    say(out, s[e + EVENT_TIME], IN_CYCLES)
    say(out, kind, EXACT)
    if kind in (LEG_ARRIVES, PIECE_ASKS):
        return name_leg(s, out, names, who)
    if kind not in (HOLD_ENDS, OUTPUT_ENDS, BLOCK_ENDS):
        return name(s, out, names, who)
    b = s[B_RUN] + who * s[RUN_WIDTH]
    say(out, s[b + RUN_ARRAY], EXACT)
    say_cycle(out, s[b + RUN_END])
    for t in range(s[TENSORS]):
        name(s, out, names, s[b + RUN_HEAD + t])
    return 0


@part
def tell_events(s: Ints, out: Ints, names: Ints) -> int:
    """All that will happen, in order."""
    time, order = NEVER, NEVER
    for _ in range(s[HEAP_COUNT]):
        first = NEVER
        for i in range(s[HEAP_COUNT]):
            e = s[B_HEAP] + i * EVENT_WIDTH
            told = s[e + EVENT_TIME] < time or (s[e + EVENT_TIME] == time and s[e + EVENT_ORDER] <= order)
            if not told and (first < 0 or s[e + EVENT_TIME] < s[first + EVENT_TIME] or (
                    s[e + EVENT_TIME] == s[first + EVENT_TIME] and s[e + EVENT_ORDER] < s[first + EVENT_ORDER])):
                first = e
        time, order = s[first + EVENT_TIME], s[first + EVENT_ORDER]
        tell_event(s, out, names, first)
    return say(out, NEVER, EXACT)


@part
def tell_resource(s: Ints, out: Ints, resource: int) -> int:
    """A resource (by its place), and the bookings that somebody may still wait behind."""
    now = s[NOW]
    busy = s[resource + R_FREE] > now * TICKS
    say(out, s[resource + R_FREE] if busy else OLD, IN_TICKS if busy else EXACT)
    count, depth = s[resource + R_COUNT], s[DEPTH]
    ring = s[B_RECENT] + (resource - s[B_RESOURCE]) // RESOURCE_WIDTH * depth * RECENT_WIDTH
    for back in range(1, min(count, depth) + 1):
        booked = ring + (count - back) % depth * RECENT_WIDTH
        if s[booked + RECENT_END] <= now:
            break
        say_cycle(out, s[booked + RECENT_START])
        say_cycle(out, s[booked + RECENT_END])
        say(out, s[booked + RECENT_LABEL], EXACT)
        say(out, s[booked + RECENT_UNIT], EXACT)
    return say(out, NEVER, EXACT)


@kernel(INT(WRITE_1, WRITE_1, WRITE_1, INT))
def snapshot(state: Ints, told: Ints, met: Ints, resources: int) -> int:
    """Tell the state of a run between two cycles; returns how many values it has, which may be more than there was room for.

    ``told``: int64, a head and then pairs of a value and its kind. ``met``: int64, a head and then room for the names of all
    residencies and legs, -1.
    """
    s, out, names = flat(state), flat(told), flat(met)
    names[MET] = names[MET_LEGS] = out[COUNT] = 0
    out[HORIZON] = s[s[B_ARRAY] + A_FREE]
    for array in range(1, s[ARRAYS]):
        out[HORIZON] = min(out[HORIZON], s[s[B_ARRAY] + array * ARRAY_WIDTH + A_FREE])
    say(out, max(s[FINISHED], s[NOW]), IN_CYCLES)
    for array in range(s[ARRAYS]):
        tell_array(s, out, array)
    for station in range(s[STATIONS]):
        if s[s[B_STATION] + station * STATION_WIDTH + S_PARENT] >= 0:
            tell_station(s, out, names, station)
    tell_events(s, out, names)
    for resource in range(resources):
        tell_resource(s, out, s[B_RESOURCE] + resource * RESOURCE_WIDTH)
    residencies = legs = 0
    while residencies < names[MET] or legs < names[MET_LEGS]:
        if residencies < names[MET]:
            tell_residency(s, out, names, names[NAMES_HEAD + s[RESIDENCIES] + residencies])
            residencies += 1
        else:
            base = NAMES_HEAD + 2 * s[RESIDENCIES] + names[LEG_ROOM]
            tell_leg(s, out, names, names[base + legs])
            legs += 1
    # the names are taken back, for the next time
    for i in range(names[MET]):
        names[NAMES_HEAD + names[NAMES_HEAD + s[RESIDENCIES] + i]] = NEVER
    base = NAMES_HEAD + 2 * s[RESIDENCIES]
    for i in range(names[MET_LEGS]):
        names[base + names[base + names[LEG_ROOM] + i]] = NEVER
    return int(out[COUNT])
