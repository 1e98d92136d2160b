"""`accelsim noc`: packets through a network, shown, written and swept over the load."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from .command import accelsim, call


def test_one_packet_takes_what_it_takes(tmp_path: Path) -> None:
    packets, links, trace = tmp_path / "packets.csv", tmp_path / "links.csv", tmp_path / "trace.txt"
    trace.write_text("10 0 15 64\n", encoding="utf-8")
    told = accelsim("noc", "mesh4x4", str(trace), "--json", "--packets", str(packets), "--links", str(links)).json
    assert told["flit"]["completion_cycle"] == 10 + 7 + 5 * 6 + 63
    assert told["flit"]["latency_cycles"]["mean"] == 100
    assert told["flit"]["link_bytes"] == 8 * 64 * 32
    with packets.open(encoding="utf-8") as file:
        assert list(csv.DictReader(file)) == [{
            "source": "0", "destination": "15", "flits": "64", "create_cycle": "10", "head_inject_cycle": "10",
            "head_arrive_cycle": "47", "tail_arrive_cycle": "110", "routers": "7"}]
    with links.open(encoding="utf-8") as file:
        rows = {row["link"]: row for row in csv.DictReader(file)}
    assert len(rows) == 48 + 32
    assert rows["0->1"]["bytes"] == "2048"
    assert float(rows["0->1"]["busy_share"]) == pytest.approx(64 / 111)
    assert rows["0->4"]["flits"] == "0"


def test_what_is_shown() -> None:
    shown = accelsim("noc", "xbar16", "incast:flits=8,packets=4", "--model", "both").out
    assert "flit by flit" in shown
    assert "transfer by transfer" in shown
    assert "transfers against flits" in shown
    assert "0->node 0" in shown
    assert len(shown.splitlines()) < 24
    alone = accelsim("noc", "xbar16", "incast", "--model", "transfer").out
    assert "flit by flit" not in alone


def test_both_models_and_how_far_they_are_apart() -> None:
    told = accelsim("noc", "mesh4x4", "transpose:flits=8,packets=8", "--model", "both", "--json").json
    error = told["transfer_against_flit"]
    flit, transfer = told["flit"]["completion_cycle"], told["transfer"]["completion_cycle"]
    assert error["completion"] == pytest.approx((transfer - flit) / flit)
    assert error["packet_latency_mean_absolute"] >= abs(error["mean_latency"]) * 0.5
    assert told["flit"]["link_bytes"] == told["transfer"]["link_bytes"]


def test_copies_and_reductions_save_links() -> None:
    """15 copies from a corner of a 4 x 4 mesh: 48 links, one by one; 15 in a tree."""
    singly = accelsim("noc", "mesh4x4", "scatter:flits=4", "--json").json["flit"]
    tree = accelsim("noc", "mesh4x4", "multicast:flits=4", "--json").json["flit"]
    assert singly["link_bytes"] == (15 + 48 + 15) * 4 * 32
    assert tree["link_bytes"] == (1 + 15 + 15) * 4 * 32
    joined = accelsim("noc", "mesh4x4", "reduce:flits=4", "-o", "network.router.reduction_vcs=1", "--json").json["flit"]
    assert joined["link_bytes"] == (15 + 15 + 1) * 4 * 32
    assert joined["delivered_flits"] == 4
    refused = accelsim("noc", "mesh4x4", "reduce:flits=4", code=2)
    assert "network.router.reduction_vcs=1" in refused.err


def test_packets_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("0 0 1 1\n0 1 0 1\n"))
    assert accelsim("noc", "ring8", "-", "--json").json["packets"] == 2


def test_a_sweep_over_the_load() -> None:
    sweep = ("noc", "mesh4x4", "uniform:flits=4", "--load-sweep", "0.1:0.9:0.4", "--warm-up", "300", "--window", "1000")
    told = accelsim(*sweep, "--json").json
    assert [point["load"] for point in told["points"]] == [0.1, 0.5, 0.9]
    assert [point["saturated"] for point in told["points"]] == [False, False, True]
    means = [point["latency_mean"] for point in told["points"]]
    assert means == sorted(means)
    assert json.dumps(told) == json.dumps(accelsim(*sweep, "--json").json)
    shown = accelsim(*sweep).out
    assert shown.count("saturated") == 1


def test_words() -> None:
    assert "mesh8x8" in accelsim("list", "networks").out
    shown = accelsim("explain", "mesh4x4").out
    assert "7 + 5 n + L - 1 cycles" in shown
    assert "16 routers, 48 links between them, 16 nodes" in shown
    assert "topology" in accelsim("schema", "network").json["properties"]
    assert "alone, a packet of L flits arrives after 7 + L - 1 cycles" in accelsim("explain", "xbar16").out


@pytest.mark.parametrize("arguments", [
    ("mesh9x9", "uniform"), ("mesh4x4", "unifrom"), ("mesh4x4", "uniform", "-o", "network.router.vc=3"),
    ("mesh4x4", "uniform", "--load-sweep", "x"), ("mesh4x4", "uniform", "--load-sweep", "0:1:0.001"),
    ("mesh4x4", "incast", "--load-sweep", "0.1"), ("mesh4x4", "uniform:load=0.1", "--load-sweep", "0.1"),
    ("mesh4x4", "nowhere.txt", "--load-sweep", "0.1"),
    ("mesh4x4", "uniform", "--load-sweep", "0.1", "--model", "both"), ("mesh4x4", "multicast:flits=9")])
def test_mistakes_are_told_without_a_traceback(arguments: tuple[str, ...]) -> None:
    ended = call("noc", *arguments)
    assert ended.code == 2
    assert ended.err.startswith("accelsim: ")
    assert "Traceback" not in ended.err
