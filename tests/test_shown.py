"""Does each result show itself in a notebook: well-formed, escaped, with the numbers of its JSON, their units and their basis?"""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from IPython.lib.pretty import pretty

from accelsim.analytic.estimate import estimate
from accelsim.lanehtml import lanes_html
from accelsim.markup import Shown
from accelsim.measure.parts import Failed
from accelsim.outputs.results import run_json
from accelsim.recorder import RecordOptions
from accelsim.search.whatif import WhatIf, what_if
from accelsim.spec.case import Case
from accelsim.spec.read import read_chip, read_workload, shipped
from accelsim.stalls import BUSY_COLOUR
from accelsim.timeline import BUSY_STATE, STATES, Timeline
from accelsim.verbs import Finished, Options, run

from .test_markup import HOSTILE, cells, rectangles, tree

GEMM = "gemm:m=12,n=8,k=8"


@pytest.fixture(scope="module")
def finished() -> Finished:
    return run("toy", GEMM)


@pytest.fixture(scope="module")
def found() -> WhatIf:
    return what_if("toy", GEMM, moves=1)


def case_of(finished: Finished) -> Case:
    case = finished.asked.cases[0]
    assert isinstance(case, Case)
    return case


def timeline_of(finished: Finished) -> Timeline:
    timeline = finished.timelines[0]
    assert timeline is not None
    return timeline


def text_of(page: str) -> str:
    return " ".join(tree(page).itertext())


def numbers(page: str) -> set[str]:
    """Every number that stands in the page, without its thousands' commas."""
    return {word.replace(",", "") for word in re.findall(r"\d[\d,]*(?:\.\d+)?", text_of(page))}


@pytest.fixture(scope="module")
def everything(finished: Finished, found: WhatIf) -> dict[str, Shown]:
    case, report = case_of(finished), finished.report
    return {"finished": finished, "report": report, "operator report": report.done[0], "tables": report.tables,
            "table": report.tables.traffic, "timeline": timeline_of(finished), "chip": case.chip, "case": case,
            "mapping": case.mapping, "operator": case.operator, "workload": finished.asked.workload, "estimate": estimate(case),
            "what if": found, "difference": finished.diff(finished)}


def test_every_result_is_well_formed_and_small_and_its_plain_text_is_one_line_or_a_few(everything: dict[str, Shown]) -> None:
    for name, one in everything.items():
        page = one._repr_html_()  # type: ignore[attr-defined]
        assert tree(page)[0].get("class") == "accelsim", name
        assert len(page) < 20_000, name
        assert not re.search(r"<script|<style|https?://(?!www\.w3\.org/2000/svg)|\bon\w+=", page), name
        assert pretty(one) == str(one), name
        assert len(str(one)) < 400 or name == "tables", name
        assert "\n" not in str(one) or name == "tables", name


@pytest.mark.parametrize("name", ["finished", "report", "operator report", "timeline", "what if", "difference"])
def test_what_was_simulated_is_called_measured(everything: dict[str, Shown], name: str) -> None:
    assert "measured" in text_of(everything[name]._repr_html_())  # type: ignore[attr-defined]
    assert "(measured)" in str(everything[name])


def test_an_estimate_is_never_called_measured(everything: dict[str, Shown]) -> None:
    one = everything["estimate"]
    assert "(estimated" in str(one)
    assert "measured" not in text_of(one._repr_html_())  # type: ignore[attr-defined]


def test_a_report_shows_the_numbers_of_its_json(finished: Finished) -> None:
    told, = run_json(finished.report)["operators"]
    page = finished.report._repr_html_()
    shown = numbers(page)
    assert {str(told["cycles"]), str(told["estimate"]["cycles"]), str(told["macs"])} <= shown
    assert {str(cycles) for cycles in told["stalls"].values() if cycles} <= shown
    assert {str(size) for tensors in told["levels"].values() for sizes in tensors.values()
            for size in sizes.values() if size} <= shown
    assert {str(step["cycles"]) for step in told["crosscheck"]["waterfall"]} <= shown
    assert {str(advice["cycles"]) for advice in told["advice"]} <= shown
    assert f"{told['utilization']:.1%}" in text_of(page)


def test_numbers_of_a_report_are_flush_right(finished: Finished) -> None:
    found = [(text, side) for text, side in cells(finished._repr_html_()) if re.match(r"\d", text)]
    assert len(found) > 20
    assert {side for _, side in found} == {"right"}


