"""The tables of one case, each made once: frames, factors, and what changes from step to step."""

from __future__ import annotations

from typing import NamedTuple

from accelsim.analytic.frame import FIRST_INSTANCE, Frame, Instances, frame_of
from accelsim.analytic.lines import EVERY, FIRST, Pairs
from accelsim.analytic.moves import Factor, factors, joint
from accelsim.spec.case import Case
from accelsim.spec.operator import Tensor

Sizes = dict[int, int]
"""How many tiles or transfers have that many elements."""


class Look(NamedTuple):
    """Which tiles are looked at: those of an entry, in which instances, which of them taken as one."""

    entry: int
    summed: Instances
    merged: Instances = FIRST_INSTANCE
    iterations: bool = False


class Tables:
    """A case and all that has been counted of it."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.everywhere: Instances = frozenset(
            place for place, loop in enumerate(case.nest.loops) if loop.axis is not None)
        self._frames: dict[Look, Frame] = {}
        self._factors: dict[tuple[Look, str], tuple[Factor, ...]] = {}
        self._changes: dict[tuple[Look, str], Pairs] = {}

    def frame(self, look: Look) -> Frame:
        """The loops above the tiles."""
        if look not in self._frames:
            self._frames[look] = frame_of(self.case.nest, look.entry, look.summed, look.merged,
                                          iterations=look.iterations)
        return self._frames[look]

    def factors(self, look: Look, tensor: Tensor) -> tuple[Factor, ...]:
        """The factors of the tensor's tiles."""
        key = look, tensor.name
        if key not in self._factors:
            self._factors[key] = factors(self.case.nest, self.case.operator, tensor, self.frame(look))
        return self._factors[key]

    def changes(self, look: Look, tensor: Tensor) -> Pairs:
        """(size, kept from before) of each tile that is not the one before, over all steps; the first keeps nothing."""
        key = look, tensor.name
        if key in self._changes:
            return self._changes[key]
        parts = self.factors(look, tensor)
        found: Pairs = {}
        for (size, _), count in joint(parts, FIRST).items():
            found[size, 0] = found.get((size, 0), 0) + count
        for advancing in self.frame(look).advancing:
            for pair, count in joint(parts, advancing).items():
                if pair[0] != pair[1]:
                    found[pair] = found.get(pair, 0) + count
        self._changes[key] = found
        return found


def every(parts: tuple[Factor, ...]) -> Sizes:
    """Sizes of the tiles over all steps, and how often."""
    found: Sizes = {}
    for (size, _), count in joint(parts, EVERY).items():
        found[size] = found.get(size, 0) + count
    return found
