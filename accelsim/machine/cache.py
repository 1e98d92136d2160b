"""A cache alone: vectors of lines through it, and what came of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels import lru_layout as at
from accelsim.kernels.lru_replay import flush
from accelsim.kernels.lru_replay import replay as replay_kernel
from accelsim.spec.cache import Beyond, Cache
from accelsim.spec.sramtrace import Accesses

Ints = NDArray[np.int64]
PIECE = 1 << 18


@dataclass(frozen=True)
class Cached:
    """What became of a tensor. ``cold``: the line had never been in the cache; ``capacity``: it had, and a fully associative one
    of the same size would have lost it too; ``conflict``: that one would have kept it. ``written_back``: lines in the run,
    ``flushed``: and at its end.
    """

    name: str
    reads: int
    writes: int
    hits: int
    cold: int
    capacity: int
    conflict: int
    written_back: int
    flushed: int

    @property
    def misses(self) -> int:
        """Lines that came in."""
        return self.cold + self.capacity + self.conflict


@dataclass(frozen=True)
class CacheReplay:
    """What came of a trace. ``array_cycles``: when the array had its last vector; ``cycles``: when all had been written back.
    ``in_flight``: accesses (hits) whose line was on its way. ``full_misses``: of a fully associative cache of the same size.
    """

    cycles: int
    array_cycles: int
    tensors: tuple[Cached, ...]
    in_flight: int
    full_misses: int


def replay(cache: Cache, beyond: Beyond, trace: Accesses, tensors: Sequence[tuple[str, int]],
           progress: Callable[[int], None] | None = None) -> CacheReplay:
    """Run a trace whose words are lines. ``tensors``: name and number of lines of each, one behind the other."""
    state, count = _state(cache, beyond, tensors)
    gaps, lines = np.ascontiguousarray(trace.gaps), np.ascontiguousarray(trace.words)
    writes = trace.writes.astype(np.int64)
    first: Ints = np.concatenate([[0], np.cumsum(np.bincount(trace.vectors, minlength=len(gaps)))]).astype(np.int64)
    taken = 0
    for piece in range(0, len(gaps), PIECE):
        taken = replay_kernel(state, gaps, first, lines, writes, piece + PIECE)
        if progress is not None:
            progress(min(piece + PIECE, len(gaps)))
    cycles = flush(state, count)
    table = state[state[at.B_TENSOR]:][:len(tensors) * at.TENSOR_WIDTH].reshape(-1, at.TENSOR_WIDTH)
    told = [Cached(name, *(int(value) for value in row[at.X_READS:])) for (name, _), row in zip(tensors, table, strict=True)]
    return CacheReplay(cycles if len(gaps) else 0, taken + 1 if len(gaps) else 0, tuple(told), int(state[at.IN_FLIGHT]),
                       int(state[at.FULL_MISSES]))


def _ticks(line_bytes: int, rate: Fraction | None) -> int:
    return 0 if rate is None else ceil(line_bytes * at.TICKS / rate)


def _state(cache: Cache, beyond: Beyond, tensors: Sequence[tuple[str, int]]) -> tuple[Ints, int]:
    """A cache at its beginning, and how many lines there are."""
    count = sum(lines for _, lines in tensors)
    ahead = cache.outstanding + cache.hit_cycles
    sections = ((at.B_TENSOR, len(tensors) * at.TENSOR_WIDTH), (at.B_RING, cache.outstanding), (at.B_QUEUE, ahead),
                (at.B_SET, cache.sets * at.SET_WIDTH), (at.B_LINE, count * at.LINE_WIDTH), (at.B_FULL, count * at.FULL_WIDTH),
                (at.B_FULL_SET, at.SET_WIDTH))
    s: Ints = np.zeros(at.HEAD + sum(length for _, length in sections), dtype=np.int64)
    place = at.HEAD
    for base, length in sections:
        s[base] = place
        place += length
    for field, value in ((at.SETS, cache.sets), (at.WAYS, cache.ways), (at.LOOKUPS, cache.lookups),
                         (at.HIT_CYCLES, cache.hit_cycles), (at.MISSES, cache.outstanding), (at.AHEAD, ahead),
                         (at.LATENCY, beyond.latency_cycles), (at.FILL_TICKS, _ticks(cache.line_bytes, beyond.fill_rate)),
                         (at.BACK_TICKS, _ticks(cache.line_bytes, beyond.back_rate)), (at.SHARED, beyond.shared),
                         (at.TENSORS, len(tensors))):
        s[field] = value
    for base, sets in ((at.B_SET, cache.sets), (at.B_FULL_SET, 1)):
        s[s[base]:s[base] + sets * at.SET_WIDTH].reshape(-1, at.SET_WIDTH)[:, [at.S_NEWEST, at.S_OLDEST]] = at.NEVER
    table = s[s[at.B_TENSOR]:s[at.B_TENSOR] + len(tensors) * at.TENSOR_WIDTH].reshape(-1, at.TENSOR_WIDTH)
    table[:, at.X_FIRST] = np.cumsum([0, *(lines for _, lines in tensors)])[:-1]
    return s, count
