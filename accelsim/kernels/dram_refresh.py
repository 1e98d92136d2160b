"""Refreshes: when they fall due, and what has to be closed for them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.dram_edges import ALL_BANKS, ONE_BANK, at_rising, may_pair, note_rising
from accelsim.kernels.dram_layout import (
    ACTIVATING,
    ACTIVE,
    B_DUE,
    B_UNIT,
    BANKS,
    DUE_COUNT,
    DUE_FIRST,
    E_BANK,
    FAR,
    GROUPS,
    K_ACTIVE,
    K_REF,
    K_ROW,
    K_UNIT,
    NEVER,
    NEXT_ONE,
    NEXT_REF,
    OPENED,
    REF_EVERY,
    REF_ONE,
    ROW_BUS,
    U_REF,
    U_REF_ONE,
    UNIT_WIDTH,
    UNITS,
)
from accelsim.kernels.dram_queue import bank_at, of_unit, row_closed
from accelsim.kernels.dram_timing import (
    give_precharge,
    give_precharge_all,
    give_refresh,
    give_refresh_bank,
    precharge_all_from,
    precharge_from,
)
from accelsim.kernels.jit import part

Ints = NDArray[np.int64]


@part
def fall_due(s: Ints, now: int) -> int:
    """Refreshes whose time has come: of all ranks at once, or of the bank whose turn it is."""
    room = s[UNITS] * s[GROUPS] * s[BANKS]
    while now >= s[NEXT_REF]:
        s[NEXT_REF] += s[REF_EVERY]
        for i in range(1 if s[REF_ONE] else s[UNITS]):
            if s[DUE_COUNT] < room:
                s[B_DUE + (s[DUE_FIRST] + s[DUE_COUNT]) % room] = s[NEXT_ONE] if s[REF_ONE] else i
                s[DUE_COUNT] += 1
        s[NEXT_ONE] = (s[NEXT_ONE] + 1) % room
    return 0


@part
def refresh(s: Ints, now: int) -> int:
    """Go on with the refresh that is due first; returns ``now`` where a command was given, or when one may be.

    Rows are closed first, once the requests that they were opened for are served.
    """
    banks = s[GROUPS] * s[BANKS]
    due = s[B_DUE + s[DUE_FIRST]]
    one = s[REF_ONE]
    bank = due if one else NEVER
    unit = due // banks if one else due
    u, k = B_UNIT + unit * UNIT_WIDTH, bank_at(max(bank, 0))
    if s[ACTIVATING] >= 0:
        activating = s[s[ACTIVATING] + E_BANK]
        if activating == bank if one else s[bank_at(activating) + K_UNIT] == unit:
            return FAR
    if s[k + K_ROW] >= 0 if one else of_unit(s, OPENED, unit) != 0:
        if s[k + K_ACTIVE] >= 0 if one else of_unit(s, ACTIVE, unit) != 0:
            return FAR
        time = max(now, precharge_from(s, unit, bank) if one else precharge_all_from(s, unit))
        if may_pair(s, time, unit, bank) == 0:
            time += 1
        if time > now:
            return int(time)
        if one:
            give_precharge(s, now, unit, bank, 1)
            row_closed(s, bank)
        else:
            give_precharge_all(s, now, unit)
            for closed in range(unit * banks, (unit + 1) * banks):
                if s[OPENED] >> closed & 1:
                    row_closed(s, closed)
        note_rising(s, now, unit, bank, ONE_BANK if one else ALL_BANKS)
        return now
    time = at_rising(s, max(now, max(s[k + K_REF], s[u + U_REF_ONE]) if one else s[u + U_REF], s[ROW_BUS]))
    if time > now:
        return int(time)
    if one:
        give_refresh_bank(s, now, unit, bank)
    else:
        give_refresh(s, now, unit)
    note_rising(s, now, unit, bank, ONE_BANK if one else ALL_BANKS)
    s[DUE_FIRST] = (s[DUE_FIRST] + 1) % (s[UNITS] * banks)
    s[DUE_COUNT] -= 1
    return now
