"""`accelsim noc`: packets through a network on chip alone."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

from accelsim.cli import commands
from accelsim.cli.commands import write_table
from accelsim.cli.compiling import compiling
from accelsim.cli.pictures import Pictures
from accelsim.cli.progress import Progress
from accelsim.drivers import NetworkModel
from accelsim.errors import Fault, SpecError
from accelsim.outputs import results
from accelsim.spec.files import bounded
from accelsim.spec.network import Network
from accelsim.spec.read import read_network
from accelsim.spec.traffic import Traffic
from accelsim.spec.trafficfile import parse_pattern, read_lines, read_traffic
from accelsim.units import human_bytes, human_time
from accelsim.writing import write_text

SCHEMA = 1
INPUT = "standard input"
_BUSIEST = 5
_MOST_LOADS = 100
_NUMBER = r"[0-9]{0,3}(?:\.[0-9]{1,6})?"


def noc(name: str, text: str, overrides: tuple[str, ...], model: NetworkModel, as_json: bool, packets_file: Path | None,
        links_file: Path | None, pictures: Pictures) -> int:
    """Run traffic and show what came of it."""
    commands.check_files(commands.Files(None, pictures=pictures))
    network = read_network(name, overrides)
    traffic = (read_lines(bounded(sys.stdin, INPUT), INPUT, network.topology.nodes) if text == "-" else
               read_traffic(text, network))
    with compiling():
        from accelsim.machine.noc import carry, transfer
    found: dict[NetworkModel, Any] = {}
    with Progress() as told:
        for one, run in ((NetworkModel.FLIT, carry), (NetworkModel.TRANSFER, transfer)):
            if model in {one, NetworkModel.BOTH}:
                found[one] = run(network, traffic, progress=lambda done: told.tell("packets", done, len(traffic)))
    shown = found[NetworkModel.TRANSFER if model is NetworkModel.TRANSFER else NetworkModel.FLIT]
    if packets_file is not None:
        columns = [traffic.sources[shown.packet], shown.node, traffic.flits[shown.packet], traffic.created[shown.packet],
                   shown.injected[shown.packet], shown.head, shown.tail, shown.routers]
        write_table(packets_file, ("source", "destination", "flits", "create_cycle", "head_inject_cycle", "head_arrive_cycle",
                              "tail_arrive_cycle", "routers"), zip(*(column.tolist() for column in columns), strict=True))
    if links_file is not None:
        write_table(links_file, ("link", "flits", "bytes", "busy_cycles", "busy_share"), (
            (link.name, link.flits, link.flits * network.flit_bytes, link.busy_cycles, link.busy_cycles / (shown.cycles + 1))
            for link in shown.links))
    if pictures.files:
        _draw(network, text, shown, pictures)
    figures = {"schema": SCHEMA, "network": network.name, "nodes": network.topology.nodes, "packets": len(traffic),
               "flit_bytes": network.flit_bytes, **{one.value: _figures(network, traffic, what) for one, what in found.items()}}
    if model is NetworkModel.BOTH:
        figures["transfer_against_flit"] = _errors(found[NetworkModel.FLIT], found[NetworkModel.TRANSFER], traffic)
    print(results.to_text(figures) if as_json else _text(network, figures))
    return 0


def _draw(network: Network, text: str, found: Any, pictures: Pictures) -> None:
    """How busy each link was, on the topology."""
    from accelsim.outputs.heat_map import ChannelLoad, NetworkLoad, draw_heat_map
    path, cycles = pictures.files["--heat-map"], found.cycles + 1
    loads = tuple(ChannelLoad(link.name, link.flits * network.flit_bytes, link.busy_cycles / cycles) for link in found.links)
    wires, nodes = len(network.topology.wires), network.topology.nodes
    load = NetworkLoad(network.name, network.topology, loads[:wires], loads[wires:wires + nodes], loads[wires + nodes:], {})
    drawn = draw_heat_map(load, path, title=f"{text} on {network.name}: channels, measured",
                          width_inches=pictures.column.inches)
    if pictures.data:
        write_text(path.with_suffix(".csv"), drawn.to_csv())


def _latency(found: Any, traffic: Traffic) -> Any:
    """Cycles from each packet's creation to its tail's arrival."""
    return found.tail - traffic.created[found.packet]


def _figures(network: Network, traffic: Traffic, found: Any) -> dict[str, Any]:
    """All that is told of one model, as plain data."""
    latency, cycles = _latency(found, traffic), found.cycles + 1
    busiest = sorted(found.links, key=lambda link: -link.busy_cycles)[:_BUSIEST]
    return {
        "completion_cycle": found.cycles, "time_s": float(cycles * network.cycle_s),
        "latency_cycles": {"mean": float(latency.mean()), "min": int(latency.min()), "max": int(latency.max()),
                           **{f"p{share}": int(np.quantile(latency, share / 100, method="lower")) for share in (50, 99)}},
        "network_latency_mean": float((found.tail - found.injected[found.packet]).mean()),
        "delivered_flits": traffic.delivered_flits,
        "accepted_flits_per_node_cycle": traffic.delivered_flits / cycles / network.topology.nodes,
        "link_bytes": sum(link.flits for link in found.links) * network.flit_bytes,
        "busiest_links": [{"link": link.name, "bytes": link.flits * network.flit_bytes, "busy_share": link.busy_cycles / cycles}
                          for link in busiest if link.flits]}


def _errors(flit: Any, transfer: Any, traffic: Traffic) -> dict[str, float]:
    """How far the transfers are from the flits: of the end, of the mean latency, and of each packet's latency on average."""
    own, other = _latency(flit, traffic), _latency(transfer, traffic)
    return {"completion": (transfer.cycles - flit.cycles) / max(1, flit.cycles),
            "mean_latency": float((other.mean() - own.mean()) / own.mean()),
            "packet_latency_mean_absolute": float((np.abs(other - own) / own).mean())}


