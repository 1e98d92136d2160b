"""Timeloop's mapping, a list of directives for each level, as a mapping of ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Final

from accelsim.errors import nearest
from accelsim.importers.timeloop_loops import NO_LOOPS, Directed, read_loops
from accelsim.importers.timeloop_part import Part, shown
from accelsim.importers.timeloop_problem import Problem
from accelsim.importers.timeloop_stores import Architecture, fanout
from accelsim.spec.mapping import Loop, MappingLevel
from accelsim.spec.mapping import Mapping as OurMapping

AXES: Final = ("x", "y")
_WHOLE: Final = -1
"""In place of the number of a fan-out: all of those inside a level."""
_TYPES: Final = ("temporal", "spatial", "bypass", "datatype", "dataspace")
_BINDINGS: Final = ("bypass", "datatype", "dataspace")
_LOOP_KEYS: Final = ("target", "type", "factors", "permutation")
_KEYS: Final = {
    "temporal": (*_LOOP_KEYS, "no_reuse", "no_temporal_reuse", "rmw_first_update"),
    "spatial": (*_LOOP_KEYS, "split", "no_link_transfer", "no_reuse"),
    "dataspace": ("target", "type", "keep", "bypass", "no_coalesce"),
}
_COUNTED_OTHERWISE: Final = {
    "no_reuse": "what is reused is so wherever it can be",
    "no_temporal_reuse": "a tile that stays is not fetched again",
    "rmw_first_update": "the first update of a word reads nothing",
    "no_coalesce": "a tile is drained once",
}


@dataclass
class _Told:
    """All directives: temporal loops by level, spatial ones by gap and fan-out, and what is kept by level."""

    temporal: dict[int, Directed] = field(default_factory=dict)
    spatial: dict[tuple[int, int], Directed] = field(default_factory=dict)
    bindings: dict[int, Part] = field(default_factory=dict)


@dataclass(frozen=True)
class _Placed:
    """One loop in the nest: where it stands (level, "" or axis) and its factor and residual."""

    level: int
    axis: str
    dim: str
    factor: int
    residual: int
    place: Part


def read_mapping(part: Part, architecture: Architecture, problem: Problem) -> OurMapping | None:
    """The mapping of a file; None where it is refused (the faults are noted)."""
    before = len(part.notes.faults)
    told = _directives(part, architecture, problem)
    kept = [_kept(architecture, problem, told, level) for level in range(len(architecture.stores))]
    _refuse_constrained_order(architecture, told)
    if len(part.notes.faults) > before:
        return None
    nest = list(_nest(architecture, told))
    _cover(part, problem, nest)
    _homes(part, architecture, problem, kept, nest)
    _spread_loops(architecture, problem, told)
    if len(part.notes.faults) > before:
        return None
    levels = [MappingLevel(store.name, _loops(nest, level, ""), _spatial(nest, level), tuple(kept[level]))
              for level, store in enumerate(architecture.stores)]
    if architecture.unit_spreads:  # the units' own fan-out is that of the PEs of our array
        last = len(levels) - 1
        levels[last] = MappingLevel(levels[last].level, levels[last].loops, (), levels[last].binding)
        if spatial := _spatial(nest, last):
            levels.append(MappingLevel(architecture.units, (), spatial))
    return OurMapping(tuple(levels))


def _loops(nest: Sequence[_Placed], level: int, axis: str) -> tuple[Loop, ...]:
    return tuple(Loop((one.dim,), one.factor) for one in nest if one.level == level and one.axis == axis and one.factor > 1)


def _spatial(nest: Sequence[_Placed], level: int) -> tuple[tuple[str, tuple[Loop, ...]], ...]:
    axes = dict.fromkeys(one.axis for one in nest if one.level == level and one.axis and one.factor > 1)
    return tuple((axis, _loops(nest, level, axis)) for axis in axes)


# -- directives -----------------------------------------------------------------------------------------------------


def _directives(part: Part, architecture: Architecture, problem: Problem) -> _Told:
    told = _Told()
    for one in part.items():
        keys = one.keys()
        kind = keys["type"].value if "type" in keys else None
        if not isinstance(kind, str) or kind not in _TYPES:
            if isinstance(one.value, dict):
                keys.get("type", one).refuse(
                    f"{shown(kind)} as the type of a directive" if "type" in keys else "missing key 'type'", ", ".join(_TYPES),
                    nearest(kind, _TYPES) if isinstance(kind, str) else "")
            continue
        for key, value in () if kind in _BINDINGS else keys.items():
            if key not in _KEYS[kind]:
                value.refuse(f"unknown key {shown(key)}", ", ".join(_KEYS[kind]), nearest(key, _KEYS[kind]))
            elif key in _COUNTED_OTHERWISE and value.value:
                value.refuse(f"{key}: here {_COUNTED_OTHERWISE[key]}", "the mapping without it")
        if "target" not in keys:
            one.refuse("missing key 'target'", ", ".join(store.name for store in architecture.stores))
        elif kind == "spatial":
            _take_spatial(one, keys, architecture, problem, told)
        else:
            _take(one, keys, kind, architecture, problem, told)
    return told


def _take(one: Part, keys: Mapping[str, Part], kind: str, architecture: Architecture, problem: Problem, told: _Told) -> None:
    """A directive for a level itself."""
    level = _level(keys["target"], architecture)
    if level is None:
        _take_unnamed(one, keys, kind, architecture, problem)
        return
    slots: dict[int, Directed] | dict[int, Part] = told.temporal if kind == "temporal" else told.bindings
    if level in slots:
        one.refuse(f"a second {kind} directive for {architecture.stores[level].name}", "one")
    elif kind == "temporal":
        told.temporal[level] = read_loops(one, keys, problem)
    else:
        told.bindings[level] = one


def _take_unnamed(one: Part, keys: Mapping[str, Part], kind: str, architecture: Architecture, problem: Problem) -> None:
    """A directive for what is no level: a fan-out of containers, which Timeloop makes a level of that holds nothing."""
    target = keys["target"]
    spreads = {name for gap in architecture.gaps for spread in gap for name in spread.names}
    names = [store.name for store in architecture.stores]
    if not isinstance(target.value, str) or target.value not in spreads:
        target.refuse_word("level", str(target.value), [*names, *sorted(spreads)])
    elif kind == "temporal":
        if any(factor > 1 for _, factor, _ in read_loops(one, keys, problem).loops):
            one.refuse(f"temporal loops at {target.value}, which is no level", "loops at the level around it")
    elif "keep" in keys and keys["keep"].value:
        keys["keep"].refuse(f"{target.value} is no level and keeps nothing", "[]")


def _take_spatial(one: Part, keys: Mapping[str, Part], architecture: Architecture, problem: Problem, told: _Told) -> None:
    """Spatial loops: for a fan-out by its own name, or for the only one inside a level."""
    target = keys["target"]
    read = read_loops(one, keys, problem)
    found = [(gap, i) for gap, spreads in enumerate(architecture.gaps) for i, spread in enumerate(spreads)
             if target.value in spread.names]
    level = None if found else _level(target, architecture)
    if level is not None:
        found = [(level, i) for i in range(len(architecture.gaps[level]))]
    if not found:
        names = [store.name for store in architecture.stores]
        names += [name for gap in architecture.gaps for spread in gap for name in spread.names]
        if level is None:
            target.refuse_word("level", str(target.value), names)
        elif any(factor > 1 for _, factor, _ in read.loops):
            one.refuse(f"spatial loops inside {target.value}, but there is one instance of what is inside it")
        return
    gap = found[0][0]
    spreads = architecture.gaps[gap]
    if len(found) > 1 and any(sum(getattr(spread, axis) > 1 for spread in spreads) > 1 for axis in AXES):
        target.refuse(f"{len(found)} fan-outs stand inside {target.value}, several along one axis",
                      f"one of them: {', '.join(spread.names[0] for spread in spreads)}")
        return
    key = found[0] if len(found) == 1 else (gap, _WHOLE)
    if key in told.spatial or (_WHOLE in key and any(at == gap for at, _ in told.spatial)) or (gap, _WHOLE) in told.spatial:
        one.refuse(f"a second spatial directive for {target.value}", "one")
    else:
        told.spatial[key] = read


def _level(target: Part, architecture: Architecture) -> int | None:
    """The level that a directive is for: by name, or by number from the innermost."""
    names = [store.name for store in architecture.stores]
    if isinstance(target.value, int) and not isinstance(target.value, bool):
        return len(names) - 1 - target.value if 0 <= target.value < len(names) else None
    return names.index(target.value) if target.value in names else None


def _kept(architecture: Architecture, problem: Problem, told: _Told, level: int) -> list[str]:
    """The tensors that a level holds: all but those bypassed, by the mapping or by constraints of the level's own."""
    own = architecture.stores[level].constraints.get("dataspace")
    said: dict[str, list[str]] = {"keep": [], "bypass": []}
    for keys in [part.keys() for part in (own, told.bindings.get(level)) if part is not None and part.value is not None]:
        for key, part in keys.items():
            if key in said and part.value is not None:
                _say(part, key, said, list(problem.tensors))
            elif key not in _KEYS["dataspace"]:
                part.refuse(f"unknown key {shown(key)}", ", ".join(_KEYS["dataspace"]), nearest(key, _KEYS["dataspace"]))
            elif key in _COUNTED_OTHERWISE and part.value:
                part.refuse(f"{key}: here {_COUNTED_OTHERWISE[key]}", "the mapping without it")
    return [name for name in problem.tensors if name not in said["bypass"]]


