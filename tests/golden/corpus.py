"""Runs whose numbers are kept: when one changes though nobody asked for anything else, `results_version` must go up.

`python -m tests.golden.corpus` writes them anew, and refuses to while a number changed under the same version.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

from accelsim.outputs.results import run_json
from accelsim.verbs import Options, run
from accelsim.version import RESULTS_VERSION

FILE = Path(__file__).with_name("corpus.json")
ROOT = Path(__file__).resolve().parents[2]
SIMULATED = ("cycles", "macs", "stalls", "phases", "fill_drain", "pe_cycles", "levels", "lanes", "dram", "cache", "banks",
             "links")
"""Keys of an operator's JSON that the simulation decides; what is derived from them or estimated may change freely."""

Row = dict[str, Any]


class Golden(NamedTuple):
    """A run: chip (shipped, or a file of the repository), workload, dataflow, overrides."""

    chip: str
    workload: str
    dataflow: str = "auto"
    overrides: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """As it would be asked for."""
        return " ".join([self.chip, self.workload, *([self.dataflow] if self.dataflow != "auto" else []), *self.overrides])


INT8 = "gemm:m=200,n=150,k=170,dtype=int8"
FP16 = "gemm:m=1000,n=700,k=300,dtype=fp16"
SPAD = "chip.levels.ONCHIP.memories.SPAD"
CASES: tuple[Golden, ...] = (
    Golden("toy", "gemm:m=4,n=4,k=4"),
    Golden("toy", "gemm:m=64,n=50,k=70"),
    Golden("toy", "gemm:m=64,n=50,k=70", overrides=("chip.levels.SRAM.buffers=1", "chip.levels.DRAM.bandwidth=1.9 B/cycle")),
    Golden("toy", "conv2d:n=1,k=6,c=5,p=12,q=11,r=3,s=3"),
    Golden("toy", "depthwise2d:n=1,c=12,p=14,q=14,r=3,s=3"),
    Golden("toy3", "gemm:m=40,n=36,k=50"),
    Golden("toy3", "gemm:m=40,n=36,k=50", overrides=("chip.levels.SRAM.latency=50 cycles",)),
    *(Golden("tpu-v1", INT8, dataflow) for dataflow in ("auto", "weight-stationary")),
    Golden("tpu-v1", "conv2d:n=2,k=64,c=32,p=14,q=14,r=3,s=3,dtype=int8"),
    Golden("tpu-v3", "gemm:m=512,n=384,k=640,dtype=bf16"),
    Golden("tpu-v6e", "gemm:m=512,n=384,k=640,dtype=bf16"),
    Golden("gemmini", INT8),
    Golden("gemmini", INT8, "output-stationary"),
    Golden("gemmini", "gemm:m=64,n=64,k=64,dtype=int8", "weight-stationary", (f"{SPAD}.banks=4", f"{SPAD}.bank_width=16 B")),
    Golden("eyeriss", "conv2d:n=1,k=16,c=8,p=27,q=27,r=5,s=5,dtype=int16"),
    Golden("nvdla-small", "conv2d:n=1,k=16,c=16,p=14,q=14,r=3,s=3,dtype=int8"),
    Golden("onnxim", FP16),
    Golden("a100", FP16),
    Golden("mi210", FP16),
    Golden("groq-tsp", "gemm:m=320,n=320,k=320,dtype=int8"),
    Golden("examples/behind-ddr4.yaml", "gemm:m=96,n=80,k=72"),
    Golden("examples/mesh.yaml", "gemm:m=128,n=96,k=64,dtype=int8"),
)


def measured(case: Golden) -> Row:
    """What the corpus keeps of a run: what was asked, as a hash, its cycles, and a digest of all that was simulated."""
    chip = str(ROOT / case.chip) if "/" in case.chip else case.chip
    options = Options(dataflow=case.dataflow, overrides=case.overrides)
    told = json.loads(json.dumps(run_json(run(chip, case.workload, options).report)))
    simulated = [{key: one[key] for key in SIMULATED} for one in told["operators"]]
    return {"name": case.name, "inputs": _hash(told["provenance"]["inputs"]), "cycles": told["total"]["cycles"],
            "digest": _hash(simulated)}


def kept() -> dict[str, Any]:
    """The corpus as it is in the repository."""
    return dict(json.loads(FILE.read_text(encoding="utf-8")))


def faults(corpus: dict[str, Any], rows: list[Row], version: int) -> list[str]:
    """Why the kept numbers are not those of this version; empty where they are."""
    old = {row["name"]: row for row in corpus["rows"]}
    found = []
    for row in rows:
        before = old.get(row["name"])
        if before is None or before["inputs"] != row["inputs"]:
            found.append(f"{row['name']}: new, or asked otherwise; write the corpus anew")
        elif (before["cycles"], before["digest"]) != (row["cycles"], row["digest"]):
            found.append(changed(row["name"], before["cycles"], row["cycles"], corpus["results_version"], version))
    if not found and version != corpus["results_version"]:
        found.append(f"results_version is {version}, the corpus of {corpus['results_version']}; write the corpus anew")
    return found + [f"{name}: is no case any more; write the corpus anew" for name in old.keys() - {row["name"] for row in rows}]


def changed(name: str, before: int, after: int, old: int, new: int) -> str:
    """What to do about a number that is another one."""
    remedy = "write the corpus anew" if new > old else "if that is meant, raise results_version, then write the corpus anew"
    return f"{name}: {before:,} cycles were {after:,} now, or a stall or a byte differs; {remedy}"


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def write() -> int:
    """Write the corpus anew; 1 where a number changed and the version did not."""
    rows = [measured(case) for case in CASES]
    old = kept() if FILE.is_file() else {"rows": [], "results_version": 0}
    wrong = [one for one in faults(old, rows, RESULTS_VERSION) if "raise results_version" in one]
    if wrong:
        sys.stderr.write("\n".join(wrong) + "\n")
        return 1
    text = json.dumps({"results_version": RESULTS_VERSION, "rows": rows}, indent=1)
    FILE.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(write())
