"""The record of a run: exact totals, a binned profile and the rows of a window. The simulation's only output.

Time is kept in sixteenths of a cycle where ports need it (DESIGN section 3, rule 3); totals are exact.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accelsim.archive import read_archive
from accelsim.feeds import ARRAY, FEED_WIDTH, PORT, SERVICE, STEP
from accelsim.lanehtml import lanes_html
from accelsim.repeats import FirstRows
from accelsim.stalls import Phase, StallCause
from accelsim.tables import Basis, Column, Table, Tabular, Value, make, real, text
from accelsim.writing import whole_file

Ints = NDArray[np.int64]
TICKS = 16
"""Ticks per cycle."""

NO_LABEL = -1
"""The label of a row that is for no tensor's sake."""

CAUSES: tuple[StallCause, ...] = tuple(StallCause)
PHASES: tuple[Phase, ...] = tuple(Phase)
BUSY_STATE = 0
STATES = 1 + len(CAUSES) * len(PHASES)


def stall_state(cause: StallCause, phase: Phase) -> int:
    """The number under which rows and profiles keep a stall."""
    return 1 + CAUSES.index(cause) * len(PHASES) + PHASES.index(phase)


def state_cause(state: int) -> tuple[StallCause, Phase] | None:
    """The stall that a state number means; None for busy."""
    return None if state == BUSY_STATE else (CAUSES[(state - 1) // len(PHASES)], PHASES[(state - 1) % len(PHASES)])

ROW_COLUMNS: tuple[Column, ...] = (
    text("lane"), text("kind"), real("start_cycle", Basis.MEASURED, "cycles"), real("end_cycle", Basis.MEASURED, "cycles"),
    text("state", Basis.MEASURED), text("phase", Basis.MEASURED), text("tensor", Basis.MEASURED))


class LaneKind(Enum):
    """What a row of the timeline is."""

    ARRAY = "array"
    PORT = "port"
    LINK = "link"


@dataclass(frozen=True)
class Lane:
    """One row of the timeline. ``level``: the level (or link) it belongs to."""

    name: str
    kind: LaneKind
    level: str


@dataclass
class Traffic:
    """Bytes of one tensor at one level, over all its instances; before granularity, except ``waste``."""

    fill_bytes: int = 0
    drain_bytes: int = 0
    refill_bytes: int = 0
    array_read_bytes: int = 0
    array_write_bytes: int = 0
    waste_bytes: int = 0
    fill_elements: int = 0
    drain_elements: int = 0
    refill_elements: int = 0


@dataclass(frozen=True)
class Profile:
    """Ticks per bin, lane and state: ``ticks[lane, state, bin]``; every bin is ``bin_cycles`` long."""

    bin_cycles: int
    ticks: Ints


@dataclass(frozen=True)
class Period:
    """A loop whose iterations were found to repeat: so many of them, so many cycles long, as often as they were added."""

    loop: str
    iterations: int
    cycles: int
    times: int


@dataclass(frozen=True)
class Skipped:
    """What was added instead of simulated, exactly: the array steps, and the periods. ``note``: why nothing was looked for."""

    steps: int = 0
    periods: tuple[Period, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Timeline(Tabular):
    """What happened. ``kept``: (lane, first tick, end tick, state, label) inside the window, piece by piece, as they came.

    ``whole_until``: no row that begins before this tick was dropped. ``feeds``: see ``accelsim.feeds``; where asked for.
    """

    cycles: int
    lanes: tuple[Lane, ...]
    totals: Ints
    profile: Profile
    kept: tuple[Ints | FirstRows, ...]
    window: tuple[int, int]
    rows_dropped: int
    labels: tuple[str, ...]
    traffic: Mapping[tuple[str, str], Traffic]
    link_bytes: Mapping[str, int]
    port_bytes: Mapping[str, int]
    culprits: Mapping[tuple[str, str, str, str], int]
    counts: Mapping[str, int]
    first_starts: tuple[int, ...]
    skipped: Skipped
    whole_until: int
    feeds: Ints = field(default_factory=lambda: np.zeros((0, FEED_WIDTH), dtype=np.int64))

    @cached_property
    def rows(self) -> Ints:
        """What was kept, int64[n, 5], in order of time, then of lanes."""
        rows = np.concatenate([np.zeros((0, 5), dtype=np.int64), *(
            some.written_out() if isinstance(some, FirstRows) else some for some in self.kept)])
        # they nearly are, which a stable sort makes use of
        return rows[np.argsort(rows[:, 1] * len(self.lanes) + rows[:, 0], kind="stable")]

    @property
    def table(self) -> Table:
        """The rows in long form: a lane was busy, or stalled by a cause, from one cycle to another, for a tensor's sake."""
        return make("timeline", ROW_COLUMNS, (self._told(row) for row in self.rows.tolist()))

    def _told(self, row: list[int]) -> tuple[Value, ...]:
        lane, start, end, state, label = row
        stall = state_cause(state)
        words = ("busy", None) if stall is None else (stall[0].code, stall[1].code)
        return (self.lanes[lane].name, self.lanes[lane].kind.value, start / TICKS, end / TICKS, *words,
                None if label == NO_LABEL else self.labels[label])

    def __str__(self) -> str:
        left = f", {self.rows_dropped:,} rows more not kept" if self.rows_dropped else ""
        return f"timeline of {self.cycles:,} cycles (measured), {len(self.lanes)} lanes{left}"

    def _repr_html_(self) -> str:
        bins = max(1, -(-self.cycles // self.profile.bin_cycles))
        spent = [(self.busy_cycles(i), float(sum(self.stall_cycles(i).values())), self.idle_cycles(i))
                 for i in range(len(self.lanes))]
        return lanes_html(str(self), [(lane.name, lane.kind.value) for lane in self.lanes], spent,
                          self.profile.ticks[:, :, :bins] / (self.profile.bin_cycles * TICKS), self.profile.bin_cycles)

    def busy_cycles(self, lane: int) -> float:
        """Busy cycles of a lane; exact in sixteenths."""
        return int(self.totals[lane, BUSY_STATE]) / TICKS

    def stall_cycles(self, lane: int) -> dict[tuple[StallCause, Phase], int]:
        """Stalled cycles of a lane by cause and phase, zeros left out."""
        return {(cause, phase): int(self.totals[lane, stall_state(cause, phase)]) // TICKS
                for cause in CAUSES for phase in PHASES if self.totals[lane, stall_state(cause, phase)]}

    def idle_cycles(self, lane: int) -> float:
        """Cycles of a lane with no work left or yet."""
        return self.cycles - int(self.totals[lane].sum()) / TICKS

    def save(self, path: Path) -> None:
        """Write the record to a file (compressed numpy arrays and one JSON text)."""
        about = {
            "cycles": self.cycles, "window": self.window, "rows_dropped": self.rows_dropped, "labels": self.labels,
            "lanes": [(lane.name, lane.kind.value, lane.level) for lane in self.lanes],
            "bin_cycles": self.profile.bin_cycles,
            "traffic": [(*key, vars(value)) for key, value in self.traffic.items()],
            "link_bytes": dict(self.link_bytes), "port_bytes": dict(self.port_bytes), "counts": dict(self.counts),
            "first_starts": self.first_starts,
            "culprits": [(*key, value) for key, value in self.culprits.items()],
            "skipped": asdict(self.skipped), "whole_until": self.whole_until,
        }
        with whole_file(path) as file:
            np.savez_compressed(file, about=np.array(json.dumps(about)), totals=self.totals, ticks=self.profile.ticks,
                                rows=self.rows, feeds=self.feeds)

    @staticmethod
    def load(path: Path) -> Timeline:
        """Read a record back; raises ValueError where the file is not one."""
        try:
            text, data = read_archive(path, "about", {"totals": 2, "ticks": 3, "rows": 2, "feeds": 2})
            about = json.loads(text)
            found = Timeline(
                about["cycles"], tuple(Lane(name, LaneKind(kind), level) for name, kind, level in about["lanes"]),
                data["totals"], Profile(about["bin_cycles"], data["ticks"]), (data["rows"],),
                (about["window"][0], about["window"][1]), about["rows_dropped"], tuple(about["labels"]),
                {(level, tensor): Traffic(**values) for level, tensor, values in about["traffic"]},
                about["link_bytes"], about["port_bytes"], {(a, b, c, d): value for a, b, c, d, value in about["culprits"]},
                about["counts"], tuple(about["first_starts"]), _skipped(about["skipped"]), about["whole_until"], data["feeds"])
            _check(found, data["rows"])
        except (KeyError, IndexError, TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"{path}: not a saved timeline ({error})") from None
        return found


def _check(read: Timeline, rows: Ints) -> None:
    """Raise ValueError where a record contradicts itself: numbers that are none, rows of lanes that it has not."""
    tables = (read.link_bytes, read.port_bytes, read.counts)
    numbers = [read.cycles, read.profile.bin_cycles, read.rows_dropped, *read.window, *read.first_starts, *read.culprits.values(),
               *(value for table in tables for value in table.values()), read.skipped.steps,
               *(value for traffic in read.traffic.values() for value in vars(traffic).values())]
    words = [*(word for lane in read.lanes for word in (lane.name, lane.level)), *read.labels, read.skipped.note,
             *(word for key in (*read.traffic, *read.culprits) for word in key)]
    if not all(type(number) is int and abs(number) < 1 << 62 for number in numbers):
        raise ValueError("what should be a whole number is none")
    if not all(isinstance(word, str) for word in words):
        raise ValueError("what should be a name is none")
    lanes = len(read.lanes)
    if read.totals.shape != (lanes, STATES) or read.profile.ticks.shape[:2] != (lanes, STATES) or rows.shape[1:] != (5,):
        raise ValueError("its tables are not of its lanes")
    if read.cycles < 0 or read.profile.bin_cycles < 1:
        raise ValueError("it has no length")
    low, high = (0, 0, 0, 0, NO_LABEL), (lanes - 1, read.cycles * TICKS, read.cycles * TICKS, STATES - 1, len(read.labels) - 1)
    if len(rows) and ((rows < np.array(low)).any() or (rows > np.array(high)).any()):
        raise ValueError("its rows are of other lanes, states or tensors")
    if read.feeds.shape[1:] != (FEED_WIDTH,) or (read.feeds < 0).any() or (
            read.feeds[:, [ARRAY, PORT]] >= lanes).any() or (read.feeds[:, [STEP, SERVICE]] > read.cycles * TICKS).any():
        raise ValueError("it tells of steps and transfers that it has not")


def _skipped(about: dict[str, Any]) -> Skipped:
    return Skipped(about["steps"], tuple(Period(**one) for one in about["periods"]), about["note"])
