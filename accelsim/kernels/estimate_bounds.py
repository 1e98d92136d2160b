"""From what has been counted of one row to its bounds: path, resources, credits.

The formulas are those of the estimate of one mapping (DESIGN section 6). ``m`` is the model, ``s`` the scratch of one row
(``estimate_layout``); ``hold`` and ``tensor`` say where their records begin.
"""

from __future__ import annotations

from accelsim.kernels.estimate_capacity import ceil_div, held_bits
from accelsim.kernels.estimate_holds import traffic_at
from accelsim.kernels.estimate_layout import (
    AFTER_STEP,
    ARRAY_READ_BYTES,
    ARRAY_SKEW,
    ARRAY_WRITE_BYTES,
    B_HOLD,
    B_LOAD,
    B_PASS,
    B_STATION,
    B_TENSOR,
    B_WORK,
    BUSY,
    C_ALONE,
    C_ARRIVAL,
    C_LEAST,
    C_MOVING,
    C_PATH,
    C_STAYS,
    FIRST_LOAD,
    H_ADDS,
    H_AFTER,
    H_COUNTS,
    H_ENTRY,
    H_INNER,
    H_INWARD,
    H_JOBS,
    H_LATE,
    H_OUTWARD,
    H_SLOTS,
    H_TENSOR,
    HEADS,
    HOLD_WIDTH,
    HOLDS,
    I_TOUCHED,
    IMAGES,
    INTERVAL,
    L_PARTS,
    L_SHARERS,
    L_STATION,
    L_TENSOR,
    L_WRITES,
    LINES,
    LOAD_WIDTH,
    LOADS,
    MEAN_LOAD,
    N_DRAIN_HEAD,
    N_FILL_HEAD,
    N_LOADED,
    N_TAIL,
    N_UNIT,
    NARROW,
    NEVER,
    P_DONE,
    P_STATION,
    P_TICKS,
    SERVED,
    SHARES,
    SHORTEST,
    SKEW,
    STATION_WIDTH,
    STATIONS,
    STEPS,
    STOP_WIDTH,
    T_ALWAYS,
    T_ASKED,
    T_BITS,
    T_FEEDING,
    T_NUMBER,
    T_OUTPUT,
    T_REPEATED,
    T_REPEATED_END,
    T_TOUCHING,
    T_WHOLE,
    T_WINDOW,
    T_WINDOWS,
    TAILS,
    TAKEN,
    TENSOR_WIDTH,
    TENSORS,
    TILES,
    TOUCHED,
    W_LATENCY,
    W_STOP,
    W_STOPS,
)
from accelsim.kernels.estimate_stays import steps_at
from accelsim.kernels.estimate_steps import Ints
from accelsim.kernels.estimate_transfers import alone, credit
from accelsim.kernels.jit import part, small_part


@small_part
def work_cycles(m: Ints, s: Ints, steps: Ints) -> int:
    """Cycles of the array over all its steps."""
    cycles = m[INTERVAL]
    for line in range(m[LINES]):
        cycles *= steps[s[line] + m[m[B_WORK] + line]]
    if m[SHORTEST] == 0:
        return int(cycles)
    least = m[SHORTEST]
    for line in range(m[LINES]):
        least *= steps[s[line] + m[m[B_PASS] + line]]
    return int(max(cycles, least))


@small_part
def path_of(m: Ints, s: Ints, tensor: int, hold: int) -> int:
    """Cycles until an operand's first tile has come down its holds, the first of which is ``hold``; adds up its services.

    Something precedes the first and follows the last of a station's services.
    """
    arrival = 0
    for i in range(m[hold + H_INNER]):
        own = hold + i * HOLD_WIDTH
        if m[own + H_JOBS] > 0:
            counts = m[own + H_COUNTS]
            s[counts + C_ARRIVAL] = arrival
            s[counts + C_ALONE] = alone(m, m[own + H_INWARD], s[counts + C_PATH], m[tensor + T_BITS], s)
            arrival += s[counts + C_ALONE]
    through = 0
    for i in range(m[hold + H_INNER]):
        own = hold + i * HOLD_WIDTH
        if m[own + H_JOBS] == 0:
            continue
        counts, way = m[own + H_COUNTS], m[own + H_INWARD]
        through += s[counts + C_ALONE]
        if s[counts + C_PATH] == 0:
            continue
        for j in range(m[way + W_STOPS]):
            stop = m[way + W_STOP] + j * STOP_WIDTH
            station, done = m[stop + P_STATION], m[stop + P_DONE]
            head, tail = m[HEADS] + station, m[TAILS] + station
            s[head] = min(s[head], s[counts + C_ARRIVAL] + done)
            s[tail] = min(s[tail], arrival - through + m[way + W_LATENCY] - done)
            s[m[SERVED] + station] += s[m[stop + P_TICKS]]
    return int(arrival)


