"""Timeloop: words that each level and tensor moves, and cycles. Its conventions in our words: validation/timeloop/README.md."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import prod
from typing import Any

from accelsim.compare.checks import Part, Row
from accelsim.compare.references import folder_of
from accelsim.compare.running import Ran, Written, entry, read_case, run
from accelsim.drivers import Driver
from accelsim.importers.timeloop_chip import chip_text, link_name
from accelsim.importers.timeloop_stores import Architecture, Rates, Spread, Store
from accelsim.spec.case import Case
from accelsim.spec.mapping import Mapping
from accelsim.spec.yamlfile import read_yaml

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


def chip(told: Told, lockstep: bool, limited: bool) -> Written:
    """The chip that the importer makes of such levels."""
    above: Told = {"instances": 1, "mesh_x": 1}
    stores = []
    for number, one in enumerate(told["levels"]):
        attributes = one.get("attributes", {})
        x = one["mesh_x"] // above["mesh_x"]
        y, above = one["instances"] // above["instances"] // x, one
        words = attributes["depth"] * attributes.get("block_size", 1) if "depth" in attributes else None
        rates = [attributes.get(f"{what}_bandwidth") for what in ("read", "write", "shared")] if limited else [None] * 3
        stores.append(Store(one["name"], number == 0, (Spread((), x, y),), words, 2 if words is None else 1,
                            Rates(*(None if rate is None else Fraction(str(rate)) for rate in rates))))
    whole = Architecture("timeloop", tuple(stores), "PE", (), 8)
    text = chip_text(whole, {name: name for name in told["tensors"]}, told["output"], lockstep=lockstep)
    made: Written = read_yaml(text, "chip").value
    return made


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
            across = {"fill": 0, "drain": 0} if moved is None else {"fill": moved.fill_bytes + moved.refill_bytes,
                                                                    "drain": moved.drain_bytes}
            for what, way in (("reads", "fill"), ("updates", "drain")):  # of all instances, where no link is between the two
                found[outer, tensor.name][what] += timeline.link_bytes.get(link_name(outer, inner, tensor.name, way), across[way])
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
