"""why: what a lane does in one cycle of a run, and the chain of waits behind it, in words."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import Any

from accelsim.analytic.estimate import estimate
from accelsim.cli import commands
from accelsim.cli.compiling import compiling
from accelsim.cli.progress import Progress
from accelsim.errors import Fault, SpecError
from accelsim.machine.why import Answer, Doing, Link, Passage, Reason, Tile, why
from accelsim.outputs.results import to_text
from accelsim.outputs.text import WIDTH
from accelsim.spec.case import Case
from accelsim.spec.read import Unmapped
from accelsim.verbs import ask, load
from accelsim.version import SCHEMA_VERSION


def explain_moment(asking: commands.Asking | Path, operator: str | None, lane: str | None, cycle: int, as_json: bool) -> int:
    """Run up to a cycle and say what a lane does there; of a saved run, the same case again."""
    items = load(asking).asked.cases if isinstance(asking, Path) else ask(asking.chip, asking.workload, asking.options()).cases
    case = _chosen([item for item in items if isinstance(item, Case)], items, operator)
    with compiling(), Progress() as progress:
        found = why(case, cycle, lane, lambda done: progress.tell(case.operator.name, done, max(1, done)))
    print(to_text(_json(case, found)) if as_json else "\n".join(_text(case, found)))
    return 0


def saved(folder: str, mapping: str | None, dataflow: str, overrides: list[str] | None) -> Path:
    """The folder of a saved run, which is asked as it was.

    Raises SpecError for what is none, and for anything else beside it.
    """
    faults = []
    if not Path(folder).is_dir():
        faults.append(Fault(folder, 0, 0, "", "no folder of a saved run",
                            "a folder written by `accelsim run --save`, or a chip and a workload"))
    given = {"--mapping": mapping is not None, "--dataflow": dataflow != "auto", "-o": bool(overrides)}
    faults += [Fault(option, 0, 0, "", "a saved run is asked as it was", "without it, or of a chip and a workload")
               for option, here in given.items() if here]
    if faults:
        raise SpecError(faults)
    return Path(folder)


def _chosen(cases: list[Case], items: tuple[Case | Unmapped, ...], operator: str | None) -> Case:
    """The operator named, else the one that is estimated to take longest."""
    unmapped = {item.operator.name: item.error for item in items if isinstance(item, Unmapped)}
    if operator in unmapped:
        raise unmapped[operator]
    if operator is not None:
        commands.check_operator(operator, [case.operator.name for case in cases])
        return next(case for case in cases if case.operator.name == operator)
    if not cases:
        raise max(unmapped.values(), key=lambda error: error.exit_code)
    return max(cases, key=lambda case: estimate(case).cycles)


def _json(case: Case, found: Answer) -> dict[str, Any]:
    return {
        "schema": SCHEMA_VERSION, "chip": case.chip.name, "operator": case.operator.name, "lane": found.lane,
        "cycle": found.cycle, "doing": found.doing.value, "since_cycle": found.since, "until_cycle": found.until,
        "tensor": found.tensor or None,
        "stretches": [{"cause": one.cause.code, "since_cycle": one.start, "until_cycle": one.end, "where": one.where,
                       "behind": one.whose or None} for one in found.stretches],
        "chain": [{"tensor": link.tile.tensor, "level": link.tile.level, "unit": link.tile.unit, "tile": link.tile.number,
                   "drains": link.drains, "claimed_cycle": link.claimed, "done_cycle": link.done, "waited_for": link.reason.value,
                   "passages": [_passage_json(one) for one in link.passages]} for link in found.chain],
        "queue": [_passage_json(one) for one in found.queue],
    }


def _passage_json(one: Passage) -> dict[str, Any]:
    return {"where": one.where, "asked_cycle": one.asked, "begins_cycle": one.begins, "ends_cycle": one.ends,
            "behind": list(one.ahead)}


def _text(case: Case, found: Answer) -> list[str]:
    what = {Doing.BUSY: "is busy", Doing.STALLED: "waits", Doing.IDLE: "is idle"}[found.doing]
    whom = f", for {found.tensor}" if found.tensor and not found.queue else ""
    lines = [f"{case.operator.name} on {case.chip.name}, cycle {found.cycle:,}: {found.lane} {what}{whom}",
             f"  since cycle {found.since:,}, until {found.until:,}: {found.until - found.since:,} cycles"]
    if found.stretches:
        lines += ["", "  the wait, latest first"]
        for one in found.stretches:
            behind = f" behind {one.whose}" if one.whose else ""
            mark = "->" if one.start <= found.cycle < one.end else "  "
            lines.append(f"  {mark} {one.start:>12,} to {one.end:>12,}  {one.end - one.start:>10,}  {one.cause.code} at "
                         f"{one.where}{behind}")
        asked = next(one for one in found.stretches if one.start <= found.cycle < one.end)
        lines += wrap(f"{asked.cause.code}: {asked.cause.sentence}", WIDTH, initial_indent="     ", subsequent_indent="     ")
    if found.chain:
        lines += ["", "  the chain behind it"]
        for link in found.chain:
            lines += _link(link)
    if found.queue:
        lines += ["", "  served and queued there then"]
        lines += [f"    {_passage(one)}" for one in found.queue]
    return lines


def _link(link: Link) -> list[str]:
    tile = f"tile {link.tile.number + 1} of {link.tile.tensor} at {_place(link.tile)}"
    done = "later" if link.done is None else f"at {link.done:,}"
    if link.drains:
        lines = [f"    {tile}: released at {link.claimed:,}, its drain arrived {done}"]
    else:
        lines = [f"    {tile}: claimed at {link.claimed:,}, ready {done}"]
    lines += [f"      {_passage(one)}" for one in link.passages]
    until = f"; the step that read it ended at {link.until:,}" if link.until is not None else ""
    waited = "claimed at" if link.reason is Reason.START else "waited for"
    return [*lines, f"      {waited} {link.reason.value}{until}"]


def _passage(one: Passage) -> str:
    behind = f", behind {', '.join(one.ahead)}" if one.ahead else ""
    return f"{one.where}: asked at {one.asked:,}, served {one.begins:,} to {one.ends:,}{behind}"


def _place(tile: Tile) -> str:
    return f"{tile.level}[{tile.unit}]" if tile.unit else tile.level
