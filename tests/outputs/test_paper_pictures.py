"""Do the pictures for papers show the report's numbers, to the last digit, and can everything on them be read?"""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from accelsim.measure.ladder import Loss, ladder
from accelsim.measure.report import OperatorReport
from accelsim.measure.roofline import roofline
from accelsim.outputs import paper
from accelsim.outputs.bars import LadderData, draw_ladder, draw_waterfall, ladder_data, waterfall_data
from accelsim.outputs.heat_map import ChannelLoad, NetworkLoad, draw_heat_map, network_load
from accelsim.outputs.labels import Box, Taken, text_box
from accelsim.outputs.level_map import draw_levels, levels_data
from accelsim.outputs.over_time import MOST_BINS, bandwidth_data, draw_bandwidth, draw_utilization, utilization_data
from accelsim.outputs.pictures import draw_stall_bars, draw_timeline
from accelsim.outputs.plotted import Plotted, plotted
from accelsim.outputs.raster_lanes import BUSY, COLOURS, IDLE, Composition, Row, coarsened, compose_totals
from accelsim.outputs.roofline_picture import draw_roofline, roofline_data
from accelsim.outputs.scales import heat_top
from accelsim.outputs.topology_layout import lay_out
from accelsim.spec.network import Topology
from accelsim.spec.read import read_network, shipped
from accelsim.spec.topologies import Edge, from_edges
from accelsim.timeline import TICKS, LaneKind, Timeline
from accelsim.verbs import Finished, Options, run

from .test_pictures import figures, record

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
SINGLE, DOUBLE = 3.5, 7.16
MESH = Options(mapping=str(EXAMPLES / "mesh-mapping.yaml"), overrides=("network.link.width=16 B/cycle",))
TWO = """\
name: two
operators:
  - {name: first, operator: gemm, dims: {m: 4, n: 4, k: 4}, repeat: 3}
  - {name: second, operator: gemm, dims: {m: 8, n: 8, k: 8}}
"""


@pytest.fixture(scope="module")
def tile() -> Finished:
    """DESIGN section 3: A 0-16-116, B 16-32-132, compute 132-196, C drains 196-212-312; 1 GHz."""
    return run("toy", "gemm:m=4,n=4,k=4")


@pytest.fixture(scope="module")
def mesh() -> Finished:
    return run(str(EXAMPLES / "mesh.yaml"), "gemm:m=256,n=256,k=256,dtype=int8", MESH)


@pytest.fixture(scope="module")
def gemmini() -> Finished:
    return run("gemmini", "gemm:m=64,n=64,k=64,dtype=int8")


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    file = tmp_path_factory.mktemp("two") / "two.yaml"
    file.write_text(TWO, encoding="utf-8")
    return run("toy", str(file))


@pytest.fixture(scope="module")
def others() -> list[Finished]:
    """Whose numbers stand at the ends of axes."""
    return [run("a100", "gemm:m=4096,n=4096,k=4096,dtype=fp16"), run("groq-tsp", "gemm:m=320,n=320,k=640,dtype=int8"),
            run("tpu-v3", "gemm:m=1024,n=1024,k=1024,dtype=bf16")]


@pytest.fixture(scope="module")
def resnet() -> Finished:
    return run("tpu-v1", "resnet18")


def only(finished: Finished) -> tuple[OperatorReport, Timeline]:
    (one,), (timeline,) = finished.report.done, finished.timelines
    assert timeline is not None
    return one, timeline


def rows(table: Plotted) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table.to_csv())))


def load_of(name: str) -> NetworkLoad:
    """A shipped network whose channels carry more the later they come in the list; the first nothing."""
    return loads(read_network(name, ()).topology)


def loads(topology: Topology) -> NetworkLoad:
    def some(count: int, word: str) -> tuple[ChannelLoad, ...]:
        return tuple(ChannelLoad(f"{word}{n}", 64 * n, n / count) for n in range(count))
    return NetworkLoad("net", topology, some(len(topology.wires), "w"), some(topology.nodes, "in "), some(topology.nodes, "out "),
                       {0: "DRAM"})


# Are the numbers right?


