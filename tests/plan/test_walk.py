"""Visits against the plain enumeration of all steps: loops passed over at once must end where the last step does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from accelsim.plan.walk import Numbers, VisitWalk, visits
from accelsim.spec.nest import Line, Nest, NestLoop


class Mark:
    """An axis that is a new object wherever the positions along its lines differ."""

    def __init__(self, lines: set[int]) -> None:
        self.lines = tuple(sorted(lines))
        self._made: dict[tuple[int, ...], object] = {}

    def at(self, position: Sequence[int]) -> object:
        """The mark for positions along all lines."""
        return self._made.setdefault(tuple(position[line] for line in self.lines), object())


class Marks:
    """An image of one axis."""

    nothing = None

    def __init__(self, lines: set[int], count: int) -> None:
        self.lines = frozenset(lines)
        self.axes = [Mark(lines)]
        self.grid = (1,) * count


@st.composite
def nests(draw: st.DrawFn) -> tuple[Nest, list[int], set[int]]:
    """Up to five loops over up to three lines, ragged or not, an instance's base, and the lines a tensor depends on."""
    lines = draw(st.integers(1, 3))
    stride = [draw(st.integers(1, 3)) for _ in range(lines)]
    loops: list[NestLoop] = []
    for _ in range(draw(st.integers(0, 5))):
        line, bound = draw(st.integers(0, lines - 1)), draw(st.integers(1, 3))
        loops.insert(0, NestLoop(line, bound, stride[line], 0, None))
        stride[line] *= bound
    extents = [max(1, reach - draw(st.integers(0, 3))) for reach in stride]
    base = [draw(st.integers(0, 1)) for _ in range(lines)]
    depends = draw(st.sets(st.integers(0, lines - 1)))
    return Nest(tuple(Line((str(i),), extent) for i, extent in enumerate(extents)), tuple(loops), 1), base, depends


def plainly(nest: Nest, base: list[int]) -> Iterator[tuple[int, list[int]]]:
    """Every step's number, which counts skipped ones, and its position; those past an edge left out."""
    for number, indices in enumerate(product(*(range(loop.bound) for loop in nest.loops))):
        position = list(base)
        for loop, index in zip(nest.loops, indices, strict=True):
            position[loop.line] += index * loop.stride
        if all(at < line.extent for at, line in zip(position, nest.lines, strict=True)):
            yield number, position


@given(nests(), st.integers(1, 5))
def test_visits_are_the_runs_of_equal_tiles(made: tuple[Nest, list[int], set[int]], most: int) -> None:
    nest, base, depends = made
    numbers = Numbers(nest, Marks(depends, len(nest.lines)))
    runs: list[list[object]] = []
    for number, position in plainly(nest, base):
        tile = numbers.image.axes[0].at(position)
        if runs and runs[-1][2] is tile:
            runs[-1][1] = number
        else:
            runs.append([number, number, tile])
    told = visits(VisitWalk(nest, numbers, nest.loops, base), numbers)
    assert [[visit.first, visit.last, visit.tile[0]] for visit in told] == runs
    walk, found = VisitWalk(nest, numbers, nest.loops, base), []
    while len(rows := walk.rows(most)):
        assert len(rows) <= most
        found += [[first, last, numbers.tile(tile)[0]] for first, last, _, _, *tile in rows.tolist()]
    assert found == runs


@given(nests(), st.integers(0, 250), st.integers(1, 5))
def test_a_walk_goes_on_from_any_step(made: tuple[Nest, list[int], set[int]], step: int, most: int) -> None:
    """From within the visit of the step, or of the last before it that is not left out, which alone may seem to begin later."""
    nest, base, depends = made
    numbers = Numbers(nest, Marks(depends, len(nest.lines)))
    walk = VisitWalk(nest, numbers, nest.loops, base)
    every = [row for rows in iter(lambda: walk.rows(most).tolist(), []) for row in rows]
    steps = [number for number, _ in plainly(nest, base)]
    last_step = max((number for number in steps if number <= step), default=None)
    if last_step is None:
        assert not every
        return
    step = min(step, max(steps))
    walk.go_to(step)
    again = [row for rows in iter(lambda: walk.rows(most).tolist(), []) for row in rows]
    here = next(place for place, row in enumerate(every) if row[0] <= last_step <= row[1])
    assert again[0][0] >= every[here][0]
    assert again[0][0] <= last_step
    assert (again[0][1], again[0][3:]) == (every[here][1], every[here][3:])
    assert again[1:] == every[here + 1:]
