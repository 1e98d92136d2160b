"""list, explain, schema: what there is and what it means, from the tables that the code itself uses."""

from __future__ import annotations

import json

from accelsim.analytic.auto import AUTO
from accelsim.cli.chip_words import chip_lines
from accelsim.errors import Fault, SpecError, nearest
from accelsim.importers.table import IMPORTERS
from accelsim.measure.metrics import METRICS
from accelsim.outputs.formats import FORMATS
from accelsim.spec.dataflows import DATAFLOWS
from accelsim.spec.operators import OPERATOR_KINDS
from accelsim.spec.read import read_chip, read_memory, read_network, read_workload, shipped
from accelsim.spec.schemas import SCHEMAS, file_schema
from accelsim.stalls import Phase, StallCause
from accelsim.units import format_bytes, human_time

LISTS = ("chips", "memories", "networks", "workloads", "dataflows", "operators", "metrics", "stalls", "formats")


def list_words(what: str) -> int:
    """Print one of the lists: a name and a sentence a line."""
    rows: list[tuple[str, str]] = []
    if what == "chips":
        rows = [(name, read_chip(name).description) for name in shipped("chips")]
    elif what == "memories":
        rows = [(name, read_memory(name).description) for name in shipped("memories")]
    elif what == "networks":
        rows = [(name, read_network(name).description) for name in shipped("networks")]
    elif what == "workloads":
        rows = [(name, read_workload(name).description) for name in shipped("workloads")]
    elif what == "dataflows":
        rows = [("auto", "each that the chip can run, the one with the fewest estimated cycles (default)"),
                *((dataflow.name, dataflow.describe) for dataflow in DATAFLOWS)]
    elif what == "operators":
        rows = [(kind.word, f"{kind.describe}; dims {' '.join(kind.dims)}") for kind in OPERATOR_KINDS]
    elif what == "metrics":
        rows = [(metric.name, metric.definition) for metric in METRICS]
    elif what == "stalls":
        rows = [(cause.code, cause.sentence) for cause in StallCause]
    elif what == "formats":
        rows = [(form.name, f"{form.option}: {form.describe}") for form in FORMATS]
        rows += [(one.name, f"read: {one.describe}; `accelsim import FILE...`, or as arguments of a run") for one in IMPORTERS]
    else:
        raise bad_word("list", what, list(LISTS))
    width = max(len(name) for name, _ in rows)
    for name, sentence in rows:
        print(f"{name:<{width}}  {sentence}")
    return 0


def explain(name: str) -> int:
    """Print what a name means."""
    word = name.removesuffix("_cycles") if name.removesuffix("_cycles") in {cause.code for cause in StallCause} else name
    metric = next((one for one in METRICS if one.name == word), None)
    cause = next((one for one in StallCause if one.code == word), None)
    phase = next((one for one in Phase if one.code == word), None)
    dataflow = next((one for one in DATAFLOWS if one.name == word), None)
    kind = next((one for one in OPERATOR_KINDS if one.word == word), None)
    if metric is not None:
        print(f"{metric.name} (metric)\n  unit        {metric.unit or 'none'}\n  window      {metric.window or 'none'}\n"
              f"  definition  {metric.definition}\n  identity    {metric.identity or 'none'}")
    elif cause is not None:
        print(f"{cause.code} (stall cause)\n  unit        lane-cycles of the PE array\n  definition  {cause.sentence}\n"
              f"  colour      {cause.colour}\n  identity    sum of stalls = array lanes x cycles - busy - idle")
    elif phase is not None:
        print(f"{phase.code} (phase of a stall)\n  definition  {phase.sentence}")
    elif dataflow is not None:
        print(f"{dataflow.name} (dataflow)\n  {(dataflow.write.__doc__ or '').strip()}")
    elif kind is not None:
        print(f"{kind.word} (operator)\n  {(kind.body.__doc__ or '').strip()}\n  dims {' '.join(kind.dims)}")
    elif word == AUTO:
        print(f"{AUTO} (dataflow, the default)\n  Each named dataflow that the chip can run, with its closed-form tiles; the one "
              "with the fewest estimated cycles,\n  ties by listed order. Tiles are as large as fit, which is not always "
              "fastest: with few large tiles less overlaps.")
    elif word in shipped("workloads"):
        _explain_workload(word)
    elif word in shipped("memories"):
        _explain_memory(word)
    elif word in shipped("networks"):
        _explain_network(word)
    elif word in shipped("chips") or word.endswith((".yaml", ".yml")):
        _explain_chip(word)
    else:
        known = [*(one.name for one in METRICS), *(one.code for one in StallCause), *(one.code for one in Phase),
                 *(one.name for one in DATAFLOWS), *(one.word for one in OPERATOR_KINDS), AUTO,
                 *shipped("chips"), *shipped("memories"), *shipped("networks"), *shipped("workloads")]
        raise bad_word("explain", name, known)
    return 0


