"""The difference of two runs, exact: which operators belong together, and where each one's cycles went or came from.

An array lane's cycles are busy, stalled by one cause, or idle, so that over the lanes of an operator

    cycles = (busy + stalls by cause + idle) / lanes

and what is called a *part* here is one such summand, times how often the operator repeats. Each side is divided by its own
number of lanes, so that the differences of the parts add up to the difference in cycles, also where the chips differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from accelsim.measure.diff_config import Change, config_changes
from accelsim.measure.sides import PARTS, Side, SideOperator

Traffic = tuple[tuple[str, str, str], int, int]


class Pairing(Enum):
    """Why two operators are taken for each other's."""

    NAME = "the same name"
    WORK = "the same kind and MACs"
    PLACE = "the same kind and place"


class State(Enum):
    """What can be said of an operator."""

    COMPARED = "compared"
    FAILED = "failed"
    ONLY_A = "only in A"
    ONLY_B = "only in B"


@dataclass(frozen=True)
class Part:
    """Cycles of the array spent on one thing: busy, a stall cause, or idle."""

    name: str
    before: Fraction
    after: Fraction

    @property
    def delta(self) -> Fraction:
        """After - before."""
        return self.after - self.before


@dataclass(frozen=True)
class OperatorDiff:
    """An operator of both sides, or of one; a side on which it did not run counts as no cycles.

    Cycles and parts are those of all its repeats, traffic and utilization those of one run.
    """

    before: SideOperator | None
    after: SideOperator | None
    pairing: Pairing | None = None

    @property
    def name(self) -> str:
        """Its name; where it was renamed the new one."""
        one = self.after or self.before
        return one.name if one is not None else ""

    def called(self, name: str | None) -> bool:
        """Whether it has that name, or had it; any does where none is asked for."""
        return name is None or name in {side.name for side in (self.before, self.after) if side is not None}

    @property
    def state(self) -> State:
        """Whether it could be compared."""
        if self.before is None:
            return State.ONLY_B
        if self.after is None:
            return State.ONLY_A
        return State.COMPARED if self.before.ran and self.after.ran else State.FAILED

    @property
    def errors(self) -> tuple[tuple[str, str], ...]:
        """The sides on which it failed, and why."""
        return tuple((side, one.error) for side, one in (("A", self.before), ("B", self.after))
                     if one is not None and not one.ran)

    @property
    def cycles(self) -> tuple[int, int]:
        """Before and after, over all repeats."""
        return _cycles(self.before), _cycles(self.after)

    @property
    def delta(self) -> int:
        """After - before."""
        return self.cycles[1] - self.cycles[0]

    @property
    def parts(self) -> tuple[Part, ...]:
        """All parts, zero or not; each of the three columns adds up to its cycles."""
        return tuple(Part(name, _part(self.before, name), _part(self.after, name)) for name in PARTS)

    @property
    def traffic(self) -> tuple[Traffic, ...]:
        """Bytes before and after by level, tensor and kind, where they differ."""
        old = self.before.traffic if self.before is not None else {}
        new = self.after.traffic if self.after is not None else {}
        return tuple((key, old.get(key, 0), new.get(key, 0)) for key in dict.fromkeys([*old, *new])
                     if old.get(key, 0) != new.get(key, 0))

    @property
    def same(self) -> bool:
        """Whether it was compared and no number differs."""
        return self.state is State.COMPARED and _numbers(self.before) == _numbers(self.after)


def _cycles(one: SideOperator | None) -> int:
    return one.cycles * one.repeat if one is not None else 0


def _part(one: SideOperator | None, name: str) -> Fraction:
    return one.lane_cycles.get(name, Fraction(0)) * one.repeat / one.lanes if one is not None else Fraction(0)


def _numbers(one: SideOperator | None) -> object:
    """All that is compared but for the mapping, which is configuration."""
    if one is None:
        return None
    traffic = {key: size for key, size in one.traffic.items() if size}
    return one.repeat, one.cycles, one.macs, one.utilization, one.bound_by, one.lanes, dict(one.lane_cycles), traffic


