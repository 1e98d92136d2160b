"""A request's next command is given: what becomes of the request and of its bank."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.dram_edges import ACTIVATION, ONE_BANK, note_rising
from accelsim.kernels.dram_layout import (
    A_COMMAND,
    A_DONE,
    ACT2,
    ACT2_BY,
    ACT2_WITHIN,
    ACTIVATING,
    ANSWER_WIDTH,
    CLOSED,
    E_BANK,
    E_COLUMN,
    E_ORDER,
    E_REQUEST,
    E_ROW,
    E_WRITE,
    K_ACTIVE,
    K_GROUP,
    K_HIT,
    K_OPENER,
    K_ROW,
    K_UNIT,
    LATEST,
    LEFT,
    NEVER,
    READ_LATENCY,
    SERVED,
    SERVED_AT,
    SERVED_BANK,
    SERVED_ENTERED,
    SERVED_OPENED,
    SPLIT_ACT,
    SYNC,
    SYNC_RD,
    SYNC_READ,
    SYNC_WR,
    SYNC_WRITE,
    SYNCED_UNTIL,
    SYNCING,
    TURN_BITS,
    WRITE_LATENCY,
)
from accelsim.kernels.dram_queue import bank_at, behind, leave_queue, make_active, row_closed, row_opened, served, weigh_both
from accelsim.kernels.dram_timing import give_activate, give_column, give_precharge, log, take_row_bus
from accelsim.kernels.jit import part, small_part

Ints = NDArray[np.int64]


@part
def hit_again(s: Ints, k: int, row: int, but: int) -> int:
    """Whether another request waits for a bank's open row."""
    active = s[k + K_ACTIVE]
    if active >= 0 and active != but and s[active + E_ROW] == row:
        return 1
    for side in range(2):
        hit = s[k + K_HIT + side]
        if hit >= 0 and hit != but:
            return 1
        # the hit that is being served is still the first
        if hit == but and hit >= 0 and behind(s, hit, row, 1) >= 0:
            return 1
    return 0


@small_part
def give_access(s: Ints, answers: Ints, e: int, now: int) -> int:
    """Give a request's column command: it is served."""
    write, bank = s[e + E_WRITE], s[e + E_BANK]
    k = bank_at(bank)
    closing = 1 - hit_again(s, k, s[e + E_ROW], e) if s[CLOSED] else 0
    give_column(s, now, s[k + K_UNIT], s[k + K_GROUP], bank, s[e + E_COLUMN], write, closing)
    done = now + s[WRITE_LATENCY if write else READ_LATENCY]
    a = s[e + E_REQUEST] * ANSWER_WIDTH
    answers[a + A_COMMAND], answers[a + A_DONE] = now, done
    s[LATEST], s[LEFT] = max(s[LATEST], done), 1
    if s[SYNC]:
        s[SYNCED_UNTIL] = max(s[SYNCED_UNTIL], now + s[SYNC_WRITE if write else SYNC_READ])
    s[SERVED], s[SERVED_AT], s[SERVED_BANK] = s[e + E_REQUEST], now, bank
    s[SERVED_ENTERED], s[SERVED_OPENED] = s[e + E_ORDER] >> TURN_BITS, 1 if s[k + K_ACTIVE] == e or s[k + K_OPENER] == e else 0
    s[k + K_OPENER] = NEVER
    served(s, e)
    if closing:
        row_closed(s, bank)
    return 1


@part
def give_second_activate(s: Ints, now: int) -> int:
    """Give the second of two activation commands: the request has its row opened."""
    e = s[ACTIVATING]
    take_row_bus(s, now + 1)
    log(s, now, ACT2, s[bank_at(s[e + E_BANK]) + K_UNIT], s[e + E_BANK], s[e + E_ROW], NEVER)
    s[ACTIVATING] = NEVER
    make_active(s, e)
    weigh_both(s, s[e + E_BANK])
    return 1


@small_part
def give_next(s: Ints, answers: Ints, e: int, now: int) -> int:
    """Give the command that a request needs next."""
    bank = s[e + E_BANK]
    k = bank_at(bank)
    unit, row = s[k + K_UNIT], s[k + K_ROW]
    if row == s[e + E_ROW]:
        if s[SYNC] and now >= s[SYNCED_UNTIL]:
            if s[ACTIVATING] >= 0 and s[ACT2_BY] <= now + 1:
                return give_second_activate(s, now)
            log(s, now, SYNC_WR if s[e + E_WRITE] else SYNC_RD, unit, bank, row, s[e + E_COLUMN])
            take_row_bus(s, now + 1)
            s[SYNCING] = e
            return 1
        return give_access(s, answers, e, now)
    if row >= 0:
        give_precharge(s, now, unit, bank, 0)
        note_rising(s, now, unit, bank, ONE_BANK)
        row_closed(s, bank)
        return 1
    give_activate(s, now, unit, s[k + K_GROUP], bank, s[e + E_ROW])
    note_rising(s, now, unit, bank, ACTIVATION)
    row_opened(s, bank)
    leave_queue(s, e)
    if s[SPLIT_ACT]:
        s[ACTIVATING], s[ACT2_BY] = e, now + s[ACT2_WITHIN]
    else:
        make_active(s, e)
    weigh_both(s, bank)
    return 1
