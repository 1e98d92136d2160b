"""Contiguous runs: how a set of elements lies in memory, so that bursts and lines can be rounded up.

A tensor's layout is row-major over its axes. Segments of the layout are summarised and joined end to end; a segment
is either full, or has a run at its start, a run at its end and whole runs between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from accelsim.plan.images import Tile


@dataclass(frozen=True)
class _Segment:
    """A stretch of the layout: ``full`` of ``length`` elements, or runs at its ends and ``inner`` ones (length, count)."""

    length: int
    full: bool
    head: int = 0
    tail: int = 0
    inner: tuple[tuple[int, int], ...] = ()


def _joined(first: _Segment, second: _Segment) -> _Segment:
    length = first.length + second.length
    if first.length == 0:
        return second
    if second.length == 0:
        return first
    if first.full and second.full:
        return _Segment(length, True)
    if first.full:
        return _Segment(length, False, first.length + second.head, second.tail, second.inner)
    if second.full:
        return _Segment(length, False, first.head, first.tail + second.length, first.inner)
    inner = Counter(dict(first.inner))
    for run, count in second.inner:
        inner[run] += count
    if first.tail + second.head:
        inner[first.tail + second.head] += 1
    return _Segment(length, False, first.head, second.tail, tuple(sorted(inner.items())))


def _repeated(segment: _Segment, times: int) -> _Segment:
    made = _Segment(0, True)
    while times:
        if times & 1:
            made = _joined(made, segment)
        segment = _joined(segment, segment)
        times >>= 1
    return made


def runs(tile: Tile, held: Tile | None) -> Counter[int]:
    """Lengths of the contiguous runs of a tile's elements that are not in ``held``, with how often each occurs."""
    whole = [axis.mask for axis in tile]
    kept = [axis.mask for axis in held] if held is not None else None
    extents = [axis.extent for axis in tile]
    segment = _rest(whole, kept, extents, 0)
    if segment.full:
        return Counter({segment.length: 1})
    found = Counter(dict(segment.inner))
    for run in (segment.head, segment.tail):
        if run:
            found[run] += 1
    return found


def shape(mask: int, kept: int, extent: int, *, gaps: bool = False) -> tuple[tuple[tuple[tuple[bool, ...], int], ...], bool]:
    """What of one axis decides the runs: the stretches of a tile in order, those outside it without their lengths unless ``gaps``
    count. Where on the axis it lies decides nothing, but that one from end to end has nothing outside.
    """
    lies = [(value, count if value[0] or gaps else 0) for value, count in _stretches((mask, kept), extent)]
    inside = [place for place, (value, _) in enumerate(lies) if value[0]]
    if not inside:
        return (), False
    return tuple(lies[inside[0]:inside[-1] + 1]), (inside[0], inside[-1]) == (0, len(lies) - 1)


def _plain(whole: Sequence[int], extents: Sequence[int], axis: int) -> _Segment:
    """The tile's elements from one axis inward."""
    if axis == len(whole):
        return _Segment(1, True)
    present = _plain(whole, extents, axis + 1)
    absent = _Segment(present.length, False)
    made = _Segment(0, True)
    for value, count in _stretches((whole[axis],), extents[axis]):
        made = _joined(made, _repeated(present if value[0] else absent, count))
    return made


def _rest(whole: Sequence[int], kept: Sequence[int] | None, extents: Sequence[int], axis: int) -> _Segment:
    """The tile's elements that are not held, from one axis inward (all outer indices are held ones)."""
    if kept is None:
        return _plain(whole, extents, axis)
    if axis == len(whole):
        return _Segment(1, False)
    present, partly = _plain(whole, extents, axis + 1), _rest(whole, kept, extents, axis + 1)
    absent = _Segment(present.length, False)
    made = _Segment(0, True)
    for value, count in _stretches((whole[axis], kept[axis]), extents[axis]):
        piece = absent if not value[0] else partly if value[1] else present
        made = _joined(made, _repeated(piece, count))
    return made


def _stretches(masks: tuple[int, ...], extent: int) -> list[tuple[tuple[bool, ...], int]]:
    """Stretches of indices over which all masks are constant, with their lengths."""
    edges = {0, extent}
    for mask in masks:
        changes = (mask ^ (mask << 1)) & ((1 << extent) - 1)
        while changes:
            low = changes & -changes
            edges.add(low.bit_length() - 1)
            changes ^= low
    ordered = sorted(edges)
    return [(tuple(bool(mask >> a & 1) for mask in masks), b - a) for a, b in pairwise(ordered)]
