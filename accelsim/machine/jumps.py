"""Jumps: what a period did is added to the counts, and a run is moved to where it would be so many periods later."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels import event_layout as at
from accelsim.kernels.columns import BLOCK_STEP
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
    return Counted(supply.counted(), table.copy(), s.data[COUNTERS],
                   s.table(at.B_ARRAY, at.ARRAY_WIDTH)[:, at.A_HELD].copy())


def add_again(s: Sections, supply: Supply, before: Counted, times: int) -> None:
    """Add what has been counted since then so many times more."""
    supply.add_again(before.uses, times)
    table = s.table(at.B_CULPRIT, at.CULPRIT_WIDTH)
    taken = np.flatnonzero(table[:, at.CULPRIT_KEY] >= 0)
    earlier = dict(before.culprits.tolist())
    was = np.array([earlier.get(key, 0) for key in table[taken, at.CULPRIT_KEY].tolist()], dtype=np.int64)
    table[taken, at.CULPRIT_CYCLES] += times * (table[taken, at.CULPRIT_CYCLES] - was)
    s.data[COUNTERS] += times * (s.data[COUNTERS] - before.head)
    held = s.table(at.B_ARRAY, at.ARRAY_WIDTH)[:, at.A_HELD]
    held += times * (held - before.held)


def move_on(s: Sections, supply: Supply, network: Network, recurrence: Recurrence, jump: Jump) -> None:
    """Move a run on by whole periods; the plan goes on from there."""
    blocks = _following(s)
    widths = ((at.B_LEG, int(s.data[at.LEG_WIDTH])), (at.B_AHEAD, at.AHEAD_WIDTH), (at.B_RESOURCE, at.RESOURCE_WIDTH),
              (at.B_RUN, int(s.data[at.RUN_WIDTH])))
    records: Ints = np.array([s.lengths[base] // width for base, width in widths], dtype=np.int64)
    places = 1 + int(s.table(at.B_STATION, at.STATION_WIDTH)[:, at.S_ROUND].max())
    shift(s.data, jump.cycles * jump.times, jump.claims * jump.times, jump.steps * jump.times, records,
          np.zeros(places, dtype=np.int64))
    begins = _begins(s, supply, network, recurrence, np.flatnonzero(jump.claims > 0).tolist())
    for number in sorted(begins, key=lambda number: network.stations[number].entry):
        supply.resume_stays(number, begins[number], int(jump.now.following[number] + jump.steps[number] * jump.times))
    for number, following in enumerate(blocks.tolist()):
        supply.resume_blocks(number, following + jump.steps_added)


def _begins(s: Sections, supply: Supply, network: Network, recurrence: Recurrence, moving: list[int]) -> dict[int, int]:
    """The step from which to walk each of these stations again: just before its oldest residency that is in a slot or drains, so
    that this one is seen to begin; and no later than its children are, which look theirs up in it.
    """
    records = s.table(at.B_RESIDENCY, at.RESIDENCY_WIDTH)
    begins = {number: max(0, int(records[supply.present(number), at.N_FIRST].min()) - 1) for number in moving}
    for number in sorted(moving, key=lambda number: -network.stations[number].entry):
        spec = network.stations[number]
        if spec.parent in begins:
            inside = recurrence.steps_inside[network.stations[spec.parent].entry] // recurrence.steps_inside[spec.entry]
            begins[spec.parent] = min(begins[spec.parent], begins[number] // inside)
    return begins


def _following(s: Sections) -> Ints:
    """The step at which the next block of each array begins."""
    blocks, rows = s.table(at.B_BLOCK, int(s.data[at.BLOCK_WIDTH])), s.table(at.B_ARRAY, at.ARRAY_WIDTH)
    found: Ints = blocks[rows[:, at.A_BLOCKS] + rows[:, at.A_BLOCK], BLOCK_STEP]
    return found
