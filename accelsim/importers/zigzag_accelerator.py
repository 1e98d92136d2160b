"""ZigZag's accelerator: memories that each serve some operands and some dimensions of an array, as nested levels."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from accelsim.importers.zigzag_file import Source, is_count, is_text, is_true, words_in

OPERANDS = ("I1", "I2", "O")
ROLES = {"I1": "input", "I2": "weight", "O": "output"}
DIRECTIONS = ("fh", "th", "fl", "tl")
MOST_DIMS = 8
_COSTS = {"r_cost": "energy", "w_cost": "energy", "area": "area", "auto_cost_extraction": "costs from CACTI", "mem_type": "costs",
          "latency": "not in ZigZag's cycles either: it takes data to be prefetched",
          "bandwidth_min": "the word that energy is counted by"}
_ARRAY_COSTS = {"unit_energy": "energy", "unit_area": "area", "multiplier_energy": "energy", "multiplier_area": "area",
                "input_precision": "each layer says its own precision", "is_imc": "", "imc_type": "", "adc_resolution": "",
                "bit_serial_precision": ""}


@dataclass(frozen=True)
class Port:
    """A port of a memory: bits a cycle, and which movements of which operands go through it."""

    name: str
    bits: int
    moves: frozenset[tuple[str, str]]
    path: tuple[str | int, ...]


@dataclass(frozen=True)
class Store:
    """A memory. ``unrolled``: dimensions of the array along which there is one each; the others it serves."""

    name: str
    bits: int
    operands: tuple[str, ...]
    ports: tuple[Port, ...]
    unrolled: frozenset[str]
    doubled: bool
    path: tuple[str | int, ...]

    def port(self, operand: str, direction: str) -> Port | None:
        """The port of a movement; the last that names it, as ZigZag takes it."""
        return next((port for port in reversed(self.ports) if (operand, direction) in port.moves), None)


@dataclass(frozen=True)
class Accelerator:
    """Memories outermost first, nested: each is unrolled along all that the one before is. ``dims``: the array."""

    name: str
    dims: dict[str, int]
    stores: tuple[Store, ...]

    def of(self, operand: str) -> list[int]:
        """Numbers of the memories of an operand, outermost first."""
        return [i for i, store in enumerate(self.stores) if operand in store.operands]

    def fanout(self, number: int) -> dict[str, int]:
        """How many instances of a memory there are in each of the one before; behind the last one: the array's PEs."""
        before = self.stores[number - 1].unrolled if number else frozenset()
        here = self.stores[number].unrolled if number < len(self.stores) else frozenset(self.dims)
        return {dim: size for dim, size in self.dims.items() if dim in here and dim not in before}


def read_accelerator(source: Source) -> Accelerator | None:
    """The accelerator; None where there is a fault."""
    before = source.findings.refused
    told = source.value
    source.unknown((), told, ("name", "memories", "operational_array", "dataflows"))
    name = source.take((), told, "name", is_text, "a name")
    dims = _array(source, told.get("operational_array"))
    memories = source.take((), told, "memories", lambda value: isinstance(value, dict) and bool(value), "memories by name")
    if "dataflows" in told:
        source.leave(("dataflows",), "give `spatial_mapping` in the mapping's file")
    stores = [_store(source, ("memories", key), str(key), item, dims or {}) for key, item in (memories or {}).items()]
    if source.findings.refused > before or dims is None or name is None:
        return None
    _costs(source, memories)
    nested = _nested(source, [store for store in stores if store is not None], dims)
    return None if source.findings.refused > before else Accelerator(name, dims, nested)


def _array(source: Source, told: Any) -> dict[str, int] | None:
    path = ("operational_array",)
    names = source.take(path, told, "dimensions", lambda value: isinstance(value, list) and 0 < len(value) <= MOST_DIMS and all(
        isinstance(one, str) and re.fullmatch(r"D[0-9]+", one) for one in value) and len(set(value)) == len(value),
        "a list such as [D1, D2]")
    sizes = source.take(path, told, "sizes", lambda value: isinstance(value, list) and all(
        is_count(one) and one <= 1 << 20 for one in value), "a list of integers from 1 to 1048576")
    if isinstance(told, dict):
        source.unknown(path, told, ("dimensions", "sizes", *_ARRAY_COSTS))
        if is_true(told.get("is_imc")):
            source.refuse((*path, "is_imc"), "computing in memory, bit by bit, is not modelled and would change the cycles",
                          "False")
        for key in (key for key, why in _ARRAY_COSTS.items() if why and key in told):
            source.leave((*path, key), f"{_ARRAY_COSTS[key]}: not modelled" if key != "input_precision" else _ARRAY_COSTS[key])
    if names is None or sizes is None:
        return None
    if len(names) != len(sizes):
        source.refuse((*path, "sizes"), f"{len(sizes)} sizes for {len(names)} dimensions")
        return None
    return dict(zip(names, sizes, strict=True))


