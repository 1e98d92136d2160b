"""Chips, operators, mappings and runs in a line or two, for tests; built from the spec's own classes."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from accelsim.kernels.columns import (
    BLOCK_KIND,
    BLOCK_OPERANDS,
    BLOCK_STEP,
    STAY_DRAIN,
    STAY_FILL,
    STAY_FIRST,
    STAY_LAST,
    STAY_REFILL,
    STAY_SINK,
    STAY_SOURCE,
)
from accelsim.machine.compiled_driver import CompiledMachine
from accelsim.machine.network import build_network
from accelsim.machine.simpy_driver import Machine
from accelsim.machine.tally import tally_caches
from accelsim.plan.moves import Load
from accelsim.plan.schedule import Schedule, Work
from accelsim.plan.streams import singly
from accelsim.recorder import Recorder, RecordOptions
from accelsim.spec.affine import parse_affine
from accelsim.spec.build import make_case
from accelsim.spec.case import Case
from accelsim.spec.chip import Access, Array, ArrayModel, Chip, Level, Link, Memory, MemoryKind, Multicast, Port
from accelsim.spec.linknetwork import link_network
from accelsim.spec.mapping import Loop, Mapping, MappingLevel
from accelsim.spec.network import Network
from accelsim.spec.operator import Axis, Operator, Role, Tensor
from accelsim.spec.operators import OPERATOR_KINDS, Options
from accelsim.spec.read import Unmapped, read
from accelsim.timeline import Timeline
from accelsim.units import DTYPES

from .as_files import as_files

KINDS = {kind.word: kind for kind in OPERATOR_KINDS}
TRANSFERS = frozenset({Access.FILL, Access.DRAIN})
CLOCK = Fraction(10**9)
ARRAY = frozenset({Access.ARRAY_READ, Access.ARRAY_WRITE})
Rate = int | str | Fraction | None
Fanout = tuple[tuple[str, int], ...]


# -- chips ----------------------------------------------------------------------------------------------------------


def rate_of(rate: Rate) -> Fraction | None:
    return None if rate is None else Fraction(rate)


def ports_of(rate: Rate, ports: str, tensors: str = "") -> tuple[Port, ...]:
    """`shared`: one port for fills and drains; `apart`: one each; `own`: one for each direction of each tensor.

    The array's reads and writes are unlimited; `all`: one port for everything, the array's too.
    """
    pace = rate_of(rate)
    free = Port("array", None, ARRAY, None)
    if ports == "all":
        return (Port("port", pace, TRANSFERS | ARRAY, None),)
    if ports == "shared":
        return Port("port", pace, TRANSFERS, None), free
    if ports == "apart":
        return (*(Port(access.value, pace, frozenset({access}), None) for access in (Access.FILL, Access.DRAIN)), free)
    assert ports == "own"
    return (
        *(
            Port(f"{name}_{access.value}", pace, frozenset({access}), frozenset({name}))
            for name in tensors
            for access in (Access.FILL, Access.DRAIN)
        ),
        free,
    )


def level(
    name: str,
    rate: Rate = None,
    latency: int = 0,
    *,
    ports: str | tuple[Port, ...] = "apart",
    tensors: str = "",
    fanout: Fanout = (),
    lockstep: bool = False,
    kind: MemoryKind | None = None,
    **rest: Any,
) -> Level:
    """A level of one memory; unlimited, without latency and unbounded unless told."""
    made = ports_of(rate, ports, tensors) if isinstance(ports, str) else ports
    options: dict[str, Any] = {
        "capacity_bytes": None,
        "granularity_bytes": 1,
        "buffers": (("", 2),),
        "banks": None,
        "accumulate": False,
        "tensors": None,
    } | rest
    kind = kind or (MemoryKind.DRAM if name == "DRAM" else MemoryKind.SRAM)
    return Level(name, (Memory(name, kind, latency_cycles=latency, ports=made, **options),), fanout, lockstep)


def array(pes: Fanout = (), **rest: Any) -> Array:
    """An array of one MAC per cycle unless told; its registers may hold anything."""
    options: dict[str, Any] = {
        "name": "PE",
        "model": ArrayModel.SPATIAL,
        "intervals": (("", 1),),
        "depth_cycles": 0,
        "registers": 1 << 20,
        "buffers": 1,
        "preload": None,
        "preload_row": False,
        "results": None,
    } | rest
    return Array(pes=pes, **options)


def systolic(rows: int, columns: int, **rest: Any) -> Array:
    options: dict[str, Any] = {"model": ArrayModel.SYSTOLIC, "preload_row": True} | rest
    return array((("x", columns), ("y", rows)), **options)


def link(outer: str, inner: str, rate: Rate = None, latency: int = 0, **rest: Any) -> Link:
    options: dict[str, Any] = {
        "tensors": None,
        "accesses": TRANSFERS,
        "granularity_bytes": 1,
        "setup_cycles": 0,
        "chunk_bytes": None,
        "request_bytes": None,
        "outstanding": None,
        "multicast": Multicast.NONE,
        "reduce": False,
        "per_instance": False,
        "name": f"{outer}-{inner}",
    } | rest
    return Link(outer=outer, inner=inner, rate=rate_of(rate), latency_cycles=latency, **options)


def network_link(outer: str, inner: str, network: Network, inner_nodes: Sequence[int], outer_node: int = 0, **rest: Any) -> Link:
    """A network in a link's place, at the clock of `chip`."""
    placed = link_network(network, outer_node, inner_nodes, CLOCK)
    own = {"granularity_bytes": network.flit_bytes, "network": placed} | rest
    return link(outer, inner, placed.inward[0][0].rate, placed.least_cycles, **own)


