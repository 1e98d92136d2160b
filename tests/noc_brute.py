"""A network on chip once more, as plainly as can be: dictionaries, queues, every router in every cycle. One destination a packet.

The rules are those of `docs/networks.md`; routes are given, all else is written anew.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Sequence

from accelsim.spec.network import Network

Row = tuple[int, int, int, int]
Route = Callable[[int, int, int, int, int], tuple[int, list[int]]]
"""(router, input, vc, destination, packet) to the output and the VCs that it may take there."""
Spot = tuple[int, int, int]


class Brute:
    """Run packets of (created, source, destination, flits); ``times[packet]`` is then (injected, head, tail)."""

    def __init__(self, network: Network, rows: Sequence[Row], route: Route) -> None:
        self.net, self.rows, self.route = network, rows, route
        top, self.r = network.topology, network.router
        self.links: dict[tuple[str, int, int], tuple[tuple[str, int, int], int, int]] = {}
        for wire in top.wires:
            self.links["out", wire.source, wire.output] = (("in", wire.target, wire.input), wire.latency, wire.flit_cycles)
        ends = network.endpoint_latency, network.endpoint_flit_cycles
        for node, (enters, leaves) in enumerate(zip(top.enters, top.leaves, strict=True)):
            self.links["node", node, 0] = (("in", *enters), *ends)
            self.links["out", *leaves] = (("node", node, 0), *ends)
        self.back = {end: (start, latency) for start, (end, latency, _) in self.links.items()}
        self.credit: dict[tuple[tuple[str, int, int], int], int] = {
            (start, vc): self.r.buffer for start in self.links for vc in range(self.r.vcs)}
        self.buffers: dict[Spot, deque[tuple[int, int]]] = defaultdict(deque)
        self.state: dict[Spot, str] = defaultdict(lambda: "idle")
        self.ready: dict[Spot, int] = {}
        self.wants: dict[Spot, tuple[int, list[int]]] = {}
        self.holds: dict[Spot, int] = {}
        self.busy: dict[tuple[str, int, int], int] = defaultdict(int)
        self.taken: set[Spot] = set()
        self.coming: dict[int, list[tuple[str, tuple[str, int, int], int, tuple[int, int]]]] = defaultdict(list)
        self.turn: dict[tuple[object, ...], int] = defaultdict(int)
        self.queues = [deque(packet for packet, row in enumerate(rows) if row[1] == node) for node in range(top.nodes)]
        self.sending: list[tuple[int, int]] = [(0, -1)] * top.nodes
        self.last = [-1] * top.nodes
        self.times = [[-1, -1, -1] for _ in rows]
        self.left = len(rows)

    def run(self) -> list[list[int]]:
        now = 0
        while self.left:
            self.arrive(now)
            for node in range(len(self.queues)):
                self.send(node, now)
            for router in range(self.net.topology.routers):
                self.step(router, now)
            now += 1
            assert now < 100_000, "nothing moves"
        return self.times

    def put(self, start: tuple[str, int, int], vc: int, flit: tuple[int, int], leaves: int) -> None:
        end, latency, cycles = self.links[start]
        self.credit[start, vc] -= 1
        assert self.credit[start, vc] >= 0
        self.coming[leaves + latency + cycles].append(("flit", end, vc, flit))

    def give_back(self, end: tuple[str, int, int], vc: int, now: int) -> None:
        start, latency = self.back[end]
        self.coming[now + 1 + latency].append(("credit", start, vc, (0, 0)))

    def tail(self, flit: tuple[int, int]) -> bool:
        return flit[1] == self.rows[flit[0]][3] - 1

    def arrive(self, now: int) -> None:
        for what, where, vc, flit in self.coming.pop(now, []):
            if what == "credit":
                self.credit[where, vc] += 1
            elif where[0] == "node":
                if flit[1] == 0:
                    self.times[flit[0]][1] = now
                if self.tail(flit):
                    self.times[flit[0]][2] = now
                    self.left -= 1
                self.give_back(where, vc, now)
            else:
                spot = (*where[1:], vc)
                self.buffers[spot].append(flit)
                assert len(self.buffers[spot]) <= self.r.buffer
                if self.state[spot] == "idle":
                    self.state[spot], self.ready[spot] = "routing", now + self.r.routing

    def send(self, node: int, now: int) -> None:
        start = ("node", node, 0)
        if not self.queues[node] or self.rows[self.queues[node][0]][0] > now or self.busy[start] > now:
            return
        packet, (sent, vc) = self.queues[node][0], self.sending[node]
        if sent == 0:
            order = [(self.last[node] + i) % self.r.vcs for i in range(1, self.r.vcs + 1)]
            free = [one for one in order if self.credit[start, one]]
            if not free:
                return
            vc = self.last[node] = free[0]
            self.times[packet][0] = now
        if not self.credit[start, vc]:
            self.sending[node] = sent, vc
            return
        self.put(start, vc, (packet, sent), now)
        self.busy[start] = now + self.links[start][2]
        self.sending[node] = sent + 1, vc
        if self.tail((packet, sent)):
            self.queues[node].popleft()
            self.sending[node] = 0, -1

    def step(self, router: int, now: int) -> None:
        vcs, size = self.r.vcs, self.net.topology.ports
        spots = sorted(spot for spot in self.state if spot[0] == router)
        for spot in spots:
            if self.state[spot] == "routing" and self.ready[spot] <= now:
                packet = self.buffers[spot][0][0]
                self.wants[spot] = self.route(*spot, self.rows[packet][2], packet)
                self.state[spot] = "asking"
        requests = self.requests(spots, now)
        won = self.allocate_vcs(spots, size * vcs)
        granted = self.allocate_switch(router, requests, size, vcs)
        for spot, vc in won.items():
            self.state[spot], self.holds[spot] = "active", vc
        for spot in granted:
            if self.state[spot] == "active" and self.credit[("out", router, self.wants[spot][0]), self.holds[spot]]:
                self.leave(spot, now)

    def requests(self, spots: list[Spot], now: int) -> dict[Spot, bool]:
        """Input VCs that ask for the switch, and whether each has a VC already."""
        found = {}
        for spot in spots:
            start = ("out", spot[0], self.wants[spot][0] if spot in self.wants else -1)
            if self.state[spot] == "active" and self.buffers[spot] and self.busy[start] <= now:
                if self.credit[start, self.holds[spot]]:
                    found[spot] = True
            elif self.state[spot] == "asking" and self.r.speculative and self.busy[start] <= now:
                output, allowed = self.wants[spot]
                if any((spot[0], output, vc) not in self.taken and self.credit[start, vc] for vc in allowed):
                    found[spot] = False
        return found

    def allocate_vcs(self, spots: list[Spot], size: int) -> dict[Spot, int]:
        vcs = self.r.vcs
        asks: dict[Spot, list[Spot]] = defaultdict(list)
        for spot in spots:
            if self.state[spot] == "asking":
                output, allowed = self.wants[spot]
                for vc in allowed:
                    if (spot[0], output, vc) not in self.taken:
                        asks[spot[0], output, vc].append(spot)
        grants: dict[Spot, list[Spot]] = defaultdict(list)
        for place, asking in asks.items():
            first = self.turn["vc grants", place]
            grants[min(asking, key=lambda spot: (spot[1] * vcs + spot[2] - first) % size)].append(place)
        won = {}
        for spot, places in grants.items():
            first = self.turn["vc accepts", spot]
            place = min(places, key=lambda place: (place[1] * vcs + place[2] - first) % size)
            won[spot] = place[2]
            self.taken.add(place)
            self.turn["vc grants", place] = (spot[1] * vcs + spot[2] + 1) % size
            self.turn["vc accepts", spot] = (place[1] * vcs + place[2] + 1) % size
        return won

    def allocate_switch(self, router: int, requests: dict[Spot, bool], size: int, vcs: int) -> list[Spot]:
        asks: dict[int, dict[int, Spot]] = defaultdict(dict)
        by_pair: dict[tuple[int, int], list[Spot]] = defaultdict(list)
        for spot in requests:
            by_pair[spot[1], self.wants[spot][0]].append(spot)
        for (input_, output), spots in by_pair.items():
            first = self.turn["vc turn", router, input_]
            asks[output][input_] = min(spots, key=lambda spot: (not requests[spot], (spot[2] - first) % vcs))
        grants: dict[int, list[int]] = defaultdict(list)
        for output, asking in asks.items():
            first = self.turn["grants", router, output]
            grants[min(asking, key=lambda input_: (input_ - first) % size)].append(output)
        granted = []
        for input_, outputs in grants.items():
            first = self.turn["accepts", router, input_]
            output = min(outputs, key=lambda output: (output - first) % size)
            spot = asks[output][input_]
            granted.append(spot)
            self.turn["grants", router, output] = (input_ + 1) % size
            self.turn["accepts", router, input_] = (output + 1) % size
            self.turn["vc turn", router, input_] = (spot[2] + 1) % vcs
        return granted

    def leave(self, spot: Spot, now: int) -> None:
        router, input_, vc = spot
        start = ("out", router, self.wants[spot][0])
        flit = self.buffers[spot].popleft()
        self.put(start, self.holds[spot], flit, now + self.r.traversal)
        self.busy[start] = now + self.links[start][2]
        self.give_back(("in", router, input_), vc, now)
        if self.tail(flit):
            self.taken.discard((router, self.wants[spot][0], self.holds[spot]))
            self.state[spot] = "idle"
            if self.buffers[spot]:
                self.state[spot], self.ready[spot] = "routing", now + 1 + self.r.routing
