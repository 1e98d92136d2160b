"""`accelsim`: the commands. Heavy rooms are imported by the command that needs them, so that help is quick."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from accelsim.drivers import Driver, NetworkModel
from accelsim.errors import AccelsimError, SimulatorBug, printable
from accelsim.spec.banks import Arbitration
from accelsim.spec.sram import Edge
from accelsim.version import VERSION

INTERRUPTED = 130
TERMINATED = 143

app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None,
                  help="Simulate a mapping of a tensor operator on a hypothetical chip, estimate it, and explain every number.")


def _shipped(kind: str) -> Callable[[str], list[str]]:
    """What completes the names of shipped chips, memories, networks or workloads in a shell; files it completes itself."""
    def names(begun: str) -> list[str]:
        from accelsim.spec.read import shipped
        return [name for name in shipped(kind) if name.startswith(begun)]
    return names


Chip = Annotated[str, typer.Argument(help="A shipped chip (accelsim list chips) or a chip file.",
                                     autocompletion=_shipped("chips"))]
Workload = Annotated[str, typer.Argument(help="A shipped workload, a workload file, or inline text: gemm:m=64,n=64,k=64.",
                                         autocompletion=_shipped("workloads"))]
MappingFile = Annotated[str | None, typer.Option("--mapping", metavar="FILE", help="Mapping file; operators it does not "
                                                    "name get the dataflow.")]
Dataflow = Annotated[str, typer.Option("--dataflow", metavar="NAME", help="A named dataflow, or auto: the fewest estimated "
                                       "cycles.")]
Overrides = Annotated[list[str] | None, typer.Option("-o", metavar="KEY=VALUE", help="Override a value by its path: "
                                                        'chip.levels.DRAM.latency="40 cycles". May be repeated.')]
StallBars = Annotated[Path | None, typer.Option("--stall-bars", metavar="FILE", help="Draw each array's cycles by cause as a "
                                                "bar (.png, .svg or .pdf).")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
MostSteps = Annotated[int, typer.Option("--most-steps", min=1, metavar="N", help="Refuse operators with more tile steps and "
                                        "transfers than this.")]

Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, metavar="N", help="Simulate up to N operators at a time, each in a "
                                   "process of its own; the results are the same bytes.")]
Runs = Annotated[Driver, typer.Option("--driver", help="What runs the event loop: a compiled kernel, or SimPy, which is the "
                                      "readable definition and slower; no number changes.")]
Forwarded = Annotated[bool, typer.Option("--fast-forward/--no-fast-forward", help="Add periods that repeat exactly instead of "
                                         "simulating them; no number changes.")]


class _Terminated(BaseException):
    """Another process asks this one to end: what is half done is undone on the way out, as after Ctrl-C."""


def _terminate(*_: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise _Terminated


def main() -> None:
    """Run a command; every failure of ours is a message and an exit code, never a traceback."""
    # Imports make many objects, all of which stay: looking among them takes a tenth of a short run, and once more at its end
    # a quarter.
    gc.set_threshold(50_000)
    atexit.register(gc.freeze)
    in_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, _terminate) if in_main else None
    try:
        code = _command()
        sys.stdout.flush()
        sys.exit(code)
    except typer.Exit as error:
        sys.exit(error.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        _say("interrupted")
        sys.exit(INTERRUPTED)
    except _Terminated:
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
                                                        "the one with the most cycles.")] = None,
        save: Annotated[Path | None, typer.Option("--save", metavar="DIR", help="Keep the run for `accelsim report`.")] = None,
        most_steps: MostSteps = 5_000_000, jobs: Jobs = 1, driver: Runs = Driver.COMPILED,
        fast_forward: Forwarded = True) -> int:
    """Simulate a workload on a chip and show where the time went."""
    from accelsim.cli import commands
    return commands.run(commands.Asking(chip, workload, mapping, dataflow, tuple(override or ()), most_steps, jobs,
                                         driver, fast_forward), as_json,
                        commands.Files(csv, timeline, window, operator, save, stall_bars))


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
def report(folder: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="A folder written by `accelsim run --save`.")],
           as_json: AsJson = False,
           csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write a table.")] = None,
           timeline: Annotated[Path | None, typer.Option("--timeline", metavar="FILE", help="Draw the stall timeline.")] = None,
           stall_bars: StallBars = None,
           window: Annotated[str | None, typer.Option("--window", metavar="A:B", help="Cycles to draw; default all.")] = None,
           operator: Annotated[str | None, typer.Option("--operator", metavar="NAME", help="Which operator to draw.")] = None,
           ) -> int:
    """Measure and draw a saved run again, without simulating."""
    from accelsim.cli import commands
    return commands.report(folder, as_json, commands.Files(csv, timeline, window, operator, None, stall_bars))


@app.command("list")
def list_(what: Annotated[str, typer.Argument(help="chips, memories, networks, workloads, dataflows, operators, metrics, "
                                              "stalls or formats.")],
          ) -> int:
    """List what there is."""
    from accelsim.cli import words
    return words.list_words(what)


@app.command()
def dram(memory: Annotated[str, typer.Argument(help="A shipped memory (accelsim list memories) or a memory file.",
                                               autocompletion=_shipped("memories"))],
         trace: Annotated[str, typer.Argument(help="A file of lines such as 'R 0x40' or 'W 0x80 120' (read or write, address, "
                                              "cycle), or a pattern: stream:n=20000, stride:n=20000,bytes=4 KiB, "
                                              "random:n=20000,writes=3.")],
         override: Annotated[list[str] | None, typer.Option("-o", metavar="KEY=VALUE", help="Override a value by its path: "
                                                            "memory.controller.refresh=none. May be repeated.")] = None,
         at_once: Annotated[int, typer.Option("--at-once", min=1, max=1024, metavar="N", help="Requests that may enter in a "
                                              "cycle.")] = 1,
         serial: Annotated[bool, typer.Option("--serial", help="Each request waits for the data of the one before.")] = False,
         as_json: AsJson = False,
         requests: Annotated[Path | None, typer.Option("--requests", metavar="FILE", help="Write when each request came, had its "
                                                       "column command and was done (.csv).")] = None,
         commands: Annotated[Path | None, typer.Option("--commands", metavar="FILE", help="Write every command and its cycle "
                                                       "(.csv).")] = None) -> int:
    """Replay an address trace on a DRAM technology alone, command by command."""
    from accelsim.cli import dram as drams
    return drams.dram(memory, trace, tuple(override or ()), at_once, serial, as_json, requests, commands)


@app.command()
def sram(chip: Chip, workload: Workload, mapping: MappingFile = None, dataflow: Dataflow = "auto", override: Overrides = None,
         operator: Annotated[str | None, typer.Option("--operator", metavar="NAME", help="Which operator; default the first."
                                                      )] = None,
         level: Annotated[str | None, typer.Option("--level", metavar="NAME", help="A level or memory that the array reads "
                                                   "or writes; default the innermost.")] = None,
         banks: Annotated[int | None, typer.Option("--banks", metavar="N", help="Default the chip's.")] = None,
         width: Annotated[str | None, typer.Option("--width", metavar="SIZE", help="Of a word of a bank: \"16 B\".")] = None,
         ports: Annotated[str | None, typer.Option("--ports", metavar="PORTS", help="Of a bank: 1RW (the default), 2RW, 1R1W, "
                                                   "2R1W, 1RW1R and so on.")] = None,
         interleave: Annotated[str | None, typer.Option("--interleave", metavar="GRAIN", help="What lies in a bank before the "
                                                        "next follows: word (the default), a size, or bank.")] = None,
         arbitration: Annotated[Arbitration | None, typer.Option("--arbitration", help="Who comes first at a bank; default "
                                                                 "array-first.")] = None,
         layout: Annotated[list[str] | None, typer.Option("--layout", metavar="[TENSOR=]LAYOUT", help="row (the default), "
                                                          "column, blocked:8x8, padded:1 (words), swizzled. May be repeated."
                                                          )] = None,
         step: Annotated[int | None, typer.Option("--step", min=0, max=1_000_000, metavar="N", help="Which step of the level; "
                                                  "default the second.")] = None,
         passes: Annotated[int | None, typer.Option("--passes", min=1, max=1_000_000, metavar="N", help="Passes of the array to "
                                                    "replay at the most; default 64.")] = None,
         edge: Annotated[Edge | None, typer.Option("--edge", help="A systolic array reads a vector at once and skews it in "
                                                   "registers (the default), or lane by lane.")] = None,
         cache: Annotated[bool, typer.Option("--cache", help="A hardware-managed cache in the memory's place, for the whole "
                                             "operator.")] = False,
         capacity: Annotated[str | None, typer.Option("--capacity", metavar="SIZE", help="Of the cache; default the memory's."
                                                      )] = None,
         line: Annotated[str | None, typer.Option("--line", metavar="SIZE", help="Of the cache; default 64 B.")] = None,
         ways: Annotated[str | None, typer.Option("--ways", metavar="N", help="Of the cache, or full; default 8.")] = None,
         outstanding: Annotated[int | None, typer.Option("--outstanding", metavar="N", help="Misses of the cache in flight; "
                                                         "default 16.")] = None,
         lookups: Annotated[int | None, typer.Option("--lookups", metavar="N", help="Of the cache in a cycle; default 1."
                                                     )] = None,
         as_json: AsJson = False) -> int:
    """Replay what a mapping's array and DMA ask of one memory on its banks, or on a cache in its place."""
    from accelsim.cli import commands
    from accelsim.cli import sram as memories
    asking = commands.Asking(chip, workload, mapping, dataflow, tuple(override or ()))
    words = memories.Words(banks, width, ports, interleave, arbitration, tuple(layout or ()), step, passes, edge, cache, capacity,
                           line, ways, outstanding, lookups)
    return memories.sram(asking, operator, level, words, as_json)


