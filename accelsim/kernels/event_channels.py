"""What comes out of a memory whose channels are simulated: first data, all bursts queued, last data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.event_arrivals import arrives, drains
from accelsim.kernels.event_layout import (
    B_HOP,
    B_LIST,
    B_RESIDENCY,
    H_LATENCY,
    HOP_WIDTH,
    K_END,
    L_ASKED,
    L_BOOKED,
    L_DONE,
    L_ENDED,
    L_NEXT_WAITING,
    L_REACHES,
    L_RESIDENCY,
    L_ROUTE,
    L_WAITING,
    LEG_HEAD,
    N_NEXT_MEMBER,
    NEVER,
    NOW,
    RESIDENCY_WIDTH,
    SUMMED,
)
from accelsim.kernels.event_pools import drop_leg, leg_at
from accelsim.kernels.event_ports import book
from accelsim.kernels.event_service import let_ask
from accelsim.kernels.event_transfers import go_on
from accelsim.kernels.jit import part

Ints = NDArray[np.int64]


@part
def channels_start(s: Ints, leg: int) -> int:
    """A read's first data move: the hops behind can be booked, though not yet when all is through."""
    return book_channels(s, leg, s[NOW])


@part
def channels_entered(s: Ints, leg: int) -> int:
    """All bursts are queued: the next piece may ask; and what writes has left where it came from."""
    g = leg_at(s, leg)
    let_ask(s, leg, g, s[NOW])
    return book_channels(s, leg, s[g + L_ASKED]) if drains(s, g) else 0


@part
def book_channels(s: Ints, leg: int, start: int) -> int:
    """Book the hop to a memory: it is passed now, as far as is known."""
    g, now = leg_at(s, leg), s[NOW]
    hop = s[B_HOP] + s[s[B_LIST] + s[g + L_ROUTE] + s[g + L_BOOKED]] * HOP_WIDTH
    book(s, g, hop, s[g + L_ASKED], start, now, NEVER)
    s[g + L_REACHES] = now + s[hop + H_LATENCY]
    return go_on(s, leg)


@part
def channels_end(s: Ints, leg: int) -> int:
    """The last data moved; those that are booked to their ends arrive."""
    g = leg_at(s, leg)
    s[g + L_ENDED] = s[NOW]
    if not drains(s, g):
        s[g + LEG_HEAD + K_END] = s[NOW]
    waiting = s[g + L_WAITING]
    s[g + L_WAITING] = NEVER
    while waiting >= 0:
        w = leg_at(s, waiting)
        after, r = s[w + L_NEXT_WAITING], s[w + L_RESIDENCY]
        while r >= 0:
            arrives(s, waiting, r)
            # a sum is for all members of its group
            r = s[s[B_RESIDENCY] + r * RESIDENCY_WIDTH + N_NEXT_MEMBER] if s[w + L_DONE] == SUMMED else NEVER
        drop_leg(s, waiting)
        waiting = after
    return drop_leg(s, leg)
