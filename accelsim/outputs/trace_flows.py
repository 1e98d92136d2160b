"""Arrows of a trace: from transfers to the steps that use what came by them.

A record that was asked to tells which those are. Else its rows do not say which transfer fed which step; but blame does, in part.
The stalls before a step are charged backward from its begin: latency, then the service of the transfer that came last, at the
port whose rate decided. So that port has a row of the tensor waited for, which ends in the cycle in which that stall ends and
began no later than it. Where there is one such row alone it is the transfer; where there are two, or none is kept, nothing is
said.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from accelsim.feeds import ARRAY, PORT, SERVICE, STEP
from accelsim.stalls import StallCause
from accelsim.timeline import BUSY_STATE, STATES, TICKS, LaneKind, Timeline, state_cause

Ints = NDArray[np.int64]


def fed(timeline: Timeline, rows: Ints) -> Ints:
    """Pairs (row of a transfer, row of the first step of an array that uses what came by it), int64[n, 2], in order of the steps.

    ``rows``: all of a stretch of the record, in its order. Left out is what has a row in it of one of the two alone.
    """
    lanes = len(timeline.lanes)
    keys = rows[:, 1] * lanes + rows[:, 0]  # ascending, and no lane has two rows that begin at once
    places = []
    for lane, tick in ((PORT, SERVICE), (ARRAY, STEP)):
        wanted = timeline.feeds[:, tick] * lanes + timeline.feeds[:, lane]
        place = np.minimum(np.searchsorted(keys, wanted), max(0, len(keys) - 1))
        places.append(np.where(keys[place] == wanted, place, -1) if len(keys) else np.full(len(wanted), -1, dtype=np.int64))
    pairs: Ints = np.stack(places, axis=1)
    pairs = pairs[(pairs >= 0).all(axis=1)]
    pairs = pairs[rows[pairs[:, 1], 3] == BUSY_STATE]
    return pairs[np.argsort(pairs[:, 1], kind="stable")]


_SERVICE = (StallCause.DRAM_BANDWIDTH, StallCause.SRAM_BANDWIDTH, StallCause.LINK_BANDWIDTH, StallCause.ARRAY_FILL_DRAIN)
_LATENCY = (StallCause.DRAM_LATENCY, StallCause.SRAM_LATENCY, StallCause.LINK_LATENCY)
_MOST_ALIKE = 16
"""Rows that end in one cycle, beyond which nobody looks which of them it was."""


def awaited(timeline: Timeline, rows: Ints) -> Ints:
    """Pairs (row of a transfer, row of the step that waited for it), int64[n, 2], in order of the steps.

    ``rows``: all of a stretch of the record, in its order.
    """
    order = np.argsort(rows[:, 0], kind="stable")
    borders = np.searchsorted(rows[order, 0], np.arange(len(timeline.lanes) + 1))
    of_lane = [order[borders[lane]:borders[lane + 1]] for lane in range(len(timeline.lanes))]
    ports = _Ports(timeline, rows, of_lane)
    found = [np.zeros((0, 2), dtype=np.int64)]
    for number, lane in enumerate(timeline.lanes):
        if lane.kind is LaneKind.ARRAY:
            steps, stalls = _waits(rows, of_lane[number])
            for cause in _SERVICE:
                own = _causes_of(rows[stalls, 3]) == list(StallCause).index(cause)
                found.append(ports.pairs(number, cause, steps[own], stalls[own]))
    pairs = np.concatenate(found)
    return pairs[np.argsort(pairs[:, 1], kind="stable")]


_CAUSES = np.array([-1 if state == BUSY_STATE else list(StallCause).index(state_cause(state)[0])  # type: ignore[index]
                    for state in range(STATES)], dtype=np.int64)


def _causes_of(states: Ints) -> Ints:
    """The place of each state's cause in the table; -1 for busy."""
    causes: Ints = _CAUSES[states]
    return causes


