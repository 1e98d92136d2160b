"""Arguments and options that several commands share; nothing heavy is imported here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from accelsim.drivers import Driver


def shipped_names(kind: str) -> Callable[[str], list[str]]:
    """What completes the names of shipped chips, memories, networks or workloads in a shell; files it completes itself."""
    def names(begun: str) -> list[str]:
        from accelsim.spec.read import shipped
        return [name for name in shipped(kind) if name.startswith(begun)]
    return names


Chip = Annotated[str, typer.Argument(help="A shipped chip (accelsim list chips) or a chip file.",
                                     autocompletion=shipped_names("chips"))]
Workload = Annotated[str, typer.Argument(help="A shipped workload, a workload file, or inline text: gemm:m=64,n=64,k=64.",
                                         autocompletion=shipped_names("workloads"))]
MappingFile = Annotated[str | None, typer.Option("--mapping", metavar="FILE", help="Mapping file; operators it does not "
                                                    "name get the dataflow.")]
Dataflow = Annotated[str, typer.Option("--dataflow", metavar="NAME", help="A named dataflow, or auto: the fewest estimated "
                                       "cycles.")]
Overrides = Annotated[list[str] | None, typer.Option("-o", metavar="KEY=VALUE", help="Override a value by its path: "
                                                        'chip.levels.DRAM.latency="40 cycles". May be repeated.')]
StallBars = Annotated[Path | None, typer.Option("--stall-bars", metavar="FILE", help="Draw each array's cycles by cause as a "
                                                "bar (.png, .svg or .pdf).")]
Trace = Annotated[Path | None, typer.Option("--trace", metavar="FILE", help="Write every interval for ui.perfetto.dev (.pftrace, "
                                            ".json or .json.gz).")]
TraceRows = Annotated[int, typer.Option("--trace-rows", min=1, metavar="N", help="Most intervals in a trace, which ends earlier "
                                        "where there are more.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
MostSteps = Annotated[int, typer.Option("--most-steps", min=1, metavar="N", help="Refuse operators with more tile steps and "
                                        "transfers than this.")]

Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, metavar="N", help="Simulate up to N operators at a time, each in a "
                                   "process of its own; the results are the same bytes.")]
Runs = Annotated[Driver, typer.Option("--driver", help="What runs the event loop: a compiled kernel, or SimPy, which is the "
                                      "readable definition and slower; no number changes.")]
Forwarded = Annotated[bool, typer.Option("--fast-forward/--no-fast-forward", help="Add periods that repeat exactly instead of "
                                         "simulating them; no number changes.")]
