"""From files and names to cases: the verb `read`."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from accelsim.errors import DoesNotFit, Fault, SpecError, nearest
from accelsim.spec.build import make_case, type_problems, unlocated
from accelsim.spec.case import Case
from accelsim.spec.chip import Chip
from accelsim.spec.chipfile import ChipFile, timings
from accelsim.spec.chipresolve import resolve_chip
from accelsim.spec.dram import Dram
from accelsim.spec.dramfile import DramFile, resolve_dram
from accelsim.spec.files import holds, is_file, read_text
from accelsim.spec.linknetworkfile import named_networks
from accelsim.spec.mapping import Mapping
from accelsim.spec.mappingfile import MappingFile, to_mapping
from accelsim.spec.network import Network
from accelsim.spec.networkfile import NetworkFile, resolve_network
from accelsim.spec.operator import Operator, Workload
from accelsim.spec.overrides import apply_overrides, split_overrides
from accelsim.spec.workload import WorkloadFile, parse_inline, resolve_workload
from accelsim.spec.yamlfile import LARGEST_BYTES, MOST_FAULTS, Located, fault, faults_from_pydantic, read_yaml

Chooser = Callable[[Chip, Operator], Mapping]
TEXTS = {"memories": "memory", "networks": "network"}
"""What the texts of a run that a chip names are called, by the kind of file."""
Part = TypeVar("Part")
Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class Unmapped:
    """An operator of the workload that has no case, and why (its faults, exit code 2 or 3)."""

    operator: Operator
    error: SpecError | DoesNotFit


@dataclass(frozen=True)
class Asked:
    """All that a run was asked: the chip, the workload, and for each operator a case or why there is none.

    ``texts``: the chip and the workload as read, overrides applied, as text that reads back to the same.
    ``imported``: files of other tools that it was read from; ``left_out``: what of them was not carried over.
    """

    chip: Chip
    workload: Workload
    cases: tuple[Case | Unmapped, ...]
    texts: tuple[tuple[str, str], ...]
    imported: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Text:
    """What stands for a file: text of ours made from another tool's ``file``, which faults name without a line."""

    file: str
    text: str


def shipped_folder(name: str) -> Path:
    """Where the shipped `hwconfigs` or `traces` lie: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    inside = package / name
    return inside if inside.is_dir() else package.parent / name


def shipped(kind: str) -> dict[str, Path]:
    """Names and files of the shipped chips, memories, networks or workloads."""
    if kind in {"chips", "memories", "networks"}:
        return {path.stem: path for path in sorted((shipped_folder("hwconfigs") / kind).glob("*.yaml"))}
    return {path.parent.name: path for path in sorted(shipped_folder("traces").glob("*/*.yaml"))
            if path.stem == path.parent.name}


def read_chip(name: str | Text, overrides: Iterable[str] = ()) -> Chip:
    """A chip by the name of a shipped file or by path. Raises SpecError with all faults of the file."""
    split = split_overrides(overrides)
    return _chip(apply_overrides(_located(name, "chips"), "chip", split["chip"]), split["memory"], split["network"])


Overrides = Sequence[tuple[str, Any]]
Names = Iterable[tuple[tuple[str | int, ...], str]]


def _chip(located: Located, of_memories: Overrides, of_networks: Overrides) -> Chip:
    """The chip of a file. ``of_memories``, ``of_networks``: overrides of the DRAM technologies and of the networks it names."""
    file = _validated(located, ChipFile)
    faults: list[Fault] = []
    drams = _named(faults, located, "memories", timings(file), functools.partial(_memory, overrides=of_memories))
    networks = _named(faults, located, "networks", named_networks(file), functools.partial(_network, overrides=of_networks))
    if of_memories and not any(timings(file)):
        faults += [Fault("-o", 0, 0, f"memory.{path}", f"no memory of {file.name} has a `timing`") for path, _ in of_memories]
    if of_networks and not any(named_networks(file)):
        faults += [Fault("-o", 0, 0, f"network.{path}", f"no link of {file.name} has a `network`") for path, _ in of_networks]
    if faults:
        raise SpecError(faults)
    chip, problems = resolve_chip(file, drams, networks)
    return _whole(located, chip, problems)


def _named(faults: list[Fault], located: Located, kind: str, names: Names, read_one: Callable[[str], Part]) -> dict[str, Part]:
    """What a chip's file names, each file of it read once; where there is no such file, that is the chip's fault."""
    found: dict[str, Part] = {}
    for path, name in names:
        if name in found:
            continue
        if _kept(located, name, kind) is None and _leads_out(located, path, name):
            faults.append(fault(located, path, f"'{name}' leads out of the chip's folder",
                                "a shipped name, or a file in that folder"))
            continue
        part = _try(faults, functools.partial(read_one, _beside(located, name, kind)))
        if part is not None:
            found[name] = part
        elif not faults[-1].line and not faults[-1].path:
            last = faults.pop()
            faults.append(_override(located, fault(located, path, f"'{name}': {last.message}", last.allowed, last.hint)))
    return found


def _kept(located: Located, name: str, kind: str) -> Path | None:
    """The copy, overrides applied, that a saved run has of a file which its chip names."""
    chip = Path(located.file)
    copy = chip.parent / f"{TEXTS[kind]}.{Path(name).stem}.yaml"
    return copy if is_file(chip) and is_file(chip.parent / "run.json") and is_file(copy) else None


def _leads_out(located: Located, path: tuple[str | int, ...], name: str) -> bool:
    """Whether a chip's file, which may be somebody else's, names a file elsewhere. Whoever writes ``-o`` may."""
    overridden = located.where.get(path) == (0, 0)
    return not overridden and (Path(name).is_absolute() or ".." in Path(name).parts)


def _beside(located: Located, name: str, kind: str) -> str:
    """A file that a chip names: a shipped one, or one beside the chip's; of a saved run, what was read then."""
    kept = _kept(located, name, kind)
    if kept is not None:
        return str(kept)
    own = Path(located.file).parent / name
    return name if name in shipped(kind) or not is_file(own) else str(own)


