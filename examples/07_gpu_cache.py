"""How large an L2 a GPU wants: the same product on an A100 whose cache is smaller or larger than it is.

CTA tiles run in waves. Within a wave the cores ask for the same rows and columns at the same step, which the link to them reads
once; from wave to wave only what the cache still has is spared the way from the HBM.
"""

from accelsim import Options, run

SIZES = ("2 MiB", "10 MiB", "40 MiB", "160 MiB")

print("L2          from HBM  to HBM   A hits   B hits       time  bound by")
for size in SIZES:
    options = Options(overrides=(f"chip.levels.HBM.cache={size}", "chip.levels.HBM.bandwidth=800 GB/s"))
    (one,) = run("a100", "gemm:m=4096,n=8192,k=512,dtype=fp16", options).report.done
    hits = {name: own["hit"] / (own["hit"] + own["missed"]) for name, own in one.cache.items() if own["hit"] + own["missed"]}
    read, written = (sum(own[what] for own in one.cache.values()) / 2**20 for what in ("missed", "back"))
    print(f"{size:<9} {read:>6.1f} MiB {written:>4.0f} MiB {hits['A']:>8.1%} {hits['B']:>8.1%} {one.time_s * 1e6:>7.1f} us",
          one.bound_by)
