"""A network at its beginning, as its kernels know it, with the packets that it is to carry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accelsim.errors import Fault, SpecError
from accelsim.kernels import noc_layout as at
from accelsim.machine.noc_routes import Routes
from accelsim.spec.network import Kind, Network
from accelsim.spec.traffic import SEVERAL, Traffic

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Started:
    """``state``, ``packets`` and ``deliveries`` as the kernels want them. ``order``: the traffic's packets in order of
    creation; by delivery, in the traffic's order: its packet there (``packet_of``), and its record (``delivery_of``).
    """

    state: Ints
    packets: Ints
    deliveries: Ints
    order: Ints
    packet_of: Ints
    delivery_of: Ints

    def section(self, base: int, count: int, width: int) -> Ints:
        """A section of the state as a table."""
        first = int(self.state[base])
        return self.state[first:first + count * width].reshape(count, width)


def start(network: Network, routes: Routes, traffic: Traffic) -> Started:
    """A network before its first cycle. Raises SpecError where it cannot carry the traffic."""
    _check(network, traffic)
    legs, joins, groups, trees = _trees(routes, traffic)
    state = _state(network, routes, len(legs), len(joins), len(groups), copied=bool(traffic.copies))
    for base, rows, width in ((at.B_TREE, legs, at.TREE_WIDTH), (at.B_JOIN, joins, at.JOIN_WIDTH),
                              (at.B_GROUP, groups, at.GROUP_WIDTH)):
        state[state[base]:state[base] + len(rows) * width] = np.array(rows, dtype=np.int64).ravel()
    state[at.PACKETS] = len(traffic)
    packets, order = _packets(traffic, trees)
    packet_of, record, nodes = _deliveries(traffic)
    number: Ints = np.zeros(len(traffic), dtype=np.int64)
    number[packet_of[::-1]] = record[::-1]
    packets[:, at.Q_DELIVERY] = number[order]
    deliveries: Ints = np.full((int(record.max(initial=-1)) + 1, at.DELIVERY_WIDTH), at.NEVER, dtype=np.int64)
    deliveries[record, at.D_NODE] = nodes
    return Started(state, packets.ravel(), deliveries.ravel(), order, packet_of, record)


def _check(network: Network, traffic: Traffic) -> None:
    faults = []
    ends = [traffic.sources, traffic.destinations, *(np.array(nodes) for nodes in traffic.copies.values())]
    last = max((int(one.max()) for one in ends if len(one)), default=0)
    if last >= network.topology.nodes:
        faults.append(Fault(network.name, 0, 0, "", f"no node {last}", f"0 to {network.topology.nodes - 1}"))
    longest = max((int(traffic.flits[packet]) for packet in traffic.copies), default=0)
    if longest > network.router.buffer:
        faults.append(Fault(network.name, 0, 0, "", f"a packet of {longest} flits to several nodes, buffers of "
                            f"{network.router.buffer}",
                            "such packets fit into a buffer, or two of them could wait for each other for ever"))
    if (traffic.group >= 0).any() and not network.router.reduction_vcs:
        faults.append(Fault(network.name, 0, 0, "", "a reduction, and no VCs for one", "-o network.router.reduction_vcs=1"))
    if faults:
        raise SpecError(faults)


Rows = list[tuple[int, ...]]


def _trees(routes: Routes, traffic: Traffic) -> tuple[Rows, Rows, Rows, dict[int, tuple[int, int]]]:
    """Records of all legs, of all routers in which packets join, of the reductions; and where each copied packet's legs are."""
    ports = routes.network.topology.ports
    legs: Rows = []
    trees: dict[int, tuple[int, int]] = {}
    known: dict[tuple[int, tuple[int, ...]], tuple[int, int]] = {}
    for packet, nodes in traffic.copies.items():
        key = int(traffic.sources[packet]), nodes
        if key not in known:
            begin = len(legs)
            legs += [(leg.router * ports + leg.input, leg.output, leg.vcs) for leg in routes.copies(*key)]
            known[key] = begin, len(legs)
        trees[packet] = known[key]
    joins: Rows = []
    groups: Rows = []
    members: dict[int, list[int]] = {}
    for packet in np.flatnonzero(traffic.group >= 0).tolist():
        members.setdefault(int(traffic.group[packet]), []).append(packet)
    for group in sorted(members):
        sources, node = traffic.sources[members[group]].tolist(), int(traffic.destinations[members[group][0]])
        begin = len(joins)
        joins += [(router, count, 0, at.NEVER, output, 0, 0)
                  for router, (count, output) in routes.reduction(sources, node).items()]
        groups.append((begin, len(joins), 0))
    return legs, joins, groups, trees


