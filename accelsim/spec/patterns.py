"""Patterns of traffic: who sends to whom, and when; the same on every computer."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, isqrt, prod

import numpy as np
from numpy.typing import NDArray

from accelsim.errors import Fault, SpecError
from accelsim.spec.network import Kind, Network, Topology
from accelsim.spec.scatter import STEP, mixed
from accelsim.spec.traffic import LATEST, MOST_PACKETS, SEVERAL, Ints, Traffic

MOST_DRAWN = 1 << 27
"""Random numbers for the packets of a pattern: one for each cycle of each node."""
DRAWN_AT_ONCE = 1 << 20
_RANDOM = ("load", "flits", "packets", "seed")
PATTERNS: dict[str, tuple[str, ...]] = {
    "uniform": _RANDOM, "transpose": _RANDOM, "tornado": _RANDOM, "neighbor": _RANDOM, "shift": (*_RANDOM, "by"),
    "hotspot": (*_RANDOM, "node"), "incast": ("flits", "packets", "node"), "scatter": ("flits", "packets", "node"),
    "all2all": ("flits", "packets"), "multicast": ("flits", "packets", "node"), "reduce": ("flits", "packets", "node"),
}
"""Patterns and their keys."""


@dataclass(frozen=True)
class Pattern:
    """A pattern and its keys: ``load`` in flits per node and cycle, or None for packets that are all there in cycle 0."""

    name: str
    flits: int
    packets: int
    load: float | None
    seed: int
    node: int
    by: int | None


def make_traffic(pattern: Pattern, network: Network) -> Traffic:
    """The packets of a pattern on a network. Raises SpecError where it does not fit."""
    nodes = network.topology.nodes
    _check(pattern, network)
    if pattern.name in {"incast", "scatter", "all2all"}:
        return _each_to_each(pattern, nodes)
    if pattern.name in {"multicast", "reduce"}:
        return _together(pattern, nodes)
    if pattern.load is None:
        created = np.zeros(nodes * pattern.packets, dtype=np.int64)
        sources = np.tile(np.arange(nodes, dtype=np.int64), pattern.packets)
        serial = np.repeat(np.arange(pattern.packets, dtype=np.int64), nodes)
    else:
        created, sources, serial = _at_random(pattern, nodes, pattern.load)
    return _single(created, sources, _destinations(pattern, network.topology, sources, serial), pattern.flits)


def at_load(pattern: Pattern, network: Network, load: float, cycles: int) -> Traffic:
    """The packets that a pattern's nodes create in so many cycles, each node with the same chance in each of them."""
    _check(pattern, network)
    nodes = network.topology.nodes
    rows = [_created(pattern, node, load, cycles=cycles) for node in range(nodes)]
    created = np.concatenate(rows)
    sources = np.repeat(np.arange(nodes, dtype=np.int64), [len(row) for row in rows])
    serial = np.concatenate([np.arange(len(row), dtype=np.int64) for row in rows])
    order = np.argsort(created, kind="stable")
    created, sources, serial = created[order], sources[order], serial[order]
    return _single(created, sources, _destinations(pattern, network.topology, sources, serial), pattern.flits)


def _single(created: Ints, sources: Ints, destinations: Ints, flits: int) -> Traffic:
    return Traffic(created, sources, destinations, np.full(len(created), flits, dtype=np.int64),
                   np.full(len(created), -1, dtype=np.int64))


def _check(pattern: Pattern, network: Network) -> None:
    nodes = network.topology.nodes
    faults = []
    others = nodes - 1
    each = {"incast": others, "scatter": others, "reduce": others, "all2all": nodes * others}.get(pattern.name, nodes)
    if pattern.packets * each > MOST_PACKETS:
        faults.append(Fault(pattern.name, 0, 0, "packets", f"{pattern.packets * each:,} packets in all",
                            f"up to {MOST_PACKETS:,}"))
    if pattern.load is not None and pattern.packets * pattern.flits / pattern.load > LATEST / 64:
        faults.append(Fault(pattern.name, 0, 0, "load", "goes beyond cycle 2^40"))
    elif pattern.load is not None and (drawn := ceil(pattern.packets * pattern.flits / pattern.load) * nodes) > MOST_DRAWN:
        faults.append(Fault(pattern.name, 0, 0, "load", f"about {drawn:,} cycles of all nodes, each with its chance of a packet",
                            f"up to {MOST_DRAWN:,}: fewer packets or flits, or more load"))
    if pattern.node >= nodes:
        faults.append(Fault(pattern.name, 0, 0, "node", f"no node {pattern.node}", f"0 to {nodes - 1}"))
    if nodes < 2:
        faults.append(Fault(pattern.name, 0, 0, "", "one node alone", "two or more"))
    if pattern.name == "transpose" and isqrt(nodes)**2 != nodes:
        faults.append(Fault(pattern.name, 0, 0, "", f"{nodes} nodes", "a square number of them"))
    if faults:
        raise SpecError(faults)


