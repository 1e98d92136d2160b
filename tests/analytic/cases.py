"""Random and hand-made cases for the tests of the estimate."""

from __future__ import annotations

from fractions import Fraction
from typing import Any
from unittest.mock import patch

from hypothesis import strategies as st

from accelsim.errors import DoesNotFit, SpecError
from accelsim.spec.affine import parse_affine
from accelsim.spec.build import make_case
from accelsim.spec.case import Case
from accelsim.spec.chip import (
    Access,
    Array,
    ArrayModel,
    Chip,
    Level,
    Link,
    Memory,
    MemoryKind,
    Multicast,
    Port,
)
from accelsim.spec.mapping import Loop, Mapping, MappingLevel
from accelsim.spec.operator import Axis, Operator, Role, Tensor
from accelsim.spec.operators import OPERATOR_KINDS, Options
from accelsim.units import DTYPES

KINDS = {kind.word: kind for kind in OPERATOR_KINDS}
Loops = list[tuple[Any, int | None]]


def memory(name: str, rate: object = None, latency: int = 0, *, shared: bool = False, **rest: Any) -> Memory:
    """A memory with one shared port, or one for each access; unlimited and without latency unless told."""
    pace = None if rate is None else Fraction(rate)  # type: ignore[arg-type]
    everything = frozenset(Access)
    ports = (Port("port", pace, everything, None),) if shared else tuple(
        Port(access.value, pace, frozenset({access}), None) for access in Access)
    kind = MemoryKind.DRAM if name == "DRAM" else MemoryKind.SRAM
    options: dict[str, Any] = {"capacity_bytes": None, "granularity_bytes": 1, "buffers": (("", 2),), "banks": None,
                               "accumulate": False, "tensors": None} | rest
    return Memory(name, kind, latency_cycles=latency, ports=ports, **options)


def level(name: str, rate: object = None, latency: int = 0, fanout: tuple[tuple[str, int], ...] = (), *,
          lockstep: bool = False, **rest: Any) -> Level:
    return Level(name, (memory(name, rate, latency, **rest),), fanout, lockstep)


def array(pes: tuple[tuple[str, int], ...] = (), **rest: Any) -> Array:
    options: dict[str, Any] = {"model": ArrayModel.SPATIAL, "intervals": (("", 1),), "depth_cycles": 0,
                               "registers": 1 << 16, "buffers": 1, "preload": None, "preload_row": False,
                               "results": None} | rest
    return Array("PE", pes=pes, **options)


def link(outer: str, inner: str, rate: object = None, latency: int = 0, **rest: Any) -> Link:
    options: dict[str, Any] = {"tensors": None, "accesses": frozenset(Access), "granularity_bytes": 1,
                               "setup_cycles": 0, "chunk_bytes": None, "request_bytes": None, "outstanding": None,
                               "multicast": Multicast.NONE, "reduce": False, "per_instance": False} | rest
    pace = None if rate is None else Fraction(rate)  # type: ignore[arg-type]
    return Link(f"{outer}-{inner}", outer, inner, rate=pace, latency_cycles=latency, **options)


def chip(levels: list[Level], pe: Array | None = None, links: tuple[Link, ...] = ()) -> Chip:
    return Chip("test", "", Fraction(10**9), tuple(levels), pe or array(), links)


def operator(kind: str, dtype: str = "fp32", accumulator: str = "fp32", options: Options | None = None,
             **dims: int) -> Operator:
    shipped = KINDS[kind]
    knobs = options or Options((1,) * shipped.spatial_axes, (1,) * shipped.spatial_axes, (0,) * shipped.spatial_axes)
    given = dict.fromkeys(shipped.optional, 1) | dims
    body = shipped.body({dim: given[dim] for dim in shipped.dims}, knobs)
    tensors = tuple(Tensor(name, body.roles[name], axes, DTYPES[dtype]) for name, axes in body.tensors.items())
    return Operator(kind, kind, body.dims, tensors, DTYPES[accumulator])


def custom(dims: dict[str, int], tensors: dict[str, list[tuple[str, int]]], output: str, dtype: str = "fp32",
           accumulator: str = "fp32") -> Operator:
    found = tuple(Tensor(name, Role.OUTPUT if name == output else Role.INPUT,
                         tuple(Axis(parse_affine(text), extent) for text, extent in axes), DTYPES[dtype])
                  for name, axes in tensors.items())
    return Operator("custom", "custom", dims, found, DTYPES[accumulator])


