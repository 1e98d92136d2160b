"""A case as the files a user would have written, and the command that runs them: a counter-example to keep and to run.

The files hold all that decides how a case runs. Two things in them may differ from the case, and no cycle depends on
either: an operator is written as one's own, by its index forms, whatever kind it was declared as; and a rate that is no
decimal number of bytes per cycle (7/3) is given per second of a clock at which it is one. What is only told about a chip
(sources, models, omits, and which dataflows write its mappings) is left out.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from math import lcm
from typing import Any

from accelsim.spec.case import Case
from accelsim.spec.chip import Access, Array, Chip, Level, Link, Memory
from accelsim.spec.dram import Dram
from accelsim.spec.network import Kind, Network
from accelsim.spec.operator import Operator, Role
from accelsim.spec.read import read_memory, shipped
from accelsim.units import Rate, format_bytes, format_frequency

COMMAND = "accelsim run chip.yaml workload.yaml --mapping mapping.yaml"
DEFAULTS = {  # what a key means that is left out, wherever it stands
    "accumulate": False,
    "depth": "0 cycles",
    "granularity": "1 B",
    "latency": "0 cycles",
    "least": "0 cycles",
    "lockstep": False,
    "multicast": "none",
    "per_instance": False,
    "reduce": False,
    "repeat": 1,
    "setup": "0 cycles",
}
WIDTH = 120
PLAIN = re.compile(r"(?!(?:null|true|false|\d[\d.eE+-]*)$)[A-Za-z0-9_][\w+*/. -]*")
RateText = Callable[[Fraction | None], str]


def as_files(case: Case) -> dict[str, str]:
    """File names and texts: chip, workload, mapping, and the command line that runs them where they lie."""
    return {
        "chip.yaml": chip_text(case.chip),
        **{network_file(link): network_text(link.network.network, clock_of(case.chip) / case.chip.clock_hz)
           for link in case.chip.links if link.network is not None},
        "workload.yaml": text_of({"name": "case", "operators": [own_operator(case.operator)]}),
        "mapping.yaml": case.mapping.to_yaml(),
        "run.sh": f"{COMMAND}\n",
    }


# -- chip -----------------------------------------------------------------------------------------------------------


def clock_of(chip: Chip) -> Fraction:
    """A clock at which every rate is a decimal number: its own if they are per cycle."""
    whole = lcm(*(beyond_decimal(rate) for rate in rates_of(chip)))
    return chip.clock_hz if whole == 1 else Fraction(whole * 10**6)


def chip_text(chip: Chip) -> str:
    clock = clock_of(chip)

    def rate_text(rate: Fraction | None) -> str:
        if rate is None:
            return "unlimited"
        return (Rate(rate, "cycle") if beyond_decimal(rate) == 1 else Rate(rate * clock, "second")).format()

    why = "# At this clock every rate can be written as a decimal number; no cycle depends on it.\n"
    why = "" if clock == chip.clock_hz else why
    return why + text_of(
        {
            "name": chip.name,
            "description": chip.description,
            "clock": format_frequency(clock),
            **({"launch": time_text(chip.launch_cycles)} if chip.launch_cycles else {}),
            "levels": [
                *(level_entry(level, rate_text) for level in chip.levels),
                {"name": chip.array.name, "array": array_entry(chip.array, rate_text)},
            ],
            "links": [link_entry(link, rate_text) for link in chip.links],
        }
    )


def rates_of(chip: Chip) -> Iterable[Fraction]:
    """Every limited rate of the chip."""
    ports = (port.rate for level in chip.levels for memory in level.memories for port in memory.ports)
    rates = (*ports, *(link.rate for link in chip.links if link.network is None), chip.array.preload, chip.array.results)
    return (rate for rate in rates if rate is not None)


def beyond_decimal(rate: Fraction) -> int:
    """What a number must be multiplied by to end after some decimal places: 3 for 7/6, 1 for 7/20."""
    rest = rate.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest


def level_entry(level: Level, rate_text: RateText) -> dict[str, Any]:
    memories = [memory_entry(memory, rate_text) for memory in level.memories]
    in_place = [memory["name"] for memory in memories] == [level.name]
    found = memories[0] if in_place else {"name": level.name, "memories": memories}
    return found | stated({"instances": dict(level.fanout) or None, "lockstep": level.lockstep})


def timing_name(dram: Dram) -> str:
    """The shipped technology, if it is one."""
    return next((name for name in shipped("memories") if read_memory(name) == dram), dram.name)


def memory_entry(memory: Memory, rate_text: RateText) -> dict[str, Any]:
    """Ports that are as fast as the first one leave their rate to the memory's bandwidth."""
    first, buffers = memory.ports[0].rate, dict(memory.buffers)
    ports = [
        stated(
            {
                "name": port.name,
                "serves": words(port.accesses),
                "tensors": names(port.tensors),
                "bandwidth": None if port.rate == first else rate_text(port.rate),
            }
        )
        for port in memory.ports
    ]
    return stated(
        {
            "name": memory.name,
            "kind": memory.kind.value,
            "capacity": "unlimited" if memory.capacity_bytes is None else format_bytes(memory.capacity_bytes),
            "bandwidth": None if memory.dram else rate_text(first),
            "timing": timing_name(memory.dram) if memory.dram else None,
            "layout": "tiles" if memory.tiled else None,
            "latency": time_text(memory.beyond_cycles if memory.dram else memory.latency_cycles),
            "granularity": size_text(memory.granularity_bytes),
            "bridge": size_text(memory.bridge_bytes) if memory.bridge_bytes else None,
            "ports": None if memory.dram else ports,
            "buffers": buffers.get("", buffers),
            "banks": memory.banks if memory.banked is None else memory.banked.count,
            **banks_entry(memory),
            "accumulate": memory.accumulate,
            "cache": None if memory.cache_bytes is None else size_text(memory.cache_bytes),
            "follows": names(memory.follows) if memory.follows else None,
            "serves": names(memory.tensors),
        }
    )