def chip(levels: list[Level], pe: Array | None = None, links: tuple[Link, ...] = ()) -> Chip:
    return Chip("test", "", CLOCK, tuple(levels), pe or array(), links)


# -- operators ------------------------------------------------------------------------------------------------------


def operator(
    kind: str,
    dtype: str = "fp32",
    accumulator: str | None = None,
    options: Options | None = None,
    output_dtype: str | None = None,
    **dims: int,
) -> Operator:
    """A shipped operator. `output_dtype`: the output's own type."""
    shipped = KINDS[kind]
    axes = shipped.spatial_axes
    body = shipped.body(
        {dim: dims.get(dim, 1) for dim in shipped.dims}, options or Options((1,) * axes, (1,) * axes, (0,) * axes)
    )
    tensors = tuple(
        Tensor(name, body.roles[name], own, DTYPES[output_dtype if output_dtype and body.roles[name] is Role.OUTPUT else dtype])
        for name, own in body.tensors.items()
    )
    return Operator(kind, kind, body.dims, tensors, DTYPES[accumulator or dtype])


def gemm(m: int, n: int, k: int, dtype: str = "fp32", accumulator: str | None = None) -> Operator:
    return operator("gemm", dtype, accumulator, m=m, n=n, k=k)


def custom(
    dims: dict[str, int],
    output: str,
    dtype: str = "fp32",
    accumulator: str | None = None,
    extents: dict[str, list[int]] | None = None,
    output_dtype: str | None = None,
    **tensors: list[str],
) -> Operator:
    """An operator of one's own; an axis is as long as its form reaches unless `extents` says otherwise."""
    found = []
    for name, forms in tensors.items():
        axes = []
        for i, text in enumerate(forms):
            form = parse_affine(text)
            reach = sum(c * (dims[dim] - 1) for dim, c in form.terms) + form.offset + 1
            axes.append(Axis(form, extents[name][i] if extents and name in extents else max(1, reach)))
        kind = output_dtype if output_dtype and name == output else dtype
        found.append(Tensor(name, Role.OUTPUT if name == output else Role.INPUT, tuple(axes), DTYPES[kind]))
    return Operator("custom", "custom", dims, tuple(found), DTYPES[accumulator or dtype])


# -- mappings and cases ---------------------------------------------------------------------------------------------


def loops(text: str) -> tuple[Loop, ...]:
    """`k2 m* c,r,s:4`: two plain loops (the second over what is left) and one over a flattened list."""
    found = []
    for word in text.split():
        names, _, bound = word.rpartition(":") if ":" in word else (word[0], "", word[1:])
        found.append(Loop(tuple(names.split(",")), None if bound == "*" else int(bound)))
    return tuple(found)


def entry(
    name: str, temporal: str = "", binding: str | None = None, buffers: dict[str, int] | None = None, **spatial: str
) -> MappingLevel:
    """One entry; `binding` are tensor names with blanks between, `x="m4"` spreads over instances or PEs."""
    return MappingLevel(
        name,
        loops(temporal),
        tuple((axis, loops(text)) for axis, text in spatial.items()),
        None if binding is None else tuple(binding.split()),
        tuple((buffers or {}).items()),
    )


