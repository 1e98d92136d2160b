"""A mapspace resolved: everything that does not depend on the bounds, as the kernels and the sums over rows take it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accelsim.analytic.arrays import apart
from accelsim.analytic.loads import cold_bounds
from accelsim.analytic.moves import injective
from accelsim.analytic.tables import Tables
from accelsim.search.looks import Hold, Job, Look, holds_of, jobs_of, reducing, spatial_above
from accelsim.search.mapspace import Mapspace
from accelsim.search.nest_tables import Frames, NestTables, listed, nest_tables
from accelsim.search.stations import Stations, Way
from accelsim.search.windows import Windows
from accelsim.spec.case import Case
from accelsim.spec.chip import Memory
from accelsim.spec.operator import Role, Tensor

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class TensorModel:
    """A tensor: lines that index it one to one (``plain``) and not at all, ``kind[line]`` 0 repeated, 1 plain, 2 of a window.

    ``whole``: elements along its plain lines. ``touching``: frame of one iteration of the array. ``feeding``: its last hold,
    None where the array's registers feed it.
    """

    tensor: Tensor
    plain: Ints
    repeated: Ints
    kind: Ints
    windows: Windows
    whole: int
    touching: int
    feeding: int | None


@dataclass(frozen=True)
class HoldModel:
    """A hold: its ways (inward; of an output outward) and jobs (frame, place among the tensor's looks, job), its memory.

    Loops by number: ``split`` spatial reductions above it, ``partial`` reductions that leave its sums unfinished, ``spread``
    spatial ones above it that the tensor depends on. ``accumulates``: whether the hold before adds up what arrives.
    """

    hold: Hold
    tensor: int
    ways: tuple[Way, ...]
    jobs: tuple[tuple[int, int, Job], ...]
    memory: Memory | None
    slots: int
    accumulates: bool
    split: list[int]
    partial: list[int]
    spread: list[int]

    @property
    def home(self) -> bool:
        """Whether the hold is the tensor's home."""
        return self.hold.before is None


class Model:
    """Raises LimitExceeded where a sum over one of the mapspace's mappings could pass 2**62."""

    def __init__(self, space: Mapspace) -> None:
        self.space, self.case = space, space.case
        case, frames = space.case, Frames()
        holds = holds_of(case)
        self.stations = Stations(case, holds)
        self.cold = tuple(cold_bounds(case))
        self.stations.check_limit()
        jobs = [{} if hold.before is None else jobs_of(case, hold, routes)
                for hold, routes in zip(holds, self.stations.routes, strict=True)]
        touching = [frames.number(case.array_entry, apart(Tables(case), tensor), iterations=True)
                    for tensor in case.operator.tensors]
        self.work_frame = frames.number(case.array_entry, frozenset(), iterations=True)
        self.pass_frame = frames.number(case.array_entry, frozenset()) if case.chip.array.least_cycles else self.work_frame
        looks: dict[str, list[tuple[int, Look]]] = {tensor.name: [] for tensor in case.operator.tensors}
        numbered: list[tuple[tuple[int, int, Job], ...]] = []
        for hold, own in zip(holds, jobs, strict=True):
            before = looks[hold.tensor.name]
            numbered.append(tuple((frames.number(hold.entry, look.counted), len(before) + i, job)
                                  for i, (look, job) in enumerate(own.items())))
            before += [(frames.number(hold.entry, look.counted), look) for look in own]
        self.nest: NestTables = nest_tables(space, frames)
        self.tensors = [_tensor(case, tensor, self.nest, looks[tensor.name], touching[number], holds)
                        for number, tensor in enumerate(case.operator.tensors)]
        names = [tensor.name for tensor in case.operator.tensors]
        self.holds = [_hold(case, hold, names.index(hold.tensor.name), ways, own)
                      for hold, ways, own in zip(holds, self.stations.ways, numbered, strict=True)]
        self.spatial = [sorted(spatial_above(case, entry)) for entry in range(case.array_entry + 1)]
        self.bound_names = ("path", *(station.name for station in self.stations.all), f"{case.chip.array.name} hold",
                            *(f"{case.chip.names[hold.entry]} {hold.tensor.name} slots" for hold in holds),
                            *(bound.name for bound in self.cold))


def _tensor(case: Case, tensor: Tensor, nest: NestTables, looks: list[tuple[int, Look]], touching: int,
            holds: list[Hold]) -> TensorModel:
    number = {line.dims[0]: i for i, line in enumerate(case.nest.lines)}
    plain = [number[dim] for axis in tensor.axes if injective(axis, case.operator) for dim in axis.dims]
    repeated = [i for dim, i in number.items() if dim not in tensor.dims]
    kind = [0 if line in repeated else 1 if line in plain else 2 for line in number.values()]
    last = max(i for i, hold in enumerate(holds) if hold.tensor is tensor)
    return TensorModel(tensor, listed(plain), listed(repeated), listed(kind), Windows(case, tensor, nest, looks, touching),
                       int(np.prod(nest.extent[plain])), touching, None if holds[last].entry == case.array_entry else last)


def _hold(case: Case, hold: Hold, tensor: int, ways: tuple[Way, ...], jobs: tuple[tuple[int, int, Job], ...]) -> HoldModel:
    outer = None if hold.before is None else case.memory(hold.before, hold.tensor)
    output = hold.tensor.role is Role.OUTPUT
    above = spatial_above(case, hold.entry)
    return HoldModel(
        hold, tensor, ways, jobs, case.memory(hold.entry, hold.tensor), case.slot_count(hold.entry, hold.tensor),
        outer is not None and outer.accumulate, sorted(above & reducing(case)) if output else [],
        sorted(_unfinished(case, hold) & reducing(case)) if output else [],
        [place for place in sorted(above) if set(case.nest.lines[case.nest.loops[place].line].dims) & hold.tensor.dims])


def _unfinished(case: Case, hold: Hold) -> frozenset[int]:
    """Loops that leave sums unfinished in a hold where they run over a reduction: those that cut what the next inner one
    hands outward, and in the innermost all that the array itself does not finish.
    """
    path = case.paths[hold.tensor.name]
    inner = path.index(hold.entry) + 1
    until = path[inner] if inner < len(path) else case.array_entry
    return frozenset(place for place, loop in enumerate(case.nest.loops)
                     if loop.entry < until or (inner == len(path) and loop.axis is None))