def banks_entry(memory: Memory) -> dict[str, Any]:
    """What is said of banks that are simulated. They take a size; one that does not matter is given where there is none."""
    banks = memory.banked
    if banks is None:
        return {}
    return {
        **({"capacity": "1 PiB"} if memory.capacity_bytes is None else {}),
        "bank_width": size_text(banks.width_bytes),
        "bank_ports": str(banks.ports),
        "interleave": "bank" if memory.banks is not None else size_text(banks.grain_words * banks.width_bytes),
    }


def array_entry(array: Array, rate_text: RateText) -> dict[str, Any]:
    interval = {name: time_text(cycles) for name, cycles in array.intervals}
    return stated(
        {
            "model": array.model.value,
            "pes": dict(array.pes),
            "interval": interval.get("", interval),
            "depth": time_text(array.depth_cycles),
            "least": time_text(array.least_cycles),
            "registers": array.registers,
            "serves": names(array.tensors),
            "buffers": array.buffers,
            "preload": "row" if array.preload_row else rate_text(array.preload),
            "results": rate_text(array.results),
            "instances": dict(array.fanout) or None,
            "lockstep": array.lockstep,
        }
    )


def network_file(link: Link) -> str:
    return f"network-{link.name}.yaml"


def network_text(network: Network, faster: Fraction) -> str:
    """A network as its file, its clock so much faster as the chip's is written."""
    topology, router = network.topology, network.router
    wires = {(wire.latency, wire.flit_cycles) for wire in topology.wires} or {(1, 1)}
    edges = topology.kind is Kind.EDGES
    of_links = {} if edges and len(wires) > 1 else {"link": wire_entry(network, *wires.pop())}
    return text_of(
        {
            "name": network.name,
            "clock": format_frequency(faster / network.cycle_s),
            "flit": size_text(network.flit_bytes),
            "topology": {
                "kind": topology.kind.value,
                "sizes": list(topology.sizes),
                **(edge_list(network) if edges else {}),
            },
            **of_links,
            "endpoint": wire_entry(network, network.endpoint_latency, network.endpoint_flit_cycles),
            "router": {key: time_text(value) if key in {"routing", "traversal", "combine"} else value
                       for key, value in vars(router).items()},
        }
    )


