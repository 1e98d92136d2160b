"""Where everything of the batch estimate stands: arrays of integers, a head and then sections of records.

The *model* is what no bounds change. ``B_...`` of its head are the places where sections begin in it; the *scratch*
belongs to one row at a time. Records name each other by where they begin. A *line* is a dimension, a
*column* a loop; ``..._END`` is where a list ends, the plural of a name how many records there are from there on.
"""

from __future__ import annotations

(LINES, ENTRIES, TENSORS, STATIONS, INTERVAL, ARRAY_SKEW, SKEW, AFTER_STEP, NARROW, WIDE, SETTING_WIDTH, B_WORK, B_PASS,
 SHORTEST, B_SPATIAL, SPATIALS, B_TENSOR, B_HOLD, HOLDS, B_STATION, B_LOAD, LOADS, B_MEMORY, MEMORIES, IMAGES,
 SHARES, FIRST_LOAD, MEAN_LOAD, TAKEN, HEADS, TAILS, SERVED, BUSY, MOVED, TOUCHED, MASK_SIZES, HEAD) = range(37)
"""``NARROW``, ``WIDE``: bits that an output's element has at least, and in the accumulator. ``B_WORK``: [line], where the steps
of all loops stand; ``B_PASS``: the same of those above the array; ``SHORTEST``: cycles of a pass, at least. ``B_SPATIAL``:
(column, entry whose instances it multiplies, and those inside).

Of ``IMAGES`` on they are places in the scratch, which begins with where the steps of each line's setting do. Per window where
its setting begins; per entry how many of the array's instances there are to one of it; per station the load of its first
instance, and of all as they share it, whether the array loads it, what the path finds there, and its cycles; the totals of a
way; per tensor what the array reads and writes; sizes of masks.
"""

# -- steps of a line, as ``estimate_steps.count_steps`` writes them -------------------------------------------------------

SIZE, EDGE, STEPS = range(3)
"""A line's record of a frame: elements of a whole tile, of the one that the edge cuts (0: none), then the steps."""

TILES, CUT, CALM, STEP_WIDTH = range(4)
"""A step: tiles that exist, those that the edge cuts, and those that it does not and within which nothing iterates."""

# -- records of the model ---------------------------------------------------------------------------------------------

(T_BITS, T_OUTPUT, T_PLAIN, T_PLAIN_END, T_REPEATED, T_REPEATED_END, T_WINDOWS, T_WINDOW, T_FEEDING, T_TOUCHING, T_ALWAYS,
 T_WHOLE, T_ELEMENTS, T_STATES, T_LOOKS, T_MEMBER, T_ASKED, T_NUMBER, TENSOR_WIDTH) = range(19)
"""``T_PLAIN``, ``T_REPEATED``: lists of lines. ``T_WINDOWS`` of them, from number ``T_WINDOW`` on; ``T_FEEDING``: the hold
that feeds the array (-1: none); ``T_WHOLE``: elements along the plain lines; ``T_MEMBER``: [window, line];
``T_ASKED``: 1 where the array's bytes are a load."""

(H_TENSOR, H_ENTRY, H_JOB, H_JOBS, H_SLOTS, H_ACCUMULATES, H_ADDS, H_SPLIT, H_SPLIT_END, H_PARTIAL, H_PARTIAL_END,
 H_SPREAD, H_SPREAD_END, H_MEMORY, H_INWARD, H_OUTWARD, H_LATE, H_AFTER, H_COUNTS, H_INNER, HOLD_WIDTH) = range(21)
"""A hold; without jobs it is a home. ``H_ACCUMULATES``: the hold before adds up what arrives, ``H_ADDS``: its own memory does.
``H_MEMORY``: a memory of a capacity, -1 none; ``H_INWARD``, ``H_OUTWARD``: ways; ``H_COUNTS``: its counts in the scratch;
``H_INNER``: how many holds the tensor has from here on inward."""

(J_FRAME, J_PLACE, J_PLACES, J_LOOK, J_FILLS, J_REFILLS, J_OUTWARD, J_INWARD, J_INWARDS, J_BOOK_INWARD,
 J_OUTWARDS, J_BOOK_OUTWARD, JOB_WIDTH) = range(13)
