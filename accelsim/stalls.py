"""Why a lane waited: the causes, their colours and their definitions, in one table shared by pictures and glossary.

Every cycle of the PE array's lane is busy, stalled with exactly one cause, or idle. A wait is split by how the last
cycles of what it waited for were spent, latest first, and follows the chain: a slot to the one who held it, a tile to
its fill. The colours stay apart for colour-blind readers and on white paper (Okabe-Ito and Paul Tol's muted set).
"""

from __future__ import annotations

from enum import Enum
from typing import Final, Self

BUSY_COLOUR: Final = "#4D4D4D"
IDLE_COLOUR: Final = "#CCCCCC"


class StallCause(Enum):
    """One reason to wait: its code (the enum's value), its colour, and what is counted, in one sentence."""

    code: str
    colour: str
    sentence: str

    def __new__(cls, code: str, colour: str, sentence: str) -> StallCause:
        """The code is the value."""
        member = object.__new__(cls)
        member._value_ = code
        member.code, member.colour, member.sentence = code, colour, sentence
        return member

    DRAM_BANDWIDTH = (
        "dram_bandwidth",
        "#332288",
        "Cycles spent waiting while the needed tile's own bytes were in service at a DRAM port, at that port's rate.",
    )
    DRAM_LATENCY = (
        "dram_latency",
        "#6699CC",
        "Cycles spent waiting while the needed tile was on its way through a DRAM's latency and held no port there.",
    )
    DRAM_ROW = (
        "dram_row",
        "#0072B2",
        "Cycles spent waiting while the banks of a DRAM closed and opened the rows of the needed tile, and its buses were free.",
    )
    DRAM_REFRESH = (
        "dram_refresh",
        "#D55E00",
        "Cycles spent waiting while the banks of the needed tile were being refreshed.",
    )
    DRAM_TURNAROUND = (
        "dram_turnaround",
        "#E69F00",
        "Cycles spent waiting while the data buses of a DRAM changed direction or rank on the needed tile's way.",
    )
    SRAM_BANDWIDTH = (
        "sram_bandwidth",
        "#117733",
        "Cycles spent waiting while an SRAM port served the needed tile, or an array step's operands or results, "
        "at that port's rate.",
    )
    SRAM_LATENCY = (
        "sram_latency",
        "#44AA99",
        "Cycles spent waiting while the needed tile was on its way through an SRAM's latency and held no port there.",
    )
    BANK_CONFLICT = (
        "bank_conflict",
        "#EE8866",
        "Cycles in which the array stood still inside a step: banks of an SRAM served several of its own accesses one after "
        "another, or those of transfers first.",
    )
    LINK_BANDWIDTH = (
        "link_bandwidth",
        "#661100",
        "Cycles spent waiting while the needed tile's own bytes were in service on a link, at that link's rate.",
    )
    LINK_LATENCY = (
        "link_latency",
        "#CC6677",
        "Cycles spent waiting while the needed tile was on its way through a link's latency and did not hold the link.",
    )
    CONTENTION = (
        "contention",
        "#AA4499",
        "Cycles spent waiting while the needed transfer queued at a port or link behind a transfer of another tensor "
        "or core.",
    )
    WRITEBACK = (
        "writeback",
        "#88CCEE",
        "Cycles spent waiting for a slot whose output tile was still draining, or for a drain whose partial sums had "
        "to come back.",
    )
    ARRAY_FILL_DRAIN = (
        "array_fill_drain",
        "#999933",
        "Cycles in which the array's pipeline filled or emptied: stationary preload, skew and pipeline depth that no "
        "other step hid.",
    )
    SYNC = (
        "sync",
        "#F0E442",
        "Cycles spent waiting for other instances: until all members of a multicast or reduction had claimed, or all "
        "readers of a shared tile were done.",
    )
    ISSUE = (
        "issue",
        "#DDCC77",
        "Cycles spent waiting for work to be started: the launch of the operator, the set-up of a transfer, or the limit of "
        "outstanding requests.",
    )


class Described(Enum):
    """Words with a meaning: the code of each (the enum's value), and what it means, in one sentence."""

    code: str
    sentence: str

    def __new__(cls, code: str, sentence: str) -> Self:
        """The code is the value."""
        member = object.__new__(cls)
        member._value_ = code
        member.code, member.sentence = code, sentence
        return member


class Phase(Described):
    """The part of a run in which a stall fell."""

    START = ("start", "Before the lane's first busy cycle: the first tiles are on their way in.")
    STEADY = ("steady", "Between the lane's first and last busy cycle.")
    FINISH = ("finish", "After the lane's last busy cycle: the last results are on their way out.")
