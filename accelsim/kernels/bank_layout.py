"""Where everything of an array beside banks stands that are simulated: one array of integers, a head, then sections of records.

Times are cycles: the run's, and the array's own, which stands still while the array waits for banks.
"""

from __future__ import annotations

NEVER = -1

(NOW, OWN, NEXT, COUNT, BOOKED, BOOKED_COUNT, PENDING, ALONE, SERVED, WAITING, WAIT_COUNT, STAMP, B_BANK, B_PENDING, B_WAIT,
 B_LOST, HEAD) = range(17)
"""``NOW``: the first cycle that has not been worked through; ``OWN``: what the array's own clock shows then. ``NEXT``,
``COUNT``: the next of its accesses and how many there are; ``BOOKED``, ``BOOKED_COUNT``: the same of transfers. Of the accesses
that the array waits for: how many are ``PENDING``, how many cycles they take ``ALONE``, and in how many some could have been
``SERVED``. ``WAITING``: words of transfers that wait, in ``WAIT_COUNT`` banks, which are listed at ``B_WAIT``.
"""

(K_READS, K_WRITES, K_BOTH, K_MEMORY, K_CYCLE, K_FREE_READS, K_FREE_WRITES, K_FREE_BOTH, K_WAIT_READS, K_WAIT_WRITES, K_SEEN,
 K_WANT_READS, K_WANT_WRITES, K_ASKED, K_MAY_READS, K_MAY_WRITES, BANK_WIDTH) = range(17)
"""A bank: its ports for reads, for writes and for either; the memory it belongs to; the cycle that its free ports are told of,
and how many they are; words of transfers that wait, to be read and to be written; which count of what the array asks of it at
once is its own, and how much of that is left; the cycle in which it was last asked, and how many reads and writes may be served.
"""

LOST_TO_OWN, LOST_TO_TRANSFERS, LOST_WIDTH = range(3)
"""Cycles that the array has stood still for a memory's banks: for several of its own accesses, and for words of transfers."""

X_CYCLE, X_CODE, ACCESS_WIDTH = range(3)
"""An access: when, and twice its bank plus whether it writes; ``NEVER``: none, but a time that the array's own clock may not go
past before all that it has asked for is served.
"""
