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
from accelsim.kernels.jit import INT, READ_1, WRITE_1, flat, kernel, part

Ints = NDArray[np.int64]


CLOCK, TOGETHER, ENTERED, SOONEST = range(4)
"""Where a replay stands: the cycle in which a request entered last, how many did in it, how many have in all, and, of each
channel, the next cycle to look at.
"""


@part
def go_on(s: Ints, a: Ints, time: int, before: int, side: int) -> int:
    """Let a channel do what it does before a cycle, and further until there is room for a read, or a write; ``time``, and what it
    returns: the next cycle to look at.
    """
    while True:
        full = s[WAITING + side] >= s[QUEUE]
        if time >= before and not full:
            return time
        time = tick(s, a, time, FAR if full else before)


@part
def serve_all(s: Ints, a: Ints, time: int) -> int:
    """Let a channel go on until no request is left in it; ``time``, and what it returns: the next cycle to look at."""
    while s[WAITING] + s[WAITING + 1] + s[IN_SECOND] > 0 or s[ACTIVE] != 0 or s[ACTIVATING] >= 0:
        time = tick(s, a, time, FAR)
    return time


@part
def finish(state: Ints, channels: int, width: int, a: Ints, clock: int, soonest: Ints) -> int:
    """Let the channels serve all that entered, the last in cycle ``clock``, and come to one cycle with what else they do."""
    last = clock
    for c in range(channels):
        s = flat(state[c * width:])
        soonest[c] = go_on(s, a, soonest[c], clock + 1, 0)
        # none comes to push out writes that are held back
        s[ALONE] = 1
        if s[SECOND]:
            soonest[c] = min(soonest[c], clock + 1)
        soonest[c] = serve_all(s, a, soonest[c])
        last = max(last, s[NOW])
    for c in range(channels):
        soonest[c] = go_on(flat(state[c * width:]), a, soonest[c], last + 1, 0)
    return last


@kernel(INT(WRITE_1, INT, READ_1, READ_1, READ_1, READ_1, WRITE_1, INT, INT, INT, WRITE_1, WRITE_1))
def replay(state: Ints, channels: int, bursts: Ints, writes: Ints, when: Ints, fields: Ints, place: Ints, at_once: int, serial: int,
           most: int, answers: Ints, stand: Ints) -> int:
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
            soonest[c] = serve_all(flat(state[c * width:]), a, soonest[c])
            time = max(time, a[(entered - 1) * ANSWER_WIDTH + A_DONE] + serial)
        c = locate(f, parts, b[entered], q)
        s = flat(state[c * width:])
        soonest[c] = go_on(s, a, soonest[c], time + 1, w[entered])
        time = max(time, s[NOW])
        accept(s, q, entered, w[entered], time)
        a[entered * ANSWER_WIDTH + A_ARRIVED] = time
        soonest[c] = time + 1
        together = together + 1 if time == clock else 1
        clock = time
        entered += 1
    ended = 0
    if entered == count:
        clock, ended = finish(state, channels, width, a, clock, soonest), 1
    stand[CLOCK], stand[TOGETHER], stand[ENTERED] = clock, together, entered
    return ended
