"""What a comparison is: figures of ours beside a reference's, how far apart they may be, and whether they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import fmean
from typing import NamedTuple


class Row(NamedTuple):
    """One figure. ``check``: the name of the check it belongs to; ``case`` occurs once there."""

    check: str
    case: str
    ours: float
    reference: float


Part = Callable[[], Iterable[Row]]
"""A piece of a comparison: it runs a few cases and says what came of them."""


@dataclass(frozen=True)
class Known:
    """A case known to be outside the tolerance: its error lies ``between`` two, because something is ``missing``."""

    case: str
    between: tuple[float, float]
    missing: str


@dataclass(frozen=True)
class Check:
    """What is compared, and how far it may be apart.

    Errors are ours over the reference, less 1; where it is ``absolute``, ours less the reference, in ``unit`` ("" for counts
    and shares). ``tolerance``: least and greatest error of a row; ``mean``: the greatest mean of absolute errors, over all rows,
    known misses among them (None: none is asked for). ``reason``: why this much. ``known``: the misses.
    """

    name: str
    unit: str
    tolerance: tuple[float, float]
    reason: str
    mean: float | None = None
    absolute: bool = False
    known: tuple[Known, ...] = ()

    def error(self, row: Row) -> float:
        """How far a row is off; of a reference of 0, ours as a share of 1."""
        apart = row.ours - row.reference
        return apart if self.absolute else apart / (abs(row.reference) or 1)

    def allows(self, error: float) -> bool:
        """Whether the tolerance has room for an error."""
        return self.tolerance[0] <= error <= self.tolerance[1]

    def shown(self, error: float, sign: str = "+") -> str:
        """An error as text: ``+3.1 %``, ``-0.02 %``, or in the check's unit."""
        if self.absolute and error:
            return f"{error:{sign}.3g}{f' {self.unit}' if self.unit else ''}"
        return percent(error, sign)

    @property
    def allowed(self) -> str:
        """The tolerance as text."""
        low, high = self.tolerance
        if low == high == 0:
            text = "equal"
        elif high == float("inf"):
            text = "not below" if low == 0 else f"{self._limit(low)} or more"
        else:
            text = self._limit(high, "") if -low == high else f"{self._limit(low)} to {self._limit(high)}"
        return text if self.mean is None else f"{text}, mean {self._limit(self.mean, '')}"

    def _limit(self, error: float, sign: str = "+") -> str:
        """A limit as text, without digits that it does not have: ``10 %``."""
        return self.shown(error, sign) if self.absolute or not error else f"{100 * error:{sign}g} %"


class Standing(Enum):
    """How a row stands: within the tolerance, a known miss as large as stated, or neither."""

    WITHIN = "within"
    KNOWN = "known"
    FAILED = "failed"


class Judged(NamedTuple):
    """A row with its error and how it stands."""

    row: Row
    error: float
    standing: Standing


@dataclass(frozen=True)
class Verdict:
    """What came of a check. ``faults``: a sentence for each thing wrong; none where it passed."""

    check: Check
    rows: tuple[Judged, ...]
    faults: tuple[str, ...]

    @property
    def mean_error(self) -> float:
        """The mean of absolute errors, over all rows."""
        return fmean(abs(one.error) for one in self.rows) if self.rows else 0.0

    @property
    def worst(self) -> Judged | None:
        """The row furthest off, the first of equals; None without rows."""
        return max(self.rows, key=lambda one: abs(one.error), default=None)

    @property
    def known(self) -> tuple[Judged, ...]:
        """The misses that are as large as stated."""
        return tuple(one for one in self.rows if one.standing is Standing.KNOWN)


def judge(check: Check, rows: Sequence[Row]) -> Verdict:
    """Whether rows agree. A check without rows fails, and so does a known miss that is gone, worse than stated, or within."""
    known = {one.case: one for one in check.known}
    errors = [check.error(row) for row in rows]
    judged = tuple(Judged(row, error, _standing(check, known.get(row.case), error))
                   for row, error in zip(rows, errors, strict=True))
    return Verdict(check, judged, tuple(_faults(check, known, judged)))


def _standing(check: Check, known: Known | None, error: float) -> Standing:
    if known is None:
        return Standing.WITHIN if check.allows(error) else Standing.FAILED
    low, high = known.between
    return Standing.KNOWN if low <= error <= high and not check.allows(error) else Standing.FAILED


def _faults(check: Check, known: dict[str, Known], judged: Sequence[Judged]) -> Iterator[str]:
    if not judged:
        yield "nothing was compared"
        return
    for row, error, standing in judged:
        if standing is not Standing.FAILED:
            continue
        found = f"{row.case}: {check.shown(error)} (ours {figure(row.ours)}, reference {figure(row.reference)})"
        if row.case not in known:
            yield f"{found}, allowed: {check.allowed}"
        elif check.allows(error):
            yield f"{found} is within the tolerance ({check.allowed}): it is no known miss any more"
        else:
            low, high = known[row.case].between
            yield f"{found}, a known miss said to be between {check.shown(low)} and {check.shown(high)}"
    cases = {row.case for row, _, _ in judged}
    yield from (f"{case}: said to be a known miss, but not compared" for case in known if case not in cases)
    mean = fmean(abs(error) for _, error, _ in judged)
    if check.mean is not None and mean > check.mean:
        yield f"the mean error is {check.shown(mean, '')}, allowed: {check.allowed}"


def percent(share: float, sign: str = "+") -> str:
    """A share as text: ``+3.1 %``, ``-0.02 %``, 0 without a unit."""
    if not share:
        return "0"
    return f"{100 * share:{sign}.1f} %" if abs(share) >= 0.0005 else f"{100 * share:{sign}.1g} %"


def figure(value: float) -> str:
    """A figure as text: whole numbers in full, others with six digits."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.6g}"


def by_check(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Rows by the name of their check, in order."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.check, []).append(row)
    return found
