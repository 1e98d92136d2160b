"""The event loop as plain Python too: what it tells is what the SimPy driver tells, on cases that reach all of it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings

from accelsim.kernels import jit
from accelsim.machine.compiled_driver import CompiledMachine
from accelsim.recorder import RecordOptions
from accelsim.spec.case import Case
from accelsim.spec.chip import Multicast
from tests.helpers import array, chip, entry, gemm, level, link, make, operator, run
from tests.machine.test_drivers import compare
from tests.machine.test_fast_forward import compare as forwarded
from tests.properties.strategies import cases, steps_of, wide_cases

FEW = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@FEW
@given(cases())
def test_one_instance(case: Case) -> None:
    assume(steps_of(case) <= 300)
    compare(case)


@FEW
@given(wide_cases())
def test_several_instances(case: Case) -> None:
    assume(steps_of(case) <= 300)
    compare(case)


def test_long_transfers_are_cut_into_pieces() -> None:
    on = chip([level("DRAM", latency=10), level("L1", latency=3)],
              links=(link("DRAM", "L1", rate=2, latency=5, setup_cycles=2, chunk_bytes=24),))
    compare(make(on, gemm(8, 8, 8), entry("DRAM", "k2 m2 n2"), entry("L1", "m4 n4 k4")))


def test_pieces_that_nothing_serves_pass_at_once() -> None:
    on = chip([level("DRAM", latency=10), level("L1")], links=(link("DRAM", "L1", chunk_bytes=24),))
    case = make(on, gemm(8, 8, 8), entry("DRAM", "k2 m2 n2"), entry("L1", "m4 n4 k4"))
    compare(case)
    assert run(case).cycles == 8 * 64 + 10 + 10


def test_multicasts_and_reductions() -> None:
    on = chip([level("DRAM", latency=7), level("L1", fanout=(("x", 4),))],
              links=(link("DRAM", "L1", tensors=frozenset("A"), multicast=Multicast.EQUAL, rate=3, name="in"),
                     link("DRAM", "L1", tensors=frozenset("C"), reduce=True, latency=4, name="out")))
    compare(make(on, gemm(4, 6, 8), entry("DRAM", "k2 m2", x="k4"), entry("L1", "n6 m2")))
    compare(make(on, gemm(4, 6, 8), entry("DRAM", "k8 m2", x="n4"), entry("L1", "n2 m2")))


@pytest.mark.parametrize("latency", [0, 30])
@pytest.mark.parametrize("n", [1, 4])
def test_an_idle_core_keeps_its_results_while_those_of_the_other_leave(latency: int, n: int) -> None:
    """m = 3 over two cores: the second is idle in every other step, and what it holds drains to a later tile of the level
    above, which has to be there first."""
    on = chip([level("DRAM", latency=latency, rate=1), level("L1", latency=3), level("L2", fanout=(("x", 2),))])
    for buffers in (1, 2):
        case = make(on, gemm(3, n, 4), entry("DRAM", "k2 m2 n2"),
                    entry("L1", "n2", "A B C", {"A": buffers, "B": buffers, "C": buffers}, x="m2"), entry("L2", "k2"))
        compare(case)


def test_a_tile_without_new_elements_is_whole_with_the_one_before() -> None:
    """Windows of a convolution within those before, and reductions that come back from two levels further out."""
    on = chip([level("DRAM", latency=20, rate=1), level("L1", latency=3, rate=1), level("L2", latency=2)])
    what = operator("conv1d", n=1, k=2, c=2, p=3, r=3, padding=2)
    for loops in ("r3 k2 c2 p3", "c2 p3 k2 r3", "p3 r3 c2 k2"):
        compare(make(on, what, entry("DRAM", loops), entry("L1", ""), entry("L2", "")))
        compare(make(on, what, entry("DRAM", "k2 r3"), entry("L1", loops), entry("L2", "")))


def test_array_latency_and_ports() -> None:
    on = chip([level("DRAM", latency=7, rate=4), level("L1", rate=2, ports="all")], array(depth_cycles=9))
    compare(make(on, gemm(4, 6, 8), entry("DRAM", "k4 m2"), entry("L1", "n6 m2 k2")), RecordOptions(window=(10, 60)))


def test_room_is_made_where_it_runs_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pools begin with so little that each has to be enlarged, some of them several times."""
    from accelsim.machine import compiled_layout
    monkeypatch.setattr(compiled_layout, "SPARE", 0)
    on = chip([level("DRAM", latency=90), level("L1", latency=40), level("L2", latency=20, fanout=(("x", 3),))])
    case = make(on, gemm(6, 9, 8), entry("DRAM", "k4 m2"), entry("L1", "n3", x="n3"),
                entry("L2", "m3 k2"))
    compare(case)


def test_calls_of_the_kernel_are_few() -> None:
    """One for each supply of stays and blocks at the beginning and at the end, and one for each batch of rows."""
    on = chip([level("DRAM"), level("L1")])
    ran = run(make(on, gemm(16, 16, 16), entry("DRAM", "k8 m8 n8"), entry("L1", "m2 n2 k2")), None, CompiledMachine)
    assert isinstance(ran.machine, CompiledMachine)
    assert ran.timeline.counts["blocks"] == 512
    assert ran.machine.calls <= 12


@pytest.mark.parametrize("name", ["accelsim.kernels.event_loop", "accelsim.kernels.walk"])
def test_they_are_among_those_that_are_compiled_beforehand(name: str) -> None:
    assert name in jit.compile_all()


@pytest.mark.parametrize("chunk", [None, 24])
@pytest.mark.parametrize("cores", [1, 2])
def test_periods_are_told_compared_and_added(chunk: int | None, cores: int) -> None:
    """All that a state can have in it: transfers on their way and behind others, pieces of them, refills, drains."""
    on = chip([level("DRAM", 3, 40, ports="shared"), level("L1", 5, 3, fanout=(("x", cores),))],
              links=(link("DRAM", "L1", rate=7, latency=5, chunk_bytes=chunk),))
    case = make(on, gemm(96 * cores, 4, 8), entry("DRAM", "m48 k4", "A B C", {"A": 1, "B": 1, "C": 1}, x=f"m{cores}"),
                entry("L1", "m2 n4 k2", "A B C", {"A": 3, "B": 1, "C": 2}))
    assert forwarded(case).skipped.steps > 0
