"""A DRAM controller: which command a channel gives, and when (first ready, then first come)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.dram_layout import (
    A_COMMAND,
    A_DONE,
    ACT2,
    ACT2_BY,
    ACT2_WITHIN,
    ACTIVATING,
    ACTIVES,
    ANSWER_WIDTH,
    B_ACTIVE,
    B_DUE,
    B_UNIT,
    BANKS,
    BEST,
    BEST_AT,
    CAP,
    CLOSED,
    DUE_COUNT,
    DUE_FIRST,
    E_BANK,
    E_COLUMN,
    E_NEXT,
    E_ORDER,
    E_REQUEST,
    E_ROW,
    E_WRITE,
    EDGES,
    FAR,
    GIVEN,
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
    K_REF,
    K_ROW,
    K_UNIT,
    LATEST,
    LOW,
    N_RD,
    N_WR,
    NEVER,
    NEXT_ONE,
    NEXT_REF,
    NOW,
    PROTECT,
    READ_LATENCY,
    REF_EVERY,
    REF_ONE,
    RISING_BANK,
    RISING_KIND,
    RISING_UNIT,
    RISING_UNTIL,
    ROW_BUS,
    SIDE,
    SPLIT_ACT,
    SYNC,
    SYNC_RD,
    SYNC_READ,
    SYNC_WR,
    SYNC_WRITE,
    SYNCED_UNTIL,
    SYNCING,
    TWO_BUSES,
    U_ACTIVE,
    U_OPEN,
    U_REF,
    U_REF_ONE,
    UNIT_WIDTH,
    UNITS,
    WAITING,
    WRITE_LATENCY,
)
from accelsim.kernels.dram_queue import bank_at, entry_at, held_at, leave_queue, make_active, row_changed, served
from accelsim.kernels.dram_timing import (
    activate_from,
    column_from,
    give_activate,
    give_column,
    give_precharge,
    give_precharge_all,
    give_refresh,
    give_refresh_bank,
    log,
    precharge_all_from,
    precharge_from,
    take_row_bus,
)
from accelsim.kernels.jit import part, small_part

Ints = NDArray[np.int64]

ANY, COLUMNS, ROWS = range(3)
"""Which commands a slot takes: with two buses, column commands and row commands have one each."""
ONE_BANK, ALL_BANKS, ACTIVATION = range(3)
"""What a row command on a rising edge was, for the precharges that may pair with it on the falling one."""


# -- when -------------------------------------------------------------------------------------------------------------


@small_part
def at_rising(s: Ints, time: int) -> int:
    """The first time that a command may start which starts with a clock: cycles of half a clock are odd there."""
    return int(time | 1) if s[EDGES] else time


@small_part
def may_pair(s: Ints, time: int, unit: int, bank: int) -> int:
    """Whether a precharge may start in the middle of a clock: not beside a row command to the same bank."""
    if s[EDGES] == 0 or time & 1 or time != s[RISING_UNTIL] or s[RISING_UNIT] != unit:
        return 1
    return 1 if s[RISING_KIND] != ALL_BANKS and bank >= 0 and s[RISING_BANK] != bank else 0


@small_part
def note_rising(s: Ints, now: int, unit: int, bank: int, kind: int) -> int:
    """A row command was given with a clock: the middle that it pairs with comes when it is through."""
    if s[EDGES] and now & 1:
        s[RISING_UNIT], s[RISING_BANK], s[RISING_KIND] = unit, bank, kind
        s[RISING_UNTIL] = now + (3 if kind == ACTIVATION else 1)
    return 0


@small_part
def precharge_at(s: Ints, now: int, unit: int, bank: int) -> int:
    """When a bank can be precharged, from now on."""
    time = max(now, precharge_from(s, unit, bank))
    return int(time if may_pair(s, time, unit, bank) else time + 1)


# -- which ------------------------------------------------------------------------------------------------------------


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
def best_waiting(s: Ints, now: int, side: int, slot: int) -> int:
    """Note the best of the reads, or writes, that wait, if it is ready before the best so far.

    Of each bank these are the first that hits its open row, and the very first.
    A row is not closed while a request that it was opened for waits, nor, where hits are protected, before older ones that hit
    it; where there is a cap, nor before younger ones until it was hit that often.
    """
    activating = s[entry_at(s, s[ACTIVATING]) + E_BANK] if s[ACTIVATING] >= 0 else NEVER
    best, best_at, turn = NEVER, s[BEST_AT], NEVER
    held = held_at(s, side)
    for i in range(s[HELD + side]):
        bank = s[held + i]
        if bank == activating:
            continue
        k = bank_at(s, bank)
        first, row = s[k + K_FIRST + side], s[k + K_ROW]
        if row < 0:
            # what a bank alone allows is asked first: most are out then
            if s[k + K_ACT] > best_at or slot == COLUMNS or activating >= 0:
                continue
            time = at_rising(s, max(now, activate_from(s, s[k + K_UNIT], s[k + K_GROUP], bank)))
            if time < best_at or (time == best_at and s[entry_at(s, first) + E_ORDER] < turn):
                best, best_at, turn = first, time, s[entry_at(s, first) + E_ORDER]
            continue
        hit = s[k + K_HIT + side]
        if hit >= 0 and slot != ROWS:
            time = at_rising(s, max(now, column_from(s, s[k + K_UNIT], s[k + K_GROUP], bank, side)))
            if time < best_at or (time == best_at and s[entry_at(s, hit) + E_ORDER] < turn):
                best, best_at, turn = hit, time, s[entry_at(s, hit) + E_ORDER]
        if hit == first and s[PROTECT] == 0:
            first = behind(s, first, row, 0)
        if hit == first or first < 0 or slot == COLUMNS or s[k + K_ACTIVE] >= 0 or s[k + K_PRE] > best_at:
            continue
        if hit >= 0 and s[k + K_HITS] < s[CAP]:
            continue
        time = precharge_at(s, now, s[k + K_UNIT], bank)
        if time < best_at or (time == best_at and s[entry_at(s, first) + E_ORDER] < turn):
            best, best_at, turn = first, time, s[entry_at(s, first) + E_ORDER]
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


# -- what -------------------------------------------------------------------------------------------------------------


@part
def hit_again(s: Ints, k: int, row: int, but: int) -> int:
    """Whether another request waits for a bank's open row."""
    active = s[k + K_ACTIVE]
    if active >= 0 and active != but and s[entry_at(s, active) + E_ROW] == row:
        return 1
    for side in range(2):
        hit = s[k + K_HIT + side]
        if hit >= 0 and hit != but:
            return 1
        # the hit that is being served is still the first
        if hit == but and hit >= 0 and behind(s, hit, row, 1) >= 0:
            return 1
    return 0


