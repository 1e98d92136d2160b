"""A mapspace as the integer tables that the kernels take."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from accelsim.analytic.arrays import apart
from accelsim.analytic.moves import injective
from accelsim.analytic.tables import Tables
from accelsim.kernels.flows import Flows
from accelsim.kernels.mapspace import Nest, Windows
from accelsim.search.hold_tables import flags, flows_of, table
from accelsim.search.looks import FIRST_INSTANCE, Columns, Hold, Look, holds_of, jobs_of
from accelsim.search.mapspace import Mapspace, unsplit
from accelsim.search.stations import Stations
from accelsim.spec.case import Case
from accelsim.spec.operator import Axis, Tensor

Ints = NDArray[np.int64]
Order = tuple[int, ...]


@dataclass(frozen=True)
class Lowered:
    """The tables, and the names of the bounds by number."""

    nest: Nest
    windows: Windows
    flows: Flows
    bound_names: tuple[str, ...]


@dataclass
class _Frames:
    """Different (entry, one iteration of the array, spatial loops counted), numbered as they are asked for."""

    found: dict[tuple[int, bool, Columns], int] = field(default_factory=dict)

    def number(self, entry: int, counted: Columns, *, iterations: bool = False) -> int:
        return self.found.setdefault((entry, iterations, counted), len(self.found))


def lower(space: Mapspace) -> Lowered:
    """The tables of a mapspace. Raises LimitExceeded where a sum over one of its mappings could pass 2**62."""
    case = space.case
    holds, frames = holds_of(case), _Frames()
    stations = Stations(case, holds)
    stations.check_limit()
    places = range(len(case.nest.loops))
    orders = [(*order, *places[len(space.columns):]) for order in space.orders]
    jobs = [{} if hold.before is None else jobs_of(case, hold) for hold in holds]
    touching = {tensor.name: frames.number(case.array_entry, apart(Tables(case), tensor), iterations=True)
                for tensor in case.operator.tensors}
    work = frames.number(case.array_entry, frozenset(), iterations=True)
    looks: dict[str, list[tuple[Hold, Look]]] = {tensor.name: [] for tensor in case.operator.tensors}
    for hold, own in zip(holds, jobs, strict=True):
        looks[hold.tensor.name] += [(hold, look) for look in own]
        for look in own:
            frames.number(hold.entry, look.counted)
    windows = [(tensor, axis) for tensor in case.operator.tensors for axis in tensor.axes
               if axis.dims and not injective(axis, case.operator)]
    nest = _nest(space, orders, frames)
    flows = flows_of(case, list(zip(holds, jobs, strict=True)), stations, windows, frames.number, touching, work,
                     _along(case, windows, nest))
    names = ("path", *stations.number, f"{case.chip.array.name} hold",
             *(f"{case.chip.names[hold.entry]} {hold.tensor.name} slots" for hold in holds))
    return Lowered(nest, _windows(case, windows, looks, touching, frames, orders), flows, names)


def _advancing(case: Case, order: Order) -> list[int]:
    return [place for place in order if case.nest.loops[place].axis is None]


def _nest(space: Mapspace, orders: list[Order], frames: _Frames) -> Nest:
    case, loops = space.case, space.case.nest.loops
    lines, places = range(len(case.nest.lines)), range(len(loops))
    extent = np.array([line.extent for line in case.nest.lines], dtype=np.int64)
    own = [[[place for place in order if loops[place].line == line] for line in lines] for order in orders]
    longest = max(len(one) for one in own[0])
    by_order = np.full((len(orders), len(extent), max(1, longest)), -1, dtype=np.int64)
    for order, by_line in enumerate(own):
        by_order[order] = table(by_line, -1, max(1, longest))
    advancing = table([_advancing(case, order) for order in orders], -1)
    outside = np.zeros((len(orders), advancing.shape[1] + 1, len(extent)), dtype=np.int64)
    for order in range(len(orders)):
        for place in range(1, outside.shape[1] if advancing.min() >= 0 else 0):
            outside[order, place] = outside[order, place - 1]
            outside[order, place, loops[advancing[order, place - 1]].line] += 1
    axes: dict[tuple[int, str], int] = {}
    rooms, axis_of = [], []
    for place in places:
        loop = loops[place]
        if loop.axis is None:
            axis_of.append(-1)
            continue
        key = (loop.entry, loop.axis)
        if key not in axes:
            axes[key] = len(rooms)
            rooms.append(space.chip.array.extent(loop.axis) if loop.entry == case.array_entry
                         else dict(space.chip.fanout(loop.entry + 1))[loop.axis])
        axis_of.append(axes[key])
    above: list[list[int]] = []
    temporals: list[list[int]] = []
    steps: list[int] = []
    for entry, iterations, _ in frames.found:
        over = [loop for loop in loops if loop.entry < entry or (iterations and loop.axis is None)]
        above.append([sum(loop.line == line for loop in over) for line in lines])
        temporals.append([sum(loop.line == line and loop.axis is None for loop in over) for line in lines])
        steps.append(sum(loop.axis is None for loop in over))
    return Nest(
        extent=extent, loops=by_order, length=np.array([len(one) for one in own[0]], dtype=np.int64),
        line=np.array([loop.line for loop in loops], dtype=np.int64),
        temporal=np.array([loop.axis is None for loop in loops], dtype=np.int64), advancing=advancing, outside=outside,
        axis=np.array(axis_of, dtype=np.int64), room=np.array(rooms, dtype=np.int64),
        unsplit=np.array(unsplit(space), dtype=np.int64), above=np.array(above, dtype=np.int64),
        temporals=np.array(temporals, dtype=np.int64), counted=flags([counted for _, _, counted in frames.found], len(loops)),
        steps=np.array(steps, dtype=np.int64))


def _along(case: Case, windows: list[tuple[Tensor, Axis]], nest: Nest) -> Ints:
    """``Flows.along``: what ``Nest.outside`` says of a line, of all lines of an axis together."""
    found = np.zeros((*nest.outside.shape[:2], max(1, len(windows))), dtype=np.int64)
    for window, (_, axis) in enumerate(windows):
        for dim in axis.dims:
            found[:, :, window] += nest.outside[:, :, case.nest.line_of(dim)[0]]
    return found


def _windows(case: Case, windows: list[tuple[Tensor, Axis]], looks: dict[str, list[tuple[Hold, Look]]],
             touching: dict[str, int], frames: _Frames, orders: list[Order]) -> Windows:
    loops, lines = case.nest.loops, {line.dims[0]: number for number, line in enumerate(case.nest.lines)}
    terms = [sorted(((coefficient, lines[dim]) for dim, coefficient in axis.form.terms)) for _, axis in windows]
    own_lines = [{line for _, line in term} for term in terms]
    rank = np.full((len(orders), max(1, len(windows)), len(loops)), -1, dtype=np.int64)
    for number, order in enumerate(orders):
        for window, members in enumerate(own_lines):
            for i, place in enumerate(place for place in _advancing(case, order) if loops[place].line in members):
                rank[number, window, place] = i
    frame = [[frames.number(hold.entry, look.counted) for hold, look in looks[tensor.name]] + [touching[tensor.name]]
             for tensor, _ in windows]
    keys = list(frames.found)

    def temporals(window: int, number: int) -> int:
        entry, iterations, _ = keys[number]
        return sum(loop.axis is None and loop.line in own_lines[window] and (iterations or loop.entry < entry) for loop in loops)

    widest = max((len(own) for own in frame), default=1)
    merged = np.zeros((max(1, len(windows)), widest, len(loops)), dtype=np.int64)
    for window, (tensor, _) in enumerate(windows):
        for look, (_, own) in enumerate(looks[tensor.name]):
            merged[window, look, list(own.merged)] = 1
    return Windows(
        terms=np.array([len(term) for term in terms], dtype=np.int64),
        line=table([[line for _, line in term] for term in terms], -1),
        coefficient=table([[coefficient for coefficient, _ in term] for term in terms]),
        offset=np.array([axis.form.offset for _, axis in windows], dtype=np.int64),
        extent=np.array([axis.extent for _, axis in windows], dtype=np.int64), rank=rank,
        looks=np.array([len(own) for own in frame], dtype=np.int64), frame=table(frame),
        temporals=table([[temporals(window, number) for number in own] for window, own in enumerate(frame)]),
        merged=merged, largest=table([[int(look == FIRST_INSTANCE) for _, look in looks[tensor.name]] + [0]
                                       for tensor, _ in windows]))
