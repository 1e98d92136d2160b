"""From what has been counted of a mapping to its bounds: path, resources, credits; and whether its tiles fit.

Tables are those of ``flows.Flows``; ``found[hold]`` and ``load[station]`` have the columns from ``FIRST_TILE`` and
``BUSY_FIRST``.
"""

from __future__ import annotations

from accelsim.kernels import columns as col
from accelsim.kernels.flows import alone, service
from accelsim.kernels.jit import kernel
from accelsim.kernels.mapspace import CUBE, INT, ROW, TABLE, Ints


@kernel(INT(TABLE, TABLE, CUBE, TABLE, TABLE))
def prologue(tensors: Ints, route: Ints, stop: Ints, found: Ints, load: Ints) -> int:
    """When the first array step can start: every operand's first tile has come down its path.

    Per station the services add up, and something precedes the first and follows the last of them.
    """
    latest = 0
    for station in range(load.shape[0]):
        load[station, col.HEAD], load[station, col.AFTERWARDS], load[station, col.SERVED] = col.NEVER, col.NEVER, 0
    for tensor in range(tensors.shape[0]):
        if tensors[tensor, col.OUTPUT] == 1:
            continue
        begin, end, bits, arrival = tensors[tensor, col.BEGIN] + 1, tensors[tensor, col.END], tensors[tensor, col.BITS], 0
        for hold in range(begin, end):
            found[hold, col.ARRIVAL] = arrival
            arrival += alone(stop, route, 2 * hold, bits, found[hold, col.FIRST_TILE])
        latest, done_before = max(latest, arrival), arrival
        for hold in range(end - 1, begin - 1, -1):
            payload, later = (found[hold, col.FIRST_TILE] * bits + 7) >> 3, arrival - done_before
            done_before = found[hold, col.ARRIVAL]
            for place in range(route[2 * hold, col.STOPS] if payload > 0 else 0):
                station, done = stop[2 * hold, place, col.STATION], stop[2 * hold, place, col.DONE]
                load[station, col.SERVED] += service(payload, stop, 2 * hold, place)
                load[station, col.HEAD] = min(load[station, col.HEAD], done_before + done)
                load[station, col.AFTERWARDS] = min(load[station, col.AFTERWARDS], route[2 * hold, col.LATENCY] - done + later)
    for station in range(load.shape[0]):
        if load[station, col.HEAD] < col.NEVER:
            latest = max(latest, load[station, col.HEAD] + ((load[station, col.SERVED] + 15) >> 4)
                         + load[station, col.AFTERWARDS])
    return latest


@kernel(INT(TABLE, TABLE, CUBE, TABLE, ROW, INT))
def epilogue(tensors: Ints, route: Ints, stop: Ints, found: Ints, chip: Ints, output: int) -> int:
    """The last tile's way out, one level after the other, after the last step's latency; 0 where nothing drains."""
    cycles, bits = chip[col.SKEW], min(tensors[output, col.BITS], chip[col.ACCUMULATOR])
    for hold in range(tensors[output, col.BEGIN] + 1, tensors[output, col.END]):
        cycles += alone(stop, route, 2 * hold + 1, bits, found[hold, col.LAST_TILE])
    return cycles


@kernel(INT(TABLE, TABLE, TABLE, CUBE, TABLE, ROW, INT, INT, INT, INT))
def slots_bound(holds: Ints, tensors: Ints, route: Ints, stop: Ints, found: Ints, chip: Ints, hold: int, work: int, even: int,
                last_out: int) -> int:
    """Cycles of a hold's credit loops: with b slots, a b-th of the sum of all loops, before and after it what must be.

    ``work``: of the array; ``even``: 1 where no edge cuts anything; ``last_out``: the epilogue. Where all loops are alike,
    the longest of the b chains has whole ones: with stays = b (c - 1) + r it takes c of the loops.
    """
    tensor, slots, stays = holds[hold, col.TENSOR], holds[hold, col.SLOTS], found[hold, col.STAYS]
    output, total = tensors[tensor, col.OUTPUT], work + found[hold, col.MOVING]
    bits = min(tensors[tensor, col.BITS], chip[col.ACCUMULATOR]) if output == 1 else tensors[tensor, col.BITS]
    inner = chip[col.SKEW] if output == 1 else holds[hold, col.LATE]
    plain = tensors[tensor, col.WINDOWED] == 0
    for deeper in range(hold + 1, tensors[tensor, col.END] if plain else 0):
        inner += alone(stop, route, 2 * deeper + output, bits, found[deeper, col.LEAST_TILE])
    total += stays * inner
    if output == 1:
        return (total + slots - 1) // slots + holds[hold, col.AFTER]
    if plain and even == 1 and slots > 1:
        short = slots - 1 - (stays - 1) % slots
        total += total // stays * short + (total % stays * short + stays - 1) // stays
    return (total + slots - 1) // slots + found[hold, col.ARRIVAL] + last_out - holds[hold, col.LATE]


