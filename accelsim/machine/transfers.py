"""Transfers: how loads pass their ports in order (rule 3), alone, shared by a multicast, or summed by a reduction."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from accelsim.machine.network import Hop, Route, Station
from accelsim.machine.state import Ahead, Leg, Residency, TieKey, whole_cycle
from accelsim.plan.moves import Load
from accelsim.timeline import BUSY_STATE, LaneKind, Traffic

if TYPE_CHECKING:
    from accelsim.machine.simpy_driver import Machine

FILL, DRAINING = 0, 1


def _over(_: Leg) -> None:
    """What follows a leg that has already been followed up: nothing; it lets go of what it called."""


class _Ways:
    """How a station's transfers go: hops, and what is known of them beforehand."""

    __slots__ = ("bare", "chunk_bytes", "drain_hops", "fill_hops", "spec", "traffic", "under_way")

    def __init__(self, spec: Station, traffic: Traffic) -> None:
        self.spec = spec
        self.traffic = traffic
        self.under_way = 0
        self.fill_hops = (*spec.fill_trunk, *spec.fill_leg)
        self.drain_hops = (*spec.drain_leg, *spec.drain_trunk)
        every = (*self.fill_hops, *self.drain_hops)
        self.chunk_bytes = min((hop.chunk_bytes for hop in every if hop.chunk_bytes), default=0)
        # with neither links nor granularity there is nothing to count but the payload
        self.bare = all(hop.granularity_bytes == 1 and hop.kind is not LaneKind.LINK and not hop.whole_bytes
                        for hop in every)


