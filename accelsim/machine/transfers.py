"""Transfers: how loads pass their ports in order (rule 3), alone, shared by a multicast, or summed by a reduction."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from accelsim.machine.network import Hop, Route, Station
from accelsim.machine.state import Ahead, Booking, Leg, Residency, TieKey, whole_cycle
from accelsim.plan.moves import Load
from accelsim.timeline import BUSY_STATE, LaneKind, Traffic

if TYPE_CHECKING:
    from accelsim.machine.simpy_driver import Machine

FILL, DRAINING = 0, 1


def _over(_: Leg) -> None:
    """What follows a leg that has already been followed up: nothing; it lets go of what it called."""


class Transfers:
    """All transfers of a machine."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._first_lane = len(machine.network.array_lanes)
        self._requests: list[tuple[TieKey, int, Leg]] = []
        self._count = 0
        self._gathering: dict[tuple[object, ...], list[Residency]] = {}

    # -- what is asked for --------------------------------------------------------------------------------------

    def fill(self, residency: Residency) -> None:
        """Ask for what a residency needs moved in, when all that share it have claimed."""
        spec, stay = self._spec(residency), residency.stay
        assert stay.fill is not None
        self._count_in(spec, residency)
        key = (-spec.entry, stay.first, FILL, spec.tensor, spec.unit)
        if not stay.fill_group:
            self._pieces(residency, (*spec.fill_trunk, *spec.fill_leg), stay.fill, key)
            return
        members = self._gather(("fill", spec.entry, spec.tensor, stay.first, stay.fill_group), residency,
                               len(stay.fill_group))
        if members:
            self._launch(spec.fill_trunk, stay.fill, key, spec, None, partial(self._spread, members))

    def drain(self, residency: Residency) -> None:
        """Ask for what a residency leaves behind to move out."""
        spec, stay = self._spec(residency), residency.stay
        assert stay.drain is not None
        traffic = self._traffic(spec.level, spec.tensor)
        traffic.drain_bytes += stay.drain.payload_bytes
        traffic.drain_elements += stay.drain.elements
        key = (-spec.entry, stay.last, DRAINING, spec.tensor, spec.unit)
        if not stay.drain_group:
            self._pieces(residency, (*spec.drain_leg, *spec.drain_trunk), stay.drain, key)
            return
        members = self._gather(("drain", spec.entry, spec.tensor, stay.last, stay.drain_group), residency,
                               len(stay.drain_group))
        arrived: list[Leg] = []
        for member in members:
            own = self._spec(member)
            assert member.stay.drain is not None
            self._launch(own.drain_leg, member.stay.drain, (-own.entry, member.stay.last, DRAINING, own.tensor, own.unit),
                         own, None, partial(self._join, members, arrived))

    def _gather(self, key: tuple[object, ...], residency: Residency, size: int) -> list[Residency]:
        """All members of a group once the last has come; nothing before."""
        members = self._gathering.setdefault(key, [])
        members.append(residency)
        return self._gathering.pop(key) if len(members) == size else []

    def _spread(self, members: list[Residency], trunk: Leg) -> None:
        """A multicast has left what its members share: each goes its own way."""
        for member in members:
            spec = self._spec(member)
            assert member.stay.fill is not None
            key = (-spec.entry, member.stay.first, FILL, spec.tensor, spec.unit)
            self._launch(spec.fill_leg, member.stay.fill, key, spec, trunk, partial(self._filled, member))

    def _join(self, members: list[Residency], arrived: list[Leg], leg: Leg) -> None:
        """A member's partial sums are on their way; the sum goes on behind the last of them."""
        arrived.append(leg)
        if len(arrived) < len(members):
            return
        last = max(arrived, key=lambda one: (one.through + one.latency, one.reaches))
        spec = self._spec(members[0])
        load = members[0].stay.drain
        assert load is not None
        key = (-spec.entry, members[0].stay.last, DRAINING, spec.tensor, spec.unit)
        self._launch(spec.drain_trunk, load, key, spec, last, partial(self._summed, members))

    def _summed(self, members: list[Residency], trunk: Leg) -> None:
        for member in members:
            self._left(member, trunk)

    def _pieces(self, residency: Residency, hops: Route, load: Load, key: TieKey) -> None:
        """One transfer, or several one after another where a link cuts long ones into chunks."""
        chunks = [hop.chunk_bytes for hop in hops if hop.chunk_bytes]
        count = -(-load.payload_bytes // min(chunks)) if chunks else 1
        sizes = [self._size(hop, load) for hop in hops]
        parts = [tuple(size * (i + 1) // count - size * i // count for size in sizes) for i in range(count)]
        done = partial(self._filled, residency) if key[2] == FILL else partial(self._left, residency)
        self._account(hops, load, self._spec(residency))
        self._piece(hops, load, key, self._spec(residency), parts, None, done)

    def _piece(self, hops: Route, load: Load, key: TieKey, spec: Station, parts: list[tuple[int, ...]],
               previous: Leg | None, done: partial[None]) -> None:
        leg = Leg(hops, load, parts[0], key, spec.tensor, spec.unit, None, self._machine.now,
                  done if len(parts) == 1 else lambda _: None)
        leg.previous = previous
        if len(parts) > 1:
            leg.served = partial(self._next_piece, hops, load, key, spec, parts[1:], leg, done)
        self._go_on(leg)

    def _next_piece(self, hops: Route, load: Load, key: TieKey, spec: Station, parts: list[tuple[int, ...]], leg: Leg,
                    done: partial[None]) -> None:
        end = leg.bookings[-1].end
        self._machine.at(end, partial(self._piece, hops, load, key, spec, parts, leg, done))

    # -- how it moves -------------------------------------------------------------------------------------------

    def _launch(self, hops: Route, load: Load, key: TieKey, spec: Station, before: Leg | None,
                done: partial[None]) -> None:
        sizes = tuple([self._size(hop, load) for hop in hops])
        self._account(hops, load, spec)
        leg = Leg(hops, load, sizes, key, spec.tensor, spec.unit, before, self._machine.now, done)
        self._go_on(leg)

    @staticmethod
    def _size(hop: Hop, load: Load) -> int:
        return load.outer_bytes(hop.granularity_bytes) if hop.shared else load.inner_bytes(hop.granularity_bytes)

    def _go_on(self, leg: Leg) -> None:
        """Pass the hops that hold nothing up; then wait for arbitration at the next, or be done."""
        hops, bookings = leg.hops, leg.bookings
        while len(bookings) < len(hops):
            hop = hops[len(bookings)]
            reaches = leg.reaches
            if hop.resource >= 0:
                if reaches == self._machine.now:
                    self._arrive(leg)
                else:
                    self._machine.at(reaches, partial(self._arrive, leg))
                return
            bookings.append(Booking(hop, reaches, reaches, reaches, max(reaches, leg.through + leg.latency), ()))
        done, leg.done = leg.done, _over
        done(leg)

    def _arrive(self, leg: Leg) -> None:
        """A transfer's first byte is at a port: it is served at the end of this cycle's round, in tie order."""
        self._count += 1
        self._requests.append((leg.key, self._count, leg))
        self._machine.due()

    def arbitrate(self) -> None:
        """Serve what has arrived at ports in this round, in tie order."""
        if not self._requests:
            return
        requests, self._requests = sorted(self._requests), []
        for _, _, leg in requests:
            self._serve(leg)

    def _serve(self, leg: Leg) -> None:
        machine = self._machine
        place = len(leg.bookings)
        hop = leg.hops[place]
        resource = machine.resources[hop.resource]
        now = machine.now
        start, end = resource.book(now, leg.sizes[place], hop.setup_cycles, leg.label, leg.unit)
        begins, ends = whole_cycle(start), whole_cycle(end)
        ahead = resource.ahead(now, begins) if begins > now else ()
        resource.recent.append(Ahead(begins, ends, leg.label, leg.unit))
        machine.recorder.row(self._first_lane + hop.resource, start, end, BUSY_STATE, leg.label)
        leg.bookings.append(Booking(hop, now, begins, ends, max(ends, leg.through + leg.latency), ahead))
        if leg.served is not None:
            leg.served, served = None, leg.served
            served()
        self._go_on(leg)

    def _filled(self, residency: Residency, leg: Leg) -> None:
        residency.fill = leg
        self._machine.at(leg.arrived, partial(self._machine.filled, residency))

    def _left(self, residency: Residency, leg: Leg) -> None:
        machine = self._machine
        residency.drain = leg
        if leg.through < leg.arrived:
            machine.at(leg.through, partial(machine.free_slot, residency))
            machine.at(leg.arrived, partial(machine.drained, residency))
        else:
            machine.at(leg.arrived, partial(self._gone, residency))

    def _gone(self, residency: Residency) -> None:
        self._machine.free_slot(residency)
        self._machine.drained(residency)

    # -- what is counted ----------------------------------------------------------------------------------------

    def _spec(self, residency: Residency) -> Station:
        return self._machine.network.stations[residency.station]

    def _traffic(self, level: str, tensor: int) -> Traffic:
        key = (level, self._machine.network.tensors[tensor])
        found = self._machine.recorder.traffic.get(key)
        if found is None:
            found = self._machine.recorder.traffic[key] = Traffic()
        return found

    def _count_in(self, spec: Station, residency: Residency) -> None:
        load = residency.stay.fill
        assert load is not None
        traffic = self._traffic(spec.level, spec.tensor)
        if residency.stay.refill:
            traffic.refill_bytes += load.payload_bytes
            traffic.refill_elements += load.elements
        else:
            traffic.fill_bytes += load.payload_bytes
            traffic.fill_elements += load.elements

    def _account(self, hops: Route, load: Load, spec: Station) -> None:
        """Bytes over links, and what granularity wastes at memories."""
        machine = self._machine
        machine.recorder.count("transfers")
        parent = machine.network.stations[spec.parent].level
        for hop in hops:
            if hop.kind is LaneKind.LINK:
                moved = (load.outer_bytes if hop.shared else load.all_inner_bytes)(hop.granularity_bytes)
                links = machine.recorder.link_bytes
                links[hop.name] = links.get(hop.name, 0) + moved
            elif hop.granularity_bytes > 1:
                count = load.outer_bytes if hop.shared else load.all_inner_bytes
                waste = count(hop.granularity_bytes) - count(1)
                if waste:
                    self._traffic(parent if hop.shared else spec.level, spec.tensor).waste_bytes += waste
