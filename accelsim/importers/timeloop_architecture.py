"""Timeloop's architecture, as a tree (subtree and local, v3) or as a list of nodes (v4): both come to one list of levels."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from accelsim.errors import nearest
from accelsim.importers.timeloop_attributes import DEFAULT_WORD_BITS, ENERGY, LARGEST_MESH, Read, leave_together, read_attributes
from accelsim.importers.timeloop_part import Part, shown
from accelsim.importers.timeloop_stores import Architecture, Spread, Store

NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_RANGED: Final = re.compile(r"([^\[\]]*?)\s*(?:\[\s*([0-9]{1,9})\s*\.\.\s*([0-9]{1,9})\s*\])?")
_STORES: Final = ("DRAM", "SRAM", "regfile", "smartbuffer", "storage")
_UNITS: Final = ("mac", "compute")
_NETWORKS: Final = ("XY_NoC", "Legacy", "ReductionTree", "SimpleMulticast")
VERSIONS: Final = ("0.2", "0.3", "0.4")
_TOP: Final = ("version", "subtree", "nodes", "name", "attributes", "constraints")
_TREE: Final = ("name", "attributes", "local", "subtree", "class", "constraints")
_LOCAL: Final = ("name", "class", "subclass", "attributes", "actions", "required_actions", "constraints", "enabled", "area_scale",
                 "energy_scale")
_NODE: Final = (*_LOCAL, "spatial", "sparse_optimizations", "networks")
_ENERGY: Final = ("actions", "required_actions", "area_scale", "energy_scale", "subclass")
_UNREAD: Final = "Timeloop reads attributes of components only"
MOST_LEVELS: Final = 32
NO_NETWORKS: Final = "a network: links here have no limit but the latencies that levels are given"
SPARSE: Final = "sparse optimizations change what is counted, and everything is dense here"


def check_version(part: Part | None) -> None:
    """Refuse versions that are not read."""
    if part is not None and str(part.value) not in VERSIONS:
        part.refuse(f"version {shown(part.value)}", ", ".join(VERSIONS))


@dataclass
class _Walk:
    """What was met on the way inward. ``bits``: of each level's words, 0 where it holds none; ``spreads``: fan-outs since the
    last storage level.
    """

    name: str = ""
    stores: list[Store] = field(default_factory=list)
    places: list[Part] = field(default_factory=list)
    bits: list[int] = field(default_factory=list)
    spreads: list[Spread] = field(default_factory=list)
    units: str = ""
    unit_spreads: tuple[Spread, ...] = ()
    hertz: Fraction | None = None


def read_architecture(part: Part) -> Architecture | None:
    """The architecture of a file; None where it is refused (the faults are noted)."""
    before = len(part.notes.faults)
    keys = part.keys()
    for key, one in keys.items():
        if key in ("storage", "arithmetic", "local"):
            one.refuse(f"'{key}' right under the architecture is not read", "subtree (v3), or nodes (v4)")
        elif key not in _TOP:
            one.refuse(f"unknown key {shown(key)}", ", ".join(_TOP), nearest(key, _TOP))
    check_version(keys.get("version"))
    if ("subtree" in keys) == ("nodes" in keys):
        if len(part.notes.faults) == before:
            part.refuse("both subtree and nodes" if "nodes" in keys else "neither subtree nor nodes",
                        "subtree (v3), or nodes (v4)")
        return None
    _constraints(keys.get("constraints"))
    walk = _Walk()
    top = keys["attributes"].keys() if "attributes" in keys else {}
    if "nodes" in keys:
        _nodes(keys["nodes"], walk, top)
    else:
        leave_together(list(top.items()), _UNREAD)
        _tree(keys["subtree"], walk)
    if len(part.notes.faults) == before:
        _check(part, walk)
    if len(part.notes.faults) > before:
        return None
    bits = _word_bits(walk)
    return Architecture(walk.name if NAME.fullmatch(walk.name) else "timeloop", tuple(walk.stores), walk.units, walk.unit_spreads,
                        bits, walk.hertz, "nodes" in keys)


# -- v3: a tree -----------------------------------------------------------------------------------------------------


def _tree(part: Part, walk: _Walk) -> None:
    """Walk down: each subtree has one branch; components of `local` stand outermost first."""
    outer = 1
    mesh = (1, 1)
    at: Part | None = part
    while at is not None:
        branches = at.items()
        if len(branches) != 1:
            at.refuse(f"{len(branches)} branches of a subtree", "one; levels stand inside each other")
            return
        keys = branches[0].keys()
        for key, one in keys.items():
            if key not in _TREE:
                one.refuse(f"unknown key {shown(key)}", ", ".join(_TREE), nearest(key, _TREE))
        name, count = _ranged(keys.get("name"), branches[0])
        walk.name = walk.name or name
        outer *= count
        _constraints(keys.get("constraints"))
        if "attributes" in keys:
            leave_together(list(keys["attributes"].keys().items()), _UNREAD)
        for component in keys["local"].items() if "local" in keys else ():
            mesh = _local(component, walk, outer, mesh)
        at = keys.get("subtree")


def _local(part: Part, walk: _Walk, outer: int, mesh: tuple[int, int]) -> tuple[int, int]:
    """A component of a tree; returns the instances along x and y that there are in all from here inward."""
    keys = part.keys()
    for key, one in keys.items():
        if key not in _LOCAL:
            one.refuse(f"unknown key {shown(key)}", ", ".join(_LOCAL), nearest(key, _LOCAL))
    name, count = _ranged(keys.get("name"), part)
    kind = _kind(keys, part)
    if not kind or kind == "network":
        return mesh
    read = read_attributes(part, keys["attributes"].keys() if "attributes" in keys else {})
    total = read.whole("instances", LARGEST_MESH) or outer * count
    x, y = read.mesh()
    x, y = _whole_mesh(x, y, total)
    if x * y != total:
        part.refuse(f"{name}: meshX {x} x meshY {y}, but {total} instances", "meshX and meshY that give the instances")
    elif x % mesh[0] or y % mesh[1]:
        part.refuse(f"{name}: {x} x {y} instances inside {mesh[0]} x {mesh[1]} of the level above",
                    "meshX and meshY that are multiples of those above")
    else:
        _component(part, keys, kind, name, read, walk, Spread((), x // mesh[0], y // mesh[1]))
        return x, y
    return mesh


def _whole_mesh(x: int | None, y: int | None, total: int) -> tuple[int, int]:
    """What of a mesh is not given: the rest of the instances, all along x where nothing is."""
    if x is None:
        return (total, 1) if y is None else (total // y, y)
    return x, total // x if y is None else y


def _ranged(part: Part | None, owner: Part) -> tuple[str, int]:
    """A name and how many there are of it: ``PE[0..15]``."""
    if part is None:
        owner.refuse("missing key 'name'")
        return "", 1
    text = part.word() or ""
    found = _RANGED.fullmatch(text)
    if found is None or not found[1]:
        if text:
            part.refuse(f"{shown(text)} as a name", "a name, or a name and a range as in PE[0..15]")
        return "", 1
    if found[2] is None:
        return found[1], 1
    count = int(found[3]) - int(found[2]) + 1
    if not 1 <= count <= LARGEST_MESH:
        part.refuse(f"{count} instances of {shown(found[1])}; allowed: 1 to {LARGEST_MESH}")
        count = 1
    return found[1], count


# -- v4: a list of nodes --------------------------------------------------------------------------------------------


def _nodes(part: Part, walk: _Walk, attributes: Mapping[str, Part]) -> None:
    """Each node stands inside the one before; containers hand their attributes and instances inward."""
    handed = dict(attributes)
    for node in part.items():
        keys = node.keys()
        if "nodes" in keys:
            keys["nodes"].refuse("nodes inside a node", "the nodes one after another in one list; the mapping says which tensors "
                                 "each keeps")
            continue
        for key, one in keys.items():
            if key not in _NODE:
                one.refuse(f"unknown key {shown(key)}", ", ".join(_NODE), nearest(key, _NODE))
        if "enabled" in keys and keys["enabled"].truth() is False:
            node.leave("not enabled")
            continue
        name, count = _ranged(keys.get("name"), node)
        spread = _spatial(keys.get("spatial"), name)
        if count > 1:
            keys["name"].refuse("a range in a name of a node", "spatial: {meshX: ..., meshY: ...}")
        if "sparse_optimizations" in keys:
            _sparse(keys["sparse_optimizations"])
        own = keys["attributes"].keys() if "attributes" in keys else {}
        if "class" not in keys:
            walk.name = walk.name or ("" if walk.stores else name)
            handed |= own
            if "networks" in keys and keys["networks"].value:
                keys["networks"].leave(NO_NETWORKS)
            read_attributes(node, own)
            _constraints(keys.get("constraints"))
            _add(walk, spread)
            continue
        kind = _kind(keys, node)
        if kind and kind != "network":
            _component(node, keys, kind, name, read_attributes(node, own, inherited=handed), walk, spread)


def _spatial(part: Part | None, name: str) -> Spread:
    keys = {} if part is None or part.value is None else part.keys()
    for key, one in keys.items():
        if key not in ("meshX", "meshY"):
            one.refuse(f"unknown key {shown(key)}", "meshX, meshY", nearest(key, ("meshX", "meshY")))
    x, y = ((keys[key].whole(1, LARGEST_MESH) if key in keys else None) or 1 for key in ("meshX", "meshY"))
    return Spread((name, f"inter_{name}_spatial"), x, y)


def _add(walk: _Walk, spread: Spread) -> None:
    if spread.x * spread.y > 1:
        walk.spreads.append(spread)


def _sparse(part: Part) -> None:
    if part.value:
        part.refuse(SPARSE, "the design without them")


# -- both -----------------------------------------------------------------------------------------------------------


def _kind(keys: Mapping[str, Part], part: Part) -> str:
    """storage, units, network, or "" for what Timeloop passes over."""
    if "class" not in keys:
        part.refuse("missing key 'class'", f"a class with one of {', '.join(_STORES + _UNITS)} in its name")
        return ""
    name = keys["class"].word() or ""
    if any(word in name for word in _STORES):
        return "storage"
    if any(word in name for word in _UNITS):
        return "units"
    if any(word in name for word in _NETWORKS):
        part.leave(NO_NETWORKS)
        return "network"
    if name:
        close = nearest(name, (*_STORES, "intmac", "fpmac", "compute"))
        if close:
            keys["class"].refuse(f"the class {shown(name)}: Timeloop passes over what is no storage, arithmetic or network",
                                 f"a class with one of {', '.join(_STORES + _UNITS)} in its name", close)
        else:
            part.leave(f"the class {name} is no storage, arithmetic or network: Timeloop passes over it")
    return ""


def _component(part: Part, keys: Mapping[str, Part], kind: str, name: str, read: Read, walk: _Walk, spread: Spread) -> None:
    """Add a storage level or the arithmetic units."""
    leave_together([(key, keys[key]) for key in _ENERGY if key in keys and keys[key].value], ENERGY)
    if name and not NAME.fullmatch(name):
        keys["name"].refuse(f"{shown(name)} as the name of a level", "letters, digits, _ and -, 64 at most")
    if walk.units:
        part.refuse(f"{name} stands inside {walk.units}", "arithmetic units innermost, once")
        return
    constraints = _constraints(keys.get("constraints"))
    walk.hertz = walk.hertz or read.hertz()
    _add(walk, spread)
    spreads, walk.spreads = tuple(walk.spreads), []
    if kind == "units":
        walk.units, walk.unit_spreads = name, spreads
        return
    klass = str(keys["class"].value)
    dummy = "dummy" in klass  # a level that holds nothing, to spread what is inside it
    walk.places.append(part)
    walk.bits.append(0 if dummy else read.word_bits or DEFAULT_WORD_BITS)
    words, slots = read.words(), 2
    if words is not None:
        buffering = read.buffering()
        slots = int(buffering) if buffering.denominator == 1 else 1
        words = words if buffering.denominator == 1 else int(words / buffering)
        if words < 1:
            part.refuse(f"{name}: no word is left of the capacity")
        if slots == 1 and not dummy:
            part.leave("one slot for each tensor: the next tile comes when the last one has gone. Timeloop takes moving and "
                       "computing to overlap all the same; multiple_buffering: 2 makes room for it")
    technology = read_technology(keys)
    walk.stores.append(Store(name, "DRAM" in klass or technology == "DRAM", spreads, words, slots, read.rates(),
                             read.latency("fill"), read.latency("drain"), constraints))


def read_technology(keys: Mapping[str, Part]) -> str:
    """The technology attribute, which makes a DRAM of a storage of another class."""
    attributes = keys["attributes"].value if "attributes" in keys else None
    return str(attributes.get("technology")) if isinstance(attributes, dict) else ""


def _constraints(part: Part | None) -> Mapping[str, Part]:
    """Constraints by what they are about; what is kept and bypassed is the mapping's, all else is for a search."""
    if part is None or not part.value:
        return {}
    keys = part.keys() if isinstance(part.value, dict) else {"": part}
    for key, one in keys.items():
        if key != "dataspace" and one.value:
            one.leave("constraints are for Timeloop's search; the mapping is what is run")
    return keys


