"""`accelsim`: the commands. Heavy rooms are imported by the command that needs them, so that help is quick."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Annotated

import typer

from accelsim.cli import alone
from accelsim.cli.options import (
    AsJson,
    Bandwidth,
    Chip,
    Column,
    Data,
    Dataflow,
    Forwarded,
    HeatMap,
    Jobs,
    Ladder,
    MappingFile,
    MostSteps,
    Overrides,
    PageColumn,
    Roofline,
    Runs,
    StallBars,
    Trace,
    TraceRows,
    Utilization,
    Waterfall,
    Workload,
    shipped_names,
)
from accelsim.cli.signals import Terminated, send_again, terminate
from accelsim.drivers import Driver
from accelsim.errors import AccelsimError, SimulatorBug, printable
from accelsim.version import VERSION

INTERRUPTED = 130
TERMINATED = 143

app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None,
                  help="Simulate a mapping of a tensor operator on a hypothetical chip, estimate it, and explain every number.")


def main() -> None:
    """Run a command; every failure of ours is a message and an exit code, never a traceback."""
    # Imports make many objects, all of which stay: looking among them takes a tenth of a short run, and once more at its end
    # a quarter.
    gc.set_threshold(50_000)
    atexit.register(gc.freeze)
    # Nothing here multiplies matrices of floats; the threads that numpy starts for it cost a tenth of a short run's CPU time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    in_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, terminate) if in_main else None
    if in_main:
        sys.unraisablehook = send_again
    try:
        code = _command()
        sys.stdout.flush()
        sys.exit(code)
    except typer.Exit as error:
        sys.exit(error.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        _say("interrupted")
        sys.exit(INTERRUPTED)
    except Terminated:
        _say("terminated")
        sys.exit(TERMINATED)
    except AccelsimError as error:
        _say(str(error))
        sys.exit(error.exit_code)
    except BrokenPipeError:  # whoever read the output has seen enough
        sys.exit(0)
    except OSError as error:
        _say(f"{printable(str(error.filename or 'output'))}: {error.strerror}")
        sys.exit(2)
    except Exception as error:  # noqa: BLE001  a usage error of the parser's, or a bug
        usage = getattr(error, "format_message", None)
        if usage is None:
            _tell_bug()
            sys.exit(SimulatorBug.exit_code)
        _say(usage())
        sys.exit(2)
    finally:
        _settle_output()
        if in_main:
            signal.signal(signal.SIGTERM, before)
            sys.unraisablehook = sys.__unraisablehook__


def _command() -> int:
    """The exit code of the command that was asked for."""
    try:
        code = app(sys.argv[1:] or ["--help"], prog_name="accelsim", standalone_mode=False)
    except SystemExit as error:
        if error.code == 1:  # typer's way to end where the reader of the output has gone
            raise BrokenPipeError from None
        raise
    if code == INTERRUPTED:  # its way to return from a KeyboardInterrupt
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0


def _say(line: str) -> None:
    with contextlib.suppress(OSError):  # who closed both ends hears nothing
        print(f"accelsim: {line}", file=sys.stderr, flush=True)


def _settle_output() -> None:
    """Write out what was printed; where its reader has gone, or its disk is full, without a word from Python at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _tell_bug() -> None:
    """What nobody foresaw: all there is to know about it, for a report."""
    import traceback
    traceback.print_exc()
    print(f"accelsim {VERSION}: this is a bug of accelsim, please report it with the lines above", file=sys.stderr)


def _show_version(value: bool) -> None:
    if value:
        print(f"accelsim {VERSION}")
        raise typer.Exit


@app.callback()
def _root(version: Annotated[bool, typer.Option("--version", callback=_show_version, is_eager=True,
                                                help="Print the version.")] = False) -> None:
    """Simulate a mapping of a tensor operator on a hypothetical chip, estimate it, and explain every number."""


