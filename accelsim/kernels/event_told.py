"""Telling values of a run's state, each with what it moves along with, and records by name (see ``event_snapshot``)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.event_layout import NEVER, RESIDENCIES
from accelsim.kernels.jit import part, small_part

Ints = NDArray[np.int64]

EXACT, IN_CYCLES, IN_TICKS, IN_RESIDENCIES, IN_STEPS, IN_BLOCKS, KINDS = range(7)
"""What a value moves along with; of residencies and steps the station, of blocks the array is in the kind too: kind +
``KINDS`` x number."""

OLD = -2
"""A time that nothing depends on any more."""

COUNT, ROOM, HORIZON, OUT_HEAD = range(4)
"""Head of the told values: how many, room for how many, and the cycle up to which times are old."""

MET, MET_LEGS, LEG_ROOM, NAMES_HEAD = range(4)
"""Head of the names: how many residencies and legs have been met, and room for how many legs. After it, for each residency its
name and, name by name, which it is; then the same for legs.
"""


@small_part
def say(out: Ints, value: int, kind: int) -> int:
    """Tell a value."""
    i = out[COUNT]
    out[COUNT] += 1
    if i < out[ROOM]:
        out[OUT_HEAD + 2 * i], out[OUT_HEAD + 2 * i + 1] = value, kind
    return 0


@small_part
def say_cycle(out: Ints, cycle: int) -> int:
    """Tell a time; -1 stays what it is."""
    if cycle < 0:
        return say(out, cycle, EXACT)
    if cycle <= out[HORIZON]:
        return say(out, OLD, EXACT)
    return say(out, cycle, IN_CYCLES)


@small_part
def say_number(out: Ints, number: int, station: int) -> int:
    """Tell the number of a station's residency; -1 stays what it is."""
    return say(out, number, EXACT if number < 0 else IN_RESIDENCIES + KINDS * station)


@part
def name(s: Ints, out: Ints, names: Ints, r: int) -> int:
    """Tell a residency by its name, and give it one where it is met first."""
    if r < 0:
        return say(out, NEVER, EXACT)
    if names[NAMES_HEAD + r] < 0:
        names[NAMES_HEAD + r] = names[MET]
        names[NAMES_HEAD + s[RESIDENCIES] + names[MET]] = r
        names[MET] += 1
    return say(out, names[NAMES_HEAD + r], EXACT)


@part
def name_leg(s: Ints, out: Ints, names: Ints, leg: int) -> int:
    """Tell a leg by its name, and give it one where it is met first."""
    if leg < 0:
        return say(out, NEVER, EXACT)
    base = NAMES_HEAD + 2 * s[RESIDENCIES]
    if names[base + leg] < 0:
        names[base + leg] = names[MET_LEGS]
        names[base + names[LEG_ROOM] + names[MET_LEGS]] = leg
        names[MET_LEGS] += 1
    return say(out, names[base + leg], EXACT)
