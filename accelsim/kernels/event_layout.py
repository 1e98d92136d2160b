"""Where everything of a compiled run stands: one array of integers, a head and then sections of records.

Records name each other by their number within a section, so that sections can be moved and enlarged between calls.
``B_...`` of the head are the places where sections begin. Times are cycles unless ticks (sixteenths) are said.
"""

from __future__ import annotations

TICKS = 16
NEVER = -1

# -- the head ---------------------------------------------------------------------------------------------------------

(NOW, DUE, FINISHED, MACS, EVENTS, BLOCKS, ORDER, PHASE, PLACE, ROUND, STOPPED_AT, FAULT, FAULT_LANE, FAULT_FROM, FAULT_TO, CALLS,
 B_STATION, B_RING, B_STAY, B_LIST, B_HOP, B_ROUTE, B_TABLE, B_USES, B_RESOURCE, B_RECENT, B_ARRAY, B_BLOCK, B_WORK,
 B_RESIDENCY, B_LEG, B_AHEAD, B_GROUP, B_RUN, B_HEAP, B_NEXT, B_REQUEST, B_CLAIM, B_START, B_ROW, B_LOG, B_CULPRIT,
 STATIONS, ARRAYS, TENSORS, OUTPUT, DEPTH, LEG_WIDTH, RUN_WIDTH, WORK_WIDTH, BLOCK_WIDTH, RESIDENCIES,
 FREE_RESIDENCY, FREE_RESIDENCIES, FREE_LEG, FREE_LEGS, FREE_AHEAD, FREE_AHEADS, FREE_GROUP, FREE_GROUPS, FREE_RUN, FREE_RUNS,
 HEAP_COUNT, NEXT_COUNT, REQUEST_COUNT, CLAIM_FIRST, CLAIM_COUNT, START_COUNT, ROW_COUNT, ROW_ROOM, ROW_SPARE, LOG_COUNT,
 LOG_ROOM, CULPRIT_COUNT, CULPRIT_ROOM, UNTIL, SINCE, BLAMED_PHASE, BLAMED_LABEL, BLAMED_LANE, WRITEBACK, SYNC, FILL_DRAIN,
 CONTENTION, ISSUE, MARK, MARKED, MEMORIES, MEMORY_BUSY, MEMORY_LOOKED, ASKED_COUNT, B_ASKED, B_MIX, BANKED, BANKED_COUNT,
 BANKED_ROOM, BANKED_WIDTH, B_BANKED, HELD_KIND, HELD_WHO, HELD_SURE, FEEDS, MIXED) = range(103)
HEAD = MIXED + 6
"""Of ``UNTIL`` on: the wait that is being explained, how it is written down, and the numbers of the causes it may have.
``MEMORIES``: whether there are some whose channels are simulated, ``MEMORY_BUSY``: whether something is under way there,
``MEMORY_LOOKED``: whether what comes out of them before the next event is known; ``MIXED``: of six causes that waits for channels
are shared out to, the first. ``BANKED``: the array's entry where there are memories whose banks are simulated, else 0; what
touches them is noted, and what may end because of them (``HELD_KIND``, ``HELD_WHO``) is held until they are asked
and it is told that it does (``HELD_SURE``). ``FEEDS``: whether it is
told which transfers bring what steps use. ``MARK``: the
step of the first array from which on the run is to come back; ``MARKED``: the one it has begun, plus 1.
"""

NO_MARK = 1 << 62

PHASE_EVENTS, PHASE_CLAIMS, PHASE_STARTS, PHASE_PORTS, PHASE_NEXT, PHASE_CLOSE, PHASE_OVER = range(7)
"""Where a run stands between two units of work: an event, a claim, a start, a service, a completion of the next round or
an array's end. ``PLACE`` is which (a station in claims, -1 for none), ``ROUND`` how many there are in this round.
"""

RAN, WANTS_STAYS, WANTS_BLOCKS, WANTS_RESIDENCIES, WANTS_LEGS, WANTS_AHEADS, WANTS_RUNS, WANTS_ROWS, WANTS_LOG, WANTS_CULPRITS, \
    STUCK, UNEXPLAINED, WAITED_FOR_NOTHING, TOO_MUCH_AT_ONCE, WANTS_MARK, WANTS_MEMORY, WANTS_BANKS = range(17)
"""Why a call came back: the run is over, something has to be supplied or made room for, or a law is broken."""