def wire_entry(network: Network, latency: int, flit_cycles: int) -> dict[str, Any]:
    return {"latency": time_text(latency), "width": Rate(Fraction(network.flit_bytes, flit_cycles), "cycle").format()}


def edge_list(network: Network) -> dict[str, Any]:
    topology, found = network.topology, []
    both = Counter(wire.edge for wire in topology.wires)
    for number in sorted(both):
        wire = next(wire for wire in topology.wires if wire.edge == number)
        found.append({"from": wire.source, "to": wire.target, **wire_entry(network, wire.latency, wire.flit_cycles),
                      **({"one_way": True} if both[number] == 1 else {})})
    return {"edges": found, "nodes": [router for router, _ in topology.enters]}


def link_entry(link: Link, rate_text: RateText) -> dict[str, Any]:
    own: dict[str, Any] = {
        "bandwidth": rate_text(link.rate),
        "latency": time_text(link.latency_cycles),
        "granularity": size_text(link.granularity_bytes),
    }
    if link.network is not None:  # which says these itself
        own = {
            "network": network_file(link),
            "outer_node": link.network.outer_node,
            "inner_nodes": list(link.network.inner_nodes),
        }
    return stated(
        {
            "name": link.name,
            "from": link.outer,
            "to": link.inner,
            "tensors": names(link.tensors),
            "serves": words(link.accesses),
            **own,
            "setup": time_text(link.setup_cycles),
            "chunk": size_text(link.chunk_bytes),
            "request": size_text(link.request_bytes),
            "outstanding": link.outstanding,
            "multicast": link.multicast.value,
            "reduce": link.reduce,
            "per_instance": link.per_instance,
        }
    )


def stated(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry without what is not set, and without defaults: a long file hides what matters."""
    return {key: value for key, value in entry.items() if value != DEFAULTS.get(key)}


def words(accesses: frozenset[Access]) -> list[str]:
    return [access.value for access in Access if access in accesses]


def names(tensors: frozenset[str] | None) -> list[str] | None:
    return None if tensors is None else sorted(tensors)


def time_text(cycles: int) -> str:
    return f"{cycles} cycles"


def size_text(size_bytes: int | None) -> str | None:
    return None if size_bytes is None else format_bytes(size_bytes)


# -- workload -------------------------------------------------------------------------------------------------------


def own_operator(operator: Operator) -> dict[str, Any]:
    tensors = operator.tensors
    return stated(
        {
            "name": operator.name,
            "dims": dict(operator.dims),
            "tensors": {tensor.name: [str(axis.form) for axis in tensor.axes] for tensor in tensors},
            "shapes": {tensor.name: [axis.extent for axis in tensor.axes] for tensor in tensors},
            "roles": {tensor.name: tensor.role.value for tensor in tensors if tensor.role is Role.WEIGHT} or None,
            "output": operator.output.name,
            "dtype": {tensor.name: tensor.dtype.name for tensor in tensors},
            "accumulator": operator.accumulator.name,
            "repeat": operator.repeat,
        }
    )


# -- text -----------------------------------------------------------------------------------------------------------


def text_of(value: dict[str, Any]) -> str:
    """Plain data as a file: what is short stands in one line, the rest a key or an item a line."""
    return "\n".join(lines_of(value)) + "\n"


def lines_of(value: dict[str, Any] | list[Any], indent: str = "") -> list[str]:
    if isinstance(value, dict):
        pairs = [(f"{in_line(key)}:", item) for key, item in value.items()]
    else:
        pairs = [("-", item) for item in value]
    found = []
    for head, item in pairs:
        line = f"{indent}{head} {in_line(item)}"
        if len(line) <= WIDTH or not isinstance(item, dict | list):
            found.append(line)
            continue
        inner = lines_of(item, f"{indent}  ")
        found += [f"{indent}- {inner[0].lstrip()}", *inner[1:]] if head == "-" else [f"{indent}{head}", *inner]
    return found


def in_line(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{in_line(key)}: {in_line(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(in_line, value))}]"
    return value if isinstance(value, str) and PLAIN.fullmatch(value) else json.dumps(value)
