"""What moves between holds as integer tables, and the cycles that a list of transfers takes at each station.

A *hold* is a tensor at an entry of its path; the holds of a tensor stand together, its home first. A *route* leads from
the hold before into a hold (number 2 x hold) or back (2 x hold + 1); its *stops* are ports and links.
"""

from __future__ import annotations

from typing import NamedTuple

from numba import types

from accelsim.kernels import columns as col
from accelsim.kernels.jit import kernel
from accelsim.kernels.mapspace import CUBE, INT, ROW, TABLE, VOID, Ints


class Flows(NamedTuple):
    """Holds, routes, stations and loads.

    ``hold``, ``job``, ``route``, ``station``, ``tensor``, ``array``: one row for each, columns as in ``columns``;
    ``stop[route, place]``; ``load[job, inward 0 or outward 1, place]``. Lists of loops, ended by -1: ``split[hold]`` spatial
    reductions above it, ``partial[hold]`` reductions that leave its sums unfinished, ``spread[hold]`` spatial loops above
    it that the tensor depends on, ``spatial[entry]`` all spatial loops above the entry. ``plain``, ``repeated``,
    ``window`` [tensor, i]: lines that index it one to one and that do not, and its windows; ``kind[tensor, line]``: 0
    repeated, 1 plain, 2 of a window. ``along[order, place, window]``: temporal loops of the axis that stand before a place
    of ``Nest.advancing``; ``member[window, line]``: 1 for its lines. ``memory``: (capacity [B] or -1, bank [B] or 1).
    """

    hold: Ints
    job: Ints
    load: Ints
    route: Ints
    stop: Ints
    station: Ints
    tensor: Ints
    array: Ints
    split: Ints
    partial: Ints
    spread: Ints
    spatial: Ints
    plain: Ints
    repeated: Ints
    window: Ints
    kind: Ints
    along: Ints
    member: Ints
    memory: Ints
    chip: Ints


FLOWS = types.NamedTuple((TABLE, TABLE, CUBE, TABLE, CUBE, TABLE, TABLE, TABLE, TABLE, TABLE, TABLE, TABLE, TABLE, TABLE,
                          TABLE, TABLE, CUBE, TABLE, TABLE, ROW), Flows)


@kernel(INT(INT, CUBE, INT, INT))
def service(payload: int, stop: Ints, way: int, place: int) -> int:
    """Sixteenths of a cycle that ``stop[way, place]`` serves ``payload`` bytes: up to granules, then to sixteenths."""
    rate, grain = stop[way, place, col.RATE], stop[way, place, col.GRAIN]
    if payload == 0 or rate == 0:
        return 0
    carried = max(payload, stop[way, place, col.LEAST])
    if grain > 1:
        carried = (carried + grain - 1) // grain * grain
    ticks = carried * stop[way, place, col.PER_BYTE]
    return ticks if rate == 1 else (ticks + rate - 1) // rate


@kernel(VOID(CUBE, TABLE, INT, INT, INT, ROW, ROW, ROW))
def carry(stop: Ints, route: Ints, way: int, bits: int, number: int, sizes: Ints, counts: Ints, total: Ints) -> None:
    """Adds the transfers of ``sizes`` elements, ``counts`` of each, to ``total`` (``columns``: places ``ELEMENTS`` ..).

    ``stop``, ``route`` as in ``Flows`` and the number of the ``way``; ``bits`` of an element. Each transfer is whole bytes,
    and alone on its way it takes the latencies and the service of its slowest stop.
    """
    for i in range(number):
        if sizes[i] == 0 or counts[i] == 0:
            continue
        payload, slowest = (sizes[i] * bits + 7) >> 3, 0
        for place in range(route[way, col.STOPS]):
            ticks = service(payload, stop, way, place)
            total[col.TICKS + place] += ticks * counts[i]
            slowest = max(slowest, ticks + stop[way, place, col.SETUP])
        total[col.ELEMENTS] += sizes[i] * counts[i]
        total[col.BYTES] += payload * counts[i]
        total[col.TRANSFERS] += counts[i]
        total[col.ALONE] += (route[way, col.LATENCY] + ((slowest + 15) >> 4)) * counts[i]


@kernel(INT(CUBE, TABLE, INT, INT, INT))
def alone(stop: Ints, route: Ints, way: int, bits: int, size: int) -> int:
    """Cycles from the request of one transfer of ``size`` elements to its arrival; nothing moves in no time."""
    if size == 0:
        return 0
    payload, slowest = (size * bits + 7) >> 3, 0
    for place in range(route[way, col.STOPS]):
        slowest = max(slowest, service(payload, stop, way, place) + stop[way, place, col.SETUP])
    return route[way, col.LATENCY] + ((slowest + 15) >> 4)
