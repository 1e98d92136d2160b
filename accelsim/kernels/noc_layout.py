"""Where everything of a network on chip stands: one array of integers, a head, then sections of records.

A router has ``PORTS`` places for input ports and as many for output ports, used from the lowest up; each has ``VCS`` virtual
channels. An input VC has its number ``(router x PORTS + input) x VCS + vc``, an output VC the same with its output. Times
are cycles of the network's clock.
"""

from __future__ import annotations

NEVER = -1
FAR = 1 << 62
"""Later than anything."""
VC_BITS = 6
"""Bits of a VC's number in what travels over a link."""
HEAD_FLIT, TAIL_FLIT, FLIT_BITS = 2, 1, 2
"""A flit is its packet's number x 4, + 2 for a head, + 1 for a tail."""

# -- the head: what does not change -----------------------------------------------------------------------------------

(ROUTERS, NODES, PORTS, VCS, COMMON_VCS, BUFFER, ROUTING, TRAVERSAL, SPECULATIVE, COMBINE, WHEEL,
 # what does
 NOW, MOVED, ACTIVE_ROUTERS, ACTIVE_NODES, TRAVELLING, FREE_EVENT, NEXT_PACKET, PACKETS, DELIVERED, PAIRS, ASKING,
 B_ROUTE, B_INPUT, B_OUTPUT, B_IN_VC, B_OUT_VC, B_FLIT, B_LEG, B_LINK, B_NODE, B_NODE_VC, B_AWAKE, B_ROUTER_LIST, B_NODE_LIST,
 B_WHEEL, B_EVENT, B_SLOT, B_PAIR, B_ASKING, B_TREE, B_JOIN, B_GROUP, HEAD) = range(44)
"""``COMMON_VCS``: those below serve packets, those from it on reductions, each one group at a time. ``BUFFER``: flits of an
input VC. ``ROUTING``: cycles of the routing stage, 0 where the route is known beforehand. ``TRAVERSAL``: cycles through the
crossbar. ``SPECULATIVE``: heads ask for the switch while they ask for a VC. ``COMBINE``: cycles by which joining packets holds up
the head. ``WHEEL``: a power of two of cycles, more than anything travels. ``MOVED``: the last cycle in which anything set out.
``ACTIVE_ROUTERS``, ``ACTIVE_NODES``: how many have something to do; ``TRAVELLING``: flits and credits on links. ``PAIRS``,
``ASKING``: requests for the switch, and for VCs, in the cycle and router that are looked at.
"""

# -- records ----------------------------------------------------------------------------------------------------------

N_ROUTING, N_ALLOCATING, N_SWITCHING, N_TURN, N_ACCEPT, N_LINK, N_ROW, N_DIMENSION, INPUT_WIDTH = range(9)
"""An input port: bits of its VCs whose head is routed, asks for a VC, has a flit for the switch; the VC from which on its next
request for an output is chosen; the output from which on it accepts; the link into it; which rows of the routes hold for what
comes by it (0, 1, or -1: as the packet's coins say); the dimension it comes from (-1: none).
"""
O_FREE, O_GRANT, O_LINK, O_FROM, O_DIMENSION, O_BEST, OUTPUT_WIDTH = range(7)
"""An output port: bits of the VCs that no packet holds, the input from which on it grants, its link (-1: not used), from when
on the link may take a flit, its dimension, and the input that it grants in this cycle.
"""
I_FIRST, I_COUNT, I_PORT, I_VC, I_MASK, I_READY, I_ACCEPT, I_CHAIN, I_KIND, I_GONE, IN_VC_WIDTH = range(11)
"""An input VC: its oldest flit's place, how many flits it holds; of the packet at its front: output port, output VC (-1: none
yet), bits of the output VCs that it may take, when its route is known; the output VC from which on it accepts; the next VC whose
packet joins this one's (-1: none), what it is, and how many flits have left (of a copied packet).
"""
IDLE, SINGLE, COPIED, JOINED, WAITING = range(5)
"""Kinds: no packet; one to one output; one to several; one that others join; one that waits for, or goes with, another."""
C_CREDITS, C_GRANT, C_BEST, OUT_VC_WIDTH = range(4)
"""An output VC: free places in the buffer behind it, the input VC from which on it grants, and the one it grants now."""
L_VC, L_MASK, L_SENT, LEG_WIDTH = range(4)
"""A leg, of an input VC and an output port: the output VC of a copied packet (``NO_LEG``, ``NO_VC`` yet, or which), the bits of
those that it may take, and flits sent.
"""
NO_LEG, NO_VC, ALL_SENT = -3, -1, -2
K_TO_PORT, K_TO_NODE, K_FROM_PORT, K_FROM_NODE, K_LATENCY, K_CYCLES, K_FLITS, LINK_WIDTH = range(8)
"""A link: the input port or the node at its end, the output port or the node at its beginning (-1: none); its latency, cycles
that a flit takes of it, and the flits that it has carried.
"""
S_FIRST, S_LAST, S_SENT, S_VC, S_LAST_VC, S_LINK, S_ACTIVE, S_FROM, NODE_WIDTH = range(9)
"""A node: its first and last waiting packet, flits that have left of the first, on which VC, the VC of the one before, its
injection link, whether it is in the list of active ones, and from when on its link may take a flit.
"""
E_NEXT, E_LINK, E_WHAT, EVENT_WIDTH = range(4)
"""What travels: the next one that arrives in the same cycle, over which link (a credit: against it), and a flit x 2^VC_BITS + VC,
or -1 - VC for a credit.
"""
P_INPUT, P_OUTPUT, PAIR_WIDTH = range(3)
"""A request of an input for an output in the cycle that is looked at; its VC stands in the slot of both."""
A_VC, A_OUTPUT, A_MASK, ASKING_WIDTH = range(4)
"""A request of an input VC (its number within the router) for any of the VCs of an output."""
T_PORT_IN, T_OUTPUT, T_CLASS, TREE_WIDTH = range(4)
"""An output that a copied packet takes where it comes in by an input port."""
J_ROUTER, J_EXPECTED, J_ARRIVED, J_CHAIN, J_OUTPUT, J_HEAD, J_TAIL, JOIN_WIDTH = range(8)
"""A router of a reduction: how many packets join in it, how many have come, the latest (-1: none), the output,
and, transfer by transfer, when the last head and the last tail may go on.
"""
G_FIRST, G_END, G_DONE, GROUP_WIDTH = range(4)
"""A reduction: its first router's record, the one behind its last, and whether its packet has arrived."""

ANY, LOWER, UPPER = range(3)
"""Which VCs a route allows: a torus keeps what passes its dateline from what does not."""
CLASS_BITS = 2
"""A route is an output port x 4 + one of those."""

# -- packets ----------------------------------------------------------------------------------------------------------

(Q_CREATED, Q_SOURCE, Q_DESTINATION, Q_FLITS, Q_COINS, Q_TREE, Q_TREE_END, Q_GROUP, Q_DELIVERY, Q_DELIVERIES, Q_NEXT, Q_INJECTED,
 PACKET_WIDTH) = range(13)
"""A packet: when it is there, from which node, to which, how many flits, by dimension a bit that says which of two equally long
ways it takes; where its tree is
(-1: one destination), its reduction (-1: none), its first delivery and how many, the next one of its source, when its head left.
"""
D_NODE, D_HEAD, D_TAIL, DELIVERY_WIDTH = range(4)
"""A delivery: to which node, when the head and the tail arrived (-1: not yet)."""
