"""A DRAM controller: what a channel does from one cycle to another in which something comes from outside."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.dram_choose import ANY, COLUMNS, ROWS, look
from accelsim.kernels.dram_give import give_access, give_next, give_second_activate
from accelsim.kernels.dram_layout import (
    ACT2_BY,
    ACTIVATING,
    ACTIVE,
    BEST,
    DUE_COUNT,
    E_BANK,
    E_WRITE,
    FAR,
    GIVEN,
    K_GROUP,
    K_UNIT,
    LEFT,
    NEVER,
    NEXT_REF,
    NOW,
    REF_EVERY,
    SECOND,
    SIDE,
    SYNCING,
    TWO_BUSES,
    WAITING,
)
from accelsim.kernels.dram_queue import bank_at
from accelsim.kernels.dram_refresh import fall_due, refresh
from accelsim.kernels.dram_second import second_step
from accelsim.kernels.dram_timing import column_from
from accelsim.kernels.jit import part, small_part

Ints = NDArray[np.int64]


@small_part
def give_one(s: Ints, answers: Ints, now: int, before: int) -> int:
    """Give the one command that the bus takes, now or in a later cycle ``before``; returns when it was, or when one may be."""
    time = look(s, now, ANY)
    if time == now or (time < before and s[DUE_COUNT] == 0 and s[ACTIVATING] < 0):
        give_next(s, answers, s[BEST], time)
        s[NOW], s[GIVEN] = time, 1
        return time
    return min(time, go_on_refreshing(s, now))


@small_part
def give_two(s: Ints, answers: Ints, now: int, before: int) -> int:
    """As ``give_one`` with a bus for column commands and one for row commands: a command on each."""
    column_at = look(s, now, COLUMNS)
    column = s[BEST]
    row_at = look(s, now, ROWS) if column_at > now else FAR
    soonest = min(column_at, row_at)
    if now < soonest < before and s[DUE_COUNT] == 0:
        now = soonest
    if column_at == now:
        give_next(s, answers, column, now)
        s[NOW], s[GIVEN] = now, 1
        row_at = look(s, now, ROWS)
    if row_at == now:
        give_next(s, answers, s[BEST], now)
        s[NOW], s[GIVEN] = now, 1
        return now
    return min(column_at, row_at, go_on_refreshing(s, now))


@part
def go_on_refreshing(s: Ints, now: int) -> int:
    """Give a command for the refresh that is due, or say when one may be given; FAR: none is due."""
    if s[DUE_COUNT] == 0:
        return FAR
    time = refresh(s, now)
    if time == now:
        s[GIVEN] = 1
    return time


@small_part
def is_idle(s: Ints) -> int:
    """Whether a channel without a second queue has nothing to do before a request comes or a refresh falls due."""
    if s[WAITING] > 0 or s[WAITING + 1] > 0 or s[ACTIVE] != 0 or s[ACTIVATING] >= 0:
        return 0
    return 1 if s[SECOND] + s[DUE_COUNT] == 0 else 0


@part
def tick(s: Ints, answers: Ints, now: int, before: int) -> int:
    """Give a channel's commands from the cycle ``now`` on, until a request has its column command or leaves its queue, or until
    the cycle ``before`` which nothing comes from outside.

    Returns the cycle in which to look again; ``NOW`` is the last one in which something was done.
    """
    s[LEFT] = 0
    while True:
        s[NOW], s[GIVEN] = now, 0
        if s[REF_EVERY] and now >= s[NEXT_REF]:
            fall_due(s, now)
        until = min(before, s[NEXT_REF]) if s[REF_EVERY] else before
        if is_idle(s):
            # as where no read waits
            s[SIDE] = 1
            time = FAR
        elif s[SYNCING] >= 0:
            e = s[SYNCING]
            k = bank_at(s[e + E_BANK])
            if column_from(s, s[k + K_UNIT], s[k + K_GROUP], s[e + E_BANK], s[e + E_WRITE]) <= now:
                s[SYNCING] = NEVER
                give_access(s, answers, e, now)
            time = now + 1
        elif s[ACTIVATING] >= 0 and s[ACT2_BY] <= now:
            give_second_activate(s, now)
            time = now + 1
        elif s[SECOND]:
            time = second_step(s, answers, now)
        elif s[TWO_BUSES]:
            time = give_two(s, answers, now, until)
        else:
            time = give_one(s, answers, now, until)
            if s[GIVEN] == 0 and s[ACTIVATING] >= 0:
                give_second_activate(s, now)
                s[GIVEN] = 1
        if s[GIVEN]:
            time = s[NOW] + 1
        if s[REF_EVERY]:
            time = min(time, s[NEXT_REF])
        if s[LEFT] or time >= before:
            return int(time)
        now = time
