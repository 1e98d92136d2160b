"""A DRAM alone: a trace of addresses through its controllers, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels import dram_layout as at
from accelsim.kernels.dram_replay import ENTERED, SOONEST
from accelsim.kernels.dram_replay import replay as replay_kernel
from accelsim.spec.dram import Dram, Page, Refresh
from accelsim.spec.dramtrace import Trace

Ints = NDArray[np.int64]

COMMANDS = {at.ACT: "ACT", at.ACT2: "ACT2", at.PRE: "PRE", at.PRE_ALL: "PREab", at.RD: "RD", at.WR: "WR", at.RDA: "RDA",
            at.WRA: "WRA", at.REF: "REFab", at.REF_BANK: "REFpb", at.SYNC_RD: "CAS_RD", at.SYNC_WR: "CAS_WR"}


@dataclass(frozen=True)
class Command:
    """A command that was given: in which cycle, to which place; -1 where it has none."""

    cycle: int
    name: str
    channel: int
    pseudo_channel: int
    rank: int
    bank_group: int
    bank: int
    row: int
    column: int


@dataclass(frozen=True)
class Replay:
    """What came of a trace. ``arrived``, ``commanded``, ``done``: int64[n], when each request entered its queue, had its column
    command, and its data had passed. ``precharges``: those made for a request. ``log``: all commands, where asked for.
    """

    cycles: int
    arrived: Ints
    commanded: Ints
    done: Ints
    activates: int
    precharges: int
    refresh_precharges: int
    refreshes: int
    reads: int
    writes: int
    log: tuple[Command, ...]


PIECE = 1 << 18
"""Requests between two looks at whether somebody wants to know, or to stop."""


def replay(dram: Dram, trace: Trace, *, at_once: int = 1, serial: int | None = None, log: bool = False,
           progress: Callable[[int], None] | None = None) -> Replay:
    """Run a trace to its end.

    ``at_once``: requests that may enter in a cycle. ``serial``: each waits for the data of the one before and so many cycles.
    ``progress`` is told how many have entered.
    """
    count = len(trace.addresses)
    bursts, when = trace.addresses // dram.burst_bytes, np.ascontiguousarray(trace.when)
    directions, fields = trace.writes.astype(np.int64), address_fields(dram)
    place: Ints = np.empty(at.PLACE_WIDTH, dtype=np.int64)
    channels = dram.counts["channel"]
    room = 4 * count + 64 if log else 0
    while True:
        state: Ints = np.tile(channel_at_rest(dram, room), channels)
        answers: Ints = np.full(count * at.ANSWER_WIDTH, at.NEVER, dtype=np.int64)
        stand: Ints = np.zeros(SOONEST + channels, dtype=np.int64)
        while not replay_kernel(state, channels, bursts, directions, when, fields, place, at_once,
                                -1 if serial is None else serial, int(stand[ENTERED]) + PIECE, answers, stand):
            if progress is not None:
                progress(int(stand[ENTERED]))
        heads = state.reshape(channels, -1)
        if not log or int(heads[:, at.LOG_COUNT].max()) < room:
            break
        room *= 4  # long waits with refreshes in them: more commands than were thought of
    cycles = int(heads[:, at.LATEST].max())
    told = answers.reshape(count, at.ANSWER_WIDTH)
    activates, precharges, for_refresh, refreshes, reads, writes = (
        int(heads[:, field].sum()) for field in (at.N_ACT, at.N_PRE, at.N_PRE_REF, at.N_REF, at.N_RD, at.N_WR))
    return Replay(cycles, told[:, at.A_ARRIVED], told[:, at.A_COMMAND], told[:, at.A_DONE], activates, precharges, for_refresh,
                  refreshes, reads, writes, tuple(_commands(dram, heads)) if log else ())


def address_fields(dram: Dram) -> Ints:
    """The fields of a burst's number, int64[f x F_WIDTH]; banks are counted over the whole channel."""
    ranks, groups, banks = dram.counts["rank"], dram.counts["bank_group"], dram.counts["bank"]
    parts = {
        "channel": (at.Q_CHANNEL, 1), "pseudo_channel": (at.Q_BANK, ranks * groups * banks), "rank": (at.Q_BANK, groups * banks),
        "bank_group": (at.Q_BANK, banks), "bank": (at.Q_BANK, 1), "row": (at.Q_ROW, 1), "column": (at.Q_COLUMN, 1)}
    have = dict.fromkeys(dram.counts, 0)
    fields: Ints = np.zeros((len(dram.mapping), at.F_WIDTH), dtype=np.int64)
    for row, (field, bits) in zip(fields, dram.mapping, strict=True):
        part, one = parts[field]
        row[at.F_BITS], row[at.F_PART], row[at.F_WEIGHT] = bits, part, one << have[field]
        have[field] += bits
    return fields.ravel()


