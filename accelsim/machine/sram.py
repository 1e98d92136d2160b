"""A banked SRAM alone: vectors of accesses of several requesters through its banks, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels import sram_layout as at
from accelsim.kernels.sram_replay import replay as replay_kernel
from accelsim.spec.banks import Arbitration, Banks
from accelsim.spec.sramtrace import Accesses

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Served:
    """What became of one requester. ``accesses``: after those of one word were merged. ``cycles``: when its last vector had been
    served; ``cycles_alone`` without any conflict. The rest was lost to several of its own accesses in one bank, to ports that
    do not serve the kind of access, and to other requesters: these add up.
    """

    name: str
    vectors: int
    elements: int
    accesses: int
    cycles: int
    cycles_alone: int
    lost_bank: int
    lost_port_kind: int
    lost_contention: int


@dataclass(frozen=True)
class BankReplay:
    """What came of a trace. ``reads``, ``writes``: int64[banks]."""

    cycles: int
    requesters: tuple[Served, ...]
    reads: Ints
    writes: Ints


def replay(banks: Banks, requesters: Sequence[Accesses]) -> BankReplay:
    """Run all requesters to their end; the first comes first at a bank, or with round robin the one after the last that did."""
    state, vectors, accesses = _layout(banks, requesters)
    cycles = replay_kernel(state, vectors, accesses)
    found = state[state[at.B_REQUESTER]:][:len(requesters) * at.REQUESTER_WIDTH].reshape(-1, at.REQUESTER_WIDTH)
    table = state[state[at.B_BANK]:][:banks.count * at.BANK_WIDTH].reshape(-1, at.BANK_WIDTH)
    told = [Served(one.name, len(one.gaps), len(one.words), int(r[at.R_ACCESSES]), int(r[at.R_DONE]) + 1 if len(one.gaps) else 0,
                   one.cycles, int(r[at.R_LOST_BANK]), int(r[at.R_LOST_KIND]), int(r[at.R_LOST_OTHER]))
            for one, r in zip(requesters, found, strict=True)]
    return BankReplay(cycles, tuple(told), table[:, at.K_READS].copy(), table[:, at.K_WRITES].copy())


def _merged(one: Accesses) -> tuple[Ints, Ints, Ints]:
    """(vector, word, writes) of each access, those of one vector, word and kind once."""
    if not len(one.words):
        return one.vectors, one.words, np.zeros(0, dtype=np.int64)
    span = int(one.words.max()) + 1
    keys = np.unique((one.vectors * span + one.words) * 2 + one.writes)
    return keys // 2 // span, keys // 2 % span, keys % 2


def _layout(banks: Banks, requesters: Sequence[Accesses]) -> tuple[Ints, Ints, Ints]:
    count = len(requesters)
    merged = [_merged(one) for one in requesters]
    sizes = [np.bincount(vector, minlength=len(one.gaps)) for one, (vector, _, _) in zip(requesters, merged, strict=True)]
    widest = [int(size.max(initial=0)) for size in sizes]
    b_requester = at.HEAD
    b_bank = b_requester + count * at.REQUESTER_WIDTH
    pending = b_bank + banks.count * at.BANK_WIDTH
    state: Ints = np.zeros(pending + sum(widest), dtype=np.int64)
    for field, value in ((at.REQUESTERS, count), (at.BANKS, banks.count), (at.READS, banks.ports.reads),
                         (at.WRITES, banks.ports.writes), (at.BOTH, banks.ports.both),
                         (at.ROUND_ROBIN, banks.arbitration is Arbitration.ROUND_ROBIN), (at.B_REQUESTER, b_requester),
                         (at.B_BANK, b_bank)):
        state[field] = value
    state[b_bank:pending].reshape(-1, at.BANK_WIDTH)[:, at.K_CYCLE] = at.NEVER
    table = state[b_requester:b_bank].reshape(-1, at.REQUESTER_WIDTH)
    vectors: Ints = np.zeros((sum(len(one.gaps) + 1 for one in requesters), at.VECTOR_WIDTH), dtype=np.int64)
    accesses: Ints = np.zeros((sum(len(words) for _, words, _ in merged), at.ACCESS_WIDTH), dtype=np.int64)
    vector = access = 0
    for r, one, (_, words, writes), size, width in zip(table, requesters, merged, sizes, widest, strict=True):
        r[[at.R_VECTORS, at.R_FIRST, at.R_ACCESS, at.R_PLACE, at.R_START]] = len(one.gaps), vector, access, pending, at.NEVER
        r[at.R_BEGIN] = one.gaps[0] if len(one.gaps) else 0
        vectors[vector:vector + len(one.gaps), at.V_GAP] = one.gaps
        vectors[vector + 1:vector + len(one.gaps) + 1, at.V_FIRST] = np.cumsum(size)
        accesses[access:access + len(words), at.A_BANK] = words // banks.grain_words % banks.count
        accesses[access:access + len(words), at.A_WRITE] = writes
        vector, access, pending = vector + len(one.gaps) + 1, access + len(words), pending + width
    return state, vectors.ravel(), accesses.ravel()
