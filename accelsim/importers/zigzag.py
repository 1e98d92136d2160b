"""ZigZag: an accelerator as a chip, a workload, and with both a mapping."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from accelsim.errors import Fault, SpecError
from accelsim.importers.imported import Imported, Left
from accelsim.importers.reading import Findings, text_of
from accelsim.importers.writing import mappings_text, plain_name, yaml_text
from accelsim.importers.zigzag_accelerator import Accelerator, read_accelerator
from accelsim.importers.zigzag_chip import chip_of
from accelsim.importers.zigzag_file import Source
from accelsim.importers.zigzag_mapping import Entry, entry_for, mapping_of, read_entries
from accelsim.importers.zigzag_workload import LINKS, Layer, read_layers
from accelsim.spec.mapping import Mapping as LoopNest
from accelsim.spec.read import Text, read_chip, read_workload

_SIGNS = {
    "accelerator": (r"^operational_array\s*:", r"^memories\s*:"),
    "workload": (r"^\s*-?\s*loop_sizes\s*:", r"^\s*-?\s*equation\s*:"),
    "mapping": (r"^\s*-\s*name\s*:", r"^\s*-?\s*(spatial_mapping(_hint)?|memory_operand_links)\s*:"),
}
"""Keys that each kind of file has."""


def kind_of(text: str) -> str:
    """accelerator, workload, mapping, or nothing where the text is none of ZigZag's."""
    return next((kind for kind, signs in _SIGNS.items() if all(re.search(sign, text, re.MULTILINE) for sign in signs)), "")


def is_zigzag(text: str) -> bool:
    """Whether a text is an accelerator, a workload or a mapping of ZigZag's."""
    return kind_of(text) != ""


def import_zigzag(files: Sequence[Path]) -> Imported:
    """Read an accelerator, a workload, and a mapping of both. Raises SpecError with all faults of the files."""
    findings = Findings()
    sources = _sources(files, findings)
    accelerator = read_accelerator(sources["accelerator"]) if "accelerator" in sources else None
    layers = read_layers(sources["workload"]) if "workload" in sources else []
    entries: list[Entry] = []
    if "mapping" in sources:
        entries = read_entries(sources["mapping"], accelerator)
        lacking = [kind for kind in ("accelerator", "workload") if kind not in sources]
        if lacking:
            sources["mapping"].refuse((), f"a mapping without its {' and '.join(lacking)}", "ZigZag's three files together")
    chip = None if accelerator is None else yaml_text(chip_of(accelerator, sources["accelerator"]),
                                                      f"From {sources['accelerator'].located.file} (ZigZag)")
    findings.check()
    links = _links(layers, entries, sources)
    findings.check()
    workload = None
    if layers:
        file = sources["workload"].located.file
        name = plain_name(Path(file).stem, "workload")
        workload = yaml_text({"name": name, "description": f"{name}, a workload of ZigZag", "operators": [
            layer.operator(links[layer.name]) for layer in layers]}, f"From {file} (ZigZag)")
    mapping = None
    if entries and chip is not None and workload is not None and accelerator is not None:
        mapping = _mapping(Text(sources["accelerator"].located.file, chip), Text(sources["workload"].located.file, workload),
                           accelerator, layers, entries, sources["mapping"])
        findings.check()
    return Imported(chip, workload, mapping, tuple(findings.left))


def _sources(files: Sequence[Path], findings: Findings) -> dict[str, Source]:
    """The files by what they are."""
    found: dict[str, Source] = {}
    for path in files:
        text = text_of(path)
        kind = kind_of(text)
        if not kind or kind in found:
            message = f"a second {kind} beside {found[kind].located.file}" if kind else "not recognised as a file of ZigZag's"
            findings.faults.append(Fault(str(path), 0, 0, "", message, "an accelerator, a workload, a mapping"))
            continue
        try:
            found[kind] = Source.of(text, str(path), findings)
        except SpecError as error:
            findings.faults += error.faults
    findings.check()
    return found


def _links(layers: Sequence[Layer], entries: Sequence[Entry], sources: dict[str, Source]) -> dict[str, dict[str, str]]:
    """For each layer which operand of the memories its operands are."""
    found: dict[str, dict[str, str]] = {}
    for i, layer in enumerate(layers):
        entry = entry_for(layer, entries)
        if entries and entry is None:
            sources["mapping"].refuse((), f"nothing for layer {layer.name}", "its name, its type or default")
        links = dict(LINKS) if entry is None else dict(entry.links)
        for name in layer.tensors:
            if name not in links:
                sources["workload"].refuse((i, "equation"), f"operand {name}: no mapping links it to I1 or I2",
                                           "`memory_operand_links`, or operands named I and W")
        found[layer.name] = links
    return found


def _mapping(chip: Text, workload: Text, accelerator: Accelerator, layers: Sequence[Layer], entries: Sequence[Entry],
             source: Source) -> str:
    """Loops of every layer at every memory."""
    machine, operators = read_chip(chip), read_workload(workload).operators
    found: dict[str, LoopNest] = {}
    for layer, operator in zip(layers, operators, strict=True):
        entry = entry_for(layer, entries)
        if entry is not None:
            found[layer.name] = mapping_of(entry, layer, operator, machine, accelerator, source)
    without = [entry for entry in entries if not entry.order and any(entry_for(layer, entries) is entry for layer in layers)]
    if without:
        source.leave(without[0].path, "without temporal_ordering ZigZag searches an order; here loops that reuse weights are "
                     "innermost, then those that are summed over, then the others")
    source.findings.left.append(Left(source.located.file, 0, 0, "", "loops are given to a memory for all its operands at once, "
                                     "as many as fit, the outermost memory first; ZigZag gives them operand by operand, from "
                                     "the innermost"))
    return mappings_text(found, f"From {source.located.file} (ZigZag)")
