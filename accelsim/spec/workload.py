"""A workload as a user writes it: a list of named operators with repeat, in a file or in one line of text."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from accelsim.errors import nearest
from accelsim.spec.affine import parse_affine
from accelsim.spec.names import Title
from accelsim.spec.operator import Axis, Operator, Role, Tensor, Workload, operator_faults
from accelsim.spec.operators import OPERATOR_KINDS, Body, OperatorKind, Options
from accelsim.units import DType, default_accumulator, parse_dtype

Extent = Annotated[int, Field(ge=1, le=1 << 40, strict=True)]
Small = Annotated[int, Field(ge=0, le=1 << 20, strict=True)]
TensorName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=64)]
DEFAULT_DTYPE = "fp32"
MOST_OPERATORS = 10_000
LONGEST_WINDOWED = 1 << 20
"""Positions of an axis along which windows slide."""
Extents = Annotated[list[Extent], Field(max_length=32)]
PerTensor = Annotated[dict[str, str], Field(max_length=16)]
INPUT_AXES = {1: ("x",), 2: ("h", "w"), 3: ("d", "h", "w")}
"""Names of the input's spatial axes, by their number."""


class OperatorFile(BaseModel):
    """One operator: a shipped kind by its word, or one's own `dims` and `tensors`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Title = Field(min_length=1, max_length=120)
    operator: str | None = Field(None, description="a shipped operator; leave out to declare `tensors`")
    dims: dict[str, Extent] = Field(min_length=1, max_length=32)
    stride: Extent | Extents = 1
    dilation: Extent | Extents = 1
    padding: Small | Annotated[list[Small], Field(max_length=32)] = 0
    input: dict[str, Extent] = Field({}, max_length=32, description="input extents of a padded convolution: h, w (d, x)")
    groups: Extent = 1
    dtype: str | PerTensor = Field(DEFAULT_DTYPE, description="one for all tensors, or one for each")
    accumulator: str | None = Field(None, description="default int32 for integers, fp32 for floats")
    repeat: Extent = 1
    tensors: dict[TensorName, Annotated[list[str | int], Field(max_length=32)]] | None = Field(None, max_length=16)
    shapes: dict[str, Extents] = Field({}, max_length=16, description="axis extents; indices outside are padding")
    output: str | None = None
    roles: Annotated[dict[str, Role], Field(max_length=16)] = {}


class WorkloadFile(BaseModel):
    """A workload file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Title
    description: str = ""
    operators: list[OperatorFile] = Field(min_length=1, max_length=MOST_OPERATORS)


Problem = tuple[tuple[str | int, ...], str, str]


def resolve_workload(file: WorkloadFile) -> tuple[Workload | None, list[Problem]]:
    """The operators, and every fault beyond the schema as (path, message, nearest word)."""
    problems: list[Problem] = []
    operators: list[Operator] = []
    names: set[str] = set()
    for i, entry in enumerate(file.operators):
        operator, faults = resolve_operator(entry)
        problems += [(("operators", i, *path), message, hint) for path, message, hint in faults]
        if entry.name in names:
            problems.append((("operators", i, "name"), f"a second operator named {entry.name}", ""))
        names.add(entry.name)
        if operator is not None:
            operators.append(operator)
    return (None if problems else Workload(file.name, file.description, tuple(operators))), problems


def resolve_operator(entry: OperatorFile) -> tuple[Operator | None, list[Problem]]:
    """One operator of a workload."""
    problems: list[Problem] = []
    body = _shipped(entry, problems) if entry.operator is not None else _own(entry, problems)
    if body is None:
        return None, problems
    problems += _too_long(entry, body)
    dtypes = _dtypes(entry, body, problems)
    accumulator = _accumulator(entry, dtypes, problems)
    if problems or accumulator is None:
        return None, problems
    tensors = tuple(Tensor(name, body.roles[name], axes, dtypes[name]) for name, axes in body.tensors.items())
    return Operator(entry.name, entry.operator or "own", body.dims, tensors, accumulator, entry.repeat), []


def _too_long(entry: OperatorFile, body: Body) -> list[Problem]:
    """Axes along which windows slide are worked through position by position."""
    return [(("dims",) if entry.operator is not None else ("tensors", name, i),
             f"windows slide along {axis.form} of {name} over {axis.extent:,} positions; allowed: up to {LONGEST_WINDOWED:,}", "")
            for name, axes in body.tensors.items() for i, axis in enumerate(axes)
            if len(axis.form.terms) > 1 and axis.extent > LONGEST_WINDOWED]


