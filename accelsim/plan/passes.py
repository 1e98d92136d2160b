"""The array steps of a tile in nominal time: when each pass begins if no access of a memory ever waits (rule 4).

What is stationary is loaded before its pass, one load after the other, as soon as a buffer of the registers is free; stationary
results leave after it. Nothing else holds a pass up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import ceil, prod

import numpy as np
from numpy.typing import NDArray

from accelsim.errors import LimitExceeded
from accelsim.plan.images import IndexSet, TensorImage, shared
from accelsim.spec.case import Case
from accelsim.spec.chip import ArrayModel
from accelsim.spec.nest import NestLoop
from accelsim.spec.operator import Role, Tensor

Ints = NDArray[np.int64]
Position = list[int]
MOST_ALONG = 10_000_000


@dataclass(frozen=True)
class Load:
    """A stationary tile that moves, into the registers or out: its position, the cycle its first word does, and that after its
    last, or after the array has shifted all its rows. ``held``: the position of the tile before, whose words stay (None: none).
    """

    tensor: Tensor
    position: Position
    start: int
    end: int
    held: Position | None = None


@dataclass(frozen=True)
class Pass:
    """One pass of the array: positions along the lines, cycles of its start and until the next may begin, the offsets of its
    iterations along the lines (int64[n, lines]; none: nothing but tiles that leave), and what its stationary tiles move.
    """

    position: Position
    start: int
    hold: int
    iterations: Ints
    loads: tuple[Load, ...] = ()
    drains: tuple[Load, ...] = ()


    def end(self, latency: int) -> int:
        """The cycle after the last in which something of it happens, ``latency`` cycles behind its iterations."""
        return max([self.start + self.hold + latency * bool(self.hold), *(one.end for one in (*self.loads, *self.drains))])


def positions(case: Case, loops: Sequence[NestLoop], base: Sequence[int]) -> Iterator[Position]:
    """Positions along the lines of all iterations of some loops, those past an edge left out."""
    extents = [line.extent for line in case.nest.lines]
    for indices in product(*(range(loop.bound) for loop in loops)):
        position = list(base)
        for loop, index in zip(loops, indices, strict=True):
            position[loop.line] += index * loop.stride
        if all(place < extent for place, extent in zip(position, extents, strict=True)):
            yield position


def count(case: Case, loops: Sequence[NestLoop], at: Sequence[int]) -> int:
    """How many positions some loops reach: along each line those before the edge. Raises LimitExceeded beyond ``MOST_ALONG``."""
    found = 1
    for number, line in enumerate(case.nest.lines):
        starts = [at[number]]
        for loop in loops:
            if loop.line == number:
                if len(starts) * loop.bound > MOST_ALONG:
                    raise LimitExceeded(f"{case.operator.name}: more than {MOST_ALONG:,} iterations along "
                                        f"{', '.join(line.dims)}; ask for a smaller operator")
                starts = [start + i * loop.stride for start in starts for i in range(loop.bound)
                          if start + i * loop.stride < line.extent]
        found *= len(starts)
    return found


@dataclass
class _Registers:
    """The buffers of one stationary tensor: when each was let go of, oldest first, and what is held."""

    tensor: Tensor
    image: TensorImage
    free: deque[int]
    late: bool
    held: tuple[IndexSet, ...] | None = None
    position: Position = field(default_factory=list)
    until: int = 0

    def tile(self, position: Position) -> tuple[IndexSet, ...]:
        """The tile at a position; padding alone is the same wherever it is."""
        found = tuple(axis.at(position) for axis in self.image.axes)
        return found if _moved(found) else self.image.nothing

    def keep(self, position: Position, following: Position, latency: int) -> None:
        """Hold what was held when the tile before ended, at ``position``: it can be let go of when the one ``following`` begins.
        Results have left unless they stay.
        """
        tile = self.tile(position)
        if self.tensor.role is not Role.OUTPUT or tile == self.tile(following):
            self.held, self.position, self.until = tile, position, -latency if self.late else 0
            self.free.popleft()


def row_words(case: Case) -> int:
    """Words of a row of the array."""
    return case.chip.array.extent("x")


def moved_in(case: Case, tensor: Tensor) -> Fraction | None:
    """Words of a stationary tensor that go into the registers in a cycle; None: all at once."""
    array = case.chip.array
    if array.preload_row:
        return Fraction(row_words(case))
    return None if array.preload is None else array.preload * 8 / _held_bits(case, tensor)


def moved_out(case: Case, tensor: Tensor) -> Fraction | None:
    """Words of stationary results that leave the registers in a cycle; None: all at once."""
    return None if case.chip.array.results is None else case.chip.array.results * 8 / _held_bits(case, tensor)


def _held_bits(case: Case, tensor: Tensor) -> int:
    return (case.operator.accumulator if tensor.role is Role.OUTPUT else tensor.dtype).bits


def _moved(tile: Sequence[IndexSet], held: Sequence[IndexSet] | None = None) -> int:
    """Elements of a tile that one held before does not have."""
    count = prod(axis.count for axis in tile)
    return count if held is None else count - prod(shared(axis, one) for axis, one in zip(tile, held, strict=True))


def _cycles(case: Case, words: Fraction | None, count: int) -> int:
    """Cycles that so many words take into the registers or out: a systolic array shifts all its rows."""
    if words is None:
        return 1
    if case.chip.array.model is ArrayModel.SYSTOLIC:
        count = max(count, case.chip.array.pe_count)
    return ceil(count / words)


def reduction_lines(case: Case) -> list[int]:
    """The lines that are summed over."""
    reduced = case.operator.reduction_dims
    return [number for number, line in enumerate(case.nest.lines) if set(line.dims) & reduced]


def fresh(case: Case, position: Sequence[int]) -> bool:
    """Whether the outputs at a position (of the first instance) have not been added to before."""
    return all(position[line] == 0 for line in reduction_lines(case))


def _last(case: Case, loops: Sequence[NestLoop], base: Sequence[int]) -> Position:
    """The last of ``positions``."""
    found = list(base)
    for loop in loops:
        room = case.nest.lines[loop.line].extent - 1 - found[loop.line]
        found[loop.line] += min(loop.bound - 1, room // loop.stride) * loop.stride
    return found


def passes(case: Case, entry: int, at: Sequence[int], before: Sequence[int] | None = None,
           after: Sequence[int] | None = None) -> Iterator[Pass]:
    """The passes of one tile of an entry, whose positions along the lines are ``at``. ``before``, ``after``: those of the tiles
    before and after it, whose stationary words this one may find and leave in the registers (None: there are none).
    """
    loops = [loop for loop in case.nest.loops if loop.axis is None and entry <= loop.entry < case.array_entry]
    within = _Iterations(case)
    latency = case.chip.array.skew_cycles
    held = [_registers(case, tensor) for tensor in case.operator.tensors if case.array_entry in case.paths[tensor.name][1:]]
    free = loading = draining = 0
    leaving: list[Load] = []
    if before is not None:
        for one in held:
            one.keep(_last(case, loops, before), list(at), latency)
    for position in positions(case, loops, at):
        iterations = within.at(position)
        hold = case.pass_cycles(len(iterations))
        loads, start = [], free
        for one in held:
            tile = one.tile(position)
            if tile == one.held:
                continue
            output = one.tensor.role is Role.OUTPUT
            if one.held is not None:
                released = one.until + (latency if one.late else 0)
                if output:
                    begins = max(released, draining)
                    draining = released = begins + _cycles(case, moved_out(case, one.tensor), _moved(one.held))
                    leaving.append(Load(one.tensor, one.position, begins, released))
                one.free.append(released)
            claimed = one.free.popleft()
            had, where = (None, None) if output or one.held is None else (one.held, one.position)
            one.held, one.position = tile, position
            new = _moved(tile, had)
            if new and (not output or (not fresh(case, position) and not _adds(case, one.tensor))):
                begins = max(claimed, loading)
                loading = claimed = begins + _cycles(case, moved_in(case, one.tensor), new)
                loads.append(Load(one.tensor, position, begins, claimed, where))
            start = max(start, claimed)
        free = start + hold
        for one in held:
            one.until = free
        yield Pass(position, start, hold, iterations, tuple(loads), tuple(leaving))
        leaving = []
    rest = []
    for one in held:
        stays = after is not None and one.held == one.tile(list(after))
        if one.tensor.role is Role.OUTPUT and one.held is not None and not stays:
            begins = max(one.until + latency, draining)
            took = _cycles(case, moved_out(case, one.tensor), _moved(one.held))
            rest.append(Load(one.tensor, one.position, begins, begins + took))
    if rest:
        yield Pass(rest[0].position, free, 0, within.none, (), tuple(rest))


def together(found: Iterator[Pass], most: int) -> Iterator[list[Pass]]:
    """Passes in groups of about so many iterations."""
    group: list[Pass] = []
    count = 0
    for one in found:
        group.append(one)
        count += len(one.iterations)
        if count >= most:
            yield group
            group, count = [], 0
    if group:
        yield group


class _Iterations:
    """Offsets of the iterations of the array's own loops, which differ with how far it is to an edge alone."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._loops = [loop for loop in case.nest.own(case.array_entry) if loop.axis is None]
        lines = range(len(case.nest.lines))
        self._reach = [1 + sum((loop.bound - 1) * loop.stride for loop in self._loops if loop.line == line) for line in lines]
        self._made: dict[tuple[int, ...], Ints] = {}
        self.none: Ints = np.zeros((0, len(lines)), dtype=np.int64)

    def at(self, position: Position) -> Ints:
        """int64[n, lines] of the pass at a position."""
        key = tuple([min(line.extent - place, reach)
                     for line, place, reach in zip(self._case.nest.lines, position, self._reach, strict=True)])
        found = self._made.get(key)
        if found is None:
            made: Ints = np.array(list(positions(self._case, self._loops, position)), dtype=np.int64)
            found = self._made[key] = made - np.array(position, dtype=np.int64)
        return found


def _registers(case: Case, tensor: Tensor) -> _Registers:
    slots = case.slot_count(case.array_entry, tensor)
    return _Registers(tensor, TensorImage(case, case.array_entry, tensor), deque([0] * slots),
                      tensor.role is Role.OUTPUT or slots == 1)


def _adds(case: Case, tensor: Tensor) -> bool:
    """Whether the memory that the array's results go to adds them in place."""
    parent = case.parent(case.array_entry, tensor.name)
    memory = None if parent is None else case.memory(parent, tensor)
    return memory is not None and memory.accumulate
