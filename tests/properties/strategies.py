"""Random operators, chips and mappings, small enough that everything can be counted one by one."""

from __future__ import annotations

from fractions import Fraction
from math import prod

from hypothesis import reject
from hypothesis import strategies as st

from accelsim.errors import SpecError
from accelsim.spec.case import Case
from accelsim.spec.chip import Access, ArrayModel, Chip, Link, Multicast
from accelsim.spec.mapping import Loop, MappingLevel
from accelsim.spec.operator import Operator, Role
from accelsim.spec.operators import Options

from ..helpers import Fanout, array, chip, custom, entry, level, link, make, operator
from ..oracle import machine_oracle as oracle

DTYPE_PAIRS = [
    ("fp32", "fp32", "fp32"),
    ("int8", "int32", "int8"),
    ("int8", "int32", "int32"),
    ("bf16", "fp32", "bf16"),
    ("bf16", "fp32", "fp32"),
    ("int16", "int32", "int8"),
]
RATES = [None, Fraction(1), Fraction(2), Fraction(4), Fraction(19, 10), Fraction(7, 3), Fraction(1, 3), Fraction(16), Fraction(5)]
MOST_STEPS = 400


def rates() -> st.SearchStrategy[Fraction | None]:
    return st.one_of(st.sampled_from(RATES), st.fractions(Fraction(1, 4), Fraction(24), max_denominator=16))


def latencies() -> st.SearchStrategy[int]:
    return st.one_of(st.sampled_from([0, 0, 1, 2, 7]), st.integers(0, 40))


@st.composite
def operators(draw: st.DrawFn, *, long: bool = False) -> Operator:
    """gemm, gemv, batched gemm, convolutions with stride, dilation and padding, depthwise, and invented ones.

    ``long``: one or two dimensions are so long that loops over them may settle.
    """
    dtype, accumulator, output_dtype = draw(st.sampled_from(DTYPE_PAIRS))
    kind = draw(st.sampled_from(["gemm", "gemm", "gemv", "batched_gemm", "conv1d", "conv2d", "depthwise2d", "own", "own"]))
    if kind == "own":
        return draw(own_operators(dtype, accumulator, output_dtype, long=long))
    limits = {"gemm": 6, "gemv": 8, "batched_gemm": 3, "conv1d": 4, "conv2d": 3, "depthwise2d": 3}
    names = {
        "gemm": "mnk",
        "gemv": "nk",
        "batched_gemm": "bmnk",
        "conv1d": "nkcpr",
        "conv2d": "nkcpqrs",
        "depthwise2d": "ncpqrs",
    }[kind]
    dims = {}
    for dim in names:
        most = 2 if dim in "nkc" and kind == "conv2d" else limits[kind]
        dims[dim] = draw(st.integers(1, most))
    if long:
        stretch(draw, dims)
    axes = {"conv1d": 1, "conv2d": 2, "depthwise2d": 2}.get(kind, 0)
    options = None
    if axes:

        def each(values: list[int]) -> tuple[int, ...]:
            return tuple(draw(st.sampled_from(values)) for _ in range(axes))

        stride, dilation, padding = each([1, 1, 2, 3]), each([1, 1, 2, 3]), each([0, 0, 1, 2])
        spans = [
            (dims[p] - 1) * a + (dims[r] - 1) * d + 1 - 2 * b
            for (p, r), a, d, b in zip((("p", "r"), ("q", "s")), stride, dilation, padding, strict=False)
        ]
        options = Options(stride, dilation, padding if min(spans) > 0 else (0,) * axes)
    return operator(kind, dtype, accumulator, options, output_dtype, **dims)


def stretch(draw: st.DrawFn, dims: dict[str, int]) -> None:
    """Make one or two dimensions some ten times as long."""
    for dim in draw(st.lists(st.sampled_from(sorted(dims)), min_size=1, max_size=2, unique=True)):
        dims[dim] = dims[dim] * draw(st.integers(6, 16)) + draw(st.integers(0, 3))