@dataclass(frozen=True)
class Diff:
    """Two runs beside each other: ``before`` is A, ``after`` is B; operators in the order of B, those of A alone at their place.

    ``reordered``: operators of both stand in another order, which changes no cycle of theirs.
    """

    before: Side
    after: Side
    changes: tuple[Change, ...]
    operators: tuple[OperatorDiff, ...]
    reordered: bool

    @property
    def delta(self) -> int:
        """Cycles of B - cycles of A, over all operators that ran there."""
        return self.after.cycles - self.before.cycles

    @property
    def parts(self) -> tuple[Part, ...]:
        """The operators' parts added up."""
        each = [one.parts for one in self.operators]
        return tuple(Part(name, sum((parts[i].before for parts in each), Fraction(0)),
                          sum((parts[i].after for parts in each), Fraction(0))) for i, name in enumerate(PARTS))

    @property
    def ranked(self) -> tuple[OperatorDiff, ...]:
        """Operators by how much they differ, the most first, then in their order."""
        return tuple(sorted(self.operators, key=lambda one: -abs(one.delta)))

    @property
    def whole(self) -> bool:
        """Whether every operator of either side was compared."""
        return all(one.state is State.COMPARED for one in self.operators)

    @property
    def same(self) -> bool:
        """Whether every operator was compared and no number differs."""
        return self.before.clock_hz == self.after.clock_hz and all(one.same for one in self.operators)

    def count(self, state: State) -> int:
        """How many operators are in a state."""
        return sum(one.state is state for one in self.operators)

    def share(self, one: OperatorDiff) -> Fraction | None:
        """An operator's part of the difference of the runs; None where they do not differ."""
        return Fraction(one.delta, self.delta) if self.delta else None


def diff(before: Side, after: Side) -> Diff:
    """The verb: B - A."""
    pairs = align(before.operators, after.operators)
    partner = {new.name: (old, how) for old, new, how in pairs}
    paired = {old.name for old, _, _ in pairs}
    found: list[OperatorDiff] = []
    left = list(before.operators)
    for new in after.operators:
        old, how = partner.get(new.name, (None, None))
        while old is not None and left and left[0].name != old.name and left[0].name not in paired:
            found.append(OperatorDiff(left.pop(0), None))
        if old in left:
            left.remove(old)
        found.append(OperatorDiff(old, new, how))
    found += [OperatorDiff(old, None) for old in left]
    positions = [before.operators.index(one.before) for one in found if one.before is not None and one.after is not None]
    changes = config_changes(before, after, [(old, new) for old, new, _ in pairs])
    return Diff(before, after, changes, tuple(found), positions != sorted(positions))


def align(before: Sequence[SideOperator], after: Sequence[SideOperator]) -> list[tuple[SideOperator, SideOperator, Pairing]]:
    """Operators that are each other's: by name; what is left by kind and MACs; what is still left by kind and place, that is
    behind the same operator. No operator is paired twice, and what has no partner is in one side alone.
    """
    new_names = {one.name: one for one in after}
    found = [(one, new_names[one.name], Pairing.NAME) for one in before if one.name in new_names]
    for how in (Pairing.WORK, Pairing.PLACE):
        partner = {old.name: new.name for old, new, _ in found}
        known = set(partner.values())
        places = _places(before, partner), _places(after, {name: name for name in known})
        open_ = [one for one in after if one.name not in known]
        for old in before:
            if old.name in partner:
                continue
            match = next((new for new in open_ if new.kind == old.kind and (
                old.ran and new.ran and new.macs == old.macs if how is Pairing.WORK
                else places[0][old.name] == places[1][new.name])), None)
            if match is not None:
                open_.remove(match)
                found.append((old, match, how))
    order = {one.name: i for i, one in enumerate(after)}
    return sorted(found, key=lambda pair: order[pair[1].name])


def _places(operators: Sequence[SideOperator], names: dict[str, str]) -> dict[str, str]:
    """For each operator the nearest one before it that has a partner, by the partner's name."""
    found, last = {}, ""
    for one in operators:
        last = names.get(one.name, last)
        found[one.name] = last
    return found


@dataclass(frozen=True)
class Allowance:
    """How much longer B may take than A: a share of A's cycles, or cycles. ``text``: as it was written."""

    text: str
    share: Fraction = Fraction(0)
    cycles: Fraction = Fraction(0)

    def exceeded(self, before: int, after: int) -> bool:
        """Whether B takes longer than is allowed; exactly that much is."""
        return after > before * (1 + self.share) + self.cycles


def regressions(found: Diff, allowance: Allowance, per_operator: bool) -> tuple[str, ...]:
    """Why B is not good enough, a sentence each: cycles above the allowance, of the run or of one run of an operator, and
    operators that were not compared.
    """
    told = []
    if allowance.exceeded(found.before.cycles, found.after.cycles):
        told.append(f"the run takes {_more(found.before.cycles, found.after.cycles)}, more than {allowance.text}")
    for one in found.operators:
        old, new = one.before, one.after
        if one.state is State.FAILED:
            told.append(f"{one.name} failed in {' and '.join(side for side, _ in one.errors)}")
        elif old is None or new is None:
            told.append(f"{one.name} is {one.state.value}")
        elif per_operator and allowance.exceeded(old.cycles, new.cycles):
            told.append(f"{one.name} takes {_more(old.cycles, new.cycles)}, more than {allowance.text}")
    return tuple(told)


def _more(before: int, after: int) -> str:
    share = f" ({float(Fraction(after - before, before)):+.3%})" if before else ""
    return f"{before:,} -> {after:,} cycles, {after - before:+,}{share}"
