"""Eyeriss: AlexNet's convolutions, measured on the chip, with the passes of the paper's mapping parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from accelsim.compare.checks import Part, Row
from accelsim.compare.references import table
from accelsim.compare.running import Ran, read_case, run
from accelsim.spec.read import shipped_folder

NAME = "silicon/eyeriss"
LINK_BYTES_PER_S = 60e6 * 8
PADDED = {"conv2": 31, "conv3": 15, "conv4": 15, "conv5": 15}
"""Sides of the input maps as the chip has them, zeros around them included (its papers' tables of shapes), which it delivers."""
PARTIAL_PASSES = {"conv1": 55 / 56}
"""Share of the passes' PEs that have work: the last of conv1's 8 strips of 7 rows has 6."""


def ran(layer: str, *dram: str) -> Ran:
    """One layer at batch 4; the others of the network are cut down, as they do not run."""
    side = PADDED.get(layer)
    padded = [] if side is None else ["padding=0", f"input.h={side}", f"input.w={side}"]
    batch = [f"workload.operators.{layer}.{change}" for change in ("dims.n=4", "accumulator=int16", *padded)]
    rest = [f"workload.operators.{name}.dims.{dim}=1" for name in ("fc6", "fc7", "fc8") for dim in "nk"]
    passes = shipped_folder("traces") / "alexnet" / "eyeriss-row-stationary.yaml"
    return run(read_case("eyeriss", "alexnet", str(passes), (*batch, *rest, *dram), layer))


def compare(told: dict[str, str]) -> Iterator[Row]:
    """A layer with DRAM hidden, and with its compressed maps crossing the link, which halt the array (filters prefetch)."""
    layer = told["layer"]
    plain = ran(layer, *(f"chip.levels.DRAM.ports.{port}.bandwidth=unlimited" for port in ("fmaps", "filters")))
    maps = sum(moved.fill_bytes + moved.drain_bytes for moved in plain.report.levels["GLB"].values())
    packed = float(told["dram_MB_compressed"]) * 1e6 - plain.report.levels["FILTER"]["W"].fill_bytes
    rate = LINK_BYTES_PER_S * maps / packed / 1e9
    whole = ran(layer, f"chip.levels.DRAM.ports.fmaps.bandwidth={rate:.4f} GB/s")
    yield Row("processing", layer, plain.report.time_s * 1e3, float(told["processing_ms"]))
    yield Row("total", layer, whole.report.time_s * 1e3, float(told["total_ms"]))
    used = plain.report.macs / (plain.report.busy * plain.cycles)
    yield Row("active PEs", layer, used / PARTIAL_PASSES.get(layer, 1.0), int(told["active_pes"]))


def parts() -> Sequence[Part]:
    """Every layer."""
    return [partial(compare, told) for told in table(NAME)]
