"""The table of importers: whose files are read, how they are recognised, and what reads them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from accelsim.importers.imported import Imported
from accelsim.importers.scalesim import import_scalesim, is_scalesim
from accelsim.importers.timeloop import import_timeloop, is_timeloop
from accelsim.importers.zigzag import import_zigzag, is_zigzag


@dataclass(frozen=True)
class Importer:
    """Another tool's files. ``recognises``: whether a text is one of them; ``read`` takes all files of a run at once."""

    name: str
    describe: str
    recognises: Callable[[str], bool]
    read: Callable[[Sequence[Path]], Imported]


IMPORTERS: tuple[Importer, ...] = (
    Importer("scalesim", "SCALE-Sim: a configuration (.cfg) and a topology (.csv), versions 2 and 3", is_scalesim,
             import_scalesim),
    Importer("timeloop", "Timeloop: an architecture, a problem and a mapping (.yaml), versions 0.2 to 0.4", is_timeloop,
             import_timeloop),
    Importer("zigzag", "ZigZag: an accelerator, a workload and a mapping (.yaml), version 3", is_zigzag, import_zigzag),
)
