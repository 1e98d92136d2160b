"""Is what a notebook shows well-formed, escaped, and set as numbers are?"""

from __future__ import annotations

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
             markup.bars([Bar(said[:30], ((1.0,),))], ("#000000",), said, said))
    page = markup.block(*parts)
    known = {"page", "div", "pre", "details", "summary", "ul", "li", "span", "svg", "text", "rect",
             "table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert {element.tag.rpartition("}")[2] for element in tree(page).iter()} <= known
    assert "".join(tree(page).itertext()).count(said) >= 11


def test_what_is_markup_already_is_not_escaped_again() -> None:
    assert cells(markup.block(markup.table("", ("x",), [(Html("<span>a &amp; b</span>"),)])))[0][0] == "a & b"


def test_bars_are_stacks_whose_heights_are_the_shares_and_equal_columns_are_one() -> None:
    page = markup.bars([Bar("lane", ((1.0, 0.0), (1.0, 0.0), (0.25, 0.5), (0.0, 0.0)))], ("#111111", "#222222"), "0", "9").text
    found = [[rect.get(key) for key in ("fill", "height", "width")] for rect in tree(page).iter() if rect.tag.endswith("rect")]
    assert found == [["#111111", "15.00", "320.00"], ["#111111", "3.75", "160.00"], ["#222222", "7.50", "160.00"]]