def _packets(traffic: Traffic, trees: dict[int, tuple[int, int]]) -> tuple[Ints, Ints]:
    count = len(traffic)
    packets: Ints = np.zeros((count, at.PACKET_WIDTH), dtype=np.int64)
    packets[:, at.Q_CREATED], packets[:, at.Q_SOURCE] = traffic.created, traffic.sources
    packets[:, at.Q_DESTINATION], packets[:, at.Q_FLITS] = traffic.destinations, traffic.flits
    packets[:, at.Q_GROUP], packets[:, at.Q_TREE], packets[:, at.Q_INJECTED] = traffic.group, at.NEVER, at.NEVER
    packets[:, at.Q_COINS] = coins(count)
    for packet, (begin, end) in trees.items():
        packets[packet, at.Q_TREE], packets[packet, at.Q_TREE_END] = begin, end
    order = np.argsort(traffic.created, kind="stable")
    return packets[order], order


def coins(count: int) -> Ints:
    """By dimension a bit that says which of two equally long ways each packet takes: without a pattern, the same everywhere
    (splitmix64; Steele, Lea, Flood, OOPSLA 2014).
    """
    z = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(48)).astype(np.int64)


def _deliveries(traffic: Traffic) -> tuple[Ints, Ints, Ints]:
    """By delivery: its packet, its record (packets of a reduction share one), its node."""
    copies = np.ones(len(traffic), dtype=np.int64)
    for packet, nodes in traffic.copies.items():
        copies[packet] = len(nodes)
    packet_of = np.repeat(np.arange(len(traffic), dtype=np.int64), copies)
    ends = traffic.destinations[packet_of]
    ends[ends == SEVERAL] = [node for packet in sorted(traffic.copies) for node in traffic.copies[packet]]
    group = traffic.group[packet_of]
    first: Ints = np.zeros(len(packet_of), dtype=np.bool_)
    first[np.unique(group, return_index=True)[1]] = True
    new = (group < 0) | first
    record = np.cumsum(new) - 1
    of_group = np.zeros(int(group.max(initial=-1)) + 1, dtype=np.int64)
    of_group[group[new & (group >= 0)]] = record[new & (group >= 0)]
    return packet_of, np.where(group < 0, record, of_group[group] if len(of_group) else record), ends


