"""Does `-o` change the one value it names, typed by the schema, and refuse every other path?"""

from fractions import Fraction
from pathlib import Path

import pytest

from accelsim.analytic.auto import choose
from accelsim.errors import SpecError
from accelsim.spec.case import Case
from accelsim.spec.read import Asked, read, read_chip, read_workload

GEMM = "gemm:m=8,n=8,k=8"


def asked(*overrides: str, chip: str = "toy", workload: str = GEMM, mapping: str | None = None) -> Asked:
    return read(chip, workload, mapping, choose=choose, overrides=overrides)


def case(*overrides: str, **rest: str) -> Case:
    found = asked(*overrides, **rest).cases[0]
    assert isinstance(found, Case), found.error
    return found


def refused(*overrides: str, **rest: str) -> str:
    with pytest.raises(SpecError) as caught:
        asked(*overrides, **rest)
    return str(caught.value)


def test_values_of_a_chip() -> None:
    found = read_chip("toy", ['chip.levels.DRAM.latency="40 cycles"', "chip.levels.DRAM.bandwidth=1.2 TB/s",
                              "chip.levels.SRAM.buffers=1", "chip.clock=2 GHz"])
    memory, = found.levels[0].memories
    assert memory.latency_cycles == 40
    assert memory.ports[0].rate == Fraction(600)
    assert found.levels[1].memories[0].buffers == (("", 1),)


def test_entries_go_by_name_or_number_at_every_depth() -> None:
    for path in ("chip.levels.ONCHIP.memories.ACC.capacity", "chip.levels.1.memories.1.capacity"):
        assert read_chip("gemmini", [f"{path}=1 KiB"]).levels[1].memories[1].capacity_bytes == 1024
    found = read_chip("toy", ["chip.levels.DRAM.ports.port.bandwidth=8 B/cycle"])
    assert found.levels[0].memories[0].ports[0].rate == 8
    assert read_chip("gemmini", ["chip.links.DMA.outstanding=4"]).links[0].outstanding == 4
    assert read_chip("gemmini", ["chip.levels.PE.array.pes.x=8"]).array.extent("x") == 8


def test_a_value_the_file_leaves_out_can_be_given() -> None:
    assert read_chip("toy", ["chip.levels.SRAM.banks=4"]).levels[1].memories[0].banks == 4
    assert read_workload(GEMM, ["workload.operators.gemm.repeat=7"]).operators[0].repeat == 7
    assert read_chip("toy", ["chip.levels.SRAM.buffers={A: 3}"]).levels[1].memories[0].buffers == (("A", 3),)


def test_values_of_a_workload_with_dots_in_their_names() -> None:
    found = read_workload("resnet50", ["workload.operators.layer1.0.conv1.dims.k=32"])
    assert next(one for one in found.operators if one.name == "layer1.0.conv1").dims["k"] == 32


def test_a_mapping_that_auto_wrote() -> None:
    found = case("mapping.levels.SRAM.buffers.A=1", "mapping.levels.SRAM.buffers.C=3")
    assert (found.slots[1, "A"], found.slots[1, "B"], found.slots[1, "C"]) == (1, 2, 3)
    assert found.mapping.origin.endswith("with overrides")


def test_the_mapping_of_one_operator_by_its_name() -> None:
    found = asked("mapping.operators.square512.levels.SRAM.buffers.A=1", workload="gemm-squares").cases
    slots = {one.operator.name: one.slots[1, "A"] for one in found if isinstance(one, Case)}
    assert {name for name, count in slots.items() if count == 1} == {"square512"}


def test_a_mapping_file(tmp_path: Path) -> None:
    path = tmp_path / "mapping.yaml"
    path.write_text("levels: [{level: DRAM, loops: [{m: 2}, {n: 8}, {k: 8}]}, {level: SRAM, loops: [{m: 4}]}]\n",
                    encoding="utf-8")
    found = case("mapping.levels.DRAM.loops.0={m: 8}", "mapping.levels.SRAM.loops=[]", mapping=str(path))
    assert str(found.mapping.levels[0].loops[0]) == "{m: 8}"


def test_the_last_of_two_counts() -> None:
    assert read_chip("toy", ["chip.clock=2 GHz", "chip.clock=3 GHz"]).clock_hz == 3 * 10**9


@pytest.mark.parametrize(("override", "said"), [
    ("chip.clock", "not an override"),
    ("clock=1 GHz", "not an override"),
    ("=1", "not an override"),
    ("chpi.clock=1 GHz", "did you mean 'chip'"),
    ("chip.=1", "not an override"),
    ("chip.levels.DRMA.latency=1 cycles", "no entry named 'DRMA'; allowed: DRAM, SRAM, MAC; did you mean 'DRAM'?"),
    ("chip.levels.9.latency=1 cycles", "no entry named '9'"),
    ("chip.levels.².latency=1 cycles", "no entry named '²'"),
    ("chip.clock.x=1", "'clock' is one value; nothing lies below it"),
    ("chip.clcok=1 GHz", "-o: clcok: unknown key 'clcok'"),
    ("chip.levels.DRAM.latency=40", "40 has no unit"),
    ("chip.levels.DRAM.latency=40 cylces", "did you mean 'cycles'"),
    ("chip.levels.SRAM.buffers=two", "-o: levels.SRAM.buffers"),
    ("chip.clock=[1", "not YAML"),
    ("chip.clock=1 GHz\nname: other", "more than one value"),
    ("chip.clock=&a 1 GHz", "anchors"),
    ("workload.operators.gem.repeat=2", "no entry named 'gem'; allowed: gemm; did you mean 'gemm'?"),
    ("mapping.operators.gem.levels.SRAM.buffers.A=1", "no operator of gemm:m=8,n=8,k=8 is named so"),
])
def test_a_path_or_value_that_is_wrong(override: str, said: str) -> None:
    told = refused(override)
    assert said in told
    assert told.startswith("-o")


def test_all_wrong_overrides_at_once() -> None:
    told = refused("chip.levels.DRMA.latency=1 cycles", "workload.operators.gem.repeat=2")
    assert "DRMA" in told
    assert "gem.repeat" in told
