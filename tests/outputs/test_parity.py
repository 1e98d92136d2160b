"""Does a parity plot show the points it was given, at their places, in a file that is the same every time?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from accelsim.outputs.parity import Mark, Point, Series, draw_parity

HEADS = ("rows", "mean error", "worst error")


def series(name: str, unit: str, *pairs: tuple[float, float], mark: Mark = Mark.WITHIN) -> Series:
    return Series(name, unit, tuple(Point(*pair, mark) for pair in pairs), ("1", "2.0 %", "-3.0 %"))


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that were saved."""
    found: list[Figure] = []
    save = Figure.savefig

    def keep(figure: Figure, *args: object, **options: object) -> None:
        found.append(figure)
        save(figure, *args, **options)

    monkeypatch.setattr(Figure, "savefig", keep)
    return found


def points(axes: Axes) -> set[tuple[float, float]]:
    """All that have a mark; lines have none."""
    return {(float(x), float(y)) for line in axes.lines if line.get_marker() != "None"
            for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)}


def texts(figure: Figure) -> list[str]:
    return [one.get_text() for one in figure.findobj(Text)]


def test_every_pair_stands_in_the_field_of_its_unit(tmp_path: Path, drawn: list[Figure]) -> None:
    given = [series("one", "cycles", (10, 11), (1000, 900), (10, 11)), series("two", "cycles", (50, 20), mark=Mark.KNOWN),
             series("three", "B", (7, 9), mark=Mark.FAILED), series("four", "B", (0, 3), (3, 3))]
    draw_parity(tmp_path / "a.png", "A chip", given, HEADS)
    cycles, sizes = drawn[0].axes
    assert points(cycles) == {(10, 11), (1000, 900), (50, 20)}
    assert points(sizes) == {(7, 9), (3, 3)}
    for axes in drawn[0].axes:
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        assert axes.get_xlim() == axes.get_ylim()
        assert all(axes.get_xlim()[0] < x < axes.get_xlim()[1] for pair in points(axes) for x in pair)
    assert {"reference [cycles]", "accelsim [cycles]", "reference [B]", "accelsim [B]", "A chip", "three"} <= set(texts(drawn[0]))
    assert "1 pairs with a zero are not drawn." in texts(drawn[0])


def test_known_misses_are_open_and_failures_crossed(tmp_path: Path, drawn: list[Figure]) -> None:
    draw_parity(tmp_path / "a.png", "A chip", [series("one", "ms", (1, 2), mark=Mark.KNOWN),
                                               series("two", "ms", (3, 4), mark=Mark.FAILED)], HEADS)
    marked = {line.get_xdata()[0]: line for line in drawn[0].axes[0].lines if line.get_marker() != "None"}
    assert marked[1].get_markerfacecolor() == "white"
    assert marked[3].get_marker() == "x"


def test_what_a_zero_hides_is_said(tmp_path: Path, drawn: list[Figure]) -> None:
    draw_parity(tmp_path / "a.png", "A chip", [series("one", "ms", (1, 0), (2, 0), mark=Mark.KNOWN),
                                               series("two", "ms", (3, 4))], HEADS)
    assert "2 pairs with a zero are not drawn, 2 of them known misses." in " ".join(texts(drawn[0]))


def test_the_same_bytes_every_time_and_a_papers_width(tmp_path: Path) -> None:
    given = [series("one", "cycles", (10, 11), (1000, 900)), series("two", "ms", (0.2, 0.21))]
    for suffix in ("png", "svg", "pdf"):
        both = [tmp_path / f"{name}.{suffix}" for name in "ab"]
        for path in both:
            draw_parity(path, "A chip", given, HEADS)
        assert both[0].read_bytes() == both[1].read_bytes()
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.width == round(7.16 * 300)
        assert np.asarray(picture.convert("L")).min() < 60


def test_nothing_to_draw_is_a_picture_of_the_legend(tmp_path: Path, drawn: list[Figure]) -> None:
    draw_parity(tmp_path / "a.png", "A chip", [series("one", "words", (0, 0))], HEADS)
    assert not drawn[0].axes
    assert "one" in texts(drawn[0])


@pytest.mark.parametrize(("low", "high"), [(1e-4, 1e7), (1, 1.2), (120, 156), (2, 30), (0.9, 1.1)])
def test_there_are_a_few_ticks_whatever_the_span(tmp_path: Path, drawn: list[Figure], low: float, high: float) -> None:
    draw_parity(tmp_path / "a.png", "A chip", [series("one", "", (low, low), (high, high))], HEADS)
    axes = drawn[0].axes[0]
    assert 2 <= len(axes.get_xticks()) <= 7
    assert list(axes.get_xticks()) == list(axes.get_yticks())


def test_another_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a picture ends in"):
        draw_parity(tmp_path / "a.jpg", "A chip", [series("one", "", (1, 1))], HEADS)
