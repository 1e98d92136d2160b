"""One operator on a chip, with all that happened: what the comparisons of whole chips look at."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping as Keyed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from accelsim.analytic.estimate import estimate
from accelsim.drivers import Driver, Running
from accelsim.errors import SimulatorBug
from accelsim.machine.simulate import simulate
from accelsim.measure.report import OperatorReport, measure
from accelsim.plan.schedule import Schedule
from accelsim.spec.case import Case
from accelsim.spec.mapping import Loop, Mapping, MappingLevel
from accelsim.spec.read import Unmapped
from accelsim.timeline import Timeline
from accelsim.verbs import Options, ask

Written = Keyed[str, Any]
"""A chip or workload as plain data, with the keys of its file."""


@dataclass(frozen=True)
class Ran:
    """A case, what happened, and what was measured of it."""

    case: Case
    timeline: Timeline
    report: OperatorReport

    @property
    def cycles(self) -> int:
        """Cycles from start to end."""
        return self.report.cycles


def covering(extent: int, size: int) -> int:
    """So many tiles of a size cover an extent."""
    return -(-extent // size)


def loops(text: str) -> tuple[Loop, ...]:
    """`k:2 c,r:4 n:*`: loops over one dimension, over a flattened list, and over what is left."""
    found = []
    for word in text.split():
        dims, _, bound = word.rpartition(":")
        found.append(Loop(tuple(dims.split(",")), None if bound == "*" else int(bound)))
    return tuple(found)


def entry(level: str, temporal: str, binding: str | None = None, **spatial: str) -> MappingLevel:
    """An entry of a mapping; ``binding``: names of tensors with blanks between."""
    return MappingLevel(level, loops(temporal), tuple((axis, loops(text)) for axis, text in spatial.items()),
                        None if binding is None else tuple(binding.split()))


def read_case(chip: str | Written, workload: str | Written, mapping: str | Mapping | None = None,
              overrides: tuple[str, ...] = (), operator: str | None = None) -> Case:
    """A case as a user would have it: names, inline text, paths, or what would stand in the files.

    ``operator``: which one of the workload, where it has several. Raises SpecError and DoesNotFit.
    """
    with tempfile.TemporaryDirectory(prefix="accelsim-") as folder:
        if isinstance(mapping, Mapping):
            path = Path(folder) / "mapping.yaml"
            path.write_text(mapping.to_yaml(), encoding="utf-8")
            mapping = str(path)
        cases = ask(_named(chip, Path(folder) / "chip.yaml"), _named(workload, Path(folder) / "workload.yaml"),
                    Options(mapping=mapping, overrides=overrides)).cases
    item = next(one for one in cases if operator is None or one.operator.name == operator)
    if isinstance(item, Unmapped):
        raise item.error
    return item


def _named(told: str | Written, path: Path) -> str:
    """The name of what was told; data are written, and JSON is YAML."""
    if isinstance(told, str):
        return told
    path.write_text(json.dumps(told), encoding="utf-8")
    return str(path)


def run(case: Case, driver: Driver = Driver.COMPILED) -> Ran:
    """Simulate and measure. Raises SimulatorBug where the traffic is not that of the estimate."""
    timeline = simulate(Schedule(case), running=Running(driver))
    report = measure(case, timeline, estimate(case))
    if report.crosscheck.traffic_differences:
        raise SimulatorBug(f"{case.operator.name} on {case.chip.name}: traffic differs from the estimate's")
    return Ran(case, timeline, report)
