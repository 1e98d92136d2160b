"""Bytes of one tensor between the array and the memory that feeds it."""

from __future__ import annotations

from accelsim.spec.case import Case
from accelsim.spec.chip import Access, Multicast
from accelsim.spec.operator import Role, Tensor


class ArrayTraffic:
    """Bytes of one tensor between the array and the memory that feeds it."""

    def __init__(self, case: Case, tensor: Tensor) -> None:
        entry = case.feeding(tensor.name)
        self.bound = entry == case.array_entry
        memory = case.memory(entry, tensor)
        self.output = tensor.role is Role.OUTPUT
        self.accumulates = memory is not None and memory.accumulate
        self.bits = case.held_type(entry, tensor).bits
        # lockstep instances inside the feeding unit share its ports; instances with a memory each do not
        self.shared = any(loop.entry >= entry and case.lockstep(loop.entry + 1)
                          for loop in case.nest.spatial_above(case.array_entry))
        links = case.chip.links_between(case.chip.names[entry], case.chip.array.name,
                                        Access.DRAIN if self.output else Access.FILL, tensor)
        self.merged = any(link.reduce if self.output else link.multicast is not Multicast.NONE for link in links)

    def read_bytes(self, touched: int, first: int) -> int:
        """Operands read: each element once per iteration; updates that find nothing to add to read nothing."""
        if self.bound or (self.output and self.accumulates):
            return 0
        return -(-(touched - first if self.output else touched) * self.bits // 8)

    def write_bytes(self, touched: int) -> int:
        """Results written: each update."""
        return -(-touched * self.bits // 8) if self.output and not self.bound else 0