def _say(part: Part, key: str, said: dict[str, list[str]], names: list[str]) -> None:
    """What a list keeps or bypasses."""
    other = said["bypass" if key == "keep" else "keep"]
    for word, place in part.words():
        if word not in names:
            place.refuse_word("data space", word, names)
        elif word in other:
            place.refuse(f"{word} is kept and bypassed", "one of the two")
        else:
            said[key].append(word)


def _refuse_constrained_order(architecture: Architecture, told: _Told) -> None:
    """Timeloop's front end takes a level's own constraints for the mapping's: an order given only there is not passed over."""
    for level, store in enumerate(architecture.stores):
        temporal = store.constraints.get("temporal")
        read = told.temporal.get(level, NO_LOOPS)
        loops = [dim for dim, factor, _ in read.loops if factor > 1]
        if temporal is not None and isinstance(temporal.value, dict) and temporal.value.get("permutation") \
                and not read.ordered and len(loops) > 1:
            temporal.refuse("a permutation that the mapping does not give", f"the permutation in the mapping of {store.name}")


# -- what they come to ----------------------------------------------------------------------------------------------


def _nest(architecture: Architecture, told: _Told) -> Iterator[_Placed]:
    """All loops, outermost first, as ours stand: temporal, then spatial along each axis, the outer fan-out first."""
    for level in range(len(architecture.stores)):
        read = told.temporal.get(level, NO_LOOPS)
        yield from (_Placed(level, "", *loop, place=read.part) for loop in read.loops if read.part is not None)
        inside = [told.spatial[level, i] for i in range(_WHOLE, len(architecture.gaps[level])) if (level, i) in told.spatial]
        for axis in AXES:
            for one in inside:
                yield from (_Placed(level, axis, *loop, place=one.part) for loop in one.along(axis) if one.part is not None)