def loops(text: str) -> Loops:
    """``k2 m*`` as [("k", 2), ("m", None)]; ``c,r,s:4`` is a flattened list."""
    found: Loops = []
    for word in text.split():
        if "," in word:
            names, _, bound = word.partition(":")
            found.append((tuple(names.split(",")), None if bound == "*" else int(bound)))
        else:
            found.append((word[0], None if word[1:] == "*" else int(word[1:])))
    return found


def entry(name: str, temporal: str | Loops = "", spatial: dict[str, str | Loops] | None = None,
          binding: str | tuple[str, ...] | None = None, **buffers: int) -> MappingLevel:
    def made(given: str | Loops) -> tuple[Loop, ...]:
        pairs = loops(given) if isinstance(given, str) else given
        return tuple(Loop(dims if isinstance(dims, tuple) else (dims,), bound) for dims, bound in pairs)
    held = tuple(binding.split()) if isinstance(binding, str) else binding
    return MappingLevel(name, made(temporal), tuple((axis, made(own)) for axis, own in (spatial or {}).items()), held,
                        tuple(buffers.items()))


def case(on: Chip, what: Operator, *entries: MappingLevel) -> Case:
    return make_case(on, what, Mapping(entries))


@st.composite
def operators(draw: st.DrawFn) -> Operator:
    types = [("fp32", "fp32"), ("int8", "int32"), ("int4", "int32"), ("bf16", "fp32")]
    dtype, accumulator = draw(st.sampled_from(types))
    kinds = ["gemm", "batched_gemm", "gemv", "conv1d", "conv2d", "conv2d", "depthwise2d", "custom"]
    kind = draw(st.sampled_from(kinds))
    if kind == "custom":
        return draw(customs(dtype, accumulator))
    shipped = KINDS[kind]
    dims = {}
    for dim in shipped.dims:
        limit = 7 if kind in ("gemm", "gemv") else 4 if kind != "conv1d" else 5
        dims[dim] = draw(st.integers(1, limit))
        if kind == "conv2d" and dim in ("n", "k"):
            dims[dim] = draw(st.integers(1, 2))
    axes = shipped.spatial_axes
    options = None
    if axes:
        choose = lambda *values: tuple(draw(st.sampled_from(values)) for _ in range(axes))  # noqa: E731
        stride, dilation, padding = choose(1, 1, 2, 3), choose(1, 1, 2, 3), choose(0, 0, 1, 2)
        spans = [(dims[p] - 1) * a + (dims[r] - 1) * d + 1 - 2 * b for (p, r), a, d, b in
                 zip([("p", "r"), ("q", "s")], stride, dilation, padding, strict=False)]
        if min(spans) < 1:
            padding = (0,) * axes
        options = Options(stride, dilation, padding)
    return operator(kind, dtype, accumulator, options, **dims)


@st.composite
def customs(draw: st.DrawFn, dtype: str, accumulator: str) -> Operator:
    dims = {dim: draw(st.integers(1, 4)) for dim in "abcd"}
    def form(names: list[str]) -> tuple[str, int]:
        coefficients = {name: draw(st.integers(1, 3)) for name in names}
        offset = draw(st.integers(-3, 2))
        text = " + ".join(f"{c}*{name}" for name, c in coefficients.items())
        reach = sum(c * (dims[name] - 1) for name, c in coefficients.items()) + offset + 1
        return f"{text} {'+' if offset >= 0 else '-'} {abs(offset)}", max(1, reach + draw(st.integers(-3, 2)))
    shape = draw(st.sampled_from([["abc", "d"], ["ab", "c"], ["a", "c"], ["c", "bd"], ["ad", "bc"]]))
    x = [form(list(names)) for names in shape]
    used = set("".join(shape))
    y = [(dim, dims[dim]) for dim in "abcd" if dim not in used or draw(st.booleans())]
    out = [(dim, dims[dim]) for dim in draw(st.sampled_from(["ab", "a", "acd", "bd"]))]
    y = y or [("a", dims["a"])]
    return custom(dims, {"X": x, "Y": y, "Z": out}, "Z", dtype, accumulator)


