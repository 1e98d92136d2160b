"""Stays of tiles: how many of each size there are, from the steps of the lines that a tensor depends on.

Where every axis is plain, a tile is whole or cut along each line, so its size is a *mask*: one bit for each line that has
an edge. Every step is a stay but those whose tile is that of the step before (of windows: shares elements with it), and
that takes a loop of another line to advance and none of the tensor's to wrap. ``tiles``, ``cut``, ``wrapping``, ``size``,
``edge`` are those of ``line_steps.count_steps``, ``base`` is the frame x lines; ``plain`` and ``repeated`` are lists of
lines that the tensor is indexed by one to one, and not at all.
"""

from __future__ import annotations

from accelsim.kernels.jit import INT, kernel
from accelsim.kernels.line_steps import CUBE, ROW, TABLE, VOID, Ints


@kernel(VOID(ROW, INT, TABLE, TABLE, TABLE, ROW))
def masks(plain: Ints, base: int, size: Ints, edge: Ints, sizes: Ints, number: Ints) -> None:
    """``sizes[row, mask]`` along the plain lines and how many masks there are: ``number[row]``."""
    for row in range(size.shape[0]):
        many = 1
        sizes[row, 0] = 1
        for i in range(plain.shape[0]):
            whole, short = size[row, base + plain[i]], edge[row, base + plain[i]]
            for mask in range(many):
                if short > 0:
                    sizes[row, many + mask] = sizes[row, mask] * short
                sizes[row, mask] *= whole
            if short > 0:
                many *= 2
        number[row] = many


@kernel(VOID(TABLE, ROW, TABLE, CUBE, ROW, TABLE, TABLE, TABLE, ROW, ROW, ROW, ROW, INT, TABLE, TABLE, TABLE, TABLE, TABLE,
             TABLE, CUBE, CUBE, CUBE, ROW, ROW, TABLE, CUBE, CUBE))
def plain_stays(bounds: Ints, order: Ints, advancing: Ints, outside: Ints, line_of: Ints, kind: Ints, plain: Ints,
                repeated: Ints, plains: Ints, repeats: Ints, frame: Ints, steps: Ints, depth: int, tiles: Ints, cut: Ints,
                wrapping: Ints, size: Ints, edge: Ints, number: Ints, sizes: Ints, counts: Ints, summary: Ints,
                output: Ints, extent: Ints, stride: Ints, first: Ints, single: Ints) -> None:
    """Stays in several looks, each at a tensor whose axes are all plain.

    Per look: ``kind[look, line]``, 0 if repeated; ``plain`` and ``repeated`` [look, i], ``plains`` and ``repeats`` of them;
    its ``frame``, and ``steps``: places above the tile. ``advancing[order, place]``: all temporal loops, outermost first;
    ``outside[order, place, line]``: how many of the line stand before the place; ``line_of`` [column].

    Fills ``number[look, row]`` of masks, ``sizes[look, row, mask]`` in elements, ``counts[look, row, mask]`` of stays, and
    ``summary[look, row]``: stays of all masks, the smallest size that stays, the size of the last tile of all loops.

    Where ``output[look]`` is not -1 but a number, it is the output: of its different tiles ``first[number, row, mask]``, those
    that stay once ``single[number, row, mask]``: none of its lines wraps while the outermost reduction loop advances.
    ``extent[line]`` and ``stride[row, column]`` as in ``line_steps``.
    """
    lines = kind.shape[1]
    for row in range(bounds.shape[0]):
        own_order = order[row]
        for look in range(frame.shape[0]):
            many, last, base = 1, 1, frame[look] * lines
            sizes[look, row, 0] = 1
            for i in range(plains[look]):
                at = base + plain[look, i]
                whole, short = size[row, at], edge[row, at]
                if short == 0:
                    last *= whole
                else:
                    last *= short if cut[row, at * depth + outside[own_order, steps[look], plain[look, i]]] > 0 else whole
                    for mask in range(many):
                        sizes[look, row, many + mask] = sizes[look, row, mask] * short
                for mask in range(many):
                    sizes[look, row, mask] *= whole
                if short > 0:
                    many *= 2
            number[look, row] = many
            held, stays, least = 1, 0, sizes[look, row, 0]
            for i in range(repeats[look]):
                held *= tiles[row, (base + repeated[look, i]) * depth]
            for mask in range(many):
                staying, every, once = 0, 0, 0
                for place in range(steps[look], -1, -1):  # all steps, then those that move nothing
                    own, loop = -1, 0
                    if place < steps[look]:
                        loop = advancing[own_order, place]
                        own = line_of[loop]
                        if bounds[row, loop] == 1 or kind[look, own] != 0:
                            continue
                    product, bit = 1, 1
                    for i in range(plains[look]):
                        at = (base + plain[look, i]) * depth + outside[own_order, place, plain[look, i]]
                        chosen = 0
                        if many > 1 and edge[row, base + plain[look, i]] > 0:
                            chosen = mask & bit
                            bit *= 2
                        product *= cut[row, at] if chosen else tiles[row, at] - cut[row, at] - wrapping[row, at]
                        if product == 0:
                            break
                    if own < 0:
                        every = once = product * held
                    elif stride[row, loop] < extent[own]:  # the last one taken is that of the outermost reduction
                        once = product
                    if product != 0:
                        for i in range(repeats[look]):
                            at = (base + repeated[look, i]) * depth + outside[own_order, place, repeated[look, i]]
                            product *= tiles[row, at + 1] - tiles[row, at] if repeated[look, i] == own else tiles[row, at]
                        staying += product if own < 0 else -product
                counts[look, row, mask] = staying
                stays += staying
                if staying > 0 and sizes[look, row, mask] < least:
                    least = sizes[look, row, mask]
                if output[look] >= 0:
                    first[output[look], row, mask], single[output[look], row, mask] = every, once
            summary[look, row, 0], summary[look, row, 1], summary[look, row, 2] = stays, least, last


