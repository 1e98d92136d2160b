"""Transfers counted by size, and the cycles that they take at each station of their way.

``m`` is the model, ``s`` the scratch of one row (``estimate_layout``).
"""

from __future__ import annotations

from accelsim.kernels.estimate_layout import (
    ALONE,
    BYTES,
    ELEMENTS,
    GRAIN,
    JOINED,
    LEAST,
    P_TICKS,
    PER_BYTE,
    POOLED,
    RATE,
    ROUNDS,
    SETUP,
    STOP_WIDTH,
    TICKS,
    TRANSFERS,
    W_LATENCY,
    W_STOP,
    W_STOPS,
)
from accelsim.kernels.estimate_steps import Ints
from accelsim.kernels.jit import part, small_part


@small_part
def service(m: Ints, stop: int, payload: int) -> int:
    """Sixteenths of a cycle that a stop serves so many bytes, without the setup."""
    return rounded(m, stop, parts(m, stop, payload))


@small_part
def parts(m: Ints, stop: int, payload: int) -> int:
    """The same in ``RATE``-ths of a sixteenth, where it is whole; 0 where it takes no time."""
    if m[stop + RATE] == 0:
        return 0
    carried, grain = max(payload, m[stop + LEAST]), m[stop + GRAIN]
    if grain > 1:
        carried = (carried + grain - 1) // grain * grain
    return int(carried * m[stop + PER_BYTE])


@small_part
def rounded(m: Ints, stop: int, found: int) -> int:
    """Whole sixteenths of parts of them, as the stop rounds a transfer of its own."""
    if m[stop + RATE] > 1:
        return int((found + (m[stop + RATE] - 1) * min(1, m[stop + ROUNDS])) // m[stop + RATE])
    return found


@part
def carry(m: Ints, way: int, size: int, times: int, bits: int, s: Ints, total: int) -> None:
    """Adds so many transfers of ``size`` elements of ``bits`` on a way to the totals, which begin at ``total`` of ``s``.

    Each transfer is whole bytes; alone it takes the latency [cycles] and the service of its slowest stop. What has no
    elements is no transfer.
    """
    if size == 0 or times == 0:
        return
    payload, slowest, place = (size * bits + 7) >> 3, 0, total + TICKS
    for i in range(m[way + W_STOPS]):
        stop = m[way + W_STOP] + i * STOP_WIDTH
        served = parts(m, stop, payload)
        ticks = rounded(m, stop, served)
        if m[stop + ROUNDS] == JOINED:
            s[place] += size * bits * m[stop + PER_BYTE] * min(1, m[stop + RATE]) * times
        else:
            s[place] += (served if m[stop + ROUNDS] == POOLED else ticks) * times
        slowest = max(slowest, ticks + m[stop + SETUP])
        place += 1
    s[total + ELEMENTS] += size * times
    s[total + BYTES] += payload * times
    s[total + TRANSFERS] += times
    s[total + ALONE] += (m[way + W_LATENCY] + ((slowest + 15) >> 4)) * times


@part
def alone(m: Ints, way: int, size: int, bits: int, s: Ints) -> int:
    """Cycles from the request of one transfer to its arrival, if nothing else moves; nothing moves in no time.

    Writes the sixteenths of service at each stop to its place in ``s``.
    """
    payload, slowest = (size * bits + 7) >> 3, 0
    for i in range(m[way + W_STOPS]):
        stop = m[way + W_STOP] + i * STOP_WIDTH
        ticks = service(m, stop, payload) if payload > 0 else 0
        s[m[stop + P_TICKS]] = ticks
        slowest = max(slowest, ticks + m[stop + SETUP])
    return int(m[way + W_LATENCY] + ((slowest + 15) >> 4)) if payload > 0 else 0


@small_part
def credit(total: int, stays: int, slots: int, even: int) -> int:
    """Cycles of a hold's credit loops: with b slots, a b-th of the sum of all loops, rounded up.

    ``total`` cycles of all loops, one for each of its ``stays``. Where all loops are alike (``even`` 1), the longest of the
    b chains has whole ones: with stays = b (c - 1) + r it takes c of them.
    """
    if slots == 1:
        return total
    if even == 1:
        short = slots - 1 - (stays - 1) % slots
        if short > 0:
            each = total // stays
            total += each * short + ((total - each * stays) * short + stays - 1) // stays
    return (total + slots - 1) // slots
