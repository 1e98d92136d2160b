"""Vectors of accesses through the banks of an SRAM, cycle by cycle."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.bank_ports import cycles_of, reads_of, shared_out
from accelsim.kernels.jit import INT, READ_1, WRITE_1, flat, kernel, part, small_part
from accelsim.kernels.sram_layout import (
    A_BANK,
    A_WRITE,
    ACCESS_WIDTH,
    B_BANK,
    B_REQUESTER,
    BANK_WIDTH,
    BOTH,
    K_CYCLE,
    K_FIRST,
    K_MAY_READ,
    K_MAY_WRITE,
    K_NEXT_FIRST,
    K_READS,
    K_SEEN,
    K_USED_READ,
    K_USED_WRITE,
    K_WANT_READ,
    K_WANT_WRITE,
    NEVER,
    NOW,
    R_ACCESS,
    R_ACCESSES,
    R_ALONE,
    R_BEGIN,
    R_DONE,
    R_FIRST,
    R_LOST_BANK,
    R_LOST_KIND,
    R_LOST_OTHER,
    R_OWN,
    R_PENDING,
    R_PLACE,
    R_START,
    R_VECTOR,
    R_VECTORS,
    READS,
    REQUESTER_WIDTH,
    REQUESTERS,
    ROUND_ROBIN,
    STAMP,
    V_FIRST,
    V_GAP,
    VECTOR_WIDTH,
    WRITES,
)

Ints = NDArray[np.int64]


@part
def begin(s: Ints, v: Ints, a: Ints, r: int) -> None:
    """A requester's next vector begins: its accesses are pending, and what it would take alone is worked out."""
    vector = v[(s[r + R_FIRST] + s[r + R_VECTOR]) * VECTOR_WIDTH + V_FIRST]
    end = v[(s[r + R_FIRST] + s[r + R_VECTOR] + 1) * VECTOR_WIDTH + V_FIRST]
    s[STAMP] += 1
    every = s[BOTH] + s[READS] + s[WRITES]
    kinds = s[BOTH] < every
    shared = alone = 1
    for i in range(vector, end):
        place = (s[r + R_ACCESS] + i) * ACCESS_WIDTH
        k = s[B_BANK] + a[place + A_BANK] * BANK_WIDTH
        if s[k + K_SEEN] != s[STAMP]:
            s[k + K_SEEN] = s[STAMP]
            s[k + K_WANT_READ] = s[k + K_WANT_WRITE] = 0
        s[k + K_WANT_READ + a[place + A_WRITE]] += 1
        shared = max(shared, shared_out(s[k + K_WANT_READ] + s[k + K_WANT_WRITE], every))
        if kinds:
            alone = max(alone, cycles_of(
                s[k + K_WANT_READ], s[k + K_WANT_WRITE], s[READS], s[WRITES], s[BOTH]))
        s[s[r + R_PLACE] + i - vector] = place
    s[r + R_PENDING] = end - vector
    s[r + R_ACCESSES] += end - vector
    s[r + R_START] = s[NOW]
    s[r + R_OWN], s[r + R_ALONE] = shared, alone if kinds else shared


@part
def count_wanted(s: Ints, a: Ints, r: int) -> None:
    """Count what is left of a requester's vector, bank by bank."""
    s[STAMP] += 1
    for i in range(s[r + R_PENDING]):
        place = s[s[r + R_PLACE] + i]
        k = s[B_BANK] + a[place + A_BANK] * BANK_WIDTH
        if s[k + K_SEEN] != s[STAMP]:
            s[k + K_SEEN] = s[STAMP]
            s[k + K_WANT_READ] = s[k + K_WANT_WRITE] = 0
        s[k + K_WANT_READ + a[place + A_WRITE]] += 1
    s[STAMP] += 1


@part
def allow(s: Ints, k: int) -> None:
    """Share out the ports that a bank has left in this cycle over the reads and writes that a vector wants of it: those for one
    kind, then those for both so that the rest is done soonest alone; to reads where that is the same.
    """
    reads, writes = s[k + K_WANT_READ], s[k + K_WANT_WRITE]
    both = s[BOTH] - max(0, s[k + K_USED_READ] - s[READS]) - max(0, s[k + K_USED_WRITE] - s[WRITES])
    own_reads = min(reads, max(0, s[READS] - s[k + K_USED_READ]))
    own_writes = min(writes, max(0, s[WRITES] - s[k + K_USED_WRITE]))
    reads, writes = reads - own_reads, writes - own_writes
    taken = min(both, reads + writes)
    of_reads = reads_of(taken, reads, writes, s[READS], s[WRITES], s[BOTH])
    s[k + K_MAY_READ], s[k + K_MAY_WRITE] = own_reads + of_reads, own_writes + taken - of_reads


