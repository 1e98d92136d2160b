"""Timeloop's YAML files, v3 and v4: architecture, problem and mapping as a chip, a workload and a mapping of ours.

Words stay words: all are taken as wide as those of the outermost level, capacities and rates are of as many words. What
Timeloop leaves out is assumed and said: latencies of 0, a clock of 1 GHz.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from accelsim.errors import Fault, SpecError, nearest
from accelsim.importers.imported import Imported
from accelsim.importers.timeloop_architecture import SPARSE, check_version, read_architecture
from accelsim.importers.timeloop_attributes import DEFAULT_WORD_BITS
from accelsim.importers.timeloop_chip import chip_text, word_type
from accelsim.importers.timeloop_mapping import read_mapping
from accelsim.importers.timeloop_part import Notes, Part, shown
from accelsim.importers.timeloop_problem import Problem, read_problem
from accelsim.importers.timeloop_stores import Architecture
from accelsim.spec.files import reading
from accelsim.spec.yamlfile import LARGEST_BYTES, read_yaml

MOST_FILES: Final = 64
_MOST_FAULTS: Final = 200
_TOP: Final = re.compile(r"""^(?:\{\s*)?["']?(architecture|arch|problem|mapping)["']?\s*:""", re.MULTILINE)
_LEFT: Final = {
    **dict.fromkeys(("architecture_constraints", "arch_constraints", "mapspace", "mapspace_constraints", "constraints"),
                    "constraints of Timeloop's search; the mapping is what is run"),
    **dict.fromkeys(("mapper", "model"), "settings of Timeloop's programs"),
    **dict.fromkeys(("compound_components", "components", "ERT", "ART"), "energy and area are not counted here"),
    "variables": "variables are not put in where they are named", "globals": "settings of Timeloop's front end",
    "layout": "a layout of words in a level, with which Timeloop counts its conflicts; here a mapping may give one for banks",
    "dumped_by_timeloop_front_end": "",
}
_PARTS: Final = ("architecture", "problem", "mapping")
_TAGS: Final = {
    "Component": "the node without its tag: one with `class` is a component",
    "Container": "the node without its tag: one without `class` is a container",
    "Parallel": "the nodes of it one after another in the list around it; the mapping says which tensors each keeps",
}
_TAGS_KNOWN: Final = {**_TAGS, "Hierarchical": _TAGS["Parallel"], "Pipelined": _TAGS["Parallel"]}


def is_timeloop(text: str) -> bool:
    """Whether a text looks like one of Timeloop's files, by its top-level keys alone: architecture, problem or mapping."""
    return _TOP.search(text) is not None


def import_timeloop(files: Sequence[Path]) -> Imported:
    """Read Timeloop's files, in any order; each may hold an architecture, a problem, a mapping, or several of them.

    A mapping needs the other two beside it. Raises SpecError with all faults of all files.
    """
    notes = Notes()
    parts = _parts(files, notes)
    architecture = read_architecture(parts["architecture"]) if "architecture" in parts else None
    problem = read_problem(parts["problem"]) if "problem" in parts else None
    if "problem" in parts:
        check_version(parts["problem"].keys().get("version") if isinstance(parts["problem"].value, dict) else None)
    mapping = None
    if "mapping" in parts:
        for other in ("architecture", "problem"):
            if other not in parts:
                parts["mapping"].refuse(f"a mapping without its {other}", f"the file of the {other} beside it")
        if architecture is not None and problem is not None:
            mapping = read_mapping(parts["mapping"], architecture, problem)
    elif architecture is not None:
        for store in architecture.stores:
            if "dataspace" in store.constraints:
                store.constraints["dataspace"].leave("what a level keeps is the mapping's, and there is none")
    bits = DEFAULT_WORD_BITS if architecture is None else architecture.word_bits
    chip = _chip(parts["architecture"], architecture, problem) if architecture is not None else None
    order = {str(path): i for i, path in enumerate(files)}
    if notes.faults:
        raise SpecError(sorted(notes.faults, key=lambda one: (order.get(one.file, 0), one.line, one.column))[:_MOST_FAULTS])
    if problem is not None and architecture is None:
        parts["problem"].leave(f"words of {bits} bits: their width is the architecture's, and this is its default")
    workload = None if problem is None else problem.text(word_type(bits)[1])
    left = sorted(notes.left, key=lambda one: (order.get(one.file, 0), one.line, one.column))
    return Imported(chip, workload, None if mapping is None else mapping.to_yaml(), tuple(left))


def _parts(files: Sequence[Path], notes: Notes) -> dict[str, Part]:
    """The parts of all files, each once; keys beside them are left or refused."""
    found: dict[str, Part] = {}
    if not 1 <= len(files) <= MOST_FILES:
        raise SpecError([Fault("timeloop", 0, 0, "", f"{len(files)} files; allowed: 1 to {MOST_FILES}")])
    for path in files:
        whole = _read(path, notes)
        for key, part in whole.keys().items() if whole is not None else ():
            name = "architecture" if key == "arch" else key
            if name in found:
                part.refuse(f"a second {name}", f"one; the first is in {found[name].located.file}")
            elif name in _PARTS:
                found[name] = part
            elif key == "sparse_optimizations" and part.value:
                part.refuse(SPARSE, "the design without them")
            elif key in _LEFT:
                if part.value and _LEFT[key]:
                    part.leave(_LEFT[key])
            elif key not in ("version", "sparse_optimizations"):
                known = (*_PARTS, "arch", *_LEFT)
                part.refuse(f"unknown key {shown(key)}", ", ".join(_PARTS), nearest(key, known))
    if not found and not notes.faults:
        raise SpecError([Fault(str(path), 0, 0, "", "nothing of Timeloop's in it", ", ".join(_PARTS)) for path in files])
    return found


def _read(path: Path, notes: Notes) -> Part | None:
    """A file as a part; what its YAML is refused for is noted, tags of nodes with what to write instead."""
    text = ""
    try:
        with reading(str(path)):
            if path.stat().st_size > LARGEST_BYTES:
                raise SpecError([Fault(str(path), 0, 0, "", f"larger than {LARGEST_BYTES // 2**20} MiB")])
            text = path.read_text(encoding="utf-8")
        located = read_yaml(text, str(path))
        return Part(located, (), located.value, notes)
    except SpecError as error:
        template = "{{" in text or "{%" in text
        notes.faults += [_instead(fault, template) for fault in error.faults]
        return None


def _instead(fault: Fault, template: bool) -> Fault:
    """A fault of the YAML itself in words for these files."""
    tag = re.fullmatch(r"tags \(!(\w+)\) are not read", fault.message)
    if tag is not None and tag[1] in _TAGS_KNOWN:
        return replace(fault, allowed=_TAGS_KNOWN[tag[1]])
    if template:
        return replace(fault, message=f"{fault.message} (a Jinja template: it is not filled in here)",
                       allowed="the text that Timeloop's front end writes")
    return fault


def _chip(part: Part, architecture: Architecture, problem: Problem | None) -> str:
    """The chip's text, and what is assumed in it."""
    try:
        _, dtype = word_type(architecture.word_bits)
        text = chip_text(architecture) if problem is None else chip_text(architecture, problem.served, problem.output)
    except ValueError as error:
        part.refuse(str(error))
        return ""
    bits = architecture.word_bits
    if int(dtype.removeprefix("int")) != bits:
        part.leave(f"words of {bits} bits are taken as {dtype}; capacities and rates are of as many words")
    if architecture.hertz is None:
        part.leave("a clock of 1 GHz is assumed: Timeloop counts cycles, and so do all rates here")
    part.leave("Timeloop has no latency: 0 cycles, but those its networks are given")
    part.leave(f"unfinished sums are words like all others ({dtype}); give `accumulator` in the workload where they are wider")
    for role in () if problem is None else (name for name in problem.served if name not in problem.tensors):
        part.leave(f"tensors of the role {role} share links: a chip takes names so close to the roles' for a role misspelt")
    late = [store.name for store in architecture.stores if store.fill_cycles or store.drain_cycles]
    if late:
        part.leave(f"the network latencies of {', '.join(late)} are those of each transfer here; Timeloop adds them once")
    middle = [store.name for store in architecture.stores[1:-1] if store.rates.limited]
    if middle:
        part.leave(f"the read port of {', '.join(middle)} carries fills on both sides here, the write port drains; in Timeloop "
                   "one carries what leaves it, the other what comes")
    return text
