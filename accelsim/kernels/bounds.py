"""From what has been counted of a mapping to its bounds: path, resources, credits; and whether its tiles fit."""

from __future__ import annotations

from numba import types

from accelsim.kernels import columns as col
from accelsim.kernels.flows import FLOWS, Flows, alone, service
from accelsim.kernels.jit import kernel
from accelsim.kernels.mapspace import INT, ROW, TABLE, Ints


@kernel(INT(ROW, ROW, ROW))
def held_bits(partial: Ints, hold: Ints, bounds: Ints) -> int:
    """Bits of an element held: those of unfinished sums where a reduction that iterates leaves them so."""
    for loop in range(bounds.shape[0]):
        if partial[loop] == 1 and bounds[loop] > 1:
            return hold[col.PARTIAL_BITS]
    return hold[col.FINISHED_BITS]


@kernel(INT(FLOWS, TABLE, TABLE))
def prologue(flows: Flows, found: Ints, load: Ints) -> int:
    """When the first array step can start: every operand's first tile has come down its path.

    Per station the services add up, and something precedes the first and follows the last of them. ``found[hold]``,
    ``load[station]``: columns from ``FIRST_TILE`` and ``BUSY_FIRST``.
    """
    latest = 0
    for station in range(load.shape[0]):
        load[station, col.HEAD], load[station, col.AFTERWARDS] = col.NEVER, col.NEVER
        load[station, col.SERVED] = 0
    for tensor in range(flows.tensor.shape[0]):
        if flows.tensor[tensor, col.OUTPUT] == 1:
            continue
        begin, end, bits = flows.tensor[tensor, col.BEGIN] + 1, flows.tensor[tensor, col.END], flows.tensor[tensor, col.BITS]
        arrival = 0
        for hold in range(begin, end):
            found[hold, col.ARRIVAL] = arrival
            found[hold, col.OWN] = alone(flows.stop[2 * hold], flows.route[2 * hold], bits, found[hold, col.FIRST_TILE])
            arrival += found[hold, col.OWN]
        latest = max(latest, arrival)
        for hold in range(begin, end):
            payload = (found[hold, col.FIRST_TILE] * bits + 7) >> 3
            later = arrival - found[hold, col.ARRIVAL] - found[hold, col.OWN]
            for place in range(flows.route[2 * hold, col.STOPS] if payload > 0 else 0):
                stop = flows.stop[2 * hold, place]
                station, done = stop[col.STATION], stop[col.DONE]
                load[station, col.SERVED] += service(payload, stop)
                load[station, col.HEAD] = min(load[station, col.HEAD], found[hold, col.ARRIVAL] + done)
                load[station, col.AFTERWARDS] = min(load[station, col.AFTERWARDS],
                                                    flows.route[2 * hold, col.LATENCY] - done + later)
    for station in range(load.shape[0]):
        if load[station, col.HEAD] < col.NEVER:
            latest = max(latest, load[station, col.HEAD] + ((load[station, col.SERVED] + 15) >> 4)
                         + load[station, col.AFTERWARDS])
    return latest


@kernel(INT(FLOWS, TABLE))
def epilogue(flows: Flows, found: Ints) -> int:
    """The last tile's way out, one level after the other, after the last step's latency; 0 where nothing drains."""
    cycles = 0
    for tensor in range(flows.tensor.shape[0]):
        if flows.tensor[tensor, col.OUTPUT] == 1:
            bits = min(flows.tensor[tensor, col.BITS], flows.chip[col.ACCUMULATOR])
            for hold in range(flows.tensor[tensor, col.BEGIN] + 1, flows.tensor[tensor, col.END]):
                cycles += alone(flows.stop[2 * hold + 1], flows.route[2 * hold + 1], bits, found[hold, col.LAST_TILE])
    return flows.chip[col.SKEW] + cycles