def _named_texts(located: Located, split: dict[str, list[tuple[str, Any]]]) -> list[tuple[str, str]]:
    """The DRAM technologies and the networks that a chip names, as text."""
    file = _validated(located, ChipFile)
    return [(f"{TEXTS[kind]}.{Path(name).stem}", as_yaml(apply_overrides(_located(_beside(located, name, kind), kind),
                                                                         TEXTS[kind], split[TEXTS[kind]]).value))
            for kind, names in (("memories", timings(file)), ("networks", named_networks(file)))
            for name in dict.fromkeys(name for _, name in names)]


def read_workload(name: str | Text, overrides: Iterable[str] = ()) -> Workload:
    """A workload by shipped name, path, or inline text such as ``gemm:m=8,n=8,k=8``."""
    return _workload(apply_overrides(_located(name, "workloads"), "workload", split_overrides(overrides)["workload"]))


def _workload(located: Located) -> Workload:
    workload, problems = resolve_workload(_validated(located, WorkloadFile))
    return _whole(located, workload, problems)


def read_mapping(name: str | Text) -> MappingFile:
    """A mapping file by path, its keys checked; whether it fits a chip and a workload is not."""
    return _validated(_located(name, "mappings"), MappingFile)


def read_memory(name: str, overrides: Iterable[str] = ()) -> Dram:
    """A DRAM technology by the name of a shipped file or by path."""
    return _memory(name, split_overrides(overrides)["memory"])


def _memory(name: str, overrides: Sequence[tuple[str, Any]]) -> Dram:
    located = apply_overrides(_located(name, "memories"), "memory", overrides)
    dram, problems = resolve_dram(_validated(located, DramFile))
    return _allowed(located, dram, problems)


def read_network(name: str, overrides: Iterable[str] = ()) -> Network:
    """A network on chip by the name of a shipped file or by path."""
    return _network(name, split_overrides(overrides)["network"])


def _network(name: str, overrides: Overrides) -> Network:
    located = apply_overrides(_located(name, "networks"), "network", overrides)
    network, problems = resolve_network(_validated(located, NetworkFile))
    return _allowed(located, network, problems)