def _cover(part: Part, problem: Problem, nest: Sequence[_Placed]) -> None:
    """The loops over a dimension make up its extent: what is left over at the edge then stands where ours leaves it."""
    for dim, extent in problem.dims.items():
        own = [loop for loop in nest if loop.dim == dim]
        made = 0
        for loop in own:
            made = made * loop.factor + loop.residual - 1
        if made + 1 != extent:
            part.refuse(f"the factors of {dim} make {shown(made + 1)}, and its extent is {extent}")
        for loop in own:
            if loop.residual != loop.factor:
                loop.place.leave(f"{dim} does not divide: what is left over is counted exactly here; Timeloop counts cycles, and "
                                 "reads of several instances, as if it were full")


def _homes(part: Part, architecture: Architecture, problem: Problem, kept: Sequence[Sequence[str]],
           nest: Sequence[_Placed]) -> None:
    """Each tensor is held somewhere, and where it is held outermost it is held whole."""
    for name in problem.tensors:
        home = next((level for level, names in enumerate(kept) if name in names), None)
        if home is None:
            part.refuse(f"{name} is kept at no level")
            continue
        outside = [loop for loop in nest if loop.level < home and not loop.axis and loop.factor > 1
                   and loop.dim in problem.dims_of(name)]
        if outside:
            cut = prod(loop.factor for loop in outside)
            part.refuse(f"{name} is kept nowhere outside {architecture.stores[home].name}, which holds one of {cut} tiles of it "
                        "at a time: the others have no place", f"{name} kept further out, or no loop over "
                        f"{' or '.join(sorted({loop.dim for loop in outside}))} outside")


def _spread_loops(architecture: Architecture, problem: Problem, told: _Told) -> None:
    """Spatial loops fit their fan-outs; those over windows are shared otherwise than in Timeloop."""
    for (gap, i), read in told.spatial.items():
        if read.part is None:
            continue
        spreads = architecture.gaps[gap] if i == _WHOLE else (architecture.gaps[gap][i],)
        for axis in AXES:
            used, have = prod(factor for _, factor, _ in read.along(axis)), fanout(spreads).get(axis, 1)
            if used > have:
                read.part.refuse(f"{used} along {axis.upper()}, but there are {have} instances", f"up to {have}; split says how "
                                 "many dimensions of the permutation, counted from its start, go along X, the others along Y")
        dims = {dim for dim, factor, _ in read.loops if factor > 1}
        windows = [name for name in problem.tensors if name not in read.no_links
                   and any(len(axis) > 1 and dims & {dim for dim, _ in axis} for axis in problem.tensors[name])]
        if windows:
            read.part.leave(f"neighbours do not hand {', '.join(windows)} on to each other here: all of it comes from the level "
                            "around them, as with no_link_transfer")
        for dim in sorted(dims):  # ours stand along X, then along Y: the order of two fan-outs is kept along one axis only
            axes = {axis for (at, _), one in told.spatial.items() if at == gap for axis in AXES
                    if any(loop[0] == dim and loop[1] > 1 for loop in one.along(axis))}
            if len(axes) > 1:
                read.part.refuse(f"{dim} is spread along X of one fan-out and along Y of another",
                                 "one of the two, or a storage level between them")
