"""A DRAM technology: its organisation, its timings under JEDEC's names, and how its controller goes about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

FIELDS = ("channel", "pseudo_channel", "rank", "bank_group", "bank", "row", "column")
"""The parts of a place in a memory. A column is a burst."""


class Page(Enum):
    """What becomes of a row after an access: it stays open, or is closed when nothing else waits for it."""

    OPEN = "open"
    CLOSED = "closed"


class Refresh(Enum):
    """How a memory is refreshed: not at all, all banks of a rank at once, or bank after bank."""

    NONE = "none"
    ALL_BANK = "all-bank"
    PER_BANK = "per-bank"


@dataclass(frozen=True)
class Timing:
    """Times in cycles of the memory's clock, as JEDEC names them; ``BL``: cycles of the data bus that a burst takes.

    Optional ones are None where the standard has no such rule: ``tRTW`` is CL + BL + 2 - CWL then.
    """

    BL: int
    CL: int
    CWL: int
    tRCDRD: int
    tRCDWR: int
    tRP: int
    tRPab: int
    tRAS: int
    tRC: int
    tRTP: int
    tWR: int
    tCCD_S: int
    tCCD_L: int
    tRRD_S: int
    tRRD_L: int
    tFAW: int
    tWTR_S: int
    tWTR_L: int
    tRTW: int
    tRTRS: int
    tPPD: int
    tRFC: int
    tREFI: int
    tRFCpb: int
    tREFIpb: int
    tRREFD: int
    tpbR2pbR: int
    BL_long: int
    tAAD: int
    tWCKPST: int


@dataclass(frozen=True)
class Commands:
    """What the command bus is like: cycles that each command takes of it, and what it can do besides.

    ``two_buses``: one for row commands and one for column commands. ``half_clock``: a cycle here is half a clock, and all
    but precharges start with a clock. ``split_activate``: activating takes two commands. ``wck``: the data clock is started
    by a command of its own when it has stopped.
    """

    ACT: int
    PRE: int
    RD: int
    WR: int
    REF: int
    two_buses: bool
    half_clock: bool
    split_activate: bool
    wck: bool


@dataclass(frozen=True)
class Controller:
    """The controller of a channel: first ready, first come, from a queue of reads and one of writes.

    ``queue``: requests in each. ``write_high``: so many writes begin to be served before reads, ``write_low``: so few end it.
    ``protect_hits``: a row is not closed before older requests that hit it are served; nor before younger ones, until it was
    hit ``row_hit_cap`` times.

    ``second_queue``: with one of so many requests, one goes on into it in a cycle, and in it reads and writes are chosen from
    together, each until its column command; no row is closed there before any older request of its bank. Writes go on before
    reads from when ``write_high`` wait, or ``write_alone`` do and the second queue is empty, as many as waited then. 0: none.
    """

    queue: int
    write_high: int
    write_low: int
    page: Page
    refresh: Refresh
    protect_hits: bool
    row_hit_cap: int
    second_queue: int = 0
    write_alone: int = 1


@dataclass(frozen=True)
class Dram:
    """A memory. ``counts``: how many there are of each of ``FIELDS``, of each within the one above; columns are bursts.

    ``mapping``: the fields of an address above the burst, from the lowest bits up, with how many bits of each.
    """

    name: str
    standard: str
    description: str
    cycle_s: Fraction
    burst_bytes: int
    counts: Mapping[str, int]
    timing: Timing
    commands: Commands
    controller: Controller
    mapping: tuple[tuple[str, int], ...]

    @property
    def peak_bytes_per_s(self) -> Fraction:
        """What all its data buses carry at most."""
        busy = max(self.timing.BL, self.timing.tCCD_S)
        return self.counts["channel"] * self.counts["pseudo_channel"] * self.burst_bytes / (busy * self.cycle_s)

    @property
    def capacity_bytes(self) -> int:
        """All that it holds."""
        total = self.burst_bytes
        for count in self.counts.values():
            total *= count
        return total
