"""A trace of requests through the channels of a DRAM: in order into the queues, then as each controller will."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.dram_control import tick
from accelsim.kernels.dram_layout import (
    A_ARRIVED,
    A_DONE,
    ACTIVATING,
    ACTIVE,
    ALONE,
    ANSWER_WIDTH,
    F_BITS,
    F_WEIGHTS,
    F_WIDTH,
    FAR,
    IN_SECOND,
    NEXT_REF,
    NOW,
    Q_CHANNEL,
    Q_WHEN,
    Q_WRITE,
    QUEUE,
    REF_EVERY,
    REQUEST_WIDTH,
    SECOND,
    WAITING,
)
from accelsim.kernels.dram_queue import accept
from accelsim.kernels.jit import INT, READ_1, READ_2, WRITE_1, WRITE_2, flat, kernel, part

Ints = NDArray[np.int64]


CLOCK, ENTERED, SOONEST = range(3)
"""Where a replay stands: its cycle, how many requests have entered, and, of each channel, the next cycle to look at."""


@part
def enters_from(s: Ints, q: Ints, a: Ints, request: int, serial: int) -> int:
    """From when on the next request may enter, as its channel stands; FAR: something has to leave a queue, or be done, first."""
    r = request * REQUEST_WIDTH
    if s[WAITING + q[r + Q_WRITE]] >= s[QUEUE]:
        return FAR
    if serial < 0 or request == 0:
        return int(q[r + Q_WHEN])
    before = a[(request - 1) * ANSWER_WIDTH + A_DONE]
    return int(max(q[r + Q_WHEN], before + serial)) if before >= 0 else FAR


@part
def all_served(state: Ints, channels: int, width: int) -> int:
    """Whether no request is left in any channel."""
    for c in range(channels):
        s = flat(state[c * width:])
        if s[WAITING] + s[WAITING + 1] + s[IN_SECOND] > 0 or s[ACTIVE] != 0 or s[ACTIVATING] >= 0:
            return 0
    return 1


@kernel(INT(WRITE_1, INT, READ_1, INT, INT, INT, INT, WRITE_1, WRITE_1))
def replay(state: Ints, channels: int, requests: Ints, count: int, at_once: int, serial: int, most: int, answers: Ints,
           stand: Ints) -> int:
    """Replay a trace until ``most`` of its requests have entered, or to its end; returns 1 at the end. Called again, it goes on.

    ``state``: int64, ``channels`` of them one after another, as `dram_layout` says. ``requests``: int64[count x
    REQUEST_WIDTH]. At most ``at_once`` enter in a cycle, in order: one whose queue is full holds up those behind it.
    ``serial``: -1, or each waits for the data of the one before, and so many cycles more. ``answers``: int64[count x
    ANSWER_WIDTH]. ``stand``: int64[SOONEST + channels], 0 at first. A request that enters in one cycle has its first command
    in the next at the earliest.
    """
    width = state.shape[0] // channels
    q, a, soonest = flat(requests), flat(answers), flat(stand[SOONEST:])
    now, entered = stand[CLOCK], stand[ENTERED]
    for c in range(channels):
        s = flat(state[c * width:])
        if entered == 0:
            soonest[c] = s[NEXT_REF] if s[REF_EVERY] else FAR
    ended = 0
    while entered < most or entered == count:
        # those that come in this cycle; what is given to them comes in the next
        comes = FAR
        for _ in range(at_once):
            if entered == count:
                break
            r = entered * REQUEST_WIDTH
            s = flat(state[q[r + Q_CHANNEL] * width:])
            comes = enters_from(s, q, a, entered, serial)
            if comes > now:
                break
            accept(s, q, r, entered, now)
            a[entered * ANSWER_WIDTH + A_ARRIVED] = now
            soonest[q[r + Q_CHANNEL]] = now + 1
            entered += 1
            if entered == count or serial >= 0:
                # none comes to push out writes that are held back
                for c in range(channels):
                    s = flat(state[c * width:])
                    s[ALONE] = 1
                    if s[SECOND]:
                        soonest[c] = min(soonest[c], now + 1)
        # the next cycle in which a channel is looked at, and that of the channel after it
        following = second = FAR
        for c in range(channels):
            second = min(second, max(following, soonest[c]))
            following = min(following, soonest[c])
        first = following
        if entered < count:
            if comes <= now:
                r = entered * REQUEST_WIDTH
                s = flat(state[q[r + Q_CHANNEL] * width:])
                comes = max(now + 1, enters_from(s, q, a, entered, serial))
            following = min(following, comes)
        elif all_served(state, channels, width):
            ended = 1
            break
        now = following
        for c in range(channels):
            if soonest[c] <= now:
                # it may go on alone as long as no other does anything, nor a request comes
                alone = min(comes, second if soonest[c] == first else first)
                s = flat(state[c * width:])
                soonest[c] = tick(s, a, now, alone)
                now = max(now, s[NOW])
    stand[CLOCK], stand[ENTERED] = now, entered
    return ended


@kernel(INT(READ_1, READ_1, READ_1, READ_2, INT, WRITE_2))
def place_requests(addresses: Ints, writes: Ints, when: Ints, fields: Ints, burst: int, rows: Ints) -> int:
    """Write the requests of a trace: where each address lies; returns how many they are.

    ``addresses``, ``writes``, ``when``: int64[n]. ``fields``: int64[f, F_WIDTH], from the lowest bits of an address up, above the
    ``burst`` bytes of a column. ``rows``: int64[n, REQUEST_WIDTH].
    """
    for i in range(addresses.shape[0]):
        rest = addresses[i] // burst
        for column in range(REQUEST_WIDTH):
            rows[i, column] = 0
        rows[i, Q_WRITE], rows[i, Q_WHEN] = writes[i], when[i]
        for f in range(fields.shape[0]):
            value = rest & ((1 << fields[f, F_BITS]) - 1)
            rest = rest >> fields[f, F_BITS]
            for j in range(F_WIDTH - F_WEIGHTS):
                rows[i, Q_CHANNEL + j] += value * fields[f, F_WEIGHTS + j]
    return int(addresses.shape[0])
