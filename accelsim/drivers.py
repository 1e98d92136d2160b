"""What runs the event loop."""

from __future__ import annotations

from enum import Enum


class Driver(Enum):
    """A kernel over one array of integers, or SimPy, which is the readable definition. They tell the same, event by event."""

    COMPILED = "compiled"
    SIMPY = "simpy"
