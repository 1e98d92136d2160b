"""What moves into and out of a hold under one row of bounds: its stays, the loads of stations, the traffic.

``m`` is the model, ``s`` the scratch of one row, ``steps`` what ``estimate_steps.count_steps`` filled (``estimate_layout``);
``hold``, ``job`` and ``way`` say where their records begin.
"""

from __future__ import annotations

from accelsim.kernels.estimate_layout import (
    ALONE,
    BOOKING_WIDTH,
    BYTES,
    C_LEAST,
    C_MOVING,
    C_PATH,
    C_PLAIN,
    C_STAYS,
    DRAIN_BYTES,
    DRAIN_ELEMENTS,
    E_COUNT,
    E_FIRST,
    E_SINGLE,
    E_SIZE,
    ELEMENTS,
    FILL_BYTES,
    FILL_ELEMENTS,
    H_ACCUMULATES,
    H_COUNTS,
    H_ENTRY,
    H_INWARD,
    H_JOB,
    H_JOBS,
    H_OUTWARD,
    H_SPLIT,
    H_SPLIT_END,
    H_TENSOR,
    I_LOOKS,
    IMAGE_SIZE,
    IMAGES,
    J_BOOK_INWARD,
    J_BOOK_OUTWARD,
    J_FILLS,
    J_FRAME,
    J_INWARD,
    J_INWARDS,
    J_LOOK,
    J_OUTWARD,
    J_OUTWARDS,
    J_REFILLS,
    JOB_WIDTH,
    K_LOAD,
    K_SHARES,
    K_TICKS,
    K_UNIT,
    KINDS,
    MASK_SIZES,
    MOVED,
    NO_ROOM,
    REFILL_BYTES,
    REFILL_ELEMENTS,
    T_BITS,
    T_LOOKS,
    T_NUMBER,
    T_OUTPUT,
    T_STATES,
    T_WINDOW,
    T_WINDOWS,
    TENSORS,
    TICKS,
    TILE_WIDTH,
    TRANSFERS,
    W_LAST,
    W_STOPS,
    WIDE,
    X_OUTSIDE,
)
from accelsim.kernels.estimate_stays import last_tile, places_at, plain_stays, window_stays
from accelsim.kernels.estimate_steps import Ints
from accelsim.kernels.estimate_transfers import carry
from accelsim.kernels.jit import part, small_part


@part
def iterates(m: Ints, begin: int, end: int, bound: Ints) -> bool:
    """Whether any of a list of loops has a second iteration; ``bound[column]``."""
    most = 1
    for i in range(begin, end):
        most = max(most, bound[m[i]])
    return bool(most > 1)


@small_part
def traffic_at(m: Ints, entry: int, tensor: int, kind: int, rows: int) -> int:
    """Where the traffic of a kind begins, one number for each of the rows."""
    return int(((entry * m[TENSORS] + m[tensor + T_NUMBER]) * KINDS + kind) * rows)


@small_part
def clear_totals(m: Ints, way: int, s: Ints) -> int:
    """Sets what moved on a way to 0; returns where its totals begin."""
    total = m[MOVED]
    for place in range(total, total + TICKS + m[way + W_STOPS]):
        s[place] = 0
    return int(total)


@small_part
def book(m: Ints, begin: int, number: int, s: Ints) -> None:
    """Adds the service of what moved to the loads of stations: of the first instance, or of all as they share it."""
    for i in range(number):
        booking = begin + i * BOOKING_WIDTH
        s[m[booking + K_LOAD]] += s[m[booking + K_TICKS]] * m[booking + K_UNIT] * s[m[booking + K_SHARES]]


@small_part
def note(m: Ints, hold: int, s: Ints, elements: int, payload: int, traffic: Ints, row: int, rows: int) -> None:
    """Writes what moved to the kinds of traffic ``elements`` and ``payload``, if any is asked for (``rows``: of it)."""
    if rows > 0:
        tensor, entry = m[hold + H_TENSOR], m[hold + H_ENTRY]
        traffic[traffic_at(m, entry, tensor, elements, rows) + row] = s[m[MOVED] + ELEMENTS]
        traffic[traffic_at(m, entry, tensor, payload, rows) + row] = s[m[MOVED] + BYTES]


@part
def move_input(m: Ints, s: Ints, hold: int, job: int, tiles: Ints, many: int, traffic: Ints, row: int, rows: int) -> int:
    """Fills of an operand: booked and noted; returns the cycles of all, one after another."""
    way, bits = m[hold + H_INWARD], m[m[hold + H_TENSOR] + T_BITS]
    total = clear_totals(m, way, s)
    for i in range(many):
        tile = i * TILE_WIDTH
        carry(m, way, tiles[tile + E_SIZE], tiles[tile + E_COUNT], bits, s, total)
    book(m, m[job + J_BOOK_INWARD], m[job + J_INWARDS], s)
    if m[job + J_FILLS] == 1:
        note(m, hold, s, FILL_ELEMENTS, FILL_BYTES, traffic, row, rows)
    return int(s[total + ALONE])


