"""A mapping of ours as a Timeloop v4 mapping file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from accelsim.errors import Fault, SpecError
from accelsim.spec.case import Case
from accelsim.spec.nest import NestLoop

_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
"""What YAML 1.1, which Timeloop reads, takes for something else than text."""


def export_mapping(case: Case) -> str:
    """The resolved mapping of a case as the text of a Timeloop v4 mapping: what each level keeps, its loops and spatial loops.

    A level of ours is a storage level of its name; spatial loops stand at the level around the instances, those over PEs at
    the innermost one. (An architecture of nodes whose levels have a `spatial` of their own calls it by their own name.)
    Where an extent is not divided, `K=4,3` says what is left over.

    Timeloop cannot say, and a SpecError refuses: flattened lists of dimensions, tensors held in the array's registers, axes
    other than x and y, one dimension twice at a level with another between or along both axes. Nor can its mapping say
    numbers of buffers (its architecture's `multiple_buffering` does) or layouts over banks: comments at the head name them.
    """
    levels = [level.name for level in case.chip.levels]
    faults = list(_refused(case))
    if faults:
        raise SpecError(faults)
    lines = []
    for entry, name in enumerate(levels):
        kept = [tensor.name for tensor in case.operator.tensors if entry in case.paths[tensor.name]]
        passed = [tensor.name for tensor in case.operator.tensors if tensor.name not in kept]
        lines.append(f"- {{target: {_word(name)}, type: dataspace, keep: {_list(kept)}, bypass: {_list(passed)}}}")
        last = entry == len(levels) - 1
        temporal = _merged(case, [loop for loop in case.nest.own(entry) if loop.axis is None] + (_inside(case) if last else []))
        lines.append(_directive(case, name, "temporal", temporal))
        along = {axis: _merged(case, _along(case, entry, axis)) for axis in "xy"}
        if along["x"] or along["y"]:
            lines.append(_directive(case, name, "spatial", [*along["y"], *along["x"]], f", split: {len(along['x'])}"))
    dims = [dim for dim in case.operator.dims if len(dim) > 1]
    notes = [f"# Timeloop's dimensions are single letters: {', '.join(dims)}"] if dims else []
    return "\n".join([*notes, *_unsaid(case), "mapping:", *lines]) + "\n"


@dataclass(frozen=True)
class _Said:
    """Loops over one dimension at one level, as one."""

    dim: str
    factor: int
    residual: int

    def __str__(self) -> str:
        text = f"{self.dim}={self.factor}"
        return text if self.residual == self.factor else f'"{text},{self.residual}"'


def _word(name: str) -> str:
    return json.dumps(name) if name.lower() in _WORDS else name


def _list(names: Sequence[str]) -> str:
    return f"[{', '.join(map(_word, names))}]"


def _directive(case: Case, name: str, kind: str, said: Sequence[_Said], more: str = "") -> str:
    """A directive; ``said`` outermost first. Dimensions that do not loop here have a factor of 1 and stand outermost."""
    looping = {one.dim: one for one in said}
    factors = [str(looping.get(dim, f"{dim}=1")) for dim in case.operator.dims]
    order = [*reversed(looping), *(dim for dim in case.operator.dims if dim not in looping)]
    return (f"- {{target: {_word(name)}, type: {kind}, factors: [{', '.join(factors)}], permutation: {_list(order)}{more}}}")


def _inside(case: Case) -> list[NestLoop]:
    """Temporal loops of the array: with nothing held there they are loops of the level around it."""
    return [loop for loop in case.nest.own(case.array_entry) if loop.axis is None]


def _along(case: Case, entry: int, axis: str) -> list[NestLoop]:
    """Spatial loops inside a level along an axis; those over PEs are inside the innermost one."""
    inner = (entry, case.array_entry) if entry == len(case.chip.levels) - 1 else (entry,)
    return [loop for loop in case.nest.loops if loop.axis == axis and loop.entry in inner]


def _dim(case: Case, loop: NestLoop) -> str:
    return case.nest.lines[loop.line].dims[0]


def _merged(case: Case, loops: Sequence[NestLoop]) -> list[_Said]:
    """Loops outermost first, those of one dimension next to each other as one; bounds of 1 are none."""
    found: list[_Said] = []
    for loop in loops:
        if loop.bound == 1:
            continue
        factor, inner = loop.bound, loop.stride
        if found and found[-1].dim == _dim(case, loop):
            factor *= found.pop().factor
        last = (case.nest.lines[loop.line].extent - 1) // inner
        found.append(_Said(_dim(case, loop), factor, last % factor + 1))
    return found


def _refused(case: Case) -> Iterator[Fault]:
    """What Timeloop's mapping has no words for."""
    for line in case.nest.lines:
        if line.flattened:
            yield _fault(f"loops over the flattened list [{', '.join(line.dims)}]", "a loop over each dimension")
    for name, path in case.paths.items():
        if case.array_entry in path:
            yield _fault(f"{name} is held in the registers of {case.chip.array.name}; a MAC of Timeloop's keeps nothing",
                         "a chip whose registers are a level")
    for axis in sorted({loop.axis for loop in case.nest.loops if loop.axis not in (None, "x", "y") and loop.bound > 1}, key=str):
        yield _fault(f"loops along the axis {axis}", "axes x and y")
    last = len(case.chip.levels) - 1
    outside = [loop for axis in "xy" for loop in case.nest.own(last) if loop.axis == axis and loop.bound > 1]
    if outside and any(loop.bound > 1 for loop in _inside(case)):
        yield _fault(f"temporal loops of {case.chip.array.name} inside the spatial ones of {case.chip.names[last]}",
                     f"temporal loops at {case.chip.names[last]}")
    for entry, name in enumerate(case.chip.names[:-1]):
        temporal = _merged(case, [*(loop for loop in case.nest.own(entry) if loop.axis is None),
                                  *(_inside(case) if entry == last else [])])
        spatial = [one for axis in "xy" for one in _merged(case, _along(case, entry, axis))]
        for said in (temporal, spatial):
            dims = [one.dim for one in said]
            yield from (_fault(f"{name}: several loops over {dim}", "one, or loops next to each other along one axis")
                        for dim in sorted({dim for dim in dims if dims.count(dim) > 1}))


def _fault(message: str, allowed: str) -> Fault:
    return Fault("mapping", 0, 0, "", f"Timeloop cannot say: {message}", allowed)


def _unsaid(case: Case) -> Iterator[str]:
    """Comments about what a Timeloop mapping does not hold."""
    for level in case.mapping.levels:
        if level.buffers:
            told = ", ".join(f"{name}: {count}" for name, count in level.buffers)
            yield f"# not said below: buffers {told} at {level.level}; multiple_buffering of the architecture says how many"
        if level.layouts:
            told = ", ".join(f"{name}: {layout}" for name, layout in level.layouts)
            yield f"# not said below: layouts {told} at {level.level}"