def _state(network: Network, routes: Routes, legs: int, joins: int, groups: int, *, copied: bool) -> Ints:
    topology, router = network.topology, network.router
    routers, nodes, ports, vcs = topology.routers, topology.nodes, topology.ports, router.vcs
    links = len(topology.wires) + 2 * nodes
    far = max((wire.latency + wire.flit_cycles for wire in topology.wires), default=0)
    far = max(far, network.endpoint_latency + network.endpoint_flit_cycles) + router.traversal + 2
    wheel = 1 << far.bit_length()
    events = links * min(2 * wheel, vcs * router.buffer) + 1
    places, channels = routers * ports, routers * ports * vcs
    sections = ((at.B_ROUTE, routers * 2 * nodes), (at.B_INPUT, places * at.INPUT_WIDTH), (at.B_OUTPUT, places * at.OUTPUT_WIDTH),
                (at.B_IN_VC, channels * at.IN_VC_WIDTH), (at.B_OUT_VC, channels * at.OUT_VC_WIDTH),
                (at.B_FLIT, channels * router.buffer), (at.B_LEG, channels * ports * at.LEG_WIDTH if copied else 0),
                (at.B_LINK, links * at.LINK_WIDTH), (at.B_NODE, nodes * at.NODE_WIDTH), (at.B_NODE_VC, nodes * vcs),
                (at.B_AWAKE, routers), (at.B_ROUTER_LIST, routers), (at.B_NODE_LIST, nodes), (at.B_WHEEL, wheel),
                (at.B_EVENT, events * at.EVENT_WIDTH), (at.B_SLOT, ports * ports), (at.B_PAIR, ports * ports * at.PAIR_WIDTH),
                (at.B_ASKING, ports * vcs * (ports if copied else 1) * at.ASKING_WIDTH), (at.B_TREE, legs * at.TREE_WIDTH),
                (at.B_JOIN, joins * at.JOIN_WIDTH), (at.B_GROUP, groups * at.GROUP_WIDTH))
    s: Ints = np.zeros(at.HEAD + sum(length for _, length in sections), dtype=np.int64)
    place = at.HEAD
    for base, length in sections:
        s[base] = place
        place += length
    for field, value in (
            (at.ROUTERS, routers), (at.NODES, nodes), (at.PORTS, ports), (at.VCS, vcs),
            (at.COMMON_VCS, vcs - router.reduction_vcs),
            (at.BUFFER, router.buffer), (at.ROUTING, router.routing), (at.TRAVERSAL, router.traversal),
            (at.SPECULATIVE, router.speculative), (at.COMBINE, router.combine), (at.WHEEL, wheel),
            (at.FREE_EVENT, s[at.B_EVENT])):
        s[field] = value

    def table(base: int, count: int, width: int) -> Ints:
        return s[s[base]:s[base] + count * width].reshape(count, width)

    table(at.B_ROUTE, routers * 2, nodes)[:] = routes.table.reshape(routers * 2, nodes)
    table(at.B_WHEEL, wheel, 1)[:] = table(at.B_SLOT, ports * ports, 1)[:] = at.NEVER
    if copied:
        table(at.B_LEG, channels * ports, at.LEG_WIDTH)[:, at.L_VC] = at.NO_LEG
    waiting = table(at.B_EVENT, events, at.EVENT_WIDTH)
    waiting[:, at.E_NEXT] = s[at.B_EVENT] + np.arange(1, events + 1) * at.EVENT_WIDTH
    table(at.B_OUT_VC, channels, at.OUT_VC_WIDTH)[:, at.C_CREDITS] = router.buffer
    table(at.B_NODE_VC, nodes, vcs)[:] = router.buffer
    table(at.B_IN_VC, channels, at.IN_VC_WIDTH)[:, [at.I_VC, at.I_CHAIN]] = at.NEVER
    outputs = table(at.B_OUTPUT, places, at.OUTPUT_WIDTH)
    outputs[:, [at.O_LINK, at.O_DIMENSION, at.O_BEST]] = at.NEVER
    outputs[:, at.O_FREE] = (1 << vcs) - 1
    inputs = table(at.B_INPUT, places, at.INPUT_WIDTH)
    inputs[:, at.N_DIMENSION] = at.NEVER
    inputs[:, at.N_ROW] = 0 if routes.by_wire else at.NEVER
    senders = table(at.B_NODE, nodes, at.NODE_WIDTH)
    senders[:, [at.S_FIRST, at.S_LAST, at.S_VC, at.S_LAST_VC]] = at.NEVER
    _wire(network, table(at.B_LINK, links, at.LINK_WIDTH), inputs, outputs, senders)
    return s


def _wire(network: Network, links: Ints, inputs: Ints, outputs: Ints, senders: Ints) -> None:
    """Connect ports and nodes with links: wires first, then those from the nodes, then those to them."""
    topology, ports = network.topology, network.topology.ports
    links[:, :4] = at.NEVER
    for number, wire in enumerate(topology.wires):
        source, target = wire.source * ports + wire.output, wire.target * ports + wire.input
        links[number, [at.K_FROM_PORT, at.K_TO_PORT, at.K_LATENCY, at.K_CYCLES]] = source, target, wire.latency, wire.flit_cycles
        inputs[target, at.N_LINK], inputs[target, at.N_DIMENSION] = number, wire.dimension
        outputs[source, at.O_LINK], outputs[source, at.O_DIMENSION] = number, wire.dimension
        if topology.kind is Kind.EDGES:
            inputs[target, at.N_ROW] = wire.down
    ends = network.endpoint_latency, network.endpoint_flit_cycles
    for node, ((enters, into), (leaves, out)) in enumerate(zip(topology.enters, topology.leaves, strict=True)):
        number = len(topology.wires) + node
        links[number, [at.K_FROM_NODE, at.K_TO_PORT, at.K_LATENCY, at.K_CYCLES]] = node, enters * ports + into, *ends
        inputs[enters * ports + into, at.N_LINK] = senders[node, at.S_LINK] = number
        number += topology.nodes
        links[number, [at.K_FROM_PORT, at.K_TO_NODE, at.K_LATENCY, at.K_CYCLES]] = leaves * ports + out, node, *ends
        outputs[leaves * ports + out, at.O_LINK] = number
