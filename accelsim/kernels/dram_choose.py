"""Which request has a channel's next command, and when: first ready, then first come."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.dram_edges import at_rising, precharge_at
from accelsim.kernels.dram_layout import (
    ACTIVATING,
    ACTIVE,
    ACTIVE_AT,
    ACTIVE_BEST,
    B_GROUP,
    B_UNIT,
    BEST,
    BEST_AT,
    CLOSE_FROM,
    COLUMN_BUS,
    DUE_COUNT,
    E_BANK,
    E_ORDER,
    E_WRITE,
    FAR,
    G_ACT,
    GROUP_WIDTH,
    HIGH,
    HITS,
    K_ACT,
    K_ACTIVE,
    K_FIRST,
    K_GROUP,
    K_HIT,
    K_MISS,
    K_PRE,
    K_UNIT,
    K_YOUNGER,
    LOW,
    MISSES,
    NEVER,
    ROW_BUS,
    SIDE,
    U_OLDEST,
    UNIT_WIDTH,
    UNITS,
    WAITING,
)
from accelsim.kernels.dram_queue import bank_at
from accelsim.kernels.dram_timing import activate_from, column_from
from accelsim.kernels.jit import lowest, small_part

Ints = NDArray[np.int64]

ANY, COLUMNS, ROWS = range(3)
"""Which commands a slot takes: with two buses, column commands and row commands have one each."""


@small_part
def best_active(s: Ints, now: int) -> int:
    """Note the best of the requests that a row was opened for: the first ready, of those the first come.

    What was found stays so until a column command is given, or its cycle is past.
    """
    now = max(now, s[COLUMN_BUS])
    if now > s[ACTIVE_AT]:
        best, best_at, turn, banks = NEVER, FAR, FAR, s[ACTIVE]
        while banks:
            bank = lowest(banks)
            banks &= banks - 1
            k = bank_at(bank)
            e = s[k + K_ACTIVE]
            time = at_rising(s, max(now, column_from(s, s[k + K_UNIT], s[k + K_GROUP], bank, s[e + E_WRITE])))
            if time < best_at or (time == best_at and s[e + E_ORDER] < turn):
                best, best_at, turn = e, time, s[e + E_ORDER]
        s[ACTIVE_BEST], s[ACTIVE_AT] = best, best_at
    s[BEST], s[BEST_AT] = s[ACTIVE_BEST], s[ACTIVE_AT]
    return 0


@small_part
def best_hit(s: Ints, now: int, side: int, banks: int) -> int:
    """Note the best of the requests that hit the open rows of some banks, if it is ready before the best so far."""
    best, best_at, turn = s[BEST], s[BEST_AT], NEVER
    while banks:
        bank = lowest(banks)
        banks &= banks - 1
        k = bank_at(bank)
        e = s[k + K_HIT + side]
        time = at_rising(s, max(now, column_from(s, s[k + K_UNIT], s[k + K_GROUP], bank, side)))
        if time < best_at or (time == best_at and s[e + E_ORDER] < turn):
            best, best_at, turn = e, time, s[e + E_ORDER]
    s[BEST], s[BEST_AT] = best, best_at
    return turn


@small_part
def best_to_close(s: Ints, now: int, side: int, banks: int, turn: int) -> int:
    """As ``best_hit`` for those that may have another row closed for them; ``turn``: that of the best so far. Notes from when on
    any of them may.
    """
    best, best_at = s[BEST], s[BEST_AT]
    if s[CLOSE_FROM + side] > best_at:
        return turn
    soonest = FAR
    while banks:
        bank = lowest(banks)
        banks &= banks - 1
        k = bank_at(bank)
        soonest = min(soonest, s[k + K_PRE])
        if s[k + K_PRE] <= best_at:
            e = s[k + K_MISS + side]
            time = precharge_at(s, now, s[k + K_UNIT], bank)
            if time < best_at or (time == best_at and s[e + E_ORDER] < turn):
                best, best_at, turn = e, time, s[e + E_ORDER]
    s[BEST], s[BEST_AT], s[CLOSE_FROM + side] = best, best_at, soonest
    return turn


@small_part
def best_to_open(s: Ints, now: int, side: int, turn: int) -> int:
    """As ``best_to_close`` for the first requests of banks without an open row."""
    best, best_at = s[BEST], s[BEST_AT]
    for unit in range(s[UNITS]):
        k = s[B_UNIT + unit * UNIT_WIDTH + U_OLDEST + side]
        # when a rank allows any; of those that are ready then, the oldest is the first
        soonest = at_rising(s, max(now, s[ROW_BUS], activate_from(s, unit)))
        while k >= 0 and soonest <= best_at:
            time = at_rising(s, max(soonest, s[k + K_ACT], s[B_GROUP + s[k + K_GROUP] * GROUP_WIDTH + G_ACT]))
            e = s[k + K_FIRST + side]
            if time < best_at or (time == best_at and s[e + E_ORDER] < turn):
                best, best_at, turn = e, time, s[e + E_ORDER]
            k = s[k + K_YOUNGER + side] if time > soonest else NEVER
    s[BEST], s[BEST_AT] = best, best_at
    return turn


@small_part
def best_waiting(s: Ints, now: int, side: int, slot: int) -> int:
    """Note the best of the reads, or writes, that wait, if it is ready before the best so far.

    While a row is being opened by two commands, its bank has no others, and no other row is opened.
    """
    others = NEVER
    if s[ACTIVATING] >= 0:
        others = ~(1 << s[s[ACTIVATING] + E_BANK])
    turn = NEVER
    if slot != ROWS:
        turn = best_hit(s, now, side, s[HITS + side] & others)
    if slot != COLUMNS:
        if s[ACTIVATING] < 0:
            turn = best_to_open(s, now, side, turn)
        turn = best_to_close(s, now, side, s[MISSES + side] & others, turn)
    return turn


@small_part
def choose_side(s: Ints) -> int:
    """Reads are served until writes fill their queue or no read is left; then writes, until few are left."""
    if s[SIDE] == 0:
        if s[WAITING + 1] >= s[HIGH] or s[WAITING] == 0:
            s[SIDE] = 1
    elif s[WAITING + 1] <= s[LOW] and s[WAITING] > 0:
        s[SIDE] = 0
    return 0


@small_part
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
