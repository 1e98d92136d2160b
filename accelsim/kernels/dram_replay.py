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
from accelsim.kernels.jit import INT, READ_1, READ_2, WRITE_1, flat, kernel, part, small_part

Ints = NDArray[np.int64]


EMPTY = 2
CLOCK, TOGETHER, ENTERED, SOONEST = range(4)
"""Where a replay stands: the cycle in which a request entered last, how many did in it, how many have in all, and, of each
channel, the next cycle to look at.
"""


@small_part
def is_full(s: Ints, side: int) -> int:
    """Whether a queue has no room for another request."""
    return 1 if s[WAITING + side] >= s[QUEUE] else 0


@small_part
def holds_some(s: Ints) -> int:
    """Whether a request is left in a channel."""
    return 1 if s[WAITING] + s[WAITING + 1] + s[IN_SECOND] > 0 or s[ACTIVE] != 0 or s[ACTIVATING] >= 0 else 0


@part
def go_on(s: Ints, a: Ints, time: int, before: int, until: int) -> int:
    """Let a channel do what it does before a cycle, from when it is to be looked at next; further, until there is room for a
    read (``until`` 0) or a write (1), or until it is empty (2). Returns when it is to be looked at then.
    """
    while True:
        further = holds_some(s) if until == EMPTY else is_full(s, until)
        if time >= before and not further:
            return time
        time = tick(s, a, time, FAR if further else before)


@part
def finish(state: Ints, channels: int, width: int, a: Ints, clock: int, soonest: Ints) -> int:
    """Let the channels serve all that entered, the last of it in cycle ``clock``; all have come to the same cycle then."""
    last = clock
    for phase in range(3):
        for c in range(channels):
            s = flat(state[c * width:])
            if phase == 1:
                # none comes to push out writes that are held back
                s[ALONE] = 1
                if s[SECOND]:
                    soonest[c] = min(soonest[c], clock + 1)
            soonest[c] = go_on(s, a, soonest[c], last + 1 if phase != 1 else 0, EMPTY if phase == 1 else 0)
            if phase == 1:
                last = max(last, s[NOW])
    return last


@kernel(INT(WRITE_1, INT, READ_1, READ_1, READ_1, READ_2, INT, WRITE_1, INT, INT, INT, WRITE_1, WRITE_1))
def replay(state: Ints, channels: int, addresses: Ints, writes: Ints, when: Ints, fields: Ints, burst: int, place: Ints,
           at_once: int, serial: int, most: int, answers: Ints, stand: Ints) -> int:
    """Replay a trace until ``most`` of its requests have entered, or to its end; returns 1 at the end. Called again, it goes on.

    ``state``: int64, ``channels`` of them one after another, as `dram_layout` says. ``addresses``, ``writes``, ``when``: int64[n],
    the requests' bytes, whether they write, and the cycles before which they do not come. ``fields``: as of `dram_place`, of
    bursts of ``burst`` bytes; ``place``: int64[PLACE_WIDTH]. At most ``at_once`` enter in a cycle, in order: one whose queue is
    full holds up those behind it. ``serial``: -1, or each waits for the data of the one before, and so many cycles more.
    ``answers``: int64[n x ANSWER_WIDTH]. ``stand``: int64[SOONEST + channels], 0 at first. A request that enters in one cycle has
    its first command in the next at the earliest.

    Channels do not know of each other: each goes on when a request enters it, to that cycle, or to the one in which it has room
    for it.
    """
    count, width = addresses.shape[0], state.shape[0] // channels
    q, a, soonest = flat(place), flat(answers), flat(stand[SOONEST:])
    clock, together, entered = stand[CLOCK], stand[TOGETHER], stand[ENTERED]
    if entered == 0:
        for c in range(channels):
            s = flat(state[c * width:])
            soonest[c] = s[NEXT_REF] if s[REF_EVERY] else FAR
            if serial >= 0:
                s[ALONE] = 1
    c = locate(fields, addresses[entered - 1] // burst, q) if entered > 0 else 0
    while entered < min(most, count):
        time = max(when[entered], clock + 1 if together == at_once else clock)
        if serial >= 0 and entered > 0:
            soonest[c] = go_on(flat(state[c * width:]), a, soonest[c], 0, EMPTY)
            time = max(time, a[(entered - 1) * ANSWER_WIDTH + A_DONE] + serial)
        c = locate(fields, addresses[entered] // burst, q)
        s, side = flat(state[c * width:]), writes[entered]
        soonest[c] = go_on(s, a, soonest[c], time + 1, side)
        time = max(time, s[NOW])
        accept(s, q, entered, side, time)
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
