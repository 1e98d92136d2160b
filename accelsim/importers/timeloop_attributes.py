"""The attributes of a component of a Timeloop architecture: what they mean in words and cycles, and which mean nothing here."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from accelsim.importers.timeloop_part import Part
from accelsim.importers.timeloop_stores import Rates

DEFAULT_WORD_BITS: Final = 16
"""Of a component that says nothing, in Timeloop."""
LARGEST_MESH: Final = 1 << 20
_LARGEST_WORDS: Final = 1 << 57
_LARGEST_BITS: Final = 1 << 20
_LONGEST_LATENCY: Final = 10**9
_MISSPELT: Final = 0.85

_SAME: Final = {
    "word_bits": ("word_bits", "word_width", "datawidth"), "block_size": ("block_size", "n_words"),
    "width": ("width", "memory_width", "data_storage_width"), "depth": ("depth", "memory_depth", "data_storage_depth"),
}
"""Spellings of one attribute; the first that is there counts, as in Timeloop."""
_READ: Final = ("cluster_size", "entries", "sizeKB", "instances", "meshX", "meshY", "read_bandwidth", "write_bandwidth",
                "shared_bandwidth", "bandwidth", "multiple_buffering", "network_fill_latency", "network_drain_latency",
                "global_cycle_seconds", *(word for words in _SAME.values() for word in words))
_ENERGY: Final = frozenset({
    "technology", "vector_access_energy", "cluster_area", "area", "energy", "addr_gen_energy", "wire_energy", "router_energy",
    "energy_per_hop", "adder_energy", "tile_width", "voltage", "power_gated_at", "has_power_gating", "area_scale", "energy_scale",
    "n_banks", "num_banks", "n_ports", "num_ports", "n_rw_ports", "n_rdwr_ports", "n_rd_ports", "n_wr_ports", "type",
    "multiplier_width", "adder_width", "action_latency_cycles", "cycle_seconds", "latency", "version", "n_instances"})
ENERGY: Final = "for energy and area, which are not counted here; no count depends on it"
_USUAL: Final[Mapping[str, object]] = {"reduction_supported": True, "min_utilization": 0, "has_power_gating": False,
                                       "allow_overbooking": False, "per_dataspace_bandwidth_consumption_scale": {}}
"""Values that say what is so without them."""
_SPARSE: Final = ("metadata", "compression_supported", "decompression_supported", "concordant", "tile_partition_supported")
_REFUSED: Final = {
    "per_dataspace_bandwidth_consumption_scale": "words of different data spaces take the same bandwidth here",
    "allow_overbooking": "tiles larger than their level are refused here",
}
_LEFT: Final = {
    "min_utilization": "a limit of the search: nothing is refused here for being too small",
    "reduction_supported": "Timeloop counts the same either way but for reads of partial sums; they are refilled here",
}


@dataclass(frozen=True)
class Read:
    """Attributes of a component, by their first spelling; what is not read is noted as left."""

    place: Part
    given: Mapping[str, Part]

    def whole(self, name: str, high: int, low: int = 1) -> int | None:
        """A whole number, None where it is not given or refused."""
        part = self.given.get(name)
        return None if part is None or part.value is None else part.whole(low, high)

    def rate(self, name: str) -> Fraction | None:
        """Words a cycle."""
        part = self.given.get(name)
        return None if part is None or part.value is None else part.number()

    @property
    def word_bits(self) -> int | None:
        """Bits of a word, where they are given."""
        return self.whole("word_bits", _LARGEST_BITS)

    def mesh(self) -> tuple[int | None, int | None]:
        """Instances along x and along y, all in all."""
        return self.whole("meshX", LARGEST_MESH), self.whole("meshY", LARGEST_MESH)

    def words(self) -> int | None:
        """Capacity in words; None for a level without one."""
        sizes = [name for name in ("entries", "depth", "sizeKB") if (one := self.given.get(name)) and one.value is not None]
        if len(sizes) > 1:
            self.given[sizes[1]].refuse(f"{sizes[1]} beside {sizes[0]}", "one of entries, depth, sizeKB")
        if not sizes:
            return None
        count = self.whole(sizes[0], _LARGEST_WORDS)
        if count is None:
            return None
        if sizes[0] == "sizeKB":
            count = count * 1024 * 8 // (self.word_bits or DEFAULT_WORD_BITS)
        elif sizes[0] == "depth":
            count *= self._block()
        if 1 <= count <= _LARGEST_WORDS:
            return count
        self.given[sizes[0]].refuse(f"a capacity of {count} words; allowed: 1 to 2^57")
        return None

    def _block(self) -> int:
        """Words of a block: as given, or what the width has room for beside the cluster's."""
        bits, width = self.word_bits or DEFAULT_WORD_BITS, self.whole("width", _LARGEST_BITS)
        block, cluster = self.whole("block_size", _LARGEST_BITS), self.whole("cluster_size", _LARGEST_BITS)
        if width is None:
            return block or 1
        if width % (bits * (block or 1)) or (block and cluster and block * cluster * bits != width):
            self.given["width"].refuse(f"a width of {width} bits does not hold blocks of {block or 1} words of {bits} bits"
                                       + (f", {cluster} side by side" if cluster else ""),
                                       "a multiple of word_bits x block_size (x cluster_size)")
            return 1
        if block is None and width % (bits * (cluster or 1)):
            self.given["width"].refuse(f"a width of {width} bits does not hold {cluster} words of {bits} bits side by side")
            return 1
        return block or width // (bits * (cluster or 1))

    def rates(self) -> Rates:
        """Words per cycle and instance."""
        read, write = self.rate("read_bandwidth"), self.rate("write_bandwidth")
        both = self.rate("bandwidth")
        if both is not None:
            self.given["bandwidth"].leave("half of it for reads, half for writes, as Timeloop takes it")
            read, write = read or both / 2, write or both / 2
        shared = self.rate("shared_bandwidth")
        if shared is not None and (read is not None or write is not None):
            self.given["shared_bandwidth"].refuse("shared_bandwidth beside read_bandwidth or write_bandwidth: a port here has "
                                                  "one limit", "one or the other")
        return Rates(read, write, shared)

    def buffering(self) -> Fraction:
        """multiple_buffering, 1 where it is not given."""
        part = self.given.get("multiple_buffering")
        value = None if part is None or part.value is None else part.number()
        if value is not None and part is not None and not 1 <= value <= 1024:
            part.refuse(f"{part.value}; allowed: 1 to 1024")
            return Fraction(1)
        return value or Fraction(1)

    def latency(self, way: str) -> int:
        """Cycles of the network inward, to fill or to drain."""
        return self.whole(f"network_{way}_latency", _LONGEST_LATENCY, 0) or 0

    def hertz(self) -> Fraction | None:
        """The clock of global_cycle_seconds."""
        seconds = self.rate("global_cycle_seconds")
        return None if seconds is None else 1 / seconds


