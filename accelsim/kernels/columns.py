"""Columns of the tables in ``flows.Flows``, and of what a list of transfers adds up to."""

from __future__ import annotations

TENSOR, ENTRY, HOME, FRAME, LOOK, MEMORY, SLOTS, ACCUMULATES, FINISHED_BITS, PARTIAL_BITS, LATE, AFTER = range(12)
"""Columns of ``Flows.hold``. ``FRAME``, ``LOOK``: of the instance whose spatial iterations are 0; ``ACCUMULATES``: whether
the hold before adds up what arrives; bits of finished and unfinished elements held; ``LATE``: cycles that a slot is
released later than the step ends; ``AFTER``: latencies that follow when a drain is through."""

OF, SEEN, IMAGE, TRAFFIC, CREDIT, INWARD, OUTWARD, BACK = range(8)
"""Columns of ``Flows.job``: hold, frame, look, then what it is counted for (0 or 1): fills and drains of all instances,
credit loops, fills and refills, drains, and the refills of all instances."""

FIRST, MEAN = 1, 2
"""Bits of ``Flows.load``: the load of the first instance, and that of all, which the instances share."""

STOPS, LATENCY, LAST_LATENCY = range(3)
"""Columns of ``Flows.route``: how many stops, the sum of their latencies and that of the last."""

STATION, PER_BYTE, RATE, GRAIN, LEAST, SETUP, DONE, SHARERS = range(8)
"""Columns of ``Flows.stop``: a byte is served in ``PER_BYTE / RATE`` sixteenths of a cycle (``RATE`` 0: in no time);
``GRAIN``, ``LEAST`` [bytes]; ``SETUP`` in sixteenths; ``DONE``: latencies of the stops before [cycles]; ``SHARERS``: the
entry whose instances share the load of all."""

FILL_HEAD, DRAIN_HEAD, TAIL, RANK, UNIT = range(5)
"""Columns of ``Flows.station``: least cycles before a fill, before a drain since the first result, and after a transfer
(``NEVER``: none passes); which station comes first where bounds are equal (``NEVER``: it depends on what the array takes);
in how many parts a sixteenth is counted."""

NEVER = 1 << 40
"""In place of a number of cycles before or after something that never happens."""

BITS, OUTPUT, BEGIN, END, TOUCHING, WHOLE, ALL, FEEDING, ADDS, PLAINS, REPEATS, WINDOWED = range(12)
"""Columns of ``Flows.tensor``: bits of an element, 1 for the output, its holds ``BEGIN .. END - 1``, frame of one iteration
of the array, elements along its plain axes and of all of it, the hold that feeds the array (-1: registers do), whether
its memory adds up what arrives, and how many plain lines, lines it does not depend on and windows it has."""

TAKER, WRITES, PORT, PARTS, SHARE = range(5)
"""Columns of ``Flows.array``: the tensor, 0 what the array reads or 1 what it writes, the station, parts of a cycle
per byte, and the entry whose instances share the load."""

INTERVAL, SKEW, AFTER_STEP, ACCUMULATOR, REGISTERS, WORK = range(6)
"""Places of ``Flows.chip``: cycles per iteration, latency of a step, least cycles from the end of a step to the end of the
run, bits of the accumulator, words of the array's registers, frame of all iterations."""

ELEMENTS, BYTES, TRANSFERS, ALONE, TICKS = range(5)
"""Places of what ``carry`` adds up; from ``TICKS`` on sixteenths of cycles, one place for each stop."""

FIRST_TILE, LAST_TILE, STAYS, LEAST_TILE, MOVING, ARRIVAL, OWN = range(7)
"""What is found of a hold, of the instance whose spatial iterations are 0: elements of the first tile and of the last one,
stays, elements of the smallest fill or drain, cycles of all its transfers one after another, when the first tile can be
asked for, and the cycles that it takes."""

BUSY_FIRST, BUSY_MEAN, HEAD, SERVED, AFTERWARDS, PLACE, TAKEN = range(7)
"""What is found of a station: loads in parts, then of the first tiles: least cycles before, sixteenths of service, least
cycles after; its place among stations, and 1 where the array takes or gives through it."""

FILL_ELEMENTS, DRAIN_ELEMENTS, REFILL_ELEMENTS, FILL_BYTES, DRAIN_BYTES, REFILL_BYTES, ARRAY_READ, ARRAY_WRITE = range(8)
"""Kinds of traffic; those of the array in bytes."""