def read(chip: str | Text, workload: str | Text, mapping: str | Text | None = None, *, choose: Chooser,
         overrides: Iterable[str] = ()) -> Asked:
    """Read everything and prove it: the chip, the workload, and a case for each operator.

    ``mapping``: path of a mapping file; operators it does not name, or all without one, get what ``choose`` writes.
    ``overrides``: ``chip.PATH=VALUE`` and so on. Raises SpecError when a file is wrong; an operator whose mapping
    does not fit is returned as Unmapped, so that the others still run.
    """
    split = split_overrides(overrides)
    faults: list[Fault] = []
    chip_file = _try(faults, lambda: apply_overrides(_located(chip, "chips"), "chip", split["chip"]))
    workload_file = _try(faults, lambda: apply_overrides(_located(workload, "workloads"), "workload", split["workload"]))
    mapping_file = None if mapping is None else _try(faults, lambda: _located(mapping, "mappings"))
    found_chip = _try(faults, lambda: _chip(chip_file, split["memory"], split["network"])) if chip_file else None
    found_workload = _try(faults, lambda: _workload(workload_file)) if workload_file else None
    named = None
    if mapping_file is not None:
        located = mapping_file
        named = _try(faults, lambda: _Named.read(located, split["mapping"]))
    if faults or found_chip is None or found_workload is None:
        raise SpecError(faults)
    if named is not None:
        named.check(found_workload)
    else:
        _check_named(found_workload, split["mapping"])
    cases = tuple(_case(found_chip, operator, named, choose, split["mapping"]) for operator in found_workload.operators)
    texts = tuple((kind, as_yaml(file.value)) for kind, file in
                  (("chip", chip_file), ("workload", workload_file)) if file is not None)
    texts += tuple(_named_texts(chip_file, split) if chip_file is not None else ())
    return Asked(found_chip, found_workload, cases, texts)


def as_yaml(value: Any) -> str:
    """Plain data as JSON that YAML reads too: characters beyond U+FFFF are escaped as YAML does it, not in two halves."""
    text = json.dumps(value, indent=1)
    return re.sub(r"(?<!\\)((?:\\\\)*)\\u(d[89ab]..)\\u(d[c-f]..)", _one_escape, text)


def _one_escape(halves: re.Match[str]) -> str:
    high, low = int(halves[2], 16), int(halves[3], 16)
    return f"{halves[1]}\\U{0x10000 + ((high - 0xD800) << 10) + low - 0xDC00:08x}"


@dataclass(frozen=True)
class _Named:
    """A mapping file: which entries serve which operator."""

    located: Located
    file: MappingFile

    @staticmethod
    def read(located: Located, overrides: Sequence[tuple[str, Any]]) -> _Named:
        located = apply_overrides(located, "mapping", overrides)
        return _Named(located, _validated(located, MappingFile))

    def check(self, workload: Workload) -> None:
        names = [operator.name for operator in workload.operators]
        faults = [fault(self.located, ("operators", name), f"{workload.name} has no operator named '{name}'",
                        ", ".join(names[:12]), nearest(name, names)) for name in self.file.operators if name not in names]
        if self.file.levels is None and not self.file.operators:
            faults.append(fault(self.located, (), "neither `levels` nor `operators`"))
        if faults:
            raise SpecError(faults)

    def of(self, operator: Operator) -> tuple[Mapping, tuple[Any, ...]] | None:
        origin = f"file {self.located.file}"
        if operator.name in self.file.operators:
            return to_mapping(self.file.operators[operator.name].levels, origin), ("operators", operator.name)
        return None if self.file.levels is None else (to_mapping(self.file.levels, origin), ())


def _case(chip: Chip, operator: Operator, named: _Named | None, choose: Chooser,
          overrides: Sequence[tuple[str, Any]]) -> Case | Unmapped:
    try:
        wrong = [replace(problem.fault(unlocated), file=operator.name) for problem in type_problems(chip, operator)]
        if wrong:
            raise SpecError(wrong)
        stated = named.of(operator) if named is not None else None
        if named is not None and stated is not None:
            mapping, prefix = stated
            located = named.located
            return make_case(chip, operator, mapping,
                             lambda path, *rest: fault(located, (*prefix, *path), *rest))
        mapping = choose(chip, operator)
        own = _of_operator_alone(operator, overrides)
        if own and named is None:
            written = _Named.read(read_yaml(mapping.to_yaml(), "mapping"), own)
            changed = written.of(operator)
            mapping = replace(changed[0], origin=mapping.origin + ", with overrides") if changed else mapping
        return make_case(chip, operator, mapping, functools.partial(_of_operator, operator.name))
    except (SpecError, DoesNotFit) as error:
        return Unmapped(operator, error)


