"""An array beside banks that are simulated: its own clock goes on while what it asks for is served, and stands still else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.bank_layout import (
    ACCESS_WIDTH,
    ALONE,
    B_BANK,
    B_LOST,
    B_PENDING,
    B_WAIT,
    BANK_WIDTH,
    BOOKED,
    BOOKED_COUNT,
    COUNT,
    K_ASKED,
    K_BOTH,
    K_CYCLE,
    K_FREE_BOTH,
    K_FREE_READS,
    K_FREE_WRITES,
    K_MAY_READS,
    K_MAY_WRITES,
    K_MEMORY,
    K_READS,
    K_SEEN,
    K_WAIT_READS,
    K_WAIT_WRITES,
    K_WANT_READS,
    K_WANT_WRITES,
    K_WRITES,
    LOST_TO_OWN,
    LOST_TO_TRANSFERS,
    LOST_WIDTH,
    NEVER,
    NEXT,
    NOW,
    OWN,
    PENDING,
    SERVED,
    STAMP,
    WAIT_COUNT,
    WAITING,
    X_CODE,
    X_CYCLE,
)
from accelsim.kernels.bank_ports import cycles_of, reads_of
from accelsim.kernels.jit import INT, READ_1, WRITE_1, flat, kernel, part, small_part

Ints = NDArray[np.int64]


@small_part
def bank_at(s: Ints, code: int) -> int:
    """Where the bank of an access stands."""
    return int(s[B_BANK] + (code >> 1) * BANK_WIDTH)


@small_part
def share_out(s: Ints, k: int, reads: int, writes: int) -> int:
    """Share out the ports that a bank has left in this cycle over reads and writes: those for one kind, then those for either, so
    that the rest is done soonest alone; to reads where that is the same.
    """
    if s[k + K_CYCLE] != s[NOW]:
        s[k + K_CYCLE] = s[NOW]
        for i in range(3):
            s[k + K_FREE_READS + i] = s[k + K_READS + i]
    own_reads, own_writes = min(reads, s[k + K_FREE_READS]), min(writes, s[k + K_FREE_WRITES])
    reads, writes = reads - own_reads, writes - own_writes
    taken = min(s[k + K_FREE_BOTH], reads + writes)
    chosen = reads_of(taken, reads, writes, s[k + K_READS], s[k + K_WRITES], s[k + K_BOTH])
    s[k + K_FREE_READS] -= own_reads
    s[k + K_FREE_WRITES] -= own_writes
    s[k + K_FREE_BOTH] -= taken
    s[k + K_MAY_READS], s[k + K_MAY_WRITES] = own_reads + chosen, own_writes + taken - chosen
    return 0


@part
def transfers_come(s: Ints, booked: Ints) -> int:
    """Words of transfers whose cycle has come wait at their banks."""
    while s[BOOKED] < s[BOOKED_COUNT] and booked[s[BOOKED] * ACCESS_WIDTH + X_CYCLE] <= s[NOW]:
        code = booked[s[BOOKED] * ACCESS_WIDTH + X_CODE]
        k = bank_at(s, code)
        if s[k + K_WAIT_READS] + s[k + K_WAIT_WRITES] == 0:
            s[s[B_WAIT] + s[WAIT_COUNT]] = k
            s[WAIT_COUNT] += 1
        s[k + K_WAIT_READS + (code & 1)] += 1
        s[WAITING] += 1
        s[BOOKED] += 1
    return 0


@part
def serve_transfers(s: Ints) -> int:
    """Serve words of transfers that wait, before the array."""
    left = 0
    for i in range(s[WAIT_COUNT]):
        k = s[s[B_WAIT] + i]
        share_out(s, k, s[k + K_WAIT_READS], s[k + K_WAIT_WRITES])
        s[k + K_WAIT_READS] -= s[k + K_MAY_READS]
        s[k + K_WAIT_WRITES] -= s[k + K_MAY_WRITES]
        s[WAITING] -= s[k + K_MAY_READS] + s[k + K_MAY_WRITES]
        if s[k + K_WAIT_READS] + s[k + K_WAIT_WRITES] > 0:
            s[s[B_WAIT] + left] = k
            left += 1
    s[WAIT_COUNT] = left
    return 0


@part
def array_asks(s: Ints, accesses: Ints) -> int:
    """What the array asks for at this time of its own is pending, and what it takes alone is known."""
    s[STAMP] += 1
    s[ALONE], s[SERVED] = 1, 0
    own = s[OWN]
    while s[NEXT] < s[COUNT] and accesses[s[NEXT] * ACCESS_WIDTH + X_CYCLE] == own:
        code = accesses[s[NEXT] * ACCESS_WIDTH + X_CODE]
        s[NEXT] += 1
        if code == NEVER:
            continue
        k = bank_at(s, code)
        if s[k + K_SEEN] != s[STAMP]:
            s[k + K_SEEN] = s[STAMP]
            s[k + K_WANT_READS] = s[k + K_WANT_WRITES] = 0
        s[k + K_WANT_READS + (code & 1)] += 1
        if s[k + K_WANT_READS] + s[k + K_WANT_WRITES] > 1:
            s[ALONE] = max(s[ALONE], cycles_of(
                s[k + K_WANT_READS], s[k + K_WANT_WRITES], s[k + K_READS], s[k + K_WRITES], s[k + K_BOTH]))
        s[s[B_PENDING] + s[PENDING]] = code
        s[PENDING] += 1
    return 0


@part
def serve_array(s: Ints) -> int:
    """Serve what the array waits for, on the ports that are left."""
    left = 0
    for i in range(s[PENDING]):
        code = s[s[B_PENDING] + i]
        k = bank_at(s, code)
        if s[k + K_ASKED] != s[NOW]:
            s[k + K_ASKED] = s[NOW]
            share_out(s, k, s[k + K_WANT_READS], s[k + K_WANT_WRITES])
        if s[k + K_MAY_READS + (code & 1)] > 0:
            s[k + K_MAY_READS + (code & 1)] -= 1
            s[k + K_WANT_READS + (code & 1)] -= 1
            continue
        s[s[B_PENDING] + left] = code
        left += 1
    s[PENDING] = left
    s[SERVED] += 1
    return 0


@small_part
def upcoming(s: Ints, accesses: Ints) -> int:
    """The array's own time of what it asks for next, or may not go past."""
    return int(accesses[s[NEXT] * ACCESS_WIDTH + X_CYCLE]) if s[NEXT] < s[COUNT] else NEVER


