"""The kernels of networks: every flit is carried once and in order, credits return, and what is known by hand comes out."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accelsim.errors import SimulatorBug, SpecError
from accelsim.kernels import noc_layout as at
from accelsim.kernels.noc_run import advance
from accelsim.machine.noc import Carried, carry, collect, run, transfer
from accelsim.machine.noc_load import measure
from accelsim.machine.noc_routes import Routes
from accelsim.machine.noc_state import Started, start
from accelsim.spec.network import Kind, Network, Router, Topology
from accelsim.spec.patterns import Pattern
from accelsim.spec.read import read_network
from accelsim.spec.topologies import Edge, crossbar, fly, from_edges, grid, tree
from accelsim.spec.traffic import Traffic, traffic_of

from ..noc_brute import Brute

STD4 = Router(routing=1, traversal=1, vcs=4, reduction_vcs=0, buffer=8, speculative=False, combine=1)


def network(topology: Topology, router: Router = STD4, endpoint: tuple[int, int] = (1, 1)) -> Network:
    return Network("small", "", Fraction(1, 10**9), 32, router, topology, *endpoint)


@st.composite
def topologies(draw: st.DrawFn) -> Topology:
    """Small networks of every kind, with wires of any speed."""
    latency, cycles = draw(st.integers(1, 3)), draw(st.sampled_from([1, 1, 1, 2, 3]))
    size = st.integers(1, 4)
    kind = draw(st.sampled_from(list(Kind)))
    if kind in {Kind.MESH, Kind.TORUS}:
        return grid(kind, [draw(st.integers(2, 4)), draw(size)], latency, cycles)
    if kind is Kind.RING:
        return grid(kind, [draw(st.integers(2, 6))], latency, cycles)
    if kind is Kind.CROSSBAR:
        return crossbar(draw(st.integers(2, 5)))
    if kind is Kind.FLY:
        return fly(2, draw(st.integers(1, 3)), latency, cycles)
    if kind is Kind.TREE:
        return tree(2, draw(st.integers(1, 3)), latency, cycles)
    count = draw(st.integers(2, 6))
    edges = [Edge(draw(st.integers(0, i - 1)), i, draw(st.integers(1, 3)), draw(st.integers(1, 2)), False)
             for i in range(1, count)]
    more = draw(st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=4))
    edges += [Edge(a, b, 1, 1, draw(st.booleans())) for a, b in more if a != b]
    return from_edges(count, edges, draw(st.permutations(range(count))))


@st.composite
def networks(draw: st.DrawFn, reductions: int = 0) -> Network:
    topology = draw(topologies())
    least = 2 if topology.kind in {Kind.TORUS, Kind.RING} else 1
    router = Router(draw(st.integers(0, 2)), draw(st.integers(1, 2)), draw(st.integers(least, 4)) + reductions, reductions,
                    draw(st.sampled_from([1, 2, 3, 8])), draw(st.booleans()), draw(st.integers(0, 2)))
    return network(topology, router, (draw(st.integers(1, 2)), draw(st.sampled_from([1, 1, 2]))))


@st.composite
def rows(draw: st.DrawFn, nodes: int) -> list[tuple[int, int, int, int]]:
    node = st.integers(0, nodes - 1)
    spread = draw(st.sampled_from([0, 0, 5, 60]))
    found = draw(st.lists(st.tuples(st.integers(0, spread), node, node, st.sampled_from([1, 1, 2, 5, 9])), min_size=1,
                          max_size=25))
    return sorted(found, key=lambda row: row[0])


def finished(net: Network, traffic: Traffic) -> tuple[Started, Carried]:
    routes = Routes(net)
    begun = start(net, routes, traffic)
    run(begun, at.FAR)
    return begun, collect(net, routes, traffic, begun)


def nothing_is_left(begun: Started, net: Network) -> None:
    """All credits are back, all VCs free, all buffers empty, nothing travels or waits."""
    s, topology, router = begun.state, net.topology, net.router
    places = topology.routers * topology.ports
    assert (begun.section(at.B_OUT_VC, places * router.vcs, at.OUT_VC_WIDTH)[:, at.C_CREDITS] == router.buffer).all()
    assert (begun.section(at.B_NODE_VC, topology.nodes, router.vcs) == router.buffer).all()
    assert (begun.section(at.B_OUTPUT, places, at.OUTPUT_WIDTH)[:, at.O_FREE] == (1 << router.vcs) - 1).all()
    assert (begun.section(at.B_IN_VC, places * router.vcs, at.IN_VC_WIDTH)[:, [at.I_COUNT, at.I_KIND]] == 0).all()
    assert s[[at.TRAVELLING, at.ACTIVE_ROUTERS, at.ACTIVE_NODES]].tolist() == [0, 0, 0]


def alone(net: Network, routes: Routes, source: int, node: int, flits: int, row: int = 0) -> int:
    """Cycles of a packet that nothing is in the way of, link by link: the head waits for routing and VC allocation in each
    router, the flits behind it for the switch alone; each link sends a flit every so many cycles.
    """
    way = routes.walk(source, node, row)
    wires = [routes.wires[router, output] for router, _, output in way[:-1]]
    links = [(net.endpoint_latency, net.endpoint_flit_cycles), *((wire.latency, wire.flit_cycles) for wire in wires),
             (net.endpoint_latency, net.endpoint_flit_cycles)]
    r = net.router
    head = tail = before = 0
    for place, (latency, cycles) in enumerate(links):
        if place:
            head += before + r.routing + (0 if r.speculative else 1)
            tail += before
        tail = max(tail, head + (flits - 1) * cycles)
        before = latency + cycles + (r.traversal if place else 0)
    return tail + before


# -- laws -------------------------------------------------------------------------------------------------------------


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_every_flit_is_carried_once_and_in_order(data: st.DataObject) -> None:
    net = data.draw(networks())
    asked = data.draw(rows(net.topology.nodes))
    traffic = traffic_of(asked)
    begun, found = finished(net, traffic)
    nothing_is_left(begun, net)
    routes = Routes(net)
    for packet, (created, source, node, flits) in enumerate(asked):
        least = min(alone(net, routes, source, node, flits, row) for row in ((0,) if routes.by_wire else (0, 1)))
        assert found.injected[packet] >= created
        assert found.tail[packet] - found.injected[packet] >= least
        assert found.tail[packet] >= found.head[packet] + flits - 1
    for source in range(net.topology.nodes):
        own = [packet for packet, row in enumerate(asked) if row[1] == source]
        assert all(found.injected[a] + asked[a][3] <= found.injected[b] for a, b in pairwise(own))
    carried = {link.name: link.flits for link in found.links}
    for node, (router, _) in enumerate(net.topology.enters):
        assert carried[f"node {node}->{router}"] == sum(row[3] for row in asked if row[1] == node)
        assert carried[f"{net.topology.leaves[node][0]}->node {node}"] == sum(row[3] for row in asked if row[2] == node)
    assert sum(carried.values()) == sum(int(count + 1) * row[3] for count, row in zip(found.routers, asked, strict=True))
    again = carry(net, traffic, progress=lambda _: None)
    assert (again.tail == found.tail).all()
    assert again.links == found.links


def brute(net: Network, asked: list[tuple[int, int, int, int]]) -> Brute:
    routes, begun = Routes(net), start(net, Routes(net), traffic_of(asked))
    coins = begun.packets.reshape(-1, at.PACKET_WIDTH)[:, at.Q_COINS].tolist()
    into = {(wire.target, wire.input): wire for wire in net.topology.wires}
    vcs = net.router.vcs
    classes = {at.ANY: list(range(vcs)), at.LOWER: list(range(vcs - vcs // 2)), at.UPPER: list(range(vcs - vcs // 2, vcs))}

    def route(router: int, input_: int, vc: int, node: int, packet: int) -> tuple[int, list[int]]:
        came = into.get((router, input_))
        row = int(came.down) if routes.by_wire and came is not None else 0
        ahead = routes.wires.get((router, routes.output(router, row, node)))
        if not routes.by_wire and ahead is not None and ahead.dimension >= 0:
            row = coins[packet] >> ahead.dimension & 1
        entry = int(routes.table[router, row, node])
        allowed = classes[entry & 3]
        out = routes.wires.get((router, entry >> 2))
        if entry & 3 and out is not None and came is not None and came.dimension == out.dimension:
            allowed = classes[at.UPPER] if vc in classes[at.UPPER] else classes[at.LOWER]
        return entry >> 2, allowed

    return Brute(net, asked, route)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_small_networks_are_as_the_plain_ones_in_every_packet(data: st.DataObject) -> None:
    net = data.draw(networks())
    asked = data.draw(rows(net.topology.nodes))
    found = carry(net, traffic_of(asked))
    assert np.stack([found.injected, found.head, found.tail], axis=1).tolist() == brute(net, asked).run()


def in_flight(begun: Started, links: int) -> dict[tuple[int, int], int]:
    """By link and VC: flits and credits on their way."""
    s, found = begun.state, {}
    for slot in range(int(s[at.WHEEL])):
        e = int(s[s[at.B_WHEEL] + slot])
        while e != at.NEVER:
            what = int(s[e + at.E_WHAT])
            vc = -1 - what if what < 0 else what & ((1 << at.VC_BITS) - 1)
            key = int(s[e + at.E_LINK]), vc
            assert 0 <= key[0] < links
            found[key] = found.get(key, 0) + 1
            e = int(s[e + at.E_NEXT])
    return found


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_places_are_neither_lost_nor_made_in_any_cycle(data: st.DataObject) -> None:
    """For every VC of every link: credits + on their way either way + in the buffer behind it = its places."""
    net = data.draw(networks())
    traffic = traffic_of(data.draw(rows(net.topology.nodes)))
    begun = start(net, Routes(net), traffic)
    topology, router = net.topology, net.router
    links = len(topology.wires) + 2 * topology.nodes
    table = begun.section(at.B_LINK, links, at.LINK_WIDTH)
    now = 0
    while advance(begun.state, begun.packets, begun.deliveries, now) != at.FAR:
        travelling = in_flight(begun, links)
        assert sum(travelling.values()) == begun.state[at.TRAVELLING]
        places = begun.section(at.B_OUT_VC, topology.routers * topology.ports * router.vcs, at.OUT_VC_WIDTH)[:, at.C_CREDITS]
        held = begun.section(at.B_IN_VC, topology.routers * topology.ports * router.vcs, at.IN_VC_WIDTH)[:, at.I_COUNT]
        for link in range(links):
            for vc in range(router.vcs):
                port, node, into = (int(table[link, field]) for field in (at.K_FROM_PORT, at.K_FROM_NODE, at.K_TO_PORT))
                sent = begun.section(at.B_NODE_VC, topology.nodes, router.vcs)
                own = places[port * router.vcs + vc] if port >= 0 else sent[node, vc]
                behind = held[into * router.vcs + vc] if into >= 0 else 0
                assert 0 <= own <= router.buffer
                assert own + behind + travelling.get((link, vc), 0) == router.buffer
        now += 1
    nothing_is_left(begun, net)


# -- by hand ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("router", "first", "link"), [
    (STD4, 7, 5), (replace(STD4, routing=0, speculative=True), 5, 3), (replace(STD4, routing=0), 6, 4),
    (replace(STD4, routing=3, traversal=2), 10, 8)])
def test_alone_on_a_mesh(router: Router, first: int, link: int) -> None:
    """Node to router 1 + 1, the stages, router to node 1 + 1; each further router its stages and a link."""
    net = network(grid(Kind.MESH, [4, 4], 1, 1), router)
    asked = [(500 * i, 0, node, flits) for i, (node, flits) in enumerate([(0, 1), (3, 1), (15, 1), (15, 8), (5, 20)])]
    found = carry(net, traffic_of(asked))
    latency = (found.tail - found.injected).tolist()
    assert latency == [first, first + 3 * link, first + 6 * link, first + 6 * link + 7, first + 2 * link + 19]
    assert found.routers.tolist() == [1, 4, 7, 7, 3]


def test_slow_and_far_links() -> None:
    """A link of latency 5, of which a flit takes 3 cycles. Flits reach router 0 in cycles 2 to 5, pass its switch in 4, 7, 10
    and 13 and reach router 1 nine cycles later; there the head waits two cycles, the tail none; both are at the node three
    cycles on.
    """
    net = network(from_edges(2, [Edge(0, 1, 5, 3, False)], [0, 1]))
    found = carry(net, traffic_of([(0, 0, 1, 4)]))
    assert found.head.tolist() == [4 + 9 + 2 + 3]
    assert found.tail.tolist() == [13 + 9 + 3]
    assert [link.busy_cycles for link in found.links if link.name == "0->1"] == [12]


def test_one_vc_turns_around_in_its_flits_and_two_more() -> None:
    """Routing and VC allocation of the next head begin when the tail has left: 8 flits every 10 cycles."""
    net = network(grid(Kind.MESH, [4, 4], 1, 1), replace(STD4, vcs=1))
    assert carry(net, traffic_of([(0, 0, 15, 8)] * 8)).cycles == 7 + 6 * 5 + 7 + 7 * 10


def test_a_copied_packet_goes_once_over_each_link_of_its_tree() -> None:
    """From the corner to all others: every node has it as if it were alone."""
    net = network(grid(Kind.MESH, [4, 4], 1, 1))
    nodes = tuple(range(1, 16))
    begun, found = finished(net, traffic_of([(0, 0, nodes, 6)]))
    nothing_is_left(begun, net)
    assert found.node.tolist() == list(nodes)
    assert found.tail.tolist() == [7 + 5 * (node % 4 + node // 4) + 5 for node in nodes]
    used = {link.name: link.flits for link in found.links if link.flits}
    assert set(used.values()) == {6}
    assert len(used) == 1 + 15 + 15  # into the first router, the tree's wires, out to each node
    assert found.routers.tolist() == [1 + node % 4 + node // 4 for node in nodes]


def test_packets_that_join_become_one() -> None:
    """From all to the corner: the furthest one's way, and a cycle in each of the six routers on it in which others join."""
    net = network(grid(Kind.MESH, [4, 4], 1, 1), replace(STD4, vcs=2, reduction_vcs=1))
    members = tuple(range(1, 16))
    begun, found = finished(net, traffic_of([(0, members, 0, 6)]))
    nothing_is_left(begun, net)
    assert found.tail.tolist() == [7 + 6 * 5 + 5 + 6] * 15
    assert {link.flits for link in found.links if link.flits} == {6}
    assert sum(link.flits for link in found.links) == 6 * (15 + 15 + 1)
    assert found.injected.tolist() == [0] * 15


