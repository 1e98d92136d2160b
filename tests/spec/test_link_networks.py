"""Links with a `network` in chip files: what they come to, and that each fault is placed and named."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest

from accelsim.errors import SpecError
from accelsim.spec.linknetwork import instance_number
from accelsim.spec.read import read_chip, shipped_folder

from . import changed_chips

CHIP = """\
name: cores
description: Cores on a mesh
clock: 1 GHz
levels:
  - {name: DRAM, kind: dram, capacity: unlimited, bandwidth: 32 B/cycle}
  - {name: L1, kind: sram, capacity: 64 KiB, bandwidth: 64 B/cycle, instances: {x: 4, y: 2}}
  - {name: PE, array: {model: spatial, pes: {u: 16}}}
links:
  - name: NOC
    from: DRAM
    to: L1
    network: mesh4x4
"""


written = partial(changed_chips.written, CHIP)
faults = partial(changed_chips.faults, CHIP)


def also(line: str) -> tuple[str, str]:
    return "    network: mesh4x4\n", f"    network: mesh4x4\n    {line}\n"


def test_what_a_network_comes_to(tmp_path: Path) -> None:
    """32 B a flit and cycle; 1 + 4 cycles a channel, the last one 1. Instance 5 is x = 1, y = 1: node 5, a link each way."""
    (link,) = read_chip(written(tmp_path, also("setup: 3 cycles"))).links
    assert (link.rate, link.granularity_bytes, link.latency_cycles, link.setup_cycles) == (32, 32, 5 + 1, 3)
    network = link.network
    assert network is not None
    assert (network.outer_node, network.inner_nodes) == (0, tuple(range(8)))
    assert [channel.name for channel in network.inward[5]] == ["in 0", "0>1", "1>5", "out 5"]
    assert [channel.name for channel in network.outward[5]] == ["in 5", "5>4", "4>0", "out 0"]
    assert [channel.latency_cycles for channel in network.inward[5]] == [5, 5, 5, 1]
    assert {channel.rate for channel in network.inward[5]} == {Fraction(32)}


def test_nodes_of_ones_own(tmp_path: Path) -> None:
    (link,) = read_chip(written(tmp_path, also("outer_node: 5\n    inner_nodes: [15, 14, 13, 12, 11, 10, 9, 8]"))).links
    assert link.network is not None
    assert [channel.name for channel in link.network.inward[0]] == ["in 5", "5>6", "6>7", "7>11", "11>15", "out 15"]


def test_on_a_torus_the_way_upwards_where_both_are_as_long(tmp_path: Path) -> None:
    """From 0 to 10 of a 4 x 4 torus it is two up in each dimension, and two up back again."""
    (link,) = read_chip(written(tmp_path, ("mesh4x4", "torus4x4"), ("{x: 4, y: 2}", "{x: 4, y: 4}"))).links
    assert link.network is not None
    assert [channel.name for channel in link.network.inward[10]] == ["in 0", "0>1", "1>2", "2>6", "6>10", "out 10"]
    assert [channel.name for channel in link.network.outward[10]] == ["in 10", "10>11", "11>8", "8>12", "12>0", "out 0"]


def test_a_file_beside_the_chip_and_overrides_of_it(tmp_path: Path) -> None:
    text = (shipped_folder("hwconfigs") / "networks" / "mesh4x4.yaml").read_text(encoding="utf-8")
    (tmp_path / "own.yaml").write_text(text.replace("1 GHz", "500 MHz"), encoding="utf-8")
    chip = written(tmp_path, ("mesh4x4", "own.yaml"))
    assert read_chip(chip).links[0].rate == 16
    link = read_chip(chip, ("network.link.latency=3 cycles", "network.flit=64 B")).links[0]
    assert link.rate == 32
    assert link.network is not None
    assert [channel.latency_cycles for channel in link.network.inward[1]] == [10, 14, 2]
    (tmp_path / "own.yaml").write_text("nonsense: 1\n" + text, encoding="utf-8")
    (found,) = faults(tmp_path, ("mesh4x4", "own.yaml"))
    assert found.startswith("own.yaml:1:1: nonsense"), found


@pytest.mark.parametrize(("changes", "told"), [
    ([("mesh4x4", "mesh4x5")], "chip.yaml:12:5: links.NOC.network: 'mesh4x5': no network of that name"),
    ([("    network: mesh4x4\n", "")], "chip.yaml:9:5: links.NOC: missing key 'bandwidth'"),
    ([also("bandwidth: 4 B/cycle")], "chip.yaml:13:5: links.NOC.bandwidth: 'bandwidth' beside `network`"),
    ([also("latency: 4 cycles")], "links.NOC.latency: 'latency' beside `network`"),
    ([also("granularity: 4 B")], "links.NOC.granularity: 'granularity' beside `network`"),
    ([also("request: 64 B")], "links.NOC.request: 'request' beside `network`"),
    ([also("outstanding: 4")], "links.NOC.outstanding: 'outstanding' beside `network`"),
    ([also("per_instance: true")], "links.NOC.per_instance: 'per_instance' beside `network`"),
    ([also("multicast: overlap")], "links.NOC.multicast: 'overlap' beside `network`"),
    ([("network: mesh4x4", "bandwidth: 4 B/cycle\n    outer_node: 0")], "links.NOC.outer_node: 'outer_node' without `network`"),
    ([("network: mesh4x4", "bandwidth: 4 B/cycle\n    inner_nodes: [0]")], "'inner_nodes' without `network`"),
    ([also("outer_node: 16")], "chip.yaml:13:5: links.NOC.outer_node: no node 16 in mesh4x4; it has 16: 0 to 15"),
    ([also("outer_node: -1")], "links.NOC.outer_node"),
    ([also("inner_nodes: [0, 1, 2]")], "links.NOC.inner_nodes: 3 nodes for 8 instances of L1"),
    ([also("inner_nodes: [0, 1, 2, 3, 4, 5, 6, 16]")], "links.NOC.inner_nodes[7]: no node 16 in mesh4x4"),
    ([also("inner_nodes: [0, 1, 2, 3, 4, 5, 6, 2]")], "links.NOC.inner_nodes[7]: node 2 a second time"),
    ([("{x: 4, y: 2}", "{x: 4, y: 5}")], "chip.yaml:12:5: links.NOC.network: 20 instances of L1, but mesh4x4 has 16 nodes"),
    ([("{x: 4, y: 2}", "{x: 4, y: 2}, lockstep: true")], "links.NOC.network: L1 runs in lockstep"),
    ([("to: L1", "to: PE"), ("pes: {u: 16}", "pes: {u: 16}, lockstep: true")], "links.NOC.network: PE runs in lockstep"),
    ([("from: DRAM", "from: L1"), ("to: L1", "to: PE")], "links.NOC.network: L1 has several instances"),
])
def test_faults_are_placed_and_named(tmp_path: Path, changes: list[tuple[str, str]], told: str) -> None:
    found = faults(tmp_path, *changes)
    assert any(told in one for one in found), found


def test_a_fault_of_an_override_of_the_network_names_the_option(tmp_path: Path) -> None:
    (found,) = faults(tmp_path, options=("network.topology.kind=grid",))
    assert found.startswith("-o: topology.kind: unknown value 'grid'"), found


def test_network_overrides_without_a_network_are_refused() -> None:
    with pytest.raises(SpecError, match="no link of toy has a `network`"):
        read_chip("toy", ["network.flit=32 B"])


def test_the_numbers_of_instances() -> None:
    """x before y, and a cluster's cores before the next cluster's."""
    grid = [(("x", 4), ("y", 2))]
    assert [instance_number(grid, [{"x": x, "y": y}]) for y in range(2) for x in range(4)] == list(range(8))
    nested = [(("c", 2),), (("x", 2), ("y", 3))]
    assert instance_number(nested, [{"c": 1}, {"x": 1, "y": 2}]) == 6 + 1 + 2 * 2
    assert instance_number(nested, [{}, {"y": 1}]) == 2