@app.command()
def run(chip: Chip, workload: Workload, mapping: MappingFile = None, dataflow: Dataflow = "auto", override: Overrides = None,
        as_json: AsJson = False,
        csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write a table: a row an operator.")] = None,
        timeline: Annotated[Path | None, typer.Option("--timeline", metavar="FILE", help="Draw the stall timeline "
                                                         "(.png, .svg or .pdf).")] = None,
        stall_bars: StallBars = None,
        window: Annotated[str | None, typer.Option("--window", metavar="A:B", help="Cycles to keep and draw; default all."
                                                      )] = None,
        operator: Annotated[str | None, typer.Option("--operator", metavar="NAME", help="Which operator to draw; default "
                                                        "the one with the most cycles; of traces also all.")] = None,
        page: Annotated[Path | None, typer.Option("--report", metavar="FILE", help="Write all of it as one HTML page that "
                                                  "opens from disk (.html).")] = None,
        save: Annotated[Path | None, typer.Option("--save", metavar="DIR", help="Keep the run for `accelsim report`.")] = None,
        most_steps: MostSteps = 5_000_000, jobs: Jobs = 1, driver: Runs = Driver.COMPILED,
        fast_forward: Forwarded = True, trace: Trace = None, trace_rows: TraceRows = 200_000,
        roofline: Roofline = None, ladder: Ladder = None, waterfall: Waterfall = None, utilization: Utilization = None,
        bandwidth: Bandwidth = None, heat_map: HeatMap = None, column: PageColumn = Column.DOUBLE, data: Data = False) -> int:
    """Simulate a workload on a chip and show where the time went."""
    from accelsim.cli import commands
    pictures = commands.pictures({
        "--timeline": timeline, "--stall-bars": stall_bars, "--roofline": roofline, "--ladder": ladder, "--waterfall": waterfall,
        "--utilization": utilization, "--bandwidth": bandwidth, "--heat-map": heat_map}, column, data, operator, window)
    return commands.run(commands.Asking(chip, workload, mapping, dataflow, tuple(override or ()), most_steps, jobs,
                                         driver, fast_forward), as_json,
                        commands.Files(csv, save, pictures, trace, trace_rows, page))


@app.command()
def estimate(chip: Chip, workload: Workload, mapping: MappingFile = None, dataflow: Dataflow = "auto",
             override: Overrides = None, as_json: AsJson = False) -> int:
    """The closed form alone: traffic, lower bounds, cycles; nothing is simulated."""
    from accelsim.cli import commands
    return commands.estimate(commands.Asking(chip, workload, mapping, dataflow, tuple(override or ())), as_json)


@app.command()
def check(chip: Chip, workload: Workload, mapping: MappingFile = None, dataflow: Dataflow = "auto", override: Overrides = None,
          as_json: AsJson = False,
          tolerance: Annotated[float, typer.Option("--tolerance", min=0.0, max=1.0, metavar="SHARE", help="How far the estimated "
                                                   "cycles of the workload may be from the measured ones.")] = 0.35,
          most_steps: MostSteps = 5_000_000, jobs: Jobs = 1, driver: Runs = Driver.COMPILED,
        fast_forward: Forwarded = True) -> int:
    """Estimate and measurement side by side, the difference explained; exit 1 if they do not agree."""
    from accelsim.cli import commands
    return commands.check(commands.Asking(chip, workload, mapping, dataflow, tuple(override or ()), most_steps, jobs,
                                           driver, fast_forward), as_json, tolerance)


@app.command()
def whatif(chip: Chip, workload: Workload, mapping: MappingFile = None, dataflow: Dataflow = "auto", override: Overrides = None,
           as_json: AsJson = False,
           moves: Annotated[int, typer.Option("--moves", min=0, max=20, metavar="N", help="How often to double what binds and "
                                              "look again.")] = 2,
           remap: Annotated[bool, typer.Option("--remap", help="Let the dataflow map each variation anew, those of capacities "
                                               "among them.")] = False,
           csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write a table: a row a resource.")] = None,
           most_steps: MostSteps = 5_000_000, jobs: Jobs = 1, driver: Runs = Driver.COMPILED, fast_forward: Forwarded = True,
           ) -> int:
    """Run again with each resource doubled, halved and without limit: what binds, and what would bind next."""
    from accelsim.cli import commands
    from accelsim.cli import whatif as variations
    return variations.whatif(commands.Asking(chip, workload, mapping, dataflow, tuple(override or ()), most_steps, jobs, driver,
                                             fast_forward), moves, remap, as_json, csv)


