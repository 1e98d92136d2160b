"""Blame: how the last cycles before something became ready were spent, latest first, following the chain.

A residency is ready because its transfer arrived, which began at its claim, which waited for a slot, a source tile or
an earlier drain. Each stretch gets one cause; stretches follow each other without gap, so waits add up exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from accelsim.machine.network import Network
from accelsim.machine.state import SOURCE, Booking, Leg, Piece, Residency, Run, parts_of
from accelsim.stalls import StallCause

WRITEBACK, SYNC, FILL_DRAIN = StallCause.WRITEBACK, StallCause.SYNC, StallCause.ARRAY_FILL_DRAIN


class Blame:
    """Explains waits over one network. ``labels``: the names of its tensors, and of whoever else books its ports."""

    def __init__(self, network: Network, labels: Sequence[str]) -> None:
        self._network = network
        self._labels = labels
        self._since = self._until = 0

    def ready(self, residency: Residency, since: int, until: int, array: int) -> list[Piece]:
        """Why an array waited for a residency from ``since`` until it was ready."""
        return self._clipped(self._before_ready(residency, array), since, until)

    def drained(self, residency: Residency, since: int, until: int, array: int) -> list[Piece]:
        """Why the last drain arrived when it did: how the end of the run was spent."""
        assert residency.drain is not None
        return self._clipped(self._before_drained(residency, array), since, until)

    def _clipped(self, pieces: Iterator[Piece], since: int, until: int) -> list[Piece]:
        """Pieces from ``until`` back to ``since``, cut at both; stops reading at ``since``.

        They are made one by one, so that what is still to be explained is known when one is.
        """
        found: list[Piece] = []
        self._since, self._until = since, until
        for piece in pieces:
            end = min(piece.end, self._until)
            start = max(piece.start, since)
            if start < end:
                found.append(piece._replace(start=start, end=end))
                self._until = start
            if self._until <= since:
                break
        return found

    def _before_drained(self, residency: Residency, array: int) -> Iterator[Piece]:
        assert residency.drain is not None
        yield from self._transfer(residency.drain, residency.drained)
        yield Piece(SYNC, residency.released, _first(residency.drain).requested, "reduction", "other core")
        yield from self._held(residency, residency.released, array, own_causes=True)

    def _before_ready(self, residency: Residency, array: int) -> Iterator[Piece]:
        node = residency
        while True:
            while node.arrived and node.before is not None:
                node = node.before
            if node.fill is not None:
                yield from self._transfer(node.fill, node.ready)
                first = _first(node.fill)
                if first.requested > node.claimed:
                    yield Piece(SYNC, node.claimed, first.requested, node.station.spec.level, "multicast")
            kind, who = node.why
            if kind == SOURCE and who is not None:
                node = who
                continue
            if who is not None:
                yield from self._held(who, node.claimed, array, own_causes=False)
            return

    def _held(self, holder: Residency, until: int, array: int, *, own_causes: bool) -> Iterator[Piece]:
        """Why a slot was not free, or a drain not there, before ``until``: who held it, and that one's readers."""
        node: Residency | Run | None = holder
        while node is not None:
            if isinstance(node, Run):
                if node.array == array:
                    yield Piece(FILL_DRAIN, node.hold_end, until, "array", "")
                else:
                    yield Piece(SYNC, 0, until, f"array {node.array}", "other core")
                return
            if node.drain is not None and not (own_causes and node is holder):
                first = _first(node.drain)
                if own_causes:
                    yield from self._transfer(node.drain, until)
                else:
                    tensor = self._network.tensors[node.station.spec.tensor]
                    yield Piece(WRITEBACK, first.requested, until, first.hops[-1].name if first.hops else "", tensor)
                if first.requested > node.released:
                    yield Piece(SYNC, node.released, first.requested, "reduction", "other core")
                until = node.released
            if node.freed_why is None:
                if node.released > node.ready:
                    # another core went past it, or has a copy that outlives it: this array's own did so before it waited
                    yield Piece(SYNC, 0, until, node.station.spec.level, "other core")
                else:
                    yield from self._before_ready(node, array)
                return
            node = node.freed_why

    def _transfer(self, leg: Leg, until: int) -> Iterator[Piece]:
        """A transfer's way backward from a cycle, the pieces it was cut into one after another."""
        piece: Leg | None = leg
        while piece is not None:
            yield from self._way(piece, until)
            until, piece = piece.requested, piece.previous

    def _way(self, leg: Leg, until: int) -> Iterator[Piece]:
        """A leg's way backward from a cycle: latencies, service, queueing."""
        chain = [booking for part in parts_of(leg) for booking in part.bookings]
        owners = [part for part in parts_of(leg) for _ in part.bookings]
        place = len(chain) - 1
        if place < 0:
            return
        hop, _, _, _, through, _ = chain[place]
        if hop.memory >= 0 and leg.drains:
            yield from self._mixed(owners[place], AFTER, through, until, hop.name)
        else:
            yield Piece(hop.latency_cause, through, until, hop.name, "")
        while place >= 0:
            _, _, _, end, through, _ = chain[place]
            if not place or through == end:
                yield from self._served(chain, owners, place)
                return
            # data came slower than this hop could pass it on: the hop before decided
            before, _, _, _, passed, _ = chain[place - 1]
            yield Piece(before.latency_cause, passed, through, before.name, "")
            place -= 1

    def _served(self, chain: Sequence[Booking], owners: Sequence[Leg], place: int) -> Iterator[Piece]:
        """From the end of a hop's service back to the request: service, then first bytes and queues of the hops before."""
        hop, _, start, end, _, _ = chain[place]
        if hop.memory >= 0:
            yield from self._mixed(owners[place], BEFORE if owners[place].drains else AFTER, start, end, hop.name)
        elif hop.resource >= 0:
            served = min(end, start + hop.setup_cycles)
            yield Piece(self._network.resources[hop.resource].cause, served, end, hop.name, "")
            yield Piece(StallCause.ISSUE, start, served, hop.name, "")
        while True:
            yield from self._queue(chain[place], owners[place])
            if place == 0:
                return
            before, _, start, _, _, _ = chain[place - 1]
            yield Piece(before.latency_cause, start, chain[place][1], before.name, "")
            place -= 1

    def _mixed(self, leg: Leg, which: int, start: int, end: int, where: str) -> Iterator[Piece]:
        """A stretch that channels are behind: latency last; what is left of it inside the wait is shared out in whole cycles."""
        assert leg.channels is not None
        assert leg.channels.mixes is not None
        mix = leg.channels.mixes[which]
        latest = max(start, end - mix.latency)
        if latest < end:
            yield Piece(StallCause.DRAM_LATENCY, latest, end, where, "")
        start, latest = max(start, self._since), min(latest, self._until)
        if start >= latest:
            return
        weights = (mix.bandwidth, mix.turnaround, mix.row, mix.refresh, mix.contention)
        total, gone, until = sum(weights), 0, latest
        for cause, weight in zip(MIXED, weights, strict=True):
            gone += weight
            since = latest - (latest - start) * gone // total if total else start
            if since < until:
                yield Piece(cause, since, until, where, "others" if cause is StallCause.CONTENTION else "")
            until = since

    def _queue(self, booking: Booking, leg: Leg) -> Iterator[Piece]:
        hop, arrival, start, _, _, queue = booking
        if start <= arrival or hop.resource < 0:
            return
        if hop.memory >= 0:
            yield from self._mixed(leg, BEFORE, arrival, start, hop.name)
            return
        cause = self._network.resources[hop.resource].cause
        spec = leg.spec
        end = start
        for since, _, label, unit in queue:
            own = label == spec.tensor and unit == spec.unit
            yield Piece(cause if own else StallCause.CONTENTION, max(since, arrival), end, hop.name,
                        "" if own else self._labels[label])
            end = max(since, arrival)
        if end > arrival:
            yield Piece(StallCause.CONTENTION, arrival, end, hop.name, "others")


BEFORE, AFTER = range(2)
"""The two stretches of a wait for channels."""


MIXED = (StallCause.DRAM_BANDWIDTH, StallCause.DRAM_TURNAROUND, StallCause.DRAM_ROW, StallCause.DRAM_REFRESH,
         StallCause.CONTENTION)
"""What a wait for channels is shared out to, latest first."""


def _first(leg: Leg) -> Leg:
    while (earlier := leg.before or leg.previous) is not None:
        leg = earlier
    return leg
