"""Where a nest repeats itself: iterations of a loop in which every tile is the one of the iteration before, moved along.

What is said here is cautious: an iteration is called alike only where its tiles meet no edge of the operator or of a
tensor, and no reduction begins or ends in it. Whether the machine repeats itself too is another matter (see
``machine.fast_forward``).
"""

from __future__ import annotations

from dataclasses import dataclass

from accelsim.plan.walk import weights
from accelsim.spec.case import Case
from accelsim.spec.chip import Multicast
from accelsim.spec.nest import NestLoop


@dataclass(frozen=True)
class Alike:
    """Iterations ``first`` to ``last`` of a loop that do the same, moved along; none where ``last`` is smaller."""

    first: int
    last: int


class Recurrence:
    """The step loops of the array, outermost first, and their iterations that are alike."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self.loops: tuple[NestLoop, ...] = case.nest.temporal_above(case.deepest_feeding)
        self.weights = weights(self.loops)
        """Steps of one iteration of each loop."""
        self.steps_inside = [case.nest.steps_between(entry, case.deepest_feeding) for entry in range(case.array_entry + 1)]
        """Array steps in one step of each entry."""

    def why_not(self) -> str:
        """Why nothing can be said of this case; "" where something can."""
        if any(line.flattened for line in self._case.nest.lines):
            return "tiles of flattened lists do not move along"
        if any(memory.dram is not None for level in self._case.chip.levels for memory in level.memories):
            return "rows and refreshes of a memory do not repeat themselves with the loops"
        if any(memory.cache_bytes is not None for level in self._case.chip.levels for memory in level.memories):
            return "what a cache has does not repeat itself with the loops"
        if any(memory.banked is not None for level in self._case.chip.levels for memory in level.memories):
            return "what banks are asked for does not repeat itself with the loops"
        names = self._case.chip.names
        for link in self._case.chip.links:
            inner = names.index(link.inner)
            if (link.reduce or link.multicast is not Multicast.NONE) and any(
                    not self._case.lockstep(loop.entry + 1) for loop in self._case.nest.spatial_above(inner)):
                return "cores share transfers"
        return ""

    def name(self, depth: int) -> str:
        """A loop for people: its dimension and its level."""
        loop = self.loops[depth]
        return f"{','.join(self._case.nest.lines[loop.line].dims)} at {self._case.chip.names[loop.entry]}"

    def weight(self, depth: int, entry: int) -> int:
        """Steps of an entry in one iteration of a loop; 0 where the loop is not above the entry."""
        return self.weights[depth] // self.steps_inside[entry] if self.loops[depth].entry < entry else 0

    def outer(self, depth: int, step: int) -> int:
        """The step at which the loop began that runs at a step: its iteration 0."""
        return step - step % (self.weights[depth] * self.loops[depth].bound)

    def iteration(self, depth: int, step: int) -> int:
        """The loop's iteration at a step."""
        return step // self.weights[depth] % self.loops[depth].bound

    def alike(self, depth: int, step: int) -> Alike:
        """The iterations that are alike of the loop that runs at a step."""
        case, loop = self._case, self.loops[depth]
        line, stride = loop.line, loop.stride
        extent = case.nest.lines[line].extent
        start = sum(self.iteration(i, step) * outer.stride for i, outer in enumerate(self.loops[:depth]) if outer.line == line)
        beside = sum((one.bound - 1) * one.stride for one in case.nest.spatial_above(case.array_entry)
                     if one.line == line and one.stride >= stride)
        # an iteration stands on [start + i * stride, start + beside + (i + 1) * stride) of its line
        first, last = 1, min(loop.bound, -(-(extent - start) // stride)) - 2
        last = min(last, (extent - start - beside) // stride - 1)
        (dim,) = case.nest.lines[line].dims
        for tensor in case.operator.tensors:
            for axis in tensor.axes:
                steps = dict(axis.form.terms).get(dim)
                if steps is None:
                    continue
                others = sum(own * (case.operator.dims[name] - 1) for name, own in axis.form.terms if name != dim)
                lowest, highest = axis.form.offset + steps * start, axis.form.offset + steps * (start + beside - 1) + others
                # runs that touch an edge of the tensor are told apart from those that do not: one element is left free
                first = max(first, -((lowest - 1) // (steps * stride)) + 1)
                last = min(last, (axis.extent - 2 - highest) // (steps * stride) - 1)
        return Alike(first, last)
