"""Runs of chips with a network: the summary stays on one screen, the JSON has every channel, a saved run reports the same."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ..helpers import from_files
from ..machine.test_drivers import compare
from .command import accelsim

CHIP = """\
name: cores
description: Four cores in the corners of a mesh, the memory in its middle
clock: 1 GHz
levels:
  - {name: DRAM, kind: dram, capacity: 64 MiB, bandwidth: 16 B/cycle, latency: 40 cycles}
  - {name: L1, kind: sram, capacity: 64 KiB, bandwidth: 64 B/cycle, latency: 2 cycles, instances: {x: 2, y: 2}}
  - {name: PE, array: {model: spatial, pes: {u: 16}}}
links:
  - {name: NOC, from: DRAM, to: L1, network: mesh4x4, outer_node: 5, inner_nodes: [0, 3, 12, 15], multicast: equal}
"""
MAPPING = """\
levels:
  - {level: DRAM, loops: [{m: 2}, {n: 2}, {k: "*"}], spatial: {x: [{n: 2}], y: [{m: 2}]}}
  - {level: L1, loops: [{m: "*"}, {n: 1}, {k: 16}]}
  - {level: PE, spatial: {u: [{n: "*"}]}}
"""
WORK = "gemm:m=64,n=64,k=48,dtype=int8"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, ...]:
    (tmp_path / "chip.yaml").write_text(CHIP, encoding="utf-8")
    (tmp_path / "mapping.yaml").write_text(MAPPING, encoding="utf-8")
    return "run", str(tmp_path / "chip.yaml"), WORK, "--mapping", str(tmp_path / "mapping.yaml")


def test_the_summary_has_the_busiest_channels_and_the_json_all(files: tuple[str, ...]) -> None:
    told = accelsim(*files).out
    links = json.loads(accelsim(*files, "--json").out)["operators"][0]["links"]
    assert {name.split()[1] for name in links} >= {"in", "out", "5>4", "5>6", "12>13"}
    channels = re.search(r"links +NOC +[\d.]+ \w+ over (\d+) channels; the busiest:\n((?: {15,}NOC.*\n)+)", told)
    assert channels is not None, told
    assert int(channels[1]) == len(links)
    shown = re.findall(r"(NOC (?:in |out )?[\d>]+) +\S+ \w+, busy ([\d.]+)%", channels[2])
    busiest = sorted((round(one["busy_share"] * 100, 1) for one in links.values()), reverse=True)[:3]
    assert [float(busy) for _, busy in shown] == busiest
    assert {name for name, _ in shown} <= {"NOC in 5", "NOC 5>4", "NOC 5>6"}, "by the memory, where all ways begin"
    lanes = json.loads(accelsim(*files, "--json").out)["operators"][0]["lanes"]
    assert set(links) <= {name for name, lane in lanes.items() if lane["kind"] == "link"}


def test_a_saved_run_reports_the_same_bytes(files: tuple[str, ...], tmp_path: Path) -> None:
    saved = str(tmp_path / "saved")
    first = accelsim(*files, "--save", saved, "--json")
    assert accelsim("report", saved, "--json").out == first.out
    inputs = json.loads(first.out)["provenance"]["inputs"]
    assert "network.mesh4x4" in inputs


def test_an_override_changes_the_network(files: tuple[str, ...]) -> None:
    narrow = json.loads(accelsim(*files, "-o", "network.link.width=4 B/cycle", "--json").out)["operators"][0]
    wide = json.loads(accelsim(*files, "--json").out)["operators"][0]
    assert narrow["cycles"] > wide["cycles"]
    assert narrow["links"]["NOC 5>4"]["bytes"] == wide["links"]["NOC 5>4"]["bytes"]


@pytest.mark.parametrize("memory", [
    "timing: ddr4-2400, latency: 10 cycles", "bandwidth: 16 B/cycle, latency: 40 cycles, cache: 2 KiB"])
def test_behind_channels_and_behind_a_cache_the_drivers_agree(memory: str, tmp_path: Path) -> None:
    text = CHIP.replace("bandwidth: 16 B/cycle, latency: 40 cycles", memory)
    assert text != CHIP
    (tmp_path / "chip.yaml").write_text(text, encoding="utf-8")
    compare(from_files(str(tmp_path / "chip.yaml"), WORK, MAPPING))
    (tmp_path / "chip.yaml").write_text(text.replace("multicast: equal", "chunk: 256 B"), encoding="utf-8")
    compare(from_files(str(tmp_path / "chip.yaml"), WORK, MAPPING))
