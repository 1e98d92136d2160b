"""Ports of a bank: some for reads, some for writes, some for either. How long they take, and how they are shared out."""

from __future__ import annotations

from accelsim.kernels.jit import small_part


@small_part
def shared_out(count: int, ports: int) -> int:
    """Cycles that so many accesses of a bank take over so many ports."""
    return -(-count // ports) if ports > 0 else 0


@small_part
def cycles_of(reads: int, writes: int, own_reads: int, own_writes: int, both: int) -> int:
    """Cycles that so many reads and writes of a bank take alone.

    In T cycles there are T x ``own_reads`` ports for reads alone, T x ``own_writes`` for writes, T x ``both`` for either: enough
    where reads beyond the first and writes beyond the second fit the third, so where reads, writes, and both together fit what
    may serve them.
    """
    return max(shared_out(reads, own_reads + both), shared_out(writes, own_writes + both),
               shared_out(reads + writes, own_reads + own_writes + both))


@small_part
def reads_of(taken: int, reads: int, writes: int, own_reads: int, own_writes: int, both: int) -> int:
    """How many of ``taken`` free ports for either go to reads, the others to writes, of so many that are left: so that the rest
    is done soonest alone; to reads where that is the same.
    """
    least, chosen = -1, 0
    for of_reads in range(min(taken, reads), max(0, taken - writes) - 1, -1):
        left = cycles_of(reads - of_reads, writes - (taken - of_reads), own_reads, own_writes, both)
        if least < 0 or left < least:
            least, chosen = left, of_reads
    return chosen
