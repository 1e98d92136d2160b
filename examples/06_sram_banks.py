"""Where the words of a scratchpad lie: the same product with its input by rows and by columns, over few banks and many.

Gemmini's array takes a row of sixteen inputs in a cycle, one word of 16 B where they lie by rows, and loads the next weights
under it. With a bandwidth alone none of that matters; with banks that are simulated, whoever comes second to a bank waits.
"""

from accelsim import Options, run

SPAD = "chip.levels.ONCHIP.memories.SPAD"
BANKS = {"4, word by word": (4, "word"), "16, word by word": (16, "word"), "4, one behind the other": (4, "bank")}

print("banks                     A lies by       cycles  bank_conflict  own accesses  transfers")
for name, (count, interleave) in BANKS.items():
    for layout in ("row", "column", "padded:1"):
        overrides = (f"{SPAD}.banks={count}", f"{SPAD}.bank_width=16 B", f"{SPAD}.interleave={interleave}",
                     f"mapping.levels.ONCHIP.layout.A={layout}")
        options = Options(dataflow="weight-stationary", overrides=overrides)
        (one,) = run("gemmini", "gemm:m=256,n=128,k=128,dtype=int8", options).report.done
        stalled = {cause.code: cycles for cause, cycles in one.stalls.items()}
        print(f"{name:<25} {layout:<10} {one.cycles:>11,} {stalled.get('bank_conflict', 0):>14,}",
              f"{one.counts['bank_own_cycles']:>13,} {one.counts['bank_transfer_cycles']:>10,}")
