"""SCALE-Sim's configuration: the array, its dataflow, three SRAMs and what is known of the interface."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from accelsim.errors import Fault, nearest
from accelsim.importers.imported import Left
from accelsim.importers.inifile import Setting, Settings, ini_settings
from accelsim.importers.reading import Findings, whole_number

GENERAL, ARCHITECTURE, RUN, LAYOUT, SPARSITY = "general", "architecture_presets", "run_presets", "layout", "sparsity"
SRAMS = ("IfmapSramSzkB", "FilterSramSzkB", "OfmapSramSzkB")
READS = ("IfmapSRAMBankBandwidth", "FilterSRAMBankBandwidth")
_LEFT = {
    **dict.fromkeys(("IfmapOffset", "FilterOffset", "OfmapOffset"),
                    "an address of traces; no cycle depends on it"),
    **dict.fromkeys(("ReadRequestBuffer", "WriteRequestBuffer"),
                    "requests in flight to a DRAM trace; without UseRamulatorTrace no cycle depends on it"),
    **dict.fromkeys(("MemoryBanks", "OnChipMemoryBanks", "OnChipMemoryBankPorts", "IfmapSRAMBankNum", "IfmapSRAMBankPort",
                     "FilterSRAMBankNum", "FilterSRAMBankPort"),
                    "banks matter to SCALE-Sim with a custom layout only; `banks` and `bank_width` of a chip simulate them"),
    **dict.fromkeys(("SparseRep", "OptimizedMapping", "BlockSize", "RandomNumberGeneratorSeed"),
                    "a setting of sparsity, which is off"),
    "TopologyCsvLoc": "name the topology's file beside this one",
}
_REFUSED = {
    "SparsitySupport": "sparsity is not modelled and would change the cycles",
    "IfmapCustomLayout": "conflicts of a custom layout are not modelled and would change the cycles",
    "FilterCustomLayout": "conflicts of a custom layout are not modelled and would change the cycles",
    "UseRamulatorTrace": "latencies from a trace are not modelled and would change the cycles; `timing` in the chip names a DRAM",
}
_OF_SECTION = {
    GENERAL: ("run_name",), ARCHITECTURE: ("ArrayHeight", "ArrayWidth", *SRAMS, "Dataflow", "Bandwidth"),
    RUN: ("InterfaceBandwidth",), LAYOUT: READS,
}


class Stationary(Enum):
    """What stays in the array."""

    WEIGHTS = "ws"
    OUTPUTS = "os"
    INPUTS = "is"


@dataclass(frozen=True)
class Rates:
    """Words a cycle between the DRAM and each SRAM (InterfaceBandwidth USER). SCALE-Sim's word is one byte."""

    ifmap: int
    filter: int
    ofmap: int


@dataclass(frozen=True)
class Configuration:
    """What a configuration says of the machine. ``rates`` None: CALC, the memories never hold the array up."""

    run_name: str
    rows: int
    columns: int
    stationary: Stationary
    sram_kib: tuple[int, int, int]
    rates: Rates | None
    stationary_place: tuple[int, int]


def is_configuration(text: str) -> bool:
    """Whether the text has a section that only SCALE-Sim's configurations have."""
    return any(line.strip().lower() == f"[{ARCHITECTURE}]" for line in text[:1 << 16].splitlines())


def read_configuration(text: str, file: str, findings: Findings) -> Configuration | None:
    """The configuration; faults and what is left go to ``findings``, and None is returned where there is a fault."""
    settings = ini_settings(text, file, findings)
    before = len(findings.faults)
    reader = _Reader(settings, file, findings)
    rows, columns = reader.number(ARCHITECTURE, "ArrayHeight"), reader.number(ARCHITECTURE, "ArrayWidth")
    srams = [reader.number(ARCHITECTURE, name) for name in SRAMS]
    flow = reader.word(ARCHITECTURE, "Dataflow", tuple(one.value for one in Stationary))
    mode = reader.word(RUN, "InterfaceBandwidth", ("calc", "user"))
    rates = reader.rates() if mode == "user" else None
    reader.others(user=mode == "user")
    if findings.faults[before:] or rows is None or columns is None or flow is None or None in srams:
        return None
    name = settings.get((GENERAL, "run_name"))
    place = settings[ARCHITECTURE, "dataflow"]
    return Configuration(name.text if name else "scalesim", rows, columns, Stationary(flow),
                         (srams[0] or 1, srams[1] or 1, srams[2] or 1), rates, (place.line, place.column))


@dataclass(frozen=True)
class _Reader:
    settings: Settings
    file: str
    findings: Findings

    def _fault(self, one: Setting, message: str, allowed: str, hint: str = "") -> None:
        self.findings.faults.append(Fault(self.file, one.line, one.column, one.path, message, allowed, hint))

    def _get(self, section: str, key: str) -> Setting | None:
        found = self.settings.get((section, key.lower()))
        if found is None:
            near = nearest(key, [one.key for one in self.settings.values() if one.section.lower() == section])
            self.findings.faults.append(Fault(self.file, 0, 0, f"{section}.{key}", "missing", f"a line '{key} : ...' in "
                                              f"[{section}]", near))
        return found

    def number(self, section: str, key: str) -> int | None:
        """A setting that is an integer from 1 to 2**20."""
        one = self._get(section, key)
        if one is None:
            return None
        number = whole_number(one.text)
        if number is None or number > 1 << 20:
            self._fault(one, f"'{one.text[:40]}'", "an integer from 1 to 1048576")
            return None
        return number

    def word(self, section: str, key: str, allowed: tuple[str, ...]) -> str | None:
        """A setting that is one of a few words."""
        one = self._get(section, key)
        if one is None:
            return None
        if one.text.lower() in allowed:
            return one.text.lower()
        self._fault(one, f"'{one.text[:40]}'", ", ".join(allowed), nearest(one.text, allowed))
        return None

    def rates(self) -> Rates | None:
        """Bandwidths as each version takes them: version 3 reads at the rates of [layout], version 2 at `Bandwidth`."""
        one = self._get(ARCHITECTURE, "Bandwidth")
        if one is None:
            return None
        first, *more = (part.strip() for part in one.text.split(","))
        ofmap = whole_number(first)
        if ofmap is None:
            self._fault(one, f"'{one.text[:40]}'", "an integer from 1, words a cycle")
            return None
        if more:
            self.findings.left.append(Left(self.file, one.line, one.column, one.path, "SCALE-Sim takes the first number only"))
        reads = [self.number(LAYOUT, name) if (LAYOUT, name.lower()) in self.settings else ofmap for name in READS]
        return None if None in reads else Rates(reads[0] or 1, reads[1] or 1, ofmap)

    def others(self, *, user: bool) -> None:
        """Refuse what changes cycles and is not modelled; name what changes none, and what SCALE-Sim does not know."""
        left, refused = ({key.lower(): why for key, why in table.items()} for table in (_LEFT, _REFUSED))
        for (section, key), one in self.settings.items():
            taken = key in [name.lower() for name in _OF_SECTION.get(section, ())]
            if key in refused:
                if one.text.lower() not in ("false", "0", "no", "off"):
                    self._fault(one, f"'{one.text[:40]}': {refused[key]}", "False")
                continue
            why = left.get(key, "no setting that is known here")
            if taken and not user:
                calc = key in ("bandwidth", *(name.lower() for name in (*SRAMS, *READS)))
                why = "with InterfaceBandwidth CALC no cycle depends on it, and the chip has no such limit" if calc else ""
            elif taken:
                why = ""
            if why:
                self.findings.left.append(Left(self.file, one.line, one.column, one.path, why))
