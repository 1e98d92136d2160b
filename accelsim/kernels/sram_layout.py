"""Where everything of a banked SRAM stands: one array of integers, a head, then sections of records.

Times are cycles. An access is one word of one bank; a vector is what a requester asks for in one cycle.
"""

from __future__ import annotations

NEVER = -1

# -- the head ---------------------------------------------------------------------------------------------------------

(REQUESTERS, BANKS, READS, WRITES, BOTH, ROUND_ROBIN, NOW, STAMP, B_REQUESTER, B_BANK, HEAD) = range(11)
"""``READS``, ``WRITES``: ports of a bank for one kind; ``BOTH``: ports that serve either.
``ROUND_ROBIN``: who comes first at a bank goes round; else the first requester always does. ``STAMP``: which count of a vector's
accesses the banks' ``K_SEEN`` belongs to.
"""

# -- records ----------------------------------------------------------------------------------------------------------

(R_VECTORS, R_VECTOR, R_FIRST, R_ACCESS, R_PLACE, R_PENDING, R_START, R_BEGIN, R_OWN, R_ALONE, R_ACCESSES, R_DONE,
 R_LOST_BANK, R_LOST_KIND, R_LOST_OTHER, REQUESTER_WIDTH) = range(16)
"""A requester: how many vectors it has and which is its next or present one; where its vectors and its accesses begin in the
trace; where its pending accesses stand and how many they are; when the present vector began (-1: none does) and the next may;
cycles that the present one would take alone, if any port served anything (``R_OWN``) and with the ports as they are
(``R_ALONE``); how many accesses it has made, when its last vector was served, and cycles lost: to its own accesses of a bank, to
the kind of port, to others.
"""
(K_CYCLE, K_USED_READ, K_USED_WRITE, K_FIRST, K_NEXT_FIRST, K_READS, K_WRITES, K_SEEN, K_WANT_READ, K_WANT_WRITE, K_MAY_READ,
 K_MAY_WRITE, BANK_WIDTH) = range(13)
"""A bank: the cycle that its used ports belong to, how many are used in it (by reads, by writes), who comes first in it and who
will in the next; reads and writes served; a count of what one vector asks of it; and how many of those still have a port in this
cycle, where ports of one kind stand beside ports of both.
"""
V_GAP, V_FIRST, VECTOR_WIDTH = range(3)
"""A vector of a trace: cycles from the start of the one before to its own at the least, and its first access."""
A_BANK, A_WRITE, ACCESS_WIDTH = range(3)
"""An access of a trace: its bank and whether it writes."""
