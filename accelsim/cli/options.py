"""Arguments and options that several commands share; nothing heavy is imported here."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from accelsim.drivers import Driver


class Column(Enum):
    """The columns of a page: one of two, or the whole page (IEEE's)."""

    SINGLE = "single"
    DOUBLE = "double"

    @property
    def inches(self) -> float:
        """How wide a picture for it is."""
        return 3.5 if self is Column.SINGLE else 7.16


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
Roofline = Annotated[Path | None, typer.Option("--roofline", metavar="FILE", help="Draw the roofs of all ports and links, and "
                                               "what was attained below them: of the operator named, else of all.")]
Ladder = Annotated[Path | None, typer.Option("--ladder", metavar="FILE", help="Draw what each loss leaves of the peak: of the "
                                             "operator named, else of all.")]
Waterfall = Annotated[Path | None, typer.Option("--waterfall", metavar="FILE", help="Draw the way from the estimate's bound to "
                                                "the measurement: of the operator named, else of all.")]
Utilization = Annotated[Path | None, typer.Option("--utilization", metavar="FILE", help="Draw the arrays' cycles by cause over "
                                                  "time.")]
Bandwidth = Annotated[Path | None, typer.Option("--bandwidth", metavar="FILE", help="Draw what each port and link carried over "
                                                "time.")]
HeatMap = Annotated[Path | None, typer.Option("--heat-map", metavar="FILE", help="Draw how busy each link was, on the network's "
                                              "topology or on the chip's levels.")]
PageColumn = Annotated[Column, typer.Option("--column", help="The width of pictures: 3.5 or 7.16 inches.")]
Data = Annotated[bool, typer.Option("--data", help="Write what each picture shows beside it, under its name and .csv.")]