def _shipped(entry: OperatorFile, problems: list[Problem]) -> Body | None:
    words = [kind.word for kind in OPERATOR_KINDS]
    kind = next((kind for kind in OPERATOR_KINDS if kind.word == entry.operator), None)
    if kind is None:
        problems.append((("operator",), f"no operator named '{entry.operator}'; allowed: {', '.join(words)}",
                         nearest(str(entry.operator), words)))
        return None
    for dim in entry.dims:
        if dim not in kind.dims:
            problems.append((("dims", dim), f"{kind.word} has no dimension {dim}; allowed: {', '.join(kind.dims)}", ""))
    for dim in kind.dims:
        if dim not in entry.dims and dim not in kind.optional:
            problems.append((("dims",), f"{kind.word} needs dimension {dim}; all: {', '.join(kind.dims)}", ""))
    for key in ("tensors", "output", "shapes", "roles"):
        if getattr(entry, key):
            problems.append(((key,), f"'{key}' belongs to an operator of one's own; leave out `operator`", ""))
    options = _options(entry, kind, problems)
    if problems or options is None:
        return None
    body = kind.body({dim: entry.dims.get(dim, 1) for dim in kind.dims}, options)
    small = [str(axis.form) for axes in body.tensors.values() for axis in axes if axis.extent < 1]
    problems += [(("padding",), f"the input along {form} would be padding alone; pad less", "") for form in small]
    return None if small else body


def _options(entry: OperatorFile, kind: OperatorKind, problems: list[Problem]) -> Options | None:
    def per_axis(key: str) -> tuple[int, ...]:
        value = getattr(entry, key)
        values = (value,) * kind.spatial_axes if isinstance(value, int) else tuple(value)
        if len(values) != kind.spatial_axes:
            problems.append(((key,), f"{len(values)} values; {kind.word} has {kind.spatial_axes} spatial axes", ""))
        return values

    if kind.spatial_axes == 0:
        for key, default in (("stride", 1), ("dilation", 1), ("padding", 0), ("groups", 1), ("input", {})):
            if getattr(entry, key) != default:
                problems.append(((key,), f"{kind.word} has no {key}", ""))
        return Options()
    stride, dilation, padding = per_axis("stride"), per_axis("dilation"), per_axis("padding")
    axes = INPUT_AXES[kind.spatial_axes]
    for axis in entry.input:
        if axis not in axes:
            problems.append((("input", axis), f"no input axis {axis}; allowed: {', '.join(axes)}", ""))
    if entry.groups > 1 and "k" not in kind.dims:
        problems.append((("groups",), f"{kind.word} has no groups", ""))
    elif entry.groups > 1:
        problems += [(("groups",), f"{entry.groups} groups do not divide {dim} = {entry.dims[dim]}", "")
                     for dim in ("k", "c") if entry.dims.get(dim, 0) % entry.groups]
    return Options(stride, dilation, padding, entry.groups, entry.input)


def _own(entry: OperatorFile, problems: list[Problem]) -> Body | None:
    if entry.tensors is None:
        problems.append(((), "neither `operator` nor `tensors`: name a shipped operator or declare its tensors", ""))
        return None
    if entry.output is None:
        problems.append(((), f"missing key 'output': which of {', '.join(entry.tensors)} is written", ""))
        return None
    for key, default in (("stride", 1), ("dilation", 1), ("padding", 0), ("groups", 1), ("input", {})):
        if getattr(entry, key) != default:
            problems.append(((key,), f"'{key}' belongs to shipped convolutions; write it into the index forms", ""))
    axes: dict[str, tuple[Axis, ...]] = {}
    for name, forms in entry.tensors.items():
        axes[name] = tuple(axis for i, form in enumerate(forms)
                           if (axis := _own_axis(entry, name, i, str(form), problems)) is not None)
    if not problems:
        problems += [(("tensors",), fault, "") for fault in operator_faults(entry.dims, axes, entry.output)]
    for name in [*entry.roles, *entry.shapes]:
        if name not in entry.tensors:
            problems.append((("roles" if name in entry.roles else "shapes", name), f"no tensor named {name}",
                             nearest(name, list(entry.tensors))))
    if len(entry.tensors) == 1:
        problems.append((("tensors",), "nothing is read; declare a tensor besides the output", ""))
    for i, axis in enumerate(axes.get(entry.output, ()) if not problems else ()):
        if axis.extent != entry.dims[axis.dims[0]]:
            problems.append((("shapes", entry.output, i), f"the output's extent is its dimension's, {entry.dims[axis.dims[0]]}",
                             ""))
    roles = {name: Role.OUTPUT if name == entry.output else entry.roles.get(name, Role.INPUT) for name in entry.tensors}
    if list(roles.values()).count(Role.OUTPUT) != 1:
        problems.append((("roles",), "one tensor is the output, the one that `output` names", ""))
    return None if problems else Body(dict(entry.dims), axes, roles)


