"""From what has been counted of many mappings to their bounds: path, resources, credits; and whether their tiles fit.

The formulas are those of the estimate of one mapping (DESIGN section 6), over arrays of rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels import transfers
from accelsim.search.counted import Counted, HoldCount
from accelsim.search.looks import INWARD, OUTWARD
from accelsim.search.model import HoldModel, Model
from accelsim.search.stations import NEVER, Way
from accelsim.spec.chip import Memory
from accelsim.spec.operator import Role

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

ARRAY_READ, ARRAY_WRITE = 6, 7
"""Kinds of traffic."""


def ceil_div(value: Ints, by: Ints | int) -> Ints:
    """Quotient rounded up."""
    return -(-value // by)


def alone(way: Way, size: Ints, bits: int) -> tuple[Ints, Ints]:
    """(cycles of one transfer of ``size`` elements when nothing else moves, sixteenths of service [rows, station])."""
    cycles, ticks = np.empty(len(size), dtype=np.int64), np.empty((len(size), len(way.services)), dtype=np.int64)
    transfers.alone(np.ascontiguousarray(size), bits, way.latency, way.services, cycles, ticks)
    return cycles, ticks


class Bounds:
    """The bounds of counted rows: ``cycles`` is the largest, ``bound_by`` the first that is as large.

    ``even``: rows in which no edge cuts anything. Bound 0 is the path, then the stations, the array, the holds.
    """

    def __init__(self, model: Model, counted: Counted, even: Flags) -> None:
        self.model, self.counted, self.even = model, counted, even
        self.arrivals: dict[int, Ints] = {}
        self.work = np.full(len(even), model.case.interval_cycles, dtype=np.int64)
        for line in range(len(model.nest.extent)):
            self.work = self.work * counted.steps_of(model.work_frame, line)
        self.prologue, self.epilogue = self._prologue(), self._epilogue()
        self.cycles = self.prologue + self.work + self.epilogue
        self.bound_by = np.zeros(len(even), dtype=np.int64)
        self._stations()
        stations = len(model.stations.all)
        self._larger(self.work, 1 + stations)
        for number, hold in enumerate(model.holds):
            count = counted.holds[number]
            if count is not None:
                self._larger(self._slots(number, hold, count), 2 + stations + number)

    def _larger(self, cycles: Ints, number: int) -> None:
        self.bound_by[cycles > self.cycles] = number
        np.maximum(self.cycles, cycles, out=self.cycles)

    def _inner(self, hold: HoldModel, after: int) -> list[tuple[HoldModel, HoldCount]]:
        """The tensor's holds further in than hold number ``after``, with their counts."""
        return [(own, count) for own, count in zip(self.model.holds[after + 1:], self.counted.holds[after + 1:], strict=True)
                if own.tensor == hold.tensor and count is not None]

    def _prologue(self) -> Ints:
        """When the first array step can start: every operand's first tile has come down its path.

        Per station the services add up, and something precedes the first and follows the last of them.
        """
        latest = np.zeros_like(self.work)
        heads: dict[int, Ints] = {}
        tails: dict[int, Ints] = {}
        served: dict[int, Ints] = {}
        for number, tensor in enumerate(self.model.tensors):
            if tensor.tensor.role is Role.OUTPUT:
                continue
            arrival, own, bits = np.zeros_like(latest), [], tensor.tensor.dtype.bits
            for place, (hold, count) in enumerate(zip(self.model.holds, self.counted.holds, strict=True)):
                if hold.tensor == number and count is not None:
                    self.arrivals[place] = arrival
                    cycles, ticks = alone(hold.ways[INWARD], count.first_tile, bits)
                    own.append((hold.ways[INWARD], count.first_tile, arrival, ticks))
                    arrival = arrival + cycles
            latest = np.maximum(latest, arrival)
            for i, (way, size, start, ticks) in enumerate(own):
                later, some = arrival - (own[i + 1][2] if i + 1 < len(own) else arrival), size > 0
                always = bool(some.all())
                for place, station in enumerate(way.stations):
                    head, tail = start + way.done[place], later + (way.latency - way.done[place])
                    if not always:
                        head, tail = np.where(some, head, NEVER), np.where(some, tail, NEVER)
                    first = station not in served
                    heads[station] = head if first else np.minimum(heads[station], head)
                    tails[station] = tail if first else np.minimum(tails[station], tail)
                    served[station] = ticks[:, place] if first else served[station] + ticks[:, place]
        for station, ticks in served.items():
            done = heads[station] + (ticks + 15 >> 4) + tails[station]
            latest = np.maximum(latest, np.where(heads[station] < NEVER, done, 0))
        return latest

    def _epilogue(self) -> Ints:
        """The last tile's way out, one level after the other, after the last step's latency; 0 where nothing drains."""
        cycles = np.full_like(self.work, self.model.stations.skew)
        for hold, count in zip(self.model.holds, self.counted.holds, strict=True):
            if hold.tensor == self.model.output and count is not None:
                cycles = cycles + alone(hold.ways[OUTWARD], count.last_tile, self._narrow())[0]
        return cycles

    def _narrow(self) -> int:
        """Bits that an output's element has at least, wherever it moves."""
        operator = self.model.case.operator
        return min(operator.output.dtype.bits, operator.accumulator.bits)

    def _stations(self) -> None:
        """Work / rate of the busiest instance, which is the first or as busy as the mean, between what must be."""
        model, counted, stations = self.model, self.counted, self.model.stations
        first_out = np.where(counted.parts > 1, 0, self.prologue) if model.spatial[-1] else self.prologue
        first_drain = first_out + model.case.interval_cycles + stations.skew
        sizes = array_bytes(model, counted)
        taken = [np.zeros(len(self.even), dtype=np.bool_) for _ in stations.all]
        for load in stations.array:
            size = sizes[load.tensor][load.writes]
            share = size * load.parts * counted.shares(load.sharers)
            counted.first[load.station] += share
            counted.mean[load.station] += share
            taken[load.station] |= size > 0
        found = []
        for number, station in enumerate(stations.all):
            busy = np.maximum(counted.first[number], counted.mean[number])
            head = np.minimum(station.fill_head, station.drain_head + first_drain)
            ends = np.where(taken[number], min(station.tail, stations.after_step), head + station.tail)
            unit = counted.parts * station.unit
            whole = busy if isinstance(unit, int) and unit == 1 else ceil_div(busy, unit)
            cycles = (whole + 15 >> 4) + ends
            found.append(np.where(busy > 0, cycles, 0))
            if station.loaded:
                self._larger(found[number], 1 + number)
        for load in stations.array:  # a station without other loads stands where its first load that is any does
            self._larger(np.where(sizes[load.tensor][load.writes] > 0, found[load.station], 0), 1 + load.station)

    def _slots(self, number: int, hold: HoldModel, count: HoldCount) -> Ints:
        """Cycles of a hold's credit loops (``kernels.transfers.credit``), between what must be."""
        tensor, slots = self.model.tensors[hold.tensor], hold.slots
        array, case = self.model.case.chip.array, self.model.case
        output, plain = tensor.tensor.role is Role.OUTPUT, not tensor.windows.axes
        late = array.skew_cycles if hold.hold.entry == case.array_entry and slots == 1 else 0
        inner = np.full_like(self.work, array.skew_cycles if output else late)
        bits = self._narrow() if output else tensor.tensor.dtype.bits
        for deeper, own in self._inner(hold, number) if plain else []:
            inner += alone(deeper.ways[OUTWARD if output else INWARD], own.least_tile, bits)[0]
        cycles = np.empty_like(inner)
        transfers.credit(self.work, np.ascontiguousarray(count.moving), np.ascontiguousarray(count.stays), inner, slots,
                         self.even.astype(np.int64) if plain and not output else np.zeros_like(inner), cycles)
        return cycles + (self.model.stations.after[number] if output else self.arrivals[number] + self.epilogue - late)


