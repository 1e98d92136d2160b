"""Where everything of a DRAM channel stands: one array of integers, a head, then sections of records.

Times are the memory's clock cycles (a controller's ticks, where a command may start at half a clock). All distances are
from the first cycle of one command to the first cycle of the other, worked out from a standard's table beforehand.
"""

from __future__ import annotations

NEVER = -1
FAR = 1 << 62
"""Later than anything."""
TURN_BITS = 24
"""Bits of a request's order for its turn among those of one cycle; the cycle is above them."""

# -- the head: what does not change -----------------------------------------------------------------------------------

(UNITS, RANKS, GROUPS, BANKS, QUEUE, HIGH, LOW, PROTECT, CAP, CLOSED, TWO_BUSES, EDGES, SPLIT_ACT, SYNC,
 SECOND, ALONE, LEN_ACT, LEN_PRE, LEN_RD, LEN_WR, LEN_REF, READ_LATENCY, WRITE_LATENCY,
 ACT_RD, ACT_WR, ACT_PRE, ACT_ACT, PRE_ACT, RD_PRE, WR_PRE,
 ACT_ACT_L, RD_RD_L, WR_WR_L, WR_RD_L,
 ACT_ACT_S, FOUR_ACTS, RD_RD_S, WR_WR_S, RD_WR, WR_RD_S, PRE_PRE,
 RD_RD_RANK, RD_WR_RANK, WR_RD_RANK, WR_WR_RANK,
 ACT_REF, PRE_REF, ALL_PRE_ACT, REF_ACT, REF_PRE, REF_EVERY, REF_ONE, REF_ONE_ACT, REF_ONE_OTHER, ACT_REF_ONE, REF_ONE_REF_ONE,
 ACT2_WITHIN, SYNC_READ, SYNC_WRITE,
 # what does
 NOW, COLUMN_BUS, ROW_BUS, SIDE, WAITING, WAITING_WRITES, FREE, ORDER,
 OPENED, HITS, HITS_WRITES, MISSES, MISSES_WRITES, CLOSE_FROM, CLOSE_FROM_WRITES, ACTIVE, ACTIVE_BEST, ACTIVE_AT,
 BUFFER, BUFFER_WRITES, BUFFER_LAST, BUFFER_LAST_WRITES, SECOND_FIRST, SECOND_LAST, IN_SECOND, DRAINING,
 NEXT_REF, DUE_FIRST, DUE_COUNT, NEXT_ONE, ACTIVATING, ACT2_BY, SYNCED_UNTIL, SYNCING,
 RISING_UNIT, RISING_BANK, RISING_KIND, RISING_UNTIL, LATEST, BEST, BEST_AT, GIVEN, LEFT,
 N_ACT, N_PRE, N_PRE_REF, N_REF, N_RD, N_WR, LOG_ROOM, LOG_COUNT,
 SERVED, SERVED_AT, SERVED_BANK, SERVED_ENTERED, SERVED_OPENED, B_LOG, HEAD) = range(117)
"""``UNITS``: ranks of all pseudo-channels; ``RANKS`` of one share a data bus. ``HIGH``, ``LOW``: how many writes begin and end
writing. ``PROTECT``: older hits of a row keep it open; younger ones
do too until it was hit ``CAP`` times. ``CLOSED``: rows are closed
when nothing waits for them. ``TWO_BUSES``: row and column commands have a bus each. ``EDGES``: a tick is half a clock; only
precharges may start at its falling edge. ``SPLIT_ACT``: two commands activate, the second within ``ACT2_WITHIN``. ``SYNC``:
the data clock is started by a command of its own, and runs on for ``SYNC_READ`` or ``SYNC_WRITE`` from a column command.
``REF_EVERY``: cycles between refreshes (of one bank after another with ``REF_ONE``), 0: none. ``SIDE``: whether writes are
served now. ``WAITING``: reads in their queue, and then writes in theirs.
Sets of banks, a bit each: ``OPENED``: a row is open; ``HITS``, of reads and then of writes: one waits for the open row;
``MISSES``: one may have the open row closed for it, none of these rows before ``CLOSE_FROM``; ``ACTIVE``: the row was
opened for a request that is still to be served; ``ACTIVE_BEST``, ``ACTIVE_AT``: which of these requests is next, and when
(-1: not worked out).
``SECOND``: requests in a second queue, in which reads and writes are chosen from together, 0: there is none; ``IN_SECOND`` are
there, from ``SECOND_FIRST`` to ``SECOND_LAST``. Those before it wait from ``BUFFER`` to ``BUFFER_LAST``; ``DRAINING`` writes go
on first, ``ALONE``: so many begin to where nothing else is to be done.
``BEST``, ``BEST_AT``: the request that is to have the next command, and when; ``GIVEN``: whether a command was given; ``LEFT``:
whether a request had its column command or left its queue.
``SERVED``: the last request that had its column command, in which cycle, of which bank, when it had entered its queue, and
whether a row was opened for it.
"""

