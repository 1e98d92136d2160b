"""The PE array: blocks of array steps in order, their ports, and what the array waited for (rule 4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.columns import BLOCK_KIND, BLOCK_OPERANDS, BLOCK_STEP
from accelsim.kernels.event_banks import note_block
from accelsim.kernels.event_blame import check_explained, explain, explain_drain, put
from accelsim.kernels.event_happenings import add_feed, add_row, at, wake_array
from accelsim.kernels.event_layout import (
    A_BLOCK,
    A_BLOCK_COUNT,
    A_BLOCKS,
    A_DONE,
    A_FEEDS,
    A_FIRST_START,
    A_FREE,
    A_HELD,
    A_LATENCY,
    A_LEFT,
    A_PORTED,
    A_READS,
    A_RUNNING,
    A_WRITES,
    ARRAY_WIDTH,
    B_ARRAY,
    B_BLOCK,
    B_LIST,
    B_RESIDENCY,
    B_RESOURCE,
    B_RUN,
    B_STATION,
    B_USES,
    B_WORK,
    BANKED,
    BLAMED_LABEL,
    BLAMED_LANE,
    BLAMED_PHASE,
    BLOCK_ENDS,
    BLOCK_WIDTH,
    BLOCKS,
    FAULT,
    FAULT_FROM,
    FAULT_LANE,
    FAULT_TO,
    FEEDS,
    FILL_DRAIN,
    FINISHED,
    HOLD_ENDS,
    L_BEFORE,
    L_LANE,
    MACS,
    MARK,
    MARKED,
    N_DRAINED,
    N_FILL,
    N_READERS,
    N_READY,
    N_STATION,
    NEVER,
    NO_MARK,
    NOW,
    OUTPUT,
    OUTPUT_ENDS,
    PHASE_FINISH,
    PHASE_START,
    PHASE_STEADY,
    R_FREE,
    R_LANE,
    RESIDENCY_WIDTH,
    RESOURCE_WIDTH,
    RUN_ARRAY,
    RUN_END,
    RUN_HEAD,
    RUN_WIDTH,
    S_LAST_DRAINED,
    S_LATE,
    S_PARENT,
    S_TENSOR,
    SINCE,
    STATION_WIDTH,
    TENSORS,
    TICKS,
    UNTIL,
    W_HOLD,
    W_MACS,
    WAITED_FOR_NOTHING,
    WHERE_ARRAY,
    WHOSE_NOBODY,
    WORK_HEAD,
    WORK_WIDTH,
)
from accelsim.kernels.event_pools import free_run, leg_at, new_run
from accelsim.kernels.event_ports import note_booking
from accelsim.kernels.event_stations import live, pass_by, reader_done
from accelsim.kernels.jit import part, small_part

Ints = NDArray[np.int64]


@small_part
def block_of(s: Ints, a: int) -> int:
    """Where the next block of an array (by its place) stands; -1 at the end."""
    if s[a + A_BLOCK] >= s[a + A_BLOCK_COUNT]:
        return NEVER
    return int(s[B_BLOCK] + (s[a + A_BLOCKS] + s[a + A_BLOCK]) * s[BLOCK_WIDTH])


@small_part
def blame(s: Ints, lane: int, since: int, until: int, phase: int, label: int) -> int:
    """Begin to explain a wait of an array's lane."""
    s[BLAMED_LANE], s[SINCE], s[UNTIL], s[BLAMED_PHASE], s[BLAMED_LABEL] = lane, since, until, phase, label
    return 0