def test_the_roofline_of_one_tile_by_hand(tile: Finished, tmp_path: Path) -> None:
    one, _ = only(tile)
    data = roofline_data([one], tile.report.clock_hz)
    assert data.single
    # 64 MACs are 128 operations, in 312 ns, for three tiles of 64 bytes; 4 bytes and one MAC per nanosecond
    (point,) = data.points
    assert (point.operator, point.roof, point.share) == ("gemm", "DRAM.port", 1.0)
    assert point.ops_per_byte == pytest.approx(128 / 192, rel=1e-12)
    assert point.ops_per_s == pytest.approx(128 / 312e-9, rel=1e-12)
    assert point.allowed_ops_per_s == 2e9
    assert [(peak.name, peak.ops_per_s, peak.own) for peak in data.peaks] == [("", 2e9, True)]
    drawn = rows(draw_roofline(data, tmp_path / "a.svg", title="t"))
    assert [row["what"] for row in drawn] == ["peak", "roof", "operator"]
    assert drawn[1]["rate_bytes_per_s"] == "4000000000"
    assert float(drawn[2]["attained_ops_per_s"]) == point.ops_per_s


def test_of_several_operators_each_stands_below_its_outermost_roof(two: Finished) -> None:
    data = roofline_data(two.report.done, two.report.clock_hz)
    assert not data.single
    assert [(point.operator, point.roof) for point in data.points] == [("first", "DRAM.port"), ("second", "DRAM.port")]
    first, second = two.report.done
    assert data.points[0].share == 3 * first.cycles / (3 * first.cycles + second.cycles)
    assert sum(point.share for point in data.points) == pytest.approx(1)


def test_types_of_one_peak_share_a_line() -> None:
    (one,) = run("a100", "gemm:m=256,n=256,k=256,dtype=fp16").report.done
    data = roofline_data([one], one.case.chip.clock_hz)
    own = [peak for peak in data.peaks if peak.own]
    assert [peak.name for peak in own] == ["fp16, bf16"]
    # NVIDIA A100 Tensor Core GPU Architecture, v1.0, table 1: INT8 is twice FP16; 108 SMs, 1024 FMAs a cycle each
    assert own[0].ops_per_s == 2 * 108 * 1024 * one.case.chip.clock_hz
    assert data.peaks[0].ops_per_s == 2 * own[0].ops_per_s
    assert set(data.unlimited) >= {"SMEM.fill"}


def test_no_point_is_above_its_roof(mesh: Finished, gemmini: Finished, resnet: Finished) -> None:
    for finished in (mesh, gemmini, resnet):
        data = roofline_data(finished.report.done, finished.report.clock_hz)
        assert data.points
        rate = {one.name: one.bytes_per_s for one in data.ceilings}
        for point in data.points:
            assert point.ops_per_s <= point.allowed_ops_per_s * (1 + 1e-12)
            assert point.allowed_ops_per_s <= point.ops_per_byte * rate[point.roof] * (1 + 1e-12)


def test_the_ladder_of_one_tile_by_hand(tile: Finished, tmp_path: Path) -> None:
    one, _ = only(tile)
    data = ladder_data([one], tile.report.clock_hz)
    assert data.peak_ops_per_s == 2e9
    factors = {step.loss: step.factor for step in data.steps}
    assert factors == pytest.approx(dict.fromkeys(Loss, 1.0) | {
        Loss.BANDWIDTH: 64 / 96, Loss.LATENCY: 96 / 296, Loss.CONTENTION: 296 / 312})
    drawn = rows(draw_ladder(data, tmp_path / "a.svg", title="t"))
    assert [row["loss"] for row in drawn] == ["peak", *(loss.code for loss in Loss)]
    assert float(drawn[-1]["delivered_share_of_peak"]) == pytest.approx(64 / 312)
    assert float(drawn[-1]["delivered_ops_per_s"]) == pytest.approx(128 / 312e-9)


def test_the_ladder_of_a_workload_ends_at_its_utilization(two: Finished, resnet: Finished) -> None:
    for finished in (two, resnet):
        data = ladder_data(finished.report.done, finished.report.clock_hz)
        assert data.steps[-1].delivered == pytest.approx(finished.report.utilization)
        assert [step.factor for step in data.steps] == [float(rung.factor) for rung in ladder(finished.report.done)]
        delivered = 2 * finished.report.macs / finished.report.time_s
        assert data.steps[-1].delivered * data.peak_ops_per_s == pytest.approx(delivered)


