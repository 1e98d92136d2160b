"""The queues of a DRAM channel: bank by bank in order of arrival, reads and writes apart, and those a row was opened for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.dram_edges import at_rising
from accelsim.kernels.dram_layout import (
    ACTIVE,
    ACTIVE_AT,
    ACTIVE_BEST,
    B_BANK,
    B_UNIT,
    BANK_WIDTH,
    BANKS,
    BUFFER,
    BUFFER_LAST,
    CAP,
    CLOSE_FROM,
    E_BANK,
    E_BEFORE,
    E_COLUMN,
    E_NEXT,
    E_ORDER,
    E_REQUEST,
    E_ROW,
    E_WRITE,
    FREE,
    GROUPS,
    HITS,
    IN_SECOND,
    K_ACTIVE,
    K_FIRST,
    K_GROUP,
    K_HIT,
    K_HITS,
    K_LAST,
    K_MISS,
    K_OLDER,
    K_PRE,
    K_ROW,
    K_UNIT,
    K_YOUNGER,
    LEFT,
    MISSES,
    N_ACT,
    NEVER,
    OPENED,
    ORDER,
    PROTECT,
    Q_BANK,
    Q_COLUMN,
    Q_ROW,
    SECOND,
    SECOND_FIRST,
    SECOND_LAST,
    TURN_BITS,
    U_OLDEST,
    U_YOUNGEST,
    UNIT_WIDTH,
    WAITING,
)
from accelsim.kernels.dram_timing import column_from
from accelsim.kernels.jit import part, small_part

Ints = NDArray[np.int64]


@small_part
def bank_at(bank: int) -> int:
    """Where a bank's record begins."""
    return int(B_BANK + bank * BANK_WIDTH)


@small_part
def put(s: Ints, banks: int, bank: int, inside: int) -> int:
    """Put a bank into a set of banks, or take it out of it."""
    s[banks] = (s[banks] & ~(1 << bank)) | (inside << bank)
    return inside


@small_part
def unit_at(s: Ints, k: int) -> int:
    """Where the record of a bank's rank begins."""
    return int(B_UNIT + s[k + K_UNIT] * UNIT_WIDTH)


@small_part
def of_unit(s: Ints, banks: int, unit: int) -> int:
    """Those of a set of banks that are of a rank."""
    count = s[GROUPS] * s[BANKS]
    return int(s[banks] >> unit * count & (1 << count) - 1)


@part
def begin_to_wait(s: Ints, k: int, side: int) -> int:
    """A bank without an open row has a first request: the bank stands among those of its rank by that one's age."""
    u, turn = unit_at(s, k), s[s[k + K_FIRST + side] + E_ORDER]
    older = s[u + U_YOUNGEST + side]
    while older >= 0 and s[s[older + K_FIRST + side] + E_ORDER] > turn:
        older = s[older + K_OLDER + side]
    younger = s[older + K_YOUNGER + side] if older >= 0 else s[u + U_OLDEST + side]
    s[k + K_OLDER + side], s[k + K_YOUNGER + side] = older, younger
    return join(s, k, u, side, older, k, younger)


@part
def end_to_wait(s: Ints, k: int, side: int) -> int:
    """A row is opened in a bank that stood among those without one."""
    older, younger = s[k + K_OLDER + side], s[k + K_YOUNGER + side]
    return join(s, k, unit_at(s, k), side, older, NEVER, younger)


@small_part
def join(s: Ints, k: int, u: int, side: int, older: int, between: int, younger: int) -> int:
    """Make a bank, or none, stand between two others."""
    after = between if between >= 0 else younger
    before = between if between >= 0 else older
    if older >= 0:
        s[older + K_YOUNGER + side] = after
    else:
        s[u + U_OLDEST + side] = after
    if younger >= 0:
        s[younger + K_OLDER + side] = before
    else:
        s[u + U_YOUNGEST + side] = before
    return k


@part
def behind(s: Ints, e: int, row: int, same: int) -> int:
    """The first request behind one of a bank that is for a row (``same`` 1) or for another (0); -1: none."""
    e = int(s[e + E_NEXT])
    while e >= 0 and (1 if s[e + E_ROW] == row else 0) != same:
        e = int(s[e + E_NEXT])
    return e


@small_part
def find_hit(s: Ints, k: int, side: int, e: int) -> int:
    """Note the first request for a bank's open row among those from ``e`` on."""
    row = s[k + K_ROW]
    while e >= 0 and s[e + E_ROW] != row:
        e = int(s[e + E_NEXT])
    s[k + K_HIT + side] = e
    return e


@small_part
def weigh(s: Ints, bank: int, side: int) -> int:
    """Note whether reads, or writes, that wait for a bank hit its open row, and whether one may have it closed: anew after
    whatever befell the bank or them.

    A row is not closed while a request that it was opened for waits, nor, where hits are protected, before older ones that hit
    it; where there is a cap, nor before younger ones until it was hit that often.
    """
    k = bank_at(bank)
    row, hit = s[k + K_ROW], s[k + K_HIT + side]
    miss = int(s[k + K_FIRST + side]) if row >= 0 else NEVER
    if miss >= 0:
        if s[k + K_ACTIVE] >= 0 or (hit >= 0 and s[k + K_HITS] < s[CAP]):
            miss = NEVER
        elif hit == miss:
            miss = behind(s, miss, row, 0) if s[PROTECT] == 0 else NEVER
    s[k + K_MISS + side] = miss
    if miss >= 0:
        s[CLOSE_FROM + side] = min(s[CLOSE_FROM + side], s[k + K_PRE])
    put(s, HITS + side, bank, 1 if hit >= 0 else 0)
    return put(s, MISSES + side, bank, 1 if miss >= 0 else 0)


