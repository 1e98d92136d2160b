"""The chip, resolved: memory levels outermost first, the PE array last, links between them; integers only.

Rates are exact fractions of bytes per chip cycle; ``None`` means unlimited. Everything here is proven consistent
by ``chipfile``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING

from accelsim import markup
from accelsim.spec.banks import Banks
from accelsim.spec.chiphtml import chip_html
from accelsim.spec.dram import Dram
from accelsim.spec.operator import Role, Tensor
from accelsim.units import DType, format_frequency

if TYPE_CHECKING:
    from accelsim.spec.linknetwork import LinkNetwork


class Access(Enum):
    """What a memory port serves: inward and outward transfers, operands read and results written by the array."""

    FILL = "fill"
    DRAIN = "drain"
    ARRAY_READ = "array_read"
    ARRAY_WRITE = "array_write"


class MemoryKind(Enum):
    """Which stall causes waiting for a memory has."""

    DRAM = "dram"
    SRAM = "sram"


class Multicast(Enum):
    """What a link reads once for several instances: nothing, equal sets, or every element they share."""

    NONE = "none"
    EQUAL = "equal"
    OVERLAP = "overlap"


class ArrayModel(Enum):
    """How the array takes time (DESIGN section 3, rule 4)."""

    SYSTOLIC = "systolic"
    SPATIAL = "spatial"
    MATRIX = "matrix"


@dataclass(frozen=True)
class Port:
    """One port of a memory: its rate in bytes per chip cycle and what it serves."""

    name: str
    rate: Fraction | None
    accesses: frozenset[Access]
    tensors: frozenset[str] | None

    def serves(self, access: Access, tensor: Tensor) -> bool:
        """Whether this access of this tensor goes through here."""
        return access in self.accesses and (self.tensors is None or tensor_named(self.tensors, tensor))


@dataclass(frozen=True)
class Memory:
    """A software-managed memory of a level.

    ``dram``: its channels are simulated command by command; its port's rate is then what they carry at most, its latency
    what passes at least from a burst's command to its data, and ``beyond_cycles`` the part of it that comes on top of that.
    ``tiled``: tensors lie there tile by tile, not row-major. ``cache_bytes``: so much of what was moved last is kept before it by
    hardware, and takes neither its port nor its latency when it is asked for again. ``banks``: slots are allotted in so many
    whole banks; ``banked``: its banks are simulated word by word. ``follows``: tensors whose tile of the same step must be there
    before one is asked for to come here. ``bridge_bytes``: gaps between a fill's runs up to that are read with them.
    """

    name: str
    kind: MemoryKind
    capacity_bytes: int | None
    latency_cycles: int
    granularity_bytes: int
    ports: tuple[Port, ...]
    buffers: tuple[tuple[str, int], ...]
    banks: int | None
    accumulate: bool
    tensors: frozenset[str] | None
    dram: Dram | None = None
    beyond_cycles: int = 0
    tiled: bool = False
    banked: Banks | None = None
    follows: frozenset[str] = frozenset()
    cache_bytes: int | None = None
    bridge_bytes: int = 0

    def holds(self, tensor: Tensor) -> bool:
        """Whether the tensor may be bound here."""
        return self.tensors is None or tensor_named(self.tensors, tensor)

    def port(self, access: Access, tensor: Tensor) -> Port | None:
        """The first port that serves this access of this tensor."""
        return next((port for port in self.ports if port.serves(access, tensor)), None)

    def default_buffers(self, tensor: Tensor) -> int:
        """Slots of a tensor here unless the mapping says otherwise."""
        slots = dict(self.buffers)
        return slots.get(tensor.name, slots.get(tensor.role.value, slots.get("", 2)))


@dataclass(frozen=True)
class Level:
    """One memory level: its memories and how many instances of it each instance of the level above has."""

    name: str
    memories: tuple[Memory, ...]
    fanout: tuple[tuple[str, int], ...] = ()
    lockstep: bool = False

    @property
    def instances(self) -> int:
        """Instances per instance of the level above."""
        return prod(count for _, count in self.fanout)

    def memory_of(self, tensor: Tensor) -> Memory | None:
        """The memory of this level that serves the tensor."""
        return next((memory for memory in self.memories if memory.holds(tensor)), None)


@dataclass(frozen=True)
class Array:
    """The PE array: the last entry. ``intervals``: cycles per iteration of its own loops, by dtype ("" for any); a pass of them
    takes ``least_cycles`` at least.
    """

    name: str
    model: ArrayModel
    pes: tuple[tuple[str, int], ...]
    intervals: tuple[tuple[str, int], ...]
    depth_cycles: int
    registers: int
    buffers: int
    preload: Fraction | None
    preload_row: bool
    results: Fraction | None
    fanout: tuple[tuple[str, int], ...] = ()
    lockstep: bool = False
    tensors: frozenset[str] | None = None
    least_cycles: int = 0

    def holds(self, tensor: Tensor) -> bool:
        """Whether the tensor may be stationary in the registers."""
        return self.registers > 0 and (self.tensors is None or tensor_named(self.tensors, tensor))

    @property
    def pe_count(self) -> int:
        """PEs of one instance."""
        return prod(count for _, count in self.pes)

    def extent(self, axis: str) -> int:
        """PEs along one axis, 1 if there is no such axis."""
        return dict(self.pes).get(axis, 1)

    @property
    def skew_cycles(self) -> int:
        """Latency of a step: R + C - 2 of a systolic array (operands skewed in, results out) plus its depth."""
        skew = self.extent("y") + self.extent("x") - 2 if self.model is ArrayModel.SYSTOLIC else 0
        return skew + self.depth_cycles

    def computes(self, dtype: DType) -> bool:
        """Whether the array takes operands of this type: any, unless its intervals are given by type."""
        table = dict(self.intervals)
        return "" in table or dtype.name in table

    def interval_cycles(self, dtypes: tuple[DType, ...]) -> int:
        """Cycles per iteration for these operand dtypes: the slowest of them."""
        table = dict(self.intervals)
        return max(table.get(dtype.name, table.get("", 1)) for dtype in dtypes)


@dataclass(frozen=True)
class Link:
    """A link between two levels; one, or one for each inner instance.

    ``network``: a network on chip in its place, of which rate, latency and granularity are a node's, the nearest's and a flit.
    """

    name: str
    outer: str
    inner: str
    tensors: frozenset[str] | None
    accesses: frozenset[Access]
    rate: Fraction | None
    latency_cycles: int
    granularity_bytes: int
    setup_cycles: int
    chunk_bytes: int | None
    request_bytes: int | None
    outstanding: int | None
    multicast: Multicast
    reduce: bool
    per_instance: bool
    network: LinkNetwork | None = None

    def carries(self, outer: str, inner: str, access: Access, tensor: Tensor) -> bool:
        """Whether a transfer of this tensor between these levels passes here."""
        return (
            (self.outer, self.inner) == (outer, inner)
            and access in self.accesses
            and (self.tensors is None or tensor_named(self.tensors, tensor))
        )


@dataclass(frozen=True)
class Chip(markup.Shown):
    """A hypothetical chip. ``launch_cycles``: from the start of an operator until its first transfer may be claimed."""

    name: str
    description: str
    clock_hz: Fraction
    levels: tuple[Level, ...]
    array: Array
    links: tuple[Link, ...]
    sources: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    omits: tuple[str, ...] = ()
    dataflows: tuple[str, ...] | None = None
    launch_cycles: int = 0

    def __str__(self) -> str:
        return f"{self.name}: {' > '.join(self.names)} at {format_frequency(self.clock_hz)}"

    def _repr_html_(self) -> str:
        return chip_html(self)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the levels, outermost first, the array last."""
        return (*(level.name for level in self.levels), self.array.name)

    def fanout(self, position: int) -> tuple[tuple[str, int], ...]:
        """Instances of entry ``position`` (the array is the last) per instance of the entry above."""
        return self.levels[position].fanout if position < len(self.levels) else self.array.fanout

    @property
    def arrays(self) -> int:
        """Instances of the PE array on the chip."""
        return prod(level.instances for level in self.levels) * prod(count for _, count in self.array.fanout)

    def link_rate(self, link: Link) -> Fraction | None:
        """The link's rate, at most outstanding x request / latency: of the outer level's slowest memory and of the link."""
        outer = next(level for level in self.levels if level.name == link.outer)
        latency = max(memory.latency_cycles for memory in outer.memories) + link.latency_cycles
        if link.request_bytes is None or link.outstanding is None or latency == 0:
            return link.rate
        most = Fraction(link.outstanding * link.request_bytes, latency)
        return most if link.rate is None else min(link.rate, most)

    def links_between(self, outer: str, inner: str, access: Access, tensor: Tensor) -> tuple[Link, ...]:
        """The links a transfer passes between two levels, in the order of the file."""
        return tuple(link for link in self.links if link.carries(outer, inner, access, tensor))


def tensor_named(words: frozenset[str], tensor: Tensor) -> bool:
    """Whether a set of roles and tensor names means this tensor."""
    return tensor.name in words or tensor.role.value in words


ROLES: tuple[str, ...] = tuple(role.value for role in Role)