def _of_operator_alone(operator: Operator, overrides: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Overrides of a mapping that no file holds: those for every operator, and those that name this one."""
    prefix = f"operators.{operator.name}."
    return [(path.removeprefix(prefix), value) for path, value in overrides
            if not path.startswith("operators.") or path.startswith(f"{prefix}levels.")]


def _check_named(workload: Workload, overrides: Sequence[tuple[str, Any]]) -> None:
    """Refuse overrides of the mapping of an operator that is not there."""
    names = [operator.name for operator in workload.operators]
    faults = [Fault("-o", 0, 0, f"mapping.{path}", f"no operator of {workload.name} is named so", ", ".join(names[:12]),
                    nearest(path.split(".")[1], names)) for path, _ in overrides if path.startswith("operators.")
              and not any(path.startswith(f"operators.{name}.levels.") for name in names)]
    if faults:
        raise SpecError(faults)


def _of_operator(name: str, path: Any, *rest: str) -> Fault:
    return replace(unlocated(path, *rest), file=f"mapping of {name}")


def _located(name: str | Text, kind: str) -> Located:
    """The file that a name, a path, inline text or another tool's file means."""
    if isinstance(name, Text):
        return replace(read_yaml(name.text, name.file), where={})
    path = Path(name)
    if kind == "workloads" and ":" in name and not is_file(path):
        try:
            return Located(parse_inline(name), {}, name)
        except ValueError as error:
            raise SpecError([Fault(name, 0, 0, "", str(error))]) from None
    known = shipped(kind) if kind != "mappings" else {}
    if name in known:
        path = known[name]
    elif not is_file(path):
        what = "memory" if kind == "memories" else kind.removesuffix("s")
        if name and holds(path.is_dir):
            raise SpecError([Fault(name, 0, 0, "", f"is a folder; name a {what} file")])
        raise SpecError([Fault(name, 0, 0, "", f"no {what} of that name and no such file",
                               ", ".join(known) + (" or a path" if known else "a path"), nearest(name, list(known)))])
    return read_yaml(read_text(path, str(path), LARGEST_BYTES), name if name in known else str(path))


def _validated(located: Located, model: type[Model]) -> Model:
    try:
        return model.model_validate(located.value)
    except ValidationError as error:
        faults = faults_from_pydantic(located, error, functools.partial(known_keys, model))
        raise SpecError([_override(located, item) for item in faults]) from None


def _override(located: Located, item: Fault) -> Fault:
    """A fault at a value that ``-o`` put there names the option instead of the file."""
    return item if item.line or not located.where else replace(item, file="-o")


def known_keys(model: type[BaseModel], path: tuple[Any, ...]) -> list[str]:
    """The keys a file may have at a path, for messages about unknown ones."""
    for part in path:
        if isinstance(part, str):
            fields = {info.alias or name: info for name, info in model.model_fields.items()}
            if part in fields:
                inner = _models(fields[part].annotation)
                if inner:
                    model = inner[0]
    return [info.alias or name for name, info in model.model_fields.items()]


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in getattr(annotation, "__args__", ()) for model in _models(part)]


def _whole(located: Located, part: Part | None, problems: Sequence[tuple[tuple[Any, ...], str, str]]) -> Part:
    if problems or part is None:
        raise SpecError([_override(located, fault(located, path, message, "", hint))
                         for path, message, hint in problems[:MOST_FAULTS]])
    return part


def _allowed(located: Located, part: Part | None, problems: Sequence[tuple[tuple[Any, ...], str, str]]) -> Part:
    """As ``_whole``, of files whose problems say what may stand there."""
    if problems or part is None:
        raise SpecError([_override(located, fault(located, path, message, allowed, ""))
                         for path, message, allowed in problems[:MOST_FAULTS]])
    return part


def _try(faults: list[Fault], make: Callable[[], Part]) -> Part | None:
    try:
        return make()
    except SpecError as error:
        faults += error.faults
        return None

