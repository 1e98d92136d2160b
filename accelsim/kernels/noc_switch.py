"""Allocation of the switch, flit by flit, and what a flit's leaving brings about: iSLIP with one iteration again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from accelsim.kernels.jit import part
from accelsim.kernels.noc_layout import (
    ALL_SENT,
    B_FLIT,
    B_IN_VC,
    B_INPUT,
    B_LEG,
    B_OUT_VC,
    B_OUTPUT,
    B_PAIR,
    B_SLOT,
    BUFFER,
    C_CREDITS,
    COPIED,
    I_CHAIN,
    I_COUNT,
    I_FIRST,
    I_GONE,
    I_KIND,
    I_MASK,
    I_PORT,
    I_VC,
    IDLE,
    IN_VC_WIDTH,
    INPUT_WIDTH,
    JOINED,
    L_MASK,
    L_SENT,
    L_VC,
    LEG_WIDTH,
    N_ACCEPT,
    N_ALLOCATING,
    N_LINK,
    N_SWITCHING,
    N_TURN,
    NEVER,
    NO_LEG,
    O_BEST,
    O_FREE,
    O_FROM,
    O_GRANT,
    O_LINK,
    OUT_VC_WIDTH,
    OUTPUT_WIDTH,
    P_INPUT,
    P_OUTPUT,
    PAIR_WIDTH,
    PAIRS,
    PORTS,
    SPECULATIVE,
    TAIL_FLIT,
    TRAVERSAL,
    VC_BITS,
    VCS,
)
from accelsim.kernels.noc_links import return_credit, send_flit, start_packet
from accelsim.kernels.noc_vcs import turns

Ints = NDArray[np.int64]


@part
def may_pass(s: Ints, router: int, output: int, vc: int, mask: int, now: int) -> int:
    """Whether a flit could go out: 0 no, 1 yes, 2 where a VC is only hoped for (``vc`` < 0), one of ``mask`` that is free."""
    port = router * s[PORTS] + output
    o, c = s[B_OUTPUT] + port * OUTPUT_WIDTH, s[B_OUT_VC] + port * s[VCS] * OUT_VC_WIDTH + C_CREDITS
    if s[o + O_FROM] > now:
        return 0
    if vc >= 0:
        return int(s[c + vc * OUT_VC_WIDTH] > 0)
    if s[SPECULATIVE]:
        free = s[o + O_FREE] & mask
        for one in range(s[VCS]):
            if free >> one & 1 and s[c + one * OUT_VC_WIDTH] > 0:
                return 2
    return 0


@part
def request(s: Ints, router: int, input_: int, output: int, vc: int, kind: int) -> None:
    """An input's request for an output; of several VCs that with a VC at the output, then that whose turn it is, has it."""
    ports, vcs = s[PORTS], s[VCS]
    n = s[B_INPUT] + (router * ports + input_) * INPUT_WIDTH
    slot = s[B_SLOT] + input_ * ports + output
    key = (((kind - 1) * vcs + turns(vc, s[n + N_TURN], vcs)) << VC_BITS) + vc
    if s[slot] == NEVER:
        pair = s[B_PAIR] + s[PAIRS] * PAIR_WIDTH
        s[pair + P_INPUT], s[pair + P_OUTPUT] = input_, output
        s[PAIRS] += 1
        s[slot] = key
    elif key < s[slot]:
        s[slot] = key


@part
def request_all(s: Ints, router: int, now: int) -> None:
    """The requests of all VCs of a router that have a flit, and a place for it."""
    s[PAIRS] = 0
    ports, vcs, speculative = s[PORTS], s[VCS], s[SPECULATIVE]
    for input_ in range(ports):
        port = router * ports + input_
        n = s[B_INPUT] + port * INPUT_WIDTH
        ready = s[n + N_SWITCHING]
        if speculative:
            ready |= s[n + N_ALLOCATING]
        vc = 0
        while ready >> vc:
            if ready >> vc & 1:
                number = port * vcs + vc
                i = s[B_IN_VC] + number * IN_VC_WIDTH
                if s[i + I_KIND] == COPIED:
                    for output in range(ports):
                        leg = s[B_LEG] + (number * ports + output) * LEG_WIDTH
                        if s[leg + L_VC] > ALL_SENT and s[leg + L_SENT] - s[i + I_GONE] < s[i + I_COUNT]:
                            kind = may_pass(s, router, output, s[leg + L_VC], s[leg + L_MASK], now)
                            if kind:
                                request(s, router, input_, output, vc, kind)
                else:
                    kind = may_pass(s, router, s[i + I_PORT], s[i + I_VC], s[i + I_MASK], now)
                    if kind and s[i + I_KIND] == JOINED:
                        other = s[i + I_CHAIN]
                        while other != NEVER:
                            o = s[B_IN_VC] + other * IN_VC_WIDTH
                            if s[o + I_COUNT] == 0:
                                kind = 0
                            other = s[o + I_CHAIN]
                    if kind:
                        request(s, router, input_, s[i + I_PORT], vc, kind)
            vc += 1


