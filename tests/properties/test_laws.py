"""Do the laws hold that no run may break? Conservation, bounds, no stall without a reason, monotony, determinism."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from accelsim.analytic.estimate import estimate
from accelsim.spec.build import make_case
from accelsim.spec.case import Case
from accelsim.spec.chip import Chip, Link, Memory, Multicast
from accelsim.timeline import TICKS, LaneKind, Timeline

from ..helpers import brief, chip, entry, gemm, level, make, run, stalls
from .strategies import MOST_STEPS, cases, steps_of, wide_cases

SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
RUNS = settings(max_examples=200, deadline=None, suppress_health_check=SLOW)
MANY = settings(max_examples=10_000, deadline=None, suppress_health_check=SLOW, derandomize=False)


# -- conservation ---------------------------------------------------------------------------------------------------


def conserved(case: Case) -> None:
    ran = run(case)
    line, shown = ran.timeline, brief(case)
    assert ran.machine.macs == case.operator.macs, shown
    assert line.counts["hold_cycles"] == sum(
        line.busy_cycles(i) for i, lane in enumerate(line.lanes) if lane.kind is LaneKind.ARRAY
    ), shown
    for number, lane in enumerate(line.lanes):
        rows = sorted((int(start), int(end)) for at, start, end, _, _ in line.rows if at == number)
        assert all(a[1] <= b[0] for a, b in pairwise(rows)), f"{lane.name} is in two states\n{shown}"
        assert sum(end - start for start, end in rows) == line.totals[number].sum(), shown
        assert line.busy_cycles(number) + sum(line.stall_cycles(number).values()) + line.idle_cycles(number) == line.cycles
        assert line.idle_cycles(number) >= 0, shown
        assert not rows or rows[-1][1] <= line.cycles * TICKS, shown
        if lane.kind is not LaneKind.ARRAY:
            assert not line.stall_cycles(number), shown
    assert line.profile.ticks.sum() == line.totals.sum(), shown
    judged(case, line, shown)


def judged(case: Case, line: Timeline, shown: str) -> None:
    """The closed form: the same elements and bytes, and no bound above the run."""
    closed = estimate(case)
    for (name, tensor), moved in line.traffic.items():
        wanted = closed.traffic[case.chip.names.index(name), tensor]
        for key in vars(wanted):
            assert getattr(moved, key) == getattr(wanted, key), f"{name} {tensor} {key}\n{shown}"
    for (place, tensor), wanted in closed.traffic.items():
        if (case.chip.names[place], tensor) not in line.traffic:
            assert not any(vars(wanted).values()), f"{place} {tensor}\n{shown}"
    for bound in closed.bounds:
        assert bound.cycles <= line.cycles, f"{bound}\n{shown}"


@RUNS
@given(wide_cases())
def test_conservation(case: Case) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    conserved(case)


@pytest.mark.nightly
@MANY
@given(wide_cases())
def test_conservation_many_times(case: Case) -> None:
    assume(steps_of(case) <= 3 * MOST_STEPS)
    conserved(case)


@RUNS
@given(cases(ports="apart"))
def test_what_passes_a_boundary_is_served_on_both_sides(case: Case) -> None:
    """Each port's busy time is its bytes / its rate: what comes in at a level has gone through the ports of both ends."""
    assume(steps_of(case) <= MOST_STEPS)
    line = run(case).timeline
    bytes_at: dict[str, int] = {}
    for tensor in case.operator.tensors:
        path = case.paths[tensor.name]
        for outer, inner in pairwise(path):
            moved = line.traffic.get((case.chip.names[inner], tensor.name))
            if moved is None:
                continue
            for place in (outer, inner):
                name = case.chip.names[place]
                bytes_at[f"{name}.fill"] = bytes_at.get(f"{name}.fill", 0) + moved.fill_bytes + moved.refill_bytes
                bytes_at[f"{name}.drain"] = bytes_at.get(f"{name}.drain", 0) + moved.drain_bytes
    for number, lane in enumerate(line.lanes):
        if lane.kind is LaneKind.PORT:
            (memory,) = case.chip.levels[case.chip.names.index(lane.level)].memories
            rate = next(port.rate for port in memory.ports if f"{memory.name}.{port.name}" == lane.name)
            assert rate is not None
            ticks = Fraction(bytes_at.get(lane.name, 0) * TICKS) / rate
            assert ticks <= line.totals[number, 0] <= ticks + line.counts["transfers"], brief(case)


# -- nothing to wait for ----------------------------------------------------------------------------------------------


def without_limits(on: Chip) -> Chip:
    def memory(one: Memory) -> Memory:
        return replace(one, latency_cycles=0, ports=tuple(replace(port, rate=None) for port in one.ports))

    levels = tuple(replace(one, memories=tuple(memory(m) for m in one.memories)) for one in on.levels)
    links = tuple(
        replace(one, rate=None, latency_cycles=0, setup_cycles=0, chunk_bytes=None, multicast=Multicast.NONE) for one in on.links
    )
    pe = replace(on.array, depth_cycles=0, preload=None, preload_row=False, results=None, pes=on.array.pes)
    return replace(on, levels=levels, links=links, array=pe)


@RUNS
@given(cases())
def test_infinite_bandwidth_and_no_latency_mean_no_stall(case: Case) -> None:
    """Every lane-cycle is busy: each MAC one cycle."""
    assume(steps_of(case) <= MOST_STEPS)
    free = make_case(without_limits(case.chip), case.operator, case.mapping)
    line = run(free).timeline
    assert stalls(line) == {}, brief(free)
    assert line.cycles == line.busy_cycles(0) == case.operator.macs, brief(free)


