"""The verb `simulate`: a schedule in, a timeline out."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from accelsim.drivers import Driver
from accelsim.errors import SimulatorBug
from accelsim.machine.compiled_driver import CompiledMachine, Stuck
from accelsim.machine.network import build_network
from accelsim.plan.schedule import Schedule
from accelsim.timeline import Recorder, RecordOptions, Timeline


def simulate(schedule: Schedule, options: RecordOptions | None = None, progress: Callable[[int], None] | None = None,
             driver: Driver = Driver.COMPILED) -> Timeline:
    """Run a schedule to the end.

    ``progress`` is called now and then with the number of blocks done. ``driver``: which of the two runs it; they tell the
    same. Raises SimulatorBug when a law of conservation is broken or nothing can go on: neither is the user's fault.
    """
    network = build_network(schedule)
    recorder = Recorder(network.lanes, network.tensors, options or RecordOptions())
    if driver is Driver.SIMPY:
        from accelsim.machine.simpy_driver import Machine
        made: type[Machine | CompiledMachine] = Machine
    else:
        made = CompiledMachine
    machine = made(network, schedule, recorder, progress)
    try:
        with _no_cycle_collection():
            cycles = machine.run()
    except Stuck:
        # the readable driver can say who waits for whom
        simulate(Schedule(schedule.case), options, progress, Driver.SIMPY)
        raise
    asked = schedule.case.operator.macs
    if machine.macs != asked:
        raise SimulatorBug(f"{machine.macs:,} MACs done, {asked:,} asked")
    recorder.counts["macs"] = machine.macs
    recorder.counts["events"] = machine.events
    return recorder.finish(cycles, machine.first_starts)


@contextmanager
def _no_cycle_collection() -> Iterator[None]:
    """The run makes millions of short-lived objects and no reference cycles to speak of: a quarter of the time is saved."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
