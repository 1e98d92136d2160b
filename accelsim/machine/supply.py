"""What the plan supplies to a compiled run, piece by piece: stays and blocks in the kernel's layout, and room to count them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.errors import SimulatorBug
from accelsim.kernels import event_layout as at
from accelsim.kernels.columns import BLOCK_STEP, STAY_DRAIN, STAY_FILL, STAY_FIRST, STAY_LAST, STAY_TILE, STAY_WIDTH
from accelsim.machine.compiled_loads import LoadTables
from accelsim.machine.fast_forward import Uses
from accelsim.machine.network import Network
from accelsim.machine.sections import Sections
from accelsim.machine.state import service_ticks
from accelsim.plan.schedule import Schedule

Ints = NDArray[np.int64]


class Supply:
    """The streams of a run and where their rows stand."""

    def __init__(self, network: Network, schedule: Schedule, s: Sections) -> None:
        self._network = network
        self._schedule = schedule
        self._s = s
        self._areas: dict[tuple[str, int], int] = {}
        self._places: dict[tuple[str, int], tuple[int, int]] = {}
        self._tables = LoadTables(network, schedule)
        self._streams = [schedule.stays(spec.entry, network.tensors[spec.tensor], spec.unit) for spec in network.stations]
        self._blocks = [schedule.blocks(node.unit) for node in network.arrays]
        self._works = 0
        for number in range(len(network.stations)):
            self.stays(number)
        for number in range(len(network.arrays)):
            self.blocks(number)

    def station(self, number: int) -> Ints:
        """A station's record."""
        return self._row(at.B_STATION, at.STATION_WIDTH, number)

    def array(self, number: int) -> Ints:
        """An array's record."""
        return self._row(at.B_ARRAY, at.ARRAY_WIDTH, number)

    def _row(self, base: int, width: int, number: int) -> Ints:
        return self._s.of(base)[number * width:(number + 1) * width]

    # -- in order -----------------------------------------------------------------------------------------------

    def stays(self, number: int) -> None:
        """Give a station its next stays, behind the one or none that it has left."""
        fresh: Ints = np.zeros((0, STAY_WIDTH), dtype=np.int64)
        if self._network.stations[number].parent >= 0:
            fresh = self._placed(number, self._streams[number].rows())
        self._supply(("stays", number), at.B_STAY, fresh)

    def _placed(self, number: int, rows: Ints) -> Ints:
        """Stays whose loads are named by where they stand, with room to count those."""
        offsets = self._tables.offsets(self._s, self._network.stations[number])
        rows[:, STAY_FILL], rows[:, STAY_DRAIN] = offsets[rows[:, STAY_FILL]], offsets[rows[:, STAY_DRAIN]]
        self._make_room(("uses", number), at.S_USES, at.WAYS * len(offsets))
        return rows

    def blocks(self, number: int) -> None:
        """Give an array its next blocks, behind the one or none that it has left."""
        fresh = self._blocks[number].rows()
        self._place_works(number)
        self._supply(("blocks", number), at.B_BLOCK, fresh)

    def _place_works(self, number: int) -> None:
        """Put down the kinds of work that are new, with room to count them."""
        s, works = self._s, self._schedule.works
        width = int(s.data[at.WORK_WIDTH])
        node = self._network.arrays[number]
        for work in works[self._works:]:
            place = s.take(at.B_WORK, width)
            ticks = [service_ticks(self._network.resources[resource], size, 0) if resource >= 0 and size else at.NEVER
                     for resources, sizes in ((node.read_resources, work.reads), (node.write_resources, work.writes))
                     for resource, size in zip(resources, sizes, strict=True)]
            s.of(at.B_WORK)[place:place + width] = [work.hold, work.macs, *ticks]
        self._works = len(works)
        self._make_room(("done", number), at.A_DONE, len(works))

    def _make_room(self, name: tuple[str, int], field: int, length: int) -> None:
        """See to it that an owner has counters for so much; those it had keep their counts."""
        place, have = self._places.get(name, (0, 0))
        if length <= have:
            return
        fresh = self._s.take(at.B_USES, 2 * length)
        section = self._s.of(at.B_USES)
        section[fresh:fresh + have] = section[place:place + have]
        self._owner(name)[field] = fresh
        self._places = {**self._places, name: (fresh, 2 * length)}

    def _owner(self, name: tuple[str, int]) -> Ints:
        return self.station(name[1]) if name[0] in ("stays", "uses") else self.array(name[1])

    def _supply(self, name: tuple[str, int], base: int, fresh: Ints) -> None:
        """Put rows behind those that an owner has left: it knows where they are, the next, how many, and whether they end."""
        width = fresh.shape[1]
        first = at.S_STAYS if name[0] == "stays" else at.A_BLOCKS
        rows, following, count, _ = self._owner(name)[first:first + 4].tolist()
        left = self._s.of(base)[(rows + following) * width:(rows + count) * width].copy()
        needed = len(left) // width + len(fresh)
        if needed > self._areas.get(name, 0):
            self._areas[name] = needed
            rows = self._s.take(base, needed * width) // width
        section = self._s.of(base)
        section[rows * width:rows * width + len(left)] = left
        section[rows * width + len(left):(rows + needed) * width] = fresh.ravel()
        self._owner(name)[first:first + 4] = rows, 0, needed, not len(fresh)

    # -- what was counted ---------------------------------------------------------------------------------------

    def uses(self, number: int) -> Ints:
        """How often each load of a station went each way: int64[loads, WAYS], by their numbers in the plan."""
        return self._counts(("uses", number)).reshape(-1, at.WAYS)

    def done(self, number: int) -> Ints:
        """How often an array has done each kind of work."""
        return self._counts(("done", number))

    def _counts(self, name: tuple[str, int]) -> Ints:
        first, have = self._places.get(name, (0, 0))
        return self._s.of(at.B_USES)[first:first + have]

    def counted(self) -> Uses:
        """All counts, by their owners."""
        return Uses(self._s.of(at.B_USES).copy(), self._places)

    def add_again(self, before: Uses, times: int) -> None:
        """Add what has been counted since then so many times more."""
        for name, (first, have) in self._places.items():
            now = self._s.of(at.B_USES)[first:first + have]
            was, had = before.places.get(name, (0, 0))
            since = now.copy()
            since[:had] -= before.counts[was:was + had]
            now += since * times

    # -- further on ---------------------------------------------------------------------------------------------

    def present(self, number: int) -> list[int]:
        """The residencies of a station that are in its slots or drain."""
        s, station = self._s, self.station(number)
        slots = s.of(at.B_RING)[station[at.S_RING]:station[at.S_RING] + station[at.S_ROUND] + 1].tolist()
        found = {r for r in slots if r >= 0}
        r = int(station[at.S_DRAINING])
        while r >= 0:
            found.add(r)
            r = int(s.table(at.B_RESIDENCY, at.RESIDENCY_WIDTH)[r, at.N_NEXT_DRAINING])
        return sorted(found)

    def resume_stays(self, number: int, begin: int, step: int) -> None:
        """Supply a station from the stay on that it is to claim next, which begins at a step; walk from step ``begin``.

        The residencies it has are those of a period earlier, moved along; they must be what the plan says, and are told
        their tiles.
        """
        s, station = self._s, self.station(number)
        following = int(station[at.S_CLAIMS])
        stream = self._streams[number]
        stream.seek(begin, step, following)
        first = stream.first_number
        rows = stream.rows()
        while len(rows) <= following - first:
            rows = np.concatenate([rows, stream.rows()])
        rows = self._placed(number, rows)
        for r in self.present(number):
            record = s.table(at.B_RESIDENCY, at.RESIDENCY_WIDTH)[r]
            place = int(record[at.N_SEQ]) - first
            told = rows[place, [STAY_FIRST, STAY_LAST, STAY_FILL, STAY_DRAIN]].tolist()
            if told != record[[at.N_FIRST, at.N_LAST, at.N_FILL_LOAD, at.N_DRAIN_LOAD]].tolist():
                spec = self._network.stations[number]
                raise SimulatorBug(f"{self._network.tensors[spec.tensor]} at {spec.level}[{spec.unit}] does not repeat itself: "
                                   f"residency {int(record[at.N_SEQ]):,} is not as it was a period earlier")
            record[at.N_TILE] = rows[place, STAY_TILE]
        station = self.station(number)
        station[at.S_STAY] = station[at.S_STAY_COUNT]
        self._supply(("stays", number), at.B_STAY, rows[following - first:])

    def resume_blocks(self, number: int, step: int) -> None:
        """Supply an array from the block at a step on."""
        stream = self._blocks[number]
        stream.seek(step)
        rows = stream.rows()
        if not len(rows) or rows[0, BLOCK_STEP] != step:
            raise SimulatorBug(f"no block of an array begins at step {step:,}, though one did a period earlier")
        self._place_works(number)
        array = self.array(number)
        array[at.A_BLOCK] = array[at.A_BLOCK_COUNT]
        self._supply(("blocks", number), at.B_BLOCK, rows)