@st.composite
def own_operators(draw: st.DrawFn, dtype: str, accumulator: str, output_dtype: str, *, long: bool = False) -> Operator:
    dims = {dim: draw(st.integers(1, 3 if long else 4)) for dim in "abcd"}
    if long:
        stretch(draw, dims)
    extents: dict[str, list[int]] = {}

    def axis(tensor: str, names: str) -> str:
        coefficients = {name: draw(st.integers(1, 3)) for name in names}
        offset = draw(st.integers(-2, 2))
        reach = sum(c * (dims[name] - 1) for name, c in coefficients.items()) + offset + 1
        extents.setdefault(tensor, []).append(max(1, reach + draw(st.integers(-2, 1))))
        return " + ".join(f"{c}*{name}" for name, c in coefficients.items()) + f" {'-' if offset < 0 else '+'} {abs(offset)}"

    shape = draw(st.sampled_from([["abc", "d"], ["ab", "c"], ["a", "c"], ["c", "bd"], ["ad", "bc"], ["ab"]]))
    x = [axis("X", names) for names in shape]
    used = set("".join(shape))
    y = [dim for dim in "abcd" if dim not in used or draw(st.booleans())] or ["a"]
    z = list(draw(st.sampled_from(["ab", "a", "acd", "bd", "dba"])))
    return custom(dims, "Z", dtype, accumulator, extents, output_dtype, X=x, Y=y, Z=z)


