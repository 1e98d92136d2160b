"""Ports: what is booked, who is ahead, and the order in which what has arrived is served (rule 3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.event_layout import (
    AHEAD_END,
    AHEAD_LABEL,
    AHEAD_NEXT,
    AHEAD_START,
    AHEAD_UNIT,
    AHEAD_WIDTH,
    B_AHEAD,
    B_RECENT,
    B_REQUEST,
    B_RESOURCE,
    BOOKING_WIDTH,
    DEPTH,
    DUE,
    H_LATENCY,
    K_AHEAD,
    K_ARRIVAL,
    K_END,
    K_START,
    K_THROUGH,
    L_BOOKED,
    L_KEY,
    L_LATENCY,
    L_REACHES,
    L_THROUGH,
    L_TIE,
    LEG_HEAD,
    NEVER,
    R_COUNT,
    RECENT_END,
    RECENT_LABEL,
    RECENT_START,
    RECENT_UNIT,
    RECENT_WIDTH,
    REQUEST_COUNT,
    RESOURCE_WIDTH,
)
from accelsim.kernels.event_pools import leg_at, new_ahead
from accelsim.kernels.jit import small_part

Ints = NDArray[np.int64]


@small_part
def who_is_ahead(s: Ints, resource: int, cycle: int, start: int) -> int:
    """Notes on the bookings that lie between an arrival and the start of its service, latest first; -1: none."""
    count, depth = s[resource + R_COUNT], s[DEPTH]
    ring = s[B_RECENT] + (resource - s[B_RESOURCE]) // RESOURCE_WIDTH * depth * RECENT_WIDTH
    first = last = NEVER
    for back in range(1, min(count, depth) + 1):
        booked = ring + (count - back) % depth * RECENT_WIDTH
        if s[booked + RECENT_END] <= cycle:
            break
        note = new_ahead(s)
        a = s[B_AHEAD] + note * AHEAD_WIDTH
        s[a + AHEAD_START] = max(s[booked + RECENT_START], cycle)
        s[a + AHEAD_END] = min(s[booked + RECENT_END], start)
        s[a + AHEAD_LABEL], s[a + AHEAD_UNIT], s[a + AHEAD_NEXT] = s[booked + RECENT_LABEL], s[booked + RECENT_UNIT], NEVER
        if last < 0:
            first = note
        else:
            s[s[B_AHEAD] + last * AHEAD_WIDTH + AHEAD_NEXT] = note
        last = note
    return first


@small_part
def note_booking(s: Ints, resource: int, begins: int, ends: int, label: int, unit: int) -> int:
    """Keep a booking among a resource's last ones."""
    count, depth = s[resource + R_COUNT], s[DEPTH]
    ring = s[B_RECENT] + (resource - s[B_RESOURCE]) // RESOURCE_WIDTH * depth * RECENT_WIDTH
    booked = ring + count % depth * RECENT_WIDTH
    s[booked + RECENT_START], s[booked + RECENT_END] = begins, ends
    s[booked + RECENT_LABEL], s[booked + RECENT_UNIT] = label, unit
    s[resource + R_COUNT] += 1
    return 0


@small_part
def ask(s: Ints, leg: int) -> int:
    """A transfer's first byte is at a port: it is served at the end of this cycle's round."""
    s[s[B_REQUEST] + s[REQUEST_COUNT]] = leg
    s[REQUEST_COUNT] += 1
    s[DUE] = 1
    return 0


@small_part
def book(s: Ints, g: int, hop: int, arrival: int, start: int, end: int, ahead: int) -> int:
    """A hop was booked: through no earlier than through the one before and its latency."""
    through = max(end, s[g + L_THROUGH] + s[g + L_LATENCY])
    k = g + LEG_HEAD + s[g + L_BOOKED] * BOOKING_WIDTH
    s[k + K_ARRIVAL], s[k + K_START], s[k + K_END], s[k + K_THROUGH], s[k + K_AHEAD] = arrival, start, end, through, ahead
    s[g + L_BOOKED] += 1
    s[g + L_THROUGH], s[g + L_LATENCY] = through, s[hop + H_LATENCY]
    s[g + L_REACHES] = start + s[hop + H_LATENCY]
    return 0


@small_part
def sort_requests(s: Ints) -> int:
    """Put what has arrived at ports in this round in tie order; those with equal keys stay as they came."""
    base = s[B_REQUEST]
    for i in range(1, s[REQUEST_COUNT]):
        leg = s[base + i]
        g = leg_at(s, leg)
        key, tie = s[g + L_KEY], s[g + L_TIE]
        j = i
        while j > 0:
            b = leg_at(s, s[base + j - 1])
            if s[b + L_KEY] < key or (s[b + L_KEY] == key and s[b + L_TIE] <= tie):
                break
            s[base + j] = s[base + j - 1]
            j -= 1
        s[base + j] = leg
    return int(s[REQUEST_COUNT])