@part
def weigh_both(s: Ints, bank: int) -> int:
    """As ``weigh``, for reads and for writes."""
    weigh(s, bank, 0)
    return weigh(s, bank, 1)


@small_part
def append(s: Ints, first: int, last: int, e: int) -> int:
    """Put a request behind all others of a queue."""
    before = s[last]
    s[e + E_BEFORE], s[e + E_NEXT], s[last] = before, NEVER, e
    if before >= 0:
        s[before + E_NEXT] = e
    else:
        s[first] = e
    return e


@small_part
def take_out(s: Ints, first: int, last: int, e: int) -> int:
    """Take a request out of a queue."""
    before, after = s[e + E_BEFORE], s[e + E_NEXT]
    if before >= 0:
        s[before + E_NEXT] = after
    else:
        s[first] = after
    if after >= 0:
        s[after + E_BEFORE] = before
    else:
        s[last] = before
    return e


@part
def accept(s: Ints, q: Ints, request: int, side: int, now: int) -> int:
    """Queue a request, which there is room for, behind those of its bank. ``q``: its place."""
    e, bank = s[FREE], q[Q_BANK]
    k = bank_at(bank)
    s[FREE] = s[e + E_NEXT]
    s[e + E_REQUEST], s[e + E_WRITE], s[e + E_BANK] = request, side, bank
    s[e + E_ORDER] = (now << TURN_BITS) + (s[ORDER] & (1 << TURN_BITS) - 1)
    s[e + E_ROW], s[e + E_COLUMN] = q[Q_ROW], q[Q_COLUMN]
    s[ORDER] += 1
    s[WAITING + side] += 1
    if s[SECOND]:
        return append(s, BUFFER + side, BUFFER_LAST + side, e)
    last = s[k + K_LAST + side]
    s[e + E_BEFORE], s[e + E_NEXT] = last, NEVER
    s[k + K_LAST + side] = e
    if last >= 0:
        s[last + E_NEXT] = e
    else:
        s[k + K_FIRST + side] = e
        if s[k + K_ROW] < 0:
            begin_to_wait(s, k, side)
    if s[k + K_HIT + side] < 0 and s[k + K_ROW] == q[Q_ROW]:
        s[k + K_HIT + side] = e
    return weigh(s, bank, side)


@small_part
def leave_queue(s: Ints, e: int) -> int:
    """A request leaves the queue of reads or writes, which has room for another."""
    side, before, after = s[e + E_WRITE], s[e + E_BEFORE], s[e + E_NEXT]
    k = bank_at(s[e + E_BANK])
    s[WAITING + side] -= 1
    s[LEFT] = 1
    if before >= 0:
        s[before + E_NEXT] = after
    else:
        s[k + K_FIRST + side] = after
    if after >= 0:
        s[after + E_BEFORE] = before
    else:
        s[k + K_LAST + side] = before
    if s[k + K_HIT + side] == e:
        find_hit(s, k, side, int(after))
    return e


@small_part
def make_active(s: Ints, e: int) -> int:
    """A bank was activated for a request: it keeps the row open until it has been served. The bank is to be weighed."""
    bank = s[e + E_BANK]
    k = bank_at(bank)
    s[k + K_ACTIVE] = e
    # of those that came in one cycle, the one that was activated first goes first
    s[e + E_ORDER] = (s[e + E_ORDER] >> TURN_BITS << TURN_BITS) + (s[N_ACT] & (1 << TURN_BITS) - 1)
    put(s, ACTIVE, bank, 1)
    time = at_rising(s, column_from(s, s[k + K_UNIT], s[k + K_GROUP], bank, s[e + E_WRITE]))
    if time <= s[ACTIVE_AT] and (time < s[ACTIVE_AT] or s[e + E_ORDER] < s[s[ACTIVE_BEST] + E_ORDER]):
        s[ACTIVE_BEST], s[ACTIVE_AT] = e, time
    return e


@small_part
def served(s: Ints, e: int) -> int:
    """A request's column command was given: it leaves, wherever it was."""
    bank = s[e + E_BANK]
    k = bank_at(bank)
    if s[k + K_ACTIVE] == e:
        s[k + K_ACTIVE] = NEVER
        put(s, ACTIVE, bank, 0)
    elif s[SECOND]:
        take_out(s, SECOND_FIRST, SECOND_LAST, e)
        s[IN_SECOND] -= 1
    else:
        leave_queue(s, e)
    s[e + E_NEXT] = s[FREE]
    s[FREE] = e
    return weigh_both(s, bank)


@part
def row_opened(s: Ints, bank: int) -> int:
    """A bank has a row open: which of those that wait for it hit. None has left the queues yet; the bank is to be weighed."""
    k = bank_at(bank)
    put(s, OPENED, bank, 1)
    for side in range(2):
        first = int(s[k + K_FIRST + side])
        if first >= 0:
            end_to_wait(s, k, side)
        find_hit(s, k, side, first)
    return bank


@part
def row_closed(s: Ints, bank: int) -> int:
    """A bank's row was closed: none of those that wait for it hit."""
    k = bank_at(bank)
    put(s, OPENED, bank, 0)
    for side in range(2):
        s[k + K_HIT + side] = NEVER
        put(s, HITS + side, bank, 0)
        put(s, MISSES + side, bank, 0)
        if s[k + K_FIRST + side] >= 0:
            begin_to_wait(s, k, side)
    return bank
