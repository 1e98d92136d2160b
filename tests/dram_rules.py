"""What JEDEC's rules say of a list of DRAM commands, pair by pair, from the timings' names alone; and where addresses lie."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from accelsim.machine.dram import Command
from accelsim.spec.dram import Dram

Ints = NDArray[np.int64]

ROW = {"ACT", "ACT2", "PRE", "PREab", "REFab", "REFpb"}
READS, WRITES = {"RD", "RDA"}, {"WR", "WRA"}


def length(dram: Dram, name: str) -> int:
    """Cycles of the command bus."""
    commands = dram.commands
    if name in READS:
        return commands.RD
    if name in WRITES:
        return commands.WR
    return {"ACT": commands.ACT, "PRE": commands.PRE, "PREab": commands.PRE, "REFab": commands.REF,
            "REFpb": commands.REF}.get(name, 1)


def same(a: Command, b: Command, *fields: str) -> bool:
    return all(getattr(a, field) == getattr(b, field) for field in fields)


def least(dram: Dram, a: Command, b: Command) -> list[tuple[int, str]]:
    """The rules between two commands of a channel, one before the other: from last cycle to last cycle, and their names."""
    t = dram.timing
    rank = same(a, b, "pseudo_channel", "rank")
    group = rank and same(a, b, "bank_group")
    bank = group and same(a, b, "bank")
    reads, writes, column = a.name in READS, a.name in WRITES, b.name in READS | WRITES
    found: list[tuple[int, str]] = []
    if bank:
        found += {("ACT", "PRE"): [(t.tRAS, "tRAS")], ("ACT", "ACT"): [(t.tRC, "tRC")], ("PRE", "ACT"): [(t.tRP, "tRP")],
                  ("REFpb", "ACT"): [(t.tRFCpb, "tRFCpb")], ("PRE", "REFpb"): [(t.tRP, "tRP")]}.get((a.name, b.name), [])
        if a.name == "ACT" and column:
            found.append((t.tRCDRD, "tRCDRD") if b.name in READS else (t.tRCDWR, "tRCDWR"))
        if b.name == "PRE" and (reads or writes):
            found.append((t.tRTP, "tRTP") if reads else (t.CWL + t.BL + t.tWR, "tWR"))
        if a.name in {"RDA", "WRA"} and b.name == "ACT":
            found.append((t.tRTP + t.tRP, "tRTP + tRP") if reads else (t.CWL + t.BL + t.tWR + t.tRP, "tWR + tRP"))
    if rank:
        if a.name == b.name == "ACT":
            found.append((t.tRRD_L, "tRRD_L") if group else (t.tRRD_S, "tRRD_S"))
        if b.name == "PREab":
            found += [(t.tRAS, "tRAS")] * (a.name == "ACT") + [(t.tRTP, "tRTP")] * (a.name == "RD")
            found += [(t.CWL + t.BL + t.tWR, "tWR")] * (a.name == "WR")
        if {a.name, b.name} <= {"PRE", "PREab"}:
            found.append((t.tPPD, "tPPD"))
        if a.name == "PREab" and b.name == "ACT":
            found.append((t.tRPab, "tRPab"))
        if a.name in {"PRE", "PREab"} and b.name == "REFab":
            found.append((t.tRP, "tRP"))
        if a.name == "ACT" and b.name == "REFab":
            found.append((t.tRC, "tRC"))
        if a.name == "REFab" and b.name in {"ACT", "REFab", "PRE", "PREab"}:
            found.append((t.tRFC, "tRFC"))
        if a.name == "REFpb" and b.name == "ACT" and not bank:
            found.append((t.tRREFD, "tRREFD"))
        if a.name == b.name == "REFpb":
            found.append((t.tpbR2pbR, "tpbR2pbR"))
        if column and (reads or writes):
            if (reads and b.name in READS) or (writes and b.name in WRITES):
                found.append((t.tCCD_L, "tCCD_L") if group else (t.tCCD_S, "tCCD_S"))
            elif reads:
                found.append((t.tRTW, "tRTW"))
            else:
                found.append((t.CWL + (t.BL_long + t.tWTR_L if group else t.BL + t.tWTR_S), "tWTR"))
    return found


def broken(dram: Dram, log: Sequence[Command]) -> Iterator[str]:
    """What a list of commands breaks, in words."""
    channels = {command.channel for command in log}
    for channel in channels:
        yield from _broken_pairs(dram, [one for one in log if one.channel == channel])
        yield from _broken_rows(dram, [one for one in log if one.channel == channel])
        yield from _broken_buses(dram, [one for one in log if one.channel == channel])


def _broken_pairs(dram: Dram, log: Sequence[Command]) -> Iterator[str]:
    for i, b in enumerate(log):
        for a in log[:i]:
            apart = b.cycle + length(dram, b.name) - a.cycle - length(dram, a.name)
            exact = b.cycle - a.cycle if a.name == b.name else apart
            for needed, rule in least(dram, a, b):
                if exact < needed:
                    yield f"{rule}: {a} {b} {exact} < {needed}"
    acts = [one for one in log if one.name == "ACT"]
    for place in {(one.pseudo_channel, one.rank) for one in acts}:
        own = [one.cycle for one in acts if (one.pseudo_channel, one.rank) == place]
        for first, fifth in zip(own, own[4:], strict=False):
            if fifth - first < dram.timing.tFAW:
                yield f"tFAW: {place} {first} {fifth}"


def _broken_rows(dram: Dram, log: Sequence[Command]) -> Iterator[str]:
    """A row is open when it is read, closed when another is opened, and all are closed for a refresh."""
    rows: dict[tuple[int, int, int, int], int] = {}
    second: Command | None = None
    for one in log:
        place = one.pseudo_channel, one.rank, one.bank_group, one.bank
        if one.name == "ACT":
            if place in rows:
                yield f"opened twice: {one}"
            if second is not None:
                yield f"between two commands of an activation: {one}"
            rows[place] = one.row
            second = one if dram.commands.split_activate else None
        elif one.name == "ACT2":
            late = second is not None and one.cycle - second.cycle > dram.timing.tAAD
            if second is None or late or not same(one, second, "bank_group", "bank", "row"):
                yield f"second command of an activation: {one}"
            second = None
        elif one.name == "PRE":
            if rows.pop(place, -1) < 0:
                yield f"closed twice: {one}"
        elif one.name == "PREab":
            rows = {key: row for key, row in rows.items() if key[:2] != place[:2]}
        elif one.name in {"REFab", "REFpb"}:
            if place in rows if one.name == "REFpb" else any(key[:2] == place[:2] for key in rows):
                yield f"refresh of an open row: {one}"
        elif one.name in READS | WRITES:
            if rows.get(place) != one.row:
                yield f"not the open row: {one}"
            if second is not None and same(one, second, "pseudo_channel", "rank", "bank_group", "bank"):
                yield f"before its activation was whole: {one}"
            if one.name in {"RDA", "WRA"}:
                del rows[place]


def _broken_buses(dram: Dram, log: Sequence[Command]) -> Iterator[str]:
    """Commands and data follow each other on their buses."""
    t, free = dram.timing, {}
    for one in log:
        bus = "row" if one.name in ROW and dram.commands.two_buses else "column"
        if one.cycle < free.get(bus, 0):
            yield f"{bus} bus is taken: {one}"
        free[bus] = one.cycle + length(dram, one.name)
        if dram.commands.half_clock and one.name not in {"PRE", "PREab"} and one.cycle % 2 == 0:
            yield f"in the middle of a clock: {one}"
    data: dict[int, int] = {}
    for one in sorted((one for one in log if one.name in READS | WRITES),
                      key=lambda one: one.cycle + (t.CL if one.name in READS else t.CWL)):
        start = one.cycle + (t.CL if one.name in READS else t.CWL)
        if start < data.get(one.pseudo_channel, 0):
            yield f"data bus is taken: {one}"
        data[one.pseudo_channel] = start + t.BL


def places(dram: Dram, addresses: Ints) -> dict[str, Ints]:
    """The field values of addresses, each int64[n]; bits beyond the memory are left out, so that it repeats."""
    rest = addresses // dram.burst_bytes
    found: dict[str, Ints] = {field: np.zeros(len(addresses), dtype=np.int64) for field in dram.counts}
    have = dict.fromkeys(dram.counts, 0)
    for field, bits in dram.mapping:
        found[field] |= (rest & ((1 << bits) - 1)) << have[field]
        have[field] += bits
        rest = rest >> bits
    return found
