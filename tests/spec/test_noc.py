"""Network files and traffic: what they say, and every fault at its place."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from accelsim.errors import SpecError
from accelsim.machine.noc_routes import Routes
from accelsim.spec.network import Kind
from accelsim.spec.patterns import Pattern, at_load, scattered
from accelsim.spec.read import read_network, shipped, shipped_folder
from accelsim.spec.traffic import SEVERAL, traffic_of
from accelsim.spec.trafficfile import read_lines, read_traffic

SHIPPED = sorted(shipped("networks"))
EDGES = """name: small
clock: 1 GHz
flit: 32 B
topology:
  kind: edges
  sizes: [4]
  edges:
    - {from: 0, to: 1}
    - {from: 1, to: 2, latency: 3 ns, width: 8 B/cycle}
    - {from: 2, to: 3, one_way: true}
    - {from: 3, to: 0, width: 10 GB/s}
  nodes: [0, 0, 2, 3]
router: {vcs: 2, buffer: 4}
"""


def faults(text: str, path: Path) -> list[str]:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        read_network(str(path))
    return [str(fault).removeprefix(f"{path}:") for fault in caught.value.faults]


def test_every_number_of_the_shipped_networks_has_its_source_on_its_line() -> None:
    for name in SHIPPED:
        lines = (shipped_folder("hwconfigs") / "networks" / f"{name}.yaml").read_text(encoding="utf-8").splitlines()
        for line in lines:
            bare = line.endswith(":") or line.startswith(("name:", "description:", "  kind:"))
            assert bare or "  # " in line, f"{name}: {line}"


@pytest.mark.parametrize(("name", "routers", "wires", "nodes", "ports"), [
    ("mesh4x4", 16, 48, 16, 5), ("mesh8x8", 64, 224, 64, 5), ("torus4x4", 16, 64, 16, 5), ("torus8x8", 64, 256, 64, 5),
    ("ring8", 8, 16, 8, 3), ("xbar16", 1, 0, 16, 16), ("fly4x2", 8, 16, 16, 4), ("tree4x2", 5, 8, 16, 5)])
def test_shapes(name: str, routers: int, wires: int, nodes: int, ports: int) -> None:
    """2 x 2 k (k - 1) wires of a k x k mesh, 4 k k of a torus, 2 n of a ring; k^n (n - 1) of a fly, two for each child of a
    tree.
    """
    topology = read_network(name).topology
    assert (topology.routers, len(topology.wires), topology.nodes, topology.ports) == (routers, wires, nodes, ports)
    for end in ("source", "target"):
        port = {"source": "output", "target": "input"}[end]
        own = topology.enters if end == "target" else topology.leaves
        used = Counter([(getattr(wire, end), getattr(wire, port)) for wire in topology.wires] + list(own))
        assert max(used.values()) == 1


@pytest.mark.parametrize("name", SHIPPED)
def test_routes_lead_everywhere_by_the_fewest_links(name: str) -> None:
    network = read_network(name)
    routes, topology = Routes(network), network.topology
    for source in range(topology.nodes):
        for node in range(topology.nodes):
            for row in (0, 1):
                way = routes.walk(source, node, row)
                assert len({router for router, _, _ in way}) == len(way)
                if topology.kind in {Kind.MESH, Kind.TORUS, Kind.RING}:
                    far = 0
                    for dimension, size in enumerate(topology.sizes):
                        step = int(np.prod(topology.sizes[:dimension]))
                        apart = abs(source // step % size - node // step % size)
                        far += apart if topology.kind is Kind.MESH else min(apart, size - apart)
                    assert len(way) == far + 1
    all_ = np.arange(topology.nodes, dtype=np.int64)
    counted = routes.routers(np.repeat(all_, topology.nodes), np.tile(all_, topology.nodes))
    assert counted.tolist() == [len(routes.walk(source, node)) for source in all_.tolist() for node in all_.tolist()]


def test_an_edge_list_has_links_of_their_own_speed(tmp_path: Path) -> None:
    """8 of 32 B a cycle: 4 cycles a flit; 10 GB/s at 1 GHz: 3.2, rounded up."""
    path = tmp_path / "n.yaml"
    path.write_text(EDGES, encoding="utf-8")
    network = read_network(str(path))
    wires = {(wire.source, wire.target): (wire.latency, wire.flit_cycles) for wire in network.topology.wires}
    assert wires == {(0, 1): (1, 1), (1, 0): (1, 1), (1, 2): (3, 4), (2, 1): (3, 4), (2, 3): (1, 1), (3, 0): (1, 4), (0, 3): (1,
                                                                                                                              4)}
    assert network.topology.nodes == 4
    assert network.topology.enters[:2] == ((0, 2), (0, 3))
    # by distance from router 0: 1 and 3 are one link away, 2 two; from 3 to 2 there is no edge, so up to 0 and down by 1
    assert [router for router, _, _ in Routes(network).walk(3, 2)] == [3, 0, 1, 2]
    # back from 2 by 3, over a link of 1 + 1 and one of 1 + 4 cycles; by 1 it would be 3 + 4 and 1 + 1
    assert [router for router, _, _ in Routes(network).walk(2, 0)] == [2, 3, 0]


def test_overrides_and_times_in_ns() -> None:
    network = read_network("mesh4x4", ["network.router.routing=2.5 ns", "network.link.width=16 B/cycle", "network.router.vcs=6"])
    assert (network.router.routing, network.router.vcs, network.topology.wires[0].flit_cycles) == (3, 6, 2)


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    wrong = EDGES.replace("clock: 1 GHz", "clock: 1").replace("buffer: 4", "bufer: 4").replace("vcs: 2", "vcs: two")
    told = faults(wrong, tmp_path / "n.yaml")
    assert [fault for fault in told if "has no unit" in fault]
    assert [fault for fault in told if "bufer" in fault and "buffer" in fault]
    assert [fault for fault in told if "router.vcs" in fault]
    assert all(fault[0].isdigit() for fault in told)


@pytest.mark.parametrize(("old", "new", "message"), [
    ("to: 3, one_way: true", "to: 3, one_way: true}\n    - {from: 9, to: 1", "two routers of 0 to 3"),
    ("- {from: 0, to: 1}", "- {from: 1, to: 1}", "two routers of 0 to 3"),
    ("nodes: [0, 0, 2, 3]", "nodes: [4]", "router 4"),
    ("nodes: [0, 0, 2, 3]", "nodes: []", "no nodes"),
    ("    - {from: 0, to: 1}\n    - {from: 1, to: 2, latency: 3 ns, width: 8 B/cycle}\n", "", "no way from router 0 to router 2"),
    ("kind: edges", "kind: mesh", "edges with kind mesh"),
    ("sizes: [4]\n", "sizes: [4, 4]\n", "2 numbers"),
    ("vcs: 2", "vcs: 2, reduction_vcs: 2", "0 VCs for packets"),
    ("vcs: 2", "vcs: 2, traversal: 0 cycles", "0 cycles"),
    ("latency: 3 ns", "latency: 3 ms", "3,000,000 cycles"),
    ("width: 8 B/cycle", "width: 0.0001 B/cycle", "cycles for a flit"),
])
def test_what_hangs_together_is_checked(old: str, new: str, message: str, tmp_path: Path) -> None:
    assert old in EDGES
    told = faults(EDGES.replace(old, new), tmp_path / "n.yaml")
    assert any(message in fault for fault in told), told


@pytest.mark.parametrize(("overrides", "message"), [
    (["network.topology.sizes=[4, 4, 4, 4, 4, 4]", "network.router.vcs=1"], "1 VCs for packets"),
    (["network.topology.kind=fly", "network.topology.sizes=[4]"], "1 numbers"),
    (["network.topology.kind=tree", "network.topology.sizes=[1, 3]"], "arity 1"),
    (["network.topology.kind=tree", "network.topology.sizes=[4, 8]"], "65,536 nodes"),
    (["network.topology.kind=crossbar", "network.topology.sizes=[65]"], "a router of 65 ports"),
])
def test_sizes_are_checked(overrides: list[str], message: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_network("torus4x4", overrides)
    assert any(message in str(fault) for fault in caught.value.faults)


# -- traffic ----------------------------------------------------------------------------------------------------------


def test_lists_of_packets() -> None:
    traffic = read_lines(["# created source destination flits\n", "0 1 2 8\n", "\n", "5 0 1+2+3 4  # copied\n", "7,1+2,0,2\n"],
                         "t", 16)
    assert traffic.created.tolist() == [0, 5, 7, 7]
    assert traffic.sources.tolist() == [1, 0, 1, 2]
    assert traffic.destinations.tolist() == [2, SEVERAL, 0, 0]
    assert traffic.flits.tolist() == [8, 4, 2, 2]
    assert traffic.group.tolist() == [-1, -1, 0, 0]
    assert traffic.copies == {1: (1, 2, 3)}
    assert traffic.delivered_flits == 8 + 3 * 4 + 2
    same = traffic_of([(0, 1, 2, 8), (5, 0, (1, 2, 3), 4), (7, (1, 2), 0, 2)])
    assert (same.sources == traffic.sources).all()
    assert same.copies == traffic.copies


def test_every_line_that_is_wrong_is_told(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_text("0 1 2\n0 1 16 1\n0 x 2 1\n5 1 2 0\n5 1 2 1\n4 1 2 1\n0 1+1 2 1\n0 1+2 3+4 1\n0 1 2 01\n99999999999999 1 2 "
                    "1\n",
                    encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        read_traffic(str(path), read_network("mesh4x4"))
    assert [(fault.line, fault.message) for fault in caught.value.faults] == [
        (1, "3 words"), (2, "'16' is no node of 0 to 15"), (3, "'x' is no node of 0 to 15"),
        (4, "'0' is no number of flits of 1 to 2^24"),
        (6, "cycle 4 of node 1 after cycle 5"), (7, "a node twice in '1+1'"), (8, "several sources and several destinations"),
        (9, "'01' is no number of flits of 1 to 2^24"), (10, "'99999999999999' is no cycle of 0 to 2^40")]
    with pytest.raises(SpecError, match="no packets"):
        read_lines(io.StringIO("# nothing\n"), "t", 16)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(SpecError, match="UTF-8"):
        read_traffic(str(path), read_network("mesh4x4"))


def pairs(text: str, network: str) -> list[tuple[int, int]]:
    traffic = read_traffic(text, read_network(network))
    return list(zip(traffic.sources.tolist(), traffic.destinations.tolist(), strict=True))


def test_patterns() -> None:
    assert pairs("transpose:", "mesh4x4")[:5] == [(0, 0), (1, 4), (2, 8), (3, 12), (4, 1)]
    assert pairs("neighbor", "mesh4x4")[:4] == [(0, 5), (1, 6), (2, 7), (3, 4)]
    assert pairs("tornado", "mesh8x8")[0] == (0, 3 + 3 * 8)
    assert pairs("tornado", "ring8")[7] == (7, 2)
    assert pairs("neighbor", "fly4x2")[3] == (3, 4)
    assert pairs("neighbor", "xbar16")[15] == (15, 0)
    assert pairs("shift", "ring8")[5] == (5, 1)
    assert pairs("shift:by=3", "ring8")[5] == (5, 0)
    assert set(pairs("hotspot:node=3", "ring8")) == {(node, 3) for node in range(8)}
    assert pairs("incast:node=2", "ring8") == [(node, 2) for node in (1, 0, 7, 6, 5, 4, 3)]
    assert pairs("scatter:node=6", "ring8") == [(6, node) for node in (7, 0, 1, 2, 3, 4, 5)]
    assert sorted(pairs("all2all", "ring8")) == [(a, b) for a in range(8) for b in range(8) if a != b]
    assert len(pairs("all2all:packets=3,flits=1", "ring8")) == 3 * 56
    copied = read_traffic("multicast:packets=2,node=1,flits=3", read_network("ring8"))
    assert copied.copies == dict.fromkeys(range(2), (0, 2, 3, 4, 5, 6, 7))
    joined = read_traffic("reduce:packets=2", read_network("ring8"))
    assert joined.group.tolist() == [0] * 7 + [1] * 7
    assert set(joined.destinations.tolist()) == {0}


def test_random_patterns_are_the_same_everywhere_and_have_their_load() -> None:
    network = read_network("mesh4x4")
    traffic = read_traffic("uniform:load=0.4,flits=4,packets=500,seed=7", network)
    again, other = (read_traffic(f"uniform:load=0.4,flits=4,packets=500,seed={seed}", network) for seed in (7, 8))
    assert (traffic.created == again.created).all()
    assert (traffic.destinations == again.destinations).all()
    assert (traffic.destinations != other.destinations).any()
    assert (np.diff(traffic.created) >= 0).all()
    assert Counter(traffic.sources.tolist()) == dict.fromkeys(range(16), 500)
    assert traffic.created.max() == pytest.approx(5000, rel=0.1)  # one in ten cycles
    assert max(Counter(zip(traffic.sources.tolist(), traffic.created.tolist(), strict=True)).values()) == 1
    assert set(traffic.destinations.tolist()) == set(range(16))
    sent = at_load(Pattern("uniform", 8, 1, None, 1, 0, None), network, 0.4, 20000)
    assert sent.flits.sum() / 16 / 20000 == pytest.approx(0.4, rel=0.02)
    assert sent.created.max() < 20000
    assert scattered(3, 10, 5).tolist() == scattered(3, 0, 15)[10:].tolist()


@pytest.mark.parametrize("text", ["uniform:load=0", "uniform:load=2", "uniform:flits=0", "uniform:lod=0.1", "uniform:load=x",
                                  "incast:load=0.1", "hotspot:node=16", "nothing:flits=1", "all2all:packets=1000000",
                                  "shift:by=0", "uniform:flits="])
def test_patterns_that_are_wrong_are_refused(text: str) -> None:
    with pytest.raises(SpecError):
        read_traffic(text, read_network("mesh4x4"))
    with pytest.raises(SpecError, match="square"):
        read_traffic("transpose", read_network("ring8"))
