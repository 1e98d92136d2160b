"""What a picture of a timeline shows, as numbers: its rows, and the ticks each spent in each colour per column."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.raster import raster
from accelsim.stalls import BUSY_COLOUR, IDLE_COLOUR
from accelsim.timeline import BUSY_STATE, CAUSES, PHASES, STATES, TICKS, LaneKind, Timeline, state_cause

Ints = NDArray[np.int64]
Window = tuple[int, int]

COLOURS: tuple[str, ...] = (BUSY_COLOUR, *(cause.colour for cause in CAUSES), IDLE_COLOUR)
"""Of a picture, by number: busy, the stall causes in the order of their table, idle. Phases share a colour."""
BUSY, IDLE = 0, len(COLOURS) - 1
_FEWEST_ARRAY_ROWS = 8


def _words(code: str) -> str:
    return " ".join(word.upper() if word in ("dram", "sram") else word for word in code.split("_"))


NAMES: tuple[str, ...] = ("busy", *(_words(cause.code) for cause in CAUSES), "idle")


def state_colour(state: int) -> int:
    """The colour number under which a row of this state is drawn."""
    stall = state_cause(state)
    return BUSY if stall is None else 1 + CAUSES.index(stall[0])


@dataclass(frozen=True)
class Row:
    """One row of a picture: a lane, or neighbouring arrays taken together."""

    name: str
    lanes: tuple[int, ...]
    is_array: bool


@dataclass(frozen=True)
class Composition:
    """How time was spent: ``ticks[row, column, colour]``; column c lies between ``borders[c]`` and the next (ticks)."""

    borders: Ints
    ticks: Ints

    def total(self) -> Ints:
        """Ticks of each row and colour, over all columns."""
        total: Ints = self.ticks.sum(axis=1)
        return total

    def stack(self, row: int, pixels: int, columns: int) -> Ints:
        """Colour numbers of a row's image, ``[pixel from the bottom, column]``: each column a stack, busy lowest.

        The image's columns are equally wide and show what lies at their middle; borders within a stack are rounded
        to the nearest pixel.
        """
        middles = self.borders[0] + (2 * np.arange(columns) + 1) * (self.borders[-1] - self.borders[0]) / (2 * columns)
        ticks = self.ticks[row, np.searchsorted(self.borders, middles, side="right") - 1]
        tops = ticks.cumsum(axis=1)
        tops = (2 * tops * pixels + tops[:, -1:]) // (2 * tops[:, -1:])
        above = np.arange(pixels)[:, None, None] >= tops[None, :, :-1]
        colours: Ints = above.sum(axis=2)
        return colours


def arrange_rows(timeline: Timeline, most_rows: int) -> tuple[tuple[Row, ...], str]:
    """The rows of a picture, arrays first, and a note on what is not shown one by one.

    Up to ``most_rows`` every lane has its own. Beyond, neighbouring arrays are taken together, and of the ports and
    links the busiest stay, in the chip's order.
    """
    arrays = [number for number, lane in enumerate(timeline.lanes) if lane.kind is LaneKind.ARRAY]
    others = [number for number, lane in enumerate(timeline.lanes) if lane.kind is not LaneKind.ARRAY]
    notes = []
    room = max(min(_FEWEST_ARRAY_ROWS, most_rows), most_rows - len(others))
    rows = group_arrays(timeline, arrays, room)
    if len(rows) < len(arrays):
        notes.append(f"{len(arrays):,} arrays in {len(rows)} rows, each the mean of its arrays")
    room = most_rows - len(rows)
    if len(others) > room:
        busiest = sorted(others, key=lambda number: (-int(timeline.totals[number, BUSY_STATE]), number))[:room]
        notes.append(f"the {room} busiest of {len(others):,} ports and links")
        others = sorted(busiest)
    shown = (*rows, *(Row(timeline.lanes[number].name, (number,), False) for number in others))
    return shown, "; ".join(notes)


def group_arrays(timeline: Timeline, arrays: Sequence[int], most_rows: int) -> tuple[Row, ...]:
    """At most so many rows of neighbouring arrays; equally many in each where a not much larger group allows it."""
    size = -(-len(arrays) // max(1, most_rows))
    size = next((even for even in range(size, 2 * size + 1) if even and len(arrays) % even == 0), size)
    groups = [tuple(arrays[at:at + size]) for at in range(0, len(arrays), size)] if arrays else []
    return tuple(Row(_joint_name([timeline.lanes[number].name for number in group]), group, True) for group in groups)


def _joint_name(names: Sequence[str]) -> str:
    first, last = re.fullmatch(r"(.*)\[(.*)\]", names[0]), re.fullmatch(r"(.*)\[(.*)\]", names[-1])
    if len(names) == 1:
        return names[0]
    if first is not None and last is not None and first[1] == last[1]:
        return f"{first[1]}[{first[2]}\N{EN DASH}{last[2]}]"
    return f"{names[0]} \N{EN DASH} {names[-1]}"


def rows_cover(timeline: Timeline, window: Window) -> bool:
    """Whether the kept rows tell all that happened in the window.

    Where rows were dropped, they do if they account for every tick of the profile's bins that the window touches.
    """
    if window[0] < timeline.window[0] or window[1] > timeline.window[1]:
        return False
    if not timeline.rows_dropped:
        return True
    borders, ticks = _bins(timeline, window)
    table = timeline.rows
    kept = raster(table[:, 0], table[:, 1], table[:, 2], table[:, 3], int(borders[0]), int(borders[-1]),
                  len(timeline.lanes), STATES, len(borders) - 1)
    return np.array_equal(kept, ticks)


def most_intervals(timeline: Timeline, rows: Sequence[Row], window: Window) -> int:
    """How many kept rows the fullest of the picture's rows has in the window."""
    table = timeline.rows
    inside = (table[:, 2] > window[0] * TICKS) & (table[:, 1] < window[1] * TICKS)
    counts = np.bincount(table[:, 0][inside], minlength=len(timeline.lanes))
    return max((int(counts[list(row.lanes)].sum()) for row in rows), default=0)


