"""Timeloop: words that each level and tensor moves, and cycles. Its conventions in our words: validation/timeloop/README.md."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from math import prod
from typing import Any

from accelsim.compare.checks import Part, Row
from accelsim.compare.references import folder_of
from accelsim.compare.running import Ran, entry, read_case, run
from accelsim.drivers import Driver
from accelsim.spec.case import Case
from accelsim.spec.mapping import Mapping

NAME = "timeloop"
THROTTLED = ("bw_dram_r1", "bw_dram_r025", "bw_dram_w01", "bw_dram_sh", "bw_buf_r2", "ovl_single_tile")
"""Cases with bandwidths whose ports mean the same in both; of the others the README tells."""

Told = dict[str, Any]
Counts = dict[tuple[str, str], dict[str, float]]


def cases() -> list[Told]:
    """The table."""
    found: list[Told] = json.loads((folder_of(NAME) / "cases.json").read_text(encoding="utf-8"))["cases"]
    return found


def build(told: Told, *, lockstep: bool, limited: bool = False) -> Case:
    """The same case on a chip of ours: words of one byte, one MAC in each innermost instance.

    ``lockstep``: innermost instances run as one. ``limited``: with Timeloop's bandwidths. Raises DoesNotFit.
    """
    operator = {"name": "case", "dims": told["dims"], "tensors": told["tensors"], "output": told["output"], "dtype": "int8",
                "accumulator": "int8"}
    mapping = Mapping(tuple(entry(one["level"], _loops(one["temporal"]), " ".join(one["keep"]),
                                  **{axis: _loops(one[axis]) for axis in "xy" if one[axis]}) for one in told["mapping"]))
    return read_case(chip(told, lockstep, limited), {"name": "case", "operators": [operator]}, mapping)


def _loops(pairs: Sequence[tuple[str, int]]) -> str:
    return " ".join(f"{dim}:{bound}" for dim, bound in pairs)


def chip(told: Told, lockstep: bool, limited: bool) -> Told:
    """A chip file. Each tensor has links of its own inward and outward, so that the bytes over them are what the outer level
    reads for (or is updated by) all inner instances: multicast once, reduced before it arrives.
    """
    names = [one["name"] for one in told["levels"]]
    levels = []
    for number, one in enumerate(told["levels"]):
        attributes = one.get("attributes", {})
        grid = _grid(one, told["levels"][number - 1] if number else None)
        room = attributes["depth"] * attributes.get("block_size", 1) if "depth" in attributes else None
        level = {"name": one["name"], "kind": "sram" if number else "dram", "bandwidth": "unlimited",
                 "capacity": "unlimited" if room is None else f"{room} B", "buffers": 2 if room is None else 1,
                 "ports": _ports(attributes if limited else {})}
        if grid:
            level |= {"instances": grid, "lockstep": lockstep and number == len(names) - 1}
        levels.append(level)
    array = {"name": "PE", "array": {"model": "spatial", "pes": {}, "registers": 1, "lockstep": lockstep}}
    links = [{"name": link_name(outer, inner, tensor, way), "from": outer, "to": inner, "tensors": [tensor], "serves": [way],
              "bandwidth": "unlimited", "multicast": "equal", "reduce": way == "drain"}
             for tensor in told["tensors"] for i, outer in enumerate(names) for inner in (*names[i + 1:], "PE")
             for way in ("fill", "drain")]
    return {"name": "timeloop", "description": told["id"], "clock": "1 GHz", "levels": [*levels, array], "links": links}


def link_name(outer: str, inner: str, tensor: str, way: str) -> str:
    """The link of a tensor between two levels, one way."""
    return f"{outer}-{inner}-{tensor}-{way}"


def _grid(one: Told, above: Told | None) -> dict[str, int]:
    """Instances along x and y for each instance of the level above."""
    if above is None or one["instances"] == above["instances"]:
        return {}
    x = one["mesh_x"] // above["mesh_x"]
    return {"x": x, "y": one["instances"] // above["instances"] // x}


def _ports(attributes: Told) -> list[Told]:
    """Words are bytes: what Timeloop calls reading serves fills outward and the array's reads, writing the rest."""

    def port(name: str, key: str, serves: list[str]) -> Told:
        return {"name": name, "serves": serves, "bandwidth": f"{attributes[key]} B/cycle" if key in attributes else "unlimited"}

    if "shared_bandwidth" in attributes:
        return [port("port", "shared_bandwidth", ["fill", "drain", "array_read", "array_write"])]
    return [port("read", "read_bandwidth", ["fill", "array_read"]), port("write", "write_bandwidth", ["drain", "array_write"])]


