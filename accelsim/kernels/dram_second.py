"""A second queue behind those of reads and of writes: in it both are chosen from together, each until its column command."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.dram_choose import ANY, COLUMNS, ROWS
from accelsim.kernels.dram_give import give_access
from accelsim.kernels.dram_layout import (
    ALONE,
    B_GROUP,
    BEST,
    BEST_AT,
    BUFFER,
    BUFFER_LAST,
    CAP,
    DRAINING,
    DUE_COUNT,
    E_BANK,
    E_NEXT,
    E_ROW,
    E_WRITE,
    FAR,
    G_ACT,
    GIVEN,
    GROUP_WIDTH,
    HIGH,
    IN_SECOND,
    K_ACT,
    K_GROUP,
    K_HITS,
    K_OPENER,
    K_ROW,
    K_UNIT,
    LEFT,
    NEVER,
    ROW_BUS,
    SECOND,
    SECOND_FIRST,
    SECOND_LAST,
    TWO_BUSES,
    WAITING,
)
from accelsim.kernels.dram_queue import append, bank_at, row_closed, row_opened, take_out
from accelsim.kernels.dram_refresh import refresh
from accelsim.kernels.dram_timing import activate_from, column_from, give_activate, give_precharge, precharge_from
from accelsim.kernels.jit import part, small_part

Ints = NDArray[np.int64]


@small_part
def writes_begin(s: Ints) -> int:
    """Whether writes go on before reads from now on: so many wait, or enough do and nothing is in the second queue."""
    return 1 if s[WAITING + 1] >= s[HIGH] or (s[WAITING + 1] >= s[ALONE] and s[IN_SECOND] == 0) else 0


@small_part
def can_go_on(s: Ints) -> int:
    """Whether a request goes on into the second queue in this cycle."""
    return 1 if s[IN_SECOND] < s[SECOND] and (s[DRAINING] > 0 or s[WAITING] > 0 or writes_begin(s)) else 0


@part
def go_on(s: Ints) -> int:
    """One request goes on into the second queue, if there is room: a read, or a write, as many as waited when writes began."""
    if s[DRAINING] == 0 and writes_begin(s):
        s[DRAINING] = s[WAITING + 1]
    side = 1 if s[DRAINING] > 0 else 0
    e = s[BUFFER + side]
    if e < 0 or s[IN_SECOND] >= s[SECOND]:
        return 0
    take_out(s, BUFFER + side, BUFFER_LAST + side, e)
    append(s, SECOND_FIRST, SECOND_LAST, e)
    s[WAITING + side] -= 1
    s[LEFT] = 1
    s[IN_SECOND] += 1
    s[DRAINING] -= side
    return 1


@part
def may_close(s: Ints, e: int, k: int) -> int:
    """Whether a row may be closed for a request, the oldest of its bank: not before younger ones that hit it, up to the cap."""
    if s[k + K_HITS] >= s[CAP]:
        return 1
    bank = s[e + E_BANK]
    while e >= 0:
        if s[e + E_BANK] == bank and s[e + E_ROW] == s[k + K_ROW]:
            return 0
        e = int(s[e + E_NEXT])
    return 1


@part
def look_in_second(s: Ints, now: int, slot: int) -> int:
    """Which request has its next command in a slot, and when; returns that time. The first ready, of those the first come."""
    best, best_at, older = NEVER, FAR, 0
    e = s[SECOND_FIRST]
    while e >= 0:
        bank = s[e + E_BANK]
        k = bank_at(bank)
        row, time = s[k + K_ROW], FAR
        if row == s[e + E_ROW]:
            if slot != ROWS:
                time = column_from(s, s[k + K_UNIT], s[k + K_GROUP], bank, s[e + E_WRITE])
        elif slot != COLUMNS and older >> bank & 1 == 0:
            if row < 0:
                group = B_GROUP + s[k + K_GROUP] * GROUP_WIDTH
                time = max(s[ROW_BUS], s[k + K_ACT], s[group + G_ACT], activate_from(s, s[k + K_UNIT]))
            elif may_close(s, e, k):
                time = precharge_from(s, s[k + K_UNIT], bank)
        time = max(now, time)
        if time < best_at:
            best, best_at = e, time
        older |= 1 << bank
        e = s[e + E_NEXT]
    s[BEST], s[BEST_AT] = best, best_at
    return int(best_at)


@part
def give_from_second(s: Ints, answers: Ints, e: int, now: int) -> int:
    """Give the command that a request needs next."""
    bank = s[e + E_BANK]
    k = bank_at(bank)
    if s[k + K_ROW] == s[e + E_ROW]:
        return give_access(s, answers, e, now)
    if s[k + K_ROW] >= 0:
        give_precharge(s, now, s[k + K_UNIT], bank, 0)
        return row_closed(s, bank)
    give_activate(s, now, s[k + K_UNIT], s[k + K_GROUP], bank, s[e + E_ROW])
    s[k + K_OPENER] = e
    return row_opened(s, bank)


@part
def second_step(s: Ints, answers: Ints, now: int) -> int:
    """What a channel with a second queue does in a cycle; returns when something can be done again.

    What goes on into the second queue, which belongs to the end of the cycle before, has its first command now.
    """
    go_on(s)
    time = FAR
    if s[DUE_COUNT]:
        time = refresh(s, now)
        if time == now:
            s[GIVEN] = 1
    elif s[TWO_BUSES]:
        for slot in (COLUMNS, ROWS):
            time = min(time, step_slot(s, answers, now, slot))
    else:
        time = step_slot(s, answers, now, ANY)
    return now + 1 if can_go_on(s) else int(time)


@small_part
def step_slot(s: Ints, answers: Ints, now: int, slot: int) -> int:
    """Give a command in a slot, or say when one may be given."""
    time = look_in_second(s, now, slot)
    if time == now:
        give_from_second(s, answers, s[BEST], now)
        s[GIVEN] = 1
    return time