def _own_axis(entry: OperatorFile, name: str, index: int, text: str, problems: list[Problem]) -> Axis | None:
    try:
        form = parse_affine(text)
    except ValueError as error:
        problems.append((("tensors", name, index), str(error), ""))
        return None
    shape = entry.shapes.get(name)
    if shape is not None and len(shape) != len((entry.tensors or {})[name]):
        problems.append((("shapes", name), f"{len(shape)} extents for {len((entry.tensors or {})[name])} axes", ""))
        return None
    largest = sum(coefficient * (entry.dims.get(dim, 1) - 1) for dim, coefficient in form.terms) + form.offset
    return Axis(form, shape[index] if shape is not None else max(1, largest + 1))


def _dtypes(entry: OperatorFile, body: Body, problems: list[Problem]) -> dict[str, DType]:
    words = dict.fromkeys(body.tensors, entry.dtype) if isinstance(entry.dtype, str) else dict(entry.dtype)
    found: dict[str, DType] = {}
    for name in words:
        if name not in body.tensors:
            problems.append((("dtype", name), f"no tensor named {name}", nearest(name, list(body.tensors))))
    for name in body.tensors:
        if name not in words:
            problems.append((("dtype",), f"no dtype for {name}; give one for each tensor, or one for all", ""))
            continue
        try:
            found[name] = parse_dtype(words[name])
        except ValueError as error:
            path: tuple[str | int, ...] = ("dtype",) if isinstance(entry.dtype, str) else ("dtype", name)
            problems.append((path, str(error), ""))
            if isinstance(entry.dtype, str):
                break
    return found


def _accumulator(entry: OperatorFile, dtypes: dict[str, DType], problems: list[Problem]) -> DType | None:
    if entry.accumulator is not None:
        try:
            return parse_dtype(entry.accumulator)
        except ValueError as error:
            problems.append((("accumulator",), str(error), ""))
            return None
    if not dtypes:
        return None
    floats = [dtype for dtype in dtypes.values() if dtype.kind == "float"]
    return default_accumulator(max(floats or dtypes.values(), key=lambda dtype: dtype.bits))


def parse_inline(text: str) -> dict[str, Any]:
    """The workload that ``gemm:m=1024,n=1024,k=1024,dtype=bf16`` stands for, as the data of a workload file.

    Raises ValueError for what is not ``word:key=value,...``; the values are checked like a file's.
    """
    word, _, rest = text.partition(":")
    entry: dict[str, Any] = {"name": word.strip(), "operator": word.strip(), "dims": {}}
    other = ("stride", "dilation", "padding", "groups", "dtype", "accumulator", "repeat")
    kind = next((kind for kind in OPERATOR_KINDS if kind.word == word.strip()), None)
    for item in rest.split(",") if rest.strip() else []:
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals or not key or not value:
            raise ValueError(f"'{item.strip()}' is not key=value, as in m=1024")
        if key in entry["dims"] or key in entry:
            raise ValueError(f"'{key}' is given twice")
        if key in other:
            entry[key] = [_number(part) for part in value.split("x")] if "x" in value else _number(value)
        elif key in ("h", "w", "d", "x"):
            entry.setdefault("input", {})[key] = _number(value)
        elif kind is not None and key not in kind.dims:
            known = [*kind.dims, *other, *INPUT_AXES.get(kind.spatial_axes, ())]
            close = nearest(key, known)
            raise ValueError(f"unknown key '{key}'; allowed: {', '.join(known)}"
                             + (f"; did you mean '{close}'?" if close else ""))
        else:
            entry["dims"][key] = _number(value)
    return {"name": text, "operators": [entry]}


def _number(text: str) -> int | str:
    """A whole number as one; anything else stays text, for the file's checks to refuse."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else text
