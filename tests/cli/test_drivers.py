"""What runs the event loop, and whether periods are added, changes no number that is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .command import accelsim

MAPPING = """\
operators:
  gemm:
    levels:
      - {level: DRAM, loops: [{m: 1500}]}
      - {level: SRAM, loops: [{m: 2}, {n: 2}, {k: 2}]}
"""
RUN = ("run", "toy", "gemm:m=3000,n=2,k=2", "--mapping", "small.yaml")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.yaml").write_text(MAPPING, encoding="utf-8")


def told(*options: str) -> tuple[Any, Any]:
    """The JSON of a run without what differs by design, and that."""
    found = accelsim(*RUN, "--json", *options).json
    (operator,) = found["operators"]
    return found, operator.pop("fast_forward")


def test_no_number_depends_on_how_it_was_run() -> None:
    forward, added = told()
    every, none = told("--no-fast-forward")
    simpy, its = told("--driver", "simpy")
    assert forward == every == simpy
    assert added["steps"] > 1000
    assert {period["loop"] for period in added["periods"]} == {"m at DRAM"}
    assert none == {"steps": 0, "periods": [], "note": "not asked for"}
    assert its == {"steps": 0, "periods": [], "note": "the SimPy driver runs every step"}


def test_the_summary_tells_what_was_added() -> None:
    words = accelsim(*RUN).out
    assert "of 1,500 array steps repeat others exactly, and were added" in words
    assert "m at DRAM" in words.split("fast-forward")[1]
    assert "fast-forward" not in accelsim(*RUN, "--no-fast-forward").out