@part
def leave(s: Ints, number: int, now: int) -> None:
    """The oldest flit of an input VC is gone: its place is free, and the next packet begins where it was a tail."""
    i = s[B_IN_VC] + number * IN_VC_WIDTH
    port, vc = number // s[VCS], number % s[VCS]
    n = s[B_INPUT] + port * INPUT_WIDTH
    flit = s[s[B_FLIT] + number * s[BUFFER] + s[i + I_FIRST]]
    s[i + I_FIRST] = s[i + I_FIRST] + 1 if s[i + I_FIRST] + 1 < s[BUFFER] else 0
    s[i + I_COUNT] -= 1
    return_credit(s, s[n + N_LINK], vc, now)
    if flit & TAIL_FLIT:
        s[n + N_SWITCHING] &= ~(1 << vc)
        s[i + I_KIND] = IDLE
        if s[i + I_COUNT]:
            start_packet(s, port, vc, now + 1)
    elif s[i + I_COUNT] == 0 and s[i + I_KIND] != COPIED:
        s[n + N_SWITCHING] &= ~(1 << vc)


@part
def pass_out(s: Ints, router: int, output: int, vc: int, flit: int, now: int) -> None:
    """A flit goes through the crossbar and onto a link; behind a tail its VC is free again."""
    port = router * s[PORTS] + output
    o = s[B_OUTPUT] + port * OUTPUT_WIDTH
    s[s[B_OUT_VC] + (port * s[VCS] + vc) * OUT_VC_WIDTH + C_CREDITS] -= 1
    if flit & TAIL_FLIT:
        s[o + O_FREE] |= 1 << vc
    s[o + O_FROM] = now + send_flit(s, s[o + O_LINK], flit, vc, now + s[TRAVERSAL])


@part
def pass_copy(s: Ints, router: int, number: int, output: int, now: int) -> None:
    """A flit of a copied packet goes out on one of its legs; it leaves the buffer when all legs have had it."""
    ports = s[PORTS]
    i, legs = s[B_IN_VC] + number * IN_VC_WIDTH, s[B_LEG] + number * ports * LEG_WIDTH
    leg = legs + output * LEG_WIDTH
    place = s[i + I_FIRST] + s[leg + L_SENT] - s[i + I_GONE]
    flit = s[s[B_FLIT] + number * s[BUFFER] + (place if place < s[BUFFER] else place - s[BUFFER])]
    pass_out(s, router, output, s[leg + L_VC], flit, now)
    s[leg + L_SENT] += 1
    if flit & TAIL_FLIT:
        s[leg + L_VC] = ALL_SENT
    least = s[leg + L_SENT]
    for other in range(ports):
        if s[legs + other * LEG_WIDTH + L_VC] != NO_LEG:
            least = min(least, s[legs + other * LEG_WIDTH + L_SENT])
    if least > s[i + I_GONE]:
        s[i + I_GONE] = least
        leave(s, number, now)
        if s[i + I_KIND] != COPIED:
            for other in range(ports):
                s[legs + other * LEG_WIDTH + L_VC] = NO_LEG


