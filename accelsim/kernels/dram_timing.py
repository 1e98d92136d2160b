"""DRAM commands: from when on one may be given, and what giving it holds up."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.dram_layout import (
    ACT,
    ACT_ACT,
    ACT_ACT_L,
    ACT_ACT_S,
    ACT_PRE,
    ACT_RD,
    ACT_REF,
    ACT_REF_ONE,
    ACT_WR,
    ACTIVE_AT,
    ALL_PRE_ACT,
    B_BANK,
    B_GROUP,
    B_LOG,
    B_UNIT,
    BANK_WIDTH,
    BANKS,
    COLUMN_BUS,
    FOUR_ACTS,
    G_ACT,
    G_RD,
    G_WR,
    GROUP_WIDTH,
    GROUPS,
    K_ACT,
    K_HITS,
    K_PRE,
    K_RD,
    K_REF,
    K_REFRESHED,
    K_REFRESHED_UNTIL,
    K_ROW,
    K_WR,
    LEN_ACT,
    LEN_PRE,
    LEN_RD,
    LEN_REF,
    LEN_WR,
    LOG_BANK,
    LOG_COLUMN,
    LOG_COMMAND,
    LOG_COUNT,
    LOG_CYCLE,
    LOG_ROOM,
    LOG_ROW,
    LOG_UNIT,
    LOG_WIDTH,
    N_ACT,
    N_PRE,
    N_PRE_REF,
    N_RD,
    N_REF,
    N_WR,
    NEVER,
    PRE,
    PRE_ACT,
    PRE_ALL,
    PRE_PRE,
    PRE_REF,
    RANKS,
    RD,
    RD_PRE,
    RD_RD_L,
    RD_RD_RANK,
    RD_RD_S,
    RD_WR,
    RD_WR_RANK,
    RDA,
    REF,
    REF_ACT,
    REF_BANK,
    REF_ONE_ACT,
    REF_ONE_OTHER,
    REF_ONE_REF_ONE,
    REF_PRE,
    ROW_BUS,
    TWO_BUSES,
    U_ACT,
    U_ACT_AT,
    U_ACTS,
    U_PRE,
    U_RD,
    U_REF,
    U_REF_ONE,
    U_WR,
    UNIT_WIDTH,
    WR,
    WR_PRE,
    WR_RD_L,
    WR_RD_RANK,
    WR_RD_S,
    WR_WR_L,
    WR_WR_RANK,
    WR_WR_S,
    WRA,
)
from accelsim.kernels.jit import part, small_part

Ints = NDArray[np.int64]


@small_part
def push(s: Ints, place: int, time: int) -> int:
    """Something may not come before a time."""
    if s[place] < time:
        s[place] = time
    return 0


@small_part
def log(s: Ints, now: int, command: int, unit: int, bank: int, row: int, column: int) -> int:
    """Write a command down where somebody watches."""
    if s[LOG_COUNT] < s[LOG_ROOM]:
        n = s[B_LOG] + s[LOG_COUNT] * LOG_WIDTH
        s[n + LOG_CYCLE], s[n + LOG_COMMAND], s[n + LOG_UNIT] = now, command, unit
        s[n + LOG_BANK], s[n + LOG_ROW], s[n + LOG_COLUMN] = bank, row, column
        s[LOG_COUNT] += 1
    return 0


@small_part
def column_from(s: Ints, unit: int, group: int, bank: int, write: int) -> int:
    """From when on a column command to an open row may be given."""
    u, g = B_UNIT + unit * UNIT_WIDTH, B_GROUP + group * GROUP_WIDTH
    k = B_BANK + bank * BANK_WIDTH
    return int(max(s[k + K_RD + write], s[g + G_RD + write], s[u + U_RD + write], s[COLUMN_BUS]))


@small_part
def activate_from(s: Ints, unit: int) -> int:
    """From when on a rank allows an activation, whichever bank it is of."""
    return int(s[B_UNIT + unit * UNIT_WIDTH + U_ACT])


@small_part
def precharge_from(s: Ints, unit: int, bank: int) -> int:
    """From when on a bank may be precharged."""
    u, k = B_UNIT + unit * UNIT_WIDTH, B_BANK + bank * BANK_WIDTH
    return int(max(s[k + K_PRE], s[u + U_PRE], s[ROW_BUS]))


@part
def precharge_all_from(s: Ints, unit: int) -> int:
    """From when on all banks of a rank may be precharged at once."""
    found = max(s[B_UNIT + unit * UNIT_WIDTH + U_PRE], s[ROW_BUS])
    count = s[GROUPS] * s[BANKS]
    for bank in range(unit * count, (unit + 1) * count):
        found = max(found, s[B_BANK + bank * BANK_WIDTH + K_PRE])
    return int(found)


@small_part
def take_row_bus(s: Ints, until: int) -> int:
    """Row commands may come again at a time; column commands too where they share the bus."""
    s[ROW_BUS] = until
    if s[TWO_BUSES] == 0:
        s[COLUMN_BUS] = until
    return 0


@small_part
def give_activate(s: Ints, now: int, unit: int, group: int, bank: int, row: int) -> int:
    """Activate a row."""
    u, g = B_UNIT + unit * UNIT_WIDTH, B_GROUP + group * GROUP_WIDTH
    k = B_BANK + bank * BANK_WIDTH
    s[k + K_ROW], s[k + K_HITS] = row, 0
    s[k + K_RD], s[k + K_WR] = now + s[ACT_RD], now + s[ACT_WR]
    push(s, k + K_PRE, now + s[ACT_PRE])
    push(s, k + K_ACT, now + s[ACT_ACT])
    push(s, k + K_REF, now + s[ACT_REF])
    push(s, g + G_ACT, now + s[ACT_ACT_L])
    push(s, u + U_ACT, now + s[ACT_ACT_S])
    push(s, u + U_REF, now + s[ACT_REF])
    push(s, u + U_REF_ONE, now + s[ACT_REF_ONE])
    s[u + U_ACT_AT + (s[u + U_ACTS] & 3)] = now
    s[u + U_ACTS] += 1
    push(s, u + U_ACT, s[u + U_ACT_AT + (s[u + U_ACTS] & 3)] + s[FOUR_ACTS])
    s[N_ACT] += 1
    take_row_bus(s, now + s[LEN_ACT])
    return log(s, now, ACT, unit, bank, row, NEVER)


@part
def give_precharge(s: Ints, now: int, unit: int, bank: int, refreshing: int) -> int:
    """Close a bank's row."""
    u, k = B_UNIT + unit * UNIT_WIDTH, B_BANK + bank * BANK_WIDTH
    s[k + K_ROW] = NEVER
    push(s, k + K_ACT, now + s[PRE_ACT])
    push(s, k + K_REF, now + s[PRE_REF])
    push(s, u + U_REF, now + s[PRE_REF])
    push(s, u + U_PRE, now + s[PRE_PRE])
    s[N_PRE_REF if refreshing else N_PRE] += 1
    take_row_bus(s, now + s[LEN_PRE])
    return log(s, now, PRE, unit, bank, NEVER, NEVER)