def _costs(source: Source, memories: dict[str, Any]) -> None:
    """Leave what costs energy or area, each key once."""
    for key, why in _COSTS.items():
        places = [path for name, told in memories.items() for path in (
            [("memories", name, "ports", i, key) for i, port in enumerate(told["ports"]) if key in port]
            if key == "bandwidth_min" else [("memories", name, key)] if key in told else [])]
        if places:
            many = f" ({len(places)} of them)" if len(places) > 1 else ""
            source.leave(places[0], f"{why}{many}; no cycle and no byte depends on it")


def _store(source: Source, path: tuple[str | int, ...], name: str, told: Any, dims: dict[str, int]) -> Store | None:
    source.unknown(path, told, ("size", "operands", "ports", "served_dimensions", "force_double_buffering",
                                *(key for key in _COSTS if key != "bandwidth_min")))
    size = source.take(path, told, "size", lambda value: is_count(value) and value >= 8, "bits, an integer from 8")
    operands = source.take(path, told, "operands", words_in(*OPERANDS), ", ".join(OPERANDS))
    served = source.take(path, told, "served_dimensions", words_in(*dims), ", ".join(dims) or "dimensions of the array")
    listed = source.take(path, told, "ports", lambda value: isinstance(value, list) and bool(value), "a list of ports")
    ports = [_port(source, (*path, "ports", i), item, operands or ()) for i, item in enumerate(listed or ())]
    if size is None or not operands or served is None or listed is None or None in ports:
        if operands == []:
            source.refuse((*path, "operands"), "no operand", ", ".join(OPERANDS))
        return None
    if size % 8:
        source.leave((*path, "size"), f"{size} bits are no whole bytes; rounded down to {size // 8} B")
    return Store(name, size, tuple(operands), tuple(port for port in ports if port is not None),
                 frozenset(dims) - frozenset(served), is_true(told.get("force_double_buffering")), path)


def _port(source: Source, path: tuple[str | int, ...], told: Any, operands: tuple[str, ...]) -> Port | None:
    name = source.take(path, told, "name", is_text, "a name")
    bits = source.take(path, told, "bandwidth_max", is_count, "bits a cycle, an integer from 1")
    listed = source.take(path, told, "allocation", lambda value: isinstance(value, list), "a list such as [\"I1, tl\"]")
    source.unknown(path, told, ("name", "type", "bandwidth_min", "bandwidth_max", "allocation"))
    moves: set[tuple[str, str]] = set()
    for i, item in enumerate(listed or ()):
        operand, _, direction = (part.strip() for part in item.partition(",")) if isinstance(item, str) else ("", "", "")
        if operand not in operands or direction not in DIRECTIONS:
            source.refuse((*path, "allocation", i), "no movement of an operand of this memory",
                          f"{', '.join(operands)}, a comma, and one of {', '.join(DIRECTIONS)}")
        moves.add((operand, direction))
    return None if name is None or bits is None or listed is None else Port(name, bits, frozenset(moves), path)


def _nested(source: Source, lowest_first: list[Store], dims: dict[str, int]) -> tuple[Store, ...]:
    """Outermost first, each unrolled along all that the one before is: what is shared more widely is held in copies."""
    stores: list[Store] = []
    outer: frozenset[str] = frozenset()
    for i, store in enumerate(reversed(lowest_first)):
        if not i and store.unrolled:
            source.refuse((*store.path, "served_dimensions"), f"the outermost memory is there once for each of "
                          f"{', '.join(sorted(store.unrolled))}; one memory stands outermost here", f"[{', '.join(dims)}]")
        copied = sorted(outer - store.unrolled)
        if copied:
            source.leave((*store.path, "served_dimensions"), f"one for all of {', '.join(copied)} there, a copy for each here, "
                         "all filled at once from one read: instances lie within those of the level outside")
        outer = outer | store.unrolled if i else frozenset()
        stores.append(replace(store, unrolled=outer))
    nested = Accelerator("", dims, tuple(stores))
    for operand in OPERANDS:
        places = nested.of(operand)
        if not places:
            source.refuse(("memories",), f"no memory serves {operand}")
        for place in places:
            wanted = [direction for direction in ("tl", "fl", "fh", "th") if (operand == "O" or direction in ("tl", "fh"))
                      and (place != places[0] or direction in ("tl", "fl"))]
            for direction in wanted:
                if stores[place].port(operand, direction) is None:
                    source.refuse((*stores[place].path, "ports"), f"no port has '{operand}, {direction}'")
    return tuple(stores)
