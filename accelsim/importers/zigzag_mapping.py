"""ZigZag's mapping: dimensions over the array, and an order of the loops, as loops at each memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from accelsim.errors import DoesNotFit, SpecError, nearest
from accelsim.importers.zigzag_accelerator import OPERANDS, Accelerator
from accelsim.importers.zigzag_chip import ARRAY, level_names
from accelsim.importers.zigzag_file import Source, is_count, is_text
from accelsim.importers.zigzag_workload import LINKS, Layer
from accelsim.spec.build import make_case, unlocated
from accelsim.spec.chip import Chip
from accelsim.spec.mapping import Loop, MappingLevel
from accelsim.spec.mapping import Mapping as LoopNest
from accelsim.spec.operator import Operator

_KEYS = ("name", "spatial_mapping", "spatial_mapping_hint", "memory_operand_links", "temporal_ordering")
Step = tuple[str, int]
"""A dimension and a factor of it."""
_FACTOR = re.compile(r"\s*([A-Za-z]\w*)\s*,\s*([0-9]{1,9})\s*", re.ASCII)


@dataclass(frozen=True)
class Entry:
    """One entry of the file. ``order``: innermost first, None for what is left; empty where none is given."""

    name: str
    links: Mapping[str, str]
    spatial: Mapping[str, tuple[Step, ...]]
    order: tuple[tuple[str, int | None], ...]
    path: tuple[int]


def read_entries(source: Source, accelerator: Accelerator | None) -> list[Entry]:
    """The entries; fewer where there are faults."""
    told = source.value
    if not isinstance(told, list) or not told:
        source.refuse((), "no mappings", "a list of mappings")
        return []
    found = [_entry(source, (i,), item, accelerator) for i, item in enumerate(told)]
    return [entry for entry in found if entry is not None]


def entry_for(layer: Layer, entries: Sequence[Entry]) -> Entry | None:
    """The entry of a layer: by its name, else by its type, else the default."""
    for name in (layer.name, layer.kind, "default"):
        for entry in entries:
            if entry.name == name:
                return entry
    return None


def _entry(source: Source, path: tuple[int], told: Any, accelerator: Accelerator | None) -> Entry | None:
    before = source.findings.refused
    name = source.take(path, told, "name", is_text, "a layer's name, a type or default")
    if not isinstance(told, dict):
        return None
    source.unknown(path, told, _KEYS)
    links = dict(LINKS)
    given = told.get("memory_operand_links")
    for where, item in source.items((*path, "memory_operand_links"), {} if given is None else given, "links"):
        if item not in OPERANDS or (where[-1] == "O") != (item == "O"):
            source.refuse(where, "no operand of the memories", "I1 or I2; O for O")
        links[str(where[-1])] = str(item)
    dims = {} if accelerator is None else accelerator.dims
    spatial: dict[str, tuple[Step, ...]] = {}
    for key in ("spatial_mapping_hint", "spatial_mapping"):
        given = told.get(key)
        for where, item in source.items((*path, key), {} if given is None else given, "dimensions of the array"):
            axis = str(where[-1])
            if accelerator is not None and axis not in dims and key.endswith("hint"):
                source.leave(where, f"no dimension {axis} of the array")
                continue
            steps = [_step(source, place, one, dims.get(axis, 1) if key.endswith("hint") else 0)
                     for place, one in source.items(where, item, "dimensions")]
            factors = tuple(step for step in steps if step is not None)
            if accelerator is None or axis in dims:
                spatial[axis] = factors
            elif any(factor > 1 for _, factor in factors):
                source.refuse(where, f"no dimension {axis} of the array", ", ".join(dims), nearest(axis, list(dims)))
        if given and key.endswith("hint") and not told.get("spatial_mapping"):
            source.leave((*path, key), "ZigZag tries factors of these dimensions; here the first takes all that the array has, "
                         "the next what is left")
    order = tuple(_ordered(source, where, item) for where, item in
                  source.items((*path, "temporal_ordering"), told.get("temporal_ordering") or [], "loops"))
    return None if source.findings.refused > before else Entry(name, links, spatial, order, path)


def _step(source: Source, path: Any, told: Any, whole: int) -> Step | None:
    """`K, 32`; or, where ``whole`` is given, a dimension alone that takes so much."""
    if whole and isinstance(told, str) and re.fullmatch(r"[A-Za-z]\w*", told, re.ASCII):
        return told.lower(), whole
    match = _FACTOR.fullmatch(told) if isinstance(told, str) else None
    if match is None or int(match[2]) < 1:
        source.refuse(path, "no dimension and factor", "such as \"K, 32\"")
        return None
    return match[1].lower(), int(match[2])


def _ordered(source: Source, path: Any, told: Any) -> tuple[str, int | None]:
    if not (isinstance(told, list) and len(told) == 2 and is_text(told[0]) and (told[1] == "*" or is_count(told[1]))):
        source.refuse(path, "no loop", "a dimension and a factor, such as [OX, 56], or [OX, \"*\"]")
        return "", None
    return told[0].lower(), None if told[1] == "*" else told[1]


def mapping_of(entry: Entry, layer: Layer, operator: Operator, chip: Chip, accelerator: Accelerator, source: Source) -> LoopNest:
    """Loops as large as each memory holds, from the outermost inward, in the file's order or, without one, in ours."""
    over, rest = _spread(entry, layer, accelerator, source)
    order = _order(entry, layer, rest, source)
    names = level_names(accelerator)
    count = len(names)
    cuts = [len(order), *[0] * (count - 1)]

    def fits(cuts: Sequence[int], doubled: Sequence[bool]) -> bool:
        nest = _nest(order, cuts, over, names, accelerator, layer, entry, doubled)
        try:
            make_case(chip, operator, nest, unlocated)
        except (DoesNotFit, SpecError):
            return False
        return True

    single = [False] * count
    for i in range(1, count):
        cuts[i] = _largest(cuts[i - 1], lambda cut, i=i: fits([*cuts[:i], cut, *cuts[i + 1:]], single))  # type: ignore[misc]
    doubled = list(single)
    for i, store in enumerate(accelerator.stores[1:], 1):
        if not store.doubled:
            doubled[i] = fits(cuts, [*doubled[:i], True, *doubled[i + 1:]])
    return _nest(order, cuts, over, names, accelerator, layer, entry, doubled)


