"""Stays of tiles: how many of each size there are, from the steps of the lines that a tensor depends on.

Where every axis is plain, a tile is whole or cut along each line, so its size is a *mask*: one bit for each line that has
an edge. Where there are windows, sizes are looked up (``Images``) and equal ones are added up.
"""

from __future__ import annotations

from numba import types

from accelsim.kernels.flows import carry
from accelsim.kernels.jit import kernel
from accelsim.kernels.mapspace import CUBE, INT, ROW, TABLE, VOID, Ints

FIRST_STEP = -1
"""In place of the loop that advances: the first step."""


@kernel(INT(ROW, ROW, ROW, ROW, ROW, INT))
def masks(plain: Ints, size: Ints, edge: Ints, sizes: Ints, bit: Ints, entries: int) -> int:
    """Fills ``sizes[mask]`` and ``bit[i]`` of line ``plain[i]`` (0: no edge); returns the number of masks.

    ``size``, ``edge`` [line]: elements of a whole and of a cut tile; -1 ends ``plain`` before its ``entries``.
    """
    number = 1
    sizes[0] = 1
    for i in range(entries):
        line = plain[i]
        if line < 0:
            break
        bit[i] = 0
        if edge[line] > 0:
            bit[i] = number
            for mask in range(number):
                sizes[number + mask] = sizes[mask] * edge[line]
            number *= 2
        for mask in range(number if edge[line] == 0 else number // 2):
            sizes[mask] *= size[line]
    return number


@kernel(VOID(INT, INT, ROW, ROW, ROW, ROW, INT, TABLE, TABLE, TABLE, INT, ROW, ROW))
def step_pairs(own: int, place: int, outside: Ints, plain: Ints, repeated: Ints, bit: Ints, number: int, tiles: Ints,
               cut: Ints, wrapping: Ints, lines: int, all_of: Ints, still: Ints) -> None:
    """Per mask: ``all_of`` tiles at the steps at which a loop of line ``own`` advances, ``still`` those that have not moved.

    ``place`` FIRST_STEP stands for the first step. ``outside[line]``: temporal loops of the line that keep their
    iterations; ``tiles``, ``cut``, ``wrapping`` [line, i] as in ``line_steps.count_steps``; ``lines``: entries of ``plain``
    and ``repeated`` at most.
    """
    scale = 1
    for i in range(lines):
        line = repeated[i]
        if line < 0:
            break
        outer = outside[line] if place >= 0 else 0
        scale *= tiles[line, outer + 1] - tiles[line, outer] if line == own else tiles[line, outer]
    for mask in range(number):
        every, kept = scale, scale
        for i in range(lines):
            line = plain[i]
            if line < 0:
                break
            outer = outside[line] if place >= 0 else 0
            cut_here = bit[i] & mask
            if line == own:
                reached, short = tiles[line, outer + 1] - tiles[line, outer], cut[line, outer + 1] - cut[line, outer]
                every *= short if cut_here else reached - short
                kept = 0
            else:
                short = cut[line, outer]
                every *= short if cut_here else tiles[line, outer] - short
                kept *= short if cut_here else tiles[line, outer] - short - wrapping[line, outer]
        all_of[mask], still[mask] = every, kept if place >= 0 else 0


@kernel(INT(ROW, INT, ROW, ROW, ROW, ROW, ROW))
def outermost(advancing: Ints, steps: int, line_of: Ints, bounds: Ints, stride: Ints, extent: Ints, repeated: Ints) -> int:
    """The first place of a loop that iterates over a line of ``repeated``, FIRST_STEP if there is none above."""
    for place in range(steps):
        loop = advancing[place]
        if bounds[loop] > 1 and stride[loop] < extent[line_of[loop]]:
            for i in range(repeated.shape[0]):
                if repeated[i] == line_of[loop]:
                    return place
    return FIRST_STEP


@kernel(VOID(INT, ROW, ROW, INT, ROW, INT, TABLE, ROW, TABLE, TABLE, TABLE, ROW))
def once(place: int, plain: Ints, repeated: Ints, lines: int, bit: Ints, number: int, outside: Ints, temporals: Ints,
         tiles: Ints, cut: Ints, wrapping: Ints, counts: Ints) -> None:
    """``counts[mask]``: different tiles of the output (FIRST_STEP for ``place``), or those of them that stay once.

    A tile stays once where no loop of its lines has to wrap while the outermost reduction loop advances, the one at
    ``place`` of ``outside[place, line]``. ``temporals[line]``: temporal loops of the line above the tile.
    """
    held = 1
    if place < 0:
        for i in range(lines):
            if repeated[i] >= 0:
                held *= tiles[repeated[i], 0]
    for mask in range(number):
        product = held
        for i in range(lines):
            line = plain[i]
            if line < 0:
                break
            outer = outside[place, line] if place >= 0 else temporals[line]
            short = cut[line, outer]
            product *= short if bit[i] & mask else tiles[line, outer] - short - wrapping[line, outer]
        counts[mask] = product


@kernel(VOID(ROW, TABLE, ROW, ROW, INT, ROW, ROW, ROW, INT, TABLE, TABLE, TABLE, INT, ROW, ROW, ROW))
def plain_stays(advancing: Ints, outside: Ints, line_of: Ints, bounds: Ints, steps: int, plain: Ints, repeated: Ints,
                bit: Ints, number: int, tiles: Ints, cut: Ints, wrapping: Ints, lines: int, all_of: Ints, still: Ints,
                counts: Ints) -> None:
    """``counts[mask]``: tiles that are not the one before, over all steps of a tensor without windows.

    ``advancing[place]``, ``outside[place, line]``: of one order (``Nest``); the frame has ``steps`` places. ``all_of``,
    ``still``: scratch of ``step_pairs``, which has the others.
    """
    for mask in range(number):
        counts[mask] = 0
    for place in range(FIRST_STEP, steps):
        own = -1
        if place >= 0:
            if bounds[advancing[place]] == 1:
                continue
            own = line_of[advancing[place]]
        step_pairs(own, place, outside[place], plain, repeated, bit, number, tiles, cut, wrapping, lines, all_of, still)
        for mask in range(number):
            counts[mask] += all_of[mask] - still[mask]


@kernel(INT(ROW, INT, CUBE, CUBE, TABLE, ROW, ROW, INT, TABLE))
def joined(windows: Ints, number: int, first: Ints, records_of: Ints, record: Ints, settings: Ints, states: Ints, look: int,
           pairs: Ints) -> int:
    """Fills ``pairs`` with the products of the records of a tensor's windows; returns their number.

    ``windows[i]``, ``number`` of them, each in ``states[i]`` with its own setting; ``first``, ``records_of``, ``record`` as
    in ``Images``.
    """
    many = 1
    pairs[0, 0], pairs[0, 1], pairs[0, 2] = 1, 1, 1
    for i in range(number):
        start = first[settings[windows[i]], look, states[i]]
        records = records_of[settings[windows[i]], look, states[i]]
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
    slot = (size * 0x9E37_79B1 >> 7) & last
    while slots[slot] >= 0 and sizes[slots[slot]] != size:
        slot = (slot + 1) & last
    if slots[slot] >= 0:
        counts[slots[slot]] += times
        return number
    slots[slot], sizes[number], counts[number] = number, size, times
    return number + 1


@kernel(types.UniTuple(INT, 2)(ROW, TABLE, ROW, ROW, INT, ROW, ROW, ROW, INT, TABLE, TABLE, TABLE, INT, ROW, ROW, ROW, TABLE,
                               ROW, TABLE, CUBE, CUBE, TABLE, ROW, INT, TABLE, ROW, ROW, ROW, TABLE, ROW, INT, ROW))
def window_stays(advancing: Ints, outside: Ints, line_of: Ints, bounds: Ints, steps: int, plain: Ints, repeated: Ints,
                 bit: Ints, number: int, tiles: Ints, cut: Ints, wrapping: Ints, lines: int, all_of: Ints, still: Ints,
                 sizes: Ints, along: Ints, windows: Ints, member: Ints, first: Ints, records_of: Ints, record: Ints,
                 settings: Ints, look: int, pairs: Ints, slots: Ints, moved: Ints, counts: Ints, stops: Ints, route: Ints,
                 bits: int, total: Ints) -> tuple[int, int]:
    """Fills of a tensor with windows, by new elements: ``moved[i]`` with ``counts[i]`` each; returns (how many i, stays).

    ``along[place, window]``: temporal loops of the axis outside a place; ``member[window, line]``: 1 for its lines;
    ``sizes[mask]``: of the plain axes alone. ``slots``, ``pairs``: scratch of ``add_up`` and ``joined``. Where ``moved`` is
    full, what it holds is carried (``flows.carry``) at once.
    """
    used, stays, many, chosen = 0, 0, 0, 0
    while chosen < windows.shape[0] and windows[chosen] >= 0:
        chosen += 1
    states = bit[lines:lines + chosen]
    for slot in range(slots.shape[0]):
        slots[slot] = -1
    for place in range(FIRST_STEP, steps):
        own = -1
        if place >= 0:
            if bounds[advancing[place]] == 1:
                continue
            own = line_of[advancing[place]]
        changed = place < 0
        for i in range(chosen):
            state = 0
            if place >= 0:
                state = 2 * along[place, windows[i]] + member[windows[i], own]
            changed = changed or state != states[i]
            states[i] = state
        if changed:
            many = joined(windows, chosen, first, records_of, record, settings, states, look, pairs)
        step_pairs(own, place, outside[place], plain, repeated, bit, number, tiles, cut, wrapping, lines, all_of, still)
        for mask in range(number):
            for at in range(many):
                size, kept, times = sizes[mask] * pairs[at, 0], sizes[mask] * pairs[at, 1], pairs[at, 2]
                for held in range(2):
                    new = size - held * kept
                    often = times * (still[mask] if held else all_of[mask] - still[mask])
                    if often == 0 or (new == 0 and place >= 0):
                        continue
                    stays += often
                    if 2 * used >= slots.shape[0]:
                        carry(stops, route, bits, used, moved, counts, total)
                        used = 0
                        for slot in range(slots.shape[0]):
                            slots[slot] = -1
                    used = add_up(new, often, used, moved, counts, slots)
    return used, stays
