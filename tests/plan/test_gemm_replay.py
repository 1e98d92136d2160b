"""Are the words into and out of each level those that a replay with sets counts? GEMM 8x8x8, all orders of the outer loops."""

from __future__ import annotations

from collections import Counter
from itertools import permutations, product

import pytest

from ..helpers import chip, entry, gemm, level, make, run

TILES = [{"m": 4, "n": 4, "k": 4}, {"m": 3, "n": 4, "k": 5}, {"m": 5, "n": 3, "k": 3}, {"m": 8, "n": 1, "k": 3}]
INDEXED = {"A": "mk", "B": "kn", "C": "mn"}


def counted(order: tuple[str, ...], tile: dict[str, int]) -> Counter[tuple[str, str]]:
    """Fills, drains and refills in words; nothing here knows of loops that do not move a tensor."""
    found: Counter[tuple[str, str]] = Counter()
    held: dict[str, set[tuple[int, int]]] = {name: set() for name in INDEXED}
    drained: set[tuple[int, int]] = set()
    for starts in product(*(range(0, 8, tile[dim]) for dim in order)):
        box = {dim: range(start, min(start + tile[dim], 8)) for dim, start in zip(order, starts, strict=True)}
        for name, (x, y) in INDEXED.items():
            now = set(product(box[x], box[y]))
            if now == held[name]:
                continue
            if name != "C":
                found[name, "fill"] += len(now - held[name])
            else:
                found[name, "drain"] += len(held[name])
                drained |= held[name]
                found[name, "refill"] += len(now & drained)
            held[name] = now
    found["C", "drain"] += len(held["C"])
    return found


@pytest.mark.parametrize("tile", TILES, ids=lambda tile: "x".join(map(str, tile.values())))
@pytest.mark.parametrize("order", list(permutations("mnk")), ids="".join)
def test_six_orders(order: tuple[str, ...], tile: dict[str, int]) -> None:
    bounds = {dim: -(-8 // tile[dim]) for dim in "mnk"}
    case = make(
        chip([level("DRAM"), level("SRAM")]),
        gemm(8, 8, 8),
        entry("DRAM", " ".join(f"{dim}{bounds[dim]}" for dim in order)),
        entry("SRAM", " ".join(f"{dim}{tile[dim]}" for dim in "mnk")),
    )
    traffic = run(case).timeline.traffic
    moved = Counter(
        {
            ("A", "fill"): traffic["SRAM", "A"].fill_elements,
            ("B", "fill"): traffic["SRAM", "B"].fill_elements,
            ("C", "drain"): traffic["SRAM", "C"].drain_elements,
            ("C", "refill"): traffic["SRAM", "C"].refill_elements,
        }
    )
    assert +moved == +counted(order, tile)


def test_the_stated_words() -> None:
    """DRAM loops k2 m2 n2 over tiles of 4x4x4: A 64, B 128; C written 128, refilled 64."""
    assert counted(("k", "m", "n"), TILES[0]) == {("A", "fill"): 64, ("B", "fill"): 128, ("C", "drain"): 128, ("C", "refill"): 64}
