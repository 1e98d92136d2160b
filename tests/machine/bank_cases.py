"""Cases whose arrays are fed from memories with banks that are simulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from accelsim.plan.banking import fed
from accelsim.spec.banks import Banks, Layout
from accelsim.spec.build import _bank_problems, _capacity_problems
from accelsim.spec.case import Case


def with_banks(case: Case, banks: Sequence[Banks], layouts: Mapping[str, Layout] | None = None) -> Case | None:
    """The case with such banks, in turn, in each memory that feeds the array, and these layouts by tensor; None where it cannot
    have them.
    """
    feeds = {entry for tensor in case.operator.tensors for entry in case.paths[tensor.name] if entry < case.array_entry}
    made, number = [], 0
    for entry, level in enumerate(case.chip.levels):
        memories = []
        for memory in level.memories:
            memories.append(replace(memory, banked=banks[number % len(banks)]) if entry in feeds else memory)
            number += 1
        made.append(replace(level, memories=tuple(memories)))
    chip = replace(case.chip, levels=tuple(made))
    found = replace(case, chip=chip)
    given = list((layouts or {}).items())
    levels = tuple(replace(one, layouts=tuple((name, how) for name, how in given if holds(found, one.level, name)))
                   for one in case.mapping.levels)
    found = replace(found, mapping=replace(case.mapping, levels=levels))
    return None if not fed(found) or _bank_problems(found) or _capacity_problems(found) else found


def holds(case: Case, name: str, tensor: str) -> bool:
    """Whether a tensor lies over banks at a level."""
    entry = case.chip.names.index(name)
    if tensor not in case.paths or entry not in case.paths[tensor]:
        return False
    memory = case.memory(entry, case.operator.tensor(tensor))
    return memory is not None and memory.banked is not None