def compose_rows(timeline: Timeline, rows: Sequence[Row], window: Window, columns: int) -> Composition:
    """The window from the kept rows, in columns that differ by at most a tick."""
    first, last = window[0] * TICKS, window[1] * TICKS
    columns = min(columns, last - first)
    place = np.full(len(timeline.lanes), -1, dtype=np.int64)
    for number, row in enumerate(rows):
        place[list(row.lanes)] = number
    table = timeline.rows
    where = table[:, 0] if np.array_equal(place, np.arange(len(place))) else place[table[:, 0]]
    ticks = raster(where, table[:, 1], table[:, 2], table[:, 3], first, last, len(rows), STATES, columns)
    borders: Ints = first + np.arange(columns + 1, dtype=np.int64) * (last - first) // columns
    return _composition(ticks, borders, rows)


def compose_profile(timeline: Timeline, rows: Sequence[Row], window: Window) -> Composition:
    """The window from the profile, widened to whole bins; the last ends with the run."""
    borders, ticks = _bins(timeline, window)
    borders[-1] = min(int(borders[-1]), timeline.cycles * TICKS)
    return _composition(np.stack([ticks[list(row.lanes)].sum(axis=0) for row in rows]), borders, rows)


def coarsened(drawn: Composition, most: int) -> Composition:
    """At most so many columns, each the sum of equally many, a power of two, so that it is the same for finer bins."""
    each = 1
    while -(-drawn.ticks.shape[1] // each) > most:
        each *= 2
    starts = np.arange(0, drawn.ticks.shape[1], each)
    return Composition(np.append(drawn.borders[starts], drawn.borders[-1]), np.add.reduceat(drawn.ticks, starts, axis=1))


def compose_totals(timeline: Timeline, rows: Sequence[Row]) -> Composition:
    """The whole run from the exact totals, in one column."""
    ticks = np.stack([timeline.totals[list(row.lanes)].sum(axis=0) for row in rows])[:, None, :]
    return _composition(ticks, np.array([0, timeline.cycles * TICKS], dtype=np.int64), rows)


def _bins(timeline: Timeline, window: Window) -> tuple[Ints, Ints]:
    """Borders (ticks) of the bins that the window touches, and ``ticks[lane, bin, state]`` of them."""
    width, kept = timeline.profile.bin_cycles, timeline.profile.ticks
    first, last = window[0] // width, -(-window[1] // width)
    ticks = np.zeros((len(timeline.lanes), last - first, STATES), dtype=np.int64)
    known = kept[:, :, first:last]
    ticks[:, :known.shape[2]] = known.transpose(0, 2, 1)
    return np.arange(first, last + 1, dtype=np.int64) * (width * TICKS), ticks


def _composition(states: Ints, borders: Ints, rows: Sequence[Row]) -> Composition:
    """States to colours: phases joined, and what is neither busy nor stalled is idle."""
    stalls = states[:, :, 1:].reshape(*states.shape[:2], len(CAUSES), len(PHASES)).sum(axis=3)
    lanes = np.array([len(row.lanes) for row in rows], dtype=np.int64)
    idle = lanes[:, None] * np.diff(borders)[None, :] - states.sum(axis=2)
    return Composition(borders, np.concatenate([states[:, :, :1], stalls, idle[:, :, None]], axis=2))
