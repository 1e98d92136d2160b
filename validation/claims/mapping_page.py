"""Sections of the page on claims 1, 2, 3, 5, 6 and 7: mappings of one product against each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from validation.claims import mapping, spaces
from validation.claims.mapping import DEEP, DRAM_TB_S, ORDERS, PEAK_TFLOPS, ROOFED, TILE


def heads(*names: str) -> tuple[str, str]:
    """The first two lines of a table."""
    return "| " + " | ".join(names) + " |", "|" + " --- |" * len(names)


def row(*cells: object) -> str:
    """A line of it; whole numbers with commas."""
    return "| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in cells) + " |"


def percent(share: float, digits: int = 0) -> str:
    """A share as text."""
    return f"{100 * share:.{digits}f} %"


def count_of(many: int) -> str:
    """A number of mappings: whole, or as a power of ten."""
    if many < 10 ** 9:
        return f"{many:,}"
    digits, _, power = f"{many:.1e}".partition("e+")
    return f"{digits} x 10^{int(power)}"


def placed() -> Sequence[tuple[str, str, str]]:
    """The mappings of claim 1: name, mapping, closed form of the intensity without outputs."""
    return (("nothing resident", mapping.NOTHING, "1/6"),
            *((f"tiles of side {side}", mapping.tiled(side), f"T / 4 = {side // 4}") for side in mapping.TILES),
            ("everything resident", mapping.ALL, f"N / 6 = {ROOFED / 6:.1f}"))


def intensity() -> Iterator[str]:
    """Claim 1."""
    whole = mapping.square(ROOFED, mapping.ALL)
    yield from ("## 1. Intensity belongs to the mapping", "",
                f"The same 2 N^3 operations, N = {ROOFED} and words of 4 bytes, on one MAC a cycle whose DRAM brings as many "
                f"bytes for an operation as an H100's ({PEAK_TFLOPS:.0f} TFLOP/s in TF32, {DRAM_TB_S:.2f} TB/s: "
                f"{PEAK_TFLOPS / DRAM_TB_S:.0f} operations a byte). With nothing resident each MAC moves two operands and a "
                "sum. Square tiles of side T move 2 N^3 / T words of operands, and the outputs once. With everything resident "
                "3 N^2 words pass. The DRAM binds all but the last, which therefore lie on the roof. The last is past the "
                f"ridge and reaches {percent(whole.macs / whole.cycles)} of the peak all the same: one tile of everything is "
                "loaded, used and stored in turn, and nothing overlaps.", "",
                "![Five mappings of one product on one roofline](img/claim-intensity.svg)", "",
                *heads("mapping", "bytes moved", "operations a byte", "closed form, without outputs",
                       "TFLOP/s, were the peak an H100's", "roof, TFLOP/s"))
    for name, what, closed in placed():
        found = mapping.square(ROOFED, what)
        rate, roof = PEAK_TFLOPS * found.macs / found.cycles, min(PEAK_TFLOPS, float(found.intensity) * DRAM_TB_S)
        yield row(name, found.moved, f"{float(found.intensity):.2f}", closed, f"{rate:.2f}", f"{roof:.2f}")


def orders() -> Iterator[str]:
    """Claim 2."""
    yield from ("## 2. Permutation decides reuse", "",
                f"Products of one size by the same tiles, {TILE} x {TILE} outputs and {DEEP} deep, in the same memory; only the "
                "order of the three loops at the DRAM differs. What the innermost loop does not index stays. Outputs that do not "
                "stay are read, added to and written again at every step of the reduction. Where rows are many and the reduction "
                "is short weights should stay, where columns are many inputs should; outputs should where the reduction is long. "
                "With tiles twice as deep as wide the formulas cross where K is twice M, or twice N. No order wins everywhere.",
                "", "![Words moved by three orders against the length of the reduction](img/claim-orders.svg)", "",
                *heads("M", "N", "K", *(f"words, {stays} stay" for stays in ORDERS), "least"))
    for many in ("m", "n"):
        for m, n, k in mapping.swept(many):
            moved = {stays: mapping.permuted(order, m, n, k).moved // mapping.WORD for stays, order in ORDERS.items()}
            yield row(m, n, k, *moved.values(), min(moved, key=moved.__getitem__))


def refills() -> Iterator[str]:
    """Claim 3."""
    m, n = mapping.REDUCED
    yield from ("## 3. A reduction outside its outputs is traffic", "",
                f"{m} x {n} outputs by the same tiles, with the loop over the reduction outermost or innermost. Outermost, every "
                "step leaves the whole output unfinished: it is drained K / Tk times and comes back K / Tk - 1 times. "
                "Innermost, sums stay until they are finished and leave once.", "",
                "![Traffic of the output over its size against the steps of the reduction](img/claim-refills.svg)", "",
                *heads("K", "K / Tk", "k outermost: refills, of the output's size", "drains", "k innermost: refills", "drains"))
    for k in mapping.DEPTHS:
        both = [mapping.permuted(order, m, n, k) for order in (mapping.OUTERMOST, ORDERS["outputs"])]
        yield row(k, k // DEEP, *(f"{part / (mapping.WORD * m * n):g}" for one in both for part in (one.refilled, one.drained)))


def levels() -> Iterator[str]:
    """Claim 5."""
    count, chosen = spaces.greedy_and_joint()
    joint = chosen["both at once"]
    yield from ("## 5. Levels cannot be tiled independently", "",
                f"16 x 16 x 16 behind an SRAM of 96 words and a register file of 24, all factors and all orders: {count:,} "
                "mappings that fit. A greedy search takes the mappings that are best for one border alone, and of these the "
                "best for the other. Each is better than the joint search at the border that it looked at first, and worse at "
                "the other by more: the SRAM's one port serves both, so that what is saved on one side is paid on the other. "
                "Cycles are simulated.", "",
                "![Bytes at both borders and cycles of three searches, over those of the joint one](img/claim-levels.svg)", "",
                *heads("search", "bytes, DRAM to SRAM", "bytes, SRAM to register file", "cycles", "of joint", "mapping"))
    for name, one in chosen.items():
        yield row(name, one.outer, one.inner, one.cycles, f"{one.cycles / joint.cycles:.2f}", f"`{one.mapping}`")


def buffers() -> Iterator[str]:
    """Claim 6."""
    ratios = {rate: mapping.blocked(8, 2, rate) / mapping.blocked(16, 1, rate) for rate in mapping.BLOCK_RATES}
    least, most = min(ratios.values()), max(ratios.values())
    yield from ("## 6. Double buffering is capacity spent on latency", "",
                "Tiles of 256 B stream past, each of which takes 64 cycles to compute. With one buffer a tile takes load + "
                "compute, with two the longer of both: twice as fast at best, where they are equal. But two buffers halve the "
                "tile that fits. On the right a product has room for 16 rows of its left operand, as two tiles of 8 that "
                "overlap or as one of 16, for which the right operand comes half as often. Where the DRAM is fast enough the "
                f"overlap wins, by {percent(1 - least)} at most; where it binds the larger tile does, by a factor of up to "
                f"{most:.2f}.", "",
                "![Cycles a tile with one buffer and two; and where two lose](img/claim-buffers.svg)", "",
                *heads("DRAM, B/cycle", "load", "compute", "one buffer, cycles a tile", "two buffers"))
    for rate in mapping.STREAM_RATES:
        yield row(rate, f"{256 / float(rate):g}", 64, *(f"{float(mapping.period(count, rate)):g}" for count in (1, 2)))
    yield from ("", *heads("DRAM, B/cycle", "two tiles of 8 rows, cycles", "one of 16 rows", "two / one"))
    for rate, ratio in ratios.items():
        yield row(rate, mapping.blocked(8, 2, rate), mapping.blocked(16, 1, rate), f"{ratio:.2f}")


def steps() -> Sequence[tuple[str, int, bool]]:
    """Of claim 7: what is counted, how many, and whether that is already pruned."""
    found = spaces.counted()
    in_order = found.tilings * found.orders
    return (("tilings", found.tilings, False), ("x orders of loops, three levels", in_order, False),
            ("x dimensions for two axes", in_order * found.spatial, False),
            ("x what stays where", in_order * found.spatial * found.bindings, False),
            ("tilings x orders of loops that run", found.run, True), ("of these, those that fit", found.fit, True),
            ("tilings that fit, in one order", found.fitting, True), ("of these, not dominated", found.undominated, True))


def mapspace() -> Iterator[str]:
    """Claim 7."""
    extents = " x ".join(str(extent) for extent in spaces.CONVOLUTION.values())
    found, (tried, differ) = spaces.counted(), spaces.distinct_orders()
    yield from ("## 7. The mapspace is huge, and mostly illegal or equivalent", "",
                f"A convolution of {extents}, seven loops, over three levels: factors, orders, which dimension each of two "
                "axes of an array takes, and which of three tensors stay at which of two levels multiply. Most of it need not "
                f"be looked at. A loop of one iteration has no place in an order, which leaves {found.run:,} of "
                f"{found.tilings * found.orders:.1e} tilings in an order. {percent(found.fitting / found.tilings)} of the "
                f"tilings fit into 512 B and 96 B. In one order {found.undominated} of {found.fitting:,} are not dominated by "
                f"another in cycles and in the bytes of both borders. And orders repeat each other: of {tried:,} orders of "
                f"seven loops that all run {differ} differ in traffic.", "",
                "![How many mappings there are, and how many are left, on a logarithmic axis](img/claim-mapspace.svg)", "",
                *heads("counted", "mappings", ""))
    for name, count, pruned in steps():
        yield row(name, count_of(count), "left" if pruned else "there are")
    yield row("orders of the outermost loops of one tiling", tried, "there are")
    yield row("of these, with a traffic of their own", differ, "left")
