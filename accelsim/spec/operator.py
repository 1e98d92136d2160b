"""The operator: a perfectly nested loop over dimensions whose tensors are indexed by affine forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from math import prod

from accelsim import markup
from accelsim.spec.affine import Affine
from accelsim.units import DType


class Role(Enum):
    """What a tensor is to its operator; chips say which roles a memory serves."""

    INPUT = "input"
    WEIGHT = "weight"
    OUTPUT = "output"


@dataclass(frozen=True)
class Axis:
    """One axis of a tensor: its index form and its extent. Indices outside [0, extent) are padding: 0 bytes."""

    form: Affine
    extent: int

    @property
    def dims(self) -> tuple[str, ...]:
        """The dimensions that move along this axis."""
        return tuple(dim for dim, _ in self.form.terms)


@dataclass(frozen=True)
class Tensor:
    """A tensor of an operator; its layout in memory is its axes in order, the last one contiguous."""

    name: str
    role: Role
    axes: tuple[Axis, ...]
    dtype: DType

    @property
    def elements(self) -> int:
        """Elements of the whole tensor, whether touched or not."""
        return prod(axis.extent for axis in self.axes)

    @cached_property
    def dims(self) -> frozenset[str]:
        """The dimensions the tensor depends on (its relevant dimensions)."""
        return frozenset(dim for axis in self.axes for dim in axis.dims)


@dataclass(frozen=True)
class Operator(markup.Shown):
    """Dims and affine index forms; nothing after this room knows an operator by name.

    ``repeat``: how often the workload runs it. ``kind``: the word it was declared with, for reports only.
    """

    name: str
    kind: str
    dims: Mapping[str, int]
    tensors: tuple[Tensor, ...]
    accumulator: DType
    repeat: int = 1

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one run: the number of points of the loop nest."""
        return prod(self.dims.values())

    @cached_property
    def output(self) -> Tensor:
        """The one tensor that is written."""
        return next(tensor for tensor in self.tensors if tensor.role is Role.OUTPUT)

    @cached_property
    def reduction_dims(self) -> frozenset[str]:
        """Dimensions that are summed over."""
        return frozenset(self.dims) - self.output.dims

    def __str__(self) -> str:
        return f"{self.name} ({self.kind}): {_extents(self.dims)}; {self.macs:,} MACs, {self.repeat} times"

    def _repr_html_(self) -> str:
        return markup.block(markup.title(str(self)), self.tensors_html())

    def tensors_html(self) -> markup.Html:
        """Its tensors: what they are, how they are indexed, how large."""
        return markup.table("", ("tensor", "role", "index", "extents", "type", "elements"), (
            (tensor.name, tensor.role.value, ", ".join(str(axis.form) for axis in tensor.axes),
             " x ".join(str(axis.extent) for axis in tensor.axes), tensor.dtype.name, tensor.elements)
            for tensor in self.tensors))

    def tensor(self, name: str) -> Tensor:
        """The tensor of that name; KeyError if there is none."""
        for tensor in self.tensors:
            if tensor.name == name:
                return tensor
        raise KeyError(name)


@dataclass(frozen=True)
class Workload(markup.Shown):
    """Named operators that run one after another, each from a cold start."""

    name: str
    description: str
    operators: tuple[Operator, ...]

    def __str__(self) -> str:
        macs = sum(one.macs * one.repeat for one in self.operators)
        return f"{self.name}: {len(self.operators)} operators, {macs:,} MACs with repeats"

    def _repr_html_(self) -> str:
        rows = ((one.name, one.kind, one.repeat, _extents(one.dims), one.macs) for one in self.operators)
        return markup.block(markup.title(str(self)), markup.line(self.description), markup.table(
            "", ("operator", "kind", "x", "dimensions", "MACs of one"), rows))


def _extents(dims: Mapping[str, int]) -> str:
    return ", ".join(f"{dim}={extent:,}" for dim, extent in dims.items())


def operator_faults(dims: Mapping[str, int], tensors: Mapping[str, tuple[Axis, ...]], output: str) -> list[str]:
    """Everything that makes dims and tensors no operator of ours, as sentences."""
    faults: list[str] = []
    used: set[str] = set()
    for name, axes in tensors.items():
        seen: set[str] = set()
        for axis in axes:
            for dim in axis.dims:
                if dim not in dims:
                    faults.append(f"tensor {name} is indexed by {dim}, which is no dimension; dims: {', '.join(dims)}")
                if dim in seen:
                    faults.append(
                        f"tensor {name}: dimension {dim} appears in two axes; a tile must be a product of axes"
                    )
                seen.add(dim)
            if name == output and (len(axis.form.terms) != 1 or axis.form.terms[0][1] != 1 or axis.form.offset):
                faults.append(f"output {name}: the axis '{axis.form}' must be one plain dimension")
        used |= seen
    faults += [f"dimension {dim} is used by no tensor" for dim in dims if dim not in used]
    if output not in tensors:
        faults.append(f"output {output} is no tensor; tensors: {', '.join(tensors)}")
    return faults