# -- what the network is made of --------------------------------------------------------------------------------------

WAYS = 6

(S_PARENT, S_ENTRY, S_TENSOR, S_UNIT, S_LEVEL, S_BUFFERS, S_LATE, S_CHILDREN, S_CHILD_COUNT, S_ARRAYS, S_ARRAY_COUNT, S_RING,
 S_ROUND, S_ROUTES, S_USES, S_STAYS, S_STAY, S_STAY_COUNT, S_ENDED, S_CLAIMS, S_QUEUED, S_LAST,
 S_AWAITED, S_AFTER, S_OWING, S_STRANDED, S_DRAINING, S_DRAINING_LAST, S_LAST_DRAINED, S_UNDER_WAY, S_FOLLOWS, S_FOLLOW_COUNT,
 S_FOLLOWERS, S_FOLLOWER_COUNT, STATION_WIDTH) = range(35)
"""A station: its network, where its lists, routes, tables, uses and stays are, and how it stands.

``S_ROUND``: its residencies are found by their number in a ring of a power of two of places, this and one.
"""

H_RESOURCE, H_LATENCY, H_LATENCY_CAUSE, H_SETUP, H_NAME, H_MEMORY, H_BANKED, H_BANKED_ENTRY, H_CACHED, HOP_WIDTH = range(10)
R_FREE, R_COUNT, R_LANE, R_CAUSE, RESOURCE_WIDTH = range(5)
RECENT_START, RECENT_END, RECENT_LABEL, RECENT_UNIT, RECENT_WIDTH = range(5)

(A_LATENCY, A_FREE, A_RUNNING, A_FIRST_START, A_BLOCKS, A_BLOCK, A_BLOCK_COUNT, A_ENDED, A_FEEDS, A_READS, A_WRITES, A_PORTED,
 A_DONE, A_HELD, A_STARTING, A_LEFT, ARRAY_WIDTH) = range(17)

W_HOLD, W_MACS, WORK_HEAD = range(3)
"""A kind of work; after it, per tensor, the ticks that its reads book and those that its writes do (-1: none)."""

ROUTE_FIRST, ROUTE_COUNT, ROUTE_TICKS, ROUTE_WIDTH = range(4)
"""A way of a station: its hops in the list of routes, and where its ticks stand in a row of the station's table."""

T_NUMBER, T_PAYLOAD, T_PIECES, T_PIECE_TICKS, T_PIECES_OUT, T_PIECE_TICKS_OUT, TABLE_HEAD = range(7)
"""A load, named by where it stands among the tables: its number in the plan, its bytes; for the ways in and out that it
goes alone, how many pieces it is cut into (1: whole) and where their ticks stand. After it the ticks of every hop of
every way."""

# -- what moves -------------------------------------------------------------------------------------------------------

(N_STATION, N_SEQ, N_SOURCE, N_SINK, N_OUTLIVES, N_OUTLIVED, N_CLAIMED, N_WHY, N_WHO, N_PENDING, N_READERS, N_READY, N_RELEASED,
 N_SLOT_FREE, N_DRAINED, N_FILL, N_DRAIN, N_FREED_BY, N_FREED_WHO, N_FREED_END, N_BEFORE, N_ARRIVED, N_FOLLOWED, N_REFERENCES,
 N_OWING, N_STRANDED, N_IS_DRAINING, N_NEXT_DRAINING, N_BEFORE_DRAINING, N_NEXT_MEMBER, N_FIRST, N_LAST, N_FILL_LOAD,
 N_DRAIN_LOAD, N_TILE, N_FILL_GROUP, N_FILL_MEMBERS, N_DRAIN_GROUP, N_DRAIN_MEMBERS, N_HELD, N_PIECES_LEFT, N_LATEST, N_LOADED,
 RESIDENCY_WIDTH) = range(44)

START, SOURCE, SLOT, DRAIN = range(4)
NOBODY, BY_RESIDENCY, BY_RUN = range(3)

(L_RESIDENCY, L_LABEL, L_UNIT, L_ROUTE, L_HOPS, L_TICKS, L_BEFORE, L_PREVIOUS, L_REQUESTED, L_REACHES, L_THROUGH, L_LATENCY,
 L_DONE, L_GROUP, L_KEY, L_TIE, L_PIECE, L_PIECES, L_REFERENCES, L_BOOKED, L_SERVED, L_ASKED, L_ENDED, L_WAITING,
 L_NEXT_WAITING, L_LANE, L_TICK, LEG_HEAD) = range(28)