@app.command()
def why(chip: Annotated[str, typer.Argument(metavar="CHIP|RUN_DIR", help="A shipped chip or a chip file; or, alone, a folder "
                                            "written by `accelsim run --save`.", autocompletion=shipped_names("chips"))],
        workload: Annotated[str | None, typer.Argument(help="A shipped workload, a workload file, or inline text.",
                                                       autocompletion=shipped_names("workloads"))] = None, *,
        at: Annotated[int, typer.Option("--at", min=0, metavar="CYCLE", help="Which cycle.")],
        lane: Annotated[str | None, typer.Option("--lane", metavar="NAME", help="An array, memory port or link, as the timeline "
                                                 "names it; default the first array.")] = None,
        mapping: MappingFile = None, dataflow: Dataflow = "auto", override: Overrides = None, as_json: AsJson = False,
        operator: Annotated[str | None, typer.Option("--operator", metavar="NAME", help="Which operator; default the one that is "
                                                     "estimated to take longest.")] = None) -> int:
    """What a lane does in a cycle, and the chain of waits behind it: tiles, slots, transfers, who was ahead."""
    from accelsim.cli import commands
    from accelsim.cli import why as moments
    asking = (moments.saved(chip, mapping, dataflow, override) if workload is None
              else commands.Asking(chip, workload, mapping, dataflow, tuple(override or ())))
    return moments.explain_moment(asking, operator, lane, at, as_json)


@app.command()
def report(folder: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="A folder written by `accelsim run --save`.")],
           as_json: AsJson = False,
           csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write a table.")] = None,
           timeline: Annotated[Path | None, typer.Option("--timeline", metavar="FILE", help="Draw the stall timeline.")] = None,
           stall_bars: StallBars = None,
           window: Annotated[str | None, typer.Option("--window", metavar="A:B", help="Cycles to draw; default all.")] = None,
           operator: Annotated[str | None, typer.Option("--operator", metavar="NAME", help="Which operator to draw; default "
                                                        "the one with the most cycles; of traces also all.")] = None,
           page: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write all of it as one HTML page that "
                                                     "opens from disk (.html).")] = None,
           trace: Trace = None, trace_rows: TraceRows = 200_000, roofline: Roofline = None, ladder: Ladder = None,
           waterfall: Waterfall = None, utilization: Utilization = None, bandwidth: Bandwidth = None, heat_map: HeatMap = None,
           column: PageColumn = Column.DOUBLE, data: Data = False) -> int:
    """Measure and draw a saved run again, without simulating."""
    from accelsim.cli import commands
    pictures = commands.pictures({
        "--timeline": timeline, "--stall-bars": stall_bars, "--roofline": roofline, "--ladder": ladder, "--waterfall": waterfall,
        "--utilization": utilization, "--bandwidth": bandwidth, "--heat-map": heat_map}, column, data, operator, window)
    return commands.report(folder, as_json, commands.Files(csv, None, pictures, trace, trace_rows, page))


@app.command()
def roofline(chip: Chip, workload: Workload,
             file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="A picture of it (.png, .svg or .pdf).")] = None,
             mapping: MappingFile = None, dataflow: Dataflow = "auto", override: Overrides = None, as_json: AsJson = False,
             operator: Annotated[str | None, typer.Option("--operator", metavar="NAME", help="Its roofs alone.")] = None,
             most_steps: MostSteps = 5_000_000, jobs: Jobs = 1, driver: Runs = Driver.COMPILED, fast_forward: Forwarded = True,
             column: PageColumn = Column.DOUBLE, data: Data = False) -> int:
    """Measure how far below its roofs a mapping stays: of every port and link, and of the peak."""
    from accelsim.cli import commands
    from accelsim.cli import roofline as roofs
    asking = commands.Asking(chip, workload, mapping, dataflow, tuple(override or ()), most_steps, jobs, driver, fast_forward)
    return roofs.roofline(asking, as_json, commands.pictures({"--roofline": file}, column, data, operator, None))


@app.command()
def diff(before: Annotated[str, typer.Argument(metavar="A", help="A folder of `accelsim run --save`, or a file of `accelsim run "
                                               "--json`.")],
         after: Annotated[str, typer.Argument(metavar="B", help="The same of the run to compare with it.")],
         as_json: AsJson = False,
         markdown: Annotated[Path | None, typer.Option("--markdown", metavar="FILE", help="Write all of it as Markdown.")] = None,
         html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write all of it as a web page.")] = None,
         operator: Annotated[str | None, typer.Option("--operator", metavar="NAME", help="Show this operator alone.")] = None,
         top: Annotated[int | None, typer.Option("--top", min=1, metavar="N", help="Show so many operators, those that differ "
                                                 "most; default 10, and 3 of them in full.")] = None,
         fail_above: Annotated[str | None, typer.Option("--fail-above", metavar="MORE", help="Exit 1 if B takes more cycles than "
                                                        "A by more than this ('2%', '1000 cycles'), or an operator was not "
                                                        "compared.")] = None,
         per_operator: Annotated[bool, typer.Option("--per-operator", help="With --fail-above: also if any operator does."
                                                    )] = False) -> int:
    """Compare two runs: what was asked differently, and where the difference in cycles comes from."""
    from accelsim.cli import diff as diffs
    return diffs.compare(before, after, diffs.Asked(as_json, markdown, html, operator, top), fail_above, per_operator)


