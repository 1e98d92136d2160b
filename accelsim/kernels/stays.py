"""Stays of tiles: how many of each size there are, from the steps of the lines that a tensor depends on.

Where every axis is plain, a tile is whole or cut along each line, so its size is a *mask*: one bit for each line that has
an edge. Every step is a stay but those whose tile is that of the step before (of windows: shares elements with it), and
that takes a loop of another line to advance and none of the tensor's to wrap.
"""

from __future__ import annotations

from accelsim.kernels.flows import carry
from accelsim.kernels.jit import kernel
from accelsim.kernels.mapspace import CUBE, INT, ROW, TABLE, VOID, Ints


@kernel(INT(TABLE, INT, INT, ROW, ROW, INT, ROW, ROW))
def masks(plain: Ints, tensor: int, plains: int, size: Ints, edge: Ints, base: int, sizes: Ints, bit: Ints) -> int:
    """Fills ``sizes[mask]`` and ``bit[i]`` of line ``plain[tensor, i]`` (0: no edge); returns the number of masks.

    ``size``, ``edge`` [base + line]: elements of a whole and of a cut tile (``line_steps.count_steps``).
    """
    number = 1
    sizes[0] = 1
    for i in range(plains):
        at = base + plain[tensor, i]
        bit[i] = 0
        if edge[at] > 0:
            bit[i] = number
            for mask in range(number):
                sizes[number + mask] = sizes[mask] * edge[at]
        for mask in range(number):
            sizes[mask] *= size[at]
        if edge[at] > 0:
            number *= 2
    return number


@kernel(INT(CUBE, INT, INT, INT, TABLE, TABLE, INT, INT, INT, ROW, INT, TABLE, TABLE, TABLE, INT, ROW))
def unmoved(outside: Ints, order: int, place: int, own: int, plain: Ints, repeated: Ints, tensor: int, plains: int,
            repeats: int, bit: Ints, number: int, tiles: Ints, cut: Ints, wrapping: Ints, base: int, still: Ints) -> int:
    """``still[mask]``: tiles along the plain lines that stay when a loop of line ``own`` at ``place`` advances; 0 if none do.

    With ``own`` -1 all steps of the loops outside ``place``. ``outside`` as in ``Nest``, ``tiles``, ``cut``, ``wrapping`` as in
    ``line_steps.count_steps``; ``plains`` and ``repeats``: how many lines of ``plain[tensor]``, ``repeated[tensor]`` there are.
    """
    found = 0
    for mask in range(number):
        product = 1
        for i in range(plains):
            at, outer = base + plain[tensor, i], outside[order, place, plain[tensor, i]]
            short = cut[at, outer]
            product *= short if bit[i] & mask else tiles[at, outer] - short - wrapping[at, outer]
            if product == 0:
                break
        still[mask] = product
        found |= product
    if found == 0:
        return 0
    scale = 1
    for i in range(repeats):
        at, outer = base + repeated[tensor, i], outside[order, place, repeated[tensor, i]]
        scale *= tiles[at, outer + 1] - tiles[at, outer] if repeated[tensor, i] == own else tiles[at, outer]
    for mask in range(number):
        still[mask] *= scale
    return found


@kernel(VOID(TABLE, CUBE, ROW, INT, TABLE, INT, INT, TABLE, TABLE, TABLE, INT, INT, INT, ROW, INT, TABLE, TABLE, TABLE, INT,
             ROW, ROW))
def plain_stays(advancing: Ints, outside: Ints, line_of: Ints, order: int, bounds: Ints, row: int, steps: int, kind: Ints,
                plain: Ints, repeated: Ints, tensor: int, plains: int, repeats: int, bit: Ints, number: int, tiles: Ints,
                cut: Ints, wrapping: Ints, base: int, still: Ints, counts: Ints) -> None:
    """``counts[mask]``: stays of a tensor without windows under the first ``steps`` places.

    ``kind[tensor, line]``: 0 where the tensor does not depend on the line; ``advancing``, ``line_of`` as in ``Nest``;
    ``still``: scratch; the others as in ``unmoved``.
    """
    unmoved(outside, order, steps, -1, plain, repeated, tensor, plains, repeats, bit, number, tiles, cut, wrapping, base, counts)
    for place in range(steps):
        loop = advancing[order, place]
        if bounds[row, loop] > 1 and kind[tensor, line_of[loop]] == 0 and unmoved(
                outside, order, place, line_of[loop], plain, repeated, tensor, plains, repeats, bit, number, tiles, cut,
                wrapping, base, still) > 0:
            for mask in range(number):
                counts[mask] -= still[mask]


@kernel(INT(TABLE, ROW, INT, TABLE, INT, INT, ROW, ROW, TABLE, INT))
def outermost(advancing: Ints, line_of: Ints, order: int, bounds: Ints, row: int, steps: int, stride: Ints, extent: Ints,
              kind: Ints, tensor: int) -> int:
    """The first place of a loop that iterates over a line the tensor does not depend on, -1 if there is none."""
    for place in range(steps):
        loop = advancing[order, place]
        if bounds[row, loop] > 1 and stride[loop] < extent[line_of[loop]] and kind[tensor, line_of[loop]] == 0:
            return place
    return -1