@app.command()
def noc(network: Annotated[str, typer.Argument(help="A shipped network (accelsim list networks) or a network file.",
                                               autocompletion=_shipped("networks"))],
        traffic: Annotated[str, typer.Argument(help="A file of lines 'CREATE_CYCLE SOURCE DESTINATION FLITS', - for standard "
                                               "input, or a pattern: uniform:load=0.2,flits=8,packets=100, transpose, tornado, "
                                               "neighbor, shift, hotspot, incast, scatter, all2all, multicast, reduce.")],
        override: Annotated[list[str] | None, typer.Option("-o", metavar="KEY=VALUE", help="Override a value by its path: "
                                                           "network.router.vcs=2. May be repeated.")] = None,
        model: Annotated[NetworkModel, typer.Option("--model", help="Flit by flit; transfer by transfer, which is faster and "
                                                    "knows no "
                                                    "buffers; or both, and how far they are apart.")] = NetworkModel.FLIT,
        as_json: AsJson = False,
        packets: Annotated[Path | None, typer.Option("--packets", metavar="FILE",
                                                     help="Write when each packet was created, left and "
                                                     "arrived (.csv).")] = None,
        links: Annotated[Path | None, typer.Option("--links", metavar="FILE",
                                                   help="Write what each link carried (.csv).")] = None,
        load_sweep: Annotated[str | None, typer.Option("--load-sweep", metavar="LOADS",
                                                       help="Latency and throughput of a pattern at "
                                                       "several loads: 0.1,0.2,0.4 or 0.1:0.8:0.1.")] = None,
        warm_up: Annotated[int, typer.Option("--warm-up", min=0, max=10_000_000, metavar="N",
                                             help="Cycles of a sweep that do not count."
                                             )] = 3000,
        window: Annotated[int, typer.Option("--window", min=100, max=10_000_000, metavar="N",
                                            help="Cycles of a sweep that do.")] = 10000,
        ) -> int:
    """Run packets through a network on chip alone, flit by flit."""
    from accelsim.cli import noc as networks
    if load_sweep is not None:
        if packets is not None or links is not None or model is not NetworkModel.FLIT:
            raise typer.BadParameter("--load-sweep goes without --packets, --links and --model")
        return networks.load_sweep(network, traffic, tuple(override or ()), load_sweep, warm_up, window, as_json)
    return networks.noc(network, traffic, tuple(override or ()), model, as_json, packets, links)


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