def make(on: Chip, what: Operator, *entries: MappingLevel) -> Case:
    return make_case(on, what, Mapping(entries))


def from_files(chip_name: str, workload: str, mapping: str, *overrides: str) -> Case:
    """A case read exactly as a user would have it: names, inline text, a mapping file and `-o` overrides."""

    def none(*_: object) -> Mapping:
        raise AssertionError("the mapping file names every operator")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mapping.yaml"
        path.write_text(mapping, encoding="utf-8")
        found = read(chip_name, workload, str(path), choose=none, overrides=overrides).cases[0]
    if isinstance(found, Unmapped):
        raise found.error
    return found


# -- runs -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stay:
    """A row of the plan, in words."""

    first: int
    last: int
    source: int
    sink: int
    fill: Load | None
    drain: Load | None
    refill: bool


def stays(schedule: Schedule, entry: int, tensor: str, unit: int) -> list[Stay]:
    """All stays of a station."""
    stream, found = schedule.stays(entry, tensor, unit), []
    while len(rows := stream.rows()):
        loads = schedule.loads(entry, tensor)
        for row in rows.tolist():
            found.append(Stay(row[STAY_FIRST], row[STAY_LAST], row[STAY_SOURCE], row[STAY_SINK], loads[row[STAY_FILL]],
                              loads[row[STAY_DRAIN]], bool(row[STAY_REFILL])))
    return found


@dataclass(frozen=True)
class Block:
    """A row of an array's work, in words."""

    step: int
    operands: tuple[int, ...]
    work: Work


def blocks(schedule: Schedule, unit: int) -> list[Block]:
    """All blocks of an array unit."""
    return [Block(row[BLOCK_STEP], tuple(row[BLOCK_OPERANDS:]), schedule.works[row[BLOCK_KIND]])
            for row in singly(schedule.blocks(unit))]


@dataclass(frozen=True)
class Event:
    """What an observer was told."""

    cycle: int
    what: str
    entry: int
    tensor: str
    unit: int
    residency: int


@dataclass(frozen=True)
class Ran:
    """A run with what the observer saw."""

    timeline: Timeline
    log: list[Event]
    machine: Machine | CompiledMachine

    @property
    def cycles(self) -> int:
        return self.timeline.cycles

    def times(self, what: str, tensor: str, entry: int = 1, unit: int = 0) -> list[int]:
        """The cycles of one kind of event at a station, in the order of its residencies."""
        own = [e for e in self.log if (e.what, e.tensor, e.entry, e.unit) == (what, tensor, entry, unit)]
        return [e.cycle for e in sorted(own, key=lambda e: e.residency)]


def run(case: Case, options: RecordOptions | None = None, driver: type[Machine | CompiledMachine] = Machine) -> Ran:
    log: list[Event] = []
    schedule = Schedule(case)
    network = build_network(schedule)
    recorder = Recorder(network.lanes, network.tensors, options or RecordOptions())
    machine = driver(network, schedule, recorder, observer=lambda *told: log.append(Event(*told)))
    cycles = machine.run()
    tally_caches(recorder, schedule)
    assert machine.macs == case.operator.macs
    return Ran(recorder.finish(cycles, machine.first_starts), log, machine)


def differing(one: Timeline, other: Timeline) -> str:
    """The first field in which two records differ; "" where they are the same."""
    for field in fields(Timeline):
        name = "rows" if field.name == "kept" else field.name
        a, b = getattr(one, name), getattr(other, name)
        if field.name == "profile":
            equal = a.bin_cycles == b.bin_cycles and np.array_equal(a.ticks, b.ticks)
        else:
            equal = np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b
        if not equal:
            return field.name
    return ""


def stalls(timeline: Timeline, lane: int = 0) -> dict[str, int]:
    """Stalled cycles of a lane by cause, over all phases."""
    found: dict[str, int] = {}
    for (cause, _), cycles in timeline.stall_cycles(lane).items():
        found[cause.code] = found.get(cause.code, 0) + cycles
    return found


def phases(timeline: Timeline, lane: int = 0) -> dict[tuple[str, str], int]:
    """Stalled cycles of a lane by cause and phase."""
    return {(cause.code, phase.code): cycles for (cause, phase), cycles in timeline.stall_cycles(lane).items()}


def brief(case: Case) -> str:
    """A case as files that run, each under its name: to be kept, and run again outside the tests."""
    return "\n".join(f"# {name}\n{text}" for name, text in as_files(case).items())
