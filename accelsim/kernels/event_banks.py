"""Beside memories whose banks are simulated: what touches them is noted for those who work it out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.columns import BLOCK_KIND, BLOCK_OPERANDS, BLOCK_STEP
from accelsim.kernels.event_arrivals import drains
from accelsim.kernels.event_layout import (
    B_BANKED,
    B_RESIDENCY,
    B_STATION,
    B_TABLE,
    BANKED,
    BANKED_BLOCK,
    BANKED_COUNT,
    BANKED_WIDTH,
    BLOCK_ENDS,
    BLOCK_NOTE_HEAD,
    FILL_ARRIVES,
    H_BANKED,
    H_BANKED_ENTRY,
    HOLD_ENDS,
    KEY_BITS,
    L_HOPS,
    L_KEY,
    L_PIECE,
    L_PIECES,
    L_RESIDENCY,
    L_TICKS,
    M_BEGIN,
    M_CYCLE,
    M_LOAD,
    M_OUTWARD,
    M_PIECE,
    M_PIECES,
    M_PLACE,
    M_RESIDENCY,
    M_SEQ,
    M_STATION,
    M_STEP,
    M_TICKS,
    N_DRAIN_LOAD,
    N_FILL_LOAD,
    N_LOADED,
    N_SEQ,
    N_SINK,
    N_SOURCE,
    N_STATION,
    NEVER,
    NOW,
    O_ARRAY,
    O_CYCLE,
    O_HOLD,
    O_KIND,
    O_PLACE,
    O_RUN,
    O_STEP,
    OUTPUT_ENDS,
    RESIDENCY_WIDTH,
    S_ENTRY,
    STATION_WIDTH,
    T_NUMBER,
    TENSORS,
)
from accelsim.kernels.event_pools import leg_at
from accelsim.kernels.jit import small_part

Ints = NDArray[np.int64]


@small_part
def note_words(s: Ints, leg: int, hop: int, begin: int) -> int:
    """A leg's words are in banks that are simulated from a cycle on, at the pace of the slowest hop of its way."""
    g = leg_at(s, leg)
    r = s[g + L_RESIDENCY]
    n = s[B_RESIDENCY] + r * RESIDENCY_WIDTH
    st = s[B_STATION] + s[n + N_STATION] * STATION_WIDTH
    outward = drains(s, g)
    seq, registers = s[n + N_SEQ], NEVER
    if s[st + S_ENTRY] != s[hop + H_BANKED_ENTRY]:
        seq = s[n + N_SINK] if outward else s[s[B_RESIDENCY] + s[n + N_SOURCE] * RESIDENCY_WIDTH + N_SEQ]
        if not outward and s[st + S_ENTRY] == s[BANKED]:
            registers = r
            s[n + N_LOADED] = 1
    slowest = 0
    for i in range(s[g + L_HOPS]):
        slowest = max(slowest, s[s[B_TABLE] + s[g + L_TICKS] + i])
    m = s[B_BANKED] + s[BANKED_COUNT] * s[BANKED_WIDTH]
    s[BANKED_COUNT] += 1
    s[m + M_PLACE], s[m + M_CYCLE], s[m + M_STATION] = s[hop + H_BANKED], s[NOW], s[n + N_STATION]
    s[m + M_LOAD] = s[s[B_TABLE] + s[n + (N_DRAIN_LOAD if outward else N_FILL_LOAD)] + T_NUMBER]
    s[m + M_STEP], s[m + M_SEQ] = s[g + L_KEY] & ((1 << KEY_BITS) - 1), seq
    s[m + M_BEGIN], s[m + M_TICKS], s[m + M_OUTWARD] = begin, slowest, outward
    s[m + M_PIECE], s[m + M_PIECES], s[m + M_RESIDENCY] = s[g + L_PIECE], s[g + L_PIECES], registers
    return 0


@small_part
def note_block(s: Ints, array: int, row: int, hold: int, run: int) -> int:
    """A block of an array begins."""
    m = s[B_BANKED] + s[BANKED_COUNT] * s[BANKED_WIDTH]
    s[BANKED_COUNT] += 1
    s[m + O_PLACE], s[m + O_CYCLE], s[m + O_ARRAY], s[m + O_STEP] = BANKED_BLOCK, s[NOW], array, s[row + BLOCK_STEP]
    s[m + O_KIND], s[m + O_HOLD], s[m + O_RUN] = s[row + BLOCK_KIND], hold, run
    for t in range(s[TENSORS]):
        s[m + BLOCK_NOTE_HEAD + t] = s[row + BLOCK_OPERANDS + t]
    return 0


@small_part
def is_held(s: Ints, kind: int, who: int) -> int:
    """Whether something that may end now is held until the banks are asked."""
    if not s[BANKED]:
        return 0
    if kind == FILL_ARRIVES:
        return 1 if s[s[B_RESIDENCY] + who * RESIDENCY_WIDTH + N_LOADED] == 1 else 0
    return 1 if kind in (HOLD_ENDS, OUTPUT_ENDS, BLOCK_ENDS) else 0