def distances(dram: Dram) -> dict[int, int]:
    """Cycles from the first of one command to the first of the next, by the head's fields.

    JEDEC counts from a command's last cycle where it has several, and so a longer first one adds to, a longer second one takes
    from, the distance between their first cycles. Data follow a write after CWL, a read after CL.
    """
    t, c = dram.timing, dram.commands
    act, pre, read, write, ref = c.ACT, c.PRE, c.RD, c.WR, c.REF
    written = t.CWL + t.BL
    return {
        at.ACT_RD: t.tRCDRD + act - read, at.ACT_WR: t.tRCDWR + act - write, at.ACT_PRE: t.tRAS + act - pre,
        at.ACT_ACT: t.tRC, at.PRE_ACT: t.tRP + pre - act, at.RD_PRE: t.tRTP + read - pre,
        at.WR_PRE: written + t.tWR + write - pre, at.ACT_ACT_L: t.tRRD_L, at.RD_RD_L: t.tCCD_L, at.WR_WR_L: t.tCCD_L,
        at.WR_RD_L: t.CWL + t.BL_long + t.tWTR_L + write - read, at.ACT_ACT_S: t.tRRD_S, at.FOUR_ACTS: t.tFAW,
        at.RD_RD_S: max(t.tCCD_S, t.BL), at.WR_WR_S: max(t.tCCD_S, t.BL), at.RD_WR: t.tRTW + read - write,
        at.WR_RD_S: written + t.tWTR_S + write - read, at.PRE_PRE: max(t.tPPD, pre),
        at.RD_RD_RANK: t.BL + t.tRTRS, at.RD_WR_RANK: max(t.CL + t.BL + t.tRTRS - t.CWL, 1),
        at.WR_RD_RANK: max(written + t.tRTRS - t.CL, 1), at.WR_WR_RANK: t.BL + t.tRTRS,
        at.ACT_REF: t.tRC + act - ref, at.PRE_REF: t.tRP + pre - ref, at.ALL_PRE_ACT: t.tRPab + pre - act,
        at.REF_ACT: t.tRFC + ref - act, at.REF_PRE: t.tRFC, at.REF_ONE_ACT: t.tRFCpb + ref - act,
        at.REF_ONE_OTHER: t.tRREFD + ref - act, at.ACT_REF_ONE: t.tRRD_S + act - ref, at.REF_ONE_REF_ONE: t.tpbR2pbR,
        at.ACT2_WITHIN: t.tAAD, at.SYNC_READ: t.CL + t.BL + t.tWCKPST, at.SYNC_WRITE: written + t.tWCKPST,
        at.READ_LATENCY: t.CL + t.BL, at.WRITE_LATENCY: written,
    }


