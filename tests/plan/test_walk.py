"""Visits against the plain enumeration of all steps: loops passed over at once must end where the last step does."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from accelsim.plan.walk import steps, visits
from accelsim.spec.nest import Line, Nest, NestLoop


class Marks:
    """An image that is a new object wherever the positions along its lines differ."""

    def __init__(self, lines: set[int]) -> None:
        self.lines = frozenset(lines)
        self._made: dict[tuple[int, ...], object] = {}

    def at(self, position: Sequence[int]) -> tuple[object, ...]:
        """The tile for positions along all lines."""
        return (self._made.setdefault(tuple(position[line] for line in sorted(self.lines)), object()),)


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


@given(nests())
def test_visits_are_the_runs_of_equal_tiles(made: tuple[Nest, list[int], set[int]]) -> None:
    nest, base, depends = made
    image = Marks(depends)
    runs: list[list[object]] = []
    for step in steps(nest, nest.loops, base):
        tile, = image.at(step.position)
        if runs and runs[-1][2] is tile:
            runs[-1][1] = step.number
        else:
            runs.append([step.number, step.number, tile])
    assert [[visit.first, visit.last, visit.tile[0]] for visit in visits(nest, image, nest.loops, base)] == runs