@kernel(INT(WRITE_1, READ_1, READ_1, INT))
def go_on_to(state: Ints, accesses: Ints, booked: Ints, cycle: int) -> int:
    """Work through the cycles before ``cycle``; returns what the array's own clock shows then.

    ``state``: int64, as `bank_layout` says. ``accesses``: int64[n x ACCESS_WIDTH], what the array asks for, by its own time;
    ``booked``: int64[m x ACCESS_WIDTH], words of transfers by cycle. In a cycle each bank serves words of transfers first, as
    far as its ports go, then the array. What the array asks for at one time of its own may be served over several cycles; its
    clock goes on meanwhile, up to the time of what it asks for next, and stands still there until all is served.
    """
    s, a, b = flat(state), flat(accesses), flat(booked)
    while s[NOW] < cycle:
        due = upcoming(s, a)
        if s[PENDING] == 0 and s[WAITING] == 0:
            # nothing happens before the array asks again, or a word of a transfer comes
            until = cycle
            if due != NEVER:
                until = min(until, s[NOW] + due - s[OWN])
            if s[BOOKED] < s[BOOKED_COUNT]:
                until = min(until, max(s[NOW], b[s[BOOKED] * ACCESS_WIDTH + X_CYCLE]))
            s[OWN] += until - s[NOW]
            s[NOW] = until
            if until == cycle:
                break
        transfers_come(s, b)
        if s[WAITING]:
            serve_transfers(s)
        if s[PENDING] and due == s[OWN]:
            # what it asks for next has to wait: it stands still
            lost = s[B_LOST] + s[bank_at(s, s[s[B_PENDING]]) + K_MEMORY] * LOST_WIDTH
            s[lost + (LOST_TO_OWN if s[SERVED] < s[ALONE] else LOST_TO_TRANSFERS)] += 1
            serve_array(s)
        else:
            if s[PENDING] == 0 and due == s[OWN]:
                array_asks(s, a)
            if s[PENDING]:
                serve_array(s)
            s[OWN] += 1
        s[NOW] += 1
    return int(s[OWN])
