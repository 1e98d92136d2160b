"""`accelsim bench`: how long accelsim takes and how much memory it needs, on this computer."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from accelsim.cli import host
from accelsim.cli.bench_rows import RATIOS, ROWS, Command, Ratio, Row
from accelsim.cli.progress import Progress
from accelsim.cli.usage import Usage, measure
from accelsim.errors import Fault, SimulatorBug, SpecError, nearest
from accelsim.processes import scratch_folder
from accelsim.version import VERSION
from accelsim.writing import write_text

SCHEMA = 1
COMMAND = (sys.executable, "-m", "accelsim.cli.main")
QUIET = "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); "
"""Ctrl-C ends a process of ours without a word; the command that started it has one."""

CHILD = (sys.executable, "-c", QUIET + "from accelsim.cli.bench import child; child(sys.argv[1])")
WARM = (sys.executable, "-c", QUIET + "from accelsim.kernels import jit; jit.compile_all()")
PACKAGES = ("numpy", "numba", "llvmlite", "simpy", "pydantic", "typer")
"""What the figures depend on, besides Python."""

LEAST_S = 0.5
"""CPU seconds that a rate is taken over, at least."""

NOTE = "<!-- Written by `make bench`; measured, so it changes with the machine. -->"


@dataclass(frozen=True)
class Sample:
    """One repeat of a row: its value in the row's unit, and what the whole process took."""

    value: float
    cpu_s: float
    wall_s: float
    peak_mib: float


def bench(names: Sequence[str], repeats: int, json_file: str | None, markdown: Path | None) -> int:
    """Measure the rows named (all by default), print a table, and write the files asked for (``-``: JSON to stdout).

    Every repeat runs all rows in turn, so that a ratio compares what ran under the same load. Raises SpecError for an
    unknown row and OSError where a process cannot be measured.
    """
    rows, on = chosen(names), machine()
    samples: dict[str, list[Sample]] = {row.name: [] for row in rows}
    with scratch_folder() as byte_code:
        kept = keeping_byte_code(os.environ, str(byte_code))
        run_checked(WARM, Path.cwd(), "compiling", kept)
        # what warming takes is no part of the work whose progress is told
        with Progress() as progress:
            for i in range(repeats):
                for j, row in enumerate(rows):
                    progress.tell(row.name, i * len(rows) + j, repeats * len(rows))
                    samples[row.name].append(sample(row, kept))
    results = results_of(rows, samples, on, time.strftime("%Y-%m-%d", time.gmtime()))
    text = json.dumps(results, indent=2, sort_keys=True)
    if markdown is not None:
        write_text(markdown, page(results))
    if json_file not in {None, "-"}:
        write_text(Path(str(json_file)), text + "\n")
    print(text if json_file == "-" else "\n".join(table(results)))
    return 0


def list_rows() -> int:
    """Print the rows and what each measures."""
    width = max(len(row.name) for row in (*ROWS, *RATIOS))
    for row in (*ROWS, *RATIOS):
        print(f"{row.name:<{width}}  {'' if isinstance(row, Ratio) else f'[{row.unit}] '}{row.what}")
    return 0


def chosen(names: Sequence[str]) -> list[Row]:
    """The rows of these names in the table's order; all of them for none."""
    known = [row.name for row in ROWS]
    faults = [Fault("bench", 0, 0, "", f"no row named '{name}'", ", ".join(known), nearest(name, known))
              for name in names if name not in known]
    if faults:
        raise SpecError(faults)
    return [row for row in ROWS if not names or row.name in names]


def keeping_byte_code(environment: Mapping[str, str], folder: str) -> dict[str, str]:
    """An environment in which Python keeps its byte code, as it does where accelsim is installed; else each run would time
    Python's compiler too. Where it was told not to, it keeps it in a folder of its own.
    """
    kept = dict(environment)
    if kept.pop("PYTHONDONTWRITEBYTECODE", ""):
        kept["PYTHONPYCACHEPREFIX"] = folder
    return kept


def sample(row: Row, environment: Mapping[str, str]) -> Sample:
    """Measure a row once."""
    with scratch_folder() as folder:
        if isinstance(row, Command):
            for name, text in row.files:
                (folder / name).write_text(text, encoding="utf-8")
            usage = run_checked((*COMMAND, *row.arguments), folder, row.name, environment)
            value = usage.cpu_s
        else:
            usage = run_checked((*CHILD, row.name), folder, row.name, environment)
            value = float(usage.output.split()[-1])
    return Sample(value, usage.cpu_s, usage.wall_s, usage.peak_bytes / 2 ** 20)


