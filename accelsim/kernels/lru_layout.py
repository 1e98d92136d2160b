"""Where everything of a cache stands: one array of integers, a head, then sections of records.

Lines are counted through all tensors. Times are cycles, those of the ports of the level beyond in sixteenths.
"""

from __future__ import annotations

NEVER = -1
TICKS = 16

# -- the head ---------------------------------------------------------------------------------------------------------

(SETS, WAYS, LOOKUPS, HIT_CYCLES, MISSES, AHEAD, LATENCY, FILL_TICKS, BACK_TICKS, SHARED, TENSORS,
 # what changes
 CURSOR, LOOKED, MISSED, FILL_FREE, BACK_FREE, VECTOR, CONSUMED, LATEST, IN_FLIGHT, FULL_MISSES,
 B_TENSOR, B_RING, B_QUEUE, B_SET, B_LINE, B_FULL, B_FULL_SET, HEAD) = range(29)
"""``LOOKUPS`` in a cycle; ``HIT_CYCLES`` from a lookup to the data of a hit; ``MISSES`` in flight at a time; ``AHEAD``: vectors
that lookups may be ahead of the array; ``LATENCY`` of the level beyond; ticks that a line takes its port, inward and outward;
``SHARED``: both are one port. ``CURSOR``: the cycle of the next lookup, ``LOOKED``: lookups made in it; ``MISSED``: misses so
far; when the ports are free (ticks); ``VECTOR``: the next, ``CONSUMED``: when the one before was taken; ``LATEST``: when the
last line comes; ``IN_FLIGHT``: accesses that found their line on its way; ``FULL_MISSES``: of a fully associative cache of
the same size.
"""

# -- records ----------------------------------------------------------------------------------------------------------

(X_FIRST, X_READS, X_WRITES, X_HITS, X_COLD, X_CAPACITY, X_CONFLICT, X_BACK, X_FLUSHED, TENSOR_WIDTH) = range(10)
"""A tensor: its first line; accesses that read and write; hits; misses by kind; lines written back, and those at the end."""
L_BEFORE, L_AFTER, L_HELD, L_READY, L_DIRTY, L_SEEN, LINE_WIDTH = range(7)
"""A line: its neighbours in its set, used later and earlier (-1: none); whether the cache holds it; when it has come; whether it
was written to; whether it ever was in the cache. A fully associative cache has the first three alone.
"""
S_NEWEST, S_OLDEST, S_COUNT, SET_WIDTH = range(4)
"""A set: the line used last and the one used longest ago (-1: none), and how many it holds."""
FULL_WIDTH = 3
HIT, NO_VICTIM = -2, -1
"""What touching a line answers, besides the line that had to go."""