def test_the_waterfall_adds_up(tile: Finished, two: Finished, mesh: Finished, resnet: Finished, tmp_path: Path) -> None:
    for finished in (tile, two, mesh, resnet):
        data = waterfall_data(finished.report.done)
        assert data.bound_cycles + sum(cycles for _, cycles in data.parts) == data.measured_cycles == finished.report.cycles
        assert data.estimated_cycles == finished.report.estimated_cycles
        assert [cycles for _, cycles in data.parts] == sorted((cycles for _, cycles in data.parts), reverse=True)
        drawn = {row["bar"]: int(row["cycles"]) for row in rows(draw_waterfall(data, tmp_path / "a.svg", title="t"))}
        assert drawn["measured"] == finished.report.cycles
        assert sum(drawn.values()) == 2 * drawn["measured"] + drawn["estimated"]
    one, _ = only(mesh)
    assert dict(waterfall_data([one]).parts) == dict(one.crosscheck.waterfall)


def test_shares_over_time_by_hand(tile: Finished, tmp_path: Path) -> None:
    one, timeline = only(tile)
    data = utilization_data(one, timeline)
    assert (data.arrays, data.cycles, data.utilization) == (1, 312, pytest.approx(64 / 312))
    drawn = rows(draw_utilization(data, tmp_path / "a.svg", title="t"))
    assert (drawn[0]["from_cycle"], drawn[-1]["to_cycle"]) == ("0", "312")
    for row in drawn:
        first, last = float(row["from_cycle"]), float(row["to_cycle"])
        assert float(row["busy_lane_cycles"]) == max(0.0, min(last, 196) - max(first, 132))
        assert sum(float(value) for name, value in row.items() if name.endswith("_lane_cycles")) == last - first


def test_bins_add_up_to_the_report(mesh: Finished, gemmini: Finished) -> None:
    for finished in (mesh, gemmini):
        one, timeline = only(finished)
        data = utilization_data(one, timeline)
        arrays = [number for number, lane in enumerate(timeline.lanes) if lane.kind is LaneKind.ARRAY]
        whole = compose_totals(timeline, [Row("", tuple(arrays), True)]).total()
        assert np.array_equal(data.drawn.total(), whole)
        stalled = sum(int(whole[0, colour]) for colour in range(1, IDLE)) / TICKS
        assert stalled == sum(one.stalls.values())
        assert whole[0, BUSY] / TICKS == pytest.approx(one.busy * len(arrays) * one.cycles)
        assert data.drawn.ticks.shape[1] <= MOST_BINS


def test_bandwidth_over_time_by_hand(tile: Finished, tmp_path: Path) -> None:
    one, timeline = only(tile)
    data = bandwidth_data(one, timeline)
    (flow,) = data.flows
    assert (flow.name, flow.bytes_per_cycle) == ("DRAM.port", 4)
    assert set(data.quiet) == {"SRAM.fill", "SRAM.drain", "SRAM.array_read", "SRAM.array_write"}
    drawn = rows(draw_bandwidth(data, tmp_path / "a.svg", title="t"))
    for row in drawn:
        first, last = float(row["from_cycle"]), float(row["to_cycle"])
        served = max(0.0, min(last, 32) - first) + max(0.0, min(last, 212) - max(first, 196))  # A and B, then C
        assert float(row["bytes_per_cycle"]) * (last - first) == pytest.approx(4 * served)
        assert float(row["bytes_per_s"]) == pytest.approx(1e9 * float(row["bytes_per_cycle"]))


def test_what_ports_carried_over_time_is_what_passed_them(tile: Finished, mesh: Finished, gemmini: Finished) -> None:
    """Service is rounded up to sixteenths of a cycle, and a set-up counts as busy: never less, and seldom much more."""
    for finished in (tile, mesh, gemmini):
        one, timeline = only(finished)
        moved = {roof.name: roof.moved_bytes for roof in roofline(one).roofs}
        data = bandwidth_data(one, timeline)
        compared = [flow for flow in data.flows if flow.name in moved]
        assert compared
        for flow in compared:
            carried = flow.mean(data.spans) * sum(data.spans)
            assert moved[flow.name] * (1 - 1e-9) <= carried, flow.name
            assert carried <= moved[flow.name] * 1.15, flow.name
            assert max(flow.busy) <= 1


