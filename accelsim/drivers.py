"""What runs the event loop."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Driver(Enum):
    """A kernel over one array of integers, or SimPy, which is the readable definition. They tell the same, event by event."""

    COMPILED = "compiled"
    SIMPY = "simpy"


@dataclass(frozen=True)
class Running:
    """How the event loop is run. ``fast_forward``: the compiled driver adds periods that repeat instead of running them, exactly;
    the SimPy driver runs every step.
    """

    driver: Driver = Driver.COMPILED
    fast_forward: bool = True