@small_part
def prologue(m: Ints, s: Ints) -> int:
    """When the first array step can start: every operand's first tile has come down its path."""
    for station in range(m[STATIONS]):
        s[m[HEADS] + station] = s[m[TAILS] + station] = NEVER
        s[m[SERVED] + station] = 0
    latest, hold = 0, m[B_HOLD]
    for _ in range(m[TENSORS]):
        tensor = m[hold + H_TENSOR]
        if m[tensor + T_OUTPUT] == 0:
            latest = max(latest, path_of(m, s, tensor, hold))
        hold += m[hold + H_INNER] * HOLD_WIDTH
    for station in range(m[STATIONS]):
        head = s[m[HEADS] + station]
        if head < NEVER:
            latest = max(latest, head + ((s[m[SERVED] + station] + 15) >> 4) + s[m[TAILS] + station])
    return int(latest)


@small_part
def epilogue(m: Ints, s: Ints) -> int:
    """The last tile's way out, one level after the other, after the last step's latency; 0 where nothing drains."""
    cycles = m[SKEW]
    for i in range(m[HOLDS]):
        hold = m[B_HOLD] + i * HOLD_WIDTH
        if m[m[hold + H_TENSOR] + T_OUTPUT] == 1 and m[hold + H_JOBS] > 0:
            counts = m[hold + H_COUNTS]
            s[counts + C_ALONE] = alone(m, m[hold + H_OUTWARD], s[counts + C_PATH], m[NARROW], s)
            cycles += s[counts + C_ALONE]
    return int(cycles)


@small_part
def array_bytes(m: Ints, s: Ints, steps: Ints, images: Ints, tensor: int, bound: Ints) -> tuple[int, int]:
    """(read, written) by the array at the hold that feeds it: what all PEs touch in one iteration, over all iterations; an
    output is read back unless the memory adds.
    """
    hold, indexed, always, first = m[tensor + T_FEEDING], m[tensor + T_WHOLE], 1, 1
    for i in range(m[tensor + T_REPEATED], m[tensor + T_REPEATED_END]):
        at = steps_at(s, m[tensor + T_TOUCHING], m[i])
        always *= steps[at + m[m[tensor + T_ALWAYS] + m[i]]]
        first *= steps[at + STEPS + TILES]
    for window in range(m[tensor + T_WINDOWS]):
        indexed *= images[s[m[IMAGES] + m[tensor + T_WINDOW] + window] + I_TOUCHED]
    taken, given, bits = indexed * always, 0, held_bits(m, hold, bound)
    if m[tensor + T_OUTPUT] == 1:
        given = (taken * bits + 7) >> 3
        taken = 0 if m[hold + H_ADDS] == 1 else taken - indexed * first
    return (taken * bits + 7) >> 3, given


@part
def load_array(m: Ints, s: Ints, steps: Ints, images: Ints, bound: Ints, traffic: Ints, row: int, rows: int) -> None:
    """Adds what the array reads and writes to the loads of its stations, and to the traffic if any is asked for."""
    for number in range(m[TENSORS]):
        tensor = m[B_TENSOR] + number * TENSOR_WIDTH
        at = m[TOUCHED] + 2 * m[tensor + T_NUMBER]
        s[at] = s[at + 1] = 0
        if m[tensor + T_FEEDING] < 0 or (rows == 0 and m[tensor + T_ASKED] == 0):
            continue
        s[at], s[at + 1] = array_bytes(m, s, steps, images, tensor, bound)
        if rows > 0:
            entry = m[m[tensor + T_FEEDING] + H_ENTRY]
            traffic[traffic_at(m, entry, tensor, ARRAY_READ_BYTES, rows) + row] = s[at]
            traffic[traffic_at(m, entry, tensor, ARRAY_WRITE_BYTES, rows) + row] = s[at + 1]
    for i in range(m[LOADS]):
        load = m[B_LOAD] + i * LOAD_WIDTH
        size, station = s[m[TOUCHED] + 2 * m[load + L_TENSOR] + m[load + L_WRITES]], m[load + L_STATION]
        share = size * m[load + L_PARTS] * s[m[SHARES] + m[load + L_SHARERS]]
        s[m[FIRST_LOAD] + station] += share
        s[m[MEAN_LOAD] + station] += share
        if size > 0:
            s[m[TAKEN] + station] = 1


