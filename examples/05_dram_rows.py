"""The same matrix from the same DRAM: tiles that lie along its rows, and tiles that cut across them.

With a bandwidth alone only the number of transfers tells tiles apart. With the channels of the DRAM, 64 B of each row come from
one bank group, whose bursts must keep a longer distance than those of two in turn, and small tiles open rows anew.
"""

import tempfile
from pathlib import Path

from accelsim import Options, run

CHIP = str(Path(__file__).with_name("behind-ddr4.yaml"))
A_RATE = ("chip.levels.DRAM.timing=null", "chip.levels.DRAM.bandwidth=19.2 GB/s")
TILES = {"64 whole rows": (1, 16), "64 rows of 64 B": (16, 16), "all rows of 64 B": (16, 1)}
"""How often n and k are cut in the DRAM."""

print("tiles of B             bandwidth    channels   dram_row  dram_turnaround   row hits  bytes moved")
for name, (n, k) in TILES.items():
    with tempfile.TemporaryDirectory() as folder:
        mapping = Path(folder) / "mapping.yaml"
        mapping.write_text(f"levels:\n  - {{level: DRAM, loops: [{{n: {n}}}, {{k: {k}}}]}}\n"
                           f"  - {{level: SRAM, loops: [{{n: {16 // n}}}, {{k: {1024 // k}}}]}}\n", encoding="utf-8")
        cycles = []
        for overrides in (A_RATE, ()):
            options = Options(mapping=str(mapping), overrides=overrides)
            (one,) = run(CHIP, "gemm:m=16,n=1024,k=1024,dtype=int8", options).report.done
            cycles.append(one.cycles)
    lost = {cause.code: stalled for cause, stalled in one.stalls.items()}
    hits = one.counts["dram_row_hits"] / one.counts["dram_bursts"]
    print(f"{name:<20} {cycles[0]:>11,} {cycles[1]:>11,}",
          f"{lost.get('dram_row', 0):>10,} {lost.get('dram_turnaround', 0):>16,} {hits:>10.1%} {one.counts['dram_bytes']:>12,}")
