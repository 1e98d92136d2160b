"""Files of other tools as arguments: recognised by what they say, and read as texts of ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from accelsim.errors import Fault, SpecError, nearest
from accelsim.importers.imported import Imported, Left
from accelsim.importers.reading import text_of
from accelsim.importers.table import IMPORTERS, Importer
from accelsim.spec.files import is_file
from accelsim.spec.read import Text, read_chip, read_mapping, read_workload, shipped

_PARTS = {"chip": "chips", "workload": "workloads", "mapping": ""}


@dataclass(frozen=True)
class Arguments:
    """What a run was asked for, files of other tools replaced by texts of ours. ``files``: those files."""

    chip: str | Text
    workload: str | Text
    mapping: str | Text | None
    files: tuple[str, ...] = ()
    left: tuple[Left, ...] = ()


def importer_of(path: Path) -> Importer | None:
    """What reads this file; None where it is none of the known tools'. Raises SpecError where it is no text."""
    text = text_of(path)
    return next((one for one in IMPORTERS if one.recognises(text)), None)


def importer_named(name: str) -> Importer:
    """The importer of that name. Raises SpecError where there is none."""
    for one in IMPORTERS:
        if one.name == name:
            return one
    names = [one.name for one in IMPORTERS]
    raise SpecError([Fault("--from", 0, 0, "", f"nothing named '{name}'", ", ".join(names), nearest(name, names))])


def import_files(files: Sequence[Path], name: str | None = None) -> Imported:
    """All files of one tool as texts of ours, each proven to be read. ``name``: whose files; recognised if None.

    Raises SpecError with all faults.
    """
    missing = [Fault(str(path), 0, 0, "", "no such file") for path in files if not is_file(path)]
    if missing:
        raise SpecError(missing)
    if name is not None:
        importer = importer_named(name)
    else:
        found = {path: importer_of(path) for path in files}
        known = ", ".join(one.describe for one in IMPORTERS)
        strange = [Fault(str(path), 0, 0, "", "not recognised as any tool's file", known)
                   for path, one in found.items() if one is None]
        if strange:
            raise SpecError(strange)
        tools = {one.name: one for one in found.values() if one is not None}
        if len(tools) > 1:
            raise SpecError([Fault(str(path), 0, 0, "", f"a file of {one.name} among files of others", "files of one tool")
                             for path, one in found.items() if one is not None])
        importer = next(iter(tools.values()))
    imported = importer.read(files)
    label = ", ".join(map(str, files))
    if imported.chip is not None:
        read_chip(Text(label, imported.chip))
    if imported.workload is not None:
        read_workload(Text(label, imported.workload))
    if imported.mapping is not None:
        read_mapping(Text(label, imported.mapping))
    return imported


def as_ours(chip: str, workload: str, mapping: str | None, *, implied: bool) -> Arguments:
    """The arguments of a run. ``implied``: files that say a mapping give it also where none was asked for.

    Raises SpecError with all faults of other tools' files, or where they lack what they were named for.
    """
    named = {"chip": chip, "workload": workload} | ({} if mapping is None else {"mapping": mapping})
    tools = {part: one for part, name in named.items() if (one := _foreign(name, _PARTS[part])) is not None}
    if not tools:
        return Arguments(chip, workload, mapping)
    read: dict[str, Imported] = {}
    faults: list[Fault] = []
    for one in {tool.name: tool for tool in tools.values()}.values():
        files = dict.fromkeys(named[part] for part, tool in tools.items() if tool is one)
        try:
            read[one.name] = one.read([Path(name) for name in files])
        except SpecError as error:
            faults += error.faults
    if faults:
        raise SpecError(faults)
    texts: dict[str, str | Text] = dict(named)
    for part, tool in tools.items():
        told = getattr(read[tool.name], part)
        if told is None:
            faults.append(Fault(named[part], 0, 0, "", f"says nothing of a {part}", tool.describe))
        else:
            texts[part] = Text(named[part], told)
    if faults:
        raise SpecError(faults)
    if implied and mapping is None and {"chip", "workload"} <= set(tools) and tools["chip"] is tools["workload"]:
        told = read[tools["chip"].name].mapping
        if told is not None:
            texts["mapping"] = Text(chip, told)
    left = tuple(item for one in read.values() for item in one.left)
    return Arguments(texts["chip"], texts["workload"], texts.get("mapping"), tuple(dict.fromkeys(named[part] for part in tools)),
                     left)


def _foreign(name: str, kind: str) -> Importer | None:
    """What reads an argument that names another tool's file; None for shipped names, inline text and files of ours."""
    path = Path(name)
    return importer_of(path) if not (kind and name in shipped(kind)) and is_file(path) else None
