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
from accelsim.kernels.line_steps import EVEN, ILLEGAL, check_instances, count_steps, lay_out
from accelsim.kernels.mapspace import CUBE, IMAGES, INT, NEST, ROW, TABLE, VOID, Images, Ints, Nest, Windows
from accelsim.kernels.stays import masks, once, outermost, plain_stays, window_stays
from accelsim.kernels.window_images import window_images

BLOCKS = types.Array(types.int64, 4, "C")

NO_CYCLES = 2**63 - 1
"""Cycles of a row that is no mapping of the chip: more than any mapping's."""

WINDOW_SIZES = 256
"""Slots to add up the tiles of a windowed tensor by size; half of them may be used."""


@kernel(VOID(NEST, TABLE, ROW, ROW, TABLE))
def check(nest: Nest, bounds: Ints, order: Ints, states: Ints, scratch: Ints) -> None:
    """``states[row]``: LEGAL, EVEN, ILLEGAL or TOO_LARGE; see ``line_steps``. ``scratch``: [3, columns or axes]."""
    axes = nest.room.shape[0]
    for row in range(bounds.shape[0]):
        states[row] = lay_out(nest.extent, nest.loops[order[row]], nest.length, bounds[row], scratch[0], scratch[1])
        if states[row] <= EVEN and check_instances(bounds[row], nest.temporal, nest.axis, nest.room, nest.unsplit,
                                                   scratch[2, :axes]) == ILLEGAL:
            states[row] = ILLEGAL


