"""Components of a user's own beside a run: their turn at ports to the cycle, their place in lanes and blame, and their end."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import simpy
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from accelsim.analytic.estimate import estimate
from accelsim.drivers import Driver, Running
from accelsim.errors import SpecError
from accelsim.machine.components import Component, Ports, Service
from accelsim.machine.network import build_network
from accelsim.machine.simulate import simulate
from accelsim.measure.report import OperatorReport, measure
from accelsim.plan.schedule import Schedule
from accelsim.spec.banks import Banks
from accelsim.spec.banks import Ports as BankPorts
from accelsim.spec.case import Case
from accelsim.spec.read import read_memory
from accelsim.stalls import StallCause
from accelsim.timeline import BUSY_STATE, TICKS, LaneKind, Timeline
from accelsim.verbs import Options, ask

from ..helpers import brief, chip, differing, entry, gemm, level, link, make
from ..properties.strategies import MOST_STEPS, steps_of, wide_cases
from .bank_cases import with_banks
from .channel_cases import with_channels

SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
RUNS = settings(max_examples=80, deadline=None, suppress_health_check=SLOW)
SIMPY = Running(Driver.SIMPY)
PORT = "DRAM.port"
Process = Generator[simpy.Event, Any, None]
Asked = tuple[int, int]
"""A cycle, and for how many cycles a port is asked for then."""


def case_of(chip_name: str, workload: str, *overrides: str) -> Case:
    (case,) = ask(chip_name, workload, Options(overrides=overrides)).cases
    assert isinstance(case, Case)
    return case


TILE = case_of("toy", "gemm:m=4,n=4,k=4")
"""DESIGN section 3: the port serves A 0-16, B 16-32 and C 196-212; B is there at 132, computed until 196; C is there at 312."""


def asking(*asked: Asked, port: str = PORT, found: list[Service] | None = None) -> Component:
    """A component that asks at cycles, in order, and does not wait to be served before it asks again."""

    def served(ports: Ports, request: simpy.Event) -> Process:
        service = yield request
        assert ports.now == service.end
        if found is not None:
            found.append(service)

    def component(ports: Ports) -> Process:
        for cycle, cycles in asked:
            if cycle > ports.now:
                yield ports.wait(cycle - ports.now)
            ports.env.process(served(ports, ports.book(port, cycles=cycles)))

    return component


def beside(case: Case, components: Mapping[str, Component]) -> tuple[Timeline, OperatorReport]:
    """A run beside components and its report, whose laws have been checked."""
    timeline = simulate(Schedule(case), components=components)
    return timeline, measure(case, timeline, estimate(case))


def behind(report: OperatorReport) -> dict[str, int]:
    """Cycles of contention, by whom they are blamed on."""
    return {whose: cycles for (cause, _, whose), cycles in report.culprits.items() if cause == StallCause.CONTENTION.code}


def rows_of(timeline: Timeline, lane: str, label: str) -> list[tuple[float, float]]:
    """When a lane was busy with something, in cycles."""
    number = [one.name for one in timeline.lanes].index(lane)
    return [(start / TICKS, end / TICKS) for at, start, end, state, of in timeline.rows.tolist()
            if at == number and state == BUSY_STATE and timeline.labels[of] == label]


# -- by hand --------------------------------------------------------------------------------------------------------


def test_whoever_comes_while_a_component_is_served_waits_for_it() -> None:
    """C asks at 196, when the host has the port from 190 to 200: there four cycles later than at 312."""
    found: list[Service] = []
    timeline, report = beside(TILE, {"host": asking((190, 10), found=found)})
    assert report.cycles == 316
    assert found == [Service(190, 190, 200)]
    assert behind(report) == {"A": 16, "host": 4}
    assert rows_of(timeline, PORT, "host") == [(190, 200)]
    assert rows_of(timeline, PORT, "C") == [(200, 216)]
    assert report.lanes[PORT].busy_cycles == 3 * 16 + 10


@pytest.mark.parametrize(("cycle", "begin", "ends", "waits"), [
    (0, 32, 312, 0),     # A and B ask in this cycle too, and go first
    (31, 32, 312, 0),    # the port is busy until 32
    (32, 32, 312, 0),    # and free in this cycle
    (185, 185, 312, 0),  # free again at 195
    (186, 186, 312, 0),  # free again when C asks
    (187, 187, 313, 1),  # free a cycle later
    (195, 195, 321, 9),
    (196, 212, 312, 0),  # C asks in this cycle too, and goes first
    (211, 212, 312, 0),
    (212, 212, 312, 0),
])
def test_a_component_is_served_in_its_turn(cycle: int, begin: int, ends: int, waits: int) -> None:
    found: list[Service] = []
    _, report = beside(TILE, {"host": asking((cycle, 10), found=found)})
    assert found == [Service(cycle, begin, begin + 10)]
    assert (report.cycles, behind(report).get("host", 0)) == (ends, waits)


def test_bytes_take_what_they_take_at_the_ports_rate() -> None:
    """10 B at 4 B/cycle are two cycles and a half: the next is served from there on, and both have left by the cycle's end."""
    found: list[Service] = []

    def host(ports: Ports) -> Process:
        yield ports.wait(50)
        requests = [ports.book(PORT, size_bytes=10), ports.book(PORT, size_bytes=2)]
        for request in requests:
            found.append((yield request))

    timeline, report = beside(TILE, {"host": host})
    assert found == [Service(50, 50, 53), Service(50, 53, 53)]
    assert rows_of(timeline, PORT, "host") == [(50, 52.5), (52.5, 53)]
    assert report.lanes[PORT].busy_cycles == 3 * 16 + 3


