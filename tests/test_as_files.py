"""Do the files of a case read back to that case, and does the command beside them run it?"""

from __future__ import annotations

import shlex
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from accelsim.spec.case import Case
from accelsim.spec.chip import Chip
from accelsim.spec.mapping import Mapping
from accelsim.spec.read import read, read_chip, read_workload, shipped

from .as_files import as_files, chip_text, own_operator, text_of
from .cli.command import accelsim
from .helpers import brief, chip, custom, entry, from_files, gemm, level, link, make, run
from .machine.test_banks import streamed
from .machine.test_networks_in_runs import NETWORKED
from .properties.strategies import cases, wide_cases

SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


def write(files: dict[str, str], folder: Path) -> None:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def as_it_runs(on: Chip) -> Chip:
    """Without its clock, on which no cycle depends, and what is only told about it; a network's is a part of it."""
    links = tuple(one if one.network is None else replace(one, network=replace(one.network, network=replace(
        one.network.network, cycle_s=one.network.network.cycle_s * on.clock_hz))) for one in on.links)
    return replace(on, links=links, clock_hz=Fraction(1), sources=(), models=(), omits=(), dataflows=None)


def reads_back(case: Case, folder: Path) -> None:
    """But for the clock, and the word the operator was declared with."""
    files = as_files(case)
    write(files, folder)
    back = from_files(str(folder / "chip.yaml"), str(folder / "workload.yaml"), files["mapping.yaml"])
    assert as_it_runs(back.chip) == as_it_runs(case.chip), brief(case)
    assert replace(back.operator, kind=case.operator.kind) == case.operator, brief(case)
    assert list(back.operator.dims) == list(case.operator.dims), brief(case)
    assert back.mapping.levels == case.mapping.levels, brief(case)
    assert (back.nest, back.paths, back.slots) == (case.nest, case.paths, case.slots), brief(case)


@settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
@given(cases())
def test_one_instance_reads_back(tmp_path_factory: pytest.TempPathFactory, case: Case) -> None:
    reads_back(case, tmp_path_factory.mktemp("files"))


@settings(max_examples=100, deadline=None, suppress_health_check=SLOW)
@given(wide_cases())
def test_several_instances_read_back(tmp_path_factory: pytest.TempPathFactory, case: Case) -> None:
    reads_back(case, tmp_path_factory.mktemp("files"))


def test_what_no_random_case_has_reads_back(tmp_path: Path) -> None:
    """Ports and links of some tensors, slots by tensor and role, axes along which nothing moves, a star for what is left."""
    inner = level("L1", capacity_bytes=3 << 10, buffers=(("X", 3), ("output", 1)))
    on = chip(
        [level("DRAM", "7/3", 5, ports="own", tensors="XYZ"), inner],
        links=(link("DRAM", "L1", "1/11", tensors=frozenset({"X", "weight"})),),
    )
    what = custom({"a": 3, "b": 2}, "Z", X=["2*a + 1", "0"], Y=["2", "b"], Z=["a", "b"])
    reads_back(make(on, what, entry("DRAM", "a*"), entry("L1", "b*")), tmp_path)


@settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
@given(NETWORKED)
def test_networks_read_back(tmp_path_factory: pytest.TempPathFactory, case: Case) -> None:
    reads_back(case, tmp_path_factory.mktemp("files"))


@pytest.mark.parametrize("name", shipped("chips"))
def test_shipped_chips_read_back(name: str, tmp_path: Path) -> None:
    on = read_chip(name)
    write({"chip.yaml": chip_text(on)}, tmp_path)
    assert as_it_runs(read_chip(str(tmp_path / "chip.yaml"))) == as_it_runs(on)


@pytest.mark.parametrize("lie", ["row", "column"])
def test_banks_and_layouts_read_back(lie: str, tmp_path: Path) -> None:
    case = streamed(lie, 4)
    write(as_files(case), tmp_path)
    files = [str(tmp_path / f"{name}.yaml") for name in ("chip", "workload", "mapping")]
    back = read(*files, choose=fail).cases[0]
    assert isinstance(back, Case)
    assert run(back).cycles == run(case).cycles


def fail(*_: object) -> Mapping:
    raise AssertionError("the mapping file has it")


@pytest.mark.parametrize("name", shipped("workloads"))
def test_shipped_operators_read_back(name: str, tmp_path: Path) -> None:
    operators = read_workload(name).operators
    write({"workload.yaml": text_of({"name": name, "operators": [own_operator(what) for what in operators]})}, tmp_path)
    back = read_workload(str(tmp_path / "workload.yaml")).operators
    assert [replace(what, kind="") for what in back] == [replace(what, kind="") for what in operators]


@pytest.mark.parametrize("driver", ["compiled", "simpy"])
def test_the_command_takes_as_many_cycles(driver: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rates are such that the files have another clock than the case."""
    on = chip([level("DRAM", "7/3", 9), level("L1", 4, 2)], links=(link("DRAM", "L1", "15/11", 3),))
    case = make(on, gemm(4, 4, 6), entry("DRAM", "k2 m2 n2"), entry("L1", "m2 n2 k3"))
    files = as_files(case)
    write(files, tmp_path)
    monkeypatch.chdir(tmp_path)
    program, *arguments = shlex.split(files["run.sh"])
    assert program == "accelsim"
    assert accelsim(*arguments, "--driver", driver, "--json").json["total"]["cycles"] == run(case).cycles
