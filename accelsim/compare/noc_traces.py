"""The packet lists of `validation/noc/cases.csv`, by name: (created, source, destination, flits) for so many nodes."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt

Rows = list[tuple[int, int, int, int]]
FLITS = 64
"""Flits that a node sends to each of its partners, but for the scenarios of one packet."""


def _to(partner: Callable[[int, int], int]) -> Callable[[int, int], Rows]:
    """Every node to one partner, all packets there at once; a node has none for itself."""
    def made(nodes: int, length: int) -> Rows:
        return [(0, node, partner(node, nodes), length) for node in range(nodes) for _ in range(FLITS // length)
                if partner(node, nodes) != node]
    return made


def _middle(nodes: int) -> int:
    """The node behind the middle: of a square in both directions."""
    side = isqrt(nodes)
    return nodes // 2 + (side // 2 if side * side == nodes else 0)


def _transposed(node: int, nodes: int) -> int:
    side = isqrt(nodes)
    return node % side * side + node // side


SCENARIOS: dict[str, Callable[[int, int], Rows]] = {
    "zeroload": lambda nodes, length: [(200 * node, 0, node, length) for node in range(nodes)],
    "p2p": lambda nodes, length: [(0, 0, nodes - 1, length)] * (FLITS // length),
    "neighbor": _to(lambda node, nodes: (node + 1) % nodes),
    "shift_half": _to(lambda node, nodes: (node + nodes // 2) % nodes),
    "transpose": _to(_transposed),
    "incast0": _to(lambda *_: 0),
    "incastmid": _to(lambda _, nodes: _middle(nodes)),
    "scatter0": lambda nodes, length: [(0, 0, node, length) for _ in range(FLITS // length) for node in range(1, nodes)],
    "ringstep": lambda nodes, length: [(0, node, (node + 1) % nodes, length) for node in range(nodes)],
    "all2all": lambda nodes, length: [(0, node, (node + step) % nodes, length)
                                      for node in range(nodes) for step in range(1, nodes)],
}
