"""Does each dataflow write a legal mapping wherever a chip can run it, and does `auto` take the fastest by estimate?"""

from fractions import Fraction
from pathlib import Path

import pytest

from accelsim.analytic.auto import choose, write
from accelsim.analytic.estimate import estimate
from accelsim.errors import DoesNotFit, SpecError
from accelsim.spec.build import make_case
from accelsim.spec.chip import Chip
from accelsim.spec.dataflows import DATAFLOWS, Dataflow
from accelsim.spec.operator import Operator
from accelsim.spec.read import read_chip, read_workload, shipped

from ..helpers import array, chip, level

TYPES = {"eyeriss": ",dtype=int16,accumulator=int16", "tpu-v3": ",dtype=bf16", "toy": "", "toy3": ""}
WORK = {"gemm": "gemm:m=40,n=36,k=52", "conv2d": "conv2d:k=20,c=6,p=9,q=9,r=3,s=3,padding=1",
        "strided": "conv2d:k=12,c=3,p=8,q=8,r=5,s=5,stride=2,padding=2", "pointwise": "conv2d:k=24,c=16,p=7,q=7,r=1,s=1",
        "grouped": "conv2d:k=12,c=6,p=5,q=5,r=3,s=3,groups=2", "depthwise": "depthwise2d:c=12,p=8,q=8,r=3,s=3",
        "gemv": "gemv:n=70,k=90", "batched": "batched_gemm:b=3,m=10,n=12,k=14", "one": "gemm:m=1,n=1,k=1"}
CHIPS = {name: read_chip(name) for name in shipped("chips")}


def work(chip_name: str, name: str) -> Operator:
    operator, = read_workload(WORK[name] + TYPES.get(chip_name, ",dtype=int8")).operators
    return operator


@pytest.mark.parametrize("dataflow", DATAFLOWS, ids=lambda flow: flow.name)
@pytest.mark.parametrize("on", CHIPS)
@pytest.mark.parametrize("name", WORK)
def test_a_dataflow_is_legal_where_it_can_run(on: str, name: str, dataflow: Dataflow) -> None:
    operator = work(on, name)
    if why := dataflow.runs_on(CHIPS[on], operator):
        with pytest.raises(SpecError, match="cannot run"):
            write(dataflow.name, CHIPS[on], operator)
        assert why
        return
    mapping = write(dataflow.name, CHIPS[on], operator)
    case = make_case(CHIPS[on], operator, mapping)
    assert mapping.origin == f"dataflow {dataflow.name}"
    assert estimate(case).macs == operator.macs


@pytest.mark.parametrize("on", CHIPS)
def test_every_chip_runs_a_dataflow(on: str) -> None:
    assert any(not flow.runs_on(CHIPS[on], work(on, "gemm")) for flow in DATAFLOWS)


def tried(on: Chip, operator: Operator) -> list[tuple[int, int, str]]:
    found = []
    for order, flow in enumerate(DATAFLOWS):
        if flow.runs_on(on, operator):
            continue
        try:
            found.append((estimate(make_case(on, operator, flow.write(on, operator))).cycles, order, flow.name))
        except (DoesNotFit, SpecError):
            continue
    return found


@pytest.mark.parametrize("on", CHIPS)
@pytest.mark.parametrize("name", ["gemm", "conv2d", "depthwise", "gemv"])
def test_auto_takes_the_fewest_estimated_cycles_ties_by_order(on: str, name: str) -> None:
    operator = work(on, name)
    found = tried(CHIPS[on], operator)
    best = min(found)[2]
    chosen = choose(CHIPS[on], operator)
    assert chosen.origin.startswith(f"auto chose {best} (")
    assert chosen.levels == next(flow for flow in DATAFLOWS if flow.name == best).write(CHIPS[on], operator).levels
    for cycles, _, flow in found:
        assert f"{flow}: {cycles:,} cycles estimated" in chosen.origin


def test_a_tie_goes_to_the_first_listed() -> None:
    operator, = read_workload("gemm:m=8,n=8,k=8").operators
    found = tried(CHIPS["toy"], operator)
    ties = [name for cycles, _, name in found if cycles == min(found)[0]]
    assert len(ties) > 1
    assert choose(CHIPS["toy"], operator).origin.startswith(f"auto chose {ties[0]} ")


def test_where_not_even_the_smallest_tiles_fit() -> None:
    tiny = chip([level("DRAM"), level("L1", capacity_bytes=8)], array())
    operator, = read_workload("gemm:m=8,n=8,k=8").operators
    with pytest.raises(DoesNotFit) as caught:
        choose(tiny, operator)
    assert caught.value.exit_code == 3
    assert "8 B available" in str(caught.value)


def test_tiles_are_square_at_the_side_that_fits() -> None:
    on = chip([level("DRAM", Fraction(4)), level("L1", capacity_bytes=6 * 16 * 16 * 4)], array())
    operator, = read_workload("gemm:m=64,n=64,k=64").operators
    case = make_case(on, operator, write("weight-stationary", on, operator))
    assert {case.tile_elements(1, tensor) for tensor in operator.tensors} == {256}


def test_a_chip_that_names_its_dataflows_runs_no_other() -> None:
    with pytest.raises(SpecError, match="eyeriss runs row-stationary only"):
        write("weight-stationary", CHIPS["eyeriss"], work("eyeriss", "conv2d"))


def test_a_stationary_tensor_is_bound_at_the_array() -> None:
    operator = work("gemmini", "gemm")
    for name, tensor in (("weight-stationary", "B"), ("output-stationary", "C"), ("input-stationary", "A")):
        assert write(name, CHIPS["gemmini"], operator).levels[-1].binding == (tensor,)


def test_a_matrix_unit_of_named_extents_counts_them_when_tiles_are_fitted(tmp_path: Path) -> None:
    """Its m and n are part of every step: tiles that are fitted without them would not fit (a 256 KiB memory here)."""
    path = tmp_path / "chip.yaml"
    path.write_text("name: unit\ndescription: A unit of 16 x 64\nclock: 1 GHz\nlevels:\n"
                    "  - {name: DRAM, kind: dram, capacity: unlimited, bandwidth: 19.2 GB/s}\n"
                    "  - {name: SRAM, kind: sram, capacity: 256 KiB, bandwidth: unlimited}\n"
                    "  - {name: UNIT, array: {model: matrix, pes: {m: 16, n: 64}}}\n", encoding="utf-8")
    on = read_chip(str(path))
    what = read_workload("gemm:m=16,n=1024,k=1024,dtype=int8").operators[0]
    for name in ("weight-stationary", "output-stationary", "input-stationary"):
        make_case(on, what, write(name, on, what))


@pytest.mark.parametrize("side", [64, 100, 128, 129, 257, 1000])
def test_a_tile_rounded_up_to_whole_inner_ones_fits_still(side: int) -> None:
    """Cores below a buffer: what they take together is rounded up to whole tiles of theirs; those get smaller until it fits."""
    on = chip([level("DRAM", 16, 50), level("L2", 32, capacity_bytes=128 << 10),
               level("L1", 32, capacity_bytes=16 << 10, fanout=(("cx", 2), ("cy", 2))),
               level("RF", capacity_bytes=256, fanout=(("x", 4), ("y", 4)))])
    operator, = read_workload(f"gemm:m={side},n={side},k={side}").operators
    case = make_case(on, operator, choose(on, operator))
    assert estimate(case).macs == side**3