def _waits(rows: Ints, lane: Ints) -> tuple[Ints, Ints]:
    """Steps of an array that waited, and the last of their stalls that is no latency; those without are left out."""
    busy = rows[lane, 3] == BUSY_STATE
    latency = np.isin(_causes_of(rows[lane, 3]), [list(StallCause).index(cause) for cause in _LATENCY])
    # whether a row goes on from the one before it, for the sake of the same tensor if both are stalls
    joined = np.zeros(len(lane), dtype=np.bool_)
    joined[1:] = (rows[lane[1:], 1] == rows[lane[:-1], 2]) & (busy[1:] | (rows[lane[1:], 4] == rows[lane[:-1], 4]))
    steps = np.flatnonzero(busy & joined)
    places = steps - 1
    while (more := latency[places]).any():
        going = ~more | joined[places]
        steps, places = steps[going], places[going]
        places = places - latency[places]
    stalled = ~busy[places]
    return lane[steps[stalled]], lane[places[stalled]]


class _Ports:
    """Finds the one row of a port that a stall was charged to."""

    def __init__(self, timeline: Timeline, rows: Ints, of_lane: Sequence[Ints]) -> None:
        self._timeline = timeline
        self._rows = rows
        self._of_lane = of_lane
        self._arrays = sum(lane.kind is LaneKind.ARRAY for lane in timeline.lanes)
        self._lanes: dict[str, list[int]] = {}
        for number, lane in enumerate(timeline.lanes):
            if lane.kind is not LaneKind.ARRAY:
                self._lanes.setdefault(lane.name.partition("[")[0], []).append(number)
        self._tables: dict[tuple[int, ...], tuple[Ints, Ints]] = {}

    def pairs(self, array: int, cause: StallCause, steps: Ints, stalls: Ints) -> Ints:
        """(Row, step) for each stall that one row alone explains."""
        table, keys = self._table(self._possible(array, cause))
        rows = self._rows
        wanted = self._keys(stalls)
        first = np.searchsorted(keys, wanted, side="left")
        count = np.searchsorted(keys, wanted, side="right") - first
        count[count > _MOST_ALIKE] = 0
        which = np.repeat(np.arange(len(stalls)), count)
        candidates = table[np.repeat(first, count) + np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)]
        covers = rows[candidates, 1] <= rows[stalls[which], 1]
        which, candidates = which[covers], candidates[covers]
        alone = np.bincount(which, minlength=len(stalls))[which] == 1
        return np.stack([candidates[alone], steps[which[alone]]], axis=1)

    def _keys(self, which: Ints) -> Ints:
        """The cycle in which a row ends, and whose sake it was for, as one number."""
        ends, labels = self._rows[which, 2], self._rows[which, 4]
        keys: Ints = -(-ends // TICKS) * (len(self._timeline.labels) + 1) + labels + 1
        return keys

    def _table(self, lanes: tuple[int, ...]) -> tuple[Ints, Ints]:
        """The rows of lanes in order of their keys, and the keys."""
        if lanes not in self._tables:
            own = np.concatenate([np.zeros(0, dtype=np.int64), *(self._of_lane[lane] for lane in lanes)])
            keys = self._keys(own)
            order = np.argsort(keys, kind="stable")
            self._tables[lanes] = own[order], keys[order]
        return self._tables[lanes]

    def _possible(self, array: int, cause: StallCause) -> tuple[int, ...]:
        """The lanes at which an array's stalls of a cause were served; none where some were served elsewhere."""
        name = self._timeline.lanes[array].name
        where = {place for code, place, _, lane in self._timeline.culprits if (code, lane) == (cause.code, name)}
        if cause is StallCause.ARRAY_FILL_DRAIN:
            # the array's own depth has no port, and no row of a port that ends then: what is preloaded is used later
            where &= {f"{self._timeline.lanes[array].level}.preload"}
        if not where <= self._lanes.keys():
            return ()
        # a name in brackets is a unit of a level: where there are as many as arrays, each array has its own
        own = name.partition("[")[2]
        return tuple(lane for place in sorted(where) for lane in self._lanes[place]
                     if len(self._lanes[place]) != self._arrays or self._timeline.lanes[lane].name.partition("[")[2] == own)