def test_a_workload_shows_each_operator_and_its_total(finished: Finished) -> None:
    one, = finished.report.done
    gone = Failed(HOSTILE, "gemm", 2, f"{HOSTILE}\nmore", 4)
    report = replace(finished.report, operators=(one, replace(one, name="again", repeat=5), gone))
    page = report._repr_html_()
    assert f"{6 * one.cycles:,}" in text_of(page)
    assert f"{6 * one.estimate.cycles:,}" in text_of(page)
    assert "2 of 3 operators ran" in text_of(page)
    assert f"failed: {HOSTILE}" in [cell for cell, _ in cells(page)]
    for cycles in one.stalls.values():
        assert (f"{6 * cycles:,}", "right") in cells(page)
    assert (f"{6 * one.macs:,}", "right") in cells(page)  # busy: toy takes a cycle for each


def test_hostile_names_are_text(finished: Finished, found: WhatIf) -> None:
    case, one = case_of(finished), finished.report.done[0]
    tensor = replace(case.operator.tensors[0], name=HOSTILE)
    operator = replace(case.operator, name=HOSTILE, kind=HOSTILE, tensors=(tensor, *case.operator.tensors[1:]))
    level = case.chip.levels[0]
    chip = replace(case.chip, name=HOSTILE, description=HOSTILE, sources=(HOSTILE,), models=(HOSTILE,), omits=(HOSTILE,),
                   levels=(replace(level, name=HOSTILE, memories=tuple(replace(
                       memory, name=HOSTILE, ports=tuple(replace(port, name=HOSTILE) for port in memory.ports))
                       for memory in level.memories)), *case.chip.levels[1:]))
    mapping = replace(case.mapping, origin=f"{HOSTILE} ({HOSTILE})",
                      levels=(replace(case.mapping.levels[0], level=HOSTILE), *case.mapping.levels[1:]))
    timeline = timeline_of(finished)
    lanes = tuple(replace(lane, name=HOSTILE) for lane in timeline.lanes)
    hostile = [
        operator, chip, mapping, replace(case, operator=replace(case.operator, name=HOSTILE), mapping=mapping),
        replace(finished.asked.workload, name=HOSTILE, description=HOSTILE, operators=(operator,)),
        replace(one, name=HOSTILE, links={HOSTILE: 5}),
        replace(finished.report, workload=HOSTILE, chip=HOSTILE, operators=(one, one)),
        replace(timeline, lanes=lanes, labels=(HOSTILE,) * len(timeline.labels)),
        replace(found, workload=HOSTILE, failed=(Failed(HOSTILE, "", 1, HOSTILE, 2),)),
        replace(estimate(case), bound_by=HOSTILE), finished.diff(finished, labels=(HOSTILE, "B")),
        replace(finished.report.tables.operators, name=HOSTILE)]
    for shown in hostile:
        page = shown._repr_html_()  # type: ignore[attr-defined]
        text = text_of(page)
        assert "alert(1)" in text, type(shown)
        tags = {element.tag.rpartition("}")[2] for element in tree(page).iter()}
        assert not tags & {"script", "img"}, type(shown)


@pytest.mark.parametrize("name", sorted(shipped("chips")))
def test_every_shipped_chip_shows_its_rates_in_both_units(name: str) -> None:
    chip = read_chip(name)
    shown = [cell for cell, _ in cells(chip._repr_html_())]
    for level in chip.levels:
        for memory in level.memories:
            assert memory.name in shown
            assert f"{memory.latency_cycles:,}" in shown
            for port in memory.ports:
                if port.rate is not None:
                    per_cycle, per_second = float(port.rate), float(port.rate * chip.clock_hz / 10**9)
                    assert any(abs(float(cell.replace(",", "")) / per_cycle - 1) < 1e-5 for cell in shown if _is_number(cell))
                    assert any(abs(float(cell.replace(",", "")) / per_second - 1) < 1e-5 for cell in shown if _is_number(cell))


def _is_number(cell: str) -> bool:
    return bool(re.fullmatch(r"\d[\d,]*(\.\d+)?", cell))