@part
def give_precharge_all(s: Ints, now: int, unit: int) -> int:
    """Close all rows of a rank."""
    u, count = B_UNIT + unit * UNIT_WIDTH, s[GROUPS] * s[BANKS]
    for bank in range(unit * count, (unit + 1) * count):
        k = B_BANK + bank * BANK_WIDTH
        s[k + K_ROW] = NEVER
        push(s, k + K_ACT, now + s[ALL_PRE_ACT])
        push(s, k + K_REF, now + s[PRE_REF])
    push(s, u + U_REF, now + s[PRE_REF])
    push(s, u + U_PRE, now + s[PRE_PRE])
    s[N_PRE_REF] += 1
    take_row_bus(s, now + s[LEN_PRE])
    return log(s, now, PRE_ALL, unit, NEVER, NEVER, NEVER)


@part
def give_refresh(s: Ints, now: int, unit: int) -> int:
    """Refresh all banks of a rank."""
    u, count = B_UNIT + unit * UNIT_WIDTH, s[GROUPS] * s[BANKS]
    for bank in range(unit * count, (unit + 1) * count):
        k = B_BANK + bank * BANK_WIDTH
        push(s, k + K_ACT, now + s[REF_ACT])
        push(s, k + K_REF, now + s[REF_PRE])
        s[k + K_REFRESHED], s[k + K_REFRESHED_UNTIL] = now, now + s[REF_ACT]
    push(s, u + U_PRE, now + s[REF_PRE])
    push(s, u + U_REF, now + s[REF_PRE])
    push(s, u + U_REF_ONE, now + s[REF_PRE])
    s[N_REF] += 1
    take_row_bus(s, now + s[LEN_REF])
    return log(s, now, REF, unit, NEVER, NEVER, NEVER)


