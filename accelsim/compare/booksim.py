"""BookSim 2: packet lists through networks packet by packet, batches, and latency over the load."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, partial

import numpy as np

from accelsim.compare.checks import Part, Row
from accelsim.compare.noc_traces import SCENARIOS
from accelsim.compare.references import table
from accelsim.kernels import noc_layout as at
from accelsim.machine.noc import Carried, carry, collect, run, transfer
from accelsim.machine.noc_load import measure
from accelsim.machine.noc_routes import Routes
from accelsim.machine.noc_state import start
from accelsim.spec.network import Network
from accelsim.spec.patterns import Pattern, make_traffic, scattered
from accelsim.spec.read import read_network
from accelsim.spec.traffic import Traffic, traffic_of

NAME = "noc"
TOPOLOGIES = {"mesh4x4": ("mesh4x4", "[4, 4]"), "mesh8x8": ("mesh8x8", "[8, 8]"), "mesh1x8": ("mesh4x4", "[8]"),
              "torus4x4": ("torus4x4", "[4, 4]"), "torus8x8": ("torus8x8", "[8, 8]"), "ring8": ("ring8", "[8]"),
              "xbar16": ("xbar16", "[16]"), "xbar8": ("xbar16", "[8]"), "fly4x2": ("fly4x2", "[4, 2]")}
"""By the table's name: the shipped network and its sizes."""

ROUTERS = {"std4": [], "fast2": ["network.router.routing=0 cycles", "network.router.speculative=true"],
           "wh1": ["network.router.vcs=1"], "deep": ["network.router.vcs=8", "network.router.buffer=64"]}
DRAWS, DRAWS_OF_LONG, LONG_PACKETS = 16, 4, 2000
BELOW_SATURATION, FEW_PACKETS, LARGE_NODES = 0.7, 500, 16

Told = dict[str, str]


@cache
def network(topology: str, router: str) -> tuple[Network, Routes]:
    """A network of the tables, with its routes."""
    shipped, sizes = TOPOLOGIES[topology]
    found = read_network(shipped, [f"network.topology.sizes={sizes}", *ROUTERS[router]])
    return found, Routes(found)


@cache
def traffic(scenario: str, topology: str, flits: int) -> Traffic:
    """A packet list of the tables."""
    return traffic_of(SCENARIOS[scenario](network(topology, "std4")[0].topology.nodes, flits))


def asked(told: Told) -> tuple[Network, Routes, Traffic]:
    """What a row of `cases.csv` runs."""
    return *network(told["topology"], told["router"]), traffic(told["scenario"], told["topology"], int(told["packet_flits"]))


def several_ways(told: Told) -> bool:
    """Whether some packet's destination is as far one way around a dimension as the other."""
    if not told["topology"].startswith(("torus", "ring")):
        return False
    net, routes, sent = asked(told)
    entries = np.array([router for router, _ in net.topology.enters])
    ways = routes.table[entries[sent.sources], :, sent.destinations]
    if (ways[:, 0] != ways[:, 1]).any():
        return True
    # a later dimension's choice shows in the router where it begins
    return any(routes.table[router, 0, node] != routes.table[router, 1, node]
               for source, node in sorted(set(zip(sent.sources.tolist(), sent.destinations.tolist(), strict=True)))
               for router, _, _ in routes.walk(source, node))


def figures(found: Carried, sent: Traffic) -> dict[str, float]:
    """What the table has of a run, by its columns."""
    latency = np.sort(found.tail - sent.created[found.packet])
    return {"completion_cycle": found.cycles, "latency_mean": float(latency.mean()), "latency_max": int(latency[-1]),
            "network_latency_mean": float((found.tail - found.injected[found.packet]).mean()),
            "routers_mean": float(found.routers.mean())}


def printed(value: float, as_text: str) -> float:
    """A value with as many decimals as the reference prints; where it lies in the middle of two, the reference's."""
    digits = len(as_text.partition(".")[2])
    return float(as_text) if abs(value - float(as_text)) <= 0.5 * 10**-digits + 1e-9 else round(value, digits)


def name_of(told: Told) -> str:
    """A row of `cases.csv` in a word."""
    return f"{told['scenario']} {told['topology']} {told['router']} {told['packet_flits']}"


def packet_list(told: Told) -> Iterator[Row]:
    """A row of `cases.csv`, flit by flit and transfer by transfer."""
    net, routes, sent = asked(told)
    name, scenario = name_of(told), told["scenario"]
    yield Row("packets sent", name, len(sent), int(told["packets"]))
    if several_ways(told):
        yield from _drawn(told, net, routes, sent)
    else:
        for column, value in figures(carry(net, sent, routes=routes), sent).items():
            yield Row("routers on the way" if column == "routers_mean" else "one way", f"{name} {column}",
                      printed(value, told[column]), float(told[column]))
    yield Row(f"by transfer, {scenario}", name, transfer(net, sent, routes=routes).cycles, float(told["completion_cycle"]))


