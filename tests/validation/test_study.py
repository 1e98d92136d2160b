"""Is the study of closed forms still what the code gives, and does its page say what its table holds?"""

from __future__ import annotations

import pytest

from accelsim.spec.read import read_memory
from accelsim.stalls import StallCause
from validation.study.page import PAGE, page
from validation.study.points import Point, points
from validation.study.rows import CAUSES, Row, load, row_of
from validation.study.summary import FAMILY_NAMES, GROUPS, knob, number, of, ratio, sizes, studied, word

POINTS = points()
ROWS = load()
BY_NAME = {word(row, "point"): row for row in ROWS}
AGAIN = POINTS[7::43]


def test_there_are_enough_points_each_with_its_row() -> None:
    assert len(studied(ROWS)) >= 500
    assert len({point.key for point in POINTS}) == len(POINTS)
    for point, row in zip(POINTS, ROWS, strict=True):
        assert (row["point"], row["chip"], row["workload"], row["layer"], row["mapping"], row["twin"]) == (
            point.key, point.chip, point.workload, point.layer, point.mapping, point.twin)
        assert row["overrides"] == "; ".join(point.overrides)
        assert not point.twin or point.twin in BY_NAME
    assert {point.family for point in POINTS} == set(FAMILY_NAMES)


@pytest.mark.parametrize("point", AGAIN, ids=[point.key for point in AGAIN])
def test_a_point_gives_its_row_again(point: Point) -> None:
    assert row_of(point) == BY_NAME[point.key], "run make study"


def test_some_of_every_family_are_run_again() -> None:
    assert {point.family for point in AGAIN} == set(FAMILY_NAMES)


def test_the_page_is_that_of_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(ROWS), "run make study"


@pytest.mark.parametrize("family", FAMILY_NAMES)
def test_rows_add_up(family: str) -> None:
    """Closed forms in their order, none above the measurement; lane-cycles and the waterfall are whole."""
    for row in of(ROWS, family):
        name, cycles, lanes = row["point"], number(row, "measured"), number(row, "lanes")
        rising = [number(row, rung) for rung in ("roofline", "busiest", "ends", "estimated", "measured")]
        if number(row, "dram_bursts"):
            # the estimate's services of simulated channels are rounded down to a sixteenth, each transfer by itself
            assert max(rising[:3]) - rising[3] <= 1 + number(row, "dram_bursts") // 16, name
            rising[:3] = [min(form, rising[3]) for form in rising[:3]]
        assert rising == sorted(rising), name
        stalls = sum(number(row, f"stall_{cause.code}") for cause in StallCause)
        # an array lane's busy and idle cycles are rounded, one by one
        assert abs(number(row, "busy") + stalls + number(row, "stall_idle") - lanes * cycles) <= lanes, name
        assert sum(number(row, phase) for phase in ("start", "steady", "finish")) == stalls, name
        assert sum(number(row, f"gap_{code}") for code in CAUSES) == cycles - number(row, "estimated"), name


def test_every_cause_is_in_one_group() -> None:
    assert sorted(code for group in GROUPS for code in group.codes) == sorted(CAUSES)


# -- sentences of the page ----------------------------------------------------------------------------------------------


def chosen(family: str, **knobs: str) -> list[Row]:
    return [row for row in of(studied(ROWS), family) if all(knob(row, key) == value for key, value in knobs.items())]


def test_short_passes_are_filling_and_draining() -> None:
    """Loaded between passes: T of T + R + (R + C - 2) cycles a pass; loaded under it, of the longer of T and R in the limit."""
    for row in chosen("fill_drain", stays="weights", buffers="1"):
        side, length = int(knob(row, "side")), int(knob(row, "length"))
        assert number(row, "measured") == 16 * (length + side + 2 * side - 2)
    for row in chosen("fill_drain", stays="weights", buffers="2"):
        side, length = int(knob(row, "side")), int(knob(row, "length"))
        steady = 16 * max(side, length)
        assert steady <= number(row, "measured") <= steady + 4 * side + length


def test_one_slot_costs_most_where_loading_takes_as_long_as_computing() -> None:
    factors = {float(knob(row, "rate")): ratio(row, "measured", "roofline") for row in chosen("overlap", slots="1", latency="0")}
    assert max(factors, key=factors.__getitem__) == 4  # B/cycle: a word of fp32 a cycle, as the MAC takes it
    assert 1.9 < factors[4] < 2
    assert all(ratio(row, "measured", "roofline") < 1.05 for row in chosen("overlap", slots="2", latency="0"))


def test_a_pitch_of_a_power_of_two_leaves_channels_idle() -> None:
    for run in ("64", "128", "256"):
        narrow, = chosen("dram_rows", technology="hbm2-2000", pitch="4096", outer="m", run=run)
        spread_out, = chosen("dram_rows", technology="hbm2-2000", pitch="4224", outer="m", run=run)
        assert number(narrow, "measured") > 1.3 * number(spread_out, "measured")
        assert number(narrow, "stall_dram_bandwidth") > number(narrow, "stall_dram_row")


def test_the_worst_is_one_bank_group_of_one_channel_at_a_time() -> None:
    """Each burst tCCD_L after the one before: of HBM2, 4 cycles of its own clock, which is the chip's."""
    dram = read_memory("hbm2-2000")
    assert dram.cycle_s * 10**9 == 1
    worst, = chosen("dram_rows", technology="hbm2-2000", pitch="4096", outer="m", run="32")
    assert number(worst, "measured") == pytest.approx(dram.timing.tCCD_L * number(worst, "dram_bursts"), rel=0.03)


def test_locality_delivers() -> None:
    """Runs of 4 KiB deliver three quarters of the peak or more on every technology, runs of 32 B less than half."""
    shares = {run: [ratio(row, "roofline", "measured") for row in chosen("dram_rows", what="reads", run=run)]
              for run in ("32", "4096")}
    assert max(shares["32"]) < 0.5 < 0.75 < min(shares["4096"])


def test_layers_are_worst_on_several_cores() -> None:
    ninth = {}
    for chip in {word(row, "chip") for row in of(ROWS, "layers")}:
        own = sorted(ratio(row, "measured", "estimated") for row in of(ROWS, "layers") if row["chip"] == chip)
        ninth[chip] = own[-(-9 * len(own) // 10) - 1]
    assert max(ninth, key=ninth.__getitem__) == "onnxim"
    worst = max(of(ROWS, "layers"), key=lambda row: ratio(row, "measured", "estimated"))
    assert word(worst, "layer") == "layer2.0.downsample", "the one with a stride and windows of one"


def test_no_error_is_smaller_than_nothing() -> None:
    for error, size in sizes(ROWS):
        assert size.points >= 4, error.name
        assert size.worst > 1.02, error.name
        assert size.median >= 1, error.name
