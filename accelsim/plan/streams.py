"""The streams that the machine reads: the stays of a station and the blocks of an array, with the residencies they name."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from accelsim.errors import SimulatorBug
from accelsim.kernels.columns import (
    BLOCK_KIND,
    BLOCK_OPERANDS,
    BLOCK_STEP,
    STAY_AFTER,
    STAY_FIRST,
    STAY_LAST,
    STAY_SINK,
    STAY_SOURCE,
    STAY_WIDTH,
)
from accelsim.kernels.stays import under_way
from accelsim.kernels.walk import STEP_NUMBER
from accelsim.plan import walk as walks
from accelsim.plan.stays import LockstepStays, Stays, UnitStays
from accelsim.plan.work import StepWalk

Ints = NDArray[np.int64]


class StayStream:
    """The stays of one station, for the machine, and the steps they begin at, for those that look up their own.

    ``inside``: steps of the station's level in one of its parent's. A home (which has no stays of its own to make) has one
    residency, of everything.
    """

    def __init__(self, made: Stays | None, parent: StayStream | None, inside: int) -> None:
        self._made = made
        self._parent = parent
        self._above = parent.reader() if parent is not None else 0
        self._inside = inside
        self._waiting: deque[Ints] = deque()
        self._starts: Ints = np.zeros(0, dtype=np.int64)
        self._gone = 0
        self._first = 0
        self._marks: list[int] = []
        self._ended = False
        self._counted = 0

    def rows(self) -> Ints:
        """The next stays, int64[n, STAY_WIDTH], with the parent's residencies at their first and last steps. None at the end.

        The two differ where a tile stays while the parent's changes: an instance is idle, or keeps a part (of a window, or
        nothing but padding) that both of the parent's have.
        """
        if not self._waiting:
            self._read()
        rows = self._waiting.popleft() if self._waiting else np.zeros((0, STAY_WIDTH), dtype=np.int64)
        if len(rows) and self._parent is not None:
            self._parent.ahead(rows[:, STAY_LAST], self._inside, rows[:, STAY_SINK])
            self._parent.find(self._above, rows[:, STAY_FIRST], self._inside, rows[:, STAY_SOURCE])
        return rows

    def seek(self, begin: int, step: int, number: int) -> None:
        """Go on from step ``begin``, so that stay ``number`` begins at ``step``: the next rows are those from ``begin`` on.

        The parent's stream must be there already. ``number`` counts from the start of the run, as residencies do.
        """
        assert isinstance(self._made, UnitStays | LockstepStays), "homes have one stay, and siblings walk together"
        self._made.seek(begin)
        self._waiting.clear()
        self._starts = self._starts[:0]
        self._ended = False
        self._gone = self._counted = 0
        while not self._ended and not (len(self._starts) and self._starts[-1] >= step):
            self._read()
        place = int(np.searchsorted(self._starts, step))
        if place == len(self._starts) or self._starts[place] != step:
            raise SimulatorBug(f"no stay begins at step {step:,}, though one did a period earlier")
        self._counted = number - place
        for rows in self._waiting:
            self._renumber(rows)
        # A walk may begin earlier: where nothing changes, or at the last step that is not left out. Its first stay is only here
        # so that the next one is seen to begin.
        early = max(0, int(np.searchsorted(self._starts, begin, side="right")) - 1)
        rows = np.concatenate(self._waiting)[early:]
        rows[0, [STAY_FIRST, STAY_LAST]] = np.maximum(begin, rows[0, [STAY_FIRST, STAY_LAST]])
        self._waiting = deque([rows])
        self._starts = rows[:, STAY_FIRST].copy()
        self._gone = self._counted + early
        self._first = int(self._starts[0])
        self._marks = [self._gone] * len(self._marks)

    @property
    def first_number(self) -> int:
        """The number of the first stay that can still be looked up."""
        return self._gone

    def reader(self) -> int:
        """One more that looks up residencies by step; its number."""
        self._marks.append(0)
        return len(self._marks) - 1

    def find(self, reader: int, steps: Ints, inside: int, found: Ints) -> None:
        """Write the residency that holds each step; a reader asks in order. ``inside``: that many of them are one step here."""
        self.ahead(steps, inside, found)
        self._marks[reader] = int(found[-1])
        keep = min(self._marks) - self._gone
        if keep > walks.ROWS:
            self._starts = self._starts[keep:]
            self._first = int(self._starts[0])
            self._gone += keep

    def ahead(self, steps: Ints, inside: int, found: Ints) -> None:
        """Write the residency that holds each step, without moving on to it: none that all readers have left behind."""
        if self._made is None:
            found[:] = 0
            return
        assert int(steps[0]) // inside >= self._first, "asked for what every reader has left behind"
        furthest = int(steps[-1]) // inside
        while not self._ended and not (len(self._starts) and self._starts[-1] > furthest):
            self._read()
        under_way(steps, inside, self._starts, self._gone, found)

    def _renumber(self, rows: Ints) -> None:
        """Stays that others wait for are counted from where the walk began."""
        if self._counted:
            waits = rows[:, STAY_AFTER] >= 0
            rows[waits, STAY_AFTER] += self._counted

    def _read(self) -> None:
        if self._made is None or self._ended:
            return
        rows = self._made.rows()
        if len(rows):
            self._renumber(rows)
            self._waiting.append(rows)
            self._starts = np.concatenate([self._starts, rows[:, STAY_FIRST]])
        else:
            self._ended = True


def singly(stream: StayStream | BlockStream) -> Iterator[list[int]]:
    """The rows of a stream one by one."""
    while len(rows := stream.rows()):
        yield from rows.tolist()


class Look(NamedTuple):
    """Where an array looks up the residency of an operand: the stream, as which reader, and its own steps in one of those."""

    stream: StayStream
    reader: int
    inside: int


class BlockStream:
    """The blocks of one array unit, with the residencies of their operands. ``kinds``: numbers the kinds of work of steps."""

    def __init__(self, walk: StepWalk, looks: tuple[Look, ...], kinds: Callable[[Ints], Ints]) -> None:
        self._walk = walk
        self._looks = looks
        self._kinds = kinds

    def rows(self) -> Ints:
        """The next blocks, int64[n, BLOCK_OPERANDS + tensors]; none at the end."""
        steps = self._walk.rows()
        made: Ints = np.empty((len(steps), BLOCK_OPERANDS + len(self._looks)), dtype=np.int64)
        if len(steps):
            made[:, BLOCK_STEP] = steps[:, STEP_NUMBER]
            made[:, BLOCK_KIND] = self._kinds(steps)
            for place, (stream, reader, inside) in enumerate(self._looks):
                stream.find(reader, made[:, BLOCK_STEP], inside, made[:, BLOCK_OPERANDS + place])
        return made

    def seek(self, step: int) -> None:
        """Go on from a step; the streams of the operands must be there already."""
        self._walk.go_to(step)
