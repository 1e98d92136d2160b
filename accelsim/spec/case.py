"""The case: a chip, an operator and a mapping, proven consistent. After it exists, any failure is our bug."""

from __future__ import annotations

from collections.abc import Mapping as MappingABC
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, prod

from accelsim import markup
from accelsim.spec.banks import Banks, Laid, Layout, LayoutKind
from accelsim.spec.chip import Chip, Memory, tensor_named
from accelsim.spec.mapping import Mapping
from accelsim.spec.nest import Nest, NestLoop
from accelsim.spec.operator import Operator, Role, Tensor
from accelsim.spec.tiles import largest_counts, largest_tile
from accelsim.units import DType, human_bytes


@dataclass(frozen=True)
class Case(markup.Shown):
    """What was asked. ``paths``: per tensor the entries that bind it, outermost (its home) first; the array's
    entry is ``len(chip.levels)``. ``slots``: buffers per (entry, tensor). ``mapping`` has every factor resolved.
    """

    chip: Chip
    operator: Operator
    mapping: Mapping
    nest: Nest
    paths: MappingABC[str, tuple[int, ...]]
    slots: MappingABC[tuple[int, str], int]

    @property
    def array_entry(self) -> int:
        """Position of the PE array."""
        return len(self.chip.levels)

    def memory(self, entry: int, tensor: Tensor) -> Memory | None:
        """The memory that holds the tensor at an entry; None at the array (its registers)."""
        return None if entry == self.array_entry else self.chip.levels[entry].memory_of(tensor)

    def parent(self, entry: int, tensor: str) -> int | None:
        """The next outer entry on the tensor's path; None at its home."""
        path = self.paths[tensor]
        place = path.index(entry)
        return path[place - 1] if place else None

    def feeding(self, tensor: str) -> int:
        """The entry the array takes the tensor from (or gives it to): the innermost that binds it."""
        return self.paths[tensor][-1]

    @cached_property
    def deepest_feeding(self) -> int:
        """The innermost entry that any operand is bound at: array steps change residencies at its steps only."""
        return max(self.feeding(tensor.name) for tensor in self.operator.tensors)

    def follows(self, entry: int, tensor: Tensor) -> tuple[str, ...]:
        """The other tensors whose tile of a step must have come to an entry before this one's is asked for there."""
        memory = self.memory(entry, tensor)
        if memory is None or not memory.follows or entry not in self.paths[tensor.name][1:]:
            return ()
        return tuple([other.name for other in self.operator.tensors
                      if other is not tensor and tensor_named(memory.follows, other) and entry in self.paths[other.name][1:]])

    def lockstep(self, entry: int) -> bool:
        """Whether the instances of an entry run as one (so do all inside a level that does)."""
        flags = [level.lockstep for level in self.chip.levels] + [self.chip.array.lockstep]
        return any(flags[:entry + 1])

    def reduces(self, loop: NestLoop) -> bool:
        """Whether the loop runs over a reduction: its results are summed."""
        return loop.bound > 1 and not set(self.nest.lines[loop.line].dims) & self.operator.output.dims

    def partial_above(self, entry: int) -> bool:
        """Whether what an entry hands outward can be an unfinished sum: a reduction is cut above it."""
        return any(self.reduces(loop) for loop in self.nest.loops if loop.entry < entry)

    def held_type(self, entry: int, tensor: Tensor) -> DType:
        """The type a tensor is held in at an entry: outputs that can be unfinished there have the accumulator's."""
        if tensor.role is not Role.OUTPUT:
            return tensor.dtype
        path = self.paths[tensor.name]
        inner = path.index(entry) + 1
        if inner < len(path):
            partial = self.partial_above(path[inner])
        else:
            own = entry == self.array_entry
            partial = self.partial_above(self.array_entry) or own or any(
                self.reduces(loop) for loop in self.nest.own(self.array_entry) if loop.axis is None)
        return self.operator.accumulator if partial else tensor.dtype

    def tile_elements(self, entry: int, tensor: Tensor) -> int:
        """Most elements of the tensor in one slot of an entry; all an instance ever needs at its home."""
        if entry != self.paths[tensor.name][0]:
            return largest_tile(self.nest, entry, tensor, self.operator.dims)
        shared = prod(loop.bound for loop in self.nest.spatial_above(entry)
                      if set(self.nest.lines[loop.line].dims) & tensor.dims)
        return ceil(tensor.elements / shared)

    def slot_bytes(self, entry: int, tensor: Tensor) -> int:
        """Bytes of one slot: as it is laid out over banks that are simulated, in whole banks where the memory allots them so."""
        size = ceil(self.tile_elements(entry, tensor) * self.held_type(entry, tensor).bits / 8)
        memory = self.memory(entry, tensor)
        if memory is not None and memory.banked is not None:
            width = memory.banked.width_bytes
            size = max(-(-size // width), self._laid(entry, tensor, memory.banked)) * width
        if memory is None or memory.banks is None or memory.capacity_bytes is None:
            return size
        bank = max(1, memory.capacity_bytes // memory.banks)
        return ceil(size / bank) * bank

    def layout(self, entry: int, tensor: str) -> Layout:
        """How the tiles of a tensor lie over the words of its memory at an entry."""
        own = next((level for level in self.mapping.levels if level.level == self.chip.names[entry]), None)
        return dict(own.layouts if own is not None else ()).get(tensor, Layout(LayoutKind.ROW))

    def _laid(self, entry: int, tensor: Tensor, banks: Banks) -> int:
        """Words that the largest tile takes in its layout; all of the tensor at its home."""
        if entry == self.paths[tensor.name][0]:
            counts = tuple([axis.extent for axis in tensor.axes])
        else:
            counts = largest_counts(self.nest, entry, tensor, self.operator.dims)
        layout = self.layout(entry, tensor.name)
        # close, elements are counted as ever: of a home that is shared, each instance has its part
        return 0 if layout.kind in {LayoutKind.ROW, LayoutKind.COLUMN} else Laid(
            layout, banks, counts, self.held_type(entry, tensor).bits).size_words

    def slot_count(self, entry: int, tensor: Tensor) -> int:
        """Slots of the tensor at an entry: one at its home, which holds all of it."""
        return 1 if entry == self.paths[tensor.name][0] else self.slots[entry, tensor.name]

    def pass_cycles(self, iterations: int) -> int:
        """Cycles that the array takes for a pass of so many iterations: theirs, or the least that one takes."""
        return max(self.chip.array.least_cycles, iterations * self.interval_cycles)

    @cached_property
    def interval_cycles(self) -> int:
        """Cycles per iteration of the array's own loops at the operator's types."""
        return self.chip.array.interval_cycles(tuple(tensor.dtype for tensor in self.operator.tensors
                                                     if tensor.role is not Role.OUTPUT))

    @cached_property
    def peak_macs_per_cycle(self) -> Fraction:
        """MACs per cycle of all arrays the operator may use, at its types."""
        return Fraction(self.chip.array.pe_count * self.chip.arrays, self.interval_cycles)

    def __str__(self) -> str:
        return f"{self.operator.name} on {self.chip.name}: {self.mapping}"

    def _repr_html_(self) -> str:
        """The operator, what is held where, and the mapping as a loop nest."""
        held = [(entry, tensor) for entry in range(self.array_entry + 1) for tensor in self.operator.tensors
                if entry in self.paths[tensor.name]]
        return markup.block(
            markup.title(f"{self.operator.name} on {self.chip.name}"), self.operator.tensors_html(),
            markup.table("tiles, at their largest", ("level", "tensor", "elements", "type", "slots", "bytes of a slot [B]", ""), (
                (self.chip.names[entry], tensor.name, self.tile_elements(entry, tensor), self.held_type(entry, tensor).name,
                 self.slot_count(entry, tensor), self.slot_bytes(entry, tensor),
                 markup.Right(human_bytes(self.slot_bytes(entry, tensor)))) for entry, tensor in held)),
            *self.mapping.nest_html(self.operator))
