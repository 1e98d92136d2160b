"""Records that come and go: residencies and legs are kept as long as something names them, for blame to follow."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.event_layout import (
    AHEAD_NEXT,
    AHEAD_WIDTH,
    B_AHEAD,
    B_GROUP,
    B_LEG,
    B_RESIDENCY,
    B_RUN,
    BOOKING_WIDTH,
    BY_RESIDENCY,
    FREE_AHEAD,
    FREE_AHEADS,
    FREE_GROUP,
    FREE_GROUPS,
    FREE_LEG,
    FREE_LEGS,
    FREE_RESIDENCIES,
    FREE_RESIDENCY,
    FREE_RUN,
    FREE_RUNS,
    G_NUMBER,
    G_OPEN,
    GROUP_WIDTH,
    K_AHEAD,
    L_BEFORE,
    L_BOOKED,
    L_KEY,
    L_PREVIOUS,
    L_REFERENCES,
    LEG_HEAD,
    LEG_WIDTH,
    N_BEFORE,
    N_DRAIN,
    N_FILL,
    N_FREED_BY,
    N_FREED_WHO,
    N_NEXT_DRAINING,
    N_REFERENCES,
    N_SOURCE,
    N_WHO,
    NEVER,
    NOBODY,
    RESIDENCY_WIDTH,
    RUN_ARRAY,
    RUN_WIDTH,
)
from accelsim.kernels.jit import part, small_part

Ints = NDArray[np.int64]


@small_part
def residency_at(s: Ints, r: int) -> int:
    """Where a residency's record begins."""
    return int(s[B_RESIDENCY] + r * RESIDENCY_WIDTH)


@small_part
def leg_at(s: Ints, leg: int) -> int:
    """Where a leg's record begins."""
    return int(s[B_LEG] + leg * s[LEG_WIDTH])


@small_part
def new_residency(s: Ints) -> int:
    """Take a free residency; every field is -1 but the counters."""
    r = s[FREE_RESIDENCY]
    n = residency_at(s, r)
    s[FREE_RESIDENCY] = s[n + N_NEXT_DRAINING]
    s[FREE_RESIDENCIES] -= 1
    for i in range(n, n + RESIDENCY_WIDTH):
        s[i] = NEVER
    s[n + N_REFERENCES] = 0
    return int(r)


@small_part
def new_leg(s: Ints) -> int:
    """Take a free leg, named once: by what has it under way."""
    leg = s[FREE_LEG]
    g = leg_at(s, leg)
    s[FREE_LEG] = s[g + L_KEY]
    s[FREE_LEGS] -= 1
    for i in range(g, g + LEG_HEAD):
        s[i] = NEVER
    s[g + L_REFERENCES] = 1
    s[g + L_BOOKED] = 0
    return int(leg)


@small_part
def new_ahead(s: Ints) -> int:
    """Take a free note of who was ahead."""
    a = s[FREE_AHEAD]
    s[FREE_AHEAD] = s[s[B_AHEAD] + a * AHEAD_WIDTH + AHEAD_NEXT]
    s[FREE_AHEADS] -= 1
    return int(a)


@small_part
def new_group(s: Ints) -> int:
    """Take a free group."""
    g = s[FREE_GROUP]
    at = s[B_GROUP] + g * GROUP_WIDTH
    s[FREE_GROUP] = s[at + G_NUMBER]
    s[FREE_GROUPS] -= 1
    s[at + G_OPEN] = 1
    return int(g)


@small_part
def free_group(s: Ints, g: int) -> int:
    """Give a group back."""
    at = s[B_GROUP] + g * GROUP_WIDTH
    s[at + G_OPEN] = 0
    s[at + G_NUMBER] = s[FREE_GROUP]
    s[FREE_GROUP] = g
    s[FREE_GROUPS] += 1
    return g


@small_part
def new_run(s: Ints) -> int:
    """Take a free run."""
    run = s[FREE_RUN]
    s[FREE_RUN] = s[s[B_RUN] + run * s[RUN_WIDTH] + RUN_ARRAY]
    s[FREE_RUNS] -= 1
    return int(run)


@small_part
def free_run(s: Ints, run: int) -> int:
    """Give a run back."""
    s[s[B_RUN] + run * s[RUN_WIDTH] + RUN_ARRAY] = s[FREE_RUN]
    s[FREE_RUN] = run
    s[FREE_RUNS] += 1
    return run


@part
def drop_leg(s: Ints, leg: int) -> int:
    """One fewer names a leg; without any it is given back, and names those before it no more."""
    while leg >= 0:
        g = leg_at(s, leg)
        s[g + L_REFERENCES] -= 1
        if s[g + L_REFERENCES] > 0:
            return 0
        for k in range(s[g + L_BOOKED]):
            a = s[g + LEG_HEAD + k * BOOKING_WIDTH + K_AHEAD]
            while a >= 0:
                at = s[B_AHEAD] + a * AHEAD_WIDTH + AHEAD_NEXT
                after = s[at]
                s[at] = s[FREE_AHEAD]
                s[FREE_AHEAD] = a
                s[FREE_AHEADS] += 1
                a = after
        # a leg continues one or follows one, never both
        earlier = s[g + L_BEFORE] if s[g + L_BEFORE] >= 0 else s[g + L_PREVIOUS]
        s[g + L_KEY] = s[FREE_LEG]
        s[FREE_LEG] = leg
        s[FREE_LEGS] += 1
        leg = earlier
    return 0


@small_part
def hold(s: Ints, r: int) -> int:
    """One more names a residency."""
    if r >= 0:
        s[residency_at(s, r) + N_REFERENCES] += 1
    return r


@small_part
def unname(s: Ints, r: int, waiting: int) -> int:
    """One fewer names a residency; without any it is put before those ``waiting`` to be given back."""
    if r < 0:
        return waiting
    n = residency_at(s, r)
    s[n + N_REFERENCES] -= 1
    if s[n + N_REFERENCES] > 0:
        return waiting
    s[n + N_NEXT_DRAINING] = waiting
    return r


@part
def drop(s: Ints, r: int) -> int:
    """One fewer names a residency; those that nothing names any more are given back with their legs."""
    waiting = unname(s, r, NEVER)
    while waiting >= 0:
        r = waiting
        n = residency_at(s, r)
        waiting = s[n + N_NEXT_DRAINING]
        waiting = unname(s, s[n + N_SOURCE], waiting)
        waiting = unname(s, s[n + N_BEFORE], waiting)
        waiting = unname(s, s[n + N_WHO], waiting)
        if s[n + N_FREED_BY] == BY_RESIDENCY:
            waiting = unname(s, s[n + N_FREED_WHO], waiting)
        drop_leg(s, s[n + N_FILL])
        drop_leg(s, s[n + N_DRAIN])
        s[n + N_FREED_BY] = NOBODY
        s[n + N_NEXT_DRAINING] = s[FREE_RESIDENCY]
        s[FREE_RESIDENCY] = r
        s[FREE_RESIDENCIES] += 1
    return 0