@small_part
def book_ports(s: Ints, a: int, work: int, hold: int) -> int:
    """Book operand and result ports at a block's start; the hold is the array's, or that of the slowest port."""
    now, tensors = s[NOW], s[TENSORS]
    end = (now + hold) * TICKS
    for way in range(2):
        numbers = s[B_LIST] + s[a + (A_READS if way == 0 else A_WRITES)]
        for t in range(tensors):
            ticks = s[work + WORK_HEAD + way * tensors + t]
            if s[numbers + t] < 0 or ticks < 0:
                continue
            resource = s[B_RESOURCE] + s[numbers + t] * RESOURCE_WIDTH
            start = max(now * TICKS, s[resource + R_FREE])
            stop = start + ticks
            s[resource + R_FREE] = stop
            note_booking(s, resource, -(-start // TICKS), -(-stop // TICKS), t, NEVER)
            add_row(s, s[resource + R_LANE], start, stop, 0, t)
            end = max(end, stop)
    return int(-(-end // TICKS) - now)


@small_part
def try_start(s: Ints, array: int) -> int:
    """Start the next block when the array is free and every operand's residency is ready; returns 1 where it did."""
    a = s[B_ARRAY] + array * ARRAY_WIDTH
    row = block_of(s, a)
    if row < 0 or s[a + A_RUNNING]:
        return 0
    feeds, tensors, now = s[B_LIST] + s[a + A_FEEDS], s[TENSORS], s[NOW]
    latest, last = NEVER, NEVER
    for t in range(tensors):
        r = live(s, s[B_STATION] + s[feeds + t] * STATION_WIDTH, s[row + BLOCK_OPERANDS + t])
        if r < 0:
            return 0
        ready = s[s[B_RESIDENCY] + r * RESIDENCY_WIDTH + N_READY]
        if ready < 0:
            return 0
        if ready > latest:
            latest, last = ready, r
    if now > s[a + A_FREE]:
        if latest != now and s[FAULT] == 0:
            s[FAULT], s[FAULT_LANE], s[FAULT_FROM], s[FAULT_TO] = WAITED_FOR_NOTHING, array, latest, now
        st = s[B_STATION] + s[s[B_RESIDENCY] + last * RESIDENCY_WIDTH + N_STATION] * STATION_WIDTH
        blame(s, array, s[a + A_FREE], now, PHASE_START if s[a + A_FIRST_START] < 0 else PHASE_STEADY, s[st + S_TENSOR])
        explain(s, last, NEVER, array)
        check_explained(s)
    if s[a + A_FIRST_START] < 0:
        s[a + A_FIRST_START] = now
    kind = s[row + BLOCK_KIND]
    work = s[B_WORK] + kind * s[WORK_WIDTH]
    hold = book_ports(s, a, work, s[work + W_HOLD]) if s[a + A_PORTED] else s[work + W_HOLD]
    s[s[B_USES] + s[a + A_DONE] + kind] += 1
    s[a + A_HELD] += hold
    s[MACS] += s[work + W_MACS]
    end, latency = now + hold, s[a + A_LATENCY]
    run = new_run(s)
    b = s[B_RUN] + run * s[RUN_WIDTH]
    s[b + RUN_ARRAY], s[b + RUN_END] = array, end
    for t in range(tensors):
        r = live(s, s[B_STATION] + s[feeds + t] * STATION_WIDTH, s[row + BLOCK_OPERANDS + t])
        s[b + RUN_HEAD + t] = r
        s[s[B_RESIDENCY] + r * RESIDENCY_WIDTH + N_READERS] += 1
    if s[FEEDS]:
        tell_feeds(s, array, b)
    if s[BANKED]:
        note_block(s, array, row, hold, run)
    else:
        add_row(s, array, now * TICKS, end * TICKS, 0, s[OUTPUT])
    s[a + A_RUNNING], s[a + A_FREE] = 1, end
    s[FINISHED] = max(s[FINISHED], end + latency)  # where the array writes the home, nothing drains
    s[a + A_BLOCK] += 1
    following = block_of(s, a)
    for t in range(tensors):
        left = s[row + BLOCK_OPERANDS + t]
        reading = s[following + BLOCK_OPERANDS + t] if following >= 0 else NEVER
        if reading != left:
            pass_by(s, s[B_STATION] + s[feeds + t] * STATION_WIDTH, left, reading)
    if latency:
        at(s, end, HOLD_ENDS, run)
        at(s, end + latency, OUTPUT_ENDS, run)
    else:
        at(s, end, BLOCK_ENDS, run)
    s[BLOCKS] += 1
    if array == 0 and s[row + BLOCK_STEP] >= s[MARK]:
        s[MARKED], s[MARK] = 1 + s[row + BLOCK_STEP], NO_MARK
    return 1


@part
def tell_feeds(s: Ints, array: int, b: int) -> int:
    """Say by which transfers the operands of a block (by its run's place) have come."""
    for t in range(s[TENSORS]):
        leg = s[s[B_RESIDENCY] + s[b + RUN_HEAD + t] * RESIDENCY_WIDTH + N_FILL]
        while leg >= 0:
            g = leg_at(s, leg)
            if s[g + L_LANE] >= 0:
                add_feed(s, array, g, t)
                break
            leg = s[g + L_BEFORE]
    return 0


@part
def release(s: Ints, run: int, late: int) -> int:
    """A block is done with its inputs, or with its outputs and what its last PE still needed."""
    b = s[B_RUN] + run * s[RUN_WIDTH]
    feeds = s[B_LIST] + s[s[B_ARRAY] + s[b + RUN_ARRAY] * ARRAY_WIDTH + A_FEEDS]
    for t in range(s[TENSORS]):
        r = s[b + RUN_HEAD + t]
        # the operand's station, not the residency's: the record of an input may be another's by the time that results leave
        st = s[B_STATION] + s[feeds + t] * STATION_WIDTH
        if (1 if s[st + S_LATE] or s[st + S_TENSOR] == s[OUTPUT] else 0) == late:
            reader_done(s, r, s[b + RUN_ARRAY], s[b + RUN_END])
    return 0


@part
def hold_ends(s: Ints, run: int) -> int:
    """The array is free again."""
    array = s[s[B_RUN] + run * s[RUN_WIDTH] + RUN_ARRAY]
    s[s[B_ARRAY] + array * ARRAY_WIDTH + A_RUNNING] = 0
    release(s, run, 0)
    return wake_array(s, array)


@part
def output_ends(s: Ints, run: int) -> int:
    """The last results of a block have left the array."""
    release(s, run, 1)
    return free_run(s, run)


@part
def close_array(s: Ints, array: int) -> int:
    """The run is over: how an array spent the time from its last step to the arrival of its last results."""
    a = s[B_ARRAY] + array * ARRAY_WIDTH
    free, output = s[a + A_FREE], s[OUTPUT]
    final, station = NEVER, s[s[B_LIST] + s[a + A_FEEDS] + output]
    while station >= 0:
        st = s[B_STATION] + station * STATION_WIDTH
        if s[st + S_LAST_DRAINED] >= 0:
            final = s[st + S_LAST_DRAINED]
        station = s[st + S_PARENT]
    if final < 0:
        if free and s[a + A_LATENCY]:
            done = max(free + s[a + A_LATENCY], s[a + A_LEFT])
            blame(s, array, free, done, PHASE_FINISH, output)
            put(s, s[FILL_DRAIN], free, done, WHERE_ARRAY, WHOSE_NOBODY)
        return 0
    arrived = s[s[B_RESIDENCY] + final * RESIDENCY_WIDTH + N_DRAINED]
    if arrived > free:
        blame(s, array, free, arrived, PHASE_FINISH, output)
        explain_drain(s, final, array)
        check_explained(s)
    return 0
