"""Do accelsim's files for the comparison with other simulators mean the same work, and does SCALE-Sim's total come out?"""

from __future__ import annotations

import importlib.util
import sys
from math import ceil
from pathlib import Path
from types import ModuleType

import pytest

from accelsim.spec.operator import Role
from accelsim.spec.read import read_chip, read_workload
from accelsim.verbs import Options, run

PEERS = Path(__file__).resolve().parents[2] / "validation" / "peers"
SCALESIM = PEERS / "scalesim"


def module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("compare_peers", PEERS / "compare.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made  # dataclasses look there
    spec.loader.exec_module(made)
    return made


COMPARE = module()


def layers() -> list[tuple[str, list[int]]]:
    lines = (SCALESIM / "resnet18.csv").read_text(encoding="utf-8").splitlines()[1:]
    return [(name, [int(value) for value in values.strip(" ,").split(",")])
            for name, _, values in (line.partition(",") for line in lines)]


def test_the_layers_are_those_of_the_shipped_workload() -> None:
    """But for the padding, which SCALE-Sim's inputs lack."""
    shipped = read_workload("resnet18").operators
    assert [name for name, _ in layers()] == [one.name for one in shipped]
    for (_, (_, _, rows, columns, channels, filters, _)), one in zip(layers(), shipped, strict=True):
        weights = [tensor.elements for tensor in one.tensors if tensor.role is Role.WEIGHT]
        assert weights == [rows * columns * channels * filters], one.name


def test_layers_are_lowered_as_scalesim_does() -> None:
    lowered = read_workload(str(SCALESIM / "resnet18.yaml")).operators
    for (name, (height, width, rows, columns, channels, filters, stride)), one in zip(layers(), lowered, strict=True):
        windows = ceil((height - rows + stride) / stride) * ceil((width - columns + stride) / stride)
        assert (one.name, dict(one.dims)) == (name, {"m": windows, "n": filters, "k": rows * columns * channels})


def test_resnet18_takes_the_cycles_that_scalesim_3_reports() -> None:
    """2,519,815, and one more for each of 21 layers: SCALE-Sim gives the index of the last cycle. No tolerance."""
    report = run(str(SCALESIM / "chip.yaml"), str(SCALESIM / "resnet18.yaml"),
                 Options(mapping=str(SCALESIM / "mapping.yaml"))).report
    assert not report.failed
    assert report.cycles == 2_519_836


@pytest.mark.parametrize("peer", COMPARE.PEERS, ids=lambda peer: peer.folder)
def test_every_peer_is_pinned_and_its_chip_reads(peer: object) -> None:
    folder = PEERS / peer.folder  # type: ignore[attr-defined]
    lines = (folder / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert all("==" in line for line in lines)
    assert peer.name.split()[-1] in lines[0]  # type: ignore[attr-defined]
    assert read_chip(str(folder / "chip.yaml")).description
    compile((folder / "run.py").read_text(encoding="utf-8"), "run.py", "exec")


def test_a_page_is_made_of_what_was_measured() -> None:
    side = {"cpu_s": 2.0, "wall_s": 3.0, "peak_mib": 100.0, "cycles": 1234}
    row = {"peer": "P", "work": "w", "what": "work", "same_cycles": True, "theirs": side | {"cpu_s": 400.0}, "ours": side}
    page = COMPARE.page({"accelsim": "0", "date": "2000-01-01", "repeats": 1, "rows": [row], "machine": {
        "processor": "p", "cores": 1, "system": "s", "memory_gib": None, "load": 0.5, "python": "py", "packages": {}}})
    assert "| P | work | 400 | 2 | x 200 | 100 | 100 | x 1 | 1,234 | 1,234 |" in page