def _drawn(told: Told, net: Network, routes: Routes, sent: Traffic) -> Iterator[Row]:
    """Where BookSim draws ways, ours is drawn again and again: the nearest value of what the draws span."""
    short = told["scenario"].startswith(("incast", "scatter"))
    check = ("drawn ways, zero load" if told["scenario"] == "zeroload" else
             "drawn ways, incast and scatter" if short else "drawn ways, permutations")
    draws = [figures(drawn(draw, net, routes, sent), sent)
             for draw in range(DRAWS if len(sent) < LONG_PACKETS else DRAWS_OF_LONG)]
    for column in ("completion_cycle", "latency_mean"):
        theirs, name = float(told[column]), f"{name_of(told)} {column}"
        own = [printed(one[column], told[column]) for one in draws]
        yield Row(check, name, min(max(theirs, min(own)), max(own)), theirs)
        if short:
            once = figures(carry(net, sent, routes=routes), sent)
            yield Row("one draw, incast and scatter", name, once[column], theirs)


def drawn(draw: int, net: Network, routes: Routes, sent: Traffic) -> Carried:
    """Traffic whose packets take other ways, of equally long ones, for each ``draw``."""
    begun = start(net, routes, sent)
    coins = (scattered(draw, 0, len(sent)) >> np.uint64(48)).astype(np.int64)
    begun.packets.reshape(-1, at.PACKET_WIDTH)[:, at.Q_COINS] = coins[begun.order]
    run(begun, at.FAR)
    return collect(net, routes, sent, begun)


def every_packet(rows: Sequence[Told]) -> Iterator[Row]:
    """A list of `packets.csv`: how many of its packets were created, left and arrived when they should, by as many routers."""
    first = rows[0]
    net, routes, sent = asked(first | {"router": "std4"})
    found = carry(net, sent, routes=routes)
    own = Counter(zip(*(column.tolist() for column in (sent.sources, sent.destinations, sent.created, found.injected, found.head,
                                                       found.tail, found.routers)), strict=True))
    theirs = Counter(tuple(int(value) for value in list(row.values())[3:]) for row in rows)
    yield Row("every packet", f"{first['scenario']} {first['topology']} {first['packet_flits']}",
              (own & theirs).total(), max(own.total(), theirs.total()))


def batch(told: Told) -> Iterator[Row]:
    """A row of `batches.csv`; BookSim's batch lasts one more than its last tail's cycle. The reference is the nearer seed."""
    net, routes = network(told["topology"], "std4")
    pattern = Pattern(told["traffic"], int(told["packet_flits"]), int(told["packets_per_node"]), None, 1, 0, None)
    own = carry(net, make_traffic(pattern, net), routes=routes).cycles + 1
    ways = told["topology"].startswith(("torus", "ring")) and told["traffic"] in {"hotspot", "transpose"}
    check = "batches, uniform" if told["traffic"] == "uniform" else "batches, drawn ways" if ways else "batches"
    nearest = min(max(own, int(told["cycles_min"])), int(told["cycles_max"]))
    yield Row(check, f"{told['traffic']} {told['topology']} {told['packet_flits']}", own, nearest)


def load(told: Told, limit: float) -> Iterator[Row]:
    """A row of `loads.csv`, where it is below 70 % of saturation."""
    net, routes = network(told["topology"], told["router"])
    flits, offered = int(told["packet_flits"]), float(told["load"])
    if offered >= BELOW_SATURATION * limit:
        return
    packets = float(told["cycles"]) * offered * net.topology.nodes / flits  # that BookSim measured
    window = max(12000, int(4000 * flits / offered / net.topology.nodes))
    own = measure(net, routes, Pattern(told["traffic"], flits, 1, None, 1, 0, None), offered, warm_up=1000, window=window)
    name = f"{told['traffic']} {told['topology']} {told['router']} {flits} at {told['load']}"
    yield Row("latency over the load, few packets" if packets < FEW_PACKETS else "latency over the load", name,
              own.latency_mean or 0, float(told["latency_mean"]))
    yield Row("not saturated", name, int(own.saturated), 0)


def saturation(rows: Sequence[Told]) -> Iterator[Row]:
    """The most flits that a pattern of `loads.csv` got through; one large mesh takes as long as all the others together."""
    most = max(rows, key=lambda row: float(row["accepted"]))
    net, routes = network(most["topology"], most["router"])
    if net.topology.nodes > LARGE_NODES:
        return
    pattern = Pattern(most["traffic"], int(most["packet_flits"]), 1, None, 1, 0, None)
    own = measure(net, routes, pattern, float(most["load"]), warm_up=2000, window=8000)
    yield Row("most flits accepted", f"{most['traffic']} {most['topology']} {most['router']} {most['packet_flits']}",
              own.accepted, float(most["accepted"]))


def parts() -> Sequence[Part]:
    """Packet lists, batches, and loads."""
    lists, loads = _grouped(table(NAME, "packets.csv"), 3), _grouped(table(NAME, "loads.csv"), 4)
    limits = [min(max(float(row["accepted"]) for row in rows),
                  min((float(row["load"]) for row in rows if row["saturated"] == "yes"), default=1.0)) for rows in loads]
    return [*(partial(packet_list, row) for row in table(NAME)),
            *(partial(every_packet, rows) for rows in lists),
            *(partial(batch, row) for row in table(NAME, "batches.csv")),
            *(partial(load, row, limit) for rows, limit in zip(loads, limits, strict=True) for row in rows),
            *(partial(saturation, rows) for rows in loads)]


def _grouped(rows: Sequence[Told], columns: int) -> list[list[Told]]:
    """Rows whose first columns are equal, together."""
    found: dict[tuple[str, ...], list[Told]] = {}
    for row in rows:
        found.setdefault(tuple(row.values())[:columns], []).append(row)
    return list(found.values())
