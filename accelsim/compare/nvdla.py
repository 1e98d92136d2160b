"""NVDLA nv_small: convolutions in RTL, eight kernels after eight kernels, stripes of at most 16 positions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from accelsim.compare.checks import Part, Row
from accelsim.compare.references import table
from accelsim.compare.running import covering, loops, read_case, run
from accelsim.spec.mapping import Mapping, MappingLevel
from accelsim.timeline import Traffic

NAME = "silicon/nvdla"
ATOM, WEIGHT_BLOCK, STRIPE, SKIPPED = 8, 128, 16, 8
"""Channels that go together; bytes to which all weights of a layer are padded; positions of a stripe, at most; and those that a
stride skips, at most, in a row that is fetched whole.
"""


class Axis(NamedTuple):
    """One axis of a layer: what of it the trace does not say is chosen so that the known output size results."""

    unread: int
    stride: int
    padding: int
    outputs: int


def axis(extent: int, window: int, outputs: int, dilation: int) -> Axis | None:
    """Of the strides and paddings that give so many outputs, those that leave least unread, and are smallest."""
    found = []
    for stride in range(1, 5):
        for padding in range(2 * window - 1):
            reach = (outputs - 1) * stride + (window - 1) * dilation + 1
            if 0 <= extent + padding - reach < stride:
                found.append(Axis(extent + padding - reach, stride, padding, outputs))
    return min(found, default=None)


def shape(width: int, height: int, r: int, s: int, outputs: int, dilation: int) -> tuple[Axis, Axis]:
    """Width and height: least input left unread, strides most alike, then smallest strides and padding."""
    found = []
    for across in (one for one in range(1, outputs + 1) if outputs % one == 0):
        x, y = axis(width, r, across, dilation), axis(height, s, outputs // across, dilation)
        if x is not None and y is not None:
            found.append((x.unread + y.unread, abs(x.stride - y.stride), x.stride + y.stride, x.padding + y.padding, x, y))
    return min(found)[-2:]


def mapping(c: int, k: int, x: Axis, y: Axis, r: int, s: int) -> Mapping:
    """Eight kernels after eight kernels; stripes go down where a row is short."""
    across = covering(x.outputs, covering(x.outputs, STRIPE))
    down = max(1, min(y.outputs, STRIPE // across))
    return Mapping((
        MappingLevel("DRAM", loops(f"k:{covering(k, ATOM)}")),
        MappingLevel("CBUF", loops(f"p:{covering(y.outputs, down)} q:{covering(x.outputs, across)}")),
        MappingLevel("CACC", loops(f"c:{covering(c, ATOM)} r:{s} s:{r}")),
        MappingLevel("MAC", loops(f"p:{down} q:{across}"), (("x", loops(f"k:{ATOM}")), ("y", loops(f"c:{ATOM}"))), ("W",))))


def layer(height: int, width: int, c: int, k: int, x: Axis, y: Axis, r: int, s: int, dilation: int) -> dict[str, Any]:
    """A workload of one convolution, its channels padded to the atom."""
    return {"name": "nvdla", "operators": [{
        "name": "layer", "dims": {"k": k, "c": c, "p": y.outputs, "q": x.outputs, "r": s, "s": r},
        "tensors": {"I": [f"{y.stride}*p + {dilation}*r - {y.padding // 2}", f"{x.stride}*q + {dilation}*s - {x.padding // 2}",
                          "c"], "W": ["k", "r", "s", "c"], "O": ["p", "q", "k"]},
        "shapes": {"I": [height, width, covering(c, ATOM) * ATOM]}, "roles": {"W": "weight"}, "output": "O", "dtype": "int8"}]}


def compare(told: dict[str, str]) -> Iterator[Row]:
    """A trace and what comes of it here; input bytes with each position's channels padded, weights as one padded block."""
    name = told["trace"]
    width, height, c, r, s, _, k = [int(word) for word in re.findall(r"\d+", name)][:7]
    dilation = 2 if "dilation" in name else 1
    x, y = shape(width, height, r, s, int(told["output_bytes"]) // (covering(k, ATOM) * ATOM), dilation)
    # the chip's rows lie position by position, all channels of each together
    bridge = f"chip.levels.DRAM.bridge={SKIPPED * covering(c, ATOM) * ATOM} B"
    ran = run(read_case("nvdla-small", layer(height, width, c, k, x, y, r, s, dilation), mapping(c, k, x, y, r, s), (bridge,)))
    levels = ran.report.levels
    inward: dict[str, Traffic] = dict(levels["CBUF"])
    moved = inward["I"].fill_bytes + sum(level["I"].waste_bytes for level in levels.values() if "I" in level)
    yield Row("cycles", name, ran.cycles, int(told["cycles"]))
    yield Row("input bytes", name, moved, int(told["input_bytes"]))
    yield Row("weight bytes", name, covering(inward["W"].fill_bytes, WEIGHT_BLOCK) * WEIGHT_BLOCK, int(told["weight_bytes"]))


def parts() -> Sequence[Part]:
    """Every row."""
    return [partial(compare, told) for told in table(NAME)]