def _check(part: Part, walk: _Walk) -> None:
    """What must be there: levels, the outermost once, arithmetic units innermost, each name once."""
    if not walk.stores:
        part.refuse("no storage level", f"a class with one of {', '.join(_STORES)} in its name")
    elif walk.stores[0].spreads:
        walk.places[0].refuse(f"several instances of the outermost level {walk.stores[0].name}", "one, with all their bandwidth")
    if not walk.units:
        part.refuse("no arithmetic units", "a last component with mac or compute in its class")
    if len(walk.stores) > MOST_LEVELS:
        part.refuse(f"{len(walk.stores)} storage levels; allowed: up to {MOST_LEVELS}")
    names = Counter([*(store.name for store in walk.stores), walk.units])
    for name, count in names.items():
        if count > 1:
            part.refuse(f"{count} components named {name}", "each name once")
    for spreads, name in [*((store.spreads, store.name) for store in walk.stores), (walk.unit_spreads, walk.units)]:
        x = y = 1
        for spread in spreads:
            x, y = x * spread.x, y * spread.y
        if max(x, y) > LARGEST_MESH:
            part.refuse(f"{x} x {y} instances of {name}; allowed: up to {LARGEST_MESH} along an axis")


def _word_bits(walk: _Walk) -> int:
    """The width of the outermost level's words; where others differ, counts and capacities stay in words."""
    bits = next((one for one in walk.bits if one), DEFAULT_WORD_BITS)
    for place, own in zip(walk.places, walk.bits, strict=True):
        if own not in (0, bits):
            place.leave(f"words of {own} bits, and of {bits} further out: all are taken as {bits} here, and its capacity and "
                        "rates are of as many words")
    return bits
