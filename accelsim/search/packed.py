"""A model as one array of integers, as the kernels read it (``kernels.estimate_layout``)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels import estimate_layout as at
from accelsim.search.looks import INWARD, OUTWARD, Job
from accelsim.search.model import HoldModel, Model
from accelsim.search.stations import Way
from accelsim.spec.operator import Role

Ints = NDArray[np.int64]


class Packed:
    """``words``: the model, int64; ``scratch``: how many numbers a row's scratch has; ``masks``: most that a tensor has.

    ``shape``: (frames, numbers in a line's record of a frame), as ``kernels.estimate_steps.count_steps`` fills them.
    """

    def __init__(self, model: Model) -> None:
        nest = model.nest
        self._of, self._found, self.scratch = model, [0] * at.HEAD, len(nest.extent)
        self.shape = len(nest.above), at.STEPS + at.STEP_WIDTH * (int(nest.temporals.max(initial=0)) + 1)
        self.masks = 1 << max(len(tensor.plain) for tensor in model.tensors)
        self._memory_of: dict[int, int] = {}
        self._numbers()
        self._tensors = self._room(len(model.tensors) * at.TENSOR_WIDTH)
        self._holds = self._room(len(model.holds) * at.HOLD_WIDTH)
        self._memories()
        self._outside = self._table(at.STEPS + at.STEP_WIDTH * nest.outside)
        self._along = [self._table(tensor.windows.along) for tensor in model.tensors]
        for number in range(len(model.tensors)):
            self._tensor(number)
        for number, hold in enumerate(model.holds):
            self._hold(number, hold)
        self.words: Ints = np.array(self._found, dtype=np.int64)

    def _room(self, width: int) -> int:
        """Room for a section of the model; returns where it begins."""
        begin = len(self._found)
        self._found += [0] * width
        return begin

    def _list(self, values: Iterable[int]) -> tuple[int, int]:
        """A list in the model: where it begins and ends."""
        begin = len(self._found)
        self._found += map(int, values)
        return begin, len(self._found)

    def _table(self, rows: Ints) -> int:
        return self._list(rows.ravel().tolist())[0]

    def _set(self, begin: int, fields: dict[int, int]) -> None:
        for field, value in fields.items():
            self._found[begin + field] = int(value)

    def _spare(self, width: int) -> int:
        """Room in a row's scratch; returns where it begins."""
        self.scratch += width
        return self.scratch - width

    def _numbers(self) -> None:
        """The head, and the sections that are nothing but numbers."""
        model, case = self._of, self._of.case
        operator, stations = case.operator, model.stations
        spatial = self._list(value for place in model.spatial[-1] for value in (place, case.nest.loops[place].entry))
        loaded = self._list(value for one in stations.all for value in (
            one.fill_head, one.drain_head, one.tail, one.unit, one.loaded))
        loads = self._list(value for one in stations.array for value in (
            one.tensor, one.writes, one.station, one.parts, one.sharers))
        self._set(0, {
            at.LINES: len(model.nest.extent), at.ENTRIES: case.array_entry + 1, at.TENSORS: len(model.tensors),
            at.STATIONS: len(stations.all),
            at.INTERVAL: case.interval_cycles, at.ARRAY_SKEW: case.chip.array.skew_cycles, at.SKEW: stations.skew,
            at.AFTER_STEP: stations.after_step, at.WIDE: operator.accumulator.bits,
            at.NARROW: min(operator.output.dtype.bits, operator.accumulator.bits),
            at.SETTING_WIDTH: self.shape[0] * self.shape[1],
            at.B_WORK: self._table(self._all_steps(model.work_frame, begin=True)),
            at.B_PASS: self._table(self._all_steps(model.pass_frame, begin=True)), at.SHORTEST: case.chip.array.least_cycles,
            at.B_SPATIAL: spatial[0], at.SPATIALS: len(model.spatial[-1]), at.B_STATION: loaded[0],
            at.B_LOAD: loads[0], at.LOADS: len(stations.array)})
        self._set(0, {field: self._spare(width) for field, width in (
            (at.SHARES, case.array_entry + 1),
            (at.IMAGES, sum(len(tensor.windows.axes) for tensor in model.tensors)),
            *((field, len(stations.all)) for field in (
                at.FIRST_LOAD, at.MEAN_LOAD, at.TAKEN, at.HEADS, at.TAILS, at.SERVED, at.BUSY)),
            (at.TOUCHED, 2 * len(model.tensors)), (at.MASK_SIZES, self.masks),
            (at.MOVED, at.TICKS + max((len(way.stations) for hold in model.holds for way in hold.ways), default=0)))})

    def _all_steps(self, frame: int, *, begin: bool) -> Ints:
        """[line] where the steps of all temporal loops stand in the frame's record; with ``begin`` where that begins too."""
        own: Ints = at.STEPS + at.STEP_WIDTH * self._of.nest.temporals[frame] + at.TILES
        return own + frame * self.shape[1] if begin else own

    def _memories(self) -> None:
        """Memories of a capacity, and the array's registers (by the number 0)."""
        array = self._of.case.chip.array
        chosen = {id(hold.memory) if hold.memory else 0: hold.memory for hold in self._of.holds
                  if hold.memory is None or hold.memory.capacity_bytes is not None}
        begin = self._room(len(chosen) * at.MEMORY_WIDTH)
        for place, (key, memory) in enumerate(chosen.items()):
            capacity, bank = array.registers * array.pe_count, 0
            if memory is not None and memory.capacity_bytes is not None:
                capacity, bank = memory.capacity_bytes, 1
                if memory.banks is not None:
                    bank = max(1, capacity // memory.banks)
            self._memory_of[key] = begin + place * at.MEMORY_WIDTH
            self._set(self._memory_of[key], {at.M_CAPACITY: capacity, at.M_BANK: bank, at.M_NEEDED: self._spare(1)})
        self._set(0, {at.B_MEMORY: begin, at.MEMORIES: len(chosen)})

    def _tensor(self, number: int) -> None:
        model, tensor = self._of, self._of.tensors[number]
        begin, windows = self._tensors + number * at.TENSOR_WIDTH, tensor.windows
        plain, repeated = self._list(tensor.plain), self._list(tensor.repeated)
        self._set(begin, {
            at.T_BITS: tensor.tensor.dtype.bits, at.T_OUTPUT: tensor.tensor.role is Role.OUTPUT,
            at.T_PLAIN: plain[0], at.T_PLAIN_END: plain[1], at.T_REPEATED: repeated[0], at.T_REPEATED_END: repeated[1],
            at.T_WINDOWS: len(windows.axes), at.T_WINDOW: sum(len(one.windows.axes) for one in model.tensors[:number]),
            at.T_FEEDING: -1 if tensor.feeding is None else self._holds + tensor.feeding * at.HOLD_WIDTH,
            at.T_TOUCHING: tensor.touching * self.shape[1],
            at.T_ALWAYS: self._table(self._all_steps(tensor.touching, begin=False)), at.T_WHOLE: tensor.whole,
            at.T_ELEMENTS: tensor.tensor.elements, at.T_STATES: windows.states, at.T_LOOKS: windows.looks,
            at.T_MEMBER: self._table(windows.member), at.T_ASKED: any(load.tensor == number for load in model.stations.array),
            at.T_NUMBER: number})
        self._set(0, {at.B_TENSOR: self._tensors})

    def _hold(self, number: int, hold: HoldModel) -> None:
        model, array = self._of, self._of.case.chip.array
        begin = self._holds + number * at.HOLD_WIDTH
        split, partial, spread = self._list(hold.split), self._list(hold.partial), self._list(hold.spread)
        jobs = self._room(len(hold.jobs) * at.JOB_WIDTH)
        for place, (frame, look, job) in enumerate(hold.jobs):
            self._job(jobs + place * at.JOB_WIDTH, hold, frame, look, job)
        ways = [self._way(way) for way in hold.ways]
        self._set(begin, {
            at.H_TENSOR: self._tensors + hold.tensor * at.TENSOR_WIDTH, at.H_ENTRY: hold.hold.entry, at.H_JOB: jobs,
            at.H_JOBS: len(hold.jobs), at.H_SLOTS: hold.slots, at.H_ACCUMULATES: hold.accumulates,
            at.H_ADDS: hold.memory is not None and hold.memory.accumulate, at.H_SPLIT: split[0], at.H_SPLIT_END: split[1],
            at.H_PARTIAL: partial[0], at.H_PARTIAL_END: partial[1], at.H_SPREAD: spread[0], at.H_SPREAD_END: spread[1],
            at.H_MEMORY: self._memory_of.get(id(hold.memory) if hold.memory else 0, -1),
            at.H_INWARD: ways[INWARD] if ways else -1, at.H_OUTWARD: ways[OUTWARD] if len(ways) > OUTWARD else -1,
            at.H_LATE: array.skew_cycles if hold.hold.entry == model.case.array_entry and hold.slots == 1 else 0,
            at.H_AFTER: model.stations.after[number], at.H_COUNTS: self._spare(at.COUNTS_WIDTH),
            at.H_INNER: [one.tensor for one in model.holds[number:]].count(hold.tensor)})
        self._set(0, {at.B_HOLD: self._holds, at.HOLDS: len(model.holds)})

    def _way(self, way: Way) -> int:
        """Stops that serve in no time, and at once, delay nothing: they are left out."""
        stops = [[*way.services[place].tolist(), way.stations[place], way.done[place], self._spare(1)]
                 for place in self._stops(way)]
        begin = self._list(value for stop in stops for value in stop)[0]
        return self._list((begin, len(stops), way.latency, way.last_latency))[0]

    @staticmethod
    def _stops(way: Way) -> list[int]:
        return [place for place, service in enumerate(way.services) if service[at.RATE] > 0 or service[at.SETUP] > 0]

    def _job(self, begin: int, hold: HoldModel, frame: int, look: int, job: Job) -> None:
        """Loops over plain lines move all that is held, so that their places are none of its."""
        nest, tensor = self._of.nest, self._of.tensors[hold.tensor]
        steps, orders, places = int(nest.steps[frame]), nest.outside.shape[0], nest.outside.shape[1]
        lines = nest.line_of[nest.advancing]
        chosen = [[steps, *(place for place in range(steps - 1, -1, -1) if tensor.kind[own[place]] != 1)] for own in lines]
        first = self._list(
            value for order in range(orders) for place in chosen[order] for value in (
                self._outside + (order * places + place) * len(nest.extent),
                -1 if place == steps else lines[order, place],
                self._along[hold.tensor] + (order * places + place) * len(tensor.windows.axes)))[0]
        inward, outward = (self._bookings(hold, job, direction) for direction in (INWARD, OUTWARD))
        self._set(begin, {
            at.J_FRAME: frame * self.shape[1], at.J_PLACE: first, at.J_PLACES: len(chosen[0]), at.J_LOOK: look,
            at.J_FILLS: job.fills, at.J_REFILLS: job.refills, at.J_OUTWARD: job.counts(OUTWARD),
            at.J_INWARD: job.counts(INWARD), at.J_BOOK_INWARD: inward[0], at.J_INWARDS: inward[1],
            at.J_BOOK_OUTWARD: outward[0], at.J_OUTWARDS: outward[1]})

    def _bookings(self, hold: HoldModel, job: Job, direction: int) -> tuple[int, int]:
        """Where they begin and how many; without instances those that share a load are the first one, which is booked alone."""
        head, stations, found = self._found, self._of.stations.all, list[int]()
        for load, own in ((at.FIRST_LOAD, job.first), (at.MEAN_LOAD, job.mean if self._of.spatial[-1] else [])):
            for place in (place for booked, place in own if booked == direction):
                way = hold.ways[direction]
                sharers = 0 if load == at.FIRST_LOAD else way.sharers[place]
                unit, (rate, rounds) = stations[way.stations[place]].unit, way.services[place, [at.RATE, at.ROUNDS]]
                parts = int(rate) if rounds == at.POOLED else 8 * int(rate) if rounds == at.JOINED else 1
                found += (head[at.MOVED] + at.TICKS + self._stops(way).index(place), unit // parts,
                          head[at.SHARES] + sharers, head[load] + way.stations[place])
        return self._list(found)[0], len(found) // at.BOOKING_WIDTH
