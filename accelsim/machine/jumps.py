"""Jumps: what a period did is added to the counts, and a run is moved to where it would be so many periods later."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels import event_layout as at
from accelsim.kernels.columns import BLOCK_STEP, STAY_FIRST, STAY_WIDTH
from accelsim.kernels.event_shift import shift
from accelsim.machine.fast_forward import Counted, Jump
from accelsim.machine.network import Network
from accelsim.machine.sections import Sections
from accelsim.machine.supply import Supply
from accelsim.plan.recurrence import Recurrence

Ints = NDArray[np.int64]
COUNTERS = [at.MACS, at.EVENTS, at.BLOCKS]


def counted(s: Sections, supply: Supply) -> Counted:
    """What a run has counted so far."""
    table = s.table(at.B_CULPRIT, at.CULPRIT_WIDTH)
    return Counted(supply.counted(), dict(table[table[:, at.CULPRIT_KEY] >= 0].tolist()), s.data[COUNTERS],
                   s.table(at.B_ARRAY, at.ARRAY_WIDTH)[:, at.A_HELD].copy())


def add_again(s: Sections, supply: Supply, before: Counted, times: int) -> None:
    """Add what has been counted since then so many times more."""
    supply.add_again(before.uses, times)
    table = s.table(at.B_CULPRIT, at.CULPRIT_WIDTH)
    taken = np.flatnonzero(table[:, at.CULPRIT_KEY] >= 0)
    was = np.array([before.culprits.get(key, 0) for key in table[taken, at.CULPRIT_KEY].tolist()], dtype=np.int64)
    table[taken, at.CULPRIT_CYCLES] += times * (table[taken, at.CULPRIT_CYCLES] - was)
    s.data[COUNTERS] += times * (s.data[COUNTERS] - before.head)
    held = s.table(at.B_ARRAY, at.ARRAY_WIDTH)[:, at.A_HELD]
    held += times * (held - before.held)


def move_on(s: Sections, supply: Supply, network: Network, recurrence: Recurrence, jump: Jump, step: int) -> None:
    """Move a run, which stands at an array step, on by whole periods; the plan goes on from there."""
    stays, blocks = _following(s, network)
    widths = ((at.B_LEG, int(s.data[at.LEG_WIDTH])), (at.B_AHEAD, at.AHEAD_WIDTH), (at.B_RESOURCE, at.RESOURCE_WIDTH),
              (at.B_RUN, int(s.data[at.RUN_WIDTH])))
    records: Ints = np.array([s.lengths[base] // width for base, width in widths], dtype=np.int64)
    slots = max(spec.buffers for spec in network.stations)
    shift(s.data, jump.cycles * jump.times, jump.claims * jump.times, jump.steps * jump.times, records,
          np.zeros(slots, dtype=np.int64))
    depth = jump.depth
    outer = recurrence.outer(depth, step)
    moving = sorted(np.flatnonzero(jump.claims > 0).tolist(), key=lambda number: network.stations[number].entry)
    oldest = recurrence.iteration(depth, step) + jump.iterations * jump.times
    for number in moving:
        entry = network.stations[number].entry
        begin = outer // recurrence.steps_inside(entry)
        here = s.table(at.B_RESIDENCY, at.RESIDENCY_WIDTH)[supply.present(number)]
        oldest = min(oldest, (int(here[:, at.N_FIRST].min()) - begin) // recurrence.weight(depth, entry))
    # a period earlier every station that moves has claimed, so that what is told from there on is what was told before
    first = max(0, oldest - jump.iterations)
    for number in moving:
        entry = network.stations[number].entry
        begin = outer // recurrence.steps_inside(entry) + first * recurrence.weight(depth, entry)
        supply.resume_stays(number, begin, int(stays[number] + jump.steps[number] * jump.times))
    for number, following in enumerate(blocks.tolist()):
        supply.resume_blocks(number, outer + first * recurrence.weights[depth], following + jump.steps_added)


def _following(s: Sections, network: Network) -> tuple[Ints, Ints]:
    """The steps at which the next stay of each station and the next block of each array begin; -1 where there is none."""
    stations = s.table(at.B_STATION, at.STATION_WIDTH)
    arrays = s.table(at.B_ARRAY, at.ARRAY_WIDTH)
    stays, width = s.table(at.B_STAY, STAY_WIDTH), int(s.data[at.BLOCK_WIDTH])
    blocks = s.table(at.B_BLOCK, width)
    return (
        np.array([stays[row[at.S_STAYS] + row[at.S_STAY], STAY_FIRST] if row[at.S_STAY] < row[at.S_STAY_COUNT] else at.NEVER
                  for row in stations[:len(network.stations)].tolist()], dtype=np.int64),
        np.array([blocks[row[at.A_BLOCKS] + row[at.A_BLOCK], BLOCK_STEP] for row in arrays.tolist()], dtype=np.int64))

