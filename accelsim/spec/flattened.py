"""What a mapping may do with flattened lists: which tiles they leave whole, and what the array can fold."""

from __future__ import annotations

from collections.abc import Iterator

from accelsim.spec.case import Case
from accelsim.spec.nest import Line
from accelsim.spec.operator import Tensor
from accelsim.spec.tiles import flattened_box

Found = tuple[int, str, str, str]
"""(entry, key of the entry, message, remedy)."""


def flattened_problems(case: Case) -> Iterator[Found]:
    """Every fault of the flattened lists of a case."""
    for number, line in enumerate(case.nest.lines):
        if line.flattened:
            yield from _boxes(case, number, line)
            yield from _folds(case, number, line)


def _name(line: Line) -> str:
    return f"[{', '.join(line.dims)}]"


def _boxes(case: Case, number: int, line: Line) -> Iterator[Found]:
    """Tiles of memories must be boxes; at the array a tensor holds all of a list plainly, or none of it."""
    counts = tuple(member.count for member in line.members)
    for entry in range(case.array_entry + 1):
        inside = case.nest.tiles[entry][number]
        bound = [tensor for tensor in case.operator.tensors if entry in case.paths[tensor.name]]
        if inside >= line.extent or not bound or flattened_box(counts, inside) is not None:
            continue
        if entry < case.array_entry:
            yield (entry, "loops", f"a run of {inside} of {_name(line)} {counts} is no box, so {case.chip.names[entry]} "
                   "cannot hold it as a tile", "cut the list at whole inner dimensions, or only at the array")
            continue
        for tensor in bound:
            if not _holds_plainly(tensor, line.dims):
                yield (entry, "binding", f"{tensor.name} is bound under {_name(line)}, which it does not index plainly and in "
                       "full", "bind it at a memory only")


def _folds(case: Case, number: int, line: Line) -> Iterator[Found]:
    """What the array's step can make of a list: all of it summed or none, and one moving dimension for each axis."""
    output = case.operator.output.dims
    first = next(loop.entry for loop in case.nest.loops if loop.line == number)
    if set(line.dims) & output and set(line.dims) - output:
        yield first, "loops", f"{_name(line)} mixes dimensions of the output with ones that are summed over", "split the list"
    if case.nest.tiles[case.deepest_feeding][number] == 1:
        return
    for member in line.members:
        plain, _ = case.nest.line_of(member.dim)
        if member.unit > 1 or any(loop.line == plain and loop.bound > 1 and loop.entry >= case.deepest_feeding
                                  for loop in case.nest.loops):
            yield (first, "loops", f"a loop over {member.dim} stands with {_name(line)} inside "
                   f"{case.chip.names[case.deepest_feeding]}, where the array folds the list",
                   f"leave {member.dim} to the list, or cut it further out")
    spread = _on_pes(case, number)
    for tensor in case.operator.tensors:
        touched = set(line.dims) & tensor.dims
        if spread and 0 < len(touched) < len(line.dims):
            yield (case.array_entry, "spatial", f"{_name(line)} runs over the PEs, but {tensor.name} depends on a part of it",
                   "leave out the dimensions that it does not index")
        for axis in tensor.axes if touched else ():
            moving = [dim for dim in axis.dims if any(line_number is not None and _on_pes(case, line_number)
                                                      for line_number in case.nest.line_of(dim))]
            if len(moving) > 1:
                yield (case.array_entry, "spatial", f"{' and '.join(moving)} both move along one axis of {tensor.name} over the "
                       f"PEs, beside {_name(line)}", "give the PEs one of them")


def _on_pes(case: Case, number: int) -> bool:
    """Whether loops over a line span PEs."""
    return any(loop.line == number and loop.entry == case.array_entry and loop.axis is not None and loop.bound > 1
               for loop in case.nest.loops)


def _holds_plainly(tensor: Tensor, dims: tuple[str, ...]) -> bool:
    """Whether a tensor indexes all of a flattened list by plain axes, or does not depend on it at all."""
    touched = set(dims) & tensor.dims
    if not touched:
        return True
    plain = {axis.dims[0] for axis in tensor.axes if len(axis.dims) == 1 and axis.form.terms[0][1] == 1
             and not axis.form.offset}
    return touched == set(dims) and touched <= plain
