"""Do networks take the cycles that BookSim takes, packet by packet, and the same latencies over the load?"""

from __future__ import annotations

import csv
from collections import defaultdict
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from accelsim.machine import noc_state
from accelsim.machine.noc import Carried, carry, transfer
from accelsim.machine.noc_load import measure
from accelsim.machine.noc_routes import Routes
from accelsim.spec.network import Network
from accelsim.spec.patterns import Pattern, make_traffic, scattered
from accelsim.spec.read import read_network
from accelsim.spec.traffic import Traffic, traffic_of

from .noc_traces import SCENARIOS

FOLDER = Path(__file__).resolve().parents[2] / "validation" / "noc"
TOPOLOGIES = {"mesh4x4": ("mesh4x4", "[4, 4]"), "mesh8x8": ("mesh8x8", "[8, 8]"), "mesh1x8": ("mesh4x4", "[8]"),
              "torus4x4": ("torus4x4", "[4, 4]"), "torus8x8": ("torus8x8", "[8, 8]"), "ring8": ("ring8", "[8]"),
              "xbar16": ("xbar16", "[16]"), "xbar8": ("xbar16", "[8]"), "fly4x2": ("fly4x2", "[4, 2]")}
ROUTERS = {"std4": [], "fast2": ["network.router.routing=0 cycles", "network.router.speculative=true"],
           "wh1": ["network.router.vcs=1"], "deep": ["network.router.vcs=8", "network.router.buffer=64"]}


def table(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


CASES = table("cases.csv")


@cache
def network(topology: str, router: str) -> tuple[Network, Routes]:
    shipped, sizes = TOPOLOGIES[topology]
    found = read_network(shipped, [f"network.topology.sizes={sizes}", *ROUTERS[router]])
    return found, Routes(found)


@cache
def traffic(scenario: str, topology: str, flits: int) -> Traffic:
    return traffic_of(SCENARIOS[scenario](network(topology, "std4")[0].topology.nodes, flits))


def asked(row: dict[str, str]) -> tuple[Network, Routes, Traffic]:
    return *network(row["topology"], row["router"]), traffic(row["scenario"], row["topology"], int(row["packet_flits"]))


def several_ways(row: dict[str, str]) -> bool:
    """Whether some packet's destination is as far one way around a dimension as the other."""
    net, routes, sent = asked(row)
    at = np.array([router for router, _ in net.topology.enters])
    table_ = routes.table[at[sent.sources], :, sent.destinations]
    if (table_[:, 0] != table_[:, 1]).any():
        return True
    # a later dimension's choice shows in the router where it begins
    return any(routes.table[router, 0, node] != routes.table[router, 1, node]
               for source, node in sorted(set(zip(sent.sources.tolist(), sent.destinations.tolist(), strict=True)))
               for router, _, _ in routes.walk(source, node))


CHOICES = [row for row in CASES if row["topology"].startswith(("torus", "ring")) and several_ways(row)]
PLAIN = [row for row in CASES if row not in CHOICES]


def figures(found: Carried, sent: Traffic) -> dict[str, float]:
    latency = np.sort(found.tail - sent.created[found.packet])
    return {"completion_cycle": found.cycles, "latency_mean": latency.mean(), "latency_max": latency[-1],
            "network_latency_mean": (found.tail - found.injected[found.packet]).mean(), "routers_mean": found.routers.mean()}


def test_all_packet_lists_of_networks_without_a_choice_are_met_exactly() -> None:
    assert len(PLAIN) == 462
    apart = {}
    for row in PLAIN:
        net, routes, sent = asked(row)
        assert len(sent) == int(row["packets"])
        own = figures(carry(net, sent, routes=routes), sent)
        wrong = {name: (value, row[name]) for name, value in own.items()
                 if abs(value - float(row[name])) > (0 if float(row[name]).is_integer() and "mean" not in name else 6e-4)}
        if wrong:
            apart[row["scenario"], row["topology"], row["router"], row["packet_flits"]] = wrong
    assert not apart


def test_every_packet() -> None:
    theirs: dict[tuple[str, str, str], list[tuple[int, ...]]] = defaultdict(list)
    for row in table("packets.csv"):
        key = row["topology"], row["scenario"], row["packet_flits"]
        theirs[key].append(tuple(int(value) for value in list(row.values())[3:]))
    for (topology, scenario, flits), packets in theirs.items():
        net, routes, sent = asked({"topology": topology, "router": "std4", "scenario": scenario, "packet_flits": flits})
        found = carry(net, sent, routes=routes)
        own = zip(*(column.tolist() for column in (sent.sources, sent.destinations, sent.created, found.injected, found.head,
                                                   found.tail, found.routers)), strict=True)
        assert sorted(own) == sorted(packets), (topology, scenario, flits)


def drawn(row: dict[str, str], draws: int, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, float]]:
    """A case again and again, each time with other ways drawn."""
    net, routes, sent = asked(row)
    found = []
    for draw in range(draws):
        monkeypatch.setattr(noc_state, "coins",
                            lambda count, draw=draw: (scattered(draw, 0, count) >> np.uint64(48)).astype(np.int64))
        found.append(figures(carry(net, sent, routes=routes), sent))
    return found