@kernel(VOID(ROW, ROW, TABLE, TABLE, ROW, TABLE))
def book(total: Ints, loads: Ints, stops: Ints, stations: Ints, instances: Ints, load: Ints) -> None:
    """Adds what ``carry`` found to the stations of a way: to the first instance's load, to the mean of all, or both.

    ``loads[place]``: bits FIRST and MEAN; ``instances[entry]``, all of them last.
    """
    everywhere = instances[instances.shape[0] - 1]
    for place in range(loads.shape[0]):
        if loads[place] > 0:
            station = stops[place, col.STATION]
            ticks = total[col.TICKS + place] * stations[station, col.UNIT]
            if loads[place] & col.FIRST:
                load[station, col.BUSY_FIRST] += ticks * everywhere
            if loads[place] & col.MEAN:
                load[station, col.BUSY_MEAN] += ticks * (everywhere // instances[stops[place, col.SHARERS]])


@kernel(VOID(FLOWS, TABLE, ROW, ROW, ROW, CUBE, ROW, TABLE, BLOCKS, INT))
def array_loads(flows: Flows, temporals: Ints, bounds: Ints, settings: Ints, touched: Ints, tiles: Ints, instances: Ints,
                load: Ints, traffic: Ints, row: int) -> None:
    """What the array takes and gives: the elements that all PEs touch in one iteration, over all iterations.

    ``temporals[frame, line]`` of ``Nest``; ``settings``, ``touched`` of ``Images``; ``tiles`` of ``count_steps``;
    ``traffic[row, entry, tensor, kind]``, with no rows where it is not asked for.
    """
    everywhere, order = instances[instances.shape[0] - 1], 0
    for station in range(load.shape[0]):
        load[station, col.TAKEN] = 0
        load[station, col.PLACE] = flows.station[station, col.RANK]
    for tensor in range(flows.tensor.shape[0]):
        own = flows.tensor[tensor]
        if own[col.FEEDING] < 0:
            continue
        indexed, always, first, frame = own[col.WHOLE], 1, 1, own[col.TOUCHING]
        for i in range(flows.repeated.shape[1]):
            line = flows.repeated[tensor, i]
            if line >= 0:
                always *= tiles[frame, line, temporals[frame, line]]
                first *= tiles[frame, line, 0]
        for i in range(flows.window.shape[1]):
            if flows.window[tensor, i] >= 0:
                indexed *= touched[settings[flows.window[tensor, i]]]
        taken, given, bits = indexed * always, 0, own[col.BITS]
        if own[col.OUTPUT] == 1:
            bits = held_bits(flows.partial[own[col.FEEDING]], flows.hold[own[col.FEEDING]], bounds)
            given = (taken * bits + 7) >> 3
            taken = 0 if own[col.ADDS] == 1 else taken - indexed * first
        taken = (taken * bits + 7) >> 3
        if traffic.shape[0] > 0:
            entry = flows.hold[own[col.FEEDING], col.ENTRY]
            traffic[row, entry, tensor, col.ARRAY_READ], traffic[row, entry, tensor, col.ARRAY_WRITE] = taken, given
        for i in range(flows.array.shape[0]):
            port, size = flows.array[i, col.PORT], given if flows.array[i, col.WRITES] == 1 else taken
            if flows.array[i, col.TAKER] == tensor and size > 0:
                parts = size * flows.array[i, col.PARTS] * (everywhere // instances[flows.array[i, col.SHARE]])
                load[port, col.BUSY_FIRST] += parts
                load[port, col.BUSY_MEAN] += parts
                load[port, col.TAKEN] = 1
                if load[port, col.PLACE] == col.NEVER:
                    load[port, col.PLACE] = col.NEVER // 2 + order
                    order += 1


@kernel(VOID(NEST, FLOWS, IMAGES, TABLE, TABLE, ROW, ROW, CUBE, CUBE, CUBE, CUBE, TABLE, TABLE, TABLE, TABLE, ROW, ROW, ROW,
             BLOCKS))
def estimate_rows(nest: Nest, flows: Flows, images: Images, settings: Ints, bounds: Ints, order: Ints, states: Ints,
                  tiles: Ints, cut: Ints, wrapping: Ints, areas: Ints, scratch: Ints, found: Ints, load: Ints, pairs: Ints,
                  cycles: Ints, bound_by: Ints, fitting: Ints, traffic: Ints) -> None:
    """Fills ``cycles``, ``bound_by`` (which, as ``largest_bound``), ``fitting`` (0 or 1) [row], and
    ``traffic[row, entry, tensor, kind]`` unless it has no rows.

    ``settings[row, window]``; ``states``: of ``check``, rows that are no mapping are left alone. The others are scratch:
    ``tiles``, ``cut``, ``wrapping`` [frame, line, temporal loops + 1], ``areas[2, frame, line]``, ``found[hold]``,
    ``load[station]``, ``pairs[product of the windows' records, 3]``.
    """
    size, edge = areas[0], areas[1]
    stride, digit, bit, sizes, all_of, still = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4], scratch[5]
    counts, first, done, moved = scratch[6], scratch[7], scratch[8], scratch[9]
    slots, total = scratch[10, :WINDOW_SIZES], scratch[11, :col.TICKS + flows.stop.shape[1]]
    instances, needed = scratch[12, :flows.spatial.shape[0]], scratch[13, :flows.memory.shape[0]]
    lines, accumulator = flows.plain.shape[1], flows.chip[col.ACCUMULATOR]
    for row in range(bounds.shape[0]):
        if states[row] > EVEN:
            continue
        bound, loops = bounds[row], nest.loops[order[row]]
        outside, advancing = nest.outside[order[row]], nest.advancing[order[row]]
        lay_out(nest.extent, loops, nest.length, bound, stride, digit)
        count_steps(nest.extent, loops, nest.length, nest.temporal, nest.above, nest.temporals, nest.counted, bound, stride,
                    digit, tiles, cut, wrapping, size, edge)
        for entry in range(instances.shape[0]):
            instances[entry] = 1
            for loop in range(bound.shape[0]):
                if flows.spatial[entry, loop] == 1:
                    instances[entry] *= bound[loop]
        for station in range(load.shape[0]):
            load[station, col.BUSY_FIRST], load[station, col.BUSY_MEAN] = 0, 0
        for number_of_job in range(flows.job.shape[0]):
            job, loads = flows.job[number_of_job], flows.load[number_of_job]
            hold, frame, look = job[col.OF], job[col.SEEN], job[col.IMAGE]
            tensor, entry = flows.hold[hold, col.TENSOR], flows.hold[hold, col.ENTRY]
            steps, bits = nest.steps[frame], flows.tensor[tensor, col.BITS]
            plain, repeated, windows = flows.plain[tensor], flows.repeated[tensor], flows.window[tensor]
            into, out = flows.stop[2 * hold], flows.stop[2 * hold + 1]
            number = masks(plain, size[frame], edge[frame], sizes, bit, lines)
            for place in range(total.shape[0]):
                total[place] = 0
            if windows[0] >= 0:
                number, stays = window_stays(
                    advancing, outside, nest.line, bound, steps, plain, repeated, bit, number, tiles[frame], cut[frame],
                    wrapping[frame], lines, all_of, still, sizes, flows.along[order[row]], windows, flows.member,
                    images.first, images.number, images.record, settings[row], look, pairs, slots, moved, counts, into,
                    flows.route[2 * hold], bits, total)
                if job[col.CREDIT] == 1:
                    found[hold, col.STAYS] = stays
                    found[hold, col.FIRST_TILE] = sizes[0]
                    for i in range(windows.shape[0]):
                        if windows[i] >= 0:
                            setting = settings[row, windows[i]]
                            found[hold, col.FIRST_TILE] *= images.record[images.first[setting, look, 0], 0]
                carry(into, flows.route[2 * hold], bits, number, moved, counts, total)
            else:
                plain_stays(advancing, outside, nest.line, bound, steps, plain, repeated, bit, number, tiles[frame],
                            cut[frame], wrapping[frame], lines, all_of, still, counts)
                if job[col.CREDIT] == 1:
                    found[hold, col.STAYS], found[hold, col.LEAST_TILE], found[hold, col.FIRST_TILE] = 0, sizes[0], sizes[0]
                    for mask in range(number):
                        found[hold, col.STAYS] += counts[mask]
                        if counts[mask] > 0:
                            found[hold, col.LEAST_TILE] = min(found[hold, col.LEAST_TILE], sizes[mask])
                if flows.tensor[tensor, col.OUTPUT] == 0:
                    carry(into, flows.route[2 * hold], bits, number, sizes, counts, total)
            if flows.tensor[tensor, col.OUTPUT] == 0:
                found[hold, col.MOVING] = total[col.ALONE] if job[col.CREDIT] == 1 else found[hold, col.MOVING]
                if job[col.TRAFFIC] == 1 and traffic.shape[0] > 0:
                    traffic[row, entry, tensor, col.FILL_ELEMENTS] = total[col.ELEMENTS]
                    traffic[row, entry, tensor, col.FILL_BYTES] = total[col.BYTES]
                book(total, loads[0], into, flows.station, instances, load)
                continue
            once(-1, plain, repeated, lines, bit, number, outside, nest.temporals[frame], tiles[frame], cut[frame],
                 wrapping[frame], first)
            if job[col.OUTWARD] == 1:
                split = False
                for loop in range(bound.shape[0]):
                    split = split or (flows.split[hold, loop] == 1 and bound[loop] > 1)
                for mask in range(number):
                    done[mask] = 0 if split else first[mask]
                if not split and flows.hold[hold, col.ACCUMULATES] == 1:
                    place = outermost(advancing, steps, nest.line, bound, stride, nest.extent, repeated)
                    once(place, plain, repeated, lines, bit, number, outside, nest.temporals[frame], tiles[frame],
                         cut[frame], wrapping[frame], done)
                for mask in range(number):
                    all_of[mask] = counts[mask] - done[mask]
                carry(out, flows.route[2 * hold + 1], accumulator, number, sizes, all_of, total)
                carry(out, flows.route[2 * hold + 1], bits, number, sizes, done, total)
                if job[col.CREDIT] == 1:
                    found[hold, col.MOVING] = (total[col.ALONE] - total[col.TRANSFERS]
                                               * flows.route[2 * hold + 1, col.LAST_LATENCY])
                    found[hold, col.LAST_TILE] = 1
                    for i in range(lines):
                        if plain[i] >= 0:
                            ends = cut[frame, plain[i], nest.temporals[frame, plain[i]]] > 0
                            found[hold, col.LAST_TILE] *= edge[frame, plain[i]] if ends else size[frame, plain[i]]
                if job[col.TRAFFIC] == 1 and traffic.shape[0] > 0:
                    traffic[row, entry, tensor, col.DRAIN_ELEMENTS] = total[col.ELEMENTS]
                    traffic[row, entry, tensor, col.DRAIN_BYTES] = total[col.BYTES]
                book(total, loads[1], out, flows.station, instances, load)
            if job[col.INWARD] == 1 and flows.hold[hold, col.ACCUMULATES] == 0:
                for place in range(total.shape[0]):
                    total[place] = 0
                for mask in range(number):
                    all_of[mask] = counts[mask] - first[mask]
                carry(into, flows.route[2 * hold], accumulator, number, sizes, all_of, total)
                if job[col.CREDIT] == 1:
                    found[hold, col.MOVING] += total[col.ALONE]
                if job[col.BACK] == 1 and traffic.shape[0] > 0:
                    traffic[row, entry, tensor, col.REFILL_ELEMENTS] = total[col.ELEMENTS]
                    traffic[row, entry, tensor, col.REFILL_BYTES] = total[col.BYTES]
                book(total, loads[0], into, flows.station, instances, load)
        array_loads(flows, nest.temporals, bound, settings[row], images.touched, tiles, instances, load,
                    traffic, row)
        work = flows.chip[col.INTERVAL]
        for line in range(nest.extent.shape[0]):
            work *= tiles[flows.chip[col.WORK], line, nest.temporals[flows.chip[col.WORK], line]]
        everywhere = instances[instances.shape[0] - 1]
        cycles[row], bound_by[row] = largest_bound(flows, found, load, work, 1 if everywhere > 1 else 0,
                                                   1 if states[row] == EVEN else 0, everywhere)
        fitting[row] = fits(flows, bound, size, settings[row], images.largest, needed)


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
    entries, tensors, lines = flows.spatial.shape[0], flows.tensor.shape[0], flows.plain.shape[1]
    widest = max(WINDOW_SIZES, columns, 1 << lines, entries, len(nest.room), len(flows.memory))
    scratch = np.zeros((14, widest + flows.window.shape[1]), dtype=np.int64)
    states = np.zeros(rows, dtype=np.int64)
    check(nest, bounds, order, states, scratch)
    settings = np.zeros((rows, max(1, len(windows.terms))), dtype=np.int64)
    legal = np.flatnonzero(states <= EVEN)
    images, setting = window_images(nest, windows, bounds[legal] if len(legal) < rows else bounds,
                                    order[legal] if len(legal) < rows else order)
    settings[legal, :len(windows.terms)] = setting.T
    most = int(images.number.max(initial=1)) ** flows.window.shape[1]
    shape = (len(nest.steps), len(nest.extent), columns + 1)
    found = Found(states, np.full(rows, NO_CYCLES, dtype=np.int64), np.full(rows, -1, dtype=np.int64),
                  np.zeros(rows, dtype=np.int64), np.zeros((rows if traffic else 0, entries, tensors, 8), dtype=np.int64))
    estimate_rows(nest, flows, images, settings, bounds, order, states, np.zeros(shape, dtype=np.int64),
                  np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64), np.zeros((2, *shape[:2]), dtype=np.int64),
                  scratch, np.zeros((len(flows.hold), 7), dtype=np.int64), np.zeros((len(flows.station), 7), dtype=np.int64),
                  np.zeros((most, 3), dtype=np.int64), found.cycles, found.bound_by, found.fitting, found.traffic)
    return found
