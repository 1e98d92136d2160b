"""What stands in a source's folder under `validation/`: citation and tolerances in `source.toml`, figures in tables."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from accelsim.compare.checks import Check, Known
from accelsim.errors import Fault, SpecError, nearest
from accelsim.spec.read import shipped_folder

Table = list[dict[str, str]]


@dataclass(frozen=True)
class About:
    """A source: its title, where its figures come from, what was fitted to them, and what is compared."""

    name: str
    title: str
    citation: str
    fitted: str
    checks: tuple[Check, ...]


def sources() -> list[str]:
    """The names of all sources: the folders that have a `source.toml`."""
    root = shipped_folder("validation")
    return [path.parent.relative_to(root).as_posix() for path in sorted(root.rglob("source.toml"))]


def check_names(names: Iterable[str]) -> None:
    """Raise SpecError for names that no source has."""
    known = sources()
    faults = [Fault("--only", 0, 0, "", f"no source named '{name}'", ", ".join(known), nearest(name, known))
              for name in names if name not in known]
    if faults:
        raise SpecError(faults)


def folder_of(source: str) -> Path:
    """The folder of a source: inside the installed package, or beside it in a checkout."""
    return shipped_folder("validation") / source


def table(source: str, name: str = "cases.csv") -> Table:
    """A table of a source, a dictionary for each row."""
    with (folder_of(source) / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def about(source: str) -> About:
    """What a source's `source.toml` says."""
    told = tomllib.loads((folder_of(source) / "source.toml").read_text(encoding="utf-8"))
    return About(source, told["title"], told["citation"], told["fitted"], tuple(_check(one) for one in told["checks"]))


def _check(told: dict[str, Any]) -> Check:
    known = tuple(Known(one["case"], (one["between"][0], one["between"][1]), one["missing"]) for one in told.pop("known", ()))
    tolerance = told.pop("tolerance")
    low, high = tolerance if isinstance(tolerance, list) else (-tolerance, tolerance)
    return Check(tolerance=(low, high), known=known, **told)
