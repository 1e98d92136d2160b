"""``-o chip.levels.DRAM.latency="40 cycles"``: one value of a file replaced by its path, typed by the file's schema."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

from accelsim.errors import Fault, SpecError, nearest
from accelsim.spec.yamlfile import DEEPEST, Located, read_yaml

Path = tuple[Any, ...]
FILES = ("chip", "workload", "mapping", "memory", "network")


def split_overrides(overrides: Iterable[str]) -> dict[str, list[tuple[str, Any]]]:
    """Overrides by the file they speak of: ``{"chip": [("levels.DRAM.latency", "40 cycles")], ...}``."""
    found: dict[str, list[tuple[str, Any]]] = {name: [] for name in FILES}
    faults: list[Fault] = []
    for text in overrides:
        key, equals, value = text.partition("=")
        room, _, path = key.strip().partition(".")
        if not equals or not path or room not in found:
            faults.append(Fault("-o", 0, 0, text, "not an override", "chip.PATH=VALUE, workload.PATH=VALUE, "
                                "mapping.PATH=VALUE, memory.PATH=VALUE or network.PATH=VALUE, such as "
                                "chip.levels.DRAM.latency=\"40 cycles\"",
                                nearest(room, FILES)))
            continue
        if path.count(".") >= DEEPEST:
            faults.append(Fault("-o", 0, 0, text, f"a path of {path.count('.') + 1} parts", f"at most {DEEPEST}"))
            continue
        try:
            read = read_yaml(f"value: {value}", "-o").value
            if list(read) != ["value"]:
                raise SpecError([Fault("-o", 0, 0, "", "more than one value")])
            found[room].append((path, read["value"]))
        except SpecError as error:
            faults += [Fault("-o", 0, 0, key.strip(), fault.message, fault.allowed) for fault in error.faults]
    if faults:
        raise SpecError(faults)
    return found


def apply_overrides(located: Located, room: str, overrides: Sequence[tuple[str, Any]]) -> Located:
    """The file with the values replaced; raises SpecError where a path leads nowhere."""
    if not overrides:
        return located
    value = copy.deepcopy(located.value)
    where = dict(located.where)
    faults: list[Fault] = []
    for text, new in overrides:
        path = _set(value, text.split("."), new, f"{room}.{text}", faults)
        if path is not None:
            where[path] = (0, 0)
    if faults:
        raise SpecError(faults)
    return Located(value, where, located.file)


def _set(node: Any, parts: list[str], new: Any, shown: str, faults: list[Fault]) -> Path | None:
    path: list[Any] = []
    while True:
        if isinstance(node, list):
            index, used = _entry(node, parts)
            if index is None:
                names = [_name(item) for item in node]
                faults.append(Fault("-o", 0, 0, shown, f"no entry named '{parts[0]}'", ", ".join(filter(None, names)),
                                    nearest(parts[0], [name for name in names if name])))
                return None
            key: Any = index
        elif isinstance(node, dict):
            key, used = _key(node, parts)
        else:
            faults.append(Fault("-o", 0, 0, shown, f"'{'.'.join(map(str, path))}' is one value; nothing lies below it"))
            return None
        path.append(key)
        parts = parts[used:]
        if not parts:
            node[key] = new
            return tuple(path)
        if isinstance(node, dict):
            node.setdefault(key, {})
        node = node[key]


def _key(node: dict[Any, Any], parts: list[str]) -> tuple[str, int]:
    """A key, which may hold dots itself (an operator's name): the longest that is there, else one part."""
    for used in range(len(parts), 1, -1):
        if ".".join(parts[:used]) in node:
            return ".".join(parts[:used]), used
    return parts[0], 1


def _entry(entries: list[Any], parts: list[str]) -> tuple[int | None, int]:
    """A list entry by its name (the longest that fits; names may hold dots) or by its number."""
    for used in range(len(parts), 0, -1):
        wanted = ".".join(parts[:used])
        for i, item in enumerate(entries):
            if _name(item) == wanted:
                return i, used
    if parts[0].isascii() and parts[0].isdigit() and len(parts[0]) < 7 and int(parts[0]) < len(entries):
        return int(parts[0]), 1
    return None, 0


def _name(item: Any) -> str:
    return str(item.get("name", item.get("level", ""))) if isinstance(item, dict) else ""