def test_where_ways_are_drawn_the_reference_lies_among_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(CHOICES) == 129
    outside = {}
    for row in CHOICES:
        own = drawn(row, 16 if int(row["packets"]) < 2000 else 4, monkeypatch)
        widened = 0 if row["scenario"] == "zeroload" else 0.02 if row["scenario"].startswith(("incast", "scatter")) else 0.05
        for name in ("completion_cycle", "latency_mean"):
            low, high = min(one[name] for one in own), max(one[name] for one in own)
            if not low * (1 - widened) - 6e-4 <= float(row[name]) <= high * (1 + widened) + 6e-4:
                outside[row["scenario"], row["topology"], row["router"], row["packet_flits"], name] = low, row[name], high
    assert not outside


def test_incast_and_scatter_on_tori_are_within_two_per_cent_whatever_is_drawn_here() -> None:
    for row in CHOICES:
        if row["scenario"].startswith(("incast", "scatter")):
            net, routes, sent = asked(row)
            own = figures(carry(net, sent, routes=routes), sent)
            for name in ("completion_cycle", "latency_mean"):
                assert own[name] == pytest.approx(float(row[name]), rel=0.02), row


def test_batches_of_stock_booksim() -> None:
    """Every node's packets at once, by our own patterns. BookSim's batch lasts one more than the last tail's cycle."""
    apart, compared = {}, 0
    for row in table("batches.csv"):
        net, routes = network(row["topology"], "std4")
        pattern = Pattern(row["traffic"], int(row["packet_flits"]), int(row["packets_per_node"]), None, 1, 0, None)
        own = carry(net, make_traffic(pattern, net), routes=routes).cycles + 1
        drawn_ways = row["topology"].startswith(("torus", "ring")) and row["traffic"] in {"hotspot", "transpose"}
        within = 0.15 if row["traffic"] == "uniform" else 0.05 if drawn_ways else 0
        compared += within == 0
        if not (1 - within) * int(row["cycles_min"]) <= own <= (1 + within) * int(row["cycles_max"]):
            apart[row["topology"], row["traffic"], row["packet_flits"]] = own, row["cycles_min"], row["cycles_max"]
    assert compared == 36
    assert not apart


# -- loads ------------------------------------------------------------------------------------------------------------

LOADS: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
for _row in table("loads.csv"):
    LOADS[_row["topology"], _row["router"], _row["traffic"], _row["packet_flits"]].append(_row)


def test_latency_below_seventy_per_cent_of_saturation() -> None:
    apart, compared = {}, 0
    for (topology, router, name, flits), points in LOADS.items():
        net, routes = network(topology, router)
        limit = min(max(float(point["accepted"]) for point in points),
                    min((float(point["load"]) for point in points if point["saturated"] == "yes"), default=1.0))
        for point in points:
            load = float(point["load"])
            if load >= 0.7 * limit:
                continue
            compared += 1
            theirs = float(point["cycles"]) * load * net.topology.nodes / int(flits)  # packets that BookSim measured
            window = max(12000, int(4000 * int(flits) / load / net.topology.nodes))
            own = measure(net, routes, Pattern(name, int(flits), 1, None, 1, 0, None), load, warm_up=1000, window=window)
            error = (own.latency_mean or 0) / float(point["latency_mean"]) - 1
            if abs(error) > (0.05 if theirs >= 500 else 0.1) or own.saturated:
                apart[topology, router, name, flits, load] = error
    assert compared == 198
    assert not apart


def test_the_most_that_is_accepted() -> None:
    apart = {}
    for (topology, router, name, flits), points in LOADS.items():
        net, routes = network(topology, router)
        most = max(points, key=lambda point: float(point["accepted"]))
        if net.topology.nodes > 16:
            continue  # one 8 x 8 mesh takes as long as all the others together: it is in the latencies above
        own = measure(net, routes, Pattern(name, int(flits), 1, None, 1, 0, None), float(most["load"]), warm_up=2000, window=8000)
        error = own.accepted - float(most["accepted"])
        if abs(error) > 0.05:
            apart[topology, router, name, flits] = error
    assert not apart


# -- transfer by transfer ---------------------------------------------------------------------------------------------

BOUNDS = {"zeroload": (0, 0), "p2p": (0.01, 0.09), "neighbor": (0.01, 0.14), "ringstep": (0.01, 0.07), "scatter0": (0.01, 0.02),
          "incast0": (0.04, 0.50), "incastmid": (0.06, 0.50), "shift_half": (0.05, 0.25), "transpose": (0.06, 0.20),
          "all2all": (0.14, 0.52)}
"""How far the end of a run is off, on average and at worst, transfer by transfer."""


def test_transfers_are_as_far_off_as_is_said() -> None:
    errors: dict[str, list[float]] = defaultdict(list)
    for row in CASES:
        net, routes, sent = asked(row)
        errors[row["scenario"]].append(abs(transfer(net, sent, routes=routes).cycles / float(row["completion_cycle"]) - 1))
    for scenario, (mean, worst) in BOUNDS.items():
        assert np.mean(errors[scenario]) <= mean, scenario
        assert max(errors[scenario]) <= worst, scenario
