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
