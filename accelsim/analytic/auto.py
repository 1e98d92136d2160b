"""`auto`: each dataflow that the chip can run, the one with the fewest estimated cycles; ties by listed order."""

from __future__ import annotations

from dataclasses import replace

from accelsim.analytic.estimate import estimate
from accelsim.errors import DoesNotFit, Fault, SpecError, nearest
from accelsim.spec.build import make_case, unlocated
from accelsim.spec.chip import Chip
from accelsim.spec.dataflows import DATAFLOWS
from accelsim.spec.mapping import Mapping
from accelsim.spec.operator import Operator

AUTO = "auto"


def choose(chip: Chip, operator: Operator) -> Mapping:
    """The best named dataflow by the estimate; its ``origin`` says what was tried.

    Raises DoesNotFit when no dataflow's smallest tiles fit, SpecError when the chip can run none of them.
    """
    tried: list[tuple[int, int, Mapping]] = []
    notes: list[str] = []
    misfits: list[DoesNotFit] = []
    faults: list[Fault] = []
    for order, dataflow in enumerate(DATAFLOWS):
        why_not = dataflow.runs_on(chip, operator)
        if why_not:
            notes.append(f"{dataflow.name}: {why_not}")
            faults.append(unlocated((), f"{dataflow.name}: {why_not}"))
            continue
        mapping = dataflow.write(chip, operator)
        try:
            cycles = estimate(make_case(chip, operator, mapping)).cycles
        except DoesNotFit as error:
            misfits.append(error)
            notes.append(f"{dataflow.name}: does not fit")
        except SpecError as error:
            faults += [replace(fault, message=f"{dataflow.name}: {fault.message}") for fault in error.faults]
            notes.append(f"{dataflow.name}: {error.faults[0].message}")
        else:
            tried.append((cycles, order, mapping))
            notes.append(f"{dataflow.name}: {cycles:,} cycles estimated")
    if not tried:
        raise misfits[0] if misfits else SpecError(faults)
    best = min(tried, key=lambda one: one[:2])[2]
    return replace(best, origin=f"auto chose {best.origin} ({'; '.join(notes)})")


def check_name(name: str) -> None:
    """Refuse a dataflow that does not exist: SpecError with the nearest name."""
    words = [AUTO, *(dataflow.name for dataflow in DATAFLOWS)]
    if name not in words:
        raise SpecError([Fault("--dataflow", 0, 0, name, "no dataflow of that name", ", ".join(words), nearest(name, words))])


def write(name: str, chip: Chip, operator: Operator) -> Mapping:
    """The mapping of a named dataflow, or of `auto`. Raises SpecError where the chip cannot run it."""
    if name == AUTO:
        return choose(chip, operator)
    dataflow = next(dataflow for dataflow in DATAFLOWS if dataflow.name == name)
    why_not = dataflow.runs_on(chip, operator)
    if why_not:
        raise SpecError([unlocated((), f"{chip.name} cannot run {name}: {why_not}")])
    return replace(dataflow.write(chip, operator), origin=f"dataflow {name}")
