"""The verb `estimate`: from a case to its closed form."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from accelsim.analytic.arrays import steps_of
from accelsim.analytic.credits import credit_bounds
from accelsim.analytic.frame import Instances
from accelsim.analytic.loads import cold_bounds, resource_bounds
from accelsim.analytic.path import Path, critical_path
from accelsim.analytic.result import Bound, Estimate
from accelsim.analytic.tables import Look, Tables
from accelsim.analytic.traffic import drains, fills, refills, traffic
from accelsim.spec.case import Case
from accelsim.spec.operator import Role


def estimate(case: Case) -> Estimate:
    """Traffic, bounds and cycles of a case; the cost is that of its loops line by line, not of its steps."""
    tables = Tables(case)
    moved = traffic(tables)
    path = critical_path(tables)
    launch = case.chip.launch_cycles
    found = (_path_bound(path), *resource_bounds(tables, moved, path), *credit_bounds(tables, path), *cold_bounds(case))
    bounds = tuple(replace(bound, cycles=launch + bound.cycles) for bound in found)
    largest = max(bounds, key=lambda bound: bound.cycles)
    return Estimate(
        traffic=MappingProxyType(moved), bounds=bounds, cycles=largest.cycles, prologue_cycles=launch + path.prologue_cycles,
        steady_cycles=largest.cycles - launch - path.prologue_cycles - path.epilogue_cycles,
        epilogue_cycles=path.epilogue_cycles, bound_by=largest.name, steps=_steps(tables),
        transfers=_transfers(tables), array_busy_cycles=path.work_cycles, macs=case.operator.macs)


def _path_bound(path: Path) -> Bound:
    return Bound("path", "path", path.cycles,
                 f"first tiles in {path.prologue_cycles:,}, array {path.work_cycles:,}, last tile out "
                 f"{path.epilogue_cycles:,} cycles, one after another")


def _steps(tables: Tables) -> int:
    """Blocks that array steps are run in: steps of the innermost entry that holds an operand."""
    return steps_of(tables, Look(tables.case.deepest_feeding, _alone(tables)))


def _transfers(tables: Tables) -> int:
    """Fills, refills and drains that move anything."""
    case, alone, count = tables.case, _alone(tables), 0
    for tensor in case.operator.tensors:
        for entry in case.paths[tensor.name][1:]:
            look = Look(entry, alone)
            moves = ([fills(tables, tensor, look)] if tensor.role is not Role.OUTPUT else
                     [*drains(tables, tensor, look), refills(tables, tensor, look)])
            count += sum(sum(sizes.values()) for sizes in moves)
    return count


def _alone(tables: Tables) -> Instances:
    """Instances that run on their own; those in lockstep count as one."""
    case = tables.case
    return frozenset(place for place in tables.everywhere
                     if not case.lockstep(min(case.nest.loops[place].entry + 1, case.array_entry)))