def test_reductions_take_turns_on_their_vcs() -> None:
    """Two VCs for three reductions: the third enters when the first is done."""
    net = network(grid(Kind.MESH, [3, 1], 1, 1), replace(STD4, vcs=3, reduction_vcs=2))
    found = carry(net, traffic_of([(0, (1, 2), 0, 2)] * 3))
    ends = found.tail.reshape(3, 2)[:, 0]
    assert (found.injected.reshape(3, 2)[2] >= ends[0]).all()
    assert (found.injected.reshape(3, 2)[1] < ends[0]).all()


@st.composite
def mixed(draw: st.DrawFn, net: Network) -> list[tuple[int, int | tuple[int, ...], int | tuple[int, ...], int]]:
    """Single packets, copied ones and reductions together."""
    nodes = net.topology.nodes
    node = st.integers(0, nodes - 1)
    some = st.lists(node, min_size=2, max_size=nodes, unique=True).map(tuple)
    short = st.integers(1, net.router.buffer)
    kinds = [st.tuples(node, node, st.integers(1, 9)), st.tuples(node, some, short), st.tuples(some, node, st.integers(1, 9))]
    found = draw(st.lists(st.one_of(kinds), min_size=1, max_size=14))
    return [(0, *one) for one in found]


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_copies_and_reductions_all_arrive_whatever_else_goes_on(data: st.DataObject) -> None:
    net = data.draw(networks(reductions=data.draw(st.integers(1, 2))))
    asked = data.draw(mixed(net))
    traffic = traffic_of(asked)
    begun, found = finished(net, traffic)
    nothing_is_left(begun, net)
    arrived = {link.name.split("->node ")[1]: link.flits for link in found.links if "->node " in link.name}
    for node in range(net.topology.nodes):
        assert arrived[str(node)] == sum(flits for _, _, ends, flits in asked
                                         if ends == node or (isinstance(ends, tuple) and node in ends))
    assert sum(arrived.values()) == traffic.delivered_flits
    assert (found.tail - found.head >= traffic.flits[found.packet] - 1).all()
    routes = Routes(net)
    for packet, node, tail in zip(found.packet.tolist(), found.node.tolist(), found.tail.tolist(), strict=True):
        if routes.by_wire and traffic.group[packet] >= 0:
            continue  # of any graph, a reduction's way may be shorter: it need not go up first
        source, flits = int(traffic.sources[packet]), int(traffic.flits[packet])
        rows_ = (0, 1) if traffic.destinations[packet] >= 0 and not routes.by_wire else (0,)
        assert tail - found.injected[packet] >= min(alone(net, routes, source, node, flits, row) for row in rows_)