def test_a_window_is_widened_to_whole_bins(mesh: Finished) -> None:
    one, timeline = only(mesh)
    width = timeline.profile.bin_cycles
    data = utilization_data(one, timeline, (3 * width + 1, 5 * width))
    assert (data.drawn.borders / TICKS).tolist() == [3 * width, 4 * width, 5 * width]
    assert bandwidth_data(one, timeline, (3 * width, 4 * width)).borders == (3 * width, 4 * width)
    with pytest.raises(ValueError, match="nothing to draw"):
        utilization_data(one, timeline, (timeline.cycles, timeline.cycles + 1))


@given(columns=st.integers(1, 700), most=st.integers(1, 300))
@settings(deadline=None)
def test_coarser_columns_keep_every_tick(columns: int, most: int) -> None:
    ticks = np.arange(columns * len(COLOURS), dtype=np.int64).reshape(1, columns, len(COLOURS))
    drawn = Composition(np.arange(columns + 1, dtype=np.int64) * 7, ticks)
    coarse = coarsened(drawn, most)
    assert np.array_equal(coarse.total(), drawn.total())
    assert coarse.ticks.shape[1] <= most
    each = (coarse.borders[1] - coarse.borders[0]) // 7
    assert coarse.borders[-1] == columns * 7
    assert columns <= most or each & (each - 1) == 0 or coarse.ticks.shape[1] == 1


def test_the_channels_of_a_mesh_are_those_of_the_report(mesh: Finished, tmp_path: Path) -> None:
    one, _ = only(mesh)
    (link,) = [link for link in one.case.chip.links if link.network is not None]
    load = network_load(one, link)
    drawn = rows(draw_heat_map(load, tmp_path / "a.svg", title="t"))
    assert len(drawn) == 48 + 2 * 16
    assert {f"NOC {row['channel']}": int(row["bytes"]) for row in drawn if row["bytes"] != "0"} == dict(one.links)
    for row in drawn:
        assert float(row["busy_share"]) == one.link_busy(f"NOC {row['channel']}")
    by_name = {row["channel"]: row for row in drawn}
    assert (by_name["0>1"]["from"], by_name["0>1"]["to"]) == ("router 0", "router 1")
    assert (by_name["in 0"]["from"], by_name["out 5"]["to"]) == ("node 0", "node 5")
    # what comes into the network at the memory leaves it at the cores, and the other way round
    into, out = (sum(int(row["bytes"]) for name, row in by_name.items() if name.startswith(word)) for word in ("in ", "out "))
    assert into == out


def test_levels_show_the_busy_shares_of_the_report(gemmini: Finished, tmp_path: Path) -> None:
    one, _ = only(gemmini)
    data = levels_data(one)
    assert data.levels == (("DRAM", 1), ("ONCHIP", 1), ("PE", 1))
    drawn = {row["name"]: row for row in rows(draw_levels(data, tmp_path / "a.svg", title="t"))}
    for name, lane in one.lanes.items():
        if lane.kind is not LaneKind.ARRAY:
            assert float(drawn[name]["busy_share"]) == pytest.approx(lane.busy_cycles / one.cycles)
    assert (drawn["DMA"]["level"], drawn["DMA"]["to_level"]) == ("DRAM", "ONCHIP")
    assert int(drawn["DMA"]["bytes"]) == one.links["DMA"]
    assert drawn["SPAD.load"]["busy_share"] == ""  # unlimited


def test_the_data_of_timeline_and_bars_add_up(tmp_path: Path) -> None:
    blocks = rows(draw_timeline(record(5), tmp_path / "a.svg", title="t"))
    assert len(blocks) == 15  # a wait, a step and a service each
    assert sum(float(row["lane_cycles"]) for row in blocks if row["row"] == "MAC") == 20
    stacks = rows(draw_timeline(record(20_000), tmp_path / "a.svg", title="t"))
    totals: dict[tuple[str, str], float] = {}
    for row in stacks:
        key = row["row"], row["state"]
        totals[key] = totals.get(key, 0.0) + float(row["lane_cycles"])
    expected = {("MAC", "busy"): 20_000.0, ("MAC", "DRAM latency"): 60_000.0, ("L0.port", "busy"): 40_000.0,
                ("L0.port", "idle"): 40_000.0}
    assert totals == expected
    bars = rows(draw_stall_bars(record(5), tmp_path / "b.svg", title="t"))
    assert [(row["state"], row["lane_cycles"]) for row in bars] == [("busy", "5"), ("DRAM latency", "15")]


