"""SCALE-Sim: cycles of a bare systolic array and words at its edges, for three dataflows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from accelsim.compare.checks import Part, Row
from accelsim.compare.references import folder_of, table
from accelsim.compare.running import entry, read_case, run
from accelsim.drivers import Driver
from accelsim.spec.case import Case
from accelsim.spec.mapping import Mapping, MappingLevel
from accelsim.stalls import StallCause

NAME = "scalesim"
FOLDS = {
    "ws": ("B", "n:* k:*", "m:*", "n:{c}", "k:{r}"),
    "os": ("C", "n:* m:*", "k:*", "n:{c}", "m:{r}"),
    "is": ("A", "m:* k:*", "n:*", "m:{c}", "k:{r}"),
}
"""By dataflow: what is stationary; loops over the folds, columns outside; the streamed loop; columns and rows of the array."""


def folded(dataflow: str, rows: int, columns: int) -> tuple[MappingLevel, ...]:
    """The entries of a mapping that folds a product onto an array of R x C as SCALE-Sim does."""
    held, folds, streamed, over_columns, over_rows = FOLDS[dataflow]
    return entry("DRAM", folds, "A B C"), entry("PE", streamed, held, x=over_columns.format(c=columns),
                                                y=over_rows.format(r=rows))


def case_of(told: dict[str, str]) -> Case:
    """A row of the table as a case."""
    rows, columns = int(told["rows"]), int(told["columns"])
    return read_case(str(folder_of(NAME) / "chip.yaml"),
                     f"gemm:m={told['m']},n={told['n']},k={told['k']},dtype=int8",
                     Mapping(folded(told["dataflow"], rows, columns)),
                     (f"chip.levels.PE.array.pes.x={columns}", f"chip.levels.PE.array.pes.y={rows}"))


def compare(told: dict[str, str], driver: Driver = Driver.COMPILED) -> Iterator[Row]:
    """A row of the table and what comes of it here."""
    ran = run(case_of(told), driver)
    held, output = FOLDS[told["dataflow"]][0], ran.case.operator.output
    traffic = ran.timeline.traffic

    def words(tensor: str) -> int:
        return traffic["PE", tensor].fill_elements if tensor == held else traffic["DRAM", tensor].array_read_bytes

    written = (traffic["PE", "C"].drain_elements if held == "C" else
               traffic["DRAM", "C"].array_write_bytes * 8 // ran.case.held_type(0, output).bits)
    name = f"{told['dataflow']} {told['rows']}x{told['columns']} {told['m']}x{told['n']}x{told['k']}"
    yield Row("cycles", name, ran.cycles, int(told["cycles"]))
    yield Row("words of A read", name, words("A"), int(told["ifmap_reads"]))
    yield Row("words of B read", name, words("B"), int(told["filter_reads"]))
    yield Row("words of C written", name, written, int(told["ofmap_writes"]))
    other = {cause: cycles for cause, cycles in ran.report.stalls.items() if cause is not StallCause.ARRAY_FILL_DRAIN}
    yield Row("stalls it does not have", name, sum(other.values()), 0)


def parts() -> Sequence[Part]:
    """Every row."""
    return [partial(compare, told) for told in table(NAME)]
