"""A memory in the loop: its channels go on command by command, no further than to the next event of the network."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels import dram_layout as at
from accelsim.kernels.dram_control import tick
from accelsim.kernels.dram_place import locate
from accelsim.kernels.dram_queue import accept
from accelsim.kernels.jit import INT, READ_1, READ_2, WRITE_1, WRITE_2, flat, kernel, part, small_part
from accelsim.kernels.memory_layout import (
    B_END,
    B_FREE,
    B_LABEL,
    B_START,
    B_UNIT,
    B_WRITE,
    BANKS_PER_UNIT,
    BURST_CYCLES,
    BURSTS,
    BUS_WIDTH,
    CLOCK,
    DATA,
    DENOMINATOR,
    ENDS,
    ENTERED,
    FIRST,
    HEAD,
    J_AFTER,
    J_BEFORE,
    J_FIRST,
    J_GIVEN,
    J_LABEL,
    J_LEFT,
    J_NEXT,
    J_OWN,
    J_RUN,
    J_RUN_END,
    J_SINCE,
    J_TELLS,
    J_WRITE,
    LAST,
    LATENCY_CYCLES,
    MIX_BANDWIDTH,
    MIX_CONTENTION,
    MIX_LATENCY,
    MIX_REFRESH,
    MIX_ROW,
    MIX_TURNAROUND,
    MOST_AT_ONCE,
    NEVER,
    NUMERATOR,
    O_CYCLE,
    O_JOB,
    O_KIND,
    OUTCOMES,
    PSEUDO_CHANNELS,
    R_BUS,
    R_END,
    R_LABEL,
    R_START,
    RANKS,
    REFRESH,
    ROW,
    ROWS,
    RUN_COUNT,
    RUN_FIRST,
    SPACING,
    STARTS,
    SUMS,
    TICKS,
    TURNAROUND,
    TURNS,
    UNFINISHED,
)

Ints = NDArray[np.int64]
REACHED, FULL = 0, 1


@small_part
def chip_cycle(m: Ints, cycle: int) -> int:
    """The first of the chip's cycles that begins no earlier than one of the memory's."""
    return int(-(-(cycle * m[NUMERATOR]) // m[DENOMINATOR]))


@small_part
def own_cycle(m: Ints, cycle: int) -> int:
    """The first of the memory's cycles that begins no earlier than one of the chip's."""
    return int(-(-(cycle * m[DENOMINATOR]) // m[NUMERATOR]))


@small_part
def come_out(m: Ints, outcomes: Ints, cycle: int, kind: int, job: int) -> int:
    """Note what came of a job, and return how far the memory may go on now: to the network's cycle in which that is known."""
    o, known = m[OUTCOMES], chip_cycle(m, cycle)
    outcomes[o, O_CYCLE], outcomes[o, O_KIND], outcomes[o, O_JOB] = known, kind, job
    m[OUTCOMES] += 1
    return own_cycle(m, known)


@small_part
def mix(m: Ints, jobs: Ints, job: int, place: int, latency: int) -> int:
    """Write down what the buses did since a job last looked at them, as numbers that its wait is shared out by."""
    since = J_SINCE - DATA
    own = jobs[job, J_OWN]
    jobs[job, place + MIX_LATENCY] = latency
    jobs[job, place + MIX_BANDWIDTH] = own + m[SPACING] - jobs[job, since + SPACING]
    jobs[job, place + MIX_TURNAROUND] = m[TURNAROUND] - jobs[job, since + TURNAROUND]
    jobs[job, place + MIX_ROW] = m[ROW] - jobs[job, since + ROW]
    jobs[job, place + MIX_REFRESH] = m[REFRESH] - jobs[job, since + REFRESH]
    jobs[job, place + MIX_CONTENTION] = m[DATA] - jobs[job, since + DATA] - own
    jobs[job, J_OWN] = 0
    for i in range(SUMS):
        jobs[job, J_SINCE + i] = m[DATA + i]
    return 0