def counted(ran: Ran) -> Counts:
    """Our traffic in Timeloop's words: totals over all instances of each level."""
    case, timeline = ran.case, ran.timeline
    names, output = case.chip.names, case.operator.output.name
    found: Counts = {(names[place], tensor.name): {"reads": 0, "fills": 0, "updates": 0}
                     for tensor in case.operator.tensors for place in case.paths[tensor.name]}
    for tensor in case.operator.tensors:
        path = [names[place] for place in case.paths[tensor.name]]
        for outer, inner in pairwise(path):
            moved = timeline.traffic.get((inner, tensor.name))
            if moved is not None:
                found[inner, tensor.name]["fills"] += moved.fill_bytes + moved.refill_bytes
            for what, way in (("reads", "fill"), ("updates", "drain")):
                found[outer, tensor.name][what] += timeline.link_bytes.get(link_name(outer, inner, tensor.name, way), 0)
        taken = timeline.traffic.get((path[-1], tensor.name))
        if taken is not None:
            found[path[-1], tensor.name]["reads"] += taken.array_read_bytes
            found[path[-1], tensor.name]["updates"] += taken.array_write_bytes if tensor.name == output else 0
    return found


def wanted(told: Told, case: Case) -> Counts:
    """Timeloop's counts over all instances; old partial sums go to one of the instances that reduce, not to each."""
    found = {}
    for name, tensors in told["counts"].items():
        place = case.chip.names.index(name)
        for tensor, count in tensors.items():
            total = {key: count[key] * count["instances"] for key in ("reads", "fills", "updates")}
            if tensor == told["output"]:
                total["fills"] /= prod(loop.bound for loop in case.nest.spatial_above(place) if case.reduces(loop))
            found[name, tensor] = total
    return found


def _traffic(check: str, told: Told, ran: Ran) -> Iterator[Row]:
    """A row for each count; one that only one side has is compared with none."""
    ours, theirs = counted(ran), wanted(told, ran.case)
    none = {"reads": 0, "fills": 0, "updates": 0}
    for level, tensor in {**theirs, **ours}:
        one, other = ours.get((level, tensor), none), theirs.get((level, tensor), none)
        yield from (Row(check, f"{told['id']} {level} {tensor} {what}", one[what], other[what]) for what in none)


def compare(told: Told, driver: Driver = Driver.COMPILED) -> Iterator[Row]:
    """A case and what comes of it here."""
    ran = run(build(told, lockstep=True), driver)
    yield Row("MACs", told["id"], ran.report.macs, told["macs"])
    yield from _traffic("words moved", told, ran)
    attributes = [key for one in told["levels"] for key in one.get("attributes", {})]
    if not any("bandwidth" in key or "latency" in key for key in attributes):
        yield Row("cycles, unlimited", told["id"], ran.cycles, told["cycles"])
    if told["levels"][-1]["instances"] > 1 and set(told["mapping"][-1]["keep"]) == set(told["tensors"]):
        yield from _traffic("words moved, instances apart", told, run(build(told, lockstep=False), driver))
    if told["id"] in THROTTLED:
        yield Row("cycles, throttled", told["id"], run(build(told, lockstep=True, limited=True), driver).cycles, told["cycles"])


def parts() -> Sequence[Part]:
    """Every case with counts."""
    return [partial(compare, told) for told in cases() if "counts" in told]