@RUNS
@given(wide_cases())
def test_one_array_without_skew_never_waits_for_free_data(case: Case) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    free = make_case(without_limits(case.chip), case.operator, case.mapping)
    assume(free.chip.array.skew_cycles == 0)
    ran = run(free)
    assume(len(ran.machine.arrays) == 1)
    assert stalls(ran.timeline) == {}, brief(free)


# -- monotony, where no port is shared ----------------------------------------------------------------------------------


def faster(draw: st.DrawFn, case: Case) -> Case:
    """The same case with one memory's rates or latency, or one tensor's slots, better."""
    place = draw(st.integers(0, len(case.chip.levels) - 1))
    one = case.chip.levels[place]
    (memory,) = one.memories
    what = draw(st.sampled_from(["rate", "latency", "slots"]))
    mapping = case.mapping
    if what == "rate":
        factor = draw(st.fractions(Fraction(1), Fraction(8), max_denominator=8))
        free = draw(st.booleans())
        memory = replace(
            memory,
            ports=tuple(replace(port, rate=None if port.rate is None or free else port.rate * factor) for port in memory.ports),
        )
    elif what == "latency":
        memory = replace(memory, latency_cycles=draw(st.integers(0, memory.latency_cycles)))
    else:
        more = draw(st.integers(1, 2))
        entries = list(mapping.levels)
        chosen = entries[draw(st.integers(1, len(entries) - 1))]
        mapping = replace(
            mapping,
            levels=tuple(
                replace(level, buffers=tuple((name, count + more) for name, count in level.buffers)) if level is chosen else level
                for level in entries
            ),
        )
    levels = tuple(replace(one, memories=(memory,)) if i == place else level for i, level in enumerate(case.chip.levels))
    return make_case(replace(case.chip, levels=levels), case.operator, mapping)


@st.composite
def own_port_cases(draw: st.DrawFn) -> tuple[Case, Case]:
    """A case in which every port serves one direction of one tensor on one side, and a better one.

    A memory in the middle of a path serves fills on both its sides with one port, so middles are unlimited.
    """
    case = draw(cases(ports="own"))
    levels = []
    for place, one in enumerate(case.chip.levels):
        (memory,) = one.memories
        middle = any(place in path[1:-1] for path in case.paths.values())
        levels.append(
            replace(
                one,
                memories=(
                    replace(memory, ports=tuple(replace(port, rate=None if middle else port.rate) for port in memory.ports)),
                ),
            )
        )
    slow = make_case(replace(case.chip, levels=tuple(levels)), case.operator, case.mapping)
    return slow, faster(draw, slow)


@RUNS
@given(own_port_cases())
def test_better_is_never_slower_where_no_port_is_shared(pair: tuple[Case, Case]) -> None:
    slow, fast = pair
    assume(steps_of(slow) <= MOST_STEPS)
    assert run(fast).cycles <= run(slow).cycles, brief(slow) + "\n" + brief(fast)


@pytest.mark.nightly
@MANY
@given(own_port_cases())
def test_better_is_never_slower_many_times(pair: tuple[Case, Case]) -> None:
    slow, fast = pair
    assume(steps_of(slow) <= 3 * MOST_STEPS)
    assert run(fast).cycles <= run(slow).cycles, brief(slow) + "\n" + brief(fast)


# -- determinism ------------------------------------------------------------------------------------------------------


def digest(line: Timeline) -> str:
    found = hashlib.sha256()
    for part in (line.totals, line.rows, line.profile.ticks):
        found.update(np.ascontiguousarray(part).tobytes())
    told = (
        line.cycles,
        line.lanes,
        line.labels,
        line.rows_dropped,
        line.first_starts,
        sorted(line.link_bytes.items()),
        sorted(line.culprits.items()),
        sorted(line.counts.items()),
        sorted((key, sorted(vars(value).items())) for key, value in line.traffic.items()),
        line.profile.bin_cycles,
    )
    found.update(repr(told).encode())
    return found.hexdigest()


@settings(max_examples=50, deadline=None, suppress_health_check=SLOW)
@given(wide_cases())
def test_the_same_case_gives_the_same_bytes(case: Case) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    again = make_case(case.chip, case.operator, case.mapping)
    assert digest(run(case).timeline) == digest(run(again).timeline), brief(case)


def fixed_case() -> Case:
    """Four cores that share a multicast and contend, over three levels."""
    links = (Link("noc", "DRAM", "L1", None, frozenset(), None, 0, 1, 0, None, None, None, Multicast.NONE, False, False),)
    on = chip(
        [
            level("DRAM", Fraction(19, 10), 31, ports="shared"),
            level("L1", 8, 3, ports="shared", fanout=(("x", 4),)),
            level("L2", 16, 1, ports="shared"),
        ],
        links=links,
    )
    return make(on, gemm(9, 10, 7), entry("DRAM", "k2 m3", x="n4"), entry("L1", "n3 m2 k2"), entry("L2", "m2 k2"))


PROGRAM = """
import sys
sys.path[:0] = {paths!r}
from tests.properties.test_laws import digest, fixed_case
from tests.helpers import run
print(digest(run(fixed_case()).timeline))
"""


@pytest.mark.parametrize("seed", ["0", "1", "4711", "random"])
def test_the_same_bytes_in_other_processes_hash_seeds_and_folders(seed: str, tmp_path: Path) -> None:
    root = str(Path(__file__).resolve().parents[2])
    env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONDONTWRITEBYTECODE": "1"}
    program = PROGRAM.format(paths=[root, *sys.path])
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == digest(run(fixed_case()).timeline)
