"""How much DRAM latency do one, two and three buffers hide? One mapping, the latency and the buffers overridden."""

from pathlib import Path

from accelsim import Options, run

MAPPING = str(Path(__file__).with_name("tiles.yaml"))


def cycles(latency: int, buffers: int) -> int:
    overrides = (f"chip.levels.DRAM.latency={latency} cycles", f"chip.levels.SRAM.buffers={buffers}")
    return run("toy", "gemm:m=8,n=8,k=8", Options(mapping=MAPPING, overrides=overrides)).report.cycles


print("DRAM latency   1 buffer  2 buffers  3 buffers")
for latency in (0, 25, 50, 100, 200, 400):
    print(f"{latency:>12}", *(f"{cycles(latency, buffers):>10,}" for buffers in (1, 2, 3)))
