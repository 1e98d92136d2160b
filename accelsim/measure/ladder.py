"""From peak to delivered: what each kind of loss leaves of the peak, as factors whose product is the utilization, exactly."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from accelsim.measure.report import OperatorReport
from accelsim.stalls import Described, StallCause


class Loss(Described):
    """One kind of loss between peak and delivered."""

    SHAPE = ("shape", "PEs that a running step does not use: tiles that do not fill the array, padding.")
    PORTS = ("ports", "Running steps that take longer than their MACs, waiting for an operand or result port.")
    FILL_DRAIN = ("fill_drain", "The array's pipeline filling and emptying: preload, skew, depth, results.")
    BANDWIDTH = ("bandwidth", "Waiting for bytes in service at a memory or a link; rows, refreshes, turnarounds and bank "
                 "conflicts among them.")
    LATENCY = ("latency", "Waiting for bytes on their way, which hold no port.")
    CONTENTION = ("contention", "Waiting behind transfers of other tensors or cores, or for a slot that was still draining.")
    OVERHEAD = ("overhead", "Waiting for other instances, for launches and set-ups.")
    IDLE = ("idle", "PEs without work: not yet begun, done before others, or never given any.")


LOSS_OF = {
    StallCause.ARRAY_FILL_DRAIN: Loss.FILL_DRAIN,
    StallCause.DRAM_BANDWIDTH: Loss.BANDWIDTH, StallCause.DRAM_ROW: Loss.BANDWIDTH, StallCause.DRAM_REFRESH: Loss.BANDWIDTH,
    StallCause.DRAM_TURNAROUND: Loss.BANDWIDTH, StallCause.SRAM_BANDWIDTH: Loss.BANDWIDTH,
    StallCause.BANK_CONFLICT: Loss.BANDWIDTH, StallCause.LINK_BANDWIDTH: Loss.BANDWIDTH,
    StallCause.DRAM_LATENCY: Loss.LATENCY, StallCause.SRAM_LATENCY: Loss.LATENCY, StallCause.LINK_LATENCY: Loss.LATENCY,
    StallCause.CONTENTION: Loss.CONTENTION, StallCause.WRITEBACK: Loss.CONTENTION,
    StallCause.SYNC: Loss.OVERHEAD, StallCause.ISSUE: Loss.OVERHEAD,
}
"""The kind of loss that a stall cause is."""


@dataclass(frozen=True)
class Rung:
    """One loss: the ``factor`` it multiplies the peak with, and what is ``delivered`` of the peak after it and those before."""

    loss: Loss
    factor: Fraction
    delivered: Fraction


def ladder(operators: Iterable[OperatorReport]) -> tuple[Rung, ...]:
    """The rungs of one operator, or of several one after another with their repeats; every kind of loss, in order.

    Taken from the inside out, so that what the mapping's shape leaves does not change with the memories: a factor is what
    remains over what remains and what is lost, and the last ``delivered`` is the utilization.
    """
    useful = Fraction(0)
    lost = dict.fromkeys(Loss, Fraction(0))
    for one in operators:
        weight = Fraction(one.repeat, one.case.interval_cycles)  # PE-cycles of different types are worth different MACs
        pes = one.pe_cycles
        useful += pes.useful * weight
        lost[Loss.SHAPE] += pes.shape * weight
        lost[Loss.PORTS] += pes.ports * weight
        lost[Loss.IDLE] += pes.idle * weight
        stalled = sum(one.stalls.values())
        for cause, cycles in one.stalls.items():
            lost[LOSS_OF[cause]] += Fraction((pes.fill_drain + pes.stalled) * cycles, stalled or 1) * weight
    rungs: list[Rung] = []
    remaining, delivered = useful, Fraction(1)
    for loss in Loss:
        before = remaining + lost[loss]
        factor = remaining / before if before else Fraction(1)
        delivered *= factor
        rungs.append(Rung(loss, factor, delivered))
        remaining = before
    return tuple(rungs)
