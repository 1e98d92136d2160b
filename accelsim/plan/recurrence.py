"""Where a nest repeats itself: iterations of a loop in which every tile is the one of the iteration before, moved along.

Iterations are alike where their tiles are cut by no edge of the operator or of a tensor, and no reduction begins or ends in
them. Whether the machine repeats itself too is another matter (see ``machine.fast_forward``).
"""

from __future__ import annotations

from dataclasses import dataclass

from accelsim.plan.walk import weights
from accelsim.spec.case import Case
from accelsim.spec.chip import Multicast
from accelsim.spec.nest import NestLoop


@dataclass(frozen=True)
class Alike:
    """Iterations of a loop that do the same, moved along.

    ``uncut``: the first whose tiles are cut by no edge of a tensor. ``last``: the last in which what is done is that of the one
    before; none where it is before ``first``.
    """

    uncut: int
    last: int

    @property
    def first(self) -> int:
        """The first in which what is done is that of the one after: not that of iteration 0, which meets what came before the
        loop, nor that of one whose tiles follow others that were cut.
        """
        return self.uncut + 1


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
        (dim,) = case.nest.lines[line].dims
        # an iteration stands on [start + i * stride, start + beside + (i + 1) * stride) of its line
        uncut, last = 0, min(loop.bound, -(-(extent - start) // stride)) - (1 if self._ends_like_others(dim) else 2)
        last = min(last, (extent - start - beside) // stride - 1)
        for tensor in case.operator.tensors:
            for axis in tensor.axes:
                steps = dict(axis.form.terms).get(dim)
                if steps is None:
                    continue
                others = sum(own * (case.operator.dims[name] - 1) for name, own in axis.form.terms if name != dim)
                lowest, highest = axis.form.offset + steps * start, axis.form.offset + steps * (start + beside - 1) + others
                uncut = max(uncut, -(lowest // (steps * stride)))
                last = min(last, (axis.extent - 1 - highest) // (steps * stride) - 1)
        return Alike(uncut, last)

    def _ends_like_others(self, dim: str) -> bool:
        """Whether the last iteration of a loop over a dimension does what the others do.

        A reduction ends in it; and where two dimensions move one axis, the last tile of it may stay for the loop's next run.
        """
        operator = self._case.operator
        return dim not in operator.reduction_dims and all(
            len(axis.form.terms) == 1 for tensor in operator.tensors for axis in tensor.axes)
