"""Where tiles are looked at: the loops above them, line by line, and which instances are summed over."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from accelsim.analytic.lines import StepLoop, Steps
from accelsim.spec.nest import Nest, NestLoop

Instances = frozenset[int]
"""Places in the nest of the spatial loops whose instances are all counted; the others stay at iteration 0."""

FIRST_INSTANCE: Instances = frozenset()
"""Only the instance whose spatial iterations are all 0: it has the most steps."""


class Frame(NamedTuple):
    """Per line the tile and the loops above it; ``advancing``: places of the temporal loops, outermost first."""

    steps: tuple[Steps, ...]
    advancing: tuple[int, ...]


def frame_of(nest: Nest, entry: int, summed: Instances, merged: Instances = FIRST_INSTANCE, *,
             iterations: bool = False) -> Frame:
    """Tiles of an entry under its step loops.

    ``merged``: spatial loops that widen the tile instead of being summed over (the union of what their instances
    hold). ``iterations``: one iteration of the array's own temporal loops is a step too, and the tile is what all PEs
    touch in it.
    """
    lines: list[list[StepLoop]] = [[] for _ in nest.lines]
    tiles = [1] * len(nest.lines)
    advancing = []
    for place, (line, bound, stride, own, axis) in enumerate(_loops(nest)):
        if bound == 1:
            continue
        if place in merged or (own >= entry and not (iterations and axis is None)):
            tiles[line] *= bound
        elif axis is None:
            lines[line].append(StepLoop(place, bound, stride, True))
            advancing.append(place)
        elif place in summed:
            lines[line].append(StepLoop(place, bound, stride, False))
    steps = tuple(Steps(line.extent, tile, tuple(loops))
                  for line, tile, loops in zip(nest.lines, tiles, lines, strict=True))
    return Frame(steps, tuple(advancing))


def _loops(nest: Nest) -> list[tuple[int, int, int, int, str | None]]:
    return [(loop.line, loop.bound, loop.stride, loop.entry, loop.axis) for loop in nest.loops]


def instances(loops: tuple[NestLoop, ...]) -> int:
    """Instances that spatial loops span."""
    return prod(loop.bound for loop in loops)