@kernel(INT(TABLE, INT, INT, CUBE, CUBE, TABLE, TABLE, INT, ROW, INT, TABLE))
def joined(window: Ints, tensor: int, number: int, first: Ints, records_of: Ints, record: Ints, settings: Ints, row: int,
           states: Ints, look: int, pairs: Ints) -> int:
    """Fills ``pairs`` with the products of the records of a tensor's windows; returns their number.

    ``window[tensor, i]``, ``number`` of them, each in ``states[i]``; ``settings[row, window]``; ``first``, ``records_of``,
    ``record`` as in ``Images``.
    """
    many = 1
    pairs[0, 0], pairs[0, 1], pairs[0, 2] = 1, 1, 1
    for i in range(number):
        setting = settings[row, window[tensor, i]]
        start, records = first[setting, look, states[i]], records_of[setting, look, states[i]]
        for own in range(records - 1, -1, -1):  # those of the first record come last, over what they are made of
            for at in range(many):
                for column in range(3):
                    pairs[own * many + at, column] = pairs[at, column] * record[start + own, column]
        many *= records
    return many


@kernel(INT(INT, INT, INT, ROW, ROW, ROW))
def add_up(size: int, times: int, number: int, sizes: Ints, counts: Ints, slots: Ints) -> int:
    """Adds ``times`` tiles of ``size`` to the ``number`` different ones; returns how many there are then.

    ``slots``: where a size was put, -1 if nowhere; a power of two of them, more than sizes.
    """
    last = slots.shape[0] - 1
    slot = ((size & 0x7FFF_FFFF) * 0x9E37_79B1 >> 7) & last
    while slots[slot] >= 0:
        if sizes[slots[slot]] == size:
            counts[slots[slot]] += times
            return number
        slot = (slot + 1) & last
    slots[slot], sizes[number], counts[number] = number, size, times
    return number + 1


@kernel(INT(TABLE, CUBE, ROW, INT, TABLE, INT, INT, TABLE, TABLE, TABLE, INT, INT, INT, ROW, INT, TABLE, TABLE, TABLE, INT,
            ROW, ROW, TABLE, INT, CUBE, TABLE, CUBE, CUBE, TABLE, TABLE, INT, ROW, TABLE, ROW, ROW, ROW, CUBE, TABLE, INT, INT,
            ROW))
def window_stays(advancing: Ints, outside: Ints, line_of: Ints, order: int, bounds: Ints, row: int, steps: int, kind: Ints,
                 plain: Ints, repeated: Ints, tensor: int, plains: int, repeats: int, bit: Ints, number: int, tiles: Ints,
                 cut: Ints, wrapping: Ints, base: int, still: Ints, sizes: Ints, window: Ints, windows: int, along: Ints,
                 member: Ints, first: Ints, records_of: Ints, record: Ints, settings: Ints, look: int, states: Ints,
                 pairs: Ints, slots: Ints, moved: Ints, counts: Ints, stop: Ints, route: Ints, way: int, bits: int,
                 total: Ints) -> int:
    """Carries the fills of a tensor with windows, by new elements, and returns its stays.

    ``kind``: 1 on plain lines; ``along``, ``member`` as in ``Flows``; ``sizes[mask]``: of the plain axes alone; ``stop`` ..
    ``total``: what ``flows.carry`` takes. ``states``, ``pairs``, ``slots``, ``moved``, ``counts``: scratch.
    """
    used, stays = 0, 0
    for slot in range(slots.shape[0]):
        slots[slot] = -1
    for place in range(steps, -1, -1):  # first all steps, then those that keep something
        own = -1
        if place < steps:
            loop = advancing[order, place]
            own = line_of[loop]
            if bounds[row, loop] == 1 or kind[tensor, own] == 1:
                continue
        if unmoved(outside, order, place, own, plain, repeated, tensor, plains, repeats, bit, number, tiles, cut, wrapping,
                   base, still) == 0:
            continue
        for i in range(windows):
            states[i] = 2 * along[order, place, window[tensor, i]]
            if own >= 0:
                states[i] += member[window[tensor, i], own]
        many = joined(window, tensor, windows, first, records_of, record, settings, row, states, look, pairs)
        for at in range(many):
            size, kept = pairs[at, 0], pairs[at, 1] if own >= 0 else 0
            if size == 0 or (own >= 0 and kept == 0):
                continue
            for mask in range(number):
                times = pairs[at, 2] * still[mask]
                if 2 * used + 4 > slots.shape[0]:
                    carry(stop, route, way, bits, used, moved, counts, total)
                    used = 0
                    for slot in range(slots.shape[0]):
                        slots[slot] = -1
                if own < 0:
                    used = add_up(sizes[mask] * size, times, used, moved, counts, slots)
                    stays += times
                    continue
                used = add_up(sizes[mask] * size, -times, used, moved, counts, slots)
                if size == kept:
                    stays -= times
                else:
                    used = add_up(sizes[mask] * (size - kept), times, used, moved, counts, slots)
    carry(stop, route, way, bits, used, moved, counts, total)
    return stays
