"""What the array asks a memory for in a pass: which elements of a tensor, in which cycle of its own time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from accelsim.plan.edges import Lanes, Tile, lanes, new_lanes, turns
from accelsim.plan.passes import Pass, moved_in, moved_out, reduction_lines
from accelsim.spec.case import Case
from accelsim.spec.chip import Memory
from accelsim.spec.operator import Role, Tensor
from accelsim.spec.sram import Edge

Ints = NDArray[np.int64]


class Demand(NamedTuple):
    """Elements asked for: ``places`` int64[n, m] in the tile (-1: none), ``cycles`` int64 that stretch to the same shape."""

    cycles: Ints
    places: Ints
    write: bool


def served(case: Case, entry: int, memory: Memory) -> list[Tensor]:
    """The tensors that a memory of an entry holds and that the array takes from it, or gives to it."""
    found = []
    for tensor in case.operator.tensors:
        feed: int | None = case.feeding(tensor.name)
        if feed == case.array_entry:
            feed = case.parent(feed, tensor.name)
        if feed == entry and case.memory(entry, tensor) is memory:
            found.append(tensor)
    return found


class Asker:
    """What the array asks an entry's memory for of one tensor, pass by pass; places are those in ``tile``."""

    def __init__(self, case: Case, entry: int, tensor: Tensor, tile: Tile, edge: Edge) -> None:
        self.case, self.tensor, self.tile, self.edge = case, tensor, tile, edge
        self.stationary = case.feeding(tensor.name) == case.array_entry
        self.lanes: Lanes = lanes(case, entry, tensor, stationary=self.stationary)
        memory = case.memory(entry, tensor)
        self.adds = memory is not None and memory.accumulate

    def of(self, group: Sequence[Pass]) -> Iterator[Demand]:
        """Of some passes: a stationary tile moves in before one and out after it, the others stream."""
        if self.stationary:
            for one in group:
                yield from self._moves(one)
        elif any(len(one.iterations) for one in group):
            yield from self._streams(group)

    def _moves(self, one: Pass) -> Iterator[Demand]:
        for moves, words, write in ((one.loads, moved_in(self.case, self.tensor), False),
                                    (one.drains, moved_out(self.case, self.tensor), True)):
            for move in moves:
                if move.tensor is self.tensor:
                    new, places = new_lanes(self.tile, self.lanes, move.position, move.held)
                    order = turns(self.case, self.lanes, new)
                    after = np.zeros_like(order) if words is None else order * words.denominator // words.numerator
                    yield Demand((move.start + after)[None, :], places[None, :], write)

    def _streams(self, group: Sequence[Pass]) -> Iterator[Demand]:
        """An iteration after the other; results as much later as the array takes for them."""
        array, own = self.case.chip.array, self.lanes
        skewed = self.edge is Edge.SKEWED
        counts = [len(one.iterations) for one in group]
        at: Ints = np.repeat(np.array([one.position for one in group], dtype=np.int64), counts, axis=0)
        at += np.concatenate([one.iterations for one in group])
        number: Ints = np.arange(len(at), dtype=np.int64) - np.repeat(np.cumsum(counts) - counts, counts)
        starts = (np.repeat([one.start for one in group], counts) + number * self.case.interval_cycles)[:, None]
        places = self.tile.places(at, own)
        enter = starts + (own.enter if skewed else np.zeros_like(own.enter))
        if self.tensor.role is not Role.OUTPUT:
            yield Demand(enter, places, write=False)
            return
        if not self.adds:
            again = at[:, reduction_lines(self.case)].max(axis=1, initial=0) > 0
            yield Demand(enter, np.where(again[:, None], places, -1), write=False)
        leave = own.leave + array.depth_cycles if skewed else np.full_like(own.leave, array.skew_cycles)
        yield Demand(starts + leave, places, write=True)
