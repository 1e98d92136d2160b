"""Where commands start within a clock: with it, or, for precharges of an HBM3, in its middle."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.dram_layout import EDGES, RISING_BANK, RISING_KIND, RISING_UNIT, RISING_UNTIL
from accelsim.kernels.dram_timing import precharge_from
from accelsim.kernels.jit import small_part

Ints = NDArray[np.int64]

ONE_BANK, ALL_BANKS, ACTIVATION = range(3)
"""What a row command on a rising edge was, for the precharges that may pair with it on the falling one."""


@small_part
def at_rising(s: Ints, time: int) -> int:
    """The first time that a command may start which starts with a clock: cycles of half a clock are odd there."""
    return int(time | 1) if s[EDGES] else time


@small_part
def may_pair(s: Ints, time: int, unit: int, bank: int) -> int:
    """Whether a precharge may start in the middle of a clock: not beside a row command to the same bank."""
    if s[EDGES] == 0 or time & 1 or time != s[RISING_UNTIL] or s[RISING_UNIT] != unit:
        return 1
    return 1 if s[RISING_KIND] != ALL_BANKS and bank >= 0 and s[RISING_BANK] != bank else 0


@small_part
def note_rising(s: Ints, now: int, unit: int, bank: int, kind: int) -> int:
    """A row command was given with a clock: the middle that it pairs with comes when it is through."""
    if s[EDGES] and now & 1:
        s[RISING_UNIT], s[RISING_BANK], s[RISING_KIND] = unit, bank, kind
        s[RISING_UNTIL] = now + (3 if kind == ACTIVATION else 1)
    return 0


@small_part
def precharge_at(s: Ints, now: int, unit: int, bank: int) -> int:
    """When a bank can be precharged, from now on."""
    time = max(now, precharge_from(s, unit, bank))
    return int(time if may_pair(s, time, unit, bank) else time + 1)