@small_part
def station_cycles(m: Ints, s: Ints, first_drain: int) -> None:
    """Work / rate of the busiest instance, which is the first or as busy as the mean, between what must be."""
    for number in range(m[STATIONS]):
        station = m[B_STATION] + number * STATION_WIDTH
        busy, cycles = max(s[m[FIRST_LOAD] + number], s[m[MEAN_LOAD] + number]), 0
        if busy > 0:
            if s[m[TAKEN] + number] == 1:
                ends = min(m[station + N_TAIL], m[AFTER_STEP])
            else:
                ends = min(m[station + N_FILL_HEAD], m[station + N_DRAIN_HEAD] + first_drain) + m[station + N_TAIL]
            cycles = ((ceil_div(busy, s[m[SHARES]] * m[station + N_UNIT]) + 15) >> 4) + ends
        s[m[BUSY] + number] = cycles


@part
def slot_cycles(m: Ints, s: Ints, hold: int, work: int, after: int, even: int) -> int:
    """Cycles of a hold's credit loops, between what must be; ``after``: those that follow an operand's."""
    tensor, counts, way = m[hold + H_TENSOR], m[hold + H_COUNTS], H_INWARD
    output, plain, bits, late = m[tensor + T_OUTPUT] == 1, m[tensor + T_WINDOWS] == 0, m[tensor + T_BITS], m[hold + H_LATE]
    inner = m[ARRAY_SKEW] if output else late
    if output:
        way, bits = H_OUTWARD, m[NARROW]
    for i in range(1, m[hold + H_INNER] if plain else 0):
        own = hold + i * HOLD_WIDTH
        least = s[m[own + H_COUNTS] + C_LEAST]
        inner += (s[m[own + H_COUNTS] + C_ALONE] if least == s[m[own + H_COUNTS] + C_PATH]
                  else alone(m, m[own + way], least, bits, s))
    if not (output or plain or m[hold + H_INNER] == 1):
        work = 0  # a copy further in may outlive the tile, which then is released as soon as that is ready
    total = work + s[counts + C_MOVING] + s[counts + C_STAYS] * inner
    cycles = credit(total, s[counts + C_STAYS], m[hold + H_SLOTS], even if plain and not output else 0)
    return int(cycles + (m[hold + H_AFTER] if output else s[counts + C_ARRIVAL] + after - late))


@part
def bounds_of(m: Ints, s: Ints, work: int, even: int) -> tuple[int, int]:
    """(cycles, the first bound that is as large): bound 0 is the path, then come the stations, the array, the holds."""
    before, after = prologue(m, s), epilogue(m, s)
    cycles, bound_by = before + work + after, 0
    station_cycles(m, s, (before if s[m[SHARES]] == 1 else 0) + m[INTERVAL] + m[SKEW])
    for number in range(m[STATIONS]):
        if m[m[B_STATION] + number * STATION_WIDTH + N_LOADED] == 1 and s[m[BUSY] + number] > cycles:
            cycles, bound_by = s[m[BUSY] + number], 1 + number
    for i in range(m[LOADS]):  # a station without other loads stands where its first one is
        load = m[B_LOAD] + i * LOAD_WIDTH
        number = m[load + L_STATION]
        if s[m[TOUCHED] + 2 * m[load + L_TENSOR] + m[load + L_WRITES]] > 0 and s[m[BUSY] + number] > cycles:
            cycles, bound_by = s[m[BUSY] + number], 1 + number
    if work > cycles:
        cycles, bound_by = work, 1 + m[STATIONS]
    for i in range(m[HOLDS]):
        hold = m[B_HOLD] + i * HOLD_WIDTH
        if m[hold + H_JOBS] > 0:
            slots = slot_cycles(m, s, hold, work, after, even)
            if slots > cycles:
                cycles, bound_by = slots, 2 + m[STATIONS] + i
    return cycles, bound_by
