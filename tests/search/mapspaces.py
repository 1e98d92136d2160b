"""Random mapspaces with rows of bounds, and the comparison of a batch with the estimate of each mapping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from accelsim.analytic.estimate import estimate
from accelsim.errors import DoesNotFit, SpecError
from accelsim.search.batch import KINDS, NO_CYCLES, BatchEstimator
from accelsim.spec.build import make_case
from accelsim.spec.case import Case
from accelsim.spec.chip import Chip, Level, Multicast, Port
from accelsim.spec.mapping import Loop, Mapping, MappingLevel
from accelsim.spec.operator import Operator


def alone(estimator: BatchEstimator, row: Sequence[int], order: int = 0) -> tuple[bool, bool, Case | None]:
    """(legal, fits, the case whatever its capacity) of one row, by way of its mapping."""
    space = estimator.space
    mapping = estimator.mapping(row, order)
    try:
        return True, True, make_case(space.chip, space.operator, mapping)
    except DoesNotFit:
        with patch("accelsim.spec.build._capacity_problems", lambda _: []):
            return True, False, make_case(space.chip, space.operator, mapping)
    except SpecError:
        return False, False, None


def differences(estimator: BatchEstimator, rows: Any, orders: Sequence[int] | None = None) -> list[tuple[object, ...]]:
    """Where a batch differs from the estimates of its mappings, one by one: (row, what, wanted, got)."""
    chosen = list(orders) if orders is not None else [0] * len(rows)
    got, found = estimator.estimate(rows, chosen), []
    bare = estimator.estimate(rows, chosen, traffic=False)
    assert np.array_equal(bare.cycles, got.cycles)
    assert bare.traffic.size == 0
    for number, row in enumerate(rows):
        legal, fits, case = alone(estimator, [int(bound) for bound in row], chosen[number])
        pairs: list[tuple[str, object, object]] = [("legal", legal, got.legal[number]), ("fits", fits, got.fits[number])]
        if case is None:
            pairs += [("cycles", NO_CYCLES, got.cycles[number]), ("bound", -1, got.bound_by[number]),
                      ("traffic", 0, int(got.traffic[number].sum()))]
        else:
            wanted = estimate(case)
            pairs += [("cycles", wanted.cycles, got.cycles[number]),
                      ("bound", wanted.bound_by, got.bound_names[got.bound_by[number]])]
            for place, tensor in enumerate(case.operator.tensors):
                for entry in range(case.array_entry + 1):
                    moved = wanted.traffic.get((entry, tensor.name))
                    pairs.append((f"traffic of {tensor.name} at {entry}",
                                  [getattr(moved, kind) if moved else 0 for kind in KINDS],
                                  got.traffic[number, entry, place].tolist()))
        found += [(list(row), what, one, other) for what, one, other in pairs if one != other]
    return found


def template(random: Random, chip: Chip, operator: Operator) -> Mapping:
    """Loops over every dimension at every level and over one or two on each axis, in any order; bindings now and then."""
    dims = list(operator.dims)
    levels = []
    for place, name in enumerate(chip.names):
        array = place == len(chip.levels)
        axes = chip.array.pes if array else chip.fanout(place + 1)
        spatial = tuple((axis, tuple(Loop((dim,), None) for dim in random.sample(dims, random.randint(1, 2))))
                        for axis, _ in axes if random.random() < 0.8)
        binding: tuple[str, ...] | None = None
        if array:
            held = [tensor.name for tensor in operator.tensors if chip.array.holds(tensor)]
            binding = (random.choice(held),) if held and random.random() < 0.8 else ()
        elif place > 0 and random.random() < 0.3:
            served = [tensor.name for tensor in operator.tensors if chip.levels[place].memory_of(tensor) is not None]
            binding = tuple(random.sample(served, random.randint(0, len(served))))
        loops = random.sample(dims, len(dims)) + random.sample(dims, random.choice([0, 0, 1]))
        buffers = tuple((tensor, random.randint(1, 4)) for tensor in binding or () if random.random() < 0.5)
        levels.append(MappingLevel(name, tuple(Loop((dim,), None) for dim in loops), spatial, binding, buffers))
    return Mapping(tuple(levels))


def bounds(random: Random, estimator: BatchEstimator, number: int) -> NDArray[np.int64]:
    """Rows of bounds: even ones and ragged ones, most of them covering their extents, a few past them."""
    columns, rows = estimator.columns, []
    for _ in range(number):
        row, ragged = [1] * len(columns), random.choice([0.0, 0.3, 1.0])
        for dim, extent in estimator.space.operator.dims.items():
            places = [i for i, column in enumerate(columns) if column.dim == dim]
            random.shuffle(places)
            left = extent
            for place in places[:-1]:
                divisors = [bound for bound in range(1, left + 1) if left % bound == 0]
                row[place] = 1 if random.random() < 0.3 else random.randint(1, left) if random.random() < ragged else (
                    random.choice(divisors))
                left = -(-left // row[place])
            if places:
                row[places[-1]] = max(1, left + random.choice([0] * 12 + [-1, 1]))
        rows.append(row)
    return np.array(rows, dtype=np.int64).reshape(number, len(columns))


def paced(random: Random, chip: Chip) -> Chip:
    """The chip with rates, latencies, granules, buffers and links of every kind."""
    def rate() -> Fraction | None:
        return random.choice([None, Fraction(1), Fraction(4), Fraction(16), Fraction("1.9"), Fraction(340, 7)])

    def port(own: Port) -> Port:
        return replace(own, rate=rate())

    def level(own: Level) -> Level:
        memories = tuple(replace(
            memory, ports=tuple(port(one) for one in memory.ports), latency_cycles=random.choice([0, 1, 7, 100]),
            granularity_bytes=random.choice([1, 1, 3, 64]), buffers=(("", random.randint(1, 3)),),
            capacity_bytes=random.choice([None, 64, 512, 4096]), banks=random.choice([None, 4])) for memory in own.memories)
        return replace(own, memories=memories, lockstep=random.random() < 0.2)

    links = tuple(replace(
        link, rate=rate(), latency_cycles=random.choice([0, 3]), granularity_bytes=random.choice([1, 8]),
        setup_cycles=random.choice([0, 5]), request_bytes=random.choice([None, 64]), outstanding=random.choice([None, 2]),
        multicast=random.choice(list(Multicast)), per_instance=random.random() < 0.3) for link in chip.links)
    array = replace(chip.array, depth_cycles=random.choice([0, 3]), least_cycles=random.choice([0, 0, 5]),
                    buffers=random.randint(1, 2), preload=rate(),
                    results=rate(), intervals=(("", random.randint(1, 4)),), lockstep=random.random() < 0.5)
    return replace(chip, levels=tuple(level(own) for own in chip.levels), array=array, links=links)