@kernel(INT(TABLE, TABLE, TABLE, CUBE, TABLE, ROW, TABLE, TABLE, INT, INT, INT, INT, ROW, INT))
def largest_bound(holds: Ints, tensors: Ints, route: Ints, stop: Ints, stations: Ints, chip: Ints, found: Ints, load: Ints,
                  output: int, work: int, parts: int, even: int, cycles: Ints, row: int) -> int:
    """Fills ``cycles[row]`` with the largest of the bounds, and returns the first that is as large.

    0 is the path, 1 + i station i, then the array, then the holds. ``work``: cycles of the array; ``parts`` of a sixteenth,
    besides a station's own: 1 where a single instance runs; ``even``: 1 where no edge cuts anything.
    """
    first_in = prologue(tensors, route, stop, found, load)
    last_out = epilogue(tensors, route, stop, found, chip, output)
    first_drain = (0 if parts > 1 else first_in) + chip[col.INTERVAL] + chip[col.SKEW]
    most, which, place = first_in + work + last_out, 0, -1
    for station in range(load.shape[0]):
        busy = max(load[station, col.BUSY_FIRST], load[station, col.BUSY_MEAN])
        if busy == 0:
            continue
        head = min(stations[station, col.FILL_HEAD], stations[station, col.DRAIN_HEAD] + first_drain)
        tail = stations[station, col.TAIL]
        if load[station, col.TAKEN] == 1:
            head, tail = 0, min(tail, chip[col.AFTER_STEP])
        unit = parts * stations[station, col.UNIT]
        own = (((busy if unit == 1 else (busy + unit - 1) // unit) + 15) >> 4) + head + tail
        if own > most or (own == most and load[station, col.PLACE] < place):
            most, which, place = own, 1 + station, load[station, col.PLACE]
    if work > most:
        most, which = work, 1 + load.shape[0]
    for hold in range(holds.shape[0]):
        if holds[hold, col.HOME] == 0:
            own = slots_bound(holds, tensors, route, stop, found, chip, hold, work, even, last_out)
            if own > most:
                most, which = own, 2 + load.shape[0] + hold
    cycles[row] = most
    return which


@kernel(INT(TABLE, TABLE, INT, TABLE, INT))
def held_bits(partial: Ints, holds: Ints, hold: int, bounds: Ints, row: int) -> int:
    """Bits of an element held: those of unfinished sums where a reduction that iterates leaves them so."""
    for i in range(partial.shape[1]):
        if partial[hold, i] < 0:
            break
        if bounds[row, partial[hold, i]] > 1:
            return holds[hold, col.PARTIAL_BITS]
    return holds[hold, col.FINISHED_BITS]


@kernel(INT(TABLE, TABLE, TABLE, TABLE, TABLE, TABLE, TABLE, ROW, TABLE, INT, ROW, INT, TABLE, TABLE, ROW))
def fits(holds: Ints, tensors: Ints, partial: Ints, spread: Ints, plain: Ints, window: Ints, memory: Ints, chip: Ints,
         bounds: Ints, row: int, size: Ints, lines: int, settings: Ints, largest: Ints, needed: Ints) -> int:
    """1 where the slots of every hold fit its memory (whole banks) and the array's registers, else 0.

    ``size[frame x lines + line]``: of a whole tile; ``settings[row, window]``; ``largest`` as in ``Images``;
    ``needed[memory]``: scratch.
    """
    found = 1
    for i in range(memory.shape[0]):
        needed[i] = 0
    for hold in range(holds.shape[0]):
        tensor, place, elements = holds[hold, col.TENSOR], holds[hold, col.MEMORY], 1
        if holds[hold, col.HOME] == 1:
            for i in range(spread.shape[1]):
                if spread[hold, i] < 0:
                    break
                elements *= bounds[row, spread[hold, i]]
            elements = (tensors[tensor, col.ALL] + elements - 1) // elements
        else:
            for i in range(tensors[tensor, col.PLAINS]):
                elements *= size[holds[hold, col.FRAME] * lines + plain[tensor, i]]
            for i in range(tensors[tensor, col.WINDOWED]):
                elements *= largest[settings[row, window[tensor, i]], holds[hold, col.LOOK]]
        if place < 0:
            found = found if elements <= chip[col.REGISTERS] else 0
            continue
        payload, bank = (elements * held_bits(partial, holds, hold, bounds, row) + 7) >> 3, memory[place, 1]
        if bank > 1:
            payload = (payload + bank - 1) // bank * bank
        needed[place] += payload * holds[hold, col.SLOTS]
    for i in range(memory.shape[0]):
        if memory[i, 0] >= 0 and needed[i] > memory[i, 0]:
            found = 0
    return found
