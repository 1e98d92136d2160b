"""What runs the event loop, and how closely a network is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Driver(Enum):
    """A kernel over one array of integers, or SimPy, which is the readable definition. They tell the same, event by event."""

    COMPILED = "compiled"
    SIMPY = "simpy"


class NetworkModel(Enum):
    """How a network on chip is looked at: flit by flit, transfer by transfer, or both, to see how far they are apart."""

    FLIT = "flit"
    TRANSFER = "transfer"
    BOTH = "both"


@dataclass(frozen=True)
class Running:
    """How the event loop is run. ``fast_forward``: the compiled driver adds periods that repeat instead of running them, exactly;
    the SimPy driver runs every step.
    """

    driver: Driver = Driver.COMPILED
    fast_forward: bool = True
