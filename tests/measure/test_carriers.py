"""Is everything that carries bytes found under its name, with its lanes and its rate?"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from accelsim.measure.carriers import Carrier, CarrierKind, carriers
from accelsim.measure.roofline import roofline
from accelsim.timeline import LaneKind
from accelsim.verbs import Options, run

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"


def carriers_of(chip: str, workload: str, options: Options | None = None) -> dict[str, Carrier]:
    finished = run(chip, workload, options)
    (one,), (timeline,) = finished.report.done, finished.timelines
    assert timeline is not None
    found = carriers(one.case, timeline.lanes)
    # every lane but the arrays' is of one carrier
    lanes = sorted(number for carrier in found for number in carrier.lanes)
    assert lanes == [number for number, lane in enumerate(timeline.lanes) if lane.kind is not LaneKind.ARRAY]
    roofs = {roof.name: roof.bytes_per_cycle for roof in roofline(one).roofs}
    for carrier in found:
        if carrier.name in roofs:
            assert carrier.bytes_per_cycle == roofs[carrier.name], carrier.name
    return {carrier.name: carrier for carrier in found}


def test_toy_has_one_port_of_limited_rate() -> None:
    found = carriers_of("toy", "gemm:m=4,n=4,k=4")
    assert list(found) == ["DRAM.port", "SRAM.fill", "SRAM.drain", "SRAM.array_read", "SRAM.array_write"]
    assert (found["DRAM.port"].kind, found["DRAM.port"].bytes_per_cycle) == (CarrierKind.DRAM, 4)
    assert all(found[name].bytes_per_cycle is None for name in list(found)[1:])


def test_a_link_stands_between_its_levels_and_the_arrays_ports_come_last() -> None:
    found = carriers_of("gemmini", "gemm:m=64,n=64,k=64,dtype=int8", Options(dataflow="weight-stationary"))
    assert (found["DMA"].kind, found["DMA"].level, found["DMA"].inner) == (CarrierKind.LINK, "DRAM", "ONCHIP")
    assert list(found)[-1] == "PE.preload"
    assert found["PE.preload"].bytes_per_cycle == 16  # a row of 16 int8 words a cycle


def test_channels_of_a_network_are_one_carrier() -> None:
    """A 4 x 4 mesh: a flit of 32 bytes a cycle on each wire, half as many in the example; those used have lanes."""
    found = carriers_of(str(EXAMPLES / "mesh.yaml"), "gemm:m=256,n=256,k=256,dtype=int8",
                        Options(mapping=str(EXAMPLES / "mesh-mapping.yaml"), overrides=("network.link.width=16 B/cycle",)))
    noc = found["NOC"]
    assert noc.kind is CarrierKind.NETWORK
    # first along x: from node 0 3 wires and then 12, back to it 12 and then 3; in and out at all 16 nodes
    assert len(noc.lanes) == len(noc.rates) == 15 + 15 + 32
    assert sorted(set(noc.rates)) == [Fraction(16), Fraction(32)]
    assert found["L1.fill"].bytes_per_cycle == 16 * 64  # each core's


def test_a_lane_in_lockstep_stands_for_all_instances() -> None:
    found = carriers_of("eyeriss", "conv2d:k=16,c=2,p=13,q=13,r=3,s=3,dtype=int16")
    (one,) = run("eyeriss", "conv2d:k=16,c=2,p=13,q=13,r=3,s=3,dtype=int16").report.done
    timed = [carrier for carrier in found.values() if carrier.level == one.case.chip.levels[-1].name and carrier.lanes]
    per_instance = [port.rate for memory in one.case.chip.levels[-1].memories for port in memory.ports if port.rate is not None]
    assert {carrier.bytes_per_cycle for carrier in timed} <= {rate * one.case.chip.arrays for rate in per_instance}


def test_simulated_channels_are_one_carrier() -> None:
    found = carriers_of(str(EXAMPLES / "behind-ddr4.yaml"), "gemm:m=64,n=64,k=64")
    (dram,) = [carrier for carrier in found.values() if carrier.kind is CarrierKind.DRAM]
    assert len(dram.lanes) == 1
    # DDR4-2400: 64 bits at 2400 MT/s are 19.2 GB/s, at 1 GHz as many bytes a nanosecond
    assert dram.bytes_per_cycle == pytest.approx(19.2, rel=1e-3)  # a cycle of 0.833 ns