@part
def pass_flit(s: Ints, router: int, number: int, output: int, now: int) -> None:
    """A flit of an input VC goes out, and those of the packets that join it leave their buffers with it.

    One that asked for the switch before it had a VC stays where it got none, or one without room.
    """
    i = s[B_IN_VC] + number * IN_VC_WIDTH
    copied = s[i + I_KIND] == COPIED
    vc = s[s[B_LEG] + (number * s[PORTS] + output) * LEG_WIDTH + L_VC] if copied else s[i + I_VC]
    if vc < 0 or s[s[B_OUT_VC] + ((router * s[PORTS] + output) * s[VCS] + vc) * OUT_VC_WIDTH + C_CREDITS] == 0:
        return
    if copied:
        pass_copy(s, router, number, output, now)
        return
    pass_out(s, router, output, vc, s[s[B_FLIT] + number * s[BUFFER] + s[i + I_FIRST]], now)
    other = s[i + I_CHAIN] if s[i + I_KIND] == JOINED else NEVER
    leave(s, number, now)
    while other != NEVER:
        following = s[s[B_IN_VC] + other * IN_VC_WIDTH + I_CHAIN]
        leave(s, other, now)
        other = following


@part
def accept(s: Ints, router: int, first: int, end: int, chosen: int, now: int) -> None:
    """An input takes a grant; a copied packet takes all that it has for the same flit."""
    ports, vcs, base = s[PORTS], s[VCS], s[B_PAIR]
    input_, output = s[base + chosen * PAIR_WIDTH + P_INPUT], s[base + chosen * PAIR_WIDTH + P_OUTPUT]
    n = s[B_INPUT] + (router * ports + input_) * INPUT_WIDTH
    vc = s[s[B_SLOT] + input_ * ports + output] & ((1 << VC_BITS) - 1)
    number = (router * ports + input_) * vcs + vc
    s[n + N_ACCEPT], s[n + N_TURN] = (output + 1) % ports, (vc + 1) % vcs
    if s[s[B_IN_VC] + number * IN_VC_WIDTH + I_KIND] == COPIED:
        legs = s[B_LEG] + number * ports * LEG_WIDTH + L_SENT
        sent = s[legs + output * LEG_WIDTH]
        for pair in range(first, end):
            other = s[base + pair * PAIR_WIDTH + P_OUTPUT]
            o = s[B_OUTPUT] + (router * ports + other) * OUTPUT_WIDTH
            same = s[s[B_SLOT] + input_ * ports + other] & ((1 << VC_BITS) - 1) == vc
            if pair != chosen and s[o + O_BEST] == input_ and same and s[legs + other * LEG_WIDTH] == sent:
                s[o + O_GRANT] = (input_ + 1) % ports
                pass_flit(s, router, number, other, now)
    s[s[B_OUTPUT] + (router * ports + output) * OUTPUT_WIDTH + O_GRANT] = (input_ + 1) % ports
    pass_flit(s, router, number, output, now)


@part
def allocate_switch(s: Ints, router: int, now: int) -> None:
    """One cycle of a router's switch allocation, for the requests that stand in ``PAIRS``."""
    ports, base, count = s[PORTS], s[B_PAIR], s[PAIRS]
    for pair in range(count):
        input_ = s[base + pair * PAIR_WIDTH + P_INPUT]
        o = s[B_OUTPUT] + (router * ports + s[base + pair * PAIR_WIDTH + P_OUTPUT]) * OUTPUT_WIDTH
        best, first = s[o + O_BEST], s[o + O_GRANT]
        if best == NEVER or turns(input_, first, ports) < turns(best, first, ports):
            s[o + O_BEST] = input_
    begin = 0
    while begin < count:
        input_ = s[base + begin * PAIR_WIDTH + P_INPUT]
        n = s[B_INPUT] + (router * ports + input_) * INPUT_WIDTH
        chosen, soonest, end = NEVER, ports, begin
        while end < count and s[base + end * PAIR_WIDTH + P_INPUT] == input_:
            output = s[base + end * PAIR_WIDTH + P_OUTPUT]
            if s[s[B_OUTPUT] + (router * ports + output) * OUTPUT_WIDTH + O_BEST] == input_:
                turn = turns(output, s[n + N_ACCEPT], ports)
                if turn < soonest:
                    chosen, soonest = end, turn
            end += 1
        if chosen != NEVER:
            accept(s, router, begin, end, chosen, now)
        begin = end
    for pair in range(count):
        input_, output = s[base + pair * PAIR_WIDTH + P_INPUT], s[base + pair * PAIR_WIDTH + P_OUTPUT]
        s[s[B_SLOT] + input_ * ports + output] = NEVER
        s[s[B_OUTPUT] + (router * ports + output) * OUTPUT_WIDTH + O_BEST] = NEVER
