"""The estimate of many mappings: traffic, every bound and the largest of them, row by row.

The same model as the closed form of one mapping, coded over integers: sixteenths of cycles, whole bytes, ceilings. Only
loads shared by instances divide; they are counted in parts small enough to be whole.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from accelsim.kernels import columns as col
from accelsim.kernels.bounds import fits, held_bits, largest_bound
from accelsim.kernels.flows import FLOWS, Flows, carry
from accelsim.kernels.jit import kernel
from accelsim.kernels.line_steps import EVEN, ILLEGAL, count_steps, lay_out
from accelsim.kernels.mapspace import CUBE, IMAGES, INT, NEST, ROW, TABLE, VOID, Images, Ints, Nest, Windows
from accelsim.kernels.stays import masks, outermost, plain_stays, unmoved, window_stays
from accelsim.kernels.window_images import window_images

BLOCKS = types.Array(types.int64, 4, "C")

NO_CYCLES = 2**63 - 1
"""Cycles of a row that is no mapping of the chip: more than any mapping's."""

WINDOW_SIZES = 128
"""Slots to add up the tiles of a windowed tensor by size; half of them may be used."""


@kernel(VOID(ROW, CUBE, ROW, ROW, ROW, ROW, ROW, TABLE, ROW, ROW, TABLE))
def check(extent: Ints, loops: Ints, length: Ints, temporal: Ints, axis: Ints, room: Ints, unsplit: Ints, bounds: Ints,
          order: Ints, states: Ints, scratch: Ints) -> None:
    """``states[row]``: LEGAL, EVEN, ILLEGAL or TOO_LARGE (``line_steps``).

    Illegal are also more instances or PEs than an axis has, and a reduction split where nothing adds it up. The tables as
    in ``Nest``; ``scratch``: [3, columns or axes].
    """
    for row in range(bounds.shape[0]):
        states[row] = lay_out(extent, loops, length, order[row], bounds, row, scratch[0], scratch[1])
        for i in range(room.shape[0]):
            scratch[2, i] = 1
        for loop in range(bounds.shape[1] if states[row] <= EVEN else 0):
            if temporal[loop] == 0:
                scratch[2, axis[loop]] *= bounds[row, loop]
                if scratch[2, axis[loop]] > room[axis[loop]] or (unsplit[loop] == 1 and bounds[row, loop] > 1):
                    states[row] = ILLEGAL
                    break


