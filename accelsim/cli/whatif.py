"""whatif: a resource doubled, halved and without limit, one by one, as a table that says what binds."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import Any

from accelsim.cli import commands
from accelsim.cli.compiling import compiling
from accelsim.cli.progress import Progress
from accelsim.outputs.results import number, to_text
from accelsim.outputs.text import WIDTH
from accelsim.search.whatif import Sensitivity, WhatIf, what_if
from accelsim.units import human_time
from accelsim.version import SCHEMA_VERSION

SHOWN = 0.001
"""Resources that change less than this share of the cycles are only named."""


def whatif(asking: commands.Asking, moves: int, remap: bool, as_json: bool, csv: Path | None) -> int:
    """Run all variations and show them."""
    commands.check_files(commands.Files(csv), asking.read)
    with compiling(), Progress() as progress:
        found = what_if(asking.chip, asking.workload, asking.options(), moves, progress.tell, remap=remap)
    print(to_text(_json(found)) if as_json else _text(found))
    if csv is not None:
        commands.write_table(csv, ("resource", "key", "now", "cycles", "doubled_cycles", "halved_cycles", "ideal_cycles",
                                   "elasticity"),
                             [(row.resource.name, row.resource.key, row.now, row.base, row.doubled, row.halved, row.ideal,
                               row.elasticity) for row in found.rows])
    commands.tell_failures(found.failed)
    return max([one.exit_code for one in found.failed], default=0)


def _json(found: WhatIf) -> dict[str, Any]:
    return {
        "schema": SCHEMA_VERSION, "chip": found.chip, "workload": found.workload, "clock_hz": number(found.clock_hz),
        "cycles": found.cycles, "remapped": found.remapped,
        "binding": found.binding.resource.name if found.binding is not None else None,
        "resources": [{"name": row.resource.name, "key": row.resource.key or None, "now": row.now, "doubled_cycles": row.doubled,
                       "halved_cycles": row.halved, "ideal_cycles": row.ideal, "elasticity": row.elasticity}
                      for row in found.rows],
        "held_together": [row.resource.name for row in found.tight],
        "moves": [{"doubled": move.resource.name, "cycles": move.cycles} for move in found.moves],
        "failed": [{"name": one.name, "error": one.reason} for one in found.failed],
    }


def _text(found: WhatIf) -> str:
    head = (f"{found.workload} on {found.chip}: {found.cycles:,} cycles (measured), {human_time(found.cycles / found.clock_hz)}; "
            f"what if one resource were different, {found.mapped}?")
    lines = [*wrap(head, WIDTH), ""]
    shown = [row for row in found.rows if _matters(row)]
    width = max([len(row.resource.name) for row in shown], default=8)
    now = max([len(row.now) for row in shown], default=3)
    if shown:
        lines += [f"  {'':<{width}}  {'':<{now}}  {'twice':>9}  {'half':>9}  {'no':>9}",
                  f"  {'resource':<{width}}  {'now':<{now}}  {'as good':>9}  {'as good':>9}  {'limit':>9}  elasticity"]
    for row in shown:
        power = "" if row.elasticity is None else f"{abs(row.elasticity) and row.elasticity:10.2f}"
        changes = "  ".join(f"{_change(row, cycles):>9}" for cycles in (row.doubled, row.halved, row.ideal))
        lines.append(f"  {row.resource.name:<{width}}  {row.now:<{now}}  {changes}  {power}".rstrip())
    rest = [row.resource.name for row in found.rows if not _matters(row)
            and any(cycles is not None for cycles in (row.doubled, row.halved, row.ideal))]
    if rest:
        lines += ["", *wrap(f"without effect (below {SHOWN:.1%}): {', '.join(rest)}", WIDTH, initial_indent="  ",
                            subsequent_indent="    ")]
    return "\n".join([*lines, "", *_verdict(found)])


def _matters(row: Sensitivity) -> bool:
    return any(cycles is not None and abs(cycles - row.base) >= SHOWN * row.base
               for cycles in (row.doubled, row.halved, row.ideal))


def _change(row: Sensitivity, cycles: int | None) -> str:
    """The cycles' difference, in per cent of those of the chip as it is."""
    if cycles is None:
        return "-"
    share = f"{cycles / row.base - 1:+.1%}"
    return "0.0%" if share in {"+0.0%", "-0.0%"} else share


def _verdict(found: WhatIf) -> list[str]:
    """What binds, what would bind next, and what holds only together."""
    lines = []
    before, doubled = found.cycles, [move.resource for move in found.moves]
    if not found.moves and found.binding is not None:
        lines.append(f"{found.binding.resource.name} binds: twice as good it saves {found.binding.saves:.1%}")
    for i, move in enumerate(found.moves):
        saved = f"{1 - move.cycles / before:.1%}"
        if i == 0:
            key = f" (-o {move.resource.key}=...)" if move.resource.key else ""
            lines.append(f"{move.resource.name} binds: twice as good it saves {saved}{key}")
        else:
            again = " again" if move.resource in doubled[:i] else ""
            lines.append(f"then {move.resource.name} binds{again}: twice as good it saves another {saved}")
        before = move.cycles
    if len(found.moves) > 1:
        lines.append(f"with all of that {before:,} cycles, {found.cycles / before:.2f} times as fast")
    if found.binding is None:
        lines.append("nothing binds alone: any one resource twice as good saves less than 1%")
    if found.tight:
        names = ", ".join(row.resource.name for row in found.tight)
        lines += wrap(f"held together: {names}: half of any costs over 10%, and twice as much of one alone saves nothing, "
                      "because of the others", WIDTH, subsequent_indent="  ")
    return lines