@part
def give_access(s: Ints, answers: Ints, e: int, now: int) -> int:
    """Give a request's column command: it is served."""
    p = entry_at(s, e)
    write, bank = s[p + E_WRITE], s[p + E_BANK]
    k = bank_at(s, bank)
    closing = 1 - hit_again(s, k, s[p + E_ROW], e) if s[CLOSED] else 0
    give_column(s, now, s[k + K_UNIT], s[k + K_GROUP], bank, s[p + E_COLUMN], write, closing)
    done = now + s[WRITE_LATENCY if write else READ_LATENCY]
    a = s[p + E_REQUEST] * ANSWER_WIDTH
    answers[a + A_COMMAND], answers[a + A_DONE] = now, done
    s[LATEST] = max(s[LATEST], done)
    if s[SYNC]:
        s[SYNCED_UNTIL] = max(s[SYNCED_UNTIL], now + s[SYNC_WRITE if write else SYNC_READ])
    served(s, e)
    if closing:
        row_changed(s, k)
    return 1


@part
def give_second_activate(s: Ints, now: int) -> int:
    """Give the second of two activation commands: the request has its row opened."""
    e = s[ACTIVATING]
    p = entry_at(s, e)
    take_row_bus(s, now + 1)
    log(s, now, ACT2, s[bank_at(s, s[p + E_BANK]) + K_UNIT], s[p + E_BANK], s[p + E_ROW], NEVER)
    s[ACTIVATING] = NEVER
    make_active(s, e)
    return 1


