"""Ramulator 2.1 and DRAMsim3: the same traces on the same timings, command by command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial

from accelsim.compare.checks import Part, Row
from accelsim.compare.dram_traces import CASES, TINY, Device
from accelsim.compare.references import folder_of, table
from accelsim.machine.dram import Replay, replay
from accelsim.spec.dram import Dram
from accelsim.spec.dramtrace import trace_of
from accelsim.spec.read import read_memory

NAME = "dram"
COUNTS = ("activates", "precharges", "reads", "writes")
KINDS = {
    **dict.fromkeys(("rand_rd", "seq_rd", "tile_128x256_ld8192"), "DRAMsim3, random and sequential reads"),
    **dict.fromkeys(("rand_wr", "seq_wr", "rand_mix21"), "DRAMsim3, writes and random mixes"),
    "mix21_seq": "DRAMsim3, sequential mix",
}
"""Traces whose queues weigh more in DRAMsim3; all others are traces of one kind."""

OUR_NAMES = {"PREpb": "PRE", "ACT1": "ACT"}
"""Ramulator's names of commands in our words, where they differ."""


@dataclass(frozen=True)
class Configuration:
    """A row of `configurations.csv`."""

    name: str
    memory: str
    overrides: tuple[str, ...]
    at_once: int
    serial: int

    @property
    def ramulator(self) -> bool:
        """Whether it is Ramulator's; else DRAMsim3's."""
        return self.name.startswith("r2")

    @property
    def gddr6(self) -> bool:
        """Whether its refresh is GDDR6's in Ramulator: it may follow a single bank's precharge at once; ours keeps tRP."""
        return self.name.startswith("r2_gddr6")

    def dram(self, refresh: str) -> Dram:
        """The memory, refresh ``on`` or ``off``."""
        own = folder_of(NAME) / self.memory
        kept = "all-bank" if refresh == "on" else "none"
        return read_memory(str(own) if own.suffix == ".yaml" else self.memory,
                           (*self.overrides, f"memory.controller.refresh={kept}"))


@cache
def configurations() -> dict[str, Configuration]:
    """All of them by name."""
    return {row["configuration"]: Configuration(row["configuration"], row["memory"],
                                                tuple(filter(None, row["overrides"].split("; "))), int(row["at_once"]),
                                                int(row["serial"])) for row in table(NAME, "configurations.csv")}


def tiny(told: dict[str, str]) -> Iterator[Row]:
    """A short trace: how many of its requests and commands have the reference's cycles."""
    configuration = configurations()[told["configuration"]]
    dram = configuration.dram("off")
    found = replay(dram, trace_of(TINY[told["trace"]](Device(dram))), at_once=configuration.at_once, log=True)
    requests = list(zip(*(map(int, told[name].split()) for name in ("arrived", "commanded", "done")), strict=True))
    commands = Counter((int(cycle), OUR_NAMES.get(name, name))
                       for cycle, name in (one.split(":") for one in told["commands"].split()))
    own = zip(found.arrived.tolist(), found.commanded.tolist(), found.done.tolist(), strict=True)
    met = sum(one == other for one, other in zip(own, requests, strict=True))
    ours = Counter((one.cycle, one.name) for one in found.log)
    most = max(ours.total(), commands.total())  # one too many is as wrong as one that is not there
    yield Row("tiny traces", f"{told['configuration']} {told['trace']}", met + (ours & commands).total(),
              len(requests) + most)


def long(name: str, trace: str, rows: dict[str, dict[str, str]]) -> Iterator[Row]:
    """A long trace on a configuration: its table rows by refresh, ``on`` and ``off``."""
    configuration, found = configurations()[name], dict[str, Replay]()
    made, every, serial = CASES[trace]
    for refresh in rows:
        dram = configuration.dram(refresh)
        found[refresh] = replay(dram, trace_of(made(Device(dram)), every), at_once=configuration.at_once,
                                serial=configuration.serial if serial else None)
    for refresh, told in rows.items():
        case = f"{name} {trace}{' refresh' if refresh == 'on' else ''}"
        theirs = {column: int(told[column]) for column in ("cycles", *COUNTS)}
        if configuration.ramulator:
            yield from _ramulator(configuration, refresh, case, found[refresh], theirs)
        elif refresh == "off":
            yield Row(KINDS.get(trace, "DRAMsim3, traces of one kind"), case, found[refresh].cycles, theirs["cycles"])
            if not theirs["writes"]:
                yield Row("DRAMsim3, activations of reads", case, found[refresh].activates, theirs["activates"])
    if len(rows) == 2:
        yield Row("what refresh costs", f"{name} {trace}", found["on"].cycles / found["off"].cycles,
                  int(rows["on"]["cycles"]) / int(rows["off"]["cycles"]))


def _ramulator(configuration: Configuration, refresh: str, case: str, found: Replay, theirs: dict[str, int]) -> Iterator[Row]:
    loose = configuration.gddr6 and refresh == "on"
    yield Row("Ramulator, GDDR6 with refresh" if loose else "Ramulator, cycles", case, found.cycles, theirs["cycles"])
    for column in COUNTS:
        if not (loose and column == "precharges"):
            yield Row("Ramulator, commands", f"{case} {column}", getattr(found, column), theirs[column])


def parts() -> Sequence[Part]:
    """The short traces, then every long one on every configuration."""
    grouped: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
    for row in table(NAME):
        grouped.setdefault((row["configuration"], row["trace"]), {})[row["refresh"]] = row
    return [*(partial(tiny, row) for row in table(NAME, "tiny.csv")),
            *(partial(long, *key, rows) for key, rows in grouped.items())]