# -- records ----------------------------------------------------------------------------------------------------------

MOST_BANKS = 62
"""Banks of a channel at most, which is also the most bank groups and ranks: their records have fixed places."""

(U_ACT, U_RD, U_WR, U_PRE, U_REF, U_REF_ONE, U_OLDEST, U_OLDEST_WRITE, U_YOUNGEST, U_YOUNGEST_WRITE, U_ACTS,
 U_ACT_AT) = range(12)
UNIT_WIDTH = 16
"""A rank of a pseudo-channel: from when on commands may come; of its banks without an open row that reads wait for, and then
of those that writes do, which has the oldest and which the youngest first request; how many activations there have been, and
when the last four were.
"""
G_ACT, G_RD, G_WR = range(3)
GROUP_WIDTH = 4
"""A bank group: from when on commands may come."""
(K_ROW, K_ACT, K_PRE, K_RD, K_WR, K_ACTIVE, K_UNIT, K_GROUP, K_FIRST, K_FIRST_WRITE, K_HIT, K_HIT_WRITE, K_MISS, K_MISS_WRITE,
 K_YOUNGER, K_YOUNGER_WRITE, K_OLDER, K_OLDER_WRITE, K_LAST, K_LAST_WRITE, K_HITS, K_REF,
 K_REFRESHED, K_REFRESHED_UNTIL, K_OPENER) = range(25)
BANK_WIDTH = 32
"""A bank: its open row (-1: none), from when on commands may come, the request that it was activated for (-1: none under
way), how often its row was hit since, its rank and group; of the reads that wait for it, and then of the writes, the first,
the last, the first for the open row, and the first that may have it closed (-1: none, each); without an open row, the banks
whose first requests are the next older and the next younger (-1: none); and the last refresh that held it up;
of a second queue, the request that the row was opened for.
"""
B_UNIT = HEAD
B_GROUP = B_UNIT + MOST_BANKS * UNIT_WIDTH
B_BANK = B_GROUP + MOST_BANKS * GROUP_WIDTH
B_DUE = B_BANK + MOST_BANKS * BANK_WIDTH
B_ENTRY = B_DUE + MOST_BANKS
"""Where the sections begin; what is written down of commands stands behind the requests, at ``B_LOG``."""

E_REQUEST, E_WRITE, E_BANK, E_ROW, E_COLUMN, E_ORDER, E_NEXT, E_BEFORE, ENTRY_WIDTH = range(9)
"""A request in a queue, named by where its record begins; those of a bank hang together in order of arrival, which
``E_ORDER`` tells.
"""
LOG_CYCLE, LOG_COMMAND, LOG_UNIT, LOG_BANK, LOG_ROW, LOG_COLUMN, LOG_WIDTH = range(7)

ACT, ACT2, PRE, PRE_ALL, RD, WR, RDA, WRA, REF, REF_BANK, SYNC_RD, SYNC_WR = range(12)
"""Commands."""

# -- requests ---------------------------------------------------------------------------------------------------------

Q_CHANNEL, Q_BANK, Q_ROW, Q_COLUMN, PLACE_WIDTH = range(5)
"""The place of a request; ``Q_BANK`` counts over the whole channel."""
F_BITS, F_PART, F_WEIGHT, F_WIDTH = range(4)
"""A field of a burst's number: its bits, which part of a place it adds to, and how much one of it adds."""
A_ARRIVED, A_COMMAND, A_DONE, ANSWER_WIDTH = range(4)
"""When it entered the queue, when its column command was given, and when its data had passed."""
