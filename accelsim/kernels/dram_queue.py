"""The queues of a DRAM channel: bank by bank in order of arrival, reads and writes apart, and those a row was opened for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.dram_layout import (
    ACTIVES,
    B_ACTIVE,
    B_BANK,
    B_ENTRY,
    B_HELD,
    B_UNIT,
    BANK_WIDTH,
    BANKS,
    E_BANK,
    E_BEFORE,
    E_COLUMN,
    E_NEXT,
    E_ORDER,
    E_REQUEST,
    E_ROW,
    E_WRITE,
    ENTRY_WIDTH,
    FREE,
    GROUPS,
    HELD,
    K_ACTIVE,
    K_ACTIVE_PLACE,
    K_FIRST,
    K_HIT,
    K_LAST,
    K_PLACE,
    K_ROW,
    K_UNIT,
    N_ACT,
    NEVER,
    ORDER,
    Q_BANK,
    Q_COLUMN,
    Q_ROW,
    Q_WRITE,
    TURN_BITS,
    U_ACTIVE,
    UNIT_WIDTH,
    UNITS,
    WAITING,
)
from accelsim.kernels.jit import part, small_part

Ints = NDArray[np.int64]


@small_part
def entry_at(s: Ints, e: int) -> int:
    """Where an entry's record begins."""
    return int(s[B_ENTRY] + e * ENTRY_WIDTH)


@small_part
def bank_at(s: Ints, bank: int) -> int:
    """Where a bank's record begins."""
    return int(s[B_BANK] + bank * BANK_WIDTH)


@small_part
def held_at(s: Ints, side: int) -> int:
    """Where the banks stand that reads, or writes, wait for."""
    return int(s[B_HELD] + side * (s[UNITS] * s[GROUPS] * s[BANKS]))


@part
def find_hit(s: Ints, k: int, side: int, e: int) -> int:
    """Note the first request for a bank's open row among those from ``e`` on."""
    row = s[k + K_ROW]
    while e >= 0 and (row < 0 or s[entry_at(s, e) + E_ROW] != row):
        e = int(s[entry_at(s, e) + E_NEXT])
    s[k + K_HIT + side] = e
    return e


@part
def accept(s: Ints, q: Ints, at_request: int, request: int, now: int) -> int:
    """Queue a request, which there is room for, behind those of its bank."""
    e, bank, side = s[FREE], q[at_request + Q_BANK], q[at_request + Q_WRITE]
    p, k = entry_at(s, e), bank_at(s, bank)
    s[FREE] = s[p + E_NEXT]
    s[p + E_REQUEST], s[p + E_WRITE], s[p + E_BANK] = request, side, bank
    s[p + E_ORDER] = (now << TURN_BITS) + (s[ORDER] & (1 << TURN_BITS) - 1)
    s[p + E_ROW], s[p + E_COLUMN] = q[at_request + Q_ROW], q[at_request + Q_COLUMN]
    s[ORDER] += 1
    s[WAITING + side] += 1
    last = s[k + K_LAST + side]
    s[p + E_BEFORE], s[p + E_NEXT] = last, NEVER
    s[k + K_LAST + side] = e
    if last >= 0:
        s[entry_at(s, last) + E_NEXT] = e
    else:
        s[k + K_FIRST + side] = e
        s[k + K_PLACE + side] = s[HELD + side]
        s[held_at(s, side) + s[HELD + side]] = bank
        s[HELD + side] += 1
    if s[k + K_HIT + side] < 0 and s[k + K_ROW] == s[p + E_ROW]:
        s[k + K_HIT + side] = e
    return int(e)


@part
def leave_queue(s: Ints, e: int) -> int:
    """A request leaves the queue of reads or writes, which has room for another."""
    p = entry_at(s, e)
    side, bank, before, after = s[p + E_WRITE], s[p + E_BANK], s[p + E_BEFORE], s[p + E_NEXT]
    k = bank_at(s, bank)
    s[WAITING + side] -= 1
    if before >= 0:
        s[entry_at(s, before) + E_NEXT] = after
    else:
        s[k + K_FIRST + side] = after
    if after >= 0:
        s[entry_at(s, after) + E_BEFORE] = before
    else:
        s[k + K_LAST + side] = before
    if s[k + K_HIT + side] == e:
        find_hit(s, k, side, after)
    if s[k + K_FIRST + side] < 0:
        # the last of the banks that some wait for takes its place
        s[HELD + side] -= 1
        other = s[held_at(s, side) + s[HELD + side]]
        s[held_at(s, side) + s[k + K_PLACE + side]] = other
        s[bank_at(s, other) + K_PLACE + side] = s[k + K_PLACE + side]
    return e


@part
def make_active(s: Ints, e: int) -> int:
    """A bank was activated for a request: it keeps the row open until it has been served."""
    k = bank_at(s, s[entry_at(s, e) + E_BANK])
    s[k + K_ACTIVE] = e
    s[k + K_ACTIVE_PLACE] = s[ACTIVES]
    # of those that came in one cycle, the one that was activated first goes first
    p = entry_at(s, e)
    s[p + E_ORDER] = (s[p + E_ORDER] >> TURN_BITS << TURN_BITS) + (s[N_ACT] & (1 << TURN_BITS) - 1)
    s[s[B_ACTIVE] + s[ACTIVES]] = e
    s[ACTIVES] += 1
    s[s[B_UNIT] + s[k + K_UNIT] * UNIT_WIDTH + U_ACTIVE] += 1
    return e


@part
def served(s: Ints, e: int) -> int:
    """A request's column command was given: it leaves, wherever it was."""
    p = entry_at(s, e)
    k = bank_at(s, s[p + E_BANK])
    if s[k + K_ACTIVE] == e:
        s[k + K_ACTIVE] = NEVER
        s[ACTIVES] -= 1
        other = s[s[B_ACTIVE] + s[ACTIVES]]
        s[s[B_ACTIVE] + s[k + K_ACTIVE_PLACE]] = other
        s[bank_at(s, s[entry_at(s, other) + E_BANK]) + K_ACTIVE_PLACE] = s[k + K_ACTIVE_PLACE]
        s[s[B_UNIT] + s[k + K_UNIT] * UNIT_WIDTH + U_ACTIVE] -= 1
    else:
        leave_queue(s, e)
    s[p + E_NEXT] = s[FREE]
    s[FREE] = e
    return e


@part
def row_changed(s: Ints, k: int) -> int:
    """A bank has another row open, or none: which of those that wait for it hit."""
    find_hit(s, k, 0, s[k + K_FIRST])
    return find_hit(s, k, 1, s[k + K_FIRST + 1])
