"""Pictures of claims and their page of the documentation: `python -m validation.claims.build`, or `make study`."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from pathlib import Path
from statistics import mean, median

from validation.claims.measures import CAPACITIES, SIDE, SWEPT, best_traffic, elasticities, in_one_pass, largest_drop, off_target

PAGE = Path(__file__).resolve().parents[2] / "docs" / "claims.md"
NOTE = "<!-- Written by `make study` from what validation/claims/measures.py measures. -->"
RATES = (2, 4, 8, 16, 32, 64)


def page() -> str:
    """The text."""
    return "\n".join(["# Claims of the field, in pictures", "", NOTE, "",
                      "Sentences that the literature on accelerators repeats, measured here. Each has a test that can fail; the "
                      "list of all is in `validation/claims/README.md`. That closed forms are wrong in known ways has [a page "
                      "of its own](analytic-error.md).", "", *capacity(), "", *targets(), "", *binding()]) + "\n"


def capacity() -> Iterator[str]:
    """Claim 4."""
    first, last = (best_traffic(SIDE, words)[0] for words in (CAPACITIES[0], CAPACITIES[-1]))
    yield from ("## Best traffic falls as one over the root of capacity", "",
                f"{SIDE} x {SIDE} x {SIDE}, every side of a tile and every order that keeps one tensor in place, searched by "
                f"the estimate and simulated: {CAPACITIES[-1] // CAPACITIES[0]} times the capacity moves {first / last:.2f} "
                f"times fewer words, each doubling about {(first / last) ** (1 / (len(CAPACITIES) - 1)):.2f} times fewer. Among "
                "cubes the best has the side sqrt(C / 3) of the closed form; but tiles one deep in the reduction, whose outputs "
                f"take nearly all of the room, move {best_traffic(SIDE, CAPACITIES[-1], cubes=True)[0] / last:.2f} times less "
                "still.", "",
                "![Words moved against capacity: best cubes, best tiles, and their closed forms](img/claim-capacity.svg)", "",
                "| words of SRAM | best cubes | best tiles | 2 N^3 / sqrt(C) |", "| --- | --- | --- | --- |")
    for words in CAPACITIES:
        yield (f"| {words} | {best_traffic(SIDE, words, cubes=True)[0]:,} | {best_traffic(SIDE, words)[0]:,} | "
               f"{2 * SIDE ** 3 / sqrt(words):,.0f} |")


def targets() -> Iterator[str]:
    """Claim 9."""
    yield from ("## Degrade, do not cliff", "",
                "One extent swept from a fifth to five times its target, mapped anew by `auto` each time: throughput over that "
                "at the target. The mean hides the worst. A saw is the array or a buffer filling up and starting again; its "
                "largest tooth is the cliff.", "",
                "![Throughput over that at the target, from a fifth to five times it](img/claim-target.svg)", "",
                "| chip | extent, target | at one more | worst | at | median | mean | largest drop between neighbours | to |",
                "| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, dtype, dim, target, others in SWEPT:
        shares = off_target(name, dtype, dim, target, others)
        at = min(shares, key=lambda extent: shares[extent])
        drop, after = largest_drop(shares)
        yield (f"| {name} | {dim}, {target} | {shares[target + 1]:.2f} | {shares[at]:.2f} | {at} | "
               f"{median(shares.values()):.2f} | {mean(shares.values()):.2f} | {100 * max(0.0, drop):.0f} % | {after} |")
    shares = off_target(*SWEPT[2])
    drop, after = largest_drop(shares)
    yield from ("", f"The largest, of {100 * drop:.0f} % on {SWEPT[2][0]}, is no fault of the machine: the tiles that `auto` "
                    f"writes are square by a formula, and at {after} rows no longer hold all of them, so that all weights are "
                    "read twice. Mapped by hand, all rows past each tile of weights at once, the array is "
                    f"{in_one_pass(after):.1%} used, {in_one_pass(after) / in_one_pass(SWEPT[2][3]):.2f} times the target.")


def binding() -> Iterator[str]:
    """Claim 23."""
    yield from ("## Find the binding resource first", "",
                "By how many doublings a run shortens when one resource is doubled (latency halved), as the rate of the DRAM "
                "goes up: what binds moves from the DRAM to the array, and everything else is worth nothing.", "",
                "![Elasticity of each resource against the rate of the DRAM](img/claim-binding.svg)", "",
                "| DRAM, B/cycle | " + " | ".join(elasticities()) + " |", "| --- |" + " --- |" * len(elasticities()))
    for rate in RATES:
        # a rounded nothing has no sign
        yield f"| {rate} | " + " | ".join(f"{round(value, 2) + 0.0:.2f}" for value in elasticities(dram=rate).values()) + " |"


def main() -> None:
    """Write the pictures and the page."""
    from validation.claims.pictures import draw
    draw()
    PAGE.write_text(page(), encoding="utf-8")
    print(f"written: {PAGE.name} and its pictures")


if __name__ == "__main__":
    main()
