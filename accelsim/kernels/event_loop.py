"""The event loop, compiled: completions, then claims until none is possible, then array starts, then ports in tie order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.event_arrays import close_array, hold_ends, output_ends, try_start
from accelsim.kernels.event_banks import is_held
from accelsim.kernels.event_channels import channels_end, channels_entered, channels_start
from accelsim.kernels.event_claims import claim
from accelsim.kernels.event_happenings import at, take_event
from accelsim.kernels.event_layout import (
    A_BLOCK,
    A_BLOCK_COUNT,
    A_ENDED,
    A_STARTING,
    ARRAY_WIDTH,
    ARRAYS,
    ASKED_COUNT,
    B_ARRAY,
    B_CLAIM,
    B_HEAP,
    B_NEXT,
    B_REQUEST,
    B_START,
    B_STATION,
    BANKED,
    BANKED_COUNT,
    BANKED_ROOM,
    BLOCK_ENDS,
    CALLS,
    CLAIM_COUNT,
    CLAIM_FIRST,
    CULPRIT_COUNT,
    CULPRIT_ROOM,
    DEPTH,
    DRAIN_ARRIVES,
    DRAIN_LEAVES,
    DUE,
    EVENT_KIND,
    EVENT_TIME,
    EVENT_WHO,
    FAULT,
    FILL_ARRIVES,
    FREE_AHEADS,
    FREE_LEGS,
    FREE_RESIDENCIES,
    FREE_RUNS,
    HEAP_COUNT,
    HELD_KIND,
    HELD_SURE,
    HELD_WHO,
    HOLD_ENDS,
    LEG_ARRIVES,
    LOG_COUNT,
    LOG_ROOM,
    MARKED,
    MEMORIES,
    MEMORY_BUSY,
    MEMORY_ENDS,
    MEMORY_ENTERED,
    MEMORY_LOOKED,
    MEMORY_STARTS,
    MOST_CULPRITS_AT_ONCE,
    NEVER,
    NEXT_COUNT,
    NEXT_KIND,
    NEXT_WHO,
    NEXT_WIDTH,
    NOW,
    OUTPUT_ENDS,
    PHASE,
    PHASE_CLAIMS,
    PHASE_CLOSE,
    PHASE_EVENTS,
    PHASE_NEXT,
    PHASE_OVER,
    PHASE_PORTS,
    PHASE_STARTS,
    PIECE_ASKS,
    PLACE,
    RAN,
    REQUEST_COUNT,
    RESIDENCIES,
    ROUND,
    ROW_COUNT,
    ROW_ROOM,
    ROW_SPARE,
    S_DRAINING,
    S_ENDED,
    S_QUEUED,
    S_STAY,
    S_STAY_COUNT,
    SLOT_FREES,
    START_COUNT,
    STATION_WIDTH,
    STATIONS,
    STOPPED_AT,
    STUCK,
    WANTS_AHEADS,
    WANTS_BANKS,
    WANTS_BLOCKS,
    WANTS_CULPRITS,
    WANTS_LEGS,
    WANTS_LOG,
    WANTS_MARK,
    WANTS_MEMORY,
    WANTS_RESIDENCIES,
    WANTS_ROWS,
    WANTS_RUNS,
    WANTS_STAYS,
)
from accelsim.kernels.event_ports import ask, sort_requests
from accelsim.kernels.event_service import serve
from accelsim.kernels.event_stations import drained, filled, free_slot
from accelsim.kernels.event_transfers import next_piece
from accelsim.kernels.jit import INT, WRITE_1, flat, kernel, part, small_part

Ints = NDArray[np.int64]


@part
def happen(s: Ints, kind: int, who: int) -> int:
    """A completion."""
    if kind == FILL_ARRIVES:
        return filled(s, who)
    if kind == LEG_ARRIVES:
        return ask(s, who)
    if kind == BLOCK_ENDS:
        hold_ends(s, who)
        return output_ends(s, who)
    if kind == HOLD_ENDS:
        return hold_ends(s, who)
    if kind == OUTPUT_ENDS:
        return output_ends(s, who)
    if kind == SLOT_FREES:
        return free_slot(s, who)
    if kind == DRAIN_ARRIVES:
        return drained(s, who)
    if kind == DRAIN_LEAVES:
        free_slot(s, who)
        return drained(s, who)
    if kind == PIECE_ASKS:
        return next_piece(s, who)
    if kind == MEMORY_STARTS:
        return channels_start(s, who)
    if kind == MEMORY_ENTERED:
        return channels_entered(s, who)
    assert kind == MEMORY_ENDS
    return channels_end(s, who)


@small_part
def room(s: Ints) -> int:
    """What there is too little room of for another unit of work; 0 where there is enough."""
    if s[ROW_COUNT] + s[ROW_SPARE] > s[ROW_ROOM]:
        return WANTS_ROWS
    if s[FREE_LEGS] < 4 * (s[RESIDENCIES] - s[FREE_RESIDENCIES]) + 16:
        return WANTS_LEGS
    if s[FREE_AHEADS] < s[DEPTH]:
        return WANTS_AHEADS
    if 2 * (s[CULPRIT_COUNT] + MOST_CULPRITS_AT_ONCE) > s[CULPRIT_ROOM]:
        return WANTS_CULPRITS
    if s[BANKED] and s[BANKED_COUNT] + 8 * s[RESIDENCIES] > s[BANKED_ROOM]:
        return WANTS_BANKS
    if s[LOG_ROOM] and s[LOG_COUNT] + 8 * s[RESIDENCIES] > s[LOG_ROOM]:
        return WANTS_LOG
    return 0


@part
def stuck(s: Ints) -> int:
    """Whether something is left to do, though nothing can happen any more."""
    for array in range(s[ARRAYS]):
        a = s[B_ARRAY] + array * ARRAY_WIDTH
        if s[a + A_BLOCK] < s[a + A_BLOCK_COUNT]:
            return 1
    for station in range(s[STATIONS]):
        st = s[B_STATION] + station * STATION_WIDTH
        if s[st + S_STAY] < s[st + S_STAY_COUNT] or s[st + S_DRAINING] >= 0:
            return 1
    return 0


@kernel(INT(WRITE_1, INT, INT, INT))
def post(state: Ints, cycle: int, kind: int, who: int) -> int:
    """Let something happen at a cycle, from outside. ``state``: as of ``run``."""
    return at(flat(state), cycle, kind, who)


@kernel(INT(WRITE_1))
def run(state: Ints) -> int:
    """Go on until the run is over, or something has to be supplied or made room for; returns why it came back.

    ``state``: int64, laid out as ``layout`` says. Called again with what it wanted, it goes on where it stopped.
    """
    s = flat(state)
    s[CALLS] += 1
    while s[FAULT] == 0:
        wanted = room(s)
        if wanted:
            return wanted
        phase = s[PHASE]
        if phase == PHASE_EVENTS:
            waiting = s[HEAP_COUNT] > 0
            if s[HELD_SURE]:
                kind, s[HELD_KIND], s[HELD_SURE] = s[HELD_KIND], NEVER, 0
                happen(s, kind, s[HELD_WHO])
            elif s[DUE] and not (waiting and s[s[B_HEAP] + EVENT_TIME] == s[NOW]):
                s[DUE] = 0
                s[PHASE], s[PLACE] = PHASE_CLAIMS, NEVER
            elif s[MEMORIES] and not s[MEMORY_LOOKED] and (s[ASKED_COUNT] or s[MEMORY_BUSY]) and not (
                    waiting and s[s[B_HEAP] + EVENT_TIME] == s[NOW]):
                return WANTS_MEMORY
            elif not waiting:
                s[PHASE], s[PLACE] = PHASE_CLOSE, 0
                if stuck(s):
                    return STUCK
            elif s[MARKED] and s[s[B_HEAP] + EVENT_TIME] > s[NOW]:
                s[STOPPED_AT], s[MARKED] = s[MARKED] - 1, 0
                return WANTS_MARK
            else:
                e = take_event(s)
                if s[e + EVENT_TIME] > s[NOW]:
                    s[MEMORY_LOOKED] = 0
                s[NOW] = s[e + EVENT_TIME]
                if is_held(s, s[e + EVENT_KIND], s[e + EVENT_WHO]):
                    s[HELD_KIND], s[HELD_WHO] = s[e + EVENT_KIND], s[e + EVENT_WHO]
                    return WANTS_BANKS
                happen(s, s[e + EVENT_KIND], s[e + EVENT_WHO])
        elif phase == PHASE_CLAIMS:
            # stations whose turn it is, until one has claimed
            claimed = False
            while not claimed:
                if s[PLACE] < 0 and s[CLAIM_COUNT] == 0:
                    s[PHASE], s[PLACE] = PHASE_STARTS, 0
                    break
                if s[PLACE] < 0:
                    s[PLACE] = s[s[B_CLAIM] + s[CLAIM_FIRST]]
                    s[CLAIM_FIRST] = s[CLAIM_FIRST] + 1 if s[CLAIM_FIRST] + 1 < s[STATIONS] else 0
                    s[CLAIM_COUNT] -= 1
                    s[s[B_STATION] + s[PLACE] * STATION_WIDTH + S_QUEUED] = 0
                station = s[PLACE]
                st = s[B_STATION] + station * STATION_WIDTH
                if not s[st + S_ENDED] and s[st + S_STAY] + 1 >= s[st + S_STAY_COUNT]:
                    s[STOPPED_AT] = station
                    return WANTS_STAYS
                if s[FREE_RESIDENCIES] == 0:
                    return WANTS_RESIDENCIES
                claimed = claim(s, station, st) == 1
                if not claimed:
                    s[PLACE] = NEVER
        elif phase == PHASE_STARTS:
            if s[PLACE] < s[START_COUNT]:
                array = s[s[B_START] + s[PLACE]]
                a = s[B_ARRAY] + array * ARRAY_WIDTH
                if not s[a + A_ENDED] and s[a + A_BLOCK] + 1 >= s[a + A_BLOCK_COUNT]:
                    s[STOPPED_AT] = array
                    return WANTS_BLOCKS
                if s[FREE_RUNS] == 0:
                    return WANTS_RUNS
                try_start(s, array)
                s[a + A_STARTING] = 0
                s[PLACE] += 1
            else:
                s[START_COUNT] = 0
                s[PHASE], s[PLACE], s[ROUND] = PHASE_PORTS, 0, sort_requests(s)
        elif phase == PHASE_PORTS:
            if s[PLACE] < s[ROUND]:
                s[PLACE] += 1
                serve(s, s[s[B_REQUEST] + s[PLACE] - 1])
            else:
                # what arrived meanwhile is served in the next round
                for i in range(s[ROUND], s[REQUEST_COUNT]):
                    s[s[B_REQUEST] + i - s[ROUND]] = s[s[B_REQUEST] + i]
                s[REQUEST_COUNT] -= s[ROUND]
                s[PHASE], s[PLACE], s[ROUND] = PHASE_NEXT, 0, s[NEXT_COUNT]
        elif phase == PHASE_NEXT:
            if s[PLACE] < s[ROUND]:
                n = s[B_NEXT] + s[PLACE] * NEXT_WIDTH
                s[PLACE] += 1
                happen(s, s[n + NEXT_KIND], s[n + NEXT_WHO])
            else:
                for i in range(s[ROUND] * NEXT_WIDTH, s[NEXT_COUNT] * NEXT_WIDTH):
                    s[s[B_NEXT] + i - s[ROUND] * NEXT_WIDTH] = s[s[B_NEXT] + i]
                s[NEXT_COUNT] -= s[ROUND]
                s[PHASE] = PHASE_EVENTS
        elif phase == PHASE_CLOSE:
            if s[PLACE] < s[ARRAYS]:
                s[PLACE] += 1
                close_array(s, s[PLACE] - 1)
            else:
                s[PHASE] = PHASE_OVER
        else:
            return RAN
    return int(s[FAULT])
