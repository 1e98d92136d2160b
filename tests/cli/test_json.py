"""Is every key of the JSON documented, with the unit of its metric, and is the schema of the design kept?"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from accelsim.measure.metrics import METRICS
from accelsim.stalls import Phase, StallCause
from accelsim.version import SCHEMA_VERSION

from .command import accelsim

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "json.md"
NAMED = {  # objects whose keys are names: what stands for them on the page
    "operators[].levels": ("LEVEL", "TENSOR"), "operators[].estimate.levels": ("LEVEL", "TENSOR"), "operators[].lanes": ("LANE",),
    "operators[].links": ("LINK",), "operators[].stalls": ("CAUSE_cycles",), "operators[].phases": ("PHASE_cycles",),
    "total.stalls": ("CAUSE_cycles",), "provenance.inputs": ("FILE",), "operators[].mapping.levels[].loops[]": ("DIM",),
    "operators[].mapping.levels[].spatial": ("AXIS",), "operators[].mapping.levels[].spatial.AXIS[]": ("DIM",),
    "operators[].mapping.levels[].buffers": ("TENSOR",), "operators[].cache": ("TENSOR",),
    "operators[].roofline.peaks": ("TYPE",),
}


def keys(value: Any, path: str = "", names: tuple[str, ...] = ()) -> Iterator[str]:
    """Paths of all plain values, names replaced by what they stand for."""
    if isinstance(value, dict):
        own = names or NAMED.get(path, ())
        for key, part in value.items():
            yield from keys(part, f"{path}.{own[0] if own else key}".removeprefix("."), own[1:])
    elif isinstance(value, list):
        for part in value:
            yield from keys(part, f"{path}[]")
        if not value:
            yield f"{path}[]"
    else:
        yield path


def documented() -> dict[str, str]:
    """Key and unit of each row of the page's tables."""
    rows = re.findall(r"^\| `([^`]+)` \| ([^|]*) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) == len(dict(rows)), "a key stands twice"
    return {key: unit.strip() for key, unit in rows}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Runs that show everything: two arrays, links, contention, a failure, periods, a check, a cache."""
    folder = tmp_path_factory.mktemp("json")
    work = folder / "work.yaml"
    work.write_text("name: w\noperators:\n  - {name: a, operator: gemm, dims: {m: 40, n: 36, k: 52}, dtype: int8}\n"
                    "  - {name: b, operator: gemm, dims: {m: 512, n: 512, k: 512}, dtype: int8}\n", encoding="utf-8")
    mapping = folder / "mapping.yaml"
    mapping.write_text("operators:\n  b:\n    levels: [{level: ONCHIP, loops: [{m: 512}, {n: 512}, {k: 512}]}]\n"
                       "  a:\n    levels: [{level: DRAM, loops: [{k: 2}, {m: 2}, {n: 2}]}, {level: ONCHIP, buffers: {A: 1}, "
                       "loops: [{m: '*'}, {n: '*'}, {k: '*'}]}, {level: PE, binding: [B], loops: [{m: 8}], "
                       "spatial: {x: [{n: 16}], y: [{k: 16}]}}]\n", encoding="utf-8")
    small = folder / "small.yaml"
    small.write_text("operators:\n  gemm:\n    levels: [{level: DRAM, loops: [{m: 1500}]}, "
                     "{level: SRAM, loops: [{m: 2}, {n: 2}, {k: 2}]}]\n", encoding="utf-8")
    return [accelsim("run", "gemmini", str(work), "--mapping", str(mapping), "--json", code=3).json,
            accelsim("run", "toy", "gemm:m=3000,n=2,k=2", "--mapping", str(small), "--json").json,
            accelsim("run", "toy", "gemm:m=8,n=8,k=8", "--json", "-o", "chip.levels.DRAM.cache=1 KiB").json,
            accelsim("check", "toy", "gemm:m=8,n=8,k=8", "--json", "--tolerance", "1", "-o", "chip.clock=1.5 GHz").json]


def test_every_key_is_on_the_page_and_every_key_of_the_page_is_there(found: list[Any]) -> None:
    seen = {key for one in found for key in keys(one)}
    rows = documented()
    parents = {key for key in seen if key.endswith("[]")}  # lists that happened to be empty
    assert not sorted(seen - rows.keys() - {key for key in parents if any(row.startswith(f"{key}.") for row in rows)})
    listed = {row for row in rows if not row.startswith("operators[].crosscheck.traffic_differences[].")}
    assert not sorted(listed - seen)


def test_units_are_those_of_the_metrics() -> None:
    rows = documented()
    for metric in METRICS:
        for key in (f"operators[].{metric.name}", f"operators[].levels.LEVEL.TENSOR.{metric.name}_bytes"):
            if key in rows:
                assert rows[key] == (metric.unit or "text"), key


def test_units_stand_in_names() -> None:
    for key, unit in documented().items():
        name = key.rpartition(".")[2]
        for ending, meant in (("_cycles", {"cycles", "lane-cycles"}), ("bytes", {"B"}), ("_s", {"s"}), ("_hz", {"Hz"})):
            if name.endswith(ending) and unit not in {"1", "text", "true or false"}:
                assert unit in meant, key


def test_the_keys_of_the_design(found: list[Any]) -> None:
    run = found[0]
    assert run["schema"] == SCHEMA_VERSION
    assert {"chip", "workload", "clock_hz", "operators", "total", "provenance"} <= run.keys()
    good, bad = run["operators"]
    assert {"cycles", "time_s", "utilization", "macs", "stalls", "levels", "phases", "lanes", "links", "bound_by", "advice",
            "mapping", "repeat", "estimate", "crosscheck"} <= good.keys()
    assert bad.keys() == {"name", "operator", "repeat", "error", "exit_code"}
    assert list(good["stalls"]) == sorted(f"{cause.code}_cycles" for cause in StallCause)
    assert set(good["phases"]) <= {f"{phase.code}_cycles" for phase in Phase}
    assert {"accelsim", "results_version", "inputs", "options"} == run["provenance"].keys()


def test_the_numbers_add_up(found: list[Any]) -> None:
    for run in found:
        done = [one for one in run["operators"] if "cycles" in one]
        assert run["total"]["cycles"] == sum(one["cycles"] * one["repeat"] for one in done)
        assert run["total"]["macs"] == sum(one["macs"] * one["repeat"] for one in done)
        for one in done:
            arrays = [lane for lane in one["lanes"].values() if lane["kind"] == "array"]
            assert sum(one["stalls"].values()) == sum(lane["stall_cycles"] for lane in arrays) == sum(one["phases"].values())
            for lane in one["lanes"].values():
                assert lane["busy_cycles"] + lane["stall_cycles"] + lane["idle_cycles"] == one["cycles"]
            check = one["crosscheck"]
            bound = max(part["cycles"] for part in one["estimate"]["bounds"])
            assert bound + sum(part["cycles"] for part in check["waterfall"]) == check["measured_cycles"] == one["cycles"]


def test_keys_are_sorted_and_nothing_else_is_printed() -> None:
    out = accelsim("run", "toy", "gemm:m=8,n=8,k=8", "--json").out
    assert out == json.dumps(json.loads(out), indent=2, sort_keys=True) + "\n"


def test_links_and_channels() -> None:
    """A link's share is its lanes' busy cycles over the run; channels count their bursts, and memories without any are at 0."""
    timed = [f"chip.levels.DRAM.{key}" for key in ("timing=ddr4-2400", "bandwidth=null", "ports=null")]
    asked = ["run", "gemmini", "gemm:m=64,n=64,k=64,dtype=int8", "--json"]
    for overrides in ((), (*timed, "chip.levels.DRAM.granularity=null")):
        (one,) = accelsim(*asked, *(part for text in overrides for part in ("-o", text))).json["operators"]
        assert one["links"]["DMA"]["bytes"] == 3 * 64 * 64
        assert one["links"]["DMA"]["busy_share"] == pytest.approx(one["lanes"]["DMA"]["busy_cycles"] / one["cycles"])
        dram = one["dram"]
        assert dram["row_hits"] + dram["row_misses"] + dram["row_conflicts"] == dram["bursts"]
        assert dram["bytes"] == 64 * dram["bursts"]
        assert (dram["bytes"] >= 3 * 64 * 64) == bool(overrides)
