"""Tiles of windows for every setting of their loops: exact images, gaps left out and padding clipped away.

Mappings share few settings of an axis' loops, so each is walked once, tile by tile, and looked up afterwards.
"""

from __future__ import annotations

from accelsim.kernels.estimate_steps import CUBE, ROW, TABLE, Ints
from accelsim.kernels.jit import INT, kernel, part

LENGTH, BEFORE, DISTANCE, SCRATCH = 1, 2, 3, 4
"""Of a tile along a dimension: (position,) length, length at the step before, distance to the step before."""

SIZE, SHARED, COUNT = 0, 1, 2
"""Columns of a record."""


@kernel(INT(TABLE, ROW, ROW, ROW, ROW, ROW))
def settings(bounds: Ints, order: Ints, columns: Ints, slots: Ints, setting: Ints, first_row: Ints) -> int:
    """Groups rows that are alike in these columns and in ``order``; returns the number of settings.

    ``bounds``: int64[rows, all columns]; ``order``: int64[rows]; ``columns``: int64[n]. ``slots``: -1 everywhere, a power
    of two of at least twice the rows. Fills ``setting[row]`` and ``first_row[setting]``.
    """
    number, room = 0, slots.shape[0]
    for row in range(bounds.shape[0]):
        mixed = order[row] + 1
        for i in range(columns.shape[0]):
            mixed = (mixed * 1_000_003 + bounds[row, columns[i]]) & 0x1FF_FFFF_FFFF
        slot = (mixed ^ (mixed >> 17)) & (room - 1)
        while True:
            found = slots[slot]
            if found < 0:
                slots[slot] = number
                first_row[number] = row
                setting[row] = number
                number += 1
                break
            first = first_row[found]
            same = order[first] == order[row]
            for i in range(columns.shape[0]):
                same = same and bounds[first, columns[i]] == bounds[row, columns[i]]
            if same:
                setting[row] = found
                break
            slot = (slot + 1) & (room - 1)
    return number


@part
def image(coefficient: Ints, tile: Ints, terms: int, place: int, extent: int, held: Ints) -> tuple[int, int]:
    """(size, shared with the step before) of one tile that starts at index ``place``, padding included.

    ``coefficient[term]``, smallest first; ``tile[term]``: columns LENGTH, BEFORE, DISTANCE; ``held[index]``: scratch.
    """
    now, before, distance, gaps = 0, 0, 0, False
    for term in range(terms):
        length, older = tile[term, LENGTH], tile[term, BEFORE]
        gaps = gaps or (length > 1 and coefficient[term] > now + 1) or (older > 1 and coefficient[term] > before + 1)
        now += coefficient[term] * (length - 1)
        before += coefficient[term] * (older - 1)
        distance += coefficient[term] * tile[term, DISTANCE]
    if not gaps:
        low, high = max(place, 0), min(place + now, extent - 1)
        if low > high:
            return 0, 0
        return high - low + 1, max(0, min(high, place + distance + before) - max(low, place + distance) + 1)
    for index in range(extent):
        held[index] = 0
    size, shared = 0, 0
    for which in range(2):
        points = 1
        for term in range(terms):
            points *= tile[term, LENGTH + which]
        for point in range(points):
            index, rest = place + distance * which, point
            for term in range(terms):
                index += coefficient[term] * (rest % tile[term, LENGTH + which])
                rest //= tile[term, LENGTH + which]
            if 0 <= index < extent and held[index] == which:
                held[index] += 1
                if which == 0:
                    size += 1
                else:
                    shared += 1
    return size, shared


@part
def _repeated(found: Ints, number: int, first: int, bound: int, stride: int, extent: int) -> int:
    """Repeats the positions for the iterations ``first .. bound - 1`` of a loop, as far as they exist; how many result."""
    for place in range(number):
        found[place, SCRATCH] = found[place, 0]
    left = 0
    for place in range(number):
        for iteration in range(first, bound):
            position = found[place, SCRATCH] + iteration * stride
            if position >= extent:
                break
            found[left, 0] = position
            left += 1
    return left