def array_bytes(model: Model, counted: Counted) -> list[tuple[Ints, Ints]]:
    """(read, written) by the array, per tensor, at the hold that feeds it: what all PEs touch in one iteration, over all
    iterations; an output is read back unless the memory adds.
    """
    found = []
    for number, tensor in enumerate(model.tensors):
        nothing = np.zeros(len(counted.bounds), dtype=np.int64)
        asked = counted.traffic is not None or any(load.tensor == number for load in model.stations.array)
        if tensor.feeding is None or not asked:
            found.append((nothing, nothing))
            continue
        hold = model.holds[tensor.feeding]
        indexed, always, first = np.full_like(nothing, tensor.whole), np.ones_like(nothing), np.ones_like(nothing)
        for line in tensor.repeated:
            always = always * counted.steps_of(tensor.touching, line)
            first = first * counted.tiles[:, (tensor.touching * counted.lines + line) * counted.depth]
        for window in range(len(tensor.windows.axes)):
            images = counted.images[number]
            indexed = indexed * images.touched[images.settings[:, window]]
        taken, given = indexed * always, nothing
        bits = held_bits(hold, counted)
        if tensor.tensor.role is Role.OUTPUT:
            given = taken * bits + 7 >> 3
            taken = nothing if hold.memory is not None and hold.memory.accumulate else taken - indexed * first
        taken = taken * bits + 7 >> 3
        if counted.traffic is not None:
            counted.traffic[:, hold.hold.entry, number, ARRAY_READ] = taken
            counted.traffic[:, hold.hold.entry, number, ARRAY_WRITE] = given
        found.append((taken, given))
    return found


def held_bits(hold: HoldModel, counted: Counted) -> Ints | int:
    """Bits of an element held: an output's that can be unfinished there are the accumulator's."""
    operator, own = counted.model.case.operator, hold.hold.tensor.dtype.bits
    if not hold.partial or operator.accumulator.bits == own:
        return own
    return np.where(counted.iterates(hold.partial), operator.accumulator.bits, own)


def fits(model: Model, counted: Counted) -> Flags:
    """Whether the slots of every hold fit its memory (whole banks) and the array's registers."""
    array = model.case.chip.array
    found = np.ones(len(counted.bounds), dtype=np.bool_)
    needed: list[tuple[Memory, Ints]] = []
    for hold, count in zip(model.holds, counted.holds, strict=True):
        tensor = model.tensors[hold.tensor]
        if hold.memory is not None and hold.memory.capacity_bytes is None:
            continue
        if count is None:
            elements = ceil_div(np.full(len(found), tensor.tensor.elements), counted.product(hold.spread))
        else:
            look = hold.jobs[0][1]
            elements = count.plain_tile
            for window in range(len(tensor.windows.axes)):
                images = counted.images[hold.tensor]
                elements = elements * images.largest[images.settings[:, window], look]
        if hold.memory is None:
            found &= elements <= array.registers * array.pe_count
            continue
        size = elements * held_bits(hold, counted) + 7 >> 3
        if hold.memory.banks is not None and hold.memory.capacity_bytes is not None:
            bank = max(1, hold.memory.capacity_bytes // hold.memory.banks)
            size = ceil_div(size, bank) * bank
        needed.append((hold.memory, size * hold.slots))
    for memory in {id(memory): memory for memory, _ in needed}.values():
        total = sum((size for own, size in needed if own is memory), np.zeros(len(found), dtype=np.int64))
        found &= total <= (memory.capacity_bytes or 0)
    return found
