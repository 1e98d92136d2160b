"""Stays of tiles: how many of each size there are, from the steps of the lines that a tensor depends on.

Where every axis is plain, a tile is whole or cut along each line, so its size is a *mask*: one bit for each line that has
an edge. Every step is a stay but those whose tile is that of the step before (of windows: shares elements with it), and
that takes a loop of another line to advance and none of the tensor's to wrap. The further out that loop is, the fewer
tiles have nothing inside that iterates: where there are none, there are none further out.

``m`` is the model, ``s`` the scratch of one row, ``steps`` what ``estimate_steps.count_steps`` filled (``estimate_layout``);
``tensor`` and ``job`` say where their records begin.
"""

from __future__ import annotations

from accelsim.kernels.estimate_layout import (
    CALM,
    CUT,
    E_COUNT,
    E_FIRST,
    E_SINGLE,
    E_SIZE,
    EDGE,
    I_LOOKS,
    IMAGE_COUNT,
    IMAGE_SHARED,
    IMAGE_SIZE,
    IMAGE_WIDTH,
    IMAGES,
    J_FRAME,
    J_LOOK,
    J_PLACE,
    J_PLACES,
    LINES,
    MASK_SIZES,
    NO_ROOM,
    PLACE_WIDTH,
    SIZE,
    STEP_WIDTH,
    STEPS,
    T_LOOKS,
    T_MEMBER,
    T_OUTPUT,
    T_PLAIN,
    T_PLAIN_END,
    T_REPEATED,
    T_REPEATED_END,
    T_STATES,
    T_WINDOW,
    T_WINDOWS,
    TILE_WIDTH,
    TILES,
    X_ALONG,
    X_LINE,
    X_OUTSIDE,
)
from accelsim.kernels.estimate_steps import Ints
from accelsim.kernels.jit import part, small_part


@small_part
def steps_at(s: Ints, frame: int, line: int) -> int:
    """Where a line's record of a frame begins in ``steps``."""
    return int(s[line] + frame)


@small_part
def places_at(m: Ints, job: int, order: int) -> int:
    """Where a job's places begin in an order."""
    return int(m[job + J_PLACE] + order * m[job + J_PLACES] * PLACE_WIDTH)


@small_part
def mask_sizes(m: Ints, s: Ints, steps: Ints, tensor: int, frame: int, sizes: Ints, begin: int, width: int) -> int:
    """Elements along the plain lines of each mask, written to ``sizes[begin + mask x width]``; returns how many masks."""
    many, uncut = 1, 1
    sizes[begin] = 1
    for i in range(m[tensor + T_PLAIN], m[tensor + T_PLAIN_END]):
        at = steps_at(s, frame, m[i])
        whole, short = steps[at + SIZE], steps[at + EDGE]
        if short == 0:
            uncut *= whole
            continue
        for mask in range(many):
            at = begin + mask * width
            sizes[at + many * width] = sizes[at] * short
            sizes[at] *= whole
        many *= 2
    for mask in range(many):
        sizes[begin + mask * width] *= uncut
    return many


@small_part
def last_tile(m: Ints, s: Ints, steps: Ints, tensor: int, frame: int, outside: int) -> int:
    """Elements of the last tile of all loops; ``outside``: where the model says which step of a line that is."""
    size = 1
    for i in range(m[tensor + T_PLAIN], m[tensor + T_PLAIN_END]):
        at = steps_at(s, frame, m[i])
        size *= steps[at + EDGE] if steps[at + m[outside + m[i]] + CUT] > 0 else steps[at + SIZE]
    return size


@part
def calm_tiles(m: Ints, s: Ints, steps: Ints, tensor: int, frame: int, outside: int, mask: int, many: int) -> int:
    """Tiles of a mask along the plain lines within which nothing iterates; ``many``: how many masks there are."""
    product, bit = 1, 1
    for i in range(m[tensor + T_PLAIN], m[tensor + T_PLAIN_END]):
        record = steps_at(s, frame, m[i])
        at, cut = record + m[outside + m[i]], 0
        if many > 1 and steps[record + EDGE] > 0:
            cut = mask & bit
            bit *= 2
        product *= steps[at + CUT] if cut else steps[at + CALM]
        if product == 0:
            break
    return product


