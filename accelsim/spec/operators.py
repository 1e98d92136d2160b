"""The shipped operators: each function writes dims and index forms, and is all there is to know about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from accelsim.spec.affine import Affine, parse_affine
from accelsim.spec.operator import Axis, Role


@dataclass(frozen=True)
class Body:
    """What an operator function writes: dims, tensors by name (inputs first, output last) and their roles."""

    dims: dict[str, int]
    tensors: dict[str, tuple[Axis, ...]]
    roles: dict[str, Role]


@dataclass(frozen=True)
class Options:
    """The knobs of convolutions: one value per spatial axis; ``input`` extents by axis name (h, w, d, x)."""

    stride: Sequence[int] = (1,)
    dilation: Sequence[int] = (1,)
    padding: Sequence[int] = (0,)
    groups: int = 1
    input: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class OperatorKind:
    """A shipped operator: its word, its dims in order (those in ``optional`` default to 1) and its body."""

    word: str
    dims: tuple[str, ...]
    optional: tuple[str, ...]
    spatial_axes: int
    describe: str
    body: Callable[[Mapping[str, int], Options], Body]


def _plain(dims: Mapping[str, int], *names: str) -> tuple[Axis, ...]:
    return tuple(Axis(parse_affine(name), dims[name]) for name in names)


def gemm(dims: Mapping[str, int], options: Options) -> Body:
    """C[m,n] = sum over k of A[m,k] B[k,n]."""
    return Body(
        dict(dims),
        {"A": _plain(dims, "m", "k"), "B": _plain(dims, "k", "n"), "C": _plain(dims, "m", "n")},
        {"A": Role.INPUT, "B": Role.WEIGHT, "C": Role.OUTPUT},
    )


def batched_gemm(dims: Mapping[str, int], options: Options) -> Body:
    """C[b,m,n] = sum over k of A[b,m,k] B[b,k,n]."""
    return _stacked(dims, "b")


def grouped_gemm(dims: Mapping[str, int], options: Options) -> Body:
    """C[g,m,n] = sum over k of A[g,m,k] B[g,k,n]: g equal groups (experts)."""
    return _stacked(dims, "g")


def _stacked(dims: Mapping[str, int], stack: str) -> Body:
    tensors = {
        "A": _plain(dims, stack, "m", "k"),
        "B": _plain(dims, stack, "k", "n"),
        "C": _plain(dims, stack, "m", "n"),
    }
    return Body(dict(dims), tensors, {"A": Role.INPUT, "B": Role.WEIGHT, "C": Role.OUTPUT})


def gemv(dims: Mapping[str, int], options: Options) -> Body:
    """C[n] = sum over k of A[k] B[k,n]."""
    return Body(
        dict(dims),
        {"A": _plain(dims, "k"), "B": _plain(dims, "k", "n"), "C": _plain(dims, "n")},
        {"A": Role.INPUT, "B": Role.WEIGHT, "C": Role.OUTPUT},
    )


# (output dim, filter dim, input axis) of each spatial axis, for 1-, 2- and 3-D convolutions
_WINDOWS = {
    1: (("p", "r", "x"),),
    2: (("p", "r", "h"), ("q", "s", "w")),
    3: (("o", "t", "d"), ("p", "r", "h"), ("q", "s", "w")),
}


def _windows(dims: Mapping[str, int], options: Options, count: int) -> tuple[Axis, ...]:
    axes = []
    for (out, window, axis), stride, dilation, padding in zip(
        _WINDOWS[count], options.stride, options.dilation, options.padding, strict=True
    ):
        span = (dims[out] - 1) * stride + (dims[window] - 1) * dilation + 1 - 2 * padding
        # floor((H + 2 padding - window) / stride) + 1 = p holds for `stride` values of H; the largest is the common one
        extent = options.input.get(axis, span + stride - 1 if padding else span)
        axes.append(Axis(Affine(((out, stride), (window, dilation)), -padding), extent))
    return tuple(axes)


def convolution(dims: Mapping[str, int], options: Options) -> Body:
    """O[n,k,p..] = sum over c, r.. of I[n,c,stride*p + dilation*r - padding..] W[k,c,r..]; groups split k and c."""
    count = 3 if "o" in dims else 2 if "q" in dims else 1
    windows = _windows(dims, options, count)
    filters = [window for _, window, _ in _WINDOWS[count]]
    outs = [out for out, _, _ in _WINDOWS[count]]
    group: list[str] = []
    sizes = dict(dims)
    if options.groups > 1:
        group = ["g"]
        sizes = {"n": dims["n"], "g": options.groups} | {dim: size for dim, size in dims.items() if dim != "n"}
        sizes["k"], sizes["c"] = dims["k"] // options.groups, dims["c"] // options.groups
    tensors = {
        "I": _plain(sizes, "n", *group, "c") + windows,
        "W": _plain(sizes, *group, "k", "c", *filters),
        "O": _plain(sizes, "n", *group, "k", *outs),
    }
    return Body(sizes, tensors, {"I": Role.INPUT, "W": Role.WEIGHT, "O": Role.OUTPUT})


def depthwise2d(dims: Mapping[str, int], options: Options) -> Body:
    """O[n,c,p,q] = sum over r, s of I[n,c,h,w] W[c,r,s]: channels do not reduce."""
    tensors = {
        "I": _plain(dims, "n", "c") + _windows(dims, options, 2),
        "W": _plain(dims, "c", "r", "s"),
        "O": _plain(dims, "n", "c", "p", "q"),
    }
    return Body(dict(dims), tensors, {"I": Role.INPUT, "W": Role.WEIGHT, "O": Role.OUTPUT})


OPERATOR_KINDS: tuple[OperatorKind, ...] = (
    OperatorKind("gemm", ("m", "n", "k"), (), 0, "matrix product", gemm),
    OperatorKind("batched_gemm", ("b", "m", "n", "k"), (), 0, "independent matrix products", batched_gemm),
    OperatorKind("grouped_gemm", ("g", "m", "n", "k"), (), 0, "equal groups of matrix products", grouped_gemm),
    OperatorKind("gemv", ("n", "k"), (), 0, "vector times matrix", gemv),
    OperatorKind("conv1d", ("n", "k", "c", "p", "r"), ("n",), 1, "1-D convolution", convolution),
    OperatorKind("conv2d", ("n", "k", "c", "p", "q", "r", "s"), ("n",), 2, "2-D convolution", convolution),
    OperatorKind("conv3d", ("n", "k", "c", "o", "p", "q", "t", "r", "s"), ("n",), 3, "3-D convolution", convolution),
    OperatorKind("depthwise2d", ("n", "c", "p", "q", "r", "s"), ("n",), 2, "depthwise 2-D convolution", depthwise2d),
)
