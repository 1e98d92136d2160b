"""What one array and the transfers beside it touch in banked memories: banks, in the array's own time and in cycles of the run.

An access is (cycle, code): twice the number of its bank, counted through all banked memories of the array, plus 1 where it
writes. Accesses of one cycle to the same word are one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from accelsim.errors import SimulatorBug
from accelsim.plan.edges import Lanes, Tile, lanes, new_lanes, turns
from accelsim.plan.passes import reduction_lines
from accelsim.plan.placing import Placing
from accelsim.plan.units import Unit
from accelsim.spec.banks import Banks
from accelsim.spec.case import Case
from accelsim.spec.chip import ArrayModel, Memory
from accelsim.spec.nest import NestLoop
from accelsim.spec.operator import Role, Tensor
from accelsim.timeline import TICKS

Ints = NDArray[np.int64]
Make = Callable[[], Ints]
MOST_KEPT = 1 << 24
"""Accesses that are kept for blocks to come which make the same."""
MOST_AT_ONCE = 1 << 25
"""Elements of a block that can be looked at: some 2 GB."""
NOTHING: Ints = np.zeros((0, 2), dtype=np.int64)


@dataclass(frozen=True)
class Held:
    """A tensor in a banked memory that feeds the array: where its slots are, in words, and the memory's banks from ``bank`` on.

    ``own``: the PEs, or registers, that take elements of it from here; None where another memory does.
    """

    tensor: Tensor
    entry: int
    banks: Banks
    bank: int
    first_word: int
    slot_words: int
    slots: int
    bits: int
    home: bool
    adds: bool
    own: Lanes | None

    def codes(self, words: Ints, seq: int, *, write: bool) -> Ints:
        """The codes of words of the slot that a residency is in."""
        every = words + self.first_word + seq % self.slots * self.slot_words
        return (self.bank + every // self.banks.grain_words % self.banks.count) * 2 + write


def fed(case: Case) -> list[tuple[int, Memory]]:
    """The banked memories that the array takes tensors from or gives them to, by entry."""
    found: list[tuple[int, Memory]] = []
    for tensor in case.operator.tensors:
        entry = _feed(case, tensor)
        memory = case.memory(entry, tensor)
        if memory is not None and memory.banked is not None and (entry, memory) not in found:
            found.append((entry, memory))
    return found


def most_at_once(case: Case) -> int:
    """Elements that a block may touch of a tensor in a banked memory, each iteration and PE counted; 0 where there is none."""
    nest, most = case.nest, 0
    iterations = prod(loop.bound for loop in nest.loops if loop.axis is None and loop.entry >= case.deepest_feeding)
    for tensor in case.operator.tensors:
        entry = case.feeding(tensor.name)
        memory = case.memory(entry, tensor)
        if memory is not None and memory.banked is not None:
            own = {line for dim in tensor.dims for line in nest.line_of(dim)}
            most = max(most, iterations * prod(loop.bound for loop in nest.loops if loop.axis is not None and loop.entry >= entry
                                               and loop.line in own))
    return most


def _feed(case: Case, tensor: Tensor) -> int:
    feed = case.feeding(tensor.name)
    return feed if feed != case.array_entry else case.parent(feed, tensor.name) or 0


class BankAccess:
    """The accesses of one array unit and of what moves to and from the banked memories that feed it."""

    def __init__(self, case: Case, unit: Unit) -> None:
        self._case = case
        self._base = unit.bases[0]
        self.memories = [memory for _, memory in fed(case)]
        self.held: dict[tuple[int, str], Held] = {}
        first = 0
        for entry, memory in fed(case):
            assert memory.banked is not None, "fed() finds banked ones"
            self._place(entry, memory, memory.banked, first)
            first += memory.banked.count
        self._made: dict[object, Ints] = {}
        self._tiles: dict[tuple[int, str], Tile] = {}
        self._loaded: dict[str, list[int]] = {}
        self._kept = 0

    def _place(self, entry: int, memory: Memory, banks: Banks, bank: int) -> None:
        """The slots of a memory's tensors, one behind the other."""
        case, word = self._case, 0
        for tensor in case.operator.tensors:
            if entry not in case.paths[tensor.name] or case.memory(entry, tensor) is not memory:
                continue
            bits, slots = case.held_type(entry, tensor).bits, case.slot_count(entry, tensor)
            home = entry == case.paths[tensor.name][0]
            words = -(-case.slot_bytes(entry, tensor) // banks.width_bytes)
            stationary = case.feeding(tensor.name) == case.array_entry
            own = lanes(case, entry, tensor, stationary=stationary) if _feed(case, tensor) == entry else None
            self.held[entry, tensor.name] = Held(tensor, entry, banks, bank, word, words, slots, bits, home,
                                                 memory.accumulate, own)
            word += slots * words

    # -- the array's own ----------------------------------------------------------------------------------------

    def block(self, step: int, seqs: Sequence[int], hold: int) -> Ints:
        """int64[n, 2]: what a block touches, by cycles from its start in the array's own time. ``seqs``: the residencies of its
        operands; ``hold``: the cycles that it takes.
        """
        case = self._case
        position = self._position(step, case.deepest_feeding, case.deepest_feeding)
        parts = []
        for tensor, seq in zip(case.operator.tensors, seqs, strict=True):
            held = self.held.get((case.feeding(tensor.name), tensor.name))
            if held is not None and held.own is not None:
                parts.append(self._streams(held, held.own, step, position, seq, hold))
        if not parts:
            return NOTHING
        return self._keep(tuple([key for key, _ in parts]), lambda: in_order(np.concatenate(
            [self._keep(key, make) for key, make in parts])))

    def _streams(self, held: Held, own: Lanes, step: int, position: list[int], seq: int, hold: int) -> tuple[object, Make]:
        """The same for one tensor: what it depends on, and how it is made."""
        case = self._case
        outer = self._position(step, case.deepest_feeding, held.entry)
        tile = self._tile(held, outer)
        fresh = all(position[line] == self._base[line] for line in self._reduced)
        key = self._alike(held, own, case.deepest_feeding, position, outer, seq, tile), fresh
        return key, lambda: self._stream(held, own, tile, position, seq, hold, fresh=fresh)

    def _alike(self, held: Held, own: Lanes, entry: int, position: list[int], outer: list[int], seq: int, tile: Tile) -> object:
        """What decides which words of a slot are touched at a position: how it lies in the tile and to the edges."""
        case = self._case
        reach = [size + int(own.offsets[:, line].max(initial=0)) for line, size in enumerate(case.nest.tiles[entry])]
        left = tuple([min(line.extent - at, far) for line, at, far in zip(case.nest.lines, position, reach, strict=True)])
        place = tuple(position) if held.tensor.name in self._placed else tuple(
            [now - start for now, start in zip(position, outer, strict=True)])
        return held.tensor.name, held.entry, seq % held.slots, left, place, tile.counts

    def _tile(self, held: Held, outer: list[int]) -> Tile:
        """The tile at a position, remembered until another is asked for."""
        last = self._tiles.get((held.entry, held.tensor.name))
        if last is None or last.position != tuple(outer):
            last = self._tiles[held.entry, held.tensor.name] = Tile(self._case, held.entry, held.tensor, outer, whole=held.home)
        return last

    def _stream(self, held: Held, own: Lanes, tile: Tile, position: list[int], seq: int, hold: int, *, fresh: bool) -> Ints:
        case = self._case
        offsets = self._iterations(tuple([line.extent - at for line, at in zip(case.nest.lines, position, strict=True)]))
        cycles, end = _paced(case, offsets)
        if end != hold:
            raise SimulatorBug(f"a block of {hold:,} cycles has {len(offsets):,} iterations that take {end:,}")
        at: Ints = offsets + np.array(position, dtype=np.int64)
        places = tile.places(at, own)
        if held.tensor.role is not Role.OUTPUT:
            return self._asked(held, tile, cycles, places, seq, write=False)
        parts = []
        if not held.adds:
            again = (offsets[:, self._reduced].max(axis=1, initial=0) > 0) | (not fresh)
            parts.append(self._asked(held, tile, cycles, np.where(again[:, None], places, -1), seq, write=False))
        parts.append(self._asked(held, tile, cycles + case.chip.array.skew_cycles, places, seq, write=True))
        return np.concatenate(parts)

    def registers(self, held: Held, step: int, seq: int, ticks: int, piece: tuple[int, int], *, write: bool) -> Ints:
        """int64[n, 2]: what moves between a memory and the registers in a transfer, row by row of the array, from its start on.
        Words that several PEs of an array take are read once; inputs that the transfer before brought not again. Transfers are
        told in order.

        ``step``: of the array's entry; ``seq``: the residency in the memory; ``ticks``: how long it takes, in sixteenths of a
        cycle; ``piece``: which it is, of how many.
        """
        case, own = self._case, held.own
        assert own is not None, "the array's registers are filled from here"
        outer = self._position(step, case.array_entry, held.entry)
        position = self._position(step, case.array_entry, case.array_entry)
        tile = self._tile(held, outer)
        had = self._loaded.get(held.tensor.name) if held.tensor.role is not Role.OUTPUT else None
        if piece[0] + 1 == piece[1]:
            self._loaded[held.tensor.name] = position
        since = None if had is None else tuple([now - then for now, then in zip(position, had, strict=True)])
        key = self._alike(held, own, case.array_entry, position, outer, seq, tile), since, ticks, piece, write
        return self._keep(key, lambda: self._row_by_row(held, own, tile, (position, had), seq, ticks, piece, write=write))

    def _row_by_row(self, held: Held, own: Lanes, tile: Tile, positions: tuple[list[int], list[int] | None], seq: int,
                    ticks: int, piece: tuple[int, int], *, write: bool) -> Ints:
        array = self._case.chip.array
        new, places = new_lanes(tile, own, *positions)
        turn = turns(self._case, own, new)
        every = int(turn.max(initial=0)) + 1
        if array.model is ArrayModel.SYSTOLIC:  # all rows are shifted, as often as there are words for a PE
            each = prod(count for _, count in array.pes)
            every = (int(own.order.max(initial=0)) // each + 1) * each
        first, last = every * piece[0] // piece[1], every * (piece[0] + 1) // piece[1]
        some = (turn >= first) & (turn < last)
        cycles = (turn[some] - first) * max(ticks, TICKS) // (max(1, last - first) * TICKS)
        words, which = self._words(held, tile, places[some])
        return _merged(cycles[which], words, held, seq, write=write)

    # -- what moves in pieces -----------------------------------------------------------------------------------

    @staticmethod
    def words(held: Held, seq: int, size_bytes: int, piece: tuple[int, int], begin: int, ticks: int, *, write: bool) -> Ints:
        """int64[n, 2]: what a transfer touches that moves a slot's words one after another, evenly in the time that it takes; in
        none, a word of every bank in a cycle. ``piece``: which it is, of how many.
        """
        count = min(held.slot_words, -(-size_bytes // held.banks.width_bytes))
        first, last = count * piece[0] // piece[1], count * (piece[0] + 1) // piece[1]
        number: Ints = np.arange(last - first, dtype=np.int64)
        made: Ints = np.empty((len(number), 2), dtype=np.int64)
        made[:, 0] = begin + (number * ticks // (TICKS * max(1, len(number))) if ticks else number // held.banks.count)
        made[:, 1] = held.codes(first + number, seq, write=write)
        return made

    # -- parts of it --------------------------------------------------------------------------------------------

    def _asked(self, held: Held, tile: Tile, cycles: Ints, places: Ints, seq: int, *, write: bool) -> Ints:
        words, which = self._words(held, tile, places)
        return _merged(cycles[which // places.shape[1]], words, held, seq, write=write)

    def _words(self, held: Held, tile: Tile, places: Ints) -> tuple[Ints, Ints]:
        """(words of a slot, the index among ``places`` of the element that lies in each)."""
        asked = np.flatnonzero(places.ravel() >= 0)
        layout = self._case.layout(held.entry, held.tensor.name)
        words = Placing(layout, held.banks, tile.counts, held.bits).words(places.ravel()[asked])
        return words.ravel(), np.repeat(asked, words.shape[1])

    def _position(self, step: int, entry: int, above: int) -> list[int]:
        """Positions along the lines at a step of an entry, of the tile that an entry above (or this one) has then."""
        position = list(self._base)
        for loop in reversed(self._case.nest.temporal_above(entry)):
            step, index = divmod(step, loop.bound)
            if loop.entry < above:
                position[loop.line] += index * loop.stride
        return position

    @cached_property
    def _inside(self) -> list[NestLoop]:
        return [loop for loop in self._case.nest.loops if loop.axis is None and loop.entry >= self._case.deepest_feeding]

    @cached_property
    def _reduced(self) -> list[int]:
        return reduction_lines(self._case)

    @cached_property
    def _placed(self) -> set[str]:
        """Tensors of which it matters where in the tensor a tile lies: windows, and lists that are flattened."""
        nest = self._case.nest
        return {tensor.name for tensor in self._case.operator.tensors
                if any(len(axis.form.terms) != 1 or axis.form.offset or axis.form.terms[0][1] != 1 for axis in tensor.axes)
                or any(nest.line_of(dim)[1] is not None for dim in tensor.dims)}

    def _iterations(self, left: tuple[int, ...]) -> Ints:
        """Offsets of a block's iterations along the lines, in order, where so much is left to the edges."""
        bounds = [loop.bound for loop in self._inside]
        reach = [1 + sum((loop.bound - 1) * loop.stride for loop in self._inside if loop.line == line)
                 for line in range(len(left))]
        key = tuple([min(pair) for pair in zip(left, reach, strict=True)])
        return self._keep(key, lambda: _offsets(self._inside, bounds, key))

    def _keep(self, key: object, make: Make) -> Ints:
        found = self._made.get(key)
        if found is None:
            found = make()
            if self._kept + len(found) > MOST_KEPT:
                self._made.clear()
                self._kept = 0
            self._made[key] = found
            self._kept += len(found)
        return found


def _offsets(loops: Sequence[NestLoop], bounds: Sequence[int], left: Sequence[int]) -> Ints:
    indices: Ints = np.indices(bounds, dtype=np.int64).reshape(len(bounds), prod(bounds)).T
    offsets: Ints = np.zeros((len(indices), len(left)), dtype=np.int64)
    for place, loop in enumerate(loops):
        offsets[:, loop.line] += indices[:, place] * loop.stride
    return offsets[(offsets < np.array(left, dtype=np.int64)).all(axis=1)]


def _merged(cycles: Ints, words: Ints, held: Held, seq: int, *, write: bool) -> Ints:
    """Each word once a cycle."""
    if not len(words):
        return NOTHING
    span = int(words.max()) + 1
    keys = np.unique(cycles * span + words)
    return np.stack([keys // span, held.codes(keys % span, seq, write=write)], axis=1)


def in_order(accesses: Ints) -> Ints:
    """Accesses by their cycles."""
    return accesses[np.argsort(accesses[:, 0], kind="stable")]


def _paced(case: Case, offsets: Ints) -> tuple[Ints, int]:
    """When each iteration begins, and when the last pass ends. ``offsets``: int64[iterations, lines], pass by pass."""
    interval, least = case.interval_cycles, case.chip.array.least_cycles
    starts: Ints = np.arange(len(offsets), dtype=np.int64) * interval
    if not least:
        return starts, len(offsets) * interval
    own = offsets // np.array(case.nest.tiles[case.array_entry], dtype=np.int64)
    first = np.flatnonzero(np.concatenate([[True], (own[1:] != own[:-1]).any(axis=1)]))
    counts = np.diff(first, append=len(offsets))
    holds = np.maximum(counts * interval, least)
    begins = np.cumsum(holds) - holds
    return starts + np.repeat(begins - first * interval, counts), int(holds.sum())
