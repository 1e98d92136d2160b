"""Service at a port: who has arrived is served behind what is booked, or asks the channels of a memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.event_arrivals import ask_channels
from accelsim.kernels.event_banks import note_words
from accelsim.kernels.event_happenings import add_row, at
from accelsim.kernels.event_layout import (
    B_HOP,
    B_LIST,
    B_RESOURCE,
    B_TABLE,
    H_BANKED,
    H_MEMORY,
    H_RESOURCE,
    HOP_WIDTH,
    L_BOOKED,
    L_LABEL,
    L_LANE,
    L_PIECE,
    L_PIECES,
    L_REFERENCES,
    L_ROUTE,
    L_SERVED,
    L_TICK,
    L_TICKS,
    L_UNIT,
    NEVER,
    NOW,
    PIECE_ASKS,
    R_FREE,
    R_LANE,
    RESOURCE_WIDTH,
    TICKS,
)
from accelsim.kernels.event_pools import leg_at
from accelsim.kernels.event_ports import book, note_booking, who_is_ahead
from accelsim.kernels.event_transfers import go_on
from accelsim.kernels.jit import small_part

Ints = NDArray[np.int64]


@small_part
def serve(s: Ints, leg: int) -> int:
    """Serve a transfer at the port it is at, behind what is booked there."""
    g = leg_at(s, leg)
    now, place = s[NOW], s[g + L_BOOKED]
    hop = s[B_HOP] + s[s[B_LIST] + s[g + L_ROUTE] + place] * HOP_WIDTH
    if s[hop + H_MEMORY] >= 0:
        return ask_channels(s, leg, g)
    resource = s[B_RESOURCE] + s[hop + H_RESOURCE] * RESOURCE_WIDTH
    start = max(now * TICKS, s[resource + R_FREE])
    end = start + s[s[B_TABLE] + s[g + L_TICKS] + place]
    s[resource + R_FREE] = end
    begins, ends = -(-start // TICKS), -(-end // TICKS)
    ahead = who_is_ahead(s, resource, now, begins) if begins > now else NEVER
    note_booking(s, resource, begins, ends, s[g + L_LABEL], s[g + L_UNIT])
    add_row(s, s[resource + R_LANE], start, end, 0, s[g + L_LABEL])
    if end > start:
        s[g + L_LANE], s[g + L_TICK] = s[resource + R_LANE], start
    book(s, g, hop, now, begins, ends, ahead)
    if s[hop + H_BANKED] >= 0:
        note_words(s, leg, hop, begins)
    let_ask(s, leg, g, ends)
    return go_on(s, leg)


@small_part
def let_ask(s: Ints, leg: int, g: int, cycle: int) -> int:
    """The first port that serves a piece lets the next one ask, which then names this one."""
    if s[g + L_SERVED] < 0 and s[g + L_PIECE] + 1 < s[g + L_PIECES]:
        s[g + L_REFERENCES] += 1
        at(s, cycle, PIECE_ASKS, leg)
    s[g + L_SERVED] = 1
    return 0