def test_a_chip_by_hand() -> None:
    """4 B/cycle at 1 GHz are 4 GB/s; 48.57 B/cycle at 700 MHz are 34 GB/s."""
    rows = [[("".join(cell.itertext())) for cell in row] for row in tree(read_chip("toy")._repr_html_()).iter("tr")]
    assert ["DRAM", "1", "DRAM", "dram", "unlimited", "100", "1", "", "port", "array read, array write, drain, fill",
            "4", "4"] in rows
    sram = next(row for row in rows if row[0] == "SRAM")
    assert sram[4] == "65,536 (64.0 KiB)"
    assert sram[-2:] == ["unlimited", "unlimited"]
    assert "34" in [cell for cell, _ in cells(read_chip("tpu-v1")._repr_html_())]


@pytest.mark.parametrize("name", ["resnet50", "mobilenet-v2"])
def test_a_workload_shows_all_its_macs(name: str) -> None:
    workload = read_workload(name)
    macs = sum(one.macs * one.repeat for one in workload.operators)
    assert f"{macs:,}" in text_of(workload._repr_html_())


@pytest.mark.parametrize("bins", [256, 200, 64, 2])
def test_a_picture_of_a_timeline_has_a_row_for_each_lane_that_did_something(bins: int) -> None:
    timeline = timeline_of(run("toy", GEMM, Options(record=RecordOptions(bins=bins))))
    texts = [element.text for element in tree(timeline._repr_html_()).iter() if element.tag.endswith("}text")]
    assert texts[:-2] == [lane.name for i, lane in enumerate(timeline.lanes) if timeline.busy_cycles(i)]
    area = sum(width * height for colour, _, _, width, height in rectangles(timeline._repr_html_()) if colour == BUSY_COLOUR)
    busy = sum(timeline.busy_cycles(i) for i in range(len(timeline.lanes)))
    last, column = (int(word.replace(",", "")) for word in re.findall(r"[\d,]+", texts[-1] or ""))
    assert timeline.cycles <= last < timeline.cycles + column
    assert area == pytest.approx(busy * 15 * 640 / last, rel=0.01)


def test_what_if_shows_each_resource_and_its_frame_is_its_rows(found: WhatIf) -> None:
    frame = found.to_pandas()
    assert frame["resource"].tolist() == [row.resource.name for row in found.rows]
    assert frame["doubled_cycles"].tolist() == [row.doubled for row in found.rows]
    shown = numbers(found._repr_html_())
    assert {str(row.doubled) for row in found.rows if row.doubled is not None} <= shown


def test_a_run_without_a_single_operator_is_shown(finished: Finished) -> None:
    report = replace(finished.report, operators=(Failed("a", "gemm", 1, "it does not fit", 3),))
    assert "0 of 1 operators ran" in text_of(report._repr_html_())
    assert report.to_pandas()["cycles"].isna().all()


def test_the_plain_text_of_what_a_user_derives_is_one_line_too() -> None:
    class Own(Shown):
        def __str__(self) -> str:
            return "own"

    said: list[str] = []
    Own()._repr_pretty_(SimpleNamespace(text=said.append), False)
    assert said == ["own"]


def test_overrides_show_in_a_difference(finished: Finished) -> None:
    after = run("toy", GEMM, Options(overrides=("chip.levels.DRAM.latency=7 cycles",)))
    text = text_of(finished.diff(after)._repr_html_())
    assert "chip.levels.DRAM.latency" in text
    assert f"{finished.report.cycles:,}" in text
    assert f"{after.report.cycles:,}" in text


def test_of_many_lanes_the_first_are_drawn_and_the_rest_counted() -> None:
    """20 lanes of 300 bins: three bins a column; lane 3 is always idle, and not drawn."""
    shares = np.zeros((20, STATES, 300))
    shares[:, BUSY_STATE, ::3] = 0.75
    shares[3] = 0
    page = lanes_html("many", [(f"lane {i}", "port") for i in range(20)], [(750.0, 0.0, 2250.0)] * 20, shares, 10)
    texts = [element.text or "" for element in tree(page).iter() if element.tag.endswith("}text")]
    assert texts[:-2] == [f"lane {i}" for i in range(17) if i != 3]
    assert "cycle 3,000 (measured); a column is 30 cycles" in texts[-1]
    assert "and 3 lanes more" in text_of(page)
    drawn = rectangles(page)
    assert len(drawn) == 16  # equal columns are one rectangle
    assert {(colour, left, width, height) for colour, left, _, width, height in drawn} == {(BUSY_COLOUR, 190, 640, 15 * 0.25)}
