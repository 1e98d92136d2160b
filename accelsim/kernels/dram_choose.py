"""Which request has a channel's next command, and when: first ready, then first come."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.dram_edges import at_rising, precharge_at
from accelsim.kernels.dram_layout import (
    ACTIVATING,
    ACTIVES,
    B_ACTIVE,
    B_BANK,
    B_GROUP,
    B_UNIT,
    BANK_WIDTH,
    BEST,
    BEST_AT,
    CAP,
    COLUMN_BUS,
    DUE_COUNT,
    E_BANK,
    E_NEXT,
    E_ORDER,
    E_ROW,
    E_WRITE,
    FAR,
    FOUR_ACTS,
    G_ACT,
    G_ACT_FROM,
    G_COLUMN_FROM,
    G_PRE_FROM,
    G_RD,
    GROUP_WIDTH,
    GROUPS,
    HELD,
    HIGH,
    K_ACT,
    K_ACTIVE,
    K_FIRST,
    K_GROUP,
    K_HIT,
    K_HITS,
    K_PRE,
    K_RD,
    K_ROW,
    K_UNIT,
    LOW,
    NEVER,
    PROTECT,
    ROW_BUS,
    SIDE,
    U_ACT,
    U_ACT_AT,
    U_ACTS,
    U_PRE,
    U_RD,
    UNIT_WIDTH,
    UNITS,
    WAITING,
)
from accelsim.kernels.dram_queue import bank_at, entry_at, held_at
from accelsim.kernels.dram_timing import column_from
from accelsim.kernels.jit import part, small_part

Ints = NDArray[np.int64]

ANY, COLUMNS, ROWS = range(3)
"""Which commands a slot takes: with two buses, column commands and row commands have one each."""


@part
def best_active(s: Ints, now: int) -> int:
    """Note the best of the requests that a row was opened for: the first ready, of those the first come."""
    best, best_at, turn = NEVER, FAR, FAR
    for i in range(s[ACTIVES]):
        e = s[s[B_ACTIVE] + i]
        p = entry_at(s, e)
        k = bank_at(s, s[p + E_BANK])
        time = at_rising(s, max(now, column_from(s, s[k + K_UNIT], s[k + K_GROUP], s[p + E_BANK], s[p + E_WRITE])))
        if time < best_at or (time == best_at and s[p + E_ORDER] < turn):
            best, best_at, turn = e, time, s[p + E_ORDER]
    s[BEST], s[BEST_AT] = best, best_at
    return 0


@part
def behind(s: Ints, e: int, row: int, same: int) -> int:
    """The first request behind one of a bank that is for a row (``same`` 1) or for another (0); -1: none."""
    e = s[entry_at(s, e) + E_NEXT]
    while e >= 0 and (1 if s[entry_at(s, e) + E_ROW] == row else 0) != same:
        e = s[entry_at(s, e) + E_NEXT]
    return int(e)


@part
def set_bounds(s: Ints, now: int, side: int) -> int:
    """Work out what each bank group allows, all its banks alike."""
    for group in range(s[UNITS] * s[GROUPS]):
        u, g = s[B_UNIT] + group // s[GROUPS] * UNIT_WIDTH, s[B_GROUP] + group * GROUP_WIDTH
        fourth = s[u + U_ACT_AT + (s[u + U_ACTS] & 3)] + s[FOUR_ACTS]
        s[g + G_COLUMN_FROM] = max(now, s[COLUMN_BUS], s[u + U_RD + side], s[g + G_RD + side])
        s[g + G_ACT_FROM] = max(now, s[ROW_BUS], s[u + U_ACT], s[g + G_ACT], fourth)
        s[g + G_PRE_FROM] = max(now, s[ROW_BUS], s[u + U_PRE])
    return 0


@part
def row_command_at(s: Ints, k: int, side: int, slot: int, now: int) -> int:
    """When the first request of a bank that wants another row than the open one, or any, could have it; FAR: not as things are.

    ``BEST`` is that request then.
    """
    first, row = s[k + K_FIRST + side], s[k + K_ROW]
    bank = (k - s[B_BANK]) // BANK_WIDTH
    if slot == COLUMNS or (s[ACTIVATING] >= 0 and (row < 0 or s[entry_at(s, s[ACTIVATING]) + E_BANK] == bank)):
        return FAR
    if row < 0:
        s[BEST] = first
        return at_rising(s, max(s[k + K_ACT], s[s[B_GROUP] + s[k + K_GROUP] * GROUP_WIDTH + G_ACT_FROM]))
    hit = s[k + K_HIT + side]
    if hit == first:
        first = behind(s, first, row, 0) if s[PROTECT] == 0 else NEVER
    if first < 0 or s[k + K_ACTIVE] >= 0 or (hit >= 0 and s[k + K_HITS] < s[CAP]):
        return FAR
    s[BEST] = first
    return precharge_at(s, now, s[k + K_UNIT], bank)


@part
def best_waiting(s: Ints, now: int, side: int, slot: int) -> int:
    """Note the best of the reads, or writes, that wait, if it is ready before the best so far.

    Of each bank these are the first that hits its open row, and the very first. A row is not closed while a request that it was
    opened for waits, nor, where hits are protected, before older ones that hit it; where there is a cap, nor before younger
    ones until it was hit that often.
    """
    set_bounds(s, now, side)
    activating = s[entry_at(s, s[ACTIVATING]) + E_BANK] if s[ACTIVATING] >= 0 else NEVER
    before, best, best_at, turn = s[BEST], NEVER, s[BEST_AT], NEVER
    held = held_at(s, side)
    for i in range(s[HELD + side]):
        bank = s[held + i]
        k = bank_at(s, bank)
        g = s[B_GROUP] + s[k + K_GROUP] * GROUP_WIDTH
        hit = s[k + K_HIT + side]
        if hit >= 0 and slot != ROWS and bank != activating:
            time = at_rising(s, max(s[k + K_RD + side], s[g + G_COLUMN_FROM]))
            if time < best_at or (time == best_at and s[entry_at(s, hit) + E_ORDER] < turn):
                best, best_at, turn = hit, time, s[entry_at(s, hit) + E_ORDER]
        # a bank whose times are too late is out, whatever else holds: most are
        closed = 1 if s[k + K_ROW] < 0 else 0
        if max(s[k + K_PRE - closed], s[g + G_PRE_FROM - closed]) <= best_at:
            time = row_command_at(s, k, side, slot, now)
            if time < best_at or (time == best_at and s[entry_at(s, s[BEST]) + E_ORDER] < turn):
                best, best_at, turn = s[BEST], time, s[entry_at(s, s[BEST]) + E_ORDER]
    s[BEST] = before
    if best >= 0:
        s[BEST], s[BEST_AT] = best, best_at
    return 0


@small_part
def choose_side(s: Ints) -> int:
    """Reads are served until writes fill their queue or no read is left; then writes, until few are left."""
    if s[SIDE] == 0:
        if s[WAITING + 1] >= s[HIGH] or s[WAITING] == 0:
            s[SIDE] = 1
    elif s[WAITING + 1] <= s[LOW] and s[WAITING] > 0:
        s[SIDE] = 0
    return 0


@part
def look(s: Ints, now: int, slot: int) -> int:
    """Which request has its next command in a slot, and when; returns that time.

    Those that a row was opened for go before all others; while a refresh is due, no others go.
    """
    s[BEST], s[BEST_AT] = NEVER, FAR
    if slot != ROWS:
        best_active(s, now)
    if s[BEST_AT] > now and s[DUE_COUNT] == 0:
        choose_side(s)
        best_waiting(s, now, s[SIDE], slot)
    return int(s[BEST_AT])
