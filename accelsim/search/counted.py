"""What is counted of many mappings of a mapspace: steps, and stays and transfers of every hold, one array for each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.line_steps import count_steps
from accelsim.kernels.stays import masks, plain_stays, window_stays
from accelsim.kernels.transfers import ALONE, BYTES, ELEMENTS, TICKS, TRANSFERS, carry
from accelsim.search.looks import INWARD, OUTWARD, Job
from accelsim.search.model import HoldModel, Model, TensorModel
from accelsim.search.windows import Images
from accelsim.spec.operator import Role

Ints = NDArray[np.int64]

WINDOW_SIZES = 64
"""Room for different tiles of a windowed tensor, at first; half of it may be used."""


@dataclass
class HoldCount:
    """Of the instance whose spatial iterations are 0, each int64[rows]: elements of the first tile, of the last and of the
    smallest fill or drain; stays; cycles of all transfers one after another (drains until they are through); and elements of
    a whole tile along the plain lines.
    """

    first_tile: Ints
    last_tile: Ints
    least_tile: Ints
    stays: Ints
    moving: Ints
    plain_tile: Ints


@dataclass(frozen=True)
class _Sizes:
    """Different tiles of each row and how many stays each has; ``number[row]`` of them, ``stays`` in all.

    ``least``, ``last``: elements of the smallest that stays and of the last, of tensors without windows; ``plain_tile``: of a
    whole tile along the plain lines.
    """

    number: Ints
    sizes: Ints
    counts: Ints
    stays: Ints
    least: Ints
    last: Ints
    plain_tile: Ints


class Counted:
    """Counts of legal rows.

    ``tiles``, ``cut``, ``size``, ``edge``: as ``kernels.line_steps.count_steps`` fills them. ``holds``: None at homes.
    ``first``, ``mean``: per station the load of its first instance, and of all as they share it, in parts: ``parts[row]``
    (the array's instances) x the station's unit of a sixteenth. ``instances[entry]``: how many there are, of the array last.
    ``traffic`` [row, entry, tensor, kind] is filled, if given, with what moves between holds.
    """

    def __init__(self, model: Model, bounds: Ints, order: Ints, stride: Ints, digit: Ints, images: list[Images],
                 traffic: Ints | None) -> None:
        self.model, self.bounds, self.order, self.images, self.traffic = model, bounds, order, images, traffic
        nest, rows = model.nest, len(bounds)
        self.stride, self.lines = stride, len(nest.extent)
        shape = (rows, len(nest.above) * self.lines)
        self.depth = int(nest.temporals.max(initial=0)) + 1
        self.tiles, self.cut, self.wrapping = (np.empty((rows, shape[1] * self.depth), dtype=np.int64) for _ in range(3))
        self.size, self.edge = np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.int64)
        count_steps(nest.extent, nest.loops, nest.length, nest.temporal, nest.above, nest.temporals, nest.counted, bounds,
                    order, stride, digit, self.depth, self.tiles, self.cut, self.wrapping, self.size, self.edge)
        self.instances = [self.product(places) for places in model.spatial]
        self.parts: Ints | int = self.instances[-1] if model.spatial[-1] else 1
        self._shares: dict[int, Ints | int] = {}
        self.first = [np.zeros(rows, dtype=np.int64) for _ in model.stations.all]
        self.mean = [np.zeros(rows, dtype=np.int64) for _ in model.stations.all]
        self._plain = self._plain_stays()
        self.holds = [None if hold.home else self._hold(number, hold) for number, hold in enumerate(model.holds)]

    def product(self, places: list[int]) -> Ints:
        """The product of some loops' bounds."""
        found = np.ones(len(self.bounds), dtype=np.int64)
        for place in places:
            found = found * self.bounds[:, place]
        return found

    def iterates(self, places: list[int]) -> NDArray[np.bool_]:
        """Whether any of some loops has a second iteration."""
        return self.product(places) > 1

    def steps_of(self, frame: int, line: int) -> Ints:
        """All tiles of a line in a frame."""
        return self.tiles[:, (frame * self.lines + line) * self.depth + self.model.nest.temporals[frame, line]]

    def shares(self, entry: int) -> Ints | int:
        """How many of the array's instances there are to one of an entry: the parts of its load in which that of all counts."""
        if entry not in self._shares:
            self._shares[entry] = self.parts // self.instances[entry] if self.model.spatial[-1] else 1
        return self._shares[entry]

    def _plain_stays(self) -> list[_Sizes]:
        """The stays of all tensors without windows at once, so that a row's steps are read once."""
        nest, looks, rows = self.model.nest, self.model.plain_looks, len(self.bounds)
        ragged = (self.edge.max(axis=0, initial=0) > 0).tolist()
        most = max((sum(ragged[frame * self.lines + line] for line in plain if line >= 0)
                    for frame, plain in zip(looks.frame, looks.plain, strict=True)), default=0)
        number = np.empty((len(looks.frame), rows), dtype=np.int64)
        sizes, counts = (np.empty((len(looks.frame), rows, 1 << most), dtype=np.int64) for _ in range(2))
        summary = np.empty((len(looks.frame), rows, 3), dtype=np.int64)
        first, single = (np.empty((int(looks.output.max(initial=-1)) + 1, rows, 1 << most), dtype=np.int64) for _ in range(2))
        self._different = first, single
        plain_stays(self.bounds, self.order, nest.advancing, nest.outside, nest.line_of, looks.kind, looks.plain, looks.repeated,
                    looks.plains, looks.repeats, looks.frame, looks.steps, self.depth, self.tiles, self.cut, self.wrapping,
                    self.size, self.edge, number, sizes, counts, summary, looks.output, nest.extent, self.stride, first, single)
        return [_Sizes(number[look], sizes[look], counts[look], summary[look, :, 0], summary[look, :, 1], summary[look, :, 2],
                       sizes[look, :, 0]) for look in range(len(looks.frame))]

    def _hold(self, number: int, hold: HoldModel) -> HoldCount:
        tensor, found = self.model.tensors[hold.tensor], None
        for place, (frame, look, job) in enumerate(hold.jobs):
            tiles = (self._windowed(tensor, hold, frame, look) if tensor.windows.axes
                     else self._plain[self.model.plain_looks.number[number, place]])
            if tensor.tensor.role is not Role.OUTPUT:
                inward = self._carry(hold, INWARD, tiles.number, tiles.sizes, ((tiles.counts, 1, tensor.tensor.dtype.bits),))
                self._book(hold, INWARD, job, inward)
                self._note(hold, job.fills, (0, 3), inward)
                moving = inward[:, ALONE]
            else:
                own = self.model.plain_looks.number[number, place]
                moving = self._output(hold, tensor, own, job, tiles, credit=found is None)
            if found is None:  # the first job is that of the first instance
                found = self._count(tensor, hold, look, tiles, moving)
        assert found is not None, "a hold away from home has a job"
        return found

    def _windowed(self, tensor: TensorModel, hold: HoldModel, frame: int, look: int) -> _Sizes:
        nest, rows, base = self.model.nest, len(self.bounds), frame * self.lines
        windows, images = tensor.windows, self.images[hold.tensor]
        masks_of, number, stays = (np.empty(rows, dtype=np.int64) for _ in range(3))
        sizes = np.empty((rows, 1 << len(tensor.plain)), dtype=np.int64)
        masks(tensor.plain, base, self.size, self.edge, sizes, masks_of)
        pairs = np.empty((int(images.number.max(initial=1)) ** len(windows.axes), 3), dtype=np.int64)
        room = WINDOW_SIZES
        while True:
            moved, counts = (np.empty((rows, room), dtype=np.int64) for _ in range(2))
            window_stays(self.bounds, self.order, nest.advancing, nest.outside, nest.line_of, tensor.kind, tensor.plain,
                         tensor.repeated, base, int(nest.steps[frame]), self.depth, self.tiles, self.cut, self.wrapping,
                         self.edge, masks_of, sizes, np.arange(len(windows.axes)), windows.along, windows.member, images.first,
                         images.number, images.record, images.settings, look * windows.states, pairs,
                         np.empty(room, dtype=np.int64), moved, counts, number, stays)
            if int(number.min(initial=0)) >= 0:
                return _Sizes(number, moved, counts, stays, stays, stays, sizes[:, 0])
            room *= 4

    def _count(self, tensor: TensorModel, hold: HoldModel, look: int, tiles: _Sizes, moving: Ints) -> HoldCount:
        first_tile = tiles.plain_tile
        if not tensor.windows.axes:
            return HoldCount(first_tile, tiles.last, tiles.least, tiles.stays, moving, first_tile)
        images = self.images[hold.tensor]
        for window in range(len(tensor.windows.axes)):
            first_tile = first_tile * images.record[images.first[images.settings[:, window], look * tensor.windows.states], 0]
        return HoldCount(first_tile, first_tile, first_tile, tiles.stays + (first_tile == 0), moving, tiles.plain_tile)

    def _output(self, hold: HoldModel, tensor: TensorModel, look: int, job: Job, tiles: _Sizes, *, credit: bool) -> Ints:
        """Drains and refills: each tile's last stay ends finished, unless instances share its sum or a memory adds it up."""
        wide = self.model.case.operator.accumulator.bits
        first, single = (own[self.model.plain_looks.output[look]] for own in self._different)
        moving = np.zeros(len(self.bounds), dtype=np.int64)
        if credit or job.fills or job.counts(OUTWARD):
            done = single if hold.accumulates else first
            if hold.split:
                done = np.where(self.iterates(hold.split)[:, None], 0, done)
            outward = self._carry(hold, OUTWARD, tiles.number, tiles.sizes, (
                (tiles.counts, 1, wide), (done, -1, wide), (done, 1, tensor.tensor.dtype.bits)))
            self._book(hold, OUTWARD, job, outward)
            self._note(hold, job.fills, (1, 4), outward)
            moving += outward[:, ALONE] - outward[:, TRANSFERS] * hold.ways[OUTWARD].last_latency
        if (credit or job.refills or job.counts(INWARD)) and not hold.accumulates:
            inward = self._carry(hold, INWARD, tiles.number, tiles.sizes, ((tiles.counts, 1, wide), (first, -1, wide)))
            self._book(hold, INWARD, job, inward)
            self._note(hold, job.refills, (2, 5), inward)
            moving += inward[:, ALONE]
        return moving

    def _carry(self, hold: HoldModel, direction: int, number: Ints, sizes: Ints, flows: tuple[tuple[Ints, int, int], ...],
               ) -> Ints:
        """Totals of transfers: (how many of each size, added or taken away, bits of an element)."""
        way = hold.ways[direction]
        total = np.zeros((len(self.bounds), TICKS + len(way.services)), dtype=np.int64)
        for counts, sign, bits in flows:
            carry(number, sizes, counts, bits, way.latency, way.services, sign, total)
        return total

    def _book(self, hold: HoldModel, direction: int, job: Job, total: Ints) -> None:
        way = hold.ways[direction]
        for loads, places in ((self.first, job.first), (self.mean, job.mean)):
            for own, place in places:
                if own == direction:
                    station = way.stations[place]
                    ticks = total[:, TICKS + place] * self.model.stations.all[station].unit
                    loads[station] += ticks * (self.parts if loads is self.first else self.shares(way.sharers[place]))

    def _note(self, hold: HoldModel, asked: bool, kinds: tuple[int, int], total: Ints) -> None:
        if asked and self.traffic is not None:
            self.traffic[:, hold.hold.entry, hold.tensor, kinds[0]] = total[:, ELEMENTS]
            self.traffic[:, hold.hold.entry, hold.tensor, kinds[1]] = total[:, BYTES]