@app.command("list")
def list_(what: Annotated[str, typer.Argument(help="chips, memories, networks, workloads, dataflows, operators, metrics, "
                                              "stalls or formats.")],
          ) -> int:
    """List what there is."""
    from accelsim.cli import words
    return words.list_words(what)


app.command()(alone.dram)
app.command()(alone.sram)
app.command()(alone.noc)


@app.command()
def explain(name: Annotated[str, typer.Argument(help="A metric, a stall cause, a dataflow, an operator, a chip, a "
                                                "memory or a network.")]) -> int:
    """What a name means: definition, unit, window, identity; a chip's sources, what is modelled and what is not."""
    from accelsim.cli import words
    return words.explain(name)


@app.command()
def schema(what: Annotated[str, typer.Argument(help="chip, workload, mapping, memory or network.")]) -> int:
    """JSON Schema of a file, for editors."""
    from accelsim.cli import words
    return words.schema(what)


@app.command()
def init(folder: Annotated[Path, typer.Argument(help="A folder that does not exist yet, or is empty.")]) -> int:
    """A starter chip, workload and mapping that run as they are."""
    from accelsim.cli import starter
    return starter.init(folder)


def _importers(begun: str) -> list[str]:
    """What completes the names of other tools in a shell."""
    from accelsim.importers.table import IMPORTERS
    return [one.name for one in IMPORTERS if one.name.startswith(begun)]


@app.command("import")
def import_(files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files of one other tool (accelsim list "
                                                        "formats); recognised by what they say.")],
            to: Annotated[Path | None, typer.Option("--to", metavar="DIR", help="Write chip.yaml, workload.yaml and mapping.yaml "
                                                    "there; default print them.")] = None,
            tool: Annotated[str | None, typer.Option("--from", metavar="TOOL", help="Whose files they are; default recognised.",
                                                     autocompletion=_importers)] = None,
            force: Annotated[bool, typer.Option("--force", help="Overwrite files of these names.")] = False,
            as_json: AsJson = False) -> int:
    """Another tool's files as a chip, a workload and a mapping of ours, and what of them could not be carried over."""
    from accelsim.cli import importing
    return importing.import_files(files, to, tool, force, as_json)


@app.command()
def doctor(as_json: AsJson = False) -> int:
    """Check this installation, say what to do about what is wrong, and compile the kernels; exit 1 if a check failed."""
    from accelsim.cli import doctor as checks
    return checks.doctor(as_json)


@app.command()
def bench(rows: Annotated[list[str] | None, typer.Argument(help="Rows to measure; default all.")] = None,
          show: Annotated[bool, typer.Option("--list", help="List the rows and measure nothing.")] = False,
          repeats: Annotated[int, typer.Option("--repeats", min=1, metavar="R", help="Medians are over so many repeats.")] = 5,
          json_file: Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write everything as JSON; - prints it."
                                                        )] = None,
          markdown: Annotated[Path | None, typer.Option("--markdown", metavar="FILE", help="Write the documentation's page."
                                                        )] = None) -> int:
    """Measure how long accelsim takes and how much memory it needs on this computer."""
    from accelsim.cli import bench as benchmarks
    return benchmarks.list_rows() if show else benchmarks.bench(rows or [], repeats, json_file, markdown)


def _sources(begun: str) -> list[str]:
    """What completes the names of validation's sources in a shell."""
    from accelsim.compare.references import sources
    return [name for name in sources() if name.startswith(begun)]


@app.command()
def validate(only: Annotated[list[str] | None, typer.Option("--only", metavar="SOURCE", help="A source, such as dram or "
                                                            "silicon/a100; default all. May be repeated.",
                                                            autocompletion=_sources)] = None,
             as_json: AsJson = False,
             plots: Annotated[Path | None, typer.Option("--plots", metavar="DIR", help="Draw each source, ours over theirs, "
                                                        "into a folder (.png).")] = None,
             markdown: Annotated[Path | None, typer.Option("--markdown", metavar="FILE", help="Write the documentation's page."
                                                           )] = None) -> int:
    """Compare with published measurements, RTL and other simulators; exit 1 if anything is further off than it may be."""
    from accelsim.cli import validate as validation
    return validation.validate(only or [], as_json, plots, markdown)


if __name__ == "__main__":
    main()