@kernel(INT(FLOWS, TABLE, INT, INT, INT, INT))
def slots_bound(flows: Flows, found: Ints, hold: int, work: int, even: int, last_out: int) -> int:
    """Cycles of a hold's credit loops: with b slots, a b-th of the sum of all loops, before and after it what must be.

    ``work``: of the array; ``even``: 1 where no edge cuts anything; ``last_out``: the epilogue. Where all loops are alike,
    the longest of the b chains has whole ones: with stays = b (c - 1) + r it takes c of the loops.
    """
    own, tensor = flows.hold[hold], flows.hold[hold, col.TENSOR]
    slots, stays, total = own[col.SLOTS], found[hold, col.STAYS], work + found[hold, col.MOVING]
    if flows.tensor[tensor, col.OUTPUT] == 1:
        bits = min(flows.tensor[tensor, col.BITS], flows.chip[col.ACCUMULATOR])
        inner = flows.chip[col.SKEW]
        for deeper in range(hold + 1, flows.tensor[tensor, col.END]):
            inner += alone(flows.stop[2 * deeper + 1], flows.route[2 * deeper + 1], bits, found[deeper, col.LEAST_TILE])
        total += stays * inner
        return (total + slots - 1) // slots + own[col.AFTER]
    inner = own[col.LATE]
    plain = flows.window[tensor, 0] < 0
    if plain:
        for deeper in range(hold + 1, flows.tensor[tensor, col.END]):
            inner += alone(flows.stop[2 * deeper], flows.route[2 * deeper], flows.tensor[tensor, col.BITS],
                           found[deeper, col.LEAST_TILE])
    total += stays * inner
    if plain and even == 1:
        short = slots - 1 - (stays - 1) % slots
        total += total // stays * short + (total % stays * short + stays - 1) // stays
    return (total + slots - 1) // slots + found[hold, col.ARRIVAL] + last_out - own[col.LATE]


@kernel(types.UniTuple(INT, 2)(FLOWS, TABLE, TABLE, INT, INT, INT, INT))
def largest_bound(flows: Flows, found: Ints, load: Ints, work: int, split: int, even: int, parts: int) -> tuple[int, int]:
    """(cycles, which): the largest of the bounds, the first of equal ones.

    Which: 0 the path, 1 + i station i, then the array, then the holds. ``work``: cycles of the array; ``split``: 1 where
    several instances run; ``parts``: of a sixteenth, besides a station's own.
    """
    stations = load.shape[0]
    first_in, last_out = prologue(flows, found, load), epilogue(flows, found)
    first_drain = (0 if split == 1 else first_in) + flows.chip[col.INTERVAL] + flows.chip[col.SKEW]
    cycles, which, place = first_in + work + last_out, 0, -1
    for station in range(stations):
        busy = max(load[station, col.BUSY_FIRST], load[station, col.BUSY_MEAN])
        if busy == 0:
            continue
        head = min(flows.station[station, col.FILL_HEAD], flows.station[station, col.DRAIN_HEAD] + first_drain)
        tail = flows.station[station, col.TAIL]
        if load[station, col.TAKEN] == 1:
            head, tail = 0, min(tail, flows.chip[col.AFTER_STEP])
        unit = 16 * parts * flows.station[station, col.UNIT]
        own = (busy + unit - 1) // unit + head + tail
        if own > cycles or (own == cycles and load[station, col.PLACE] < place):
            cycles, which, place = own, 1 + station, load[station, col.PLACE]
    if work > cycles:
        cycles, which = work, 1 + stations
    for hold in range(flows.hold.shape[0]):
        if flows.hold[hold, col.HOME] == 0:
            own = slots_bound(flows, found, hold, work, even, last_out)
            if own > cycles:
                cycles, which = own, 2 + stations + hold
    return cycles, which


@kernel(INT(FLOWS, ROW, TABLE, ROW, TABLE, ROW))
def fits(flows: Flows, bounds: Ints, size: Ints, settings: Ints, largest: Ints, needed: Ints) -> int:
    """1 where the slots of every hold fit its memory (whole banks) and the array's registers, else 0.

    ``size[frame, line]``: of a whole tile; ``settings[window]`` and ``largest`` as in ``Images``; ``needed[memory]``: scratch.
    """
    found = 1
    for memory in range(needed.shape[0]):
        needed[memory] = 0
    for hold in range(flows.hold.shape[0]):
        own = flows.hold[hold]
        tensor = own[col.TENSOR]
        if own[col.HOME] == 1:
            sharers = 1
            for loop in range(bounds.shape[0]):
                if flows.spread[hold, loop] == 1:
                    sharers *= bounds[loop]
            elements = (flows.tensor[tensor, col.ALL] + sharers - 1) // sharers
        else:
            elements = 1
            for i in range(flows.plain.shape[1]):
                if flows.plain[tensor, i] >= 0:
                    elements *= size[own[col.FRAME], flows.plain[tensor, i]]
            for i in range(flows.window.shape[1]):
                if flows.window[tensor, i] >= 0:
                    elements *= largest[settings[flows.window[tensor, i]], own[col.LOOK]]
        if own[col.MEMORY] < 0:
            found = found if elements <= flows.chip[col.REGISTERS] else 0
            continue
        payload = (elements * held_bits(flows.partial[hold], own, bounds) + 7) >> 3
        bank = flows.memory[own[col.MEMORY], 1]
        needed[own[col.MEMORY]] += (payload + bank - 1) // bank * bank * own[col.SLOTS]
    for memory in range(needed.shape[0]):
        if flows.memory[memory, 0] >= 0 and needed[memory] > flows.memory[memory, 0]:
            found = 0
    return found