"""A leg; its bookings follow. ``L_SERVED``: whether its first port has served it. ``L_ASKED``, ``L_ENDED``: the cycles in which
it asked a memory's channels and in which they had moved it all (-1: not yet); ``L_WAITING``: the first leg that waits for it.
``L_LANE``, ``L_TICK``: of the last row that it has in the record, the lane and the first tick.
"""
MIX_WIDTH = 12
"""How a leg waited for channels, before and after (``memory_layout.MIX`` each)."""

KEY_BITS = 56
"""Bits of the step in a leg's key; the boundary is above them."""

K_ARRIVAL, K_START, K_END, K_THROUGH, K_AHEAD, BOOKING_WIDTH = range(6)

FILLED, LEFT, SPREAD, JOINS, SUMMED, OVER = range(6)
"""What follows when a leg's last hop is booked."""

AHEAD_START, AHEAD_END, AHEAD_LABEL, AHEAD_UNIT, AHEAD_NEXT, AHEAD_WIDTH = range(6)
(G_DIRECTION, G_ENTRY, G_TENSOR, G_NUMBER, G_COUNT, G_HEAD, G_TAIL, G_JOINED, G_LATEST, G_OPEN, GROUP_WIDTH) = range(11)
RUN_ARRAY, RUN_END, RUN_HEAD = range(3)

# -- what happens -----------------------------------------------------------------------------------------------------

EVENT_TIME, EVENT_ORDER, EVENT_KIND, EVENT_WHO, EVENT_WIDTH = range(5)
NEXT_KIND, NEXT_WHO, NEXT_WIDTH = range(3)
FILL_ARRIVES, LEG_ARRIVES, SLOT_FREES, DRAIN_ARRIVES, DRAIN_LEAVES, HOLD_ENDS, OUTPUT_ENDS, BLOCK_ENDS, PIECE_ASKS, \
    MEMORY_STARTS, MEMORY_ENTERED, MEMORY_ENDS = range(12)

BANKED_BLOCK = -1
(M_PLACE, M_CYCLE, M_STATION, M_LOAD, M_STEP, M_SEQ, M_BEGIN, M_TICKS, M_OUTWARD, M_PIECE, M_PIECES, M_RESIDENCY,
 MOVED_WIDTH) = range(13)
"""A note of a transfer at a memory whose banks are simulated (``machine.banks.Moved``); the residency is one of registers that it
fills, else -1.
"""
(O_PLACE, O_CYCLE, O_ARRAY, O_STEP, O_KIND, O_HOLD, O_RUN, BLOCK_NOTE_HEAD) = range(8)
"""A note of a block that begins beside such banks: ``BANKED_BLOCK`` in the place's stead, and the residencies of its operands."""

ROW_LANE, ROW_START, ROW_END, ROW_STATE, ROW_LABEL, ROW_WIDTH = range(6)
"""A stretch of a lane. One whose state is below 0 tells of a step instead (its lane and first tick) that what it uses came by the
transfer whose row is on lane -1 - state and begins at the tick in the end's place.
"""
LOG_CYCLE, LOG_WHAT, LOG_STATION, LOG_SEQ, LOG_WIDTH = range(5)
CLAIMED, READY, RELEASED, FREED, DRAINED = range(5)
CULPRIT_KEY, CULPRIT_CYCLES, CULPRIT_WIDTH = range(3)
"""Cycles that a lane lost to a cause, at a place, to an owner: a hash table; key -1 is free."""

MOST_CULPRITS_AT_ONCE = 1 << 10
"""How many culprits one unit of work may add; ``ROW_SPARE`` of the head: how many rows."""

PHASES = PHASE_START, PHASE_STEADY, PHASE_FINISH = range(3)
LANE_BITS, WHOSE_BITS, WHERE_BITS = 20, 12, 20
"""Fields of a culprit's key, from the lowest; the cause is above them."""
WHERE_NOWHERE, WHERE_ARRAY, WHERE_REDUCTION, WHERE_FIRST = range(4)
"""Places: none, the array, a reduction; then hops' names, levels, and the arrays one by one."""
WHOSE_NOBODY, WHOSE_CORE, WHOSE_OTHERS, WHOSE_MULTICAST, WHOSE_FIRST = range(5)
"""Owners: none, another core, others, a multicast; then the tensors."""
