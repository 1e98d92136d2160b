"""The lines that an operator touches, in loop order, if a memory were a cache: its tensors row-major, one behind the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accelsim.errors import Fault, LimitExceeded, SpecError
from accelsim.plan.demands import Asker, Demand, served
from accelsim.plan.edges import Tile
from accelsim.plan.passes import count, passes, together
from accelsim.plan.tileaccess import AT_ONCE
from accelsim.spec.cache import Beyond
from accelsim.spec.case import Case
from accelsim.spec.chip import Access, Memory
from accelsim.spec.sram import Edge
from accelsim.spec.sramtrace import Accesses, in_order

Ints = NDArray[np.int64]
MOST_LINES = 20_000_000
MOST_PASSES = 1_000_000


@dataclass(frozen=True)
class LineTrace:
    """``accesses``: their words are lines. ``tensors``: name and number of lines."""

    accesses: Accesses
    tensors: tuple[tuple[str, int], ...]


def beyond(case: Case, entry: int, memory: Memory) -> Beyond:
    """The level beyond a memory that its cache would get lines from: of the links and the outer memory's port on the way of each
    tensor the lowest rate and the longest latency. Raises SpecError where the memory is a home.
    """
    latency, fill, back = 0, [], []
    shared = False
    for tensor in served(case, entry, memory):
        parent = case.parent(entry, tensor.name)
        outer = None if parent is None else case.memory(parent, tensor)
        if parent is None or outer is None:
            raise SpecError([Fault("--cache", 0, 0, "", f"{memory.name} is the home of {tensor.name}: nothing lies beyond it",
                                   "a level inside the homes of its tensors")])
        inward = case.chip.links_between(case.chip.names[parent], case.chip.names[entry], Access.FILL, tensor)
        outward = case.chip.links_between(case.chip.names[parent], case.chip.names[entry], Access.DRAIN, tensor)
        latency = max(latency, outer.latency_cycles + sum(link.latency_cycles for link in inward))
        ports = [outer.port(access, tensor) for access in (Access.FILL, Access.DRAIN)]
        fill += [link.rate for link in inward] + [port.rate for port in ports[:1] if port is not None]
        back += [link.rate for link in outward] + [port.rate for port in ports[1:] if port is not None]
        shared = shared or (ports[0] is ports[1] and ports[0] is not None)
    return Beyond(latency, min((rate for rate in fill if rate is not None), default=None),
                  min((rate for rate in back if rate is not None), default=None), shared)


@dataclass(frozen=True)
class _Home:
    """A tensor as it lies beyond: its first line, and what the array asks of it."""

    first_line: int
    bits: int
    asker: Asker


class _Lines:
    """The trace in pieces, each line once in a cycle and kind."""

    def __init__(self, line_bytes: int, count: int) -> None:
        self._line_bits = 8 * line_bytes
        self._count = count
        self._keys: list[Ints] = []
        self._made = 0

    def add(self, home: _Home, asked: Demand) -> None:
        """Elements by their places in the tensor, each in its cycle."""
        flat = asked.places.ravel()
        there = flat >= 0
        bits = flat[there] * home.bits
        when = np.broadcast_to(asked.cycles, asked.places.shape).ravel()[there]
        lines = np.stack([bits // self._line_bits, (bits + home.bits - 1) // self._line_bits]) + home.first_line
        keys = np.unique((when * self._count + lines) * 2 + asked.write)
        self._keys.append(keys)
        self._made += len(keys)
        if self._made > MOST_LINES:
            raise LimitExceeded(f"more than {MOST_LINES:,} accesses of lines; ask for a smaller operator")

    def trace(self) -> Accesses:
        """All of it in order."""
        keys = np.unique(np.concatenate([*self._keys, np.zeros(0, dtype=np.int64)]))
        return in_order("array", keys // 2 // self._count, keys // 2 % self._count, keys % 2 == 1)


def line_trace(case: Case, entry: int, memory: Memory, line_bytes: int,
               progress: Callable[[int, int], None] | None = None) -> LineTrace:
    """What the array takes through a memory of an entry from an operator's first pass to its last, of its first instance.

    A vector is what it takes in a cycle of its own time (see ``passes``); results come when they leave the array. Elements lie
    as wide as the memory holds them, and each tensor begins with a line. Raises LimitExceeded beyond ``MOST_LINES``
    or ``MOST_PASSES``. ``progress`` is told how many passes are done, and of how many.
    """
    temporal = [loop for loop in case.nest.loops if loop.axis is None]
    origin = [0] * len(case.nest.lines)
    iterations = count(case, temporal, origin)
    runs = count(case, [loop for loop in temporal if loop.entry < case.array_entry], origin)
    if iterations > MOST_LINES or runs > MOST_PASSES:
        raise LimitExceeded(f"{case.operator.name}: {iterations:,} iterations in {runs:,} passes of the array exceed the limit "
                            f"of {MOST_LINES:,} in {MOST_PASSES:,}; ask for a smaller operator")
    homes: dict[str, _Home] = {}
    lines = 0
    for tensor in served(case, entry, memory):
        bits = case.held_type(entry, tensor).bits
        tile = Tile(case, entry, tensor, origin, whole=True)
        homes[tensor.name] = _Home(lines, bits, Asker(case, entry, tensor, tile, Edge.REGISTERS))
        lines += -(-tensor.elements * bits // (8 * line_bytes))
    made = _Lines(line_bytes, lines)
    done = 0
    widest = max(len(home.asker.lanes.offsets) for home in homes.values())
    for group in together(passes(case, 0, origin), max(1, AT_ONCE // widest)):
        for home in homes.values():
            for asked in home.asker.of(group):
                made.add(home, asked)
        done += len(group)
        if progress is not None:
            progress(min(done, runs), runs)
    edges = [*(home.first_line for home in homes.values()), lines]
    sizes = tuple((name, after - before) for name, before, after in zip(homes, edges[:-1], edges[1:], strict=True))
    return LineTrace(made.trace(), sizes)