@small_part
def times_kept(m: Ints, s: Ints, steps: Ints, tensor: int, frame: int, outside: int, own: int, gained: int) -> int:
    """Steps of the lines that do not index the tensor; of line ``own`` (-1: none) those that its loop takes: ``gained``."""
    product = 1
    for i in range(m[tensor + T_REPEATED], m[tensor + T_REPEATED_END]):
        product *= gained if m[i] == own else steps[steps_at(s, frame, m[i]) + m[outside + m[i]] + TILES]
    return product


@small_part
def taken(m: Ints, s: Ints, steps: Ints, frame: int, outside: int, own: int) -> int:
    """Steps of a line that its loop at a place takes beyond its first iteration."""
    at = steps_at(s, frame, own) + m[outside + own]
    return int(steps[at + STEP_WIDTH + TILES] - steps[at + TILES])


@part
def plain_stays(m: Ints, s: Ints, steps: Ints, tensor: int, job: int, order: int, tiles: Ints) -> int:
    """Fills ``tiles[mask]`` with sizes and stays of a tensor whose axes are all plain; returns how many masks there are.

    Of an output also its different tiles, and those of them that stay once: none of its lines wraps while the outermost
    reduction loop advances.
    """
    frame, begin = m[job + J_FRAME], places_at(m, job, order)
    many, held = mask_sizes(m, s, steps, tensor, frame, tiles, E_SIZE, TILE_WIDTH), 1
    if m[tensor + T_OUTPUT] == 1:
        for i in range(m[tensor + T_REPEATED], m[tensor + T_REPEATED_END]):
            held *= steps[steps_at(s, frame, m[i]) + STEPS + TILES]
    for mask in range(many):
        outside = m[begin + X_OUTSIDE]
        product = calm_tiles(m, s, steps, tensor, frame, outside, mask, many)
        staying, once, tile = 0, product * held, mask * TILE_WIDTH
        tiles[tile + E_FIRST] = once
        if product > 0:
            staying = product * times_kept(m, s, steps, tensor, frame, outside, -1, 0)
            for i in range(1, m[job + J_PLACES]):
                place = begin + i * PLACE_WIDTH
                own, outside = m[place + X_LINE], m[place + X_OUTSIDE]
                gained = taken(m, s, steps, frame, outside, own)
                if gained > 0:
                    once = product = calm_tiles(m, s, steps, tensor, frame, outside, mask, many)
                    if product == 0:
                        break
                    staying -= product * times_kept(m, s, steps, tensor, frame, outside, own, gained)
        tiles[tile + E_COUNT], tiles[tile + E_SINGLE] = staying, once
    return many


@part
def images_between(m: Ints, s: Ints, images: Ints, tensor: int, job: int, place: int, pairs: Ints) -> int:
    """Fills ``pairs`` with the images over all windows at a place: (elements, shared with the step before, how often); returns
    how many.
    """
    many, own = 1, m[place + X_LINE]
    pairs[IMAGE_SIZE], pairs[IMAGE_SHARED], pairs[IMAGE_COUNT] = 1, 1, 1
    for window in range(m[tensor + T_WINDOWS]):
        state = 2 * m[m[place + X_ALONG] + window]
        if own >= 0:
            state += m[m[tensor + T_MEMBER] + window * m[LINES] + own]
        at = s[m[IMAGES] + m[tensor + T_WINDOW] + window] + I_LOOKS + m[tensor + T_LOOKS] + 2 * (
            m[job + J_LOOK] * m[tensor + T_STATES] + state)
        first, records = images[at], images[at + 1]
        for other in range(records - 1, -1, -1):  # the first record's come last, over what they are made of
            record = first + other * IMAGE_WIDTH
            for i in range(many):
                pair, new = i * IMAGE_WIDTH, (other * many + i) * IMAGE_WIDTH
                pairs[new + IMAGE_SIZE] = pairs[pair + IMAGE_SIZE] * images[record + IMAGE_SIZE]
                pairs[new + IMAGE_SHARED] = pairs[pair + IMAGE_SHARED] * images[record + IMAGE_SHARED]
                pairs[new + IMAGE_COUNT] = pairs[pair + IMAGE_COUNT] * images[record + IMAGE_COUNT]
        many *= records
    return many


