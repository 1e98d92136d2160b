"""An operator of one's own with a mapping of one's own: what moves, and what sliding windows save."""

from pathlib import Path

from accelsim import Options, run

FOLDER = Path(__file__).parent

finished = run("toy", str(FOLDER / "smooth.yaml"), Options(mapping=str(FOLDER / "smooth-mapping.yaml")))
operator, = finished.report.done

print(f"{operator.macs:,} MACs in {operator.cycles:,} cycles")
print("bytes into and out of the SRAM")
for name, traffic in sorted(operator.levels["SRAM"].items()):
    print(f"  {name}  fill {traffic.fill_bytes:>6,}  drain {traffic.drain_bytes:>6,}")
print("X has 32 x 100 fp32 elements: 12,800 bytes. Neighbouring tiles share four of them, which are not moved again.")
