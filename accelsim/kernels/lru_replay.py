"""Vectors of accesses through a cache: set-associative, least recently used, write-back, write-allocate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.jit import INT, READ_1, WRITE_1, flat, kernel, part
from accelsim.kernels.lru_layout import (
    AHEAD,
    B_FULL,
    B_FULL_SET,
    B_LINE,
    B_QUEUE,
    B_RING,
    B_SET,
    B_TENSOR,
    BACK_FREE,
    BACK_TICKS,
    CONSUMED,
    CURSOR,
    FILL_FREE,
    FILL_TICKS,
    FULL_MISSES,
    FULL_WIDTH,
    HIT,
    HIT_CYCLES,
    IN_FLIGHT,
    L_AFTER,
    L_BEFORE,
    L_DIRTY,
    L_HELD,
    L_READY,
    L_SEEN,
    LATENCY,
    LATEST,
    LINE_WIDTH,
    LOOKED,
    LOOKUPS,
    MISSED,
    MISSES,
    NEVER,
    NO_VICTIM,
    S_COUNT,
    S_NEWEST,
    S_OLDEST,
    SET_WIDTH,
    SETS,
    SHARED,
    TENSOR_WIDTH,
    TENSORS,
    TICKS,
    VECTOR,
    WAYS,
    X_BACK,
    X_CAPACITY,
    X_COLD,
    X_CONFLICT,
    X_FIRST,
    X_FLUSHED,
    X_HITS,
    X_READS,
)

Ints = NDArray[np.int64]


@part
def touch(s: Ints, lines: int, width: int, own: int, ways: int, line: int) -> int:
    """Use a line of a set: it becomes the newest; HIT, NO_VICTIM, or the line that had to go. ``lines``: where their records are,
    ``width`` apart; ``own``: the set's.
    """
    n = lines + line * width
    held = s[n + L_HELD]
    if held:
        if s[own + S_NEWEST] == line:
            return HIT
        before, after = s[n + L_BEFORE], s[n + L_AFTER]
        s[lines + before * width + L_AFTER] = after
        if after == NEVER:
            s[own + S_OLDEST] = before
        else:
            s[lines + after * width + L_BEFORE] = before
    newest = s[own + S_NEWEST]
    s[n + L_BEFORE], s[n + L_AFTER], s[n + L_HELD] = NEVER, newest, 1
    s[own + S_NEWEST] = line
    if newest == NEVER:
        s[own + S_OLDEST] = line
    else:
        s[lines + newest * width + L_BEFORE] = line
    if held:
        return HIT
    if s[own + S_COUNT] < ways:
        s[own + S_COUNT] += 1
        return NO_VICTIM
    victim = s[own + S_OLDEST]
    v = lines + victim * width
    s[own + S_OLDEST] = s[v + L_BEFORE]
    s[lines + s[v + L_BEFORE] * width + L_AFTER] = NEVER
    s[v + L_HELD] = 0
    return int(victim)


@part
def tensor_of(s: Ints, line: int) -> int:
    """The record of the tensor that a line is of."""
    x = s[B_TENSOR]
    for _ in range(s[TENSORS] - 1):
        if line < s[x + TENSOR_WIDTH + X_FIRST]:
            break
        x += TENSOR_WIDTH
    return int(x)


@part
def write_back(s: Ints, asked: int) -> None:
    """A line goes to the level beyond, as soon as its port is free."""
    port = FILL_FREE if s[SHARED] else BACK_FREE
    s[port] = max(s[port], asked * TICKS) + s[BACK_TICKS]


@part
def looked_up(s: Ints, line: int, write: int) -> int:
    """Look a line up, and have it come if it is not there; returns when a reader has its data."""
    if s[LOOKED] == s[LOOKUPS]:
        s[CURSOR] += 1
        s[LOOKED] = 0
    whole = touch(s, s[B_FULL], FULL_WIDTH, s[B_FULL_SET], s[SETS] * s[WAYS], line)
    s[FULL_MISSES] += whole != HIT
    x = tensor_of(s, line)
    s[x + X_READS + write] += 1
    n = s[B_LINE] + line * LINE_WIDTH
    victim = touch(s, s[B_LINE], LINE_WIDTH, s[B_SET] + line % s[SETS] * SET_WIDTH, s[WAYS], line)
    if victim == HIT:
        s[x + X_HITS] += 1
        s[IN_FLIGHT] += s[n + L_READY] > s[CURSOR] + s[HIT_CYCLES]
    else:
        slot = s[B_RING] + s[MISSED] % s[MISSES]
        if s[slot] > s[CURSOR]:  # as many are in flight as may be
            s[CURSOR] = s[slot]
            s[LOOKED] = 0
        s[x + (X_COLD if s[n + L_SEEN] == 0 else X_CAPACITY if whole != HIT else X_CONFLICT)] += 1
        s[n + L_SEEN] = 1
        asked = s[CURSOR] + s[HIT_CYCLES]
        s[FILL_FREE] = max(s[FILL_FREE], asked * TICKS) + s[FILL_TICKS]
        s[n + L_READY] = s[slot] = -(-s[FILL_FREE] // TICKS) + s[LATENCY]
        s[LATEST] = max(s[LATEST], s[slot])
        s[MISSED] += 1
        if victim != NO_VICTIM and s[s[B_LINE] + victim * LINE_WIDTH + L_DIRTY]:
            s[s[B_LINE] + victim * LINE_WIDTH + L_DIRTY] = 0
            s[tensor_of(s, victim) + X_BACK] += 1
            write_back(s, asked)
    s[LOOKED] += 1
    if write:
        s[n + L_DIRTY] = 1
    return int(max(s[CURSOR] + s[HIT_CYCLES], s[n + L_READY]))


@kernel(INT(WRITE_1, READ_1, READ_1, READ_1, READ_1, INT))
def replay(state: Ints, gaps: Ints, first: Ints, lines: Ints, writes: Ints, until: int) -> int:
    """Run vectors up to ``until``, or all; returns the cycle in which the array has taken the last. Called again, it goes on.

    ``state``: int64, as `lru_layout` says. ``gaps``: int64[v], cycles from the array's taking one vector to its taking the next
    at the least. ``first``: int64[v + 1], where its accesses begin in ``lines`` and ``writes``, int64[n]. Lookups are made in
    order, so many a cycle, and at most ``AHEAD`` vectors before the array takes one; it takes one when all it reads has come.
    """
    s = flat(state)
    v = s[VECTOR]
    while v < min(until, gaps.shape[0]):
        slot = s[B_QUEUE] + v % s[AHEAD]
        if s[slot] > s[CURSOR]:
            s[CURSOR] = s[slot]
            s[LOOKED] = 0
        taken = s[CONSUMED] + gaps[v]
        for i in range(first[v], first[v + 1]):
            ready = looked_up(s, lines[i], writes[i])
            taken = max(taken, s[CURSOR] if writes[i] else ready)
        s[CONSUMED] = s[slot] = taken
        v += 1
    s[VECTOR] = v
    return int(s[CONSUMED])


@kernel(INT(WRITE_1, INT))
def flush(state: Ints, count: int) -> int:
    """Write back what is dirty of ``count`` lines once the array is done; returns the cycle after the last line has moved."""
    s = flat(state)
    for line in range(count):
        n = s[B_LINE] + line * LINE_WIDTH
        if s[n + L_DIRTY]:
            s[n + L_DIRTY] = 0
            s[tensor_of(s, line) + X_FLUSHED] += 1
            write_back(s, s[CONSUMED] + 1)
    end = max(s[CONSUMED] + 1, s[LATEST])
    return int(max(end, -(-max(s[FILL_FREE], s[BACK_FREE]) // TICKS)))
