"""accelsim: what would this mapping do on that chip? Estimated in closed form and measured by simulation."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accelsim.analytic.estimate import estimate
    from accelsim.errors import AccelsimError, SpecError
    from accelsim.machine.components import Component, Ports
    from accelsim.machine.simulate import simulate
    from accelsim.measure.report import RunReport
    from accelsim.plan.schedule import Schedule
    from accelsim.spec.case import Case
    from accelsim.spec.read import read, read_chip, read_workload
    from accelsim.timeline import Timeline
    from accelsim.verbs import Options, run

__all__ = ["AccelsimError", "Case", "Component", "Options", "Ports", "RunReport", "Schedule", "SpecError", "Timeline", "estimate",
           "read", "read_chip", "read_workload", "run", "simulate"]

_HOMES = {
    "AccelsimError": "errors", "Case": "spec.case", "Component": "machine.components", "Options": "verbs",
    "Ports": "machine.components", "RunReport": "measure.report",
    "Schedule": "plan.schedule", "SpecError": "errors", "Timeline": "timeline", "estimate": "analytic.estimate",
    "read": "spec.read", "read_chip": "spec.read", "read_workload": "spec.read", "run": "verbs", "simulate": "machine.simulate",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that `accelsim --help` need not import the simulator."""
    if name not in _HOMES:
        raise AttributeError(f"module 'accelsim' has no attribute {name!r}")
    return getattr(import_module(f"accelsim.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
