"""Are the frames of a run the numbers of its JSON and of its CSV, and do rows add up to what they are parts of?"""

from __future__ import annotations

import csv
from io import StringIO

import pytest

from accelsim.measure.report import RunReport
from accelsim.outputs.results import run_json
from accelsim.outputs.table import to_csv
from accelsim.stalls import StallCause
from accelsim.timeline import LaneKind
from accelsim.verbs import Finished, Options, run

WORKLOAD = """
name: three
operators:
  - {name: small, operator: gemm, dims: {m: 4, n: 4, k: 4}, dtype: fp32, repeat: 3}
  - {name: huge, operator: gemm, dims: {m: 4096, n: 4096, k: 4096}, dtype: fp32}
  - {name: large, operator: gemm, dims: {m: 48, n: 40, k: 36}, dtype: fp32}
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """Two operators that run, one of them three times, and one that exceeds the limit of steps."""
    path = tmp_path_factory.mktemp("tables") / "workload.yaml"
    path.write_text(WORKLOAD, encoding="utf-8")
    return run("toy", str(path), Options(most_steps=10_000))


@pytest.fixture(scope="module")
def report(finished: Finished) -> RunReport:
    assert [one.name for one in finished.report.failed] == ["huge"]
    return finished.report


def test_operators_are_those_of_the_csv_but_for_its_total(report: RunReport) -> None:
    told = list(csv.reader(StringIO(to_csv(report))))
    own = list(csv.reader(StringIO(report.table.to_csv())))
    assert own == told[:-1]
    assert told[-1][0] == "total"
    assert told[-1][3] == str(report.cycles)


def test_operators_are_those_of_the_json(report: RunReport) -> None:
    rows = report.to_polars().rows(named=True)
    for row, one in zip(rows, run_json(report)["operators"], strict=True):
        assert (row["name"], row["operator"], row["repeat"]) == (one["name"], one["operator"], one["repeat"])
        if "error" in one:
            assert row["status"] == "failed"
            assert {value for key, value in row.items() if key not in {"name", "operator", "repeat", "status"}} == {None}
            continue
        assert row["estimated_cycles"] == one["estimate"]["cycles"]
        assert {key: row[key] for key in ("cycles", "time_s", "utilization", "macs", "bound_by")} == {
            key: one[key] for key in ("cycles", "time_s", "utilization", "macs", "bound_by")}
        assert {f"{cause.code}_cycles": row[f"{cause.code}_cycles"] for cause in StallCause} == one["stalls"]


def test_a_tile_by_hand(report: RunReport) -> None:
    """A in 0-116, B 16-132, compute 132-196, C out 196-312: 312 cycles, of which the array is busy 64."""
    small = report.to_pandas().set_index("name").loc["small"]
    assert (small["cycles"], small["macs"], small["repeat"], small["status"]) == (312, 64, 3, "ok")
    stalls = [row[2:] for row in report.tables.stalls.rows if row[0] == "small"]
    assert sum(row[2] for row in stalls if row[1] == "start") == 132
    assert sum(row[2] for row in stalls if row[1] == "finish") == 312 - 196
    assert ("dram_latency", "finish", 100) in stalls
    moved = {row[2:5]: row[5:] for row in report.tables.traffic.rows if row[0] == "small"}
    assert moved["SRAM", "A", "fill"] == moved["SRAM", "B", "fill"] == moved["SRAM", "C", "drain"] == (64, 64)
    assert moved["SRAM", "C", "refill"] == (0, 0)
    assert moved["SRAM", "A", "waste"] == (0, None)


def test_stalls_add_up_to_those_of_each_operator_and_phase(report: RunReport) -> None:
    frame = report.tables.stalls.to_pandas()
    for one in report.done:
        own = frame[frame["name"] == one.name]
        assert own.groupby("cause")["lane_cycles"].sum().to_dict() == {cause.code: cycles for cause, cycles in one.stalls.items()}
        assert own.groupby("phase")["lane_cycles"].sum().to_dict() == {phase.code: cycles for phase, cycles in one.phases.items()}


def test_traffic_and_lanes_and_bounds_are_those_of_the_json(report: RunReport) -> None:
    tables = report.tables
    done = [one for one in run_json(report)["operators"] if "error" not in one]
    assert {tuple(row[i] for i in (0, 2, 3, 4)): row[5] for row in tables.traffic.rows} == {
        (one["name"], level, tensor, key.removesuffix("_bytes")): size for one in done
        for level, tensors in one["levels"].items() for tensor, sizes in tensors.items() for key, size in sizes.items()}
    assert {tuple(row[i] for i in (0, 2, 3, 4)): row[6] for row in tables.traffic.rows if row[4] != "waste"} == {
        (one["name"], level, tensor, key.removesuffix("_bytes")): size for one in done
        for level, tensors in one["estimate"]["levels"].items() for tensor, sizes in tensors.items()
        for key, size in sizes.items()}
    assert [(row[0], row[2], *row[5:]) for row in tables.lanes.rows] == [
        (one["name"], lane, own["busy_cycles"], own["stall_cycles"], own["idle_cycles"]) for one in done
        for lane, own in one["lanes"].items()]
    assert [(row[0], row[2], row[4]) for row in tables.bounds.rows] == [
        (one["name"], bound["name"], bound["cycles"]) for one in done for bound in one["estimate"]["bounds"]]


def test_the_rows_of_a_timeline_add_up_to_its_totals(finished: Finished) -> None:
    timeline = finished.timelines[2]
    assert timeline is not None
    assert timeline.rows_dropped == 0
    frame = timeline.to_pandas()
    frame["cycles"] = frame["end_cycle"] - frame["start_cycle"]
    for number, lane in enumerate(timeline.lanes):
        own = frame[frame["lane"] == lane.name]
        assert own[own["state"] == "busy"]["cycles"].sum() == timeline.busy_cycles(number)
        assert own[own["state"] == "busy"]["phase"].isna().all()
        waited = own[own["state"] != "busy"]["cycles"].sum()
        assert waited == sum(timeline.stall_cycles(number).values())
        assert (waited > 0) == (lane.kind is LaneKind.ARRAY)
    assert set(frame[frame["kind"] == "port"]["tensor"]) == {"A", "B", "C"}


def test_types_of_a_run(report: RunReport) -> None:
    """An operator that did not run makes its numbers missing, not floats."""
    types = {name: str(one) for name, one in report.to_pandas().dtypes.items()}
    assert types["repeat"] == "int64"
    assert types["cycles"] == types["macs"] == types["dram_latency_cycles"] == "Int64"
    assert types["time_s"] == types["utilization"] == "Float64"
    ran = {name: str(one) for name, one in report.done[0].to_pandas().dtypes.items()}
    assert ran["cycles"] == "int64"


def test_a_difference_has_a_row_for_each_part_and_adds_up(finished: Finished) -> None:
    slow = run("toy", "gemm:m=4,n=4,k=4", Options(overrides=("chip.levels.DRAM.latency=200 cycles",)))
    fast = run("toy", "gemm:m=4,n=4,k=4")
    frame = fast.diff(slow).to_pandas()
    assert frame["a_cycles"].sum() == 312
    assert frame["b_cycles"].sum() == 312 + 100 + 100
    assert frame.set_index("part")["delta_cycles"].to_dict() == {
        "busy": 0, "dram_bandwidth": 0, "dram_latency": 200, "contention": 0}
    assert (finished.diff(finished).to_pandas()["delta_cycles"] == 0).all()
