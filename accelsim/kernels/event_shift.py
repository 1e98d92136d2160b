"""Moving a run on by whole periods: everything that moves along with it is where it would be then."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.event_layout import (
    A_FREE,
    AHEAD_END,
    AHEAD_START,
    AHEAD_WIDTH,
    ARRAY_WIDTH,
    ARRAYS,
    B_AHEAD,
    B_ARRAY,
    B_HEAP,
    B_RECENT,
    B_RESIDENCY,
    B_RESOURCE,
    B_RING,
    B_RUN,
    B_STATION,
    BOOKING_WIDTH,
    DEPTH,
    EVENT_TIME,
    EVENT_WIDTH,
    FINISHED,
    HEAP_COUNT,
    K_ARRIVAL,
    K_END,
    K_START,
    K_THROUGH,
    L_BOOKED,
    L_HOPS,
    L_KEY,
    L_PIECE,
    L_PIECES,
    L_REACHES,
    L_REFERENCES,
    L_REQUESTED,
    L_RESIDENCY,
    L_THROUGH,
    LEG_HEAD,
    N_CLAIMED,
    N_DRAINED,
    N_FIRST,
    N_FREED_END,
    N_LAST,
    N_READY,
    N_RELEASED,
    N_SEQ,
    N_SINK,
    N_SLOT_FREE,
    N_STATION,
    NOW,
    R_FREE,
    RECENT_END,
    RECENT_START,
    RECENT_WIDTH,
    RESIDENCIES,
    RESIDENCY_WIDTH,
    RESOURCE_WIDTH,
    RUN_END,
    RUN_WIDTH,
    S_AFTER,
    S_CLAIMS,
    S_PARENT,
    S_RING,
    S_ROUND,
    STATION_WIDTH,
    STATIONS,
    TICKS,
)
from accelsim.kernels.event_pools import leg_at
from accelsim.kernels.jit import INT, READ_1, WRITE_1, flat, kernel, part, small_part

Ints = NDArray[np.int64]


@small_part
def later(s: Ints, place: int, cycles: int) -> int:
    """Move a time, if it is one."""
    if s[place] >= 0:
        s[place] += cycles
    return 0


@part
def shift_station(s: Ints, st: int, claims: int, scratch: Ints) -> int:
    """A station has claimed so many more: each of its residencies is as many places further round the ring."""
    places, ring = s[st + S_ROUND] + 1, s[B_RING] + s[st + S_RING]
    s[st + S_CLAIMS] += claims
    if s[st + S_AFTER] >= 0:
        s[st + S_AFTER] += claims
    for i in range(places):
        scratch[(i + claims) & s[st + S_ROUND]] = s[ring + i]
    for i in range(places):
        s[ring + i] = scratch[i]
    return 0


@part
def shift_residency(s: Ints, n: int, cycles: int, claims: Ints, steps: Ints) -> int:
    """A residency (by its place) of a station that is no home; free ones are moved too, which nobody sees."""
    station = s[n + N_STATION]
    if station < 0:
        return 0
    parent = s[s[B_STATION] + station * STATION_WIDTH + S_PARENT]
    if parent < 0:
        return 0
    for field in (N_CLAIMED, N_READY, N_RELEASED, N_SLOT_FREE, N_DRAINED, N_FREED_END):
        later(s, n + field, cycles)
    s[n + N_SEQ] += claims[station]
    s[n + N_SINK] += claims[parent]
    s[n + N_FIRST] += steps[station]
    s[n + N_LAST] += steps[station]
    return 0


@part
def shift_leg(s: Ints, g: int, cycles: int, steps: Ints) -> int:
    """A leg (by its place) that is in use, with its bookings."""
    for field in (L_REQUESTED, L_REACHES, L_THROUGH):
        later(s, g + field, cycles)
    for i in range(s[g + L_BOOKED]):
        k = g + LEG_HEAD + i * BOOKING_WIDTH
        for field in (K_ARRIVAL, K_START, K_END, K_THROUGH):
            later(s, k + field, cycles)
    if s[g + L_BOOKED] < s[g + L_HOPS] or s[g + L_PIECE] + 1 < s[g + L_PIECES]:
        s[g + L_KEY] += steps[s[s[B_RESIDENCY] + s[g + L_RESIDENCY] * RESIDENCY_WIDTH + N_STATION]]
    return 0


@kernel(INT(WRITE_1, INT, READ_1, READ_1, READ_1, WRITE_1))
def shift(state: Ints, cycles: int, more_claims: Ints, more_steps: Ints, counts: Ints, spare: Ints) -> int:
    """Move a run on by so many cycles.

    ``more_claims``, ``more_steps``: int64[stations], how many more residencies each has claimed by then, and how many steps
    later they begin; 0 for homes. ``counts``: records of legs, of notes who was ahead, of resources and of runs. ``spare``:
    int64, room for the largest station's ring. What is to come from the plan is not moved: stays and blocks have to be
    supplied anew, and the tiles of residencies told.
    """
    s, claims, steps, scratch = flat(state), flat(more_claims), flat(more_steps), flat(spare)
    for r in range(s[RESIDENCIES]):
        shift_residency(s, s[B_RESIDENCY] + r * RESIDENCY_WIDTH, cycles, claims, steps)
    for station in range(s[STATIONS]):
        st = s[B_STATION] + station * STATION_WIDTH
        if s[st + S_PARENT] >= 0:
            shift_station(s, st, claims[station], scratch)
    for leg in range(counts[0]):
        g = leg_at(s, leg)
        if s[g + L_REFERENCES] > 0:
            shift_leg(s, g, cycles, steps)
    for note in range(counts[1]):
        s[s[B_AHEAD] + note * AHEAD_WIDTH + AHEAD_START] += cycles
        s[s[B_AHEAD] + note * AHEAD_WIDTH + AHEAD_END] += cycles
    for resource in range(counts[2]):
        s[s[B_RESOURCE] + resource * RESOURCE_WIDTH + R_FREE] += cycles * TICKS
        for i in range(resource * s[DEPTH], (resource + 1) * s[DEPTH]):
            s[s[B_RECENT] + i * RECENT_WIDTH + RECENT_START] += cycles
            s[s[B_RECENT] + i * RECENT_WIDTH + RECENT_END] += cycles
    for array in range(s[ARRAYS]):
        s[s[B_ARRAY] + array * ARRAY_WIDTH + A_FREE] += cycles
    for run in range(counts[3]):
        s[s[B_RUN] + run * s[RUN_WIDTH] + RUN_END] += cycles
    for i in range(s[HEAP_COUNT]):
        s[s[B_HEAP] + i * EVENT_WIDTH + EVENT_TIME] += cycles
    if s[FINISHED] > s[NOW]:
        s[FINISHED] += cycles
    s[NOW] += cycles
    return 0
