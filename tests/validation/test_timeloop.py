"""Is the traffic of each level and tensor the one Timeloop counts? Conventions: validation/timeloop/README.md."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import pytest

from accelsim.errors import DoesNotFit
from accelsim.spec.case import Case
from accelsim.spec.chip import Access, Level, Link, Multicast, Port

from ..helpers import Ran, array, chip, custom, entry, level, link, make, run

TABLE = Path(__file__).resolve().parents[2] / "validation" / "timeloop" / "cases.json"
CASES: list[dict[str, Any]] = json.loads(TABLE.read_text(encoding="utf-8"))["cases"]
COUNTED = [case for case in CASES if "counts" in case]


def fanout(one: dict[str, Any], above: dict[str, Any] | None) -> tuple[tuple[str, int], ...]:
    """Instances along x and y for each instance of the level above."""
    if above is None or one["instances"] == above["instances"]:
        return ()
    x = one["mesh_x"] // above["mesh_x"]
    return ("x", x), ("y", one["instances"] // above["instances"] // x)


def ports(attributes: dict[str, Any]) -> tuple[Port, ...]:
    """Words are bytes: what Timeloop calls reading serves fills outward and the array's reads, writing the rest."""

    def rate(key: str) -> Fraction | None:
        return Fraction(str(attributes[key])) if key in attributes else None

    if "shared_bandwidth" in attributes:
        return (Port("port", rate("shared_bandwidth"), frozenset(Access), None),)
    return (
        Port("read", rate("read_bandwidth"), frozenset({Access.FILL, Access.ARRAY_READ}), None),
        Port("write", rate("write_bandwidth"), frozenset({Access.DRAIN, Access.ARRAY_WRITE}), None),
    )


def build(told: dict[str, Any], *, lockstep: bool, limited: bool = False) -> Case:
    """The same case on a chip of ours: words of one byte, one MAC in each innermost instance.

    Each tensor has links of its own inward and outward, so that the bytes over them are what the outer level reads for
    (or is updated by) all inner instances: multicast once, reduced before it arrives.
    """
    levels: list[Level] = []
    for number, one in enumerate(told["levels"]):
        attributes = one.get("attributes", {})
        grid = fanout(one, told["levels"][number - 1] if number else None)
        room = attributes["depth"] * attributes.get("block_size", 1) if "depth" in attributes else None
        last = number == len(told["levels"]) - 1
        levels.append(
            level(
                one["name"],
                ports=ports(attributes if limited else {}),
                fanout=grid,
                lockstep=lockstep and last and bool(grid),
                capacity_bytes=room,
                buffers=(("", 1 if room else 2),),
            )
        )
    names = [one["name"] for one in told["levels"]]
    links: list[Link] = []
    for tensor in told["tensors"]:
        for i, outer in enumerate(names):
            links += [
                link(
                    outer,
                    inner,
                    name=f"{outer} {inner} {tensor} {access.value}",
                    tensors=frozenset({tensor}),
                    accesses=frozenset({access}),
                    multicast=Multicast.EQUAL,
                    reduce=access is Access.DRAIN,
                )
                for inner in (*names[i + 1 :], "PE")
                for access in (Access.FILL, Access.DRAIN)
            ]
    what = custom(told["dims"], told["output"], "int8", "int8", **told["tensors"])
    entries = [
        entry(
            one["level"],
            " ".join(f"{dim}{bound}" for dim, bound in one["temporal"]),
            " ".join(one["keep"]),
            **{axis: " ".join(f"{dim}{bound}" for dim, bound in one[axis]) for axis in "xy" if one[axis]},
        )
        for one in told["mapping"]
    ]
    return make(chip(levels, array(lockstep=lockstep), tuple(links)), what, *entries)


def counts(case: Case, ran: Ran) -> dict[tuple[str, str], dict[str, int]]:
    """Our traffic in Timeloop's words: totals over all instances of each level."""
    names, output = case.chip.names, case.operator.output.name
    found = {
        (names[place], t.name): {"reads": 0, "fills": 0, "updates": 0}
        for t in case.operator.tensors
        for place in case.paths[t.name]
    }
    for t in case.operator.tensors:
        path = [names[place] for place in case.paths[t.name]]
        for outer, inner in pairwise(path):
            moved = ran.timeline.traffic.get((inner, t.name))
            if moved is not None:
                found[inner, t.name]["fills"] += moved.fill_bytes + moved.refill_bytes
            found[outer, t.name]["reads"] += ran.timeline.link_bytes.get(f"{outer} {inner} {t.name} fill", 0)
            found[outer, t.name]["updates"] += ran.timeline.link_bytes.get(f"{outer} {inner} {t.name} drain", 0)
        taken = ran.timeline.traffic.get((path[-1], t.name))
        if taken is not None:
            found[path[-1], t.name]["reads"] += taken.array_read_bytes
            found[path[-1], t.name]["updates"] += taken.array_write_bytes if t.name == output else 0
    return found


def wanted(told: dict[str, Any], case: Case) -> dict[tuple[str, str], dict[str, float]]:
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


@pytest.mark.parametrize("told", COUNTED, ids=lambda told: told["id"])
def test_counts(told: dict[str, Any]) -> None:
    case = build(told, lockstep=True)
    ran = run(case)
    assert ran.machine.macs == told["macs"]
    assert counts(case, ran) == wanted(told, case)


SPATIAL = [
    case for case in COUNTED if case["levels"][-1]["instances"] > 1 and set(case["mapping"][-1]["keep"]) == set(case["tensors"])
]


@pytest.mark.parametrize("told", SPATIAL, ids=lambda told: told["id"])
def test_counts_of_instances_that_run_on_their_own(told: dict[str, Any]) -> None:
    case = build(told, lockstep=False)
    assert counts(case, run(case)) == wanted(told, case)


FREE = [
    case
    for case in COUNTED
    if not any("bandwidth" in key or "latency" in key for one in case["levels"] for key in one.get("attributes", {}))
]


@pytest.mark.parametrize("told", FREE, ids=lambda told: told["id"])
def test_compute_cycles(told: dict[str, Any]) -> None:
    """Nothing is limited: as many cycles as each MAC unit has MACs."""
    assert run(build(told, lockstep=True)).cycles == told["cycles"]


THROTTLED = [
    case
    for case in COUNTED
    if case["id"] in ("bw_dram_r1", "bw_dram_r025", "bw_dram_w01", "bw_dram_sh", "bw_buf_r2", "ovl_single_tile")
]


@pytest.mark.parametrize("told", THROTTLED, ids=lambda told: told["id"])
def test_throttled_cycles_are_a_lower_bound(told: dict[str, Any]) -> None:
    """Timeloop overlaps everything, from the first cycle to the last: no run is quicker."""
    assert run(build(told, lockstep=True, limited=True)).cycles >= told["cycles"]


def test_one_tile_with_one_buffer_overlaps_nothing() -> None:
    """32 words in, 64 MACs, 16 words out at one word per cycle: 112, where Timeloop says 64."""
    told = next(case for case in CASES if case["id"] == "ovl_single_tile")
    assert run(build(told, lockstep=True, limited=True)).cycles == 112


@pytest.mark.parametrize(("name", "fits"), [("cap_ok", True), ("cap_fail", False)])
def test_capacity(name: str, fits: bool) -> None:
    """Three tiles of four words need 12 words in one slot each; 11 are refused."""
    told = next(case for case in CASES if case["id"] == name)
    if fits:
        build(told, lockstep=True)
        return
    with pytest.raises(DoesNotFit, match="need 12 B, 11 B available"):
        build(told, lockstep=True)