def test_a_wait_is_blamed_on_each_that_was_ahead() -> None:
    """The host has the port from 190 to 200, the engine behind it until 205; C waits from 196 to 205."""
    _, report = beside(TILE, {"host": asking((190, 10)), "engine": asking((191, 5))})
    assert report.cycles == 321
    assert behind(report) == {"A": 16, "host": 4, "engine": 5}


def test_however_many_are_ahead_a_wait_is_blamed_on_them() -> None:
    """100 requests at once: the last is served until 290, and C, which asks at 196, waits for 94 of them."""
    assert build_network(Schedule(TILE)).depth < 94
    _, report = beside(TILE, {"host": asking(*[(190, 1)] * 100)})
    assert report.cycles == 312 + 94
    assert behind(report) == {"A": 16, "host": 94}


def test_components_that_ask_in_one_cycle_are_served_in_the_order_in_which_they_are_named() -> None:
    def services(*names: str) -> dict[str, list[Service]]:
        found: dict[str, list[Service]] = {name: [] for name in names}
        beside(TILE, {name: asking((40, 3), (40, 2), found=found[name]) for name in names})
        return found

    first, second = [Service(40, 40, 43), Service(40, 43, 45)], [Service(40, 45, 48), Service(40, 48, 50)]
    assert services("host", "engine") == {"host": first, "engine": second}
    assert services("engine", "host") == {"engine": first, "host": second}


def test_an_array_steps_ports_wait_too() -> None:
    """One port for everything, 4 B/cycle, of one MAC: A 0-1, B 1-2; the step books A 2-3, B 3-4, C 4-5; C drains 5-6.

    The host, who asks at 1, has the port from 2 to 12: the step is as much longer, which is its ports' time and no stall.
    """
    case = make(chip([level("DRAM"), level("L1", 4, ports="all")]), gemm(1, 1, 1), entry("DRAM", "", "A B C"),
                entry("L1", "m1 n1 k1", "A B C"))
    assert beside(case, {"host": asking(port="L1.port")})[1].cycles == 6
    timeline, report = beside(case, {"host": asking((1, 10), port="L1.port")})
    assert report.cycles == 16
    assert rows_of(timeline, "L1.port", "host") == [(2, 12)]
    assert report.lanes["PE"].busy_cycles == 13
    assert report.pe_cycles.ports == 12