@st.composite
def cases(draw: st.DrawFn) -> Case | None:
    """A case, or None where the draw is no legal one."""
    what = draw(operators())
    depth = draw(st.integers(2, 4))
    names = ["DRAM", "L1", "L2", "L3"][:depth]
    axes = [draw(st.booleans()) for _ in range(depth)]
    reduce = draw(st.booleans())
    levels = [level(name, accumulate=draw(st.sampled_from([False, False, True])),
                    fanout=(("x", 64), ("y", 64)) if i and axes[i] else ()) for i, name in enumerate(names)]
    pe = array((("u", 64), ("v", 64)), fanout=(("x", 64), ("y", 64)) if draw(st.booleans()) else ())
    all_names = [*names, "PE"]
    links = tuple(link(outer, inner, reduce=reduce) for i, outer in enumerate(names) for inner in all_names[i + 1:])
    lists = draw(flattened(what))
    own_entry = draw(st.booleans()) or bool(lists)
    places = all_names if own_entry else names
    temporal: dict[str, Loops] = {name: [] for name in places}
    spatial: dict[str, dict[str, Loops]] = {name: {} for name in places}
    for dim, extent in what.dims.items():
        if any(dim in group for group in lists):
            continue
        left = extent
        for name in reversed(places):
            if left > 1:
                bound = draw(st.integers(1, left)) if draw(st.booleans()) else 1
                left = -(-left // bound)
                _put(draw, temporal, spatial, name, dim, bound, on_chip=chip(levels, pe), names=all_names)
        if left > 1 or extent == 1:
            temporal[places[0]].append((dim, left))
    for group in lists:
        left = 1
        for dim in group:
            left *= what.dims[dim]
        for name in reversed(places):
            bound = draw(st.integers(1, left)) if draw(st.booleans()) else 1
            left = -(-left // bound)
            _put(draw, temporal, spatial, name, group, bound, on_chip=chip(levels, pe), names=all_names)
        temporal[places[0]].append((group, left))
    for name in places:
        temporal[name] = list(draw(st.permutations(temporal[name])))
    bind: dict[str, list[str]] = {name: [] for name in all_names}
    for tensor in what.tensors:
        held = [name for name in names if draw(st.booleans())] or ["DRAM"]
        if draw(st.integers(0, 3)) > 0 and "DRAM" not in held:
            held.append("DRAM")
        for name in held:
            bind[name].append(tensor.name)
        if own_entry and draw(st.integers(0, 3)) == 0:
            bind["PE"].append(tensor.name)
    entries = [entry(name, temporal[name], spatial[name], tuple(bind[name])) for name in places]
    try:
        with patch("accelsim.spec.build._capacity_problems", lambda _: []):  # nothing here is bounded
            return case(chip(levels, pe, links), what, *entries)
    except (SpecError, DoesNotFit):
        return None


@st.composite
def flattened(draw: st.DrawFn, what: Operator) -> list[tuple[str, ...]]:
    """Lists such as [c, r, s] and [p, q], each all reduction or all output."""
    if not draw(st.booleans()):
        return []
    found = []
    for pool in (sorted(what.reduction_dims), sorted(what.output.dims)):
        if len(pool) >= 2 and draw(st.booleans()):
            size = draw(st.integers(2, min(3, len(pool))))
            found.append(tuple(draw(st.permutations(pool))[:size]))
    return found


def _put(draw: st.DrawFn, temporal: dict[str, Loops], spatial: dict[str, dict[str, Loops]], name: str, dims: object,
         bound: int, on_chip: Chip, names: list[str]) -> None:
    """A loop at a level: over time or, where the next entry has instances (or at the array, PEs), over space."""
    if bound == 1 and draw(st.booleans()):
        return
    place = names.index(name)
    own = dict(on_chip.array.pes) if name == "PE" else dict(on_chip.fanout(place + 1))
    if own and draw(st.integers(0, 2 if name != "PE" else 1)) == 0:
        axis = draw(st.sampled_from(sorted(own)))
        spatial[name].setdefault(axis, []).append((dims, bound))
    elif bound > 3 and draw(st.booleans()):
        outer = draw(st.integers(2, bound - 1))
        temporal[name] += [(dims, outer), (dims, -(-bound // outer))]
    else:
        temporal[name].append((dims, bound))