@part
def give_next(s: Ints, answers: Ints, e: int, now: int) -> int:
    """Give the command that a request needs next."""
    p = entry_at(s, e)
    bank = s[p + E_BANK]
    k = bank_at(s, bank)
    unit, row = s[k + K_UNIT], s[k + K_ROW]
    if row == s[p + E_ROW]:
        if s[SYNC] and now >= s[SYNCED_UNTIL]:
            if s[ACTIVATING] >= 0 and s[ACT2_BY] <= now + 1:
                return give_second_activate(s, now)
            log(s, now, SYNC_WR if s[p + E_WRITE] else SYNC_RD, unit, bank, row, s[p + E_COLUMN])
            take_row_bus(s, now + 1)
            s[SYNCING] = e
            return 1
        return give_access(s, answers, e, now)
    if row >= 0:
        give_precharge(s, now, unit, bank, 0)
        note_rising(s, now, unit, bank, ONE_BANK)
        row_changed(s, k)
        return 1
    give_activate(s, now, unit, s[k + K_GROUP], bank, s[p + E_ROW])
    note_rising(s, now, unit, bank, ACTIVATION)
    leave_queue(s, e)
    row_changed(s, k)
    if s[SPLIT_ACT]:
        s[ACTIVATING], s[ACT2_BY] = e, now + s[ACT2_WITHIN]
        return 1
    make_active(s, e)
    return 1


# -- refresh ----------------------------------------------------------------------------------------------------------


@part
def fall_due(s: Ints, now: int) -> int:
    """Refreshes whose time has come: of all ranks at once, or of the bank whose turn it is."""
    room = s[UNITS] * s[GROUPS] * s[BANKS]
    while s[REF_EVERY] and now >= s[NEXT_REF]:
        s[NEXT_REF] += s[REF_EVERY]
        for i in range(1 if s[REF_ONE] else s[UNITS]):
            if s[DUE_COUNT] < room:
                s[s[B_DUE] + (s[DUE_FIRST] + s[DUE_COUNT]) % room] = s[NEXT_ONE] if s[REF_ONE] else i
                s[DUE_COUNT] += 1
        s[NEXT_ONE] = (s[NEXT_ONE] + 1) % room
    return 0


@part
def refresh(s: Ints, now: int) -> int:
    """Go on with the refresh that is due first; returns ``now`` where a command was given, or when one may be.

    Rows are closed first, once the requests that they were opened for are served.
    """
    banks = s[GROUPS] * s[BANKS]
    due = s[s[B_DUE] + s[DUE_FIRST]]
    one = s[REF_ONE]
    bank = due if one else NEVER
    unit = due // banks if one else due
    u, k = s[B_UNIT] + unit * UNIT_WIDTH, bank_at(s, max(bank, 0))
    if s[ACTIVATING] >= 0:
        activating = s[entry_at(s, s[ACTIVATING]) + E_BANK]
        if activating == bank if one else s[bank_at(s, activating) + K_UNIT] == unit:
            return FAR
    if s[k + K_ROW] >= 0 if one else s[u + U_OPEN] > 0:
        if s[k + K_ACTIVE] >= 0 if one else s[u + U_ACTIVE] > 0:
            return FAR
        time = max(now, precharge_from(s, unit, bank) if one else precharge_all_from(s, unit))
        if may_pair(s, time, unit, bank) == 0:
            time += 1
        if time > now:
            return int(time)
        if one:
            give_precharge(s, now, unit, bank, 1)
            row_changed(s, k)
        else:
            give_precharge_all(s, now, unit)
            for closed in range(unit * banks, (unit + 1) * banks):
                row_changed(s, bank_at(s, closed))
        note_rising(s, now, unit, bank, ONE_BANK if one else ALL_BANKS)
        return now
    time = at_rising(s, max(now, max(s[k + K_REF], s[u + U_REF_ONE]) if one else s[u + U_REF], s[ROW_BUS]))
    if time > now:
        return int(time)
    if one:
        give_refresh_bank(s, now, unit, bank)
    else:
        give_refresh(s, now, unit)
    note_rising(s, now, unit, bank, ONE_BANK if one else ALL_BANKS)
    s[DUE_FIRST] = (s[DUE_FIRST] + 1) % (s[UNITS] * banks)
    s[DUE_COUNT] -= 1
    return now


# -- a cycle ----------------------------------------------------------------------------------------------------------


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
            p = entry_at(s, e)
            k = bank_at(s, s[p + E_BANK])
            if column_from(s, s[k + K_UNIT], s[k + K_GROUP], s[p + E_BANK], s[p + E_WRITE]) <= now:
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