@st.composite
def mappings(draw: st.DrawFn, what: Operator, names: list[str], *, long: bool = False) -> dict[str, str]:
    """Temporal loops of each level as text: any order, ragged factors, a dimension sometimes twice, sometimes too far.

    ``long``: tiles are small, so that loops are long.
    """
    temporal: dict[str, list[str]] = {name: [] for name in names}
    for dim, extent in what.dims.items():
        left = extent
        for name in reversed(names[1:]):
            for _ in range(draw(st.sampled_from([0, 1, 1, 1, 2]))):
                most = min(left, 3) if long else left
                bound = draw(st.integers(1, most + (left > 1 and draw(st.integers(0, 5)) == 0)))
                if bound > 1 or draw(st.booleans()):
                    temporal[name].append(f"{dim}{bound}")
                    left = -(-left // bound)
        if left > 1 or draw(st.booleans()) or not any(dim == word[0] for words in temporal.values() for word in words):
            temporal[names[0]].append(f"{dim}{left}")
    return {name: " ".join(draw(st.permutations(words))) for name, words in temporal.items()}


@st.composite
def cases(draw: st.DrawFn, ports: str | None = None, most_levels: int = 4, *, long: bool = False) -> Case:
    """A case inside the oracle's scope: one instance and one memory a level, one MAC per cycle, granularity 1 B."""
    what = draw(operators(long=long))
    names = ["DRAM", "L1", "L2", "L3"][: draw(st.integers(2, most_levels))]
    tensors = [tensor.name for tensor in what.tensors]
    levels = [
        level(
            name,
            draw(rates()),
            draw(latencies()),
            ports=ports or draw(st.sampled_from(["shared", "apart"])),
            tensors="".join(tensors),
            accumulate=draw(st.integers(0, 3)) == 0,
        )
        for name in names
    ]
    temporal = draw(mappings(what, names, long=long))
    held: dict[str, list[str]] = {name: [] for name in names}
    for tensor in tensors:
        path = [name for name in names if draw(st.integers(0, 4))] or [draw(st.sampled_from(names))]
        if "DRAM" not in path and draw(st.integers(0, 2)):
            path.append("DRAM")
        for name in path:
            held[name].append(tensor)
    entries = [
        entry(name, temporal[name], " ".join(held[name]), {tensor: draw(st.sampled_from([1, 2, 2, 3])) for tensor in held[name]})
        for name in names
    ]
    return make(chip(levels), what, *entries)


def steps_of(case: Case) -> int:
    return prod(loop.bound for loop in case.nest.loops)


def to_oracle(case: Case) -> oracle.Problem:
    """The same case in the oracle's words."""
    what = case.operator
    tensors = [
        oracle.Tensor(
            t.name,
            tuple(oracle.Axis(axis.form.terms, axis.form.offset, axis.extent) for axis in t.axes),
            t.dtype.bits // 8,
            what.accumulator.bits // 8,
            t.role is Role.OUTPUT,
        )
        for t in what.tensors
    ]
    memories, binding, buffers, loops = [], [], [], []
    for place, one in enumerate(case.chip.levels):
        (memory,) = one.memories
        fill, drain = (memory.port(access, what.output) for access in (Access.FILL, Access.DRAIN))
        assert fill is not None
        assert drain is not None
        memories.append(oracle.Memory(one.name, fill.rate, memory.latency_cycles, fill is drain, memory.accumulate))
        here = {tensor.name for tensor in what.tensors if place in case.paths[tensor.name]}
        binding.append(here)
        buffers.append({name: case.slots[place, name] for name in here})
        loops.append([(case.nest.lines[loop.line].dims[0], loop.bound) for loop in case.nest.own(place)])
    return oracle.Problem(dict(what.dims), tensors, memories, loops, binding, buffers)


class Plan(oracle.Plan):
    """The oracle's plan with one more reading: what is added in place to sums seen before is no finished output."""

    def count_output(self, tensor: oracle.Tensor, parent: int, level: int, last_touch: dict[oracle.Element, int]) -> None:
        super().count_output(tensor, parent, level, last_touch)
        if not self.problem.memories[parent].accumulate:
            return
        seen: set[oracle.Element] = set()
        for stay in self.streams[level, tensor.name]:
            end = self.last_array_step[stay.last_point]
            wider = sum(element in seen and last_touch[element] <= end for element in stay.tile)
            wider *= tensor.accumulator_bytes - tensor.element_bytes
            stay.drain_bytes += wider
            self.traffic[level, tensor.name].drain_bytes += wider
            seen |= stay.tile


class Run(oracle.Run):
    """The oracle's run with one more reading: an unlimited last port is no place to wait for arbitration.

    When the first port is booked, the cycle in which all has arrived is known; that completion comes with the others of
    its cycle, not in a round of its own.
    """

    def __init__(self, plan: oracle.Plan, reading: oracle.Reading) -> None:
        super().__init__(plan, reading)
        self.passed: set[oracle.Transfer] = set()

    def serve(self, transfer: oracle.Transfer) -> int | None:
        if transfer in self.passed:
            return None
        arrival = super().serve(transfer)
        memory = self.memories[transfer.hops[transfer.hop]]
        if arrival is None or memory.bandwidth is not None:
            return arrival
        self.passed.add(transfer)
        assert transfer.through is not None
        through = max(arrival, transfer.through + self.memories[transfer.hops[0]].latency)
        kind = "drain" if transfer.drain else "fill"
        self.completions[through].append((f"{kind} through", transfer))
        self.completions[through + memory.latency].append((f"{kind} arrived", transfer))
        return None


def judge(case: Case) -> oracle.Result:
    """What the oracle says of a case."""
    plan = Plan(to_oracle(case))
    machine = Run(plan, oracle.Reading())
    machine.run()
    return oracle.Result(machine.end, plan.traffic, sum(block.macs for block in plan.blocks), sorted(machine.log))


# -- everything a chip can have ---------------------------------------------------------------------------------------


@st.composite
def links_of(draw: st.DrawFn, names: list[str]) -> tuple[Link, ...]:
    """Links between any two entries: rates, latency, set-up, chunks, outstanding requests, multicast; all reduce."""
    found = []
    for i, outer in enumerate(names):
        for inner in names[i + 1 :]:
            if not draw(st.integers(0, 2)):
                request = draw(st.booleans())
                found.append(
                    link(
                        outer,
                        inner,
                        draw(rates()),
                        draw(latencies()),
                        setup_cycles=draw(st.sampled_from([0, 0, 1, 5])),
                        granularity_bytes=draw(st.sampled_from([1, 1, 4])),
                        chunk_bytes=draw(st.sampled_from([None, None, 8, 64])),
                        request_bytes=16 if request else None,
                        outstanding=draw(st.integers(1, 4)) if request else None,
                        multicast=draw(st.sampled_from(list(Multicast))),
                        reduce=True,
                        per_instance=draw(st.booleans()),
                    )
                )
            else:
                found.append(link(outer, inner, reduce=True, multicast=draw(st.sampled_from(list(Multicast)))))
    return tuple(found)


@st.composite
def wide_chips(draw: st.DrawFn) -> Chip:
    """Two to four levels, instances in lockstep or not, links, any array model; nothing bounded."""
    names = ["DRAM", "L1", "L2", "L3"][: draw(st.integers(2, 4))]
    grids: list[Fanout] = [(), (), (("x", 3),), (("x", 2), ("y", 2))]
    levels = [
        level(
            name,
            draw(rates()),
            draw(latencies()),
            ports=draw(st.sampled_from(["shared", "apart", "all"])),
            accumulate=draw(st.integers(0, 3)) == 0,
            granularity_bytes=draw(st.sampled_from([1, 1, 4, 16])),
            fanout=draw(st.sampled_from(grids)) if i else (),
            lockstep=bool(i) and draw(st.booleans()),
        )
        for i, name in enumerate(names)
    ]
    pe = array(
        draw(st.sampled_from([(), (("u", 4),), (("x", 4), ("y", 4))])),
        model=draw(st.sampled_from(list(ArrayModel))),
        intervals=(("", draw(st.sampled_from([1, 1, 2]))),),
        depth_cycles=draw(st.sampled_from([0, 0, 3])),
        least_cycles=draw(st.sampled_from([0, 0, 0, 5])),
        buffers=draw(st.integers(1, 2)),
        preload=draw(rates()),
        results=draw(rates()),
        fanout=draw(st.sampled_from([(), (), (("x", 2),)])),
        lockstep=draw(st.booleans()),
    )
    return chip(levels, pe, draw(links_of([*names, "PE"])))


@st.composite
def wide_cases(draw: st.DrawFn, *, long: bool = False) -> Case:
    """A case on any chip; a draw that is no legal mapping is given up."""
    what = draw(operators(long=long))
    on = draw(wide_chips())
    own = draw(st.integers(0, 2)) > 0
    places = [*on.names] if own else [*on.names[:-1]]
    temporal: dict[str, list[Loop]] = {name: [] for name in places}
    spatial: dict[str, dict[str, list[Loop]]] = {name: {} for name in places}
    room = {
        (name, axis): count
        for i, name in enumerate(places)
        for axis, count in (on.array.pes if name == "PE" else on.fanout(i + 1))
    }
    for dim, extent in what.dims.items():
        left = extent
        for name in reversed(places[1:] if draw(st.integers(0, 3)) else places):
            if left > 1 and draw(st.booleans()):
                bound = draw(st.integers(1, min(left, 4) if long else left))
                axes = [axis for (place, axis), free in room.items() if place == name and free >= bound > 1]
                if axes and draw(st.booleans()):
                    axis = draw(st.sampled_from(axes))
                    room[name, axis] //= bound
                    spatial[name].setdefault(axis, []).append(Loop((dim,), bound))
                else:
                    temporal[name].append(Loop((dim,), bound))
                left = -(-left // bound)
        temporal[places[0]].append(Loop((dim,), left))
    held: dict[str, list[str]] = {name: [] for name in places}
    for tensor in what.tensors:
        path = [name for name in on.names[:-1] if draw(st.integers(0, 3))]
        path = path if "DRAM" in path or (path and not draw(st.integers(0, 3))) else ["DRAM", *path]
        if own and not draw(st.integers(0, 3)):
            path.append("PE")
        for name in path:
            held[name].append(tensor.name)
    entries = [
        MappingLevel(
            name,
            tuple(draw(st.permutations(temporal[name]))),
            tuple((axis, tuple(loops)) for axis, loops in spatial[name].items()),
            tuple(held[name]),
            tuple((tensor, draw(st.sampled_from([1, 2, 2, 3]))) for tensor in held[name]),
        )
        for name in places
    ]
    try:
        return make(on, what, *entries)
    except SpecError:
        reject()
