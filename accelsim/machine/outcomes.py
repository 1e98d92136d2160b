"""What transfers tell memories that are simulated, and what comes of it: data alone, which bring no kernel along."""

from __future__ import annotations

from enum import Enum
from typing import Generic, NamedTuple, TypeVar

from accelsim.kernels import memory_layout as at

Owner = TypeVar("Owner")


class Come(Enum):
    """What comes of a transfer: its first data move, all its bursts are queued, its last data have moved."""

    STARTS = at.STARTS
    ENTERED = at.ENTERED
    ENDS = at.ENDS


class Mix(NamedTuple):
    """How a stretch of waiting is explained: the last ``latency`` cycles by that, the others in proportion to these numbers."""

    latency: int
    bandwidth: int
    turnaround: int
    row: int
    refresh: int
    contention: int


class Outcome(NamedTuple, Generic[Owner]):
    """Something came of what an owner asked for; ``mixes``: how it waited before and after, as far as that is known."""

    cycle: int
    come: Come
    owner: Owner
    mixes: tuple[Mix, Mix]


class Moved(NamedTuple):
    """A transfer at a banked memory, as a driver tells it in a cycle. ``place``: which, of those of the network. ``station``,
    ``load``: whose and what; ``step``: of the level of the station; ``seq``: the residency in the memory; ``begin``: the cycle of
    its first word; ``ticks``: how long the slowest hop on its way serves it. ``piece``: which it is, of ``pieces``.
    """

    cycle: int
    place: int
    station: int
    load: int
    step: int
    seq: int
    begin: int
    ticks: int
    outward: bool
    piece: int
    pieces: int