def _each_to_each(pattern: Pattern, nodes: int) -> Traffic:
    """Everybody to one node, one node to everybody, or everybody to everybody: in turn, beginning behind itself."""
    step, source = np.meshgrid(np.arange(1, nodes, dtype=np.int64), np.arange(nodes, dtype=np.int64), indexing="ij")
    sources, destinations = source.ravel(), (source + step).ravel() % nodes
    kept = np.ones(len(sources), dtype=np.bool_)
    if pattern.name == "incast":
        kept = destinations == pattern.node
    elif pattern.name == "scatter":
        kept = sources == pattern.node
    sources, destinations = np.tile(sources[kept], pattern.packets), np.tile(destinations[kept], pattern.packets)
    return _single(np.zeros(len(sources), dtype=np.int64), sources, destinations, pattern.flits)


def _together(pattern: Pattern, nodes: int) -> Traffic:
    """One packet copied to all other nodes, or one from each of them joined on their way to one; several times."""
    others = tuple(node for node in range(nodes) if node != pattern.node)
    copied = pattern.name == "multicast"
    each = 1 if copied else len(others)
    count = pattern.packets * each
    own = np.array([pattern.node] if copied else others, dtype=np.int64)
    sources = np.tile(own, pattern.packets)
    group = np.full(count, -1, dtype=np.int64) if copied else np.repeat(np.arange(pattern.packets, dtype=np.int64), each)
    several = copied and len(others) > 1
    destination = (SEVERAL if several else others[0]) if copied else pattern.node
    return Traffic(np.zeros(count, dtype=np.int64), sources, np.full(count, destination, dtype=np.int64),
                   np.full(count, pattern.flits, dtype=np.int64), group, dict.fromkeys(range(count), others) if several else {})


def _at_random(pattern: Pattern, nodes: int, load: float) -> tuple[Ints, Ints, Ints]:
    """Packets with the same chance in every cycle, so many from each node: when, from which node, its how many-th."""
    rows = [_created(pattern, node, load, count=pattern.packets) for node in range(nodes)]
    created = np.concatenate(rows)
    order = np.argsort(created, kind="stable")
    return (created[order], np.repeat(np.arange(nodes, dtype=np.int64), pattern.packets)[order],
            np.tile(np.arange(pattern.packets, dtype=np.int64), nodes)[order])


def _created(pattern: Pattern, node: int, load: float, *, count: int | None = None, cycles: int | None = None) -> Ints:
    """The cycles in which a node creates packets: the first ``count``, or all before ``cycles``.

    In every cycle with the chance load / flits (a Bernoulli process, at most one a cycle).
    """
    chance = load / pattern.flits
    need = count if count is not None else int((cycles or 0) * chance * 1.2 + 100)
    at_once = min(max(64, int(need / chance)), DRAWN_AT_ONCE) if count is not None else (cycles or 0)
    found: list[Ints] = []
    begin = have = 0
    while True:
        drawn = scattered(pattern.seed * 0x10001 + node, begin, at_once)
        hits = np.flatnonzero(drawn < np.uint64(min(int(chance * 2.0**64), (1 << 64) - 1))) + begin
        found.append(hits)
        have += len(hits)
        begin += at_once
        if count is None or have >= count:
            return np.concatenate(found)[:count]


def scattered(stream: int, begin: int, count: int) -> NDArray[np.uint64]:
    """Numbers ``begin`` and on of a stream without a pattern: splitmix64 (Steele, Lea, Flood, OOPSLA 2014), its seed mixed
    first.
    """
    seed = mixed(np.array([stream + 1], dtype=np.uint64) * np.uint64(0xD1342543DE82EF95))
    return mixed(seed + np.arange(begin + 1, begin + count + 1, dtype=np.uint64) * STEP)


def _destinations(pattern: Pattern, topology: Topology, sources: Ints, serial: Ints) -> Ints:
    nodes = topology.nodes
    if pattern.name == "uniform":  # itself included, as in BookSim
        turn = scattered(pattern.seed * 0x10001 + 0x7FFF, 0, nodes)[sources]
        return (mixed(turn + serial.astype(np.uint64) * STEP) % np.uint64(nodes)).astype(np.int64)
    if pattern.name == "hotspot":
        return np.full(len(sources), pattern.node, dtype=np.int64)
    if pattern.name == "transpose":
        side = isqrt(nodes)
        return sources % side * side + sources // side
    if pattern.name == "shift":
        return (sources + (nodes // 2 if pattern.by is None else pattern.by)) % nodes
    found = np.zeros(len(sources), dtype=np.int64)
    step = 1
    for size in dimensions(topology):
        further = 1 if pattern.name == "neighbor" else (size + 1) // 2 - 1
        found += (sources // step + further) % size * step
        step *= size
    return found


def dimensions(topology: Topology) -> tuple[int, ...]:
    """The digits of a node's number, for patterns by dimension: those of a mesh, torus or fly, else one."""
    if topology.kind in {Kind.MESH, Kind.TORUS, Kind.RING} and prod(topology.sizes) == topology.nodes:
        return topology.sizes
    return (topology.sizes[0],) * topology.sizes[1] if topology.kind is Kind.FLY else (topology.nodes,)