@kernel(VOID(ROW, CUBE, INT, INT, CUBE, INT, TABLE, ROW, TABLE))
def book(total: Ints, loads: Ints, job: int, direction: int, stop: Ints, way: int, stations: Ints, instances: Ints,
         load: Ints) -> None:
    """Adds what ``carry`` found to the stations of a way: to the first instance's load, to the mean of all, or both.

    ``instances[entry]``: how many there are, of the array last; the others as in ``Flows`` and ``bounds``.
    """
    everywhere = instances[instances.shape[0] - 1]
    for place in range(loads.shape[2]):
        bits = loads[job, direction, place]
        if bits == 0:
            continue
        station = stop[way, place, col.STATION]
        ticks = total[col.TICKS + place] * stations[station, col.UNIT]
        if bits & col.FIRST:
            load[station, col.BUSY_FIRST] += ticks * everywhere
        if bits & col.MEAN:
            sharers = instances[stop[way, place, col.SHARERS]]
            load[station, col.BUSY_MEAN] += ticks if sharers == everywhere else ticks * (everywhere // sharers)


@kernel(VOID(TABLE, TABLE, TABLE, TABLE, TABLE, TABLE, TABLE, TABLE, TABLE, INT, TABLE, ROW, TABLE, INT, ROW, TABLE, BLOCKS))
def array_loads(holds: Ints, tensors: Ints, array: Ints, stations: Ints, partial: Ints, repeated: Ints, window: Ints,
                temporals: Ints, bounds: Ints, row: int, settings: Ints, touched: Ints, tiles: Ints, lines: int,
                instances: Ints, load: Ints, traffic: Ints) -> None:
    """What the array takes and gives: the elements that all PEs touch in one iteration, over all iterations.

    ``temporals`` as in ``Nest``, ``touched`` as in ``Images``, ``tiles`` as in ``line_steps.count_steps``,
    ``traffic[row, entry, tensor, kind]`` with no rows where it is not asked for; the others as in ``Flows`` and ``book``.
    """
    everywhere, order = instances[instances.shape[0] - 1], 0
    for station in range(load.shape[0]):
        load[station, col.TAKEN], load[station, col.PLACE] = 0, stations[station, col.RANK]
    for tensor in range(tensors.shape[0]):
        feeding, frame = tensors[tensor, col.FEEDING], tensors[tensor, col.TOUCHING]
        if feeding < 0:
            continue
        indexed, always, first, given, bits = tensors[tensor, col.WHOLE], 1, 1, 0, tensors[tensor, col.BITS]
        for i in range(tensors[tensor, col.REPEATS]):
            line = repeated[tensor, i]
            always *= tiles[frame * lines + line, temporals[frame, line]]
            first *= tiles[frame * lines + line, 0]
        for i in range(tensors[tensor, col.WINDOWED]):
            indexed *= touched[settings[row, window[tensor, i]]]
        taken = indexed * always
        if tensors[tensor, col.OUTPUT] == 1:
            bits = held_bits(partial, holds, feeding, bounds, row)
            given = (taken * bits + 7) >> 3
            taken = 0 if tensors[tensor, col.ADDS] == 1 else taken - indexed * first
        taken = (taken * bits + 7) >> 3
        if traffic.shape[0] > 0:
            traffic[row, holds[feeding, col.ENTRY], tensor, col.ARRAY_READ] = taken
            traffic[row, holds[feeding, col.ENTRY], tensor, col.ARRAY_WRITE] = given
        for i in range(array.shape[0]):
            port, size = array[i, col.PORT], given if array[i, col.WRITES] == 1 else taken
            if array[i, col.TAKER] == tensor and size > 0:
                parts = size * array[i, col.PARTS] * (everywhere // instances[array[i, col.SHARE]])
                load[port, col.BUSY_FIRST] += parts
                load[port, col.BUSY_MEAN] += parts
                load[port, col.TAKEN] = 1
                if load[port, col.PLACE] == col.NEVER:
                    load[port, col.PLACE] = col.NEVER // 2 + order
                    order += 1


@kernel(VOID(NEST, FLOWS, IMAGES, TABLE, TABLE, ROW, ROW, TABLE, TABLE, TABLE, TABLE, TABLE, TABLE, TABLE, ROW, ROW, ROW,
             BLOCKS))
def estimate_rows(nest: Nest, flows: Flows, images: Images, settings: Ints, bounds: Ints, order: Ints, states: Ints,
                  tiles: Ints, cut: Ints, wrapping: Ints, scratch: Ints, found: Ints, load: Ints, pairs: Ints,
                  cycles: Ints, bound_by: Ints, fitting: Ints, traffic: Ints) -> None:
    """Fills ``cycles``, ``bound_by`` (which, as ``largest_bound``), ``fitting`` (0 or 1) [row], and
    ``traffic[row, entry, tensor, kind]`` unless it has no rows.

    ``settings[row, window]``; ``states``: of ``check``, rows that are no mapping are left alone. The others are scratch:
    ``tiles``, ``cut``, ``wrapping`` [frame x line, temporal loops + 1], ``found[hold]``, ``load[station]``,
    ``pairs[product of the windows' records, 3]``.
    """
    hold_table, tensors, jobs, loads, stop, route = flows.hold, flows.tensor, flows.job, flows.load, flows.stop, flows.route
    plain, repeated, window, kind, temporals = flows.plain, flows.repeated, flows.window, flows.kind, nest.temporals
    advancing, outside, line_of, extent = nest.advancing, nest.outside, nest.line, nest.extent
    stations, spatial, split, chip = flows.station, flows.spatial, flows.split, flows.chip
    stride, digit, bit, sizes, still, counts = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4], scratch[5]
    first, done, moved, wave, size, edge = scratch[6], scratch[7], scratch[8], scratch[9], scratch[10], scratch[11]
    slots, total = scratch[12, :WINDOW_SIZES], scratch[13, :col.TICKS + stop.shape[1]]
    instances, needed = scratch[14, :spatial.shape[0]], scratch[15]
    lines, accumulator, output = extent.shape[0], chip[col.ACCUMULATOR], 0
    for tensor in range(tensors.shape[0]):
        if tensors[tensor, col.OUTPUT] == 1:
            output = tensor
    for row in range(bounds.shape[0]):
        if states[row] > EVEN:
            continue
        own = order[row]
        lay_out(extent, nest.loops, nest.length, own, bounds, row, stride, digit)
        count_steps(extent, nest.loops, nest.length, nest.temporal, nest.above, temporals, nest.counted, own, bounds, row,
                    stride, digit, tiles, cut, wrapping, size, edge)
        for entry in range(instances.shape[0]):
            instances[entry] = 1
            for i in range(spatial.shape[1]):
                if spatial[entry, i] < 0:
                    break
                instances[entry] *= bounds[row, spatial[entry, i]]
        for station in range(load.shape[0]):
            load[station, col.BUSY_FIRST], load[station, col.BUSY_MEAN] = 0, 0
        for job in range(jobs.shape[0]):
            hold, frame, look = jobs[job, col.OF], jobs[job, col.SEEN], jobs[job, col.IMAGE]
            tensor, entry, credit = hold_table[hold, col.TENSOR], hold_table[hold, col.ENTRY], jobs[job, col.CREDIT] == 1
            plains, repeats, windows = tensors[tensor, col.PLAINS], tensors[tensor, col.REPEATS], tensors[tensor, col.WINDOWED]
            steps, bits, base = nest.steps[frame], tensors[tensor, col.BITS], frame * lines
            inward, outward = 2 * hold, 2 * hold + 1
            number = masks(plain, tensor, plains, size, edge, base, sizes, bit)
            for i in range(total.shape[0]):
                total[i] = 0
            if windows > 0:
                stays = window_stays(
                    advancing, outside, line_of, own, bounds, row, steps, kind, plain, repeated, tensor, plains, repeats, bit,
                    number, tiles, cut, wrapping, base, still, sizes, window, windows, flows.along, flows.member, images.first,
                    images.number, images.record, settings, look, wave, pairs, slots, moved, counts, stop, route, inward, bits,
                    total)
                if credit:
                    tile = sizes[0]
                    for i in range(windows):
                        tile *= images.record[images.first[settings[row, window[tensor, i]], look, 0], 0]
                    found[hold, col.FIRST_TILE], found[hold, col.STAYS] = tile, stays + (1 if tile == 0 else 0)
            else:
                plain_stays(advancing, outside, line_of, own, bounds, row, steps, kind, plain, repeated, tensor, plains, repeats,
                            bit, number, tiles, cut, wrapping, base, still, counts)
                if credit:
                    stays, least = 0, sizes[0]
                    for mask in range(number):
                        stays += counts[mask]
                        if counts[mask] > 0 and sizes[mask] < least:
                            least = sizes[mask]
                    found[hold, col.STAYS], found[hold, col.LEAST_TILE], found[hold, col.FIRST_TILE] = stays, least, sizes[0]
            if tensor != output:
                if windows == 0:
                    carry(stop, route, inward, bits, number, sizes, counts, total)
                if credit:
                    found[hold, col.MOVING] = total[col.ALONE]
                if traffic.shape[0] > 0 and jobs[job, col.TRAFFIC] == 1:
                    traffic[row, entry, tensor, col.FILL_ELEMENTS] = total[col.ELEMENTS]
                    traffic[row, entry, tensor, col.FILL_BYTES] = total[col.BYTES]
                book(total, loads, job, 0, stop, inward, stations, instances, load)
                continue
            unmoved(outside, own, steps, -1, plain, repeated, tensor, plains, 0, bit, number, tiles, cut, wrapping, base, first)
            scale = 1
            for i in range(repeats):
                scale *= tiles[base + repeated[tensor, i], 0]
            finished = True
            for i in range(split.shape[1]):
                finished = finished and (split[hold, i] < 0 or bounds[row, split[hold, i]] == 1)
            for mask in range(number):
                first[mask] *= scale
                done[mask] = first[mask] if finished else 0
            if finished and hold_table[hold, col.ACCUMULATES] == 1:
                place = outermost(advancing, line_of, own, bounds, row, steps, stride, extent, kind, tensor)
                if place >= 0:
                    unmoved(outside, own, place, -1, plain, repeated, tensor, plains, 0, bit, number, tiles, cut, wrapping,
                            base, done)
            if jobs[job, col.OUTWARD] == 1:
                for mask in range(number):
                    still[mask] = counts[mask] - done[mask]
                carry(stop, route, outward, accumulator, number, sizes, still, total)
                carry(stop, route, outward, bits, number, sizes, done, total)
                if credit:
                    found[hold, col.MOVING] = total[col.ALONE] - total[col.TRANSFERS] * route[outward, col.LAST_LATENCY]
                    tile = 1
                    for i in range(plains):
                        at = base + plain[tensor, i]
                        tile *= edge[at] if cut[at, temporals[frame, plain[tensor, i]]] > 0 else size[at]
                    found[hold, col.LAST_TILE] = tile
                if traffic.shape[0] > 0 and jobs[job, col.TRAFFIC] == 1:
                    traffic[row, entry, tensor, col.DRAIN_ELEMENTS] = total[col.ELEMENTS]
                    traffic[row, entry, tensor, col.DRAIN_BYTES] = total[col.BYTES]
                book(total, loads, job, 1, stop, outward, stations, instances, load)
            if jobs[job, col.INWARD] == 1 and hold_table[hold, col.ACCUMULATES] == 0:
                for i in range(total.shape[0]):
                    total[i] = 0
                for mask in range(number):
                    still[mask] = counts[mask] - first[mask]
                carry(stop, route, inward, accumulator, number, sizes, still, total)
                if credit:
                    found[hold, col.MOVING] += total[col.ALONE]
                if traffic.shape[0] > 0 and jobs[job, col.BACK] == 1:
                    traffic[row, entry, tensor, col.REFILL_ELEMENTS] = total[col.ELEMENTS]
                    traffic[row, entry, tensor, col.REFILL_BYTES] = total[col.BYTES]
                book(total, loads, job, 0, stop, inward, stations, instances, load)
        array_loads(hold_table, tensors, flows.array, stations, flows.partial, repeated, window, temporals, bounds, row, settings,
                    images.touched, tiles, lines, instances, load, traffic)
        work = chip[col.INTERVAL]
        for line in range(lines):
            work *= tiles[chip[col.WORK] * lines + line, temporals[chip[col.WORK], line]]
        bound_by[row] = largest_bound(hold_table, tensors, route, stop, stations, chip, found, load, output, work,
                                      instances[instances.shape[0] - 1], 1 if states[row] == EVEN else 0, cycles, row)
        fitting[row] = fits(hold_table, tensors, flows.partial, flows.spread, plain, window, flows.memory, chip, bounds, row,
                            size, lines, settings, images.largest, needed)


class Found(NamedTuple):
    """Per row: ``states`` (``line_steps``), ``cycles`` (NO_CYCLES where it is no mapping), ``bound_by`` (which, as
    ``bounds.largest_bound``), ``fitting`` (0 or 1), and ``traffic[row, entry, tensor, kind]`` (no rows if not asked for).
    """

    states: Ints
    cycles: Ints
    bound_by: Ints
    fitting: Ints
    traffic: Ints


def estimate_batch(nest: Nest, windows: Windows, flows: Flows, bounds: Ints, order: Ints, *, traffic: bool) -> Found:
    """The estimate of every row of ``bounds``, int64[rows, columns], under the order of loops ``order[row]``."""
    rows, columns = bounds.shape
    entries, tensors, lines = flows.spatial.shape[0], flows.tensor.shape[0], len(nest.extent)
    widest = max(WINDOW_SIZES, columns, 1 << lines, entries, len(nest.room), len(flows.memory), len(nest.steps) * lines)
    scratch = np.zeros((16, widest), dtype=np.int64)
    states = np.zeros(rows, dtype=np.int64)
    check(nest.extent, nest.loops, nest.length, nest.temporal, nest.axis, nest.room, nest.unsplit, bounds, order, states, scratch)
    settings = np.zeros((rows, max(1, len(windows.terms))), dtype=np.int64)
    legal = np.flatnonzero(states <= EVEN)
    images, setting = window_images(nest, windows, bounds[legal] if len(legal) < rows else bounds,
                                    order[legal] if len(legal) < rows else order)
    settings[legal, :len(windows.terms)] = setting.T
    most = int(images.number.max(initial=1)) ** flows.window.shape[1]
    shape = (len(nest.steps) * lines, columns + 2)
    found = Found(states, np.full(rows, NO_CYCLES, dtype=np.int64), np.full(rows, -1, dtype=np.int64),
                  np.zeros(rows, dtype=np.int64), np.zeros((rows if traffic else 0, entries, tensors, 8), dtype=np.int64))
    estimate_rows(nest, flows, images, settings, bounds, order, states, np.zeros(shape, dtype=np.int64),
                  np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64), scratch,
                  np.zeros((len(flows.hold), 7), dtype=np.int64), np.zeros((len(flows.station), 7), dtype=np.int64),
                  np.zeros((most, 3), dtype=np.int64), found.cycles, found.bound_by, found.fitting, found.traffic)
    return found
