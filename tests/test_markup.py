"""Is what a notebook shows well-formed, escaped, and set as numbers are?"""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from accelsim import markup
from accelsim.markup import Bar, Html, Right

HOSTILE = "<script>alert(1)</script> & \"quotes\" 'too' </td></table><img src=x onerror=y>"


def tree(page: str) -> ET.Element:
    """Markup as a tree; whatever is not well-formed raises."""
    return ET.fromstring(f"<page>{page}</page>")


def cells(page: str, tag: str = "td") -> list[tuple[str, str]]:
    """Text and alignment of each cell."""
    return [("".join(cell.itertext()), cell.get("style", "").removeprefix("text-align:")) for cell in tree(page).iter(tag)]


def rectangles(page: str) -> list[tuple[str, float, float, float, float]]:
    """Of a picture: colour, left, bottom, width and height of each."""
    return [(path.get("fill", ""), float(x), float(y), float(width), -float(height)) for path in tree(page).iter()
            if path.tag.endswith("path")
            for x, y, width, height in re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)v(-[\d.]+)h-[\d.]+z", path.get("d", ""))]


def test_numbers_are_grouped_and_flush_right_and_none_is_a_dash() -> None:
    page = markup.block(markup.table("t", ("name", "count", "rate"), [("a", 1234567, 0.5), ("b", None, 1e6 / 7)]))
    assert cells(page) == [("a", "left"), ("1,234,567", "right"), ("0.5", "right"),
                           ("b", "left"), ("-", "right"), ("142,857", "right")]
    assert cells(page, "th") == [("name", "left"), ("count", "right"), ("rate", "right")]


def test_a_long_table_says_how_much_is_left() -> None:
    page = markup.block(markup.table("", ("n",), [(i,) for i in range(100)], most=10))
    assert len(cells(page)) == 10
    assert "90 rows more" in "".join(tree(page).itertext())


@given(st.text(st.characters(exclude_categories=("Cc", "Cs", "Co", "Cn")), min_size=1, max_size=40) | st.just(HOSTILE))
def test_any_text_comes_back_as_it_was_and_makes_no_element(said: str) -> None:
    parts = (markup.title(said), markup.line(said), markup.pre(said), markup.lines(said, [said]), markup.swatch("#000000", said),
             markup.table(said, (said, said), [(said, Right(said))]),
             markup.bars([Bar(said[:30], ((1.0,),))], ("#000000",), "#CCCCCC", said, said))
    page = markup.block(*parts)
    known = {"page", "div", "pre", "details", "summary", "ul", "li", "span", "svg", "text", "path", "rect",
             "table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert {element.tag.rpartition("}")[2] for element in tree(page).iter()} <= known
    assert "".join(tree(page).itertext()).count(said) >= 11


def test_what_is_markup_already_is_not_escaped_again() -> None:
    assert cells(markup.block(markup.table("", ("x",), [(Html("<span>a &amp; b</span>"),)])))[0][0] == "a & b"


def test_bars_are_stacks_whose_heights_are_the_shares_and_equal_columns_are_one() -> None:
    lane = Bar("lane", ((1.0, 0.0), (1.0, 0.0), (0.25, 0.5), (0.0, 0.0)))
    page = markup.bars([lane], ("#111111", "#222222"), "#CCCCCC", "0", "9").text
    assert rectangles(page) == [("#111111", 190, 15, 320, 15), ("#111111", 190 + 320, 15, 160, 3.75),
                                ("#222222", 190 + 320, 15 - 3.75, 160, 7.5)]
