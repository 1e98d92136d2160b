"""Where tiles are looked at: the loops above them, line by line, and which instances are summed over."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import NamedTuple

from accelsim.analytic.lines import StepLoop, Steps
from accelsim.spec.nest import Nest, NestLoop

Choose = Callable[[NestLoop], bool]


class Frame(NamedTuple):
    """Per line the tile and the loops above it; ``advancing``: places of the temporal loops, outermost first."""

    steps: tuple[Steps, ...]
    advancing: tuple[int, ...]


def every_instance(loop: NestLoop) -> bool:
    """Sum over all instances."""
    return True


def first_instance(loop: NestLoop) -> bool:
    """Look at the instance whose spatial iterations are all 0: it has the most steps."""
    return False


def frame_of(nest: Nest, entry: int, summed: Choose = every_instance, merged: Choose = first_instance,
             iterations: bool = False) -> Frame:
    """Tiles of an entry under its step loops.

    ``summed``: spatial loops whose instances are all counted, the others stay at iteration 0. ``merged``: spatial
    loops that widen the tile instead (the union of what their instances hold). ``iterations``: one iteration of the
    array's own temporal loops is a step too, and the tile is what all PEs touch in it.
    """
    lines: list[list[StepLoop]] = [[] for _ in nest.lines]
    tiles = [1] * len(nest.lines)
    advancing = []
    for place, loop in enumerate(nest.loops):
        own = iterations and loop.axis is None
        if (loop.entry >= entry and not own) or (loop.axis is not None and merged(loop)):
            tiles[loop.line] *= loop.bound
        elif loop.bound > 1 and (loop.axis is None or summed(loop)):
            lines[loop.line].append(StepLoop(place, loop.bound, loop.stride, loop.axis is None))
            if loop.axis is None:
                advancing.append(place)
    steps = tuple(Steps(line.extent, tiles[i], tuple(lines[i])) for i, line in enumerate(nest.lines))
    return Frame(steps, tuple(advancing))


def whole(steps: Steps) -> bool:
    """Whether one tile is the whole line."""
    return steps.tile >= steps.extent


def instances(loops: tuple[NestLoop, ...]) -> int:
    """Instances that spatial loops span."""
    return prod(loop.bound for loop in loops)
