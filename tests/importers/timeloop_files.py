"""Timeloop's files for tests: the cases, spellings of them, and cases that the importer makes of a text."""

from __future__ import annotations

import json
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

from accelsim.compare.running import read_case
from accelsim.importers.imported import Imported
from accelsim.importers.timeloop import import_timeloop
from accelsim.spec.case import Case
from accelsim.spec.yamlfile import read_yaml

FOLDER = Path(__file__).parent / "timeloop"
FILES = {path.stem: path for path in sorted(FOLDER.glob("*.yaml"))}
"""By the case's name: its architecture, problem and mapping in one file, as timeloop-model ran them."""


def exact() -> dict[str, dict[str, Any]]:
    """Of cases that Timeloop approximates: what a replay over sets of elements counted, totals over all instances."""
    found: dict[str, dict[str, Any]] = json.loads((FOLDER / "exact.json").read_text(encoding="utf-8"))
    return found


def data_of(name: str) -> dict[str, Any]:
    """A case as plain data."""
    found: dict[str, Any] = read_yaml(FILES[name].read_text(encoding="utf-8"), name).value
    return found


def imported(*texts: str) -> Imported:
    """What the importer makes of files with these texts."""
    with tempfile.TemporaryDirectory(prefix="accelsim-") as folder:
        paths = [Path(folder) / f"{i}.yaml" for i in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text, encoding="utf-8")
        return import_timeloop(paths)


def case_of(made: Imported) -> Case:
    """The case of the files that the importer wrote. Raises SpecError and DoesNotFit."""
    assert made.chip is not None
    assert made.workload is not None
    assert made.mapping is not None
    with tempfile.TemporaryDirectory(prefix="accelsim-") as folder:
        for name, text in (("chip", made.chip), ("workload", made.workload), ("mapping", made.mapping)):
            (Path(folder) / name).write_text(text, encoding="utf-8")
        return read_case(*(str(Path(folder) / name) for name in ("chip", "workload", "mapping")))


def texts_of(made: Imported) -> tuple[str | None, str | None, str | None]:
    """The files alone."""
    return made.chip, made.workload, made.mapping


def as_v3(data: dict[str, Any]) -> str:
    """The same in the spelling of version 0.3: hyphens, ranges of the innermost two on a container around them."""
    local = data["architecture"]["subtree"][0]["local"]
    inner = [one for one in local if one["name"].startswith(("RF", "MAC"))]
    count = int(inner[-1]["name"].split("..")[1].rstrip("]"))
    plain = [dict(one, name=one["name"].split("[")[0]) for one in inner]
    tree = {"name": "System", "local": [one for one in local if one not in inner],
            "subtree": [{"name": f"PE[0..{count - 1}]", "local": plain}]}
    shape = dict(data["problem"]["shape"])
    shape["data-spaces"] = [{key.replace("_", "-"): value for key, value in space.items()} for space in shape.pop("data_spaces")]
    mapping = [dict(one, factors=one["factors"].replace("=", "")) if "factors" in one else dict(one, type="datatype")
               for one in data["mapping"]]
    text = json.dumps({"architecture": {"version": 0.3, "subtree": [tree]}, "mapping": mapping,
                       "problem": {"shape": shape, "instance": data["problem"]["instance"]}})
    return text.replace("word_bits", "word-bits").replace("block_size", "block-size")


def as_v4(data: dict[str, Any]) -> str:
    """The same in the spelling of version 0.4: nodes, lists of factors and of dimensions, fan-outs by what is inside."""
    nodes: list[dict[str, Any]] = [{"name": "System", "attributes": {"technology": "45nm"}}]
    above = (1, 1)
    for one in data["architecture"]["subtree"][0]["local"]:
        attributes = dict(one["attributes"])
        count = int(one["name"].split("..")[1].rstrip("]"))
        x = attributes.pop("meshX")
        y = attributes.pop("meshY", count // x)
        nodes.append({"name": one["name"].split("[")[0], "class": one["class"], "attributes": attributes,
                      "spatial": {"meshX": x // above[0], "meshY": y // above[1]}})
        above = (x, y)
    mapping = [dict(one, factors=one["factors"].split(), permutation=list(one["permutation"])) if "factors" in one
               else dict(one, type="dataspace") for one in data["mapping"]]
    inside = {outer["name"]: inner["name"] for outer, inner in pairwise(nodes)}
    mapping = [dict(one, target=inside[one["target"]]) if one["type"] == "spatial" else one for one in mapping]
    return json.dumps({"architecture": {"version": 0.4, "nodes": nodes}, "mapping": mapping,
                       "problem": {"version": 0.4, "shape": data["problem"]["shape"], "instance": data["problem"]["instance"]}})