"""A job: where its frame begins in a line's record. ``J_PLACE``: the ``J_PLACES`` of order 0, before those of
the others; the first is where all steps are taken, then those of the loops that move nothing or keep something, innermost first.
``J_LOOK``: its number among the tensor's looks; ``J_INWARDS``, ``J_OUTWARDS``: how many bookings there are."""

X_OUTSIDE, X_LINE, X_ALONG, PLACE_WIDTH = range(4)
"""A place: where the model says which step of a frame each line reads, its loop's line (-1: all steps), and where it says how
many loops of each window's axis are outside."""

W_STOP, W_STOPS, W_LATENCY, W_LAST, WAY_WIDTH = range(5)

PER_BYTE, RATE, GRAIN, LEAST, SETUP, ROUNDS, P_STATION, P_DONE, P_TICKS, STOP_WIDTH = range(10)
"""A stop of a way: a byte is served in ``PER_BYTE / RATE`` sixteenths of a cycle (``RATE`` 0: in no time), in granules of
``GRAIN`` and at least ``LEAST`` bytes, after ``SETUP`` sixteenths, rounded up or (``ROUNDS`` 0) down, or (2) up where a transfer
is alone, and not at all in sums, which are in ``RATE``-ths of a sixteenth then, or (3) likewise, and in sums neither to bytes nor
to granules, which are in eighths of such parts then; the latencies before it."""

POOLED, JOINED = 2, 3
"""What ``ROUNDS`` is where one transfer carries what all lockstep instances get: each his share, or the union of theirs."""

K_TICKS, K_UNIT, K_SHARES, K_LOAD, BOOKING_WIDTH = range(5)
"""A booking: its ticks and by what they are multiplied: the station's unit, and the instances in the scratch; and its load."""

N_FILL_HEAD, N_DRAIN_HEAD, N_TAIL, N_UNIT, N_LOADED, STATION_WIDTH = range(6)

L_TENSOR, L_WRITES, L_STATION, L_PARTS, L_SHARERS, LOAD_WIDTH = range(6)

M_CAPACITY, M_BANK, M_NEEDED, MEMORY_WIDTH = range(4)
"""Bytes, those of a bank (1: none), and where those needed are added up. With a bank of 0 it is the array's registers: what each
tensor has there in elements."""

# -- records of the scratch -------------------------------------------------------------------------------------------

C_PATH, C_LEAST, C_STAYS, C_MOVING, C_PLAIN, C_ARRIVAL, C_ALONE, COUNTS_WIDTH = range(8)
"""Of a hold's first instance: elements of an operand's first tile or the output's last, and of the smallest fill or drain;
stays; cycles of all transfers one after another (drains until they are through); elements of a whole tile along the plain
lines; cycles before the first fill, and of the first or last transfer alone."""

ELEMENTS, BYTES, TRANSFERS, ALONE, TICKS = range(5)
"""Totals of transfers: from ``TICKS`` on sixteenths of cycles at each stop."""

E_SIZE, E_COUNT, E_FIRST, E_SINGLE, TILE_WIDTH = range(5)
"""Different tiles: elements, stays, and of an output those that are different and those of them that stay once."""

# -- windows ----------------------------------------------------------------------------------------------------------

I_TOUCHED, I_LOOKS = range(2)
"""A setting of a window: elements touched; the largest tile of each look; (first record, number of them) of each state."""

IMAGE_SIZE, IMAGE_SHARED, IMAGE_COUNT, IMAGE_WIDTH = range(4)

NEVER = 1 << 40
"""In place of the cycles before or after what never happens."""

NO_ROOM = -1
"""Instead of a number of different tiles: there are more than there is room for."""

(FILL_ELEMENTS, DRAIN_ELEMENTS, REFILL_ELEMENTS, FILL_BYTES, DRAIN_BYTES, REFILL_BYTES, ARRAY_READ_BYTES, ARRAY_WRITE_BYTES,
 KINDS) = range(9)
"""Kinds of traffic."""
