"""Where everything of a memory in the loop stands: its channels' controllers are fed by jobs, a transfer each.

The channels are as of ``dram_layout``, their requests named by their jobs. Cycles are the memory's unless the chip's are meant.
"""

from __future__ import annotations

NEVER = -1
TICKS = 16
"""Ticks of the timeline in a cycle of the chip."""

(NUMERATOR, DENOMINATOR, BURST_CYCLES, RANKS, PSEUDO_CHANNELS, BANKS_PER_UNIT, LATENCY_CYCLES, LATENCY_CYCLES_WRITE,
 # what changes
 CLOCK, UNFINISHED, FIRST, FIRST_WRITE, LAST, LAST_WRITE, OUTCOMES, ROWS,
 DATA, ROW, REFRESH, TURNAROUND, SPACING, TURNS, BURSTS, HEAD) = range(24)
"""``NUMERATOR``, ``DENOMINATOR``: the chip's cycles in one of the memory's. ``LATENCY_CYCLES``: the chip's cycles, rounded down,
from a read's column command to its data, and likewise of a write. ``CLOCK``: the last cycle in which something was done.
``UNFINISHED``: jobs. ``FIRST``, ``LAST``: the reading jobs that have bursts left to ask for, and then the writing ones. ``DATA``
to ``SPACING``: cycles of all data buses by what they were for; ``TURNS``: how often a bus changed direction or rank.
Behind the head: of each channel the next cycle to look at it, then of each data bus a record.
"""
SUMS = SPACING - DATA + 1

B_FREE, B_WRITE, B_UNIT, B_LABEL, B_START, B_END, BUS_WIDTH = range(7)
"""A data bus: from when on a column command finds it free; whether the last one wrote, and to which rank (-1: none yet); and
what it last carried for whom, in ticks from when to when, that is not written down yet.
"""

(J_WRITE, J_LABEL, J_TELLS, J_RUN, J_RUN_END, J_GIVEN, J_LEFT, J_FIRST, J_OWN, J_NEXT, J_SINCE, J_BEFORE, J_AFTER, JOB_WIDTH) = (
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 21, 27)
"""A job: whether it writes, for which tensor, whether it is told when its last burst has been asked for; its runs and how many
bursts of the first of them have been; bursts that are to be served; when its first data were (-1: not yet). Then what it
is explained by: cycles of data of its own since the ``SUMS`` were as ``J_SINCE`` has them, and how its two stretches of
waiting went (``MIX``).
"""
MIX_LATENCY, MIX_BANDWIDTH, MIX_TURNAROUND, MIX_ROW, MIX_REFRESH, MIX_CONTENTION, MIX = range(7)
"""A stretch of waiting, latest first: the last so many of the chip's cycles are latency; the others are shared out in the
proportion of these numbers.
"""

RUN_FIRST, RUN_COUNT, RUN_WIDTH = range(3)
"""A run: its first burst and how many there are."""

O_CYCLE, O_KIND, O_JOB, OUTCOME_WIDTH = range(4)
STARTS, ENTERED, ENDS = range(3)
"""What comes of a job, in which of the chip's cycles: its first data move, all its bursts are queued, its last have moved."""

R_BUS, R_START, R_END, R_LABEL, ROW_WIDTH = range(5)
"""A data bus was busy, from one tick to another, for a tensor."""
MOST_AT_ONCE = 4
"""Outcomes, or rows, that one command may make."""