def test_a_table_reads_back_the_same() -> None:
    table = plotted(("a", "b"), [(0.1 + 0.2, None), (3.0, "x,y")])
    read = list(csv.reader(io.StringIO(table.to_csv())))
    assert read == [["a", "b"], ["0.30000000000000004", ""], ["3", "x,y"]]


# Does everything have a place of its own?


def odd() -> Topology:
    """Two nodes at a router, one router without any, and a wire one way."""
    return from_edges(5, [Edge(0, 1, 1, 1, False), Edge(1, 2, 1, 1, False), Edge(2, 3, 1, 1, True), Edge(3, 4, 1, 1, False),
                          Edge(4, 0, 1, 1, False)], [0, 0, 1, 4])


@pytest.mark.parametrize("name", [*shipped("networks"), "odd"])
def test_no_two_routers_or_nodes_stand_at_one_place(name: str) -> None:
    topology = odd() if name == "odd" else read_network(name, ()).topology
    layout = lay_out(topology)
    assert layout == lay_out(topology)
    assert len(layout.routers) == topology.routers
    for one, other in combinations(layout.spots, 2):
        assert max(abs(one[0] - other[0]), abs(one[1] - other[1])) > 0.3
    shown = {(spot.node, way) for spot in layout.nodes for way, is_so in (("in", spot.sends), ("out", spot.receives)) if is_so}
    if layout.nodes:
        assert shown == {(node, way) for node in range(topology.nodes) for way in ("in", "out")}
    else:
        assert [router for router, _ in topology.enters] == [router for router, _ in topology.leaves]


def test_wires_of_a_torus_that_lead_around_leave_the_picture() -> None:
    layout = lay_out(read_network("torus4x4", ()).topology)
    ways = [way for way in layout.around if way is not None]
    assert sorted(ways) == sorted(4 * [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)])
    assert not any(lay_out(read_network("mesh4x4", ()).topology).around)


def test_a_mesh_runs_in_rows_from_the_upper_left() -> None:
    layout = lay_out(read_network("mesh4x4", ()).topology)
    assert layout.routers[:5] == ((0, 0), (1, 0), (2, 0), (3, 0), (0, 1))


@given(boxes=st.lists(st.tuples(st.floats(-1, 4), st.floats(-1, 4), st.floats(0.01, 1), st.floats(0.01, 1)), max_size=40))
@settings(deadline=None)
def test_what_is_placed_overlaps_nothing(boxes: list[tuple[float, float, float, float]]) -> None:
    taken = Taken(Box(0, 0, 3, 3))
    placed = [box for box in (taken.place([Box(x, y, x + wide, y + high)]) for x, y, wide, high in boxes) if box is not None]
    for one, other in combinations(placed, 2):
        assert one.right <= other.left or other.right <= one.left or one.top <= other.bottom or other.top <= one.bottom
    for box in placed:
        assert min(box) >= 0
        assert max(box) <= 3


def test_a_scale_of_shares_ends_at_a_round_share() -> None:
    assert [heat_top(share) for share in (0.0, 0.004, 0.3, 0.5, 0.51, 1.0)] == [0.01, 0.01, 0.5, 0.5, 1.0, 1.0]


# Can it be read?


Draw = Callable[[Path, float], Plotted]


def every_picture(runs: Sequence[Finished]) -> Iterator[tuple[str, Draw]]:
    title = "A title $ with _signs_ and \\more words than fit on the line of a column of a paper {by} far"
    for finished in runs:
        word = f"{finished.report.workload} on {finished.report.chip}"
        done, clock = finished.report.done, finished.report.clock_hz
        longest = max(range(len(done)), key=lambda index: done[index].cycles)
        one, timeline = done[longest], finished.timelines[longest]
        assert timeline is not None
        named = [replace(report, name=f"a_long_name_for_an_operator_{number}") for number, report in enumerate(done)]
        roofs, steps, falls = roofline_data(named, clock), ladder_data(done, clock), waterfall_data(done)
        shares, flows, levels = utilization_data(one, timeline), bandwidth_data(one, timeline), levels_data(one)
        yield f"{word}-roofline", lambda path, wide, data=roofs: draw_roofline(data, path, title=title, width_inches=wide)
        yield f"{word}-ladder", lambda path, wide, data=steps: draw_ladder(data, path, title=title, width_inches=wide)
        yield f"{word}-waterfall", lambda path, wide, data=falls: draw_waterfall(data, path, title=title, width_inches=wide)
        yield f"{word}-utilization", lambda path, wide, data=shares: draw_utilization(data, path, title=title, width_inches=wide,
                                                                                      clock_hz=7e8)
        yield f"{word}-bandwidth", lambda path, wide, data=flows: draw_bandwidth(data, path, title=title, width_inches=wide)
        yield f"{word}-levels", lambda path, wide, data=levels: draw_levels(data, path, title=title, width_inches=wide)
    for name in shipped("networks"):
        load = load_of(name)
        yield name, lambda path, wide, data=load: draw_heat_map(data, path, title=title, width_inches=wide)
    yield "odd", lambda path, wide: draw_heat_map(loads(odd()), path, title=title, width_inches=wide)