@part
def account(m: Ints, s: Ints, b: int, rank: int, write: int) -> int:
    """Say what a data bus's cycles were for since the column command before this one; it is free again after the burst.

    Before the request entered its queue nothing asked for the bus. What is left was, in this order: a refresh of the bank; the
    change of direction or rank; the opening of a row, where one was opened for the request; or the spacing of bursts.
    """
    now = s[at.SERVED_AT]
    since = max(m[b + B_FREE], min(now, s[at.SERVED_ENTERED]))
    rest = now - since
    k = at.B_BANK + s[at.SERVED_BANK] * at.BANK_WIDTH
    held = max(0, min(now, s[k + at.K_REFRESHED_UNTIL]) - max(since, s[k + at.K_REFRESHED])) if s[at.SERVED_OPENED] else 0
    m[REFRESH] += held
    rest -= held
    before = m[b + B_UNIT]
    if before >= 0 and (before != rank or m[b + B_WRITE] != write):
        m[TURNS] += 1
        if before == rank:
            needed = s[at.RD_WR] if write else s[at.WR_RD_S]
        elif write:
            needed = s[at.WR_WR_RANK] if m[b + B_WRITE] else s[at.RD_WR_RANK]
        else:
            needed = s[at.WR_RD_RANK] if m[b + B_WRITE] else s[at.RD_RD_RANK]
        turning = max(0, min(rest, needed - m[BURST_CYCLES]))
        m[TURNAROUND] += turning
        rest -= turning
    if s[at.SERVED_OPENED]:
        m[ROW] += rest
    else:
        m[SPACING] += rest
    m[DATA] += m[BURST_CYCLES]
    m[BURSTS] += 1
    m[b + B_FREE], m[b + B_UNIT], m[b + B_WRITE] = now + m[BURST_CYCLES], rank, write
    return int(rest)


@small_part
def flush(m: Ints, rows: Ints, b: int, bus: int) -> int:
    """Write down what a bus last carried."""
    if m[b + B_END] > m[b + B_START]:
        r = m[ROWS]
        rows[r, R_BUS], rows[r, R_START], rows[r, R_END] = bus, m[b + B_START], m[b + B_END]
        rows[r, R_LABEL] = m[b + B_LABEL]
        m[ROWS] += 1
    return 0


@part
def note_served(m: Ints, s: Ints, channel: int, channels: int, jobs: Ints, outcomes: Ints, rows: Ints, limit: int) -> int:
    """A request had its column command; returns how far the memory may go on."""
    job, now = s[at.SERVED], s[at.SERVED_AT]
    s[at.SERVED] = NEVER
    write = jobs[job, J_WRITE]
    unit = s[at.SERVED_BANK] // m[BANKS_PER_UNIT]
    bus = channel * m[PSEUDO_CHANNELS] + unit // m[RANKS]
    b = HEAD + channels + bus * BUS_WIDTH
    account(m, s, b, unit % m[RANKS], write)
    jobs[job, J_OWN] += m[BURST_CYCLES]
    done = now + s[at.WRITE_LATENCY if write else at.READ_LATENCY]
    begins = done - m[BURST_CYCLES]
    start, end = begins * TICKS * m[NUMERATOR] // m[DENOMINATOR], done * TICKS * m[NUMERATOR] // m[DENOMINATOR]
    if m[b + B_END] != start or m[b + B_LABEL] != jobs[job, J_LABEL]:
        flush(m, rows, b, bus)
        m[b + B_START], m[b + B_LABEL] = start, jobs[job, J_LABEL]
    m[b + B_END] = end
    if jobs[job, J_FIRST] < 0:
        jobs[job, J_FIRST] = begins
        if write == 0:
            mix(m, jobs, job, J_BEFORE, m[LATENCY_CYCLES])
            limit = min(limit, come_out(m, outcomes, begins, STARTS, job))
    jobs[job, J_LEFT] -= 1
    if jobs[job, J_LEFT] == 0:
        mix(m, jobs, job, J_AFTER, m[LATENCY_CYCLES + 1] if write else 0)
        m[UNFINISHED] -= 1
        limit = min(limit, come_out(m, outcomes, done, ENDS, job))
    return int(limit)


@part
def enter(m: Ints, state: Ints, width: int, jobs: Ints, runs: Ints, fields: Ints, parts: int, q: Ints, outcomes: Ints,
          limit: int) -> int:
    """Queue bursts, those of reading jobs and those of writing ones each in their order, as long as there is room for the next;
    returns how far the memory may go on.
    """
    now = m[CLOCK]
    for side in range(2):
        job = m[FIRST + side]
        while job >= 0 and m[OUTCOMES] + MOST_AT_ONCE <= outcomes.shape[0]:
            run = jobs[job, J_RUN]
            channel = locate(fields, parts, runs[run, RUN_FIRST] + jobs[job, J_GIVEN], q)
            s = flat(state[channel * width:])
            if s[at.WAITING + side] >= s[at.QUEUE]:
                break
            accept(s, q, job, side, now)
            m[HEAD + channel] = min(m[HEAD + channel], now + 1)
            jobs[job, J_GIVEN] += 1
            if jobs[job, J_GIVEN] == runs[run, RUN_COUNT]:
                jobs[job, J_RUN], jobs[job, J_GIVEN] = run + 1, 0
            if jobs[job, J_RUN] == jobs[job, J_RUN_END]:
                if side:
                    mix(m, jobs, job, J_BEFORE, 0)
                if jobs[job, J_TELLS]:
                    limit = min(limit, come_out(m, outcomes, now + 1, ENTERED, job))
                job = jobs[job, J_NEXT]
                m[FIRST + side] = job
                if job < 0:
                    m[LAST + side] = NEVER
    return int(limit)