class Transfers:
    """All transfers of a machine."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        network = machine.network
        self._first_lane = len(network.array_lanes)
        self._requests: list[tuple[TieKey, int, Leg]] = []
        self._count = 0
        self._gathering: dict[tuple[object, ...], list[Residency]] = {}
        self._ways = [_Ways(spec, self._traffic(spec.level, spec.tensor) if spec.parent >= 0 else Traffic())
                      for spec in network.stations]

    # -- what is asked for --------------------------------------------------------------------------------------

    def fill(self, residency: Residency) -> None:
        """Ask for what a residency needs moved in, when all that share it have claimed."""
        ways, stay = self._ways[residency.station], residency.stay
        load, spec = stay.fill, ways.spec
        assert load is not None
        ways.under_way += load.payload_bytes
        if stay.refill:
            ways.traffic.refill_bytes += load.payload_bytes
            ways.traffic.refill_elements += load.elements
        else:
            ways.traffic.fill_bytes += load.payload_bytes
            ways.traffic.fill_elements += load.elements
        key = (-spec.entry, stay.first, FILL, spec.tensor, spec.unit)
        if not stay.fill_group:
            self._alone(ways, ways.fill_hops, load, key, partial(self._filled, residency))
            return
        members = self._gather(("fill", spec.entry, spec.tensor, stay.first, stay.fill_group), residency,
                               len(stay.fill_group))
        if members:
            self._launch(spec.fill_trunk, load, key, spec, None, partial(self._spread, members))

    def drain(self, residency: Residency) -> None:
        """Ask for what a residency leaves behind to move out."""
        ways, stay = self._ways[residency.station], residency.stay
        load, spec = stay.drain, ways.spec
        assert load is not None
        ways.under_way += load.payload_bytes
        ways.traffic.drain_bytes += load.payload_bytes
        ways.traffic.drain_elements += load.elements
        key = (-spec.entry, stay.last, DRAINING, spec.tensor, spec.unit)
        if not stay.drain_group:
            self._alone(ways, ways.drain_hops, load, key, partial(self._left, residency))
            return
        members = self._gather(("drain", spec.entry, spec.tensor, stay.last, stay.drain_group), residency,
                               len(stay.drain_group))
        arrived: list[Leg] = []
        for member in members:
            own = self._ways[member.station].spec
            assert member.stay.drain is not None
            self._launch(own.drain_leg, member.stay.drain, (-own.entry, member.stay.last, DRAINING, own.tensor, own.unit),
                         own, None, partial(self._join, members, arrived))

    def arrived(self, residency: Residency, load: Load) -> None:
        """What was asked for has come: bytes in = bytes out."""
        self._ways[residency.station].under_way -= load.payload_bytes

    def lost(self) -> list[str]:
        """Stations whose transfers took up other bytes than they delivered (a law of conservation is broken)."""
        return [f"{ways.spec.level} {self._machine.network.tensors[ways.spec.tensor]}: {ways.under_way:,} B"
                for ways in self._ways if ways.under_way]

    def _gather(self, key: tuple[object, ...], residency: Residency, size: int) -> list[Residency]:
        """All members of a group once the last has come; nothing before."""
        members = self._gathering.setdefault(key, [])
        members.append(residency)
        return self._gathering.pop(key) if len(members) == size else []

    def _spread(self, members: list[Residency], trunk: Leg) -> None:
        """A multicast has left what its members share: each goes its own way."""
        for member in members:
            spec = self._ways[member.station].spec
            assert member.stay.fill is not None
            key = (-spec.entry, member.stay.first, FILL, spec.tensor, spec.unit)
            self._launch(spec.fill_leg, member.stay.fill, key, spec, trunk, partial(self._filled, member))

    def _join(self, members: list[Residency], arrived: list[Leg], leg: Leg) -> None:
        """A member's partial sums are on their way; the sum goes on behind the last of them."""
        arrived.append(leg)
        if len(arrived) < len(members):
            return
        last = max(arrived, key=lambda one: (one.through + one.latency, one.reaches))
        spec = self._ways[members[0].station].spec
        load = members[0].stay.drain
        assert load is not None
        key = (-spec.entry, members[0].stay.last, DRAINING, spec.tensor, spec.unit)
        self._launch(spec.drain_trunk, load, key, spec, last, partial(self._summed, members))

    def _summed(self, members: list[Residency], trunk: Leg) -> None:
        for member in members:
            self._left(member, trunk)

    def _alone(self, ways: _Ways, hops: Route, load: Load, key: TieKey, done: Callable[[Leg], None]) -> None:
        """A transfer of one station; several one after another where a link cuts long ones into chunks."""
        size = load.payload_bytes
        if ways.bare:
            sizes = (size,) * len(hops)
            counts = self._machine.recorder.counts
            counts["transfers"] = counts.get("transfers", 0) + 1
        else:
            sizes = tuple([self._size(hop, load) for hop in hops])
            self._account(hops, load, ways.spec)
        if ways.chunk_bytes and size > ways.chunk_bytes:
            pieces = -(-size // ways.chunk_bytes)
            parts = [tuple([whole * (i + 1) // pieces - whole * i // pieces for whole in sizes]) for i in range(pieces)]
            self._piece(hops, key, ways.spec, parts, None, done)
            return
        self._go_on(Leg(hops, sizes, key, ways.spec.tensor, ways.spec.unit, None, self._machine.now, done))

    def _piece(self, hops: Route, key: TieKey, spec: Station, parts: list[tuple[int, ...]], previous: Leg | None,
               done: Callable[[Leg], None], _: object = None) -> None:
        """One chunk; the next asks when this one has been served at its first port."""
        leg = Leg(hops, parts[0], key, spec.tensor, spec.unit, None, self._machine.now, done if len(parts) == 1 else _over)
        leg.previous = previous
        if len(parts) > 1:
            leg.served = partial(self._next_piece, hops, key, spec, parts[1:], leg, done)
        self._go_on(leg)

    def _next_piece(self, hops: Route, key: TieKey, spec: Station, parts: list[tuple[int, ...]], leg: Leg,
                    done: Callable[[Leg], None]) -> None:
        self._machine.at(leg.bookings[-1].end, partial(self._piece, hops, key, spec, parts, leg, done))

    # -- how it moves -------------------------------------------------------------------------------------------

    def _launch(self, hops: Route, load: Load, key: TieKey, spec: Station, before: Leg | None,
                done: Callable[[Leg], None]) -> None:
        sizes = tuple([self._size(hop, load) for hop in hops])
        self._account(hops, load, spec)
        self._go_on(Leg(hops, sizes, key, spec.tensor, spec.unit, before, self._machine.now, done))

    @staticmethod
    def _size(hop: Hop, load: Load) -> int:
        size = load.outer_bytes(hop.granularity_bytes) if hop.shared else load.inner_bytes(hop.granularity_bytes)
        return max(size, hop.whole_bytes)

    def _go_on(self, leg: Leg) -> None:
        """Pass the hops that hold nothing up; then wait for arbitration at the next, or be done."""
        hops = leg.hops
        place = len(leg.bookings)
        while place < len(hops):
            hop = hops[place]
            reaches = leg.reaches
            if hop.resource >= 0:
                if reaches == self._machine.now:
                    self._arrive(leg)
                else:
                    self._machine.at(reaches, partial(self._arrive, leg))
                return
            leg.book(hop, reaches, reaches, reaches, ())
            place += 1
        done, leg.done = leg.done, _over
        done(leg)

    def _arrive(self, leg: Leg, _: object = None) -> None:
        """A transfer's first byte is at a port: it is served at the end of this cycle's round, in tie order."""
        self._count += 1
        self._requests.append((leg.key, self._count, leg))
        self._machine.due()

    def arbitrate(self) -> None:
        """Serve what has arrived at ports in this round, in tie order."""
        requests = self._requests
        if not requests:
            return
        self._requests = []
        if len(requests) > 1:
            requests.sort()
        for _, _, leg in requests:
            self._serve(leg)

    def _serve(self, leg: Leg) -> None:
        machine = self._machine
        place = len(leg.bookings)
        hop = leg.hops[place]
        resource = machine.resources[hop.resource]
        now = machine.now
        start, end = resource.book(now, leg.sizes[place], hop.setup_cycles)
        begins, ends = whole_cycle(start), whole_cycle(end)
        ahead = resource.ahead(now, begins) if begins > now else ()
        resource.recent.append(Ahead(begins, ends, leg.label, leg.unit))
        machine.recorder.row(self._first_lane + hop.resource, start, end, BUSY_STATE, leg.label)
        leg.book(hop, now, begins, ends, ahead)
        served, leg.served = leg.served, None
        if served is not None:
            served()
        self._go_on(leg)

    def _filled(self, residency: Residency, leg: Leg) -> None:
        residency.fill = leg
        self._machine.at(leg.arrived, partial(self._machine.filled, residency))

    def _left(self, residency: Residency, leg: Leg) -> None:
        machine = self._machine
        residency.drain = leg
        if leg.latency:
            machine.at(leg.through, partial(machine.free_slot, residency))
            machine.at(leg.arrived, partial(machine.drained, residency))
        else:
            machine.at(leg.arrived, partial(self._gone, residency))

    def _gone(self, residency: Residency, _: object = None) -> None:
        self._machine.free_slot(residency)
        self._machine.drained(residency)

    # -- what is counted ----------------------------------------------------------------------------------------

    def _traffic(self, level: str, tensor: int) -> Traffic:
        key = (level, self._machine.network.tensors[tensor])
        found = self._machine.recorder.traffic.get(key)
        if found is None:
            found = self._machine.recorder.traffic[key] = Traffic()
        return found

    def _account(self, hops: Route, load: Load, spec: Station) -> None:
        """Bytes over links, and what granularity wastes at memories."""
        machine = self._machine
        machine.recorder.count("transfers")
        parent = machine.network.stations[spec.parent].level
        for hop in hops:
            if hop.kind is LaneKind.LINK:
                moved = (load.all_outer_bytes if hop.shared else load.all_inner_bytes)(hop.granularity_bytes)
                links = machine.recorder.link_bytes
                links[hop.name] = links.get(hop.name, 0) + moved
            elif hop.granularity_bytes > 1:
                count = load.outer_bytes if hop.shared else load.all_inner_bytes
                waste = count(hop.granularity_bytes) - count(1)
                if waste:
                    self._traffic(parent if hop.shared else spec.level, spec.tensor).waste_bytes += waste
