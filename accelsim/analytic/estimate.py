"""The verb `estimate`: from a case to its closed form."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from types import MappingProxyType

from accelsim.analytic.credits import credit_bounds
from accelsim.analytic.frame import Choose, frame_of
from accelsim.analytic.lines import EVERY, below
from accelsim.analytic.loads import resource_bounds
from accelsim.analytic.path import Path, critical_path
from accelsim.analytic.result import Bound, Estimate
from accelsim.analytic.traffic import drains, fills, refills, traffic
from accelsim.spec.case import Case
from accelsim.spec.nest import NestLoop
from accelsim.spec.operator import Role


def estimate(case: Case) -> Estimate:
    """Traffic, bounds and cycles of a case; the cost is that of its loops line by line, not of its steps."""
    moved = traffic(case)
    path = critical_path(case)
    bounds = (_path_bound(path), *resource_bounds(case, dict(moved), path), *credit_bounds(case, path))
    largest = max(bounds, key=lambda bound: bound.cycles)
    return Estimate(
        traffic=MappingProxyType(dict(moved)), bounds=bounds, cycles=largest.cycles,
        prologue_cycles=path.prologue_cycles,
        steady_cycles=largest.cycles - path.prologue_cycles - path.epilogue_cycles,
        epilogue_cycles=path.epilogue_cycles, bound_by=largest.name, steps=_steps(case), transfers=_transfers(case),
        array_busy_cycles=path.work_cycles, macs=case.operator.macs)


def _path_bound(path: Path) -> Bound:
    return Bound("path", "path", path.cycles,
                 f"first tiles in {path.prologue_cycles:,}, array {path.work_cycles:,}, last tile out "
                 f"{path.epilogue_cycles:,} cycles, one after another")


def _steps(case: Case) -> int:
    """Blocks that array steps are run in: steps of the innermost entry that holds an operand."""
    frame = frame_of(case.nest, case.deepest_feeding, _alone(case))
    return prod(below(steps.outside(EVERY), steps.extent) for steps in frame.steps)


def _transfers(case: Case) -> int:
    """Fills, refills and drains that move anything."""
    alone = _alone(case)
    count = 0
    for tensor in case.operator.tensors:
        for entry in case.paths[tensor.name][1:]:
            if tensor.role is not Role.OUTPUT:
                count += _count([fills(case, entry, tensor, alone)])
            else:
                count += _count([*drains(case, entry, tensor, alone), refills(case, entry, tensor, alone)])
    return count


def _count(tables: Sequence[dict[int, int]]) -> int:
    return sum(sum(table.values()) for table in tables)


def _alone(case: Case) -> Choose:
    """Instances that run on their own; those in lockstep count as one."""
    def alone(loop: NestLoop) -> bool:
        return not case.lockstep(min(loop.entry + 1, case.array_entry))
    return alone