def visible(figure: Figure) -> list[Text]:
    return [text for text in figure.findobj(Text) if text.get_text().strip() and text.get_visible()]


@pytest.mark.parametrize("width", [SINGLE, DOUBLE])
def test_all_text_is_legible_apart_and_on_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: float, tile: Finished,
                                                   two: Finished, mesh: Finished, gemmini: Finished, resnet: Finished,
                                                   others: list[Finished]) -> None:
    drawn: list[Figure] = []
    monkeypatch.setattr(paper.Page, "save", lambda page, *_: drawn.append(page.figure))
    for name, draw in every_picture([tile, two, mesh, gemmini, resnet, *others]):
        draw(tmp_path / "a.png", width)
        figure = drawn.pop()
        figure.draw_without_rendering()
        assert figure.get_size_inches()[0] == width
        page = figure.bbox.padded(1)
        boxes = []
        for text in visible(figure):
            assert float(text.get_fontsize()) >= 7, (name, text)
            box = text.get_window_extent()
            assert page.x0 <= box.x0 <= box.x1 <= page.x1, (name, text)
            assert page.y0 <= box.y0 <= box.y1 <= page.y1, (name, text)
            boxes.append((text.get_text(), box))
        for (one, a), (other, b) in combinations(boxes, 2):
            apart = a.x1 <= b.x0 + 1 or b.x1 <= a.x0 + 1 or a.y1 <= b.y0 + 3 or b.y1 <= a.y0 + 3  # at 300 dots per inch
            assert apart, (name, one, other)


@pytest.mark.parametrize("width", [SINGLE, DOUBLE])
def test_a_picture_is_as_wide_as_the_column(tmp_path: Path, width: float, tile: Finished) -> None:
    one, _ = only(tile)
    draw_roofline(roofline_data([one], tile.report.clock_hz), tmp_path / "a.png", title="t", width_inches=width)
    draw_heat_map(load_of("ring8"), tmp_path / "b.png", title="t", width_inches=width)
    for name in ("a.png", "b.png"):
        with Image.open(tmp_path / name) as image:
            assert image.width == round(width * 300), name


def test_the_busiest_channels_have_their_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with figures(monkeypatch) as caught:
        draw_heat_map(load_of("mesh4x4"), tmp_path / "a.svg", title="t", width_inches=SINGLE)
    said = [text.get_text() for text in visible(caught[0])]
    assert {str(n) for n in range(16)} <= set(said)
    assert {f"{100 * n / 48:.0f}" for n in range(1, 48)} <= set(said)


def test_numbers_are_left_out_where_most_have_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    topology = read_network("mesh8x8", ("network.topology.sizes=[16, 16]",)).topology
    with figures(monkeypatch) as caught:
        draw_heat_map(loads(topology), tmp_path / "a.svg", title="t", width_inches=SINGLE)
    assert {text.get_text() for text in visible(caught[0])} & {str(n) for n in range(1, 100)} == set()


def test_names_of_operators_with_most_cycles_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, two: Finished) -> None:
    with figures(monkeypatch) as caught:
        draw_roofline(roofline_data(two.report.done, two.report.clock_hz), tmp_path / "a.svg", title="t")
    said = [text.get_text() for text in visible(caught[0])]
    assert {"first", "second", "peak"} <= set(said)
    assert "operational intensity [operations/byte]" in said
    assert "performance [GOP/s]" in said


# Is the file right, and the same every time?


