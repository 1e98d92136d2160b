"""JSON Schemas of the files a user writes, for editors."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from accelsim.spec.chipfile import ChipFile
from accelsim.spec.dramfile import DramFile
from accelsim.spec.mappingfile import MappingFile
from accelsim.spec.networkfile import NetworkFile
from accelsim.spec.workload import WorkloadFile

_FILES: dict[str, type[BaseModel]] = {"chip": ChipFile, "workload": WorkloadFile, "mapping": MappingFile,
                                     "memory": DramFile, "network": NetworkFile}
SCHEMAS = tuple(_FILES)


def file_schema(kind: str) -> dict[str, Any]:
    """The JSON Schema of a chip, workload, mapping, memory or network file; KeyError for another word."""
    return _FILES[kind].model_json_schema(by_alias=True)