@part
def give_refresh_bank(s: Ints, now: int, unit: int, bank: int) -> int:
    """Refresh one bank; the others of its rank go on."""
    u, k = B_UNIT + unit * UNIT_WIDTH, B_BANK + bank * BANK_WIDTH
    push(s, k + K_ACT, now + s[REF_ONE_ACT])
    s[k + K_REFRESHED], s[k + K_REFRESHED_UNTIL] = now, now + s[REF_ONE_ACT]
    push(s, u + U_ACT, now + s[REF_ONE_OTHER])
    push(s, u + U_REF_ONE, now + s[REF_ONE_REF_ONE])
    s[N_REF] += 1
    take_row_bus(s, now + s[LEN_REF])
    return log(s, now, REF_BANK, unit, bank, NEVER, NEVER)


@part
def hold_up_others(s: Ints, now: int, unit: int, write: int) -> int:
    """The other ranks of a data bus wait for what a rank reads or writes."""
    first = unit - unit % s[RANKS]
    for other in range(first, first + s[RANKS]):
        if other != unit:
            o = B_UNIT + other * UNIT_WIDTH
            push(s, o + U_RD, now + s[WR_RD_RANK if write else RD_RD_RANK])
            push(s, o + U_WR, now + s[WR_WR_RANK if write else RD_WR_RANK])
    return int(first)


@small_part
def give_column(s: Ints, now: int, unit: int, group: int, bank: int, column: int, write: int, closing: int) -> int:
    """Read or write a burst of the open row; ``closing``: the row is closed after it, as soon as that may be."""
    u, g = B_UNIT + unit * UNIT_WIDTH, B_GROUP + group * GROUP_WIDTH
    k = B_BANK + bank * BANK_WIDTH
    row = s[k + K_ROW]
    if write:
        push(s, k + K_PRE, now + s[WR_PRE])
        push(s, g + G_WR, now + s[WR_WR_L])
        push(s, g + G_RD, now + s[WR_RD_L])
        push(s, u + U_WR, now + s[WR_WR_S])
        push(s, u + U_RD, now + s[WR_RD_S])
        s[N_WR] += 1
    else:
        push(s, k + K_PRE, now + s[RD_PRE])
        push(s, g + G_RD, now + s[RD_RD_L])
        push(s, u + U_RD, now + s[RD_RD_S])
        push(s, u + U_WR, now + s[RD_WR])
        s[N_RD] += 1
    if s[RANKS] > 1:
        hold_up_others(s, now, unit, write)
    s[k + K_HITS] += 1
    s[ACTIVE_AT] = NEVER
    s[COLUMN_BUS] = now + s[LEN_WR if write else LEN_RD]
    if s[TWO_BUSES] == 0:
        s[ROW_BUS] = s[COLUMN_BUS]
    if closing:
        s[k + K_ROW] = NEVER
        push(s, k + K_ACT, s[k + K_PRE] + s[PRE_ACT])
        push(s, k + K_REF, s[k + K_PRE] + s[PRE_REF])
        push(s, u + U_REF, s[k + K_PRE] + s[PRE_REF])
    command = (WRA if closing else WR) if write else (RDA if closing else RD)
    return log(s, now, command, unit, bank, row, column)
