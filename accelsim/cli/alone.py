"""Commands that run a component alone: a memory, an SRAM, a network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from accelsim.cli.options import (
    AsJson,
    Chip,
    Column,
    Data,
    Dataflow,
    HeatMap,
    MappingFile,
    Overrides,
    PageColumn,
    Workload,
    shipped_names,
)
from accelsim.drivers import NetworkModel
from accelsim.spec.banks import Arbitration
from accelsim.spec.sram import Edge


def dram(memory: Annotated[str, typer.Argument(help="A shipped memory (accelsim list memories) or a memory file.",
                                               autocompletion=shipped_names("memories"))],
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


def noc(network: Annotated[str, typer.Argument(help="A shipped network (accelsim list networks) or a network file.",
                                               autocompletion=shipped_names("networks"))],
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
        heat_map: HeatMap = None, column: PageColumn = Column.DOUBLE, data: Data = False) -> int:
    """Run packets through a network on chip alone, flit by flit."""
    from accelsim.cli import commands
    from accelsim.cli import noc as networks
    if load_sweep is not None:
        if packets is not None or links is not None or heat_map is not None or model is not NetworkModel.FLIT:
            raise typer.BadParameter("--load-sweep goes without --packets, --links, --heat-map and --model")
        return networks.load_sweep(network, traffic, tuple(override or ()), load_sweep, warm_up, window, as_json)
    return networks.noc(network, traffic, tuple(override or ()), model, as_json, packets, links,
                        commands.pictures({"--heat-map": heat_map}, column, data, None, None))
