"""The verb `simulate`: a schedule in, a timeline out."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from accelsim.drivers import Driver, Running
from accelsim.errors import Fault, SimulatorBug, SpecError
from accelsim.machine.compiled_driver import CompiledMachine, Stuck
from accelsim.machine.fast_forward import FastForward
from accelsim.machine.network import Network, build_network
from accelsim.machine.tally import tally_caches
from accelsim.plan.recurrence import Recurrence
from accelsim.plan.schedule import Schedule
from accelsim.recorder import Recorder, RecordOptions
from accelsim.timeline import Skipped, Timeline

if TYPE_CHECKING:
    from accelsim.machine.components import Component

MOST_TOLD = 1 << 26
"""Steps beyond which a run with a window does not tell which transfers brought what steps use: it would run all up to there."""


def simulate(schedule: Schedule, options: RecordOptions | None = None, progress: Callable[[int], None] | None = None,
             running: Running | None = None, components: Mapping[str, Component] | None = None) -> Timeline:
    """Run a schedule to the end, after the chip's launch time.

    ``progress`` is called now and then with the number of blocks done. ``running``: by which driver, and whether periods that
    repeat are added; neither changes a number. ``components``: processes of one's own beside it, by name, which the SimPy driver
    runs: it is taken then, and nothing is added. Raises SpecError for a component that fails, and where the compiled driver was
    asked for beside one; SimulatorBug when a law of conservation is broken or nothing can go on: neither is the user's fault.
    """
    network = build_network(schedule)
    if components:
        running = _beside(components, running, network)
    launched = replace(options or RecordOptions(), lead_cycles=schedule.case.chip.launch_cycles)
    case = schedule.case
    if launched.feeds and launched.window is not None and case.nest.steps_between(0, case.deepest_feeding) > MOST_TOLD:
        launched = replace(launched, feeds=False)
    recorder = Recorder(network.lanes, (*network.tensors, *(components or ())), launched)
    running = running or Running()
    if running.driver is Driver.SIMPY:
        recorder.skipped = Skipped(note="the SimPy driver runs every step" + (", as components need it" if components else ""))
        from accelsim.machine.simpy_driver import Machine
        machine: Machine | CompiledMachine = Machine(network, schedule, recorder, progress, components=components)
    else:
        recurrence = Recurrence(schedule.case)
        recorder.skipped = Skipped(note=recurrence.why_not() if running.fast_forward else "not asked for")
        forward = FastForward(recurrence, network) if not recorder.skipped.note else None
        machine = CompiledMachine(network, schedule, recorder, progress, forward=forward)
    try:
        with _no_cycle_collection():
            cycles = machine.run()
    except Stuck:
        # the readable driver can say who waits for whom
        simulate(Schedule(schedule.case), options, progress, Running(Driver.SIMPY))
        raise
    asked = schedule.case.operator.macs
    if machine.macs != asked:
        raise SimulatorBug(f"{machine.macs:,} MACs done, {asked:,} asked")
    recorder.counts["macs"] = machine.macs
    recorder.counts["events"] = machine.events
    tally_caches(recorder, schedule)
    return recorder.finish(cycles, machine.first_starts)


def _beside(components: Mapping[str, Component], running: Running | None, network: Network) -> Running:
    """How a network is run beside components: by the driver that has processes. Raises SpecError where another was asked for."""
    from accelsim.machine.components import check_names
    check_names(components, network.tensors)
    if running is not None and running.driver is not Driver.SIMPY:
        raise SpecError([Fault("components", 0, 0, "", f"the {running.driver.value} driver runs none",
                               "Running(Driver.SIMPY), or no driver named")])
    return running or Running(Driver.SIMPY)


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
