"""A DRAM controller: what a channel does from one cycle to another in which something comes from outside."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.dram_choose import ANY, COLUMNS, ROWS, look
from accelsim.kernels.dram_give import give_access, give_next, give_second_activate
from accelsim.kernels.dram_layout import (
    ACT2_BY,
    ACTIVATING,
    BEST,
    DUE_COUNT,
    E_BANK,
    E_WRITE,
    GIVEN,
    K_GROUP,
    K_UNIT,
    NEVER,
    NEXT_REF,
    NOW,
    N_RD,
    N_WR,
    REF_EVERY,
    SYNCING,
    TWO_BUSES,
    WAITING,
)
from accelsim.kernels.dram_queue import bank_at
from accelsim.kernels.dram_refresh import fall_due, refresh
from accelsim.kernels.dram_timing import column_from
from accelsim.kernels.jit import part

Ints = NDArray[np.int64]


@part
def fill_slot(s: Ints, answers: Ints, now: int, before: int, slot: int) -> int:
    """Give a command in a slot, now or, where it is the only slot, in a later cycle ``before``; returns when it was, or when
    one may be given.
    """
    time = look(s, now, slot)
    if time == now or (slot == ANY and time < before and s[DUE_COUNT] == 0 and s[ACTIVATING] < 0):
        give_next(s, answers, s[BEST], time)
        s[NOW] = time
        s[GIVEN] = 1
        return time
    if s[DUE_COUNT] and slot != COLUMNS:
        due = refresh(s, now)
        if due == now:
            s[GIVEN] = 1
        time = min(time, due)
    return int(time)


@part
def tick(s: Ints, answers: Ints, now: int, before: int) -> int:
    """Give a channel's commands from the cycle ``now`` on, until a request has its column command or leaves its queue, or until
    the cycle ``before`` which nothing comes from outside.

    Returns the cycle in which to look again; ``NOW`` is the last one in which something was done.
    """
    while True:
        s[NOW], s[GIVEN] = now, 0
        fall_due(s, now)
        until = min(before, s[NEXT_REF]) if s[REF_EVERY] else before
        seen = s[WAITING] + s[WAITING + 1] - s[N_RD] - s[N_WR]
        if s[SYNCING] >= 0:
            e = s[SYNCING]
            k = bank_at(s[e + E_BANK])
            if column_from(s, s[k + K_UNIT], s[k + K_GROUP], s[e + E_BANK], s[e + E_WRITE]) <= now:
                s[SYNCING] = NEVER
                give_access(s, answers, e, now)
            time = now + 1
        elif s[ACTIVATING] >= 0 and s[ACT2_BY] <= now:
            give_second_activate(s, now)
            time = now + 1
        elif s[TWO_BUSES]:
            time = fill_slot(s, answers, now, until, COLUMNS)
            time = min(time, fill_slot(s, answers, now, until, ROWS))
        else:
            time = fill_slot(s, answers, now, until, ANY)
            if s[GIVEN] == 0 and s[ACTIVATING] >= 0:
                give_second_activate(s, now)
                s[GIVEN] = 1
        if s[GIVEN]:
            time = s[NOW] + 1
        if s[REF_EVERY]:
            time = min(time, s[NEXT_REF])
        if s[WAITING] + s[WAITING + 1] - s[N_RD] - s[N_WR] != seen or time >= before:
            return int(time)
        now = time
