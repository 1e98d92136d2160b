"""What is said of two runs, as sentences and tables of text: the one content of the summary, the Markdown and the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from accelsim.measure.diff import Diff, OperatorDiff, Part, State
from accelsim.measure.diff_config import Change
from accelsim.units import grouped, human_bytes, human_time

NONE = "(none)"
ONLY_HASH = "only the hash is known to differ; compare run folders to see the keys"
MOSTLY = 2
SMALLEST_SHARE = 0.0005
MOST_PERCENT = 10
"""From ten times as many cycles on the ratio alone is said."""


@dataclass(frozen=True)
class Table:
    """``head`` and ``rows`` are of one length; the columns ``left`` hold words, the others numbers.

    ``deltas``: what a row differs by, for a picture of it; ``parts``: those of the rows, where they are parts.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: tuple[int, ...] = (0,)
    note: str = ""
    deltas: tuple[Fraction, ...] = ()
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Section:
    """One operator: what changed in it."""

    title: str
    facts: tuple[tuple[str, str], ...]
    tables: tuple[Table, ...]


@dataclass(frozen=True)
class Content:
    """All that is said, in order; without differences ``verdict`` says so and most of the rest is empty."""

    title: str
    subject: str
    facts: tuple[tuple[str, str], ...]
    verdict: str
    configuration: Table | None
    tables: tuple[Table, ...]
    sections: tuple[Section, ...]


def content(found: Diff, operator: str | None, top: int | None, sections: int | None) -> Content:
    """``operator``: speak of this one alone. ``top``: of at most so many; ``sections``: so many of them in full (None: all)."""
    ranked = [one for one in found.ranked if one.called(operator)]
    differing = [one for one in ranked if not one.same]
    shown = differing[:top]
    alone = len(ranked) == 1
    tables = []
    if not found.same and not alone:
        tables.append(parts_table("by cause, all operators that ran", found.parts))
    if shown and not alone:
        tables.append(operators_table(found, shown, len(differing)))
    lost = [one for one in ranked if one.errors or one.state is not State.COMPARED]
    if lost:
        tables.append(lost_table(lost))
    return Content(
        f"{found.before.label} (A) -> {found.after.label} (B)", _subject(found), facts(found), verdict(found, ranked),
        config_table(found.changes) if found.changes else None, tuple(tables),
        tuple(section(found, one) for one in [one for one in shown if one.state is State.COMPARED][:sections]))


def _subject(found: Diff) -> str:
    workload, chip = (changed(old, new) for old, new in ((found.before.workload, found.after.workload),
                                                         (found.before.chip, found.after.chip)))
    return f"{workload} on {chip}"


def facts(found: Diff) -> tuple[tuple[str, str], ...]:
    """Cycles first, then what else is said of the runs as wholes."""
    a, b = found.before, found.after
    counts = [f"{found.count(State.COMPARED)} of {len(found.operators)} compared"]
    counts += [f"{found.count(state)} {state.value}" for state in State if state is not State.COMPARED and found.count(state)]
    counts += ["in another order"] if found.reordered else []
    rows = [("cycles", cycles_changed(a.cycles, b.cycles))]
    if not found.whole:
        compared = [one.cycles for one in found.operators if one.state is State.COMPARED]
        rows[0] = ("cycles", rows[0][1] + ", over what ran in each")
        rows.append(("of compared", cycles_changed(sum(old for old, _ in compared), sum(new for _, new in compared))))
    rows += [("time", changed(human_time(a.time_s), human_time(b.time_s))),
             ("utilization", changed(f"{a.utilization:.1%}", f"{b.utilization:.1%}") + " of peak"),
             ("operators", ", ".join(counts))]
    return tuple(rows)


def verdict(found: Diff, ranked: Sequence[OperatorDiff]) -> str:
    """Whether there is a difference, in one sentence; empty where tables say it better."""
    compared = [one for one in ranked if one.state is State.COMPARED]
    if not compared:
        return "nothing can be compared: no operator ran in both"
    if any(not one.same for one in compared):
        return ""
    whole = "" if len(compared) == len(ranked) else f" in the {len(compared)} of {len(ranked)} operators that were compared"
    asked = "what was asked differs, no number does" if found.changes else "nor in what was asked"
    if found.before.clock_hz != found.after.clock_hz:
        asked = "but the clocks differ, and so does the time"
    return f"no difference in cycles, stalls, traffic or utilization{whole}; {asked}"


def config_table(changes: Sequence[Change]) -> Table:
    """What was asked differently."""
    note = ONLY_HASH if any(change.hash_only for change in changes) else ""
    return Table("configuration", ("what", "A", "B"), tuple(
        (change.path, NONE if change.before is None else change.before, NONE if change.after is None else change.after)
        for change in changes), (0, 1, 2), note)


