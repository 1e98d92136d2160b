"""Where labels fit: each takes the first of its places that is free of everything put there before."""

from __future__ import annotations

from collections.abc import Iterable
from math import hypot
from typing import NamedTuple

from accelsim.outputs.paper import TEXT_POINTS, text_inches

TEXT_HEIGHT = 0.1
"""Inches that a line of text of 7 pt takes from its lowest to its highest stroke."""
_BELOW = 0.022
"""Inches of them below the base line."""
_GRAIN = 0.25


class Box(NamedTuple):
    """A rectangle, in inches."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def base(self) -> float:
        """The base line of a text that fills it."""
        return self.bottom + _BELOW


def text_box(text: str, x: float, y: float, align: str = "center", points: float = TEXT_POINTS) -> Box:
    """Of a line of text whose middle is at height y; x is its left end, middle or right end, as ``align`` says."""
    wide = text_inches(text, points) + 0.02
    left = x - {"left": 0.0, "center": wide / 2, "right": wide}[align]
    return Box(left, y - TEXT_HEIGHT / 2, left + wide, y + TEXT_HEIGHT / 2)


class Taken:
    """What is taken of a field. Boxes are kept by the squares they touch, so that many cost little."""

    def __init__(self, field: Box) -> None:
        self._field = field
        self._squares: dict[tuple[int, int], list[Box]] = {}

    def add(self, box: Box) -> None:
        """From now on nothing may be put there."""
        for square in _squares(box):
            self._squares.setdefault(square, []).append(box)

    def add_line(self, start: tuple[float, float], end: tuple[float, float], half_width: float) -> None:
        """The same of a line, as a row of small boxes."""
        pieces = max(1, round(hypot(end[0] - start[0], end[1] - start[1]) / 0.04))
        for piece in range(pieces + 1):
            x, y = (start[axis] + (end[axis] - start[axis]) * piece / pieces for axis in (0, 1))
            self.add(Box(x - half_width, y - half_width, x + half_width, y + half_width))

    def free(self, box: Box) -> bool:
        """Whether a box lies in the field and touches nothing."""
        inside = (self._field.left <= box.left and box.right <= self._field.right
                  and self._field.bottom <= box.bottom and box.top <= self._field.top)
        return inside and not any(_meet(box, other) for square in _squares(box) for other in self._squares.get(square, ()))

    def place(self, boxes: Iterable[Box]) -> Box | None:
        """The first free one, which is then taken; None where none is."""
        for box in boxes:
            if self.free(box):
                self.add(box)
                return box
        return None


def _meet(one: Box, other: Box) -> bool:
    return one.left < other.right and other.left < one.right and one.bottom < other.top and other.bottom < one.top


def _squares(box: Box) -> Iterable[tuple[int, int]]:
    return ((column, row) for column in range(int(box.left // _GRAIN), int(box.right // _GRAIN) + 1)
            for row in range(int(box.bottom // _GRAIN), int(box.top // _GRAIN) + 1))
