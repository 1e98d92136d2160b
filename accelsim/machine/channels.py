"""What the drivers share of memories whose channels are simulated: the addresses of a transfer, and what is recorded of them."""

from __future__ import annotations

from typing import Generic

import numpy as np
from numpy.typing import NDArray

from accelsim.machine.memories import MemoryState, earliest
from accelsim.machine.network import Network
from accelsim.machine.outcomes import Outcome, Owner
from accelsim.plan.moves import SingleLoad
from accelsim.plan.places import Blocks, Places
from accelsim.plan.schedule import Schedule
from accelsim.recorder import Recorder
from accelsim.timeline import BUSY_STATE

Ints = NDArray[np.int64]


class Channels(Generic[Owner]):
    """The memories of a run whose channels are simulated."""

    def __init__(self, network: Network, schedule: Schedule, recorder: Recorder) -> None:
        self._network = network
        self._schedule = schedule
        self._recorder = recorder
        self._memories: list[MemoryState[Owner]] = [
            MemoryState(one.dram, one.clock, _Keep(recorder, len(network.array_lanes) + one.first)) for one in network.memories]
        self._places: dict[tuple[int, int], Places] = {}
        self._blocks = [Blocks() for _ in network.memories]

    @property
    def busy(self) -> bool:
        """Whether something is under way in one of them."""
        return any([memory.busy for memory in self._memories])

    def ask(self, cycle: int, owner: Owner, memory: int, station: int, load: int, tile: int, held: int, *, write: bool,
            tells: bool, piece: int = 0, pieces: int = 1) -> None:
        """Ask for a load of a station, or one piece of it, in a cycle. ``tile``, ``held``: as the stay tells them."""
        network = self._network
        spec = network.stations[station]
        tensor = network.tensors[spec.tensor]
        moved = self._schedule.loads(spec.entry, tensor)[load]
        assert isinstance(moved, SingleLoad), "what runs in lockstep is not fed from channels"
        if network.memories[memory].tiled:
            block = self._blocks[memory].block((spec.tensor, tile), moved.payload_bytes)
            starts, lengths = np.array([block]), np.array([moved.payload_bytes])
        else:
            places = self._places.get((spec.entry, spec.tensor))
            if places is None:
                places = self._places[spec.entry, spec.tensor] = self._schedule.places(spec.entry, tensor)
            starts, lengths = places.byte_runs(tile, held, moved.move.bits)
        if pieces > 1:
            total = int(lengths.sum())
            starts, lengths = _cut(starts, lengths, total * piece // pieces, total * (piece + 1) // pieces)
        self._memories[memory].ask(cycle, owner, spec.tensor, write=write, tells=tells, starts=starts, lengths=lengths)

    def until(self, cycle: int | None) -> list[Outcome[Owner]]:
        """Go on to a cycle, or to the first in which something that came out is known (None: to that)."""
        return earliest(self._memories, cycle)

    def finish(self) -> None:
        """Record what they did."""
        for memory in self._memories:
            counts = memory.finish()
            for name, amount in counts._asdict().items():
                self._recorder.count(f"dram_{name}", amount)


class _Keep:
    """Gives a memory's rows to the recorder, its first data bus being a lane."""

    def __init__(self, recorder: Recorder, lane: int) -> None:
        self._recorder = recorder
        self._lane = lane

    def __call__(self, rows: Ints) -> None:
        made: Ints = np.empty((len(rows), 5), dtype=np.int64)
        made[:, 0], made[:, 1:3], made[:, 3], made[:, 4] = rows[:, 0] + self._lane, rows[:, 1:3], BUSY_STATE, rows[:, 3]
        self._recorder.add(made)


def _cut(starts: Ints, lengths: Ints, first: int, last: int) -> tuple[Ints, Ints]:
    """The bytes of runs from the one numbered ``first`` on to before the one numbered ``last``."""
    ends = np.cumsum(lengths)
    begins = ends - lengths
    some = (ends > first) & (begins < last)
    skipped = np.maximum(first - begins[some], 0)
    return starts[some] + skipped, lengths[some] - skipped - np.maximum(ends[some] - last, 0)
