"""The estimate: traffic, bounds and cycles in closed form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from accelsim import markup
from accelsim.tables import Basis, Column, Table, Tabular, make, text, whole

BOUNDS: tuple[Column, ...] = (text("bound"), text("kind"), whole("cycles", Basis.ESTIMATED, "cycles"), text("explains"))


@dataclass(frozen=True)
class Traffic:
    """What a tensor moves at an entry, payload before granularity, summed over all instances.

    ``fill``: inputs and weights entering from the parent; ``drain``: the output leaving outward; ``refill``: partial
    sums coming back in. ``array_read`` and ``array_write``: what the array takes from and gives to this entry.
    """

    fill_elements: int = 0
    drain_elements: int = 0
    refill_elements: int = 0
    fill_bytes: int = 0
    drain_bytes: int = 0
    refill_bytes: int = 0
    array_read_bytes: int = 0
    array_write_bytes: int = 0


@dataclass(frozen=True)
class Bound:
    """A number of cycles that no run of the case can beat.

    ``kind``: "resource" (a port, link or array is busy that long), "credit" (slots come free no faster) or "path"
    (what must happen one after another). ``explains`` is a sentence for the report.
    """

    name: str
    kind: str
    cycles: int
    explains: str


@dataclass(frozen=True)
class Estimate(Tabular):
    """The closed form of a run: ``cycles`` is the largest bound, ``bound_by`` its name.

    ``steps``: array-side blocks of all instances that run on their own; ``transfers``: fills, refills and drains of
    them: how large a simulation would be. ``array_busy_cycles``: of the busiest array.
    """

    traffic: Mapping[tuple[int, str], Traffic]
    bounds: tuple[Bound, ...]
    cycles: int
    prologue_cycles: int
    steady_cycles: int
    epilogue_cycles: int
    bound_by: str
    steps: int
    transfers: int
    array_busy_cycles: int
    macs: int

    @property
    def table(self) -> Table:
        """The bounds, the largest first."""
        return make("bounds", BOUNDS, ((bound.name, bound.kind, bound.cycles, bound.explains)
                                       for bound in sorted(self.bounds, key=lambda one: -one.cycles)))

    def __str__(self) -> str:
        return f"{self.cycles:,} cycles (estimated, not simulated), bound by {self.bound_by}; {self.macs:,} MACs"

    def _repr_html_(self) -> str:
        parts = (("prologue", self.prologue_cycles), ("steady", self.steady_cycles), ("epilogue", self.epilogue_cycles),
                 ("the busiest array is busy", self.array_busy_cycles))
        size = ("array steps", self.steps), ("transfers", self.transfers)
        moved = ((entry, tensor, one.fill_bytes, one.drain_bytes, one.refill_bytes, one.array_read_bytes, one.array_write_bytes)
                 for (entry, tensor), one in sorted(self.traffic.items()))
        return markup.block(
            markup.title(str(self)),
            markup.table("", ("of the run", "cycles (estimated)"), parts),
            markup.table("lower bounds", ("bound", "kind", "cycles (estimated)", "what takes so long"), self.table.rows),
            markup.table("traffic", ("level, from 0 outermost", "tensor", *(f"{word} [B] (estimated)" for word in (
                "fill", "drain", "refill", "array read", "array write"))), moved),
            markup.table("size of the simulation", ("", "(estimated)"), size))
