"""A DRAM technology as a file gives it, validated key by key, and worked out in cycles of its clock."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from accelsim.spec.dram import FIELDS, Commands, Controller, Dram, Page, Refresh, Timing
from accelsim.spec.names import Title
from accelsim.spec.quantities import Bytes, Latency
from accelsim.units import Duration

Count = Annotated[int, Field(ge=1, le=1 << 20, strict=True)]
Small = Annotated[int, Field(ge=1, le=64, strict=True)]
_ENTRY = re.compile(r"([a-z_]+)(?::([0-9]{1,2}))?")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class TimingFile(_Strict):
    """Timings by their JEDEC names, in cycles of the memory's clock or in ns (rounded up)."""

    BL: Latency = Field(description="what a burst takes of the data bus")
    BL_long: Latency | None = Field(None, description="the same where bank groups alternate no further (LPDDR5); default BL")
    CL: Latency
    CWL: Latency
    tRCD: Latency
    tRCDRD: Latency | None = Field(None, description="default tRCD")
    tRCDWR: Latency | None = Field(None, description="default tRCD")
    tRP: Latency
    tRPab: Latency | None = Field(None, description="default tRP")
    tRAS: Latency
    tRC: Latency | None = Field(None, description="default tRAS + tRP")
    tRTP: Latency
    tWR: Latency
    tCCD_S: Latency
    tCCD_L: Latency
    tRRD_S: Latency
    tRRD_L: Latency
    tFAW: Latency
    tWTR_S: Latency
    tWTR_L: Latency
    tRTW: Latency | None = Field(None, description="a read to a write of the same rank; default CL + BL + 2 cycles - CWL")
    tRTRS: Latency = Field(Duration(Fraction(2), "cycle"), description="between ranks on one data bus; default 2 cycles")
    tPPD: Latency | None = Field(None, description="between precharges; default none")
    tRFC: Latency
    tREFI: Latency
    tRFCpb: Latency | None = Field(None, description="refresh of one bank")
    tREFIpb: Latency | None = None
    tRREFD: Latency | None = Field(None, description="a refresh of one bank to an activation of another")
    tpbR2pbR: Latency | None = Field(None, description="between refreshes of single banks; default tRREFD")
    tAAD: Latency | None = Field(None, description="the second command of an activation comes within it (LPDDR5)")
    tWCKPST: Latency | None = Field(None, description="the data clock runs on for it (LPDDR5)")


class CommandsFile(_Strict):
    """The command bus: cycles that each command takes, one by default."""

    ACT: Small = 1
    PRE: Small = 1
    RD: Small = 1
    WR: Small = 1
    REF: Small = 1
    buses: Literal["one", "row and column"] = "one"
    half_clock: bool = Field(default=False, strict=True,
                             description="a cycle is half a clock, and only precharges start in its middle")


class ControllerFile(_Strict):
    """The controller of each channel."""

    queue: Annotated[int, Field(ge=1, le=1024, strict=True)] = 32
    write_high: Annotated[int, Field(ge=1, le=1024, strict=True)] | None = Field(
        default=None, description="waiting writes that are served before reads; default more than 4/5 of the queue")
    write_low: Annotated[int, Field(ge=0, le=1024, strict=True)] | None = Field(
        default=None, description="writes at which reads are served again; default less than 1/5 of the queue")
    page: Literal["open", "closed"] = "open"
    refresh: Literal["none", "all-bank", "per-bank"] = "all-bank"
    protect_hits: bool = Field(default=True, strict=True, description="a row stays open for older requests that hit it")
    row_hit_cap: Annotated[int, Field(ge=0, le=1 << 20, strict=True)] = Field(
        default=0, description="it stays open for younger ones too until it was hit so often; 0: it does not")
    second_queue: Annotated[int, Field(ge=0, le=1024, strict=True)] = Field(
        default=0, description="requests in a queue behind both, into which one goes on in a cycle and in which reads and writes "
        "are chosen from together, each until its column command; 0: none")
    write_alone: Annotated[int, Field(ge=1, le=1024, strict=True)] = Field(
        default=1, description="writes that go on into the second queue where it is empty")


class DramFile(_Strict):
    """A DRAM technology."""

    name: Title
    standard: Title
    description: str = ""
    tCK: Latency = Field(description="the clock's cycle; where half_clock, half of it")
    burst: Bytes = Field(description="bytes of a column command")
    channels: Count = 1
    pseudo_channels: Small = 1
    ranks: Small = 1
    bank_groups: Small
    banks: Small = Field(description="in a bank group")
    rows: Count
    row: Bytes = Field(description="bytes of a row: of a rank of a pseudo-channel")
    timing: TimingFile
    commands: CommandsFile = CommandsFile()
    controller: ControllerFile = ControllerFile()
    mapping: list[str] = Field(min_length=1, max_length=64, description="fields of an address from its highest bits down: "
                               f"{', '.join(FIELDS)}; FIELD:BITS for a part of one, whose lower bits stand further right")


Problem = tuple[tuple[str | int, ...], str, str]
"""Where in the file, what is wrong, what is allowed."""


