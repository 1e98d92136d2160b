"""How many mappings a second the batch estimate takes on one core; `make bench` prints it."""

from __future__ import annotations

import time
from random import Random

import numpy as np
import pytest

from accelsim.search.batch import BatchEstimator
from accelsim.spec.mapping import Loop, Mapping, MappingLevel
from accelsim.spec.read import read_chip, read_workload

ROWS = 200_000
WORK = [
    ("toy3", "gemm:m=512,n=512,k=512", ("kmn", "mkn", "mnk")),
    ("toy3", "conv2d:n=1,k=64,c=64,p=56,q=56,r=3,s=3,padding=1", ("nkcpqrs", "nkcpqrs", "nkcpqrs")),
]


def rows(estimator: BatchEstimator, ragged: bool) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Bounds that cover: divisors, or whatever, level by level in random order; drawn from some thousand."""
    random, found = Random(1), []
    for _ in range(5000):
        row = [1] * len(estimator.columns)
        for dim, extent in estimator.space.operator.dims.items():
            left = extent
            places = [i for i, column in enumerate(estimator.columns) if column.dim == dim]
            random.shuffle(places)
            for place in places[:-1]:
                row[place] = random.choice([bound for bound in range(1, left + 1) if ragged or left % bound == 0])
                left = -(-left // row[place])
            row[places[-1]] = left
        found.append(row)
    return np.array(found, dtype=np.int64)[np.random.default_rng(0).integers(0, len(found), ROWS)]


@pytest.mark.benchmark
@pytest.mark.parametrize(("on", "workload", "orders"), WORK, ids=[work.split(":")[0] for _, work, _ in WORK])
@pytest.mark.parametrize("ragged", [False, True], ids=["even", "ragged"])
def test_mappings_per_second(on: str, workload: str, orders: tuple[str, ...], ragged: bool,
                             capsys: pytest.CaptureFixture[str]) -> None:
    """Printed, not asserted: machines differ."""
    chip, operator = read_chip(on), read_workload(workload).operators[0]
    template = Mapping(tuple(MappingLevel(level.name, tuple(Loop((dim,), None) for dim in order))
                             for level, order in zip(chip.levels, orders, strict=True)))
    estimator = BatchEstimator(chip, operator, template)
    table = rows(estimator, ragged)
    estimator.estimate(table[:1000])
    rates = []
    for traffic in (False, True):
        start = time.process_time()
        found = estimator.estimate(table, traffic=traffic)
        rates.append(len(table) / (time.process_time() - start))
        assert found.legal.all()
    with capsys.disabled():
        print(f"\nbatch estimate: {operator.name} on {on}, {'ragged' if ragged else 'even'} bounds: {rates[0]:,.0f} mappings/s, "  # noqa: T201
              f"{rates[1]:,.0f} with traffic")
