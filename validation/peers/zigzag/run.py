"""One run of ZigZag in its own environment: `run.py gemm|conv FOLDER`; prints the cycles last."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import zigzag
from zigzag.api import get_hardware_performance_zigzag

INPUTS = Path(zigzag.__path__[0]) / "inputs"
COMMON = {"id": 0, "operand_precision": {"W": 8, "I": 8, "O": 16, "O_final": 8}, "operand_source": {"W": 0, "I": 0}}
LAYERS = {
    "gemm": COMMON | {
        "name": "gemm", "operator_type": "Gemm", "equation": "O[b][k]+=W[k][c]*I[b][c]", "dimension_relations": [],
        "loop_dims": ["B", "K", "C"], "loop_sizes": [256, 256, 256]},
    "conv": COMMON | {
        "name": "conv", "operator_type": "Conv", "equation": "O[b][g][k][oy][ox]+=W[g][k][c][fy][fx]*I[b][g][c][iy][ix]",
        "dimension_relations": ["ix=1*ox+1*fx", "iy=1*oy+1*fy"],
        "loop_dims": ["B", "K", "G", "OX", "OY", "C", "FX", "FY"], "loop_sizes": [1, 128, 1, 28, 28, 128, 3, 3],
        "pr_loop_dims": ["IX", "IY"], "pr_loop_sizes": [28, 28], "padding": [[1, 1], [1, 1]]},
}


def main(layer: str, folder: Path) -> None:
    """Search mappings of a layer for the least latency on ZigZag's own example of a TPU."""
    logging.disable(logging.CRITICAL)
    _, cycles, *_ = get_hardware_performance_zigzag(
        [LAYERS[layer]], str(INPUTS / "hardware" / "tpu_like.yaml"), str(INPUTS / "mapping" / "tpu_like.yaml"), opt="latency",
        dump_folder=str(folder), loma_show_progress_bar=False)
    print(round(cycles))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
