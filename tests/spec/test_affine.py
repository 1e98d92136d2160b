"""Are index forms read as written, and is everything else refused?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accelsim.spec.affine import Affine, parse_affine


@pytest.mark.parametrize(("text", "terms", "offset"), [
    ("m", (("m", 1),), 0),
    ("2*p + r", (("p", 2), ("r", 1)), 0),
    ("p*2+r", (("p", 2), ("r", 1)), 0),
    ("2*p*3", (("p", 6),), 0),
    ("2*p + 3*r - 1", (("p", 2), ("r", 3)), -1),
    ("- 3 + r + 5", (("r", 1),), 2),
    ("+q", (("q", 1),), 0),
    ("4", (), 4),
    (" p  +  r_2 ", (("p", 1), ("r_2", 1)), 0),
])
def test_forms(text: str, terms: tuple[tuple[str, int], ...], offset: int) -> None:
    assert parse_affine(text) == Affine(terms, offset)


@pytest.mark.parametrize(("text", "said"), [
    ("", "empty"), ("  ", "empty"), ("p r", "expected + or -"), ("p*r", "not affine"), ("p +", "missing"),
    ("* p", "missing"), ("2 ** p", "missing"), ("p + p", "twice"), ("0*p", "coefficient of p is 0"),
    ("-p", "coefficient of p is -1"), ("p % 2", "unexpected '%'"), ("(p)", "unexpected '('"), ("p/2", "unexpected '/'"),
    ("__import__('os')", "unexpected '('"), ("p.q", "unexpected '.'"), ("1.5*p", "unexpected '.'"), ("p" * 201, "200"),
    ("²*p", "unexpected"), ("p - -1", "missing"),
])
def test_what_is_no_form_is_named(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        parse_affine(text)
    assert said in str(caught.value)


@given(st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 99)), st.integers(-99, 99))
def test_printed_and_read_again(coefficients: dict[str, int], offset: int) -> None:
    form = Affine(tuple(coefficients.items()), offset)
    assert parse_affine(str(form)) == form


@given(st.text("abm12*+- ()%", max_size=30))
def test_any_text_is_a_form_or_a_value_error(text: str) -> None:
    try:
        form = parse_affine(text)
    except ValueError:
        return
    assert all(coefficient >= 1 for _, coefficient in form.terms)