@kernel(VOID(TABLE, ROW, TABLE, CUBE, ROW, ROW, ROW, ROW, INT, INT, INT, TABLE, TABLE, TABLE, TABLE, ROW, TABLE, ROW,
             CUBE, TABLE, TABLE, TABLE, TABLE, TABLE, INT, TABLE, ROW, TABLE, TABLE, ROW, ROW))
def window_stays(bounds: Ints, order: Ints, advancing: Ints, outside: Ints, line_of: Ints, kind: Ints, plain: Ints,
                 repeated: Ints, base: int, steps: int, depth: int, tiles: Ints, cut: Ints, wrapping: Ints, edge: Ints,
                 masks_of: Ints, sizes: Ints, windows: Ints, along: Ints, member: Ints, first: Ints, records_of: Ints,
                 record: Ints, settings: Ints, look: int, pairs: Ints, slots: Ints, moved: Ints, counts: Ints,
                 number: Ints, stays: Ints) -> None:
    """Fills of a tensor with windows: ``number[row]`` different ``moved[row, i]`` new elements, ``counts[row, i]`` of each.

    ``stays[row]``: tiles that are not the one before. ``number`` is -1 where ``moved`` has too few columns, as many
    as ``slots``, a power of two of which half may be used. ``sizes[row, mask]``, ``masks_of`` (how many): along the plain
    lines; ``kind``: 1 on them. ``along[order, place, window]``: temporal loops of the window's axis before a place;
    ``member[window, line]``: 1 for its lines; ``first``, ``records_of``, ``record``, ``settings[row, window]``: tables of
    ``window_images``, of the look whose states begin at column ``look``; ``pairs``, ``slots``: scratch.
    """
    room = slots.shape[0]
    for row in range(bounds.shape[0]):
        own_order, used, staying = order[row], 0, 0
        for slot in range(room):
            slots[slot] = -1
        for place in range(steps, -1, -1):  # all steps, then those that keep something
            own = -1
            if place < steps:
                loop = advancing[own_order, place]
                own = line_of[loop]
                if bounds[row, loop] == 1 or kind[own] == 1:
                    continue
            scale, many = 0, 0
            for mask in range(masks_of[row]):
                product, bit = 1, 1
                for i in range(plain.shape[0]):
                    at = (base + plain[i]) * depth + outside[own_order, place, plain[i]]
                    chosen = 0
                    if masks_of[row] > 1 and edge[row, base + plain[i]] > 0:
                        chosen = mask & bit
                        bit *= 2
                    product *= cut[row, at] if chosen else tiles[row, at] - cut[row, at] - wrapping[row, at]
                    if product == 0:
                        break
                if product == 0:
                    continue
                if scale == 0:
                    scale, many = 1, 1
                    for i in range(repeated.shape[0]):
                        at = (base + repeated[i]) * depth + outside[own_order, place, repeated[i]]
                        scale *= tiles[row, at + 1] - tiles[row, at] if repeated[i] == own else tiles[row, at]
                    pairs[0, 0], pairs[0, 1], pairs[0, 2] = 1, 1, 1
                    for i in range(windows.shape[0]):
                        setting, state = settings[row, windows[i]], look + 2 * along[own_order, place, windows[i]]
                        if own >= 0:
                            state += member[windows[i], own]
                        start, records = first[setting, state], records_of[setting, state]
                        for other in range(records - 1, -1, -1):  # the first record's come last, over what they are made of
                            for at in range(many):
                                pairs[other * many + at, 0] = pairs[at, 0] * record[start + other, 0]
                                pairs[other * many + at, 1] = pairs[at, 1] * record[start + other, 1]
                                pairs[other * many + at, 2] = pairs[at, 2] * record[start + other, 2]
                        many *= records
                for at in range(many):
                    whole, kept, times = pairs[at, 0], pairs[at, 1], pairs[at, 2] * product * scale
                    if whole == 0 or (own >= 0 and kept == 0) or times == 0:
                        continue
                    if own < 0:
                        staying += times
                    elif whole == kept:
                        staying -= times
                    for part in range(1 if own < 0 or whole == kept else 2):  # the whole tile, then what is new of it
                        new = sizes[row, mask] * (whole - kept if part == 1 else whole)
                        slot = ((new & 0x7FFF_FFFF) * 0x9E37_79B1 >> 7) & (room - 1)
                        while slots[slot] >= 0 and moved[row, slots[slot]] != new:
                            slot = (slot + 1) & (room - 1)
                        if slots[slot] < 0:
                            slots[slot] = used
                            moved[row, used], counts[row, used] = new, 0
                            used += 1
                        counts[row, slots[slot]] += times if own < 0 or part == 1 else -times
                    if 2 * used >= room:
                        break
                if 2 * used >= room:
                    break
            if 2 * used >= room:
                break
        number[row] = -1 if 2 * used >= room else used
        stays[row] = staying
