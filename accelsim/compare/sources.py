"""The sources, and running one: every part of it, then a verdict on each check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from math import inf
from statistics import fmean

from accelsim.compare import booksim, drams, eyeriss, gemmini, gpus, nvdla, onnxim, rtl, scalesim, timeloop, tpus
from accelsim.compare.checks import Judged, Part, Row, Verdict, by_check, judge
from accelsim.compare.references import About, about
from accelsim.errors import SimulatorBug

Told = Callable[[str, int, int], None]
"""Told (source, parts done, parts in all) now and then."""


@dataclass(frozen=True)
class Source:
    """A folder of `validation/` and its comparison. ``needs``: a package that it cannot do without, and accelsim can."""

    name: str
    parts: Callable[[], Sequence[Part]]
    needs: str = ""

    @property
    def skipped(self) -> str:
        """Why it cannot be compared here, or ""."""
        if not self.needs or find_spec(self.needs) is not None:
            return ""
        return f"{self.needs} is not installed; pip install 'accelsim[test]'"


SOURCES = (
    Source("scalesim", scalesim.parts),
    Source("timeloop", timeloop.parts),
    Source("rtl", rtl.parts, needs="amaranth"),
    Source("dram", drams.parts),
    Source("noc", booksim.parts),
    Source("onnxim", onnxim.parts),
    Source("silicon/tpu-v1", tpus.v1_parts),
    Source("silicon/tpu-v3", tpus.v3_parts),
    Source("silicon/tpu-v6e", tpus.v6e_parts),
    Source("silicon/a100", gpus.a100_parts),
    Source("silicon/mi210", gpus.mi210_parts),
    Source("silicon/eyeriss", eyeriss.parts),
    Source("silicon/nvdla", nvdla.parts),
    Source("silicon/gemmini", gemmini.parts),
)


@dataclass(frozen=True)
class Outcome:
    """What came of a source. ``skipped``: why nothing was compared, or ""."""

    about: About
    skipped: str
    verdicts: tuple[Verdict, ...]

    @property
    def passed(self) -> bool:
        """Whether it was compared and every check passed."""
        return not self.skipped and not any(verdict.faults for verdict in self.verdicts)

    @property
    def shares(self) -> tuple[Judged, ...]:
        """All rows whose errors are shares of the reference: neither differences nor bounds; known misses among them."""
        return tuple(one for verdict in self.verdicts for one in verdict.rows
                     if not verdict.check.absolute and verdict.check.tolerance[1] < inf)

    @property
    def mean_error(self) -> float | None:
        """The mean of their absolute errors; None where there are none."""
        return fmean(abs(one.error) for one in self.shares) if self.shares else None

    @property
    def worst(self) -> Judged | None:
        """Of those the one furthest off; None where there are none."""
        return max(self.shares, key=lambda one: abs(one.error), default=None)


def chosen(names: Sequence[str]) -> list[Source]:
    """The sources of these names, in the table's order; all for none."""
    return [source for source in SOURCES if not names or source.name in names]


def compare(source: Source, told: Told | None = None) -> Outcome:
    """Run all of a source and judge it against its folder's tolerances."""
    stated = about(source.name)
    if source.skipped:
        return Outcome(stated, source.skipped, ())
    parts = source.parts()
    rows: list[Row] = []
    for done, part in enumerate(parts):
        if told is not None:
            told(source.name, done, len(parts))
        rows += part()
    found = by_check(rows)
    unknown = sorted(found.keys() - {check.name for check in stated.checks})
    if unknown:
        raise SimulatorBug(f"{source.name}: no tolerance is stated for {', '.join(unknown)}")
    return Outcome(stated, "", tuple(judge(check, found.get(check.name, [])) for check in stated.checks))
