"""Transfers: how loads pass their ports in order (rule 3), alone, shared by a multicast, or summed by a reduction."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from accelsim.kernels.columns import (
    STAY_DRAIN,
    STAY_DRAIN_GROUP,
    STAY_DRAIN_MEMBERS,
    STAY_FILL,
    STAY_FILL_GROUP,
    STAY_FILL_MEMBERS,
    STAY_FIRST,
    STAY_HELD,
    STAY_LAST,
    STAY_SOURCE,
    STAY_TILE,
)
from accelsim.machine.network import Hop, Route
from accelsim.machine.outcomes import Come, Moved, Outcome
from accelsim.machine.state import Asked, Leg, Residency, ResourceState, TieKey, parts_of, settle
from accelsim.machine.tally import (
    ALONE_DRAIN,
    ALONE_FILL,
    LEG_DRAIN,
    LEG_FILL,
    TRUNK_DRAIN,
    TRUNK_FILL,
)
from accelsim.machine.ways import Ways
from accelsim.timeline import BUSY_STATE, TICKS

if TYPE_CHECKING:
    from accelsim.machine.simpy_driver import Machine

FILL, DRAINING = 0, 1


def _over(_: Leg) -> None:
    """What follows a leg that has already been followed up: nothing; it lets go of what it called."""


class Transfers:
    """All transfers of a machine."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        network = machine.network
        lanes = len(network.array_lanes)
        self.resources = [ResourceState(network.depth, lanes + number) for number in range(len(network.resources))]
        self.requests: list[tuple[TieKey, int, Leg]] = []
        self._count = 0
        self._gathering: dict[tuple[int, int, int, int], list[Residency]] = {}

    # -- what is asked for --------------------------------------------------------------------------------------

    def fill(self, residency: Residency) -> None:
        """Ask for what a residency needs moved in, when all that share it have claimed."""
        ways, row = residency.station.ways, residency.row
        load, spec = row[STAY_FILL], ways.spec
        residency.pieces_left = 1
        key = (-spec.entry, row[STAY_FIRST], FILL, spec.tensor, spec.unit)
        if not row[STAY_FILL_MEMBERS]:
            self._alone(ways, ALONE_FILL, load, key, residency, self._filled)
            ways.under_way += ways.payload[load]
            return
        ways.use(LEG_FILL, load)
        ways.under_way += ways.payload[load]
        members = self._gather((FILL, spec.entry, spec.tensor, row[STAY_FILL_GROUP]), residency, row[STAY_FILL_MEMBERS])
        if members:
            self._launch(ways, TRUNK_FILL, load, key, residency, None, partial(self._spread, members))

    def drain(self, residency: Residency) -> None:
        """Ask for what a residency leaves behind to move out."""
        ways, row = residency.station.ways, residency.row
        load, spec = row[STAY_DRAIN], ways.spec
        residency.pieces_left = 1
        key = (-spec.entry, row[STAY_LAST], DRAINING, spec.tensor, spec.unit)
        if not row[STAY_DRAIN_MEMBERS]:
            self._alone(ways, ALONE_DRAIN, load, key, residency, self._left)
            ways.under_way += ways.payload[load]
            return
        ways.use(LEG_DRAIN, load)
        ways.under_way += ways.payload[load]
        members = self._gather((DRAINING, spec.entry, spec.tensor, row[STAY_DRAIN_GROUP]), residency, row[STAY_DRAIN_MEMBERS])
        arrived: list[Leg] = []
        for member in members:
            own, its = member.station.ways, member.row
            key = (-own.spec.entry, its[STAY_LAST], DRAINING, own.spec.tensor, own.spec.unit)
            ticks = own.ticks[LEG_DRAIN][its[STAY_DRAIN]]
            self._go_on(Leg(own.hops[LEG_DRAIN], ticks, key, member, None, self._machine.now,
                            partial(self._join, members, arrived)))

    def lost(self) -> list[str]:
        """Stations whose transfers took up other bytes than they delivered (a law of conservation is broken)."""
        return [f"{station.spec.level} {self._machine.network.tensors[station.spec.tensor]}: {station.ways.under_way:,} B"
                for station in self._machine.stations if station.ways.under_way]

    def _gather(self, key: tuple[int, int, int, int], residency: Residency, size: int) -> list[Residency]:
        """All members of a group once the last has come; nothing before."""
        members = self._gathering.setdefault(key, [])
        members.append(residency)
        return self._gathering.pop(key) if len(members) == size else []

    def _spread(self, members: list[Residency], trunk: Leg) -> None:
        """A multicast has left what its members share: each goes its own way."""
        trunk.let_go()
        for member in members:
            ways, row = member.station.ways, member.row
            key = (-ways.spec.entry, row[STAY_FIRST], FILL, ways.spec.tensor, ways.spec.unit)
            self._go_on(Leg(ways.hops[LEG_FILL], ways.ticks[LEG_FILL][row[STAY_FILL]], key, member, trunk, self._machine.now,
                            self._filled))

    def _join(self, members: list[Residency], arrived: list[Leg], leg: Leg) -> None:
        """A member's partial sums are on their way; the sum goes on behind the last of them."""
        leg.let_go()
        arrived.append(leg)
        if len(arrived) < len(members):
            return
        last = max(arrived, key=lambda one: (one.through + one.latency, one.reaches))
        first = members[0]
        spec, row = first.station.spec, first.row
        key = (-spec.entry, row[STAY_LAST], DRAINING, spec.tensor, spec.unit)
        self._launch(first.station.ways, TRUNK_DRAIN, row[STAY_DRAIN], key, first, last, partial(self._summed, members))

    def _summed(self, members: list[Residency], trunk: Leg) -> None:
        trunk.let_go()
        for member in members:
            self._leaves(member, trunk)

    def _alone(self, ways: Ways, way: int, load: int, key: TieKey, residency: Residency, done: Callable[[Leg], None]) -> None:
        """A transfer of one station; several one after another where a link cuts long ones into chunks."""
        ticks = ways.use(way, load)
        if ways.chunked and ways.payload[load]:
            parts = ways.pieces(way, load)
            residency.pieces_left = len(parts)
            self._piece(ways.hops[way], parts, key, residency, None, done)
        else:
            self._go_on(Leg(ways.hops[way], ticks, key, residency, None, self._machine.now, done))

    def _piece(self, hops: Route, parts: list[tuple[int, ...]], key: TieKey, residency: Residency, previous: Leg | None,
               done: Callable[[Leg], None], _: object = None) -> None:
        """One chunk; the next asks when this one has been served at its first port."""
        leg = Leg(hops, parts[0], key, residency, None, self._machine.now, done if len(parts) == 1 else _over)
        leg.previous = previous
        number = previous.piece[0] + 1 if previous is not None else 0
        leg.piece = number, number + len(parts)
        if len(parts) > 1:
            leg.served = partial(self._next_piece, hops, parts[1:], done)
            if self._machine.channels is not None:
                leg.done = self._piece_over
        self._go_on(leg)

    def _next_piece(self, hops: Route, parts: list[tuple[int, ...]], done: Callable[[Leg], None], leg: Leg, cycle: int) -> None:
        # on its way to channels or banks it still has to say what it moves
        asked = self._machine.channels is not None or self._machine.banks is not None
        residency = leg.residency if asked else leg.let_go()
        self._machine.at(cycle, partial(self._piece, hops, parts, leg.key, residency, leg, done))

    def _piece_over(self, leg: Leg) -> None:
        self._arrives(leg, leg.let_go(), self._drained if leg.drains else self._come)

    def _launch(self, ways: Ways, way: int, load: int, key: TieKey, residency: Residency, before: Leg | None,
                done: Callable[[Leg], None]) -> None:
        self._go_on(Leg(ways.hops[way], ways.use(way, load), key, residency, before, self._machine.now, done))

    # -- how it moves -------------------------------------------------------------------------------------------

    def _go_on(self, leg: Leg) -> None:
        """Pass the hops that hold nothing up; then wait for arbitration at the next, or be done."""
        hops, bookings = leg.hops, leg.bookings
        place, count = len(bookings), len(hops)
        while place < count:
            hop = hops[place]
            reaches = leg.reaches
            spared = hop.cached and not leg.ticks[place]
            if hop.resource >= 0 and not spared:
                if reaches == self._machine.now:
                    self._arrive(leg)
                else:
                    self._machine.at(reaches, partial(self._arrive, leg))
                return
            through = leg.through + leg.latency
            if reaches > through:
                through = reaches
            bookings.append((hop, reaches, reaches, reaches, through, ()))
            if hop.banked >= 0:
                self._touch(leg, hop, reaches)
            leg.through = through
            leg.latency = 0 if spared else hop.latency_cycles
            leg.reaches = reaches + leg.latency
            place += 1
        done, leg.done = leg.done, _over
        done(leg)

    def _arrive(self, leg: Leg, _: object = None) -> None:
        """A transfer's first byte is at a port: it is served at the end of this cycle's round, in tie order."""
        self._count += 1
        self.requests.append((leg.key, self._count, leg))
        self._machine.due = True

    def arbitrate(self) -> None:
        """Serve what has arrived at ports in this round, in tie order."""
        requests, self.requests = self.requests, []
        if len(requests) > 1:
            requests.sort()
        now = self._machine.now
        rows, watcher = self._machine.recorder.pending, self._machine.watcher
        resources, now_ticks = self.resources, now * TICKS
        for _, _, leg in requests:
            place = len(leg.bookings)
            hop = leg.hops[place]
            if hop.memory >= 0:
                self._ask(leg, hop)
                continue
            resource = resources[hop.resource]
            start = resource.free  # booked behind what is booked
            if start < now_ticks:
                start = now_ticks
            resource.free = end = start + leg.ticks[place]
            begins, ends = -(-start // TICKS), -(-end // TICKS)
            ahead = resource.ahead(now, begins) if begins > now else ()
            spec = leg.spec
            resource.recent.append((begins, ends, spec.tensor, spec.unit))
            if end > start:
                rows.append((resource.lane, start, end, BUSY_STATE, spec.tensor))
                leg.row = resource.lane, start
            # through no earlier than through the hop before, and its latency
            through = leg.through + leg.latency
            if ends > through:
                through = ends
            leg.bookings.append((hop, now, begins, ends, through, ahead))
            if watcher is not None:
                watcher.booked(resource.lane, leg, now, begins, ends)
            if hop.banked >= 0:
                self._touch(leg, hop, begins)
            leg.through = through
            leg.latency = hop.latency_cycles
            leg.reaches = begins + hop.latency_cycles
            served = leg.served
            if served is not None:
                leg.served = None
                served(leg, ends)
            self._go_on(leg)

    def _touch(self, leg: Leg, hop: Hop, begin: int) -> None:
        """A leg's words are in banks that are simulated from a cycle on, at the pace of the slowest hop of its way."""
        machine, residency = self._machine, leg.residency
        row, outward = residency.row, leg.drains
        seq = residency.seq
        if residency.station.spec.entry != machine.network.banked[hop.banked].entry:
            seq = residency.sink if outward else row[STAY_SOURCE]
        assert machine.banks is not None
        load = row[STAY_DRAIN if outward else STAY_FILL]
        own = machine.banks.move(Moved(machine.now, hop.banked, residency.station.number, load, leg.key[1], seq, begin,
                                       max(leg.ticks), outward, *leg.piece))
        if own is not None:
            residency.loaded = own, begin

    # -- through channels that are simulated ----------------------------------------------------------------------

    def _ask(self, leg: Leg, hop: Hop) -> None:
        """Ask a memory's channels for what the leg moves."""
        machine, residency = self._machine, leg.residency
        row, write, (piece, pieces) = residency.row, leg.drains, leg.piece
        assert machine.channels is not None
        leg.channels = Asked(machine.now)
        machine.channels.ask(machine.now, leg, hop.memory, residency.station.number, row[STAY_DRAIN if write else STAY_FILL],
                             row[STAY_TILE], row[STAY_HELD], write=write, tells=write or leg.served is not None,
                             piece=piece, pieces=pieces)

    def come_out(self, outcome: Outcome[Leg]) -> None:
        """Something comes of what a leg asked for."""
        leg, happens = outcome.owner, {Come.STARTS: self._starts, Come.ENTERED: self._entered, Come.ENDS: self._ends}
        assert leg.channels is not None
        leg.channels.mixes = outcome.mixes
        self._machine.at(outcome.cycle, partial(happens[outcome.come], leg))

    def _starts(self, leg: Leg, _: object) -> None:
        """A read's first data move: the hops behind can be booked, though not yet when all is through."""
        self._book_channels(leg, self._machine.now)

    def _entered(self, leg: Leg, _: object) -> None:
        """All bursts are queued: the next piece may ask; and what writes has left where it came from."""
        served, leg.served = leg.served, None
        if served is not None:
            served(leg, self._machine.now)
        if leg.drains:
            assert leg.channels is not None
            self._book_channels(leg, leg.channels.cycle)

    def _book_channels(self, leg: Leg, start: int) -> None:
        hop, now = leg.hops[len(leg.bookings)], self._machine.now
        assert leg.channels is not None
        through = max(now, leg.through + leg.latency)
        leg.bookings.append((hop, leg.channels.cycle, start, now, through, ()))
        leg.through, leg.latency, leg.reaches = through, hop.latency_cycles, now + hop.latency_cycles
        self._go_on(leg)

    def _ends(self, leg: Leg, _: object) -> None:
        """The last data moved; those that are booked to their ends arrive."""
        asked = leg.channels
        assert asked is not None
        asked.ended = self._machine.now
        if not leg.drains:
            hop, arrival, start, _end, _through, ahead = leg.bookings[0]
            leg.bookings[0] = hop, arrival, start, asked.ended, asked.ended, ahead
        waiting, asked.waiting = asked.waiting, []
        for arrives in waiting:
            arrives()

    def _arrives(self, leg: Leg, residency: Residency, then: Callable[[Residency, object], None]) -> None:
        """A leg is booked to its end. Once channels have moved all of it, and of the other pieces, go on when all has arrived."""
        asked = next((part.channels for part in parts_of(leg) if part.channels is not None), None)
        if asked is not None and asked.ended < 0:
            asked.waiting.append(partial(self._arrives, leg, residency, then))
            return
        if asked is not None and not leg.drains:
            settle(leg)
        residency.pieces_left -= 1
        residency.latest = max(residency.latest, leg.arrived)
        if not residency.pieces_left:
            self._machine.at(residency.latest, partial(then, residency))

    # -- how it ends ----------------------------------------------------------------------------------------------

    def _filled(self, leg: Leg) -> None:
        residency = leg.let_go()
        residency.fill = leg
        if self._machine.channels is not None:
            self._arrives(leg, residency, self._come)
            return
        self._machine.at(leg.through + leg.latency, partial(self._come, residency))

    def _come(self, residency: Residency, _: object) -> None:
        if residency.loaded is None:
            residency.station.filled(residency)
            return
        # registers fill in the array's own time, which may have stood still meanwhile
        machine, (own, begin) = self._machine, residency.loaded
        array = residency.station.arrays[0].number
        assert machine.banks is not None
        cycle = machine.banks.reached(array, machine.now, own + machine.now - begin)
        residency.loaded = (own, begin + cycle - machine.now) if cycle > machine.now else None
        if residency.loaded is None:
            residency.station.filled(residency)
        else:
            machine.at(cycle, partial(self._come, residency))

    def _left(self, leg: Leg) -> None:
        self._leaves(leg.let_go(), leg)

    def _leaves(self, residency: Residency, leg: Leg) -> None:
        residency.drain = leg
        if self._machine.channels is not None:
            self._machine.at(leg.through, partial(self._freed, residency))
            self._arrives(leg, residency, self._drained)
        elif leg.latency:
            self._machine.at(leg.through, partial(self._freed, residency))
            self._machine.at(leg.arrived, partial(self._drained, residency))
        else:
            self._machine.at(leg.arrived, partial(self._gone, residency))

    @staticmethod
    def _freed(residency: Residency, _: object) -> None:
        residency.station.free_slot(residency)

    @staticmethod
    def _drained(residency: Residency, _: object) -> None:
        residency.station.drained(residency)

    @staticmethod
    def _gone(residency: Residency, _: object) -> None:
        residency.station.free_slot(residency)
        residency.station.drained(residency)