def test_cycles_are_counted_from_the_operators_first() -> None:
    """A launch of 50 cycles comes before what a component can see; the timeline has it in."""
    found: list[Service] = []
    timeline, report = beside(case_of("toy", "gemm:m=4,n=4,k=4", "chip.launch=50 cycles"),
                              {"host": asking((190, 10), found=found)})
    assert report.cycles == 50 + 316
    assert found == [Service(190, 190, 200)]
    assert rows_of(timeline, PORT, "host") == [(240, 250)]


def test_no_bytes_are_counted_for_a_component() -> None:
    _, alone = beside(TILE, {"host": asking()})
    _, busy = beside(TILE, {"host": asking((40, 50))})
    assert (busy.levels, busy.port_bytes, busy.links) == (alone.levels, alone.port_bytes, alone.links)
    assert not busy.crosscheck.traffic_differences


def test_a_record_with_a_component_is_saved_and_read_back(tmp_path: Path) -> None:
    timeline, _ = beside(TILE, {"host": asking((190, 10))})
    timeline.save(tmp_path / "record.npz")
    read_back = Timeline.load(tmp_path / "record.npz")
    assert not differing(timeline, read_back)
    assert rows_of(read_back, PORT, "host") == [(190, 200)]


# -- how it ends ----------------------------------------------------------------------------------------------------


def test_a_component_that_goes_on_for_ever_ends_with_the_operator() -> None:
    ended: list[int] = []

    def host(ports: Ports) -> Process:
        try:
            while True:
                yield ports.wait(100)
        finally:
            ended.append(ports.now)

    assert beside(TILE, {"host": host})[1].cycles == 312
    assert ended == [312]


def test_the_port_is_busy_for_a_component_up_to_the_operators_end() -> None:
    """The host has the port from 250 on; what it asks for behind that would begin after the end."""
    timeline, report = beside(TILE, {"host": asking((250, 1000), (251, 1000))})
    assert report.cycles == 312
    assert rows_of(timeline, PORT, "host") == [(250, 312)]
    assert report.lanes[PORT].busy_cycles == 3 * 16 + 62


def test_a_port_always_asked_for_still_serves_the_operator() -> None:
    """The host is served 10 cycles from 32 on, over and over, so until 202 when C asks at 196."""

    def host(ports: Ports) -> Process:
        while True:
            yield ports.book(PORT, cycles=10)

    _, report = beside(TILE, {"host": host})
    assert report.cycles == 318
    assert behind(report) == {"A": 16, "host": 6}


# -- what is wrong --------------------------------------------------------------------------------------------------


def refused(components: Mapping[str, Component], case: Case = TILE, running: Running | None = None) -> str:
    with pytest.raises(SpecError) as caught:
        simulate(Schedule(case), running=running, components=components)
    return str(caught.value)


def test_a_port_that_there_is_not_is_refused_with_the_nearest() -> None:
    assert refused({"host": asking((5, 1), port="DRAM.prot")}) == (
        "component host: DRAM.prot: no port or link of this run that takes time; allowed: DRAM.port; did you mean 'DRAM.port'?")


def test_channels_that_are_simulated_are_refused() -> None:
    case = with_channels(make(chip([level("DRAM"), level("L1", 4)]), gemm(2, 2, 2), entry("DRAM", "m2 n2 k2", "A B C"),
                              entry("L1", "", "A B C")), [read_memory("ddr4-3200")])
    assert case is not None
    for port in ("DRAM.port", "DRAM.channel0"):
        assert refused({"host": asking((5, 1), port=port)}, case).startswith(
            f"component host: {port}: channels of DRAM are simulated, and serve no component")
    found: list[Service] = []
    timeline, _ = beside(case, {"host": asking((5, 3), port="L1.fill", found=found)})
    assert len(rows_of(timeline, "L1.fill", "host")) == len(found) == 1


