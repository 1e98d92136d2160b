"""What a transfer carries: elements, bits, and the bytes that a port of some granularity must move for them."""

from __future__ import annotations

from accelsim.plan.images import Tile
from accelsim.plan.layout import runs
from accelsim.plan.places import bridged


class Move:
    """Elements of one tile that are not in the tile held before, at one width.

    ``elements`` and ``payload_bytes`` count what is asked for; ``bytes_at`` what a port moves when every contiguous
    run of the tensor's layout is rounded up to its granularity (without a tile: the elements as one run). Runs with gaps of at
    most ``bridge_bytes`` between them are one.
    """

    __slots__ = ("_bridge", "_tile", "_held", "_rounded", "bits", "elements", "payload_bytes")

    def __init__(self, elements: int, bits: int, tile: Tile | None, held: Tile | None, bridge_bytes: int = 0) -> None:
        self._bridge = bridge_bytes
        self.elements = elements
        self.bits = bits
        self.payload_bytes = -(-elements * bits // 8)
        self._tile = tile
        self._held = held
        self._rounded: dict[int, int] = {}

    def bytes_at(self, granularity_bytes: int) -> int:
        """Bytes through a port of this granularity."""
        if granularity_bytes == 1 and not self.bits % 8:
            return self.payload_bytes
        found = self._rounded.get(granularity_bytes)
        if found is None:
            grain = granularity_bytes * 8
            if self._tile is None:
                lengths = {self.elements: 1}
            elif self._bridge:
                lengths = bridged(self._tile, self._held, 8 * self._bridge // self.bits)
            else:
                lengths = runs(self._tile, self._held)
            found = sum(-(-length * self.bits // grain) * granularity_bytes * count for length, count in lengths.items())
            self._rounded[granularity_bytes] = found
        return found


class Load:
    """What one transfer moves: ``shared`` is read (or arrives) at the outer end, ``each`` is what instances get.

    Both are (move, times). For one instance they are the same; lockstep instances that share a multicast or a
    reduction have fewer shared moves than moves of their own, and their ports work side by side.
    """

    __slots__ = ("each", "shared")

    def __init__(self, shared: tuple[tuple[Move, int], ...], each: tuple[tuple[Move, int], ...]) -> None:
        self.shared = shared
        self.each = each

    @staticmethod
    def alone(move: Move | None) -> Load | None:
        """The load of a single instance; None where nothing moves."""
        return None if move is None else SingleLoad(move)

    @property
    def elements(self) -> int:
        """Elements entering or leaving all instances."""
        return sum(move.elements * times for move, times in self.each)

    @property
    def payload_bytes(self) -> int:
        """Bytes entering or leaving all instances, before granularity."""
        return sum(move.payload_bytes * times for move, times in self.each)

    def outer_bytes(self, granularity_bytes: int) -> int:
        """Bytes through a port that all instances share."""
        return sum(move.bytes_at(granularity_bytes) * times for move, times in self.shared)

    def all_outer_bytes(self, granularity_bytes: int) -> int:
        """Bytes through what instances share, summed over lockstep parents (each as the fullest)."""
        return self.outer_bytes(granularity_bytes)

    def inner_bytes(self, granularity_bytes: int) -> int:
        """Bytes through the instances' own ports, which work side by side: those of the fullest."""
        return max(move.bytes_at(granularity_bytes) for move, _ in self.each)

    def all_inner_bytes(self, granularity_bytes: int) -> int:
        """Bytes through the instances' own ports, summed."""
        return sum(move.bytes_at(granularity_bytes) * times for move, times in self.each)


class SingleLoad(Load):
    """The load of a single instance."""

    __slots__ = ("move",)

    def __init__(self, move: Move) -> None:
        self.move = move

    @property
    def elements(self) -> int:
        """Elements moved."""
        return self.move.elements

    @property
    def payload_bytes(self) -> int:
        """Bytes moved, before granularity."""
        return self.move.payload_bytes

    def outer_bytes(self, granularity_bytes: int) -> int:
        """Bytes through a port of this granularity."""
        return self.move.bytes_at(granularity_bytes)

    inner_bytes = all_inner_bytes = outer_bytes


class CachedLoad(Load):
    """A load through a cache: ``beyond_bytes`` of it pass the memory's port, with what is written back for it. One that ``waits``
    is behind another that brings what it asks for: a byte of the port stands for that.
    """

    __slots__ = ("beyond_bytes", "of")

    def __init__(self, of: Load, beyond_bytes: int, *, waits: bool) -> None:
        self.of = of
        self.beyond_bytes = beyond_bytes or int(waits)

    @property
    def elements(self) -> int:
        """Elements entering or leaving all instances."""
        return self.of.elements

    @property
    def payload_bytes(self) -> int:
        """Bytes entering or leaving all instances, before granularity."""
        return self.of.payload_bytes

    def outer_bytes(self, granularity_bytes: int) -> int:
        """Bytes through a port that all instances share, behind the cache."""
        return self.of.outer_bytes(granularity_bytes)

    def all_outer_bytes(self, granularity_bytes: int) -> int:
        """Bytes through what instances share, summed over lockstep parents."""
        return self.of.all_outer_bytes(granularity_bytes)

    def inner_bytes(self, granularity_bytes: int) -> int:
        """Bytes through the instances' own ports, which work side by side: those of the fullest."""
        return self.of.inner_bytes(granularity_bytes)

    def all_inner_bytes(self, granularity_bytes: int) -> int:
        """Bytes through the instances' own ports, summed."""
        return self.of.all_inner_bytes(granularity_bytes)


def union_elements(sets: list[tuple[Tile, Tile | None]]) -> int:
    """Elements in any of the sets ``tile without held``, each a product of axes.

    The indices of the first axis are split into classes that lie in the same sets; each class is counted on the
    remaining axes. Exact; quick because neighbours' windows fall into few classes.
    """
    pairs = [([axis.mask for axis in tile], None if held is None else [axis.mask for axis in held]) for tile, held in sets]
    return _union(pairs, 0, len(sets[0][0]))


def _union(pairs: list[tuple[list[int], list[int] | None]], axis: int, depth: int) -> int:
    """As ``union_elements`` from one axis on. A pair whose held part is None holds nothing here."""
    if not pairs:
        return 0
    if axis == depth:
        return int(any(held is None for _, held in pairs))
    masks = {tile[axis] for tile, _ in pairs} | {held[axis] for _, held in pairs if held is not None}
    classes = [-1]
    total = 0
    for mask in masks:
        classes = [part for one in classes for part in (one & mask, one & ~mask) if part]
    for part in classes:
        inside = [(tile, held if held is not None and held[axis] & part else None)
                  for tile, held in pairs if tile[axis] & part]
        if inside:
            total += part.bit_count() * _union(inside, axis + 1, depth)
    return total
