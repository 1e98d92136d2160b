"""What two runs were asked: the values that differ, each by the path by which an override would name it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from accelsim.measure.sides import Side, SideOperator, clean
from accelsim.units import format_frequency

_OPTIONS = ("dataflow", "mapping", "overrides")


@dataclass(frozen=True)
class Change:
    """A value that differs, as text; None where a side has none. ``hash_only``: what differs inside is not known."""

    path: str
    before: str | None
    after: str | None
    hash_only: bool = False


def config_changes(before: Side, after: Side, pairs: Sequence[tuple[SideOperator, SideOperator]]) -> tuple[Change, ...]:
    """Everything that differs in what was asked: versions first, then chip, workload, options and mappings.

    ``pairs``: operators that are each other's; those of other names are compared as renamed.
    """
    found = [Change(path, str(old), str(new)) for path, old, new in (
        ("schema", before.schema, after.schema), ("results_version", before.results_version, after.results_version),
        ("accelsim", before.version, after.version)) if old != new]
    renames = {old.name: new.name for old, new in pairs if old.name != new.name}
    for file in dict.fromkeys([*_inputs(before), *_inputs(after)]):
        found += _file_changes(file, before, after, renames)
    for name in dict.fromkeys([*_OPTIONS, *before.options, *after.options]):
        found += value_changes(f"options.{clean(name)}", before.options.get(name), after.options.get(name))
    for old, new in pairs:
        if old.ran and new.ran:
            found += value_changes(f"mapping.{new.name}", old.mapping, new.mapping)
    return tuple(found)


def _inputs(side: Side) -> list[str]:
    """Files in the order chip, workload, and what a chip names; mappings are compared for themselves."""
    names = [name for name in dict.fromkeys([*side.files, *side.hashes]) if not name.startswith("mapping.")]
    return sorted(names, key=lambda name: (name != "chip", name != "workload", name))


def _file_changes(file: str, before: Side, after: Side, renames: Mapping[str, str]) -> list[Change]:
    """The keys of a file that differ; from JSON its name, a chip's clock, and that its hash differs."""
    old_hash, new_hash = before.hashes.get(file), after.hashes.get(file)
    if old_hash == new_hash:
        return []
    hashes = (old_hash and f"hash {old_hash}", new_hash and f"hash {new_hash}")
    if file in before.files and file in after.files:
        old, found = before.files[file], []
        if file == "workload":
            old = _renamed(old, renames)
            found = [Change(f"workload.operators.{name}.name", name, new) for name, new in renames.items()]
        return [*found, *value_changes(file, old, after.files[file])] or [Change(f"{file} (order of keys)", *hashes)]
    told = {"chip": [("chip.name", before.chip, after.chip),
                     ("chip.clock", format_frequency(before.clock_hz), format_frequency(after.clock_hz))],
            "workload": [("workload.name", before.workload, after.workload)]}.get(file, [])
    return [*(Change(path, old, new) for path, old, new in told if old != new),
            Change(file, *hashes, hash_only=all(hashes))]


def _renamed(workload: Any, renames: Mapping[str, str]) -> Any:
    """A workload whose operators have the names of the other side's."""
    operators = workload.get("operators") if isinstance(workload, dict) else None
    if not isinstance(operators, list):
        return workload
    return workload | {"operators": [one | {"name": renames.get(one["name"], one["name"])}
                                     if isinstance(one, dict) and isinstance(one.get("name"), str) else one
                                     for one in operators]}


def value_changes(path: str, before: Any, after: Any) -> Iterator[Change]:
    """Walk two values together: mappings by key, lists by their entries' names where all have one, else as wholes."""
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _key_changes(path, before, after)
        return
    old, new = _by_name(before), _by_name(after)
    if old is None or new is None:
        yield Change(path, compact(before), compact(after))
        return
    yield from _key_changes(path, old, new)
    stayed = [name for name in old if name in new], [name for name in new if name in old]
    if stayed[0] != stayed[1]:
        yield Change(f"{path} (order)", ", ".join(map(clean, stayed[0])), ", ".join(map(clean, stayed[1])))


def _key_changes(path: str, before: Mapping[Any, Any], after: Mapping[Any, Any]) -> Iterator[Change]:
    for key in dict.fromkeys([*before, *after]):
        inner = f"{path}.{_key(key)}"
        if key in before and key in after:
            yield from value_changes(inner, before[key], after[key])
        else:
            yield Change(inner, compact(before[key]) if key in before else None, compact(after[key]) if key in after else None)


def _by_name(value: Any) -> dict[str, Any] | None:
    """Entries of a list by their ``name`` or ``level``; None where some have none or share it."""
    if not isinstance(value, list) or not value:
        return None
    for key in ("name", "level"):
        names = [entry.get(key) if isinstance(entry, dict) else None for entry in value]
        if all(isinstance(name, str) for name in names) and len(set(names)) == len(names):
            return dict(zip(map(str, names), value, strict=True))
    return None


def compact(value: Any) -> str:
    """A value on one line, as YAML would have it in flow style."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)}: {compact(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(compact, value)) + "]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return clean(str(value))


def _key(key: Any) -> str:
    return compact(key) if isinstance(key, tuple) else clean(str(key))
