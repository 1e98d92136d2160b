"""Transfers counted by size, and the cycles that they take at each station of their way."""

from __future__ import annotations

from accelsim.kernels.jit import INT, kernel
from accelsim.kernels.line_steps import ROW, TABLE, VOID, Ints

PER_BYTE, RATE, GRAIN, LEAST, SETUP = range(5)
"""Columns of a way, one row for each station: a byte is served in ``PER_BYTE / RATE`` sixteenths of a cycle (``RATE`` 0: in
no time), in granules of ``GRAIN`` and at least ``LEAST`` bytes, after ``SETUP`` sixteenths."""

ELEMENTS, BYTES, TRANSFERS, ALONE, TICKS = range(5)
"""Columns of what ``carry`` adds up; from ``TICKS`` on sixteenths of cycles at each station."""


@kernel(VOID(ROW, TABLE, TABLE, INT, INT, TABLE, INT, TABLE))
def carry(number: Ints, sizes: Ints, counts: Ints, bits: int, latency: int, way: Ints, sign: int,
          total: Ints) -> None:
    """Adds ``sign`` x the transfers of ``sizes[row, i]`` elements of ``bits``, ``counts[row, i]`` of each, to ``total[row]``.

    ``number[row]`` of them. Each transfer is whole bytes; alone on its ``way`` [station, columns from
    ``PER_BYTE``] it takes the ``latency`` [cycles] and the service of its slowest station.
    """
    for row in range(number.shape[0]):
        for i in range(number[row]):
            size, times = sizes[row, i], sign * counts[row, i]
            if size == 0 or times == 0:
                continue
            payload, slowest = (size * bits + 7) >> 3, 0
            for place in range(way.shape[0]):
                ticks, rate, grain = 0, way[place, RATE], way[place, GRAIN]
                if rate > 0:
                    carried = max(payload, way[place, LEAST])
                    if grain > 1:
                        carried = (carried + grain - 1) // grain * grain
                    ticks = carried * way[place, PER_BYTE]
                    if rate > 1:
                        ticks = (ticks + rate - 1) // rate
                    total[row, TICKS + place] += ticks * times
                slowest = max(slowest, ticks + way[place, SETUP])
            total[row, ELEMENTS] += size * times
            total[row, BYTES] += payload * times
            total[row, TRANSFERS] += times
            total[row, ALONE] += (latency + ((slowest + 15) >> 4)) * times


@kernel(VOID(ROW, INT, INT, TABLE, ROW, TABLE))
def alone(sizes: Ints, bits: int, latency: int, way: Ints, cycles: Ints, ticks: Ints) -> None:
    """``cycles[row]`` from the request of one transfer of ``sizes[row]`` elements to its arrival, if nothing else moves.

    Nothing moves in no time. ``ticks[row, station]``: sixteenths of service on the ``way``; the others as in ``carry``.
    """
    for row in range(sizes.shape[0]):
        payload, slowest = (sizes[row] * bits + 7) >> 3, 0
        for place in range(way.shape[0]):
            served, rate, grain = 0, way[place, RATE], way[place, GRAIN]
            if rate > 0 and payload > 0:
                carried = max(payload, way[place, LEAST])
                if grain > 1:
                    carried = (carried + grain - 1) // grain * grain
                served = carried * way[place, PER_BYTE]
                if rate > 1:
                    served = (served + rate - 1) // rate
            ticks[row, place] = served
            slowest = max(slowest, served + way[place, SETUP])
        cycles[row] = latency + ((slowest + 15) >> 4) if payload > 0 else 0


@kernel(VOID(ROW, ROW, ROW, ROW, INT, ROW, ROW))
def credit(work: Ints, moving: Ints, stays: Ints, inner: Ints, slots: int, even: Ints, cycles: Ints) -> None:
    """``cycles[row]`` of a hold's credit loops: with b slots, a b-th of the sum of all loops, rounded up.

    ``work`` of the array, ``moving``: of all its transfers, and ``inner`` cycles in each of its ``stays``. Where all loops are
    alike (``even[row]`` 1), the longest of the b chains has whole ones: with stays = b (c - 1) + r it takes c of them.
    """
    for row in range(work.shape[0]):
        total = work[row] + moving[row] + stays[row] * inner[row]
        if even[row] == 1 and slots > 1:
            short = slots - 1 - (stays[row] - 1) % slots
            if short > 0:
                each = total // stays[row]
                total += each * short + ((total - each * stays[row]) * short + stays[row] - 1) // stays[row]
        cycles[row] = (total + slots - 1) // slots
