"""What asks the channels of a memory, and when it is known to arrive: once they have moved all of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.event_happenings import at
from accelsim.kernels.event_layout import (
    ASKED_COUNT,
    B_ASKED,
    B_HOP,
    B_LIST,
    B_RESIDENCY,
    BOOKING_WIDTH,
    DRAIN_ARRIVES,
    FILL_ARRIVES,
    H_LATENCY,
    HOP_WIDTH,
    K_END,
    K_THROUGH,
    L_ASKED,
    L_BEFORE,
    L_BOOKED,
    L_ENDED,
    L_LATENCY,
    L_NEXT_WAITING,
    L_REFERENCES,
    L_ROUTE,
    L_THROUGH,
    L_TIE,
    L_WAITING,
    LEG_HEAD,
    MEMORY_LOOKED,
    N_LATEST,
    N_PIECES_LEFT,
    NEVER,
    NOW,
    RESIDENCY_WIDTH,
)
from accelsim.kernels.event_pools import leg_at
from accelsim.kernels.jit import small_part

Ints = NDArray[np.int64]
OUTWARD = 1


@small_part
def drains(s: Ints, g: int) -> int:
    """Whether a leg moves outward."""
    return 1 if (s[g + L_TIE] >> 40) == OUTWARD else 0


@small_part
def settle(s: Ints, leg: int) -> int:
    """Work out again when a leg's data were through each hop, now that its first hop is known to the end."""
    own = leg_at(s, leg)
    g = own if s[own + L_BEFORE] < 0 else leg_at(s, s[own + L_BEFORE])
    through = latency = 0
    while True:
        for i in range(s[g + L_BOOKED]):
            k = g + LEG_HEAD + i * BOOKING_WIDTH
            through = max(s[k + K_END], through + latency)
            latency = s[s[B_HOP] + s[s[B_LIST] + s[g + L_ROUTE] + i] * HOP_WIDTH + H_LATENCY]
            s[k + K_THROUGH] = through
        if g == own:
            break
        g = own
    s[own + L_THROUGH], s[own + L_LATENCY] = through, latency
    return 0


@small_part
def asks_still(s: Ints, leg: int) -> int:
    """The leg, this one or the one that it continues, which channels have not moved all of yet; -1: none."""
    g = leg_at(s, leg)
    if s[g + L_ASKED] < 0 and s[g + L_BEFORE] >= 0:
        leg = s[g + L_BEFORE]
        g = leg_at(s, leg)
    return int(leg) if s[g + L_ASKED] >= 0 and s[g + L_ENDED] < 0 else NEVER


@small_part
def await_end(s: Ints, leg: int) -> int:
    """A leg waits, behind those that do already, for channels to have moved all; returns 0 where there is nothing to wait for."""
    asks = asks_still(s, leg)
    if asks < 0:
        return 0
    g = leg_at(s, leg)
    s[g + L_REFERENCES] += 1
    s[g + L_NEXT_WAITING] = NEVER
    w = leg_at(s, asks) + L_WAITING
    while s[w] >= 0:
        w = leg_at(s, s[w]) + L_NEXT_WAITING
    s[w] = leg
    return 1


@small_part
def arrives(s: Ints, leg: int, r: int) -> int:
    """A leg is booked to its end, and all of it was moved: once that holds of all pieces, it is known when all arrives."""
    g = leg_at(s, leg)
    outward = drains(s, g)
    if not outward:
        settle(s, leg)
    n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
    s[n + N_PIECES_LEFT] -= 1
    through = max(s[g + L_THROUGH], s[g + L_ENDED]) if outward else s[g + L_THROUGH]
    s[n + N_LATEST] = max(s[n + N_LATEST], through + s[g + L_LATENCY])
    if s[n + N_PIECES_LEFT] == 0:
        at(s, s[n + N_LATEST], DRAIN_ARRIVES if outward else FILL_ARRIVES, r)
    return 0


@small_part
def ask_channels(s: Ints, leg: int, g: int) -> int:
    """Ask a memory's channels for what a leg moves: they do before time goes on. It is named until they have moved it."""
    s[g + L_ASKED], s[g + L_ENDED], s[g + L_WAITING] = s[NOW], NEVER, NEVER
    s[g + L_REFERENCES] += 1
    s[s[B_ASKED] + s[ASKED_COUNT]] = leg
    s[ASKED_COUNT] += 1
    s[MEMORY_LOOKED] = 0
    return leg