def _text(network: Network, figures: dict[str, Any]) -> str:
    lines = [f"{network.name}: {network.description}", f"  {figures['packets']:,} packets, flits of {network.flit_bytes} B"]
    for model in (NetworkModel.FLIT, NetworkModel.TRANSFER):
        f = figures.get(model.value)
        if f is None:
            continue
        told = f["latency_cycles"]
        lines += [
            f"  {model.value} by {model.value}: the last tail arrives in cycle {f['completion_cycle']:,} "
            f"({human_time(f['time_s'])})",
            f"    latency in cycles: {told['mean']:,.1f} mean, {told['p50']:,} median, {told['p99']:,} 99 %, {told['max']:,} "
            f"most; {f['network_latency_mean']:,.1f} mean from the head's leaving on",
            f"    {f['accepted_flits_per_node_cycle']:.3f} flits arrive per node and cycle, {f['delivered_flits']:,} in all; "
            f"links carry {human_bytes(f['link_bytes'])}",
            *(f"    {'busiest links' if not place else '':<13} {link['link']:<14} {human_bytes(link['bytes']):>10}  "
              f"{link['busy_share']:>6.1%} busy" for place, link in enumerate(f["busiest_links"]))]
    error = figures.get("transfer_against_flit")
    if error is not None:
        lines.append(f"  transfers against flits: end {error['completion']:+.1%}, mean latency {error['mean_latency']:+.1%}, a "
                     f"packet's latency {error['packet_latency_mean_absolute']:.1%} apart on average")
    return "\n".join(lines)


# -- sweeps -----------------------------------------------------------------------------------------------------------


def load_sweep(name: str, text: str, overrides: tuple[str, ...], loads: str, warm_up: int, window: int, as_json: bool) -> int:
    """Run a pattern at several loads and show latency and throughput."""
    network = read_network(name, overrides)
    offered = _loads(loads)
    pattern = parse_pattern(text)
    if pattern.name in {"incast", "scatter", "all2all", "multicast", "reduce"} or pattern.load is not None:
        raise SpecError([Fault(text, 0, 0, "", "a load sweep wants a pattern that takes a load, and gives it one",
                               "uniform:flits=8, transpose, tornado, neighbor, shift, hotspot, without load=")])
    with compiling():
        from accelsim.machine.noc_load import sweep
    points = []
    with Progress() as told:
        for point in sweep(network, pattern, offered, warm_up=warm_up, window=window):
            points.append(point)
            told.tell("loads", len(points), len(offered))
    if as_json:
        print(results.to_text({"schema": SCHEMA, "network": network.name, "pattern": text, "warm_up_cycles": warm_up,
                               "window_cycles": window, "points": [vars(point) for point in points]}))
        return 0
    print(f"{network.name}: {text} over the load, in flits per node and cycle; latency in cycles\n"
          f"  {'load':>6} {'offered':>8} {'accepted':>8} {'mean':>9} {'median':>7} {'99 %':>7} {'most':>7}")
    for point in points:
        told_ = [f"{point.latency_mean:>9,.1f}"] if point.latency_mean is not None else [f"{'-':>9}"]
        told_ += [f"{'-' if value is None else format(value, ','):>7}"
                  for value in (point.latency_p50, point.latency_p99, point.latency_max)]
        print(f"  {point.load:>6.3f} {point.offered:>8.4f} {point.accepted:>8.4f} {' '.join(told_)}"
              f"{'  saturated' if point.saturated else ''}")
    return 0


def _loads(text: str) -> list[float]:
    """Loads as '0.1,0.2' or as 'first:last:step'."""
    parts = text.split(":")
    found: list[float] = []
    if len(parts) == 3 and all(re.fullmatch(_NUMBER, part) and part for part in parts):
        first, last, step = map(float, parts)
        if step > 0 and (last - first) / step < _MOST_LOADS:
            found = [round(first + i * step, 6) for i in range(int((last - first) / step + 1e-9) + 1)]
    elif len(parts) == 1 and all(re.fullmatch(_NUMBER, part.strip()) and part.strip() for part in text.split(",")):
        found = [float(part.strip()) for part in text.split(",")]
    if not found or len(found) > _MOST_LOADS or not all(0 < load <= 1 for load in found):
        raise SpecError([Fault("--load-sweep", 0, 0, text, "not loads", f"0.1,0.2,0.4 or 0.1:0.8:0.1, above 0 and up to 1, "
                               f"{_MOST_LOADS} at most")])
    return found
