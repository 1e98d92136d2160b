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
    F_WIDTH,
    FAR,
    IN_SECOND,
    NEXT_REF,
    NOW,
    QUEUE,
    REF_EVERY,
    SECOND,
    WAITING,
)
from accelsim.kernels.dram_place import locate
from accelsim.kernels.dram_queue import accept
from accelsim.kernels.jit import INT, READ_1, WRITE_1, flat, kernel, small_part

Ints = NDArray[np.int64]


CLOCK, TOGETHER, ENTERED, SOONEST = range(4)
"""Where a replay stands: the cycle in which a request entered last, how many did in it, how many have in all, and, of each
channel, the next cycle to look at.
"""


@small_part
def is_full(s: Ints, side: int) -> int:
    """Whether there is no room for another read, or write."""
    return 1 if s[WAITING + side] >= s[QUEUE] else 0


@small_part
def holds_any(s: Ints) -> int:
    """Whether a request is left in a channel."""
    return 1 if s[WAITING] + s[WAITING + 1] + s[IN_SECOND] > 0 or s[ACTIVE] != 0 or s[ACTIVATING] >= 0 else 0


@kernel(INT(WRITE_1, INT, READ_1, READ_1, READ_1, READ_1, WRITE_1, INT, INT, INT, WRITE_1, WRITE_1))
def replay(state: Ints, channels: int, bursts: Ints, writes: Ints, when: Ints, fields: Ints, place: Ints, at_once: int,
           serial: int, most: int, answers: Ints, stand: Ints) -> int:
    """Replay a trace until ``most`` of its requests have entered, or to its end; returns 1 at the end. Called again, it goes on.

    ``state``: int64, ``channels`` of them one after another, as `dram_layout` says. ``bursts``, ``writes``, ``when``: int64[n],
    which burst each request is for, whether it writes, and the cycle before which it does not come. ``fields``: int64[f x
    F_WIDTH], as of `dram_place`; ``place``: int64[PLACE_WIDTH]. At most ``at_once`` enter in a cycle, in order: one whose queue
    is full holds up those behind it. ``serial``: -1, or each waits for the data of the one before, and so many cycles more.
    ``answers``: int64[n x ANSWER_WIDTH]. ``stand``: int64[SOONEST + channels], 0 at first. A request that enters in one cycle has
    its first command in the next at the earliest.

    Channels do not know of each other: each goes on when a request enters it, to that cycle, or to the one in which it has room
    for it.
    """
    count, width, parts = bursts.shape[0], state.shape[0] // channels, fields.shape[0] // F_WIDTH
    b, w, t, f = flat(bursts), flat(writes), flat(when), flat(fields)
    q, a, soonest = flat(place), flat(answers), flat(stand[SOONEST:])
    clock, together, entered = stand[CLOCK], stand[TOGETHER], stand[ENTERED]
    if entered == 0:
        for c in range(channels):
            s = flat(state[c * width:])
            soonest[c] = s[NEXT_REF] if s[REF_EVERY] else FAR
            if serial >= 0:
                s[ALONE] = 1
    c = locate(f, parts, b[entered - 1], q) if entered > 0 else 0
    while entered < min(most, count):
        time = max(t[entered], clock + 1 if together == at_once else clock)
        if serial >= 0 and entered > 0:
            s = flat(state[c * width:])
            while holds_any(s):
                soonest[c] = tick(s, a, soonest[c], FAR)
            time = max(time, a[(entered - 1) * ANSWER_WIDTH + A_DONE] + serial)
        c, side = locate(f, parts, b[entered], q), w[entered]
        s = flat(state[c * width:])
        while soonest[c] <= time or is_full(s, side):
            soonest[c] = tick(s, a, soonest[c], FAR if is_full(s, side) else time + 1)
        time = max(time, s[NOW])
        accept(s, q, entered, side, time)
        a[entered * ANSWER_WIDTH + A_ARRIVED] = time
        soonest[c] = time + 1
        together = together + 1 if time == clock else 1
        clock = time
        entered += 1
    ended = 1 if entered == count else 0
    if ended:
        last = clock
        for c in range(channels):
            s = flat(state[c * width:])
            while soonest[c] <= clock:
                soonest[c] = tick(s, a, soonest[c], clock + 1)
            # none comes to push out writes that are held back
            s[ALONE] = 1
            if s[SECOND]:
                soonest[c] = min(soonest[c], clock + 1)
            while holds_any(s):
                soonest[c] = tick(s, a, soonest[c], FAR)
            last = max(last, s[NOW])
        # refreshes go on until the last channel has served its last request
        for c in range(channels):
            s = flat(state[c * width:])
            while soonest[c] <= last:
                soonest[c] = tick(s, a, soonest[c], last + 1)
    stand[CLOCK], stand[TOGETHER], stand[ENTERED] = clock, together, entered
    return ended
