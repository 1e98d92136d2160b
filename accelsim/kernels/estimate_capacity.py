"""Whether the tiles of one row fit where they are held.

``m`` is the model, ``s`` the scratch of one row (``estimate_layout``); ``hold`` says where its record begins, ``bound[column]``.
"""

from __future__ import annotations

from accelsim.kernels.estimate_holds import iterates
from accelsim.kernels.estimate_layout import (
    B_HOLD,
    B_MEMORY,
    C_PLAIN,
    H_COUNTS,
    H_JOB,
    H_JOBS,
    H_MEMORY,
    H_PARTIAL,
    H_PARTIAL_END,
    H_SLOTS,
    H_SPREAD,
    H_SPREAD_END,
    H_TENSOR,
    HOLD_WIDTH,
    HOLDS,
    I_LOOKS,
    IMAGES,
    J_LOOK,
    M_BANK,
    M_CAPACITY,
    M_NEEDED,
    MEMORIES,
    MEMORY_WIDTH,
    T_BITS,
    T_ELEMENTS,
    T_WINDOW,
    T_WINDOWS,
    WIDE,
)
from accelsim.kernels.estimate_steps import Ints
from accelsim.kernels.jit import part, small_part


@small_part
def ceil_div(value: int, by: int) -> int:
    """Quotient rounded up."""
    return value if by == 1 else (value + by - 1) // by


@part
def held_bits(m: Ints, hold: int, bound: Ints) -> int:
    """Bits of an element held: an output's that can be unfinished there are the accumulator's."""
    return int(m[WIDE] if iterates(m, m[hold + H_PARTIAL], m[hold + H_PARTIAL_END], bound) else m[m[hold + H_TENSOR] + T_BITS])


@small_part
def largest_held(m: Ints, s: Ints, images: Ints, hold: int, bound: Ints) -> int:
    """Elements of a hold's largest tile; at home those of an instance's share of the tensor."""
    tensor = m[hold + H_TENSOR]
    if m[hold + H_JOBS] == 0:
        instances = 1
        for i in range(m[hold + H_SPREAD], m[hold + H_SPREAD_END]):
            instances *= bound[m[i]]
        return ceil_div(m[tensor + T_ELEMENTS], instances)
    elements = s[m[hold + H_COUNTS] + C_PLAIN]
    for window in range(m[tensor + T_WINDOWS]):
        elements *= images[s[m[IMAGES] + m[tensor + T_WINDOW] + window] + I_LOOKS + m[m[hold + H_JOB] + J_LOOK]]
    return int(elements)


@part
def fits(m: Ints, s: Ints, images: Ints, bound: Ints) -> bool:
    """Whether the slots of every hold fit its memory (whole banks) and the array's registers."""
    for i in range(m[MEMORIES]):
        s[m[m[B_MEMORY] + i * MEMORY_WIDTH + M_NEEDED]] = 0
    for i in range(m[HOLDS]):
        hold = m[B_HOLD] + i * HOLD_WIDTH
        memory = m[hold + H_MEMORY]
        if memory < 0:
            continue
        elements = largest_held(m, s, images, hold, bound)
        if m[memory + M_BANK] == 0:  # registers hold elements
            if elements > m[memory + M_CAPACITY]:
                return False
            continue
        size = (elements * held_bits(m, hold, bound) + 7) >> 3
        s[m[memory + M_NEEDED]] += ceil_div(size, m[memory + M_BANK]) * m[memory + M_BANK] * m[hold + H_SLOTS]
        if s[m[memory + M_NEEDED]] > m[memory + M_CAPACITY]:
            return False
    return True