@small_part
def served(s: Ints, k: int, write: int, mixed: int) -> int:
    """Whether a port of a bank is left for an access, which takes it."""
    if mixed:
        if s[k + K_MAY_READ + write] == 0:
            return 0
        s[k + K_MAY_READ + write] -= 1
    elif s[BOTH] > 0:
        if s[k + K_USED_READ] + s[k + K_USED_WRITE] >= s[BOTH]:
            return 0
    elif s[k + K_USED_READ + write] >= s[READS + write]:
        return 0
    s[k + K_USED_READ + write] += 1
    s[k + K_READS + write] += 1
    return 1


@part
def serve(s: Ints, a: Ints, number: int, turn: int) -> None:
    """Serve what is left of a requester's vector at the banks where it is its turn, as far as their ports go."""
    r = s[B_REQUESTER] + number * REQUESTER_WIDTH
    count = s[REQUESTERS]
    left = 0
    mixed = s[BOTH] > 0 and s[READS] + s[WRITES] > 0
    if mixed:
        count_wanted(s, a, r)
    for i in range(s[r + R_PENDING]):
        place = s[s[r + R_PLACE] + i]
        k = s[B_BANK] + a[place + A_BANK] * BANK_WIDTH
        if s[k + K_CYCLE] != s[NOW]:
            s[k + K_CYCLE] = s[NOW]
            s[k + K_USED_READ] = s[k + K_USED_WRITE] = 0
            s[k + K_FIRST] = s[k + K_NEXT_FIRST]
        if (number - s[k + K_FIRST] + count) % count == turn:
            first = s[k + K_USED_READ] + s[k + K_USED_WRITE] == 0
            if mixed and s[k + K_SEEN] != s[STAMP]:
                s[k + K_SEEN] = s[STAMP]
                allow(s, k)
            if served(s, k, a[place + A_WRITE], mixed):
                if first and s[ROUND_ROBIN]:
                    s[k + K_NEXT_FIRST] = (number + 1) % count
                continue
        s[s[r + R_PLACE] + left] = place
        left += 1
    s[r + R_PENDING] = left


@part
def end_vector(s: Ints, v: Ints, r: int) -> None:
    """The last access of a vector was served in this cycle: what it lost, and when the next may begin."""
    room = 1
    last = s[r + R_VECTOR] + 1 == s[r + R_VECTORS]
    if not last:
        room = v[(s[r + R_FIRST] + s[r + R_VECTOR] + 1) * VECTOR_WIDTH + V_GAP]
    took = s[NOW] - s[r + R_START] + 1
    own = max(0, s[r + R_OWN] - room)
    kind = max(0, s[r + R_ALONE] - room) - own
    s[r + R_LOST_BANK] += own
    s[r + R_LOST_KIND] += kind
    s[r + R_LOST_OTHER] += max(0, took - room) - own - kind
    s[r + R_BEGIN] = max(s[r + R_START] + room, s[NOW] + 1)
    s[r + R_START] = NEVER
    s[r + R_DONE] = s[NOW]
    s[r + R_VECTOR] += 1


@kernel(INT(WRITE_1, READ_1, READ_1))
def replay(state: Ints, vectors: Ints, accesses: Ints) -> int:
    """Replay the vectors of all requesters to their end; returns the cycle after the last access.

    ``state``: int64, as `sram_layout` says. ``vectors``: int64[n x VECTOR_WIDTH], those of a requester one after another and one
    more whose ``V_FIRST`` is the number of its accesses. ``accesses``: int64[m x ACCESS_WIDTH], no two of a vector the same word
    and kind. A vector is begun ``V_GAP`` cycles after the one before was, or in the cycle after that was served; it is served
    when its last access is. In a cycle each bank serves as many accesses as it has ports for their kind, those of one requester
    before those of the next.
    """
    s, v, a = flat(state), flat(vectors), flat(accesses)
    end = 0
    while True:
        following = NEVER
        busy = 0
        for number in range(s[REQUESTERS]):
            r = s[B_REQUESTER] + number * REQUESTER_WIDTH
            if s[r + R_START] == NEVER and s[r + R_VECTOR] < s[r + R_VECTORS]:
                if s[r + R_BEGIN] <= s[NOW]:
                    begin(s, v, a, r)
                elif following == NEVER or s[r + R_BEGIN] < following:
                    following = s[r + R_BEGIN]
            busy += s[r + R_START] != NEVER
        if busy == 0:
            if following == NEVER:
                break
            s[NOW] = following
            continue
        for turn in range(s[REQUESTERS]):
            for number in range(s[REQUESTERS]):
                if s[s[B_REQUESTER] + number * REQUESTER_WIDTH + R_START] != NEVER:
                    serve(s, a, number, turn)
        for number in range(s[REQUESTERS]):
            r = s[B_REQUESTER] + number * REQUESTER_WIDTH
            if s[r + R_START] != NEVER and s[r + R_PENDING] == 0:
                end_vector(s, v, r)
        s[NOW] += 1
        end = s[NOW]
    return int(end)
