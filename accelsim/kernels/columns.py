"""Columns of the tables that the plan hands to the machine, row by row, as int64."""

from __future__ import annotations

STAY_FIRST, STAY_LAST, STAY_SOURCE, STAY_SINK, STAY_FILL, STAY_DRAIN, STAY_REFILL, STAY_TILE, STAY_AFTER, STAY_FILL_GROUP, \
    STAY_FILL_MEMBERS, STAY_DRAIN_GROUP, STAY_DRAIN_MEMBERS, STAY_HELD, STAY_WIDTH = range(15)
"""A stay: its first and last step; the parent's residencies it is filled from and drains to; the numbers of the loads
that move in and out (0: nothing); whether what moves in are partial sums, of which tile (-1: told by ``after`` instead)
and the stay whose drain must be back before (-1: none); the multicast and the reduction it shares, a number for each, and
how many members they have (0: none). Where addresses are asked for,
``tile`` and ``held`` (-1: none) tell the tile of inputs too, and the one before it, which it takes over what they share from.
"""

BLOCK_STEP, BLOCK_KIND, BLOCK_OPERANDS = range(3)
"""A block: its step, its kind, and per tensor the residency it reads or writes."""
