"""Sections of the page on claims 8, 10 and 11: work that does not have the shape of what it runs on."""

from __future__ import annotations

from collections.abc import Iterator

from validation.claims import memory, shapes
from validation.claims.mapping_page import heads, percent, row


def filling() -> Iterator[str]:
    """Claim 8."""
    narrow = [shapes.weighted(side, 1, 1024, 1024).utilization for side in shapes.ARRAYS]
    yield from ("## 8. An array fills only if the work fills it", "",
                "Square arrays in which weights stay, loaded between passes; memory costs nothing. A pass loads R rows of "
                "weights, streams the rows of the input and waits 2 R - 2 cycles for the last result. Few rows leave the array "
                "waiting, few columns or a short reduction leave PEs without a weight, and no order of loops changes that. "
                f"Twice the side halves the share that a vector uses ({percent(narrow[0], 2)} and {percent(narrow[1], 2)}), "
                "and quarters it where the columns do not fill either array, as those of a small expert. The channels of a "
                "depthwise convolution are not summed up, so that each has nine weights in one column.", "",
                "![Share of the peak against rows and columns, for two sides of an array](img/claim-filling.svg)", "",
                *heads("work", "M x N x K", *(f"cycles, {side} x {side}" for side in shapes.ARRAYS),
                       *(f"of peak, {side} x {side}" for side in shapes.ARRAYS)))
    for name, m, n, k in shapes.WORK:
        both = [shapes.weighted(side, m, n, k) for side in shapes.ARRAYS]
        yield row(name, f"{m} x {n} x {k}", *(one.cycles for one in both), *(percent(one.utilization, 2) for one in both))
    both = [shapes.depthwise(side) for side in shapes.ARRAYS]
    yield row(shapes.DEPTHWISE, "64 times 784 x 1 x 9", *(one.cycles for one in both),
              *(percent(one.utilization, 3) for one in both))


def peaks() -> Iterator[str]:
    """Claim 10."""
    yield from ("## 10. Peak says little", "",
                "Three units of 64 MACs a cycle, memory costs nothing. One takes a cube of 4 x 4 x 4 every cycle, one 8 x 8 x "
                "8 every eighth, one 16 x 16 x 16 every 64th: an operation that is not full takes as long as a full one, so "
                "what is delivered is the product of how full each side is. And a unit that is deep keeps the slot of an "
                "output until the last sum is out: tiles of 16 cycles take (16 + depth) / slots, or 16 if that is more.", "",
                "![Share of the peak against the size of the outputs, and against the depth of the unit](img/claim-peak.svg)", "",
                *heads("outputs, reduction of 64", *(f"{side} x {side} x {side} every {interval}"
                                                     for side, interval in shapes.UNITS)))
    for extent in (1, 4, 5, 8, 9, 16, 17, 32):
        yield row(f"{extent} x {extent}", *(percent(shapes.native(*unit, extent, extent, shapes.REDUCED).utilization, 1)
                                            for unit in shapes.UNITS))
    yield from ("", *heads("depth, cycles", *(f"cycles a tile, {slots} slot{'s' * (slots > 1)}" for slots in shapes.SLOTS)))
    for depth in shapes.LAGS:
        yield row(depth, *(f"{float(shapes.lagging(depth, slots)):g}" for slots in shapes.SLOTS))


def runs() -> Iterator[str]:
    """Claim 11."""
    yield from ("## 11. Granularity punishes", "",
                "512 KiB read from one channel without refresh, in runs that lie anywhere. Bursts that follow each other take "
                "turns over four bank groups, so that of a run of up to four each opens a row of its own. Rows may be opened "
                "every 4 cycles on this LPDDR5, 8 on GDDR6 and 6.5 on DDR4 (tFAW / 4, or tRRD), while a burst takes 2, 2 and 4 "
                "on the bus: a half, a quarter and six tenths of the peak are left. In longer runs a row serves several "
                "bursts, and the bus binds, but for runs that meet in one bank.", "",
                "![Share of the peak against the length of a run, for three technologies](img/claim-runs.svg)", "",
                *heads("bytes in a run", *(f"{name}, of {found.peak / 1e9:.1f} GB/s" for name in memory.MEMORIES
                                           for found in [memory.scattered(memory.RUNS[-1], name)] if found),
                       *(f"{name}, bursts a row opened" for name in memory.MEMORIES)))
    for length in memory.RUNS:
        found = [memory.scattered(length, name) for name in memory.MEMORIES]
        yield row(length, *(percent(one.share, 1) if one else f"a burst is {2 * length} B" for one in found),
                  *(f"{one.bursts / one.activates:.1f}" if one else "" for one in found))
