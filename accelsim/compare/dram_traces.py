"""The request traces that the two simulators were given, by name: the same addresses from a description of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from accelsim.spec.dram import Dram
from accelsim.spec.scatter import STEP, mixed

Request = tuple[bool, int]


@dataclass(frozen=True)
class Device:
    """A memory as the traces see it. The rank of a trace is the pseudo-channel where there are several of those."""

    dram: Dram

    def count(self, field: str) -> int:
        """How many of a field: banks, rows, columns."""
        return self.dram.counts[field]

    @property
    def bursts(self) -> int:
        """How many bursts it holds."""
        return self.dram.capacity_bytes // self.dram.burst_bytes

    def address(self, **place: int) -> int:
        """The address of a place; fields that are not named are 0, and values wrap around."""
        found, low = 0, 0
        have = dict.fromkeys(place, 0)
        for field, bits in self.dram.mapping:
            if field in place:
                found |= (place[field] >> have[field] & (1 << bits) - 1) << low
                have[field] += bits
            low += bits
        return found * self.dram.burst_bytes


def stream(device: Device, count: int, write: bool = False) -> list[Request]:
    """Burst after burst."""
    return [(write, i * device.dram.burst_bytes) for i in range(count)]


def scattered(device: Device, count: int, write: bool = False, seed: int = 12345, third_writes: bool = False) -> list[Request]:
    """Every burst at most once; of three, the last is a write where asked for."""
    numbers = mixed(np.uint64(seed) + np.arange(1, 2 * count + 1, dtype=np.uint64) * STEP)  # twice as many: some come again
    bursts = list(dict.fromkeys((numbers % np.uint64(device.bursts)).tolist()))[:count]
    return [((third_writes and i % 3 == 2) or write, burst * device.dram.burst_bytes) for i, burst in enumerate(bursts)]


def rows_of_a_bank(device: Device, count: int) -> list[Request]:
    """A new row of one bank each time."""
    return [(False, device.address(row=i)) for i in range(count)]


def rows_of_a_group(device: Device, count: int) -> list[Request]:
    """A new row each time, bank after bank of one bank group."""
    banks = device.count("bank")
    return [(False, device.address(bank=i % banks, row=i // banks)) for i in range(count)]


def rows_of_all_banks(device: Device, count: int) -> list[Request]:
    """A new row each time, bank group after bank group."""
    groups, banks = device.count("bank_group"), device.count("bank")
    return [(False, device.address(bank_group=i % groups, bank=i // groups % banks, row=i // (groups * banks)))
            for i in range(count)]


def columns_of_a_bank(device: Device, count: int, write: bool = False) -> list[Request]:
    """Columns of a row of one bank, then of the next row."""
    columns = device.count("column")
    return [(write, device.address(column=i % columns, row=i // columns)) for i in range(count)]


def columns_over_groups(device: Device, count: int, write: bool = False) -> list[Request]:
    """Columns of open rows, bank group after bank group."""
    groups, columns = device.count("bank_group"), device.count("column")
    return [(write, device.address(bank_group=i % groups, column=i // groups % columns, row=i // (groups * columns)))
            for i in range(count)]


def two_rows_in_turn(device: Device, count: int) -> list[Request]:
    """Columns of two rows of one bank in turn."""
    columns = device.count("column")
    return [(False, device.address(row=2 * (i // 2 // columns) + i % 2, column=i // 2 % columns)) for i in range(count)]


def two_streams(device: Device, count: int) -> list[Request]:
    """Two reads of one stream, then a write of another, which begins in the middle of the memory."""
    burst, middle = device.dram.burst_bytes, device.bursts // 2
    return [(True, (middle + i // 3) * burst) if i % 3 == 2 else (False, (i - i // 3) * burst) for i in range(count)]


def tiles(device: Device, count: int) -> list[Request]:
    """Tiles of 128 rows of 256 B of a matrix whose rows are 8 KiB, one tile after another along the rows."""
    burst = device.dram.burst_bytes
    each, across = 256 // burst, 8192 // 256
    found = []
    for i in range(count):
        tile, inside = divmod(i, 128 * each)
        row, piece = divmod(inside, each)
        found.append((False, (tile // across * 128 + row) * 8192 + tile % across * 256 + piece * burst))
    return found


CASES: dict[str, tuple[Callable[[Device], list[Request]], int, bool]] = {
    "seq_rd": (lambda d: stream(d, 20000), 0, False),
    "seq_wr": (lambda d: stream(d, 20000, write=True), 0, False),
    "rand_rd": (lambda d: scattered(d, 20000), 0, False),
    "rand_wr": (lambda d: scattered(d, 20000, write=True), 0, False),
    "rand_mix21": (lambda d: scattered(d, 20000, third_writes=True), 0, False),
    "one_bank_new_row": (lambda d: rows_of_a_bank(d, 4000), 0, False),
    "same_bg_new_row": (lambda d: rows_of_a_group(d, 8000), 0, False),
    "all_banks_new_row": (lambda d: rows_of_all_banks(d, 20000), 0, False),
    "one_bank_row_hits": (lambda d: columns_of_a_bank(d, 20000), 0, False),
    "bg_rotate_row_hits": (lambda d: columns_over_groups(d, 20000), 0, False),
    "one_bank_row_hits_wr": (lambda d: columns_of_a_bank(d, 20000, write=True), 0, False),
    "bg_rotate_row_hits_wr": (lambda d: columns_over_groups(d, 20000, write=True), 0, False),
    "pingpong_full": (lambda d: two_rows_in_turn(d, 4000), 0, False),
    "pingpong_serial": (lambda d: two_rows_in_turn(d, 2000), 0, True),
    "mix21_seq": (lambda d: two_streams(d, 21000), 0, False),
    "tile_128x256_ld8192": (lambda d: tiles(d, 16384), 0, False),
    "lat_rand_gap200": (lambda d: scattered(d, 2000, seed=777), 200, False),
    "lat_rowhit_serial": (lambda d: columns_of_a_bank(d, 2000), 0, True),
    "lat_rowmiss_serial": (lambda d: rows_of_a_bank(d, 2000), 0, True),
    "rand_rd_gap16": (lambda d: scattered(d, 10000, seed=99), 16, False),
    "rand_rd_gap8": (lambda d: scattered(d, 10000, seed=99), 8, False),
    "one_channel_seq": (lambda d: columns_over_groups(d, 20000), 0, False),
}
"""By name: the requests, the cycles between them, and whether each waits for the one before."""


def conflict(device: Device) -> list[Request]:
    """Hits, and two rows that take each other's place."""
    return [(False, device.address(row=row, column=column)) for row, column in ((0, 0), (0, 1), (1, 0), (0, 2), (1, 1), (0, 3))]


def turns(device: Device) -> list[Request]:
    """Writes, reads, and writes elsewhere."""
    other = 1 % device.count("bank_group")
    return ([(True, device.address(column=i)) for i in range(10)] + [(False, device.address(column=16 + i)) for i in range(6)]
            + [(True, device.address(bank_group=other, column=i)) for i in range(10)])


TINY: dict[str, Callable[[Device], list[Request]]] = {
    "tiny_seq8_rd": lambda d: stream(d, 8),
    "tiny_rowhit_then_conflict": conflict,
    "tiny_16banks_act": lambda d: rows_of_all_banks(d, min(20, d.count("bank_group") * d.count("bank") + 4)),
    "tiny_bg_rotate16": lambda d: columns_over_groups(d, 16),
    "tiny_wr_rd_turn": turns,
    "tiny_rand24": lambda d: scattered(d, 24, seed=5),
}