def run_checked(command: Sequence[str], folder: Path, name: str, environment: Mapping[str, str]) -> Usage:
    """Run a process of ours, which must not fail."""
    usage = measure(command, folder, environment)
    if usage.code:
        raise SimulatorBug(f"the benchmark {name} ended with code {usage.code}")
    return usage


def child(name: str) -> None:
    """In a process of its own: do a row's work once, then time it; prints the amount for each CPU second."""
    row = next(row for row in ROWS if row.name == name)
    assert not isinstance(row, Command), "a command is a process already"
    work = row.prepare()
    work()
    amount, began = 0, time.process_time()
    while (passed := time.process_time() - began) < LEAST_S:
        amount += work()
    print(amount / passed)


# -- results ----------------------------------------------------------------------------------------------------------


def results_of(rows: Sequence[Row], samples: dict[str, list[Sample]], on: dict[str, Any], date: str) -> dict[str, Any]:
    """Everything measured, as plain data."""
    medians = {name: median(one.value for one in found) for name, found in samples.items()}
    return {
        "schema": SCHEMA, "accelsim": VERSION, "date": date, "machine": on,
        "rows": [{
            "name": row.name, "what": row.what, "unit": row.unit, "value": medians[row.name],
            "lowest": min(one.value for one in samples[row.name]), "highest": max(one.value for one in samples[row.name]),
            "cpu_s": median(one.cpu_s for one in samples[row.name]), "wall_s": median(one.wall_s for one in samples[row.name]),
            "peak_mib": median(one.peak_mib for one in samples[row.name]),
            "samples": [asdict(one) for one in samples[row.name]]} for row in rows],
        "ratios": [{"name": one.name, "what": one.what, "value": medians[one.over] / medians[one.under]}
                   for one in RATIOS if {one.over, one.under} <= medians.keys()],
    }


def machine() -> dict[str, Any]:
    """What the figures are measured on, and how busy it was before; nothing that names the computer or its user."""
    memory = host.memory_bytes("MemTotal")
    return {"processor": host.processor_model(), "cores": host.processors(), "system": host.system(),
            "load": host.load(), "memory_gib": None if memory is None else round(memory / 2 ** 30, 1),
            "python": host.python_version(),
            "packages": {name: version for name, version in host.installed(PACKAGES).items() if version is not None}}


def number(value: float) -> str:
    """Three digits or all whole ones: 0.153, 21.4, 12,345."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def cells_of(results: dict[str, Any]) -> list[tuple[str, ...]]:
    """The table, head first."""
    rows = [("row", "value", "lowest to highest", "wall s", "peak MiB", "what")]
    rows += [(one["name"], f"{number(one['value'])} {one['unit']}", f"{number(one['lowest'])} to {number(one['highest'])}",
              number(one["wall_s"]), number(one["peak_mib"]), one["what"]) for one in results["rows"]]
    return rows + [(one["name"], f"x {number(one['value'])}", "", "", "", one["what"]) for one in results["ratios"]]


def described(results: dict[str, Any]) -> str:
    """One line: the machine and the versions."""
    on = results["machine"]
    memory = "" if on["memory_gib"] is None else f", {on['memory_gib']} GiB"
    packages = ", ".join(f"{name} {version}" for name, version in on["packages"].items())
    load = "" if on["load"] is None else f", load {on['load']} before"
    return f"{on['processor']}, {on['cores']} cores{memory}{load}; {on['system']}, {on['python']}, {packages}"


def table(results: dict[str, Any]) -> list[str]:
    """Lines for a terminal."""
    rows = cells_of(results)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    repeats = max((len(one["samples"]) for one in results["rows"]), default=0)
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows] + [
        "", f"accelsim {results['accelsim']}, medians of {repeats} repeats on {described(results)}"]


def page(results: dict[str, Any]) -> str:
    """The page of the documentation."""
    head, *rows = cells_of(results)
    repeats = max((len(one["samples"]) for one in results["rows"]), default=0)
    lines = ["# Benchmarks", "", NOTE, "",
             f"accelsim {results['accelsim']}, {results['date']}, medians of {repeats} repeats on {described(results)}.", "",
             "`CPU s` are the processor seconds of a whole process, start-up and children included; rates are work for each "
             "CPU second in a process that has done the work once before. Peak memory is the whole process's. A busy machine "
             "(a load beyond its cores) makes CPU seconds larger and rates smaller, up to twice. Measure your own computer "
             "with `accelsim bench`; how others do at the same work is told under [Peers](peers.md).", "",
             "| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)]) + "\n"
