"""What a network is to carry: packets, copies of one to several nodes, and reductions of several into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

MOST_PACKETS = 20_000_000
LONGEST_PACKET = 1 << 24
LATEST = 1 << 40
SEVERAL = -1
"""In place of a destination: there are several."""


@dataclass(frozen=True)
class Traffic:
    """Packets in the order in which each node sends its own.

    ``created``: int64[n], the cycle from which each is there, never sooner than the one before of its node; ``sources``,
    ``destinations`` (``SEVERAL`` where ``copies`` has them) and ``flits``: int64[n]. ``group``: int64[n], the reduction that a
    packet is part of, counted from 0 in the order of their first packets, or -1; its packets have one destination and one length.
    """

    created: Ints
    sources: Ints
    destinations: Ints
    flits: Ints
    group: Ints
    copies: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.created)

    @property
    def delivered_flits(self) -> int:
        """Flits that arrive at nodes: those of a copied packet once for each, those of a reduction once."""
        single = int(self.flits[self.group < 0].sum())
        more = sum(int(self.flits[packet]) * (len(nodes) - 1) for packet, nodes in self.copies.items())
        groups, first = np.unique(self.group[self.group >= 0], return_index=True)
        return single + more + (int(self.flits[self.group >= 0][first].sum()) if len(groups) else 0)


def traffic_of(rows: Sequence[tuple[int, int | tuple[int, ...], int | tuple[int, ...], int]]) -> Traffic:
    """Traffic of (created, source, destination, flits); several destinations copy a packet, several sources reduce theirs."""
    packets: list[tuple[int, int, int, int, int]] = []
    copies: dict[int, tuple[int, ...]] = {}
    groups = 0
    for when, source, destination, length in rows:
        if isinstance(destination, tuple):
            copies[len(packets)] = destination
        end = SEVERAL if isinstance(destination, tuple) else destination
        if isinstance(source, tuple):
            packets += [(when, one, end, length, groups) for one in source]
            groups += 1
        else:
            packets.append((when, source, end, length, -1))
    table = np.array(packets, dtype=np.int64).reshape(-1, 5)
    created, sources, destinations, flits, group = (np.ascontiguousarray(table[:, column]) for column in range(5))
    return Traffic(created, sources, destinations, flits, group, copies)