def _explain_workload(name: str) -> None:
    workload = read_workload(name)
    print(f"{workload.name} (workload)\n  {workload.description}\n\noperators, in order")
    for one in workload.operators:
        dims = " ".join(f"{dim}={size}" for dim, size in one.dims.items())
        print(f"  {one.name:<24} {one.kind} x {one.repeat}: {dims}; {one.macs:,} MACs each")


def _explain_memory(name: str) -> None:
    memory = read_memory(name)
    counts, controller = memory.counts, memory.controller
    print(f"{memory.name} (memory)\n  {memory.description}\n"
          f"  {format_bytes(memory.capacity_bytes)}, peak {float(memory.peak_bytes_per_s) / 1e9:,.2f} GB/s, a cycle is "
          f"{human_time(memory.cycle_s)}, a burst {memory.burst_bytes} B\n"
          f"  {', '.join(f'{count} {field}' for field, count in counts.items())}, each within the one before\n"
          f"  address, from the highest bits: {' '.join(f'{field}:{bits}' for field, bits in reversed(memory.mapping))}\n"
          f"  controller: {controller.queue} reads and {controller.queue} writes queue, {controller.page.value} page, "
          f"refresh {controller.refresh.value}\n\ntimings in cycles")
    for timing, cycles in vars(memory.timing).items():
        if cycles:
            print(f"  {timing:<9} {cycles:>6,}")


def _explain_network(name: str) -> None:
    network = read_network(name)
    topology, router = network.topology, network.router
    hop = network.hop_cycles()
    ends = 2 * (network.endpoint_latency + network.endpoint_flit_cycles)
    print(f"{network.name} (network)\n  {network.description}\n  {topology.kind.value} {' x '.join(map(str, topology.sizes))}: "
          f"{topology.routers} routers, {len(topology.wires)} links between them, {topology.nodes} nodes; a cycle is "
          f"{human_time(network.cycle_s)}, a flit {network.flit_bytes} B\n"
          f"  a router: {router.vcs} VCs of {router.buffer} flits an input port; routing {router.routing}, VC and switch "
          f"allocation {1 if router.speculative else 2}, traversal {router.traversal} cycles"
          f"{f'; {router.reduction_vcs} of the VCs for reductions' if router.reduction_vcs else ''}")
    wires = sorted({(wire.latency, wire.flit_cycles) for wire in topology.wires})
    for latency, cycles in wires:
        rate = network.flit_bytes / (cycles * network.cycle_s)
        print(f"  links of latency {latency}: {float(rate) / 1e9:,.2f} GB/s, {hop + latency + cycles - 1} cycles a router and "
              "link")
    each = f" + {hop + sum(wires[0]) - 1} n" if len(wires) == 1 else " + the links" if wires else ""
    over = " over n links" if len(wires) == 1 else ""
    print(f"  alone, a packet of L flits{over} arrives after {ends + hop - 1}{each} + L - 1 cycles")


def _explain_chip(name: str) -> None:
    print("\n".join(chip_lines(read_chip(name))))


def schema(what: str) -> int:
    """Print a file's JSON Schema."""
    if what not in SCHEMAS:
        raise bad_word("schema", what, list(SCHEMAS))
    print(json.dumps(file_schema(what), indent=2, sort_keys=True))
    return 0


def bad_word(option: str, word: str, known: list[str]) -> SpecError:
    """A word that is none of the known ones."""
    return SpecError([Fault(option, 0, 0, "", f"nothing named '{word}'", ", ".join(known), nearest(word, known))])