@small_part
def tile_of(size: int, tiles: Ints, used: int, slots: Ints, room: int) -> int:
    """The number of the tile of this size; ``used``, with no stays yet, where it is new. ``slots``: a hash table."""
    slot = ((size & 0x7FFF_FFFF) * 0x9E37_79B1 >> 7) & (room - 1)
    while slots[slot] >= 0 and tiles[slots[slot] * TILE_WIDTH + E_SIZE] != size:
        slot = (slot + 1) & (room - 1)
    if slots[slot] < 0:
        slots[slot] = used
        tiles[used * TILE_WIDTH + E_SIZE], tiles[used * TILE_WIDTH + E_COUNT] = size, 0
    return int(slots[slot])


@part
def window_stays(m: Ints, s: Ints, steps: Ints, images: Ints, tensor: int, job: int, order: int, tiles: Ints, slots: Ints,
                 room: int, pairs: Ints) -> tuple[int, int]:
    """Fills of a tensor with windows: (how many different sizes, stays that are not of the tile before).

    Fills ``tiles`` with the elements that are new, and how often; the number is NO_ROOM where there are half as many as
    ``slots`` or more: a power of two, ``room``. ``pairs``: scratch.
    """
    frame, begin, used, staying = m[job + J_FRAME], places_at(m, job, order), 0, 0
    masks = mask_sizes(m, s, steps, tensor, frame, s, m[MASK_SIZES], 1)
    for slot in range(room):
        slots[slot] = -1
    for i in range(m[job + J_PLACES]):
        place = begin + i * PLACE_WIDTH
        own, outside, gained, scale, many = m[place + X_LINE], m[place + X_OUTSIDE], 1, 0, 0
        if own >= 0:
            gained = taken(m, s, steps, frame, outside, own)
        if gained == 0:
            continue
        for mask in range(masks):
            product = calm_tiles(m, s, steps, tensor, frame, outside, mask, masks)
            if product == 0:
                continue
            if scale == 0:
                scale = times_kept(m, s, steps, tensor, frame, outside, own, gained)
                many = images_between(m, s, images, tensor, job, place, pairs)
            product *= scale
            for j in range(many):
                pair = j * IMAGE_WIDTH
                whole, kept, times = pairs[pair + IMAGE_SIZE], pairs[pair + IMAGE_SHARED], pairs[pair + IMAGE_COUNT] * product
                if whole == 0 or (own >= 0 and kept == 0):
                    continue
                elements = s[m[MASK_SIZES] + mask]
                tile = tile_of(elements * whole, tiles, used, slots, room)
                used = max(used, tile + 1)
                if own < 0:
                    tiles[tile * TILE_WIDTH + E_COUNT] += times
                    staying += times
                else:  # instead of a whole tile what is new of it, which is nothing where the tile is that before
                    tiles[tile * TILE_WIDTH + E_COUNT] -= times
                    if whole == kept:
                        staying -= times
                    else:
                        tile = tile_of(elements * (whole - kept), tiles, used, slots, room)
                        used = max(used, tile + 1)
                        tiles[tile * TILE_WIDTH + E_COUNT] += times
                if 2 * used >= room:
                    return NO_ROOM, 0
        if scale == 0:
            break
    return used, staying