def parts_table(title: str, parts: Sequence[Part]) -> Table:
    """Where the cycles went: rows that are nothing in both left out, and the sum."""
    there = tuple(part for part in parts if part.before or part.after)
    rows = [(part.name, plain(part.before), plain(part.after), signed(part.delta)) for part in there]
    before, after = sum((part.before for part in parts), Fraction(0)), sum((part.after for part in parts), Fraction(0))
    return Table(title, ("cycles of the array", "A", "B", "difference"),
                 (*rows, ("= cycles", plain(before), plain(after), signed(after - before))),
                 deltas=tuple(part.delta for part in there), parts=there)


def operators_table(found: Diff, shown: Sequence[OperatorDiff], differing: int) -> Table:
    """A row an operator that differs, the largest difference first."""
    rows = []
    for one in shown:
        share = found.share(one)
        a, b = ("-" if side is None or not side.ran else grouped(cycles)
                for side, cycles in zip((one.before, one.after), one.cycles, strict=True))
        repeats = changed(*(str(side.repeat) for side in (one.before or one.after, one.after or one.before) if side is not None))
        rows.append((names(one), repeats, a, b, signed(one.delta), "-" if share is None else percent(share, sign=False),
                     mostly(one)))
    left = differing - len(shown)
    same = sum(one.same for one in found.operators)
    notes = [f"{left} more differ"] if left else []
    notes += [f"{same} without any difference"] if same else []
    return Table("operators", ("operator", "x", "A", "B", "difference", "share", "mostly"), tuple(rows), (0, 6), ", ".join(notes),
                 tuple(Fraction(one.delta) for one in shown))


def lost_table(lost: Sequence[OperatorDiff]) -> Table:
    """Operators that were not compared, and why."""
    return Table("not compared", ("operator", "state", "why"), tuple(
        (one.name, one.state.value, "; ".join(f"{side}: {error}" for side, error in one.errors) or "-")
        for one in lost), (0, 1, 2))


def section(found: Diff, one: OperatorDiff) -> Section:
    """All that changed in an operator."""
    a, b = one.before, one.after
    rows = [("cycles", cycles_changed(*one.cycles))]
    share = found.share(one)
    if share is not None and len(found.operators) > 1:
        rows.append(("share", f"{percent(share, sign=False)} of the difference of the runs"))
    if a is not None and b is not None and a.ran and b.ran:
        if a.repeat != b.repeat:
            rows.append(("repeats", changed(str(a.repeat), str(b.repeat))))
        rows.append(("utilization", changed(f"{a.utilization:.1%}", f"{b.utilization:.1%}") + " of peak"))
        rows += [(name, changed(old, new)) for name, old, new in (
            ("MACs", grouped(a.macs), grouped(b.macs)), ("array lanes", str(a.lanes), str(b.lanes)),
            ("bound by", a.bound_by, b.bound_by)) if old != new]
    tables = [parts_table("where the cycles went", one.parts)] if any(one.cycles) else []
    if one.state is State.COMPARED and one.traffic:
        tables.append(Table("traffic of one run that differs", ("level, tensor", "A", "B", "difference"), tuple(
            (f"{level} {tensor} {kind.replace('_', ' ')}", human_bytes(old), human_bytes(new),
             ("+" if new > old else "") + human_bytes(new - old)) for (level, tensor, kind), old, new in one.traffic)))
    return Section(names(one), tuple(rows), tuple(tables))


def names(one: OperatorDiff) -> str:
    """Its name, or both where they differ, with the reason to think it the same."""
    if one.before is None or one.after is None or one.before.name == one.after.name:
        return one.name
    return f"{one.before.name} -> {one.after.name} ({one.pairing.value if one.pairing else ''})"


def mostly(one: OperatorDiff) -> str:
    """The largest parts of its difference, or why there are none."""
    if one.state is not State.COMPARED:
        return str(one.state.value)
    parts = sorted((part for part in one.parts if part.delta), key=lambda part: -abs(part.delta))[:MOSTLY]
    return ", ".join(f"{part.name} {signed(part.delta)}" for part in parts) or "not its cycles"


def cycles_changed(before: int, after: int) -> str:
    """``1,796 -> 1,012  -784 (-43.7%, 0.563 x)``."""
    if before == after:
        return f"{grouped(before)}, no difference"
    share = f"{percent(Fraction(after - before, before))}, " if after < MOST_PERCENT * before else ""
    ratio = f" ({share}{after / before:.3f} x)" if before else ""
    return f"{grouped(before)} -> {grouped(after)}  {signed(after - before)}{ratio}"


def changed(before: str, after: str) -> str:
    """Both, or one where they are equal."""
    return before if before == after else f"{before} -> {after}"


def plain(value: Fraction) -> str:
    """Cycles, with two places where they are not whole (several lanes)."""
    return grouped(int(value)) if value.denominator == 1 else f"{float(value):,.2f}"


def signed(value: Fraction | int) -> str:
    """The same with its sign; 0 has none."""
    text = plain(Fraction(value))
    return f"+{text}" if value > 0 else text


def percent(share: Fraction, *, sign: bool = True) -> str:
    """A share; one that would round to 0.0% with a digit of its own."""
    value, plus = float(share), "+" if sign else "-"
    return format(100 * value, f"{plus}.1{'g' if 0 < abs(value) < SMALLEST_SHARE else 'f'}") + "%"