def _largest(most: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to ``most`` that fits, or 0; what fits is taken to fit with fewer loops too."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _spread(entry: Entry, layer: Layer, accelerator: Accelerator, source: Source) -> tuple[dict[str, list[Step]], dict[str, int]]:
    """Over each axis of the array its dimensions and factors, clipped to the layer; and what is left of each dimension."""
    rest = dict(layer.dims)
    over: dict[str, list[Step]] = {}
    for axis, steps in entry.spatial.items():
        room = accelerator.dims[axis]
        for dim, factor in steps:
            if dim not in rest:
                continue  # as in ZigZag: another layer's dimension
            taken = min(factor, rest[dim], room)
            if taken < min(factor, rest[dim]) and source.value[entry.path[0]].get("spatial_mapping"):
                source.refuse((*entry.path, "spatial_mapping", axis), f"more than the {accelerator.dims[axis]} of {axis}")
            if taken > 1:
                over.setdefault(axis, []).append((dim, taken))
                rest[dim], room = -(-rest[dim] // taken), room // taken
    return over, rest


def _order(entry: Entry, layer: Layer, rest: Mapping[str, int], source: Source) -> list[Step]:
    """Temporal loops, innermost first, factors of 1 left out."""
    if entry.order:
        left = {dim: size for dim, size in rest.items() if size > 1}
        found: list[Step] = []
        for dim, factor in entry.order:
            if dim in left and (factor is None or factor <= left[dim]):
                taken = left[dim] if factor is None else factor
                found.append((dim, taken))
                left[dim] = -(-left[dim] // taken)
            elif dim in layer.dims and (factor or 1) > 1:
                left[dim] = 1 << 60  # more than there is: no order for this layer
        if all(size == 1 for size in left.values()):
            return [(dim, factor) for dim, factor in found if factor > 1]
        source.leave((*entry.path, "temporal_ordering"), f"not complete for {layer.name}, which ZigZag drops; the order is ours")
    outputs = set(layer.tensors["O"])
    weights = [forms for name, forms in layer.tensors.items() if entry.links.get(name) == "I2"]
    held = {dim for forms in weights for form in forms for dim in layer.dims if re.search(rf"\b{dim}\b", form)}
    ranks = {dim: 0 if dim not in held else 1 if dim not in outputs else 2 for dim in layer.dims}
    ordered = sorted(layer.dims, key=lambda dim: (ranks[dim], -list(layer.dims).index(dim)))
    return [(dim, prime) for dim in ordered for prime in _primes(rest[dim])]


def _primes(number: int) -> list[int]:
    """Factors whose product covers a number: its primes, or one loop where a prime is large."""
    found: list[int] = []
    factor = 2
    while factor * factor <= number and factor < 1 << 12:
        while number % factor == 0:
            found.append(factor)
            number //= factor
        factor += 1
    return [*found, number] if number > 1 else found


def _nest(order: Sequence[Step], cuts: Sequence[int], over: Mapping[str, list[Step]], names: Sequence[str],
          accelerator: Accelerator, layer: Layer, entry: Entry, doubled: Sequence[bool]) -> LoopNest:
    """The mapping whose memory i holds the innermost ``cuts[i]`` loops."""
    levels: list[MappingLevel] = []
    for i, name in enumerate(names):
        inner = cuts[i + 1] if i + 1 < len(cuts) else 0
        loops = tuple(Loop((dim,), factor) for dim, factor in reversed(order[inner:cuts[i]]))
        spread = _axes(accelerator.fanout(i + 1), over) if i + 1 < len(names) else ()
        bound = [tensor for tensor in layer.tensors if entry.links[tensor] in accelerator.stores[i].operands]
        slots = tuple((tensor, 2) for tensor in bound) if doubled[i] else ()
        levels.append(MappingLevel(name, loops, spread, buffers=slots))
    array = _axes(accelerator.fanout(len(names)), over)
    return LoopNest((*levels, MappingLevel(ARRAY, (), array)) if array else tuple(levels))


def _axes(fanout: Mapping[str, int], over: Mapping[str, list[Step]]) -> tuple[tuple[str, tuple[Loop, ...]], ...]:
    return tuple((axis, tuple(Loop((dim,), factor) for dim, factor in over[axis])) for axis in fanout if axis in over)