@kernel(INT(WRITE_1, WRITE_1, WRITE_2, READ_2, READ_1, INT, INT, WRITE_1, WRITE_1, WRITE_2, WRITE_2))
def advance(state: Ints, stand: Ints, jobs: Ints, runs: Ints, fields: Ints, until: int, idle: int, answers: Ints, request: Ints,
            outcomes: Ints, rows: Ints) -> int:
    """Go on to the end of one of the memory's cycles, or to the end of that in which something that came out is known; returns
    ``FULL`` where outcomes or rows have to be taken away first.

    ``state``: int64, the channels one after another. ``stand``: int64[HEAD + channels + buses x BUS_WIDTH]. ``jobs``:
    int64[n, JOB_WIDTH]. ``runs``: int64[r, RUN_WIDTH]. ``fields``: int64[f x F_WIDTH]. ``idle``: whether to go on when nothing
    is asked for, which leaves refreshes to be done. ``answers``: int64[n x ANSWER_WIDTH]. ``request``: int64[PLACE_WIDTH].
    ``outcomes``: int64[o, OUTCOME_WIDTH]. ``rows``: int64[w, ROW_WIDTH].
    """
    m, a, q, f = flat(stand), flat(answers), flat(request), flat(fields)
    parts = fields.shape[0] // at.F_WIDTH
    channels = (stand.shape[0] - HEAD) // (1 + m[PSEUDO_CHANNELS] * BUS_WIDTH)
    width = state.shape[0] // channels
    limit = until
    while True:
        limit = enter(m, state, width, jobs, runs, f, parts, q, outcomes, limit)
        if m[OUTCOMES] + MOST_AT_ONCE * (channels + 1) > outcomes.shape[0] or m[ROWS] + channels > rows.shape[0]:
            return FULL
        following = at.FAR
        for c in range(channels):
            following = min(following, m[HEAD + c])
        if following > limit or (m[UNFINISHED] == 0 and idle == 0):
            return REACHED
        now = following
        for c in range(channels):
            if m[HEAD + c] <= now:
                # it may go on alone as long as no other does anything, nor what is asked for is looked at
                alone = limit + 1
                for other in range(channels):
                    if other != c:
                        alone = min(alone, m[HEAD + other])
                s = flat(state[c * width:])
                m[HEAD + c] = tick(s, a, now, alone)
                now = max(now, s[at.NOW])
                if s[at.SERVED] >= 0:
                    limit = note_served(m, s, c, channels, jobs, outcomes, rows, limit)
        m[CLOCK] = now


@kernel(INT(WRITE_1, WRITE_2, INT, INT))
def begin(stand: Ints, jobs: Ints, job: int, cycle: int) -> int:
    """Put a job behind those of its direction, in one of the memory's cycles that all channels have come to; returns it.

    ``stand``, ``jobs``: as of ``advance``.
    """
    m = flat(stand)
    side = jobs[job, J_WRITE]
    for i in range(SUMS):
        jobs[job, J_SINCE + i] = m[DATA + i]
    if m[LAST + side] >= 0:
        jobs[m[LAST + side], J_NEXT] = job
    else:
        m[FIRST + side] = job
    m[LAST + side] = job
    m[UNFINISHED] += 1
    m[CLOCK] = max(m[CLOCK], cycle)
    return job


@kernel(INT(WRITE_1, WRITE_2))
def end_rows(stand: Ints, rows: Ints) -> int:
    """Write down what the buses carried last; returns how many rows there are. ``stand``, ``rows``: as of ``advance``."""
    m = flat(stand)
    channels = (stand.shape[0] - HEAD) // (1 + m[PSEUDO_CHANNELS] * BUS_WIDTH)
    for bus in range(channels * m[PSEUDO_CHANNELS]):
        flush(m, rows, HEAD + channels + bus * BUS_WIDTH, bus)
        m[HEAD + channels + bus * BUS_WIDTH + B_END] = 0
        m[HEAD + channels + bus * BUS_WIDTH + B_START] = 0
    return int(m[ROWS])