def read_attributes(place: Part, attributes: Mapping[str, Part], *, inherited: Mapping[str, Part] | None = None) -> Read:
    """Sort a component's attributes; those inherited from containers hold where it has none of its own."""
    given = dict(inherited or {})
    given.update(attributes)
    found: dict[str, Part] = {}
    for name, words in _SAME.items():
        there = [word for word in words if word in given]
        if there:
            found[name] = given[there[0]]
        for word in there[1:]:
            if given[word].value != given[there[0]].value:
                given[word].leave(f"another spelling of {there[0]}, which counts")
    found |= {name: given[name] for name in _READ if name in given and name not in found}
    others = {name: part for name, part in attributes.items()
              if name not in _READ and part.value is not None and part.value != _USUAL.get(name)}
    for name, part in others.items():
        _sort(name, part)
    leave_together([(name, part) for name, part in others.items() if name in _ENERGY], ENERGY)
    return Read(place, found)


def leave_together(parts: Sequence[tuple[str, Part]], reason: str) -> None:
    """Note several entries as one, at the first of them."""
    if parts:
        parts[0][1].leave(f"{', '.join(name for name, _ in parts)}: {reason}")


def _sort(name: str, part: Part) -> None:
    """Note what an attribute that is not read means."""
    if name in _REFUSED:
        part.refuse(f"{name}: {_REFUSED[name]}", "the design without it")
    elif name in _LEFT:
        part.leave(_LEFT[name])
    elif name.startswith(_SPARSE):
        part.leave("of sparse formats: everything is dense here")
    elif name.startswith("network_"):
        part.leave("a network by name: links here have no limit but the latencies given")
    elif name not in _ENERGY:
        close = difflib.get_close_matches(name.lower(), _lower(), n=1, cutoff=_MISSPELT)
        if close:
            part.refuse(f"Timeloop knows no attribute '{name}', and passes over it", "", _lower()[close[0]])
        else:
            part.leave("Timeloop does not read it: an attribute of the component's energy model")


def _lower() -> dict[str, str]:
    return {name.lower(): name for name in (*_READ, *_REFUSED, *_LEFT)}
