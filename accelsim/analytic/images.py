"""Tiles of windows: the exact image of a box along one axis (``2*p + r - 1``), gaps left out, padding clipped away.

A set of indices is an integer with one bit per index, so that intersections are exact and fast. Away from the edges
of the tensor an image only moves, so its size and its overlap with the one before depend on lengths and distance alone.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from accelsim.analytic.lines import Pairs, Steps, positions
from accelsim.spec.operator import Axis


class Run(NamedTuple):
    """Places of a dimension's interval that share its length, the length before and the distance to the one before."""

    length: int
    before: int
    distance: int
    starts: tuple[int, ...]


class Part(NamedTuple):
    """A dimension along an axis: its coefficient and all its runs."""

    coefficient: int
    runs: tuple[Run, ...]


@lru_cache(maxsize=1 << 12)
def runs(steps: Steps, advancing: int, clipped: bool) -> tuple[Run, ...]:
    """The intervals of a plain line each time a loop advances, grouped; ``clipped``: cut at the line's edge."""
    found: dict[tuple[int, int, int], list[int]] = {}
    for position, before in positions(steps, advancing):
        length = min(steps.tile, steps.extent - position) if clipped else steps.tile
        length_before = min(steps.tile, steps.extent - before) if clipped else steps.tile
        found.setdefault((length, length_before, before - position), []).append(position)
    return tuple(Run(*key, tuple(sorted(starts))) for key, starts in found.items())


@lru_cache(maxsize=1 << 14)
def image(lengths: tuple[tuple[int, int], ...]) -> int:
    """Bits of all sums of coefficient x (0 .. length - 1), for (coefficient, length) of each dimension."""
    bits = 1
    for coefficient, length in lengths:
        done, block = 1, bits
        while done < length:
            more = min(done, length - done)
            block |= block << (coefficient * more)
            done += more
        bits = block
    return bits


@lru_cache(maxsize=1 << 13)
def window_pairs(parts: tuple[Part, ...], offset: int, shift: int, extent: int) -> Pairs:
    """(size, shared with the step before) of an axis' images over all placements of its dimensions, and how often.

    ``offset``: where index 0 of all dimensions falls; ``shift``: added to it at the step before.
    """
    pairs: Pairs = {}
    for chosen in product(*(part.runs for part in parts)):
        coefficients = [part.coefficient for part in parts]
        now = image(tuple(sorted((c, run.length) for c, run in zip(coefficients, chosen, strict=True))))
        old = image(tuple(sorted((c, run.before) for c, run in zip(coefficients, chosen, strict=True))))
        distance = shift + sum(c * run.distance for c, run in zip(coefficients, chosen, strict=True))
        ordered = sorted(zip(coefficients, chosen, strict=True), key=lambda item: len(item[1].starts))
        _place(pairs, now, old, distance, offset, extent, ordered)
    return pairs


def _place(pairs: Pairs, now: int, old: int, distance: int, offset: int, extent: int,
           ordered: list[tuple[int, Run]]) -> None:
    """Count the placements: in one stroke those that no edge of the tensor cuts, one by one the others."""
    low, high = max(0, -distance), min(extent - now.bit_length(), extent - distance - old.bit_length())
    inner = _sizes(now, old, distance, low, low + now.bit_length() + old.bit_length() + abs(distance))
    seen: dict[int, tuple[int, int]] = {}
    coefficient, run = ordered[-1]
    others = [[c * start for start in other.starts] for c, other in ordered[:-1]]
    for chosen in product(*others):
        base = offset + sum(chosen)
        first = bisect_left(run.starts, -((base - low) // coefficient))
        until = max(first, bisect_right(run.starts, (high - base) // coefficient))
        if until > first:
            pairs[inner] = pairs.get(inner, 0) + until - first
        for start in (*run.starts[:first], *run.starts[until:]):
            place = base + coefficient * start
            if place not in seen:
                seen[place] = _sizes(now, old, distance, place, extent)
            key = seen[place]
            pairs[key] = pairs.get(key, 0) + 1


def _sizes(now: int, old: int, distance: int, place: int, extent: int) -> tuple[int, int]:
    clipped = clip(now, place, extent)
    return clipped.bit_count(), (clipped & clip(old, place + distance, extent)).bit_count()


def reached(axis: Axis, extents: Mapping[str, int]) -> int:
    """Indices of an axis that the whole operator touches: padding and the gaps of strides are none."""
    bits = image(tuple(sorted((coefficient, extents[dim]) for dim, coefficient in axis.form.terms)))
    return clip(bits, axis.form.offset, axis.extent).bit_count()


def clip(bits: int, place: int, extent: int) -> int:
    """The image moved to ``place``, without the indices outside [0, extent)."""
    moved = bits << place if place >= 0 else bits >> -place
    return moved & ((1 << extent) - 1) if extent > 0 else 0
