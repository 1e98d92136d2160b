"""What a trace of a run holds, whatever its format: tracks, slices, counters and flows, from the record and the report.

A trace is whole: from the first cycle it shows to the last, every row of the record is in it. Where there are too many, or
some were not kept, it ends earlier, and says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from accelsim.measure.carriers import carriers
from accelsim.measure.report import OperatorReport, RunReport
from accelsim.outputs.trace_flows import awaited, fed
from accelsim.timeline import BUSY_STATE, STATES, TICKS, LaneKind, Timeline, state_cause
from accelsim.version import VERSION

Ints = NDArray[np.int64]
MOST_ROWS = 200_000
"""Rows of a trace unless it is told otherwise: some 15 MB as .pftrace and 45 MB as .json."""
_FED = "from each transfer to the first step of each array that uses what came by it"
_AWAITED = ("from the transfer whose service a step's wait was charged to last, to the step; only where the record tells which "
            "it was: the run was not asked which transfers brought what steps did not wait for")
_CHUNK = 1 << 16
_COUNTER_BINS = 256
_PICOSECONDS = 12


class Group(Enum):
    """Where a track stands, in this order: its heading."""

    ARRAYS = "arrays"
    PORTS = "memory ports"
    LINKS = "links and channels"
    SHARES = "busy shares"
    BANDWIDTH = "bandwidth"


_GROUPS = {LaneKind.ARRAY: Group.ARRAYS, LaneKind.PORT: Group.PORTS, LaneKind.LINK: Group.LINKS}


@dataclass(frozen=True)
class Track:
    """A lane's track, or a counter's. ``number``: its own in the trace, from 1 on."""

    number: int
    name: str
    group: Group


@dataclass(frozen=True)
class Kind:
    """What slices of one track have in common: a name, a category (busy or stall), and facts."""

    track: Track
    name: str
    category: str
    facts: tuple[tuple[str, str], ...]


class Slice(NamedTuple):
    """From one time to another; ``cycle`` and ``cycles`` are exact; the flows that begin at it, and that end at it."""

    kind: int
    begin: int
    end: int
    cycle: int | float
    cycles: int | float
    flows_from: Sequence[int]
    flows_to: Sequence[int]


@dataclass(frozen=True)
class Counter:
    """A number along time: (time, number), each until the next: a share between 0 and 1, or a bandwidth in GB/s."""

    track: Track
    samples: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Clock:
    """Ticks to times of the trace, in whole units of ``10 ** -digits`` seconds, rounded down.

    Picoseconds, or as fine as it takes for no tick to last less than a unit: what follows each other stays so.
    """

    hertz: Fraction

    @property
    def digits(self) -> int:
        """Of a second."""
        digits = _PICOSECONDS
        while 10**digits < self.hertz * TICKS:
            digits += 3
        return digits

    def times(self, ticks: Ints) -> list[int]:
        """When these ticks are."""
        # in integers of any size: ticks times units per tick need not fit into 64 bits
        units = 10**self.digits / (self.hertz * TICKS)
        return list((ticks.astype(object) * units.numerator) // units.denominator)


@dataclass(frozen=True)
class Part:
    """One operator of a trace. ``rows``: as the record's, cut at the ends; ``flows``: (from row, to row), numbered in this order.

    ``offset``: ticks of the operators before it. ``left_out``: a sentence, where not all that was asked for is in it.
    """

    name: str
    tracks: tuple[Track, ...]
    counters: tuple[Counter, ...]
    kinds: tuple[Kind, ...]
    about: Mapping[str, str | int | float]
    left_out: str
    begin: int
    offset: int
    clock: Clock
    rows: Ints
    row_kinds: Ints
    flows: Ints
    first_flow: int

    def slices(self) -> Iterator[Slice]:
        """All slices in order of their begin, then of the lanes; those of a track follow each other."""
        sources = np.argsort(self.flows[:, 0], kind="stable")
        targets = np.argsort(self.flows[:, 1], kind="stable")
        for at in range(0, len(self.rows), _CHUNK):
            rows, until = self.rows[at:at + _CHUNK], at + _CHUNK
            begins_at, ends_at = (self._numbered(column, order, at, until) for column, order in ((0, sources), (1, targets)))
            begins = self.clock.times(rows[:, 1] + self.offset)
            ends = self.clock.times(rows[:, 2] + self.offset)
            lasted = (rows[:, 2] - rows[:, 1]).tolist()
            for place, (kind, begin, end, tick, ticks) in enumerate(zip(
                    self.row_kinds[at:until].tolist(), begins, ends, rows[:, 1].tolist(), lasted, strict=True), at):
                yield Slice(kind, begin, end, _cycles(tick), _cycles(ticks), begins_at.get(place, ()), ends_at.get(place, ()))

    def _numbered(self, column: int, order: Ints, at: int, until: int) -> dict[int, list[int]]:
        """The flows at each row of a chunk, at their begin (column 0) or end (1)."""
        rows = self.flows[order, column]
        found: dict[int, list[int]] = {}
        for flow in order[np.searchsorted(rows, at):np.searchsorted(rows, until)].tolist():
            found.setdefault(int(self.flows[flow, column]), []).append(self.first_flow + flow)
        return found


@dataclass(frozen=True)
class Trace:
    """All of it. ``about``: of the run. ``unit``: what its times count, of the chip's time."""

    about: Mapping[str, str | int | float]
    parts: tuple[Part, ...]
    unit: str

    def about_shown_as(self, unit: str) -> dict[str, str | int | float]:
        """What it is of, with what a unit of time is that a format takes its times for."""
        return {**self.about, "time": f"a {unit} shown is a {self.unit} of the chip; cycle and cycles of each slice are exact"}