def channel_at_rest(dram: Dram, log: int = 0) -> Ints:
    """A channel at its beginning; ``log``: commands to write down."""
    counts, commands, controller = dram.counts, dram.commands, dram.controller
    units = counts["pseudo_channel"] * counts["rank"]
    banks = units * counts["bank_group"] * counts["bank"]
    entries = 2 * controller.queue + controller.second_queue + banks + 1
    log_at = at.B_ENTRY + entries * at.ENTRY_WIDTH
    s: Ints = np.zeros(log_at + log * at.LOG_WIDTH, dtype=np.int64)
    s[at.B_LOG], s[at.FREE] = log_at, at.B_ENTRY
    for field, value in distances(dram).items():
        s[field] = value
    one = controller.refresh is Refresh.PER_BANK
    every = {Refresh.NONE: 0, Refresh.ALL_BANK: dram.timing.tREFI, Refresh.PER_BANK: dram.timing.tREFIpb}[controller.refresh]
    for field, value in (
            (at.UNITS, units), (at.RANKS, counts["rank"]), (at.GROUPS, counts["bank_group"]), (at.BANKS, counts["bank"]),
            (at.QUEUE, controller.queue), (at.HIGH, controller.write_high), (at.LOW, controller.write_low),
            (at.PROTECT, controller.protect_hits), (at.SECOND, controller.second_queue),
            (at.ALONE, controller.write_alone), (at.CAP, controller.row_hit_cap),
            (at.CLOSED, controller.page is Page.CLOSED), (at.TWO_BUSES, commands.two_buses), (at.EDGES, commands.half_clock),
            (at.SPLIT_ACT, commands.split_activate), (at.SYNC, commands.wck), (at.LEN_ACT, commands.ACT),
            (at.LEN_PRE, commands.PRE), (at.LEN_RD, commands.RD), (at.LEN_WR, commands.WR), (at.LEN_REF, commands.REF),
            (at.REF_EVERY, every), (at.REF_ONE, one), (at.NEXT_REF, every), (at.LOG_ROOM, log)):
        s[field] = value
    for field in (at.SERVED, at.ACTIVATING, at.SYNCING, at.RISING_UNIT, at.RISING_BANK, at.RISING_UNTIL, at.LATEST, at.ACTIVE_AT,
                  at.BUFFER, at.BUFFER_WRITES, at.BUFFER_LAST, at.BUFFER_LAST_WRITES, at.SECOND_FIRST, at.SECOND_LAST):
        s[field] = at.NEVER
    table = _table(s, at.B_UNIT, units, at.UNIT_WIDTH)
    table[:, at.U_ACT_AT:at.U_ACT_AT + 4] = -dram.timing.tFAW
    table[:, [at.U_OLDEST, at.U_OLDEST_WRITE, at.U_YOUNGEST, at.U_YOUNGEST_WRITE]] = at.NEVER
    table = _table(s, at.B_BANK, banks, at.BANK_WIDTH)
    table[:, [at.K_ROW, at.K_ACTIVE, at.K_FIRST, at.K_FIRST_WRITE, at.K_LAST, at.K_LAST_WRITE, at.K_HIT,
              at.K_HIT_WRITE, at.K_MISS, at.K_MISS_WRITE, at.K_OPENER]] = at.NEVER
    table[:, at.K_UNIT] = np.arange(banks) // (counts["bank_group"] * counts["bank"])
    table[:, at.K_GROUP] = np.arange(banks) // counts["bank"]
    queue = _table(s, at.B_ENTRY, entries, at.ENTRY_WIDTH)
    queue[:, at.E_NEXT] = at.B_ENTRY + np.arange(1, entries + 1) * at.ENTRY_WIDTH
    return s


def _table(s: Ints, base: int, count: int, width: int) -> Ints:
    return s[base:base + count * width].reshape(count, width)


def _commands(dram: Dram, heads: Ints) -> list[Command]:
    counts = dram.counts
    found = []
    for channel, s in enumerate(heads):
        for cycle, command, unit, bank, row, column in _table(s, int(s[at.B_LOG]), int(s[at.LOG_COUNT]), at.LOG_WIDTH).tolist():
            pseudo, rank = divmod(unit, counts["rank"])
            group, own = divmod(bank, counts["bank"]) if bank >= 0 else (-1, -1)
            found.append(Command(cycle, COMMANDS[command], channel, pseudo, rank,
                                 group % counts["bank_group"] if group >= 0 else -1, own, row, column))
    return sorted(found, key=lambda one: one.cycle)