def draw_all(folder: Path) -> None:
    finished = run("toy", "gemm:m=4,n=4,k=4")
    one, timeline = only(finished)
    clock = finished.report.clock_hz
    draw_heat_map(load_of("ring8"), folder / "ring.png", title="t")
    draw_bandwidth(bandwidth_data(one, timeline), folder / "bandwidth.png", title="t", width_inches=SINGLE)
    for suffix in ("svg", "pdf"):
        draw_roofline(roofline_data([one], clock), folder / f"roofline.{suffix}", title="t")
        draw_ladder(ladder_data([one], clock), folder / f"ladder.{suffix}", title="t")
        draw_waterfall(waterfall_data([one]), folder / f"waterfall.{suffix}", title="t")
        draw_utilization(utilization_data(one, timeline), folder / f"utilization.{suffix}", title="t", clock_hz=1e9)
        draw_bandwidth(bandwidth_data(one, timeline), folder / f"bandwidth.{suffix}", title="t")
        draw_levels(levels_data(one), folder / f"levels.{suffix}", title="t")
        draw_heat_map(load_of("ring8"), folder / f"ring.{suffix}", title="t")


def test_same_bytes_in_every_process(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    draw_all(here)
    (tmp_path / "matplotlibrc").write_text("font.size: 20\naxes.grid: True\nsavefig.dpi: 50\n")
    code = "import pathlib, sys; from tests.outputs import test_paper_pictures as t; t.draw_all(pathlib.Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", code, str(there)], check=True, cwd=EXAMPLES.parent,
                   env={**os.environ, "PYTHONHASHSEED": "7", "MATPLOTLIBRC": str(tmp_path / "matplotlibrc"),
                        "PYTHONPATH": os.pathsep.join([str(EXAMPLES.parent), *sys.path])})
    made = sorted(path.name for path in here.iterdir())
    assert len(made) == 16
    for name in made:
        content = (here / name).read_bytes()
        assert content == (there / name).read_bytes(), name
        assert b"dc:date" not in content
        assert b"CreationDate" not in content
        if name.endswith(".svg"):
            root = ET.fromstring(content)
            assert root.tag == "{http://www.w3.org/2000/svg}svg"
            assert root.attrib["width"] == f"{7.16 * 72:g}pt"
        elif name.endswith(".pdf"):
            assert content.startswith(b"%PDF-")
            assert content.rstrip().endswith(b"%%EOF")


def test_a_chip_without_limits_still_has_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finished = run("toy", "gemm:m=4,n=4,k=4", Options(overrides=("chip.levels.DRAM.bandwidth=unlimited",)))
    one, timeline = only(finished)
    data = bandwidth_data(one, timeline)
    assert not data.flows
    with figures(monkeypatch) as caught:
        draw_bandwidth(data, tmp_path / "a.svg", title="t")
        draw_roofline(roofline_data([one], finished.report.clock_hz), tmp_path / "b.svg", title="t")
        draw_levels(levels_data(one), tmp_path / "c.svg", title="t")
    assert any("No port or link has a limited rate" in text.get_text() for text in visible(caught[0]))


@pytest.mark.parametrize(("name", "width", "said"), [
    ("a.jpg", 3.5, r"a\.jpg: a picture ends in \.png, \.svg, \.pdf"), ("a", 3.5, "a picture ends in"),
    ("a.png", 0.5, "0.5 inches wide; allowed"), ("a.png", float("nan"), "inches wide")])
def test_refuses(tmp_path: Path, name: str, width: float, said: str, tile: Finished) -> None:
    one, timeline = only(tile)
    clock = tile.report.clock_hz
    for draw in (lambda: draw_roofline(roofline_data([one], clock), tmp_path / name, title="t", width_inches=width),
                 lambda: draw_ladder(LadderData(1e9, ()), tmp_path / name, title="t", width_inches=width),
                 lambda: draw_waterfall(waterfall_data([one]), tmp_path / name, title="t", width_inches=width),
                 lambda: draw_utilization(utilization_data(one, timeline), tmp_path / name, title="t", width_inches=width),
                 lambda: draw_bandwidth(bandwidth_data(one, timeline), tmp_path / name, title="t", width_inches=width),
                 lambda: draw_levels(levels_data(one), tmp_path / name, title="t", width_inches=width),
                 lambda: draw_heat_map(load_of("ring8"), tmp_path / name, title="t", width_inches=width)):
        with pytest.raises(ValueError, match=said):
            draw()
    assert not list(tmp_path.iterdir())


def test_a_label_is_as_wide_as_its_text() -> None:
    box = text_box("100", 1.0, 2.0)
    assert box.left + box.right == pytest.approx(2.0)
    assert box.bottom < box.base < 2.0 < box.top
