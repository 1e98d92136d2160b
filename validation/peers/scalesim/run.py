"""One run of SCALE-Sim in its own environment: `run.py LAYER FOLDER`, `all` for every layer; prints the cycles last.

Each report gives the index of a layer's last cycle, so the count is one more (scale-sim-v2 issue 125).
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from scalesim.scale_sim import scalesim

HERE = Path(__file__).resolve().parent


def main(layer: str, folder: Path) -> None:
    """Simulate a layer of `resnet18.csv`, or all of them, on the array of `array.cfg`."""
    head, *layers = (HERE / "resnet18.csv").read_text(encoding="utf-8").splitlines()
    layers = [line for line in layers if layer in {"all", line.partition(",")[0]}]
    topology, layout = folder / "topology.csv", folder / "layout.csv"
    topology.write_text("\n".join([head, *layers, ""]), encoding="utf-8")
    any_layout = [line.partition(",")[0] + ", 1" * 17 + "," for line in layers]  # read, but not used without custom layouts
    layout.write_text("\n".join([head, *any_layout, ""]), encoding="utf-8")
    simulator = scalesim(save_disk_space=True, verbose=False, config=str(HERE / "array.cfg"), topology=str(topology),
                         layout=str(layout))
    simulator.run_scale(top_path=str(folder))
    with (folder / "accelsim_peer" / "COMPUTE_REPORT.csv").open(encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    column = [name.strip() for name in names].index("Total Cycles")
    print(sum(int(float(row[column])) + 1 for row in rows))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
