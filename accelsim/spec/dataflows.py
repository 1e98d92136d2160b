"""Named dataflows: each writes a mapping for a chip and an operator. The machine never sees their names.

A dataflow decides which tensor stays where: at the array's registers if it has any, else by the loop order. `tiling`
finds the tiles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from accelsim.spec import cta
from accelsim.spec.chip import Chip
from accelsim.spec.mapping import Mapping
from accelsim.spec.operator import Operator, Tensor
from accelsim.spec.tiling import Parts, grid, write


@dataclass(frozen=True)
class Dataflow:
    """A named dataflow: ``runs_on`` says whether a chip can run it for an operator (empty) or why not."""

    name: str
    describe: str
    runs_on: Callable[[Chip, Operator], str]
    write: Callable[[Chip, Operator], Mapping]


def weight_stationary(chip: Chip, operator: Operator) -> Mapping:
    """Weights stay in the array while rows stream by: columns across x, the reduction down y."""
    parts = Parts.of(operator)
    order = (*parts.batch, *parts.columns, *parts.reduction, *parts.rows)
    return write(chip, operator, "weight-stationary", {"x": parts.columns, "y": parts.reduction},
                  _stationary(chip, parts.weight), order, parts.rows)


def output_stationary(chip: Chip, operator: Operator) -> Mapping:
    """Outputs stay until they are finished: columns across x, rows down y, the reduction streams by."""
    parts = Parts.of(operator)
    order = (*parts.batch, *parts.rows, *parts.columns, *parts.reduction)
    return write(chip, operator, "output-stationary", {"x": parts.columns, "y": tuple(reversed(parts.rows))},
                  _stationary(chip, parts.output), order, parts.reduction)


def input_stationary(chip: Chip, operator: Operator) -> Mapping:
    """Inputs stay while columns stream by: rows across x, the reduction down y."""
    parts = Parts.of(operator)
    order = (*parts.batch, *parts.rows, *parts.reduction, *parts.columns)
    return write(chip, operator, "input-stationary", {"x": tuple(reversed(parts.rows)), "y": parts.reduction},
                  _stationary(chip, parts.input), order, parts.columns)


def row_stationary(chip: Chip, operator: Operator) -> Mapping:
    """A filter row stays in each PE and slides along an input row: filter rows down y, output rows across x.

    Rows left over on either side take more kernels. After Eyeriss (JSSC 2017, section III).
    """
    parts = Parts.of(operator)
    window = _windows(operator)
    if not window:
        # a fully connected layer has rows of length one: the reduction takes their place down y
        return write(chip, operator, "row-stationary", {"y": parts.reduction, "x": (*parts.columns, *parts.batch)}, None,
                      (*parts.batch, *parts.rows, *parts.columns, *parts.reduction), (),
                      (*parts.columns, *parts.reduction))
    (slow, slow_filter), (fast, fast_filter) = window[0], window[-1]
    channels = tuple(dim for dim in parts.reduction if dim not in (slow_filter, fast_filter))
    spread = (*parts.columns, *parts.batch)
    order = (*parts.batch, *(dim for dim in parts.rows if dim not in (slow, fast)), slow, *parts.columns, *channels,
             slow_filter, fast_filter, fast)
    down = (slow_filter, *spread) if len(window) > 1 else spread
    return write(chip, operator, "row-stationary", {"y": down, "x": (slow, *spread)}, None, tuple(dict.fromkeys(order)),
                  (), (*parts.columns, *channels, fast_filter))


def _stationary(chip: Chip, tensor: Tensor) -> Tensor | None:
    return tensor if chip.array.holds(tensor) else None


def _windows(operator: Operator) -> list[tuple[str, str]]:
    """(output, filter) dimensions of each axis that a window slides along."""
    output = operator.output.dims
    return [(dims[0], dims[1]) if dims[0] in output else (dims[1], dims[0]) for tensor in operator.tensors
            for axis in tensor.axes if len(dims := axis.dims) == 2 and (dims[0] in output) != (dims[1] in output)]


def _needs(role: str) -> Callable[[Chip, Operator], str]:
    """A chip with registers at the array runs the dataflows of the tensors they may hold."""
    def check(chip: Chip, operator: Operator) -> str:
        if chip.dataflows is not None and f"{role}-stationary" not in chip.dataflows:
            return f"{chip.name} runs {', '.join(chip.dataflows)} only"
        parts = Parts.of(operator)
        tensor = {"weight": parts.weight, "input": parts.input, "output": parts.output}[role]
        if chip.array.tensors is not None and role in chip.array.tensors and tensor.role.value != role:
            return f"no tensor has the role {role}; give one in the workload, such as `roles: {{{tensor.name}: {role}}}`"
        if chip.array.registers and _stationary(chip, tensor) is None:
            return f"{chip.array.name} cannot hold {role}s stationary"
        return ""
    return check


def _row_check(chip: Chip, _: Operator) -> str:
    if chip.array.pes or {"x", "y"} - {axis for axis, _ in grid(chip)[1]}:
        return "needs an x by y grid of PEs with local memories"
    return ""


DATAFLOWS: tuple[Dataflow, ...] = (
    Dataflow("weight-stationary", "weights stay, rows stream by", _needs("weight"), weight_stationary),
    Dataflow("output-stationary", "outputs stay until finished", _needs("output"), output_stationary),
    Dataflow("input-stationary", "inputs stay, columns stream by", _needs("input"), input_stationary),
    Dataflow("row-stationary", "filter rows stay and slide along input rows", _row_check, row_stationary),
    Dataflow(cta.NAME, "tiles of results dealt to cores in waves", cta.check, cta.write),
)