def make_trace(run: RunReport, shown: Sequence[tuple[OperatorReport, Timeline]], window: tuple[int, int] | None = None,
               most_rows: int = MOST_ROWS) -> Trace:
    """Operators one after another, each once, with at most so many rows in all; of one alone perhaps a window [cycles]."""
    clock = Clock(run.clock_hz)
    parts: list[Part] = []
    offset, track, flow, room = 0, 1, 1, most_rows
    for report, timeline in shown:
        part = _Making(report, timeline, clock, offset, track, flow).part(window, room)
        parts.append(part)
        offset += timeline.cycles * TICKS
        track, flow, room = track + len(part.tracks), flow + len(part.flows), room - len(part.rows)
    unit = {12: "picosecond", 15: "femtosecond"}.get(clock.digits, f"10^-{clock.digits} s")
    about: dict[str, str | int | float] = {
        "accelsim": VERSION, "chip": run.chip, "workload": run.workload, "clock_hz": _number(clock.hertz),
        "arrows": _FED if any(len(timeline.feeds) for _, timeline in shown) else _AWAITED,
        "left_out": "; ".join(part.left_out for part in parts if part.left_out)}
    return Trace(about, tuple(parts), unit)


@dataclass(frozen=True)
class _Making:
    """What a part is made of, and the numbers from which its own go on."""

    report: OperatorReport
    timeline: Timeline
    clock: Clock
    offset: int
    first_track: int
    first_flow: int

    def part(self, window: tuple[int, int] | None, most_rows: int) -> Part:
        """The part, with at most so many rows."""
        timeline = self.timeline
        kept = max(0, timeline.window[0]), min(timeline.cycles, timeline.window[1])
        wanted = kept if window is None else (window[0], min(timeline.cycles, window[1]))
        first, asked = max(kept[0], wanted[0]), min(kept[1], wanted[1])
        rows = timeline.rows[(timeline.rows[:, 2] > first * TICKS) & (timeline.rows[:, 1] < asked * TICKS)]
        last = asked
        if timeline.rows_dropped:
            last = min(last, timeline.whole_until // TICKS)
        if len(rows) > most_rows:
            last = min(last, int(rows[most_rows, 1]) // TICKS)
        last = max(first, last)
        inside = rows[rows[:, 1] < last * TICKS]
        flows = fed(timeline, inside) if len(timeline.feeds) else awaited(timeline, inside)
        shown = inside.copy()
        shown[:, 1] = np.maximum(shown[:, 1], first * TICKS)
        shown[:, 2] = np.minimum(shown[:, 2], last * TICKS)
        lanes = sorted(range(len(timeline.lanes)), key=lambda lane: list(_GROUPS).index(timeline.lanes[lane].kind))
        place = {lane: number for number, lane in enumerate(lanes, self.first_track)}
        tracks = tuple(Track(place[lane], timeline.lanes[lane].name, _GROUPS[timeline.lanes[lane].kind]) for lane in lanes)
        counters = tuple(self._counters(self.first_track + len(tracks), first, last))
        kinds, row_kinds = self._kinds(inside, {lane: tracks[number - self.first_track] for lane, number in place.items()})
        left_out = self._left_out(len(rows) - len(inside), last, asked)
        if wanted[0] < first or asked < wanted[1]:
            beyond = f"{self.report.name}: the run kept cycles {kept[0]:,} to {kept[1]:,} only"
            left_out = f"{beyond}; {left_out}" if left_out else beyond
        return Part(self.report.name, (*tracks, *(counter.track for counter in counters)), counters, kinds,
                    self._about(first, last, len(inside), left_out), left_out,
                    self.clock.times(np.array([first * TICKS + self.offset]))[0], self.offset, self.clock, shown, row_kinds,
                    flows, self.first_flow)

    def _about(self, first: int, last: int, rows: int, left_out: str) -> dict[str, str | int | float]:
        report = self.report
        return {"operator": report.name, "kind": report.kind, "repeat": report.repeat, "cycles": report.cycles,
                "utilization": report.utilization, "bound_by": report.bound_by, "first_cycle": first, "last_cycle": last,
                "rows": rows, "left_out": left_out}

    def _left_out(self, rows: int, last: int, asked: int) -> str:
        """What is not there because it would be too much."""
        if last == asked:
            return ""
        dropped = self.timeline.rows_dropped
        return (f"{self.report.name}: shown to cycle {last:,} of {asked:,}; left out: {rows:,} rows behind it"
                + (f" and {dropped:,} that the run did not keep" if dropped else ""))

    def _kinds(self, rows: Ints, tracks: Mapping[int, Track]) -> tuple[tuple[Kind, ...], Ints]:
        """What slices there are, and which each row is."""
        labels = len(self.timeline.labels) + 1
        codes = (rows[:, 0] * STATES + rows[:, 3]) * labels + rows[:, 4] + 1
        found, which = np.unique(codes, return_inverse=True)
        return tuple(self._kind(code // labels, code % labels - 1, tracks) for code in found.tolist()), which.astype(np.int64)

    def _kind(self, lane_state: int, label: int, tracks: Mapping[int, Track]) -> Kind:
        lane, state = divmod(lane_state, STATES)
        tensor = self.timeline.labels[label] if label >= 0 else ""
        track, stall = tracks[lane], state_cause(state)
        if stall is not None:
            cause, phase = stall
            awaits = (("waits_for", tensor),) if tensor else ()
            return Kind(track, cause.code, "stall", (*awaits, ("phase", phase.code), ("cause", cause.sentence)))
        if track.group is Group.ARRAYS:
            return Kind(track, "step", "busy", ())
        return Kind(track, tensor or "busy", "busy", ())

    def _counters(self, number: int, first: int, last: int) -> Iterator[Counter]:
        """Of all arrays together, and of each port, link and channel, the share of lane-cycles that were busy; and at the
        rates of ports, links and networks the bandwidth that this is, over all their instances.
        """
        lanes = self.timeline.lanes
        arrays = [place for place, lane in enumerate(lanes) if lane.kind is LaneKind.ARRAY]
        others = [place for kind in (LaneKind.PORT, LaneKind.LINK) for place, lane in enumerate(lanes) if lane.kind is kind]
        named = [("arrays busy", arrays), *((f"{lanes[place].name} busy", [place]) for place in others)]
        for place, (name, own) in enumerate(named):
            weights = [Fraction(1, len(own))] * len(own)
            yield Counter(Track(number + place, name, Group.SHARES), tuple(self._samples(own, weights, first, last)))
        number += len(named)
        limited = [one for one in carriers(self.report.case, lanes) if one.lanes]
        for place, one in enumerate(limited):
            rates = [rate * self.report.case.chip.clock_hz / 10**9 for rate in one.rates]
            yield Counter(Track(number + place, f"{one.name} GB/s", Group.BANDWIDTH),
                          tuple(self._samples(one.lanes, rates, first, last)))

    def _samples(self, lanes: Sequence[int], weights: Sequence[Fraction], first: int, last: int) -> Iterator[tuple[int, float]]:
        """Each bin's busy shares of lanes, weighted, from its begin on, where another than the one before; 0 from the end on."""
        profile, cycles = self.timeline.profile, self.timeline.cycles
        joined = -(-cycles // (profile.bin_cycles * _COUNTER_BINS))
        width = profile.bin_cycles * max(1, joined)
        begins = np.arange(0, profile.ticks.shape[2], max(1, joined))
        busy = np.add.reduceat(profile.ticks[list(lanes), BUSY_STATE], begins, axis=1)
        shown: Fraction | None = None
        for place in range(first // width, -(-last // width) if last > first else 0):
            span = min((place + 1) * width, cycles) - place * width
            value = sum((int(ticks) * weight for ticks, weight in zip(busy[:, place], weights, strict=True)), Fraction(0))
            value /= span * TICKS
            if value != shown:
                yield self._time(max(first, place * width)), round(float(value), 6)
            shown = value
        yield self._time(last), 0.0

    def _time(self, cycle: int) -> int:
        return self.clock.times(np.array([cycle * TICKS + self.offset]))[0]


def _cycles(ticks: int) -> int | float:
    """Exact: sixteenths are binary fractions."""
    return ticks / TICKS if ticks % TICKS else ticks // TICKS


def _number(value: Fraction) -> int | float:
    return value.numerator if value.denominator == 1 else float(value)
