"""SCALE-Sim: a configuration (.cfg) as a chip, a topology (.csv) as a workload, and both as the mapping that it runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from accelsim.errors import Fault
from accelsim.importers.imported import Imported, Left
from accelsim.importers.reading import Findings, text_of
from accelsim.importers.scalesim_config import Configuration, Stationary, is_configuration, read_configuration
from accelsim.importers.scalesim_topology import Layer, is_topology, read_topology
from accelsim.importers.writing import mapping_text, plain_name, yaml_text
from accelsim.spec.mapping import Loop, Mapping, MappingLevel

MEMORY, DRAM, SRAM, ARRAY = "MEMORY", "DRAM", "SRAM", "PE"
_WORDS = {Stationary.WEIGHTS: "weight", Stationary.OUTPUTS: "output", Stationary.INPUTS: "input"}
_PRODUCT = {Stationary.WEIGHTS: ("B", "n", "k", "m"), Stationary.OUTPUTS: ("C", "n", "m", "k"),
            Stationary.INPUTS: ("A", "m", "k", "n")}
"""Of a product: what stays; the dimension over the columns of the array; the one over its rows; the one that streams."""
_CONVOLUTION = {Stationary.WEIGHTS: ("W", ("k",), ("c", "r", "s"), ("p", "q")),
                Stationary.OUTPUTS: ("O", ("k",), ("p", "q"), ("c", "r", "s"))}
"""The same of a convolution. Windows overlap in the input, which therefore cannot stay in the array as it is."""


def is_scalesim(text: str) -> bool:
    """Whether a text is a configuration or a topology of SCALE-Sim."""
    return is_configuration(text) or is_topology(text)


def import_scalesim(files: Sequence[Path]) -> Imported:
    """Read a configuration, a topology, or both. Raises SpecError with all faults of the files."""
    findings = Findings()
    configuration: Configuration | None = None
    layers: list[Layer] = []
    seen: dict[str, str] = {}
    for path in files:
        text = text_of(path)
        kind = "configuration" if is_configuration(text) else "topology"
        if kind in seen:
            findings.faults.append(Fault(str(path), 0, 0, "", f"a second {kind} beside {seen[kind]}", "one of each"))
            continue
        seen[kind] = str(path)
        if kind == "configuration":
            configuration = read_configuration(text, str(path), findings)
        else:
            layers = read_topology(text, str(path), findings)
    findings.check()
    lowered = configuration is not None and configuration.stationary is Stationary.INPUTS and any("M" not in one.sizes
                                                                                                  for one in layers)
    if lowered and configuration is not None:
        findings.left.append(Left(seen["configuration"], *configuration.stationary_place, "architecture_presets.Dataflow",
                                  "an input whose windows overlap cannot stay in the array here: convolutions are written as "
                                  "the products that SCALE-Sim makes of them, which has the same cycles and copies the overlap"))
    chip = None if configuration is None else yaml_text(chip_of(configuration), f"From {seen['configuration']} (SCALE-Sim)")
    workload = mapping = None
    if layers:
        name = Path(seen["topology"]).stem or "topology"
        # With its own machine every word is a byte, sums too; another chip adds in its own width.
        accumulator = None if configuration is None else "int8"
        operators = [layer.operator(lowered=lowered, accumulator=accumulator) for layer in layers]
        workload = yaml_text({"name": name, "description": f"{name}, a topology of SCALE-Sim", "operators": operators},
                             f"From {seen['topology']} (SCALE-Sim)")
    if layers and configuration is not None and configuration.rates is None:
        product = lowered or "M" in layers[0].sizes
        mapping = mapping_text(mapping_of(configuration, product=product), f"From {seen['configuration']} (SCALE-Sim): its folds")
    return Imported(chip, workload, mapping, tuple(findings.left))


def chip_of(told: Configuration) -> dict[str, Any]:
    """The chip's file as plain data: with CALC a memory without limits, with USER a DRAM and three SRAMs."""
    flow = f"{_WORDS[told.stationary]}-stationary"
    array = {"model": "systolic", "pes": {"x": told.columns, "y": told.rows}, "registers": 1, "buffers": 1, "preload": "row",
             "results": "unlimited", "serves": [_WORDS[told.stationary]]}
    levels: list[dict[str, Any]] = [{"name": MEMORY, "kind": "sram", "capacity": "unlimited", "bandwidth": "unlimited",
                                     "buffers": 1}]
    if told.rates is not None:
        rates = {"input": told.rates.ifmap, "weight": told.rates.filter, "output": told.rates.ofmap}
        every = ["fill", "drain", "array_read", "array_write"]
        levels = [{"name": DRAM, "kind": "dram", "capacity": "unlimited", "bandwidth": "unlimited",
                   "ports": [{"name": role, "serves": every, "tensors": [role], "bandwidth": f"{rate} B/cycle"}
                             for role, rate in rates.items()]},
                  {"name": SRAM, "memories": [_sram(role, size) for role, size in zip(rates, told.sram_kib, strict=True)]}]
    return {"name": plain_name(told.run_name, "scalesim"),
            "description": f"A {told.rows} x {told.columns} {flow} systolic array, as SCALE-Sim counts its cycles",
            "models": ["Folds one after another: the stationary tile is loaded, the other streams, the last result leaves",
                       "With InterfaceBandwidth CALC the memories never hold the array up" if told.rates is None else
                       "With InterfaceBandwidth USER a DRAM feeds three double-buffered SRAMs"],
            "omits": ["A clock: SCALE-Sim counts cycles; 1 GHz stands for it"], "clock": "1 GHz", "dataflows": [flow],
            "levels": [*levels, {"name": ARRAY, "array": array}]}


def _sram(role: str, kib: int) -> dict[str, Any]:
    name = {"input": "IFMAP", "weight": "FILTER", "output": "OFMAP"}[role]
    memory: dict[str, Any] = {"name": name, "kind": "sram", "serves": [role], "capacity": f"{kib} KiB", "bandwidth": "unlimited",
                              "buffers": 2}
    return memory | {"accumulate": True} if role == "output" else memory


def mapping_of(told: Configuration, *, product: bool) -> Mapping:
    """SCALE-Sim's folds: columns of the array outside, rows inside, each fold one pass."""
    if product:
        held, across, down, streamed = _PRODUCT[told.stationary]
        return _folds(told, held, (across,), (down,), (streamed,))
    return _folds(told, *_CONVOLUTION[told.stationary])


def _folds(told: Configuration, held: str, across: tuple[str, ...], down: tuple[str, ...], streamed: tuple[str, ...]) -> Mapping:
    outside = MappingLevel(MEMORY, (Loop(across, None), Loop(down, None)))
    array = MappingLevel(ARRAY, tuple(Loop((dim,), None) for dim in streamed),
                         (("x", (Loop(across, told.columns),)), ("y", (Loop(down, told.rows),))), (held,))
    return Mapping((outside, array))