@part
def move_output(m: Ints, s: Ints, hold: int, job: int, tiles: Ints, many: int, split: bool, traffic: Ints, row: int,
                rows: int) -> int:
    """Drains and refills: each tile's last stay ends finished, unless instances share its sum or a memory adds it up.

    ``split``: whether instances share sums. Returns the cycles of all, one after another, drains until they are through.
    """
    moving, wide, narrow, credit = 0, m[WIDE], m[m[hold + H_TENSOR] + T_BITS], job == m[hold + H_JOB]
    if credit or m[job + J_FILLS] == 1 or m[job + J_OUTWARD] == 1:
        way = m[hold + H_OUTWARD]
        total = clear_totals(m, way, s)
        for i in range(many):
            tile = i * TILE_WIDTH
            size, done = tiles[tile + E_SIZE], tiles[tile + (E_SINGLE if m[hold + H_ACCUMULATES] == 1 else E_FIRST)]
            if split:
                done = 0
            carry(m, way, size, tiles[tile + E_COUNT] - done, wide, s, total)
            carry(m, way, size, done, narrow, s, total)
        book(m, m[job + J_BOOK_OUTWARD], m[job + J_OUTWARDS], s)
        if m[job + J_FILLS] == 1:
            note(m, hold, s, DRAIN_ELEMENTS, DRAIN_BYTES, traffic, row, rows)
        moving += s[total + ALONE] - s[total + TRANSFERS] * m[way + W_LAST]
    if (credit or m[job + J_REFILLS] == 1 or m[job + J_INWARD] == 1) and m[hold + H_ACCUMULATES] == 0:
        way = m[hold + H_INWARD]
        total = clear_totals(m, way, s)
        for i in range(many):
            tile = i * TILE_WIDTH
            carry(m, way, tiles[tile + E_SIZE], tiles[tile + E_COUNT] - tiles[tile + E_FIRST], wide, s, total)
        book(m, m[job + J_BOOK_INWARD], m[job + J_INWARDS], s)
        if m[job + J_REFILLS] == 1:
            note(m, hold, s, REFILL_ELEMENTS, REFILL_BYTES, traffic, row, rows)
        moving += s[total + ALONE]
    return int(moving)


@part
def count_hold(m: Ints, s: Ints, steps: Ints, images: Ints, hold: int, bound: Ints, order: int, tiles: Ints, slots: Ints,
               room: int, pairs: Ints, traffic: Ints, row: int, rows: int) -> int:
    """All jobs of a hold away from home; its counts are those of the first. Returns NO_ROOM where tiles find no room, or 0."""
    tensor, counts = m[hold + H_TENSOR], m[hold + H_COUNTS]
    windows, output = m[tensor + T_WINDOWS], m[tensor + T_OUTPUT] == 1
    split = output and iterates(m, m[hold + H_SPLIT], m[hold + H_SPLIT_END], bound)
    for number in range(m[hold + H_JOBS]):
        job, stays = m[hold + H_JOB] + number * JOB_WIDTH, 0
        if windows > 0:
            many, stays = window_stays(m, s, steps, images, tensor, job, order, tiles, slots, room, pairs)
            if many == NO_ROOM:
                return NO_ROOM
        else:
            many = plain_stays(m, s, steps, tensor, job, order, tiles)
        moving = (move_output(m, s, hold, job, tiles, many, split, traffic, row, rows) if output
                  else move_input(m, s, hold, job, tiles, many, traffic, row, rows))
        if number > 0:
            continue
        s[counts + C_MOVING] = moving
        if windows > 0:
            first = s[counts + C_PLAIN] = s[m[MASK_SIZES]]
            for window in range(windows):
                setting = s[m[IMAGES] + m[tensor + T_WINDOW] + window]
                at = setting + I_LOOKS + m[tensor + T_LOOKS] + 2 * m[job + J_LOOK] * m[tensor + T_STATES]
                first *= images[images[at] + IMAGE_SIZE]
            s[counts + C_PATH] = s[counts + C_LEAST] = first
            s[counts + C_STAYS] = stays + (1 if first == 0 else 0)
            continue
        first = least = tiles[E_SIZE]
        for i in range(many):
            tile = i * TILE_WIDTH
            stays += tiles[tile + E_COUNT]
            if tiles[tile + E_COUNT] > 0:
                least = min(least, tiles[tile + E_SIZE])
        s[counts + C_PLAIN] = s[counts + C_PATH] = first
        s[counts + C_LEAST], s[counts + C_STAYS] = least, stays
        if output and many > 1:
            s[counts + C_PATH] = last_tile(m, s, steps, tensor, m[job + J_FRAME], m[places_at(m, job, order) + X_OUTSIDE])
    return 0
