"""Timeloop's problem: its shape and instance, as a workload of ours with one operator."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from accelsim.errors import nearest
from accelsim.importers.timeloop_part import Part, shown
from accelsim.spec.chip import ROLES
from accelsim.spec.operator import Role

DIM: Final = re.compile(r"[A-Za-z_][A-Za-z_0-9]{0,31}")
TENSOR: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
MOST_DIMS: Final = 32
MOST_TENSORS: Final = 16
MOST_AXES: Final = 32
LARGEST_COEFFICIENT: Final = 999_999_999
WEIGHTS: Final = frozenset({"w", "weight", "weights", "filter", "filters", "kernel", "kernels"})
"""Names of data spaces that are weights: Timeloop knows none, and no count depends on it."""

CNN_LAYER: Final = {
    "Weights": (("C",), ("K",), ("R",), ("S",)),
    "Inputs": (("N",), ("C",), ("R", "Wdilation", "P", "Wstride"), ("S", "Hdilation", "Q", "Hstride")),
    "Outputs": (("N",), ("K",), ("Q",), ("P",)),
}
"""The one shape of Timeloop's own folder that files commonly name: `cnn_layer`; of two terms the coefficients' names."""

_SHAPE_KEYS: Final = ("name", "dimensions", "coefficients", "data_spaces", "flatten", "version")
_SPACE_KEYS: Final = ("name", "projection", "read_write", "ranks")
_OTHER_KEYS: Final = ("densities", "commonDensity", "version", "name")
Axis = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Problem:
    """The operator: dimensions, index forms (terms of dimension and coefficient) of each tensor, and which is written.

    ``dropped``: dimensions of extent 1 that no tensor has.
    """

    name: str
    dims: Mapping[str, int]
    tensors: Mapping[str, tuple[Axis, ...]]
    output: str
    dropped: tuple[str, ...] = ()

    def dims_of(self, tensor: str) -> frozenset[str]:
        """The dimensions that a tensor depends on."""
        return frozenset(dim for axis in self.tensors[tensor] for dim, _ in axis)

    def role(self, tensor: str) -> Role:
        """What a tensor is to the operator; weights are known by their names."""
        if tensor == self.output:
            return Role.OUTPUT
        return Role.WEIGHT if tensor.lower() in WEIGHTS else Role.INPUT

    @property
    def served(self) -> dict[str, str]:
        """Of what links carry apart: a name, and the word that a chip has for it. The role of a tensor alone in it; else its
        name, but where that could be taken for a role all tensors of the role go together.
        """
        found: dict[str, str] = {}
        for role in Role:
            names = [name for name in self.tensors if self.role(name) is role]
            if len(names) == 1:
                found[names[0]] = role.value
            elif any(nearest(name, ROLES) for name in names):
                found[role.value] = role.value
            else:
                found |= {name: name for name in names}
        return found

    def text(self, dtype: str) -> str:
        """A workload file; words are of a dtype, unfinished sums too."""
        lines = [f"name: {self.name}", "description: Imported from Timeloop", "operators:", f"  - name: {self.name}",
                 "    dims: {" + ", ".join(f"{dim}: {extent}" for dim, extent in self.dims.items()) + "}", "    tensors:"]
        lines += [f"      {name}: [{', '.join(json.dumps(_form(axis)) for axis in axes)}]" for name, axes in self.tensors.items()]
        lines.append(f"    output: {json.dumps(self.output)}")
        weights = [name for name in self.tensors if self.role(name) is Role.WEIGHT]
        if weights:
            lines.append("    roles: {" + ", ".join(f"{name}: weight" for name in weights) + "}")
        lines += [f"    dtype: {dtype}", f"    accumulator: {dtype}  # a word of Timeloop is as wide everywhere"]
        return "\n".join(lines) + "\n"


def _form(axis: Axis) -> str:
    return " + ".join(dim if coefficient == 1 else f"{coefficient}*{dim}" for dim, coefficient in axis)


def read_problem(part: Part) -> Problem | None:
    """The problem of a file; None where it is refused (the faults are noted)."""
    before = len(part.notes.faults)
    keys = part.keys()
    shape = keys.get("shape")
    if shape is None:
        if not part.notes.faults[before:]:
            part.refuse("missing key 'shape'", "dimensions and data spaces of the problem, or cnn_layer")
        return None
    instance = keys.get("instance")
    bounds = instance.keys() if instance is not None else {key: one for key, one in keys.items() if key != "shape"}
    read = _named_shape(shape) if isinstance(shape.value, str) else _shape(shape)
    if instance is not None:
        for key, one in keys.items():
            if key not in ("shape", "instance", *_OTHER_KEYS):
                known = ("shape", "instance", "version")
                one.refuse(f"unknown key {shown(key)}", ", ".join(known), nearest(key, known))
    if read is None:
        return None
    dims, coefficients = _bounds(instance or part, read, bounds)
    tensors = {name: axes for name, space in read.spaces.items() if (axes := _axes(space, read, coefficients)) is not None}
    problem = Problem(read.name, dims, tensors, read.output)
    return _checked(shape, problem) if len(part.notes.faults) == before else None


@dataclass(frozen=True)
class _Space:
    """A data space: per rank its terms, each a dimension and what scales it (a number, a coefficient's name, or nothing)."""

    part: Part
    ranks: tuple[tuple[tuple[str, str | int], ...], ...]


@dataclass(frozen=True)
class _Shape:
    name: str
    dims: tuple[str, ...]
    defaults: Mapping[str, int]
    spaces: Mapping[str, _Space]
    output: str


def _named_shape(part: Part) -> _Shape | None:
    name = str(part.value).replace("-", "_").removesuffix(".yaml")
    if name != "cnn_layer":
        part.refuse(f"the shape {shown(part.value)} lies in a folder of Timeloop's", "cnn_layer, or the shape itself")
        return None
    spaces = {}
    for tensor, axes in CNN_LAYER.items():
        ranks = tuple(tuple(zip(axis[::2], axis[1::2], strict=True)) if len(axis) > 1 else ((axis[0], 1),) for axis in axes)
        spaces[tensor] = _Space(part, ranks)
    ones = dict.fromkeys(("Wstride", "Hstride", "Wdilation", "Hdilation"), 1)
    return _Shape("cnn_layer", ("R", "S", "P", "Q", "C", "K", "N"), ones, spaces, "Outputs")


def _shape(part: Part) -> _Shape | None:
    before = len(part.notes.faults)
    keys = part.keys()
    for key, one in keys.items():
        if key not in _SHAPE_KEYS:
            one.refuse(f"unknown key {shown(key)}", ", ".join(_SHAPE_KEYS), nearest(key, _SHAPE_KEYS))
    if "flatten" in keys:
        keys["flatten"].refuse("flattened dimensions of a problem are not read", "dimensions that are mapped one by one")
    for key in ("dimensions", "data_spaces"):
        if key not in keys and isinstance(part.value, dict):
            part.refuse(f"missing key '{key}'")
    if len(part.notes.faults) > before and not {"dimensions", "data_spaces"} <= set(keys):
        return None
    dims = _dimensions(keys["dimensions"])
    defaults = _coefficients(keys["coefficients"]) if "coefficients" in keys else {}
    spaces, written = _spaces(keys["data_spaces"], dims)
    if len(part.notes.faults) > before:
        return None
    if len(written) != 1:
        keys["data_spaces"].refuse(f"{len(written)} data spaces with read_write", "one, the output")
        return None
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", str(keys["name"].value)).strip("-") if "name" in keys else ""
    return _Shape(name if re.match(r"[A-Za-z_]", name) and name.lower() not in ("null", "true", "false") and len(name) < 100
                  else "timeloop", dims, defaults, spaces, written[0])


def _dimensions(part: Part) -> tuple[str, ...]:
    found: list[str] = []
    for name, one in part.words():
        if not DIM.fullmatch(name):
            one.refuse(f"{shown(name)} as a dimension", "letters, digits and _, 32 at most")
        elif name in found:
            one.refuse(f"a second dimension named {name}")
        else:
            found.append(name)
    if len(found) > MOST_DIMS:
        part.refuse(f"{len(found)} dimensions; allowed: up to {MOST_DIMS}")
    return tuple(found)


def _coefficients(part: Part) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in part.items():
        keys = one.keys()
        for key, entry in keys.items():
            if key not in ("name", "default"):
                entry.refuse(f"unknown key {shown(key)}", "name, default", nearest(key, ("name", "default")))
        name = keys["name"].word() if "name" in keys else None
        if name is None:
            one.refuse("a coefficient without a name", "name, default")
        elif name in found:
            one.refuse(f"a second coefficient named {shown(name)}")
        else:
            found[name] = (keys["default"].whole(1, LARGEST_COEFFICIENT) if "default" in keys else None) or 1
    return found


def _spaces(part: Part, dims: tuple[str, ...]) -> tuple[dict[str, _Space], list[str]]:
    found: dict[str, _Space] = {}
    written: list[str] = []
    for one in part.items():
        keys = one.keys()
        for key, entry in keys.items():
            if key not in _SPACE_KEYS:
                entry.refuse(f"unknown key {shown(key)}", ", ".join(_SPACE_KEYS), nearest(key, _SPACE_KEYS))
        name = keys["name"].word() if "name" in keys else None
        if name is None or "projection" not in keys:
            one.refuse("a data space needs a name and a projection")
            continue
        if not TENSOR.fullmatch(name) or name in found:
            keys["name"].refuse(f"a second data space named {name}" if name in found else f"{shown(name)} as a data space",
                                "letters, digits and _, 64 at most")
            continue
        if "ranks" in keys:
            keys["ranks"].leave("names of ranks: index forms have none here")
        found[name] = _Space(one, _ranks(keys["projection"], dims))
        if "read_write" in keys and keys["read_write"].truth():
            written.append(name)
    if len(found) > MOST_TENSORS:
        part.refuse(f"{len(found)} data spaces; allowed: up to {MOST_TENSORS}")
    return found, written


def _ranks(part: Part, dims: tuple[str, ...]) -> tuple[tuple[tuple[str, str | int], ...], ...]:
    """A projection: a list of ranks, each a list of terms; a bare name is a rank of one dimension."""
    items = part.items()
    if len(items) > MOST_AXES:
        part.refuse(f"{len(items)} ranks; allowed: up to {MOST_AXES}")
    ranks = []
    for rank in items:
        terms = [Part(rank.located, rank.path, [rank.value], rank.notes)] if isinstance(rank.value, str) else rank.items()
        if not terms:
            rank.refuse("a rank without terms", "a list of terms, each [dimension] or [dimension, coefficient]")
        ranks.append(tuple(term for one in terms if (term := _term(one, dims)) is not None))
    return tuple(ranks)


def _term(part: Part, dims: tuple[str, ...]) -> tuple[str, str | int] | None:
    value = part.value
    if not isinstance(value, list) or not 1 <= len(value) <= 2 or not isinstance(value[0], str):
        text = isinstance(value, str)
        part.refuse(f"{shown(value)} as a term" + (": expressions are not evaluated" if text and value not in dims else ""),
                    "[dimension] or [dimension, coefficient]")
        return None
    if value[0] not in dims:
        part.refuse_word("dimension", value[0], dims)
        return None
    scale = value[1] if len(value) == 2 else 1
    if isinstance(scale, bool) or not isinstance(scale, int | str):
        part.refuse(f"{shown(scale)} as a coefficient", "a whole number, or the name of a coefficient")
        return None
    if isinstance(scale, int) and not 1 <= scale <= LARGEST_COEFFICIENT:
        part.refuse(f"the coefficient {shown(scale)} of {value[0]}; allowed: 1 to {LARGEST_COEFFICIENT}")
        return None
    return value[0], scale


def _bounds(place: Part, shape: _Shape, given: Mapping[str, Part]) -> tuple[dict[str, int], dict[str, int]]:
    """Extents of all dimensions and values of all coefficients."""
    known = (*shape.dims, *shape.defaults)
    spelled = {name.replace("-", "_"): name for name in known}
    dims: dict[str, int] = {}
    coefficients = dict(shape.defaults)
    for key, one in given.items():
        name = spelled.get(key)
        if name in shape.dims:
            dims[name] = one.whole() or 1
        elif name is not None:
            coefficients[name] = one.whole(1, LARGEST_COEFFICIENT) or 1
        elif key in ("densities", "commonDensity"):
            one.leave("densities: all words are moved and multiplied here, as in Timeloop without sparse optimizations")
        elif key not in _OTHER_KEYS:
            one.refuse(f"{shown(key)} is neither a dimension nor a coefficient of {shape.name}", ", ".join(known[:24]),
                       nearest(key, known))
    for dim in shape.dims:
        if dim not in dims:
            place.refuse(f"no extent of the dimension {dim}", f"{dim}: a whole number from 1")
    return {dim: dims.get(dim, 1) for dim in shape.dims}, coefficients


def _axes(space: _Space, shape: _Shape, coefficients: Mapping[str, int]) -> tuple[Axis, ...] | None:
    axes: list[Axis] = []
    for rank in space.ranks:
        terms: dict[str, int] = {}
        for dim, scale in rank:
            value = scale if isinstance(scale, int) else coefficients.get(scale)
            if value is None:
                space.part.refuse_word("coefficient", str(scale), shape.defaults)
                return None
            terms[dim] = terms.get(dim, 0) + value
        axes.append(tuple(terms.items()))
    return tuple(axes)


def _checked(part: Part, problem: Problem) -> Problem | None:
    """What our operators cannot say is refused; dimensions of extent 1 that no tensor has are dropped."""
    before = len(part.notes.faults)
    for name, axes in problem.tensors.items():
        seen: set[str] = set()
        for axis in axes:
            for dim, coefficient in axis:
                if dim in seen:
                    part.refuse(f"{name}: {dim} is in two ranks; a tile must be a product of ranks")
                seen.add(dim)
                if coefficient > LARGEST_COEFFICIENT:
                    part.refuse(f"{name}: the coefficient {coefficient} of {dim}; allowed: up to {LARGEST_COEFFICIENT}")
            if name == problem.output and (len(axis) != 1 or axis[0][1] != 1):
                part.refuse(f"{name} is written, and its rank {_form(axis)} is a sum", "one dimension in each rank of the output")
            if len(axis) > 1 and any(coefficient > 1 for _, coefficient in axis):
                part.leave(f"{name}: elements in the gaps of '{_form(axis)}' are neither moved nor held here; Timeloop takes the "
                           "box around a tile, and may count fewer reads and more capacity")
        if len(_text(axes)) > 10_000 or any(len(_form(axis)) > 200 for axis in axes):
            part.refuse(f"{name}: an index form of more than 200 characters")
    if len(problem.tensors) < 2:
        part.refuse("nothing is read", "a data space besides the output")
    used = {dim for name in problem.tensors for dim in problem.dims_of(name)}
    unused = [dim for dim in problem.dims if dim not in used]
    for dim in unused:
        if problem.dims[dim] > 1:
            part.refuse(f"no data space has the dimension {dim} of extent {problem.dims[dim]}", "take it out, or 1")
        else:
            part.leave(f"the dimension {dim} of extent 1, which no data space has, is left out")
    if used and len(part.notes.faults) == before:
        dims = {dim: extent for dim, extent in problem.dims.items() if dim in used}
        return Problem(problem.name, dims, problem.tensors, problem.output, tuple(unused))
    if not used and len(part.notes.faults) == before:
        part.refuse("no data space has a dimension")
    return None


def _text(axes: tuple[Axis, ...]) -> str:
    return ", ".join(_form(axis) for axis in axes)
