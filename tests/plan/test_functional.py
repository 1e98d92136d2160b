"""Is every MAC done once, on data that is really there, and does the operator's result come out?"""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import HealthCheck, assume, given, settings

from accelsim.plan.schedule import Schedule
from accelsim.plan.units import Unit
from accelsim.spec.case import Case
from accelsim.spec.operator import Tensor

from ..helpers import Stay, blocks, brief, stays
from ..properties.strategies import MOST_STEPS, cases, steps_of, wide_cases
from .replaying import Element, box, image, volume, work

SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
Values = dict[Element, int]


class Station:
    """A tensor at a level, with the values it holds; its residencies come and go in the schedule's order."""

    def __init__(
        self, case: Case, tensor: Tensor, entry: int, parent: Station | None, stays: list[Stay], values: Values
    ) -> None:
        self.case, self.tensor, self.entry, self.parent, self.stays = case, tensor, entry, parent, stays
        self.values = values
        self.now = 0 if parent is None else -1
        self.unit = Unit(0, (), ((0,) * len(case.nest.lines),), (0,))
        self.output = tensor is case.operator.output

    def advance(self, number: int) -> None:
        while self.now < number:
            self.leave()
            self.now += 1
            self.enter()

    def enter(self) -> None:
        assert self.parent is not None
        stay = self.stays[self.now]
        self.parent.advance(stay.source)
        tile = image(self.tensor, box(self.case, self.entry, stay.first, self.unit.bases[0]))
        if self.output:
            assert stay.refill == (stay.fill is not None)
            assert not stay.refill or (stay.fill is not None and stay.fill.elements == len(tile))
            self.values = {e: self.parent.values[e] if stay.refill else 0 for e in tile}
            return
        new = tile - self.values.keys()
        assert (stay.fill.elements if stay.fill is not None else 0) == len(new)
        self.values = {e: self.parent.values[e] if e in new else self.values[e] for e in tile}

    def leave(self) -> None:
        if self.parent is None or self.now < 0 or not self.output:
            return
        memory = self.case.memory(self.parent.entry, self.tensor)
        assert memory is not None
        stay = self.stays[self.now]
        self.parent.advance(stay.sink)
        drain = stay.drain
        assert drain is not None
        assert drain.elements == len(self.values)
        for element, value in self.values.items():
            assert element in self.parent.values, "a drain without a place to go"
            self.parent.values[element] = value + (self.parent.values[element] if memory.accumulate else 0)


def result(case: Case) -> tuple[Values, Values]:
    """(the output at its home after the schedule has been executed, the operator's result)."""
    what, schedule = case.operator, Schedule(case)
    random = np.random.default_rng(7)
    data: dict[str, Values] = {}
    feeds: list[Station] = []
    for tensor in what.tensors:
        whole = list(product(*(range(axis.extent) for axis in tensor.axes)))
        numbers = random.integers(-9, 10, size=len(whole))
        data[tensor.name] = {e: 0 if tensor is what.output else int(v) for e, v in zip(whole, numbers, strict=True)}
        station: Station | None = None
        for entry in case.paths[tensor.name]:
            own = stays(schedule, entry, tensor.name, 0) if station is not None else []
            station = Station(case, tensor, entry, station, own, dict(data[tensor.name]) if station is None else {})
        assert station is not None
        feeds.append(station)
    out = next(i for i, tensor in enumerate(what.tensors) if tensor is what.output)
    dims = list(what.dims)
    done = np.zeros(tuple(what.dims.values()), dtype=np.int64)

    def place(tensor: Tensor, values: dict[str, int]) -> Element | None:
        found = tuple(sum(c * values[d] for d, c in axis.form.terms) + axis.form.offset for axis in tensor.axes)
        return found if all(0 <= i < axis.extent for i, axis in zip(found, tensor.axes, strict=True)) else None

    def multiply(values: dict[str, int], taken: list[Values]) -> None:
        total = 1
        for i, tensor in enumerate(what.tensors):
            if i != out:
                element = place(tensor, values)
                total *= taken[i][element] if element is not None else 0
        element = place(what.output, values)
        assert element is not None
        taken[out][element] += total

    for block in blocks(schedule, 0):
        for station, number in zip(feeds, block.operands, strict=True):
            station.advance(number)
        (own,) = work(case, schedule.units[case.array_entry][0], block.step)
        assert block.work.macs == volume(own)
        for point in product(*(own[dim] for dim in dims)):
            done[point] += 1
            multiply(dict(zip(dims, point, strict=True)), [station.values for station in feeds])
    assert (done == 1).all()
    home = feeds[out]
    while home.parent is not None:
        home.advance(len(home.stays) - 1)
        home.leave()
        home = home.parent
    right = data | {what.output.name: dict.fromkeys(data[what.output.name], 0)}
    for point in product(*(range(extent) for extent in what.dims.values())):
        multiply(dict(zip(dims, point, strict=True)), [right[tensor.name] for tensor in what.tensors])
    return home.values, right[what.output.name]


@settings(max_examples=120, deadline=None, suppress_health_check=SLOW)
@given(cases())
def test_the_schedule_computes_the_operator(case: Case) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    got, right = result(case)
    assert got == right, brief(case)


@settings(max_examples=120, deadline=None, suppress_health_check=SLOW)
@given(wide_cases())
def test_every_mac_is_done_once_by_some_instance(case: Case) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    schedule, dims = Schedule(case), list(case.operator.dims)
    done = np.zeros(tuple(case.operator.dims.values()), dtype=np.int64)
    for unit in schedule.units[case.array_entry]:
        for block in blocks(schedule, unit.index):
            parts = list(work(case, unit, block.step))
            assert block.work.macs == sum(map(volume, parts)), brief(case)
            for own in parts:
                for point in product(*(own[dim] for dim in dims)):
                    done[point] += 1
    assert (done == 1).all(), brief(case)