# -- under load -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("buffer", [1, 3])
@pytest.mark.parametrize("kind", [Kind.TORUS, Kind.RING])
def test_a_full_torus_never_stands_still(kind: Kind, buffer: int) -> None:
    """Two VCs, small buffers, packets longer than them, every node sending all the time, some of it copied."""
    net = network(grid(kind, [4, 4] if kind is Kind.TORUS else [8], 1, 1), replace(STD4, vcs=2, buffer=buffer))
    nodes = net.topology.nodes
    asked: list[tuple[int, int | tuple[int, ...], int | tuple[int, ...], int]] = []
    for i in range(30):
        asked += [(0, node, (node * 7 + i * 5 + 3) % nodes, 9) for node in range(nodes)]
        asked += [(0, node, (((node + 3) % nodes), (node + nodes // 2) % nodes, (node + nodes - 2) % nodes), 1)
                  for node in range(nodes)]
    begun, _ = finished(net, traffic_of(asked))
    nothing_is_left(begun, net)


def test_a_network_that_stands_still_is_told() -> None:
    """A VC that is taken and never given back: no packet can go on."""
    net = network(crossbar(2), replace(STD4, vcs=1))
    begun = start(net, Routes(net), traffic_of([(0, 0, 1, 1)]))
    begun.section(at.B_OUTPUT, 2, at.OUTPUT_WIDTH)[:, at.O_FREE] = 0
    with pytest.raises(SimulatorBug, match="stands still"):
        run(begun, at.FAR)


def test_a_run_in_pieces_is_the_same_and_tells_how_far_it_is() -> None:
    net = read_network("mesh4x4")
    traffic = traffic_of([(5 * i, i % 16, i * 7 % 16, 4) for i in range(100)])
    whole = carry(net, traffic)
    begun, seen = start(net, Routes(net), traffic), []
    run(begun, 7, seen.append)
    pieces = collect(net, Routes(net), traffic, begun)
    assert (pieces.tail == whole.tail).all()
    assert len(seen) > 20
    assert seen == sorted(seen)


def test_packets_may_come_while_a_network_runs() -> None:
    """As a station of something larger has them: those known by a cycle are run up to it, then more are known."""
    net = read_network("mesh4x4")
    asked = [(3 * i, i * 5 % 16, i * 7 % 16, 6) for i in range(120)]
    whole = carry(net, traffic_of(asked))
    begun = start(net, Routes(net), traffic_of(asked))
    for until in (40, 41, 200, 1000):
        begun.state[at.PACKETS] = sum(created < until for created, *_ in asked)
        assert advance(begun.state, begun.packets, begun.deliveries, until) > begun.state[at.NOW] - 1
    assert advance(begun.state, begun.packets, begun.deliveries, at.FAR) == at.FAR
    assert (collect(net, Routes(net), traffic_of(asked), begun).tail == whole.tail).all()


def test_low_load_is_nearly_zero_load_and_overload_is_told() -> None:
    net = network(crossbar(4))
    routes, pattern = Routes(net), Pattern("uniform", 4, 1, None, 1, 0, None)
    low = measure(net, routes, pattern, 0.02, warm_up=100, window=2000)
    assert low.latency_mean is not None
    assert 7 + 3 <= low.latency_mean < 11
    assert not low.saturated
    full = measure(net, routes, Pattern("hotspot", 4, 1, None, 1, 0, None), 0.5, warm_up=100, window=1000)
    assert full.saturated
    assert full.accepted == pytest.approx(0.25, abs=0.01)


def test_what_a_network_cannot_carry_is_refused() -> None:
    net = read_network("mesh4x4")
    for asked in ([(0, (1, 2), 0, 4)], [(0, 0, (1, 2), 9)], [(0, 0, 16, 1)]):
        with pytest.raises(SpecError):
            carry(net, traffic_of(asked))


# -- transfer by transfer ---------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_alone_a_transfer_takes_what_its_flits_take(data: st.DataObject) -> None:
    """Where buffers hold a packet and packets come far apart, both models are the same in every packet, but for copies over
    links of different speed: an input port reads one flit in a cycle, and its legs want different ones.
    """
    net = data.draw(networks(reductions=1))
    net = replace(net, router=replace(net.router, buffer=64))
    asked = [(1000 * i, *row[1:]) for i, row in enumerate(data.draw(mixed(net)))]
    traffic = traffic_of([(created, ends, others, min(flits, 8)) for created, ends, others, flits in asked])
    flit, moved = carry(net, traffic), transfer(net, traffic, progress=lambda _: None)
    assert moved.links == flit.links
    assert moved.injected.tolist() == flit.injected.tolist()
    slow = {net.endpoint_flit_cycles, *(wire.flit_cycles for wire in net.topology.wires)}
    if traffic.copies and len(slow) > 1:
        assert (moved.tail <= flit.tail).all()
    else:
        assert moved.head.tolist() == flit.head.tolist()
        assert moved.tail.tolist() == flit.tail.tolist()


def test_transfers_wait_for_links_and_for_vcs_that_turn_around() -> None:
    """Three nodes send 8 flits each to the fourth at once over a crossbar: heads arrive in cycle 7, then every 8 cycles."""
    net = network(crossbar(4))
    found = transfer(net, traffic_of([(0, node, 3, 8) for node in (2, 0, 1)]))
    assert found.head.tolist() == [7, 15, 23]
    assert found.tail.tolist() == [14, 22, 30]
    # one VC from a node to its router: 8 flits and 2 cycles for the next head; two such VCs are enough, for single flits three
    many = [(0, 0, 3, 8)] * 3
    assert transfer(network(crossbar(4), replace(STD4, vcs=1)), traffic_of(many)).head.tolist() == [7, 17, 27]
    assert transfer(network(crossbar(4), replace(STD4, vcs=2)), traffic_of(many)).head.tolist() == [7, 15, 23]
    single = traffic_of([(0, 0, 3, 1)] * 7)
    assert transfer(network(crossbar(4), replace(STD4, vcs=2)), single).head.tolist() == [7, 9, 10, 12, 13, 15, 16]
    assert transfer(network(crossbar(4), replace(STD4, vcs=3)), single).head.tolist() == [7, 8, 9, 10, 11, 12, 13]


def test_many_transfers_leave_the_heap_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds wait for one link at once; every link's bytes are those of the flits, and nobody goes before who was there."""
    net = network(grid(Kind.MESH, [4, 4], 1, 1))
    asked = [(i // 16, (i * 5) % 16, 0 if i % 3 else (i * 7) % 16, 1 + i % 9) for i in range(600)]
    flit, moved = carry(net, traffic_of(asked)), transfer(net, traffic_of(asked))
    assert moved.links == flit.links
    to_corner = sorted((int(moved.head[i]), row[3]) for i, row in enumerate(asked) if row[2] == 0)
    assert all(first + flits <= second for (first, flits), (second, _) in pairwise(to_corner))
    monkeypatch.setattr("accelsim.machine.noc.PIECE", 50)
    seen: list[int] = []
    assert transfer(net, traffic_of(asked), progress=seen.append).tail.tolist() == moved.tail.tolist()
    assert seen == sorted(seen)
    assert len(seen) > 20