def test_bytes_take_no_time_where_only_set_up_does() -> None:
    case = make(chip([level("DRAM", 4), level("L1")], links=(link("DRAM", "L1", setup_cycles=2),)), gemm(1, 1, 1),
                entry("DRAM", "m1 n1 k1", "A B C"), entry("L1", "", "A B C"))

    def host(ports: Ports) -> Process:
        yield ports.book("DRAM-L1", size_bytes=4)

    assert "cycle 0: ValueError: it books DRAM-L1 for bytes, which take no time there" in refused({"host": host}, case)
    found: list[Service] = []
    beside(case, {"host": asking((0, 3), port="DRAM-L1", found=found)})
    assert [one.end - one.begin for one in found] == [3]


def yields(make_event: Callable[[Ports], object]) -> Component:
    def component(ports: Ports) -> Generator[Any, Any, None]:
        yield ports.wait(7)
        yield make_event(ports)

    return component


def returns_nothing(_: Ports) -> Any:
    return None


@pytest.mark.parametrize(("component", "said"), [
    (yields(lambda _: 1 // 0), "component host: cycle 7: ZeroDivisionError: integer division or modulo by zero"),
    (yields(lambda _: 5), "component host: cycle 7: TypeError: it yields 5, which is no event"),
    (yields(lambda ports: ports.wait(0)), "component host: cycle 7: ValueError: it waits for 0 cycles"),
    (yields(lambda ports: ports.book(PORT)), "component host: cycle 7: ValueError: it books DRAM.port for None cycles"),
    (yields(lambda ports: ports.book(PORT, cycles=0)), "component host: cycle 7: ValueError: it books DRAM.port for 0 cycles"),
    (yields(lambda ports: ports.book(PORT, cycles=1, size_bytes=1)), "component host: cycle 7: ValueError: it books DRAM.port"),
    (yields(lambda ports: ports.env.timeout(0.5)), "components: one of host waits until 7.5; allowed: whole cycles"),
    (returns_nothing, "component host: cycle 0: TypeError: it returns None: a component is a generator function"),
])
def test_a_component_that_fails_is_named(component: Component, said: str) -> None:
    assert refused({"host": component}).startswith(said)


def test_a_component_that_fails_in_the_last_cycle_is_named() -> None:
    def host(ports: Ports) -> Process:
        yield ports.wait(312)
        raise LookupError("too late")

    assert refused({"host": host}) == "component host: cycle 312: LookupError: too late"


def test_a_component_that_fails_when_it_is_ended_is_named() -> None:
    def host(ports: Ports) -> Process:
        try:
            yield ports.wait(1000)
        finally:
            raise LookupError("not yet done")

    assert refused({"host": host}) == "component host: cycle 312: LookupError: not yet done"


def test_a_component_may_go_on_after_an_event_that_failed() -> None:
    found: list[str] = []

    def host(ports: Ports) -> Process:
        event = ports.env.event()
        event.fail(LookupError("of its own"))
        try:
            yield event
        except LookupError as error:
            found.append(str(error))
        yield ports.book(PORT, cycles=5)
        found.append(str(ports.now))

    beside(TILE, {"host": host})
    assert found == ["of its own", "37"]


@pytest.mark.parametrize("name", ["A", "C", "others", "other core", ""])
def test_a_name_that_means_something_else_is_refused(name: str) -> None:
    assert refused({name: asking()}).startswith("components: ")


def test_the_compiled_driver_is_not_asked_for_beside_components() -> None:
    assert refused({"host": asking()}, running=Running(Driver.COMPILED)) == (
        "components: the compiled driver runs none; allowed: Running(Driver.SIMPY), or no driver named")
    assert simulate(Schedule(TILE), running=SIMPY, components={"host": asking()}).cycles == 312
    assert simulate(Schedule(TILE), components={"host": asking()}).skipped.note == (
        "the SimPy driver runs every step, as components need it")


# -- laws -----------------------------------------------------------------------------------------------------------


def waiting(every: int) -> Component:
    """A component that books nothing."""

    def component(ports: Ports) -> Process:
        while True:
            yield ports.wait(every)

    return component


def unchanged(case: Case, every: int) -> None:
    alone = simulate(Schedule(case), running=SIMPY)
    with_one = simulate(Schedule(case), components={"host": waiting(every), "engine": asking()})
    assert with_one.labels == (*alone.labels, "host", "engine")
    assert not differing(alone, replace(with_one, labels=alone.labels, skipped=alone.skipped)), brief(case)


@RUNS
@given(wide_cases(), st.integers(1, 40))
def test_components_that_book_nothing_change_nothing(case: Case, every: int) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    unchanged(case, every)


@RUNS
@given(wide_cases(), st.integers(1, 40), st.sampled_from(["ddr4-3200", "hbm2-2000"]))
def test_nor_do_they_beside_simulated_channels(case: Case, every: int, technology: str) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    found = with_channels(case, [read_memory(technology)])
    assume(found is not None)
    assert found is not None
    unchanged(found, every)


def busy_beside(case: Case, asked: list[tuple[int, int, int]]) -> None:
    """Random bookings of random ports: every law of a run holds, and a port's lane has its transfers and the bookings."""
    alone = simulate(Schedule(case), running=SIMPY)
    resources = [one.lane.name for one in build_network(Schedule(case)).resources]
    ports = [name for name in resources if not name.startswith("DRAM.channel")]
    assume(ports)
    given_to: dict[str, list[Asked]] = {}
    for number, cycle, cycles in asked:
        given_to.setdefault(ports[number % len(ports)], []).append((cycle, cycles))
    found: dict[str, list[Service]] = {port: [] for port in given_to}
    timeline, report = beside(case, {f"host of {port}": asking(*sorted(own), port=port, found=found[port])
                                     for port, own in given_to.items()})
    shown = f"{given_to}\n{brief(case)}"
    for number, lane in enumerate(timeline.lanes):
        rows = sorted((start, end) for at, start, end, _, _ in timeline.rows.tolist() if at == number)
        assert all(one[1] <= other[0] for one, other in pairwise(rows)), f"{lane.name} is in two states\n{shown}"
        assert not rows or rows[-1][1] <= timeline.cycles * TICKS, shown
        if lane.kind is LaneKind.ARRAY:
            continue
        own = rows_of(timeline, lane.name, f"host of {lane.name}") if lane.name in given_to else []
        assert timeline.busy_cycles(number) == alone.busy_cycles(number) + sum(end - begin for begin, end in own), shown
        services = [one for one in found.get(lane.name, []) if one.end <= timeline.cycles]
        assert sum(end - begin for begin, end in own[:len(services)]) == sum(
            cycles for _, cycles in sorted(given_to.get(lane.name, []))[:len(services)]), shown
        assert all(one.asked <= one.begin < one.end for one in services), shown
    stalled = sum(report.stalls.values())
    assert sum(report.culprits.values()) == stalled, shown
    assert (timeline.traffic, timeline.link_bytes, timeline.port_bytes) == (
        alone.traffic, alone.link_bytes, alone.port_bytes), shown
    assert not report.crosscheck.traffic_differences, shown
    assert sum(cycles for _, cycles in report.crosscheck.waterfall) == report.cycles - (
        report.crosscheck.bound.cycles if report.crosscheck.bound is not None else 0), shown


BOOKINGS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 150), st.integers(1, 30)), min_size=1, max_size=12)


@RUNS
@given(wide_cases(), BOOKINGS)
def test_a_runs_laws_hold_beside_components(case: Case, asked: list[tuple[int, int, int]]) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    busy_beside(case, asked)


@settings(max_examples=40, deadline=None, suppress_health_check=SLOW)
@given(wide_cases(), BOOKINGS)
def test_they_hold_beside_simulated_channels(case: Case, asked: list[tuple[int, int, int]]) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    found = with_channels(case, [read_memory("ddr4-3200")])
    assume(found is not None)
    assert found is not None
    busy_beside(found, asked)


@settings(max_examples=40, deadline=None, suppress_health_check=SLOW)
@given(wide_cases(), BOOKINGS)
def test_they_hold_before_simulated_banks(case: Case, asked: list[tuple[int, int, int]]) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    found = with_banks(case, [Banks(4, 4, BankPorts(both=1))])
    assume(found is not None)
    assert found is not None
    busy_beside(found, asked)
