"""Holds, looks and what the array takes as integer tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from accelsim.analytic.moves import injective
from accelsim.kernels import columns as col
from accelsim.kernels.flows import Flows
from accelsim.search.looks import Columns, Hold, Job, Look, reducing, spatial_above
from accelsim.search.stations import Stations
from accelsim.spec.case import Case
from accelsim.spec.chip import Memory
from accelsim.spec.operator import Axis, Role, Tensor

Ints = NDArray[np.int64]


def table(rows: Sequence[Sequence[int]], fill: int = 0, least: int = 1) -> Ints:
    """Rows of unlike lengths as a table."""
    width = max((len(row) for row in rows), default=0)
    found = np.full((len(rows), max(width, least)), fill, dtype=np.int64)
    for number, row in enumerate(rows):
        found[number, :len(row)] = row
    return found


def flags(sets: Sequence[frozenset[int]], number: int) -> Ints:
    """A row for each set: 1 at its members."""
    return np.array([[place in one for place in range(number)] for one in sets], dtype=np.int64).reshape(len(sets), number)


def flows_of(case: Case, jobs: list[tuple[Hold, dict[Look, Job]]], stations: Stations, windows: list[tuple[Tensor, Axis]],
             frame_of: Callable[[int, Columns], int], touching: dict[str, int], work: int, along: Ints) -> Flows:
    """All tables of ``Flows``; ``frame_of(entry, counted)``, ``touching[tensor]`` and ``work`` are numbers of frames."""
    holds = [hold for hold, _ in jobs]
    tensors, loops, lines = case.operator.tensors, case.nest.loops, case.nest.lines
    number_of = {tensor.name: number for number, tensor in enumerate(tensors)}
    memories: list[Memory] = []
    rows, job_rows, loads = [], [], []
    route, stop = stations.tables()
    looks_before = dict.fromkeys(number_of, 0)
    for number, (hold, own) in enumerate(jobs):
        rows.append(_hold(case, hold, memories, number_of, frame_of(hold.entry, frozenset()), looks_before[hold.tensor.name],
                          stations.after[number]))
        for look, job in own.items():
            row = [number, frame_of(hold.entry, look.counted), looks_before[hold.tensor.name]]
            looks_before[hold.tensor.name] += 1
            job_rows.append([*row, *(int(flag in job.flags) for flag in range(len(row), col.BACK + 1))])
            load = np.zeros((2, stop.shape[1]), dtype=np.int64)
            for place, bits in job.loads.items():
                load[place] = bits
            loads.append(load)
    reductions = reducing(case)
    line_of = {line.dims[0]: number for number, line in enumerate(lines)}
    plain = [[line_of[dim] for axis in tensor.axes if injective(axis, case.operator) for dim in axis.dims] for tensor in tensors]
    repeated = [[number for number, line in enumerate(lines) if line.dims[0] not in tensor.dims] for tensor in tensors]
    own_windows = [[number for number, (own, _) in enumerate(windows) if own is tensor] for tensor in tensors]
    kind = [[0 if line in repeated[number] else 1 if line in plain[number] else 2 for line in range(len(lines))]
            for number in range(len(tensors))]
    member = flags([frozenset(line_of[dim] for dim in axis.dims) for _, axis in windows], len(lines))
    return Flows(
        hold=table(rows), job=table(job_rows, least=col.BACK + 1),
        load=np.array(loads, dtype=np.int64).reshape(len(loads), 2, stop.shape[1]), route=route, stop=stop,
        station=table(stations.rows, least=col.UNIT + 1),
        tensor=table([[*_tensor(case, tensor, holds, touching[tensor.name], plain[number]), len(plain[number]),
                       len(repeated[number]), len(own_windows[number])] for number, tensor in enumerate(tensors)]),
        array=table(stations.array, least=col.SHARE + 1),
        split=table([sorted(spatial_above(case, hold.entry) & reductions) for hold in holds], -1),
        partial=table([sorted(_unfinished(case, hold) & reductions) for hold in holds], -1),
        spread=table([sorted(place for place in spatial_above(case, hold.entry)
                             if lines[loops[place].line].dims[0] in hold.tensor.dims) for hold in holds], -1),
        spatial=table([sorted(spatial_above(case, entry)) for entry in range(case.array_entry + 1)], -1),
        plain=table(plain, -1, len(lines)), repeated=table(repeated, -1, len(lines)),
        window=table(own_windows, -1), kind=np.array(kind, dtype=np.int64),
        along=along, member=member,
        memory=table([[-1, 1] if memory.capacity_bytes is None else
                      [memory.capacity_bytes, 1 if memory.banks is None else max(1, memory.capacity_bytes // memory.banks)]
                      for memory in memories], least=2),
        chip=np.array([case.interval_cycles, stations.skew, stations.after_step, case.operator.accumulator.bits,
                       case.chip.array.registers * case.chip.array.pe_count, work], dtype=np.int64))


def _hold(case: Case, hold: Hold, memories: list[Memory], number_of: dict[str, int], frame: int, look: int, after: int,
          ) -> list[int]:
    """A row of ``Flows.hold``; new memories are appended."""
    tensor = hold.tensor
    memory = case.memory(hold.entry, tensor)
    if memory is not None and not any(memory is known for known in memories):
        memories.append(memory)
    place = -1 if memory is None else next(number for number, known in enumerate(memories) if known is memory)
    slots = case.slot_count(hold.entry, tensor)
    outer = None if hold.before is None else case.memory(hold.before, tensor)
    late = case.chip.array.skew_cycles if memory is None and slots == 1 else 0
    partial = case.operator.accumulator if tensor.role is Role.OUTPUT else tensor.dtype
    return [number_of[tensor.name], hold.entry, int(hold.before is None), frame, look, place, slots,
            int(outer is not None and outer.accumulate), tensor.dtype.bits, partial.bits, late, after]


def _tensor(case: Case, tensor: Tensor, holds: list[Hold], touching: int, plain: list[int]) -> list[int]:
    """A row of ``Flows.tensor``, up to ``ADDS``."""
    own = [number for number, hold in enumerate(holds) if hold.tensor is tensor]
    memory = case.memory(case.feeding(tensor.name), tensor)
    whole = prod(case.nest.lines[line].extent for line in plain)
    return [tensor.dtype.bits, int(tensor.role is Role.OUTPUT), own[0], own[-1] + 1, touching, whole, tensor.elements,
            -1 if memory is None else own[-1], int(memory is not None and memory.accumulate)]


def _unfinished(case: Case, hold: Hold) -> frozenset[int]:
    """Loops that leave sums unfinished in a hold where they run over a reduction: those that cut what the next inner one
    hands outward, and in the innermost all that the array itself does not finish.
    """
    path = case.paths[hold.tensor.name]
    inner = path.index(hold.entry) + 1
    until = path[inner] if inner < len(path) else case.array_entry
    return frozenset(place for place, loop in enumerate(case.nest.loops)
                     if loop.entry < until or (inner == len(path) and loop.axis is None))