def resolve_dram(file: DramFile) -> tuple[Dram, list[Problem]]:
    """The technology of a file and all that is wrong with it; what is wrong stands for nothing then."""
    problems: list[Problem] = []
    if file.tCK.unit != "second" or not file.tCK.value:
        problems.append((("tCK",), "not a time", "a time such as \"0.833 ns\""))
    cycle = file.tCK.value if file.tCK.unit == "second" and file.tCK.value else Fraction(1, 10**9)
    columns, rest = divmod(file.row, file.burst)
    counts = {"channel": file.channels, "pseudo_channel": file.pseudo_channels, "rank": file.ranks,
              "bank_group": file.bank_groups, "bank": file.banks, "row": file.rows, "column": columns}
    for field, key in (("channel", "channels"), ("pseudo_channel", "pseudo_channels"), ("rank", "ranks"),
                       ("bank_group", "bank_groups"), ("bank", "banks"), ("row", "rows"), ("column", "row")):
        if counts[field] & (counts[field] - 1) or not counts[field]:
            problems.append(((key,), f"{counts[field]} {field.replace('_', ' ')}s", "a power of two"))
    if rest:
        problems.append((("row",), "not a whole number of bursts", f"a multiple of {file.burst} B"))
    if file.pseudo_channels * file.ranks * file.bank_groups * file.banks > 62:
        problems.append((("banks",), "more than 62 banks in a channel", "up to 62 over pseudo-channels, ranks and bank groups"))
    mapping = () if problems else _mapping(file.mapping, counts, problems)
    timing = _timing(file, cycle)
    controller = file.controller
    if controller.refresh == "per-bank" and not (timing.tRFCpb and timing.tREFIpb):
        problems.append((("controller", "refresh"), "per-bank needs tRFCpb and tREFIpb", "all-bank, none"))
    high = controller.write_high if controller.write_high is not None else 4 * controller.queue // 5 + 1
    low = controller.write_low if controller.write_low is not None else (controller.queue - 1) // 5
    if not low < high <= controller.queue:
        problems.append((("controller", "write_high"), f"writes begin at {high} and end at {low} of {controller.queue}",
                         "write_low below write_high, and that at most the queue"))
    if controller.second_queue and (controller.page == "closed" or file.commands.half_clock or timing.tAAD or timing.tWCKPST):
        problems.append((("controller", "second_queue"), "a second queue with closed pages, half clocks, tAAD or tWCKPST",
                         "0, or open pages and commands of one piece"))
    dram = Dram(file.name, file.standard, file.description, cycle, file.burst, counts, timing, Commands(
        file.commands.ACT, file.commands.PRE, file.commands.RD, file.commands.WR, file.commands.REF,
        file.commands.buses != "one", file.commands.half_clock, timing.tAAD > 0, timing.tWCKPST > 0), Controller(
        controller.queue, high, low, Page(controller.page), Refresh(controller.refresh), controller.protect_hits,
        controller.row_hit_cap, controller.second_queue, controller.write_alone), tuple(mapping))
    return dram, problems


def _timing(file: DramFile, cycle: Fraction) -> Timing:
    given, clock = file.timing, 1 / cycle

    def cycles(name: str, default: int = 0) -> int:
        duration: Duration | None = getattr(given, name)
        return default if duration is None else duration.cycles(clock)

    rcd, rp, burst = cycles("tRCD"), cycles("tRP"), cycles("BL")
    defaults = {"tRCDRD": rcd, "tRCDWR": rcd, "tRPab": rp, "tRC": cycles("tRAS") + rp, "BL_long": burst,
                "tRTW": cycles("CL") + burst + 2 - cycles("CWL"), "tpbR2pbR": cycles("tRREFD")}
    return Timing(**{field.name: cycles(field.name, defaults.get(field.name, 0)) for field in fields(Timing)})


def _mapping(entries: Sequence[str], counts: dict[str, int], problems: list[Problem]) -> list[tuple[str, int]]:
    """The fields from the lowest bits up with their bits."""
    need = {field: count.bit_length() - 1 for field, count in counts.items()}
    left = dict(need)
    stated = [_ENTRY.fullmatch(entry) for entry in entries]
    free = {field: bits - sum(int(one[2]) for one in stated if one is not None and one[1] == field and one[2] is not None)
            for field, bits in need.items()}
    found: list[tuple[str, int]] = []
    for place in reversed(range(len(entries))):
        match = stated[place]
        if match is None or match[1] not in need:
            problems.append((("mapping", place), f"'{entries[place]}' is not a field", ", ".join(FIELDS) + ", or FIELD:BITS"))
            continue
        bits = int(match[2]) if match[2] is not None else max(0, free[match[1]])
        if bits > left[match[1]]:
            problems.append((("mapping", place), f"{match[1]} has {need[match[1]]} bits, {left[match[1]]} of them left here",
                             f"{match[1]}:{left[match[1]]} or fewer"))
        left[match[1]] -= min(bits, left[match[1]])
        found.append((match[1], bits))
    problems += [(("mapping",), f"{bits} bits of {field} are nowhere", f"{field} somewhere in the list")
                 for field, bits in left.items() if bits]
    return found
