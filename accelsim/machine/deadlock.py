"""When nothing can go on: who waits for whom, and the cycle among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accelsim.kernels.columns import BLOCK_OPERANDS, STAY_FIRST, STAY_SOURCE

if TYPE_CHECKING:
    from accelsim.machine.simpy_driver import Machine


def describe(machine: Machine) -> str:
    """The wait-for cycle, or the waits if there is none: one clause each."""
    waits = _waits(machine)
    cycle = _cycle(waits)
    names = cycle or sorted(waits)
    return "; ".join(f"{name} waits for {waits[name][0]} ({waits[name][1]})" for name in names if name in waits)


def _station(machine: Machine, number: int) -> str:
    spec = machine.network.stations[number]
    return f"{machine.network.tensors[spec.tensor]} at {spec.level}[{spec.unit}]"


def _waits(machine: Machine) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for array in machine.arrays:
        if array.block is None:
            continue
        for station, seq in zip(array.node.feeds, array.block[BLOCK_OPERANDS:], strict=True):
            residency = machine.stations[station].live.get(seq)
            if residency is None or residency.ready < 0:
                found[array.lane] = _station(machine, station), f"residency {seq} is not ready"
                break
    for state in machine.stations:
        if state.next is None:
            continue
        reading = state.next[STAY_SOURCE]
        name = _station(machine, state.number)
        held = state.recent[0] if len(state.recent) == state.spec.buffers else None
        source = machine.stations[state.spec.parent].live.get(reading)
        if source is None or source.ready < 0:
            found[name] = _station(machine, state.spec.parent), f"source residency {reading} is not ready"
        elif held is not None and held.slot_free < 0:
            reader = next((machine.arrays[a].lane for a in state.spec.arrays if machine.arrays[a].block is not None),
                          next((_station(machine, child) for child in state.spec.children), "its drain"))
            found[name] = reader, f"all {state.spec.buffers} slots are held; the oldest is residency {held.seq}"
        elif (other := next((one for one in state.follows if not one.has_for(state.next[STAY_FIRST])), None)) is not None:
            found[name] = _station(machine, other.number), f"its tile of step {state.next[STAY_FIRST]} must be there first"
        elif state.after >= 0:
            found[name] = f"the drain of residency {state.after}", "its partial sums must be back first"
    return found


def _cycle(waits: dict[str, tuple[str, str]]) -> list[str]:
    for start in waits:
        path = [start]
        while path[-1] in waits:
            after = waits[path[-1]][0]
            if after in path:
                return path[path.index(after):]
            path.append(after)
    return []
