"""Allocation of virtual channels: heads ask for VCs of their outputs, each output VC grants one head, each head takes one grant.

iSLIP with one iteration (McKeown, IEEE/ACM ToN 1999): grants and acceptances go in turn, and a turn moves on when a grant is
accepted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.jit import part, small_part
from accelsim.kernels.noc_layout import (
    A_MASK,
    A_OUTPUT,
    A_VC,
    ASKING,
    ASKING_WIDTH,
    B_ASKING,
    B_IN_VC,
    B_INPUT,
    B_LEG,
    B_OUT_VC,
    B_OUTPUT,
    C_BEST,
    C_GRANT,
    COPIED,
    I_ACCEPT,
    I_KIND,
    I_MASK,
    I_PORT,
    I_VC,
    IN_VC_WIDTH,
    INPUT_WIDTH,
    L_MASK,
    L_VC,
    LEG_WIDTH,
    N_ALLOCATING,
    N_SWITCHING,
    NEVER,
    NO_VC,
    O_FREE,
    OUT_VC_WIDTH,
    OUTPUT_WIDTH,
    PORTS,
    VCS,
)

Ints = NDArray[np.int64]


@small_part
def turns(place: int, first: int, places: int) -> int:
    """How many places after the first one a place has its turn."""
    return place - first if place >= first else place - first + places


@part
def ask(s: Ints, router: int, number: int, output: int, mask: int) -> None:
    """Note an input VC's request for those VCs of an output that are free."""
    free = s[s[B_OUTPUT] + (router * s[PORTS] + output) * OUTPUT_WIDTH + O_FREE] & mask
    if free == 0:
        return
    a = s[B_ASKING] + s[ASKING] * ASKING_WIDTH
    s[ASKING] += 1
    s[a + A_VC], s[a + A_OUTPUT], s[a + A_MASK] = number, output, free
    c = s[B_OUT_VC] + (router * s[PORTS] + output) * s[VCS] * OUT_VC_WIDTH + C_BEST
    for vc in range(s[VCS]):
        s[c + vc * OUT_VC_WIDTH] = NEVER


@part
def ask_all(s: Ints, router: int) -> None:
    """The requests of all heads of a router."""
    s[ASKING] = 0
    ports, vcs = s[PORTS], s[VCS]
    for port in range(router * ports, (router + 1) * ports):
        heads = s[s[B_INPUT] + port * INPUT_WIDTH + N_ALLOCATING]
        vc = 0
        while heads >> vc:
            if heads >> vc & 1:
                number = port * vcs + vc
                i = s[B_IN_VC] + number * IN_VC_WIDTH
                if s[i + I_KIND] == COPIED:
                    for output in range(ports):
                        leg = s[B_LEG] + (number * ports + output) * LEG_WIDTH
                        if s[leg + L_VC] == NO_VC:
                            ask(s, router, number - router * ports * vcs, output, s[leg + L_MASK])
                else:
                    ask(s, router, number - router * ports * vcs, s[i + I_PORT], s[i + I_MASK])
            vc += 1


@part
def take(s: Ints, router: int, number: int, output: int, vc: int) -> None:
    """A packet takes a VC of an output; it asks for the switch from the next cycle on."""
    ports, vcs = s[PORTS], s[VCS]
    o = s[B_OUTPUT] + (router * ports + output) * OUTPUT_WIDTH
    s[o + O_FREE] &= ~(1 << vc)
    whole = router * ports * vcs + number
    i, n = s[B_IN_VC] + whole * IN_VC_WIDTH, s[B_INPUT] + (router * ports + number // vcs) * INPUT_WIDTH
    bit = 1 << (number % vcs)
    left = 0
    if s[i + I_KIND] == COPIED:
        leg = s[B_LEG] + whole * ports * LEG_WIDTH + L_VC
        s[leg + output * LEG_WIDTH] = vc
        for other in range(ports):
            left += s[leg + other * LEG_WIDTH] == NO_VC
    else:
        s[i + I_VC] = vc
    s[n + N_SWITCHING] |= bit
    if left == 0:
        s[n + N_ALLOCATING] &= ~bit


@part
def allocate_vcs(s: Ints, router: int) -> None:
    """One cycle of a router's VC allocation."""
    ask_all(s, router)
    ports, vcs = s[PORTS], s[VCS]
    for asking in range(s[ASKING]):
        a = s[B_ASKING] + asking * ASKING_WIDTH
        number, mask = s[a + A_VC], s[a + A_MASK]
        c = s[B_OUT_VC] + (router * ports + s[a + A_OUTPUT]) * vcs * OUT_VC_WIDTH
        while mask:
            if mask & 1:
                best, first = s[c + C_BEST], s[c + C_GRANT]
                if best == NEVER or turns(number, first, ports * vcs) < turns(best, first, ports * vcs):
                    s[c + C_BEST] = number
            mask >>= 1
            c += OUT_VC_WIDTH
    for asking in range(s[ASKING]):
        a = s[B_ASKING] + asking * ASKING_WIDTH
        number, output, mask = s[a + A_VC], s[a + A_OUTPUT], s[a + A_MASK]
        i = s[B_IN_VC] + (router * ports * vcs + number) * IN_VC_WIDTH
        base = s[B_OUT_VC] + (router * ports + output) * vcs * OUT_VC_WIDTH
        chosen, soonest = NEVER, ports * vcs
        for vc in range(vcs):
            if mask >> vc & 1 and s[base + vc * OUT_VC_WIDTH + C_BEST] == number:
                turn = turns(output * vcs + vc, s[i + I_ACCEPT], ports * vcs)
                if turn < soonest:
                    chosen, soonest = vc, turn
        if chosen != NEVER:
            s[base + chosen * OUT_VC_WIDTH + C_GRANT] = (number + 1) % (ports * vcs)
            s[i + I_ACCEPT] = (output * vcs + chosen + 1) % (ports * vcs)
            take(s, router, number, output, chosen)