@part
def tiles_of(loops: Ints, length: int, above: int, extent: int, temporal: Ints, rank: Ints, counted: Ints, merged: Ints,
             bounds: Ints, stride: Ints, state: int, found: Ints) -> int:
    """Fills ``found`` [place, SCRATCH + 1] with the tiles of a dimension at each step of a state (``images``).

    ``loops[i]``: its ``length`` columns, ``above`` of them above the tile; ``rank``, ``merged`` [column] as in ``images``;
    ``temporal``, ``counted``, ``bounds``, ``stride`` [column]. Returns the number of steps.
    """
    tile = 1
    for i in range(length):
        if i >= above or (merged[loops[i]] == 1 and extent % (stride[loops[i]] * bounds[loops[i]]) == 0):
            tile *= bounds[loops[i]]
    outer, own = state // 2, state % 2
    number, advanced = 1, -1
    found[0, 0] = 0
    for i in range(above):
        loop = loops[i]
        if temporal[loop] == 1 and own == 1 and rank[loop] == outer:
            advanced = loop
        elif (rank[loop] < outer) if temporal[loop] == 1 else (counted[loop] == 1):
            number = _repeated(found, number, 0, bounds[loop], stride[loop], extent)
    if advanced >= 0:
        number = _repeated(found, number, 1, bounds[advanced], stride[advanced], extent)
    for place in range(number):
        position = found[place, 0]
        before = position - (stride[advanced] if advanced >= 0 else 0)
        for i in range(above):
            loop = loops[i]
            if temporal[loop] == 1 and rank[loop] >= outer + own:
                before += min(bounds[loop] - 1, (extent - 1 - before) // stride[loop]) * stride[loop]
        found[place, LENGTH] = min(tile, extent - position)
        found[place, BEFORE] = min(tile, extent - before)
        found[place, DISTANCE] = before - position
    return number


@part
def count_images(coefficient: Ints, terms: int, offset: int, extent: int, found: Ints, number: Ints, record: Ints,
                 used: int, tile: Ints, held: Ints) -> int:
    """Images over all combinations of the tiles ``found[term, place]``, ``number[term]`` of them.

    Appends the different (size, shared, how often) to the ``used`` rows of ``record`` and returns how many rows there are
    then, or -1 where there is no room. Away from the tensor's edges an image only moves, so the one seen there last serves
    again. ``tile``, ``held``: scratch of ``image``.
    """
    total = 1
    for term in range(terms):
        total *= number[term]
    records, last = used, -1
    for combination in range(total):
        rest, place, now, before, distance, alike = combination, offset, 0, 0, 0, last >= 0
        for term in range(terms):
            at = rest % number[term]
            rest //= number[term]
            place += coefficient[term] * found[term, at, 0]
            now += coefficient[term] * (found[term, at, LENGTH] - 1)
            before += coefficient[term] * (found[term, at, BEFORE] - 1)
            distance += coefficient[term] * found[term, at, DISTANCE]
            for column in range(LENGTH, SCRATCH):
                alike = alike and tile[term, column] == found[term, at, column]
                tile[term, column] = found[term, at, column]
        inside = place >= 0 and place + now < extent and place + distance >= 0 and place + distance + before < extent
        if not (inside and alike):
            size, shared = image(coefficient, tile, terms, place, extent, held)
            last = used
            while last < records and (record[last, SIZE] != size or record[last, SHARED] != shared):
                last += 1
            if last == records:
                if records == record.shape[0]:
                    return -1
                records += 1
                record[last, SIZE], record[last, SHARED], record[last, COUNT] = size, shared, 0
        record[last, COUNT] += 1
        if not inside:
            last = -1
    return records


@part
def largest_tile(coefficient: Ints, terms: int, offset: int, extent: int, reach: Ints, tile: Ints, held: Ints) -> int:
    """Most elements of any tile along an axis: tiles of ``tile[term, LENGTH]`` side by side up to ``reach[term]``."""
    starts, span = 1, 0
    for term in range(terms):
        length = tile[term, LENGTH]
        tile[term, BEFORE], tile[term, DISTANCE] = length, 0
        starts *= -(-reach[term] // length)
        span += coefficient[term] * (length - 1)
    most = 0
    for start in range(starts):
        rest, place = start, offset
        for term in range(terms):
            tiles = -(-reach[term] // tile[term, LENGTH])
            place += coefficient[term] * tile[term, LENGTH] * (rest % tiles)
            rest //= tiles
        most = max(most, image(coefficient, tile, terms, place, extent, held)[0])
        if place >= 0 and place + span < extent:
            break  # nothing of it is clipped: no tile has more
    return most


@kernel(INT(ROW, CUBE, ROW, ROW, TABLE, TABLE, TABLE, ROW, ROW, INT, INT, ROW, ROW, TABLE, ROW, ROW, TABLE, ROW, INT, TABLE,
            TABLE, TABLE, TABLE, ROW, CUBE, TABLE, TABLE))
def images(extent: Ints, loops: Ints, length: Ints, temporal: Ints, above: Ints, counted: Ints, bounds: Ints, order: Ints,
           rows: Ints, offset: int, reach: int, line: Ints, coefficient: Ints, rank: Ints, frame: Ints, temporals: Ints,
           merged: Ints, asked: Ints, used: int, first: Ints, number: Ints, record: Ints, largest: Ints,
           touched: Ints, found: Ints, tile: Ints, scratch: Ints) -> int:
    """Tables of one window, an axis of a tensor, under the bounds of each of ``rows``; returns the used rows of ``record``.

    ``line[term]``, ``coefficient[term]`` (smallest first), ``offset`` and ``reach``: the axis and its extent. ``rank[order,
    column]``: place of a temporal loop among those of the axis, outermost first, else -1. Looks: ``frame[look]``, with
    ``temporals[look]`` loops of the axis above; ``merged[look, column]``: 1 for a spatial loop whose instances are taken as
    one tile where they divide the line, and left at 0 elsewhere; ``asked[look]``: 1 where the largest tile is wanted. The
    last look is one iteration of the array. The others as in ``estimate_steps``.

    The records of a setting, look and state are ``record[first .. first + number - 1]``, (size, shared with the step before,
    how often), appended from row ``used`` on; ``first``, ``number`` [setting, look x states + state]. State 2 i: a loop of
    another line advances that has i temporal loops of the axis outside it (0: the first step; at most all: every step);
    2 i + 1: loop i of the axis does. ``largest[setting, look]``: elements of the largest tile; ``touched[setting]``: elements
    touched, over all iterations. Scratch: ``found[term, longest extent, SCRATCH + 1]``, ``tile[term, SCRATCH]``,
    ``scratch[4, terms, columns or reach]``. Returns -1 where ``record`` has too few rows.
    """
    terms, looks = line.shape[0], frame.shape[0]
    states = first.shape[1] // looks
    tiles, until_edge, stride, held = scratch[0], scratch[1], scratch[2], scratch[3]
    for setting in range(rows.shape[0]):
        own, bound = loops[order[rows[setting]]], bounds[rows[setting]]
        for term in range(terms):
            total = 1
            until_edge[term] = extent[line[term]]
            for i in range(length[line[term]] - 1, -1, -1):
                stride[own[line[term], i]] = total
                total *= bound[own[line[term], i]]
        for look in range(looks):
            array = look == looks - 1
            for state in range(2 * temporals[look] if array else 0, 2 * temporals[look] + 1):
                for term in range(terms):
                    tiles[term] = tiles_of(
                        own[line[term]], length[line[term]], above[frame[look], line[term]], extent[line[term]], temporal,
                        rank[order[rows[setting]]], counted[frame[look]], merged[look], bound, stride, state, found[term])
                until = count_images(coefficient, terms, offset, reach, found, tiles, record, used, tile, held)
                if until < 0:
                    return -1
                first[setting, look * states + state], number[setting, look * states + state] = used, until - used
                for i in range(used, until if array else used):
                    touched[setting] += record[i, SIZE] * record[i, COUNT]
                used = until
            if asked[look] == 1:
                for term in range(terms):
                    tile[term, LENGTH] = 1
                    for i in range(above[frame[look], line[term]], length[line[term]]):
                        tile[term, LENGTH] *= bound[own[line[term], i]]
                    tile[term, LENGTH] = min(tile[term, LENGTH], until_edge[term])
                largest[setting, look] = largest_tile(coefficient, terms, offset, reach, until_edge, tile, held)
    return used
