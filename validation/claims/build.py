"""Pictures of claims and their page of the documentation: `python -m validation.claims.build`, or `make study`."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from pathlib import Path
from statistics import mean, median

from validation.claims import caches
from validation.claims.caches import LINE, Sides
from validation.claims.mapping_page import buffers, intensity, levels, mapspace, orders, refills
from validation.claims.measures import CAPACITIES, SIDE, SWEPT, best_traffic, elasticities, in_one_pass, largest_drop, off_target
from validation.claims.shapes_page import filling, peaks, runs

PAGE = Path(__file__).resolve().parents[2] / "docs" / "claims.md"
NOTE = "<!-- Written by `make study` from what the modules of validation/claims measure. -->"
RATES = (2, 4, 8, 16, 32, 64)


def page() -> str:
    """The text."""
    sections = (intensity(), orders(), refills(), capacity(), levels(), buffers(), mapspace(), filling(), targets(), peaks(),
                runs(), cached(), binding())
    return "\n".join(["# Claims of the field, in pictures", "", NOTE, "",
                      "Sentences that the literature on accelerators repeats, measured here, under their numbers in [the list of "
                      "all](concepts.md#claims-of-the-field). Each has a test that can fail. Number 22, that closed forms are "
                      "wrong in known ways, has [a page of its own](analytic-error.md).",
                      *(line for section in sections for line in ("", *section))]) + "\n"


def capacity() -> Iterator[str]:
    """Claim 4."""
    first, last = (best_traffic(SIDE, words)[0] for words in (CAPACITIES[0], CAPACITIES[-1]))
    yield from ("## 4. Best traffic falls as one over the root of capacity", "",
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
    yield from ("## 9. Degrade, do not cliff", "",
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


def losing() -> Iterator[tuple[str, str, str, Sides]]:
    """Where a cache loses: mechanism, what is varied, its misses by hand, what was found."""
    for pitch in caches.PITCHES:
        for ways in caches.WAYS:
            meet = pitch == caches.PITCHES[0] and ways < caches.WAYS[-1]
            yield ("conflicts", f"{ways} way{'s' * (ways > 1)}, rows {4 * pitch:,} B apart",
                   "32 x 64 / 16, for each of 16 columns" if meet else "32 x 64 / 16", caches.conflicts(ways, pitch))
    for width in caches.WIDTHS:
        yield "over-fetch", f"tiles {width} word{'s' * (width > 1)} wide", f"64 x 64 / {width}", caches.narrow(width)
    for lines in caches.ROOMS:
        # of the 32 lines that stay, those which more than so many come between; the test says how they are counted
        again = 30 if lines < 49 else 28 if lines < 56 else 0
        yield "cyclic reuse", f"{lines} lines", "256 + 32" + f" + 15 x {again}" * (again > 0), caches.cyclic(lines)
    yield "reads before writes", "outputs", "64 x 64 / 16, and as many written", caches.results()
    for flights in caches.FLIGHTS:
        yield "no prefetch", f"{flights} in flight", "64 x 128 / 16", caches.streamed(flights)


def saving() -> Iterator[tuple[str, str, str, Sides]]:
    """Where it saves a mapping, likewise."""
    for side in caches.SIDES:
        yield "small tiles", f"{side} x {side} x {side}", "3 x 32 x 32 / 16", caches.small(side)
    for depth in caches.DEPTHS:
        yield "sums that leave", f"{depth} deep", "32 x 32 / 16, and as many written", caches.spilled(depth)
    for rows in caches.ROWS:
        yield "windows", f"{rows} row{'s' * (rows > 1)} of outputs", "2 x 34 x 34 / 16, and one twice", caches.windows(rows)


def cached() -> Iterator[str]:
    """Claim 12."""
    worst, thrashed, few = caches.conflicts(4, caches.PITCHES[0]), caches.cyclic(caches.ROOMS[0]), caches.streamed(16)
    best, whole, window = caches.small(caches.SIDES[0]), caches.small(caches.SIDES[-1]), caches.windows(1)
    yield from ("## 12. A cache against a scratchpad", "",
                "The same mapping on a scratchpad, and on a cache of the same capacity in its place (`accelsim sram --cache`: "
                f"lines of {LINE} B, least recently used, 16 misses in flight), one mechanism at a time; the mappings are in "
                "`validation/claims/caches.py`.", "",
                "- *Where it loses.* The mapping is good, and the cache does not know it. Rows a power of two apart meet in a "
                f"few sets: {worst.bytes_ratio:.0f} times the bytes with up to four ways, no more with eight, or with a line of "
                "padding. "
                "Tiles narrower than a line bring lines of which the rest is gone before it is wanted. What streams past once "
                f"stays until it is the oldest, so that a tile that just fits a scratchpad is lost: {thrashed.bytes_ratio:.1f} "
                f"times the bytes with {caches.ROOMS[0]} lines, all well with {caches.ROOMS[-1]}. Outputs are read before they "
                "are written. And nothing comes before it is asked for: a stream that two slots hide takes "
                f"{few.cycles_ratio:.1f} times as long.",
                "- *Where it saves.* The mapping throws away what the memory could have kept: small tiles in a large "
                f"memory ({1 / best.bytes_ratio:.2f} times fewer bytes, {1 / best.cycles_ratio:.1f} times fewer cycles), sums "
                "that leave and come back because the reduction is outermost, windows that overlap across rows of tiles. Each "
                f"line comes once, whatever the tiles: with the right ones the scratchpad moves {whole.bytes_ratio:.2f} times "
                "less, as it reads no outputs.",
                f"- *Bytes are not cycles.* Overlapping windows move {1 / window.bytes_ratio:.1f} times fewer bytes, and take "
                f"{window.cycles_ratio:.1f} times as long: the array waits for each line.", "",
                "![Bytes and cycles of a cache over those of a scratchpad, by mechanism](img/claim-cache.svg)", "",
                "*By hand* are the misses, in lines. Cycles are simulated on both sides.", "",
                "| mechanism | varied | misses: cold, capacity, conflict | by hand | cache, bytes | scratchpad, bytes | cache, "
                "cycles | scratchpad, cycles |", "| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, varied, hand, one in (*losing(), *saving()):
        yield (f"| {name} | {varied} | {one.cold:,}, {one.capacity:,}, {one.conflict:,} | {hand} | "
               f"{one.cache_in + one.cache_out:,} | {one.pad_in + one.pad_out:,} | {one.cycles:,} | {one.pad_cycles:,} |")


def binding() -> Iterator[str]:
    """Claim 23."""
    yield from ("## 23. Find the binding resource first", "",
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
